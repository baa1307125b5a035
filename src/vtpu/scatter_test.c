// scatter against a walk over the updates in order, over random dimension numbers, every monoid,
// replacement and general bodies; dropped windows, duplicates, index checks.
#include "vtpu/starts_probe.h"

static double combine(tpt_hlo_t op, double a, double b) {
  if (op == TPT_HLO_ADD) return a + b;
  if (op == TPT_HLO_MULTIPLY) return a * b;
  if (op == TPT_HLO_MAXIMUM) return a > b ? a : b;
  if (op == TPT_HLO_MINIMUM) return a < b ? a : b;
  if (op == TPT_HLO_AND) return (double)((int64_t)a & (int64_t)b);
  if (op == TPT_HLO_OR) return (double)((int64_t)a | (int64_t)b);
  return b;
}

static tpt_scatter_t scatter_form(const starts_case_t* c) {
  const tpt_gather_t* g = &c->form;
  tpt_scatter_t form = {.update_window_count = g->offset_count,
                        .inserted_count = g->collapsed_count,
                        .batching_count = g->batching_count,
                        .map_count = g->map_count,
                        .index_vector_dim = g->index_vector_dim,
                        .check = g->check};
  memcpy(form.update_window_dims, g->offset_dims, sizeof(g->offset_dims));
  memcpy(form.inserted_dims, g->collapsed_dims, sizeof(g->collapsed_dims));
  memcpy(form.input_batching, g->operand_batching, sizeof(g->operand_batching));
  memcpy(form.indices_batching, g->indices_batching, sizeof(g->indices_batching));
  memcpy(form.dims_to_operand, g->start_index_map, sizeof(g->start_index_map));
  return form;
}

static double wrap(tpt_dtype_t dtype, double x) {
  char element[16];
  probe_set(dtype, element, 0, x);
  return probe_get(dtype, element, 0);
}

// The walk in doubles, window after window; integers wrap after each step.
static double* scatter_reference(const starts_case_t* c, const void* x, const void* indices,
                                 const void* updates, tpt_hlo_t op) {
  int64_t count = tpt_type_count(&c->operand);
  int64_t dims[TPT_RANK_MAX], order[TPT_RANK_MAX], step[TPT_RANK_MAX] = {0};
  int rank = 0;
  double* want = malloc((size_t)(count + 1) * sizeof(*want));
  bool is_float = tpt_dtype_is_float(c->operand.dtype);
  for (int64_t i = 0; i < count; i++)
    want[i] = probe_get(c->operand.dtype, x, i);
  if (tpt_type_count(&c->result) == 0) return want;
  for (int is_window = 0; is_window < 2; is_window++) {
    for (int d = 0; d < c->result.rank; d++) {
      if (probe_has(c->form.offset_dims, c->form.offset_count, d) != is_window) continue;
      order[rank] = d;
      dims[rank++] = c->result.dims[d];
    }
  }
  do {
    int64_t at[TPT_RANK_MAX] = {0}, element = 0;
    for (int i = 0; i < rank; i++)
      at[order[i]] = step[i];
    for (int d = 0; d < rank; d++)
      element = element * c->result.dims[d] + at[d];
    int64_t to = probe_locate(c, indices, at, true);
    if (to < 0) continue;
    want[to] = combine(op, want[to], probe_get(c->operand.dtype, updates, element));
    if (!is_float) want[to] = wrap(c->operand.dtype, want[to]);
  } while (probe_advance(rank, dims, step));
  return want;
}

static void scatter_case(const starts_case_t* c, tpt_hlo_t op, double tolerance) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t x = tpt_graph_parameter(graph, &c->operand);
  tpt_value_t indices = tpt_graph_parameter(graph, &c->indices);
  tpt_value_t updates = tpt_graph_parameter(graph, &c->result);
  tpt_scatter_t form = scatter_form(c);
  tpt_value_t result = tpt_hlo_scatter(graph, x, indices, updates, &form, op);
  void* data = probe_random(&c->operand);
  void* index_data = probe_indices(c, false);
  void* update_data = probe_random(&c->result);
  double* want = scatter_reference(c, data, index_data, update_data, op);
  const void* in[3] = {data, index_data, update_data};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, result, in, &out))) {
    int wrong = 0;
    for (int64_t i = 0; i < tpt_type_count(&c->operand); i++)
      wrong +=
          !(fabs(probe_get(c->operand.dtype, out, i) - want[i]) <= tolerance * (1 + fabs(want[i])));
    CHECK_EQ(wrong, 0);
  }
  free(data);
  free(index_data);
  free(update_data);
  free(want);
  free(out);
  tpt_graph_release(graph);
}

