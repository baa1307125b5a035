// Products of bf16 matrices, summed in f32, on the CPU's own units: AMX tiles, or AVX512-BF16 dot
// products; the level is chosen once per process. Operands are packed first, and rounded on the way
// (to nearest even, NaN stays NaN).
//
// A strip is 16 free positions of an operand by all of its contracting range, padded with zeros to
// whole tiles of 32; each tile is 1 KiB, and the tiles of a strip follow each other along k. The lhs
// keeps 32 k of one position together, the rhs 2 k of each of the 16 positions.
//
// Both units read subnormal bf16 numbers as zero and write zero for subnormal sums; infinities and NaN
// behave as in IEEE arithmetic. The order of a sum depends on k alone: not on the tile or the thread.
#ifndef TPUTORCH_VTPU_BF16_H_
#define TPUTORCH_VTPU_BF16_H_

#include "hlo/builder.h"
#include "vtpu/panel.h"

enum { VTPU_BF16_NONE, VTPU_BF16_AVX512, VTPU_BF16_AMX, VTPU_BF16_LEVEL_COUNT };

enum {
  VTPU_BF16_FREE = 16,                                // positions of a strip
  VTPU_BF16_DEPTH = 32,                               // contracting positions of a tile
  VTPU_BF16_TILE = VTPU_BF16_FREE * VTPU_BF16_DEPTH,  // elements
};

// What is packed: bf16 as it is, f32 rounded, or the rounded rest of f32 (the low part).
typedef enum vtpu_bf16_source {
  VTPU_BF16_FROM_BF16,
  VTPU_BF16_FROM_F32,
  VTPU_BF16_FROM_F32_LOW,
  VTPU_BF16_SOURCE_COUNT,
} vtpu_bf16_source_t;

// One row of tiles to pack. `rows` points at the first element of each stored row.
// Along k: up to 16 rows, one per free position, `count` elements of k each; writes the tiles of one
// strip. Along free: up to 32 rows, one per k, `count` free positions each; writes one tile in each of
// ceil(count / 16) strips.
typedef struct vtpu_bf16_pack {
  const void* rows[VTPU_BF16_DEPTH];
  int row_count;
  int64_t count;
  uint16_t* out;
  int64_t strip_stride;  // elements from one strip to the next (along free)
} vtpu_bf16_pack_t;
typedef void (*vtpu_bf16_pack_fn_t)(const vtpu_bf16_pack_t* pack);

// c (m x n, rows ldc apart) = a * b, or += with `accumulate`. m, n >= 1; k_tiles >= 0.
typedef struct vtpu_bf16_product {
  const uint16_t *a, *b;
  int64_t a_stride, b_stride;  // elements from one strip to the next
  int m, n, k_tiles;
  float* c;
  int64_t ldc;
  bool accumulate;
} vtpu_bf16_product_t;

typedef struct vtpu_bf16_row {
  const char* name;
  void (*product)(const vtpu_bf16_product_t* product);
} vtpu_bf16_row_t;

// The functions of the best level of this CPU and system; NULL without such a unit. Thread-safe.
const vtpu_bf16_row_t* vtpu_bf16_row(void);
// The functions of one level; NULL if this CPU or system lacks it.
const vtpu_bf16_row_t* vtpu_bf16_level(int level);
// Caps the level that vtpu_bf16_row answers, for programs compiled from then on. For tests and
// comparisons; thread-safe.
void vtpu_bf16_limit(int level);

// --- a block of an operand ------------------------------------------------------------------------------

typedef struct vtpu_bf16_block {
  const void* data;  // element (free 0, k 0) of the operand's batch element
  size_t element_size;
  vtpu_axis_t free, contract;
  bool contract_inner;  // which axis is read row by row
  vtpu_bf16_source_t source;
  bool is_rhs;
  int64_t first_free, first_k;
  int64_t free_count, k_count;
  uint16_t* out;  // strips of vtpu_bf16_strip(k_count) elements, or of a longer range
  int64_t strip_stride;
} vtpu_bf16_block_t;

static inline int64_t vtpu_bf16_tiles(int64_t k_count) {
  return (k_count + VTPU_BF16_DEPTH - 1) / VTPU_BF16_DEPTH;
}
static inline int64_t vtpu_bf16_strips(int64_t free_count) {
  return (free_count + VTPU_BF16_FREE - 1) / VTPU_BF16_FREE;
}
// Elements of a strip.
static inline int64_t vtpu_bf16_strip(int64_t k_count) {
  return vtpu_bf16_tiles(k_count) * VTPU_BF16_TILE;
}
// Bytes of `temp` that packing such a block needs.
size_t vtpu_bf16_temp_size(const vtpu_bf16_block_t* block);
// Packs a block. Only where vtpu_bf16_row is not NULL.
void vtpu_bf16_pack(const vtpu_bf16_block_t* block, void* temp);

// Which source an operand of a product is at a precision; false if its product is not one of bf16.
bool vtpu_bf16_source_of(tpt_dtype_t dtype, tpt_precision_t precision, vtpu_bf16_source_t* out);

#endif  // TPUTORCH_VTPU_BF16_H_
