// Max pools on the virtual TPU: values, indexes, gradients.
#include "aten/row_probe.h"

static void test_max_pool_keeps_the_first_of_equal_values(void) {
  row_t r;
  row_begin(&r, "max_pool2d_with_indices");
  row_f32(&r, 4, DIMS(1, 1, 3, 3), DATA(1, 1, 2, 1, 2, 2, 0, 2, 1));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 2, 2, 2, 2);
    CHECK_ROW(&r, 1, 1e-6, 4, 2, 4, 4);
  }
  row_end(&r);
}

static void test_max_pool_prefers_nan(void) {
  row_t r;
  row_begin(&r, "max_pool2d_with_indices");
  row_f32(&r, 4, DIMS(1, 1, 3, 3), DATA(1, 1, 2, 1, NAN, 2, 0, 2, 1));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, NAN, NAN, NAN, NAN);
    CHECK_ROW(&r, 1, 1e-6, 4, 4, 4, 4);
  }
  row_end(&r);
}

static void test_max_pool_counts_padding_out(void) {
  {
    row_t r;
    row_begin(&r, "max_pool2d_with_indices");
    row_f32(&r, 4, DIMS(1, 1, 3, 3),
            DATA(-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY,
                 -INFINITY, -INFINITY));
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -INFINITY, -INFINITY, -INFINITY, -INFINITY);
      CHECK_ROW(&r, 1, 1e-6, 0, 1, 3, 4);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "max_pool2d_with_indices");
    row_f32(&r, 4, DIMS(1, 1, 4, 4),
            DATA(-1, -2, -3, -4, -5, -6, -7, -1, -2, -3, -4, -5, -6, -7, -1, -2));
    ROW_INTS(&r, 3, 3);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -1, -1, -2, -1);
      CHECK_ROW(&r, 1, 1e-6, 0, 7, 8, 7);
    }
    row_end(&r);
  }
}

static void test_max_pool_of_large_windows_works_by_dimension(void) {
  row_t r;
  row_begin(&r, "max_pool2d_with_indices");
  row_f32(&r, 4, DIMS(1, 1, 6, 6),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1,
               0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3));
  ROW_INTS(&r, 5, 5);
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 3, 3, 2, 3, 3, 3, 3, 3, 3);
    CHECK_ROW(&r, 1, 1e-6, 6, 6, 5, 6, 6, 20, 13, 13, 20);
  }
  row_end(&r);
}

static void test_max_pool_with_ceil_mode_and_dilation(void) {
  row_t r;
  row_begin(&r, "max_pool2d_with_indices");
  row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
  ROW_INTS(&r, 2, 1);
  ROW_INTS(&r, 2, 3);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 2, 1);
  row_bool(&r, true);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -2, 1, -2, 1);
    CHECK_ROW(&r, 1, 1e-6, 8, 11, 8, 11);
  }
  row_end(&r);
}

static void test_max_pool_of_integers(void) {
  row_t r;
  row_begin(&r, "max_pool2d_with_indices");
  row_tensor(&r, TPT_S64, 4, DIMS(1, 1, 4, 4),
             DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 2);
  ROW_INTS(&r, 1, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -2, 0, 2, 3, 2, 3, 3, 1, 3, -2);
    CHECK_ROW(&r, 1, 1e-6, 1, 3, 5, 6, 5, 6, 13, 11, 13, 15);
  }
  row_end(&r);
}

static void test_max_pool_in_three_dimensions(void) {
  row_t r;
  row_begin(&r, "max_pool3d_with_indices");
  row_f32(&r, 5, DIMS(1, 1, 2, 3, 3),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
  ROW_INTS(&r, 2, 2, 2);
  ROW_INTS(&r, 1, 1, 1);
  ROW_INTS(&r, 0, 0, 0);
  ROW_INTS(&r, 1, 1, 1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 3, 3, 3, 3);
    CHECK_ROW(&r, 1, 1e-6, 13, 13, 6, 13);
  }
  row_end(&r);
}

static void test_max_pool_keeps_channels_last(void) {
  row_t r;
  row_begin(&r, "max_pool2d_with_indices");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-3, -2, -1, 0, 1, 2, 3, -3));
  row_channels_last(&r);
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -3, -2, -2, -1, 0, 0, -1, 0, 0, 1, 2, 2, 3, 3, 2, 3, 3, -3);
    CHECK_ROW(&r, 1, 1e-6, 0, 1, 1, 2, 3, 3, 2, 3, 3, 0, 1, 1, 2, 2, 1, 2, 2, 3);
    CHECK_STRIDES(&r, 0, 18, 1, 6, 2);
    CHECK_STRIDES(&r, 1, 18, 1, 6, 2);
  }
  row_end(&r);
}

