// Tests that the structs of products, gather and scatter survive the way into a node and back.
#include "hlo/graph_check.h"

static void test_dot_reads_back(void) {
  tpt_graph_t* g = check_graph();
  tpt_dot_t in = {.batch_count = 1,
                  .lhs_batch = {1},
                  .rhs_batch = {0},
                  .contract_count = 2,
                  .lhs_contract = {2, 0},
                  .rhs_contract = {1, 2},
                  .precision = TPT_PRECISION_HIGH};
  tpt_value_t y = tpt_hlo_dot_general(g, P(g, F32, 3, 4, 2), P(g, F32, 4, 2, 3), &in);
  CHECK_TYPE(g, y, "tensor<4xf32>");
  tpt_dot_t out;
  tpt_node_dot(tpt_graph_producer(g, y), &out);
  CHECK(memcmp(&in, &out, sizeof(in)) == 0);
  tpt_graph_release(g);
}

static void test_convolution_reads_back(void) {
  tpt_graph_t* g = check_graph();
  tpt_conv_t in = {.spatial_count = 1,
                   .stride = {2},
                   .pad_low = {3},
                   .pad_high = {-1},
                   .lhs_dilation = {2},
                   .rhs_dilation = {3},
                   .reversal = {true},
                   .input_batch = 2,
                   .input_feature = 0,
                   .input_spatial = {1},
                   .kernel_input = 1,
                   .kernel_output = 2,
                   .kernel_spatial = {0},
                   .output_batch = 1,
                   .output_feature = 2,
                   .output_spatial = {0},
                   .feature_groups = 2,
                   .batch_groups = 1,
                   .precision = TPT_PRECISION_HIGHEST};
  tpt_value_t y = tpt_hlo_convolution(g, P(g, F32, 4, 9, 5), P(g, F32, 3, 2, 6), &in);
  CHECK_TYPE(g, y, "tensor<7x5x6xf32>");
  tpt_conv_t out;
  tpt_node_conv(tpt_graph_producer(g, y), &out);
  CHECK(memcmp(&in, &out, sizeof(in)) == 0);
  tpt_graph_release(g);
}

static void test_gather_reads_back(void) {
  tpt_graph_t* g = check_graph();
  tpt_gather_t in = sample_gather_dims(), out;
  in.sorted = true;
  tpt_value_t y = tpt_hlo_gather(g, P(g, F32, 5, 3), P(g, S64, 4, 1), &in);
  CHECK_OK(tpt_graph_status(g));
  tpt_node_gather(tpt_graph_producer(g, y), &out);
  CHECK_STR(out.check, in.check);
  out.check = in.check;
  CHECK(memcmp(&in, &out, sizeof(in)) == 0);
  in.check = NULL;
  y = tpt_hlo_gather(g, P(g, F32, 5, 3), P(g, S64, 4, 1), &in);
  tpt_node_gather(tpt_graph_producer(g, y), &out);
  CHECK(out.check == NULL);
  tpt_graph_release(g);
}

static void test_scatter_reads_back(void) {
  tpt_graph_t* g = check_graph();
  tpt_scatter_t in = {.update_window_count = 1,
                      .update_window_dims = {2},
                      .inserted_count = 1,
                      .inserted_dims = {1},
                      .batching_count = 1,
                      .input_batching = {0},
                      .indices_batching = {0},
                      .map_count = 1,
                      .dims_to_operand = {1},
                      .index_vector_dim = 2,
                      .sorted = true,
                      .unique = true};
  tpt_scatter_t out;
  tpt_value_t y = tpt_hlo_scatter(g, P(g, F32, 6, 5, 7), P(g, S32, 6, 4), P(g, F32, 6, 4, 7), &in,
                                  TPT_HLO_MAXIMUM);
  CHECK_TYPE(g, y, "tensor<6x5x7xf32>");
  const tpt_node_t* node = tpt_graph_producer(g, y);
  tpt_node_scatter(node, &out);
  CHECK(memcmp(&in, &out, sizeof(in)) == 0);
  CHECK_EQ(tpt_region_monoid(g, node->regions[0], NULL), TPT_HLO_MAXIMUM);
  tpt_graph_release(g);
}

static void test_mixed_precision_reads_as_the_higher(void) {
  tpt_graph_t* g = check_graph();
  tpt_attr_t attrs[5] = {[4] = attr_ints(I64S(TPT_PRECISION_DEFAULT, TPT_PRECISION_HIGH), 2)};
  tpt_value_t y = append_op(g, TPT_HLO_DOT_GENERAL, VALUES(P0(g, F32), P0(g, F32)), attrs);
  CHECK_OK(tpt_graph_status(g));
  tpt_dot_t out;
  tpt_node_dot(tpt_graph_producer(g, y), &out);
  CHECK_EQ(out.precision, TPT_PRECISION_HIGH);
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_dot_reads_back);
  RUN(test_convolution_reads_back);
  RUN(test_gather_reads_back);
  RUN(test_scatter_reads_back);
  RUN(test_mixed_precision_reads_as_the_higher);
  return TEST_RESULT;
}
