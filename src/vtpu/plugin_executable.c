// Entries PJRT_Executable_* and PJRT_Compile: queries of a compiled program, none of which needs a
// device. What they lend lives with the executable.
#include <string.h>

#include "base/allocator.h"
#include "vtpu/plugin.h"

static tpt_status_t check(const PJRT_Executable* executable) {
  return vtpu_handle_check(executable, VTPU_HANDLE_EXECUTABLE);
}

tpt_status_t vtpu_executable_create(vtpu_image_t* take_image, PJRT_Executable** out_executable) {
  PJRT_Executable* executable = vtpu_handle_take(VTPU_HANDLE_EXECUTABLE);
  *out_executable = executable;
  if (!executable) {
    vtpu_image_release(take_image);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an executable");
  }
  executable->image = take_image;
  return NULL;
}

tpt_status_t vtpu_slot_Compile(PJRT_Compile_Args* args) {
  vtpu_image_t* image = NULL;
  args->executable = NULL;
  TPT_TRY(vtpu_handle_check(args->topology, VTPU_HANDLE_TOPOLOGY));
  if (args->client) TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_program_compile_abi(args->program, args->compile_options, args->compile_options_size,
                                   &image));
  return vtpu_executable_create(image, &args->executable);
}

tpt_status_t vtpu_slot_Executable_Destroy(PJRT_Executable_Destroy_Args* args) {
  if (!args->executable) return NULL;
  TPT_TRY(check(args->executable));
  vtpu_image_t* image = args->executable->image;
  vtpu_handle_give(args->executable);
  vtpu_image_release(image);
  return NULL;
}

tpt_status_t vtpu_slot_Executable_Name(PJRT_Executable_Name_Args* args) {
  TPT_TRY(check(args->executable));
  args->executable_name = "main";
  args->executable_name_size = strlen(args->executable_name);
  return NULL;
}

tpt_status_t vtpu_slot_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args* args) {
  TPT_TRY(check(args->executable));
  args->num_replicas = (size_t)args->executable->image->options.replica_count;
  return NULL;
}

tpt_status_t vtpu_slot_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args* args) {
  TPT_TRY(check(args->executable));
  args->num_partitions = (size_t)args->executable->image->options.partition_count;
  return NULL;
}

tpt_status_t vtpu_slot_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  TPT_TRY(check(args->executable));
  args->num_outputs = (size_t)args->executable->image->code->result_count;
  return NULL;
}

// A plan is data for the virtual TPU's loops: no machine code is made.
tpt_status_t vtpu_slot_Executable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  TPT_TRY(check(args->executable));
  args->size_in_bytes = 0;
  return NULL;
}

tpt_status_t vtpu_slot_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args* args) {
  TPT_TRY(check(args->executable));
  args->properties = args->executable->image->costs;
  args->num_properties = 3;
  return NULL;
}

tpt_status_t vtpu_slot_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  TPT_TRY(check(args->executable));
  args->num_outputs = (size_t)args->executable->image->code->result_count;
  args->memory_kinds = args->executable->image->kinds;
  args->memory_kind_sizes = args->executable->image->kind_sizes;
  return NULL;
}

tpt_status_t
vtpu_slot_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args* args) {
  TPT_TRY(check(args->executable));
  args->num_parameters = (size_t)args->executable->image->code->param_count;
  args->memory_kinds = args->executable->image->kinds;
  args->memory_kind_sizes = args->executable->image->kind_sizes;
  return NULL;
}

tpt_status_t
vtpu_slot_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args* args) {
  TPT_TRY(check(args->executable));
  args->output_types = args->executable->image->result_dtypes;
  args->num_output_types = (size_t)args->executable->image->code->result_count;
  return NULL;
}

tpt_status_t vtpu_slot_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args* args) {
  TPT_TRY(check(args->executable));
  args->num_outputs = (size_t)args->executable->image->code->result_count;
  args->dims = args->executable->image->result_dims;
  args->dim_sizes = args->executable->image->result_ranks;
  return NULL;
}

