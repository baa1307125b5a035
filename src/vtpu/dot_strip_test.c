// dot_general on each unit of this CPU against the same product on BLAS, which rounds operands
// the same way: whole and panel-wise packing, several tiles, batches, every layout, precision and type.
#include "vtpu/dot_probe.h"

static void compare(const dot_probe_t* p, double tolerance) {
  tpt_type_t lhs = dot_probe_type(p, 0), rhs = dot_probe_type(p, 1);
  void *a = probe_random(&lhs), *b = probe_random(&rhs);
  void* want = dot_probe_run(p, a, b, VTPU_STRIP_NONE);
  for (int level = VTPU_STRIP_F32_AVX512; level < VTPU_STRIP_LEVEL_COUNT; level++) {
    if (!vtpu_strip_level(level)) continue;  // not on this CPU
    void* got = dot_probe_run(p, a, b, level);
    if (want && got) CHECK_NEAR(dot_probe_distance(p, got, want), 0, tolerance);
    free(got);
  }
  free(want);
  free(a);
  free(b);
}

static void test_large_products_agree_in_every_layout(void) {
  static const int64_t shapes[][4] = {
      {1, 600, 300, 700}, {1, 40, 900, 1100}, {1, 900, 40, 1100},
      {3, 70, 300, 90},   {30, 64, 64, 64},   {1, 300, 300, 3000},
  };
  for (int i = 0; i < 24; i++) {
    const int64_t* s = shapes[i / 4];
    dot_probe_t p = {.lhs = TPT_F32, .rhs = TPT_F32, .result = TPT_F32};
    p.batch = s[0], p.m = s[1], p.n = s[2], p.k = s[3];
    p.lhs_k_inner = i & 1, p.rhs_k_inner = i & 2;
    compare(&p, 1e-5);
    p.precision = TPT_PRECISION_HIGH;
    compare(&p, 1e-5);
  }
}

static void test_types_agree(void) {
  static const tpt_dtype_t types[][3] = {{TPT_BF16, TPT_BF16, TPT_BF16},
                                         {TPT_BF16, TPT_BF16, TPT_F32}};
  for (int i = 0; i < 6; i++) {
    const tpt_dtype_t* t = types[i / 3];
    dot_probe_t p = {.lhs = t[0], .rhs = t[1], .result = t[2], .batch = 2};
    p.m = 150, p.n = 270, p.k = 600, p.rhs_k_inner = true;
    p.precision = (tpt_precision_t)(i % 3);
    compare(&p, t[2] == TPT_BF16 ? 1e-2 : 1e-5);
  }
}

static void test_no_terms_and_no_results(void) {
  dot_probe_t p = {.lhs = TPT_F32, .rhs = TPT_F32, .result = TPT_F32, .batch = 1, .m = 300, .n = 5};
  compare(&p, 0);
  p.m = 0, p.k = 600, p.n = 700;
  compare(&p, 0);
  p.m = 700, p.n = 0;
  compare(&p, 0);
  p.batch = 0, p.n = 5;
  compare(&p, 0);
}

// The sum's order depends on k alone: a row's product is the same among few and among many
// (but for fewer than three, which are not packed at all).
static void test_results_do_not_depend_on_the_other_rows(void) {
  dot_probe_t many = {.lhs = TPT_F32, .rhs = TPT_F32, .result = TPT_F32, .batch = 1};
  many.m = 530, many.n = 300, many.k = 1300, many.lhs_k_inner = true;
  tpt_type_t lhs = dot_probe_type(&many, 0), rhs = dot_probe_type(&many, 1);
  float *a = probe_random(&lhs), *b = probe_random(&rhs);
  float* all = dot_probe_run(&many, a, b, VTPU_STRIP_BF16_AMX);
  dot_probe_t few = many;
  few.m = 7;
  float* some = dot_probe_run(&few, a + 500 * many.k, b, VTPU_STRIP_BF16_AMX);
  if (vtpu_strip_level(VTPU_STRIP_F32_AVX512) && all && some)
    CHECK(memcmp(all + 500 * many.n, some, (size_t)(7 * many.n) * sizeof(float)) == 0);
  free(a);
  free(b);
  free(all);
  free(some);
}

int main(void) {
  RUN(test_large_products_agree_in_every_layout);
  RUN(test_types_agree);
  RUN(test_no_terms_and_no_results);
  RUN(test_results_do_not_depend_on_the_other_rows);
  return TEST_RESULT;
}
