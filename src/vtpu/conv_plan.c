// Planning of convolutions: the roles of dimensions, the phases of a dilated input, the orientation of
// the matrices, and how the work is cut. Everything here depends on shapes only.
#include <string.h>

#include "vtpu/conv.h"
#include "vtpu/lane.h"

enum {
  PHASES_MAX = 1 << 14,
  POSITIONS_WANTED = 512,    // of a region
  RESULTS_WANTED = 1 << 17,  // of a region of strips, if that leaves half as many positions
  STAGE_WANTED = 1 << 19,    // bytes
  PANEL_WANTED = 2 << 20,    // bytes
  ITEMS_WANTED = 8,
  DIRECT_OUTPUTS_MAX = 2,
  FEW_POSITIONS = 32,
  FOLD_MAX = 8,
  PACKED_MAX = 64 << 20,  // bytes
  STRIP_TILES = 16,       // of a block of K in strips
};

// --- arrays -----------------------------------------------------------------------------------------

typedef struct roles {
  int64_t batch, feature;
  const int64_t* spatial;
} roles_t;

static void array_make(const tpt_type_t* type, const roles_t* roles, int spatial_count,
                       vtpu_conv_array_t* out) {
  int64_t strides[TPT_RANK_MAX] = {0}, stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= type->dims[d];
  }
  for (int a = 0; a < spatial_count + 2; a++) {
    int64_t dim = a == VTPU_CONV_BATCH     ? roles->batch
                  : a == VTPU_CONV_FEATURE ? roles->feature
                                           : roles->spatial[a - VTPU_CONV_SPATIAL];
    out->size[a] = type->dims[dim];
    out->stride[a] = strides[dim];
  }
}

// Axes by falling stride; equal strides (sizes of one) keep their order. `skip` is left out.
static void order_make(const vtpu_conv_array_t* array, int axis_count, int skip, int* order) {
  int count = 0;
  for (int a = 0; a < axis_count; a++) {
    if (a == skip) continue;
    int place = count++;
    while (place > 0 && array->stride[order[place - 1]] < array->stride[a]) {
      order[place] = order[place - 1];
      place--;
    }
    order[place] = a;
  }
}

// --- phases -----------------------------------------------------------------------------------------

// The q-th phase of one dimension; the number of phases of the dimension is its period.
static vtpu_conv_axis_t axis_phase(const tpt_conv_t* conv, int d, int64_t q, int64_t outputs,
                                   int64_t taps) {
  int64_t stride = conv->stride[d], dilation = conv->rhs_dilation[d], hole = conv->lhs_dilation[d];
  int64_t period = hole / vtpu_gcd(stride, hole), tap_step = hole / vtpu_gcd(dilation, hole);
  vtpu_conv_axis_t axis = {.out_first = q, .out_step = period, .tap_step = tap_step};
  axis.out_count = outputs > q ? vtpu_ceil_div(outputs - q, period) : 0;
  axis.in_step = period * stride / hole;
  axis.in_tap = tap_step * dilation / hole;
  for (int64_t w = 0; w < tap_step && w < taps; w++) {
    int64_t place = q * stride + w * dilation - conv->pad_low[d];
    if (place % hole != 0) continue;
    axis.tap_first = w;
    axis.tap_count = vtpu_ceil_div(taps - w, tap_step);
    axis.in_base = place / hole;
    break;
  }
  return axis;
}

