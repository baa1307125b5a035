// Tests of the doors of ops that move elements: what changes nothing gives its operand back.
#include "hlo/graph_check.h"

static void test_what_changes_nothing_is_no_node(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t x = P(g, F32, 2, 3), zero = P0(g, F32);
  const int64_t *dims = I64S(2, 3), *identity = I64S(0, 1), *zeros = I64S(0, 0);
  CHECK_EQ(tpt_hlo_reshape(g, x, 2, dims).index, x.index);
  CHECK_EQ(tpt_hlo_transpose(g, x, identity).index, x.index);
  CHECK_EQ(tpt_hlo_broadcast_to(g, x, 2, dims).index, x.index);
  CHECK_EQ(tpt_hlo_broadcast_in_dim(g, x, 2, dims, identity).index, x.index);
  CHECK_EQ(tpt_hlo_slice(g, x, zeros, dims, NULL).index, x.index);
  CHECK_EQ(tpt_hlo_slice_dim(g, x, 1, 0, 3, 1).index, x.index);
  CHECK_EQ(tpt_hlo_pad(g, x, zero, zeros, zeros, NULL).index, x.index);
  CHECK_EQ(tpt_hlo_concatenate(g, &x, 1, 0).index, x.index);
  CHECK_EQ(tpt_hlo_reverse(g, x, NULL, 0).index, x.index);
  CHECK_EQ(tpt_graph_node_count(g), 0);
  CHECK_OK(tpt_graph_status(g));
  tpt_graph_release(g);
}

static void test_square_transpose_is_a_node(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t x = P(g, F32, 2, 2);
  CHECK(tpt_hlo_transpose(g, x, I64S(1, 0)).index != x.index);
  CHECK(tpt_hlo_broadcast_in_dim(g, x, 2, I64S(2, 2), I64S(1, 0)).index != x.index);
  CHECK_EQ(tpt_graph_node_count(g), 2);
  CHECK_OK(tpt_graph_status(g));
  tpt_graph_release(g);
}

static void test_broadcast_to_aligns_trailing_dimensions(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t y = tpt_hlo_broadcast_to(g, P(g, F32, 1, 3), 3, I64S(4, 2, 3));
  CHECK_TYPE(g, y, "tensor<4x2x3xf32>");
  CHECK_EQ(tpt_node_ints(tpt_graph_producer(g, y), 0, NULL)[0], 1);
  CHECK_EQ(tpt_node_ints(tpt_graph_producer(g, y), 0, NULL)[1], 2);
  CHECK_REFUSED(g, tpt_hlo_broadcast_to(g, P(g, F32, 2, 3), 1, I64S(3)),
                "rank 2 cannot be broadcast");
  CHECK_REFUSED(g, tpt_hlo_broadcast_to(g, P(g, F32, 2), 1, I64S(3)), "must stay");
  tpt_graph_release(g);
}

static void test_calls_on_a_failed_graph_are_safe(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t none = tpt_hlo_unary(g, TPT_HLO_EXP, TPT_VALUE_NONE);
  const int64_t* nothing = NULL;
  CHECK(tpt_value_is_none(tpt_hlo_slice(g, none, nothing, nothing, nothing)));
  CHECK(tpt_value_is_none(tpt_hlo_transpose(g, none, nothing)));
  CHECK(tpt_value_is_none(tpt_hlo_pad(g, none, none, nothing, nothing, nothing)));
  CHECK(tpt_value_is_none(tpt_hlo_dynamic_slice(g, none, NULL, nothing)));
  CHECK(tpt_value_is_none(tpt_hlo_broadcast_to(g, none, 1, I64S(2))));
  CHECK(tpt_value_is_none(tpt_hlo_reshape(g, none, 0, nothing)));
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "exponential");
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_what_changes_nothing_is_no_node);
  RUN(test_square_transpose_is_a_node);
  RUN(test_broadcast_to_aligns_trailing_dimensions);
  RUN(test_calls_on_a_failed_graph_are_safe);
  return TEST_RESULT;
}
