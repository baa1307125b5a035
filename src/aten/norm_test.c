// Layer, RMS and group normalisation on the virtual TPU.
#include "aten/row_probe.h"

static void test_layer_norm_gives_output_and_statistics(void) {
  {
    row_t r;
    row_begin(&r, "native_layer_norm");
    row_f32(&r, 2, DIMS(2, 4), DATA(0.25, -1, 0.25, -2.25, 1, 0.25, -1.25, 1));
    ROW_INTS(&r, 4);
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 1, 0.25));
    row_f32(&r, 1, DIMS(4), DATA(-1, -2.5, 0, 0));
    row_float(&r, 0.25);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.5926559, -2.771563, 0.8146881, -0.3394534, -0.6414315, -2.5,
                -1.434274, 0.1792843);
      CHECK_ROW(&r, 1, 2e-6, -0.6875, 0.25);
      CHECK_ROW(&r, 2, 2e-6, 0.8690007, 0.9561829);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "native_layer_norm");
    row_f32(&r, 3, DIMS(2, 2, 2), DATA(1.5, -0.25, -0.75, -2, -0.25, -0.75, 0, 0.25));
    ROW_INTS(&r, 2, 2);
    row_none(&r);
    row_none(&r);
    row_float(&r, 0.5);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 1.300665, 0.08671102, -0.260133, -1.127243, -0.07832607, -0.7049344,
                0.2349781, 0.5482823);
      CHECK_ROW(&r, 1, 2e-6, -0.375, -0.1875);
      CHECK_ROW(&r, 2, 2e-6, 0.693688, 1.253217);
    }
    row_end(&r);
  }
}

static void test_layer_norm_stays_accurate_far_from_zero(void) {
  row_t r;
  row_begin(&r, "native_layer_norm");
  row_f32(&r, 2, DIMS(1, 4), DATA(10000, 10001, 10002, 10003));
  ROW_INTS(&r, 4);
  row_none(&r);
  row_none(&r);
  row_float(&r, 1e-05);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 2e-4, -1.341635, -0.4472118, 0.4472118, 1.341635);
    CHECK_ROW(&r, 2, 2e-4, 0.8944237);
  }
  row_end(&r);
}

static void test_layer_norm_of_bf16_keeps_f32_statistics(void) {
  row_t r;
  row_begin(&r, "native_layer_norm");
  row_tensor(&r, TPT_BF16, 2, DIMS(1, 3), DATA(1, 2, 4));
  ROW_INTS(&r, 3);
  row_none(&r);
  row_none(&r);
  row_float(&r, 0);
  if (row_run(&r)) {
    CHECK_EQ(r.results[0].type.dtype, TPT_BF16);
    CHECK_EQ(r.results[1].type.dtype, TPT_F32);
    CHECK_ROW(&r, 1, 1e-6, 7.0 / 3);
  }
  row_end(&r);
}

static void test_layer_norm_backward_gives_all_gradients(void) {
  {
    row_t r;
    row_begin(&r, "native_layer_norm_backward");
    row_f32(&r, 2, DIMS(2, 4), DATA(-0.25, -0.25, -1.5, -1.75, 0.5, 0.25, 0.5, 0.75));
    row_f32(&r, 2, DIMS(2, 4), DATA(0.25, -1, 0.25, -2.25, 1, 0.25, -1.25, 1));
    ROW_INTS(&r, 4);
    row_f32(&r, 2, DIMS(2, 1), DATA(-0.6875, 0.25));
    row_f32(&r, 2, DIMS(2, 1), DATA(0.8690007, 0.9561829));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 1, 0.25));
    row_f32(&r, 1, DIMS(4), DATA(-1, -2.5, 0, 0));
    ROW_BOOLS(&r, 1, 1, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 0.5109224, 0.2460887, -0.6839535, -0.07305753, 0.02433142, -0.04482108,
                0.05591962, -0.03542998);
      CHECK_ROW(&r, 1, 1e-5, 0.1548965, 0.06789067, -1.939169, 2.914027);
      CHECK_ROW(&r, 2, 1e-5, 0.25, 0, -1, -1);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "native_layer_norm_backward");
    row_f32(&r, 2, DIMS(2, 4), DATA(-0.75, 0.25, 1.5, -0.0, 1, -0.5, 1, 0.75));
    row_f32(&r, 2, DIMS(2, 4), DATA(0.25, -1, 0.25, -2.25, 1, 0.25, -1.25, 1));
    ROW_INTS(&r, 4);
    row_f32(&r, 2, DIMS(2, 1), DATA(-0.6875, 0.25));
    row_f32(&r, 2, DIMS(2, 1), DATA(0.8690007, 0.9561829));
    row_none(&r);
    row_none(&r);
    ROW_BOOLS(&r, 1, 0, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, -0.965129, 0.0320428, 0.9901224, -0.05703621, 0.4490644, -1.015944,
                0.3568611, 0.2100187);
      CHECK(r.results[1].is_none);
      CHECK(r.results[2].is_none);
    }
    row_end(&r);
  }
}

