// convolution: packs the weights, then runs the items of the plan: stage, panel, product, result. The
// precision rules are those of dot_general: operands are rounded before they are multiplied.
#include "vtpu/conv.h"

#include <string.h>

#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/monoid.h"

tpt_status_t vtpu_conv_prepare(vtpu_kernel_t* kernel) {
  vtpu_conv_plan_t* plan = tpt_arena_calloc(kernel->arena, 1, sizeof(*plan));
  if (!plan) return tpt_arena_status(kernel->arena);
  kernel->state = plan;
  TPT_TRY(vtpu_conv_plan_make(kernel, plan));
  vtpu_conv_plan_cut(kernel, plan);
  return tpt_arena_status(kernel->arena);
}

// A matrix in memory; is_k_inner: rows run along K.
typedef struct matrix {
  const void* data;
  int ld;
  bool is_k_inner;
} matrix_t;

// --- weights ----------------------------------------------------------------------------------------

static vtpu_panel_t weight_panel(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                                 const vtpu_conv_tables_t* tables, const vtpu_conv_chunk_t* chunk,
                                 int part) {
  const vtpu_conv_plan_t* plan = run->plan;
  vtpu_axis_t outputs = {.count = plan->outputs, .stride = plan->kernel.stride[VTPU_CONV_BATCH]};
  int64_t offset = region->group * plan->kernel.group_offset + tables->weight_base +
                   chunk->first * plan->kernel.stride[VTPU_CONV_FEATURE];
  vtpu_panel_t panel = {.element_size = plan->kernel_size, .out_size = plan->element_size};
  panel.data = run->kernel + offset * (int64_t)plan->kernel_size;
  panel.row = plan->weight_k_inner ? outputs : tables->weight_k;
  panel.col = plan->weight_k_inner ? tables->weight_k : outputs;
  if (!vtpu_widen_is_copy(plan->kernel_dtype, plan->compute, plan->kernel_parts[part]))
    panel.widen = vtpu_widen_fn(plan->kernel_dtype, plan->compute, plan->kernel_parts[part]);
  return panel;
}

// Where the packed weights of a chunk start.
static char* packed_at(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                       const vtpu_conv_chunk_t* chunk, int part) {
  const vtpu_conv_plan_t* plan = run->plan;
  int64_t offset = region->group * plan->packed_group_size + (int64_t)region->phase->weight_offset +
                   plan->outputs * region->phase->taps * chunk->first;
  return run->scratch + plan->packed_offset + plan->packed_part_size * (size_t)part +
         offset * (int64_t)plan->element_size;
}

// Rows of packed weights that make one item of packing.
static int64_t pack_rows(int64_t cols) {
  return cols > 0 && 16384 / cols > 1 ? 16384 / cols : 1;
}

static int64_t pack_blocks(const vtpu_conv_plan_t* plan) {
  int64_t k = plan->k_max;
  int64_t rows = plan->weight_k_inner ? plan->outputs : k;
  int64_t cols = plan->weight_k_inner ? k : plan->outputs;
  int64_t block = pack_rows(cols);
  return (rows + block - 1) / block;
}

static void pack_item(void* arg, int64_t item, int lane_number) {
  const vtpu_conv_work_t* run = arg;
  const vtpu_conv_plan_t* plan = run->plan;
  char* lane = vtpu_conv_lane(run, lane_number);
  int64_t blocks = pack_blocks(plan), block = item % blocks, rest = item / blocks;
  vtpu_conv_region_t region;
  vtpu_conv_chunk_t chunk = vtpu_conv_weights_find(plan, rest, lane, &region);
  vtpu_conv_tables_t* tables = (vtpu_conv_tables_t*)lane;
  for (int part = 0; part < plan->kernel_part_count; part++) {
    vtpu_panel_t panel = weight_panel(run, &region, tables, &chunk, part);
    // The block length follows from the longest K, so that every chunk has the same blocks.
    int64_t step = pack_rows(plan->weight_k_inner ? plan->k_max : plan->outputs);
    vtpu_block_t rows = {.row = block * step, .col_count = (int)panel.col.count};
    int64_t left = panel.row.count - rows.row;
    if (left <= 0 || rows.col_count == 0) continue;
    rows.row_count = (int)(left < step ? left : step);
    char* to = packed_at(run, &region, &chunk, part) +
               rows.row * panel.col.count * (int64_t)plan->element_size;
    vtpu_panel_pack(&panel, &rows, lane + plan->temp_offset, to);
  }
}

