// Tests of clients: devices and memories, assignment, life beyond the handle.
#include "vtpu/plugin_probe.h"

static void test_lists_agree(void) {
  PJRT_Client* client = probe_client(3, 0);
  ARGS(Client_Devices, all, .client = client);
  PASSES(Client_Devices, all);
  ARGS(Client_AddressableDevices, near, .client = client);
  PASSES(Client_AddressableDevices, near);
  ARGS(Client_AddressableMemories, memories, .client = client);
  PASSES(Client_AddressableMemories, memories);
  CHECK(all.num_devices == 3 && near.num_addressable_devices == 3);
  CHECK_EQ(memories.num_addressable_memories, 3);
  for (int i = 0; i < 3; i++) {
    ARGS(Client_LookupAddressableDevice, lookup, .client = client, .local_hardware_id = i);
    PASSES(Client_LookupAddressableDevice, lookup);
    CHECK(all.devices[i] == near.addressable_devices[i] &&
          lookup.addressable_device == all.devices[i]);
    CHECK(probe_device(client, i) == all.devices[i]);
    ARGS(Device_DefaultMemory, memory, .device = all.devices[i]);
    PASSES(Device_DefaultMemory, memory);
    CHECK(memory.memory == memories.addressable_memories[i]);
  }
  ARGS(Client_LookupDevice, wrong, .client = client, .id = 3);
  REFUSES(Client_LookupDevice, wrong, TPT_INVALID_ARGUMENT, "devices 0 to 2");
  probe_close(client);
}

static void test_names(void) {
  PJRT_Client* client = probe_client(1, 0);
  ARGS(Client_PlatformName, name, .client = client);
  PASSES(Client_PlatformName, name);
  CHECK(name.platform_name_size == 4 && memcmp(name.platform_name, "vtpu", 4) == 0);
  ARGS(Client_PlatformVersion, version, .client = client);
  PASSES(Client_PlatformVersion, version);
  CHECK(strstr(version.platform_version, "TPU v5 lite") != NULL);
  ARGS(Client_ProcessIndex, process, .client = client, .process_index = 9);
  PASSES(Client_ProcessIndex, process);
  CHECK_EQ(process.process_index, 0);
  probe_close(client);
}

static void test_default_assignment(void) {
  PJRT_Client* client = probe_client(4, 0);
  int ids[4] = {9, 9, 9, 9};
  ARGS(Client_DefaultDeviceAssignment, query, .client = client, .num_replicas = 2,
       .num_partitions = 2, .default_assignment_size = 4, .default_assignment = ids);
  PASSES(Client_DefaultDeviceAssignment, query);
  for (int i = 0; i < 4; i++)
    CHECK_EQ(ids[i], i);
  query.default_assignment_size = 3;
  REFUSES(Client_DefaultDeviceAssignment, query, TPT_INVALID_ARGUMENT, "room for 3");
  query.num_replicas = 3;
  REFUSES(Client_DefaultDeviceAssignment, query, TPT_INVALID_ARGUMENT, "do not fit on 4");
  query.num_replicas = 0;
  REFUSES(Client_DefaultDeviceAssignment, query, TPT_INVALID_ARGUMENT, "0 replicas");
  probe_close(client);
}

static void test_destroy_twice_is_an_error(void) {
  PJRT_Client* client = probe_client(1, 0);
  probe_close(client);
  ARGS(Client_Destroy, destroy, .client = client);
  REFUSES(Client_Destroy, destroy, TPT_INVALID_ARGUMENT, "not a live client");
  ARGS(Client_PlatformName, name, .client = client);
  REFUSES(Client_PlatformName, name, TPT_INVALID_ARGUMENT, "not a live client");
}

static void test_objects_outlive_the_client(void) {
  PJRT_Client* client = probe_client(2, -1);
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL, *pending = NULL;
  PJRT_AsyncHostToDeviceTransferManager* manager = probe_pending(client, &pending);
  PJRT_Buffer* args[] = {x, pending};
  CHECK_OK(probe_execute(add, args, 2, &sum));
  probe_close(client);
  probe_destroy_loaded(add);
  probe_destroy(x);
  probe_fill(manager, 10, 10, 10, 10);
  probe_check_floats(sum, 11, 12, 13, 14);
  probe_destroy(sum);
  probe_destroy(pending);  // the last one frees the client
}

