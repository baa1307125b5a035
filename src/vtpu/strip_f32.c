// f32 strips on AVX-512: packing (a tile holds 16 k of 16 positions, k by k) and products, whose sums of
// 8 rows by two strips stay in registers while k runs.
#include "vtpu/strip_level.h"

#ifdef __AVX512F__
#include "vtpu/strip_load.inc"

enum { DEPTH = 16 };

// --- packing ----------------------------------------------------------------------------------------

// The nearest bf16, kept as f32.
VTPU_INLINE __m512 high_of(__m512 x) {
  __m512i bits = _mm512_castps_si512(x), top = _mm512_set1_epi32((int)0xFFFF0000u);
  __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
  __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  sum = _mm512_mask_or_epi32(sum, is_nan, bits, _mm512_set1_epi32(0x00400000));
  return _mm512_castsi512_ps(_mm512_and_si512(sum, top));
}

VTPU_INLINE __m512 f32_load(const void* row, const strip_span_t* span) {
  return strip_f32(row, span, 0);
}
VTPU_INLINE __m512 high_load(const void* row, const strip_span_t* span) {
  return high_of(strip_f32(row, span, 0));
}
VTPU_INLINE __m512 low_load(const void* row, const strip_span_t* span) {
  __m512 x = strip_f32(row, span, 0);
  return high_of(strip_rest(x, high_of(x)));
}
VTPU_INLINE __m512 bf16_load(const void* row, const strip_span_t* span) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(strip_half(row, span)), 16));
}
VTPU_INLINE __m512 f16_load(const void* row, const strip_span_t* span) {
  return _mm512_cvtph_ps(strip_half(row, span));
}

#define PACK(name)                                                                                 \
  VTPU_INLINE void name##_tile(const vtpu_strip_pack_t* p, const strip_span_t* span,               \
                               int row_count, bool along, char* out) {                             \
    __m512i x[16];                                                                                 \
    for (int r = 0; r < 16; r++)                                                                   \
      x[r] = r < row_count ? _mm512_castps_si512(name##_load(p->rows[r], span))                    \
                           : _mm512_setzero_si512();                                               \
    strip_store(x, along, out);                                                                    \
  }                                                                                                \
  VTPU_INLINE void name##_pack(const vtpu_strip_pack_t* p, bool along) {                           \
    char* out = p->out;                                                                            \
    int64_t i = 0, step = along ? VTPU_STRIP_TILE : p->strip_stride;                               \
    bool is_plain = !p->pieces && p->row_count == 16;                                              \
    vtpu_strip_piece_t own;                                                                        \
    strip_span_t span;                                                                             \
    for (; is_plain && (i + 1) * 16 <= p->count; i++, out += step) {                               \
      strip_span_whole(i, 16, &own, &span);                                                        \
      name##_tile(p, &span, 16, along, out);                                                       \
    }                                                                                              \
    for (; i * 16 < p->count; i++, out += step) {                                                  \
      strip_span(p, i, 16, &own, &span);                                                           \
      name##_tile(p, &span, p->row_count, along, out);                                             \
    }                                                                                              \
  }                                                                                                \
  static void name##_along(const vtpu_strip_pack_t* pack) {                                        \
    name##_pack(pack, true);                                                                       \
  }                                                                                                \
  static void name##_across(const vtpu_strip_pack_t* pack) {                                       \
    name##_pack(pack, false);                                                                      \
  }

PACK(f32)
PACK(high)
PACK(low)
PACK(bf16)
PACK(f16)

#define PACK_ROW(name)                                                                             \
  {                                                                                                \
    {name##_along, name##_across}, {                                                               \
      name##_along, name##_across                                                                  \
    }                                                                                              \
  }

const vtpu_strip_packs_t vtpu_strip_packs_f32 = {{[VTPU_STRIP_FROM_BF16] = PACK_ROW(bf16),
                                                  [VTPU_STRIP_FROM_HIGH] = PACK_ROW(high),
                                                  [VTPU_STRIP_FROM_LOW] = PACK_ROW(low),
                                                  [VTPU_STRIP_FROM_F32] = PACK_ROW(f32),
                                                  [VTPU_STRIP_FROM_F16] = PACK_ROW(f16)}};

// --- products ---------------------------------------------------------------------------------------

enum {
  ROWS = 8,
  K_BLOCK = 256,  // two rhs strips of it (32 KiB) stay in the first cache
};

// 8 x 32 (or fewer) results. While it runs, a share of what comes next is fetched into the second cache:
// the next pair of rhs strips, and the next stretch of k of the lhs strip.
typedef struct corner {
  const float *a, *b0, *b1;
  const char *next_a, *next_b;
  float* c;
  int64_t k, ldc;
  int rows;
  __mmask16 mask0, mask1;
  bool adds;
} corner_t;

typedef struct sums {
  __m512 x[2][ROWS];
} sums_t;

