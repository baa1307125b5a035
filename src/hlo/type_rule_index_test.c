// Tests of the type rules of gather and scatter.
#include "hlo/graph_check.h"

static tpt_value_t gather(tpt_graph_t* g, const tpt_gather_t* dims) {
  return tpt_hlo_gather(g, P(g, F32, 5, 3), P(g, S64, 4, 1), dims);
}

static void test_gather_mixes_index_and_window_dimensions(void) {
  tpt_graph_t* g = check_graph();
  tpt_gather_t dims = sample_gather_dims();
  CHECK_TYPE(g, gather(g, &dims), "tensor<4x3xf32>");
  dims.offset_dims[0] = 0;
  CHECK_TYPE(g, gather(g, &dims), "tensor<3x4xf32>");
  // Batching: one row of each matrix.
  dims = (tpt_gather_t){.offset_count = 1,
                        .offset_dims = {2},
                        .collapsed_count = 1,
                        .collapsed_dims = {1},
                        .batching_count = 1,
                        .map_count = 1,
                        .start_index_map = {1},
                        .index_vector_dim = 2,
                        .slice_sizes = {1, 1, 7}};
  CHECK_TYPE(g, tpt_hlo_gather(g, P(g, F32, 6, 5, 7), P(g, S32, 6, 4), &dims), "tensor<6x4x7xf32>");
  CHECK_REFUSED(g, tpt_hlo_gather(g, P(g, F32, 5, 5, 7), P(g, S32, 6, 4), &dims),
                "batching dimension 0 has size 5, that of the indices 6");
  tpt_graph_release(g);
}

static void test_gather_refuses_what_does_not_fit(void) {
  tpt_graph_t* g = check_graph();
  tpt_gather_t dims = sample_gather_dims();
  dims.slice_sizes[1] = 4;
  CHECK_REFUSED(g, gather(g, &dims), "slice size 4 does not fit dimension 1 of size 3");
  dims = sample_gather_dims();
  dims.slice_sizes[0] = 2;
  CHECK_REFUSED(g, gather(g, &dims), "its slice size must be 0 or 1, not 2");
  dims = sample_gather_dims();
  dims.offset_count = 0;
  CHECK_REFUSED(g, gather(g, &dims), "offset_dims has 0 entries, but the slice keeps 1");
  dims = sample_gather_dims();
  dims.offset_dims[0] = 2;
  CHECK_REFUSED(g, gather(g, &dims), "offset_dims has 2, which is no dimension of rank 2");
  dims = sample_gather_dims();
  dims.map_count = 2;
  dims.start_index_map[1] = 1;
  CHECK_REFUSED(g, gather(g, &dims), "start_index_map has 2 entries for index vectors of 1");
  dims = sample_gather_dims();
  dims.index_vector_dim = 3;
  CHECK_REFUSED(g, gather(g, &dims), "index_vector_dim 3 is not in 0..2");
  dims = sample_gather_dims();
  CHECK_REFUSED(g, tpt_hlo_gather(g, P(g, F32, 5, 3), P(g, F32, 4), &dims), "must be integers");
  dims.map_count = 99;
  CHECK_REFUSED(g, gather(g, &dims), "more than 16");
  tpt_graph_release(g);
}

static void test_index_vectors_may_be_implicit(void) {
  tpt_graph_t* g = check_graph();
  tpt_gather_t dims = sample_gather_dims();
  CHECK_TYPE(g, tpt_hlo_gather(g, P(g, F32, 5, 3), P(g, U8, 4), &dims), "tensor<4x3xf32>");
  dims.index_vector_dim = 0;
  dims.offset_dims[0] = 0;
  CHECK_TYPE(g, tpt_hlo_gather(g, P(g, F32, 5, 3), P(g, U8, 1), &dims), "tensor<3xf32>");
  tpt_graph_release(g);
}

static tpt_scatter_t simple_scatter(void) {
  return (tpt_scatter_t){.update_window_count = 1,
                         .update_window_dims = {1},
                         .inserted_count = 1,
                         .map_count = 1,
                         .index_vector_dim = 1};
}

static void test_scatter_keeps_the_operand(void) {
  tpt_graph_t* g = check_graph();
  tpt_scatter_t dims = simple_scatter();
  CHECK_TYPE(g,
             tpt_hlo_scatter(g, P(g, F32, 5, 3), P(g, S32, 4), P(g, F32, 4, 2), &dims, TPT_HLO_ADD),
             "tensor<5x3xf32>");
  CHECK_REFUSED(
      g, tpt_hlo_scatter(g, P(g, F32, 5, 3), P(g, S32, 4), P(g, F32, 4, 4), &dims, TPT_HLO_ADD),
      "a window of the updates must fit");
  CHECK_REFUSED(
      g, tpt_hlo_scatter(g, P(g, F32, 5, 3), P(g, S32, 4), P(g, F32, 3, 2), &dims, TPT_HLO_ADD),
      "other dimensions must be the indices'");
  CHECK_REFUSED(
      g, tpt_hlo_scatter(g, P(g, F32, 5, 3), P(g, S32, 4), P(g, F64, 4, 2), &dims, TPT_HLO_ADD),
      "element type");
  CHECK_REFUSED(g,
                tpt_hlo_scatter(g, P(g, F32, 5, 3), P(g, S32, 4), P(g, F32, 4), &dims, TPT_HLO_ADD),
                "rank must be");
  CHECK_REFUSED(
      g, tpt_hlo_scatter(g, P(g, F32, 5, 3), P(g, S32, 4), P(g, F32, 4, 2), &dims, TPT_HLO_DIVIDE),
      "stablehlo.divide cannot combine");
  dims.update_window_count = 0;
  CHECK_REFUSED(g,
                tpt_hlo_scatter(g, P(g, F32, 5, 3), P(g, S32, 4), P(g, F32, 4), &dims, TPT_HLO_ADD),
                "update_window_dims has 0 numbers, not 1");
  CHECK_REFUSED(g, append_op(g, TPT_HLO_SCATTER, VALUES(P(g, F32, 5), P(g, F32, 5)), NULL),
                "takes 1 regions");
  tpt_graph_release(g);
}

static void test_defaults_are_filled_in(void) {
  tpt_graph_t* g = check_graph();
  tpt_attr_t attrs[9] = {
      [1] = attr_ints(I64S(0), 1), [4] = attr_ints(I64S(0), 1), [6] = attr_ints(I64S(1), 1)};
  // index_vector_dim 0: one index.
  tpt_value_t y = append_op(g, TPT_HLO_GATHER, VALUES(P(g, F32, 5), P(g, S32, 1)), attrs);
  CHECK_TYPE(g, y, "tensor<f32>");
  const tpt_node_t* node = tpt_graph_producer(g, y);
  for (int slot = 0; slot < 8; slot++)
    CHECK(node->attrs[slot].is_set);
  CHECK(!node->attrs[8].is_set);
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_gather_mixes_index_and_window_dimensions);
  RUN(test_gather_refuses_what_does_not_fit);
  RUN(test_index_vectors_may_be_implicit);
  RUN(test_scatter_keeps_the_operand);
  RUN(test_defaults_are_filled_in);
  return TEST_RESULT;
}
