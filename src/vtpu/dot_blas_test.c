// dot_general on BLAS tiles where the CPU's own units are not used: staged panels and whole operands over
// several tiles, against sums in double.
#include "vtpu/dot_probe.h"

static double stored(const dot_probe_t* p, int side, const void* data, int64_t free, int64_t k) {
  bool k_inner = side == 0 ? p->lhs_k_inner : p->rhs_k_inner;
  int64_t frees = side == 0 ? p->m : p->n;
  tpt_dtype_t dtype = side == 0 ? p->lhs : p->rhs;
  double x = probe_get(dtype, data, k_inner ? free * p->k + k : k * frees + free);
  if (dtype != TPT_F32 || p->precision != TPT_PRECISION_DEFAULT) return x;
  float in = (float)x, out;
  vtpu_round_to_bf16(&in, &out, 1);
  return out;
}

static void check_sums(const dot_probe_t* p, double tolerance) {
  tpt_type_t lhs = dot_probe_type(p, 0), rhs = dot_probe_type(p, 1);
  void *a = probe_random(&lhs), *b = probe_random(&rhs);
  void* out = dot_probe_run(p, a, b, VTPU_STRIP_NONE);
  for (int round = 0; round < 2000 && out; round++) {
    int64_t i = probe_int(0, p->m - 1), j = probe_int(0, p->n - 1);
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++)
      sum += stored(p, 0, a, i, k) * stored(p, 1, b, j, k);
    CHECK_NEAR(probe_get(p->result, out, i * p->n + j), sum, tolerance);
  }
  free(a);
  free(b);
  free(out);
}

static void test_types_and_precisions_over_several_tiles(void) {
  static const tpt_dtype_t types[] = {TPT_F32, TPT_F64, TPT_BF16, TPT_F16, TPT_S32, TPT_S64};
  static const double tolerances[] = {2e-4, 1e-11, 0.3, 0.05, 0, 0};
  for (int i = 0; i < 24; i++) {
    tpt_dtype_t t = types[i % 6];
    dot_probe_t p = {.lhs = t, .rhs = t, .result = t, .batch = 1, .m = 270, .n = 300, .k = 530};
    p.lhs_k_inner = i & 8, p.rhs_k_inner = i & 16;
    p.precision = (tpt_precision_t)(i / 6 % 3);
    check_sums(&p, tolerances[i % 6]);
  }
}

int main(void) {
  RUN(test_types_and_precisions_over_several_tiles);
  return TEST_RESULT;
}
