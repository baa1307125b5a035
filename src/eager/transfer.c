// Owns the way between host memory and windows. Must not know ops beyond the runtime's own. Invariant:
// a storage's bytes on the host are its home's dense row-major data, so any window of any dtype can be
// cut out of them without knowing the home.
#include "eager/transfer.h"

#include <string.h>

#include "base/allocator.h"
#include "eager/call.h"
#include "eager/internal_op.h"
#include "eager/stride_order.h"
#include "eager/strided_copy.h"
#include "eager/trace.h"
#include "eager/wait.h"

// Below this a whole storage is fetched rather than a program run for a part of it.
enum { SMALL_STORAGE = 65536 };

static tpt_status_t no_host_memory(size_t size) {
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %zu bytes of tensor data", size);
}

static size_t dense_size(const tpt_window_t* window) {
  return (size_t)tpt_type_size(&window->type);
}

tpt_status_t tpt_transfer_window(const tpt_tensor_t* tensor, const tpt_window_t** out_window) {
  int64_t starts[TPT_START_MAX];
  int start_count;
  tpt_solution_t solution;
  TPT_TRY(tpt_storage_look_up(tensor->storage, tensor));
  *out_window = tensor->storage->window;
  return tpt_window_solve(*out_window, tensor->offset, starts, &start_count, &solution);
}

bool tpt_transfer_is_bytes(const tpt_window_t* window) {
  return window->type.dtype == TPT_U8 && window->is_whole && window->is_contiguous;
}

// --- upload ------------------------------------------------------------------------------------------------

// Bytes of a storage whose elements have a type already, or none yet. A bool home is given up: not
// every byte is a truth value.
static tpt_status_t upload_bytes(tpt_storage_t* storage, const void* data) {
  const tpt_home_t* untyped;
  if (tpt_home_is_typed(storage->home) && storage->home->type.dtype != TPT_PRED)
    return tpt_storage_upload(storage, storage->home, data);
  TPT_TRY(tpt_home_untyped(&storage->device->homes, storage->size, &untyped));
  void* copy = tpt_malloc(storage->size);
  if (!copy) return no_host_memory(storage->size);
  memcpy(copy, data, storage->size);
  tpt_storage_set(storage, untyped, NULL);
  storage->bytes = copy;
  return NULL;
}

static tpt_status_t upload_whole(const tpt_tensor_t* tensor, const tpt_window_t* window,
                                 const void* data) {
  tpt_storage_t* storage = tensor->storage;
  const tpt_home_t* home;
  if (tpt_transfer_is_bytes(window)) return upload_bytes(storage, data);
  TPT_TRY(tpt_home_adopt(&storage->device->homes, storage->size, tensor, &home));
  if (window->is_contiguous) return tpt_storage_upload(storage, home, data);
  void* flat = tpt_malloc(storage->size);
  if (!flat) return no_host_memory(storage->size);
  tpt_strided_unpack(tensor, data, flat);
  tpt_status_t status = tpt_storage_upload(storage, home, flat);
  tpt_free(flat);
  return status;
}

tpt_status_t tpt_copy_locked(tpt_device_t* device, const tpt_tensor_t* dst,
                             const tpt_tensor_t* src) {
  tpt_arg_t args[2] = {{.kind = TPT_ARG_TENSOR, .count = 1, .tensors = dst},
                       {.kind = TPT_ARG_TENSOR, .count = 1, .tensors = src}};
  int written = 0, count;
  tpt_result_t* results;
  tpt_call_t call = {.op = tpt_internal_op(TPT_INTERNAL_COPY),
                     .variant = TPT_INPLACE,
                     .args = args,
                     .arg_count = 2,
                     .inplace_args = &written,
                     .inplace_count = 1,
                     .device = device->index,
                     .default_dtype = TPT_F32};
  return tpt_call_run_locked(device, &call, &results, &count);
}

static tpt_status_t upload_part(const tpt_tensor_t* tensor, const tpt_window_t* window,
                                const void* data) {
  tpt_device_t* device = tensor->storage->device;
  tpt_storage_t* staging = NULL;
  int64_t strides[TPT_RANK_MAX];
  const tpt_home_t* home;
  tpt_strides_contiguous_of(&window->type, strides);
  TPT_TRY(tpt_home_typed(&device->homes, &window->type, &home));
  TPT_TRY(tpt_storage_make(device, home->size, home, &staging));
  tpt_tensor_t source = *tensor;
  source.storage = staging;
  source.strides = strides;
  source.offset = 0;
  tpt_status_t status = tpt_storage_upload(staging, home, data);
  if (!status) status = tpt_copy_locked(device, tensor, &source);
  tpt_storage_destroy(staging);
  return status;
}

