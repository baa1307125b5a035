// Products of packed matrices, summed in f32, on the vector or matrix unit of the CPU: f32 elements by
// AVX-512, bf16 elements by AVX512-BF16 or AMX tiles; chosen once per process. Operands are packed first,
// and converted or rounded on the way (to nearest even, NaN stays NaN).
//
// A strip is 16 free positions of an operand by all of its contracting range, padded with zeros to whole
// tiles of 1 KiB (64 bytes of k by 16 positions), which follow each other along k. Strips start at
// multiples of 64 bytes.
//
// The bf16 units read subnormal numbers as zero and write zero for subnormal sums; infinities and NaN
// behave as in IEEE arithmetic. The order of a sum depends on k alone: not on the tile or the thread.
#ifndef TPUTORCH_VTPU_STRIP_H_
#define TPUTORCH_VTPU_STRIP_H_

#include "hlo/builder.h"
#include "vtpu/panel.h"

// Units by rising level; a level includes those below it.
enum {
  VTPU_STRIP_NONE,
  VTPU_STRIP_F32_AVX512,
  VTPU_STRIP_BF16_AVX512,
  VTPU_STRIP_BF16_AMX,
  VTPU_STRIP_LEVEL_COUNT,
};

enum {
  VTPU_STRIP_FREE = 16,       // positions of a strip
  VTPU_STRIP_TILE = 1024,     // bytes
  VTPU_STRIP_DEPTH_MAX = 32,  // contracting positions of a tile
};

// What is packed. High: f32 rounded to bf16; low: the rounded rest, 0 where the high part is not finite.
typedef enum vtpu_strip_source {
  VTPU_STRIP_FROM_BF16,
  VTPU_STRIP_FROM_HIGH,
  VTPU_STRIP_FROM_LOW,
  VTPU_STRIP_FROM_F32,  // this and the next: units of f32 only
  VTPU_STRIP_FROM_F16,
  VTPU_STRIP_SOURCE_COUNT,
} vtpu_strip_source_t;

// Places of a row that are loaded together: lane l of `mask` takes element offset + l.
typedef struct vtpu_strip_piece {
  int64_t offset;
  uint32_t mask;
} vtpu_strip_piece_t;

// An inner axis that is not contiguous, as loads of `step` elements: load i consists of the pieces
// first[i] to first[i + 1].
typedef struct vtpu_strip_pieces {
  const int32_t* first;
  const vtpu_strip_piece_t* piece;
} vtpu_strip_pieces_t;

// One row of tiles to pack. `rows` point at stored rows; loads are counted from there.
// Along k: up to 16 rows, one per free position, `count` elements of k each; writes the tiles of one
// strip. Across: up to `depth` rows, one per k, `count` free positions each; writes one tile in each of
// ceil(count / 16) strips.
typedef struct vtpu_strip_pack {
  const void* rows[VTPU_STRIP_DEPTH_MAX];
  int row_count;
  int64_t count;
  const vtpu_strip_pieces_t* pieces;  // (optional) NULL: contiguous
  char* out;
  int64_t strip_stride;  // bytes from one strip to the next (across)
} vtpu_strip_pack_t;
typedef void (*vtpu_strip_pack_fn_t)(const vtpu_strip_pack_t* pack);

// [source][is rhs][across]
typedef struct vtpu_strip_packs {
  vtpu_strip_pack_fn_t fn[VTPU_STRIP_SOURCE_COUNT][2][2];
} vtpu_strip_packs_t;

// c (m x n, rows ldc apart) = a * b, or += with `accumulate`. m, n >= 1; k >= 0.
typedef struct vtpu_strip_product {
  const char *a, *b;           // strips
  int64_t a_stride, b_stride;  // bytes from one strip to the next
  int m, n;
  int64_t k;
  float* c;
  int64_t ldc;
  bool accumulate;
} vtpu_strip_product_t;

typedef struct vtpu_strip_unit {
  const char* name;
  int depth;            // contracting positions of a tile: 16 of f32, 32 of bf16
  double flops_per_ns;  // rough rate of one core
  void (*product)(const vtpu_strip_product_t* product);
  const vtpu_strip_packs_t* packs;
} vtpu_strip_unit_t;

// The unit of one level; NULL if this CPU or system lacks it. Thread-safe.
const vtpu_strip_unit_t* vtpu_strip_level(int level);
// Caps the level of the units that are chosen from then on. For tests and comparisons; thread-safe.
void vtpu_strip_limit(int level);
// The best unit for an f32 sum of products of such operands, NULL for none, and the parts to pack of
// each: out_sources[side][part], part_count 2 (high and low) for a three-pass product, else 1.
const vtpu_strip_unit_t* vtpu_strip_choose(const tpt_dtype_t dtypes[2], tpt_precision_t precision,
                                           vtpu_strip_source_t out_sources[2][2],
                                           int out_part_counts[2]);

static inline int64_t vtpu_strip_count(int64_t free_count) {
  return (free_count + VTPU_STRIP_FREE - 1) / VTPU_STRIP_FREE;
}
// Bytes of a strip.
static inline int64_t vtpu_strip_size(const vtpu_strip_unit_t* unit, int64_t k_count) {
  return (k_count + unit->depth - 1) / unit->depth * VTPU_STRIP_TILE;
}
// A distance of strips: an odd number of tiles, since strips an even power of two apart would share few
// sets of the caches.
static inline int64_t vtpu_strip_stride(const vtpu_strip_unit_t* unit, int64_t k_count) {
  return vtpu_strip_size(unit, k_count) | VTPU_STRIP_TILE;
}

// --- a block of an operand ------------------------------------------------------------------------------

typedef struct vtpu_strip_block {
  const void* data;  // element (free 0, k 0) of the operand's batch element
  size_t element_size;
  vtpu_axis_t free, contract;
  bool contract_inner;  // which axis is read row by row
  vtpu_strip_source_t source;
  bool is_rhs;
  int64_t first_free, first_k;
  int64_t free_count, k_count;
  // (optional) of the inner axis, counted from its first position; else it is gathered if necessary
  const vtpu_strip_pieces_t* pieces;
  char* out;
  int64_t strip_stride;  // bytes
} vtpu_strip_block_t;

// Elements that one load of the inner axis takes.
static inline int vtpu_strip_step(const vtpu_strip_unit_t* unit, bool contract_inner) {
  return contract_inner ? unit->depth : VTPU_STRIP_FREE;
}
// Bytes of `temp` that packing such a block needs.
size_t vtpu_strip_temp_size(const vtpu_strip_unit_t* unit, const vtpu_strip_block_t* block);
void vtpu_strip_pack(const vtpu_strip_unit_t* unit, const vtpu_strip_block_t* block, void* temp);

// Pieces of the positions [0, count) of an axis, loaded `step` at a time: at most
// vtpu_strip_piece_max of them, and count / step + 2 entries of `first`.
static inline int64_t vtpu_strip_piece_max(int64_t count) {
  return count;
}
void vtpu_strip_pieces_make(const vtpu_axis_t* axis, int step, int32_t* first,
                            vtpu_strip_piece_t* piece);

#endif  // TPUTORCH_VTPU_STRIP_H_