static tpt_status_t phases_make(const vtpu_kernel_t* kernel, const tpt_conv_t* conv,
                                vtpu_conv_plan_t* plan) {
  int64_t period[TPT_SPATIAL_MAX];
  plan->phase_count = 1;
  for (int d = 0; d < conv->spatial_count; d++) {
    period[d] = conv->lhs_dilation[d] / vtpu_gcd(conv->stride[d], conv->lhs_dilation[d]);
    if (period[d] > plan->out.size[VTPU_CONV_SPATIAL + d])
      period[d] = plan->out.size[VTPU_CONV_SPATIAL + d];
    if (period[d] < 1) period[d] = 1;
    if (period[d] > PHASES_MAX || (plan->phase_count *= period[d]) > PHASES_MAX)
      TPT_FAIL(TPT_UNIMPLEMENTED,
               "convolution with an lhs_dilation that makes more than %d phases; pad the input "
               "with zeros (stablehlo.pad) instead",
               PHASES_MAX);
  }
  plan->phases = tpt_arena_calloc(kernel->arena, (size_t)plan->phase_count, sizeof(*plan->phases));
  if (!plan->phases) return tpt_arena_status(kernel->arena);
  for (int64_t p = 0; p < plan->phase_count; p++) {
    vtpu_conv_phase_t* phase = &plan->phases[p];
    phase->taps = 1;
    int64_t rest = p;
    for (int d = conv->spatial_count - 1; d >= 0; d--) {
      phase->axis[d] = axis_phase(conv, d, rest % period[d], plan->out.size[VTPU_CONV_SPATIAL + d],
                                  plan->kernel.size[VTPU_CONV_SPATIAL + d]);
      rest /= period[d];
      phase->taps *= phase->axis[d].tap_count;
    }
  }
  return NULL;
}

// --- orientation ------------------------------------------------------------------------------------

static void parts_make(tpt_dtype_t dtype, vtpu_compute_t compute, tpt_precision_t precision,
                       int* out_count, vtpu_part_t* out_parts) {
  bool is_f32 = dtype == TPT_F32 && compute == VTPU_COMPUTE_F32;
  *out_count = is_f32 && precision == TPT_PRECISION_HIGH ? 2 : 1;
  out_parts[0] = is_f32 && precision != TPT_PRECISION_HIGHEST ? VTPU_PART_HIGH : VTPU_PART_EXACT;
  out_parts[1] = VTPU_PART_LOW;
}

// Panels want long contiguous rows: along positions or along K, whichever the stage's innermost axis
// offers more of.
static void orient(vtpu_conv_plan_t* plan) {
  int axes = plan->spatial_count + 2;
  int last = axes - 1;
  while (last > 0 && plan->in.size[plan->in_order[last]] == 1)
    last--;
  int inner = plan->in_order[last];
  int64_t position_run = 1, k_run = 1, step = 1, tap = 1;
  if (inner == VTPU_CONV_BATCH) {
    position_run = plan->batch;
  } else if (inner == VTPU_CONV_FEATURE) {
    k_run = plan->features;
  } else {
    const vtpu_conv_axis_t* axis = &plan->phases[0].axis[inner - VTPU_CONV_SPATIAL];
    step = axis->in_step, tap = axis->in_tap;
    if (step <= FOLD_MAX) position_run = axis->out_count;
    if (tap <= FOLD_MAX) k_run = axis->tap_count;
  }
  // The weights of a reversed window stay contiguous if K is not the inner axis (k_taps).
  for (int d = 0; d < plan->spatial_count; d++)
    if (plan->reversal[d] && plan->kernel.size[VTPU_CONV_SPATIAL + d] > 1) k_run = 1;
  plan->position_inner = position_run >= k_run;
  plan->fold = plan->position_inner ? step : tap;
  plan->fold_axis = inner;
  // Only the axis that is innermost in the stage can be folded.
  if (plan->fold > FOLD_MAX || last != axes - 1) plan->fold = 1;
  plan->weight_k_inner = plan->kernel.stride[VTPU_CONV_BATCH] != 1 || plan->outputs == 1;
  plan->result_position_inner = plan->out.stride[VTPU_CONV_FEATURE] != 1 || plan->outputs == 1;
  plan->is_direct = plan->outputs <= DIRECT_OUTPUTS_MAX && plan->compute == VTPU_COMPUTE_F32 &&
                    plan->in_part_count == 1 && plan->kernel_part_count == 1;
  if (plan->is_direct) plan->weight_k_inner = plan->result_position_inner = true;
}

// f32 to the nearest bf16, and to that of the rest.
static void stage_high(const void* in, void* out, int64_t count) {
  vtpu_bf16_from_f32(in, out, count);
}
static void stage_low(const void* in, void* out, int64_t count) {
  float rest[256];
  vtpu_convert_fn_t widen = vtpu_widen_fn(TPT_F32, VTPU_COMPUTE_F32, VTPU_PART_LOW);
  for (int64_t i = 0; i < count; i += 256) {
    int64_t left = count - i < 256 ? count - i : 256;
    widen((const float*)in + i, rest, left);
    vtpu_bf16_from_f32(rest, (uint16_t*)out + i, left);
  }
}
static void stage_copy(const void* in, void* out, int64_t count) {
  memcpy(out, in, (size_t)count * 2);
}

