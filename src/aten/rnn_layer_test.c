// A layer of an LSTM over three steps on the virtual TPU, in both directions.
#include "aten/row_probe.h"

// input, weights, biases, hx, cx of width 1 and batch 2.
static void give_layer(row_t* r) {
  row_f32(r, 3, DIMS(3, 2, 1), DATA(0.5, -1, 0.25, 1.5, -0.75, 1));
  row_f32(r, 2, DIMS(4, 1), DATA(0.5, -0.25, 1, 0.75));
  row_f32(r, 2, DIMS(4, 1), DATA(-0.5, 0.75, 0.25, -1));
  row_f32(r, 1, DIMS(4), DATA(0.25, 0.5, -0.25, 0));
  row_f32(r, 1, DIMS(4), DATA(0.5, -0.5, 0.25, 1));
  row_f32(r, 2, DIMS(2, 1), DATA(0.25, -0.5));
  row_f32(r, 2, DIMS(2, 1), DATA(-0.75, 1));
}

static void begin_forward(row_t* r, bool is_reversed, int mode) {
  row_begin(r, "mkldnn_rnn_layer");
  give_layer(r);
  row_bool(r, is_reversed);
  row_list(r, TPT_ARG_INTS, 0, NULL);
  row_int(r, mode);
  row_int(r, 1);
  row_int(r, 1);
  row_bool(r, true);
  row_bool(r, false);
  row_bool(r, false);
  row_bool(r, true);
}

static void test_forward(void) {
  row_t r;
  begin_forward(&r, false, 2);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -0.02029068, -0.02373874, 0.1199484, 0.5561453, -0.1511029, 0.5793275);
    CHECK_ROW(&r, 1, 1e-6, -0.1511029, 0.5793275);
    CHECK_ROW(&r, 2, 1e-6, -0.2672833, 0.9842345);
  }
  row_end(&r);
  begin_forward(&r, true, 2);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0.1855658, 0.1798587, -0.1689064, 0.6773681, -0.3567866, 0.6584501);
    CHECK_ROW(&r, 1, 1e-6, 0.1855658, 0.1798587);
    CHECK_ROW(&r, 2, 1e-6, 0.2291194, 0.4917711);
  }
  row_end(&r);
}

static void begin_backward(row_t* r, bool is_reversed, const double* output) {
  row_begin(r, "mkldnn_rnn_layer_backward");
  give_layer(r);
  row_f32(r, 3, DIMS(3, 2, 1), output);
  row_f32(r, 2, DIMS(2, 1), DATA(0, 0));
  row_f32(r, 2, DIMS(2, 1), DATA(0, 0));
  row_f32(r, 3, DIMS(3, 2, 1), DATA(1, -0.5, 0.25, 0.75, -1, 0.5));
  row_f32(r, 2, DIMS(2, 1), DATA(0.5, -1));
  row_f32(r, 2, DIMS(2, 1), DATA(-0.25, 1));
  row_bool(r, is_reversed);
  row_int(r, 2);
  row_int(r, 1);
  row_int(r, 1);
  row_bool(r, true);
  row_bool(r, true);
  row_bool(r, false);
  row_list(r, TPT_ARG_INTS, 0, NULL);
  row_bool(r, false);
  row_f32(r, 1, DIMS(0), DATA(0));
}

static void test_backward(void) {
  row_t r;
  begin_backward(&r, false,
                 DATA(-0.02029068, -0.02373874, 0.1199484, 0.5561453, -0.1511029, 0.5793275));
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0.3888502, 0.0025808, -0.1413657, 0.2486386, -0.118108, 0.183799);
    CHECK_ROW(&r, 1, 1e-6, 0.296683, 0.0982032, 0.6913185, -0.01769129);
    CHECK_ROW(&r, 2, 1e-6, 0.09725246, 0.05366491, 0.174541, -0.03841428);
    CHECK_ROW(&r, 3, 1e-6, 0.4004089, 0.002435504, 0.34947, 0.02043911);
    CHECK_ROW(&r, 4, 1e-6, 0.4004089, 0.002435504, 0.34947, 0.02043911);
    CHECK_ROW(&r, 5, 1e-6, -0.0348272, -0.008993957);
    CHECK_ROW(&r, 6, 1e-6, 0.3252895, -0.006316584);
  }
  row_end(&r);
  begin_backward(&r, true,
                 DATA(0.1855658, 0.1798587, -0.1689064, 0.6773681, -0.3567866, 0.6584501));
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0.6493783, -0.06607817, 0.4780242, 0.1857333, 0.1021683, 0.232467);
    CHECK_ROW(&r, 1, 1e-6, 0.3410619, 0.1386997, 0.5814827, 0.3031671);
    CHECK_ROW(&r, 2, 1e-6, -0.03576685, 0.1826453, -0.2310219, 0.001567032);
    CHECK_ROW(&r, 3, 1e-6, 0.1715826, 0.2468453, 1.405959, 0.2022047);
    CHECK_ROW(&r, 5, 1e-6, -0.1595096, 0.08760551);
    CHECK_ROW(&r, 6, 1e-6, -0.02913758, 0.1811365);
  }
  row_end(&r);
}

static void test_another_mode_is_refused(void) {
  row_t r;
  begin_forward(&r, false, 3);
  CHECK_FAILS(row_try(&r), TPT_UNIMPLEMENTED, "mode 3");
  row_end(&r);
}

int main(void) {
  RUN(test_forward);
  RUN(test_backward);
  RUN(test_another_mode_is_refused);
  return TEST_RESULT;
}
