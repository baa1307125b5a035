// Multi-head attention and encoder layers on the virtual TPU.
#include "aten/row_probe.h"

static void test_multi_head_attention_averages_weights(void) {
  row_t r;
  row_begin(&r, "_native_multi_head_attention");
  row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
  row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
  row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
  row_int(&r, 2);
  row_int(&r, 1);
  row_f32(&r, 2, DIMS(6, 2),
          DATA(-0.25, 2, -1.5, -0.75, 0.75, -1, -0.5, 0.75, 0.25, -0.75, 0.75, 0.5));
  row_f32(&r, 1, DIMS(6), DATA(-0.5, 0.75, 0, -1.25, -0.5, -0.75));
  row_f32(&r, 2, DIMS(2, 2), DATA(1, 0.25, 0.5, -0.5));
  row_f32(&r, 1, DIMS(2), DATA(0.25, 0.5));
  row_none(&r);
  row_bool(&r, true);
  row_bool(&r, true);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -1.063411, 0.3428388, -0.6623775, 0.7438724);
    CHECK_ROW(&r, 1, 1e-6, 0.07883362, 0.9211664, 0.5921567, 0.4078433);
  }
  row_end(&r);
}

static void test_multi_head_attention_hides_masked_keys(void) {
  {
    row_t r;
    row_begin(&r, "_native_multi_head_attention");
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_int(&r, 2);
    row_int(&r, 2);
    row_f32(&r, 2, DIMS(6, 2),
            DATA(-0.25, 2, -1.5, -0.75, 0.75, -1, -0.5, 0.75, 0.25, -0.75, 0.75, 0.5));
    row_f32(&r, 1, DIMS(6), DATA(-0.5, 0.75, 0, -1.25, -0.5, -0.75));
    row_f32(&r, 2, DIMS(2, 2), DATA(1, 0.25, 0.5, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.25, 0.5));
    row_tensor(&r, TPT_PRED, 2, DIMS(1, 2), DATA(0, 1));
    row_bool(&r, true);
    row_bool(&r, false);
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.34375, 1.0625, -0.34375, 1.0625);
      CHECK_ROW(&r, 1, 1e-6, 1, 0, 1, 0, 1, 0, 1, 0);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_native_multi_head_attention");
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_int(&r, 2);
    row_int(&r, 1);
    row_f32(&r, 2, DIMS(6, 2),
            DATA(-0.25, 2, -1.5, -0.75, 0.75, -1, -0.5, 0.75, 0.25, -0.75, 0.75, 0.5));
    row_f32(&r, 1, DIMS(6), DATA(-0.5, 0.75, 0, -1.25, -0.5, -0.75));
    row_f32(&r, 2, DIMS(2, 2), DATA(1, 0.25, 0.5, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.25, 0.5));
    row_tensor(&r, TPT_PRED, 2, DIMS(2, 2), DATA(0, 1, 0, 0));
    row_bool(&r, false);
    row_bool(&r, true);
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.34375, 1.0625, -0.6623775, 0.7438724);
      CHECK(r.results[1].is_none);
    }
    row_end(&r);
  }
}

static void test_multi_head_attention_refuses_other_shapes(void) {
  {
    row_t r;
    row_begin(&r, "_native_multi_head_attention");
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_f32(&r, 3, DIMS(1, 3, 2), DATA(1.5, -1, -0.0, 0.5, 1.75, 0.25));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_int(&r, 2);
    row_int(&r, 1);
    row_f32(&r, 2, DIMS(6, 2),
            DATA(-0.25, 2, -1.5, -0.75, 0.75, -1, -0.5, 0.75, 0.25, -0.75, 0.75, 0.5));
    row_f32(&r, 1, DIMS(6), DATA(-0.5, 0.75, 0, -1.25, -0.5, -0.75));
    row_f32(&r, 2, DIMS(2, 2), DATA(1, 0.25, 0.5, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.25, 0.5));
    row_none(&r);
    row_bool(&r, true);
    row_bool(&r, true);
    row_none(&r);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "shapes to match");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_native_multi_head_attention");
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_int(&r, 2);
    row_int(&r, 3);
    row_f32(&r, 2, DIMS(6, 2),
            DATA(-0.25, 2, -1.5, -0.75, 0.75, -1, -0.5, 0.75, 0.25, -0.75, 0.75, 0.5));
    row_f32(&r, 1, DIMS(6), DATA(-0.5, 0.75, 0, -1.25, -0.5, -0.75));
    row_f32(&r, 2, DIMS(2, 2), DATA(1, 0.25, 0.5, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.25, 0.5));
    row_none(&r);
    row_bool(&r, true);
    row_bool(&r, true);
    row_none(&r);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "must divide evenly");
    row_end(&r);
  }
}