VTPU_INLINE void corner_step(const float* a, const float* b0, const float* b1, int row_count,
                             bool two, sums_t* sum) {
  __m512 y0 = _mm512_load_ps(b0), y1 = two ? _mm512_load_ps(b1) : y0;
  for (int r = 0; r < row_count; r++) {
    __m512 x = _mm512_set1_ps(a[r]);
    sum->x[0][r] = _mm512_fmadd_ps(x, y0, sum->x[0][r]);
    if (two) sum->x[1][r] = _mm512_fmadd_ps(x, y1, sum->x[1][r]);
  }
}

VTPU_INLINE void corner_body(const corner_t* at, int row_count, bool two) {
  sums_t sum;
  for (int r = 0; r < row_count; r++) {
    sum.x[0][r] = sum.x[1][r] = _mm512_setzero_ps();
    float* c = at->c + (r < at->rows ? r : 0) * at->ldc;
    _mm_prefetch((const char*)c, _MM_HINT_T0);
    if (two) _mm_prefetch((const char*)(c + 16), _MM_HINT_T0);
  }
  const float *a = at->a, *b0 = at->b0, *b1 = at->b1;
  const char *next_a = at->next_a, *next_b = at->next_b;
  int64_t k = 0;
  for (; k + DEPTH <= at->k; k += DEPTH, next_a += 64, next_b += 64) {
    _mm_prefetch(next_a, _MM_HINT_T1);
    _mm_prefetch(next_b, _MM_HINT_T1);
    for (int i = 0; i < DEPTH; i++, a += 16, b0 += 16, b1 += 16)
      corner_step(a, b0, b1, row_count, two, &sum);
  }
  for (; k < at->k; k++, a += 16, b0 += 16, b1 += 16)
    corner_step(a, b0, b1, row_count, two, &sum);
  for (int r = 0; r < row_count && r < at->rows; r++) {
    float* c = at->c + r * at->ldc;
    __m512 x0 = sum.x[0][r], x1 = sum.x[1][r];
    if (at->adds) x0 = _mm512_add_ps(_mm512_maskz_loadu_ps(at->mask0, c), x0);
    _mm512_mask_storeu_ps(c, at->mask0, x0);
    if (!two) continue;
    if (at->adds) x1 = _mm512_add_ps(_mm512_maskz_loadu_ps(at->mask1, c + 16), x1);
    _mm512_mask_storeu_ps(c + 16, at->mask1, x1);
  }
}

static void corner_8x2(const corner_t* at) {
  corner_body(at, 8, true);
}
static void corner_8x1(const corner_t* at) {
  corner_body(at, 8, false);
}
static void corner_4x2(const corner_t* at) {
  corner_body(at, 4, true);
}
static void corner_4x1(const corner_t* at) {
  corner_body(at, 4, false);
}

static __mmask16 mask_of(int left) {
  return left >= 16 ? 0xFFFF : (__mmask16)((1u << left) - 1);
}

static void block_product(const vtpu_strip_product_t* p, int64_t k, int64_t k_count) {
  int64_t share = k_count / DEPTH * 64;  // bytes that a corner fetches of each operand
  for (int col = 0; col < p->n; col += 32) {
    bool two = col + 16 < p->n;
    corner_t at = {.b0 = (const float*)(p->b + col / 16 * p->b_stride) + k * 16,
                   .k = k_count,
                   .ldc = p->ldc,
                   .mask0 = mask_of(p->n - col),
                   .adds = p->accumulate || k > 0};
    at.b1 = two ? at.b0 + p->b_stride / 4 : at.b0;
    at.mask1 = two ? mask_of(p->n - col - 16) : 0;
    for (int row = 0; row < p->m; row += ROWS) {
      at.a = (const float*)(p->a + row / 16 * p->a_stride) + k * 16 + row % 16;
      at.next_a = (const char*)at.a + k_count * 64 + (col / 16 + (row / 8 & 1)) * share;
      int64_t part = row / 8 * share;
      at.next_b = (const char*)at.b0 + 2 * p->b_stride;
      at.next_b += part < k_count * 64 ? part : p->b_stride + part - k_count * 64;
      at.c = p->c + row * p->ldc + col;
      at.rows = p->m - row;
      if (at.rows > 4) {
        (two ? corner_8x2 : corner_8x1)(&at);
      } else {
        (two ? corner_4x2 : corner_4x1)(&at);
      }
    }
  }
}

void vtpu_strip_product_f32(const vtpu_strip_product_t* p) {
  int64_t k = 0;
  do {
    int64_t left = p->k - k;
    block_product(p, k, left < K_BLOCK ? left : K_BLOCK);
    k += K_BLOCK;
  } while (k < p->k);
}

const bool vtpu_strip_has_f32 = true;
#else
const vtpu_strip_packs_t vtpu_strip_packs_f32;
const bool vtpu_strip_has_f32 = false;
void vtpu_strip_product_f32(const vtpu_strip_product_t* p) {
  (void)p;
}
#endif
