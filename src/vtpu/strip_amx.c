// bf16 products on AMX tiles: 2 x 2 tiles of the result (32 x 32) stay in registers while k runs. The
// tile configuration of the thread is put back at the end, so that other users of the unit in this
// process keep theirs.
#include "vtpu/strip_level.h"

#ifdef __AMX_BF16__
#include <immintrin.h>
#include <string.h>

enum {
  K_BLOCK = 16,     // tiles of k whose two rhs strips (32 KiB) stay in the first cache
  SHORT_TILES = 3,  // of k: a short sum
};

typedef struct tile_config {
  uint8_t palette, start_row, reserved[14];
  uint16_t colsb[16];
  uint8_t rows[16];
} __attribute__((aligned(64))) tile_config_t;

// Registers: 0..3 the result (row major), 4 and 5 the lhs, 6 and 7 the rhs.
static const tile_config_t config = {
    .palette = 1,
    .colsb = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};

enum { TILE_BYTES = 64 };  // of a row of a packed tile

// While it runs, a share of what comes next is fetched into the second cache.
typedef struct ahead {
  const char *a, *b;
} ahead_t;

enum { AHEAD_LINES = 4, LINE = 64 };  // of each operand, for a tile of k

static inline __attribute__((always_inline)) void fetch_ahead(ahead_t* ahead) {
  for (int i = 0; i < AHEAD_LINES; i++) {
    __builtin_prefetch(ahead->a + i * LINE, 0, 2);
    __builtin_prefetch(ahead->b + i * LINE, 0, 2);
  }
  ahead->a += AHEAD_LINES * LINE, ahead->b += AHEAD_LINES * LINE;
}