static void test_max_pool_backward_of_tiles_selects(void) {
  row_t r;
  row_begin(&r, "max_pool2d_with_indices_backward");
  row_f32(&r, 4, DIMS(1, 1, 2, 2), DATA(-0.75, 0.75, 0.5, 0.75));
  row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  row_tensor(&r, TPT_S64, 4, DIMS(1, 1, 2, 2), DATA(5, 6, 13, 11));
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0, 0, 0, 0, 0, -0.75, 0.75, 0, 0, 0, 0, 0.75, 0, 0.5, 0, 0);
  }
  row_end(&r);
}

static void test_max_pool_backward_of_overlaps_adds(void) {
  {
    row_t r;
    row_begin(&r, "max_pool2d_with_indices_backward");
    row_f32(&r, 4, DIMS(1, 1, 2, 2), DATA(0.5, 0, -0.0, 1.5));
    row_f32(&r, 4, DIMS(1, 1, 3, 3), DATA(1, 1, 2, 1, 2, 2, 0, 2, 1));
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    row_tensor(&r, TPT_S64, 4, DIMS(1, 1, 2, 2), DATA(4, 2, 4, 4));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, 0, 0, 2, 0, 0, 0, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "max_pool2d_with_indices_backward");
    row_f32(&r, 4, DIMS(1, 1, 3, 3), DATA(3.75, 0.25, 0.5, -0.5, 0.5, 0.5, -2, -2, 0.5));
    row_f32(&r, 4, DIMS(1, 1, 6, 6),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1,
                 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3));
    ROW_INTS(&r, 5, 5);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    row_tensor(&r, TPT_S64, 4, DIMS(1, 1, 3, 3), DATA(6, 6, 5, 6, 6, 20, 13, 13, 20));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, 0, 0, 0, 0.5, 4, 0, 0, 0, 0, 0, 0, -4, 0, 0, 0, 0, 0, 0, 1, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
    row_end(&r);
  }
}

static void test_adaptive_max_pool_of_uneven_windows(void) {
  row_t r;
  row_begin(&r, "adaptive_max_pool2d");
  row_f32(&r, 4, DIMS(1, 1, 5, 4),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2));
  ROW_INTS(&r, 2, 3);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 2, 3, 3, 3, 3, 2);
    CHECK_ROW(&r, 1, 1e-6, 5, 6, 6, 13, 13, 19);
  }
  row_end(&r);
}

static void test_adaptive_max_pool_backward_scatters(void) {
  row_t r;
  row_begin(&r, "adaptive_max_pool2d_backward");
  row_f32(&r, 4, DIMS(1, 1, 2, 3), DATA(-0.0, -1, -0.75, 0.25, 0, 0.25));
  row_f32(&r, 4, DIMS(1, 1, 5, 4),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2));
  row_tensor(&r, TPT_S64, 4, DIMS(1, 1, 2, 3), DATA(5, 6, 6, 13, 13, 19));
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0, 0, 0, 0, 0, 0, -1.75, 0, 0, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 0, 0.25);
  }
  row_end(&r);
}

static void test_max_pool_refuses_bad_windows(void) {
  {
    row_t r;
    row_begin(&r, "max_pool2d_with_indices");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT,
                "pad should be at most half of effective kernel size");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "max_pool2d_with_indices");
    row_f32(&r, 4, DIMS(1, 1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 5, 5);
    row_list(&r, TPT_ARG_INTS, 0, NULL);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "Output size is too small");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "max_pool2d_with_indices");
    row_f32(&r, 2, DIMS(4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 1, 1);
    row_list(&r, TPT_ARG_INTS, 0, NULL);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "3D or 4D (batch mode) tensor expected");
    row_end(&r);
  }
}

int main(void) {
  RUN(test_max_pool_keeps_the_first_of_equal_values);
  RUN(test_max_pool_prefers_nan);
  RUN(test_max_pool_counts_padding_out);
  RUN(test_max_pool_of_large_windows_works_by_dimension);
  RUN(test_max_pool_with_ceil_mode_and_dilation);
  RUN(test_max_pool_of_integers);
  RUN(test_max_pool_in_three_dimensions);
  RUN(test_max_pool_keeps_channels_last);
  RUN(test_max_pool_backward_of_tiles_selects);
  RUN(test_max_pool_backward_of_overlaps_adds);
  RUN(test_adaptive_max_pool_of_uneven_windows);
  RUN(test_adaptive_max_pool_backward_scatters);
  RUN(test_max_pool_refuses_bad_windows);
  return TEST_RESULT;
}
