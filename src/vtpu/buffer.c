// Buffers: handles onto blocks, their states and their end. Knows nothing of programs or transfers.
// Invariant: a block is freed when no buffer owns it and no reader holds it; the buffer's fields but
// `mark`, `type`, `device` and `ready` change under the device's lock only.
#include "vtpu/buffer.h"

#include <string.h>

tpt_status_t vtpu_buffer_check_failed(const vtpu_buffer_t* buffer) {
  if (!buffer) TPT_FAIL(TPT_INVALID_ARGUMENT, "buffer is NULL");
  TPT_FAIL(TPT_INVALID_ARGUMENT, "%p is not a live buffer: destroyed before, or not of vtpu",
           (const void*)buffer);
}

tpt_status_t vtpu_type_parse(int dtype, const int64_t* dims, size_t rank, tpt_type_t* out_type) {
  if (dtype <= 0 || dtype >= TPT_DTYPE_COUNT)
    TPT_FAIL(dtype > 0 ? TPT_UNIMPLEMENTED : TPT_INVALID_ARGUMENT,
             "element type %d (PJRT_Buffer_Type): vtpu has pred, s8-s64, u8-u64, f16, f32, f64, "
             "bf16, c64, c128",
             dtype);
  if (rank > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "an array of %zu dimensions: vtpu has at most %d", rank,
             TPT_RANK_MAX);
  if (rank > 0 && !dims) TPT_FAIL(TPT_INVALID_ARGUMENT, "dims is NULL for %zu dimensions", rank);
  int64_t size = (int64_t)tpt_dtype_size((tpt_dtype_t)dtype);
  for (size_t i = 0; i < rank; i++) {
    if (dims[i] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "dimension %zu has size %lld", i, (long long)dims[i]);
    // An empty array's other dimensions must fit too: strides are made of them.
    if (dims[i] != 0 && __builtin_mul_overflow(size, dims[i], &size))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "the array's size in bytes overflows at dimension %zu", i);
  }
  *out_type = tpt_type_make((tpt_dtype_t)dtype, (int)rank, dims);
  return NULL;
}

// --- making ---------------------------------------------------------------------------------------------

vtpu_buffer_t* vtpu_buffer_new(vtpu_device_t* device, const tpt_type_t* type) {
  vtpu_buffer_t* buffer = vtpu_slab_take(&device->buffers);
  if (!buffer) return NULL;
  buffer->mark = VTPU_BUFFER_LIVE;
  buffer->ref_count = 1;
  buffer->device = device;
  buffer->block = buffer->external = NULL;
  buffer->external_count = 0;
  buffer->is_deleted = false;
  buffer->launch = 0;
  buffer->ready = buffer->donation = NULL;
  buffer->type.dtype = type->dtype;
  buffer->type.rank = type->rank;
  for (int i = 0; i < type->rank; i++)
    buffer->type.dims[i] = type->dims[i];
  device->buffer_count++;
  return buffer;
}

tpt_status_t vtpu_buffer_new_block(vtpu_device_t* device, const tpt_type_t* type,
                                   vtpu_buffer_t** out_buffer) {
  vtpu_block_t* block = NULL;
  TPT_TRY(vtpu_hbm_alloc(device->hbm, (size_t)tpt_type_size(type), &block));
  vtpu_buffer_t* buffer = vtpu_buffer_new(device, type);
  if (!buffer) {
    vtpu_hbm_free(device->hbm, block);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a buffer's handle");
  }
  block->ref_count = 1;
  buffer->block = block;
  *out_buffer = buffer;
  return NULL;
}

tpt_status_t vtpu_buffer_create(vtpu_device_t* device, const tpt_type_t* type,
                                vtpu_buffer_t** out_buffer) {
  vtpu_device_lock(device);
  tpt_status_t status = vtpu_buffer_new_block(device, type, out_buffer);
  if (status && !vtpu_device_is_idle(device)) {  // finishing work may give memory back
    vtpu_device_await_locked(device, device->submitted);
    tpt_status_release(status);
    status = vtpu_buffer_new_block(device, type, out_buffer);
  }
  vtpu_device_unlock(device);
  return status;
}

tpt_status_t vtpu_buffer_create_failed(vtpu_device_t* device, const tpt_type_t* type,
                                       vtpu_event_t* event, vtpu_buffer_t** out_buffer) {
  vtpu_device_lock(device);
  vtpu_buffer_t* buffer = vtpu_buffer_new(device, type);
  vtpu_device_unlock(device);
  if (!buffer) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a buffer's handle");
  buffer->ready = vtpu_event_retain(event);
  *out_buffer = buffer;
  return NULL;
}

