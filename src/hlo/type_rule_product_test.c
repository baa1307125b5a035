// Tests of the type rules of dot_general and convolution.
#include "hlo/graph_check.h"

static tpt_dot_t simple_dot(void) {
  return (tpt_dot_t){.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
}

static void test_dot_lays_out_batch_then_free(void) {
  tpt_graph_t* g = check_graph();
  tpt_dot_t dot = {.batch_count = 2,
                   .lhs_batch = {3, 0},
                   .rhs_batch = {1, 0},
                   .contract_count = 1,
                   .lhs_contract = {1},
                   .rhs_contract = {3}};
  CHECK_TYPE(g, tpt_hlo_dot_general(g, P(g, F32, 2, 3, 4, 5), P(g, F32, 2, 5, 6, 3), &dot),
             "tensor<5x2x4x6xf32>");
  dot = (tpt_dot_t){.batch_count = 0};
  CHECK_TYPE(g, tpt_hlo_dot_general(g, P(g, S8, 2), P0(g, S8), &dot), "tensor<2xi8>");
  tpt_graph_release(g);
}

static void test_dot_result_may_be_wider(void) {
  tpt_graph_t* g = check_graph();
  tpt_dot_t dot = simple_dot();
  dot.result = TPT_F32;
  CHECK_TYPE(g, tpt_hlo_dot_general(g, P(g, BF16, 2, 3), P(g, BF16, 3, 4), &dot),
             "tensor<2x4xf32>");
  dot.result = TPT_S32;
  CHECK_TYPE(g, tpt_hlo_dot_general(g, P(g, U8, 2, 3), P(g, U8, 3, 4), &dot), "tensor<2x4xi32>");
  CHECK_REFUSED(g, tpt_hlo_dot_general(g, P(g, F32, 2, 3), P(g, F32, 3, 4), &dot),
                "operands' kind");
  tpt_graph_release(g);
}

static void test_dot_refuses_what_does_not_pair(void) {
  tpt_graph_t* g = check_graph();
  tpt_dot_t dot = simple_dot();
  CHECK_REFUSED(g, tpt_hlo_dot_general(g, P(g, F32, 2, 3), P(g, F32, 4, 4), &dot),
                "pairs dimension 1 of size 3 with dimension 0 of size 4");
  CHECK_REFUSED(g, tpt_hlo_dot_general(g, P(g, F32, 2, 3), P(g, F16, 3, 4), &dot),
                "one element type");
  dot.batch_count = 1;
  dot.lhs_batch[0] = 1;
  CHECK_REFUSED(g, tpt_hlo_dot_general(g, P(g, F32, 3, 3), P(g, F32, 3, 3), &dot),
                "both batched and contracted");
  dot.batch_count = 17;
  CHECK_REFUSED(g, tpt_hlo_dot_general(g, P(g, F32, 3, 3), P(g, F32, 3, 3), &dot), "more than 16");
  dot = (tpt_dot_t){.batch_count = 0};
  tpt_value_t x = P(g, F32, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  CHECK(tpt_value_is_none(tpt_hlo_dot_general(g, x, x, &dot)));
  CHECK_FAILS(tpt_graph_status(g), TPT_UNIMPLEMENTED, "more than 16 dimensions");
  tpt_graph_release(g);
}

static void test_empty_precision_is_default(void) {
  tpt_graph_t* g = check_graph();
  tpt_attr_t attrs[5] = {
      [2] = attr_ints(I64S(1), 1), [3] = attr_ints(I64S(0), 1), [4] = attr_ints(NULL, 0)};
  tpt_value_t y =
      append_op(g, TPT_HLO_DOT_GENERAL, VALUES(P(g, F32, 2, 3), P(g, F32, 3, 4)), attrs);
  CHECK_TYPE(g, y, "tensor<2x4xf32>");
  int count;
  CHECK_EQ(tpt_node_ints(tpt_graph_producer(g, y), 4, &count)[1], TPT_PRECISION_DEFAULT);
  CHECK_EQ(count, 2);
  CHECK(tpt_graph_producer(g, y)->attrs[0].is_set);
  tpt_graph_release(g);
}

// NCHW by OIHW, 3x3, padding 1.
static tpt_conv_t simple_conv(void) {
  return (tpt_conv_t){.spatial_count = 2,
                      .stride = {1, 1},
                      .pad_low = {1, 1},
                      .pad_high = {1, 1},
                      .lhs_dilation = {1, 1},
                      .rhs_dilation = {1, 1},
                      .input_feature = 1,
                      .input_spatial = {2, 3},
                      .kernel_input = 1,
                      .kernel_spatial = {2, 3},
                      .output_feature = 1,
                      .output_spatial = {2, 3},
                      .feature_groups = 1,
                      .batch_groups = 1};
}

static tpt_value_t convolve(tpt_graph_t* g, const tpt_conv_t* conv) {
  return tpt_hlo_convolution(g, P(g, F32, 4, 6, 8, 9), P(g, F32, 10, 6, 3, 3), conv);
}

static void test_convolution_sizes(void) {
  tpt_graph_t* g = check_graph();
  tpt_conv_t conv = simple_conv();
  CHECK_TYPE(g, convolve(g, &conv), "tensor<4x10x8x9xf32>");
  conv.stride[0] = 2;
  conv.rhs_dilation[1] = 2;
  CHECK_TYPE(g, convolve(g, &conv), "tensor<4x10x4x7xf32>");
  conv = simple_conv();
  conv.lhs_dilation[0] = 3;
  conv.pad_low[1] = -3;
  CHECK_TYPE(g, convolve(g, &conv), "tensor<4x10x22x5xf32>");
  conv = simple_conv();
  conv.pad_low[0] = conv.pad_high[0] = -3;  // less than the kernel is left
  CHECK_TYPE(g, convolve(g, &conv), "tensor<4x10x0x9xf32>");
  conv.pad_low[0] = -30;
  CHECK_REFUSED(g, convolve(g, &conv), "no legal size");
  tpt_graph_release(g);
}

static void test_convolution_groups(void) {
  tpt_graph_t* g = check_graph();
  tpt_conv_t conv = simple_conv();
  conv.feature_groups = 2;
  CHECK_REFUSED(g, convolve(g, &conv), "6 input features in 2 groups do not fit a kernel of 6");
  CHECK_TYPE(g, tpt_hlo_convolution(g, P(g, F32, 4, 6, 8, 9), P(g, F32, 10, 3, 3, 3), &conv),
             "tensor<4x10x8x9xf32>");
  tpt_graph_reset(g);
  conv.feature_groups = 1;
  conv.batch_groups = 2;
  CHECK_TYPE(g, convolve(g, &conv), "tensor<2x10x8x9xf32>");
  conv.batch_groups = 3;
  CHECK_REFUSED(g, convolve(g, &conv), "do not divide");
  conv.feature_groups = 2;
  CHECK_REFUSED(g, convolve(g, &conv), "one of them 1");
  conv.batch_groups = 0;
  CHECK_REFUSED(g, convolve(g, &conv), "at least 1");
  tpt_graph_release(g);
}

static void test_convolution_refuses_bad_windows(void) {
  tpt_graph_t* g = check_graph();
  tpt_conv_t conv = simple_conv();
  conv.stride[0] = 0;
  CHECK_REFUSED(g, convolve(g, &conv), "window_strides has 0, less than 1");
  conv = simple_conv();
  conv.input_spatial[0] = 1;
  CHECK_REFUSED(g, convolve(g, &conv), "input_dims names dimension 1 twice");
  conv = simple_conv();
  conv.spatial_count = 1;
  CHECK_REFUSED(g, convolve(g, &conv), "has 1 numbers, not 2");
  conv.spatial_count = 5;
  CHECK_REFUSED(g, convolve(g, &conv), "more than 4");
  conv = simple_conv();
  CHECK_REFUSED(g, tpt_hlo_convolution(g, P(g, F32, 4, 6), P(g, F32, 1, 6, 3, 3), &conv),
                "one rank");
  CHECK_REFUSED(g, tpt_hlo_convolution(g, P(g, F32, 4, 6, 8, 9), P(g, F32, 10, 6, 0, 3), &conv),
                "of the kernel is empty");
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_dot_lays_out_batch_then_free);
  RUN(test_dot_result_may_be_wider);
  RUN(test_dot_refuses_what_does_not_pair);
  RUN(test_empty_precision_is_default);
  RUN(test_convolution_sizes);
  RUN(test_convolution_groups);
  RUN(test_convolution_refuses_bad_windows);
  return TEST_RESULT;
}
