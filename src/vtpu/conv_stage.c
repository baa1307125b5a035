// One item of a convolution: where its region lies, the offset tables of its matrices, and the stage,
// the rounded copy of the input with zeros around it.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/conv.h"

void vtpu_conv_region_find(const vtpu_conv_plan_t* plan, int64_t item, vtpu_conv_region_t* out) {
  int64_t low = 0, high = plan->phase_count - 1;
  while (low < high) {  // the last phase that starts at or before the item
    int64_t middle = (low + high + 1) / 2;
    if (plan->phases[middle].first_item <= item) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const vtpu_conv_phase_t* phase = &plan->phases[low];
  int64_t rest = item - phase->first_item;
  out->phase = phase;
  out->split = rest % plan->split_count;
  rest /= plan->split_count;
  for (int i = plan->spatial_count; i >= 0; i--) {
    int axis = plan->out_order[i];
    int64_t places =
        axis == VTPU_CONV_BATCH ? plan->batch : phase->axis[axis - VTPU_CONV_SPATIAL].out_count;
    out->first[axis] = rest % phase->tile_count[axis] * phase->tile[axis];
    int64_t left = places - out->first[axis];
    out->count[axis] = left < phase->tile[axis] ? left : phase->tile[axis];
    rest /= phase->tile_count[axis];
  }
  out->group = rest;
}

int64_t vtpu_conv_out_offset(const vtpu_conv_plan_t* plan, const vtpu_conv_region_t* region) {
  int64_t offset = region->group * plan->out.group_offset +
                   region->first[VTPU_CONV_BATCH] * plan->out.stride[VTPU_CONV_BATCH];
  for (int d = 0; d < plan->spatial_count; d++) {
    const vtpu_conv_axis_t* axis = &region->phase->axis[d];
    int64_t place = axis->out_first + region->first[VTPU_CONV_SPATIAL + d] * axis->out_step;
    offset += place * plan->out.stride[VTPU_CONV_SPATIAL + d];
  }
  return offset;
}

// --- tables -----------------------------------------------------------------------------------------

typedef struct walk {
  int rank;
  int64_t size[VTPU_CONV_AXES], stride[VTPU_CONV_AXES];
  int64_t fold[VTPU_CONV_AXES];  // 1: place i lies at i * stride
  int64_t part;                  // folded: at (i * stride % fold) * part + i * stride / fold
  int64_t base;                  // of the first place
} walk_t;

static void walk_add(walk_t* walk, int64_t size, int64_t stride, int64_t fold) {
  walk->size[walk->rank] = size;
  walk->stride[walk->rank] = stride;
  walk->fold[walk->rank++] = fold;
}

static int64_t walk_offset(const walk_t* walk, int d, int64_t i) {
  int64_t place = i * walk->stride[d], fold = walk->fold[d];
  return fold == 1 ? place : place % fold * walk->part + place / fold;
}

// Row-major offsets of a walk as an axis: a stride where one will do, else a table in `memory`, which
// is advanced past it.
static vtpu_axis_t walk_axis(const walk_t* walk, int64_t count, char** memory) {
  int64_t* table = (int64_t*)*memory;
  int64_t at[VTPU_CONV_AXES] = {0}, part[VTPU_CONV_AXES] = {0}, offset = walk->base;
  bool is_even = walk->base == 0;
  for (int64_t i = 0; i < count; i++) {
    table[i] = offset;
    if (i > 0) is_even &= offset == i * table[1];
    for (int d = walk->rank - 1; d >= 0; d--) {
      bool carries = ++at[d] == walk->size[d];
      if (carries) at[d] = 0;
      int64_t next = walk_offset(walk, d, at[d]);
      offset += next - part[d];
      part[d] = next;
      if (!carries) break;
    }
  }
  if (is_even) return (vtpu_axis_t){.count = count, .stride = count > 1 ? table[1] : 1};
  int32_t* run = (int32_t*)(table + count);
  int32_t even_run = vtpu_axis_runs(table, count, run);
  *memory = (char*)(run + count + (count & 1));
  return (vtpu_axis_t){.count = count, .table = table, .run = run, .even_run = even_run};
}

// Extents and strides of the stage, in the memory order of the input.
static void stage_shape(const vtpu_conv_plan_t* plan, vtpu_conv_tables_t* tables) {
  tables->extent[VTPU_CONV_BATCH] = tables->counts[VTPU_CONV_BATCH];
  tables->extent[VTPU_CONV_FEATURE] = tables->counts[VTPU_CONV_FEATURE];
  for (int d = 0; d < plan->spatial_count; d++) {
    const vtpu_conv_axis_t* axis = &tables->phase->axis[d];
    tables->extent[VTPU_CONV_SPATIAL + d] =
        (tables->counts[VTPU_CONV_SPATIAL + d] - 1) * axis->in_step +
        (axis->tap_count > 0 ? axis->tap_count - 1 : 0) * axis->in_tap + 1;
  }
  int64_t stride = 1;
  for (int i = plan->spatial_count + 1; i >= 0; i--) {
    int axis = plan->in_order[i];
    tables->stage_stride[axis] = stride;
    bool is_folded = plan->fold > 1 && axis == plan->fold_axis;
    if (is_folded) tables->fold_part = (tables->extent[axis] + plan->fold - 1) / plan->fold;
    stride *= is_folded ? tables->fold_part * plan->fold : tables->extent[axis];
  }
}

// The folded axis is innermost, its stride 1.
static int64_t fold_of(const vtpu_conv_plan_t* plan, int axis) {
  return axis == plan->fold_axis ? plan->fold : 1;
}

// The taps along one axis. Of a reversed window either the weights are walked backwards or, where that
// breaks no run, the stage, so that the weights stay contiguous.
static void k_taps(const vtpu_conv_plan_t* plan, vtpu_conv_tables_t* tables, int a, walk_t* stage,
                   walk_t* weight) {
  const vtpu_conv_axis_t* axis = &tables->phase->axis[a - VTPU_CONV_SPATIAL];
  int64_t stride = plan->kernel.stride[a] * axis->tap_step, count = axis->tap_count;
  int64_t step = axis->in_tap * tables->stage_stride[a], fold = fold_of(plan, a);
  int64_t first = axis->tap_first;
  if (plan->reversal[a - VTPU_CONV_SPATIAL]) {
    first = plan->kernel.size[a] - 1 - first;
    bool flips = plan->position_inner && fold == 1 && count > 1;
    if (flips) {
      first -= (count - 1) * axis->tap_step;
      stage->base += (count - 1) * step;
      step = -step;
    } else {
      stride = -stride;
    }
  }
  tables->weight_base += first * plan->kernel.stride[a];
  walk_add(stage, count, step, fold);
  walk_add(weight, count, stride, 1);
}

static void k_axes(const vtpu_conv_plan_t* plan, vtpu_conv_tables_t* tables, char** memory) {
  walk_t stage = {.part = tables->fold_part}, weight = {0};
  tables->k_count = tables->counts[VTPU_CONV_FEATURE] * tables->phase->taps;
  tables->weight_base = 0;
  for (int i = 0; i < plan->spatial_count + 2; i++) {
    int a = plan->in_order[i];
    if (a == VTPU_CONV_BATCH) continue;
    if (a == VTPU_CONV_FEATURE) {
      walk_add(&stage, tables->counts[a], tables->stage_stride[a], 1);
      walk_add(&weight, tables->counts[a], plan->kernel.stride[a], 1);
      continue;
    }
    k_taps(plan, tables, a, &stage, &weight);
  }
  tables->k = walk_axis(&stage, tables->k_count, memory);
  tables->weight_k = walk_axis(&weight, tables->k_count, memory);
}

static void position_axes(const vtpu_conv_plan_t* plan, vtpu_conv_tables_t* tables, char** memory) {
  walk_t stage = {.part = tables->fold_part}, out = {0};
  tables->position_count = 1;
  for (int i = 0; i <= plan->spatial_count; i++) {
    int a = plan->out_order[i];
    int64_t step = 1, out_step = 1;
    if (a != VTPU_CONV_BATCH) {
      step = tables->phase->axis[a - VTPU_CONV_SPATIAL].in_step;
      out_step = tables->phase->axis[a - VTPU_CONV_SPATIAL].out_step;
    }
    walk_add(&stage, tables->counts[a], step * tables->stage_stride[a], fold_of(plan, a));
    walk_add(&out, tables->counts[a], out_step * plan->out.stride[a], 1);
    tables->position_count *= tables->counts[a];
  }
  tables->position = walk_axis(&stage, tables->position_count, memory);
  tables->out = walk_axis(&out, tables->position_count, memory);
}

// Pieces of an axis, unless it is contiguous; advances the memory past them.
static bool pieces_build(const vtpu_conv_plan_t* plan, const vtpu_axis_t* axis, bool is_k,
                         char** memory, vtpu_strip_pieces_t* out) {
  if (!axis->table && (axis->stride == 1 || axis->count == 1)) return false;
  int step = vtpu_strip_step(plan->unit, is_k);
  vtpu_strip_piece_t* piece = (vtpu_strip_piece_t*)*memory;
  int32_t* first = (int32_t*)(piece + vtpu_strip_piece_max(axis->count));
  vtpu_strip_pieces_make(axis, step, first, piece);
  *out = (vtpu_strip_pieces_t){first, piece};
  int64_t entries = axis->count / step + 2;
  *memory = (char*)(first + entries + (entries & 1));
  return true;
}

void vtpu_conv_tables_build(const vtpu_conv_plan_t* plan, const vtpu_conv_region_t* region,
                            int64_t features, char* lane, vtpu_conv_tables_t* tables) {
  bool is_same = tables->phase == region->phase && tables->counts[VTPU_CONV_FEATURE] == features;
  for (int i = 0; i <= plan->spatial_count && is_same; i++)
    is_same = tables->counts[plan->out_order[i]] == region->count[plan->out_order[i]];
  if (is_same) return;
  tables->phase = region->phase;
  for (int i = 0; i <= plan->spatial_count; i++)
    tables->counts[plan->out_order[i]] = region->count[plan->out_order[i]];
  tables->counts[VTPU_CONV_FEATURE] = features;
  stage_shape(plan, tables);
  char* memory = lane + plan->table_offset;
  k_axes(plan, tables, &memory);
  position_axes(plan, tables, &memory);
  if (!plan->unit) return;
  const vtpu_axis_t* inner = plan->position_inner ? &tables->position : &tables->k;
  tables->has_pieces = pieces_build(plan, inner, !plan->position_inner, &memory, &tables->pieces);
  tables->has_weight_pieces = plan->weight_k_inner && pieces_build(plan, &tables->weight_k, true,
                                                                   &memory, &tables->weight_pieces);
}

// --- stage ------------------------------------------------------------------------------------------

// A copy with margins: axis i of the stage takes `low` zeros, then `valid` elements, then zeros.
typedef struct margins {
  int rank, left;  // axes, axes to come
  int64_t low[VTPU_CONV_AXES], valid[VTPU_CONV_AXES], extent[VTPU_CONV_AXES];
  int64_t in_stride[VTPU_CONV_AXES], out_stride[VTPU_CONV_AXES];
  size_t in_size, out_size;
  vtpu_convert_fn_t widen;
  int64_t fold, fold_part;  // of the innermost axis
  char* temp;               // with fold > 1: one row of it
} margins_t;

// Appends an axis, outermost first, merging it with the one before when neither has margins inside.
static void margins_add(margins_t* m, int64_t low, int64_t valid, int64_t extent, int64_t in_stride,
                        int64_t out_stride) {
  int i = m->rank;
  bool is_last = --m->left == 0;
  bool is_full = low == 0 && valid == extent && !(is_last && m->fold > 1);
  if (i > 0 && is_full && m->in_stride[i - 1] == extent * in_stride) {
    i--;
    m->low[i] *= extent, m->valid[i] *= extent, m->extent[i] *= extent;
  } else {
    m->low[i] = low, m->valid[i] = valid, m->extent[i] = extent;
    m->rank++;
  }
  m->in_stride[i] = in_stride;
  m->out_stride[i] = out_stride;
}

enum { PLANE_ROW = 256 };  // elements

// A row of the folded axis.
static void folded_copy(const margins_t* m, int level, const char* in, char* out) {
  int64_t low = m->low[level], valid = m->valid[level], size = (int64_t)m->out_size;
  memset(out, 0, (size_t)(m->fold * m->fold_part) * m->out_size);
  m->widen(in, m->temp, valid);
  for (int64_t residue = 0; residue < m->fold; residue++) {
    int64_t first = (residue - low % m->fold + m->fold) % m->fold;  // the first element it takes
    int64_t count = first < valid ? (valid - first + m->fold - 1) / m->fold : 0;
    vtpu_box_t box = {
        .rank = 1, .size = {count}, .in_stride = {m->fold * size}, .out_stride = {size}};
    char* to = out + (residue * m->fold_part + (low + first) / m->fold) * size;
    const vtpu_exec_t inline_exec = {0};
    if (count > 0) vtpu_box_copy(&box, m->out_size, &inline_exec, m->temp + first * size, to);
  }
}

// A plane of short rows with margins: zeros at once, then the rows.
static void plane_copy(const margins_t* m, int level, const char* in, char* out) {
  size_t block = (size_t)m->out_stride[level] * m->out_size;
  memset(out, 0, (size_t)m->extent[level] * block);
  out += (size_t)m->low[level] * block + (size_t)m->low[level + 1] * m->out_size;
  for (int64_t i = 0; i < m->valid[level]; i++, out += block)
    m->widen(in + i * m->in_stride[level] * (int64_t)m->in_size, out, m->valid[level + 1]);
}

static void margins_copy(const margins_t* m, int level, const char* in, char* out) {
  size_t block = (size_t)m->out_stride[level] * m->out_size;
  int64_t low = m->low[level], valid = m->valid[level];
  if (level + 1 == m->rank && m->fold > 1) {
    folded_copy(m, level, in, out);
    return;
  }
  bool is_plane = level + 2 == m->rank && m->fold == 1;
  if (is_plane && m->valid[level + 1] < m->extent[level + 1] && m->extent[level + 1] <= PLANE_ROW) {
    plane_copy(m, level, in, out);
    return;
  }
  memset(out, 0, (size_t)low * block);
  out += (size_t)low * block;
  if (level + 1 < m->rank) {
    for (int64_t i = 0; i < valid; i++)
      margins_copy(m, level + 1, in + i * m->in_stride[level] * (int64_t)m->in_size,
                   out + (size_t)i * block);
  } else {
    m->widen(in, out, valid);  // the innermost axis of a dense array has stride 1
  }
  out += (size_t)valid * block;
  memset(out, 0, (size_t)(m->extent[level] - low - valid) * block);
}

void vtpu_conv_stage(const vtpu_conv_plan_t* plan, const vtpu_conv_region_t* region,
                     const vtpu_conv_tables_t* tables, int64_t first_feature, const void* in,
                     char* lane) {
  margins_t m = {.in_size = plan->in_size,
                 .out_size = plan->stage_size,
                 .fold = plan->fold,
                 .left = plan->spatial_count + 2,
                 .fold_part = tables->fold_part,
                 .temp = lane + plan->temp_offset};
  int64_t offset = region->group * plan->in.group_offset;
  for (int i = 0; i < plan->spatial_count + 2; i++) {
    int a = plan->in_order[i];
    int64_t low = 0, extent = tables->extent[a], valid = extent, first;
    if (a >= VTPU_CONV_SPATIAL) {
      const vtpu_conv_axis_t* axis = &region->phase->axis[a - VTPU_CONV_SPATIAL];
      first = axis->in_base + region->first[a] * axis->in_step;
      low = first < 0 ? -first : 0;
      if (low > extent) low = extent;
      int64_t end = plan->in.size[a] - first;
      if (end > extent) end = extent;
      valid = end > low ? end - low : 0;
      if (valid > 0) first += low;
    } else {
      first = a == VTPU_CONV_BATCH ? region->first[VTPU_CONV_BATCH] : first_feature;
    }
    if (valid > 0) offset += first * plan->in.stride[a];
    margins_add(&m, low, valid, extent, plan->in.stride[a], tables->stage_stride[a]);
  }
  for (int part = 0; part < plan->in_part_count; part++) {
    char* out = lane + plan->stage_offset + plan->stage_part_size * (size_t)part;
    // Rows are short: they are rounded together, with the zeros between them.
    bool rounds_later = plan->is_direct && plan->in_dtype == TPT_F32 && plan->fold == 1 &&
                        plan->in_parts[part] == VTPU_PART_HIGH;
    m.widen = rounds_later ? vtpu_widen_fn(TPT_F32, VTPU_COMPUTE_F32, VTPU_PART_EXACT)
                           : plan->stage_fns[part];
    margins_copy(&m, 0, (const char*)in + offset * (int64_t)plan->in_size, out);
    if (rounds_later) vtpu_round_to_bf16((float*)out, (float*)out, m.extent[0] * m.out_stride[0]);
  }
}
