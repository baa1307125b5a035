// A call while it becomes a program: shared by the two halves of a miss, operands (build_operand.c)
// and outputs (build_output.c). Private to src/eager.
#ifndef TPUTORCH_EAGER_BUILD_H_
#define TPUTORCH_EAGER_BUILD_H_

#include "aten/lower.h"
#include "eager/entry.h"

// One storage of the call, as the program sees it.
typedef struct tpt_build_group {
  tpt_value_t original;  // its value before the call; NONE: not asked for yet
  tpt_value_t current;   // after the writes so far
  const tpt_home_t* home;
  int32_t parameter;  // -1: the storage has no value (zeros)
  bool is_written;
} tpt_build_group_t;

typedef struct tpt_build {
  tpt_device_t* device;
  const tpt_call_t* call;
  tpt_frame_t* frame;
  tpt_graph_t* graph;
  tpt_arena_t* arena;
  tpt_lower_t lower;
  tpt_build_group_t* groups;  // frame->group_count
  tpt_value_t* starts;        // frame->start_count; NONE: no parameter yet
  tpt_value_t* offsets;       // frame->use_count; NONE: no parameter yet
  tpt_operand_t* operands;    // by parameter number
  size_t operand_count, operand_capacity;
  tpt_output_t* outputs;
  uint32_t output_count, output_capacity;
  tpt_value_t* results;  // of the program
  uint32_t result_count, result_capacity;
} tpt_build_t;

// Arrays, and the arguments with a graph value for every device tensor.
TPT_MUST_USE tpt_status_t tpt_build_operands(tpt_build_t* build);
// A parameter with the place its buffer comes from.
TPT_MUST_USE tpt_status_t tpt_build_parameter(tpt_build_t* build, const tpt_type_t* type,
                                              const tpt_operand_t* operand, tpt_value_t* out_value);
// The value of a storage before the call.
TPT_MUST_USE tpt_status_t tpt_build_original(tpt_build_t* build, uint32_t group,
                                             tpt_value_t* out_value);
// Start values of a use for its solution; out_starts has TPT_START_MAX places.
TPT_MUST_USE tpt_status_t tpt_build_starts(tpt_build_t* build, const tpt_use_t* use,
                                           tpt_value_t* out_starts);
TPT_MUST_USE tpt_status_t tpt_build_offset(tpt_build_t* build, const tpt_use_t* use,
                                           tpt_value_t* out_value);
// Operands for the numbers that the lowering asked for.
TPT_MUST_USE tpt_status_t tpt_build_requests(tpt_build_t* build);

// Results and writes of the lowering into outputs and program results.
TPT_MUST_USE tpt_status_t tpt_build_outputs(tpt_build_t* build);

#endif  // TPUTORCH_EAGER_BUILD_H_
