// Packing of bf16 tiles with AVX512-BF16 conversions, which round to nearest even and read subnormal
// f32 numbers as zero, as the products do. Compiled for that instruction set; bf16.c decides whether
// it may run.
#include "vtpu/bf16_level.h"

#ifdef __AVX512BF16__
#include <immintrin.h>
#include <string.h>

#include "vtpu/simd.h"

// 16 f32 as they are multiplied: themselves, or what rounding to bf16 leaves (0 where that is not
// finite, since the high part says everything already).
VTPU_INLINE __m512 part_whole(__m512 x) {
  return x;
}

VTPU_INLINE __m512i f32_from_bf16(__m256i x) {
  return _mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16);
}

VTPU_INLINE __m512 part_rest(__m512 x) {
  __m256i high = (__m256i)_mm512_cvtneps_pbh(x);
  __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(f32_from_bf16(high)));
  __mmask16 is_finite =
      _mm512_cmp_ps_mask(_mm512_sub_ps(rest, rest), _mm512_setzero_ps(), _CMP_EQ_OQ);
  return _mm512_maskz_mov_ps(is_finite, rest);
}

// along: 32 elements of a row, those outside the mask zero. across: 16 elements, one in each dword.
#define PAIRS_OF_F32(name, part)                                                                   \
  VTPU_INLINE __m512i name##_along(const void* row, int64_t i, __mmask32 mask) {                   \
    const float* x = (const float*)row + i;                                                        \
    __m512 low = part(_mm512_maskz_loadu_ps((__mmask16)mask, x));                                  \
    __m512 high = part(_mm512_maskz_loadu_ps((__mmask16)(mask >> 16), x + 16));                    \
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);                                                \
  }                                                                                                \
  VTPU_INLINE __m512i name##_across(const void* row, int64_t i, __mmask16 mask) {                  \
    __m512 x = part(_mm512_maskz_loadu_ps(mask, (const float*)row + i));                           \
    return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x));                                  \
  }
PAIRS_OF_F32(f32, part_whole)
PAIRS_OF_F32(low, part_rest)

VTPU_INLINE __m512i bf16_along(const void* row, int64_t i, __mmask32 mask) {
  return _mm512_maskz_loadu_epi16(mask, (const uint16_t*)row + i);
}
VTPU_INLINE __m512i bf16_across(const void* row, int64_t i, __mmask16 mask) {
  return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, (const uint16_t*)row + i));
}

VTPU_INLINE void transpose_step(__m512i* x, int distance, __m512i take_low, __m512i take_high) {
  for (int i = 0; i < 16; i++) {
    if (i & distance) continue;
    __m512i a = x[i], b = x[i + distance];
    x[i] = _mm512_permutex2var_epi32(a, take_low, b);
    x[i + distance] = _mm512_permutex2var_epi32(a, take_high, b);
  }
}

// Transposes 16 x 16 dwords: step by step, the off-diagonal blocks of 8, 4, 2, 1 change places.
VTPU_INLINE void transpose(__m512i* x) {
  const __m512i low8 = _mm512_set_epi32(23, 22, 21, 20, 19, 18, 17, 16, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i high8 =
      _mm512_set_epi32(31, 30, 29, 28, 27, 26, 25, 24, 15, 14, 13, 12, 11, 10, 9, 8);
  const __m512i low4 = _mm512_set_epi32(27, 26, 25, 24, 11, 10, 9, 8, 19, 18, 17, 16, 3, 2, 1, 0);
  const __m512i high4 =
      _mm512_set_epi32(31, 30, 29, 28, 15, 14, 13, 12, 23, 22, 21, 20, 7, 6, 5, 4);
  const __m512i low2 = _mm512_set_epi32(29, 28, 13, 12, 25, 24, 9, 8, 21, 20, 5, 4, 17, 16, 1, 0);
  const __m512i high2 =
      _mm512_set_epi32(31, 30, 15, 14, 27, 26, 11, 10, 23, 22, 7, 6, 19, 18, 3, 2);
  const __m512i low1 = _mm512_set_epi32(30, 14, 28, 12, 26, 10, 24, 8, 22, 6, 20, 4, 18, 2, 16, 0);
  const __m512i high1 = _mm512_set_epi32(31, 15, 29, 13, 27, 11, 25, 9, 23, 7, 21, 5, 19, 3, 17, 1);
  transpose_step(x, 8, low8, high8);
  transpose_step(x, 4, low4, high4);
  transpose_step(x, 2, low2, high2);
  transpose_step(x, 1, low1, high1);
}

VTPU_INLINE void tile_store(__m512i* x, bool transposes, uint16_t* out) {
  if (transposes) transpose(x);
  for (int r = 0; r < 16; r++)
    _mm512_store_si512(out + r * 32, x[r]);
}

VTPU_INLINE __mmask32 mask_of(int64_t left) {
  return left >= 32 ? 0xFFFFFFFFu : (1u << left) - 1;
}

// Rows that do not exist are read as row 0 behind an empty mask.
#define ROW(r, count) ((r) < (count) ? (r) : 0)

// Rows along k: the tile's rows (lhs), or its columns (rhs).
#define PACK_ALONG(part)                                                                           \
  VTPU_INLINE void part##_tile_along(const vtpu_bf16_pack_t* p, int64_t k, __mmask32 mask,         \
                                     __m512i* x, bool is_full) {                                   \
    for (int r = 0; r < 16; r++) {                                                                 \
      __mmask32 row_mask = is_full || r < p->row_count ? mask : 0;                                 \
      x[r] = part##_along(p->rows[is_full ? r : ROW(r, p->row_count)], k, row_mask);               \
    }                                                                                              \
  }                                                                                                \
  VTPU_INLINE void part##_pack_along(const vtpu_bf16_pack_t* p, bool is_rhs) {                     \
    uint16_t* out = p->out;                                                                        \
    for (int64_t k = 0; k < p->count; k += VTPU_BF16_DEPTH, out += VTPU_BF16_TILE) {               \
      __m512i x[16];                                                                               \
      if (p->row_count == 16 && p->count - k >= 32) {                                              \
        part##_tile_along(p, k, 0xFFFFFFFFu, x, true);                                             \
      } else {                                                                                     \
        part##_tile_along(p, k, mask_of(p->count - k), x, false);                                  \
      }                                                                                            \
      tile_store(x, is_rhs, out);                                                                  \
    }                                                                                              \
  }

