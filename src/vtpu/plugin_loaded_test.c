// Tests of loaded executables: running, devices, donation through the ABI, deletion, loading.
#include "vtpu/plugin_probe.h"

static void test_execute_inline_and_queued(void) {
  for (int64_t limit = -1; limit < 2000000; limit += 1000000) {
    PJRT_Client* client = probe_client(1, limit);
    PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
    PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL, *args[] = {x, x};
    PJRT_Buffer* const* argument_lists[] = {args};
    PJRT_Buffer** const output_lists[] = {&sum};
    PJRT_Event* done = NULL;
    ARGS(LoadedExecutable_Execute, execute, .executable = add, .argument_lists = argument_lists,
         .num_devices = 1, .num_args = 2, .output_lists = output_lists,
         .device_complete_events = &done);
    PASSES(LoadedExecutable_Execute, execute);
    CHECK_OK(probe_await(done));
    probe_check_floats(sum, 2, 4, 6, 8);
    probe_destroy(x);
    probe_destroy(sum);
    probe_destroy_loaded(add);
    probe_close(client);
  }
}

static void test_portable_executables_run_anywhere(void) {
  PJRT_Client* client = probe_client(3, 0);
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  for (int id = 0; id < 3; id++) {
    const float data[] = {1, 2, 3, (float)id};
    const int64_t four = 4;
    PJRT_Device* device = probe_device(client, id);
    PJRT_Buffer* x = probe_upload(client, device, PJRT_Buffer_Type_F32, data, &four, 1);
    PJRT_Buffer *sum = NULL, *args[] = {x, x};
    PJRT_Buffer* const* argument_lists[] = {args};
    PJRT_Buffer** const output_lists[] = {&sum};
    ARGS(LoadedExecutable_Execute, execute, .executable = add, .argument_lists = argument_lists,
         .num_devices = 1, .num_args = 2, .output_lists = output_lists, .execute_device = device);
    PASSES(LoadedExecutable_Execute, execute);
    probe_check_floats(sum, 2, 4, 6, (float)(2 * id));
    ARGS(Buffer_Device, where, .buffer = sum);
    PASSES(Buffer_Device, where);
    CHECK(where.device == device);
    execute.execute_device = probe_device(client, (id + 1) % 3);
    REFUSES(LoadedExecutable_Execute, execute, TPT_INVALID_ARGUMENT, "the program runs on device");
    probe_destroy(x);
    probe_destroy(sum);
  }
  probe_destroy_loaded(add);
  probe_close(client);
}

static void test_pinned_executables_run_where_they_were_compiled_for(void) {
  static const char pinned[] = {0x1a, 15, 0x20, 1,  0x28, 1,    0x4a, 9, 8,
                                1,    16, 1,    26, 3,    0x0a, 1,    1};
  PJRT_Client* client = probe_client(2, 0);
  PJRT_Program program = probe_program(probe_add);
  ARGS(Client_Compile, compile, .client = client, .program = &program, .compile_options = pinned,
       .compile_options_size = sizeof(pinned));
  PASSES(Client_Compile, compile);
  PJRT_LoadedExecutable* add = compile.executable;
  ARGS(LoadedExecutable_AddressableDevices, devices, .executable = add);
  PASSES(LoadedExecutable_AddressableDevices, devices);
  CHECK(devices.num_addressable_devices == 1 &&
        devices.addressable_devices[0] == probe_device(client, 1));
  ARGS(LoadedExecutable_GetDeviceAssignment, assignment, .executable = add);
  PASSES(LoadedExecutable_GetDeviceAssignment, assignment);
  CHECK(assignment.serialized_bytes_size == 9 &&
        memcmp(assignment.serialized_bytes, pinned + 8, 9) == 0);
  assignment.serialized_device_assignment_deleter(assignment.serialized_device_assignment);
  ARGS(LoadedExecutable_AddressableDeviceLogicalIds, ids, .executable = add);
  PASSES(LoadedExecutable_AddressableDeviceLogicalIds, ids);
  CHECK(ids.num_addressable_device_logical_ids == 1 &&
        ids.addressable_device_logical_ids[0].replica == 0);
  PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL, *args[] = {x, x};
  CHECK_FAILS(probe_execute(add, args, 2, &sum), TPT_INVALID_ARGUMENT,
              "argument 0 is on device 0, the program runs on device 1");
  PJRT_Buffer* const* argument_lists[] = {args};
  PJRT_Buffer** const output_lists[] = {&sum};
  ARGS(LoadedExecutable_Execute, execute, .executable = add, .argument_lists = argument_lists,
       .num_devices = 1, .num_args = 2, .output_lists = output_lists,
       .execute_device = probe_device(client, 0));
  REFUSES(LoadedExecutable_Execute, execute, TPT_INVALID_ARGUMENT, "compiled for device 1");
  probe_destroy(x);
  probe_destroy_loaded(add);
  compile.compile_options =
      (const char[]){0x1a, 15, 0x20, 1, 0x28, 1, 0x4a, 9, 8, 1, 16, 1, 26, 3, 10, 1, 5};
  REFUSES(Client_Compile, compile, TPT_INVALID_ARGUMENT, "assign device 5");
  probe_close(client);
}

