// What becomes of a window of recorded calls: which values its program takes and gives, and the way out
// when that program fails. Private to the fused mode.
#ifndef TPUTORCH_EAGER_FUSED_WINDOW_H_
#define TPUTORCH_EAGER_FUSED_WINDOW_H_

#include "eager/trace.h"

typedef struct tpt_fused_output {
  uint32_t value;
  int32_t input;  // number of the input whose memory it takes, -1: memory of its own
} tpt_fused_output_t;

typedef struct tpt_fused_plan {
  uint32_t* inputs;  // values
  uint32_t input_count;
  tpt_fused_output_t* outputs;  // values that somebody still has, in order
  uint32_t output_count;
  uint64_t* words;  // the trace's, then inputs and outputs: equal words, equal program
  size_t word_count;
} tpt_fused_plan_t;

// Values that nobody has any more are left out, unless finding their errors needs them. An input that
// nobody else has gives its memory to an output of the same home. deinit is legal after a failure.
TPT_MUST_USE tpt_status_t tpt_fused_plan_init(tpt_fused_plan_t* plan, const tpt_trace_t* trace);
void tpt_fused_plan_deinit(tpt_fused_plan_t* plan);

// Runs the records one by one because all together failed with `take_status`: the first failure of one of
// them (NULL if none fails alone). Cells get their values; what depends on a failed call gets its failure;
// what a failed call would have written stays as it was.
TPT_MUST_USE tpt_status_t tpt_fused_run_singly(tpt_trace_t* trace, tpt_status_t take_status);

// `waiting` gets the value of `take_cell`.
void tpt_cell_give(tpt_cell_t* waiting, tpt_cell_t* take_cell);

#endif  // TPUTORCH_EAGER_FUSED_WINDOW_H_
