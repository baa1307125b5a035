// A compiled program of vtpu: a graph turned into a list of steps over laid-out buffers.
// Compile once, run from one thread at a time per exec.
#ifndef TPUTORCH_VTPU_PROGRAM_H_
#define TPUTORCH_VTPU_PROGRAM_H_

#include "base/str.h"
#include "base/thread.h"
#include "hlo/graph.h"

typedef struct vtpu_program vtpu_program_t;

// What a run needs from the device. Owner thread only while a run is on.
typedef struct vtpu_exec {
  tpt_pool_t* pool;
  void* temp;  // at least vtpu_program_temp_size bytes, 64-aligned; contents meaningless
  bool flush_subnormals;
  bool profile;  // measures each step
  // (optional) by parameter, each optional: where packed copies of that argument are kept (keep.h)
  struct vtpu_keep* const* keeps;
  struct vtpu_keep* operand_keeps[2];  // the same of a kernel's first operands; set by the program
} vtpu_exec_t;

// Plans `graph` (consumed, also on failure). UNIMPLEMENTED names a StableHLO op that vtpu lacks.
TPT_MUST_USE tpt_status_t vtpu_program_compile(tpt_graph_t* take_graph,
                                               vtpu_program_t** out_program);
void vtpu_program_release(vtpu_program_t* take_program);

int vtpu_program_parameter_count(const vtpu_program_t* program);
int vtpu_program_result_count(const vtpu_program_t* program);
const tpt_type_t* vtpu_program_parameter_type(const vtpu_program_t* program,
                                              int parameter);                           // borrowed
const tpt_type_t* vtpu_program_result_type(const vtpu_program_t* program, int result);  // borrowed
// Parameter whose memory result `result` may take when that parameter is donated, or -1. The plan
// guarantees that results[result] == args[parameter] is then safe; a distinct pointer is always safe.
int vtpu_program_alias(const vtpu_program_t* program, int result);
// True if some kernel would use a kept copy of that argument.
bool vtpu_program_keeps(const vtpu_program_t* program, int parameter);
size_t vtpu_program_temp_size(const vtpu_program_t* program);
// Rough time of a run, in nanoseconds; decides whether a run is worth a hand-off to a worker.
int64_t vtpu_program_cost(const vtpu_program_t* program);
double vtpu_program_flops(const vtpu_program_t* program);
double vtpu_program_bytes(const vtpu_program_t* program);
// The plan, tab-separated. A head line: "vtpu-plan", parameters, results, bytes of temporaries,
// estimated ns. Then a line per step: depth, kernel, details, bytes, flops, estimated ns, and what runs
// with `profile` measured: runs, best ns, total ns. The measured columns have a fixed width, so that
// two texts of one program have the same size.
TPT_MUST_USE tpt_status_t vtpu_program_explain(const vtpu_program_t* program, tpt_str_t* out);

// args and results: dense row-major, 64-aligned (16 suffices for arrays under 64 bytes).
// A failed index check is OUT_OF_RANGE and names op, index and bound.
TPT_MUST_USE tpt_status_t vtpu_program_run(const vtpu_program_t* program, const vtpu_exec_t* exec,
                                           void* const* args, void* const* results);

#endif  // TPUTORCH_VTPU_PROGRAM_H_
