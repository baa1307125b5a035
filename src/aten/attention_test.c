// Scaled dot product attention on the virtual TPU, forward and backward.
#include "aten/row_probe.h"

static void test_attention_weighs_values(void) {
  row_t r;
  row_begin(&r, "_scaled_dot_product_fused_attention_overrideable");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(-0.25, 0, -0.5, 0.25, -0.5, -0.25, -0.5, -0.75, -1, -0.75, -1.5, -0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(2.25, 2, 0, -0.75, -1.75, 2.5, -1.5, -0.25, 0, -0.5, -0.25, 0.75));
  row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0, 2, 1.25, -0.75, -1.5));
  row_float(&r, 0.0);
  row_bool(&r, false);
  row_bool(&r, false);
  row_float(&r, 0.5);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -0.7139693, 1.994162, 1.805478, 1.767408, -0.4126506, 0.4985495,
              -1.340287, -0.2420977);
    CHECK_ROW(&r, 1, 1e-6, 2.430002, 1.353224, 2.762055, 0.8054247);
  }
  row_end(&r);
}

static void test_attention_is_causal(void) {
  row_t r;
  row_begin(&r, "_scaled_dot_product_fused_attention_overrideable");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(-0.25, 0, -0.5, 0.25, -0.5, -0.25, -0.5, -0.75, -1, -0.75, -1.5, -0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(2.25, 2, 0, -0.75, -1.75, 2.5, -1.5, -0.25, 0, -0.5, -0.25, 0.75));
  row_none(&r);
  row_float(&r, 0.0);
  row_bool(&r, true);
  row_bool(&r, false);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 2.25, 2, 1.273288, 0.8062403, -1.5, -0.25, -0.9443402, -0.34261);
    CHECK_ROW(&r, 1, 1e-6, 0.1325825, 0.4809398, 0.1325825, -0.3327612);
  }
  row_end(&r);
}

static void test_attention_of_a_masked_row_is_zero(void) {
  row_t r;
  row_begin(&r, "_scaled_dot_product_fused_attention_overrideable");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(-0.25, 0, -0.5, 0.25, -0.5, -0.25, -0.5, -0.75, -1, -0.75, -1.5, -0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(2.25, 2, 0, -0.75, -1.75, 2.5, -1.5, -0.25, 0, -0.5, -0.25, 0.75));
  row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0, 2, -INFINITY, -INFINITY, -INFINITY));
  row_float(&r, 0.0);
  row_bool(&r, false);
  row_bool(&r, false);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -0.6864288, 1.948148, 0, 0, -0.390238, 0.5235633, 0, 0);
    CHECK_ROW(&r, 1, 1e-6, 2.465221, -INFINITY, 2.93871, -INFINITY);
  }
  row_end(&r);
}

static void test_attention_shares_heads(void) {
  row_t r;
  row_begin(&r, "_scaled_dot_product_fused_attention_overrideable");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
  row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(-0.25, 0, -0.5, 0.25, -0.5, -0.25));
  row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(2.25, 2, 0, -0.75, -1.75, 2.5));
  row_none(&r);
  row_float(&r, 0.0);
  row_bool(&r, false);
  row_bool(&r, false);
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0.1940517, 0.9643362, 0.1183003, 1.453308, 0.1029524, 1.167458,
              0.4020109, 1.231025);
    CHECK_ROW(&r, 1, 1e-6, 1.338411, 0.9622555, 1.322186, 0.6670603);
  }
  row_end(&r);
}

