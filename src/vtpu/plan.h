// The planner's data: a graph's blocks become lists of steps over numbered buffers. Passes, in order:
// simplify (plan_simplify.c), fuse (plan_fuse.c with fuse_loop.c and fuse_map.c), assemble steps
// (plan_steps.c), lay buffers out (plan_layout.c). Private to vtpu/plan*.c, fuse*.c, control.c, program.c.
#ifndef TPUTORCH_VTPU_PLAN_H_
#define TPUTORCH_VTPU_PLAN_H_

#include <stdatomic.h>

#include "base/arena.h"
#include "hlo/graph.h"
#include "vtpu/kernel.h"
#include "vtpu/loop.h"
#include "vtpu/program.h"
#include "vtpu/rows.h"

#define VTPU_NONE UINT32_MAX
enum { VTPU_MAP_OPERANDS_MAX = 32 };

// --- what a program is at run time ---------------------------------------------------------------------

typedef enum vtpu_space {
  VTPU_SPACE_PARAM,   // the caller's argument `number`
  VTPU_SPACE_RESULT,  // the caller's result `number`
  VTPU_SPACE_CONST,   // `data`
  VTPU_SPACE_TEMP,    // the run's temporary memory at `offset`
} vtpu_space_t;

typedef struct vtpu_plan_buffer {
  vtpu_space_t space;
  uint32_t number;
  const void* data;
  size_t size;
  size_t offset;
} vtpu_plan_buffer_t;

typedef struct vtpu_run {
  const vtpu_exec_t* exec;
  char* temp;       // base of the temporary memory
  void** pointers;  // by buffer
} vtpu_run_t;

// What profiled runs of a step took.
typedef struct vtpu_timing {
  _Atomic int64_t runs, total, best;  // nanoseconds; best: 0 until there was a run
} vtpu_timing_t;

typedef struct vtpu_step vtpu_step_t;
typedef struct vtpu_block_plan vtpu_block_plan_t;
typedef tpt_status_t (*vtpu_step_fn_t)(const vtpu_step_t* step, const vtpu_run_t* run);

struct vtpu_step {
  vtpu_step_fn_t run;
  const tpt_node_t* node;  // of kernels and control flow
  const vtpu_loop_t* loop;
  const vtpu_loop_spec_t* spec;  // of the loop, as compiled
  const vtpu_rows_t* rows;       // of a row step
  const vtpu_kernel_row_t* row;
  vtpu_kernel_t* kernel;
  int32_t keep_params[2];  // parameters that are operands which the kernel would keep; -1: none
  const struct vtpu_epilogue* epilogue;  // of the kernel; `spec` is its loop's, by program buffers
  struct fuse_loop* finish;              // while planning: a loop that wants to be the epilogue
  // Operand and result buffers (of control flow: operands, then what its blocks capture). Copies have
  // one each; a loop's are inside `loop` as well.
  uint32_t read_count, write_count;
  const uint32_t* reads;
  uint32_t* writes;
  size_t scratch_size, scratch_offset;
  size_t size;          // bytes of a copy; elements of a map
  const size_t* sizes;  // while: bytes of each value; map: of an element of operands and result
  // Control flow: while has {condition, body}; case and if their branches.
  uint32_t block_count;
  vtpu_block_plan_t** blocks;
  uint32_t position;
  int64_t cost;
  double flops, bytes;
  vtpu_timing_t* timing;  // of runs with `profile`
};

struct vtpu_block_plan {
  uint32_t block;
  uint32_t step_count;
  vtpu_step_t* steps;  // in execution order
  uint32_t arg_count, result_count;
  uint32_t* args;     // buffers of the block's arguments
  uint32_t* results;  // buffers that hold its results when it has run
  uint32_t capture_count;
  const uint32_t* captures;  // values of outer blocks that it reads
  // Moves of the results to where the block's owner wants them, in an order that loses nothing.
  uint32_t move_count;
  vtpu_step_t* moves;
};

