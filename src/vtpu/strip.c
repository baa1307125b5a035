// Chooses the unit for products of packed matrices and packs blocks of operands for it. The system must
// let the process use AMX tiles first; a refusal leaves the next level.
#include "vtpu/strip.h"

#include <stdatomic.h>
#include <string.h>

#include "vtpu/strip_level.h"
#include "vtpu/strip_system.h"

static const vtpu_strip_unit_t units[VTPU_STRIP_LEVEL_COUNT] = {
    [VTPU_STRIP_F32_AVX512] = {"avx512", 16, 80, vtpu_strip_product_f32, &vtpu_strip_packs_f32},
    [VTPU_STRIP_BF16_AVX512] = {"avx512-bf16", 32, 80, vtpu_strip_product_bf16,
                                &vtpu_strip_packs_bf16},
    [VTPU_STRIP_BF16_AMX] = {"amx", 32, 1000, vtpu_strip_product_amx, &vtpu_strip_packs_bf16},
};

static atomic_int limit = VTPU_STRIP_LEVEL_COUNT - 1;

static int best_level(void) {
  static atomic_int cached = -1;
  int level = atomic_load_explicit(&cached, memory_order_relaxed);
  if (level >= 0) return level;
  const bool is_built[VTPU_STRIP_LEVEL_COUNT] = {true, vtpu_strip_has_f32, vtpu_strip_has_bf16,
                                                 vtpu_strip_has_amx};
  level = 0;
  for (int i = 1; i <= vtpu_strip_system_level() && is_built[i]; i++)
    level = i;
  atomic_store_explicit(&cached, level, memory_order_relaxed);
  return level;
}

const vtpu_strip_unit_t* vtpu_strip_level(int level) {
  return level > VTPU_STRIP_NONE && level <= best_level() ? &units[level] : NULL;
}

void vtpu_strip_limit(int level) {
  atomic_store_explicit(&limit, level, memory_order_relaxed);
}

// What an operand is packed from; false for types that no strip holds.
static bool source_of(tpt_dtype_t dtype, tpt_precision_t precision, vtpu_strip_source_t* out) {
  bool is_rounded = precision != TPT_PRECISION_HIGHEST;
  if (dtype == TPT_BF16) *out = VTPU_STRIP_FROM_BF16;
  if (dtype == TPT_F16) *out = VTPU_STRIP_FROM_F16;
  if (dtype == TPT_F32) *out = is_rounded ? VTPU_STRIP_FROM_HIGH : VTPU_STRIP_FROM_F32;
  return dtype == TPT_BF16 || dtype == TPT_F16 || dtype == TPT_F32;
}

const vtpu_strip_unit_t* vtpu_strip_choose(const tpt_dtype_t dtypes[2], tpt_precision_t precision,
                                           vtpu_strip_source_t out_sources[2][2],
                                           int out_part_counts[2]) {
  int best = best_level(), most = atomic_load_explicit(&limit, memory_order_relaxed);
  if (best > most) best = most;
  for (int s = 0; s < 2; s++) {
    if (!source_of(dtypes[s], precision, &out_sources[s][0])) return NULL;
    out_sources[s][1] = VTPU_STRIP_FROM_LOW;
    bool is_split = dtypes[s] == TPT_F32 && precision == TPT_PRECISION_HIGH;
    out_part_counts[s] = is_split ? 2 : 1;
    if (out_sources[s][0] > VTPU_STRIP_FROM_LOW && best > VTPU_STRIP_F32_AVX512)
      best = VTPU_STRIP_F32_AVX512;
  }
  return vtpu_strip_level(best);
}

// --- blocks -----------------------------------------------------------------------------------------

typedef struct walk {
  const vtpu_strip_block_t* block;
  const vtpu_axis_t *outer, *inner;
  int64_t inner_first, inner_count;
  int step;      // rows of a tile
  bool gathers;  // the inner axis is not contiguous, and there are no pieces
  char* temp;    // rows gathered, with gathers
} walk_t;

