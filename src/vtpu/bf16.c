// Chooses the unit for bf16 products and packs blocks of operands for it. The system must let the
// process use AMX tiles first; a refusal leaves the next level.
#include "vtpu/bf16.h"

#include <stdatomic.h>
#include <string.h>

#include "vtpu/bf16_level.h"
#include "vtpu/bf16_system.h"

static const vtpu_bf16_row_t* const levels[VTPU_BF16_LEVEL_COUNT] = {
    [VTPU_BF16_AVX512] = &vtpu_bf16_row_avx512, [VTPU_BF16_AMX] = &vtpu_bf16_row_amx};

static atomic_int limit = VTPU_BF16_LEVEL_COUNT - 1;

static int best_level(void) {
  static atomic_int cached = -1;
  int level = atomic_load_explicit(&cached, memory_order_relaxed);
  if (level < 0) {
    level = vtpu_bf16_system_level();
    while (level > VTPU_BF16_NONE && !levels[level]->product)
      level--;
    atomic_store_explicit(&cached, level, memory_order_relaxed);
  }
  return level;
}

const vtpu_bf16_row_t* vtpu_bf16_level(int level) {
  return level > VTPU_BF16_NONE && level <= best_level() ? levels[level] : NULL;
}

const vtpu_bf16_row_t* vtpu_bf16_row(void) {
  int best = best_level(), most = atomic_load_explicit(&limit, memory_order_relaxed);
  return levels[best < most ? best : most];
}

void vtpu_bf16_limit(int level) {
  atomic_store_explicit(&limit, level, memory_order_relaxed);
}

bool vtpu_bf16_source_of(tpt_dtype_t dtype, tpt_precision_t precision, vtpu_bf16_source_t* out) {
  *out = dtype == TPT_BF16 ? VTPU_BF16_FROM_BF16 : VTPU_BF16_FROM_F32;
  return dtype == TPT_BF16 || (dtype == TPT_F32 && precision != TPT_PRECISION_HIGHEST);
}

// --- blocks -----------------------------------------------------------------------------------------

typedef struct walk {
  const vtpu_bf16_block_t* block;
  const vtpu_axis_t *outer, *inner;
  int64_t inner_first, inner_count;
  bool gathers;  // the inner axis is not contiguous
  char* temp;    // rows gathered, with gathers
} walk_t;

static walk_t walk_make(const vtpu_bf16_block_t* block, void* temp) {
  walk_t walk = {.block = block, .temp = temp};
  walk.outer = block->contract_inner ? &block->free : &block->contract;
  walk.inner = block->contract_inner ? &block->contract : &block->free;
  walk.inner_first = block->contract_inner ? block->first_k : block->first_free;
  walk.inner_count = block->contract_inner ? block->k_count : block->free_count;
  walk.gathers = walk.inner->table || (walk.inner->stride != 1 && walk.inner_count > 1);
  return walk;
}

size_t vtpu_bf16_temp_size(const vtpu_bf16_block_t* block) {
  walk_t walk = walk_make(block, NULL);
  size_t row = (size_t)walk.inner_count * block->element_size;
  return walk.gathers ? row * (block->contract_inner ? VTPU_BF16_FREE : VTPU_BF16_DEPTH) : 0;
}

// Points the pack at `count` rows from `first` on.
static void rows_find(const walk_t* walk, int64_t first, int count, vtpu_bf16_pack_t* pack) {
  const vtpu_bf16_block_t* block = walk->block;
  size_t size = block->element_size;
  pack->row_count = count;
  if (walk->gathers) {
    vtpu_panel_t panel = {.data = block->data,
                          .element_size = size,
                          .out_size = size,
                          .row = *walk->outer,
                          .col = *walk->inner};
    vtpu_block_t rows = {first, walk->inner_first, count, (int)walk->inner_count};
    vtpu_panel_pack(&panel, &rows, NULL, walk->temp);
    for (int r = 0; r < count; r++)
      pack->rows[r] = walk->temp + (size_t)(r * walk->inner_count) * size;
    return;
  }
  for (int r = 0; r < count; r++)
    pack->rows[r] = (const char*)block->data +
                    (vtpu_axis_offset(walk->outer, first + r) + walk->inner_first) * (int64_t)size;
}

void vtpu_bf16_pack(const vtpu_bf16_block_t* block, void* temp) {
  walk_t walk = walk_make(block, temp);
  bool across = !block->contract_inner;
  vtpu_bf16_pack_fn_t fn = vtpu_bf16_packs.fn[block->source][block->is_rhs][across];
  int step = across ? VTPU_BF16_DEPTH : VTPU_BF16_FREE;
  int64_t first = across ? block->first_k : block->first_free;
  int64_t count = across ? block->k_count : block->free_count;
  int64_t out_step = across ? VTPU_BF16_TILE : block->strip_stride;
  vtpu_bf16_pack_t pack = {
      .count = walk.inner_count, .out = block->out, .strip_stride = block->strip_stride};
  for (int64_t i = 0; i < count; i += step, pack.out += out_step) {
    rows_find(&walk, first + i, count - i < step ? (int)(count - i) : step, &pack);
    fn(&pack);
  }
}
