// Pointwise losses on the virtual TPU.
#include "aten/row_probe.h"

static void test_mse_loss_reduces_three_ways(void) {
  {
    row_t r;
    row_begin(&r, "mse_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 2.25, 2.25, 1, 0.25, 3.0625, 0.0625);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "mse_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 1.479167);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "mse_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 2);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 8.875);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "mse_loss_backward");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.25, -2.25, 0.25, 0, -1.5, -0.25));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.75, 6.75, -0.5, 0, -5.25, -0.125);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "mse_loss_backward");
    row_f32(&r, 0, DIMS(0), DATA(1.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.75, -0.75, -0.5, 0.25, 0.8750001, 0.125);
    }
    row_end(&r);
  }
}

static void test_mse_loss_broadcasts(void) {
  row_t r;
  row_begin(&r, "mse_loss");
  row_f32(&r, 2, DIMS(2, 1), DATA(1.75, 0.75));
  row_f32(&r, 1, DIMS(3), DATA(-0.5, -1.5, -0.0));
  row_int(&r, 0);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 5.0625, 10.5625, 3.0625, 1.5625, 5.0625, 0.5625);
  }
  row_end(&r);
}

static void test_smooth_l1_loss_bends_at_beta(void) {
  {
    row_t r;
    row_begin(&r, "smooth_l1_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 1.25, 1.25, 0.75, 0.25, 1.5, 0.0625);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "smooth_l1_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.84375);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "smooth_l1_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 2);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 5.0625);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "smooth_l1_loss_backward");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -0.5, 1.25, 0.75, 1, -0.75));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.75, 0.5, -1.25, 0.75, 1, -0.375);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "smooth_l1_loss_backward");
    row_f32(&r, 0, DIMS(0), DATA(1.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.25, -0.25, -0.25, 0.25, 0.25, 0.125);
    }
    row_end(&r);
  }
}

static void test_huber_loss_bends_at_delta(void) {
  {
    row_t r;
    row_begin(&r, "huber_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.625, 0.625, 0.375, 0.125, 0.75, 0.03125);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "huber_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.421875);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "huber_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 2);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 2.53125);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "huber_loss_backward");
    row_f32(&r, 2, DIMS(2, 3), DATA(0.25, -1.25, 1.25, -0.75, 0.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.125, 0.625, -0.625, -0.375, 0.125, -0.125);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "huber_loss_backward");
    row_f32(&r, 0, DIMS(0), DATA(1.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.125, -0.125, -0.125, 0.125, 0.125, 0.0625);
    }
    row_end(&r);
  }
}

static void test_soft_margin_loss(void) {
  {
    row_t r;
    row_begin(&r, "soft_margin_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 1.013437, 0.974077, 0.2383445, 0.2014133, 1.053701, 0.5231233);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "soft_margin_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.6673493);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "soft_margin_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 2);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 4.004096);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "soft_margin_loss_backward");
    row_f32(&r, 2, DIMS(2, 3), DATA(-1.75, -0.75, -0.25, 1, -0.25, -0.75));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.836103, 0.2334222, -0.0397629, 0.2736383, -0.08141936, -0.2291251);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "soft_margin_loss_backward");
    row_f32(&r, 0, DIMS(0), DATA(1.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.1194433, -0.07780742, 0.03976291, 0.06840957, 0.08141936,
                0.07637502);
    }
    row_end(&r);
  }
}

static void test_binary_cross_entropy_clamps_logarithms(void) {
  {
    row_t r;
    row_begin(&r, "binary_cross_entropy");
    row_f32(&r, 2, DIMS(2, 3), DATA(0, 0.25, 1, 0.5, 0.75, 0.125));
    row_f32(&r, 2, DIMS(2, 3), DATA(0, 1, 1, 0.5, 0, 1));
    row_none(&r);
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-4, 0, 1.386294, -0.0, 0.6931472, 1.386294, 2.079442);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "binary_cross_entropy");
    row_f32(&r, 2, DIMS(2, 3), DATA(0, 0.25, 1, 0.5, 0.75, 0.125));
    row_f32(&r, 2, DIMS(2, 3), DATA(0, 1, 1, 0.5, 0, 1));
    row_f32(&r, 1, DIMS(3), DATA(1, 1.25, 0.5));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-4, 0.866434);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "binary_cross_entropy_backward");
    row_f32(&r, 0, DIMS(0), DATA(1));
    row_f32(&r, 2, DIMS(1, 3), DATA(0.5, 0.75, 0.125));
    row_f32(&r, 2, DIMS(1, 3), DATA(0.5, 0, 1));
    row_none(&r);
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 0, 1.333333, -2.666667);
    }
    row_end(&r);
  }
}

static void test_binary_cross_entropy_of_no_probability_fails(void) {
  row_t r;
  row_begin(&r, "binary_cross_entropy");
  row_f32(&r, 1, DIMS(2), DATA(0.5, 1.5));
  row_f32(&r, 1, DIMS(2), DATA(0, 1));
  row_none(&r);
  row_int(&r, 1);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "all elements of input should be between 0 and 1");
  row_end(&r);
}

static void test_binary_cross_entropy_with_logits_does_not_overflow(void) {
  {
    row_t r;
    row_begin(&r, "binary_cross_entropy_with_logits");
    row_f32(&r, 1, DIMS(3), DATA(100, -100, 0.5));
    row_f32(&r, 1, DIMS(3), DATA(0, 0, 1));
    row_none(&r);
    row_none(&r);
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 100, 0, 0.474077);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "binary_cross_entropy_with_logits");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0, 1, 1, 0.5, 0, 1));
    row_f32(&r, 1, DIMS(3), DATA(1, 1.25, 0.5));
    row_f32(&r, 1, DIMS(1), DATA(2));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 1.650272);
    }
    row_end(&r);
  }
}

static void test_loss_of_nothing_is_nan_in_the_mean(void) {
  {
    row_t r;
    row_begin(&r, "mse_loss");
    row_f32(&r, 1, DIMS(0), DATA(0));
    row_f32(&r, 1, DIMS(0), DATA(0));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, NAN);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "mse_loss");
    row_f32(&r, 1, DIMS(0), DATA(0));
    row_f32(&r, 1, DIMS(0), DATA(0));
    row_int(&r, 2);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0);
    }
    row_end(&r);
  }
}

static void test_loss_refuses_bad_parameters(void) {
  {
    row_t r;
    row_begin(&r, "huber_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    row_float(&r, 0.0);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "non-positive values for delta");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "smooth_l1_loss");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.75, -1, -1.75, -1, 1.25, -0.5));
    row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0.5, -0.75, -1.5, -0.5, -0.75));
    row_int(&r, 1);
    row_float(&r, -1.0);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "negative values for beta");
    row_end(&r);
  }
}

int main(void) {
  RUN(test_mse_loss_reduces_three_ways);
  RUN(test_mse_loss_broadcasts);
  RUN(test_smooth_l1_loss_bends_at_beta);
  RUN(test_huber_loss_bends_at_delta);
  RUN(test_soft_margin_loss);
  RUN(test_binary_cross_entropy_clamps_logarithms);
  RUN(test_binary_cross_entropy_of_no_probability_fails);
  RUN(test_binary_cross_entropy_with_logits_does_not_overflow);
  RUN(test_loss_of_nothing_is_nan_in_the_mean);
  RUN(test_loss_refuses_bad_parameters);
  return TEST_RESULT;
}
