// Cell: one device value and how many storages hold it. Values never change; a write makes a new
// cell, so two storages may share one until either is written. All counts change under the device's
// lock.
#ifndef TPUTORCH_EAGER_CELL_H_
#define TPUTORCH_EAGER_CELL_H_

#include "tputorch/op.h"

#include "pjrt/client.h"

typedef struct tpt_device tpt_device_t;

// The call that made a value, for errors that show late. All borrowed for the process.
typedef struct tpt_site {
  const char* name;  // "index.Tensor"; NULL: an upload
  const char* file;  // (optional) Python line that issued the call, or a phrase if line is 0
  int line;
} tpt_site_t;

// The site of a value made by `name` (NULL: an upload); without a file that of tpt_site_set.
tpt_site_t tpt_site_of(const char* name, const char* file, int line);
// "model.py:12" (or the phrase) into text; "" when it is not known. Returns text.
const char* tpt_site_print(const tpt_site_t* site, char* text, size_t text_size);
struct tpt_trace;

typedef struct tpt_cell {
  tpt_buffer_t* buffer;  // owned; NULL: not computed yet (trace) or never (failure)
  tpt_device_t* device;
  size_t size;  // bytes, as accounted
  int refs;
  bool is_suspect;   // its value may turn out to be an error that nobody has looked for yet
  bool is_reported;  // its error was told once
  tpt_site_t site;   // the call to blame when it fails
  // Without buffer: the trace whose value `value` this will be, or the failure that prevented it (owned;
  // NULL: a value of a capture, which exists in its program only).
  struct tpt_trace* trace;
  tpt_status_t failure;
  uint32_t value;
  uint32_t input_value;       // with buffer: its number among the values of the trace
  uint64_t input_serial;      // with this serial
  struct tpt_cell* previous;  // the device's suspects
  struct tpt_cell* next;
} tpt_cell_t;

// A cell without a buffer; one reference.
TPT_MUST_USE tpt_status_t tpt_cell_create(tpt_device_t* device, tpt_cell_t** out_cell);
// Gives a fresh cell its buffer (consumed) of `size` accounted bytes.
void tpt_cell_fill(tpt_cell_t* cell, tpt_buffer_t* take_buffer, size_t size);
static inline tpt_cell_t* tpt_cell_retain(tpt_cell_t* cell) {
  cell->refs++;
  return cell;
}
void tpt_cell_release(tpt_cell_t* take_cell);  // NULL is legal

// Puts a cell under suspicion: synchronize looks at it, and a storage may not lose it unseen.
void tpt_cell_suspect(tpt_cell_t* cell);
// Clears or confirms a suspect whose value exists by now; does not wait.
void tpt_cell_settle(tpt_cell_t* cell);
// Settles the device's oldest suspects. Values come in the order of the calls, so it stops at the first
// that is not there yet: a loop that never synchronizes keeps no dead values.
void tpt_cell_sweep(tpt_device_t* device);
// Lifts the suspicion; the value has been awaited.
void tpt_cell_clear(tpt_cell_t* cell);
// The status of a failed value with the call that made it; consumes and returns `take_status`.
TPT_MUST_USE tpt_status_t tpt_cell_blame(tpt_cell_t* cell, tpt_status_t take_status);
// Adds "in aten::index.Tensor called at model.py:12"; consumes and returns `take_status`.
TPT_MUST_USE tpt_status_t tpt_site_note(const tpt_site_t* site, tpt_status_t take_status);

#endif  // TPUTORCH_EAGER_CELL_H_