struct vtpu_program {
  tpt_arena_t arena;
  tpt_graph_t* graph;
  vtpu_block_plan_t* main;
  vtpu_plan_buffer_t* buffers;
  uint32_t buffer_count;
  size_t temp_size;  // the pointer table included, at its start
  size_t table_size;
  uint32_t parameter_count, result_count;
  const tpt_type_t** parameter_types;
  const tpt_type_t** result_types;
  int32_t* aliases;  // per result
  bool* keeps;       // per parameter
  int64_t cost;
  double flops, bytes;
};

tpt_status_t vtpu_steps_run(const vtpu_block_plan_t* plan, const vtpu_run_t* run);
tpt_status_t vtpu_step_loop(const vtpu_step_t* step, const vtpu_run_t* run);
tpt_status_t vtpu_step_rows(const vtpu_step_t* step, const vtpu_run_t* run);
tpt_status_t vtpu_step_kernel(const vtpu_step_t* step, const vtpu_run_t* run);
tpt_status_t vtpu_step_copy(const vtpu_step_t* step, const vtpu_run_t* run);
tpt_status_t vtpu_step_while(const vtpu_step_t* step, const vtpu_run_t* run);
tpt_status_t vtpu_step_case(const vtpu_step_t* step, const vtpu_run_t* run);
tpt_status_t vtpu_step_map(const vtpu_step_t* step, const vtpu_run_t* run);

// --- planning --------------------------------------------------------------------------------------------

typedef struct fuse_loop fuse_loop_t;

// A loop that wants a value at one of its maps.
typedef struct fuse_demand {
  fuse_loop_t* loop;
  int member;
  struct fuse_demand* next;
} fuse_demand_t;

// A step that needs a value in memory.
typedef struct plan_reader {
  uint32_t position;
  struct plan_reader* next;
} plan_reader_t;

typedef struct plan_value {
  uint32_t rep;   // equal value that stands for this one (common subexpressions)
  uint32_t root;  // value whose memory, read in row-major order, is this one's (reshape, barrier)
  uint32_t use_count;  // of the representative, before fusion
  uint32_t cost;       // picoseconds per element to evaluate it from memory
  uint16_t loads;      // arrays that this reads
  bool materialised;
  uint32_t buffer;  // VTPU_NONE until needed
  uint32_t hard_q;  // least position of a step that needs it in memory; VTPU_NONE: no such step
  plan_reader_t* readers;  // the steps behind hard_q
  fuse_demand_t* demands;
  fuse_loop_t* maker;  // the loop that stores it
  uint32_t local;      // its local buffer in a row step; VTPU_NONE: it has none
} plan_value_t;

typedef struct plan {
  const tpt_graph_t* graph;
  vtpu_program_t* program;
  tpt_arena_t* arena;  // the program's
  tpt_arena_t* temp;   // dies after planning
  plan_value_t* values;
  const tpt_node_t** nodes;  // by node number, rewritten ones in the arena
  vtpu_plan_buffer_t* buffers;
  size_t buffer_count, buffer_capacity;
  int depth;
} plan_t;

static inline plan_value_t* plan_value(const plan_t* plan, tpt_value_t value) {
  return &plan->values[value.index];
}
// The value whose memory holds `value`.
static inline uint32_t plan_root(const plan_t* plan, tpt_value_t value) {
  return plan->values[value.index].root;
}
static inline const tpt_type_t* plan_type(const plan_t* plan, uint32_t value) {
  return tpt_graph_type(plan->graph, (tpt_value_t){value});
}
// The (rewritten) node that makes a value; NULL for block arguments.
static inline const tpt_node_t* plan_producer(const plan_t* plan, uint32_t value) {
  tpt_origin_t origin = tpt_graph_origin(plan->graph, (tpt_value_t){value});
  return origin.node == UINT32_MAX ? NULL : plan->nodes[origin.node];
}

typedef enum plan_class {
  PLAN_ELEMENTWISE,
  PLAN_VIEW,  // broadcast, transpose, slice, reverse
  PLAN_IOTA,
  PLAN_CONSTANT,
  PLAN_ALIAS,  // reshape, barrier: no step at all
  PLAN_BITS,   // bitcast that changes the element size: same memory, other type
  PLAN_REDUCE,
  PLAN_CONTROL,
  PLAN_KERNEL,
} plan_class_t;
plan_class_t plan_class(const plan_t* plan, const tpt_node_t* node);

