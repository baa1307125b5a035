// Tests of what type rules share: attributes, lists of dimensions, regions, given results.
#include "hlo/graph_check.h"
#include "hlo/type_rule.h"

static void test_missing_attribute_is_named(void) {
  tpt_graph_t* g = check_graph();
  CHECK_REFUSED(g, append_op(g, TPT_HLO_TRANSPOSE, VALUES(P(g, F32, 2, 3)), NULL),
                "stablehlo.transpose: attribute permutation is missing");
  CHECK_REFUSED(g, append_op(g, TPT_HLO_COMPARE, VALUES(P(g, F32, 2), P(g, F32, 2)), NULL),
                "comparison_direction is missing");
  tpt_graph_release(g);
}

static void test_lists_of_dimensions_are_checked(void) {
  tpt_graph_t* g = check_graph();
  tpt_attr_t attr = attr_ints(I64S(0, 0), 2);
  CHECK_REFUSED(g, append_op(g, TPT_HLO_TRANSPOSE, VALUES(P(g, F32, 2, 3)), &attr),
                "permutation names dimension 0 twice");
  attr = attr_ints(I64S(0, 2), 2);
  CHECK_REFUSED(g, append_op(g, TPT_HLO_TRANSPOSE, VALUES(P(g, F32, 2, 3)), &attr),
                "permutation has 2, which is no dimension of rank 2");
  attr = attr_ints(I64S(0), 1);
  CHECK_REFUSED(g, append_op(g, TPT_HLO_TRANSPOSE, VALUES(P(g, F32, 2, 3)), &attr),
                "permutation has 1 numbers, not 2");
  attr = attr_ints(NULL, 2);
  CHECK_REFUSED(g, append_op(g, TPT_HLO_TRANSPOSE, VALUES(P(g, F32, 2, 3)), &attr),
                "permutation has no data");
  tpt_graph_release(g);
}

static void test_operand_and_region_counts_are_checked(void) {
  tpt_graph_t* g = check_graph();
  CHECK_REFUSED(g, append_op(g, TPT_HLO_ADD, VALUES(P(g, F32, 2)), NULL),
                "stablehlo.add takes 2 operands, not 1");
  tpt_attr_t attr = attr_ints(I64S(0), 1);
  CHECK_REFUSED(g, append_op(g, TPT_HLO_REDUCE, VALUES(P(g, F32, 2), P0(g, F32)), &attr),
                "takes 1 regions, not 0");
  CHECK_REFUSED(g, append_op(g, TPT_HLO_COUNT, VALUES(P(g, F32, 2)), NULL), "not in the table");
  tpt_attr_t bad = attr_int(77);
  CHECK_REFUSED(
      g, append_op(g, TPT_HLO_COMPARE, VALUES(P(g, F32, 2), P(g, F32, 2)), (tpt_attr_t[2]){bad}),
      "comparison_direction has no number 77");
  tpt_graph_release(g);
}

static void test_given_result_must_be_the_inferred(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t x = P(g, F32, 2);
  tpt_type_t type = tpt_type_make(TPT_F32, 1, I64S(3));
  tpt_node_params_t params = {.op = TPT_HLO_EXP,
                              .operands = &x,
                              .operand_count = 1,
                              .result_types = &type,
                              .result_type_count = 1};
  CHECK_REFUSED(g, tpt_graph_append(g, &params), "the named result type is not the op's");
  x = P(g, F32, 3);
  CHECK_TYPE(g, tpt_graph_append(g, &params), "tensor<3xf32>");
  tpt_graph_reset(g);
  x = P(g, F32, 3);
  params.result_type_count = 2;
  params.result_types = (tpt_type_t[]){type, type};
  CHECK_REFUSED(g, tpt_graph_append(g, &params), "2 results are named, but there are 1");
  tpt_graph_release(g);
}

static tpt_value_t reduce_with_region(tpt_graph_t* g, const tpt_type_t* types, uint32_t arg_count,
                                      uint32_t result_count, bool uses_outside) {
  tpt_value_t x = P(g, F32, 4), init = P0(g, F32), args[4];
  tpt_region_begin(g, types, arg_count, args);
  tpt_value_t sum = tpt_hlo_binary(g, TPT_HLO_ADD, args[0], uses_outside ? init : args[1]);
  uint32_t body = tpt_region_end(g, (tpt_value_t[]){sum, sum}, result_count);
  return tpt_hlo_reduce_n(
      g, &(tpt_reduction_t){
             .xs = &x, .inits = &init, .count = 1, .dims = I64S(0), .dim_count = 1, .body = body});
}

static void test_regions_are_checked(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t f = tpt_type_scalar(TPT_F32), f2[3] = {f, f, f};
  tpt_type_t d2[2] = {tpt_type_scalar(TPT_F64), tpt_type_scalar(TPT_F64)};
  CHECK_TYPE(g, reduce_with_region(g, f2, 2, 1, false), "tensor<f32>");
  tpt_graph_reset(g);
  CHECK_REFUSED(g, reduce_with_region(g, f2, 3, 1, false), "region 0 takes 3 arguments, not 2");
  CHECK_REFUSED(g, reduce_with_region(g, f2, 2, 2, false), "region 0 returns 2 values, not 1");
  CHECK_REFUSED(g, reduce_with_region(g, d2, 2, 1, false), "argument of a region: tensor<f64>");
  CHECK_REFUSED(g, reduce_with_region(g, f2, 2, 1, true), "uses a value from outside");
  tpt_graph_release(g);
}

static void test_outside_constants_may_be_used(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t f2[2] = {tpt_type_scalar(TPT_F32), tpt_type_scalar(TPT_F32)};
  tpt_value_t x = P(g, F32, 4), two = tpt_hlo_scalar_f64(g, TPT_F32, 2), args[2];
  tpt_region_begin(g, f2, 2, args);
  tpt_value_t twice = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, args[1], two);
  tpt_value_t sum = tpt_hlo_binary(g, TPT_HLO_ADD, args[0], twice);
  uint32_t body = tpt_region_end(g, &sum, 1);
  tpt_reduction_t reduction = {
      .xs = &x, .inits = &two, .count = 1, .dims = I64S(0), .dim_count = 1, .body = body};
  CHECK_TYPE(g, tpt_hlo_reduce_n(g, &reduction), "tensor<f32>");
  tpt_graph_release(g);
}

static void test_many_results_fit(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t xs[100];
  for (int i = 0; i < 100; i++)
    xs[i] = P(g, F32, i + 1);
  tpt_value_t first = tpt_hlo_optimization_barrier(g, xs, 100);
  CHECK_TYPE(g, ((tpt_value_t){first.index + 99}), "tensor<100xf32>");
  CHECK_EQ(tpt_graph_producer(g, first)->result_count, 100);
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_missing_attribute_is_named);
  RUN(test_lists_of_dimensions_are_checked);
  RUN(test_operand_and_region_counts_are_checked);
  RUN(test_given_result_must_be_the_inferred);
  RUN(test_regions_are_checked);
  RUN(test_outside_constants_may_be_used);
  RUN(test_many_results_fit);
  return TEST_RESULT;
}
