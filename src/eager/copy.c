// Owns copies from tensor to tensor and the resizing of storages. Must not know host data. Invariant: a
// copy of a whole storage's bytes keeps the home and shares the value; nothing is ever bitcast for it.
#include <string.h>

#include "base/allocator.h"
#include "eager/address.h"
#include "eager/stride_order.h"
#include "eager/trace.h"
#include "eager/transfer.h"

// dst's storage takes src's home and value (or host bytes) as they are.
static tpt_status_t share_storage(tpt_storage_t* dst, tpt_storage_t* src) {
  if (dst == src) return NULL;
  void* bytes = NULL;
  if (src->bytes) {
    bytes = tpt_malloc(src->size);
    if (!bytes)
      TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %zu bytes of tensor data", src->size);
    memcpy(bytes, src->bytes, src->size);
  }
  tpt_storage_set(dst, src->home, src->cell ? tpt_cell_retain(src->cell) : NULL);
  dst->bytes = bytes;
  return NULL;
}

static bool is_device_tensor(const tpt_tensor_t* tensor) {
  return !(tensor->flags & (TPT_TENSOR_HOST | TPT_TENSOR_NONE));
}

// All bytes of a storage, in their order.
static bool is_byte_tensor(const tpt_tensor_t* tensor) {
  int64_t stride = 1;
  if (tensor->dtype != TPT_U8 || tensor->offset != 0) return false;
  for (int i = tensor->rank - 1; i >= 0; i--) {
    if (tensor->sizes[i] != 1 && tensor->strides[i] != stride) return false;
    if (__builtin_mul_overflow(stride, tensor->sizes[i], &stride)) return false;
  }
  return stride > 0 && (size_t)stride == tensor->storage->size;
}

// A copy of bytes to bytes, one to one: the storage's value moves as it is.
static bool is_storage_copy(const tpt_tensor_t* dst, const tpt_tensor_t* src) {
  return dst->rank == src->rank &&
         memcmp(dst->sizes, src->sizes, (size_t)dst->rank * sizeof(*dst->sizes)) == 0 &&
         is_byte_tensor(dst) && is_byte_tensor(src);
}

static tpt_status_t copy_on_device(const tpt_tensor_t* dst, const tpt_tensor_t* src) {
  if (is_device_tensor(src) && is_storage_copy(dst, src))
    return share_storage(dst->storage, src->storage);
  return tpt_copy_locked(dst->storage->device, dst, src);
}

// --- between devices ---------------------------------------------------------------------------------------

// What leaves the source device: a value, or host bytes, or nothing (zeros).
typedef struct parcel {
  tpt_cell_t* cell;  // one reference of the source device
  tpt_type_t type;   // of the cell: the home's
  void* bytes;       // owned
  bool is_whole;     // the home is the source storage's own; strides are the tensor's
} parcel_t;

static tpt_status_t pack_parcel(const tpt_tensor_t* src, bool is_storage, parcel_t* out) {
  const tpt_window_t* window;
  tpt_storage_t* storage = src->storage;
  TPT_TRY(tpt_transfer_window(src, &window));
  if (window->span == 0) return NULL;
  if (storage->bytes && !is_storage) TPT_TRY(tpt_storage_settle(storage, src));
  if (storage->bytes) {
    out->bytes = tpt_malloc(storage->size);
    if (!out->bytes)
      TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %zu bytes of tensor data",
               storage->size);
    memcpy(out->bytes, storage->bytes, storage->size);
    return NULL;
  }
  if (!storage->cell) return NULL;
  const tpt_home_t* home = storage->home;
  out->is_whole = window->is_whole;
  if (window->is_whole) {
    out->cell = tpt_cell_retain(storage->cell);
  } else {
    TPT_TRY(tpt_read_locked(src, &home, &out->cell));
  }
  tpt_status_t status = tpt_trace_need(storage->device, out->cell);
  if (status) {
    tpt_cell_release(out->cell);
    out->cell = NULL;
    return status;
  }
  out->type = home->type;
  return NULL;
}

// Makes a storage of the parcel on the target device; buffer (may be NULL: zeros) is consumed.
static tpt_status_t unpack_parcel(tpt_device_t* device, const parcel_t* parcel,
                                  tpt_buffer_t* take_buffer, tpt_storage_t** out_storage) {
  const tpt_home_t* home;
  tpt_cell_t* cell = NULL;
  tpt_status_t status = tpt_home_typed(&device->homes, &parcel->type, &home);
  if (!status) status = tpt_storage_make(device, home->size, home, out_storage);
  if (!status) status = tpt_cell_create(device, &cell);
  if (status) {
    tpt_buffer_release(take_buffer);
    return status;
  }
  tpt_cell_fill(cell, take_buffer, home->size);
  tpt_storage_set(*out_storage, home, cell);
  return NULL;
}

static tpt_status_t zero_storage(tpt_device_t* device, size_t size, tpt_storage_t** out_storage) {
  const tpt_home_t* home;
  TPT_TRY(tpt_home_untyped(&device->homes, size, &home));
  return tpt_storage_make(device, size, home, out_storage);
}

