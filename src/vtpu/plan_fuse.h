// The fuse pass over one block (plan_fuse.c) as plan.c drives it. Private to these two.
#ifndef TPUTORCH_VTPU_PLAN_FUSE_H_
#define TPUTORCH_VTPU_PLAN_FUSE_H_

#include "vtpu/plan.h"

typedef struct fuse {
  plan_t* plan;
  uint32_t block;
  fuse_loop_t* loops;
  uint32_t loop_count;
  uint32_t* captures;  // values of outer blocks
  uint32_t capture_count, capture_capacity;
} fuse_t;

// A step at `position` needs the value in memory.
TPT_MUST_USE tpt_status_t fuse_need(fuse_t* f, uint32_t root, uint32_t position);
// A node of class ELEMENTWISE, VIEW, IOTA or CONSTANT; REDUCE; BITS. All readers were seen before.
TPT_MUST_USE tpt_status_t fuse_value(fuse_t* f, const tpt_node_t* node, uint32_t position);
TPT_MUST_USE tpt_status_t fuse_reduce(fuse_t* f, const tpt_node_t* node, uint32_t position);
TPT_MUST_USE tpt_status_t fuse_bits(fuse_t* f, const tpt_node_t* node);

// Gathers finished loops into row steps (plan_rows.c). Then, for the last loop of a group, its step.
// A product among `steps` that becomes part of a row step loses its `run`.
TPT_MUST_USE tpt_status_t plan_rows(fuse_t* f, vtpu_step_t* steps, uint32_t step_count);
// Makes the leading dimensions of a loop hold `rows` indexes exactly, splitting one if need be; sets
// row_rank. False: no place to cut.
bool plan_rows_cut(fuse_loop_t* loop, int64_t rows);
bool plan_rows_is_last(const fuse_loop_t* loop);
TPT_MUST_USE tpt_status_t plan_rows_step(plan_t* plan, const fuse_loop_t* loop,
                                         vtpu_step_t* out_step);

// Marks loops that only finish the result of a product or convolution among `steps`
// (plan_epilogue.c). Then the step of such a kernel: false in *out_ok if the two do not fit together,
// so that each is planned alone.
void plan_epilogues(plan_t* plan, vtpu_step_t* steps, uint32_t step_count);
TPT_MUST_USE tpt_status_t plan_epilogue_step(plan_t* plan, vtpu_step_t* step, bool* out_ok);
// Makes and prepares the step's kernel; `epilogue` is optional (plan.c).
TPT_MUST_USE tpt_status_t plan_kernel_make(plan_t* plan, const tpt_node_t* node,
                                           struct vtpu_epilogue* epilogue, vtpu_step_t* step);

#endif  // TPUTORCH_VTPU_PLAN_FUSE_H_
