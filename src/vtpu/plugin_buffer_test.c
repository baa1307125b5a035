// Tests of buffers as clients see them: queries, end, external references, error buffers.
#include "vtpu/plugin_probe.h"

static void test_queries(void) {
  PJRT_Client* client = probe_client(2, 0);
  const int64_t dims[] = {2, 1, 3};
  const uint16_t data[6] = {0};
  PJRT_Device* device = probe_device(client, 1);
  PJRT_Buffer* buffer = probe_upload(client, device, PJRT_Buffer_Type_BF16, data, dims, 3);
  ARGS(Buffer_ElementType, type, .buffer = buffer);
  PASSES(Buffer_ElementType, type);
  CHECK_EQ(type.type, PJRT_Buffer_Type_BF16);
  ARGS(Buffer_Dimensions, dimensions, .buffer = buffer);
  PASSES(Buffer_Dimensions, dimensions);
  CHECK_EQ(dimensions.num_dims, 3);
  CHECK(memcmp(dimensions.dims, dims, sizeof(dims)) == 0);
  ARGS(Buffer_UnpaddedDimensions, unpadded, .buffer = buffer);
  PASSES(Buffer_UnpaddedDimensions, unpadded);
  CHECK_EQ(unpadded.num_dims, 3);
  ARGS(Buffer_DynamicDimensionIndices, dynamic, .buffer = buffer, .num_dynamic_dims = 5);
  PASSES(Buffer_DynamicDimensionIndices, dynamic);
  CHECK_EQ(dynamic.num_dynamic_dims, 0);
  ARGS(Buffer_GetMemoryLayout, layout, .buffer = buffer);
  PASSES(Buffer_GetMemoryLayout, layout);
  CHECK_EQ(layout.layout.tiled.minor_to_major_size, 3);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(layout.layout.tiled.minor_to_major[i], 2 - i);
  ARGS(Buffer_OnDeviceSizeInBytes, size, .buffer = buffer);
  PASSES(Buffer_OnDeviceSizeInBytes, size);
  CHECK_EQ(size.on_device_size_in_bytes, 12);
  ARGS(Buffer_Device, where, .buffer = buffer);
  PASSES(Buffer_Device, where);
  CHECK(where.device == device);
  ARGS(Buffer_Memory, memory, .buffer = buffer);
  PASSES(Buffer_Memory, memory);
  ARGS(Device_DefaultMemory, standard, .device = device);
  PASSES(Device_DefaultMemory, standard);
  CHECK(memory.memory == standard.memory);
  ARGS(Buffer_IsOnCpu, cpu, .buffer = buffer, .is_on_cpu = true);
  PASSES(Buffer_IsOnCpu, cpu);
  CHECK(!cpu.is_on_cpu);
  probe_destroy(buffer);
  probe_close(client);
}

static void test_destroy_and_delete(void) {
  PJRT_Client* client = probe_client(1, 0);
  PJRT_Buffer* buffer = probe_floats(client, 1, 2, 3, 4);
  float got[4];
  CHECK(!probe_is_deleted(buffer));
  ARGS(Buffer_ReadyEvent, before, .buffer = buffer);
  PASSES(Buffer_ReadyEvent, before);
  ARGS(Buffer_Delete, delete, .buffer = buffer);
  PASSES(Buffer_Delete, delete);
  PASSES(Buffer_Delete, delete);
  CHECK(probe_is_deleted(buffer));
  CHECK_OK(probe_await(before.event));
  ARGS(Buffer_ReadyEvent, after, .buffer = buffer);
  REFUSES(Buffer_ReadyEvent, after, TPT_INVALID_ARGUMENT, "deleted or donated");
  CHECK_FAILS(probe_read(buffer, got, sizeof(got)), TPT_INVALID_ARGUMENT, "deleted or donated");
  ARGS(Buffer_UnsafePointer, pointer, .buffer = buffer);
  REFUSES(Buffer_UnsafePointer, pointer, TPT_INVALID_ARGUMENT, "deleted or donated");
  probe_destroy(buffer);
  ARGS(Buffer_Destroy, destroy, .buffer = buffer);
  REFUSES(Buffer_Destroy, destroy, TPT_INVALID_ARGUMENT, "not a live buffer");
  ARGS(Buffer_ElementType, type, .buffer = buffer);
  REFUSES(Buffer_ElementType, type, TPT_INVALID_ARGUMENT, "not a live buffer");
  probe_close(client);
}

