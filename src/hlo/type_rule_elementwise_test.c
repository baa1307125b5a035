// Tests of the type rules of elementwise ops, constants and iota.
#include "hlo/graph_check.h"

static tpt_value_t unary(tpt_graph_t* g, tpt_hlo_t op, tpt_dtype_t dtype) {
  return tpt_hlo_unary(g, op, sample_parameter(g, dtype, 1, I64S(3)));
}
static tpt_value_t binary(tpt_graph_t* g, tpt_hlo_t op, tpt_dtype_t dtype) {
  return tpt_hlo_binary(g, op, sample_parameter(g, dtype, 1, I64S(3)),
                        sample_parameter(g, dtype, 1, I64S(3)));
}

static void test_kinds_are_checked(void) {
  tpt_graph_t* g = check_graph();
  CHECK_REFUSED(g, unary(g, TPT_HLO_EXP, TPT_S32), "floats or complex numbers, not s32");
  CHECK_REFUSED(g, unary(g, TPT_HLO_FLOOR, TPT_C64), "floats, not c64");
  CHECK_REFUSED(g, unary(g, TPT_HLO_CLZ, TPT_F32), "integers, not f32");
  CHECK_REFUSED(g, unary(g, TPT_HLO_NOT, TPT_F32), "integers or pred, not f32");
  CHECK_REFUSED(g, unary(g, TPT_HLO_SIGN, TPT_U8), "signed numbers, not u8");
  CHECK_REFUSED(g, unary(g, TPT_HLO_NEGATE, TPT_PRED), "numbers, not pred");
  CHECK_REFUSED(g, unary(g, TPT_HLO_ABS, TPT_U8), "signed, not u8");
  CHECK_REFUSED(g, unary(g, TPT_HLO_IS_FINITE, TPT_S32), "float, not s32");
  CHECK_REFUSED(g, unary(g, TPT_HLO_REAL, TPT_S32), "complex or float");
  CHECK_REFUSED(g, binary(g, TPT_HLO_XOR, TPT_BF16), "integers or pred");
  CHECK_REFUSED(g, binary(g, TPT_HLO_COMPLEX, TPT_BF16), "f32 or f64, not bf16");
  CHECK_REFUSED(g, tpt_hlo_binary(g, TPT_HLO_ADD, P(g, F32, 3), P(g, F64, 3)), "one type");
  CHECK_TYPE(g, binary(g, TPT_HLO_ADD, TPT_PRED), "tensor<3xi1>");
  tpt_graph_release(g);
}

static void test_results_change_dtype_where_they_must(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, unary(g, TPT_HLO_ABS, TPT_C128), "tensor<3xf64>");
  CHECK_TYPE(g, unary(g, TPT_HLO_IMAG, TPT_C64), "tensor<3xf32>");
  CHECK_TYPE(g, unary(g, TPT_HLO_IS_FINITE, TPT_F16), "tensor<3xi1>");
  CHECK_TYPE(g, binary(g, TPT_HLO_COMPLEX, TPT_F64), "tensor<3xcomplex<f64>>");
  CHECK_TYPE(g, tpt_hlo_convert(g, P(g, PRED, 2, 0), TPT_U16), "tensor<2x0xui16>");
  tpt_graph_release(g);
}

static void test_compare_completes_its_type(void) {
  static const struct {
    tpt_dtype_t dtype;
    tpt_compare_type_t type;
  } cases[] = {{TPT_F16, TPT_COMPARE_FLOAT},
               {TPT_C64, TPT_COMPARE_FLOAT},
               {TPT_S8, TPT_COMPARE_SIGNED},
               {TPT_U8, TPT_COMPARE_UNSIGNED},
               {TPT_PRED, TPT_COMPARE_UNSIGNED}};
  tpt_graph_t* g = check_graph();
  for (int i = 0; i < 5; i++) {
    tpt_value_t x = sample_parameter(g, cases[i].dtype, 0, NULL);
    tpt_value_t y = tpt_hlo_compare(g, TPT_EQ, x, x);
    CHECK_TYPE(g, y, "tensor<i1>");
    CHECK_EQ(tpt_node_int(tpt_graph_producer(g, y), 1), cases[i].type);
  }
  CHECK_REFUSED(g, tpt_hlo_compare(g, TPT_LT, P0(g, C64), P0(g, C64)), "no order");
  tpt_attr_t attrs[2] = {attr_int(TPT_LT), attr_int(TPT_COMPARE_UNSIGNED)};
  CHECK_REFUSED(g, append_op(g, TPT_HLO_COMPARE, VALUES(P0(g, S32), P0(g, S32)), attrs),
                "does not fit operands of s32");
  attrs[1].i = TPT_COMPARE_TOTALORDER;
  CHECK_TYPE(g, append_op(g, TPT_HLO_COMPARE, VALUES(P0(g, F32), P0(g, F32)), attrs), "tensor<i1>");
  tpt_graph_release(g);
}