static void test_scatter_matches_a_walk_for_floats(void) {
  static const tpt_hlo_t ops[5] = {TPT_HLO_ADD, TPT_HLO_MULTIPLY, TPT_HLO_MAXIMUM, TPT_HLO_MINIMUM,
                                   TPT_HLO_COUNT};
  static const struct {
    tpt_dtype_t dtype;
    double tolerance;
  } kinds[4] = {{TPT_F32, 1e-5}, {TPT_F64, 1e-13}, {TPT_BF16, 4e-2}, {TPT_F16, 4e-3}};
  for (int round = 0; round < 800; round++) {
    starts_case_t c = probe_starts_case(kinds[round % 4].dtype, round % 3 ? TPT_S32 : TPT_S64);
    scatter_case(&c, ops[round % 5], kinds[round % 4].tolerance);
  }
}

static void test_scatter_matches_a_walk_for_integers(void) {
  static const tpt_hlo_t ops[7] = {TPT_HLO_ADD, TPT_HLO_MULTIPLY, TPT_HLO_MAXIMUM, TPT_HLO_MINIMUM,
                                   TPT_HLO_AND, TPT_HLO_OR,       TPT_HLO_COUNT};
  static const tpt_dtype_t dtypes[4] = {TPT_S32, TPT_U8, TPT_S16, TPT_S64};
  for (int round = 0; round < 500; round++) {
    starts_case_t c = probe_starts_case(dtypes[round % 4], TPT_S32);
    scatter_case(&c, ops[round % 7], 0);
  }
}

static starts_case_t rows_case(tpt_dtype_t dtype, int64_t rows, int64_t width, int64_t count) {
  starts_case_t c = {.operand = tpt_type_make(dtype, 2, (int64_t[]){rows, width}),
                     .indices = tpt_type_make(TPT_S64, 1, (int64_t[]){count}),
                     .result = tpt_type_make(dtype, 2, (int64_t[]){count, width})};
  c.form = (tpt_gather_t){.offset_count = 1,
                          .offset_dims = {1},
                          .collapsed_count = 1,
                          .map_count = 1,
                          .index_vector_dim = 1,
                          .slice_sizes = {1, width}};
  return c;
}

static void test_scatter_of_many_rows_uses_the_pool(void) {
  starts_case_t c = rows_case(TPT_F32, 50, 600, 700);
  scatter_case(&c, TPT_HLO_ADD, 1e-4);
  c = rows_case(TPT_F32, 5000, 8, 20000);
  scatter_case(&c, TPT_HLO_ADD, 1e-4);
  c = rows_case(TPT_S32, 5000, 1, 60000);
  scatter_case(&c, TPT_HLO_COUNT, 0);
}

// 4096 ones onto one bf16 element: one by one the sum would stop at 256.
static void test_scatter_sums_halves_in_f32(void) {
  enum { COUNT = 4096 };
  starts_case_t c = rows_case(TPT_BF16, 2, 1, COUNT);
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t x = tpt_graph_parameter(graph, &c.operand);
  tpt_value_t indices = tpt_graph_parameter(graph, &c.indices);
  tpt_value_t updates = tpt_graph_parameter(graph, &c.result);
  tpt_scatter_t form = scatter_form(&c);
  uint16_t data[2] = {0, 0}, ones[COUNT];
  int64_t index_data[COUNT];
  for (int i = 0; i < COUNT; i++)
    ones[i] = 0x3F80, index_data[i] = 1;
  const void* in[3] = {data, index_data, ones};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, tpt_hlo_scatter(graph, x, indices, updates, &form, TPT_HLO_ADD), in,
                         &out)))
    CHECK(probe_get(TPT_BF16, out, 1) == COUNT && probe_get(TPT_BF16, out, 0) == 0);
  free(out);
  tpt_graph_release(graph);
}

