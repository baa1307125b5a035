// Entries of the asynchronous host-to-device transfer manager: buffers that exist at once and become
// ready when their last chunk is written. Invariant: a buffer's event is set exactly once, by the last
// chunk, by an error, or by the manager's end; data is written only while it is pending.
#include <string.h>

#include "base/allocator.h"
#include "vtpu/plugin.h"
#include "vtpu/transfer.h"

typedef struct slot {
  vtpu_buffer_t* buffer;  // NULL once retrieved
  vtpu_block_t* block;    // where chunks go; held until the event is set, NULL after
  vtpu_event_t* ready;
  tpt_type_t type;
} slot_t;

struct PJRT_AsyncHostToDeviceTransferManager {
  vtpu_handle_t handle;
  vtpu_client_t* client;
  vtpu_device_t* device;
  slot_t* slots;
  size_t slot_count;
};
typedef PJRT_AsyncHostToDeviceTransferManager manager_t;

// --- life -----------------------------------------------------------------------------------------------

static void end_slot(manager_t* manager, slot_t* slot, tpt_status_t take_status) {
  if (slot->block) {
    vtpu_device_lock(manager->device);
    vtpu_block_unhold(manager->device, slot->block);
    vtpu_device_unlock(manager->device);
    slot->block = NULL;
  }
  vtpu_event_set(slot->ready, take_status);
}

static void release_manager(manager_t* manager) {
  for (size_t i = 0; i < manager->slot_count && manager->slots; i++) {
    slot_t* slot = &manager->slots[i];
    if (slot->ready)
      end_slot(manager, slot,
               tpt_status_make(TPT_CANCELLED, __FILE__, __LINE__,
                               "the transfer manager was destroyed before buffer %zu was filled",
                               i));
    if (slot->buffer) vtpu_buffer_destroy(slot->buffer);
    vtpu_event_release(slot->ready);
  }
  tpt_free(manager->slots);
  vtpu_handle_give(manager);
}

static tpt_status_t fill_slot(manager_t* manager, const PJRT_ShapeSpec* spec, slot_t* slot) {
  TPT_TRY(vtpu_type_parse((int)spec->element_type, spec->dims, spec->num_dims, &slot->type));
  TPT_TRY(vtpu_buffer_create(manager->device, &slot->type, &slot->buffer));
  vtpu_buffer_settle(slot->buffer);
  TPT_TRY(vtpu_event_create(&slot->ready));
  slot->buffer->ready = vtpu_event_retain(slot->ready);
  vtpu_device_lock(manager->device);
  slot->block = slot->buffer->block;
  slot->block->hold_count++;
  vtpu_device_unlock(manager->device);
  return NULL;
}

tpt_status_t vtpu_slot_Client_CreateBuffersForAsyncHostToDevice(
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args) {
  vtpu_device_t* device = NULL;
  tpt_status_t status = NULL;
  args->transfer_manager = NULL;
  TPT_TRY(vtpu_client_check(args->client));
  vtpu_client_t* client = args->client->client;
  TPT_TRY(vtpu_client_place(client, NULL, args->memory, &device));
  if (args->num_shape_specs > 0) TPT_TRY(vtpu_need(args->shape_specs, "shape_specs"));
  manager_t* manager = vtpu_handle_take(VTPU_HANDLE_TRANSFER);
  if (!manager) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a transfer manager");
  manager->client = client;
  manager->device = device;
  manager->slot_count = args->num_shape_specs;
  manager->slots = tpt_calloc(args->num_shape_specs + 1, sizeof(*manager->slots));
  if (!manager->slots)
    status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                             "no memory for a transfer manager");
  for (size_t i = 0; i < args->num_shape_specs && !status; i++) {
    status = fill_slot(manager, &args->shape_specs[i], &manager->slots[i]);
    if (!status && i < args->num_device_layouts && args->device_layouts)
      status = vtpu_layout_check(&manager->slots[i].type, args->device_layouts[i]);
  }
  if (status) {
    release_manager(manager);
    return status;
  }
  atomic_fetch_add(&client->object_count, 1);
  args->transfer_manager = manager;
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_Destroy(
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args) {
  manager_t* manager = args->transfer_manager;
  if (!manager) return NULL;
  TPT_TRY(vtpu_handle_check(manager, VTPU_HANDLE_TRANSFER));
  vtpu_client_t* client = manager->client;
  bool is_closed = vtpu_client_is_closed(client);
  release_manager(manager);
  atomic_fetch_sub(&client->object_count, 1);
  if (is_closed) vtpu_client_reap(client);
  return NULL;
}

// --- queries --------------------------------------------------------------------------------------------

