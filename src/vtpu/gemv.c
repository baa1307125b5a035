// Matrix-vector products over elements that are converted in registers. Sums along rows run in 16 lanes,
// the same ones on every CPU.
#include "vtpu/gemv.h"

#include <string.h>

#include "vtpu/half.h"

enum { LANES = 16, ROWS = 4, COLUMNS = 512 };  // columns: of y that stay in the first cache

VTPU_INLINE float load_f32(float x) {
  return vtpu_f32_from_bits(vtpu_bf16_round_bits(vtpu_bits_from_f32(x)));
}

#define GEMV(name, type, load)                                                                     \
  /* Rows first, first + 1, ... of the product, together so that their streams overlap. */         \
  VTPU_INLINE void name##_some_rows(const vtpu_gemv_t* g, int64_t first, int count) {              \
    const type* row = (const type*)g->matrix + first * g->ld;                                      \
    const float* x = g->x;                                                                         \
    float lanes[ROWS][LANES] = {{0}};                                                              \
    int64_t c = 0;                                                                                 \
    for (; c + LANES <= g->cols; c += LANES)                                                       \
      for (int r = 0; r < count; r++)                                                              \
        for (int l = 0; l < LANES; l++)                                                            \
          lanes[r][l] += load(row[r * g->ld + c + l]) * x[c + l];                                  \
    for (int r = 0; r < count; r++) {                                                              \
      float sum = 0;                                                                               \
      for (int64_t i = c; i < g->cols; i++)                                                        \
        lanes[r][i - c] += load(row[r * g->ld + i]) * x[i];                                        \
      for (int l = 0; l < LANES; l++)                                                              \
        sum += lanes[r][l];                                                                        \
      g->y[first + r] = sum;                                                                       \
    }                                                                                              \
  }                                                                                                \
  VTPU_INLINE void name##_rows_body(const vtpu_gemv_t* g) {                                        \
    int64_t r = 0;                                                                                 \
    for (; r + ROWS <= g->rows; r += ROWS)                                                         \
      name##_some_rows(g, r, ROWS);                                                                \
    for (; r < g->rows; r++)                                                                       \
      name##_some_rows(g, r, 1);                                                                   \
  }                                                                                                \
  VTPU_INLINE void name##_cols_body(const vtpu_gemv_t* g) {                                        \
    for (int64_t first = 0; first < g->cols; first += COLUMNS) {                                   \
      int64_t count = g->cols - first < COLUMNS ? g->cols - first : COLUMNS;                       \
      float* restrict y = g->y + first;                                                            \
      memset(y, 0, (size_t)count * sizeof(float));                                                 \
      int64_t r = 0;                                                                               \
      for (; r + 4 <= g->rows; r += 4) {                                                           \
        const type* row = (const type*)g->matrix + r * g->ld + first;                              \
        const type *row1 = row + g->ld, *row2 = row1 + g->ld, *row3 = row2 + g->ld;                \
        float x0 = g->x[r], x1 = g->x[r + 1], x2 = g->x[r + 2], x3 = g->x[r + 3];                  \
        for (int64_t c = 0; c < count; c++)                                                        \
          y[c] += (load(row[c]) * x0 + load(row1[c]) * x1) +                                       \
                  (load(row2[c]) * x2 + load(row3[c]) * x3);                                       \
      }                                                                                            \
      for (; r < g->rows; r++) {                                                                   \
        const type* row = (const type*)g->matrix + r * g->ld + first;                              \
        float x = g->x[r];                                                                         \
        for (int64_t c = 0; c < count; c++)                                                        \
          y[c] += load(row[c]) * x;                                                                \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  VTPU_SIMD_FUNCTION(static, name##_rows, (const vtpu_gemv_t* g), (g))                             \
  VTPU_SIMD_FUNCTION(static, name##_cols, (const vtpu_gemv_t* g), (g))

GEMV(f32, float, load_f32)
GEMV(bf16, uint16_t, vtpu_f32_from_bf16_one)
GEMV(f16, uint16_t, vtpu_f32_from_f16_one)

vtpu_gemv_fn_t vtpu_gemv_fn(tpt_dtype_t dtype, bool trans) {
  if (dtype == TPT_F32) return trans ? f32_cols : f32_rows;
  if (dtype == TPT_BF16) return trans ? bf16_cols : bf16_rows;
  if (dtype == TPT_F16) return trans ? f16_cols : f16_rows;
  return NULL;
}