static tpt_status_t run_checked(int64_t index, float* out_values) {
  starts_case_t c = rows_case(TPT_F32, 4, 1, 2);
  c.form.check = "index_put";
  tpt_graph_t* graph = NULL;
  TPT_TRY(tpt_graph_create(&graph));
  tpt_value_t x = tpt_graph_parameter(graph, &c.operand);
  tpt_value_t indices = tpt_graph_parameter(graph, &c.indices);
  tpt_value_t updates = tpt_graph_parameter(graph, &c.result);
  tpt_scatter_t form = scatter_form(&c);
  float data[4] = {10, 11, 12, 13}, update_data[2] = {1, 2};
  int64_t index_data[2] = {3, index};
  const void* in[3] = {data, index_data, update_data};
  void* out = NULL;
  tpt_value_t result = tpt_hlo_scatter(graph, x, indices, updates, &form, TPT_HLO_COUNT);
  tpt_status_t status = probe_run(graph, result, in, &out);
  if (out) memcpy(out_values, out, sizeof(data));
  free(out);
  tpt_graph_release(graph);
  return status;
}

static void test_scatter_check_fails_before_it_writes(void) {
  float values[4] = {0};
  CHECK_OK(run_checked(3, values));
  CHECK(values[3] == 2);  // the later update wins
  CHECK_FAILS(run_checked(4, values), TPT_OUT_OF_RANGE,
              "index_put: index 4 is out of bounds for dimension 0 with size 4");
  float untouched;
  memset(&untouched, 0xFF, sizeof(untouched));
  CHECK(memcmp(&values[3], &untouched, sizeof(untouched)) == 0);
}

// acc - 2 * update: order matters and no monoid fits.
static uint32_t body_make(tpt_graph_t* graph) {
  tpt_type_t scalar = tpt_type_scalar(TPT_F32), types[2] = {scalar, scalar};
  tpt_value_t args[2];
  tpt_region_begin(graph, types, 2, args);
  tpt_value_t twice = tpt_hlo_binary(graph, TPT_HLO_ADD, args[1], args[1]);
  tpt_value_t result = tpt_hlo_binary(graph, TPT_HLO_SUBTRACT, args[0], twice);
  return tpt_region_end(graph, &result, 1);
}

static void test_scatter_runs_general_bodies_in_order(void) {
  enum { ROWS = 40, COUNT = 700 };
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  starts_case_t c = rows_case(TPT_F32, ROWS, 3, COUNT);
  tpt_value_t x = tpt_graph_parameter(graph, &c.operand);
  tpt_value_t indices = tpt_graph_parameter(graph, &c.indices);
  tpt_value_t updates = tpt_graph_parameter(graph, &c.result);
  uint32_t body = body_make(graph);
  tpt_scatter_t form = scatter_form(&c);
  // The plain form makes the attributes; the node is then built again with the body.
  tpt_value_t plain = tpt_hlo_scatter(graph, x, indices, updates, &form, TPT_HLO_ADD);
  const tpt_node_t* node = tpt_graph_producer(graph, plain);
  tpt_value_t operands[3] = {x, indices, updates};
  tpt_node_params_t params = {.op = TPT_HLO_SCATTER,
                              .operands = operands,
                              .operand_count = 3,
                              .attrs = node->attrs,
                              .regions = &body,
                              .region_count = 1};
  tpt_value_t result = tpt_graph_append(graph, &params);
  float* data = probe_random(&c.operand);
  int64_t* index_data = probe_indices(&c, false);
  float* update_data = probe_random(&c.result);
  const void* in[3] = {data, index_data, update_data};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, result, in, &out))) {
    for (int i = 0; i < COUNT; i++)
      for (int j = 0; j < 3 && index_data[i] >= 0 && index_data[i] < ROWS; j++)
        data[index_data[i] * 3 + j] -= 2 * update_data[i * 3 + j];
    CHECK(memcmp(out, data, ROWS * 3 * sizeof(float)) == 0);
  }
  free(data);
  free(index_data);
  free(update_data);
  free(out);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_scatter_matches_a_walk_for_floats);
  RUN(test_scatter_matches_a_walk_for_integers);
  RUN(test_scatter_of_many_rows_uses_the_pool);
  RUN(test_scatter_sums_halves_in_f32);
  RUN(test_scatter_check_fails_before_it_writes);
  RUN(test_scatter_runs_general_bodies_in_order);
  return TEST_RESULT;
}
