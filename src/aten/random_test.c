// Random draws on the virtual TPU: bounds, moments, repeatability, checks of parameters.
#include "aten/row_probe.h"

enum { SIZE = 4096 };

typedef struct moments {
  double low, high, mean, variance;
} moments_t;

static moments_t measure(const double* x, int count) {
  moments_t m = {x[0], x[0], 0, 0};
  for (int i = 0; i < count; i++) {
    m.low = fmin(m.low, x[i]);
    m.high = fmax(m.high, x[i]);
    m.mean += x[i] / count;
  }
  for (int i = 0; i < count; i++)
    m.variance += (x[i] - m.mean) * (x[i] - m.mean) / count;
  return m;
}

// Arguments that are left out are None (the generator and what stands beside it).
static bool run(row_t* r) {
  while (r->count < tpt_op_schema(r->lower.op)->arg_count)
    row_none(r);
  return row_run(r);
}

// A row that fills SIZE elements of `dtype`; `a` and `b` are its floats, `count` says how many it has.
static bool fill(const char* name, tpt_dtype_t dtype, int count, double a, double b, double* out) {
  static const double kZeros[SIZE];
  row_t r;
  row_begin(&r, name);
  row_tensor(&r, dtype, 1, DIMS(SIZE), kZeros);
  if (count > 0) row_float(&r, a);
  if (count > 1) row_float(&r, b);
  r.seed = 3;
  bool ran = run(&r);
  if (ran) {
    CHECK_EQ(r.results[0].type.dtype, dtype);
    CHECK(r.lower.rng_draws > 0);
    memcpy(out, r.results[0].data, SIZE * sizeof(*out));
  }
  row_end(&r);
  return ran;
}

// Within five standard errors.
static void check_mean(const moments_t* m, double mean, double variance) {
  CHECK_NEAR(m->mean, mean, 5 * sqrt(variance / SIZE));
}

static void test_uniform_stays_in_its_range(void) {
  double x[SIZE];
  static const tpt_dtype_t kDtypes[] = {TPT_F32, TPT_BF16, TPT_F16, TPT_F64};
  for (int i = 0; i < 4; i++) {
    if (!fill("uniform", kDtypes[i], 2, -1, 3, x)) continue;
    moments_t m = measure(x, SIZE);
    CHECK(m.low >= -1 && m.high < 3);
    check_mean(&m, 1, 16.0 / 12);
    CHECK_NEAR(m.variance, 16.0 / 12, 0.1);
  }
}

static void test_normal_has_its_moments(void) {
  double x[SIZE];
  if (!fill("normal_functional", TPT_F32, 2, 2, 3, x)) return;
  moments_t m = measure(x, SIZE);
  check_mean(&m, 2, 9);
  CHECK_NEAR(m.variance, 9, 5 * 9 * sqrt(2.0 / SIZE));
  CHECK(m.high > 2 + 3 * 2.5 && m.low < 2 - 3 * 2.5);
  if (!fill("log_normal", TPT_F32, 2, 0, 0.25, x)) return;
  for (int i = 0; i < SIZE; i++)
    x[i] = log(x[i]);
  m = measure(x, SIZE);
  check_mean(&m, 0, 0.0625);
}

static void test_exponential_and_geometric_have_their_means(void) {
  double x[SIZE];
  if (fill("exponential", TPT_F32, 1, 2, 0, x)) {
    moments_t m = measure(x, SIZE);
    CHECK(m.low >= 0 && isfinite(m.high));
    check_mean(&m, 0.5, 0.25);
  }
  if (fill("geometric", TPT_S32, 1, 0.25, 0, x)) {
    moments_t m = measure(x, SIZE);
    CHECK_EQ(m.low, 1);
    check_mean(&m, 4, 12);
  }
}

static void test_cauchy_has_its_median(void) {
  double x[SIZE];
  if (!fill("cauchy", TPT_F32, 2, 1, 2, x)) return;
  int below = 0, within = 0;
  for (int i = 0; i < SIZE; i++) {
    below += x[i] < 1;
    within += fabs(x[i] - 1) < 2;
  }
  CHECK_NEAR(below, SIZE / 2, 5 * sqrt(SIZE / 4.0));
  CHECK_NEAR(within, SIZE / 2, 5 * sqrt(SIZE / 4.0));
}

