// Tests of structural hash and equality.
#include "base/allocator.h"
#include "hlo/graph_check.h"

static void test_every_op_equals_itself_only(void) {
  tpt_graph_t* graphs[TPT_HLO_COUNT];
  tpt_graph_t* again = check_graph();
  for (int i = 0; i < TPT_HLO_COUNT; i++) {
    graphs[i] = check_graph();
    sample_build(graphs[i], (tpt_hlo_t)i);
    tpt_graph_reset(again);
    sample_build(again, (tpt_hlo_t)i);
    CHECK(tpt_graph_equal(graphs[i], again));
    CHECK(tpt_graph_hash(graphs[i]) == tpt_graph_hash(again));
    for (int j = 0; j < i; j++) {
      CHECK(!tpt_graph_equal(graphs[i], graphs[j]));
      CHECK(tpt_graph_hash(graphs[i]) != tpt_graph_hash(graphs[j]));
    }
  }
  for (int i = 0; i < TPT_HLO_COUNT; i++)
    tpt_graph_release(graphs[i]);
  tpt_graph_release(again);
}

// A small graph that differs from variant 0 in one thing.
static tpt_graph_t* variant(int which) {
  tpt_graph_t* g = check_graph();
  tpt_value_t x = which == 1 ? P(g, F32, 3, 2) : P(g, F32, 2, 3);
  tpt_value_t y = which == 2 ? P(g, F16, 2, 3) : P(g, F32, 2, 3);
  if (which == 2) y = tpt_hlo_convert(g, y, TPT_F32);
  if (which == 1) y = tpt_hlo_reshape(g, y, 2, I64S(3, 2));
  tpt_value_t c = tpt_hlo_scalar_f64(g, TPT_F32, which == 3 ? -0.0 : 0.0);
  tpt_value_t sum = which == 4 ? tpt_hlo_binary(g, TPT_HLO_SUBTRACT, y, x)
                               : tpt_hlo_binary(g, TPT_HLO_SUBTRACT, x, y);
  tpt_value_t r =
      tpt_hlo_reduce(g, sum, c, which == 5 ? TPT_HLO_MAXIMUM : TPT_HLO_ADD, I64S(which == 6), 1);
  tpt_value_t results[2] = {which == 7 ? x : sum, r};
  tpt_graph_return(g, results, which == 8 ? 1 : 2);
  if (which == 9) tpt_graph_alias(g, 0, 0);
  if (which == 10) tpt_graph_alias(g, 1, 0);
  CHECK_OK(tpt_graph_status(g));
  return g;
}

static void test_every_difference_counts(void) {
  enum { COUNT = 11 };
  tpt_graph_t* graphs[COUNT];
  for (int i = 0; i < COUNT; i++) {
    graphs[i] = variant(i);
    for (int j = 0; j < i; j++) {
      CHECK(!tpt_graph_equal(graphs[i], graphs[j]));
      CHECK(tpt_graph_hash(graphs[i]) != tpt_graph_hash(graphs[j]));
    }
  }
  for (int i = 0; i < COUNT; i++)
    tpt_graph_release(graphs[i]);
}

static void test_order_of_parameters_and_ops_is_free(void) {
  tpt_graph_t *a = check_graph(), *b = check_graph();
  tpt_value_t x = P(a, F32, 2), y = P(a, F32, 2);
  x = tpt_hlo_binary(a, TPT_HLO_ADD, tpt_hlo_unary(a, TPT_HLO_EXP, x), y);
  tpt_graph_return(a, &x, 1);
  x = tpt_hlo_unary(b, TPT_HLO_EXP, P(b, F32, 2));
  x = tpt_hlo_binary(b, TPT_HLO_ADD, x, P(b, F32, 2));  // the parameter comes late
  tpt_graph_return(b, &x, 1);
  CHECK(tpt_graph_equal(a, b));
  CHECK(tpt_graph_hash(a) == tpt_graph_hash(b));
  tpt_graph_release(a);
  tpt_graph_release(b);
}

static void test_without_memory_nothing_is_mixed_up(void) {
  tpt_graph_t *a = variant(0), *b = variant(0);
  tpt_allocator_fail_after(1);
  CHECK(!tpt_graph_equal(a, b));
  tpt_allocator_fail_after(0);
  CHECK(tpt_graph_equal(a, b));
  CHECK(tpt_graph_equal(a, a));
  tpt_graph_release(a);
  tpt_graph_release(b);
}

int main(void) {
  RUN(test_every_op_equals_itself_only);
  RUN(test_every_difference_counts);
  RUN(test_order_of_parameters_and_ops_is_free);
  RUN(test_without_memory_nothing_is_mixed_up);
  return TEST_RESULT;
}
