// Draws by rejection: ends of the parameters' ranges, and means over many elements.
#include "aten/row_probe.h"

static double mean_of(const char* name, int64_t n, double first, double second, bool has_second) {
  row_t r;
  double sum = 0;
  row_begin(&r, name);
  double* data = calloc((size_t)n, sizeof(double));
  for (int k = 0; k < 1 + has_second; k++) {
    for (int64_t i = 0; i < n; i++)
      data[i] = k ? second : first;
    row_f32(&r, 1, DIMS(n), data);
  }
  row_none(&r);
  if (row_run(&r))
    for (int64_t i = 0; i < n; i++)
      sum += r.results[0].data[i];
  row_end(&r);
  free(data);
  return sum / (double)n;
}

static void test_means_are_those_of_the_distributions(void) {
  CHECK_NEAR(mean_of("poisson", 2000, 3, 0, false), 3, 0.2);
  CHECK_NEAR(mean_of("poisson", 2000, 50, 0, false), 50, 0.8);
  CHECK_NEAR(mean_of("binomial", 2000, 10, 0.25, true), 2.5, 0.16);
  CHECK_NEAR(mean_of("binomial", 2000, 200, 0.75, true), 150, 0.7);
  CHECK_NEAR(mean_of("_standard_gamma", 2000, 0.5, 0, false), 0.5, 0.08);
  CHECK_NEAR(mean_of("_standard_gamma", 2000, 8, 0, false), 8, 0.32);
}

static void test_ends_are_exact(void) {
  CHECK_EQ(mean_of("poisson", 5, 0, 0, false), 0);
  CHECK_EQ(mean_of("binomial", 5, 7, 1, true), 7);
  CHECK_EQ(mean_of("binomial", 5, 7, 0, true), 0);
}

static void test_a_rate_below_zero_fails(void) {
  row_t r;
  row_begin(&r, "poisson");
  row_f32(&r, 1, DIMS(2), DATA(1, -1));
  row_none(&r);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "invalid Poisson rate");
  row_end(&r);
}

int main(void) {
  RUN(test_means_are_those_of_the_distributions);
  RUN(test_ends_are_exact);
  RUN(test_a_rate_below_zero_fails);
  return TEST_RESULT;
}