// Rows along the free axis: pairs of rows make the dwords of one k pair.
#define PACK_ACROSS(part)                                                                          \
  VTPU_INLINE void part##_tile_across(const vtpu_bf16_pack_t* p, int64_t i, __mmask16 mask,        \
                                      __m512i* x, bool is_full) {                                  \
    for (int r = 0; r < 16; r++) {                                                                 \
      int even = 2 * r, odd = even + 1, count = p->row_count;                                      \
      __mmask16 mask0 = is_full || even < count ? mask : 0;                                        \
      __mmask16 mask1 = is_full || odd < count ? mask : 0;                                         \
      if (!is_full) even = ROW(even, count), odd = ROW(odd, count);                                \
      x[r] = _mm512_or_si512(part##_across(p->rows[even], i, mask0),                               \
                             _mm512_slli_epi32(part##_across(p->rows[odd], i, mask1), 16));        \
    }                                                                                              \
  }                                                                                                \
  VTPU_INLINE void part##_pack_across(const vtpu_bf16_pack_t* p, bool is_rhs) {                    \
    uint16_t* out = p->out;                                                                        \
    for (int64_t i = 0; i < p->count; i += VTPU_BF16_FREE, out += p->strip_stride) {               \
      __m512i x[16];                                                                               \
      if (p->row_count == 32 && p->count - i >= 16) {                                              \
        part##_tile_across(p, i, 0xFFFF, x, true);                                                 \
      } else {                                                                                     \
        part##_tile_across(p, i, (__mmask16)mask_of(p->count - i), x, false);                      \
      }                                                                                            \
      tile_store(x, !is_rhs, out);                                                                 \
    }                                                                                              \
  }

#define PACK(part)                                                                                 \
  PACK_ALONG(part)                                                                                 \
  PACK_ACROSS(part)                                                                                \
  static void part##_lhs_along(const vtpu_bf16_pack_t* pack) {                                     \
    part##_pack_along(pack, false);                                                                \
  }                                                                                                \
  static void part##_rhs_along(const vtpu_bf16_pack_t* pack) {                                     \
    part##_pack_along(pack, true);                                                                 \
  }                                                                                                \
  static void part##_lhs_across(const vtpu_bf16_pack_t* pack) {                                    \
    part##_pack_across(pack, false);                                                               \
  }                                                                                                \
  static void part##_rhs_across(const vtpu_bf16_pack_t* pack) {                                    \
    part##_pack_across(pack, true);                                                                \
  }

PACK(bf16)
PACK(f32)
PACK(low)

#define PACK_ROW(part)                                                                             \
  {                                                                                                \
    {part##_lhs_along, part##_lhs_across}, {                                                       \
      part##_rhs_along, part##_rhs_across                                                          \
    }                                                                                              \
  }

const vtpu_bf16_packs_t vtpu_bf16_packs = {{[VTPU_BF16_FROM_BF16] = PACK_ROW(bf16),
                                            [VTPU_BF16_FROM_F32] = PACK_ROW(f32),
                                            [VTPU_BF16_FROM_F32_LOW] = PACK_ROW(low)}};
#else
const vtpu_bf16_packs_t vtpu_bf16_packs;
#endif
