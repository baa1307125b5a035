// For tests of the ABI side: calls through the table as a client makes them, and small programs.
#ifndef TPUTORCH_VTPU_PLUGIN_PROBE_H_
#define TPUTORCH_VTPU_PLUGIN_PROBE_H_

#include <stdlib.h>

#include "base/check.h"
#include "vtpu/plugin.h"

const PJRT_Api* GetPjrtApi(void);

// ARGS(Client_Create, a, .num_options = 1): an args struct `a`, zeroed but for its size and that.
#define ARGS(name, variable, ...)                                                                  \
  PJRT_##name##_Args variable = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE, __VA_ARGS__}
// The entry's answer as a status.
#define CALL(name, variable)                vtpu_status(GetPjrtApi()->PJRT_##name(&(variable)))
#define PASSES(name, variable)              CHECK_OK(CALL(name, variable))
#define REFUSES(name, variable, code, text) CHECK_FAILS(CALL(name, variable), code, text)

static const char probe_options[] = {0x1a, 4, 0x20, 1, 0x28, 1};
static const char probe_portable[] = {0x1a, 4, 0x20, 1, 0x28, 1, 0x20, 1};

static const char probe_add[] =
    "module @add {\n"
    "  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
    "    return %0 : tensor<4xf32>\n"
    "  }\n"
    "}\n";
// The result takes the first argument's memory.
static const char probe_bump[] =
    "module @bump {\n"
    "  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>)"
    " -> tensor<4xf32> {\n"
    "    %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
    "    return %0 : tensor<4xf32>\n"
    "  }\n"
    "}\n";
// Adds 1 in the first argument's memory and picks one element of it by a checked index.
static const char probe_pick[] =
    "module @pick {\n"
    "  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %i: tensor<1xi32>)"
    " -> (tensor<4xf32>, tensor<f32>) {\n"
    "    %0 = \"stablehlo.gather\"(%a, %i) {dimension_numbers = #stablehlo.gather<"
    "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>,"
    " slice_sizes = array<i64: 1>, indices_are_sorted = false, tputorch.check = \"pick\"}"
    " : (tensor<4xf32>, tensor<1xi32>) -> tensor<f32>\n"
    "    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
    "    %2 = stablehlo.add %a, %1 : tensor<4xf32>\n"
    "    return %2, %0 : tensor<4xf32>, tensor<f32>\n"
    "  }\n"
    "}\n";

static inline PJRT_NamedValue probe_int(const char* name, int64_t value) {
  return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                           .name = name,
                           .name_size = strlen(name),
                           .type = PJRT_NamedValue_kInt64,
                           .int64_value = value,
                           .value_size = 1};
}

static inline PJRT_NamedValue probe_text(const char* name, const char* value) {
  return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                           .name = name,
                           .name_size = strlen(name),
                           .type = PJRT_NamedValue_kString,
                           .string_value = value,
                           .value_size = strlen(value)};
}

// A client of `devices` devices with 64 MiB each; inline_limit -1 queues every launch.
static inline PJRT_Client* probe_client(int64_t devices, int64_t inline_limit) {
  const PJRT_NamedValue options[] = {probe_int("devices", devices), probe_int("hbm", 64 << 20),
                                     probe_int("threads", 2),
                                     probe_int("inline_limit", inline_limit)};
  ARGS(Client_Create, create, .create_options = options, .num_options = 4);
  PASSES(Client_Create, create);
  return create.client;
}

static inline void probe_close(PJRT_Client* client) {
  ARGS(Client_Destroy, destroy, .client = client);
  PASSES(Client_Destroy, destroy);
}

static inline PJRT_Device* probe_device(PJRT_Client* client, int id) {
  ARGS(Client_LookupDevice, lookup, .client = client, .id = id);
  PASSES(Client_LookupDevice, lookup);
  return lookup.device;
}

static inline PJRT_Program probe_program(const char* text) {
  return (PJRT_Program){.struct_size = PJRT_Program_STRUCT_SIZE,
                        .code = (char*)text,
                        .code_size = strlen(text),
                        .format = "mlir",
                        .format_size = 4};
}

static inline PJRT_LoadedExecutable* probe_compile(PJRT_Client* client, const char* text) {
  PJRT_Program program = probe_program(text);
  ARGS(Client_Compile, compile, .client = client, .program = &program,
       .compile_options = probe_portable, .compile_options_size = sizeof(probe_portable));
  PASSES(Client_Compile, compile);
  return compile.executable;
}

static inline void probe_destroy_loaded(PJRT_LoadedExecutable* executable) {
  ARGS(LoadedExecutable_Destroy, destroy, .executable = executable);
  PASSES(LoadedExecutable_Destroy, destroy);
}

static inline void probe_destroy_event(PJRT_Event* event) {
  ARGS(Event_Destroy, destroy, .event = event);
  PASSES(Event_Destroy, destroy);
}