// Called twice: first without a buffer for the size, then with one.
tpt_status_t vtpu_slot_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  static const char format[] = "vtpu-plan";
  TPT_TRY(check(args->executable));
  TPT_TRY(vtpu_need(args->program, "program"));
  if (args->program->struct_size < PJRT_ABI_END(PJRT_Program, format_size))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Unexpected PJRT_Program size: expected %d, got %zu",
             PJRT_Program_STRUCT_SIZE, args->program->struct_size);
  tpt_str_t plan;
  tpt_str_init(&plan);
  tpt_status_t status = vtpu_code_plan(args->executable->image->code, &plan);
  args->program->format = format;
  args->program->format_size = strlen(format);
  if (!status && args->program->code && args->program->code_size < plan.size)
    status = tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                             "program.code has room for %zu bytes, the plan has %zu",
                             args->program->code_size, plan.size);
  if (!status) {
    if (args->program->code && plan.size > 0) memcpy(args->program->code, plan.data, plan.size);
    args->program->code_size = plan.size;
  }
  tpt_str_deinit(&plan);
  return status;
}

static void delete_executable(PJRT_SerializedExecutable* holder) {
  tpt_free(holder);
}

tpt_status_t vtpu_slot_Executable_Serialize(PJRT_Executable_Serialize_Args* args) {
  char* data = NULL;
  TPT_TRY(check(args->executable));
  TPT_TRY(vtpu_image_serialize(args->executable->image, &data, &args->serialized_bytes_size));
  args->serialized_bytes = data;
  args->serialized_executable = (PJRT_SerializedExecutable*)data;
  args->serialized_executable_deleter = delete_executable;
  return NULL;
}

static void delete_options(PJRT_SerializedCompileOptions* holder) {
  vtpu_bytes_release(holder);
}

tpt_status_t vtpu_slot_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args* args) {
  TPT_TRY(check(args->executable));
  const vtpu_image_t* image = args->executable->image;
  args->serialized_compile_options =
      vtpu_bytes_create(image->options_data, image->options_size, &args->serialized_bytes);
  args->serialized_bytes_size = image->options_size;
  args->serialized_compile_options_deleter = delete_options;
  if (!args->serialized_compile_options)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for compile options");
  return NULL;
}

tpt_status_t vtpu_slot_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  TPT_TRY(check(args->executable));
  TPT_TRY(vtpu_image_fingerprint(args->executable->image, &args->executable_fingerprint));
  args->executable_fingerprint_size = strlen(args->executable_fingerprint);
  return NULL;
}

tpt_status_t
vtpu_slot_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  typedef PJRT_Executable_GetCompiledMemoryStats_Args stats_args_t;
  TPT_TRY(check(args->executable));
  const vtpu_code_t* code = args->executable->image->code;
  int64_t peak =
      (int64_t)(code->param_size + code->result_size - code->alias_size + code->temp_size);
  args->generated_code_size_in_bytes = 0;
  args->argument_size_in_bytes = (int64_t)code->param_size;
  args->output_size_in_bytes = (int64_t)code->result_size;
  args->alias_size_in_bytes = (int64_t)code->alias_size;
  args->temp_size_in_bytes = (int64_t)code->temp_size;
  if (VTPU_HAS(args, stats_args_t, host_temp_size_in_bytes)) {
    args->host_generated_code_size_in_bytes = args->host_argument_size_in_bytes = 0;
    args->host_output_size_in_bytes = args->host_alias_size_in_bytes = 0;
    args->host_temp_size_in_bytes = 0;
  }
  if (VTPU_HAS(args, stats_args_t, peak_memory_in_bytes)) args->peak_memory_in_bytes = peak;
  if (VTPU_HAS(args, stats_args_t, total_size_in_bytes)) args->total_size_in_bytes = peak;
  if (VTPU_HAS(args, stats_args_t, total_allocation_bytes)) args->total_allocation_bytes = peak;
  if (VTPU_HAS(args, stats_args_t, indefinite_allocations)) args->indefinite_allocations = 0;
  if (VTPU_HAS(args, stats_args_t, peak_unpadded_heap_bytes)) args->peak_unpadded_heap_bytes = peak;
  return NULL;
}