static void test_donation_through_the_abi(void) {
  PJRT_Client* client = probe_client(1, -1);
  PJRT_LoadedExecutable* pick = probe_compile(client, probe_pick);
  const int64_t one = 1;
  const int32_t bad_index = 7, good_index = 1;
  PJRT_Buffer* x = probe_floats(client, 1, 2, 3, 4);
  PJRT_Buffer* bad = probe_upload(client, NULL, PJRT_Buffer_Type_S32, &bad_index, &one, 1);
  PJRT_Buffer* good = probe_upload(client, NULL, PJRT_Buffer_Type_S32, &good_index, &one, 1);
  PJRT_Buffer *failed[2], *passed[2], *args[] = {x, bad};
  float got[4];
  CHECK_OK(probe_execute(pick, args, 2, failed));
  CHECK_FAILS(probe_read(failed[0], got, sizeof(got)), TPT_OUT_OF_RANGE, "pick: index 7");
  CHECK(!probe_is_deleted(x));  // handed back
  args[1] = good;
  CHECK_OK(probe_execute(pick, args, 2, passed));
  CHECK(probe_is_deleted(x));
  probe_check_floats(passed[0], 3, 4, 5, 6);
  CHECK_FAILS(probe_execute(pick, args, 2, passed), TPT_INVALID_ARGUMENT, "deleted or donated");
  const int64_t keep[] = {0};
  PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                 .non_donatable_input_indices = keep,
                                 .num_non_donatable_input_indices = 1};
  PJRT_Buffer* kept[2];
  PJRT_Buffer* const* argument_lists[] = {args};
  PJRT_Buffer** const output_lists[] = {kept};
  args[0] = passed[0];
  ARGS(LoadedExecutable_Execute, execute, .executable = pick, .options = &options,
       .argument_lists = argument_lists, .num_devices = 1, .num_args = 2,
       .output_lists = output_lists);
  PASSES(LoadedExecutable_Execute, execute);
  CHECK(!probe_is_deleted(passed[0]));
  probe_check_floats(kept[0], 7, 8, 9, 10);
  for (int i = 0; i < 2; i++) {
    probe_destroy(failed[i]);
    probe_destroy(passed[i]);
    probe_destroy(kept[i]);
  }
  probe_destroy(x);
  probe_destroy(bad);
  probe_destroy(good);
  probe_destroy_loaded(pick);
  probe_close(client);
}

