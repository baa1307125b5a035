// Tests of the transfer manager: chunks, errors, its end, work that waits for it.
#include "vtpu/plugin_probe.h"

typedef PJRT_AsyncHostToDeviceTransferManager manager_t;

static tpt_status_t transfer(manager_t* manager, int index, const void* data, int64_t offset,
                             int64_t size, bool is_last) {
  ARGS(AsyncHostToDeviceTransferManager_TransferData, args, .transfer_manager = manager,
       .buffer_index = index, .data = data, .offset = offset, .transfer_size = size,
       .is_last_transfer = is_last);
  tpt_status_t status = CALL(AsyncHostToDeviceTransferManager_TransferData, args);
  return status ? status : probe_await(args.done_with_h2d_transfer);
}

static bool is_ready(PJRT_Buffer* buffer) {
  ARGS(Buffer_ReadyEvent, ready, .buffer = buffer);
  PASSES(Buffer_ReadyEvent, ready);
  ARGS(Event_IsReady, query, .event = ready.event);
  PASSES(Event_IsReady, query);
  probe_destroy_event(ready.event);
  return query.is_ready;
}

static void test_chunks_make_a_buffer(void) {
  PJRT_Client* client = probe_client(1, -1);
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  PJRT_Buffer *pending = NULL, *sum = NULL;
  manager_t* manager = probe_pending(client, &pending);
  const float data[] = {1, 2, 3, 4};
  PJRT_Buffer* args[] = {pending, pending};
  CHECK_OK(probe_execute(add, args, 2, &sum));  // waits for the transfer
  CHECK_OK(transfer(manager, 0, data + 2, 8, 8, false));
  CHECK(!is_ready(pending));
  CHECK_FAILS(transfer(manager, 0, data, 12, 8, false), TPT_INVALID_ARGUMENT,
              "8 bytes at offset 12 lie outside a buffer of 16");
  CHECK_FAILS(transfer(manager, 1, data, 0, 8, false), TPT_INVALID_ARGUMENT, "no buffer 1");
  CHECK_FAILS(transfer(manager, 0, NULL, 0, 8, false), TPT_INVALID_ARGUMENT, "data is NULL");
  CHECK_OK(transfer(manager, 0, data, 0, 8, true));
  CHECK(is_ready(pending));
  CHECK_FAILS(transfer(manager, 0, data, 0, 8, true), TPT_FAILED_PRECONDITION, "came before");
  probe_check_floats(pending, 1, 2, 3, 4);
  probe_check_floats(sum, 2, 4, 6, 8);
  probe_destroy_manager(manager);
  probe_destroy(pending);
  probe_destroy(sum);
  probe_destroy_loaded(add);
  probe_close(client);
}

