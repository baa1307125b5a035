// select_and_scatter against the naive scan: ties, NaN, padding, overlapping windows, types.
#include "vtpu/kernel_probe.h"
#include "vtpu/window.h"

static bool advance(int count, const int64_t* dims, int64_t* at) {
  for (int d = count - 1; d >= 0; d--) {
    if (++at[d] < dims[d]) return true;
    at[d] = 0;
  }
  return false;
}

static int64_t linear(const tpt_type_t* type, const int64_t* at) {
  int64_t index = 0;
  for (int d = 0; d < type->rank; d++)
    index = index * type->dims[d] + at[d];
  return index;
}

static int64_t selected(const tpt_type_t* type, const tpt_pool_window_t* window, const void* data,
                        const int64_t* at, bool is_max) {
  int64_t tap[TPT_RANK_MAX] = {0}, from[TPT_RANK_MAX], best = -1;
  do {
    bool is_inside = true;
    for (int d = 0; d < type->rank; d++) {
      from[d] = at[d] * window->stride[d] + tap[d] - window->pad_low[d];
      is_inside &= from[d] >= 0 && from[d] < type->dims[d];
    }
    if (!is_inside) continue;
    int64_t candidate = linear(type, from);
    double a = best < 0 ? 0 : probe_get(type->dtype, data, best);
    double b = probe_get(type->dtype, data, candidate);
    if (best < 0 || !(is_max ? a >= b : a <= b)) best = candidate;
  } while (advance(type->rank, window->dims, tap));
  return best;
}

static void select_case(tpt_dtype_t dtype, double tolerance) {
  tpt_type_t type = {.dtype = dtype, .rank = (int)probe_int(1, 4)}, out = {.dtype = dtype};
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  out.rank = type.rank;
  for (int d = 0; d < type.rank; d++) {
    type.dims[d] = probe_int(1, 7);
    if (probe_int(0, 1)) {
      window.dims[d] = probe_int(1, 3), window.stride[d] = probe_int(1, 3);
      window.pad_low[d] = probe_int(0, 2), window.pad_high[d] = probe_int(0, 2);
    }
    int64_t padded = type.dims[d] + window.pad_low[d] + window.pad_high[d];
    out.dims[d] = padded < window.dims[d] ? 0 : (padded - window.dims[d]) / window.stride[d] + 1;
  }
  bool is_max = probe_int(0, 1);
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t scalar = tpt_type_scalar(dtype);
  tpt_value_t x = tpt_graph_parameter(graph, &type), source = tpt_graph_parameter(graph, &out);
  tpt_value_t start = tpt_graph_parameter(graph, &scalar);
  tpt_value_t result =
      tpt_hlo_select_and_scatter(graph, x, source, start, is_max ? TPT_GE : TPT_LE, &window);
  char *data = probe_random(&type), *source_data = probe_random(&out);
  char* start_data = probe_random(&scalar);
  for (int64_t i = 0; i < tpt_type_count(&type); i++) {  // ties and NaN
    double value = floor(probe_get(dtype, data, i) * 4);
    if (tpt_dtype_is_float(dtype) && probe_int(0, 9) == 0) value = NAN;
    probe_set(dtype, data, i, value);
  }
  const void* in[3] = {data, source_data, start_data};
  void* got = NULL;
  if (CHECK_OK(probe_run(graph, result, in, &got))) {
    int64_t count = tpt_type_count(&type), at[TPT_RANK_MAX] = {0}, i = 0;
    double* want = malloc((size_t)count * sizeof(*want));
    for (int64_t k = 0; k < count; k++)
      want[k] = probe_get(dtype, start_data, 0);
    do {
      if (tpt_type_count(&out) == 0) break;
      int64_t best = selected(&type, &window, data, at, is_max);
      if (best >= 0) want[best] += probe_get(dtype, source_data, i);
      i++;
    } while (advance(out.rank, out.dims, at));
    int wrong = 0;
    for (int64_t k = 0; k < count; k++)
      wrong += !(fabs(probe_get(dtype, got, k) - want[k]) <= tolerance * (1 + fabs(want[k])));
    CHECK_EQ(wrong, 0);
    free(want);
  }
  free(data);
  free(source_data);
  free(start_data);
  free(got);
  tpt_graph_release(graph);
}

static void test_select_and_scatter_matches_the_scan(void) {
  for (int round = 0; round < 400; round++) {
    select_case(TPT_F32, 1e-5);
    if (round % 4 == 0) select_case(TPT_BF16, 1e-2);
    if (round % 4 == 1) select_case(TPT_F64, 1e-13);
    if (round % 4 == 2) select_case(TPT_S32, 0);
    if (round % 4 == 3) select_case(TPT_F16, 2e-3);
  }
}

static void test_first_maximum_wins(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t type = tpt_type_make(TPT_F32, 1, (int64_t[]){4});
  tpt_type_t out = tpt_type_make(TPT_F32, 1, (int64_t[]){1}), scalar = tpt_type_scalar(TPT_F32);
  tpt_value_t x = tpt_graph_parameter(graph, &type), source = tpt_graph_parameter(graph, &out);
  tpt_value_t start = tpt_graph_parameter(graph, &scalar);
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[0] = 4;
  float data[4] = {1, 3, 3, 2}, source_data = 5, zero = 0;
  const void* in[3] = {data, &source_data, &zero};
  void* got = NULL;
  tpt_value_t result = tpt_hlo_select_and_scatter(graph, x, source, start, TPT_GE, &window);
  if (CHECK_OK(probe_run(graph, result, in, &got))) {
    const float* y = got;
    CHECK(y[0] == 0 && y[1] == 5 && y[2] == 0 && y[3] == 0);
  }
  free(got);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_select_and_scatter_matches_the_scan);
  RUN(test_first_maximum_wins);
  return TEST_RESULT;
}
