// Tests of the type rules of ops that move elements.
#include "hlo/graph_check.h"

static void test_bitcast_changes_the_last_dimension(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t narrow = tpt_type_make(TPT_U8, 2, I64S(3, 4)),
             wide = tpt_type_make(TPT_F32, 1, I64S(3));
  CHECK_TYPE(g, tpt_hlo_bitcast_convert(g, P(g, F32, 3), &narrow), "tensor<3x4xui8>");
  CHECK_TYPE(g, tpt_hlo_bitcast_convert(g, P(g, U8, 3, 4), &wide), "tensor<3xf32>");
  CHECK_TYPE(g, tpt_hlo_bitcast_convert(g, P(g, S32, 3), &wide), "tensor<3xf32>");
  CHECK_REFUSED(g, tpt_hlo_bitcast_convert(g, P(g, U8, 4, 3), &wide), "one more dimension");
  CHECK_REFUSED(g, tpt_hlo_bitcast_convert(g, P(g, U8, 3, 2), &wide), "one more dimension");
  CHECK_REFUSED(g, tpt_hlo_bitcast_convert(g, P(g, PRED, 3, 4), &wide), "no bit cast");
  tpt_graph_release(g);
}

static void test_broadcast_keeps_dimensions(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_broadcast_in_dim(g, P(g, F32, 3, 1), 3, I64S(2, 3, 5), I64S(1, 2)),
             "tensor<2x3x5xf32>");
  CHECK_TYPE(g, tpt_hlo_broadcast_in_dim(g, P(g, F32, 3), 1, I64S(3), I64S(0)), "tensor<3xf32>");
  CHECK_REFUSED(g, tpt_hlo_broadcast_in_dim(g, P(g, F32, 3), 2, I64S(2, 4), I64S(1)), "must stay");
  CHECK_REFUSED(g, tpt_hlo_broadcast_in_dim(g, P(g, F32, 3), 2, I64S(2, 3), I64S(2)),
                "no dimension");
  tpt_graph_release(g);
}

static void test_reshape_keeps_the_count(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_reshape(g, P(g, F32, 6), 3, I64S(1, 2, 3)), "tensor<1x2x3xf32>");
  CHECK_TYPE(g, tpt_hlo_reshape(g, P(g, F32, 0, 6), 1, I64S(0)), "tensor<0xf32>");
  CHECK_REFUSED(g, tpt_hlo_reshape(g, P(g, F32, 6), 1, I64S(5)), "number of elements must stay");
  tpt_graph_release(g);
}

static void test_concatenate_adds_one_dimension(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_concatenate(g, (tpt_value_t[]){P(g, F32, 2, 3), P(g, F32, 2, 0)}, 2, 1),
             "tensor<2x3xf32>");
  CHECK_REFUSED(g, tpt_hlo_concatenate(g, (tpt_value_t[]){P(g, F32, 2, 3), P(g, F32, 3, 3)}, 2, 1),
                "may differ in one dimension only");
  CHECK_REFUSED(g, tpt_hlo_concatenate(g, (tpt_value_t[]){P(g, F32, 2), P(g, F64, 2)}, 2, 0),
                "may differ");
  CHECK_REFUSED(g, tpt_hlo_concatenate(g, (tpt_value_t[]){P0(g, F32), P0(g, F32)}, 2, 0),
                "no dimension of rank 0");
  CHECK_REFUSED(g, tpt_hlo_concatenate(g, NULL, 0, 0), "at least one operand");
  tpt_graph_release(g);
}

