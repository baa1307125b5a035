// Weight normalisation on the virtual TPU.
#include "aten/row_probe.h"

static void test_weight_norm_scales_rows_or_columns(void) {
  {
    row_t r;
    row_begin(&r, "_weight_norm_interface");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.5, 1.75, -0.5, -0.5, 0.5, -0.75));
    row_f32(&r, 2, DIMS(2, 1), DATA(0.5, -0.0));
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.1324532, 0.4635863, -0.1324532, 0, -0.0, 0);
      CHECK_ROW(&r, 1, 1e-6, 1.887459, 1.030776);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_weight_norm_interface");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.5, 1.75, -0.5, -0.5, 0.5, -0.75));
    row_f32(&r, 2, DIMS(1, 3), DATA(-2, 0, 0));
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 1.414214, 0, -0.0, 1.414214, 0, -0.0);
      CHECK_ROW(&r, 1, 1e-6, 0.7071068, 1.820027, 0.9013878);
    }
    row_end(&r);
  }
}

static void test_weight_norm_backward(void) {
  row_t r;
  row_begin(&r, "_weight_norm_interface_backward");
  row_f32(&r, 2, DIMS(2, 3), DATA(-0.5, -0.5, -1, -0.75, 0.25, 1.25));
  row_f32(&r, 2, DIMS(2, 3), DATA(-0.5, 1.75, -0.5, -0.5, 0.5, -0.75));
  row_f32(&r, 2, DIMS(2, 1), DATA(0.5, -0.0));
  row_f32(&r, 2, DIMS(2, 1), DATA(1.887459, 1.030776));
  row_int(&r, 0);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-5, -0.1371007, -0.116187, -0.269554, 0, -0.0, 0);
    CHECK_ROW(&r, 1, 1e-5, -0.06622662, -0.4244373);
  }
  row_end(&r);
}

static void test_weight_norm_refuses_other_lengths(void) {
  row_t r;
  row_begin(&r, "_weight_norm_interface");
  row_f32(&r, 2, DIMS(2, 3), DATA(-0.5, 1.75, -0.5, -0.5, 0.5, -0.75));
  row_f32(&r, 2, DIMS(1, 3), DATA(-2, 0, 0));
  row_int(&r, 0);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "g must have one number along dimension 0");
  row_end(&r);
}

int main(void) {
  RUN(test_weight_norm_scales_rows_or_columns);
  RUN(test_weight_norm_backward);
  RUN(test_weight_norm_refuses_other_lengths);
  return TEST_RESULT;
}