// Equal nodes, memory roots, folded transposes, cost of values.
TPT_MUST_USE tpt_status_t plan_simplify(plan_t* plan);

// Plans a block and the blocks inside it, up to buffers.
TPT_MUST_USE tpt_status_t plan_block(plan_t* plan, uint32_t block, vtpu_block_plan_t** out_plan);

// True for constants that live in the program's memory; large splats are filled by a loop instead.
bool plan_is_stored_constant(const plan_t* plan, uint32_t root);
// Buffer of a materialised value, made on first call.
uint32_t plan_buffer_of(plan_t* plan, uint32_t root);
uint32_t plan_buffer_add(plan_t* plan, vtpu_space_t space, size_t size);

// --- fused loops in the making (fuse*.c) ---------------------------------------------------------------

typedef enum fuse_kind {
  FUSE_OPEN,
  FUSE_LOAD,
  FUSE_OP,
  FUSE_FORWARD,
  FUSE_IOTA,
  FUSE_NUMBER
} fuse_kind_t;

typedef struct fuse_member {
  uint32_t value;
  int map;
  fuse_kind_t kind;
  const tpt_node_t* node;
  int operands[3];  // of FORWARD: operands[0]
  int iota_map;
} fuse_member_t;

typedef struct fuse_output {
  uint32_t value;
  int member;
  const tpt_node_t* reduce;  // NULL: dense
  int number;                // operand number of the reduce
} fuse_output_t;

struct fuse_loop {
  uint32_t position;  // the step's place: that of its last root
  int rank;
  int64_t dims[VTPU_LOOP_RANK_MAX];
  bool reduced[VTPU_LOOP_RANK_MAX];
  bool reduces;
  int64_t count;
  vtpu_map_t* maps;
  int map_count, map_capacity;
  fuse_member_t* members;
  int member_count, member_capacity;
  fuse_output_t outputs[VTPU_LOOP_OUTPUTS_MAX];
  int output_count;
  const tpt_node_t* product;  // not a loop but a product that may be part of a row step
  const tpt_node_t* host;     // the product or convolution whose epilogue it is
  struct row_group* group;    // the loops with which it makes a row step
  int row_rank;               // of a group: leading dimensions that are rows
  fuse_loop_t* next;
};

fuse_loop_t* fuse_loop_create(plan_t* plan, uint32_t position, const tpt_type_t* space);
// Splits dimension k into (dims[k] / inner, inner); false when there are too many.
bool fuse_dim_split(fuse_loop_t* loop, int k, int64_t inner);
// Number of a map (found or added); -1 when out of memory.
int fuse_map_add(plan_t* plan, fuse_loop_t* loop, const vtpu_map_t* map);
// The dense row-major walk of an array with as many elements as the loop has.
vtpu_map_t fuse_map_identity(const fuse_loop_t* loop);
// True if a map visits each element of an array of `count` elements exactly once.
bool fuse_map_is_bijection(const fuse_loop_t* loop, const vtpu_map_t* map, int64_t count);
// The map of a view's operand, given that of its result (or of iota's number); may split loop
// dimensions, which changes all maps. False: not affine.
bool fuse_map_compose(plan_t* plan, fuse_loop_t* loop, const tpt_node_t* node, int result_map,
                      vtpu_map_t* out);
// Member of (root value, map), found or added; *out_new tells.
int fuse_member_add(plan_t* plan, fuse_loop_t* loop, uint32_t value, int map, bool* out_new);
// What a finished loop computes, in compilable form; in the planner's memory.
TPT_MUST_USE tpt_status_t fuse_loop_spec(plan_t* plan, const fuse_loop_t* loop,
                                         vtpu_loop_spec_t* out_spec);
// Compiles a finished loop into a step.
TPT_MUST_USE tpt_status_t fuse_loop_step(plan_t* plan, const fuse_loop_t* loop,
                                         vtpu_step_t* out_step);

// --- steps and buffers -----------------------------------------------------------------------------------

// Fills temp offsets, in-place sharing, result binding and aliases.
TPT_MUST_USE tpt_status_t plan_layout(plan_t* plan);

#endif  // TPUTORCH_VTPU_PLAN_H_
