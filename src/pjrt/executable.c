// Executables: compile, serialise, run. The run is the hot path of every eager call: arrays on the
// stack, one wrapper per result, no event asked for.
#include <limits.h>
#include <string.h>

#include "base/allocator.h"
#include "pjrt/compile_options.h"
#include "pjrt/handle.h"

enum { STACK_COUNT = 64 };  // arguments or results that need no heap array

static tpt_status_t out_of_memory(void) {
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a PJRT executable");
}

static tpt_status_t read_executable(tpt_executable_t* executable) {
  const tpt_plugin_t* plugin = executable->client->plugin;
  PJRT_LoadedExecutable_GetExecutable_Args get = {.loaded_executable = executable->loaded};
  TPT_TRY(TPT_PJRT_CALL(plugin, LoadedExecutable_GetExecutable, &get));
  executable->executable = get.executable;
  PJRT_Executable_NumOutputs_Args outputs = {.executable = executable->executable};
  TPT_TRY(TPT_PJRT_CALL(plugin, Executable_NumOutputs, &outputs));
  if (outputs.num_outputs > INT_MAX) {
    TPT_FAIL(TPT_INTERNAL, "%s reports %zu results", plugin->path, outputs.num_outputs);
  }
  executable->result_count = (int)outputs.num_outputs;
  return NULL;
}

// Owns `take_loaded` from here on.
static tpt_status_t executable_wrap(tpt_client_t* client, PJRT_LoadedExecutable* take_loaded,
                                    tpt_executable_t** out_executable) {
  tpt_executable_t* executable = tpt_calloc(1, sizeof(*executable));
  if (!executable) {
    PJRT_LoadedExecutable_Destroy_Args args = {.executable = take_loaded};
    tpt_status_release(TPT_PJRT_CALL(client->plugin, LoadedExecutable_Destroy, &args));
    return out_of_memory();
  }
  atomic_init(&executable->references, 1);
  executable->client = tpt__client_retain(client);
  executable->loaded = take_loaded;
  tpt_status_t status = read_executable(executable);
  if (status) {
    tpt_executable_release(executable);
    return status;
  }
  *out_executable = executable;
  return NULL;
}

tpt_status_t tpt__client_compile_options(const tpt_client_t* client, tpt_str_t* out) {
  bool is_xla_cpu = strcmp(tpt_client_platform_name(client), "cpu") == 0;
  const tpt_compile_options_t options = {
      .replicas = 1, .partitions = 1, .is_portable = true, .keeps_nan = is_xla_cpu};
  return tpt_compile_options_print(&options, out);
}

tpt_status_t tpt_client_compile(tpt_client_t* client, const char* text, size_t text_size,
                                tpt_executable_t** out_executable) {
  *out_executable = NULL;
  tpt_str_t blob;
  tpt_str_init(&blob);
  tpt_status_t status = tpt__client_compile_options(client, &blob);
  PJRT_Program program = {
      .struct_size = PJRT_Program_STRUCT_SIZE,
      .code = (char*)(uintptr_t)text,  // the ABI forgot const; it is only read
      .code_size = text_size,
      .format = "mlir",
      .format_size = 4,
  };
  PJRT_Client_Compile_Args args = {.client = client->client,
                                   .program = &program,
                                   .compile_options = blob.data,
                                   .compile_options_size = blob.size};
  if (!status) status = TPT_PJRT_CALL(client->plugin, Client_Compile, &args);
  tpt_str_deinit(&blob);
  if (status) return status;
  return executable_wrap(client, args.executable, out_executable);
}

tpt_status_t tpt_client_deserialize(tpt_client_t* client, const void* bytes, size_t size,
                                    tpt_executable_t** out_executable) {
  *out_executable = NULL;
  PJRT_Executable_DeserializeAndLoad_Args args = {
      .client = client->client, .serialized_executable = bytes, .serialized_executable_size = size};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Executable_DeserializeAndLoad, &args));
  return executable_wrap(client, args.loaded_executable, out_executable);
}

tpt_status_t tpt_executable_serialize(tpt_executable_t* executable, void** out_bytes,
                                      size_t* out_size) {
  *out_bytes = NULL;
  *out_size = 0;
  PJRT_Executable_Serialize_Args args = {.executable = executable->executable};
  TPT_TRY(TPT_PJRT_CALL(executable->client->plugin, Executable_Serialize, &args));
  size_t size = args.serialized_bytes_size;
  void* copy = tpt_malloc(size > 0 ? size : 1);
  if (copy && size > 0) memcpy(copy, args.serialized_bytes, size);
  if (args.serialized_executable_deleter) {
    args.serialized_executable_deleter(args.serialized_executable);
  }
  if (!copy) return out_of_memory();
  *out_bytes = copy;
  *out_size = size;
  return NULL;
}

