// Entries PJRT_Device_* and PJRT_Memory_*. Each device has one memory, of kind "device". Devices and
// memories live as long as their client.
#include <string.h>

#include "vtpu/plugin.h"

static tpt_status_t check_device(const PJRT_Device* device) {
  return vtpu_handle_check(device, VTPU_HANDLE_DEVICE);
}

tpt_status_t vtpu_slot_Device_GetDescription(PJRT_Device_GetDescription_Args* args) {
  TPT_TRY(check_device(args->device));
  args->device_description = args->device->description;
  return NULL;
}

tpt_status_t vtpu_slot_Device_IsAddressable(PJRT_Device_IsAddressable_Args* args) {
  TPT_TRY(check_device(args->device));
  args->is_addressable = true;
  return NULL;
}

tpt_status_t vtpu_slot_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args* args) {
  TPT_TRY(check_device(args->device));
  args->local_hardware_id = args->device->description->id;
  return NULL;
}

tpt_status_t vtpu_slot_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args* args) {
  TPT_TRY(check_device(args->device));
  args->memories = args->device->memories;
  args->num_memories = 1;
  return NULL;
}

tpt_status_t vtpu_slot_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args* args) {
  TPT_TRY(check_device(args->device));
  args->memory = args->device->memories[0];
  return NULL;
}

tpt_status_t vtpu_slot_Device_MemoryStats(PJRT_Device_MemoryStats_Args* args) {
  TPT_TRY(check_device(args->device));
  vtpu_hbm_stats_t stats;
  vtpu_device_t* device = args->device->device;
  vtpu_device_lock(device);
  vtpu_hbm_get_stats(device->hbm, &stats);
  vtpu_device_unlock(device);
  args->bytes_in_use = (int64_t)stats.in_use;
  args->peak_bytes_in_use = (int64_t)stats.peak;
  args->num_allocs = (int64_t)stats.alloc_count;
  args->largest_alloc_size = (int64_t)stats.largest_alloc;
  args->bytes_limit = (int64_t)stats.limit;
  args->largest_free_block_bytes = (int64_t)stats.largest_free;
  args->peak_bytes_in_use_is_set = args->num_allocs_is_set = args->largest_alloc_size_is_set = true;
  args->bytes_limit_is_set = args->largest_free_block_bytes_is_set = true;
  args->bytes_reserved_is_set = args->peak_bytes_reserved_is_set = false;
  args->bytes_reservable_limit_is_set = false;
  args->pool_bytes_is_set = args->peak_pool_bytes_is_set = false;
  if (VTPU_HAS(args, PJRT_Device_MemoryStats_Args, peak_allocated_bytes_is_set))
    args->peak_allocated_bytes_is_set = false;
  return NULL;
}

tpt_status_t vtpu_slot_Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args* args) {
  TPT_TRY(check_device(args->device));
  vtpu_device_lock(args->device->device);
  vtpu_hbm_reset_peak(args->device->device->hbm);
  vtpu_device_unlock(args->device->device);
  return NULL;
}

static void delete_nothing(PJRT_Device_Attributes* holder) {
  (void)holder;
}

tpt_status_t vtpu_slot_Device_GetAttributes(PJRT_Device_GetAttributes_Args* args) {
  TPT_TRY(check_device(args->device));
  args->attributes = args->device->description->attributes;
  args->num_attributes = VTPU_ATTRIBUTE_COUNT;
  args->device_attributes = NULL;  // they live with the client
  args->attributes_deleter = delete_nothing;
  return NULL;
}

// A mark in a client's trace; vtpu keeps no trace of its own.
tpt_status_t
vtpu_slot_Device_CreateAsyncTrackingEvent(PJRT_Device_CreateAsyncTrackingEvent_Args* args) {
  TPT_TRY(check_device(args->device));
  args->event = vtpu_handle_take(VTPU_HANDLE_TRACKING);
  if (!args->event) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a tracking event");
  return NULL;
}

tpt_status_t vtpu_slot_AsyncTrackingEvent_Destroy(PJRT_AsyncTrackingEvent_Destroy_Args* args) {
  if (!args->event) return NULL;
  TPT_TRY(vtpu_handle_check(args->event, VTPU_HANDLE_TRACKING));
  vtpu_handle_give(args->event);
  return NULL;
}

// --- memory -------------------------------------------------------------------------------------------

static tpt_status_t check_memory(const PJRT_Memory* memory) {
  return vtpu_handle_check(memory, VTPU_HANDLE_MEMORY);
}

tpt_status_t vtpu_slot_Memory_Id(PJRT_Memory_Id_Args* args) {
  TPT_TRY(check_memory(args->memory));
  args->id = args->memory->id;
  return NULL;
}

tpt_status_t vtpu_slot_Memory_Kind(PJRT_Memory_Kind_Args* args) {
  TPT_TRY(check_memory(args->memory));
  args->kind = "device";
  args->kind_size = strlen(args->kind);
  return NULL;
}

tpt_status_t vtpu_slot_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args* args) {
  TPT_TRY(check_memory(args->memory));
  args->kind_id = 0;
  return NULL;
}

tpt_status_t vtpu_slot_Memory_DebugString(PJRT_Memory_DebugString_Args* args) {
  TPT_TRY(check_memory(args->memory));
  args->debug_string = args->memory->text;
  args->debug_string_size = strlen(args->debug_string);
  return NULL;
}

tpt_status_t vtpu_slot_Memory_ToString(PJRT_Memory_ToString_Args* args) {
  TPT_TRY(check_memory(args->memory));
  args->to_string = args->memory->text;
  args->to_string_size = strlen(args->to_string);
  return NULL;
}

tpt_status_t vtpu_slot_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args* args) {
  TPT_TRY(check_memory(args->memory));
  args->devices = args->memory->device->devices;
  args->num_devices = 1;
  return NULL;
}