static void test_queries(void) {
  PJRT_Client* client = probe_client(2, 0);
  const int64_t dims[] = {3, 5};
  PJRT_ShapeSpec specs[2] = {
      {.struct_size = PJRT_ShapeSpec_STRUCT_SIZE,
       .dims = dims,
       .num_dims = 2,
       .element_type = PJRT_Buffer_Type_S8},
      {.struct_size = PJRT_ShapeSpec_STRUCT_SIZE, .element_type = PJRT_Buffer_Type_F64}};
  ARGS(Device_DefaultMemory, memory, .device = probe_device(client, 1));
  PASSES(Device_DefaultMemory, memory);
  ARGS(Client_CreateBuffersForAsyncHostToDevice, create, .client = client, .shape_specs = specs,
       .num_shape_specs = 2, .memory = memory.memory);
  PASSES(Client_CreateBuffersForAsyncHostToDevice, create);
  manager_t* manager = create.transfer_manager;
  ARGS(AsyncHostToDeviceTransferManager_BufferCount, count, .transfer_manager = manager);
  PASSES(AsyncHostToDeviceTransferManager_BufferCount, count);
  CHECK_EQ(count.buffer_count, 2);
  ARGS(AsyncHostToDeviceTransferManager_BufferSize, size, .transfer_manager = manager);
  PASSES(AsyncHostToDeviceTransferManager_BufferSize, size);
  CHECK_EQ(size.buffer_size, 15);
  ARGS(AsyncHostToDeviceTransferManager_Device, device, .transfer_manager = manager);
  PASSES(AsyncHostToDeviceTransferManager_Device, device);
  CHECK(device.device_out == probe_device(client, 1));
  ARGS(AsyncHostToDeviceTransferManager_AddMetadata, metadata, .transfer_manager = manager);
  PASSES(AsyncHostToDeviceTransferManager_AddMetadata, metadata);
  ARGS(AsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve, .transfer_manager = manager,
       .buffer_index = 1);
  PASSES(AsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve);
  PJRT_Buffer* scalar = retrieve.buffer_out;
  REFUSES(AsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve, TPT_INVALID_ARGUMENT,
          "retrieved before");
  const double pi = 3.25;
  double got = 0;
  ARGS(AsyncHostToDeviceTransferManager_TransferLiteral, literal, .transfer_manager = manager,
       .buffer_index = 1, .data = &pi, .shape_element_type = PJRT_Buffer_Type_F32);
  REFUSES(AsyncHostToDeviceTransferManager_TransferLiteral, literal, TPT_INVALID_ARGUMENT,
          "the literal is tensor<f32>, buffer 1 is tensor<f64>");
  literal.shape_element_type = PJRT_Buffer_Type_F64;
  PASSES(AsyncHostToDeviceTransferManager_TransferLiteral, literal);
  CHECK_OK(probe_await(literal.done_with_h2d_transfer));
  CHECK_OK(probe_read(scalar, &got, sizeof(got)));
  CHECK_EQ(got * 100, 325);
  probe_destroy_manager(manager);
  ARGS(AsyncHostToDeviceTransferManager_Destroy, again, .transfer_manager = manager);
  REFUSES(AsyncHostToDeviceTransferManager_Destroy, again, TPT_INVALID_ARGUMENT,
          "not a live transfer manager");
  probe_destroy(scalar);
  probe_close(client);
}

static void test_errors_reach_the_buffer(void) {
  PJRT_Client* client = probe_client(1, 0);
  PJRT_Buffer *failed = NULL, *orphan = NULL;
  float got[4];
  manager_t* manager = probe_pending(client, &failed);
  ARGS(AsyncHostToDeviceTransferManager_SetBufferError, set, .transfer_manager = manager);
  REFUSES(AsyncHostToDeviceTransferManager_SetBufferError, set, TPT_INVALID_ARGUMENT, "OK");
  set.error_code = PJRT_Error_Code_UNAVAILABLE;
  set.error_message = "disk";
  set.error_message_size = 4;
  PASSES(AsyncHostToDeviceTransferManager_SetBufferError, set);
  REFUSES(AsyncHostToDeviceTransferManager_SetBufferError, set, TPT_FAILED_PRECONDITION, "before");
  CHECK_FAILS(probe_read(failed, got, sizeof(got)), TPT_UNAVAILABLE, "disk");
  probe_destroy_manager(manager);
  manager = probe_pending(client, &orphan);
  probe_destroy_manager(manager);
  CHECK_FAILS(probe_read(orphan, got, sizeof(got)), TPT_CANCELLED,
              "transfer manager was destroyed");
  probe_destroy(failed);
  probe_destroy(orphan);
  probe_close(client);
}

static void test_a_retrieved_buffer_may_die_first(void) {
  PJRT_Client* client = probe_client(1, 0);
  PJRT_Buffer* pending = NULL;
  manager_t* manager = probe_pending(client, &pending);
  probe_destroy(pending);
  PJRT_Buffer* other = probe_floats(client, 1, 2, 3, 4);
  probe_fill(manager, 9, 9, 9, 9);
  probe_check_floats(other, 1, 2, 3, 4);  // the memory was not given away
  probe_destroy(other);
  probe_close(client);
}

int main(void) {
  RUN(test_chunks_make_a_buffer);
  RUN(test_queries);
  RUN(test_errors_reach_the_buffer);
  RUN(test_a_retrieved_buffer_may_die_first);
  return TEST_RESULT;
}
