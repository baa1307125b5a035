// Average pools on the virtual TPU: values and gradients.
#include "aten/row_probe.h"

static void test_avg_pool_counts_padding_when_asked(void) {
  {
    row_t r;
    row_begin(&r, "avg_pool2d");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 3, 3);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    row_bool(&r, true);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.2222222, -0.1111111, 0.5555556, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "avg_pool2d");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 3, 3);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    row_bool(&r, false);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.5, -0.1666667, 0.8333333, 0);
    }
    row_end(&r);
  }
}

static void test_avg_pool_with_ceil_mode_and_divisor(void) {
  {
    row_t r;
    row_begin(&r, "avg_pool2d");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 3, 2);
    ROW_INTS(&r, 2, 3);
    ROW_INTS(&r, 1, 0);
    row_bool(&r, true);
    row_bool(&r, true);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.3333333, -1, 0.8333333, -1.333333, 1.25, -1);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "avg_pool2d");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 3, 2);
    ROW_INTS(&r, 2, 3);
    ROW_INTS(&r, 1, 0);
    row_bool(&r, true);
    row_bool(&r, true);
    row_int(&r, 5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.4, -0.6, 1, -0.8, 1, -0.4);
    }
    row_end(&r);
  }
}

static void test_avg_pool_of_bf16_sums_in_f32(void) {
  row_t r;
  row_begin(&r, "avg_pool2d");
  row_tensor(&r, TPT_BF16, 4, DIMS(1, 1, 4, 4),
             DATA(-300, -201, -100.5, 0, 100.5, 201, 300, -300, -201, -100.5, 0, 100.5, 201, 300,
                  -300, -201));
  ROW_INTS(&r, 4, 4);
  row_list(&r, TPT_ARG_INTS, 0, NULL);
  ROW_INTS(&r, 0, 0);
  row_bool(&r, false);
  row_bool(&r, true);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 0.2, -31.25);
  }
  row_end(&r);
}

static void test_avg_pool_backward_spreads(void) {
  {
    row_t r;
    row_begin(&r, "avg_pool2d_backward");
    row_f32(&r, 4, DIMS(1, 1, 2, 2), DATA(-1.25, -0.0, -0.5, -0.5));
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 3, 3);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    row_bool(&r, false);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.3125, -0.3125, 0, 0, -0.3958333, -0.4513889, -0.05555556,
                -0.05555556, -0.08333334, -0.1388889, -0.05555556, -0.05555556, -0.08333334,
                -0.1388889, -0.05555556, -0.05555556);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "avg_pool2d_backward");
    row_f32(&r, 4, DIMS(1, 1, 2, 2), DATA(-1, 1.5, -0.0, -1));
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 0, 0);
    row_bool(&r, false);
    row_bool(&r, true);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.25, -0.25, 0.375, 0.375, -0.25, -0.25, 0.375, 0.375, 0, 0, -0.25,
                -0.25, 0, 0, -0.25, -0.25);
    }
    row_end(&r);
  }
}

static void test_avg_pool_in_three_dimensions(void) {
  row_t r;
  row_begin(&r, "avg_pool3d");
  row_f32(&r, 5, DIMS(1, 1, 2, 2, 3), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1));
  ROW_INTS(&r, 2, 2, 2);
  ROW_INTS(&r, 1, 1, 1);
  ROW_INTS(&r, 0, 0, 0);
  row_bool(&r, false);
  row_bool(&r, true);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -0.625, -0.5);
  }
  row_end(&r);
}

static void test_adaptive_avg_pool_of_even_and_uneven_windows(void) {
  {
    row_t r;
    row_begin(&r, "_adaptive_avg_pool2d");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 2, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.375, -0.25);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_adaptive_avg_pool2d");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 3, 5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -1, -0.5, 0.5, -0.25, -1.5, -0.5, 0, 1, 0.25, -1, 0, 0.5, -0.25, -1,
                -0.5);
    }
    row_end(&r);
  }
}

static void test_adaptive_avg_pool_does_not_leak_infinity(void) {
  row_t r;
  row_begin(&r, "_adaptive_avg_pool2d");
  row_f32(&r, 4, DIMS(1, 1, 1, 5), DATA(1, INFINITY, 2, 3, 4));
  ROW_INTS(&r, 1, 3);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, INFINITY, INFINITY, 3.5);
  }
  row_end(&r);
}

static void test_adaptive_avg_pool_backward_spreads(void) {
  {
    row_t r;
    row_begin(&r, "_adaptive_avg_pool2d_backward");
    row_f32(&r, 4, DIMS(1, 1, 2, 1), DATA(0, 0.75));
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, 0, 0, 0, 0, 0, 0, 0.09375, 0.09375, 0.09375, 0.09375, 0.09375,
                0.09375, 0.09375, 0.09375);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_adaptive_avg_pool2d_backward");
    row_f32(&r, 4, DIMS(1, 1, 3, 3), DATA(-0.5, 0.5, -2, -0.5, 0.25, -0.75, 0.5, -0.5, -0.25));
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.125, 0, -0.375, -0.5, -0.25, -0.0625, -0.5, -0.6875, 0, -0.0625,
                -0.3125, -0.25, 0.125, 0, -0.1875, -0.0625);
    }
    row_end(&r);
  }
}

static void test_avg_pool_refuses_a_zero_divisor(void) {
  row_t r;
  row_begin(&r, "avg_pool2d");
  row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 0, 0);
  row_bool(&r, false);
  row_bool(&r, true);
  row_int(&r, 0);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "divisor must be not zero");
  row_end(&r);
}

int main(void) {
  RUN(test_avg_pool_counts_padding_when_asked);
  RUN(test_avg_pool_with_ceil_mode_and_divisor);
  RUN(test_avg_pool_of_bf16_sums_in_f32);
  RUN(test_avg_pool_backward_spreads);
  RUN(test_avg_pool_in_three_dimensions);
  RUN(test_adaptive_avg_pool_of_even_and_uneven_windows);
  RUN(test_adaptive_avg_pool_does_not_leak_infinity);
  RUN(test_adaptive_avg_pool_backward_spreads);
  RUN(test_avg_pool_refuses_a_zero_divisor);
  return TEST_RESULT;
}
