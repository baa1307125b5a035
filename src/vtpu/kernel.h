// Kernels: everything that is not a fused elementwise or reduction loop. One row of kernel.def per
// StableHLO op; operands and results are dense row-major arrays. The planner calls `prepare` once at
// compile time and `run` at each execution.
#ifndef TPUTORCH_VTPU_KERNEL_H_
#define TPUTORCH_VTPU_KERNEL_H_

#include "hlo/builder.h"
#include "vtpu/program.h"

typedef struct vtpu_kernel vtpu_kernel_t;

struct vtpu_kernel {
  const tpt_graph_t* graph;  // lives as long as the program
  const tpt_node_t* node;
  int operand_count, result_count;
  const tpt_type_t* operand_types;
  const tpt_type_t* result_types;
  // --- set by prepare
  tpt_arena_t* arena;   // the program's; state lives there
  void* state;          // (optional) the kernel's own
  size_t scratch_size;  // bytes of scratch for one run (all threads together)
  int64_t cost;         // nanoseconds, rough; 0: the planner estimates from bytes
  double flops;
  bool keep_operands[2];  // operands of which a packed copy may be kept (exec->operand_keeps)
  // --- (optional) set before prepare: what becomes of the results (epilogue.h); `out` of a run are then
  // the epilogue's arrays, and `in` goes on with what it reads
  struct vtpu_epilogue* epilogue;
};

typedef tpt_status_t (*vtpu_prepare_fn_t)(vtpu_kernel_t* kernel);
typedef tpt_status_t (*vtpu_run_fn_t)(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                      void* scratch, const void* const* in, void* const* out);

typedef struct vtpu_kernel_row {
  tpt_hlo_t op;
  vtpu_prepare_fn_t prepare;  // (optional)
  vtpu_run_fn_t run;
  // operand whose memory result 0 may take when it dies here (-1: none); the kernel copies first when
  // the pointers differ (dynamic_update_slice, scatter, sort)
  int in_place_operand;
} vtpu_kernel_row_t;
// KERNEL(OP, prepare or NULL, run, in_place_operand) in kernel.def. NULL when the op has no kernel.
const vtpu_kernel_row_t* vtpu_kernel_row(tpt_hlo_t op);

// --- bodies: a region of 0-d values, run over vectors of elements (body.c, beside the VM) -----------------
// For comparators of sort and for reduce, scatter and reduce_window whose region is not a plain monoid.
typedef struct vtpu_body vtpu_body_t;
// `captures`: values of outer blocks used inside are refused (UNIMPLEMENTED). Lives in the arena.
TPT_MUST_USE tpt_status_t vtpu_body_compile(const tpt_graph_t* graph, uint32_t block,
                                            tpt_arena_t* arena, vtpu_body_t** out_body);
// in[a]: `count` elements of argument a; out[r] likewise. Any count; out may equal in. Thread-safe.
void vtpu_body_run(const vtpu_body_t* body, int64_t count, const void* const* in, void* const* out);

// --- conversion of arrays (convert.c), used everywhere -------------------------------------------------
void vtpu_f32_from_bf16(const uint16_t* in, float* out, int64_t count);
void vtpu_bf16_from_f32(const float* in, uint16_t* out,
                        int64_t count);  // nearest even, NaN stays NaN
void vtpu_f32_from_f16(const uint16_t* in, float* out, int64_t count);
void vtpu_f16_from_f32(const float* in, uint16_t* out, int64_t count);
// f32 rounded to bf16 and kept as f32 (the operands of a one-pass product).
void vtpu_round_to_bf16(const float* in, float* out, int64_t count);

#endif  // TPUTORCH_VTPU_KERNEL_H_
