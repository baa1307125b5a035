// Tests of the doors of ops with regions: monoids found again, windows read back, many operands.
#include "hlo/graph_check.h"

static void test_monoids_are_recognised(void) {
  static const tpt_hlo_t ops[] = {TPT_HLO_ADD, TPT_HLO_MULTIPLY, TPT_HLO_MAXIMUM, TPT_HLO_MINIMUM,
                                  TPT_HLO_AND, TPT_HLO_OR,       TPT_HLO_XOR};
  tpt_graph_t* g = check_graph();
  for (int i = 0; i < 7; i++) {
    tpt_value_t y = tpt_hlo_reduce(g, P(g, S32, 3), P0(g, S32), ops[i], I64S(0), 1);
    CHECK_OK(tpt_graph_status(g));
    bool is_replace = true;
    CHECK_EQ(tpt_region_monoid(g, tpt_graph_producer(g, y)->regions[0], &is_replace), ops[i]);
    CHECK(!is_replace);
  }
  tpt_graph_release(g);
}

static void test_other_regions_are_no_monoid(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t types[2] = {tpt_type_scalar(TPT_F32), tpt_type_scalar(TPT_F32)};
  tpt_value_t args[2], result;
  bool is_replace;
  tpt_region_begin(g, types, 2, args);
  result = tpt_hlo_binary(g, TPT_HLO_ADD, args[1], args[0]);
  CHECK_EQ(tpt_region_monoid(g, tpt_region_end(g, &result, 1), &is_replace), TPT_HLO_ADD);
  tpt_region_begin(g, types, 2, args);
  result = tpt_hlo_binary(g, TPT_HLO_ADD, args[0], args[0]);
  CHECK_EQ(tpt_region_monoid(g, tpt_region_end(g, &result, 1), &is_replace), TPT_HLO_COUNT);
  tpt_region_begin(g, types, 2, args);
  result = tpt_hlo_binary(g, TPT_HLO_SUBTRACT, args[0], args[1]);
  CHECK_EQ(tpt_region_monoid(g, tpt_region_end(g, &result, 1), &is_replace), TPT_HLO_COUNT);
  CHECK(!is_replace);
  tpt_region_begin(g, types, 2, args);
  CHECK_EQ(tpt_region_monoid(g, tpt_region_end(g, &args[1], 1), &is_replace), TPT_HLO_COUNT);
  CHECK(is_replace);
  tpt_region_begin(g, types, 2, args);
  CHECK_EQ(tpt_region_monoid(g, tpt_region_end(g, &args[0], 1), &is_replace), TPT_HLO_COUNT);
  CHECK(!is_replace);
  CHECK_OK(tpt_graph_status(g));
  tpt_graph_release(g);
}

static void test_windows_read_back(void) {
  tpt_graph_t* g = check_graph();
  tpt_pool_window_t in, out;
  tpt_pool_window_init(&in);
  in.dims[0] = 2;
  in.stride[1] = 3;
  in.base_dilation[0] = 4;
  in.dilation[1] = 5;
  in.pad_low[0] = -1;
  in.pad_high[1] = 6;
  tpt_value_t y = tpt_hlo_reduce_window(g, P(g, F32, 8, 8), P0(g, F32), TPT_HLO_MAXIMUM, &in);
  CHECK_OK(tpt_graph_status(g));
  tpt_node_window(tpt_graph_producer(g, y), 2, &out);
  CHECK(memcmp(&in, &out, sizeof(in)) == 0);
  tpt_pool_window_init(&in);
  in.dims[0] = in.stride[0] = 2;
  in.pad_high[0] = 1;
  y = tpt_hlo_select_and_scatter(g, P(g, F32, 5), P(g, F32, 3), P0(g, F32), TPT_GE, &in);
  CHECK_OK(tpt_graph_status(g));
  tpt_node_window(tpt_graph_producer(g, y), 1, &out);
  CHECK(memcmp(&in, &out, sizeof(in)) == 0);
  tpt_graph_release(g);
}

static void test_many_operands_reduce_together(void) {
  enum { COUNT = 20 };
  tpt_graph_t* g = check_graph();
  tpt_type_t types[2 * COUNT];
  tpt_value_t xs[COUNT], inits[COUNT], args[2 * COUNT], results[COUNT];
  for (int i = 0; i < COUNT; i++) {
    xs[i] = P(g, F32, 3, 2);
    inits[i] = P0(g, F32);
    types[i] = types[COUNT + i] = tpt_type_scalar(TPT_F32);
  }
  tpt_region_begin(g, types, 2 * COUNT, args);
  for (int i = 0; i < COUNT; i++)
    results[i] = tpt_hlo_binary(g, TPT_HLO_ADD, args[i], args[COUNT + i]);
  tpt_reduction_t reduction = {.xs = xs,
                               .inits = inits,
                               .count = COUNT,
                               .dims = I64S(0),
                               .dim_count = 1,
                               .body = tpt_region_end(g, results, COUNT)};
  tpt_value_t y = tpt_hlo_reduce_n(g, &reduction);
  CHECK_TYPE(g, ((tpt_value_t){y.index + COUNT - 1}), "tensor<2xf32>");
  CHECK_EQ(tpt_graph_producer(g, y)->operands[COUNT].index, inits[0].index);
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_monoids_are_recognised);
  RUN(test_other_regions_are_no_monoid);
  RUN(test_windows_read_back);
  RUN(test_many_operands_reduce_together);
  return TEST_RESULT;
}
