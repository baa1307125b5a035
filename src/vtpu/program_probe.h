// For tests: compiles a graph and runs it on arrays of exactly the right size, so that a sanitizer
// sees every overrun. Arguments are passed on copies; temporary memory starts as garbage.
#ifndef TPUTORCH_VTPU_PROGRAM_PROBE_H_
#define TPUTORCH_VTPU_PROGRAM_PROBE_H_

#include "vtpu/kernel_probe.h"
#include "vtpu/program.h"

// 64-aligned and filled with 0xA5. posix_memalign keeps the exact size.
static inline void* program_memory(size_t size) {
  void* data = NULL;
  if (posix_memalign(&data, 64, size ? size : 1) != 0) return NULL;
  memset(data, 0xA5, size);
  return data;
}

// Runs a compiled program. out[r] receives a fresh array each (free). Donated parameters share the
// memory of their results when `donate`.
static inline tpt_status_t program_run(const vtpu_program_t* program, const void* const* in,
                                       void** out, bool donate) {
  int params = vtpu_program_parameter_count(program), results = vtpu_program_result_count(program);
  void** args = calloc((size_t)params + 1, sizeof(*args));
  bool* taken = calloc((size_t)params + 1, sizeof(*taken));
  for (int i = 0; i < params; i++) {
    size_t size = (size_t)tpt_type_size(vtpu_program_parameter_type(program, i));
    args[i] = program_memory(size);
    if (size) memcpy(args[i], in[i], size);
  }
  for (int r = 0; r < results; r++) {
    int alias = vtpu_program_alias(program, r);
    if (donate && alias >= 0) {
      out[r] = args[alias];
      taken[alias] = true;
    } else {
      out[r] = program_memory((size_t)tpt_type_size(vtpu_program_result_type(program, r)));
    }
  }
  vtpu_exec_t exec = {.pool = probe_pool(),
                      .temp = program_memory(vtpu_program_temp_size(program))};
  tpt_status_t status = vtpu_program_run(program, &exec, args, out);
  for (int i = 0; i < params; i++) {
    size_t size = (size_t)tpt_type_size(vtpu_program_parameter_type(program, i));
    if (!taken[i] && size && memcmp(args[i], in[i], size) != 0) {
      fprintf(stderr, "parameter %d was written\n", i);
      tpt_check_failures++;
    }
    if (!taken[i]) free(args[i]);
  }
  free(exec.temp);
  free(args);
  free(taken);
  return status;
}

// Compiles (consuming the graph) and runs; false after a failed check. With `donate` aliases are used.
static inline bool program_eval(tpt_graph_t* take_graph, const void* const* in, void** out,
                                bool donate) {
  vtpu_program_t* program = NULL;
  if (!CHECK_OK(vtpu_program_compile(take_graph, &program))) return false;
  bool ok = CHECK_OK(program_run(program, in, out, donate));
  vtpu_program_release(program);
  return ok;
}

static inline tpt_graph_t* program_graph(void) {
  tpt_graph_t* graph = NULL;
  (void)!CHECK_OK(tpt_graph_create(&graph));
  return graph;
}
static inline tpt_type_t type_of(tpt_dtype_t dtype, int rank, const int64_t* dims) {
  return tpt_type_make(dtype, rank, dims);
}
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

#endif  // TPUTORCH_VTPU_PROGRAM_PROBE_H_
