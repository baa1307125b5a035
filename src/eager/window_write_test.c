// Tests of what writing a window becomes in a program. That the bytes are right is tested on a device
// in window_read_test.c.
#include "base/check.h"
#include "eager/window.h"
#include "hlo/builder.h"

static tpt_graph_t* graph;
static tpt_homes_t homes;
static tpt_table_t windows;

static int count_op(tpt_hlo_t op) {
  int count = 0;
  for (uint32_t i = 0; i < tpt_graph_node_count(graph); i++)
    count += tpt_graph_node(graph, i)->op == op;
  return count;
}

// Writes a window at `offset` over a home of `dims`; the new home must have the old one's type.
static tpt_value_t write_window(tpt_dtype_t home_dtype, int home_rank, const int64_t* dims,
                                const tpt_tensor_t* tensor) {
  const tpt_home_t* home = NULL;
  const tpt_window_t* window = NULL;
  int64_t starts[TPT_START_MAX];
  int start_count = 0;
  tpt_window_update_t write = {0};
  tpt_value_t start_values[TPT_START_MAX];
  tpt_type_t type = tpt_type_make(home_dtype, home_rank, dims);
  tpt_graph_reset(graph);
  CHECK_OK(tpt_home_typed(&homes, &type, &home));
  CHECK_OK(tpt_window_get(&windows, home, tensor, &window));
  CHECK_OK(tpt_window_solve(window, tensor->offset, starts, &start_count, &write.solution));
  tpt_type_t start_type = tpt_type_scalar(tpt_window_start_dtype(window));
  for (int i = 0; i < start_count; i++)
    start_values[i] = tpt_graph_parameter(graph, &start_type);
  write.home = tpt_graph_parameter(graph, &home->type);
  write.update = tpt_graph_parameter(graph, &window->type);
  write.starts = start_values;
  tpt_value_t result = tpt_window_write(graph, window, &write);
  CHECK_OK(tpt_graph_status(graph));
  CHECK(tpt_type_equal(tpt_graph_type(graph, result), &home->type));
  return result;
}

static const int64_t kDims[] = {6, 8};

static void test_whole_write_needs_nothing_of_the_old_value(void) {
  tpt_tensor_t whole = {.sizes = kDims, .strides = (int64_t[]){8, 1}, .rank = 2, .dtype = TPT_F32};
  write_window(TPT_F32, 2, kDims, &whole);
  CHECK_EQ(tpt_graph_node_count(graph), 0);  // the update itself
  tpt_tensor_t turned = {
      .sizes = (int64_t[]){8, 6}, .strides = (int64_t[]){1, 8}, .rank = 2, .dtype = TPT_F32};
  write_window(TPT_F32, 2, kDims, &turned);
  CHECK_EQ(count_op(TPT_HLO_TRANSPOSE), 1);
  CHECK_EQ(tpt_graph_node_count(graph), 1);
}

static void test_box_is_an_update_slice_in_the_homes_dimensions(void) {
  tpt_tensor_t row = {.sizes = (int64_t[]){8},
                      .strides = (int64_t[]){1},
                      .rank = 1,
                      .dtype = TPT_F32,
                      .offset = 16};
  write_window(TPT_F32, 2, kDims, &row);
  CHECK_EQ(count_op(TPT_HLO_DYNAMIC_UPDATE_SLICE), 1);
  CHECK_EQ(count_op(TPT_HLO_DYNAMIC_SLICE), 0);
  CHECK_EQ(count_op(TPT_HLO_SELECT), 0);
  const tpt_node_t* node = NULL;
  for (uint32_t i = 0; i < tpt_graph_node_count(graph); i++) {
    if (tpt_graph_node(graph, i)->op == TPT_HLO_DYNAMIC_UPDATE_SLICE)
      node = tpt_graph_node(graph, i);
  }
  if (node) CHECK_EQ(tpt_graph_type(graph, node->operands[0])->rank, 2);
}

static void test_steps_keep_what_lies_between(void) {
  tpt_tensor_t odd = {.sizes = (int64_t[]){6, 4},
                      .strides = (int64_t[]){8, 2},
                      .rank = 2,
                      .dtype = TPT_F32,
                      .offset = 1};
  write_window(TPT_F32, 2, kDims, &odd);
  CHECK_EQ(count_op(TPT_HLO_DYNAMIC_SLICE), 1);
  CHECK_EQ(count_op(TPT_HLO_SELECT), 1);
  CHECK_EQ(count_op(TPT_HLO_DYNAMIC_UPDATE_SLICE), 1);
}

static void test_odd_strides_scatter(void) {
  tpt_tensor_t odd = {
      .sizes = (int64_t[]){3, 3}, .strides = (int64_t[]){5, 3}, .rank = 2, .dtype = TPT_F32};
  write_window(TPT_F32, 2, kDims, &odd);
  CHECK_EQ(count_op(TPT_HLO_SCATTER), 1);
}

static void test_other_dtypes_give_back_the_homes(void) {
  tpt_tensor_t ints = {
      .sizes = (int64_t[]){3}, .strides = (int64_t[]){1}, .rank = 1, .dtype = TPT_S32, .offset = 9};
  write_window(TPT_F32, 2, kDims, &ints);
  CHECK_EQ(count_op(TPT_HLO_BITCAST_CONVERT), 1);  // of the update only
  tpt_tensor_t bytes = ints;
  bytes.dtype = TPT_U8;
  write_window(TPT_F32, 2, kDims, &bytes);
  tpt_tensor_t wide = ints;
  wide.dtype = TPT_C64;
  write_window(TPT_F32, 2, kDims, &wide);
  write_window(TPT_U8, 1, (int64_t[]){101}, &wide);
}

// A row seen in another width: only the row is converted, there and back.
static void test_other_widths_convert_their_part_only(void) {
  static const tpt_dtype_t kHomes[] = {TPT_F32, TPT_F32, TPT_BF16, TPT_C64};
  static const tpt_dtype_t kViews[] = {TPT_BF16, TPT_U8, TPT_F32, TPT_F32};
  for (int k = 0; k < 4; k++) {
    int64_t size = 8 * (int64_t)tpt_dtype_size(kHomes[k]) / (int64_t)tpt_dtype_size(kViews[k]);
    tpt_tensor_t row = {.sizes = &size,
                        .strides = (int64_t[]){1},
                        .rank = 1,
                        .dtype = kViews[k],
                        .offset = 2 * size};
    write_window(kHomes[k], 2, kDims, &row);
    int whole = 0;
    for (uint32_t i = 0; i < tpt_graph_node_count(graph); i++) {
      const tpt_node_t* node = tpt_graph_node(graph, i);
      tpt_type_t type = *tpt_graph_type(graph, (tpt_value_t){node->first_result});
      whole += tpt_type_size(&type) >= 48 * (int64_t)tpt_dtype_size(kHomes[k]);
    }
    CHECK_EQ(whole, 1);  // the update of the home
  }
}

int main(void) {
  if (!CHECK_OK(tpt_graph_create(&graph))) return TEST_RESULT;
  RUN(test_whole_write_needs_nothing_of_the_old_value);
  RUN(test_box_is_an_update_slice_in_the_homes_dimensions);
  RUN(test_steps_keep_what_lies_between);
  RUN(test_odd_strides_scatter);
  RUN(test_other_dtypes_give_back_the_homes);
  RUN(test_other_widths_convert_their_part_only);
  tpt_graph_release(graph);
  return TEST_RESULT;
}