// Awaits and destroys an event; its status.
static inline tpt_status_t probe_await(PJRT_Event* event) {
  ARGS(Event_Await, await, .event = event);
  tpt_status_t status = CALL(Event_Await, await);
  probe_destroy_event(event);
  return status;
}

static inline PJRT_Buffer* probe_upload(PJRT_Client* client, PJRT_Device* device,
                                        PJRT_Buffer_Type dtype, const void* data,
                                        const int64_t* dims, size_t rank) {
  ARGS(Client_BufferFromHostBuffer, upload, .client = client, .data = data, .type = dtype,
       .dims = dims, .num_dims = rank, .device = device);
  PASSES(Client_BufferFromHostBuffer, upload);
  CHECK_OK(probe_await(upload.done_with_host_buffer));
  return upload.buffer;
}

static inline PJRT_Buffer* probe_floats(PJRT_Client* client, float a, float b, float c, float d) {
  const float data[] = {a, b, c, d};
  const int64_t four = 4;
  return probe_upload(client, NULL, PJRT_Buffer_Type_F32, data, &four, 1);
}

static inline void probe_destroy(PJRT_Buffer* buffer) {
  ARGS(Buffer_Destroy, destroy, .buffer = buffer);
  PASSES(Buffer_Destroy, destroy);
}

static inline bool probe_is_deleted(PJRT_Buffer* buffer) {
  ARGS(Buffer_IsDeleted, query, .buffer = buffer);
  PASSES(Buffer_IsDeleted, query);
  return query.is_deleted;
}

// The buffer's bytes; a failure of the buffer, at once or later, is the answer.
static inline tpt_status_t probe_read(PJRT_Buffer* buffer, void* data, size_t size) {
  ARGS(Buffer_ToHostBuffer, read, .src = buffer, .dst = data, .dst_size = size);
  tpt_status_t status = CALL(Buffer_ToHostBuffer, read);
  return status ? status : probe_await(read.event);
}

static inline void probe_check_floats(PJRT_Buffer* buffer, float a, float b, float c, float d) {
  float got[4] = {-1, -1, -1, -1};
  if (!CHECK_OK(probe_read(buffer, got, sizeof(got)))) return;
  CHECK(got[0] == a && got[1] == b && got[2] == c && got[3] == d);
}

// Runs on device 0 (or the executable's); results must have room. The entry's status.
static inline tpt_status_t probe_execute(PJRT_LoadedExecutable* executable,
                                         PJRT_Buffer* const* args, size_t arg_count,
                                         PJRT_Buffer** results) {
  PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
  PJRT_Buffer* const* argument_lists[] = {args};
  PJRT_Buffer** const output_lists[] = {results};
  ARGS(LoadedExecutable_Execute, execute, .executable = executable, .options = &options,
       .argument_lists = argument_lists, .num_devices = 1, .num_args = arg_count,
       .output_lists = output_lists);
  return CALL(LoadedExecutable_Execute, execute);
}

// A float[4] buffer that stays pending until probe_fill.
static inline PJRT_AsyncHostToDeviceTransferManager* probe_pending(PJRT_Client* client,
                                                                   PJRT_Buffer** out_buffer) {
  const int64_t four = 4;
  PJRT_ShapeSpec spec = {.struct_size = PJRT_ShapeSpec_STRUCT_SIZE,
                         .dims = &four,
                         .num_dims = 1,
                         .element_type = PJRT_Buffer_Type_F32};
  ARGS(Client_CreateBuffersForAsyncHostToDevice, create, .client = client, .shape_specs = &spec,
       .num_shape_specs = 1);
  PASSES(Client_CreateBuffersForAsyncHostToDevice, create);
  ARGS(AsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve,
       .transfer_manager = create.transfer_manager);
  PASSES(AsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve);
  *out_buffer = retrieve.buffer_out;
  return create.transfer_manager;
}

static inline void probe_destroy_manager(PJRT_AsyncHostToDeviceTransferManager* manager) {
  ARGS(AsyncHostToDeviceTransferManager_Destroy, destroy, .transfer_manager = manager);
  PASSES(AsyncHostToDeviceTransferManager_Destroy, destroy);
}

static inline void probe_fill(PJRT_AsyncHostToDeviceTransferManager* manager, float a, float b,
                              float c, float d) {
  const float data[] = {a, b, c, d};
  ARGS(AsyncHostToDeviceTransferManager_TransferData, transfer, .transfer_manager = manager,
       .data = data, .transfer_size = sizeof(data), .is_last_transfer = true);
  PASSES(AsyncHostToDeviceTransferManager_TransferData, transfer);
  probe_destroy_event(transfer.done_with_h2d_transfer);
  probe_destroy_manager(manager);
}

#endif  // TPUTORCH_VTPU_PLUGIN_PROBE_H_