static void test_bernoulli_hits_its_share(void) {
  static const double kShares[] = {0, 0.25, 1};
  double x[SIZE];
  for (int i = 0; i < 3; i++) {
    double p = kShares[i];
    if (!fill("bernoulli.p", TPT_BF16, 1, p, 0, x)) continue;
    CHECK_NEAR(measure(x, SIZE).mean, p, 5 * sqrt(p * (1 - p) / SIZE));
  }
}

static void test_random_counts_from_and_to(void) {
  static const double kZeros[SIZE];
  row_t r;
  row_begin(&r, "random.from");
  row_tensor(&r, TPT_S64, 1, DIMS(SIZE), kZeros);
  row_int(&r, -2);
  row_int(&r, 3);
  if (run(&r)) {
    moments_t m = measure(r.results[0].data, SIZE);
    CHECK(m.low == -2 && m.high == 2);
    check_mean(&m, 0, 2);
  }
  row_end(&r);
  row_begin(&r, "random");
  row_tensor(&r, TPT_U8, 1, DIMS(SIZE), kZeros);
  if (run(&r)) {
    moments_t m = measure(r.results[0].data, SIZE);
    CHECK(m.low == 0 && m.high == 255);
    check_mean(&m, 127.5, 65536.0 / 12);
  }
  row_end(&r);
}

static void permute(uint64_t seed, double* out) {
  row_t r;
  row_begin(&r, "randperm");
  row_int(&r, 64);
  r.seed = seed;
  if (run(&r)) memcpy(out, r.results[0].data, 64 * sizeof(*out));
  row_end(&r);
}

static void test_randperm_is_a_permutation_of_its_seed(void) {
  double a[64] = {0}, b[64] = {0}, c[64] = {0};
  permute(1, a);
  permute(1, b);
  permute(2, c);
  bool seen[64] = {false};
  int moved = 0, other = 0;
  for (int i = 0; i < 64; i++) {
    CHECK(a[i] >= 0 && a[i] < 64 && !seen[(int)a[i]]);
    seen[(int)a[i]] = true;
    CHECK_EQ(a[i], b[i]);
    moved += a[i] != i;
    other += a[i] != c[i];
  }
  CHECK(moved > 50 && other > 50);
}

static void test_multinomial_never_draws_weight_zero(void) {
  for (int again = 0; again < 2; again++) {
    int count = again ? 2000 : 2;
    row_t r;
    row_begin(&r, "multinomial");
    row_f32(&r, 1, DIMS(4), DATA(0, 1, 0, 3));
    row_int(&r, count);
    row_bool(&r, again);
    if (run(&r)) {
      int threes = 0;
      for (int i = 0; i < count; i++) {
        double k = r.results[0].data[i];
        CHECK(k == 1 || k == 3);
        threes += k == 3;
      }
      if (again) {
        CHECK_NEAR(threes, 1500, 5 * sqrt(2000 * 0.75 * 0.25));
      } else {
        CHECK_EQ(threes, 1);
      }
    }
    row_end(&r);
  }
}

static void check_refused(const char* name, double a, double b, const char* text) {
  row_t r;
  row_begin(&r, name);
  row_f32(&r, 1, DIMS(1), DATA(0));
  row_float(&r, a);
  row_float(&r, b);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, text);
  row_end(&r);
}

static void test_parameters_are_checked(void) {
  check_refused("uniform", 1, 0, "expects to return a [from, to) range, but found from=1 > to=0");
  check_refused("normal_functional", 0, -1, "normal expects std >= 0.0");
  check_refused("log_normal", 0, 0, "log_normal_ expects std > 0.0");
  check_refused("cauchy", 0, 0, "cauchy_ expects sigma > 0.0");
  check_refused("exponential", 0, 0, "exponential_ expects lambda > 0.0");
  check_refused("geometric", 1.5, 0, "geometric_ expects p to be in (0, 1)");
  check_refused("bernoulli.p", 1.5, 0, "bernoulli_ expects p to be in [0, 1]");
}

int main(void) {
  RUN(test_uniform_stays_in_its_range);
  RUN(test_normal_has_its_moments);
  RUN(test_exponential_and_geometric_have_their_means);
  RUN(test_cauchy_has_its_median);
  RUN(test_bernoulli_hits_its_share);
  RUN(test_random_counts_from_and_to);
  RUN(test_randperm_is_a_permutation_of_its_seed);
  RUN(test_multinomial_never_draws_weight_zero);
  RUN(test_parameters_are_checked);
  return TEST_RESULT;
}
