// Entries PJRT_Buffer_* that ask or end a buffer, and those that make one without data. A PJRT_Buffer
// is a vtpu_buffer_t. IsOnCpu answers false although the memory is the host's: a TPU's is not, and
// clients that believe otherwise read and write behind the device's queue.
#include <string.h>

#include "vtpu/plugin.h"

static tpt_status_t check(const PJRT_Buffer* buffer) {
  return vtpu_buffer_check((const vtpu_buffer_t*)buffer);
}

// --- end ------------------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Buffer_Destroy(PJRT_Buffer_Destroy_Args* args) {
  if (!args->buffer) return NULL;
  TPT_TRY(check(args->buffer));
  vtpu_buffer_t* buffer = vtpu_buffer_of(args->buffer);
  vtpu_client_t* client = vtpu_device_owner(buffer->device)->client;
  bool is_closed = vtpu_client_is_closed(client);
  vtpu_buffer_destroy(buffer);
  if (is_closed) vtpu_client_reap(client);
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_Delete(PJRT_Buffer_Delete_Args* args) {
  TPT_TRY(check(args->buffer));
  vtpu_buffer_delete(vtpu_buffer_of(args->buffer));
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  TPT_TRY(check(args->buffer));
  args->is_deleted = vtpu_buffer_is_deleted(vtpu_buffer_of(args->buffer));
  return NULL;
}

// --- type -----------------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Buffer_ElementType(PJRT_Buffer_ElementType_Args* args) {
  TPT_TRY(check(args->buffer));
  args->type = (PJRT_Buffer_Type)vtpu_buffer_of(args->buffer)->type.dtype;
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args* args) {
  TPT_TRY(check(args->buffer));
  args->dims = vtpu_buffer_of(args->buffer)->type.dims;
  args->num_dims = (size_t)vtpu_buffer_of(args->buffer)->type.rank;
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  TPT_TRY(check(args->buffer));
  args->unpadded_dims = vtpu_buffer_of(args->buffer)->type.dims;
  args->num_dims = (size_t)vtpu_buffer_of(args->buffer)->type.rank;
  return NULL;
}

tpt_status_t
vtpu_slot_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  static const size_t none[1] = {0};
  TPT_TRY(check(args->buffer));
  args->dynamic_dim_indices = none;
  args->num_dynamic_dims = 0;
  return NULL;
}

// Every array is dense and row-major.
tpt_status_t vtpu_slot_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  static const int64_t descending[] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  _Static_assert(sizeof(descending) / sizeof(*descending) == TPT_RANK_MAX, "all ranks");
  TPT_TRY(check(args->buffer));
  int rank = vtpu_buffer_of(args->buffer)->type.rank;
  memset(&args->layout, 0, sizeof(args->layout));
  args->layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  args->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args->layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  args->layout.tiled.minor_to_major = descending + TPT_RANK_MAX - rank;
  args->layout.tiled.minor_to_major_size = (size_t)rank;
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  TPT_TRY(check(args->buffer));
  args->on_device_size_in_bytes = vtpu_buffer_size(vtpu_buffer_of(args->buffer));
  return NULL;
}

// --- place ----------------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Buffer_Device(PJRT_Buffer_Device_Args* args) {
  TPT_TRY(check(args->buffer));
  args->device = vtpu_device_owner(vtpu_buffer_of(args->buffer)->device);
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_Memory(PJRT_Buffer_Memory_Args* args) {
  TPT_TRY(check(args->buffer));
  args->memory = &vtpu_device_owner(vtpu_buffer_of(args->buffer)->device)->memory;
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args* args) {
  TPT_TRY(check(args->buffer));
  args->is_on_cpu = false;
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args* args) {
  void* address = NULL;
  TPT_TRY(check(args->buffer));
  TPT_TRY(vtpu_buffer_address(vtpu_buffer_of(args->buffer), &address));
  args->buffer_pointer = (uintptr_t)address;
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_OpaqueDeviceMemoryDataPointer(
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
  TPT_TRY(check(args->buffer));
  return vtpu_buffer_address(vtpu_buffer_of(args->buffer), &args->device_memory_ptr);
}

tpt_status_t vtpu_slot_Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) {
  TPT_TRY(check(args->buffer));
  return vtpu_buffer_add_external(vtpu_buffer_of(args->buffer));
}

tpt_status_t vtpu_slot_Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
  TPT_TRY(check(args->buffer));
  return vtpu_buffer_remove_external(vtpu_buffer_of(args->buffer));
}

// --- readiness --------------------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  args->event = NULL;
  TPT_TRY(check(args->buffer));
  vtpu_buffer_t* buffer = vtpu_buffer_of(args->buffer);
  vtpu_device_lock(buffer->device);
  tpt_status_t status = vtpu_buffer_check_alive(buffer);
  vtpu_event_t* event = buffer->ready ? buffer->ready : vtpu_event_ready();
  if (!status) args->event = (PJRT_Event*)vtpu_event_lend(event);
  vtpu_device_unlock(buffer->device);
  return status;
}

// --- making without data ------------------------------------------------------------------------------------

tpt_status_t
vtpu_slot_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  tpt_type_t type;
  vtpu_device_t* device = NULL;
  vtpu_buffer_t* buffer = NULL;
  args->buffer = NULL;
  TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_client_place(args->client->client, args->device, args->memory, &device));
  TPT_TRY(vtpu_type_parse((int)args->shape_element_type, args->shape_dims, args->shape_num_dims,
                          &type));
  TPT_TRY(vtpu_layout_check(&type, args->shape_layout));
  TPT_TRY(vtpu_buffer_create(device, &type, &buffer));
  args->buffer = vtpu_buffer_handle(buffer);
  return NULL;
}

tpt_status_t vtpu_slot_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args* args) {
  tpt_type_t type;
  vtpu_device_t* device = NULL;
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* event = NULL;
  args->buffer = NULL;
  TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_client_place(args->client->client, NULL, args->memory, &device));
  TPT_TRY(vtpu_type_parse((int)args->shape_element_type, args->shape_dims, args->shape_num_dims,
                          &type));
  TPT_TRY(vtpu_layout_check(&type, args->shape_layout));
  if (args->error_code == PJRT_Error_Code_OK)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "CreateErrorBuffer: error_code is OK");
  TPT_TRY(vtpu_event_create(&event));
  tpt_status_t error =
      vtpu_status_from((int)args->error_code, args->error_message, args->error_message_size);
  vtpu_event_set(event, error);
  tpt_status_t status = vtpu_buffer_create_failed(device, &type, event, &buffer);
  vtpu_event_release(event);
  if (!status) args->buffer = vtpu_buffer_handle(buffer);
  return status;
}