// Few positions would not pay for the packing of weights that BLAS reads where they lie.
static bool packs_in_vain(const vtpu_conv_plan_t* plan) {
  int64_t positions = plan->batch;
  for (int d = 0; d < plan->spatial_count; d++) {
    if (plan->reversal[d] && plan->kernel.size[VTPU_CONV_SPATIAL + d] > 1) return false;
    positions *= plan->out.size[VTPU_CONV_SPATIAL + d];
  }
  return positions <= FEW_POSITIONS && plan->phase_count == 1 && plan->in_part_count == 1 &&
         vtpu_widen_is_copy(plan->kernel_dtype, plan->compute, plan->kernel_parts[0]);
}

// The unit for packed strips; the stage then holds what the unit multiplies.
static void choose_unit(vtpu_conv_plan_t* plan, tpt_precision_t precision) {
  plan->stage_size = plan->element_size;
  for (int part = 0; part < plan->in_part_count; part++)
    plan->stage_fns[part] = vtpu_widen_fn(plan->in_dtype, plan->compute, plan->in_parts[part]);
  if (plan->compute != VTPU_COMPUTE_F32 || plan->is_direct) return;
  vtpu_strip_source_t sources[2][2];
  int part_counts[2];
  plan->unit = vtpu_strip_choose((tpt_dtype_t[]){plan->in_dtype, plan->kernel_dtype}, precision,
                                 sources, part_counts);
  if (plan->unit && packs_in_vain(plan)) plan->unit = NULL;
  if (!plan->unit) return;
  memcpy(plan->kernel_sources, sources[1], sizeof(plan->kernel_sources));
  if (plan->unit->depth == VTPU_STRIP_FREE) return;
  plan->stage_size = sizeof(uint16_t);
  plan->stage_fns[0] = plan->in_dtype == TPT_BF16 ? stage_copy : stage_high;
  plan->stage_fns[1] = stage_low;
}

tpt_status_t vtpu_conv_plan_make(const vtpu_kernel_t* kernel, vtpu_conv_plan_t* plan) {
  const tpt_type_t *in = &kernel->operand_types[0], *weights = &kernel->operand_types[1];
  const tpt_type_t* out = &kernel->result_types[0];
  TPT_TRY(vtpu_compute_find(in->dtype, weights->dtype, out->dtype, &plan->compute));
  tpt_conv_t conv;
  tpt_node_conv(kernel->node, &conv);
  int axes = conv.spatial_count + 2;
  plan->spatial_count = conv.spatial_count;
  memcpy(plan->reversal, conv.reversal, sizeof(plan->reversal));
  array_make(in, &(roles_t){conv.input_batch, conv.input_feature, conv.input_spatial},
             conv.spatial_count, &plan->in);
  array_make(weights, &(roles_t){conv.kernel_output, conv.kernel_input, conv.kernel_spatial},
             conv.spatial_count, &plan->kernel);
  array_make(out, &(roles_t){conv.output_batch, conv.output_feature, conv.output_spatial},
             conv.spatial_count, &plan->out);
  plan->groups = conv.feature_groups * conv.batch_groups;  // one of them is 1
  plan->batch = plan->out.size[VTPU_CONV_BATCH];
  plan->features = plan->kernel.size[VTPU_CONV_FEATURE];
  plan->outputs = plan->out.size[VTPU_CONV_FEATURE] / plan->groups;
  plan->in.group_offset = conv.feature_groups > 1
                              ? plan->features * plan->in.stride[VTPU_CONV_FEATURE]
                              : plan->batch * plan->in.stride[VTPU_CONV_BATCH];
  plan->kernel.group_offset = plan->outputs * plan->kernel.stride[VTPU_CONV_BATCH];
  plan->out.group_offset = plan->outputs * plan->out.stride[VTPU_CONV_FEATURE];
  order_make(&plan->in, axes, -1, plan->in_order);
  order_make(&plan->out, axes, VTPU_CONV_FEATURE, plan->out_order);
  plan->element_size = vtpu_compute_row(plan->compute)->size;
  plan->in_dtype = in->dtype;
  plan->kernel_dtype = weights->dtype;
  plan->in_size = tpt_dtype_size(in->dtype);
  plan->kernel_size = tpt_dtype_size(weights->dtype);
  plan->out_size = tpt_dtype_size(out->dtype);
  plan->narrow = vtpu_narrow_fn(plan->compute, out->dtype);
  plan->narrow_is_copy = vtpu_widen_is_copy(out->dtype, plan->compute, VTPU_PART_EXACT);
  parts_make(in->dtype, plan->compute, conv.precision, &plan->in_part_count, plan->in_parts);
  parts_make(weights->dtype, plan->compute, conv.precision, &plan->kernel_part_count,
             plan->kernel_parts);
  TPT_TRY(phases_make(kernel, &conv, plan));
  orient(plan);
  choose_unit(plan, conv.precision);
  return NULL;
}

