#include "base/check.h"
#include "eager/grid.h"
#include "hlo/builder.h"

static tpt_graph_t* graph;

static tpt_value_t parameter(int rank, const int64_t* dims) {
  tpt_type_t type = tpt_type_make(TPT_F32, rank, dims);
  return tpt_graph_parameter(graph, &type);
}

static void test_needless_reshapes_and_transposes_vanish(void) {
  tpt_graph_reset(graph);
  tpt_value_t x = parameter(2, (int64_t[]){4, 6});
  CHECK_EQ(tpt_grid_reshape(graph, x, 2, (int64_t[]){4, 6}).index, x.index);
  tpt_value_t flat = tpt_grid_reshape(graph, x, 1, (int64_t[]){24});
  CHECK_EQ(tpt_grid_reshape(graph, flat, 2, (int64_t[]){4, 6}).index, x.index);
  tpt_value_t turned = tpt_grid_transpose(graph, x, (int64_t[]){1, 0});
  CHECK(turned.index != x.index);
  CHECK_EQ(tpt_grid_transpose(graph, turned, (int64_t[]){1, 0}).index, x.index);
  CHECK_EQ(tpt_grid_transpose(graph, x, (int64_t[]){0, 1}).index, x.index);
  CHECK_OK(tpt_graph_status(graph));
}

static void test_grid_and_window_are_inverse(void) {
  tpt_graph_reset(graph);
  // A window [5, 1, 3] taken from a grid in the order (dimension 2, nothing, dimension 0).
  tpt_window_t window = {.type = {.dtype = TPT_F32, .rank = 3, .dims = {5, 1, 3}}};
  tpt_grid_t grid = {
      .rank = 3, .dims = {4, 7, 9}, .counts = {3, 1, 5}, .steps = {1, 1, 2}, .source = {2, -1, 0}};
  tpt_value_t box = parameter(3, grid.counts);
  tpt_value_t value = tpt_grid_to_window(graph, &window, &grid, box);
  CHECK(tpt_dims_equal(tpt_graph_type(graph, value), &window.type));
  tpt_value_t back = tpt_grid_from_window(graph, &window, &grid, value);
  CHECK_EQ(tpt_graph_type(graph, back)->dims[0], 3);
  CHECK_EQ(tpt_graph_type(graph, back)->dims[2], 5);
  int64_t extents[3];
  tpt_grid_extents(&grid, extents);
  CHECK_EQ(extents[2], 9);
  CHECK(tpt_grid_has_steps(&grid));
  CHECK_OK(tpt_graph_status(graph));
}

int main(void) {
  if (!CHECK_OK(tpt_graph_create(&graph))) return TEST_RESULT;
  RUN(test_needless_reshapes_and_transposes_vanish);
  RUN(test_grid_and_window_are_inverse);
  tpt_graph_release(graph);
  return TEST_RESULT;
}
