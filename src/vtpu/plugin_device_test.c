// Tests of the entries of devices and memories.
#include "vtpu/plugin_probe.h"

static void test_device_queries(void) {
  PJRT_Client* client = probe_client(2, 0);
  PJRT_Device* device = probe_device(client, 1);
  ARGS(Device_GetDescription, description, .device = device);
  PASSES(Device_GetDescription, description);
  ARGS(DeviceDescription_Id, id, .device_description = description.device_description);
  PASSES(DeviceDescription_Id, id);
  CHECK_EQ(id.id, 1);
  ARGS(Device_IsAddressable, addressable, .device = device);
  PASSES(Device_IsAddressable, addressable);
  CHECK(addressable.is_addressable);
  ARGS(Device_LocalHardwareId, hardware, .device = device);
  PASSES(Device_LocalHardwareId, hardware);
  CHECK_EQ(hardware.local_hardware_id, 1);
  ARGS(Device_GetAttributes, attributes, .device = device);
  PASSES(Device_GetAttributes, attributes);
  CHECK_EQ(attributes.num_attributes, 4);
  attributes.attributes_deleter(attributes.device_attributes);
  ARGS(Device_CreateAsyncTrackingEvent, tracking, .device = device);
  PASSES(Device_CreateAsyncTrackingEvent, tracking);
  ARGS(AsyncTrackingEvent_Destroy, destroy, .event = tracking.event);
  PASSES(AsyncTrackingEvent_Destroy, destroy);
  REFUSES(AsyncTrackingEvent_Destroy, destroy, TPT_INVALID_ARGUMENT, "tracking event");
  probe_close(client);
}

static void test_memory_queries(void) {
  PJRT_Client* client = probe_client(2, 0);
  PJRT_Device* device = probe_device(client, 1);
  ARGS(Device_AddressableMemories, memories, .device = device);
  PASSES(Device_AddressableMemories, memories);
  CHECK_EQ(memories.num_memories, 1);
  PJRT_Memory* memory = memories.memories[0];
  ARGS(Memory_Id, id, .memory = memory);
  PASSES(Memory_Id, id);
  CHECK_EQ(id.id, 1);
  ARGS(Memory_Kind, kind, .memory = memory);
  PASSES(Memory_Kind, kind);
  CHECK_STR(kind.kind, "device");
  CHECK_EQ(kind.kind_size, 6);
  ARGS(Memory_Kind_Id, kind_id, .memory = memory);
  PASSES(Memory_Kind_Id, kind_id);
  ARGS(Memory_ToString, text, .memory = memory);
  PASSES(Memory_ToString, text);
  ARGS(Memory_DebugString, debug, .memory = memory);
  PASSES(Memory_DebugString, debug);
  CHECK_STR(text.to_string, debug.debug_string);
  ARGS(Memory_AddressableByDevices, reach, .memory = memory);
  PASSES(Memory_AddressableByDevices, reach);
  CHECK(reach.num_devices == 1 && reach.devices[0] == device);
  probe_close(client);
}

static void test_memory_stats_follow_allocations(void) {
  PJRT_Client* client = probe_client(1, 0);
  PJRT_Device* device = probe_device(client, 0);
  const int64_t count = 1000;
  ARGS(Client_CreateUninitializedBuffer, create, .client = client, .shape_dims = &count,
       .shape_num_dims = 1, .shape_element_type = PJRT_Buffer_Type_F32);
  PASSES(Client_CreateUninitializedBuffer, create);
  ARGS(Device_MemoryStats, stats, .device = device);
  PASSES(Device_MemoryStats, stats);
  CHECK_EQ(stats.bytes_in_use, 4032);
  CHECK(stats.bytes_limit_is_set && stats.peak_bytes_in_use_is_set && stats.num_allocs_is_set);
  CHECK_EQ(stats.bytes_limit, 64 << 20);
  CHECK_EQ(stats.peak_bytes_in_use, 4032);
  CHECK_EQ(stats.num_allocs, 1);
  CHECK_EQ(stats.largest_free_block_bytes, (64 << 20) - 4032);
  CHECK(!stats.pool_bytes_is_set && !stats.bytes_reserved_is_set);
  probe_destroy(create.buffer);
  PASSES(Device_MemoryStats, stats);
  CHECK_EQ(stats.bytes_in_use, 0);
  CHECK_EQ(stats.peak_bytes_in_use, 4032);
  ARGS(Device_ClearMemoryStats, clear, .device = device);
  PASSES(Device_ClearMemoryStats, clear);
  PASSES(Device_MemoryStats, stats);
  CHECK_EQ(stats.peak_bytes_in_use, 0);
  PJRT_Device_MemoryStats_Args older = {
      .struct_size = PJRT_ABI_END(PJRT_Device_MemoryStats_Args, peak_pool_bytes_is_set),
      .device = device,
      .peak_allocated_bytes_is_set = true};
  PASSES(Device_MemoryStats, older);
  CHECK(older.peak_allocated_bytes_is_set);  // beyond the caller's struct: untouched
  probe_close(client);
}

int main(void) {
  RUN(test_device_queries);
  RUN(test_memory_queries);
  RUN(test_memory_stats_follow_allocations);
  return TEST_RESULT;
}