static void test_rms_norm_and_its_gradients(void) {
  {
    row_t r;
    row_begin(&r, "_fused_rms_norm");
    row_f32(&r, 2, DIMS(2, 4), DATA(0.25, -1, 0.25, -2.25, 1, 0.25, -1.25, 1));
    ROW_INTS(&r, 4);
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 1, 0.25));
    row_float(&r, 0.25);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, 0.09325048, -0.7460039, 0.186501, -0.4196272, 0.4649906, 0.2324953,
                -1.162476, 0.2324953);
      CHECK_ROW(&r, 1, 2e-6, 0.7460039, 0.9299811);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_fused_rms_norm_backward");
    row_f32(&r, 2, DIMS(2, 4), DATA(-1.5, -0.0, -1.5, -0.25, 0.75, 0.25, 1, -0.0));
    row_f32(&r, 2, DIMS(2, 4), DATA(0.25, -1, 0.25, -2.25, 1, 0.25, -1.25, 1));
    ROW_INTS(&r, 4);
    row_f32(&r, 2, DIMS(2, 1), DATA(0.7460039, 0.9299811));
    row_f32(&r, 1, DIMS(4), DATA(0.5, 1, 1, 0.25));
    ROW_BOOLS(&r, 1, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, -0.5485561, -0.04378719, -1.108059, -0.1451464, 0.512118, 0.273339,
                0.7257622, 0.1633751);
      CHECK_ROW(&r, 1, 1e-5, 0.4177344, 0.05812382, -1.442228, 0.4196272);
    }
    row_end(&r);
  }
}

static void test_group_norm_and_its_gradients(void) {
  {
    row_t r;
    row_begin(&r, "native_group_norm");
    row_f32(&r, 3, DIMS(2, 4, 2),
            DATA(0.5, 0.25, -0.5, 0.25, -2.25, 2.25, -1.25, -0.5, 2, 0.25, -1, -0.25, 1, 0.5, 1,
                 -0.25));
    row_f32(&r, 1, DIMS(4), DATA(-1.75, 0, 0.75, 0.25));
    row_f32(&r, 1, DIMS(4), DATA(0.5, -0.25, -1, -0.25));
    row_int(&r, 2);
    row_int(&r, 4);
    row_int(&r, 2);
    row_int(&r, 2);
    row_float(&r, 0.25);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.55, 0.15, -0.25, -0.25, -1.779275, 0.1554761, -0.3664433,
                -0.2589572, -2.026982, 0.5, -0.25, -0.25, -0.5413053, -1.065528, -0.09710178,
                -0.5339538);
      CHECK_ROW(&r, 1, 2e-6, 0.125, -0.4375, 0.25, 0.5625);
      CHECK_ROW(&r, 2, 2e-6, 1.6, 0.5732595, 0.825137, 1.397927);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "native_group_norm_backward");
    row_f32(
        &r, 3, DIMS(2, 4, 2),
        DATA(-0.25, -1.25, 1, 0.75, 0.5, -0.5, -0.25, -0.5, 0.25, 0.5, 0.5, 0.25, 0.5, 0.5, 2, -1));
    row_f32(&r, 3, DIMS(2, 4, 2),
            DATA(0.5, 0.25, -0.5, 0.25, -2.25, 2.25, -1.25, -0.5, 2, 0.25, -1, -0.25, 1, 0.5, 1,
                 -0.25));
    row_f32(&r, 2, DIMS(2, 2), DATA(0.125, -0.4375, 0.25, 0.5625));
    row_f32(&r, 2, DIMS(2, 2), DATA(1.6, 0.5732595, 0.825137, 1.397927));
    row_f32(&r, 1, DIMS(4), DATA(-1.75, 0, 0.75, 0.25));
    row_int(&r, 2);
    row_int(&r, 4);
    row_int(&r, 2);
    row_int(&r, 2);
    ROW_BOOLS(&r, 1, 1, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, -0.5180001, 2.394, -0.7700001, -1.106, 0.1027949, 0.01807532,
                -0.07128948, -0.04958069, 0.09793015, -0.4512467, 0.1363342, 0.2169825, 0.006669521,
                0.1987511, 0.1814103, -0.3868308);
      CHECK_ROW(&r, 1, 1e-5, -0.03900259, -1.468853, -1.027723, 2.493359);
      CHECK_ROW(&r, 2, 1e-5, -0.75, 2.5, 1, 0.25);
    }
    row_end(&r);
  }
}

static void test_layer_norm_refuses_other_shapes(void) {
  {
    row_t r;
    row_begin(&r, "native_layer_norm");
    row_f32(&r, 2, DIMS(2, 4), DATA(0.25, -1, 0.25, -2.25, 1, 0.25, -1.25, 1));
    ROW_INTS(&r, 3);
    row_none(&r);
    row_none(&r);
    row_float(&r, 1e-05);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "Given normalized_shape");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "native_group_norm");
    row_f32(&r, 3, DIMS(2, 4, 2),
            DATA(0.5, 0.25, -0.5, 0.25, -2.25, 2.25, -1.25, -0.5, 2, 0.25, -1, -0.25, 1, 0.5, 1,
                 -0.25));
    row_none(&r);
    row_none(&r);
    row_int(&r, 2);
    row_int(&r, 4);
    row_int(&r, 2);
    row_int(&r, 3);
    row_float(&r, 1e-05);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "divisible by num_groups");
    row_end(&r);
  }
}

int main(void) {
  RUN(test_layer_norm_gives_output_and_statistics);
  RUN(test_layer_norm_stays_accurate_far_from_zero);
  RUN(test_layer_norm_of_bf16_keeps_f32_statistics);
  RUN(test_layer_norm_backward_gives_all_gradients);
  RUN(test_rms_norm_and_its_gradients);
  RUN(test_group_norm_and_its_gradients);
  RUN(test_layer_norm_refuses_other_shapes);
  return TEST_RESULT;
}