static tpt_status_t upload_locked(const tpt_tensor_t* tensor, const void* data) {
  const tpt_window_t* window;
  TPT_TRY(tpt_transfer_window(tensor, &window));
  if (window->span == 0) return NULL;
  if (window->is_expanded)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "unsupported operation: more than one element of the written-to tensor refers to a "
             "single memory location. Please clone() the tensor before performing the operation.");
  if (window->is_whole) return upload_whole(tensor, window, data);
  if (!tensor->storage->bytes) return upload_part(tensor, window, data);
  tpt_strided_unpack(tensor, data, tensor->storage->bytes);
  return NULL;
}

tpt_status_t tpt_tensor_upload(const tpt_tensor_t* tensor, const void* data) {
  TPT_TRY(tpt_runtime_open());
  tpt_device_t* device = tensor->storage->device;
  TPT_TRY(tpt_device_enter(device));
  tpt_status_t status = upload_locked(tensor, data);
  tpt_device_unlock(device);
  return status;
}

// --- download ----------------------------------------------------------------------------------------------

tpt_status_t tpt_read_locked(const tpt_tensor_t* tensor, const tpt_home_t** out_home,
                             tpt_cell_t** out_cell) {
  tpt_device_t* device = tensor->storage->device;
  tpt_arg_t arg = {.kind = TPT_ARG_TENSOR, .count = 1, .tensors = tensor};
  tpt_result_t* results;
  int count;
  tpt_call_t call = {.op = tpt_internal_op(TPT_INTERNAL_READ),
                     .args = &arg,
                     .arg_count = 1,
                     .device = device->index,
                     .default_dtype = TPT_F32};
  TPT_TRY(tpt_call_run_locked(device, &call, &results, &count));
  *out_home = results[0].storage->home;
  *out_cell = results[0].storage->cell ? tpt_cell_retain(results[0].storage->cell) : NULL;
  tpt_storage_destroy(results[0].storage);
  return NULL;
}

// A read that has left the lock: the value, and how the wanted elements lie in it.
typedef struct download {
  tpt_cell_t* cell;  // NULL: nothing is left to fetch
  size_t cell_size;
  bool is_direct;       // the value's bytes are the result
  tpt_tensor_t tensor;  // else: the window to cut out
} download_t;

static tpt_status_t begin_download(const tpt_tensor_t* tensor, void* data, download_t* out) {
  const tpt_window_t* window;
  tpt_storage_t* storage = tensor->storage;
  TPT_TRY(tpt_transfer_window(tensor, &window));
  if (window->span == 0) return NULL;
  size_t size = dense_size(window);
  if (storage->bytes) {
    tpt_strided_pack(tensor, storage->bytes, data);
    return NULL;
  }
  if (!storage->cell) {
    memset(data, 0, size);
    return NULL;
  }
  TPT_TRY(tpt_trace_need(storage->device, storage->cell));
  storage->device->counters.downloads++;
  out->tensor = *tensor;
  if (window->is_whole || storage->size <= SMALL_STORAGE || size >= storage->size / 4) {
    out->cell = tpt_cell_retain(storage->cell);
    out->cell_size = storage->size;
    out->is_direct = window->is_whole && window->is_contiguous;
    return NULL;
  }
  const tpt_home_t* home;
  TPT_TRY(tpt_read_locked(tensor, &home, &out->cell));
  tpt_status_t status = tpt_trace_need(storage->device, out->cell);
  if (status) {
    tpt_cell_release(out->cell);
    return status;
  }
  out->cell_size = size;
  out->is_direct = true;
  return NULL;
}

static tpt_status_t fetch(const download_t* download, void* data) {
  tpt_buffer_t* buffer = download->cell->buffer;
  if (download->is_direct) return tpt_buffer_to_host(buffer, data, download->cell_size);
  void* flat = tpt_malloc(download->cell_size);
  if (!flat) return no_host_memory(download->cell_size);
  tpt_status_t status = tpt_buffer_to_host(buffer, flat, download->cell_size);
  if (!status) tpt_strided_pack(&download->tensor, flat, data);
  tpt_free(flat);
  return status;
}

tpt_status_t tpt_tensor_download(const tpt_tensor_t* tensor, void* data) {
  TPT_TRY(tpt_runtime_open());
  tpt_device_t* device = tensor->storage->device;
  download_t download = {0};
  TPT_TRY(tpt_device_enter(device));
  tpt_status_t status = begin_download(tensor, data, &download);
  tpt_device_unlock(device);
  if (status || !download.cell) return status;
  status = tpt_wait_ready(download.cell->buffer);
  if (status) {  // interrupted: nothing is known about the value
    tpt_device_lock(device);
    tpt_cell_release(download.cell);
    tpt_device_unlock(device);
    return status;
  }
  status = fetch(&download, data);  // outside the lock: others may launch while this one waits
  tpt_device_lock(device);
  if (status) {
    status = tpt_cell_blame(download.cell, status);
  } else {
    tpt_cell_clear(download.cell);
  }
  tpt_cell_release(download.cell);
  tpt_device_unlock(device);
  return status;
}