static matrix_t weights_of(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                           const vtpu_conv_chunk_t* chunk, int part, char* lane) {
  const vtpu_conv_plan_t* plan = run->plan;
  const vtpu_conv_tables_t* tables = (const vtpu_conv_tables_t*)lane;
  matrix_t matrix = {.is_k_inner = plan->weight_k_inner};
  int64_t size = (int64_t)plan->element_size;
  if (plan->is_packed) {
    int64_t ld = plan->weight_k_inner ? tables->k_count : plan->outputs;
    matrix.data = packed_at(run, region, chunk, part) +
                  chunk->k * (plan->weight_k_inner ? 1 : plan->outputs) * size;
    matrix.ld = ld > 0 ? (int)ld : 1;
    return matrix;
  }
  vtpu_panel_t panel = weight_panel(run, region, tables, chunk, part);
  vtpu_block_t block = {.row_count = (int)panel.row.count, .col_count = (int)panel.col.count};
  if (plan->weight_k_inner) {
    block.col = chunk->k, block.col_count = (int)chunk->k_count;
  } else {
    block.row = chunk->k, block.row_count = (int)chunk->k_count;
  }
  matrix.ld = block.col_count > 0 ? block.col_count : 1;
  if (plan->is_plain) {
    matrix.data = (const char*)panel.data + (block.row * panel.row.stride + block.col) * size;
    if (block.row_count > 1) matrix.ld = (int)panel.row.stride;
    return matrix;
  }
  char* to = lane + plan->weight_offset + plan->weight_part_size * (size_t)part;
  vtpu_panel_pack(&panel, &block, lane + plan->temp_offset, to);
  matrix.data = to;
  return matrix;
}

// --- patches ----------------------------------------------------------------------------------------

static bool is_matrix(const vtpu_axis_t* outer, const vtpu_axis_t* inner) {
  return !inner->table && (inner->stride == 1 || inner->count == 1) && !outer->table &&
         (outer->count == 1 || outer->stride >= inner->count) && outer->stride <= INT32_MAX;
}

static matrix_t patches_of(const vtpu_conv_work_t* run, const vtpu_conv_chunk_t* chunk, int part,
                           char* lane) {
  const vtpu_conv_plan_t* plan = run->plan;
  const vtpu_conv_tables_t* t = (const vtpu_conv_tables_t*)lane;
  char* stage = lane + plan->stage_offset + plan->stage_part_size * (size_t)part;
  matrix_t matrix = {.is_k_inner = is_matrix(&t->position, &t->k)};
  if (matrix.is_k_inner || is_matrix(&t->k, &t->position)) {
    const vtpu_axis_t* outer = matrix.is_k_inner ? &t->position : &t->k;
    int64_t inner = matrix.is_k_inner ? t->k_count : t->position_count;
    matrix.data = stage + vtpu_axis_offset(&t->k, chunk->k) * (int64_t)plan->element_size;
    matrix.ld = (int)(outer->count > 1 ? outer->stride : inner > 0 ? inner : 1);
    return matrix;
  }
  vtpu_panel_t panel = {
      .data = stage, .element_size = plan->element_size, .out_size = plan->element_size};
  panel.row = plan->position_inner ? t->k : t->position;
  panel.col = plan->position_inner ? t->position : t->k;
  vtpu_block_t block = {.row_count = (int)t->position_count, .col_count = (int)t->position_count};
  if (plan->position_inner) {
    block.row = chunk->k, block.row_count = (int)chunk->k_count;
  } else {
    block.col = chunk->k, block.col_count = (int)chunk->k_count;
  }
  char* to = lane + plan->panel_offset + plan->panel_part_size * (size_t)part;
  vtpu_panel_pack(&panel, &block, lane + plan->temp_offset, to);
  matrix.data = to;
  matrix.ld = block.col_count > 0 ? block.col_count : 1;
  matrix.is_k_inner = !plan->position_inner;
  return matrix;
}

// --- results ----------------------------------------------------------------------------------------

#define SPREAD(type)                                                                               \
  for (int64_t p = 0; p < count; p++)                                                              \
    ((type*)out)[vtpu_axis_offset(axis, p)] = ((const type*)in)[p];

