// Monoids: wrapping, NaN and signed zeros, scans, indexed forms.
#include "base/check.h"
#include "vtpu/monoid.h"

static void test_integer_sums_and_products_wrap(void) {
  int8_t a[2] = {127, -128}, b[2] = {1, -1};
  vtpu_monoid(TPT_HLO_ADD, TPT_S8)->combine(a, b, 2);
  CHECK(a[0] == -128 && a[1] == 127);
  int64_t c[1] = {INT64_MAX}, d[1] = {2};
  vtpu_monoid(TPT_HLO_MULTIPLY, TPT_S64)->combine(c, d, 1);
  CHECK(c[0] == -2);
  uint16_t e[1] = {65535}, f[1] = {65535};
  vtpu_monoid(TPT_HLO_MULTIPLY, TPT_U16)->combine(e, f, 1);
  CHECK(e[0] == 1);
}

static void test_extremes_respect_signedness(void) {
  int32_t a[2] = {-1, 5}, b[2] = {1, -7};
  vtpu_monoid(TPT_HLO_MAXIMUM, TPT_S32)->combine(a, b, 2);
  CHECK(a[0] == 1 && a[1] == 5);
  uint32_t c[1] = {0xFFFFFFFFu}, d[1] = {1};
  vtpu_monoid(TPT_HLO_MINIMUM, TPT_U32)->combine(c, d, 1);
  CHECK(c[0] == 1);
}

static void test_float_extremes_let_nan_win_and_order_zeros(void) {
  enum { COUNT = 20 };  // long enough for the vector loop
  for (int kind = 0; kind < 6; kind++) {
    static const float lefts[6] = {NAN, 1, -0.0f, 0.0f, -0.0f, INFINITY};
    static const float rights[6] = {1, NAN, 0.0f, -0.0f, -0.0f, -INFINITY};
    float high[COUNT], low[COUNT], other[COUNT];
    for (int i = 0; i < COUNT; i++)
      high[i] = low[i] = lefts[kind], other[i] = rights[kind];
    vtpu_monoid(TPT_HLO_MAXIMUM, TPT_F32)->combine(high, other, COUNT);
    vtpu_monoid(TPT_HLO_MINIMUM, TPT_F32)->combine(low, other, COUNT);
    for (int i = 0; i < COUNT; i++) {
      if (kind < 2) CHECK(isnan(high[i]) && isnan(low[i]));
      if (kind == 2 || kind == 3) CHECK(!signbit(high[i]) && signbit(low[i]));
      if (kind == 4) CHECK(signbit(high[i]) && signbit(low[i]));
      if (kind == 5) CHECK(high[i] == INFINITY && low[i] == -INFINITY);
    }
  }
}

static void test_halves_compute_in_f32_and_round(void) {
  uint16_t a[1] = {0x3F80}, b[1] = {0x3B80};  // 1 and 2^-8: a tie, down to even
  vtpu_monoid(TPT_HLO_ADD, TPT_BF16)->combine(a, b, 1);
  CHECK_EQ(a[0], 0x3F80);
  uint16_t c[1] = {0x3C00}, d[1] = {0x4000};  // f16 1 and 2
  vtpu_monoid(TPT_HLO_MAXIMUM, TPT_F16)->combine(c, d, 1);
  CHECK_EQ(c[0], 0x4000);
}

static void test_indexed_form_skips_negative_places(void) {
  float acc[3] = {1, 1, 1}, x[4] = {1, 2, 4, 8};
  int64_t at[4] = {2, -1, 2, 0};
  vtpu_monoid(TPT_HLO_ADD, TPT_F32)->combine_at(acc, at, x, 4);
  CHECK(acc[0] == 9 && acc[1] == 1 && acc[2] == 6);
}

static void test_scan_runs_along_strides(void) {
  int32_t x[6] = {1, 9, 2, 9, 3, 9}, out[3], first = 10;
  vtpu_monoid(TPT_HLO_ADD, TPT_S32)->scan(&first, x, 2, out, 1, 3);
  CHECK(out[0] == 11 && out[1] == 13 && out[2] == 16);
  vtpu_monoid(TPT_HLO_ADD, TPT_S32)->scan(&first, x + 4, -2, out + 2, -1, 3);
  CHECK(out[2] == 13 && out[1] == 15 && out[0] == 16);
  uint16_t ones[1000], sums[1000], zero = 0;
  for (int i = 0; i < 1000; i++)
    ones[i] = 0x3F80;
  vtpu_monoid(TPT_HLO_ADD, TPT_BF16)->scan(&zero, ones, 1, sums, 1, 1000);
  CHECK_EQ(sums[999], 0x447A);  // 1000: the running sum is not rounded on the way
}

static void test_missing_monoids_are_null(void) {
  CHECK(!vtpu_monoid(TPT_HLO_AND, TPT_F32));
  CHECK(!vtpu_monoid(TPT_HLO_MAXIMUM, TPT_C64));
  CHECK(!vtpu_monoid(TPT_HLO_SUBTRACT, TPT_F32));
  CHECK(!vtpu_monoid(TPT_HLO_ADD, TPT_DTYPE_INVALID));
  CHECK(vtpu_monoid(TPT_HLO_ADD, TPT_C128) && vtpu_monoid(TPT_HLO_ADD, TPT_PRED));
}

int main(void) {
  RUN(test_integer_sums_and_products_wrap);
  RUN(test_extremes_respect_signedness);
  RUN(test_float_extremes_let_nan_win_and_order_zeros);
  RUN(test_halves_compute_in_f32_and_round);
  RUN(test_indexed_form_skips_negative_places);
  RUN(test_scan_runs_along_strides);
  RUN(test_missing_monoids_are_null);
  return TEST_RESULT;
}
