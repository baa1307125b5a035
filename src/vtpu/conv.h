// The plan of a convolution, shared by the files conv*.c.
//
// Every convolution is a sum of matrix products W [out features x K] * P [K x positions], one per group
// and phase, where K = (input feature, window tap) and a position = (batch, output place). A phase is
// the set of output places that meet the holes of a dilated input in the same taps; without lhs
// dilation there is one. Within a phase input place = base + t * step + u * tap, so P[k, position] is
// element k_offset[k] + position_offset[position] of a padded, rounded copy of the input (a stage).
// Where steps are larger than one the stage is folded: along its innermost axis, places that are equal
// modulo the step lie together, so that patches still are made of contiguous runs.
// Positions are cut into regions; a region, and a part of the features, is one item of parallel work.
#ifndef TPUTORCH_VTPU_CONV_H_
#define TPUTORCH_VTPU_CONV_H_

#include "hlo/builder.h"
#include "vtpu/epilogue.h"
#include "vtpu/kernel.h"
#include "vtpu/panel.h"
#include "vtpu/strip.h"

enum {
  VTPU_CONV_AXES = TPT_SPATIAL_MAX + 2,  // batch, feature, spatial...
  VTPU_CONV_BATCH = 0,
  VTPU_CONV_FEATURE = 1,
  VTPU_CONV_SPATIAL = 2,
};

// One spatial dimension within a phase.
typedef struct vtpu_conv_axis {
  int64_t out_first, out_step, out_count;  // output place = out_first + t * out_step
  int64_t tap_first, tap_step, tap_count;  // window place = tap_first + u * tap_step
  int64_t in_base, in_step, in_tap;        // input place = in_base + t * in_step + u * in_tap
} vtpu_conv_axis_t;

typedef struct vtpu_conv_phase {
  vtpu_conv_axis_t axis[TPT_SPATIAL_MAX];
  int64_t taps;                  // product of tap counts
  int64_t tile[VTPU_CONV_AXES];  // positions of a region, along batch and spatial axes
  int64_t tile_count[VTPU_CONV_AXES];
  int64_t region_count;
  int64_t first_item;    // items of this phase start here
  size_t weight_offset;  // in the packed weights of one group: elements, of strips bytes
  // strips: distance of strips of weights, and bytes of a chunk of features
  int64_t strip_stride, strip_chunk;
} vtpu_conv_phase_t;

// How one of the three arrays lies: element strides by axis, dimension sizes.
typedef struct vtpu_conv_array {
  int64_t size[VTPU_CONV_AXES];
  int64_t stride[VTPU_CONV_AXES];
  int64_t group_offset;  // elements from one group to the next
} vtpu_conv_array_t;

typedef struct vtpu_conv_plan {
  tpt_dtype_t in_dtype, kernel_dtype;
  vtpu_compute_t compute;
  size_t element_size;  // of the compute type
  size_t stage_size;    // of an element of the stage
  size_t in_size, kernel_size, out_size;
  vtpu_convert_fn_t narrow;
  bool narrow_is_copy;
  int spatial_count;
  int64_t groups;
  int64_t batch, features, outputs;  // of one group
  vtpu_conv_array_t in, out;
  // kernel: axis BATCH is the output feature, FEATURE the input feature
  vtpu_conv_array_t kernel;
  bool reversal[TPT_SPATIAL_MAX];
  int in_order[VTPU_CONV_AXES];   // axes of the input, outermost first
  int out_order[VTPU_CONV_AXES];  // axes of the output but the feature, outermost first
  // --- precision
  int in_part_count, kernel_part_count;
  vtpu_part_t in_parts[2], kernel_parts[2];
  // --- (optional) the unit that multiplies packed strips instead of BLAS
  const vtpu_strip_unit_t* unit;
  vtpu_strip_source_t kernel_sources[2];
  vtpu_convert_fn_t stage_fns[2];  // input to stage, by part
  // --- orientation
  bool position_inner;         // panels are K x positions, else positions x K
  bool weight_k_inner;         // weights are outputs x K, else K x outputs
  bool result_position_inner;  // results are outputs x positions, else positions x outputs
  bool is_direct;              // few outputs: plain loops instead of GEMM
  int64_t fold;                // of the stage's innermost axis; 1: not folded
  int fold_axis;
  // --- work
  int64_t phase_count;
  vtpu_conv_phase_t* phases;
  int64_t feature_chunk, feature_chunks;
  int64_t split_count;  // parts of the features summed apart, then together
  int64_t item_count;   // groups * regions of all phases * splits
  int64_t position_max, k_max, k_block, stage_max;
  int64_t stage_row_max;      // elements of the stage along its innermost axis
  bool is_plain;              // BLAS reads the weights where they lie
  bool is_packed;             // weights are packed before the items
  int64_t packed_group_size;  // elements of all phases of one group; of strips bytes
  int lane_count;
  // --- scratch: packed weights (by part), partial results (by part and item), lanes
  size_t packed_offset, packed_part_size;
  size_t partial_offset, partial_size;
  size_t lanes_offset, lane_size;
  size_t table_offset, stage_offset, stage_part_size, panel_offset, panel_part_size;
  size_t weight_offset, weight_part_size, result_offset, result_part_size, temp_offset;
  const vtpu_epilogue_t* epilogue;  // (optional) results are rounded and left to it
  size_t rounded_offset;            // in a lane: the results of a region in the output's type
} vtpu_conv_plan_t;

