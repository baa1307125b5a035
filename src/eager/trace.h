// Trace: calls recorded instead of run. A value is a cell without a buffer; every record says which
// values it reads, which it makes, and how its entry was lowered, so that all of them can be lowered
// again into one program. Owners: a capture (capture.c) or the device's fused mode (fused.c). Device
// locked throughout.
#ifndef TPUTORCH_EAGER_TRACE_H_
#define TPUTORCH_EAGER_TRACE_H_

#include "eager/build.h"
#include "eager/entry.h"

enum { TPT_TRACE_ZEROS = UINT32_MAX };  // a value number: the storage held no value

// A value of a trace: first an input (a cell with a buffer, or a placeholder), or a record's result.
typedef struct tpt_trace_value {
  tpt_cell_t*
      cell;  // input: one reference; result or placeholder: borrowed, NULL when nobody has it
  const tpt_home_t* home;
  bool is_input;
} tpt_trace_value_t;

typedef struct tpt_record_group {
  const tpt_home_t* home;
  uint32_t value;
} tpt_record_group_t;

// One call. Everything but the entry lies in the trace's arena.
typedef struct tpt_record {
  tpt_entry_t* entry;  // one reference
  tpt_call_t call;     // device tensors have no storage
  const tpt_use_t* uses;
  const tpt_record_group_t* groups;
  uint32_t use_count, start_count, group_count;
  uint32_t first_number;  // operands other than homes, in the entry's order
  uint32_t first_result;  // value number of the program result 0
  uint32_t result_count;
  uint32_t stream;  // 0: the generator's; else streams[stream - 1] of the trace
  int precision;
} tpt_record_t;

typedef struct tpt_trace {
  tpt_device_t* device;
  bool is_fused;    // the device's window: scalars stay operands, random numbers are taken at once
  uint64_t serial;  // of this content; cells remember it
  tpt_arena_t arena;
  tpt_record_t* records;
  size_t record_count, record_capacity;
  tpt_trace_value_t* values;
  size_t value_count, value_capacity;
  tpt_number_t* numbers;
  size_t number_count, number_capacity;
  uint32_t* streams;  // values that are random states
  size_t stream_count, stream_capacity;
  uint32_t stream;  // where calls draw from now on, as in a record
  uint64_t* words;  // what was recorded, values and numbers apart: equal words, equal program
  size_t word_count, word_capacity;
} tpt_trace_t;

void tpt_trace_init(tpt_trace_t* trace, tpt_device_t* device, bool is_fused);
void tpt_trace_deinit(tpt_trace_t* trace);
// Gives back the cells and keeps the records. Cells that still wait will never have a value.
void tpt_trace_let_go(tpt_trace_t* trace);
// Forgets the content. Cells that still wait for it become cells that will never have a value.
void tpt_trace_reset(tpt_trace_t* trace);
// A cell of this trace went: its value is wanted by records only. Any other cell: nothing.
void tpt_trace_forget(const tpt_cell_t* cell);

// Records the call in the device's frame; results as tpt_entry_launch gives them. On failure nothing
// has changed.
TPT_MUST_USE tpt_status_t tpt_trace_record(tpt_trace_t* trace, const tpt_call_t* call,
                                           tpt_entry_t* entry, tpt_result_t* results);
// The number of a cell's value, which becomes an input if it is none yet. NULL: ZEROS.
TPT_MUST_USE tpt_status_t tpt_trace_value_of(tpt_trace_t* trace, tpt_cell_t* cell,
                                             const tpt_home_t* home, uint32_t* out_value);
// A new value: `cell` (one reference consumed if it has a buffer, else borrowed) waits for it.
TPT_MUST_USE tpt_status_t tpt_trace_add_value(tpt_trace_t* trace, tpt_cell_t* cell,
                                              const tpt_home_t* home, bool is_input,
                                              uint32_t* out_value);
// Calls draw from here on from a random state (tpt_random_state), one stream per state; NULL: from the
// generator again.
TPT_MUST_USE tpt_status_t tpt_trace_draw_from(tpt_trace_t* trace, const tpt_tensor_t* state);
// Lowers all records into l->graph. inout_values: one graph value per trace value, those of the inputs
// set (home dimensions). number_arg: argument of l (Scalar[]) that holds the trace's numbers at run
// time, or -1: they become constants, and random numbers continue l's stream.
TPT_MUST_USE tpt_status_t tpt_trace_lower(const tpt_trace_t* trace, tpt_lower_t* l, int number_arg,
                                          tpt_value_t* inout_values);

// A value is needed now: runs the fused window if it waits there. FAILED_PRECONDITION for values of a
// capture; the failure that left a cell without value.
TPT_MUST_USE tpt_status_t tpt_trace_need(tpt_device_t* device, const tpt_cell_t* cell);
// Why a cell without buffer has none.
TPT_MUST_USE tpt_status_t tpt_trace_no_value(const tpt_cell_t* cell);

#endif  // TPUTORCH_EAGER_TRACE_H_
