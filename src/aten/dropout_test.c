// Dropout on the virtual TPU: shares, scale, repeatability.
#include "aten/row_probe.h"

enum { SIZE = 4096 };

// Runs native_dropout over ones; returns how many were dropped, or -1.
static int run_dropout(double p, uint64_t seed, uint64_t offset, tpt_dtype_t dtype, double* out) {
  static double ones[SIZE];
  for (int i = 0; i < SIZE; i++)
    ones[i] = 1;
  row_t r;
  row_begin(&r, "native_dropout");
  row_tensor(&r, dtype, 1, DIMS(SIZE), ones);
  row_float(&r, p);
  row_bool(&r, true);
  r.seed = seed;
  r.offset = offset;
  int dropped = -1;
  if (row_run(&r)) {
    dropped = 0;
    for (int i = 0; i < SIZE; i++) {
      out[i] = r.results[0].data[i];
      CHECK((out[i] == 0) == (r.results[1].data[i] == 0));
      dropped += out[i] == 0;
    }
    CHECK_EQ(r.results[1].type.dtype, TPT_PRED);
    CHECK_EQ(r.lower.rng_draws, SIZE);
    CHECK(r.lower.static_args == 0 || r.lower.static_args == 1u << 2);
  }
  row_end(&r);
  return dropped;
}

static void test_dropout_drops_its_share_and_scales_the_rest(void) {
  double out[SIZE];
  int dropped = run_dropout(0.25, 1, 0, TPT_F32, out);
  CHECK_NEAR(dropped, SIZE * 0.25, 4 * sqrt(SIZE * 0.25 * 0.75));
  for (int i = 0; i < SIZE; i++)
    CHECK(out[i] == 0 || fabs(out[i] - 4.0 / 3) < 1e-6);
}

static void test_dropout_of_all_and_of_nothing(void) {
  double out[SIZE];
  CHECK_EQ(run_dropout(1, 1, 0, TPT_F32, out), SIZE);
  CHECK_EQ(run_dropout(0, 1, 0, TPT_F32, out), 0);
  CHECK_NEAR(out[0], 1, 0);
}

static void test_dropout_repeats_with_its_seed_in_every_dtype(void) {
  double a[SIZE], b[SIZE], c[SIZE], d[SIZE];
  run_dropout(0.5, 7, 0, TPT_F32, a);
  run_dropout(0.5, 7, 0, TPT_BF16, b);
  run_dropout(0.5, 8, 0, TPT_F32, c);
  run_dropout(0.5, 7, 1, TPT_F32, d);
  int other_seed = 0;
  for (int i = 0; i < SIZE; i++) {
    CHECK((a[i] == 0) == (b[i] == 0));
    other_seed += (a[i] == 0) != (c[i] == 0);
    if (i + 4 < SIZE) CHECK((a[i + 4] == 0) == (d[i] == 0));  // an offset counts blocks of four
  }
  CHECK(other_seed > SIZE / 4);
}

static void test_dropout_in_evaluation_is_the_identity(void) {
  row_t r;
  row_begin(&r, "native_dropout");
  row_f32(&r, 1, DIMS(2), DATA(3, INFINITY));
  row_float(&r, 0.5);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 0, 3, INFINITY);
    CHECK_ROW(&r, 1, 0, 1, 1);
    CHECK_EQ(r.lower.rng_draws, 0);
  }
  row_end(&r);
}

static void test_dropout_backward_masks_and_scales(void) {
  row_t r;
  row_begin(&r, "native_dropout_backward");
  row_f32(&r, 1, DIMS(3), DATA(1, 2, NAN));
  row_tensor(&r, TPT_PRED, 1, DIMS(3), DATA(1, 0, 0));
  row_float(&r, 1.5);
  if (row_run(&r)) CHECK_ROW(&r, 0, 0, 1.5, 0, NAN);
  row_end(&r);
}

static void test_dropout_refuses_no_probability(void) {
  row_t r;
  row_begin(&r, "native_dropout");
  row_f32(&r, 1, DIMS(1), DATA(1));
  row_float(&r, 1.5);
  row_none(&r);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT,
              "dropout probability has to be between 0 and 1, but got 1.5");
  row_end(&r);
}

int main(void) {
  RUN(test_dropout_drops_its_share_and_scales_the_rest);
  RUN(test_dropout_of_all_and_of_nothing);
  RUN(test_dropout_repeats_with_its_seed_in_every_dtype);
  RUN(test_dropout_in_evaluation_is_the_identity);
  RUN(test_dropout_backward_masks_and_scales);
  RUN(test_dropout_refuses_no_probability);
  return TEST_RESULT;
}