static tpt_status_t deliver_locked(const tpt_tensor_t* dst, const tpt_tensor_t* src,
                                   const parcel_t* parcel, tpt_buffer_t* take_buffer) {
  tpt_device_t* device = dst->storage->device;
  tpt_storage_t* staging = NULL;
  int64_t dense[TPT_RANK_MAX];
  tpt_tensor_t source = *src;
  tpt_status_t status = take_buffer ? unpack_parcel(device, parcel, take_buffer, &staging)
                                    : zero_storage(device, src->storage->size, &staging);
  source.storage = staging;
  if (!status && take_buffer && !parcel->is_whole) {
    tpt_type_t type = tpt_type_make(src->dtype, src->rank, src->sizes);
    tpt_strides_contiguous_of(&type, dense);
    source.strides = dense;
    source.offset = 0;
  }
  if (!status && is_storage_copy(dst, src)) {
    status = share_storage(dst->storage, staging);
  } else if (!status) {
    status = tpt_copy_locked(device, dst, &source);
  }
  tpt_storage_destroy(staging);
  return status;
}

static tpt_status_t copy_across(const tpt_tensor_t* dst, const tpt_tensor_t* src) {
  tpt_device_t *from = src->storage->device, *to = dst->storage->device;
  parcel_t parcel = {0};
  tpt_buffer_t* buffer = NULL;
  TPT_TRY(tpt_device_enter(from));
  tpt_status_t status = pack_parcel(src, is_storage_copy(dst, src), &parcel);
  tpt_device_unlock(from);
  if (!status && parcel.bytes) {
    status = tpt_tensor_upload(dst, parcel.bytes);
  } else if (!status) {
    if (parcel.cell) status = tpt_buffer_copy_to_device(parcel.cell->buffer, to->index, &buffer);
    tpt_device_lock(to);
    if (status) {
      status = tpt_memory_explain(to, parcel.cell->size, status);
    } else {
      status = deliver_locked(dst, src, &parcel, buffer);
    }
    tpt_device_unlock(to);
  }
  tpt_free(parcel.bytes);
  tpt_device_lock(from);
  tpt_cell_release(parcel.cell);
  tpt_device_unlock(from);
  return status;
}

tpt_status_t tpt_tensor_copy(const tpt_tensor_t* dst, const tpt_tensor_t* src) {
  TPT_TRY(tpt_runtime_open());
  tpt_device_t* device = dst->storage->device;
  if (is_device_tensor(src) && src->storage->device != device) return copy_across(dst, src);
  TPT_TRY(tpt_device_enter(device));
  tpt_status_t status = copy_on_device(dst, src);
  tpt_device_unlock(device);
  return status;
}

// --- resizing ----------------------------------------------------------------------------------------------

static tpt_status_t resize_bytes(tpt_storage_t* storage, size_t size) {
  char* bytes = tpt_realloc(storage->bytes, size ? size : 1);
  if (!bytes) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %zu bytes of tensor data", size);
  if (size > storage->size) memset(bytes + storage->size, 0, size - storage->size);
  storage->bytes = bytes;
  return NULL;
}

// The leading bytes of `storage` as the value of a new storage of `size` bytes.
static tpt_status_t resized_value(tpt_storage_t* storage, size_t size,
                                  tpt_storage_t** out_storage) {
  tpt_device_t* device = storage->device;
  tpt_dtype_t dtype = storage->home->type.dtype;
  if (size % tpt_dtype_size(dtype) != 0) dtype = TPT_U8;
  size_t kept = size < storage->size ? size : storage->size;
  int64_t count = (int64_t)(kept / tpt_dtype_size(dtype)), stride = 1;
  TPT_TRY(zero_storage(device, size, out_storage));
  if (count == 0) return NULL;
  tpt_tensor_t source = {
      .storage = storage, .sizes = &count, .strides = &stride, .rank = 1, .dtype = dtype};
  tpt_tensor_t target = source;
  target.storage = *out_storage;
  return tpt_copy_locked(device, &target, &source);
}

static tpt_status_t move_address(tpt_storage_t* storage, size_t size) {
  if (size <= tpt_address_room(storage->address)) return NULL;
  void* address;
  TPT_TRY(tpt_address_take(storage, size, &address));
  tpt_address_release(storage->address);
  storage->address = address;
  return NULL;
}

static tpt_status_t resize_locked(tpt_storage_t* storage, size_t size) {
  if (size == storage->size) return NULL;
  tpt_storage_t* resized = NULL;
  const tpt_home_t* home;
  TPT_TRY(tpt_home_untyped(&storage->device->homes, size, &home));
  tpt_status_t status = storage->cell ? resized_value(storage, size, &resized) : NULL;
  if (!status) status = move_address(storage, size);
  if (!status && storage->bytes) {
    status = resize_bytes(storage, size);
  } else if (!status && resized) {
    tpt_cell_t* cell = resized->cell ? tpt_cell_retain(resized->cell) : NULL;
    tpt_storage_set(storage, resized->home, cell);
  }
  if (!status && !resized) storage->home = home;
  if (!status) {
    storage->size = size;
    storage->window = NULL;
  }
  tpt_storage_destroy(resized);
  return status;
}

tpt_status_t tpt_storage_resize(tpt_storage_t* storage, size_t size) {
  TPT_TRY(tpt_runtime_open());
  tpt_device_t* device = storage->device;
  TPT_TRY(tpt_device_enter(device));
  tpt_status_t status = resize_locked(storage, size);
  tpt_device_unlock(device);
  return status;
}