// --- cutting ----------------------------------------------------------------------------------------

static int64_t axis_places(const vtpu_conv_plan_t* plan, const vtpu_conv_phase_t* phase, int axis) {
  return axis == VTPU_CONV_BATCH ? plan->batch : phase->axis[axis - VTPU_CONV_SPATIAL].out_count;
}

// Elements of a stage along one spatial dimension.
static int64_t stage_row(const vtpu_conv_plan_t* plan, const vtpu_conv_phase_t* phase, int d) {
  const vtpu_conv_axis_t* axis = &phase->axis[d];
  int64_t row = (phase->tile[VTPU_CONV_SPATIAL + d] - 1) * axis->in_step +
                (axis->tap_count > 0 ? axis->tap_count - 1 : 0) * axis->in_tap + 1;
  bool is_folded = plan->fold > 1 && plan->fold_axis == VTPU_CONV_SPATIAL + d;
  return is_folded ? vtpu_ceil_div(row, plan->fold) * plan->fold : row;
}

// Elements of a stage of one feature.
static int64_t stage_plane(const vtpu_conv_plan_t* plan, const vtpu_conv_phase_t* phase) {
  int64_t plane = phase->tile[VTPU_CONV_BATCH];
  for (int d = 0; d < plan->spatial_count; d++)
    plane *= stage_row(plan, phase, d);
  return plane;
}

// Regions: whole inner axes until there are enough positions, then a stretch of the next axis.
static void phase_cut(const vtpu_conv_plan_t* plan, vtpu_conv_phase_t* phase) {
  int axes = plan->spatial_count + 1;
  int64_t room = POSITIONS_WANTED;
  if (plan->unit && plan->outputs * room > RESULTS_WANTED) room /= 2;
  phase->region_count = 1;
  for (int i = axes - 1; i >= 0; i--) {
    int axis = plan->out_order[i];
    int64_t places = axis_places(plan, phase, axis);
    int64_t tile = places < room ? places : room;
    if (tile < 1) tile = 1;
    tile = vtpu_ceil_div(places > 0 ? places : 1, vtpu_ceil_div(places > 0 ? places : 1, tile));
    phase->tile[axis] = tile;
    room = room / tile;
  }
  // A stage too large even for one feature shrinks by its outermost axis that has an extent.
  for (int i = 0; i < axes; i++) {
    int axis = plan->out_order[i];
    while (phase->tile[axis] > 1 &&
           stage_plane(plan, phase) * (int64_t)plan->stage_size > 4 * STAGE_WANTED)
      phase->tile[axis] = vtpu_ceil_div(phase->tile[axis], 2);
  }
  for (int i = 0; i < axes; i++) {
    int axis = plan->out_order[i];
    phase->tile_count[axis] = vtpu_ceil_div(axis_places(plan, phase, axis), phase->tile[axis]);
    phase->region_count *= phase->tile_count[axis];
  }
}

static int64_t phase_positions(const vtpu_conv_plan_t* plan, const vtpu_conv_phase_t* phase) {
  int64_t positions = phase->tile[VTPU_CONV_BATCH];
  for (int d = 0; d < plan->spatial_count; d++)
    positions *= phase->tile[VTPU_CONV_SPATIAL + d];
  return positions;
}