static inline __attribute__((always_inline)) void sum_four(const char* a0, const char* a1,
                                                           const char* b0, const char* b1,
                                                           int k_tiles, ahead_t ahead) {
  for (int k = 0; k < k_tiles; k++) {
    _tile_loadd(6, b0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_loadd(4, a0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b1 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a1 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    fetch_ahead(&ahead);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

static inline __attribute__((always_inline)) void sum_two_down(const char* a0, const char* a1,
                                                               const char* b0, int k_tiles) {
  for (int k = 0; k < k_tiles; k++) {
    _tile_loadd(6, b0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_loadd(4, a0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, a1 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_dpbf16ps(2, 5, 6);
  }
}

static inline __attribute__((always_inline)) void sum_two_across(const char* a0, const char* b0,
                                                                 const char* b1, int k_tiles) {
  for (int k = 0; k < k_tiles; k++) {
    _tile_loadd(4, a0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_loadd(6, b0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b1 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_dpbf16ps(1, 4, 7);
  }
}

static inline __attribute__((always_inline)) void sum_one(const char* a0, const char* b0,
                                                          int k_tiles) {
  for (int k = 0; k < k_tiles; k++) {
    _tile_loadd(4, a0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_loadd(6, b0 + (size_t)k * VTPU_STRIP_TILE, TILE_BYTES);
    _tile_dpbf16ps(0, 4, 6);
  }
}

// Where the four tiles of the result at (row, column) lie: in c if whole, else in a copy.
typedef struct patch {
  float* at[4];
  int64_t ld[4];
  bool is_copy[4];
} patch_t;

typedef struct copy {
  float values[4][256] __attribute__((aligned(64)));
} copy_t;

static void patch_rows(const vtpu_strip_product_t* p, int q, int row, int col, int* rows,
                       int* cols) {
  int rows_left = p->m - (row + (q >> 1) * 16), cols_left = p->n - (col + (q & 1) * 16);
  *rows = rows_left < 16 ? rows_left : 16;
  *cols = cols_left < 16 ? cols_left : 16;
}

static float* patch_start(const vtpu_strip_product_t* p, int q, int row, int col) {
  return p->c + (row + (q >> 1) * 16) * p->ldc + col + (q & 1) * 16;
}

static void patch_find(const vtpu_strip_product_t* p, int row, int col, bool loads, copy_t* copy,
                       patch_t* out) {
  for (int q = 0; q < 4; q++) {
    int rows, cols;
    patch_rows(p, q, row, col, &rows, &cols);
    out->is_copy[q] = rows < 16 || cols < 16;
    out->at[q] = out->is_copy[q] ? copy->values[q] : patch_start(p, q, row, col);
    out->ld[q] = (out->is_copy[q] ? 16 : p->ldc) * (int64_t)sizeof(float);
    if (!out->is_copy[q] || !loads || rows <= 0 || cols <= 0) continue;
    for (int i = 0; i < rows; i++)
      memcpy(copy->values[q] + i * 16, patch_start(p, q, row, col) + i * p->ldc,
             (size_t)cols * sizeof(float));
  }
}

static void patch_end(const vtpu_strip_product_t* p, int row, int col, const patch_t* patch) {
  for (int q = 0; q < 4; q++) {
    if (!patch->is_copy[q]) continue;
    int rows, cols;
    patch_rows(p, q, row, col, &rows, &cols);
    for (int i = 0; i < rows && cols > 0; i++)
      memcpy(patch_start(p, q, row, col) + i * p->ldc, patch->at[q] + i * 16,
             (size_t)cols * sizeof(float));
  }
}

// The results of a quad are fetched while the one before it is summed: stores of tiles to memory that is
// not at hand wait for one row after the other.
static void results_fetch(const vtpu_strip_product_t* p, int row, int col) {
  int rows = p->m - row < 32 ? p->m - row : 32;
  bool two_cols = col + 16 < p->n;
  const float* c = p->c + row * p->ldc + col;
  for (int i = 0; i < rows; i++, c += p->ldc) {
    __builtin_prefetch(c, 1, 3);
    if (two_cols) __builtin_prefetch(c + 16, 1, 3);
  }
}

// 2 x 2, 2 x 1, 1 x 2 or 1 x 1 tiles.
static void quad(const vtpu_strip_product_t* p, int row, int col, int k, int k_tiles,
                 copy_t* copy) {
  bool two_rows = row + 16 < p->m, two_cols = col + 16 < p->n;
  bool loads = p->accumulate || k > 0;
  const char* a0 = p->a + row / 16 * p->a_stride + (int64_t)k * VTPU_STRIP_TILE;
  const char* b0 = p->b + col / 16 * p->b_stride + (int64_t)k * VTPU_STRIP_TILE;
  const char *a1 = a0 + p->a_stride, *b1 = b0 + p->b_stride;
  patch_t c;
  patch_find(p, row, col, loads, copy, &c);
  __asm__ volatile("" ::: "memory");  // the loads below are opaque to the compiler
  if (loads) {
    _tile_loadd(0, c.at[0], c.ld[0]);
    if (two_cols) _tile_loadd(1, c.at[1], c.ld[1]);
    if (two_rows) _tile_loadd(2, c.at[2], c.ld[2]);
    if (two_rows && two_cols) _tile_loadd(3, c.at[3], c.ld[3]);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  if (two_rows && two_cols) {
    // Rows share out the next pair of rhs strips, columns the next stretch of k of the lhs strips.
    int64_t share = (int64_t)k_tiles * AHEAD_LINES * LINE,
            size = (int64_t)k_tiles * VTPU_STRIP_TILE;
    int64_t part_a = col / 32 * share, part_b = row / 32 * share;
    ahead_t ahead = {a0 + size + part_a, b0 + 2 * p->b_stride + part_b};
    if (part_a >= size) ahead.a += p->a_stride - size;
    if (part_b >= size) ahead.b += p->b_stride - size;
    sum_four(a0, a1, b0, b1, k_tiles, ahead);
  } else if (two_rows) {
    sum_two_down(a0, a1, b0, k_tiles);
  } else if (two_cols) {
    sum_two_across(a0, b0, b1, k_tiles);
  } else {
    sum_one(a0, b0, k_tiles);
  }
  _tile_stored(0, c.at[0], c.ld[0]);
  if (two_cols) _tile_stored(1, c.at[1], c.ld[1]);
  if (two_rows) _tile_stored(2, c.at[2], c.ld[2]);
  if (two_rows && two_cols) _tile_stored(3, c.at[3], c.ld[3]);
  __asm__ volatile("" ::: "memory");
  patch_end(p, row, col, &c);
}

// Column by column, so that a pair of rhs strips stays in the first cache; short sums, which spend their
// time on the results, go row by row, as these lie in memory.
static void walk(const vtpu_strip_product_t* p, int k, int k_tiles, copy_t* copy) {
  bool by_row = k_tiles <= SHORT_TILES;
  int outer_count = by_row ? p->m : p->n, inner_count = by_row ? p->n : p->m;
  for (int outer = 0; outer < outer_count; outer += 32) {
    for (int inner = 0; inner < inner_count; inner += 32) {
      int row = by_row ? outer : inner, col = by_row ? inner : outer;
      if (!by_row && row + 32 < p->m) results_fetch(p, row + 32, col);
      quad(p, row, col, k, k_tiles, copy);
    }
  }
}

void vtpu_strip_product_amx(const vtpu_strip_product_t* p) {
  tile_config_t before;
  copy_t copy;
  int tiles = (int)((p->k + 31) / 32), k = 0;
  _tile_storeconfig(&before);
  _tile_loadconfig(&config);
  do {
    int k_tiles = tiles - k < K_BLOCK ? tiles - k : K_BLOCK;
    walk(p, k, k_tiles, &copy);
    k += K_BLOCK;
  } while (k < tiles);
  if (before.palette != 0) {
    _tile_loadconfig(&before);
  } else {
    _tile_release();
  }
}

const bool vtpu_strip_has_amx = true;
#else
const bool vtpu_strip_has_amx = false;
void vtpu_strip_product_amx(const vtpu_strip_product_t* p) {
  (void)p;
}
#endif
