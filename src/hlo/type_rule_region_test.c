// Tests of the type rules of reductions, windows, sort, map and control flow.
#include "hlo/graph_check.h"

static void test_reduce_drops_dimensions(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_reduce(g, P(g, S32, 2, 3, 4), P0(g, S32), TPT_HLO_AND, I64S(2, 0), 2),
             "tensor<3xi32>");
  CHECK_TYPE(g, tpt_hlo_reduce(g, P(g, F32, 2, 0), P0(g, F32), TPT_HLO_ADD, I64S(1), 1),
             "tensor<2xf32>");
  CHECK_TYPE(g, tpt_hlo_reduce(g, P(g, F32, 2), P0(g, F32), TPT_HLO_ADD, NULL, 0), "tensor<2xf32>");
  CHECK_REFUSED(g, tpt_hlo_reduce(g, P(g, F32, 2), P0(g, F64), TPT_HLO_ADD, I64S(0), 1),
                "an initial value must be 0-d");
  CHECK_REFUSED(g, tpt_hlo_reduce(g, P(g, F32, 2), P(g, F32, 1), TPT_HLO_ADD, I64S(0), 1),
                "an initial value must be 0-d");
  CHECK_REFUSED(g, tpt_hlo_reduce(g, P(g, F32, 2), P0(g, F32), TPT_HLO_ADD, I64S(1), 1),
                "no dimension of rank 1");
  CHECK_REFUSED(g, tpt_hlo_reduce(g, P(g, F32, 2), P0(g, F32), TPT_HLO_SUBTRACT, I64S(0), 1),
                "stablehlo.subtract cannot combine");
  tpt_graph_release(g);
}

static void test_windows_are_counted(void) {
  tpt_graph_t* g = check_graph();
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[1] = 3;
  window.stride[1] = 2;
  window.pad_low[1] = 1;
  window.base_dilation[0] = 2;
  window.dilation[1] = 2;
  CHECK_TYPE(g, tpt_hlo_reduce_window(g, P(g, F32, 4, 9), P0(g, F32), TPT_HLO_ADD, &window),
             "tensor<7x3xf32>");
  window.dims[1] = 30;
  CHECK_TYPE(g, tpt_hlo_reduce_window(g, P(g, F32, 4, 9), P0(g, F32), TPT_HLO_ADD, &window),
             "tensor<7x0xf32>");
  window.pad_low[1] = -20;
  CHECK_REFUSED(g, tpt_hlo_reduce_window(g, P(g, F32, 4, 9), P0(g, F32), TPT_HLO_ADD, &window),
                "no legal size");
  tpt_pool_window_init(&window);
  window.dims[0] = 0;
  CHECK_REFUSED(g, tpt_hlo_reduce_window(g, P(g, F32, 4), P0(g, F32), TPT_HLO_ADD, &window),
                "window_dimensions has 0, less than 1");
  tpt_graph_release(g);
}

static void test_select_and_scatter_wants_one_source_per_window(void) {
  tpt_graph_t* g = check_graph();
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[0] = window.stride[0] = 2;
  CHECK_TYPE(g,
             tpt_hlo_select_and_scatter(g, P(g, F32, 6), P(g, F32, 3), P0(g, F32), TPT_GE, &window),
             "tensor<6xf32>");
  CHECK_REFUSED(
      g, tpt_hlo_select_and_scatter(g, P(g, F32, 6), P(g, F32, 2), P0(g, F32), TPT_GE, &window),
      "not the number of windows");
  CHECK_REFUSED(
      g, tpt_hlo_select_and_scatter(g, P(g, F32, 6), P(g, F64, 3), P0(g, F32), TPT_GE, &window),
      "element type and rank");
  CHECK_REFUSED(
      g, tpt_hlo_select_and_scatter(g, P(g, F32, 6), P(g, F32, 3), P0(g, F64), TPT_GE, &window),
      "initial value");
  tpt_graph_release(g);
}

static uint32_t less_region(tpt_graph_t* g, tpt_dtype_t dtype) {
  tpt_type_t types[2] = {tpt_type_scalar(dtype), tpt_type_scalar(dtype)};
  tpt_value_t args[2];
  tpt_region_begin(g, types, 2, args);
  tpt_value_t less = tpt_hlo_compare(g, TPT_LT, args[0], args[1]);
  return tpt_region_end(g, &less, 1);
}

