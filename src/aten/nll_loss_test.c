// Negative log likelihood on the virtual TPU.
#include "aten/row_probe.h"

static void test_nll_loss_without_reduction_keeps_the_batch(void) {
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_none(&r);
    row_int(&r, 0);
    row_int(&r, -100);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.75, 0, 0.75);
      CHECK_ROW(&r, 1, 1e-6, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss_backward");
    row_f32(&r, 1, DIMS(3), DATA(2, 2, 2));
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_none(&r);
    row_int(&r, 0);
    row_int(&r, -100);
    row_f32(&r, 0, DIMS(0), DATA(0));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, -2, 0, 0, 0, 0, 0, -2, 0, 0, 0);
    }
    row_end(&r);
  }
}

static void test_nll_loss_mean_divides_by_the_weights(void) {
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_none(&r);
    row_int(&r, 1);
    row_int(&r, -100);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0);
      CHECK_ROW(&r, 1, 1e-6, 2);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss_backward");
    row_f32(&r, 0, DIMS(0), DATA(2));
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_none(&r);
    row_int(&r, 1);
    row_int(&r, -100);
    row_f32(&r, 0, DIMS(0), DATA(2));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 2, 3));
    row_int(&r, 1);
    row_int(&r, -100);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.45);
      CHECK_ROW(&r, 1, 1e-6, 2.5);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss_backward");
    row_f32(&r, 0, DIMS(0), DATA(2));
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 2, 3));
    row_int(&r, 1);
    row_int(&r, -100);
    row_f32(&r, 0, DIMS(0), DATA(2.5));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, -1.6, 0, 0, 0, 0, 0, -0.4, 0, 0, 0);
    }
    row_end(&r);
  }
}

static void test_nll_loss_sum(void) {
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 2, 3));
    row_int(&r, 2);
    row_int(&r, -100);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -1.125);
      CHECK_ROW(&r, 1, 1e-6, 2.5);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss_backward");
    row_f32(&r, 0, DIMS(0), DATA(2));
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(2, -100, 0));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 2, 3));
    row_int(&r, 2);
    row_int(&r, -100);
    row_f32(&r, 0, DIMS(0), DATA(2.5));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, -4, 0, 0, 0, 0, 0, -1, 0, 0, 0);
    }
    row_end(&r);
  }
}

static void test_nll_loss_of_one_sample(void) {
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 1, DIMS(4), DATA(-0.75, 1.5, 0.75, 0.5));
    row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(3));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 2, 3));
    row_int(&r, 1);
    row_int(&r, -100);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.5);
      CHECK_ROW(&r, 1, 1e-6, 3);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 1, DIMS(4), DATA(-0.75, 1.5, 0.75, 0.5));
    row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(3));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 2, 3));
    row_int(&r, 0);
    row_int(&r, -100);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -1.5);
      CHECK_ROW(&r, 1, 1e-6, 3);
    }
    row_end(&r);
  }
}

static void test_nll_loss_of_ignored_samples_is_nan(void) {
  row_t r;
  row_begin(&r, "nll_loss_forward");
  row_f32(&r, 2, DIMS(1, 4), DATA(-0.75, 1.5, 0.75, 0.5));
  row_tensor(&r, TPT_S64, 1, DIMS(1), DATA(7));
  row_none(&r);
  row_int(&r, 1);
  row_int(&r, 7);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, NAN);
    CHECK_ROW(&r, 1, 1e-6, 0);
  }
  row_end(&r);
}

static void test_nll_loss2d_picks_by_place(void) {
  {
    row_t r;
    row_begin(&r, "nll_loss2d_forward");
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(0.25, 0.25, -1.25, -0.25, 0, -1.25, 1.25, 0));
    row_tensor(&r, TPT_S64, 3, DIMS(1, 2, 2), DATA(0, 1, 1, 5));
    row_none(&r);
    row_int(&r, 1);
    row_int(&r, 5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.08333334);
      CHECK_ROW(&r, 1, 1e-6, 3);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss2d_backward");
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.75, 0.75, -0.25, -0.75));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(0.25, 0.25, -1.25, -0.25, 0, -1.25, 1.25, 0));
    row_tensor(&r, TPT_S64, 3, DIMS(1, 2, 2), DATA(0, 1, 1, 5));
    row_none(&r);
    row_int(&r, 0);
    row_int(&r, 5);
    row_f32(&r, 0, DIMS(0), DATA(0));
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0.75, 0, 0, 0, 0, -0.75, 0.25, 0);
    }
    row_end(&r);
  }
}

static void test_nll_loss_target_out_of_range_fails(void) {
  row_t r;
  row_begin(&r, "nll_loss_forward");
  row_f32(&r, 2, DIMS(3, 4),
          DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
  row_tensor(&r, TPT_S64, 1, DIMS(3), DATA(0, 4, 1));
  row_none(&r);
  row_int(&r, 1);
  row_int(&r, -100);
  CHECK_FAILS(row_try(&r), TPT_OUT_OF_RANGE, "Target is out of bounds");
  row_end(&r);
}

static void test_nll_loss_refuses_other_sizes_and_types(void) {
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(2), DATA(0, 1));
    row_none(&r);
    row_int(&r, 1);
    row_int(&r, -100);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "size mismatch");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "nll_loss_forward");
    row_f32(&r, 2, DIMS(3, 4),
            DATA(-0.75, 1.5, 0.75, 0.5, -0.25, 0.25, 0.5, 1.25, -0.75, -0.5, -1, -1));
    row_tensor(&r, TPT_S32, 1, DIMS(3), DATA(0, 1, 2));
    row_none(&r);
    row_int(&r, 1);
    row_int(&r, -100);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "expected scalar type Long or Byte");
    row_end(&r);
  }
}

int main(void) {
  RUN(test_nll_loss_without_reduction_keeps_the_batch);
  RUN(test_nll_loss_mean_divides_by_the_weights);
  RUN(test_nll_loss_sum);
  RUN(test_nll_loss_of_one_sample);
  RUN(test_nll_loss_of_ignored_samples_is_nan);
  RUN(test_nll_loss2d_picks_by_place);
  RUN(test_nll_loss_target_out_of_range_fails);
  RUN(test_nll_loss_refuses_other_sizes_and_types);
  return TEST_RESULT;
}
