// Lines of every length up to 130, and some long ones, against the definition.
#include <complex.h>
#include <stdlib.h>

#include "base/check.h"
#include "vtpu/fft_line.h"

static double worst_error(int64_t n, bool inverse) {
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  const vtpu_fft_line_t* line = vtpu_fft_line_make(n, &arena);
  double worst = 0;
  vtpu_c128_t* in = malloc((size_t)n * sizeof(*in));
  vtpu_c128_t* out = malloc((size_t)n * sizeof(*out));
  vtpu_c128_t* scratch = malloc((size_t)vtpu_fft_line_scratch(line) * sizeof(*scratch) + 1);
  for (int64_t i = 0; i < n; i++)
    in[i] = (double)(i * 7919 % 101) / 50 - 1 + ((double)(i * 104729 % 103) / 50 - 1) * I;
  vtpu_fft_line_run(line, inverse, in, out, scratch);
  int64_t step = n > 300 ? n / 13 : 1;
  for (int64_t k = 0; k < n; k += step) {
    vtpu_c128_t sum = 0;
    for (int64_t j = 0; j < n; j++) {
      double angle = 2 * acos(-1.0) * (double)(j * k % n) / (double)n;
      sum += in[j] * (cos(angle) + (inverse ? 1 : -1) * sin(angle) * I);
    }
    double error = cabs(sum - out[k]) / sqrt((double)n);
    if (!(error <= worst)) worst = error;
  }
  free(in);
  free(out);
  free(scratch);
  tpt_arena_deinit(&arena);
  return worst;
}

static void test_every_short_length_is_right(void) {
  for (int64_t n = 1; n <= 130; n++) {
    CHECK_NEAR(worst_error(n, false), 0, 1e-13);
    CHECK_NEAR(worst_error(n, true), 0, 1e-13);
  }
}

static void test_long_lengths_are_right(void) {
  static const int64_t lengths[6] = {1024, 1000, 4095, 2003, 6561, 10007};
  for (int i = 0; i < 6; i++)
    CHECK_NEAR(worst_error(lengths[i], i & 1), 0, 1e-12);
}

int main(void) {
  RUN(test_every_short_length_is_right);
  RUN(test_long_lengths_are_right);
  return TEST_RESULT;
}
