// Batch normalisation on the virtual TPU: outputs, running statistics, gradients.
#include "aten/row_probe.h"

static void test_batch_norm_in_training_writes_running_statistics(void) {
  {
    row_t r;
    row_begin(&r, "native_batch_norm");
    row_f32(&r, 3, DIMS(2, 2, 3),
            DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
    row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
    row_bool(&r, true);
    row_float(&r, 0.5);
    row_float(&r, 0.25);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.5390043, 0.04271938, 0.2366273, 0.07853641, -0.06195146, 1.061951,
                -2.284175, -2.478083, -2.478083, 0.3595122, 0.6404878, 0.9214636);
      CHECK_ROW(&r, 1, 2e-6, 0.9166667, 0);
      CHECK_ROW(&r, 2, 2e-6, 0.6205053, 1.123903);
      CHECK_ROW(&r, 3, 2e-6, -0.1666667, 0.125);
      CHECK_ROW(&r, 4, 2e-6, 1.908333, 1.45);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_native_batch_norm_legit");
    row_f32(&r, 3, DIMS(2, 2, 3),
            DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
    row_none(&r);
    row_none(&r);
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
    row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
    row_bool(&r, true);
    row_float(&r, 0.5);
    row_float(&r, 0.25);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.5687965, -1.034176, -1.189302, -0.8429272, -1.123903, 1.123903,
                0.8273404, 0.9824667, 0.9824667, -0.2809757, 0.2809757, 0.8429272);
      CHECK_ROW(&r, 1, 2e-6, 0.9166667, 0);
      CHECK_ROW(&r, 2, 2e-6, 0.6205053, 1.123903);
      CHECK_ROW(&r, 3, 2e-6, -0.1666667, 0.125);
      CHECK_ROW(&r, 4, 2e-6, 1.908333, 1.45);
    }
    row_end(&r);
  }
}

static void test_batch_norm_in_evaluation_writes_nothing(void) {
  row_t r;
  row_begin(&r, "native_batch_norm");
  row_f32(&r, 3, DIMS(2, 2, 3),
          DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
  row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
  row_bool(&r, false);
  row_float(&r, 0.5);
  row_float(&r, 0.25);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 2e-6, -2.647542, -1.809017, -1.529508, 0.1837722, 0.1047153, 0.7371708,
              -5.163119, -5.442627, -5.442627, 0.3418861, 0.5, 0.6581139);
    CHECK_EQ(r.results[1].type.dims[0], 0);
    CHECK_EQ(r.results[2].type.dims[0], 0);
  }
  row_end(&r);
}

static void test_batch_norm_without_running_statistics(void) {
  row_t r;
  row_begin(&r, "_native_batch_norm_legit.no_stats");
  row_f32(&r, 3, DIMS(2, 2, 3),
          DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_bool(&r, true);
  row_float(&r, 0.5);
  row_float(&r, 0.25);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 2e-6, -0.5390043, 0.04271938, 0.2366273, 0.07853641, -0.06195146, 1.061951,
              -2.284175, -2.478083, -2.478083, 0.3595122, 0.6404878, 0.9214636);
    CHECK_ROW(&r, 1, 2e-6, 0.9166667, 0);
    CHECK_ROW(&r, 2, 2e-6, 0.6205053, 1.123903);
  }
  row_end(&r);
}

static void test_batch_norm_functional_returns_running_statistics(void) {
  {
    row_t r;
    row_begin(&r, "_native_batch_norm_legit_functional");
    row_f32(&r, 3, DIMS(2, 2, 3),
            DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
    row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
    row_bool(&r, true);
    row_float(&r, 0.5);
    row_float(&r, 0.25);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.5390043, 0.04271938, 0.2366273, 0.07853641, -0.06195146, 1.061951,
                -2.284175, -2.478083, -2.478083, 0.3595122, 0.6404878, 0.9214636);
      CHECK_ROW(&r, 1, 2e-6, 0.9166667, 0);
      CHECK_ROW(&r, 2, 2e-6, 0.6205053, 1.123903);
      CHECK_ROW(&r, 3, 2e-6, -0.1666667, 0.125);
      CHECK_ROW(&r, 4, 2e-6, 1.908333, 1.45);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_batch_norm_with_update_functional");
    row_f32(&r, 3, DIMS(2, 2, 3),
            DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
    row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
    row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
    row_float(&r, 0.5);
    row_float(&r, 0.25);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 2e-6, -0.5390043, 0.04271938, 0.2366273, 0.07853641, -0.06195146, 1.061951,
                -2.284175, -2.478083, -2.478083, 0.3595122, 0.6404878, 0.9214636);
      CHECK_ROW(&r, 1, 2e-6, 0.9166667, 0);
      CHECK_ROW(&r, 2, 2e-6, 0.6205053, 1.123903);
      CHECK_ROW(&r, 4, 2e-6, -0.1666667, 0.125);
      CHECK_ROW(&r, 5, 2e-6, 1.908333, 1.45);
    }
    row_end(&r);
  }
}

