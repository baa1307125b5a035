// Matrix-vector products over elements that are converted in registers. Sums along rows run in 16 lanes,
// the same ones on every CPU: vectors of 16 are what the source says, and the compiler cuts them to the
// registers of each level, and fuses multiplications with additions where the level has that.
#include "vtpu/gemv.h"

#include <string.h>

#include "vtpu/half.h"

enum {
  LANES = 16,
  ROWS = 4,
  COLUMNS = 4096,  // of all y together, which stay in the first cache
  AHEAD = 512,     // bytes of a row
};

typedef float floats_t __attribute__((vector_size(64)));
typedef int32_t bits_t __attribute__((vector_size(64)));
typedef uint16_t halves_t __attribute__((vector_size(32)));

// 16 elements as the products take them.
typedef struct lanes {
  floats_t high, low;
} lanes_t;

// The nearest bf16, kept as f32; NaN stays what it is.
VTPU_INLINE void lanes_round(const floats_t* in, floats_t* out) {
  bits_t x = (bits_t)*in, is_number = *in == *in;
  bits_t rounded = (x + (0x7FFF + ((x >> 16) & 1))) & (int32_t)0xFFFF0000;
  *out = (floats_t)((is_number & rounded) | (~is_number & x));
}

// Loads 16 elements; the rest is 0 where the high part is not finite.
VTPU_INLINE void f32_load(const float* from, lanes_t* out) {
  memcpy(&out->low, from, sizeof(out->low));
  lanes_round(&out->low, &out->high);
}
VTPU_INLINE void split_load(const float* from, lanes_t* out) {
  f32_load(from, out);
  floats_t rest = out->low - out->high;
  bits_t is_finite = (rest - rest) == 0;
  rest = (floats_t)((bits_t)rest & is_finite);
  lanes_round(&rest, &out->low);
}
VTPU_INLINE void bf16_load(const uint16_t* from, lanes_t* out) {
  halves_t halves;
  memcpy(&halves, from, sizeof(halves));
  out->high = (floats_t)(__builtin_convertvector(halves, bits_t) << 16);
}
VTPU_INLINE void f16_load(const uint16_t* from, lanes_t* out) {
  float values[LANES];
  for (int l = 0; l < LANES; l++)
    values[l] = vtpu_f32_from_f16_one(from[l]);
  memcpy(&out->high, values, sizeof(values));
}

VTPU_INLINE void floats_load(const float* from, floats_t* out) {
  memcpy(out, from, sizeof(*out));
}

VTPU_INLINE float lanes_sum(const floats_t* x) {
  float sum = 0;
  for (int l = 0; l < LANES; l++)
    sum += (*x)[l];
  return sum;
}

// Sums of up to ROWS rows with up to VTPU_GEMV_MAX vectors.
typedef struct sums {
  floats_t high[ROWS][VTPU_GEMV_MAX], low[ROWS][VTPU_GEMV_MAX];
} sums_t;

typedef struct vectors {
  floats_t high[VTPU_GEMV_MAX], low[VTPU_GEMV_MAX];
} vectors_t;

VTPU_INLINE void vectors_load(const vtpu_gemv_t* g, int64_t at, int count, bool split,
                              vectors_t* out) {
  for (int i = 0; i < count; i++) {
    floats_load(g->x + i * g->x_ld + at, &out->high[i]);
    if (split) floats_load(g->x_low + i * g->x_ld + at, &out->low[i]);
  }
}

VTPU_INLINE void sums_add(sums_t* sums, int row, const lanes_t* m, const vectors_t* x, int count,
                          bool split) {
  for (int i = 0; i < count; i++) {
    sums->high[row][i] += m->high * x->high[i];
    if (split) sums->low[row][i] += m->low * x->high[i] + m->high * x->low[i];
  }
}

