// Interpolation on the virtual TPU, forward and backward.
#include "aten/row_probe.h"

static void test_nearest_repeats_and_skips(void) {
  {
    row_t r;
    row_begin(&r, "upsample_nearest2d");
    row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(-3, -2, -1, 0, 1, 2));
    ROW_INTS(&r, 6, 4);
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, -3, -2, -2, -3, -3, -2, -2, -1, -1, 0, 0, -1, -1, 0, 0, 1, 1, 2, 2,
                1, 1, 2, 2);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "upsample_nearest2d");
    row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(-3, -2, -1, 0, 1, 2));
    ROW_INTS(&r, 2, 3);
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, -3, -2, -1, -1, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_upsample_nearest_exact1d");
    row_f32(&r, 3, DIMS(1, 1, 5), DATA(-3, -2, -1, 0, 1));
    ROW_INTS(&r, 3);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, -1, 1);
    }
    row_end(&r);
  }
}

static void test_nearest_backward_adds(void) {
  {
    row_t r;
    row_begin(&r, "upsample_nearest2d_backward");
    row_f32(&r, 4, DIMS(1, 1, 6, 4),
            DATA(0.75, 0.5, 1, -0.0, -0.5, 0.25, -0.75, 2.25, -0.75, -1.25, -0.75, 0.5, -0.5, 0.75,
                 -1.75, 1, -1, -1.75, -0.25, 1, -0.5, 0, -0.0, -0.5));
    ROW_INTS(&r, 6, 4);
    ROW_INTS(&r, 1, 1, 3, 2);
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 1, 2.5, -1.75, -1, -3.25, 0.25);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "upsample_nearest1d_backward");
    row_f32(&r, 3, DIMS(1, 1, 5), DATA(0, -1, 0.75, 0, -0.25));
    ROW_INTS(&r, 5);
    ROW_INTS(&r, 1, 1, 3);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -1, 0.75, -0.25);
    }
    row_end(&r);
  }
}

static void test_linear_with_and_without_aligned_corners(void) {
  {
    row_t r;
    row_begin(&r, "upsample_linear1d");
    row_f32(&r, 3, DIMS(1, 1, 4), DATA(-3, -2, -1, 0));
    ROW_INTS(&r, 7);
    row_bool(&r, true);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, -2.5, -2, -1.5, -1, -0.5, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "upsample_linear1d");
    row_f32(&r, 3, DIMS(1, 1, 4), DATA(-3, -2, -1, 0));
    ROW_INTS(&r, 7);
    row_bool(&r, false);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, -2.642857, -2.071429, -1.5, -0.9285712, -0.3571427, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "upsample_bilinear2d");
    row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(-3, -2, -1, 0, 1, 2));
    ROW_INTS(&r, 2, 3);
    row_bool(&r, false);
    row_float(&r, 0.5);
    row_float(&r, 1.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -2, -1.5, -1, 1, 1.5, 2);
    }
    row_end(&r);
  }
}

static void test_linear_backward_is_the_adjoint(void) {
  row_t r;
  row_begin(&r, "upsample_linear1d_backward");
  row_f32(&r, 3, DIMS(1, 1, 7), DATA(-0.75, 0, 0.5, -1, 0.5, -1.5, 0.25));
  ROW_INTS(&r, 7);
  ROW_INTS(&r, 1, 1, 4);
  row_bool(&r, false);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-5, -0.7142857, -0.03571415, -0.5714285, -0.6785716);
  }
  row_end(&r);
}

static void test_cubic_and_its_adjoint(void) {
  {
    row_t r;
    row_begin(&r, "upsample_bicubic2d");
    row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(-3, -2, -1, 0, 1, 2));
    ROW_INTS(&r, 4, 3);
    row_bool(&r, false);
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, -3.230361, -2.643555, -2.05675, -2.027236, -1.44043, -0.8536245,
                -0.1463759, 0.4404297, 1.027235, 1.056749, 1.643555, 2.230361);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "upsample_bicubic2d_backward");
    row_f32(&r, 4, DIMS(1, 1, 4, 3),
            DATA(1.25, 2, -0.75, -1, -1.5, 1, 1.25, -0.5, 0.25, -2.5, 0, 2));
    ROW_INTS(&r, 4, 3);
    ROW_INTS(&r, 1, 1, 3, 2);
    row_bool(&r, true);
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 1.587962, 0.3287038, -0.5972222, 0.1990741, -1.990741, 1.972222);
    }
    row_end(&r);
  }
}

static void test_antialiased_filters_widen(void) {
  {
    row_t r;
    row_begin(&r, "_upsample_bilinear2d_aa");
    row_f32(&r, 4, DIMS(1, 1, 5, 4),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2));
    ROW_INTS(&r, 2, 2);
    row_bool(&r, false);
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, -0.2402598, -0.1233766, 0.3961038, -0.2142857);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_upsample_bicubic2d_aa");
    row_f32(&r, 4, DIMS(1, 1, 5, 4),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2));
    ROW_INTS(&r, 2, 2);
    row_bool(&r, false);
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, -0.3367879, -0.1233435, 0.4822507, -0.2209622);
    }
    row_end(&r);
  }
}

static void test_trilinear(void) {
  row_t r;
  row_begin(&r, "upsample_trilinear3d");
  row_f32(&r, 5, DIMS(1, 1, 2, 2, 2), DATA(-3, -2, -1, 0, 1, 2, 3, -3));
  ROW_INTS(&r, 3, 2, 2);
  row_bool(&r, false);
  row_none(&r);
  row_none(&r);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -3, -2, -1, 0, -1, 0, 1, -1.5, 1, 2, 3, -3);
  }
  row_end(&r);
}

static void test_resize_refuses_empty_sizes(void) {
  row_t r;
  row_begin(&r, "upsample_nearest2d");
  row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(-3, -2, -1, 0, 1, 2));
  ROW_INTS(&r, 0, 3);
  row_none(&r);
  row_none(&r);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "should be greater than 0");
  row_end(&r);
}

int main(void) {
  RUN(test_nearest_repeats_and_skips);
  RUN(test_nearest_backward_adds);
  RUN(test_linear_with_and_without_aligned_corners);
  RUN(test_linear_backward_is_the_adjoint);
  RUN(test_cubic_and_its_adjoint);
  RUN(test_antialiased_filters_widen);
  RUN(test_trilinear);
  RUN(test_resize_refuses_empty_sizes);
  return TEST_RESULT;
}