static void test_batch_norm_with_update_has_an_empty_reserve(void) {
  row_t r;
  row_begin(&r, "_batch_norm_with_update");
  row_f32(&r, 3, DIMS(2, 2, 3),
          DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
  row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
  row_float(&r, 0.5);
  row_float(&r, 0.25);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 2e-6, -0.5390043, 0.04271938, 0.2366273, 0.07853641, -0.06195146, 1.061951,
              -2.284175, -2.478083, -2.478083, 0.3595122, 0.6404878, 0.9214636);
    CHECK_ROW(&r, 1, 2e-6, 0.9166667, 0);
    CHECK_ROW(&r, 2, 2e-6, 0.6205053, 1.123903);
    CHECK_ROW(&r, 4, 2e-6, -0.1666667, 0.125);
    CHECK_ROW(&r, 5, 2e-6, 1.908333, 1.45);
  }
  row_end(&r);
}

static void test_batch_norm_backward_in_training(void) {
  row_t r;
  row_begin(&r, "native_batch_norm_backward");
  row_f32(&r, 3, DIMS(2, 2, 3), DATA(-0.0, -1.25, 1, -1.5, 0.5, -1, 1, -1.25, 0.25, 0.5, -1, 0.25));
  row_f32(&r, 3, DIMS(2, 2, 3),
          DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
  row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
  row_f32(&r, 1, DIMS(2), DATA(0.9166667, 0));
  row_f32(&r, 1, DIMS(2), DATA(0.6205053, 1.123903));
  row_bool(&r, true);
  row_float(&r, 0.25);
  ROW_BOOLS(&r, 1, 1, 1);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-5, -0.02851588, 0.9441345, -0.7999997, -0.6821055, 0.4251606, -0.2846728,
              -0.81348, 0.9306543, -0.2327932, 0.4750708, -0.3345829, 0.4011298);
    CHECK_ROW(&r, 1, 1e-5, -0.05170869, -0.6321954);
    CHECK_ROW(&r, 2, 1e-5, -0.25, -2.25);
  }
  row_end(&r);
}

static void test_batch_norm_backward_in_evaluation(void) {
  row_t r;
  row_begin(&r, "native_batch_norm_backward");
  row_f32(&r, 3, DIMS(2, 2, 3), DATA(-0.0, -1.25, 1, -1.5, 0.5, -1, 1, -1.25, 0.25, 0.5, -1, 0.25));
  row_f32(&r, 3, DIMS(2, 2, 3),
          DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.25));
  row_f32(&r, 1, DIMS(2), DATA(1, 2.25));
  row_none(&r);
  row_none(&r);
  row_bool(&r, false);
  row_float(&r, 0.25);
  ROW_BOOLS(&r, 1, 1, 0);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-5, 0, 1.397542, -1.118034, -0.4743416, 0.1581139, -0.3162278, -1.118034,
              1.397542, -0.2795085, 0.1581139, -0.3162278, 0.07905694);
    CHECK_ROW(&r, 1, 1e-5, -0.559017, 0);
    CHECK(r.results[2].is_none);
  }
  row_end(&r);
}

static void test_batch_norm_refuses_evaluation_without_statistics(void) {
  row_t r;
  row_begin(&r, "native_batch_norm");
  row_f32(&r, 3, DIMS(2, 2, 3),
          DATA(-0.0, -0.75, -1, -0.75, -1, 1, 2.25, 2.5, 2.5, -0.25, 0.25, 0.75));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_f32(&r, 1, DIMS(2), DATA(-1.25, 0.5));
  row_none(&r);
  row_none(&r);
  row_bool(&r, false);
  row_float(&r, 0.5);
  row_float(&r, 0.25);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT,
              "Expected running_mean and running_var to be defined");
  row_end(&r);
}

int main(void) {
  RUN(test_batch_norm_in_training_writes_running_statistics);
  RUN(test_batch_norm_in_evaluation_writes_nothing);
  RUN(test_batch_norm_without_running_statistics);
  RUN(test_batch_norm_functional_returns_running_statistics);
  RUN(test_batch_norm_with_update_has_an_empty_reserve);
  RUN(test_batch_norm_backward_in_training);
  RUN(test_batch_norm_backward_in_evaluation);
  RUN(test_batch_norm_refuses_evaluation_without_statistics);
  return TEST_RESULT;
}
