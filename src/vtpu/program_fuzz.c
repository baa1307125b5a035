// Programs that read must compile and run, or fail with a status: no overrun, no undefined behaviour.
// Seeds as for the reader. Loops may not end and big programs take long: those are compiled only.
#include "base/fuzz.h"
#include "hlo/read.h"
#include "hlo/seed.h"
#include "vtpu/program_probe.h"

static bool is_small(const tpt_graph_t* graph) {
  for (uint32_t i = 0; i < tpt_graph_value_count(graph); i++) {
    const tpt_type_t* type = tpt_graph_type(graph, (tpt_value_t){i});
    if (tpt_type_size(type) > 1 << 18) return false;
  }
  return true;
}

static bool may_loop(const tpt_graph_t* graph) {
  for (uint32_t i = 0; i < tpt_graph_node_count(graph); i++)
    if (tpt_graph_node(graph, i)->op == TPT_HLO_WHILE) return true;
  return false;
}

static void run(const vtpu_program_t* program) {
  enum { COUNT = 64 };
  const void* in[COUNT] = {NULL};
  void* out[COUNT] = {NULL};
  int params = vtpu_program_parameter_count(program), results = vtpu_program_result_count(program);
  if (params > COUNT || results > COUNT) return;
  for (int i = 0; i < params; i++) {
    size_t size = (size_t)tpt_type_size(vtpu_program_parameter_type(program, i));
    unsigned char* data = malloc(size + 1);
    bool is_pred = vtpu_program_parameter_type(program, i)->dtype == TPT_PRED;
    for (size_t k = 0; k < size; k++)
      data[k] = is_pred ? fuzz_random() & 1 : (unsigned char)fuzz_random();
    in[i] = data;
  }
  tpt_status_release(program_run(program, in, out, fuzz_below(2)));
  for (int i = 0; i < params; i++)
    free((void*)(uintptr_t)in[i]);
  for (int i = 0; i < results; i++)
    free(out[i]);
}

size_t fuzz_seed(size_t number, char* out, size_t room) {
  return seed_text(number, out, room);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tpt_graph_t* graph;
  vtpu_program_t* program = NULL;
  tpt_status_t status = tpt_graph_read((const char*)data, size, &graph);
  if (status || !is_small(graph)) {
    tpt_status_release(status);
    tpt_graph_release(status ? NULL : graph);
    return 0;
  }
  bool is_run = !may_loop(graph);
  status = vtpu_program_compile(graph, &program);
  if (!status && is_run && vtpu_program_flops(program) < 1e7) run(program);
  tpt_status_release(status);
  vtpu_program_release(program);
  if (tpt_check_failures) __builtin_trap();
  return 0;
}