// --- end ------------------------------------------------------------------------------------------------

static void drop_block(vtpu_buffer_t* buffer) {
  if (!buffer->block) return;
  vtpu_block_unref(buffer->device, buffer->block);
  buffer->block = NULL;
}

static void drop_external(vtpu_buffer_t* buffer) {
  buffer->external_count = 0;
  if (buffer->external) vtpu_block_unhold(buffer->device, buffer->external);
  buffer->external = NULL;
}

static void drop_reference(vtpu_buffer_t* buffer) {
  vtpu_device_t* device = buffer->device;
  if (--buffer->ref_count > 0) return;
  device->buffer_count--;
  vtpu_slab_give(&device->buffers, buffer);
}

void vtpu_buffer_destroy_locked(vtpu_buffer_t* buffer) {
  buffer->mark = VTPU_BUFFER_DEAD;
  drop_external(buffer);
  drop_block(buffer);
  if (buffer->ready) vtpu_event_release(buffer->ready);
  buffer->ready = NULL;
  if (buffer->donation) vtpu_event_release(buffer->donation);
  buffer->donation = NULL;
  drop_reference(buffer);
}

void vtpu_buffer_destroy(vtpu_buffer_t* buffer) {
  vtpu_device_t* device = buffer->device;
  vtpu_device_lock(device);
  vtpu_buffer_destroy_locked(buffer);
  vtpu_device_unlock(device);
}

void vtpu_buffer_delete(vtpu_buffer_t* buffer) {
  vtpu_device_lock(buffer->device);
  buffer->is_deleted = true;
  drop_block(buffer);
  vtpu_device_unlock(buffer->device);
}

bool vtpu_buffer_is_deleted(vtpu_buffer_t* buffer) {
  vtpu_device_lock(buffer->device);
  bool is_deleted = buffer->is_deleted || buffer->donation;
  vtpu_device_unlock(buffer->device);
  return is_deleted;
}

// --- state ----------------------------------------------------------------------------------------------

tpt_status_t vtpu_buffer_check_alive(const vtpu_buffer_t* buffer) {
  if (__builtin_expect(!buffer->is_deleted && !buffer->donation, 1)) return NULL;
  char text[200];
  TPT_FAIL(TPT_INVALID_ARGUMENT, "Buffer has been deleted or donated (%s)",
           tpt_type_print(&buffer->type, text, sizeof(text)));
}

void vtpu_buffer_end_donation(vtpu_buffer_t* buffer, bool is_success) {
  if (buffer->mark == VTPU_BUFFER_LIVE) {
    if (is_success) {
      buffer->is_deleted = true;
      drop_block(buffer);
    }
    if (buffer->donation) vtpu_event_release(buffer->donation);
    buffer->donation = NULL;
  }
  drop_reference(buffer);
}

// --- outside holders ------------------------------------------------------------------------------------

tpt_status_t vtpu_buffer_add_external(vtpu_buffer_t* buffer) {
  vtpu_device_lock(buffer->device);
  tpt_status_t status = vtpu_buffer_check_alive(buffer);
  if (!status) {
    buffer->external_count++;
    if (!buffer->external && buffer->block) {
      buffer->external = buffer->block;
      buffer->block->hold_count++;
    }
  }
  vtpu_device_unlock(buffer->device);
  return status;
}

tpt_status_t vtpu_buffer_remove_external(vtpu_buffer_t* buffer) {
  vtpu_device_lock(buffer->device);
  bool is_held = buffer->external_count > 0;
  if (is_held && buffer->external_count-- == 1) drop_external(buffer);
  vtpu_device_unlock(buffer->device);
  if (!is_held)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "the buffer's external reference count is 0 already");
  return NULL;
}

tpt_status_t vtpu_buffer_address(vtpu_buffer_t* buffer, void** out_address) {
  vtpu_device_lock(buffer->device);
  tpt_status_t status = vtpu_buffer_check_alive(buffer);
  if (!status && vtpu_buffer_state(buffer) == VTPU_EVENT_FAILED)
    status = tpt_status_clone(vtpu_event_error(buffer->ready));
  if (!status) *out_address = buffer->block ? buffer->block->data : NULL;
  if (!status && buffer->block) {
    buffer->block->is_exposed = true;
    vtpu_block_forget(buffer->block);
  }
  vtpu_device_unlock(buffer->device);
  return status;
}
