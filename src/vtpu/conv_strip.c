// Convolutions on the CPU's own units: weights and patches are packed into strips, the patches straight
// from the stage through the pieces of their rows (no matrix of patches is ever written), a block of K
// at a time.
#include "vtpu/conv.h"

vtpu_conv_chunk_t vtpu_conv_chunk(const vtpu_conv_plan_t* plan, int64_t index) {
  vtpu_conv_chunk_t chunk = {.first = index * plan->feature_chunk};
  int64_t left = plan->features - chunk.first;
  chunk.count = left < plan->feature_chunk ? left : plan->feature_chunk;
  if (chunk.count < 0) chunk.count = 0;
  return chunk;
}

vtpu_conv_chunk_t vtpu_conv_weights_find(const vtpu_conv_plan_t* plan, int64_t index, char* lane,
                                         vtpu_conv_region_t* out_region) {
  vtpu_conv_chunk_t chunk = vtpu_conv_chunk(plan, index % plan->feature_chunks);
  index /= plan->feature_chunks;
  *out_region = (vtpu_conv_region_t){.phase = &plan->phases[index % plan->phase_count],
                                     .group = index / plan->phase_count};
  for (int i = 0; i <= plan->spatial_count; i++)
    out_region->count[plan->out_order[i]] = 1;
  vtpu_conv_tables_build(plan, out_region, chunk.count, lane, (vtpu_conv_tables_t*)lane);
  return chunk;
}

// --- weights ----------------------------------------------------------------------------------------

// The weights of one chunk; the block of outputs and K is the caller's to say.
static vtpu_strip_block_t weight_block(const vtpu_conv_work_t* work,
                                       const vtpu_conv_region_t* region,
                                       const vtpu_conv_tables_t* tables,
                                       const vtpu_conv_chunk_t* chunk, int part) {
  const vtpu_conv_plan_t* plan = work->plan;
  int64_t offset = region->group * plan->kernel.group_offset + tables->weight_base +
                   chunk->first * plan->kernel.stride[VTPU_CONV_FEATURE];
  vtpu_strip_block_t block = {
      .data = work->kernel + offset * (int64_t)plan->kernel_size,
      .element_size = plan->kernel_size,
      .free = {.count = plan->outputs, .stride = plan->kernel.stride[VTPU_CONV_BATCH]},
      .contract = tables->weight_k,
      .contract_inner = plan->weight_k_inner,
      .source = plan->kernel_sources[part],
      .is_rhs = !plan->result_position_inner,
  };
  if (tables->has_weight_pieces) block.pieces = &tables->weight_pieces;
  return block;
}

// Where the packed weights of a chunk start.
static char* packed_at(const vtpu_conv_work_t* work, const vtpu_conv_region_t* region,
                       const vtpu_conv_chunk_t* chunk, int part) {
  const vtpu_conv_plan_t* plan = work->plan;
  int64_t index = chunk->first / plan->feature_chunk;
  return work->scratch + plan->packed_offset + plan->packed_part_size * (size_t)part +
         region->group * plan->packed_group_size + (int64_t)region->phase->weight_offset +
         index * region->phase->strip_chunk;
}

// One item is a strip of outputs of one group, phase and chunk.
int64_t vtpu_conv_strip_pack_count(const vtpu_conv_plan_t* plan) {
  return vtpu_strip_count(plan->outputs) * plan->feature_chunks * plan->phase_count * plan->groups;
}

void vtpu_conv_strip_pack_item(void* arg, int64_t item, int lane_number) {
  const vtpu_conv_work_t* work = arg;
  const vtpu_conv_plan_t* plan = work->plan;
  char* lane = vtpu_conv_lane(work, lane_number);
  int64_t strips = vtpu_strip_count(plan->outputs), strip = item % strips, rest = item / strips;
  vtpu_conv_region_t region;
  vtpu_conv_chunk_t chunk = vtpu_conv_weights_find(plan, rest, lane, &region);
  vtpu_conv_tables_t* tables = (vtpu_conv_tables_t*)lane;
  for (int part = 0; part < plan->kernel_part_count; part++) {
    vtpu_strip_block_t block = weight_block(work, &region, tables, &chunk, part);
    block.first_free = strip * VTPU_STRIP_FREE;
    int64_t left = plan->outputs - block.first_free;
    block.free_count = left < VTPU_STRIP_FREE ? left : VTPU_STRIP_FREE;
    block.k_count = tables->k_count;
    block.strip_stride = region.phase->strip_stride;
    block.out = packed_at(work, &region, &chunk, part) + strip * block.strip_stride;
    vtpu_strip_pack(plan->unit, &block, NULL);
  }
}

