// Transfers: host memory to and from a device's memory, and from device to device. A copy runs on the
// calling thread where nothing queued can be in its way, else in the queue or when its source is ready.
#ifndef TPUTORCH_VTPU_TRANSFER_H_
#define TPUTORCH_VTPU_TRANSFER_H_

#include "vtpu/buffer.h"

typedef struct vtpu_upload {
  tpt_type_t type;
  const void* data;        // element 0
  const int64_t* strides;  // bytes, may be negative; NULL: dense row-major
  bool is_call_only;       // `data` may not be read after the call returns
} vtpu_upload_t;

// A buffer with the host's values. *out_done (a reference) happens when `data` is free again.
// Elements of PRED that are not 0 become 1.
TPT_MUST_USE tpt_status_t vtpu_buffer_upload(vtpu_device_t* device, const vtpu_upload_t* upload,
                                             vtpu_buffer_t** out_buffer, vtpu_event_t** out_done);

typedef struct vtpu_download {
  void* data;              // element 0; valid until *out_done happens
  const int64_t* strides;  // bytes; NULL: dense row-major
  size_t offset, size;     // with is_raw: this byte range of the dense array, as it lies
  bool is_raw;
} vtpu_download_t;

// Copies the value out once it exists. A failed buffer's error is returned at once, or through
// *out_done (a reference) when it fails later. Waits for no other work.
TPT_MUST_USE tpt_status_t vtpu_buffer_download(vtpu_buffer_t* buffer,
                                               const vtpu_download_t* download,
                                               vtpu_event_t** out_done);

// A copy of the buffer on `device` (its own or another); a failed source makes a failed copy.
TPT_MUST_USE tpt_status_t vtpu_buffer_copy(vtpu_buffer_t* buffer, vtpu_device_t* device,
                                           vtpu_buffer_t** out_buffer);

// For a buffer just made by vtpu_buffer_create, before anyone else has its handle: waits for queued
// work that may still use its memory, so that the host may write it.
void vtpu_buffer_settle(vtpu_buffer_t* buffer);
// Writes bytes of an array of `type` into its settled block, which the caller holds and whose value is
// still pending; the range lies inside.
void vtpu_block_write(vtpu_block_t* block, const tpt_type_t* type, size_t offset, const void* data,
                      size_t size);

#endif  // TPUTORCH_VTPU_TRANSFER_H_