static void test_bad_calls(void) {
  PJRT_Client* client = probe_client(1, 0);
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL, *args[] = {x, x};
  CHECK_FAILS(probe_execute(add, args, 1, &sum), TPT_INVALID_ARGUMENT, "takes 2 arguments, 1");
  PJRT_Buffer* const* argument_lists[] = {args};
  PJRT_Buffer** const output_lists[] = {&sum};
  PJRT_ExecuteOptions options = {.struct_size = 8};
  ARGS(LoadedExecutable_Execute, execute, .executable = add, .options = &options,
       .argument_lists = argument_lists, .num_devices = 1, .num_args = 2,
       .output_lists = output_lists);
  REFUSES(LoadedExecutable_Execute, execute, TPT_INVALID_ARGUMENT, "PJRT_ExecuteOptions size");
  options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
  options.num_send_ops = 1;
  REFUSES(LoadedExecutable_Execute, execute, TPT_UNIMPLEMENTED, "send and receive");
  options.num_send_ops = 0;
  options.num_non_donatable_input_indices = 1;
  REFUSES(LoadedExecutable_Execute, execute, TPT_INVALID_ARGUMENT, "non_donatable_input_indices");
  execute.options = NULL;
  execute.num_devices = 2;
  REFUSES(LoadedExecutable_Execute, execute, TPT_INVALID_ARGUMENT, "num_devices is 2");
  execute.num_devices = 1;
  execute.output_lists = NULL;
  REFUSES(LoadedExecutable_Execute, execute, TPT_INVALID_ARGUMENT, "output_lists is NULL");
  execute.output_lists = output_lists;
  execute.argument_lists = NULL;
  REFUSES(LoadedExecutable_Execute, execute, TPT_INVALID_ARGUMENT, "argument_lists is NULL");
  ARGS(LoadedExecutable_IsDeleted, query, .executable = add);
  PASSES(LoadedExecutable_IsDeleted, query);
  CHECK(!query.is_deleted);
  ARGS(LoadedExecutable_Delete, delete, .executable = add);
  PASSES(LoadedExecutable_Delete, delete);
  PASSES(LoadedExecutable_IsDeleted, query);
  CHECK(query.is_deleted);
  CHECK_FAILS(probe_execute(add, args, 2, &sum), TPT_FAILED_PRECONDITION, "has been deleted");
  probe_destroy_loaded(add);
  CHECK_FAILS(probe_execute(add, args, 2, &sum), TPT_INVALID_ARGUMENT, "not a live loaded");
  probe_destroy(x);
  probe_close(client);
}

static void test_serialized_executables_load(void) {
  PJRT_Client* client = probe_client(2, 0);
  PJRT_LoadedExecutable* add = probe_compile(client, probe_add);
  ARGS(LoadedExecutable_GetExecutable, get, .loaded_executable = add);
  PASSES(LoadedExecutable_GetExecutable, get);
  ARGS(Executable_Serialize, serialize, .executable = get.executable);
  PASSES(Executable_Serialize, serialize);
  ARGS(LoadedExecutable_Fingerprint, first, .executable = add);
  PASSES(LoadedExecutable_Fingerprint, first);
  ARGS(Executable_DeserializeAndLoad, load, .client = client,
       .serialized_executable = serialize.serialized_bytes,
       .serialized_executable_size = serialize.serialized_bytes_size);
  PASSES(Executable_DeserializeAndLoad, load);
  ARGS(LoadedExecutable_Fingerprint, second, .executable = load.loaded_executable);
  PASSES(LoadedExecutable_Fingerprint, second);
  CHECK_STR(first.executable_fingerprint, second.executable_fingerprint);
  PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL, *args[] = {x, x};
  CHECK_OK(probe_execute(load.loaded_executable, args, 2, &sum));
  probe_check_floats(sum, 2, 4, 6, 8);
  probe_destroy_loaded(load.loaded_executable);
  static const char pinned[] = {0x1a, 15, 0x20, 1,  0x28, 1,    0x4a, 9, 8,
                                1,    16, 1,    26, 3,    0x0a, 1,    1};
  load.overridden_serialized_compile_options = pinned;
  load.overridden_serialized_compile_options_size = sizeof(pinned);
  PASSES(Executable_DeserializeAndLoad, load);
  CHECK_FAILS(probe_execute(load.loaded_executable, args, 2, &args[0]), TPT_INVALID_ARGUMENT,
              "runs on device 1");
  probe_destroy_loaded(load.loaded_executable);
  load.serialized_executable_size -= 1;
  REFUSES(Executable_DeserializeAndLoad, load, TPT_DATA_LOSS, "damaged");
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  ARGS(Executable_Destroy, destroy, .executable = get.executable);
  PASSES(Executable_Destroy, destroy);
  probe_destroy(x);
  probe_destroy(sum);
  probe_destroy_loaded(add);
  probe_close(client);
}

int main(void) {
  RUN(test_execute_inline_and_queued);
  RUN(test_portable_executables_run_anywhere);
  RUN(test_pinned_executables_run_where_they_were_compiled_for);
  RUN(test_donation_through_the_abi);
  RUN(test_bad_calls);
  RUN(test_serialized_executables_load);
  return TEST_RESULT;
}