// Strips of one operand of a block of K.
typedef struct strips {
  const char* data;
  int64_t stride;
} strips_t;

static strips_t weights_of(const vtpu_conv_work_t* work, const vtpu_conv_region_t* region,
                           const vtpu_conv_chunk_t* chunk, int part, char* lane) {
  const vtpu_conv_plan_t* plan = work->plan;
  if (plan->is_packed)
    return (strips_t){packed_at(work, region, chunk, part) + vtpu_strip_size(plan->unit, chunk->k),
                      region->phase->strip_stride};
  vtpu_strip_block_t block =
      weight_block(work, region, (const vtpu_conv_tables_t*)lane, chunk, part);
  block.free_count = plan->outputs;
  block.first_k = chunk->k, block.k_count = chunk->k_count;
  block.strip_stride = vtpu_strip_stride(plan->unit, plan->k_block);
  block.out = lane + plan->weight_offset + plan->weight_part_size * (size_t)part;
  vtpu_strip_pack(plan->unit, &block, NULL);
  return (strips_t){block.out, block.strip_stride};
}

// --- patches ----------------------------------------------------------------------------------------

static strips_t patches_of(const vtpu_conv_plan_t* plan, const vtpu_conv_chunk_t* chunk, int part,
                           char* lane) {
  const vtpu_conv_tables_t* t = (const vtpu_conv_tables_t*)lane;
  vtpu_strip_block_t block = {
      .data = lane + plan->stage_offset + plan->stage_part_size * (size_t)part,
      .element_size = plan->stage_size,
      .free = t->position,
      .contract = t->k,
      .contract_inner = !plan->position_inner,
      .source = plan->stage_size == 2 ? VTPU_STRIP_FROM_BF16 : VTPU_STRIP_FROM_F32,
      .is_rhs = plan->result_position_inner,
      .free_count = t->position_count,
      .first_k = chunk->k,
      .k_count = chunk->k_count,
      .out = lane + plan->panel_offset + plan->panel_part_size * (size_t)part,
      .strip_stride = vtpu_strip_stride(plan->unit, plan->k_block),
  };
  if (t->has_pieces) block.pieces = &t->pieces;
  vtpu_strip_pack(plan->unit, &block, NULL);
  return (strips_t){block.out, block.strip_stride};
}

// --- products ---------------------------------------------------------------------------------------

static void product(const vtpu_conv_plan_t* plan, const strips_t* w, const strips_t* p,
                    vtpu_strip_product_t* product) {
  bool is_outputs_first = plan->result_position_inner;
  const strips_t *a = is_outputs_first ? w : p, *b = is_outputs_first ? p : w;
  product->a = a->data, product->a_stride = a->stride;
  product->b = b->data, product->b_stride = b->stride;
  plan->unit->product(product);
}

void vtpu_conv_strip_chunk(const vtpu_conv_work_t* work, const vtpu_conv_region_t* region,
                           vtpu_conv_chunk_t* chunk, char* lane, vtpu_conv_result_t* result) {
  const vtpu_conv_plan_t* plan = work->plan;
  const vtpu_conv_tables_t* t = (const vtpu_conv_tables_t*)lane;
  vtpu_strip_product_t x = {.m = (int)plan->outputs, .n = (int)t->position_count};
  if (!plan->result_position_inner) x.m = (int)t->position_count, x.n = (int)plan->outputs;
  if (x.m == 0 || x.n == 0) return;
  do {
    int64_t left = t->k_count - chunk->k;
    chunk->k_count = left < plan->k_block ? left : plan->k_block;
    x.k = chunk->k_count;
    strips_t weights[2], patches[2];
    for (int p = 0; p < plan->kernel_part_count; p++)
      weights[p] = weights_of(work, region, chunk, p, lane);
    for (int p = 0; p < plan->in_part_count; p++)
      patches[p] = patches_of(plan, chunk, p, lane);
    x.accumulate = result->is_accumulated;
    x.c = (float*)result->data, x.ldc = result->ld;
    product(plan, &weights[0], &patches[0], &x);
    x.c = (float*)result->low, x.ldc = x.n;
    if (plan->kernel_part_count > 1) {
      product(plan, &weights[1], &patches[0], &x);
      x.accumulate = true;
    }
    if (plan->in_part_count > 1) product(plan, &weights[0], &patches[1], &x);
    result->is_accumulated = true;
    chunk->k += chunk->k_count;
  } while (chunk->k < t->k_count);
}