static void test_closing_a_client_with_a_stuck_queue_ends_with_the_manager(void) {
  PJRT_Client* client = probe_client(1, -1);
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  PJRT_Buffer *sum = NULL, *pending = NULL;
  PJRT_AsyncHostToDeviceTransferManager* manager = probe_pending(client, &pending);
  PJRT_Buffer* args[] = {pending, pending};
  CHECK_OK(probe_execute(add, args, 2, &sum));
  probe_destroy(pending);
  probe_destroy_loaded(add);
  probe_close(client);
  float got[4];
  ARGS(Buffer_ToHostBuffer, read, .src = sum, .dst = got, .dst_size = sizeof(got));
  PASSES(Buffer_ToHostBuffer, read);
  probe_destroy_manager(manager);
  CHECK_FAILS(probe_await(read.event), TPT_CANCELLED, "before buffer 0 was filled");
  probe_destroy(sum);
}

static void* destroy_some(void* arg) {
  PJRT_Buffer** buffers = arg;
  for (int i = 0; i < 50; i++)
    probe_destroy(buffers[i]);
  return NULL;
}

static void test_threads_end_a_closed_client(void) {
  for (int round = 0; round < 20; round++) {
    PJRT_Client* client = probe_client(1, 0);
    PJRT_Buffer* buffers[100];
    pthread_t threads[2];
    for (int i = 0; i < 100; i++)
      buffers[i] = probe_floats(client, 1, 2, 3, 4);
    probe_close(client);
    for (int i = 0; i < 2; i++)
      pthread_create(&threads[i], NULL, destroy_some, buffers + 50 * i);
    for (int i = 0; i < 2; i++)
      pthread_join(threads[i], NULL);
  }
}

static void destroy_in_callback(PJRT_Error* error, void* user_arg) {
  ARGS(Error_Destroy, destroy, .error = error);
  GetPjrtApi()->PJRT_Error_Destroy(&destroy);
  probe_destroy(user_arg);
}

static void test_a_callback_of_the_queue_may_destroy_buffers(void) {
  PJRT_Client* client = probe_client(1, -1);
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL, *last = NULL;
  PJRT_Buffer* args[] = {x, x};
  CHECK_OK(probe_execute(add, args, 2, &sum));
  ARGS(Buffer_ReadyEvent, ready, .buffer = sum);
  PASSES(Buffer_ReadyEvent, ready);
  ARGS(Event_OnReady, on_ready, .event = ready.event, .callback = destroy_in_callback,
       .user_arg = sum);
  PASSES(Event_OnReady, on_ready);
  probe_destroy_event(ready.event);
  CHECK_OK(probe_execute(add, args, 2, &last));
  probe_check_floats(last, 2, 4, 6, 8);
  probe_destroy(last);
  probe_destroy(x);
  probe_destroy_loaded(add);
  probe_close(client);
}

static void test_places_of_another_client_are_refused(void) {
  PJRT_Client *a = probe_client(1, 0), *b = probe_client(1, 0);
  const float data[4] = {0};
  const int64_t four = 4;
  ARGS(Client_BufferFromHostBuffer, upload, .client = a, .data = data, .type = PJRT_Buffer_Type_F32,
       .dims = &four, .num_dims = 1, .device = probe_device(b, 0));
  REFUSES(Client_BufferFromHostBuffer, upload, TPT_INVALID_ARGUMENT, "another client");
  PJRT_Buffer *x = probe_floats(b, 1, 2, 3, 4), *sum = NULL, *args[] = {x, x};
  PJRT_LoadedExecutable* add = probe_compile(a, probe_add);
  CHECK_FAILS(probe_execute(add, args, 2, &sum), TPT_INVALID_ARGUMENT, "argument 0");
  probe_destroy_loaded(add);
  probe_destroy(x);
  probe_close(a);
  probe_close(b);
}

static void test_pinning_is_free(void) {
  PJRT_Client* client = probe_client(1, 0);
  char memory[64];
  ARGS(Client_DmaMap, map, .client = client, .data = memory, .size = sizeof(memory));
  PASSES(Client_DmaMap, map);
  ARGS(Client_DmaUnmap, unmap, .client = client, .data = memory);
  PASSES(Client_DmaUnmap, unmap);
  probe_close(client);
}

int main(void) {
  RUN(test_lists_agree);
  RUN(test_names);
  RUN(test_default_assignment);
  RUN(test_destroy_twice_is_an_error);
  RUN(test_objects_outlive_the_client);
  RUN(test_closing_a_client_with_a_stuck_queue_ends_with_the_manager);
  RUN(test_threads_end_a_closed_client);
  RUN(test_a_callback_of_the_queue_may_destroy_buffers);
  RUN(test_places_of_another_client_are_refused);
  RUN(test_pinning_is_free);
  return TEST_RESULT;
}
