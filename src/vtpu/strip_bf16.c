// bf16 products by AVX512-BF16 dot products of pairs: 8 rows by two strips of the result stay in
// registers while k runs.
#include "vtpu/strip_level.h"

#ifdef __AVX512BF16__
#include <immintrin.h>
#include <string.h>

#include "vtpu/simd.h"

enum { ROWS = 8, PAIRS = 16, TILE = VTPU_STRIP_TILE / 2 };  // pairs and elements of a tile

typedef struct corner {
  const uint16_t *a, *b0, *b1;  // first tiles
  float* c;
  int rows;  // of the lhs strip
  __mmask16 mask0, mask1;
} corner_t;

// One tile of k added to 8 x 32 sums; row r of the lhs tile holds its 16 pairs.
VTPU_INLINE void add_tile(const uint16_t* a, const uint16_t* b0, const uint16_t* b1, bool two,
                          __m512 (*sum)[ROWS]) {
  for (int pair = 0; pair < PAIRS; pair++) {
    __m512bh y0 = (__m512bh)_mm512_load_si512(b0 + pair * 32);
    __m512bh y1 = two ? (__m512bh)_mm512_load_si512(b1 + pair * 32) : y0;
    for (int r = 0; r < ROWS; r++) {
      int32_t both;
      memcpy(&both, a + r * 32 + pair * 2, sizeof(both));
      __m512bh x = (__m512bh)_mm512_set1_epi32(both);
      sum[0][r] = _mm512_dpbf16_ps(sum[0][r], x, y0);
      if (two) sum[1][r] = _mm512_dpbf16_ps(sum[1][r], x, y1);
    }
  }
}

VTPU_INLINE void corner_body(const vtpu_strip_product_t* p, const corner_t* at, bool two) {
  __m512 sum[2][ROWS];
  for (int r = 0; r < ROWS; r++) {
    bool loads = p->accumulate && r < at->rows;
    const float* c = at->c + (r < at->rows ? r : 0) * p->ldc;
    sum[0][r] = _mm512_maskz_loadu_ps(loads ? at->mask0 : 0, c);
    sum[1][r] = two ? _mm512_maskz_loadu_ps(loads ? at->mask1 : 0, c + 16) : sum[0][r];
  }
  for (int64_t k = 0; k * 32 < p->k; k++)
    add_tile(at->a + k * TILE, at->b0 + k * TILE, at->b1 + k * TILE, two, sum);
  for (int r = 0; r < ROWS; r++) {
    if (r >= at->rows) break;
    _mm512_mask_storeu_ps(at->c + r * p->ldc, at->mask0, sum[0][r]);
    if (two) _mm512_mask_storeu_ps(at->c + r * p->ldc + 16, at->mask1, sum[1][r]);
  }
}

static void corner_one(const vtpu_strip_product_t* p, const corner_t* at) {
  corner_body(p, at, false);
}
static void corner_two(const vtpu_strip_product_t* p, const corner_t* at) {
  corner_body(p, at, true);
}

static __mmask16 mask_of(int left) {
  return left >= 16 ? 0xFFFF : (__mmask16)((1u << left) - 1);
}

void vtpu_strip_product_bf16(const vtpu_strip_product_t* p) {
  for (int col = 0; col < p->n; col += 32) {
    corner_t at = {.b0 = (const uint16_t*)(p->b + col / 16 * p->b_stride),
                   .mask0 = mask_of(p->n - col)};
    bool two = col + 16 < p->n;
    at.b1 = two ? at.b0 + p->b_stride / 2 : at.b0;
    at.mask1 = two ? mask_of(p->n - col - 16) : 0;
    for (int row = 0; row < p->m; row += ROWS) {
      at.a = (const uint16_t*)(p->a + row / 16 * p->a_stride) + row % 16 * 32;
      at.c = p->c + row * p->ldc + col;
      at.rows = p->m - row;
      if (two) {
        corner_two(p, &at);
      } else {
        corner_one(p, &at);
      }
    }
  }
}

const bool vtpu_strip_has_bf16 = true;
#else
const bool vtpu_strip_has_bf16 = false;
void vtpu_strip_product_bf16(const vtpu_strip_product_t* p) {
  (void)p;
}
#endif
