// Tables of taps: their adjoint, and the ops they turn into.
#include "aten/taps.h"
#include "vtpu/program_probe.h"

// Applies f to a parameter x of one row of six elements 0 .. 5 and compares the result.
static void check_result(tpt_graph_t* g, tpt_value_t result, const double* want, int64_t count) {
  float x[6] = {0, 1, 2, 3, 4, 5};
  const void* in[1] = {x};
  void* out[1] = {NULL};
  tpt_graph_return(g, &result, 1);
  CHECK_EQ(tpt_type_count(tpt_graph_type(g, result)), count);
  if (program_eval(g, in, out, false)) {
    for (int64_t i = 0; i < count; i++)
      CHECK_NEAR(((float*)out[0])[i], want[i], 1e-6);
  }
  free(out[0]);
}

static tpt_value_t parameter(tpt_graph_t* g) {
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(1, 6));
  return tpt_graph_parameter(g, &type);
}

// The op that makes the value.
static tpt_hlo_t op_of(const tpt_graph_t* g, tpt_value_t x) {
  const tpt_node_t* node = tpt_graph_producer(g, x);
  return node ? node->op : TPT_HLO_COUNT;
}

static void test_take_of_regular_indexes_needs_no_gather(void) {
  tpt_graph_t* g = program_graph();
  tpt_value_t x = parameter(g);
  CHECK_EQ(tpt_take(g, x, 1, DIMS(0, 1, 2, 3, 4, 5), 6).index, x.index);
  tpt_value_t odd = tpt_take(g, x, 1, DIMS(1, 3, 5), 3);
  CHECK_EQ(op_of(g, odd), TPT_HLO_SLICE);
  tpt_value_t twice = tpt_take(g, odd, 1, DIMS(0, 0, 1, 1, 2, 2), 6);
  CHECK_EQ(op_of(g, twice), TPT_HLO_RESHAPE);
  check_result(g, twice, (double[]){1, 1, 3, 3, 5, 5}, 6);
}

static void test_take_of_other_indexes_gathers(void) {
  tpt_graph_t* g = program_graph();
  tpt_value_t taken = tpt_take(g, parameter(g), 1, DIMS(5, 0, 0, 2), 4);
  CHECK_EQ(op_of(g, taken), TPT_HLO_GATHER);
  check_result(g, taken, (double[]){5, 0, 0, 2}, 4);
}

// Output 0 reads 0.5 x[1] + 2 x[4], output 1 reads x[5] alone.
static bool small_table(tpt_graph_t* g, tpt_taps_t* taps) {
  if (!tpt_taps_init(g, 2, 2, true, taps)) return false;
  memcpy(taps->index, DIMS(1, 4, 5, -1), 4 * sizeof(int64_t));
  memcpy(taps->weight, (double[]){0.5, 2, 1, 0}, 4 * sizeof(double));
  return true;
}

static void test_sum_weighs_and_leaves_gaps_out(void) {
  tpt_graph_t* g = program_graph();
  tpt_taps_t taps;
  if (!small_table(g, &taps)) return;
  check_result(g, tpt_taps_sum(g, parameter(g), 1, &taps), (double[]){8.5, 5}, 2);
}

static void test_gather_fills_gaps(void) {
  tpt_graph_t* g = program_graph();
  tpt_taps_t taps;
  if (!small_table(g, &taps)) return;
  check_result(g, tpt_taps_gather(g, parameter(g), 1, &taps, -7), (double[]){1, 4, 5, -7}, 4);
}

static void test_transpose_is_the_adjoint(void) {
  tpt_graph_t* g = program_graph();
  tpt_taps_t taps, back;
  if (!small_table(g, &taps) || !tpt_taps_transpose(g, &taps, 6, &back)) return;
  CHECK_EQ(back.size, 6);
  CHECK_EQ(back.count, 1);
  const int64_t want[6] = {-1, 0, -1, -1, 0, 1};
  for (int i = 0; i < 6; i++)
    CHECK_EQ(back.index[i], want[i]);
  CHECK_NEAR(back.weight[4], 2, 0);
  tpt_value_t y = tpt_hlo_slice_dim(g, parameter(g), 1, 2, 4, 1);  // 2, 3
  check_result(g, tpt_taps_sum(g, y, 1, &back), (double[]){0, 1, 0, 0, 4, 3}, 6);
}

int main(void) {
  RUN(test_take_of_regular_indexes_needs_no_gather);
  RUN(test_take_of_other_indexes_gathers);
  RUN(test_sum_weighs_and_leaves_gaps_out);
  RUN(test_gather_fills_gaps);
  RUN(test_transpose_is_the_adjoint);
  return TEST_RESULT;
}