static void features_cut(vtpu_conv_plan_t* plan, int64_t regions, double flops) {
  int64_t plane = 1;
  for (int64_t p = 0; p < plan->phase_count; p++) {
    int64_t size = stage_plane(plan, &plan->phases[p]);
    if (size > plane) plane = size;
    if (plan->fold == 1) continue;
    int64_t row = stage_row(plan, &plan->phases[p], plan->fold_axis - VTPU_CONV_SPATIAL);
    if (row > plan->stage_row_max) plan->stage_row_max = row;
  }
  int64_t wanted = STAGE_WANTED / (plane * (int64_t)plan->stage_size);
  plan->split_count = 1;
  if (regions > 0 && regions < ITEMS_WANTED && flops > 4e6) {
    plan->split_count = vtpu_ceil_div(ITEMS_WANTED, regions);
    // A sum of parts must stay cheap beside the parts.
    while (plan->split_count > 1 && plan->split_count * 4 > plan->features)
      plan->split_count /= 2;
  }
  plan->feature_chunk = wanted < 1 ? 1 : wanted;
  int64_t share = vtpu_ceil_div(plan->features, plan->split_count);
  if (plan->feature_chunk > share) plan->feature_chunk = share;
  if (plan->feature_chunk < 1) plan->feature_chunk = 1;
  plan->feature_chunks = vtpu_ceil_div(plan->features, plan->feature_chunk);
  if (plan->split_count > plan->feature_chunks)
    plan->split_count = plan->feature_chunks > 0 ? plan->feature_chunks : 1;
  plan->stage_max = plane * plan->feature_chunk;
}

// True if BLAS can read the weights of a chunk where they lie: no conversion, and K is one stride.
static bool weights_are_plain(const vtpu_conv_plan_t* plan) {
  if (plan->phase_count != 1 || plan->kernel_part_count != 1 ||
      !vtpu_widen_is_copy(plan->kernel_dtype, plan->compute, plan->kernel_parts[0]))
    return false;
  int64_t stride = 0, size = 1;  // of the walk over K so far, innermost axis first
  for (int i = plan->spatial_count + 1; i >= 0; i--) {
    int a = plan->in_order[i];
    if (a == VTPU_CONV_BATCH) continue;
    int64_t count = a == VTPU_CONV_FEATURE ? plan->feature_chunk
                                           : plan->phases[0].axis[a - VTPU_CONV_SPATIAL].tap_count;
    if (count == 1) continue;
    if (a != VTPU_CONV_FEATURE && (plan->reversal[a - VTPU_CONV_SPATIAL] ||
                                   plan->phases[0].axis[a - VTPU_CONV_SPATIAL].tap_step != 1))
      return false;
    if (size > 1 && plan->kernel.stride[a] != size * stride) return false;
    if (size == 1) stride = plan->kernel.stride[a];
    size *= count;
  }
  int64_t ld = plan->weight_k_inner ? plan->kernel.stride[VTPU_CONV_BATCH] : stride;
  if (plan->weight_k_inner && size > 1 && stride != 1) return false;
  return ld <= INT32_MAX && size > 0;
}

static size_t bytes_of(const vtpu_conv_plan_t* plan, int64_t elements) {
  return vtpu_scratch_align((size_t)elements * plan->element_size);
}

// Bytes of the strips of a block of K.
static size_t strip_bytes(const vtpu_conv_plan_t* plan, int64_t free_count) {
  return (size_t)(vtpu_strip_count(free_count) * vtpu_strip_stride(plan->unit, plan->k_block));
}