// Writes a row of positions to their places: runs, or single elements when they lie apart.
static void result_spread(const vtpu_axis_t* axis, size_t size, const char* in, char* out) {
  int64_t count = axis->count;
  bool is_scattered = !axis->table || axis->even_run == 1;
  if (is_scattered && size == 4) {
    SPREAD(uint32_t)
    return;
  }
  if (is_scattered && size == 2) {
    SPREAD(uint16_t)
    return;
  }
  for (int64_t p = 0; p < count;) {
    int64_t run = axis->table ? axis->run[p] : 1;
    memcpy(out + vtpu_axis_offset(axis, p) * (int64_t)size, in + p * (int64_t)size,
           (size_t)run * size);
    p += run;
  }
}

static void result_write(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                         const char* result, char* lane) {
  const vtpu_conv_plan_t* plan = run->plan;
  const vtpu_conv_tables_t* t = (const vtpu_conv_tables_t*)lane;
  int64_t size = (int64_t)plan->out_size;
  char* out = run->out + vtpu_conv_out_offset(plan, region) * size;
  if (!plan->result_position_inner) {
    for (int64_t p = 0; p < t->position_count; p++)
      plan->narrow(result + p * plan->outputs * (int64_t)plan->element_size,
                   out + vtpu_axis_offset(&t->out, p) * size, plan->outputs);
    return;
  }
  bool is_run = !t->out.table && (t->out.stride == 1 || t->position_count == 1);
  for (int64_t o = 0; o < plan->outputs; o++) {
    const char* from = result + o * t->position_count * (int64_t)plan->element_size;
    char* to = out + o * plan->out.stride[VTPU_CONV_FEATURE] * size;
    if (is_run) {
      plan->narrow(from, to, t->position_count);
      continue;
    }
    char* temp = lane + plan->temp_offset;
    plan->narrow(from, temp, t->position_count);
    result_spread(&t->out, plan->out_size, temp, to);
  }
}

// Points the result at the output itself when a GEMM can write there.
static bool result_is_output(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                             const vtpu_conv_tables_t* t, vtpu_conv_result_t* result) {
  const vtpu_conv_plan_t* plan = run->plan;
  if (!plan->narrow_is_copy || plan->is_direct || t->out.table) return false;
  int64_t ld;
  if (plan->result_position_inner) {
    if (t->out.stride != 1 && t->position_count > 1) return false;
    ld = plan->outputs > 1 ? plan->out.stride[VTPU_CONV_FEATURE] : t->position_count;
    if (ld < t->position_count) return false;
  } else {
    ld = t->position_count > 1 ? t->out.stride : plan->outputs;
    if (ld < plan->outputs) return false;
  }
  if (ld > INT32_MAX) return false;
  result->data = run->out + vtpu_conv_out_offset(plan, region) * (int64_t)plan->out_size;
  result->ld = ld;
  return true;
}

// Elements from a row of a region's results to the next; epilogues want the same for all regions.
static int64_t result_ld(const vtpu_conv_plan_t* plan, const vtpu_conv_tables_t* t) {
  if (!plan->result_position_inner) return plan->outputs;
  return plan->epilogue ? plan->position_max : t->position_count;
}

// Rounds a region's results to the output's type and gives them to the epilogue, a block for each batch
// element where these lie apart.
static void result_finish(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                          const char* result, int lane_number) {
  const vtpu_conv_plan_t* plan = run->plan;
  char* lane = vtpu_conv_lane(run, lane_number);
  const vtpu_conv_tables_t* t = (const vtpu_conv_tables_t*)lane;
  bool is_inner = plan->result_position_inner;
  int64_t rows = is_inner ? plan->outputs : t->position_count, ld = result_ld(plan, t);
  int64_t size = (int64_t)plan->out_size;
  if (!plan->narrow_is_copy) {
    char* rounded = lane + plan->rounded_offset;
    for (int64_t r = 0; r < rows; r++)
      plan->narrow(result + r * ld * (int64_t)plan->element_size, rounded + r * ld * size,
                   is_inner ? t->position_count : plan->outputs);
    result = rounded;
  }
  vtpu_epilogue_call_t call = {run->arrays, run->results, run->scratch,
                               run->exec->flush_subnormals};
  int64_t batches = region->count[VTPU_CONV_BATCH], places = t->position_count / batches;
  int64_t first = vtpu_conv_out_offset(plan, region), cols = plan->epilogue->cols;
  vtpu_epilogue_block_t block = {
      .row = first / cols, .col = first % cols, .rows = rows, .cols = places, .tile = result};
  if (!is_inner) {
    block.cols = plan->outputs;
    vtpu_epilogue_run(plan->epilogue, &call, &block, lane_number);
    return;
  }
  for (int64_t b = 0; b < batches; b++) {
    block.row = (first + b * plan->out.stride[VTPU_CONV_BATCH]) / cols;
    block.tile = result + b * places * size;
    vtpu_epilogue_run(plan->epilogue, &call, &block, lane_number);
  }
}