static void test_attention_backward_gives_all_gradients(void) {
  row_t r;
  row_begin(&r, "_scaled_dot_product_fused_attention_overrideable_backward");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(1, 2, 2, 1, 0, -0.75, -1.5, 0.75));
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(-0.25, 0, -0.5, 0.25, -0.5, -0.25, -0.5, -0.75, -1, -0.75, -1.5, -0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(2.25, 2, 0, -0.75, -1.75, 2.5, -1.5, -0.25, 0, -0.5, -0.25, 0.75));
  row_f32(&r, 2, DIMS(2, 3), DATA(0.75, 0, 2, 1.25, -0.75, -1.5));
  ROW_BOOLS(&r, 1, 1, 1, 1);
  row_f32(
      &r, 4, DIMS(1, 2, 2, 2),
      DATA(-0.6864288, 1.948148, 1.812968, 1.786505, -0.390238, 0.5235633, -1.364404, -0.2461309));
  row_f32(&r, 3, DIMS(1, 2, 2), DATA(2.465221, 1.321729, 2.93871, 0.5532743));
  row_tensor(&r, TPT_S64, 1, DIMS(0), DATA(0));
  row_tensor(&r, TPT_S64, 1, DIMS(0), DATA(0));
  row_int(&r, 0);
  row_int(&r, 0);
  row_float(&r, 0.0);
  row_bool(&r, false);
  row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(0));
  row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(0));
  row_none(&r);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-5, 0.1104044, -0.1197175, 0.1638096, -0.02890792, 0.07387487, -0.02381494,
              0.07137816, -0.003579957);
    CHECK_ROW(&r, 1, 1e-5, -0.003593832, -0.1032166, 0.1524653, -0.1898696, -0.1488714, 0.2930861,
              0.1532871, 0.07734077, -0.2032522, -0.04636592, 0.04996499, -0.03097484);
    CHECK_ROW(&r, 2, 1e-5, 1.90952, 1.262908, 0.3151019, 0.3648443, 0.7753782, 1.372247, -1.358927,
              0.5835023, -0.1082151, -0.004985366, -0.03285747, -0.578517);
    CHECK_ROW(&r, 3, 1e-5, 0.6987734, -0.5903975, -0.108376, 1.108284, -0.7064727, -0.4018108);
  }
  row_end(&r);
}

static void test_attention_backward_is_causal_and_shares_heads(void) {
  {
    row_t r;
    row_begin(&r, "_scaled_dot_product_fused_attention_overrideable_backward");
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(0.25, -0.5, -0.25, -1.75, 0.25, 0.25, -0.5, -0.0));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
    row_f32(&r, 4, DIMS(1, 2, 3, 2),
            DATA(-0.25, 0, -0.5, 0.25, -0.5, -0.25, -0.5, -0.75, -1, -0.75, -1.5, -0.5));
    row_f32(&r, 4, DIMS(1, 2, 3, 2),
            DATA(2.25, 2, 0, -0.75, -1.75, 2.5, -1.5, -0.25, 0, -0.5, -0.25, 0.75));
    row_none(&r);
    ROW_BOOLS(&r, 1, 1, 1, 0);
    row_f32(&r, 4, DIMS(1, 2, 2, 2),
            DATA(2.25, 2, 1.273288, 0.8062403, -1.5, -0.25, -0.9443402, -0.34261));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(0.1325825, 0.4809398, 0.1325825, -0.3327612));
    row_tensor(&r, TPT_S64, 1, DIMS(0), DATA(0));
    row_tensor(&r, TPT_S64, 1, DIMS(0), DATA(0));
    row_int(&r, 0);
    row_int(&r, 0);
    row_float(&r, 0.0);
    row_bool(&r, true);
    row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(0));
    row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(0));
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, 0, 0, -0.2334166, 0.2334166, 0, 0, 0.06184025, 0);
      CHECK_ROW(&r, 1, 1e-5, -0.4668331, 0.9336663, 0.4668331, -0.9336663, 0, 0, 0.1855207,
                0.06184025, -0.1855207, -0.06184025, 0, 0);
      CHECK_ROW(&r, 2, 1e-5, 0.1085236, -1.490335, -0.1085236, -0.7596654, 0, 0, -0.06478006, 0.25,
                -0.1852199, 0, 0, 0);
      CHECK(r.results[3].is_none);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "_scaled_dot_product_fused_attention_overrideable_backward");
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(0.25, -1.75, 0.5, 0, -0.25, -0.25, 1, -1));
    row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
    row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(-0.25, 0, -0.5, 0.25, -0.5, -0.25));
    row_f32(&r, 4, DIMS(1, 1, 3, 2), DATA(2.25, 2, 0, -0.75, -1.75, 2.5));
    row_none(&r);
    ROW_BOOLS(&r, 1, 1, 1, 0);
    row_f32(
        &r, 4, DIMS(1, 2, 2, 2),
        DATA(0.1940517, 0.9643362, 0.1183003, 1.453308, 0.1029524, 1.167458, 0.4020109, 1.231025));
    row_f32(&r, 3, DIMS(1, 2, 2), DATA(1.338411, 0.9622555, 1.322186, 0.6670603));
    row_tensor(&r, TPT_S64, 1, DIMS(0), DATA(0));
    row_tensor(&r, TPT_S64, 1, DIMS(0), DATA(0));
    row_int(&r, 0);
    row_int(&r, 0);
    row_float(&r, 0.0);
    row_bool(&r, false);
    row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(0));
    row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(0));
    row_none(&r);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-5, -0.0687317, 0.3762791, 0.06589193, 0.06028194, -0.04007591, 0.02478301,
                0.07509172, 0.259257);
      CHECK_ROW(&r, 1, 1e-5, 0.908757, -0.4971188, -0.2179189, 1.340342, -0.6908382, -0.843223);
      CHECK_ROW(&r, 2, 1e-5, 0.5673084, -0.993789, 0.4798298, -1.166962, 0.4528618, -0.8392489);
      CHECK(r.results[3].is_none);
    }
    row_end(&r);
  }
}