// True if the output is dense and a region's positions are one stretch of it (of each batch element).
static bool regions_are_stretches(const vtpu_conv_plan_t* plan) {
  const vtpu_conv_phase_t* phase = &plan->phases[0];
  int64_t stride = plan->result_position_inner ? 1 : plan->outputs * plan->groups;
  bool is_whole = true;  // all axes further in are
  if (plan->phase_count != 1) return false;
  for (int i = plan->spatial_count; i >= 0; i--) {
    int axis = plan->out_order[i];
    if (axis == VTPU_CONV_BATCH && plan->result_position_inner) {
      if (plan->out.stride[VTPU_CONV_FEATURE] != stride && plan->outputs * plan->groups > 1)
        return false;
      stride *= plan->outputs * plan->groups;
    }
    if (plan->out.size[axis] > 1 && plan->out.stride[axis] != stride) return false;
    if (!is_whole && phase->tile[axis] > 1) return false;
    is_whole &= phase->tile[axis] == axis_places(plan, phase, axis);
    stride *= axis_places(plan, phase, axis);
  }
  return plan->out_order[0] == VTPU_CONV_BATCH;
}

static void epilogue_tell(vtpu_conv_plan_t* plan, vtpu_epilogue_t* e) {
  if (!regions_are_stretches(plan)) return;
  const vtpu_conv_phase_t* phase = &plan->phases[0];
  int64_t places = 1, tile = 1, features = plan->outputs * plan->groups;
  for (int d = 0; d < plan->spatial_count; d++) {
    places *= plan->out.size[VTPU_CONV_SPATIAL + d];
    tile *= phase->tile[VTPU_CONV_SPATIAL + d];
  }
  e->is_taken = true;
  e->element_size = plan->out_size;
  e->lane_count = plan->lane_count;
  if (plan->result_position_inner) {
    e->rows = plan->batch * features, e->cols = places;
    e->row_align = plan->outputs, e->col_align = tile;
    e->ld = plan->position_max;
  } else {
    e->rows = plan->batch * places, e->cols = features;
    e->row_align = tile == places ? places * phase->tile[VTPU_CONV_BATCH] : vtpu_gcd(tile, places);
    e->col_align = e->ld = plan->outputs;
  }
  plan->epilogue = e;
}

static void layout_lane(vtpu_conv_plan_t* plan) {
  size_t lane = vtpu_scratch_align(sizeof(vtpu_conv_tables_t));  // at the lane's start
  // Per position and per k: an offset and a run, in the stage and in the other array.
  int64_t entries = 2 * (plan->k_max + plan->position_max);
  size_t entry = sizeof(int64_t) + sizeof(int32_t);
  if (plan->unit) entry += sizeof(vtpu_strip_piece_t);  // the counts of pieces fit beside
  plan->table_offset = vtpu_scratch_take(&lane, (size_t)entries * entry + 1024);
  plan->stage_part_size = vtpu_scratch_align((size_t)plan->stage_max * plan->stage_size);
  plan->stage_offset =
      vtpu_scratch_take(&lane, plan->stage_part_size * (size_t)plan->in_part_count);
  if (!plan->is_direct) {
    plan->panel_part_size = plan->unit ? strip_bytes(plan, plan->position_max)
                                       : bytes_of(plan, plan->k_block * plan->position_max);
    plan->panel_offset =
        vtpu_scratch_take(&lane, plan->panel_part_size * (size_t)plan->in_part_count);
  }
  if (!plan->is_packed && !plan->is_plain) {
    int64_t k = plan->is_direct ? plan->k_max : plan->k_block;
    plan->weight_part_size =
        plan->unit ? strip_bytes(plan, plan->outputs) : bytes_of(plan, k * plan->outputs);
    plan->weight_offset =
        vtpu_scratch_take(&lane, plan->weight_part_size * (size_t)plan->kernel_part_count);
  }
  int64_t row = plan->k_max > plan->position_max ? plan->k_max : plan->position_max;
  if (plan->outputs > row) row = plan->outputs;
  if (plan->stage_row_max > row) row = plan->stage_row_max;
  plan->temp_offset = vtpu_scratch_take(&lane, (size_t)row * 16);
  plan->result_part_size = bytes_of(plan, plan->outputs * plan->position_max);
  bool has_low = plan->in_part_count + plan->kernel_part_count > 2;
  plan->result_offset = vtpu_scratch_take(&lane, plan->result_part_size * (has_low ? 2 : 1));
  if (plan->epilogue && !plan->narrow_is_copy)
    plan->rounded_offset =
        vtpu_scratch_take(&lane, (size_t)(plan->outputs * plan->position_max) * plan->out_size);
  plan->lane_size = lane;
}

