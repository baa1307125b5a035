// Buffer: an array in a device's memory, or the error that stands in its place.
//
// Life of the value: pending while the work that makes it is queued, then ready or failed, for good.
// Life of the handle: alive, then deleted (by hand or by a donation) or destroyed. A donation is
// committed only when the launch succeeds: between submission and completion the buffer reads as
// deleted, and after a failed launch it is alive again with the contents it had.
//
// Functions lock the device themselves unless they say "locked".
#ifndef TPUTORCH_VTPU_BUFFER_H_
#define TPUTORCH_VTPU_BUFFER_H_

#include <stdbool.h>
#include <stdint.h>

#include "tputorch/type.h"

#include "vtpu/device.h"

enum { VTPU_BUFFER_LIVE = 0x42554646, VTPU_BUFFER_DEAD = 0x64656164 };

typedef struct vtpu_buffer {
  uint32_t mark;
  uint32_t ref_count;  // the handle, and each queued launch that would take the donation
  vtpu_device_t* device;
  vtpu_block_t* block;     // NULL: no memory (failed at birth, deleted)
  vtpu_block_t* external;  // (optional) the block that external references hold
  uint32_t external_count;
  bool is_deleted;
  bool is_donated_now;  // scratch of the launch numbered `launch`
  uint64_t launch;
  vtpu_event_t* ready;     // NULL: the value was there from the start. Fixed for life
  vtpu_event_t* donation;  // NULL, or the outcome of a queued launch that would take the memory
  tpt_type_t type;
} vtpu_buffer_t;

// INVALID_ARGUMENT unless `buffer` is a live handle. Reads only the mark.
TPT_MUST_USE tpt_status_t vtpu_buffer_check_failed(const vtpu_buffer_t* buffer);
TPT_MUST_USE static inline tpt_status_t vtpu_buffer_check(const vtpu_buffer_t* buffer) {
  if (__builtin_expect(buffer && buffer->mark == VTPU_BUFFER_LIVE, 1)) return NULL;
  return vtpu_buffer_check_failed(buffer);
}

// Checks dtype and dimensions: UNIMPLEMENTED for element types and ranks that vtpu lacks,
// INVALID_ARGUMENT for negative or overflowing sizes.
TPT_MUST_USE tpt_status_t vtpu_type_parse(int dtype, const int64_t* dims, size_t rank,
                                          tpt_type_t* out_type);

// --- making --------------------------------------------------------------------------------------------
// Locked. A buffer without a block; NULL when memory is out.
vtpu_buffer_t* vtpu_buffer_new(vtpu_device_t* device, const tpt_type_t* type);
// Locked. A ready buffer with a block of its own, contents meaningless.
TPT_MUST_USE tpt_status_t vtpu_buffer_new_block(vtpu_device_t* device, const tpt_type_t* type,
                                                vtpu_buffer_t** out_buffer);
// A buffer with memory; when memory is out, once more after the queue has drained.
TPT_MUST_USE tpt_status_t vtpu_buffer_create(vtpu_device_t* device, const tpt_type_t* type,
                                             vtpu_buffer_t** out_buffer);
// A buffer that is what `event` (retained) turns out to be; no memory.
TPT_MUST_USE tpt_status_t vtpu_buffer_create_failed(vtpu_device_t* device, const tpt_type_t* type,
                                                    vtpu_event_t* event,
                                                    vtpu_buffer_t** out_buffer);
void vtpu_buffer_destroy(vtpu_buffer_t* take_buffer);
// Locked: the same.
void vtpu_buffer_destroy_locked(vtpu_buffer_t* take_buffer);
// Frees the memory and keeps the handle. Again: no effect.
void vtpu_buffer_delete(vtpu_buffer_t* buffer);
bool vtpu_buffer_is_deleted(vtpu_buffer_t* buffer);

// --- state ---------------------------------------------------------------------------------------------
// Locked. INVALID_ARGUMENT "deleted or donated" unless the handle is alive.
TPT_MUST_USE tpt_status_t vtpu_buffer_check_alive(const vtpu_buffer_t* buffer);
static inline vtpu_event_state_t vtpu_buffer_state(const vtpu_buffer_t* buffer) {
  return buffer->ready ? vtpu_event_get_state(buffer->ready) : VTPU_EVENT_READY;
}
static inline size_t vtpu_buffer_size(const vtpu_buffer_t* buffer) {
  return (size_t)tpt_type_size(&buffer->type);
}
// Locked. After a queued launch: the donation happened, or (failure) did not.
void vtpu_buffer_end_donation(vtpu_buffer_t* take_reference, bool is_success);

// --- outside holders -----------------------------------------------------------------------------------
TPT_MUST_USE tpt_status_t vtpu_buffer_add_external(vtpu_buffer_t* buffer);
// INVALID_ARGUMENT when none is out.
TPT_MUST_USE tpt_status_t vtpu_buffer_remove_external(vtpu_buffer_t* buffer);
// Where the value lies once it is ready; fails like check_alive, and for failed buffers.
TPT_MUST_USE tpt_status_t vtpu_buffer_address(vtpu_buffer_t* buffer, void** out_address);

#endif  // TPUTORCH_VTPU_BUFFER_H_
