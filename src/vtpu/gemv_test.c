// Matrix-vector products of every stored type against loops, at lengths around the vector width.
#include "vtpu/gemv.h"
#include "vtpu/kernel_probe.h"

static void gemv_case(tpt_dtype_t dtype, bool trans, int64_t rows, int64_t cols) {
  tpt_type_t type = tpt_type_make(dtype, 2, (int64_t[]){rows, cols + 3});
  int64_t in = trans ? rows : cols, out = trans ? cols : rows;
  void* matrix = probe_random(&type);
  float* x = malloc((size_t)(in + 1) * sizeof(*x));
  float* y = malloc((size_t)(out + 1) * sizeof(*y));
  for (int64_t i = 0; i < in; i++)
    x[i] = (float)probe_real();
  y[out] = 7;
  vtpu_gemv_t gemv = {.matrix = matrix, .rows = rows, .cols = cols, .ld = cols + 3, .x = x, .y = y};
  vtpu_gemv_fn(dtype, trans)(&gemv);
  for (int64_t i = 0; i < out; i++) {
    double sum = 0;
    for (int64_t j = 0; j < in; j++) {
      int64_t at = trans ? j * (cols + 3) + i : i * (cols + 3) + j;
      float element = (float)probe_get(dtype, matrix, at);
      if (dtype == TPT_F32) vtpu_round_to_bf16(&element, &element, 1);
      sum += (double)element * x[j];
    }
    CHECK_NEAR(y[i], sum, 1e-6 * (double)(in + 4));
  }
  CHECK(y[out] == 7);
  free(matrix);
  free(x);
  free(y);
}

static void test_gemv_matches_loops(void) {
  static const tpt_dtype_t dtypes[3] = {TPT_F32, TPT_BF16, TPT_F16};
  for (int round = 0; round < 90; round++)
    gemv_case(dtypes[round % 3], round & 1, probe_int(1, 40), probe_int(1, round < 80 ? 40 : 1100));
}

static void test_other_types_have_no_gemv(void) {
  CHECK(!vtpu_gemv_fn(TPT_F64, false) && !vtpu_gemv_fn(TPT_S32, true));
}

int main(void) {
  RUN(test_gemv_matches_loops);
  RUN(test_other_types_have_no_gemv);
  return TEST_RESULT;
}
