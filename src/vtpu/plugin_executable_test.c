// Tests of the queries of executables.
#include "vtpu/plugin_probe.h"

static PJRT_TopologyDescription* topology;

static PJRT_Executable* compile(const char* text) {
  PJRT_Program program = probe_program(text);
  ARGS(Compile, compile, .topology = topology, .program = &program,
       .compile_options = probe_options, .compile_options_size = sizeof(probe_options));
  PASSES(Compile, compile);
  return compile.executable;
}

static void destroy(PJRT_Executable* executable) {
  ARGS(Executable_Destroy, args, .executable = executable);
  PASSES(Executable_Destroy, args);
}

static void test_counts_and_types(void) {
  PJRT_Executable* executable = compile(probe_pick);
  ARGS(Executable_NumOutputs, outputs, .executable = executable);
  PASSES(Executable_NumOutputs, outputs);
  CHECK_EQ(outputs.num_outputs, 2);
  ARGS(Executable_NumReplicas, replicas, .executable = executable);
  PASSES(Executable_NumReplicas, replicas);
  ARGS(Executable_NumPartitions, partitions, .executable = executable);
  PASSES(Executable_NumPartitions, partitions);
  CHECK(replicas.num_replicas == 1 && partitions.num_partitions == 1);
  ARGS(Executable_OutputElementTypes, types, .executable = executable);
  PASSES(Executable_OutputElementTypes, types);
  CHECK(types.num_output_types == 2 && types.output_types[1] == PJRT_Buffer_Type_F32);
  ARGS(Executable_OutputDimensions, dims, .executable = executable);
  PASSES(Executable_OutputDimensions, dims);
  CHECK(dims.num_outputs == 2 && dims.dims[0] == 4 && dims.dim_sizes[0] == 1 &&
        dims.dim_sizes[1] == 0);
  ARGS(Executable_OutputMemoryKinds, kinds, .executable = executable);
  PASSES(Executable_OutputMemoryKinds, kinds);
  CHECK(kinds.num_outputs == 2 && kinds.memory_kind_sizes[1] == 6);
  CHECK_STR(kinds.memory_kinds[1], "device");
  ARGS(Executable_ParameterMemoryKinds, params, .executable = executable);
  PASSES(Executable_ParameterMemoryKinds, params);
  CHECK_EQ(params.num_parameters, 2);
  ARGS(Executable_Name, name, .executable = executable);
  PASSES(Executable_Name, name);
  CHECK_EQ(name.executable_name_size, strlen(name.executable_name));
  ARGS(Executable_SizeOfGeneratedCodeInBytes, code, .executable = executable);
  PASSES(Executable_SizeOfGeneratedCodeInBytes, code);
  destroy(executable);
  REFUSES(Executable_Name, name, TPT_INVALID_ARGUMENT, "not a live executable");
  ARGS(Executable_Destroy, again, .executable = executable);
  REFUSES(Executable_Destroy, again, TPT_INVALID_ARGUMENT, "not a live executable");
}

static void test_costs_and_memory(void) {
  PJRT_Executable* executable = compile(probe_bump);
  ARGS(Executable_GetCostAnalysis, costs, .executable = executable);
  PASSES(Executable_GetCostAnalysis, costs);
  CHECK_EQ(costs.num_properties, 3);
  CHECK_STR(costs.properties[0].name, "flops");
  CHECK_EQ(costs.properties[0].float_value, 4);
  CHECK_STR(costs.properties[1].name, "bytes accessed");
  CHECK(costs.properties[1].float_value >= 32);
  ARGS(Executable_GetCompiledMemoryStats, memory, .executable = executable);
  PASSES(Executable_GetCompiledMemoryStats, memory);
  CHECK_EQ(memory.argument_size_in_bytes, 32);
  CHECK_EQ(memory.output_size_in_bytes, 16);
  CHECK_EQ(memory.alias_size_in_bytes, 16);
  CHECK_EQ(memory.peak_memory_in_bytes, 32 + memory.temp_size_in_bytes);
  PJRT_Executable_GetCompiledMemoryStats_Args older = {
      .struct_size = PJRT_ABI_END(PJRT_Executable_GetCompiledMemoryStats_Args, temp_size_in_bytes),
      .executable = executable,
      .peak_memory_in_bytes = 77};
  PASSES(Executable_GetCompiledMemoryStats, older);
  CHECK_EQ(older.peak_memory_in_bytes, 77);
  destroy(executable);
}