static walk_t walk_make(const vtpu_strip_unit_t* unit, const vtpu_strip_block_t* block,
                        void* temp) {
  walk_t walk = {.block = block, .temp = temp};
  walk.outer = block->contract_inner ? &block->free : &block->contract;
  walk.inner = block->contract_inner ? &block->contract : &block->free;
  walk.inner_first = block->contract_inner ? block->first_k : block->first_free;
  walk.inner_count = block->contract_inner ? block->k_count : block->free_count;
  walk.step = block->contract_inner ? VTPU_STRIP_FREE : unit->depth;
  walk.gathers =
      !block->pieces && (walk.inner->table || (walk.inner->stride != 1 && walk.inner_count > 1));
  return walk;
}

size_t vtpu_strip_temp_size(const vtpu_strip_unit_t* unit, const vtpu_strip_block_t* block) {
  walk_t walk = walk_make(unit, block, NULL);
  return walk.gathers ? (size_t)(walk.inner_count * walk.step) * block->element_size : 0;
}

// Points the pack at `count` rows from `first` on.
static void rows_find(const walk_t* walk, int64_t first, int count, vtpu_strip_pack_t* pack) {
  const vtpu_strip_block_t* block = walk->block;
  int64_t size = (int64_t)block->element_size;
  pack->row_count = count;
  if (walk->gathers) {
    vtpu_panel_t panel = {.data = block->data,
                          .element_size = block->element_size,
                          .out_size = block->element_size,
                          .row = *walk->outer,
                          .col = *walk->inner};
    vtpu_block_t rows = {first, walk->inner_first, count, (int)walk->inner_count};
    vtpu_panel_pack(&panel, &rows, NULL, walk->temp);
    for (int r = 0; r < count; r++)
      pack->rows[r] = walk->temp + r * walk->inner_count * size;
    return;
  }
  // Pieces count from the first position of the axis.
  int64_t skipped = block->pieces ? 0 : walk->inner_first;
  for (int r = 0; r < count; r++)
    pack->rows[r] =
        (const char*)block->data + (vtpu_axis_offset(walk->outer, first + r) + skipped) * size;
}

void vtpu_strip_pack(const vtpu_strip_unit_t* unit, const vtpu_strip_block_t* block, void* temp) {
  walk_t walk = walk_make(unit, block, temp);
  bool across = !block->contract_inner;
  vtpu_strip_pack_fn_t fn = unit->packs->fn[block->source][block->is_rhs][across];
  int64_t first = across ? block->first_k : block->first_free;
  int64_t count = across ? block->k_count : block->free_count;
  int64_t out_step = across ? VTPU_STRIP_TILE : block->strip_stride;
  vtpu_strip_pieces_t pieces;
  vtpu_strip_pack_t pack = {
      .count = walk.inner_count, .out = block->out, .strip_stride = block->strip_stride};
  if (block->pieces) {
    pieces = *block->pieces;
    pieces.first += walk.inner_first / vtpu_strip_step(unit, block->contract_inner);
    pack.pieces = &pieces;
  }
  for (int64_t i = 0; i < count; i += walk.step, pack.out += out_step) {
    rows_find(&walk, first + i, count - i < walk.step ? (int)(count - i) : walk.step, &pack);
    fn(&pack);
  }
}

void vtpu_strip_pieces_make(const vtpu_axis_t* axis, int step, int32_t* first,
                            vtpu_strip_piece_t* piece) {
  int32_t pieces = 0;
  for (int64_t i = 0; i < axis->count; i += step) {
    *first++ = pieces;
    int64_t count = axis->count - i < step ? axis->count - i : step;
    for (int64_t lane = 0; lane < count;) {
      int64_t start = vtpu_axis_offset(axis, i + lane), length = 1;
      while (lane + length < count && vtpu_axis_offset(axis, i + lane + length) == start + length)
        length++;
      uint32_t mask = length >= 32 ? 0xFFFFFFFFu : ((1u << length) - 1) << lane;
      piece[pieces++] = (vtpu_strip_piece_t){start - lane, mask};
      lane += length;
    }
  }
  *first = pieces;
}
