// Convolutions on the virtual TPU against hand-sized golden numbers.
#include "aten/row_probe.h"

static void test_convolution_pads_strides_and_adds_the_bias(void) {
  {
    row_t r;
    row_begin(&r, "convolution");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(2, 2, 2, 2),
            DATA(-0.0, 0.25, -0.75, 0, 0.75, -0.25, 1.5, -1.5, -0.0, -0.25, 0.25, -0.25, 1, 0.25,
                 0.5, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.5, -1));
    ROW_INTS(&r, 2, 1);
    ROW_INTS(&r, 1, 0);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    ROW_INTS(&r, 0, 0);
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 1.25, 0.5, -2.25, 4.75, -1.75, -0.75, 1.5, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "convolution_overrideable");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(2, 2, 2, 2),
            DATA(-0.0, 0.25, -0.75, 0, 0.75, -0.25, 1.5, -1.5, -0.0, -0.25, 0.25, -0.25, 1, 0.25,
                 0.5, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.5, -1));
    ROW_INTS(&r, 2, 1);
    ROW_INTS(&r, 1, 0);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    ROW_INTS(&r, 0, 0);
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 1.25, 0.5, -2.25, 4.75, -1.75, -0.75, 1.5, 0);
    }
    row_end(&r);
  }
}

static void test_convolution_groups_and_dilates(void) {
  row_t r;
  row_begin(&r, "convolution");
  row_f32(&r, 4, DIMS(1, 2, 3, 3),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
  row_f32(&r, 4, DIMS(4, 1, 2, 2),
          DATA(-0.5, -0.25, -0.25, 0.25, 0, -0.0, 0.5, -0.75, -0.25, 0.25, 0.25, 0.75, -1, 0, 0.75,
               0.75));
  row_none(&r);
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 0, 1);
  ROW_INTS(&r, 2, 1);
  row_bool(&r, false);
  ROW_INTS(&r, 0, 0);
  row_int(&r, 2);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 1.5, 0.5, 1.5, 1, -2.25, 3.75, 0, -1, -1.75, -1, 0, -0.25, -1.5, -1.25,
              -0.75, -1);
  }
  row_end(&r);
}

static void test_convolution_transposed_with_groups_spreads(void) {
  row_t r;
  row_begin(&r, "convolution");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-3, -2, -1, 0, 1, 2, 3, -3));
  row_f32(&r, 4, DIMS(2, 1, 2, 2), DATA(-1.5, 1, 0.5, 1.25, -0.75, 0.25, 0.5, -0.0));
  row_none(&r);
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, true);
  ROW_INTS(&r, 1, 0);
  row_int(&r, 2);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -1.5, -3.75, -1, -2.5, 1.5, -1, 0, 0, -0.5, -1.25, 0, 0, 0.5, 0, 1, 0,
              -2.25, 0.75, 2.25, -0.75, 1.5, 0, -1.5, 0);
  }
  row_end(&r);
}

static void test_convolution_in_one_dimension(void) {
  row_t r;
  row_begin(&r, "convolution");
  row_f32(&r, 3, DIMS(2, 1, 5), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1));
  row_f32(&r, 3, DIMS(2, 1, 3), DATA(-0.5, 0.25, -1.25, 0.5, -1.5, -0.75));
  row_none(&r);
  ROW_INTS(&r, 2);
  ROW_INTS(&r, 1);
  ROW_INTS(&r, 1);
  row_bool(&r, false);
  ROW_INTS(&r, 0);
  row_int(&r, 1);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 1.75, 0.75, 0.25, 6, 0.5, -1.5, -3.25, 0.25, 0.75, -5.25, 7.5, 0.5);
  }
  row_end(&r);
}

static void test_convolution_of_bf16_rounds_once(void) {
  row_t r;
  row_begin(&r, "convolution");
  row_tensor(&r, TPT_BF16, 4, DIMS(1, 2, 3, 3),
             DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
  row_tensor(&r, TPT_BF16, 4, DIMS(2, 2, 2, 2),
             DATA(-0.0, 0.2753906, -0.8242188, 0, 0.8242188, -0.2753906, 1.648438, -1.648438, -0.0,
                  -0.2753906, 0.2753906, -0.2753906, 1.101562, 0.2753906, 0.5507812, 0.5507812));
  row_tensor(&r, TPT_BF16, 1, DIMS(2), DATA(0.5, -1));
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  ROW_INTS(&r, 0, 0);
  row_int(&r, 1);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 0.04, -2.53125, 9, -2.53125, 5.1875, 0.9296875, -0.7265625, 1.75, 0.1015625);
  }
  row_end(&r);
}

static void test_convolution_keeps_channels_last(void) {
  row_t r;
  row_begin(&r, "convolution");
  row_f32(&r, 4, DIMS(1, 2, 3, 3),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
  row_channels_last(&r);
  row_f32(&r, 4, DIMS(2, 2, 2, 2),
          DATA(-0.0, 0.25, -0.75, 0, 0.75, -0.25, 1.5, -1.5, -0.0, -0.25, 0.25, -0.25, 1, 0.25, 0.5,
               0.5));
  row_f32(&r, 1, DIMS(2), DATA(0.5, -1));
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  ROW_INTS(&r, 0, 0);
  row_int(&r, 1);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -2.25, 8.25, -2.25, 4.75, 0.75, -0.75, 1.5, 0);
    CHECK_STRIDES(&r, 0, 8, 1, 4, 2);
  }
  row_end(&r);
}