static void test_attention_dropout_is_made_again_from_its_seed(void) {
  double out[2][16];
  for (int run = 0; run < 2; run++) {
    row_t r;
    row_begin(&r, "_scaled_dot_product_fused_attention_overrideable");
    row_f32(&r, 3, DIMS(1, 4, 1), DATA(0, 0, 0, 0));
    row_f32(&r, 3, DIMS(1, 4, 1), DATA(0, 0, 0, 0));
    row_f32(&r, 3, DIMS(1, 4, 4), DATA(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
    row_none(&r);
    row_float(&r, 0.5);
    row_bool(&r, false);
    row_bool(&r, false);
    row_none(&r);
    if (row_run(&r)) {
      memcpy(out[run], r.results[0].data, sizeof(out[run]));
      CHECK_EQ(r.results[6].data[0], 42);
    }
    row_end(&r);
  }
  int dropped = 0;
  for (int i = 0; i < 16; i++) {
    CHECK(out[0][i] == 0 || out[0][i] == 0.5);
    CHECK(out[0][i] == out[1][i]);
    dropped += out[0][i] == 0;
  }
  CHECK(dropped > 0 && dropped < 16);
  row_t r;
  row_begin(&r, "_scaled_dot_product_fused_attention_overrideable_backward");
  row_f32(&r, 3, DIMS(1, 4, 4), DATA(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
  row_f32(&r, 3, DIMS(1, 4, 1), DATA(0, 0, 0, 0));
  row_f32(&r, 3, DIMS(1, 4, 1), DATA(0, 0, 0, 0));
  row_f32(&r, 3, DIMS(1, 4, 4), DATA(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1));
  row_none(&r);
  ROW_BOOLS(&r, 0, 0, 1, 0);
  row_f32(&r, 3, DIMS(1, 4, 4), out[0]);
  row_f32(&r, 2, DIMS(1, 4), DATA(log(4), log(4), log(4), log(4)));
  row_tensor(&r, TPT_S64, 1, DIMS(0), NULL);
  row_tensor(&r, TPT_S64, 1, DIMS(0), NULL);
  row_int(&r, 0);
  row_int(&r, 0);
  row_float(&r, 0.5);
  row_bool(&r, false);
  row_tensor(&r, TPT_S64, 0, NULL, DATA(42));
  row_tensor(&r, TPT_S64, 0, NULL, DATA(0));
  row_none(&r);
  if (row_run(&r)) {
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 4; k++)
        CHECK_NEAR(r.results[2].data[4 * i + k], out[0][4 * k + i], 1e-6);
  }
  row_end(&r);
}

static void test_attention_refuses_sizes_that_do_not_fit(void) {
  row_t r;
  row_begin(&r, "_scaled_dot_product_fused_attention_overrideable");
  row_f32(&r, 4, DIMS(1, 2, 2, 2), DATA(-0.75, 1.25, 0.5, -1, -0.75, 0.25, 1.5, 0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 3),
          DATA(0, 0, -2, 2, 0.5, 0.75, 0.5, 0.75, 1.75, -0.25, 0, -0.0, -0.75, 0.25, -0.25, -1,
               -1.25, 0.5));
  row_f32(&r, 4, DIMS(1, 2, 3, 2),
          DATA(2.25, 2, 0, -0.75, -1.75, 2.5, -1.5, -0.25, 0, -0.5, -0.25, 0.75));
  row_none(&r);
  row_float(&r, 0.0);
  row_bool(&r, false);
  row_bool(&r, false);
  row_none(&r);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "do not fit together");
  row_end(&r);
}

int main(void) {
  RUN(test_attention_weighs_values);
  RUN(test_attention_is_causal);
  RUN(test_attention_of_a_masked_row_is_zero);
  RUN(test_attention_shares_heads);
  RUN(test_attention_backward_gives_all_gradients);
  RUN(test_attention_backward_is_causal_and_shares_heads);
  RUN(test_attention_dropout_is_made_again_from_its_seed);
  RUN(test_attention_refuses_sizes_that_do_not_fit);
  return TEST_RESULT;
}