// Fills everything but the scratch layout. Allocates in the kernel's arena.
TPT_MUST_USE tpt_status_t vtpu_conv_plan_make(const vtpu_kernel_t* kernel, vtpu_conv_plan_t* plan);
// Cuts the work into items and lays out the scratch; sets the kernel's costs.
void vtpu_conv_plan_cut(vtpu_kernel_t* kernel, vtpu_conv_plan_t* plan);

// --- one item ---------------------------------------------------------------------------------------

// The offsets of one (phase, region shape, feature count); rebuilt only when that changes.
typedef struct vtpu_conv_tables {
  const vtpu_conv_phase_t* phase;
  int64_t counts[VTPU_CONV_AXES];  // positions along batch and spatial axes; features at FEATURE
  int64_t extent[VTPU_CONV_AXES];  // of the stage
  int64_t stage_stride[VTPU_CONV_AXES];
  int64_t fold_part;        // elements of one residue along a folded axis
  vtpu_axis_t k, position;  // in the stage
  vtpu_axis_t weight_k;     // in the kernel, from its first element of group and chunk
  int64_t weight_base;
  vtpu_axis_t out;  // positions in the output, from the region's origin
  int64_t k_count, position_count;
  // With a unit: loads of the inner axis of the stage, and of the weights, where not contiguous.
  bool has_pieces, has_weight_pieces;
  vtpu_strip_pieces_t pieces, weight_pieces;
} vtpu_conv_tables_t;

typedef struct vtpu_conv_region {
  const vtpu_conv_phase_t* phase;
  int64_t group;
  int64_t first[VTPU_CONV_AXES];  // batch and output places (t) of the region
  int64_t count[VTPU_CONV_AXES];
  int64_t split;
} vtpu_conv_region_t;

// Which region an item is.
void vtpu_conv_region_find(const vtpu_conv_plan_t* plan, int64_t item, vtpu_conv_region_t* out);
// (Re)builds the tables for a region and `features` features in the lane's table memory.
void vtpu_conv_tables_build(const vtpu_conv_plan_t* plan, const vtpu_conv_region_t* region,
                            int64_t features, char* lane, vtpu_conv_tables_t* tables);
// Copies the part of the input that the region and the features [first, first + tables' features) need
// into the stage, with zeros around it.
void vtpu_conv_stage(const vtpu_conv_plan_t* plan, const vtpu_conv_region_t* region,
                     const vtpu_conv_tables_t* tables, int64_t first_feature, const void* in,
                     char* lane);
// Elements from the start of the output to the region's origin.
int64_t vtpu_conv_out_offset(const vtpu_conv_plan_t* plan, const vtpu_conv_region_t* region);

// One product of a few outputs by loops over runs, f32: result (outputs x positions) (+)= W * P.
typedef struct vtpu_conv_direct {
  const float* weight;  // outputs x k, rows weight_ld apart
  int64_t weight_ld;
  const float* stage;
  const vtpu_conv_tables_t* tables;
  int64_t outputs;
  bool accumulate;
  float* temp;  // 4 * max(k, positions) elements
  float* result;
  int64_t result_ld;  // elements from one output to the next
} vtpu_conv_direct_t;
void vtpu_conv_direct(const vtpu_conv_direct_t* direct);

// --- a run (conv.c, conv_strip.c) --------------------------------------------------------------------

typedef struct vtpu_conv_work {
  const vtpu_conv_plan_t* plan;
  const vtpu_exec_t* exec;
  const char* in;
  const char* kernel;
  char* out;
  char* scratch;
  const void* const* arrays;  // what the kernel was called with, for the epilogue
  void* const* results;
} vtpu_conv_work_t;

static inline char* vtpu_conv_lane(const vtpu_conv_work_t* work, int lane) {
  return work->scratch + work->plan->lanes_offset + work->plan->lane_size * (size_t)lane;
}

// The features [first, first + count) of one group and phase.
typedef struct vtpu_conv_chunk {
  int64_t first, count;
  int64_t k, k_count;  // block of K at hand
} vtpu_conv_chunk_t;

// Where products are summed: outputs x positions or positions x outputs.
typedef struct vtpu_conv_result {
  char* data;
  int64_t ld;
  char* low;            // the sum of the low products (three passes), dense
  bool is_accumulated;  // something was summed already
} vtpu_conv_result_t;

vtpu_conv_chunk_t vtpu_conv_chunk(const vtpu_conv_plan_t* plan, int64_t index);
// The weights of number `index` (chunk, phase, group): a region of one place, whose tables are built in
// the lane.
vtpu_conv_chunk_t vtpu_conv_weights_find(const vtpu_conv_plan_t* plan, int64_t index, char* lane,
                                         vtpu_conv_region_t* out_region);
// Products of strips: items of packing the weights, and the product of one region and chunk.
int64_t vtpu_conv_strip_pack_count(const vtpu_conv_plan_t* plan);
void vtpu_conv_strip_pack_item(void* work, int64_t item, int lane);
void vtpu_conv_strip_chunk(const vtpu_conv_work_t* work, const vtpu_conv_region_t* region,
                           vtpu_conv_chunk_t* chunk, char* lane, vtpu_conv_result_t* result);

#endif  // TPUTORCH_VTPU_CONV_H_