tpt_status_t tpt_executable_plan(tpt_executable_t* executable, tpt_str_t* out_text) {
  const tpt_plugin_t* plugin = executable->client->plugin;
  PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
  PJRT_Executable_OptimizedProgram_Args args = {.executable = executable->executable,
                                                .program = &program};
  TPT_TRY(TPT_PJRT_CALL(plugin, Executable_OptimizedProgram, &args));  // asks for the size
  static const char format[] = "vtpu-plan";
  if (program.format_size != strlen(format) ||
      memcmp(program.format, format, program.format_size) != 0) {
    TPT_FAIL(TPT_UNIMPLEMENTED,
             "%s shows no plan: its optimized program has format \"%.*s\", not \"%s\"",
             plugin->path, (int)program.format_size, program.format ? program.format : "", format);
  }
  char* code = tpt_malloc(program.code_size > 0 ? program.code_size : 1);
  if (!code) return out_of_memory();
  program.code = code;
  tpt_status_t status = TPT_PJRT_CALL(plugin, Executable_OptimizedProgram, &args);
  if (!status) {
    tpt_str_append(out_text, code, program.code_size);
    status = tpt_str_status(out_text);
  }
  tpt_free(code);
  return status;
}

void tpt_executable_release(tpt_executable_t* take_executable) {
  if (!take_executable || !tpt__reference_drop(&take_executable->references)) return;
  const tpt_plugin_t* plugin = take_executable->client->plugin;
  if (take_executable->executable) {
    PJRT_Executable_Destroy_Args args = {.executable = take_executable->executable};
    tpt_status_release(TPT_PJRT_CALL(plugin, Executable_Destroy, &args));
  }
  PJRT_LoadedExecutable_Destroy_Args args = {.executable = take_executable->loaded};
  tpt_status_release(TPT_PJRT_CALL(plugin, LoadedExecutable_Destroy, &args));
  tpt_client_release(take_executable->client);
  tpt_free(take_executable);
}

int tpt_executable_result_count(const tpt_executable_t* executable) {
  return executable->result_count;
}

// Makes the result wrappers first, so that nothing can fail once the program runs.
static tpt_status_t results_create(tpt_client_t* client, int count, tpt_buffer_t** results) {
  for (int i = 0; i < count; i++) {
    tpt_buffer_t* result = tpt_malloc(sizeof(*result));
    if (!result) {
      while (i-- > 0)
        tpt_free(results[i]);
      return out_of_memory();
    }
    atomic_init(&result->references, 1);
    result->client = client;
    results[i] = result;
  }
  return NULL;
}

static tpt_status_t collect_args(const tpt_run_params_t* params, const tpt_client_t* client,
                                 PJRT_Buffer** out_args) {
  for (int i = 0; i < params->arg_count; i++) {
    const tpt_buffer_t* arg = params->args[i];
    if (__builtin_expect(!arg || arg->client != client, 0)) {
      TPT_FAIL(TPT_INVALID_ARGUMENT, "argument %d of the run %s", i,
               arg ? "belongs to another client" : "is no buffer");
    }
    out_args[i] = arg->buffer;
  }
  return NULL;
}

static tpt_status_t launch(tpt_executable_t* executable, const tpt_run_params_t* params,
                           PJRT_Buffer** args, PJRT_Buffer** outputs, tpt_buffer_t** results) {
  tpt_client_t* client = executable->client;
  int count = executable->result_count;
  TPT_TRY(collect_args(params, client, args));
  TPT_TRY(results_create(client, count, results));
  PJRT_ExecuteOptions options = {
      .struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
      .non_donatable_input_indices = params->keep,
      .num_non_donatable_input_indices = (size_t)params->keep_count,
  };
  PJRT_Buffer* const* argument_list = args;
  PJRT_LoadedExecutable_Execute_Args execute = {
      .executable = executable->loaded,
      .options = &options,
      .argument_lists = &argument_list,
      .num_devices = 1,
      .num_args = (size_t)params->arg_count,
      .output_lists = &outputs,
      .execute_device = client->devices[params->device].device,
  };
  tpt_status_t status = TPT_PJRT_CALL(client->plugin, LoadedExecutable_Execute, &execute);
  if (__builtin_expect(status != NULL, 0)) {
    for (int i = 0; i < count; i++)
      tpt_free(results[i]);
    return status;
  }
  for (int i = 0; i < count; i++)
    results[i]->buffer = outputs[i];
  atomic_fetch_add_explicit(&client->references, count, memory_order_relaxed);
  return NULL;
}

tpt_status_t tpt_executable_run(tpt_executable_t* executable, const tpt_run_params_t* params,
                                tpt_buffer_t** results) {
  PJRT_Buffer* args_stack[STACK_COUNT];
  PJRT_Buffer* outputs_stack[STACK_COUNT];
  TPT_TRY(tpt__client_check_device(executable->client, params->device));
  int arg_count = params->arg_count, result_count = executable->result_count;
  PJRT_Buffer **args = args_stack, **outputs = outputs_stack;
  if (arg_count > STACK_COUNT) args = tpt_malloc((size_t)arg_count * sizeof(*args));
  if (result_count > STACK_COUNT) outputs = tpt_malloc((size_t)result_count * sizeof(*outputs));
  tpt_status_t status =
      args && outputs ? launch(executable, params, args, outputs, results) : out_of_memory();
  for (int i = 0; status && i < result_count; i++)
    results[i] = NULL;
  if (args != args_stack) tpt_free(args);
  if (outputs != outputs_stack) tpt_free(outputs);
  return status;
}