static void layout_scratch(vtpu_kernel_t* kernel, vtpu_conv_plan_t* plan) {
  size_t offset = 0;
  if (plan->is_packed) {
    int64_t size = plan->packed_group_size * plan->groups;
    plan->packed_part_size = plan->unit ? vtpu_scratch_align((size_t)size) : bytes_of(plan, size);
    plan->packed_offset =
        vtpu_scratch_take(&offset, plan->packed_part_size * (size_t)plan->kernel_part_count);
  }
  layout_lane(plan);
  if (plan->split_count > 1) {
    plan->partial_size = plan->result_part_size;
    plan->partial_offset =
        vtpu_scratch_take(&offset, plan->partial_size * (size_t)plan->item_count);
  }
  plan->lanes_offset = offset;
  kernel->scratch_size = offset + plan->lane_size * (size_t)plan->lane_count;
}

// Places of the packed weights of each phase; returns the bytes of one part of all groups.
static double packed_layout(vtpu_conv_plan_t* plan) {
  for (int64_t p = 0; p < plan->phase_count; p++) {
    vtpu_conv_phase_t* phase = &plan->phases[p];
    phase->weight_offset = (size_t)plan->packed_group_size;
    if (!plan->unit) {
      plan->packed_group_size += phase->taps * plan->features * plan->outputs;
      continue;
    }
    phase->strip_stride = vtpu_strip_stride(plan->unit, phase->taps * plan->feature_chunk);
    phase->strip_chunk = phase->strip_stride * vtpu_strip_count(plan->outputs);
    plan->packed_group_size += phase->strip_chunk * plan->feature_chunks;
  }
  double size = (double)plan->packed_group_size * (double)plan->groups;
  return plan->unit ? size : size * (double)plan->element_size;
}

void vtpu_conv_plan_cut(vtpu_kernel_t* kernel, vtpu_conv_plan_t* plan) {
  int64_t regions = 0, taps_max = 0;
  double products = 0;
  for (int64_t p = 0; p < plan->phase_count; p++) {
    vtpu_conv_phase_t* phase = &plan->phases[p];
    phase_cut(plan, phase);
    if (phase->taps > taps_max) taps_max = phase->taps;
    regions += phase->region_count;
    int64_t positions = phase_positions(plan, phase);
    if (positions > plan->position_max) plan->position_max = positions;
    products += (double)(positions * phase->region_count) * (double)(phase->taps * plan->features);
  }
  kernel->flops = 2.0 * products * (double)plan->outputs * (double)plan->groups;
  features_cut(plan, regions * plan->groups, kernel->flops);
  int64_t items = 0;
  for (int64_t p = 0; p < plan->phase_count; p++) {
    plan->phases[p].first_item = items;
    items += plan->phases[p].region_count * plan->groups * plan->split_count;
  }
  plan->item_count = items;
  plan->k_max = taps_max * plan->feature_chunk;
  if (plan->k_max < 1) plan->k_max = 1;
  plan->k_block = PANEL_WANTED / (plan->position_max * (int64_t)plan->element_size);
  if (plan->k_block < 64) plan->k_block = 64;
  if (plan->unit) plan->k_block = STRIP_TILES * plan->unit->depth;
  if (plan->k_block > plan->k_max) plan->k_block = plan->k_max;
  double packed = packed_layout(plan);
  plan->is_plain = !plan->unit && weights_are_plain(plan);
  plan->is_packed =
      !plan->is_plain && packed <= PACKED_MAX && (plan->unit || regions > plan->phase_count);
  int passes = plan->in_part_count + plan->kernel_part_count - 1;
  double rate = plan->unit                          ? plan->unit->flops_per_ns
                : plan->is_direct                   ? 4
                : plan->compute == VTPU_COMPUTE_F32 ? 50
                                                    : 20;
  double staged = products * (double)plan->groups;  // patches written
  kernel->cost = 300 + items * 500 + (int64_t)(kernel->flops * passes / rate + staged / 2);
  plan->lane_count = vtpu_lane_count(items, kernel->cost);
  if (kernel->epilogue) epilogue_tell(plan, kernel->epilogue);
  layout_scratch(kernel, plan);
}
