// Whole-array steps, run on the virtual TPU over the elements 0 .. 5 as [2, 3].
#include "aten/array.h"
#include "vtpu/program_probe.h"

static tpt_value_t parameter(tpt_graph_t* g) {
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(2, 3));
  return tpt_graph_parameter(g, &type);
}

static void check_result(tpt_graph_t* g, tpt_value_t result, const double* want, int64_t count) {
  float x[6] = {0, 1, 2, 3, 4, 5};
  const void* in[1] = {x};
  void* out[1] = {NULL};
  tpt_dtype_t dtype = tpt_graph_type(g, result)->dtype;
  CHECK_EQ(tpt_type_count(tpt_graph_type(g, result)), count);
  tpt_graph_return(g, &result, 1);
  if (program_eval(g, in, out, false)) {
    for (int64_t i = 0; i < count; i++) {
      double got = probe_get(dtype, out[0], i);
      CHECK(got == want[i] || (isnan(got) && isnan(want[i])));
    }
  }
  free(out[0]);
}

static void test_mean_divides_by_what_it_reduced(void) {
  tpt_graph_t* g = program_graph();
  check_result(g, tpt_reduce_mean(g, parameter(g), DIMS(0), 1), (double[]){1.5, 2.5, 3.5}, 3);
  g = program_graph();
  tpt_value_t none = tpt_hlo_slice_dim(g, parameter(g), 0, 0, 0, 1);
  check_result(g, tpt_reduce_mean(g, none, DIMS(0), 1), (double[]){NAN, NAN, NAN}, 3);
}

static void test_sum_to_undoes_broadcasting(void) {
  tpt_graph_t* g = program_graph();
  check_result(g, tpt_sum_to(g, parameter(g), 1, DIMS(3)), (double[]){3, 5, 7}, 3);
  g = program_graph();
  check_result(g, tpt_sum_to(g, parameter(g), 2, DIMS(2, 1)), (double[]){3, 12}, 2);
  g = program_graph();
  tpt_value_t x = parameter(g);
  CHECK_EQ(tpt_sum_to(g, x, 2, DIMS(2, 3)).index, x.index);
  tpt_graph_release(g);
}

static void test_swap_and_unsqueeze_move_dimensions(void) {
  tpt_graph_t* g = program_graph();
  tpt_value_t y = tpt_unsqueeze(g, tpt_swap_last(g, parameter(g)), 1);
  CHECK_EQ(tpt_graph_type(g, y)->dims[0], 3);
  CHECK_EQ(tpt_graph_type(g, y)->dims[1], 1);
  CHECK_EQ(tpt_graph_type(g, y)->dims[2], 2);
  check_result(g, tpt_flatten(g, y), (double[]){0, 3, 1, 4, 2, 5}, 6);
}

static void test_along_lays_a_vector_down_a_dimension(void) {
  tpt_graph_t* g = program_graph();
  (void)parameter(g);
  tpt_value_t column = tpt_constant_ints(g, DIMS(7, 9), 2);
  check_result(g, tpt_along(g, column, 2, DIMS(2, 2), 0), (double[]){7, 7, 9, 9}, 4);
}

int main(void) {
  RUN(test_mean_divides_by_what_it_reduced);
  RUN(test_sum_to_undoes_broadcasting);
  RUN(test_swap_and_unsqueeze_move_dimensions);
  RUN(test_along_lays_a_vector_down_a_dimension);
  return TEST_RESULT;
}