// --- products ---------------------------------------------------------------------------------------

typedef struct operands {
  matrix_t weights[2], patches[2];
} operands_t;

static void product(const vtpu_conv_plan_t* plan, const matrix_t* w, const matrix_t* p,
                    vtpu_gemm_t* gemm) {
  bool is_outputs_first = plan->result_position_inner;
  const matrix_t *a = is_outputs_first ? w : p, *b = is_outputs_first ? p : w;
  gemm->a = a->data, gemm->lda = a->ld, gemm->trans_a = !a->is_k_inner;
  gemm->b = b->data, gemm->ldb = b->ld, gemm->trans_b = b->is_k_inner;
  vtpu_compute_row(plan->compute)->gemm(gemm);
}

static void chunk_direct(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                         vtpu_conv_chunk_t* chunk, char* lane, vtpu_conv_result_t* result) {
  const vtpu_conv_plan_t* plan = run->plan;
  chunk->k_count = ((const vtpu_conv_tables_t*)lane)->k_count;
  matrix_t weights = weights_of(run, region, chunk, 0, lane);
  vtpu_conv_direct_t direct = {.weight = weights.data,
                               .weight_ld = weights.ld,
                               .stage = (const float*)(lane + plan->stage_offset),
                               .tables = (const vtpu_conv_tables_t*)lane,
                               .outputs = plan->outputs,
                               .accumulate = result->is_accumulated,
                               .temp = (float*)(lane + plan->temp_offset),
                               .result = (float*)result->data,
                               .result_ld = result->ld};
  vtpu_conv_direct(&direct);
  result->is_accumulated = true;
}

static void chunk_gemm(const vtpu_conv_work_t* run, const vtpu_conv_region_t* region,
                       vtpu_conv_chunk_t* chunk, char* lane, vtpu_conv_result_t* result) {
  const vtpu_conv_plan_t* plan = run->plan;
  const vtpu_conv_tables_t* t = (const vtpu_conv_tables_t*)lane;
  vtpu_gemm_t gemm = {.m = (int)plan->outputs, .n = (int)t->position_count};
  if (!plan->result_position_inner) gemm.m = (int)t->position_count, gemm.n = (int)plan->outputs;
  // Blocks of K end where runs end.
  int64_t block = plan->k_block, run_length = t->k.table ? t->k.even_run : 0;
  if (run_length > 1 && run_length < block) block -= block % run_length;
  do {
    int64_t left = t->k_count - chunk->k;
    chunk->k_count = left < block ? left : block;
    gemm.k = (int)chunk->k_count;
    operands_t x;
    for (int p = 0; p < plan->kernel_part_count; p++)
      x.weights[p] = weights_of(run, region, chunk, p, lane);
    for (int p = 0; p < plan->in_part_count; p++)
      x.patches[p] = patches_of(run, chunk, p, lane);
    gemm.accumulate = result->is_accumulated;
    gemm.c = result->data, gemm.ldc = (int)result->ld;
    product(plan, &x.weights[0], &x.patches[0], &gemm);
    gemm.c = result->low, gemm.ldc = gemm.n;
    if (plan->kernel_part_count > 1) {
      product(plan, &x.weights[1], &x.patches[0], &gemm);
      gemm.accumulate = true;
    }
    if (plan->in_part_count > 1) product(plan, &x.weights[0], &x.patches[1], &gemm);
    result->is_accumulated = true;
    chunk->k += chunk->k_count;
  } while (chunk->k < t->k_count);
}

