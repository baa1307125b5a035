// Entries PJRT_LoadedExecutable_*, compiling for a client, loading, and PJRT_LoadedExecutable_Execute:
// the hot path from the ABI to a launch. Invariant: the image is shared and constant; deleting a
// loaded executable only forbids further runs.
#include <string.h>

#include "vtpu/launch.h"
#include "vtpu/plugin.h"

static tpt_status_t check(const PJRT_LoadedExecutable* executable) {
  return vtpu_handle_check(executable, VTPU_HANDLE_LOADED);
}

// --- making -------------------------------------------------------------------------------------------

static tpt_status_t create(vtpu_client_t* client, vtpu_image_t* image,
                           PJRT_LoadedExecutable** out_executable) {
  int64_t id = image->options.device_id < 0 ? 0 : image->options.device_id;
  if (id >= client->device_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "compile options assign device %lld; the client has devices 0 to %d", (long long)id,
             client->device_count - 1);
  PJRT_LoadedExecutable* executable = vtpu_handle_take(VTPU_HANDLE_LOADED);
  if (!executable) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an executable");
  executable->image = image;
  executable->client = client;
  executable->device = client->device_list[id];
  atomic_store(&executable->is_deleted, false);
  atomic_fetch_add(&client->object_count, 1);
  *out_executable = executable;
  return NULL;
}

tpt_status_t vtpu_loaded_create(vtpu_client_t* client, vtpu_image_t* take_image,
                                PJRT_LoadedExecutable** out_executable) {
  *out_executable = NULL;
  tpt_status_t status = create(client, take_image, out_executable);
  if (status) vtpu_image_release(take_image);
  return status;
}

tpt_status_t vtpu_slot_Client_Compile(PJRT_Client_Compile_Args* args) {
  vtpu_image_t* image = NULL;
  args->executable = NULL;
  TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_program_compile_abi(args->program, args->compile_options, args->compile_options_size,
                                   &image));
  return vtpu_loaded_create(args->client->client, image, &args->executable);
}

tpt_status_t vtpu_slot_Client_Load(PJRT_Client_Load_Args* args) {
  args->loaded_executable = NULL;
  TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_handle_check(args->executable, VTPU_HANDLE_EXECUTABLE));
  return vtpu_loaded_create(args->client->client, vtpu_image_retain(args->executable->image),
                            &args->loaded_executable);
}

// The options it was compiled with count, unless others are given.
static tpt_status_t override_options(vtpu_image_t** inout_image, const char* options, size_t size) {
  vtpu_image_t* image = NULL;
  const vtpu_code_t* code = (*inout_image)->code;
  tpt_status_t status = vtpu_image_compile(code->text, code->text_size, options, size, &image);
  vtpu_image_release(*inout_image);
  *inout_image = image;
  return status;
}

tpt_status_t
vtpu_slot_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args* args) {
  typedef PJRT_Executable_DeserializeAndLoad_Args load_args_t;
  vtpu_image_t* image = NULL;
  args->loaded_executable = NULL;
  TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_image_deserialize(args->serialized_executable, args->serialized_executable_size,
                                 &image));
  if (VTPU_HAS(args, load_args_t, overridden_serialized_compile_options_size) &&
      args->overridden_serialized_compile_options_size > 0)
    TPT_TRY(override_options(&image, args->overridden_serialized_compile_options,
                             args->overridden_serialized_compile_options_size));
  return vtpu_loaded_create(args->client->client, image, &args->loaded_executable);
}

tpt_status_t vtpu_slot_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  if (!args->executable) return NULL;
  TPT_TRY(check(args->executable));
  vtpu_client_t* client = args->executable->client;
  vtpu_image_t* image = args->executable->image;
  bool is_closed = vtpu_client_is_closed(client);
  vtpu_handle_give(args->executable);
  vtpu_image_release(image);
  atomic_fetch_sub(&client->object_count, 1);
  if (is_closed) vtpu_client_reap(client);
  return NULL;
}

// --- queries ------------------------------------------------------------------------------------------

tpt_status_t
vtpu_slot_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  args->executable = NULL;
  TPT_TRY(check(args->loaded_executable));
  return vtpu_executable_create(vtpu_image_retain(args->loaded_executable->image),
                                &args->executable);
}

tpt_status_t
vtpu_slot_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  TPT_TRY(check(args->executable));
  args->addressable_devices = args->executable->device->devices;
  args->num_addressable_devices = 1;
  return NULL;
}

tpt_status_t vtpu_slot_LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args) {
  static const PJRT_LogicalDeviceIds first = {0, 0};
  TPT_TRY(check(args->executable));
  args->addressable_device_logical_ids = &first;
  args->num_addressable_device_logical_ids = 1;
  return NULL;
}