#define GEMV(name, type, split)                                                                    \
  /* The elements from `at` on that fill no vector; others are zero. */                            \
  VTPU_INLINE void name##_tail(const vtpu_gemv_t* g, int64_t first, int rows, int count,           \
                               int64_t at, sums_t* sums) {                                         \
    size_t left = (size_t)(g->cols - at);                                                          \
    vectors_t x = {.high = {{0}}, .low = {{0}}};                                                   \
    for (int i = 0; i < count; i++) {                                                              \
      memcpy(&x.high[i], g->x + i * g->x_ld + at, left * sizeof(float));                           \
      if (split) memcpy(&x.low[i], g->x_low + i * g->x_ld + at, left * sizeof(float));             \
    }                                                                                              \
    for (int r = 0; r < rows; r++) {                                                               \
      type elements[LANES] = {0};                                                                  \
      lanes_t m;                                                                                   \
      memcpy(elements, (const type*)g->matrix + (first + r) * g->ld + at, left * sizeof(type));    \
      name##_load(elements, &m);                                                                   \
      sums_add(sums, r, &m, &x, count, split);                                                     \
    }                                                                                              \
  }                                                                                                \
  /* Rows first, first + 1, ... of the product, together so that their streams overlap. */         \
  VTPU_INLINE void name##_some_rows(const vtpu_gemv_t* g, int64_t first, int rows, int count) {    \
    const type* row = (const type*)g->matrix + first * g->ld;                                      \
    sums_t sums = {.high = {{{0}}}, .low = {{{0}}}};                                               \
    int64_t c = 0;                                                                                 \
    for (; c + LANES <= g->cols; c += LANES) {                                                     \
      vectors_t x;                                                                                 \
      vectors_load(g, c, count, split, &x);                                                        \
      for (int r = 0; r < rows; r++) {                                                             \
        lanes_t m;                                                                                 \
        __builtin_prefetch((const char*)(row + r * g->ld + c) + AHEAD);                            \
        name##_load(row + r * g->ld + c, &m);                                                      \
        sums_add(&sums, r, &m, &x, count, split);                                                  \
      }                                                                                            \
    }                                                                                              \
    if (c < g->cols) name##_tail(g, first, rows, count, c, &sums);                                 \
    for (int r = 0; r < rows; r++)                                                                 \
      for (int i = 0; i < count; i++) {                                                            \
        g->y[i * g->y_ld + first + r] = lanes_sum(&sums.high[r][i]);                               \
        if (split) g->low[i * g->low_ld + first + r] = lanes_sum(&sums.low[r][i]);                 \
      }                                                                                            \
  }                                                                                                \
  VTPU_INLINE void name##_all_rows(const vtpu_gemv_t* g, int count) {                              \
    int64_t r = 0;                                                                                 \
    for (; r + ROWS <= g->rows; r += ROWS)                                                         \
      name##_some_rows(g, r, ROWS, count);                                                         \
    for (; r < g->rows; r++)                                                                       \
      name##_some_rows(g, r, 1, count);                                                            \
  }                                                                                                \
  VTPU_INLINE void name##_rows_body(const vtpu_gemv_t* g) {                                        \
    if (g->count == 1) name##_all_rows(g, 1);                                                      \
    if (g->count == 2) name##_all_rows(g, 2);                                                      \
  }                                                                                                \
  VTPU_SIMD_FUNCTION(static, name##_rows, (const vtpu_gemv_t* g), (g))

GEMV(f32, float, false)
GEMV(split, float, true)
GEMV(bf16, uint16_t, false)
GEMV(f16, uint16_t, false)

// --- transposed ---------------------------------------------------------------------------------------

// Rows row .. row + 3 (or one) by columns first .. first + count, and the numbers of these rows.
typedef struct stretch {
  int64_t row, first, count;
  float x[VTPU_GEMV_MAX][ROWS], x_low[VTPU_GEMV_MAX][ROWS];
} stretch_t;

VTPU_INLINE void stretch_numbers(const vtpu_gemv_t* g, int rows, int count, bool split,
                                 stretch_t* s) {
  for (int i = 0; i < count; i++)
    for (int r = 0; r < rows; r++) {
      s->x[i][r] = g->x[i * g->x_ld + s->row + r];
      if (split) s->x_low[i][r] = g->x_low[i * g->x_ld + s->row + r];
    }
}

VTPU_INLINE void terms_add(const lanes_t* m, const float* x, int rows, floats_t* y) {
  if (rows == ROWS) {
    *y += (m[0].high * x[0] + m[1].high * x[1]) + (m[2].high * x[2] + m[3].high * x[3]);
  } else {
    *y += m[0].high * x[0];
  }
}

// Constants after inlining.
typedef struct shape {
  int rows, count;
  bool split;
} shape_t;

// Adds `left` columns from c on of these rows to the results.
VTPU_INLINE void results_add(const vtpu_gemv_t* g, const stretch_t* s, const lanes_t* m, int64_t c,
                             size_t left, shape_t shape) {
  for (int i = 0; i < shape.count; i++) {
    float* to = g->y + i * g->y_ld + s->first + c;
    floats_t y = {0}, low = {0};
    memcpy(&y, to, left * sizeof(float));
    terms_add(m, s->x[i], shape.rows, &y);
    memcpy(to, &y, left * sizeof(float));
    if (!shape.split) continue;
    to = g->low + i * g->low_ld + s->first + c;
    memcpy(&low, to, left * sizeof(float));
    for (int r = 0; r < shape.rows; r++)
      low += m[r].low * s->x[i][r] + m[r].high * s->x_low[i][r];
    memcpy(to, &low, left * sizeof(float));
  }
}

#define GEMV_TRANS(name, type, split)                                                              \
  VTPU_INLINE void name##_stretch(const vtpu_gemv_t* g, stretch_t* s, int rows, int count) {       \
    const type* row = (const type*)g->matrix + s->row * g->ld + s->first;                          \
    lanes_t m[ROWS];                                                                               \
    int64_t c = 0;                                                                                 \
    stretch_numbers(g, rows, count, split, s);                                                     \
    for (; c + LANES <= s->count; c += LANES) {                                                    \
      for (int r = 0; r < rows; r++) {                                                             \
        __builtin_prefetch((const char*)(row + r * g->ld + c) + AHEAD);                            \
        name##_load(row + r * g->ld + c, &m[r]);                                                   \
      }                                                                                            \
      results_add(g, s, m, c, LANES, (shape_t){rows, count, split});                               \
    }                                                                                              \
    if (c == s->count) return;                                                                     \
    size_t left = (size_t)(s->count - c);                                                          \
    for (int r = 0; r < rows; r++) {                                                               \
      type elements[LANES] = {0};                                                                  \
      memcpy(elements, row + r * g->ld + c, left * sizeof(type));                                  \
      name##_load(elements, &m[r]);                                                                \
    }                                                                                              \
    results_add(g, s, m, c, left, (shape_t){rows, count, split});                                  \
  }                                                                                                \
  VTPU_INLINE void name##_all_cols(const vtpu_gemv_t* g, int count) {                              \
    int64_t most = COLUMNS / count;                                                                \
    for (int64_t first = 0; first < g->cols; first += most) {                                      \
      stretch_t s = {.first = first};                                                              \
      s.count = g->cols - first < most ? g->cols - first : most;                                   \
      for (int i = 0; i < count; i++) {                                                            \
        memset(g->y + i * g->y_ld + first, 0, (size_t)s.count * sizeof(float));                    \
        if (split) memset(g->low + i * g->low_ld + first, 0, (size_t)s.count * sizeof(float));     \
      }                                                                                            \
      for (; s.row + ROWS <= g->rows; s.row += ROWS)                                               \
        name##_stretch(g, &s, ROWS, count);                                                        \
      for (; s.row < g->rows; s.row++)                                                             \
        name##_stretch(g, &s, 1, count);                                                           \
    }                                                                                              \
  }                                                                                                \
  VTPU_INLINE void name##_cols_body(const vtpu_gemv_t* g) {                                        \
    if (g->count == 1) name##_all_cols(g, 1);                                                      \
    if (g->count == 2) name##_all_cols(g, 2);                                                      \
  }                                                                                                \
  VTPU_SIMD_FUNCTION(static, name##_cols, (const vtpu_gemv_t* g), (g))

GEMV_TRANS(f32, float, false)
GEMV_TRANS(split, float, true)
GEMV_TRANS(bf16, uint16_t, false)
GEMV_TRANS(f16, uint16_t, false)

vtpu_gemv_fn_t vtpu_gemv_fn(tpt_dtype_t dtype, bool split, bool trans) {
  if (dtype == TPT_F32 && split) return trans ? split_cols : split_rows;
  if (dtype == TPT_F32) return trans ? f32_cols : f32_rows;
  if (dtype == TPT_BF16) return trans ? bf16_cols : bf16_rows;
  if (dtype == TPT_F16) return trans ? f16_cols : f16_rows;
  return NULL;
}