static void test_masked_softmax_hides_and_is_nan_where_all_is_hidden(void) {
  {
    row_t r;
    row_begin(&r, "_masked_softmax");
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.25, 0.5, 2.25, -1.5, 0.75, 1));
    row_tensor(&r, TPT_PRED, 2, DIMS(2, 3), DATA(1, 0, 0, 1, 1, 1));
    row_int(&r, 1);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0.1480472, 0.8519528, NAN, NAN, NAN);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_masked_softmax");
    row_f32(&r, 4, DIMS(1, 1, 2, 2), DATA(-0.5, -0.0, 1.25, 1.25));
    row_tensor(&r, TPT_PRED, 2, DIMS(1, 2), DATA(0, 1));
    row_int(&r, 3);
    row_int(&r, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 1, 0, 1, 0);
    }
    row_end(&r);
  }
}

static void test_masked_softmax_backward(void) {
  row_t r;
  row_begin(&r, "_masked_softmax_backward");
  row_f32(&r, 4, DIMS(1, 1, 2, 2), DATA(-0.5, -0.0, -1, -0.75));
  row_f32(&r, 4, DIMS(1, 1, 2, 2), DATA(1, 0, 0.5, 0.5));
  row_tensor(&r, TPT_PRED, 4, DIMS(1, 1, 2, 2), DATA(0, 1, 0, 0));
  row_int(&r, 3);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0, 0, -0.0625, 0.0625);
  }
  row_end(&r);
}

static void test_encoder_layer_normalises_first_or_last(void) {
  {
    row_t r;
    row_begin(&r, "_transformer_encoder_layer_fwd");
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_int(&r, 2);
    row_int(&r, 1);
    row_f32(&r, 2, DIMS(6, 2),
            DATA(-0.25, 2, -1.5, -0.75, 0.75, -1, -0.5, 0.75, 0.25, -0.75, 0.75, 0.5));
    row_f32(&r, 1, DIMS(6), DATA(-0.5, 0.75, 0, -1.25, -0.5, -0.75));
    row_f32(&r, 2, DIMS(2, 2), DATA(1, 0.25, 0.5, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.25, 0.5));
    row_bool(&r, false);
    row_bool(&r, true);
    row_float(&r, 0.25);
    row_f32(&r, 1, DIMS(2), DATA(-2, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.5, -2.25));
    row_f32(&r, 1, DIMS(2), DATA(-0.25, 1));
    row_f32(&r, 1, DIMS(2), DATA(0.25, -0.0));
    row_f32(&r, 2, DIMS(3, 2), DATA(-1, 1.25, -0.5, 1.25, -0.75, -1));
    row_f32(&r, 1, DIMS(3), DATA(-0.0, -1.75, -1.25));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.25, 0.25, 0, -0.5, -0.0, -0.25));
    row_f32(&r, 1, DIMS(2), DATA(-0.5, -0.5));
    row_none(&r);
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 0.1051263, 0.7395686, 0.02830178, 1.835339);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_transformer_encoder_layer_fwd");
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(-0.5, -0.5, -0.5, 0.75));
    row_int(&r, 2);
    row_int(&r, 1);
    row_f32(&r, 2, DIMS(6, 2),
            DATA(-0.25, 2, -1.5, -0.75, 0.75, -1, -0.5, 0.75, 0.25, -0.75, 0.75, 0.5));
    row_f32(&r, 1, DIMS(6), DATA(-0.5, 0.75, 0, -1.25, -0.5, -0.75));
    row_f32(&r, 2, DIMS(2, 2), DATA(1, 0.25, 0.5, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.25, 0.5));
    row_bool(&r, true);
    row_bool(&r, false);
    row_float(&r, 0.25);
    row_f32(&r, 1, DIMS(2), DATA(-2, -0.5));
    row_f32(&r, 1, DIMS(2), DATA(0.5, -2.25));
    row_f32(&r, 1, DIMS(2), DATA(-0.25, 1));
    row_f32(&r, 1, DIMS(2), DATA(0.25, -0.0));
    row_f32(&r, 2, DIMS(3, 2), DATA(-1, 1.25, -0.5, 1.25, -0.75, -1));
    row_f32(&r, 1, DIMS(3), DATA(-0.0, -1.75, -1.25));
    row_f32(&r, 2, DIMS(2, 3), DATA(-0.25, 0.25, 0, -0.5, -0.0, -0.25));
    row_f32(&r, 1, DIMS(2), DATA(-0.5, -0.5));
    row_tensor(&r, TPT_PRED, 2, DIMS(2, 2), DATA(0, 1, 0, 0));
    row_int(&r, 0);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 0.005325109, -0.9786996, 0.00474304, -0.9810278);
    }
    row_end(&r);
  }
}

int main(void) {
  RUN(test_multi_head_attention_averages_weights);
  RUN(test_multi_head_attention_hides_masked_keys);
  RUN(test_multi_head_attention_refuses_other_shapes);
  RUN(test_masked_softmax_hides_and_is_nan_where_all_is_hidden);
  RUN(test_masked_softmax_backward);
  RUN(test_encoder_layer_normalises_first_or_last);
  return TEST_RESULT;
}