static tpt_status_t find_slot(manager_t* manager, int index, slot_t** out_slot) {
  TPT_TRY(vtpu_handle_check(manager, VTPU_HANDLE_TRANSFER));
  if (index < 0 || (size_t)index >= manager->slot_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "no buffer %d: the transfer manager has %zu", index,
             manager->slot_count);
  *out_slot = &manager->slots[index];
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_RetrieveBuffer(
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args) {
  slot_t* slot = NULL;
  args->buffer_out = NULL;
  TPT_TRY(find_slot(args->transfer_manager, args->buffer_index, &slot));
  if (!slot->buffer)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "buffer %d was retrieved before", args->buffer_index);
  args->buffer_out = vtpu_buffer_handle(slot->buffer);
  slot->buffer = NULL;
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_Device(
    PJRT_AsyncHostToDeviceTransferManager_Device_Args* args) {
  TPT_TRY(vtpu_handle_check(args->transfer_manager, VTPU_HANDLE_TRANSFER));
  args->device_out = vtpu_device_owner(args->transfer_manager->device);
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_BufferCount(
    PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args) {
  TPT_TRY(vtpu_handle_check(args->transfer_manager, VTPU_HANDLE_TRANSFER));
  args->buffer_count = args->transfer_manager->slot_count;
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_BufferSize(
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args) {
  slot_t* slot = NULL;
  TPT_TRY(find_slot(args->transfer_manager, args->buffer_index, &slot));
  args->buffer_size = (size_t)tpt_type_size(&slot->type);
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_AddMetadata(
    PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args* args) {
  return vtpu_handle_check(args->transfer_manager, VTPU_HANDLE_TRANSFER);
}

// --- data -----------------------------------------------------------------------------------------------

static tpt_status_t write_chunk(slot_t* slot, const void* data, int64_t offset, int64_t size) {
  int64_t capacity = tpt_type_size(&slot->type);
  if (vtpu_event_get_state(slot->ready) != VTPU_EVENT_PENDING || !slot->block)
    TPT_FAIL(TPT_FAILED_PRECONDITION, "the buffer's last chunk, or an error, came before");
  if (offset < 0 || size < 0 || offset > capacity || size > capacity - offset)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%lld bytes at offset %lld lie outside a buffer of %lld bytes",
             (long long)size, (long long)offset, (long long)capacity);
  if (size == 0) return NULL;
  TPT_TRY(vtpu_need(data, "data"));
  vtpu_block_write(slot->block, &slot->type, (size_t)offset, data, (size_t)size);
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_TransferData(
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args) {
  slot_t* slot = NULL;
  args->done_with_h2d_transfer = NULL;
  TPT_TRY(find_slot(args->transfer_manager, args->buffer_index, &slot));
  TPT_TRY(write_chunk(slot, args->data, args->offset, args->transfer_size));
  if (args->is_last_transfer) end_slot(args->transfer_manager, slot, NULL);
  args->done_with_h2d_transfer = vtpu_event_hand_out(vtpu_event_ready());
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_TransferLiteral(
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args) {
  slot_t* slot = NULL;
  tpt_type_t type;
  args->done_with_h2d_transfer = NULL;
  TPT_TRY(find_slot(args->transfer_manager, args->buffer_index, &slot));
  TPT_TRY(vtpu_type_parse((int)args->shape_element_type, args->shape_dims, args->shape_num_dims,
                          &type));
  TPT_TRY(vtpu_layout_check(&type, args->shape_layout));
  if (!tpt_type_equal(&type, &slot->type)) {
    char wanted[200], passed[200];
    TPT_FAIL(TPT_INVALID_ARGUMENT, "the literal is %s, buffer %d is %s",
             tpt_type_print(&type, passed, sizeof(passed)), args->buffer_index,
             tpt_type_print(&slot->type, wanted, sizeof(wanted)));
  }
  TPT_TRY(write_chunk(slot, args->data, 0, tpt_type_size(&type)));
  end_slot(args->transfer_manager, slot, NULL);
  args->done_with_h2d_transfer = vtpu_event_hand_out(vtpu_event_ready());
  return NULL;
}

tpt_status_t vtpu_slot_AsyncHostToDeviceTransferManager_SetBufferError(
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args) {
  slot_t* slot = NULL;
  TPT_TRY(find_slot(args->transfer_manager, args->buffer_index, &slot));
  if (args->error_code == PJRT_Error_Code_OK)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "SetBufferError: error_code is OK");
  if (vtpu_event_get_state(slot->ready) != VTPU_EVENT_PENDING)
    TPT_FAIL(TPT_FAILED_PRECONDITION, "the buffer's last chunk, or an error, came before");
  end_slot(args->transfer_manager, slot,
           vtpu_status_from((int)args->error_code, args->error_message, args->error_message_size));
  return NULL;
}