tpt_status_t vtpu_slot_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args* args) {
  TPT_TRY(check(args->executable));
  atomic_store(&args->executable->is_deleted, true);
  return NULL;
}

tpt_status_t vtpu_slot_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  TPT_TRY(check(args->executable));
  args->is_deleted = atomic_load(&args->executable->is_deleted);
  return NULL;
}

tpt_status_t vtpu_slot_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args* args) {
  TPT_TRY(check(args->executable));
  TPT_TRY(vtpu_image_fingerprint(args->executable->image, &args->executable_fingerprint));
  args->executable_fingerprint_size = strlen(args->executable_fingerprint);
  return NULL;
}

static void delete_assignment(PJRT_DeviceAssignmentSerialized* holder) {
  vtpu_bytes_release(holder);
}

// DeviceAssignmentProto {replica_count 1, computation_count 1, {replica_device_ids id}}
tpt_status_t vtpu_slot_LoadedExecutable_GetDeviceAssignment(
    PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  TPT_TRY(check(args->executable));
  unsigned id = (unsigned)args->executable->device->description->id;
  char bytes[] = {0x08, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, (char)(id & 0x7f), 0};
  size_t size = 9;
  if (id > 0x7f) {
    bytes[5] = 4;
    bytes[7] = 2;
    bytes[8] = (char)(id | 0x80);
    bytes[9] = (char)(id >> 7);
    size = 10;
  }
  args->serialized_device_assignment = vtpu_bytes_create(bytes, size, &args->serialized_bytes);
  args->serialized_bytes_size = size;
  args->serialized_device_assignment_deleter = delete_assignment;
  if (!args->serialized_device_assignment)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a device assignment");
  return NULL;
}

// --- execute --------------------------------------------------------------------------------------------

static tpt_status_t choose_device(const PJRT_LoadedExecutable* executable, PJRT_Device* wanted,
                                  vtpu_device_t** out_device) {
  *out_device = executable->device->device;
  if (!wanted || wanted == executable->device) return NULL;
  TPT_TRY(vtpu_client_place(executable->client, wanted, NULL, out_device));
  if (!executable->image->options.is_portable)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "execute_device is %d, the executable was compiled for device %d; compile a portable "
             "executable to run it anywhere",
             wanted->description->id, executable->device->description->id);
  return NULL;
}

static tpt_status_t check_execute(const PJRT_LoadedExecutable_Execute_Args* args) {
  TPT_TRY(check(args->executable));
  if (atomic_load_explicit(&args->executable->is_deleted, memory_order_relaxed))
    TPT_FAIL(TPT_FAILED_PRECONDITION, "the executable has been deleted");
  if (args->num_devices != 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "num_devices is %zu; the executable runs on 1 device",
             args->num_devices);
  if (args->num_args > 0 && (!args->argument_lists || !args->argument_lists[0]))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "argument_lists is NULL for %zu arguments", args->num_args);
  if (args->executable->image->code->result_count > 0 &&
      (!args->output_lists || !args->output_lists[0]))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "output_lists is NULL for %d results",
             args->executable->image->code->result_count);
  return NULL;
}

static tpt_status_t read_options(const PJRT_ExecuteOptions* options, vtpu_launch_t* launch) {
  if (!options) return NULL;
  if (options->struct_size < PJRT_ABI_END(PJRT_ExecuteOptions, num_non_donatable_input_indices))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Unexpected PJRT_ExecuteOptions size: expected %d, got %zu",
             PJRT_ExecuteOptions_STRUCT_SIZE, options->struct_size);
  if (options->num_send_ops > 0 || options->num_recv_ops > 0)
    TPT_FAIL(TPT_UNIMPLEMENTED, "execute options: vtpu has no send and receive callbacks");
  launch->keep = options->non_donatable_input_indices;
  launch->keep_count = options->num_non_donatable_input_indices;
  return launch->keep_count > 0 ? vtpu_need(launch->keep, "non_donatable_input_indices") : NULL;
}

tpt_status_t vtpu_slot_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args* args) {
  TPT_TRY(check_execute(args));
  vtpu_event_t* done = NULL;
  vtpu_launch_t launch = {
      .code = args->executable->image->code,
      .args = args->num_args > 0 ? (vtpu_buffer_t* const*)args->argument_lists[0] : NULL,
      .arg_count = args->num_args,
      .results = args->output_lists ? (vtpu_buffer_t**)args->output_lists[0] : NULL,
      .out_done = args->device_complete_events ? &done : NULL,
  };
  TPT_TRY(choose_device(args->executable, args->execute_device, &launch.device));
  TPT_TRY(read_options(args->options, &launch));
  TPT_TRY(vtpu_launch_run(&launch));
  if (args->device_complete_events) args->device_complete_events[0] = vtpu_event_hand_out(done);
  return NULL;
}
