// Owns storages: their life, their value, and the fixing of a home type. Must not know ops.
// Invariant: at most one of `cell` and `bytes` is set; a cell's buffer has exactly the home's type.
#include "eager/storage.h"

#include <string.h>

#include "base/allocator.h"
#include "eager/address.h"
#include "eager/device.h"
#include "eager/stride_order.h"

tpt_status_t tpt_storage_make(tpt_device_t* device, size_t size, const tpt_home_t* home,
                              tpt_storage_t** out_storage) {
  tpt_storage_t* storage = tpt_calloc(1, sizeof(*storage));
  if (!storage) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a storage");
  storage->device = device;
  storage->size = size;
  storage->home = home;
  tpt_status_t status = tpt_address_take(storage, size, &storage->address);
  if (status) {
    tpt_free(storage);
    return status;
  }
  storage->next = device->storages;
  if (storage->next) storage->next->previous = storage;
  device->storages = storage;
  device->memory.storage_count++;
  *out_storage = storage;
  return NULL;
}

void tpt_storage_destroy(tpt_storage_t* storage) {
  if (!storage) return;
  tpt_device_t* device = storage->device;
  if (storage->previous) {
    storage->previous->next = storage->next;
  } else {
    device->storages = storage->next;
  }
  if (storage->next) storage->next->previous = storage->previous;
  device->memory.storage_count--;
  if (storage->placeholder) *storage->placeholder = NULL;
  tpt_cell_release(storage->cell);
  tpt_free(storage->bytes);
  tpt_address_release(storage->address);
  tpt_free(storage);
}

void tpt_storage_set(tpt_storage_t* storage, const tpt_home_t* home, tpt_cell_t* take_cell) {
  tpt_cell_release(storage->cell);
  tpt_free(storage->bytes);
  storage->bytes = NULL;
  storage->cell = take_cell;
  if (storage->home != home) storage->window = NULL;
  storage->home = home;
}

tpt_status_t tpt_storage_upload(tpt_storage_t* storage, const tpt_home_t* home, const void* data) {
  tpt_device_t* device = storage->device;
  tpt_buffer_t* buffer = NULL;
  tpt_cell_t* cell = NULL;
  TPT_TRY(tpt_cell_create(device, &cell));
  for (int attempt = 0; attempt < 2; attempt++) {
    tpt_status_t status =
        tpt_buffer_from_host(device->client, device->index, &home->type, data, &buffer);
    if (!status) break;
    bool is_full = tpt_status_code(status) == TPT_RESOURCE_EXHAUSTED;
    if (attempt == 0 && is_full && tpt_memory_trim(device)) {
      tpt_status_release(status);
      continue;
    }
    tpt_cell_release(cell);
    return tpt_memory_explain(device, home->size, status);
  }
  tpt_cell_fill(cell, buffer, home->size);
  cell->site = tpt_site_of(NULL, NULL, 0);
  device->counters.uploads++;
  tpt_storage_set(storage, home, cell);
  return NULL;
}

tpt_status_t tpt_storage_look_up(tpt_storage_t* storage, const tpt_tensor_t* tensor) {
  if (__builtin_expect(tpt_window_is(storage->window, storage->home, tensor), 1)) return NULL;
  return tpt_window_get(&storage->device->windows, storage->home, tensor, &storage->window);
}

tpt_status_t tpt_storage_whole(tpt_storage_t* storage, tpt_tensor_t* out_tensor) {
  const tpt_type_t* type = &storage->home->type;
  int64_t strides[TPT_RANK_MAX];
  tpt_strides_contiguous_of(type, strides);
  const tpt_tensor_t whole = {.storage = storage,
                              .sizes = type->dims,
                              .strides = strides,
                              .rank = type->rank,
                              .dtype = type->dtype};
  TPT_TRY(tpt_storage_look_up(storage, &whole));
  *out_tensor = whole;
  out_tensor->sizes = storage->window->type.dims;
  out_tensor->strides = storage->window->strides;
  return NULL;
}

// Bytes above 1 are no truth values: they must stay bytes, or reading them back would change them.
static bool are_bytes_truth(const tpt_storage_t* storage) {
  const unsigned char* bytes = storage->bytes;
  for (size_t i = 0; i < storage->size; i++) {
    if (bytes[i] > 1) return false;
  }
  return true;
}

static tpt_status_t adopt_home(tpt_storage_t* storage, const tpt_tensor_t* tensor,
                               const tpt_home_t** out_home) {
  tpt_tensor_t window = *tensor;
  if (storage->bytes && tensor->dtype == TPT_PRED && !are_bytes_truth(storage))
    window.dtype = TPT_U8;
  return tpt_home_adopt(&storage->device->homes, storage->size, &window, out_home);
}

tpt_status_t tpt_storage_settle(tpt_storage_t* storage, const tpt_tensor_t* tensor) {
  TPT_TRY(tpt_storage_look_up(storage, tensor));
  if (__builtin_expect(storage->cell != NULL, 1) || storage->window->span == 0) return NULL;
  if (!storage->bytes && (storage->window->is_whole || tpt_home_is_typed(storage->home)))
    return NULL;
  const tpt_home_t* home;
  TPT_TRY(adopt_home(storage, tensor, &home));
  if (storage->bytes) {
    void* bytes = storage->bytes;
    storage->bytes = NULL;  // tpt_storage_upload frees what it replaces
    tpt_status_t status = tpt_storage_upload(storage, home, bytes);
    if (status) {
      storage->bytes = bytes;
      return status;
    }
    tpt_free(bytes);
  }
  storage->home = home;
  return tpt_storage_look_up(storage, tensor);
}

// --- the public functions ----------------------------------------------------------------------------------

tpt_status_t tpt_storage_create(int device_index, size_t size, tpt_storage_t** out_storage) {
  *out_storage = NULL;
  tpt_device_t* device;
  const tpt_home_t* home;
  TPT_TRY(tpt_device_get(device_index, &device));
  TPT_TRY(tpt_device_enter(device));
  tpt_status_t status = tpt_memory_promise(device, size);
  if (!status) status = tpt_home_untyped(&device->homes, size, &home);
  if (!status) status = tpt_storage_make(device, size, home, out_storage);
  tpt_device_unlock(device);
  return status;
}

void tpt_storage_release(tpt_storage_t* storage) {
  if (!storage || tpt_runtime_is_bad_fork()) return;
  tpt_device_t* device = storage->device;
  tpt_device_lock(device);
  tpt_storage_destroy(storage);
  tpt_device_unlock(device);
}

void* tpt_storage_address(const tpt_storage_t* storage) {
  return storage->address;
}

tpt_storage_t* tpt_storage_find(const void* address, size_t* out_offset) {
  return tpt_address_find(address, out_offset);
}

int tpt_storage_device(const tpt_storage_t* storage) {
  return storage->device->index;
}
size_t tpt_storage_size(const tpt_storage_t* storage) {
  return storage->size;
}
