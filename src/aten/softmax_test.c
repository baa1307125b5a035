// Softmax on the virtual TPU, forward and backward.
#include "aten/row_probe.h"

static void test_softmax_sums_to_one_along_its_dimension(void) {
  {
    row_t r;
    row_begin(&r, "_softmax");
    row_f32(&r, 2, DIMS(2, 3), DATA(0.25, 0, 1.75, -1, -0.25, -0.25));
    row_int(&r, 1);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0.1597319, 0.1243993, 0.7158688, 0.1910585, 0.4044708, 0.4044708);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_softmax");
    row_f32(&r, 2, DIMS(2, 3), DATA(0.25, 0, 1.75, -1, -0.25, -0.25));
    row_int(&r, -2);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0.7772999, 0.5621765, 0.880797, 0.2227001, 0.4378235, 0.1192029);
    }
    row_end(&r);
  }
}

static void test_softmax_does_not_overflow(void) {
  {
    row_t r;
    row_begin(&r, "_softmax");
    row_f32(&r, 1, DIMS(3), DATA(1000, 999, -1000));
    row_int(&r, 0);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0.7310586, 0.2689414, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_log_softmax");
    row_f32(&r, 1, DIMS(3), DATA(1000, 999, -1000));
    row_int(&r, 0);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-3, -0.3132617, -1.313262, -2000.313);
    }
    row_end(&r);
  }
}

static void test_softmax_of_minus_infinity_is_nan_and_safe_softmax_zero(void) {
  {
    row_t r;
    row_begin(&r, "_softmax");
    row_f32(&r, 2, DIMS(2, 3), DATA(-INFINITY, -INFINITY, -INFINITY, -INFINITY, 1, 2));
    row_int(&r, 1);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, NAN, NAN, NAN, 0, 0.2689414, 0.7310586);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_safe_softmax");
    row_f32(&r, 2, DIMS(2, 3), DATA(-INFINITY, -INFINITY, -INFINITY, -INFINITY, 1, 2));
    row_int(&r, 1);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, 0, 0, 0.2689414, 0.7310586);
    }
    row_end(&r);
  }
}

static void test_softmax_of_a_number_is_one(void) {
  {
    row_t r;
    row_begin(&r, "_softmax");
    row_f32(&r, 0, DIMS(0), DATA(3));
    row_int(&r, 0);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 1);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_log_softmax");
    row_f32(&r, 0, DIMS(0), DATA(3));
    row_int(&r, -1);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0);
    }
    row_end(&r);
  }
}

static void test_log_softmax_of_bf16(void) {
  row_t r;
  row_begin(&r, "_log_softmax");
  row_tensor(&r, TPT_BF16, 2, DIMS(2, 3), DATA(0.25, 0, 1.75, -1, -0.25, -0.25));
  row_int(&r, 1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 0.02, -1.835938, -2.09375, -0.3359375, -1.65625, -0.9023438, -0.9023438);
  }
  row_end(&r);
}

static void test_softmax_backward(void) {
  {
    row_t r;
    row_begin(&r, "_softmax_backward_data");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.25, -0.5, -0.0, -0.0, 2, -1));
    row_f32(&r, 2, DIMS(2, 3),
            DATA(0.1597319, 0.1243993, 0.7158688, 0.1910585, 0.4044708, 0.4044708));
    row_int(&r, 1);
    row_dtype(&r, TPT_F32);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.02361914, -0.04949444, 0.07311358, -0.07727756, 0.6453449,
                -0.5680674);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_log_softmax_backward_data");
    row_f32(&r, 2, DIMS(2, 3), DATA(-1, 1.75, 1, -0.75, -1.75, 1.75));
    row_f32(&r, 2, DIMS(2, 3),
            DATA(-0.251929, -0.5759394, -0.126928, -1.501929, -0.8259394, -2.126928));
    row_int(&r, 0);
    row_dtype(&r, TPT_F32);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0.3602748, 1.75, -1.422192, -0.3602747, -1.75, 1.422192);
    }
    row_end(&r);
  }
}

static void test_softmax_refuses_a_dimension_out_of_range(void) {
  row_t r;
  row_begin(&r, "_softmax");
  row_f32(&r, 2, DIMS(2, 3), DATA(0.25, 0, 1.75, -1, -0.25, -0.25));
  row_int(&r, 2);
  row_bool(&r, false);
  CHECK_FAILS(row_try(&r), TPT_OUT_OF_RANGE,
              "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  row_end(&r);
}

int main(void) {
  RUN(test_softmax_sums_to_one_along_its_dimension);
  RUN(test_softmax_does_not_overflow);
  RUN(test_softmax_of_minus_infinity_is_nan_and_safe_softmax_zero);
  RUN(test_softmax_of_a_number_is_one);
  RUN(test_log_softmax_of_bf16);
  RUN(test_softmax_backward);
  RUN(test_softmax_refuses_a_dimension_out_of_range);
  return TEST_RESULT;
}