static void test_sort_counts_dimensions_from_either_end(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t x = P(g, F32, 2, 3);
  tpt_value_t y = tpt_hlo_sort(g, &x, 1, -1, false, less_region(g, TPT_F32));
  CHECK_TYPE(g, y, "tensor<2x3xf32>");
  CHECK_EQ(tpt_node_int(tpt_graph_producer(g, y), 0), 1);
  CHECK_REFUSED(g, tpt_hlo_sort(g, &x, 1, 2, false, less_region(g, TPT_F32)),
                "no dimension of rank 2");
  x = P(g, F32, 2, 3);
  CHECK_REFUSED(g, tpt_hlo_sort(g, &x, 1, 0, false, less_region(g, TPT_S32)),
                "argument of a region");
  tpt_graph_release(g);
}

static void test_map_takes_the_region_dtype(void) {
  tpt_graph_t* g = check_graph();
  sample_build(g, TPT_HLO_MAP);
  CHECK_TYPE(g, tpt_graph_block(g, 0).results[0], "tensor<2x3xf32>");
  const tpt_node_t* node = tpt_graph_producer(g, tpt_graph_block(g, 0).results[0]);
  CHECK_EQ(tpt_graph_block(g, node->regions[0]).arg_count, 1);
  tpt_graph_release(g);
}

static tpt_value_t branch(tpt_graph_t* g, tpt_dtype_t selector, tpt_dtype_t second) {
  tpt_value_t s = sample_parameter(g, selector, 0, NULL);
  tpt_value_t x = P(g, F32, 2), y = sample_parameter(g, second, 1, I64S(2));
  uint32_t blocks[2];
  tpt_region_begin(g, NULL, 0, NULL);
  blocks[0] = tpt_region_end(g, &x, 1);
  tpt_region_begin(g, NULL, 0, NULL);
  blocks[1] = tpt_region_end(g, &y, 1);
  return selector == TPT_PRED ? tpt_hlo_if(g, s, blocks[0], blocks[1])
                              : tpt_hlo_case(g, s, blocks, 2);
}

static void test_branches_give_one_type(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, branch(g, TPT_PRED, TPT_F32), "tensor<2xf32>");
  CHECK_TYPE(g, branch(g, TPT_S32, TPT_F32), "tensor<2xf32>");
  CHECK_REFUSED(g, branch(g, TPT_PRED, TPT_F64), "result of a region");
  CHECK_REFUSED(g, branch(g, TPT_S64, TPT_F32), "the selector must be a 0-d s32");
  CHECK_REFUSED(g, tpt_hlo_case(g, P0(g, S32), NULL, 0), "at least one branch");
  tpt_graph_release(g);
}

static void test_loops_keep_their_types(void) {
  tpt_graph_t* g = check_graph();
  for (int broken = 0; broken < 3; broken++) {
    tpt_graph_reset(g);
    tpt_value_t x = P0(g, F32), arg;
    tpt_type_t type = tpt_type_scalar(TPT_F32);
    tpt_region_begin(g, &type, 1, &arg);
    tpt_value_t more = broken == 1 ? arg : tpt_hlo_compare(g, TPT_LT, arg, x);
    uint32_t condition = tpt_region_end(g, &more, 1);
    tpt_region_begin(g, &type, 1, &arg);
    tpt_value_t next = broken == 2 ? tpt_hlo_convert(g, arg, TPT_F64) : arg;
    uint32_t body = tpt_region_end(g, &next, 1);
    tpt_value_t y = tpt_hlo_while(g, &x, 1, condition, body);
    if (broken)
      CHECK_REFUSED(g, y, "result of a region");
    else
      CHECK_TYPE(g, y, "tensor<f32>");
  }
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_reduce_drops_dimensions);
  RUN(test_windows_are_counted);
  RUN(test_select_and_scatter_wants_one_source_per_window);
  RUN(test_sort_counts_dimensions_from_either_end);
  RUN(test_map_takes_the_region_dtype);
  RUN(test_branches_give_one_type);
  RUN(test_loops_keep_their_types);
  return TEST_RESULT;
}
