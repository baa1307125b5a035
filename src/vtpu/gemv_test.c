// Matrix-vector products of every stored type against loops, at lengths around the vector width.
#include "vtpu/gemv.h"
#include "vtpu/kernel_probe.h"

// The element as the product takes it: rounded, and what the rounding left.
static void element_split(tpt_dtype_t dtype, float* high, float* low) {
  float x = *high;
  *low = 0;
  if (dtype != TPT_F32) return;
  vtpu_round_to_bf16(&x, high, 1);
  *low = x - *high;
  vtpu_round_to_bf16(low, low, 1);
}

typedef struct gemv_case {
  tpt_dtype_t dtype;
  bool split, trans;
  int64_t rows, cols;
  int count;
} gemv_case_t;

static void gemv_check(const gemv_case_t* c) {
  int64_t ld = c->cols + 3;
  tpt_type_t type = tpt_type_make(c->dtype, 2, (int64_t[]){c->rows, ld});
  int64_t in = c->trans ? c->rows : c->cols, out = c->trans ? c->cols : c->rows;
  int64_t ld_x = in + 2, ld_y = out + 1;
  void* matrix = probe_random(&type);
  tpt_type_t x_type = tpt_type_make(TPT_F32, 2, (int64_t[]){2 * c->count, ld_x});
  tpt_type_t y_type = tpt_type_make(TPT_F32, 2, (int64_t[]){2 * c->count, ld_y});
  float *x = probe_random(&x_type), *y = probe_random(&y_type);
  float *x_low = x + c->count * ld_x, *low = y + c->count * ld_y;
  for (int64_t i = 0; i < 2 * c->count; i++)
    y[i * ld_y + out] = 7;
  vtpu_gemv_t gemv = {.matrix = matrix,
                      .rows = c->rows,
                      .cols = c->cols,
                      .ld = ld,
                      .count = c->count,
                      .x = x,
                      .x_low = x_low,
                      .x_ld = ld_x,
                      .y = y,
                      .low = low,
                      .y_ld = ld_y,
                      .low_ld = ld_y};
  vtpu_gemv_fn(c->dtype, c->split, c->trans)(&gemv);
  for (int64_t i = 0; i < out * c->count; i++) {
    int64_t v = i / out, o = i % out;
    double sum = 0, rest = 0;
    for (int64_t j = 0; j < in; j++) {
      int64_t at = c->trans ? j * ld + o : o * ld + j;
      float high = (float)probe_get(c->dtype, matrix, at), less;
      element_split(c->dtype, &high, &less);
      sum += (double)high * x[v * ld_x + j];
      rest += (double)less * x[v * ld_x + j] + (double)high * x_low[v * ld_x + j];
    }
    CHECK_NEAR(y[v * ld_y + o], sum, 1e-6 * (double)(in + 4));
    if (c->split) CHECK_NEAR(low[v * ld_y + o], rest, 1e-6 * (double)(in + 4));
  }
  for (int64_t i = 0; i < 2 * c->count; i++)
    CHECK(y[i * ld_y + out] == 7);
  free(matrix);
  free(x);
  free(y);
}

static void test_gemv_matches_loops(void) {
  static const tpt_dtype_t dtypes[4] = {TPT_F32, TPT_BF16, TPT_F16, TPT_F32};
  for (int round = 0; round < 200; round++) {
    gemv_case_t c = {.dtype = dtypes[round % 4],
                     .split = round % 4 == 3,
                     .trans = probe_int(0, 1),
                     .rows = probe_int(1, 40),
                     .cols = probe_int(1, round < 180 ? 40 : 5100),
                     .count = (int)probe_int(1, VTPU_GEMV_MAX)};
    gemv_check(&c);
  }
}

// Infinities and NaN are rounded as themselves; what they do to the low sum is not read.
static void test_values_that_are_not_finite(void) {
  const float matrix[3] = {INFINITY, 3.4e38f, NAN}, x[1] = {1}, x_low[1] = {0};
  float y[3], low[3];
  vtpu_gemv_t gemv = {
      .matrix = matrix, .rows = 3, .cols = 1, .ld = 1, .count = 1, .x = x, .x_low = x_low};
  gemv.x_ld = 1, gemv.y_ld = gemv.low_ld = 3, gemv.y = y, gemv.low = low;
  vtpu_gemv_fn(TPT_F32, true, false)(&gemv);
  CHECK(y[0] == INFINITY);
  CHECK(y[1] == INFINITY);  // the largest numbers round up
  CHECK(isnan(y[2]));
}

static void test_other_types_have_no_gemv(void) {
  CHECK(!vtpu_gemv_fn(TPT_F64, false, false) && !vtpu_gemv_fn(TPT_S32, false, true));
}

int main(void) {
  RUN(test_gemv_matches_loops);
  RUN(test_values_that_are_not_finite);
  RUN(test_other_types_have_no_gemv);
  return TEST_RESULT;
}