static void test_plan_is_read_in_two_calls(void) {
  PJRT_Executable* executable = compile(probe_add);
  char text[4096] = "";
  PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
  ARGS(Executable_OptimizedProgram, query, .executable = executable, .program = &program);
  PASSES(Executable_OptimizedProgram, query);
  CHECK(program.format_size == 9 && memcmp(program.format, "vtpu-plan", 9) == 0);
  CHECK(program.code_size > 0 && program.code_size < sizeof(text));
  size_t size = program.code_size;
  program.code = text;
  program.code_size = size - 1;
  REFUSES(Executable_OptimizedProgram, query, TPT_INVALID_ARGUMENT, "room for");
  program.code_size = size;
  PASSES(Executable_OptimizedProgram, query);
  CHECK_EQ(strlen(text), size);
  program.struct_size = 8;
  REFUSES(Executable_OptimizedProgram, query, TPT_INVALID_ARGUMENT, "PJRT_Program size");
  destroy(executable);
}

static void test_bytes_that_are_lent(void) {
  PJRT_Executable* executable = compile(probe_add);
  ARGS(Executable_Serialize, serialize, .executable = executable);
  PASSES(Executable_Serialize, serialize);
  CHECK(serialize.serialized_bytes_size > 100);
  ARGS(Executable_GetCompileOptions, options, .executable = executable);
  PASSES(Executable_GetCompileOptions, options);
  CHECK(options.serialized_bytes_size == sizeof(probe_options) &&
        memcmp(options.serialized_bytes, probe_options, sizeof(probe_options)) == 0);
  ARGS(Executable_Fingerprint, fingerprint, .executable = executable);
  PASSES(Executable_Fingerprint, fingerprint);
  CHECK_EQ(fingerprint.executable_fingerprint_size, 32);
  destroy(executable);  // lent bytes stay
  CHECK(memcmp(serialize.serialized_bytes, "VTPUEXE", 7) == 0);
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  options.serialized_compile_options_deleter(options.serialized_compile_options);
}

static void test_compile_without_a_client_then_load(void) {
  PJRT_Executable* executable = compile(probe_add);
  PJRT_Client* client = probe_client(1, 0);
  ARGS(Client_Load, load, .client = client, .executable = executable);
  PASSES(Client_Load, load);
  destroy(executable);
  PJRT_Buffer *x = probe_floats(client, 1, 2, 3, 4), *sum = NULL, *args[] = {x, x};
  CHECK_OK(probe_execute(load.loaded_executable, args, 2, &sum));
  probe_check_floats(sum, 2, 4, 6, 8);
  probe_destroy(x);
  probe_destroy(sum);
  probe_destroy_loaded(load.loaded_executable);
  probe_close(client);
}

static void test_bad_compiles(void) {
  PJRT_Program program = probe_program("nonsense");
  ARGS(Compile, compile, .topology = topology, .program = &program,
       .compile_options = probe_options, .compile_options_size = sizeof(probe_options));
  tpt_status_t status = CALL(Compile, compile);
  CHECK(status != NULL && compile.executable == NULL);
  tpt_status_release(status);
  program = probe_program(probe_add);
  compile.compile_options_size = 0;
  REFUSES(Compile, compile, TPT_INVALID_ARGUMENT, "compile options are empty");
  compile.topology = NULL;
  REFUSES(Compile, compile, TPT_INVALID_ARGUMENT, "topology is NULL");
}

int main(void) {
  ARGS(TopologyDescription_Create, create);
  PASSES(TopologyDescription_Create, create);
  topology = create.topology;
  RUN(test_counts_and_types);
  RUN(test_costs_and_memory);
  RUN(test_plan_is_read_in_two_calls);
  RUN(test_bytes_that_are_lent);
  RUN(test_compile_without_a_client_then_load);
  RUN(test_bad_compiles);
  ARGS(TopologyDescription_Destroy, destroy_topology, .topology = topology);
  PASSES(TopologyDescription_Destroy, destroy_topology);
  return TEST_RESULT;
}