static void test_select_and_clamp_take_scalars(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_select(g, P0(g, PRED), P(g, S8, 2), P(g, S8, 2)), "tensor<2xi8>");
  CHECK_TYPE(g, tpt_hlo_select(g, P(g, PRED, 2), P(g, S8, 2), P(g, S8, 2)), "tensor<2xi8>");
  CHECK_TYPE(g, tpt_hlo_clamp(g, P0(g, F32), P(g, F32, 2), P(g, F32, 2)), "tensor<2xf32>");
  CHECK_REFUSED(g, tpt_hlo_select(g, P(g, PRED, 3), P(g, S8, 2), P(g, S8, 2)), "0-d or shaped");
  CHECK_REFUSED(g, tpt_hlo_select(g, P0(g, S8), P(g, S8, 2), P(g, S8, 2)), "must be pred, not s8");
  CHECK_REFUSED(g, tpt_hlo_select(g, P0(g, PRED), P(g, S8, 2), P(g, S8, 1)), "one type");
  CHECK_REFUSED(g, tpt_hlo_clamp(g, P(g, F32, 1), P(g, F32, 2), P0(g, F32)), "a bound must be");
  CHECK_REFUSED(g, tpt_hlo_clamp(g, P0(g, C64), P(g, C64, 2), P0(g, C64)), "no order");
  tpt_graph_release(g);
}

static void test_reduce_precision_has_limits(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_reduce_precision(g, P(g, F32, 2), 8, 7), "tensor<2xf32>");
  CHECK_REFUSED(g, tpt_hlo_reduce_precision(g, P(g, F32, 2), 0, 7), "exponent_bits is 0");
  CHECK_REFUSED(g, tpt_hlo_reduce_precision(g, P(g, F32, 2), 8, -1), "mantissa_bits is -1");
  CHECK_REFUSED(g, tpt_hlo_reduce_precision(g, P(g, S32, 2), 8, 7), "floats, not s32");
  tpt_graph_release(g);
}

static void test_constants_have_one_form(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t type = tpt_type_make(TPT_S32, 2, I64S(2, 2));
  const int32_t same[4] = {7, 7, 7, 7}, different[4] = {7, 7, 7, 8};
  tpt_value_t x = tpt_hlo_constant(g, &type, same);
  CHECK_EQ(tpt_graph_producer(g, x)->attrs[0].count, 1);
  x = tpt_hlo_constant(g, &type, different);
  CHECK_EQ(tpt_graph_producer(g, x)->attrs[0].count, 4);
  type = tpt_type_make(TPT_S32, 2, I64S(2, 0));
  x = tpt_hlo_splat_i64(g, &type, 3);
  CHECK_EQ(tpt_graph_producer(g, x)->attrs[0].count, 0);
  type = tpt_type_make(TPT_PRED, 1, I64S(2));
  x = tpt_hlo_constant(g, &type, "\x02\x01");
  CHECK_EQ(tpt_graph_producer(g, x)->attrs[0].count, 2);
  CHECK_EQ(*(const char*)tpt_graph_producer(g, x)->attrs[0].bytes, 1);
  tpt_attr_t data = {.is_set = true, .bytes = "abc", .count = 3};
  CHECK_REFUSED(g,
                tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_CONSTANT,
                                                         .attrs = &data,
                                                         .result_types = &type,
                                                         .result_type_count = 1}),
                "3 elements of data for 2");
  CHECK_REFUSED(g, append_op(g, TPT_HLO_CONSTANT, NULL, 0, &data), "one result type must be given");
  tpt_graph_release(g);
}

static void test_iota_counts_a_dimension(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t type = tpt_type_make(TPT_F32, 2, I64S(2, 3));
  CHECK_TYPE(g, tpt_hlo_iota(g, &type, 1), "tensor<2x3xf32>");
  CHECK_REFUSED(g, tpt_hlo_iota(g, &type, 2), "no dimension of rank 2");
  type.dtype = TPT_PRED;
  CHECK_REFUSED(g, tpt_hlo_iota(g, &type, 0), "pred cannot count");
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_kinds_are_checked);
  RUN(test_results_change_dtype_where_they_must);
  RUN(test_compare_completes_its_type);
  RUN(test_select_and_clamp_take_scalars);
  RUN(test_reduce_precision_has_limits);
  RUN(test_constants_have_one_form);
  RUN(test_iota_counts_a_dimension);
  return TEST_RESULT;
}
