// Sampling at computed places, on the virtual TPU.
#include "aten/row_probe.h"

static void test_grid_sampler_pads_with_zeros(void) {
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1, -1, 0.5, 0, 0.25, -0.75, 1.5, 0.5));
    row_int(&r, 0);
    row_int(&r, 0);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.75, 1.75, -1.421875, 0, -0.25, -1.5, 0.328125, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1, -1, 0.5, 0, 0.25, -0.75, 1.5, 0.5));
    row_int(&r, 0);
    row_int(&r, 0);
    row_bool(&r, true);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, 1.5, -1, 0, -1, 0, 0.5625, -0.75);
    }
    row_end(&r);
  }
}

static void test_grid_sampler_clips_and_reflects(void) {
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1, -1, 0.5, 0, 0.25, -0.75, 1.5, 0.5));
    row_int(&r, 0);
    row_int(&r, 1);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, 1.75, -1.625, -1, -1, -1.5, 0.375, -0.75);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1.5, -1.5, 0.75, 0, 0.375, -1.125, 2.25, 0.75));
    row_int(&r, 0);
    row_int(&r, 2);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -2, 2, -1.4375, -0.75, 0, -3, 0.5625, -1.375);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1.5, -1.5, 0.75, 0, 0.375, -1.125, 2.25, 0.75));
    row_int(&r, 0);
    row_int(&r, 2);
    row_bool(&r, true);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -1, 1.75, -1.25, -0.9375, 1, -1.5, 0.421875, -0.25);
    }
    row_end(&r);
  }
}

static void test_grid_sampler_takes_the_nearest(void) {
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1, -1, 0.5, 0, 0.25, -0.75, 1.5, 0.5));
    row_int(&r, 1);
    row_int(&r, 0);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, 2, -2, 0, -1, -3, 0, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d");
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1, -1, 0.5, 0, 0.25, -0.75, 1.5, 0.5));
    row_int(&r, 1);
    row_int(&r, 1);
    row_bool(&r, true);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, 2, -2, -2, -1, -3, 0, 0);
    }
    row_end(&r);
  }
}

static void test_grid_sampler_backward(void) {
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d_backward");
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(2, -1.25, -0.25, 0.5, 1, -0.5, -1, -2.5));
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1, -1, 0.5, 0, 0.25, -0.75, 1.5, 0.5));
    row_int(&r, 0);
    row_int(&r, 0);
    row_bool(&r, false);
    ROW_BOOLS(&r, 1, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 0.5, -0.1367188, -0.08203125, 0, -0.3125, -0.9375, 0, 0, 0, 0.25,
                -0.546875, -0.328125, 0, -0.125, -0.375, 0, 0, 0);
      CHECK_ROW(&r, 1, 1e-5, -5.25, -5.25, 2.625, 6.5625, -1.640625, 0.046875, 0, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "grid_sampler_2d_backward");
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(0.75, 0.25, -0.25, -0.25, -1.5, -0.75, 0.25, -0.5));
    row_f32(&r, 4, DIMS(1, 2, 3, 3),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1.5, -1.5, 0.75, 0, 0.375, -1.125, 2.25, 0.75));
    row_int(&r, 0);
    row_int(&r, 2);
    row_bool(&r, true);
    ROW_BOOLS(&r, 1, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 0.1875, 0.05078125, -0.08203125, 0.171875, 0.1835938, 0.1757812,
                -0.046875, -0.140625, 0, -0.375, -0.2382812, 0.08203125, -0.40625, -0.6367188,
                -0.5507812, -0.09375, -0.28125, 0);
      CHECK_ROW(&r, 1, 1e-5, 0.75, 2.25, 4.75, -1.9375, -0.21875, 0.65625, -0.5625, 2.5625);
    }
    row_end(&r);
  }
}

static void test_grid_sampler_refuses_bicubic(void) {
  row_t r;
  row_begin(&r, "grid_sampler_2d");
  row_f32(&r, 4, DIMS(1, 2, 3, 3),
          DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0));
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-1, -1, 0.5, 0, 0.25, -0.75, 1.5, 0.5));
  row_int(&r, 2);
  row_int(&r, 0);
  row_bool(&r, false);
  CHECK_FAILS(row_try(&r), TPT_UNIMPLEMENTED, "bicubic");
  row_end(&r);
}

int main(void) {
  RUN(test_grid_sampler_pads_with_zeros);
  RUN(test_grid_sampler_clips_and_reflects);
  RUN(test_grid_sampler_takes_the_nearest);
  RUN(test_grid_sampler_backward);
  RUN(test_grid_sampler_refuses_bicubic);
  return TEST_RESULT;
}