static void test_convolution_backward_gives_all_gradients(void) {
  row_t r;
  row_begin(&r, "convolution_backward");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(0.25, -0.25, 0.5, 0, 1.25, 1.5, 0.5, 1));
  row_f32(&r, 4, DIMS(1, 2, 3, 3),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
  row_f32(&r, 4, DIMS(2, 2, 2, 2),
          DATA(-0.0, 0.25, -0.75, 0, 0.75, -0.25, 1.5, -1.5, -0.0, -0.25, 0.25, -0.25, 1, 0.25, 0.5,
               0.5));
  ROW_INTS(&r, 2);
  ROW_INTS(&r, 2, 1);
  ROW_INTS(&r, 1, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  ROW_INTS(&r, 0, 0);
  row_int(&r, 1);
  ROW_BOOLS(&r, 1, 1, 1);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-5, 0.125, 0.25, -0.375, 0, 0, -0.25, -0.25, 0.125, -0.25, 1, 0.625, 1.125,
              0.875, 1, 0.25, 1, 0, 0.5);
    CHECK_ROW(&r, 1, 1e-5, 0, 0.5, 1.25, -1.75, 1, 1.5, -1.25, -0.75, 1, 2.5, -8.25, -7.5, 4, -1.5,
              -3.25, 1);
    CHECK_ROW(&r, 2, 1e-5, 0.5, 4.25);
  }
  row_end(&r);
}

static void test_convolution_backward_of_transposed_groups(void) {
  row_t r;
  row_begin(&r, "convolution_backward_overrideable");
  row_f32(&r, 4, DIMS(1, 2, 3, 4),
          DATA(1.25, 2, -0.5, 1.75, 0.25, -0.25, -0.0, -0.75, 0.5, 1, -0.25, 0, 0.75, 0.5, 0.5,
               0.75, -1.25, 1.25, -1.25, -1, 1.25, 0.5, 0.75, 0.5));
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-3, -2, -1, 0, 1, 2, 3, -3));
  row_f32(&r, 4, DIMS(2, 1, 2, 2), DATA(-1.5, 1, 0.5, 1.25, -0.75, 0.25, 0.5, -0.0));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, true);
  ROW_INTS(&r, 1, 0);
  row_int(&r, 2);
  ROW_BOOLS(&r, 1, 1, 0);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-5, 3.125, 1.9375, 0.875, -0.875, 0.375, 0.25, 1.875, 1.0625);
    CHECK_ROW(&r, 1, 1e-5, -0.25, 0.25, -3.25, -10.5, 0, 6.75, 3.25, 2);
    CHECK(r.results[2].is_none);
  }
  row_end(&r);
}

static void test_convolution_of_an_empty_batch_is_empty(void) {
  row_t r;
  row_begin(&r, "convolution");
  row_f32(&r, 4, DIMS(0, 2, 3, 3), NULL);
  row_f32(&r, 4, DIMS(3, 2, 2, 2), (double[24]){0});
  row_none(&r);
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 1, 1);
  row_bool(&r, false);
  ROW_INTS(&r, 0, 0);
  row_int(&r, 1);
  if (row_run(&r)) {
    CHECK_EQ(r.results[0].type.dims[0], 0);
    CHECK_EQ(r.results[0].type.dims[1], 3);
    CHECK_EQ(r.results[0].type.dims[2], 2);
  }
  row_end(&r);
}

static void test_convolution_refuses_wrong_channels_and_sizes(void) {
  {
    row_t r;
    row_begin(&r, "convolution");
    row_f32(&r, 4, DIMS(1, 3, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1,
                 0, 1, 2));
    row_f32(&r, 4, DIMS(2, 2, 2, 2),
            DATA(-0.0, 0.25, -0.75, 0, 0.75, -0.25, 1.5, -1.5, -0.0, -0.25, 0.25, -0.25, 1, 0.25,
                 0.5, 0.5));
    row_none(&r);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    ROW_INTS(&r, 0, 0);
    row_int(&r, 1);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "expected input to have 2 channels, but got 3");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "convolution");
    row_f32(&r, 4, DIMS(1, 2, 1, 1), DATA(-3, -2));
    row_f32(&r, 4, DIMS(2, 2, 2, 2),
            DATA(-0.0, 0.25, -0.75, 0, 0.75, -0.25, 1.5, -1.5, -0.0, -0.25, 0.25, -0.25, 1, 0.25,
                 0.5, 0.5));
    row_none(&r);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    row_bool(&r, false);
    ROW_INTS(&r, 0, 0);
    row_int(&r, 1);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT,
                "Kernel size can't be greater than actual input size");
    row_end(&r);
  }
}

int main(void) {
  RUN(test_convolution_pads_strides_and_adds_the_bias);
  RUN(test_convolution_groups_and_dilates);
  RUN(test_convolution_transposed_with_groups_spreads);
  RUN(test_convolution_in_one_dimension);
  RUN(test_convolution_of_bf16_rounds_once);
  RUN(test_convolution_keeps_channels_last);
  RUN(test_convolution_backward_gives_all_gradients);
  RUN(test_convolution_backward_of_transposed_groups);
  RUN(test_convolution_of_an_empty_batch_is_empty);
  RUN(test_convolution_refuses_wrong_channels_and_sizes);
  return TEST_RESULT;
}