static void test_pointers_and_external_references(void) {
  PJRT_Client* client = probe_client(1, 0);
  PJRT_Buffer* buffer = probe_floats(client, 1, 2, 3, 4);
  ARGS(Buffer_UnsafePointer, unsafe, .buffer = buffer);
  PASSES(Buffer_UnsafePointer, unsafe);
  ARGS(Buffer_OpaqueDeviceMemoryDataPointer, opaque, .buffer = buffer);
  PASSES(Buffer_OpaqueDeviceMemoryDataPointer, opaque);
  CHECK((uintptr_t)opaque.device_memory_ptr == unsafe.buffer_pointer);
  CHECK_EQ(unsafe.buffer_pointer % 64, 0);
  CHECK_EQ(((float*)opaque.device_memory_ptr)[2], 3);
  ARGS(Buffer_IncreaseExternalReferenceCount, up, .buffer = buffer);
  ARGS(Buffer_DecreaseExternalReferenceCount, down, .buffer = buffer);
  REFUSES(Buffer_DecreaseExternalReferenceCount, down, TPT_INVALID_ARGUMENT, "0 already");
  PASSES(Buffer_IncreaseExternalReferenceCount, up);
  ARGS(Buffer_Delete, delete, .buffer = buffer);
  PASSES(Buffer_Delete, delete);
  PJRT_Buffer* other = probe_floats(client, 9, 9, 9, 9);
  CHECK_EQ(((float*)opaque.device_memory_ptr)[2], 3);  // held, so not reused
  PASSES(Buffer_DecreaseExternalReferenceCount, down);
  probe_destroy(other);
  probe_destroy(buffer);
  probe_close(client);
}

static void test_error_buffers(void) {
  PJRT_Client* client = probe_client(1, 0);
  const int64_t dims[] = {4};
  ARGS(Client_CreateErrorBuffer, create, .client = client, .error_code = PJRT_Error_Code_DATA_LOSS,
       .error_message = "lost it", .error_message_size = 7, .shape_dims = dims, .shape_num_dims = 1,
       .shape_element_type = PJRT_Buffer_Type_F32);
  PASSES(Client_CreateErrorBuffer, create);
  float got[4];
  CHECK_FAILS(probe_read(create.buffer, got, sizeof(got)), TPT_DATA_LOSS, "lost it");
  ARGS(Buffer_ReadyEvent, ready, .buffer = create.buffer);
  PASSES(Buffer_ReadyEvent, ready);
  CHECK_FAILS(probe_await(ready.event), TPT_DATA_LOSS, "lost it");
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL;
  PJRT_Buffer* args[] = {x, create.buffer};
  CHECK_OK(probe_execute(add, args, 2, &sum));
  CHECK_FAILS(probe_read(sum, got, sizeof(got)), TPT_DATA_LOSS, "lost it");
  create.error_code = PJRT_Error_Code_OK;
  PJRT_Buffer* bad = create.buffer;
  REFUSES(Client_CreateErrorBuffer, create, TPT_INVALID_ARGUMENT, "error_code is OK");
  probe_destroy(bad);
  probe_destroy(x);
  probe_destroy(sum);
  probe_destroy_loaded(add);
  probe_close(client);
}

static void test_uninitialized_buffers_are_checked(void) {
  PJRT_Client* client = probe_client(1, 0);
  const int64_t dims[] = {-4}, wide[] = {1 << 30};
  ARGS(Client_CreateUninitializedBuffer, create, .client = client, .shape_dims = dims,
       .shape_num_dims = 1, .shape_element_type = PJRT_Buffer_Type_F32);
  REFUSES(Client_CreateUninitializedBuffer, create, TPT_INVALID_ARGUMENT, "size -4");
  create.shape_dims = wide;
  REFUSES(Client_CreateUninitializedBuffer, create, TPT_RESOURCE_EXHAUSTED,
          "out of HBM: 4294967296");
  create.shape_element_type = PJRT_Buffer_Type_S4;
  REFUSES(Client_CreateUninitializedBuffer, create, TPT_UNIMPLEMENTED, "element type 21");
  probe_close(client);
}

int main(void) {
  RUN(test_queries);
  RUN(test_destroy_and_delete);
  RUN(test_pointers_and_external_references);
  RUN(test_error_buffers);
  RUN(test_uninitialized_buffers_are_checked);
  return TEST_RESULT;
}
