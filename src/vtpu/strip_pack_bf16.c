// Packing of bf16 tiles with AVX512-BF16 conversions, which round to nearest even and read subnormal
// f32 numbers as zero, as the products do. The lhs keeps 32 k of one position together, the rhs 2 k of
// each of the 16 positions.
#include "vtpu/strip_level.h"

#ifdef __AVX512BF16__
#include "vtpu/strip_load.inc"

VTPU_INLINE __m512i f32_from_bf16(__m256i x) {
  return _mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16);
}
VTPU_INLINE __m512 whole(__m512 x) {
  return x;
}
VTPU_INLINE __m512 rest(__m512 x) {
  return strip_rest(x, _mm512_castsi512_ps(f32_from_bf16((__m256i)_mm512_cvtneps_pbh(x))));
}

// along: 32 elements of a row. across: 16 elements, one in each dword.
#define LOADS_OF_F32(name, part)                                                                   \
  VTPU_INLINE __m512i name##_along(const void* row, const strip_span_t* span) {                    \
    __m512 low = part(strip_f32(row, span, 0)), high = part(strip_f32(row, span, 16));             \
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);                                                \
  }                                                                                                \
  VTPU_INLINE __m512i name##_across(const void* row, const strip_span_t* span) {                   \
    return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(part(strip_f32(row, span, 0))));      \
  }
LOADS_OF_F32(high, whole)
LOADS_OF_F32(low, rest)

VTPU_INLINE __m512i bf16_along(const void* row, const strip_span_t* span) {
  return strip_halves(row, span);
}
VTPU_INLINE __m512i bf16_across(const void* row, const strip_span_t* span) {
  return _mm512_cvtepu16_epi32(strip_half(row, span));
}

// Along k the rows are the tile's rows (lhs) or columns (rhs); across, pairs of rows make dwords.
#define PACK(name)                                                                                 \
  VTPU_INLINE void name##_tile_along(const vtpu_strip_pack_t* p, const strip_span_t* span,         \
                                     int row_count, bool is_rhs, char* out) {                      \
    __m512i x[16];                                                                                 \
    for (int r = 0; r < 16; r++)                                                                   \
      x[r] = r < row_count ? name##_along(p->rows[r], span) : _mm512_setzero_si512();              \
    strip_store(x, is_rhs, out);                                                                   \
  }                                                                                                \
  VTPU_INLINE void name##_pack_along(const vtpu_strip_pack_t* p, bool is_rhs) {                    \
    char* out = p->out;                                                                            \
    bool is_plain = !p->pieces && p->row_count == 16;                                              \
    vtpu_strip_piece_t own;                                                                        \
    strip_span_t span;                                                                             \
    int64_t i = 0;                                                                                 \
    for (; is_plain && (i + 1) * 32 <= p->count; i++, out += VTPU_STRIP_TILE) {                    \
      strip_span_whole(i, 32, &own, &span);                                                        \
      name##_tile_along(p, &span, 16, is_rhs, out);                                                \
    }                                                                                              \
    for (; i * 32 < p->count; i++, out += VTPU_STRIP_TILE) {                                       \
      strip_span(p, i, 32, &own, &span);                                                           \
      name##_tile_along(p, &span, p->row_count, is_rhs, out);                                      \
    }                                                                                              \
  }                                                                                                \
  VTPU_INLINE void name##_tile_across(const vtpu_strip_pack_t* p, const strip_span_t* span,        \
                                      int row_count, bool is_rhs, char* out) {                     \
    __m512i x[16];                                                                                 \
    for (int r = 0; r < 16; r++) {                                                                 \
      x[r] = _mm512_setzero_si512();                                                               \
      if (2 * r >= row_count) continue;                                                            \
      x[r] = name##_across(p->rows[2 * r], span);                                                  \
      if (2 * r + 1 >= row_count) continue;                                                        \
      __m512i odd = name##_across(p->rows[2 * r + 1], span);                                       \
      x[r] = _mm512_or_si512(x[r], _mm512_slli_epi32(odd, 16));                                    \
    }                                                                                              \
    strip_store(x, !is_rhs, out);                                                                  \
  }                                                                                                \
  VTPU_INLINE void name##_pack_across(const vtpu_strip_pack_t* p, bool is_rhs) {                   \
    char* out = p->out;                                                                            \
    bool is_plain = !p->pieces && p->row_count == 32;                                              \
    vtpu_strip_piece_t own;                                                                        \
    strip_span_t span;                                                                             \
    int64_t i = 0;                                                                                 \
    for (; is_plain && (i + 1) * 16 <= p->count; i++, out += p->strip_stride) {                    \
      strip_span_whole(i, 16, &own, &span);                                                        \
      name##_tile_across(p, &span, 32, is_rhs, out);                                               \
    }                                                                                              \
    for (; i * 16 < p->count; i++, out += p->strip_stride) {                                       \
      strip_span(p, i, 16, &own, &span);                                                           \
      name##_tile_across(p, &span, p->row_count, is_rhs, out);                                     \
    }                                                                                              \
  }                                                                                                \
  static void name##_lhs_along(const vtpu_strip_pack_t* pack) {                                    \
    name##_pack_along(pack, false);                                                                \
  }                                                                                                \
  static void name##_rhs_along(const vtpu_strip_pack_t* pack) {                                    \
    name##_pack_along(pack, true);                                                                 \
  }                                                                                                \
  static void name##_lhs_across(const vtpu_strip_pack_t* pack) {                                   \
    name##_pack_across(pack, false);                                                               \
  }                                                                                                \
  static void name##_rhs_across(const vtpu_strip_pack_t* pack) {                                   \
    name##_pack_across(pack, true);                                                                \
  }

PACK(bf16)
PACK(high)
PACK(low)

#define PACK_ROW(name)                                                                             \
  {                                                                                                \
    {name##_lhs_along, name##_lhs_across}, {                                                       \
      name##_rhs_along, name##_rhs_across                                                          \
    }                                                                                              \
  }

const vtpu_strip_packs_t vtpu_strip_packs_bf16 = {{[VTPU_STRIP_FROM_BF16] = PACK_ROW(bf16),
                                                   [VTPU_STRIP_FROM_HIGH] = PACK_ROW(high),
                                                   [VTPU_STRIP_FROM_LOW] = PACK_ROW(low)}};
#else
const vtpu_strip_packs_t vtpu_strip_packs_bf16;
#endif
