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
  const tpt_home_t* before;
  const tpt_home_t* home;  // after the writes so far
  int32_t parameter;       // -1: not asked for, or the storage has no value (zeros)
  bool has_value;
  bool is_written;
} tpt_build_group_t;

// Where a call inside a larger program has its operands from.
typedef struct tpt_replay {
  const tpt_value_t* values;    // of the groups; NONE: zeros
  const tpt_output_t* outputs;  // what the call's own entry says of them
  tpt_value_t (*make_number)(void* context, const tpt_request_t* wanted);
  void* context;
} tpt_replay_t;

typedef struct tpt_build {
  tpt_device_t* device;
  const tpt_call_t* call;
  const tpt_replay_t* replay;  // (optional) NULL: the call is the program
  const tpt_use_t* uses;
  size_t use_count, start_count, group_count;
  tpt_graph_t* graph;
  tpt_arena_t* arena;
  tpt_lower_t lower;
  tpt_build_group_t* groups;
  tpt_value_t* starts;      // NONE: no parameter yet
  tpt_value_t* offsets;     // of each use; NONE: no parameter yet
  tpt_operand_t* operands;  // by parameter number
  size_t operand_count, operand_capacity;
  tpt_output_t* outputs;
  uint32_t output_count, output_capacity;
  tpt_value_t* results;  // of the program
  uint32_t result_count, result_capacity;
  int32_t rng_result;  // -1: none
} tpt_build_t;

// The groups and uses of the call in the device's frame.
TPT_MUST_USE tpt_status_t tpt_build_from_frame(tpt_build_t* build);
// Operands, lowering, outputs: all but the compile. b.call, device, graph, arena, uses, groups are set.
TPT_MUST_USE tpt_status_t tpt_build_lower(tpt_build_t* build, int precision);

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

// Results and writes of the lowering into outputs and program results (build->results).
TPT_MUST_USE tpt_status_t tpt_build_outputs(tpt_build_t* build);

#endif  // TPUTORCH_EAGER_BUILD_H_
