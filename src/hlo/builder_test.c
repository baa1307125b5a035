// Tests of the doors of elementwise ops and sources: shortcuts, numbers, splats.
#include "hlo/graph_check.h"

static void test_conversion_to_itself_is_nothing(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t x = P(g, F32, 2);
  CHECK_EQ(tpt_hlo_convert(g, x, TPT_F32).index, x.index);
  CHECK_EQ(tpt_hlo_bitcast_convert(g, x, tpt_graph_type(g, x)).index, x.index);
  CHECK_TYPE(g, tpt_hlo_convert(g, x, TPT_BF16), "tensor<2xbf16>");
  CHECK_EQ(tpt_graph_node_count(g), 1);
  CHECK(tpt_value_is_none(tpt_hlo_convert(g, TPT_VALUE_NONE, TPT_F32)));
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "convert");
  tpt_graph_release(g);
}

static void test_splats_hold_the_number(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t type = tpt_type_make(TPT_BF16, 2, I64S(2, 2));
  tpt_number_t number;
  CHECK(tpt_graph_splat(g, tpt_hlo_splat_f64(g, &type, 1.00390625), &number));
  CHECK(number.f == 1.0 && number.dtype == TPT_BF16);
  CHECK(tpt_graph_splat(g, tpt_hlo_scalar_i64(g, TPT_U8, 300), &number));
  CHECK_EQ(number.i, 44);
  CHECK(tpt_graph_splat(g, tpt_hlo_scalar_f64(g, TPT_C64, 2.5), &number));
  CHECK(number.f == 2.5 && number.im == 0);
  CHECK(tpt_graph_splat(g, tpt_hlo_scalar_i64(g, TPT_PRED, -3), &number));
  CHECK_EQ(number.i, 1);
  tpt_graph_release(g);
}

static void test_splat_looks_through_movement(void) {
  tpt_graph_t* g = check_graph();
  tpt_number_t number;
  tpt_value_t x = tpt_hlo_broadcast_to(g, tpt_hlo_scalar_f64(g, TPT_F32, 7), 2, I64S(2, 3));
  x = tpt_hlo_reshape(g, tpt_hlo_transpose(g, x, I64S(1, 0)), 1, I64S(6));
  CHECK(tpt_graph_splat(g, x, &number) && number.f == 7);
  CHECK(!tpt_graph_splat(g, tpt_hlo_unary(g, TPT_HLO_NEGATE, x), &number));
  CHECK(!tpt_graph_splat(g, P(g, F32, 2), &number));
  tpt_type_t empty = tpt_type_make(TPT_F32, 1, I64S(0));
  CHECK(!tpt_graph_splat(g, tpt_hlo_splat_f64(g, &empty, 1), &number));
  const float different[2] = {1, 2};
  tpt_type_t pair = tpt_type_make(TPT_F32, 1, I64S(2));
  CHECK(!tpt_graph_splat(g, tpt_hlo_constant(g, &pair, different), &number));
  CHECK(!tpt_graph_splat(g, TPT_VALUE_NONE, &number));
  tpt_graph_release(g);
}

static void test_data_is_copied(void) {
  tpt_graph_t* g = check_graph();
  float data[2] = {1, 2};
  tpt_type_t type = tpt_type_make(TPT_F32, 1, I64S(2));
  tpt_value_t x = tpt_hlo_constant(g, &type, data);
  data[0] = 9;
  CHECK(*(const float*)tpt_graph_producer(g, x)->attrs[0].bytes == 1);
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_conversion_to_itself_is_nothing);
  RUN(test_splats_hold_the_number);
  RUN(test_splat_looks_through_movement);
  RUN(test_data_is_copied);
  return TEST_RESULT;
}