static void region_item(void* arg, int64_t item, int lane_number) {
  const vtpu_conv_work_t* run = arg;
  const vtpu_conv_plan_t* plan = run->plan;
  char* lane = vtpu_conv_lane(run, lane_number);
  vtpu_conv_tables_t* tables = (vtpu_conv_tables_t*)lane;
  vtpu_conv_region_t region = {0};
  vtpu_conv_region_find(plan, item, &region);
  int64_t first = plan->feature_chunks * region.split / plan->split_count;
  int64_t end = plan->feature_chunks * (region.split + 1) / plan->split_count;
  vtpu_conv_result_t result = {.data = lane + plan->result_offset};
  result.low = lane + plan->result_offset + plan->result_part_size;
  bool is_output = false;
  if (plan->split_count > 1)
    result.data = run->scratch + plan->partial_offset + plan->partial_size * (size_t)item;
  int64_t c = first;
  do {  // a convolution without features still has to write zeros
    vtpu_conv_chunk_t chunk = vtpu_conv_chunk(plan, c);
    vtpu_conv_tables_build(plan, &region, chunk.count, lane, tables);
    vtpu_conv_stage(plan, &region, tables, chunk.first, run->in, lane);
    if (c == first) {
      result.ld = result_ld(plan, tables);
      is_output = plan->split_count == 1 && !plan->epilogue &&
                  result_is_output(run, &region, tables, &result);
    }
    if (plan->is_direct) {
      chunk_direct(run, &region, &chunk, lane, &result);
    } else if (plan->unit) {
      vtpu_conv_strip_chunk(run, &region, &chunk, lane, &result);
    } else {
      chunk_gemm(run, &region, &chunk, lane, &result);
    }
  } while (++c < end);
  int64_t rows = plan->result_position_inner ? plan->outputs : tables->position_count;
  int64_t cols = plan->result_position_inner ? tables->position_count : plan->outputs;
  if (plan->in_part_count + plan->kernel_part_count > 2)
    vtpu_low_add((float*)result.data, result.ld, (const float*)result.low, rows, cols);
  if (plan->split_count > 1 || is_output) return;
  if (plan->epilogue) {
    result_finish(run, &region, result.data, lane_number);
  } else {
    result_write(run, &region, result.data, lane);
  }
}

// Sums the partial results of one region in order and writes them.
static void sum_item(void* arg, int64_t item, int lane_number) {
  const vtpu_conv_work_t* run = arg;
  const vtpu_conv_plan_t* plan = run->plan;
  static const tpt_dtype_t dtypes[VTPU_COMPUTE_COUNT] = {
      [VTPU_COMPUTE_F32] = TPT_F32,   [VTPU_COMPUTE_F64] = TPT_F64, [VTPU_COMPUTE_C64] = TPT_C64,
      [VTPU_COMPUTE_C128] = TPT_C128, [VTPU_COMPUTE_U32] = TPT_U32, [VTPU_COMPUTE_U64] = TPT_U64};
  char* lane = vtpu_conv_lane(run, lane_number);
  vtpu_conv_region_t region = {0};
  vtpu_conv_region_find(plan, item * plan->split_count, &region);
  vtpu_conv_tables_t* tables = (vtpu_conv_tables_t*)lane;
  vtpu_conv_tables_build(plan, &region, 1, lane, tables);
  int64_t count = tables->position_count * plan->outputs;
  if (plan->result_position_inner) count = result_ld(plan, tables) * plan->outputs;
  char* sum =
      run->scratch + plan->partial_offset + plan->partial_size * (size_t)(item * plan->split_count);
  for (int64_t s = 1; s < plan->split_count; s++)
    vtpu_monoid(TPT_HLO_ADD, dtypes[plan->compute])
        ->combine(sum, sum + plan->partial_size * (size_t)s, count);
  if (plan->epilogue) {
    result_finish(run, &region, sum, lane_number);
  } else {
    result_write(run, &region, sum, lane);
  }
}

tpt_status_t vtpu_conv_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                           const void* const* in, void* const* out) {
  const vtpu_conv_plan_t* plan = kernel->state;
  vtpu_conv_work_t run = {.plan = plan,
                          .exec = exec,
                          .in = in[0],
                          .kernel = in[1],
                          .out = out[0],
                          .scratch = scratch,
                          .arrays = in,
                          .results = out};
  if (plan->item_count == 0 || plan->outputs == 0) return NULL;
  for (int lane = 0; lane < plan->lane_count; lane++)
    memset(vtpu_conv_lane(&run, lane), 0, sizeof(vtpu_conv_tables_t));
  if (plan->is_packed && plan->unit) {
    vtpu_lane_for(exec, plan->lane_count, vtpu_conv_strip_pack_count(plan),
                  vtpu_conv_strip_pack_item, &run);
  } else if (plan->is_packed) {
    vtpu_lane_for(exec, plan->lane_count,
                  pack_blocks(plan) * plan->feature_chunks * plan->phase_count * plan->groups,
                  pack_item, &run);
  }
  vtpu_lane_for(exec, plan->lane_count, plan->item_count, region_item, &run);
  if (plan->split_count > 1)
    vtpu_lane_for(exec, plan->lane_count, plan->item_count / plan->split_count, sum_item, &run);
  return NULL;
}