static void test_dynamic_slices_fit(void) {
  tpt_graph_t* g = check_graph();
  tpt_value_t i = P0(g, S64);
  CHECK_TYPE(g, tpt_hlo_dynamic_slice(g, P(g, F32, 4, 5), (tpt_value_t[]){i, i}, I64S(4, 1)),
             "tensor<4x1xf32>");
  CHECK_TYPE(
      g, tpt_hlo_dynamic_update_slice(g, P(g, F32, 4, 5), P(g, F32, 2, 5), (tpt_value_t[]){i, i}),
      "tensor<4x5xf32>");
  CHECK_REFUSED(g, tpt_hlo_dynamic_slice(g, P(g, F32, 4), &i, I64S(5)), "slice size 5");
  i = P0(g, F32);
  CHECK_REFUSED(g, tpt_hlo_dynamic_slice(g, P(g, F32, 4), &i, I64S(2)), "0-d integers");
  tpt_value_t mixed[2] = {P0(g, S32), P0(g, S64)};
  CHECK_REFUSED(g, tpt_hlo_dynamic_slice(g, P(g, F32, 4, 4), mixed, I64S(2, 2)), "one type");
  i = P0(g, S32);
  CHECK_REFUSED(g, tpt_hlo_dynamic_update_slice(g, P(g, F32, 4), P(g, F32, 5), &i), "must fit");
  tpt_graph_release(g);
}

static void test_pad_may_cut(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_pad(g, P(g, F32, 4, 0), P0(g, F32), I64S(-1, 2), I64S(-2, 1), I64S(0, 7)),
             "tensor<1x3xf32>");
  CHECK_TYPE(g, tpt_hlo_pad(g, P(g, F32, 3), P0(g, F32), I64S(0), I64S(0), I64S(2)),
             "tensor<7xf32>");
  CHECK_REFUSED(g, tpt_hlo_pad(g, P(g, F32, 2), P0(g, F32), I64S(-2), I64S(-1), NULL),
                "legal size");
  CHECK_REFUSED(g, tpt_hlo_pad(g, P(g, F32, 2), P0(g, F64), I64S(1), I64S(1), NULL),
                "padding value");
  CHECK_REFUSED(g, tpt_hlo_pad(g, P(g, F32, 2), P0(g, F32), I64S(0), I64S(0), I64S(-1)),
                "less than 0");
  CHECK_REFUSED(g, tpt_hlo_pad(g, P(g, F32, 2), P0(g, F32), I64S(INT64_MAX), I64S(INT64_MAX), NULL),
                "legal size");
  tpt_graph_release(g);
}

static void test_slices_stay_inside(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_slice_dim(g, P(g, F32, 7), 0, 1, 7, 4), "tensor<2xf32>");
  CHECK_TYPE(g, tpt_hlo_slice_dim(g, P(g, F32, 7), 0, 7, 7, 1), "tensor<0xf32>");
  CHECK_TYPE(g, tpt_hlo_slice_dim(g, P(g, F32, 7), 0, 0, 7, INT64_MAX), "tensor<1xf32>");
  CHECK_REFUSED(g, tpt_hlo_slice_dim(g, P(g, F32, 7), 0, 0, 8, 1), "[0:8:1] does not fit");
  CHECK_REFUSED(g, tpt_hlo_slice_dim(g, P(g, F32, 7), 0, 3, 2, 1), "does not fit");
  CHECK_REFUSED(g, tpt_hlo_slice_dim(g, P(g, F32, 7), 0, 0, 2, 0), "does not fit");
  CHECK_REFUSED(g, tpt_hlo_slice_dim(g, P(g, F32, 7), 1, 0, 2, 1), "no dimension of rank 1");
  tpt_graph_release(g);
}

static void test_transpose_and_reverse(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_transpose(g, P(g, F32, 2, 3, 4), I64S(2, 0, 1)), "tensor<4x2x3xf32>");
  CHECK_TYPE(g, tpt_hlo_reverse(g, P(g, F32, 2, 3), I64S(1, 0), 2), "tensor<2x3xf32>");
  CHECK_REFUSED(g, tpt_hlo_reverse(g, P(g, F32, 2, 3), I64S(1, 1), 2), "twice");
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_bitcast_changes_the_last_dimension);
  RUN(test_broadcast_keeps_dimensions);
  RUN(test_reshape_keeps_the_count);
  RUN(test_concatenate_adds_one_dimension);
  RUN(test_dynamic_slices_fit);
  RUN(test_pad_may_cut);
  RUN(test_slices_stay_inside);
  RUN(test_transpose_and_reverse);
  return TEST_RESULT;
}
