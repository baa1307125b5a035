// reduce_window against the naive fold over random geometries, monoids and types; running folds; bodies.
#include "vtpu/kernel_probe.h"
#include "vtpu/window.h"

static int64_t linear(const tpt_type_t* type, const int64_t* at) {
  int64_t index = 0;
  for (int d = 0; d < type->rank; d++)
    index = index * type->dims[d] + at[d];
  return index;
}

static bool advance(int count, const int64_t* dims, int64_t* at) {
  for (int d = count - 1; d >= 0; d--) {
    if (++at[d] < dims[d]) return true;
    at[d] = 0;
  }
  return false;
}

static double combine(tpt_hlo_t op, double a, double b) {
  if (op == TPT_HLO_ADD) return a + b;
  if (op == TPT_HLO_MULTIPLY) return a * b;
  if (op == TPT_HLO_MAXIMUM) return a > b ? a : b;
  return a < b ? a : b;
}

// Random geometry whose results exist.
static bool window_random(tpt_type_t* type, tpt_pool_window_t* window) {
  type->rank = (int)probe_int(0, 4);
  tpt_pool_window_init(window);
  for (int d = 0; d < type->rank; d++) {
    type->dims[d] = probe_int(0, 19) == 0 ? 0 : probe_int(1, 9);
    if (probe_int(0, 2) == 0) continue;
    window->dims[d] = probe_int(1, 5);
    window->stride[d] = probe_int(1, 3);
    window->dilation[d] = probe_int(0, 2) ? 1 : probe_int(1, 3);
    window->base_dilation[d] = probe_int(0, 2) ? 1 : probe_int(1, 3);
    window->pad_low[d] = probe_int(-1, 4), window->pad_high[d] = probe_int(-1, 4);
    if (probe_int(0, 5) == 0) {  // a running fold
      bool is_forward = probe_int(0, 1);
      window->dims[d] = type->dims[d] + probe_int(0, 2);
      if (window->dims[d] < 1) window->dims[d] = 1;
      window->stride[d] = window->dilation[d] = window->base_dilation[d] = 1;
      window->pad_low[d] = is_forward ? window->dims[d] - 1 : 0;
      window->pad_high[d] = is_forward ? 0 : window->dims[d] - 1;
    }
    int64_t size = type->dims[d] > 0 ? (type->dims[d] - 1) * window->base_dilation[d] + 1 : 0;
    if (size + window->pad_low[d] + window->pad_high[d] < 0) return false;
  }
  return true;
}

static double fold(const tpt_type_t* type, const tpt_pool_window_t* window, const void* data,
                   const int64_t* at, tpt_hlo_t op, double start) {
  int64_t tap[TPT_RANK_MAX] = {0}, from[TPT_RANK_MAX];
  double sum = start;
  do {
    bool is_inside = true;
    for (int d = 0; d < type->rank; d++) {
      int64_t place = at[d] * window->stride[d] + tap[d] * window->dilation[d] - window->pad_low[d];
      is_inside &= place >= 0 && place % window->base_dilation[d] == 0 &&
                   place / window->base_dilation[d] < type->dims[d];
      from[d] = place / window->base_dilation[d];
    }
    if (is_inside) sum = combine(op, sum, probe_get(type->dtype, data, linear(type, from)));
  } while (advance(type->rank, window->dims, tap));
  return sum;
}

static void window_case(tpt_dtype_t dtype, tpt_hlo_t op, double tolerance) {
  tpt_type_t type = {.dtype = dtype}, scalar = tpt_type_scalar(dtype);
  tpt_pool_window_t window;
  if (!window_random(&type, &window)) return;
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t x = tpt_graph_parameter(graph, &type), start = tpt_graph_parameter(graph, &scalar);
  tpt_value_t result = tpt_hlo_reduce_window(graph, x, start, op, &window);
  tpt_type_t out_type = *tpt_graph_type(graph, result);
  char *data = probe_random(&type), *start_data = probe_random(&scalar);
  const void* in[2] = {data, start_data};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, result, in, &out)) && tpt_type_count(&out_type) > 0) {
    int64_t at[TPT_RANK_MAX] = {0}, i = 0;
    int wrong = 0;
    double first = probe_get(dtype, start_data, 0);
    do {
      double want = fold(&type, &window, data, at, op, first);
      if (!tpt_dtype_is_float(dtype)) {
        char element[16];
        probe_set(dtype, element, 0, want);
        want = probe_get(dtype, element, 0);
      }
      wrong += !(fabs(probe_get(dtype, out, i++) - want) <= tolerance * (1 + fabs(want)));
    } while (advance(out_type.rank, out_type.dims, at));
    CHECK_EQ(wrong, 0);
  }
  free(data);
  free(start_data);
  free(out);
  tpt_graph_release(graph);
}

static void test_reduce_window_matches_the_fold(void) {
  static const tpt_hlo_t ops[4] = {TPT_HLO_ADD, TPT_HLO_MAXIMUM, TPT_HLO_MINIMUM, TPT_HLO_MULTIPLY};
  for (int round = 0; round < 1200; round++) {
    tpt_hlo_t op = ops[round % 4];
    window_case(TPT_F32, op, 1e-5);
    if (round % 4 == 0) window_case(TPT_BF16, op, 1e-2);
    if (round % 4 == 1) window_case(TPT_F64, op, 1e-13);
    if (round % 4 != 3) window_case(TPT_S32, op, 0);
    if (round % 8 == 0) window_case(TPT_F16, TPT_HLO_MAXIMUM, 0);
  }
}

static void run_float(const tpt_type_t* type, const tpt_pool_window_t* window, tpt_hlo_t op,
                      float start, const float* data, float* out_values) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t scalar = tpt_type_scalar(TPT_F32);
  tpt_value_t x = tpt_graph_parameter(graph, type), s = tpt_graph_parameter(graph, &scalar);
  const void* in[2] = {data, &start};
  void* out = NULL;
  tpt_value_t result = tpt_hlo_reduce_window(graph, x, s, op, window);
  if (CHECK_OK(probe_run(graph, result, in, &out)))
    memcpy(out_values, out, (size_t)tpt_type_size(tpt_graph_type(graph, result)));
  free(out);
  tpt_graph_release(graph);
}

static void test_max_pool_lets_nan_win(void) {
  tpt_type_t type = tpt_type_make(TPT_F32, 2, (int64_t[]){2, 4});
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[0] = window.dims[1] = window.stride[0] = window.stride[1] = 2;
  float data[8] = {1, 2, NAN, 3, 4, 0, 9, 1}, out[2];
  run_float(&type, &window, TPT_HLO_MAXIMUM, -INFINITY, data, out);
  CHECK(out[0] == 4 && isnan(out[1]));
}

static void test_long_running_sum_is_linear(void) {
  enum { N = 200000 };
  tpt_type_t type = tpt_type_make(TPT_F32, 1, (int64_t[]){N});
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[0] = N;
  window.pad_low[0] = N - 1;
  float* data = malloc(N * sizeof(float));
  float* out = malloc(N * sizeof(float));
  for (int i = 0; i < N; i++)
    data[i] = 1;
  run_float(&type, &window, TPT_HLO_ADD, 0, data, out);  // quadratic work would not end
  CHECK(out[0] == 1 && out[N - 1] == N && out[N / 2] == N / 2 + 1);
  free(data);
  free(out);
}

static void test_large_planes_use_the_pool(void) {
  tpt_type_t type = tpt_type_make(TPT_F32, 4, (int64_t[]){8, 16, 40, 41});
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  for (int d = 2; d < 4; d++)
    window.dims[d] = 3, window.stride[d] = 2, window.pad_low[d] = 1;
  float* data = probe_random(&type);
  float* out = malloc(8 * 16 * 20 * 20 * sizeof(float));
  run_float(&type, &window, TPT_HLO_ADD, 0, data, out);
  int wrong = 0;
  int64_t at[4] = {0}, dims[4] = {8, 16, 20, 20}, i = 0;
  do {
    wrong += !(fabs(out[i++] - fold(&type, &window, data, at, TPT_HLO_ADD, 0)) < 1e-5);
  } while (advance(4, dims, at));
  CHECK_EQ(wrong, 0);
  free(data);
  free(out);
}

// Keeps the larger value and its place: two operands, a body that is no monoid.
static uint32_t body_make(tpt_graph_t* graph) {
  tpt_type_t f = tpt_type_scalar(TPT_F32), s = tpt_type_scalar(TPT_S32), types[4] = {f, s, f, s};
  tpt_value_t a[4];
  tpt_region_begin(graph, types, 4, a);
  tpt_value_t keeps = tpt_hlo_compare(graph, TPT_GE, a[0], a[2]);
  tpt_value_t results[2] = {tpt_hlo_select(graph, keeps, a[0], a[2]),
                            tpt_hlo_select(graph, keeps, a[1], a[3])};
  return tpt_region_end(graph, results, 2);
}

static void test_bodies_of_two_operands_run_in_window_order(void) {
  enum { N = 300 };
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t values = tpt_type_make(TPT_F32, 2, (int64_t[]){3, N}), places = values;
  tpt_type_t scalar = tpt_type_scalar(TPT_F32), index = tpt_type_scalar(TPT_S32);
  places.dtype = TPT_S32;
  tpt_value_t xs[2] = {tpt_graph_parameter(graph, &values), tpt_graph_parameter(graph, &places)};
  tpt_value_t starts[2] = {tpt_graph_parameter(graph, &scalar), tpt_graph_parameter(graph, &index)};
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[1] = 5, window.stride[1] = 2, window.pad_low[1] = 3;
  uint32_t body = body_make(graph);
  tpt_value_t result = tpt_hlo_reduce_window_n(graph, xs, starts, 2, &window, body);
  int64_t outputs = tpt_graph_type(graph, result)->dims[1];
  float* x = probe_random(&values);
  int32_t place[3 * N], none = -1;
  for (int i = 0; i < 3 * N; i++)
    place[i] = i, x[i] = (float)(int)(x[i] * 4);  // many ties
  float low = -INFINITY;
  const void* in[4] = {x, place, &low, &none};
  void* out[2] = {NULL, NULL};
  if (CHECK_OK(probe_run(graph, result, in, out))) {
    int wrong = 0;
    for (int64_t row = 0; row < 3; row++) {
      for (int64_t j = 0; j < outputs; j++) {
        int32_t best = -1;
        for (int64_t i = 2 * j - 3; i < 2 * j + 2; i++)
          if (i >= 0 && i < N && (best < 0 || x[row * N + i] > x[best]))
            best = (int32_t)(row * N + i);
        wrong += ((int32_t*)out[1])[row * outputs + j] != best;
      }
    }
    CHECK_EQ(wrong, 0);
  }
  free(x);
  free(out[0]);
  free(out[1]);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_reduce_window_matches_the_fold);
  RUN(test_max_pool_lets_nan_win);
  RUN(test_long_running_sum_is_linear);
  RUN(test_large_planes_use_the_pool);
  RUN(test_bodies_of_two_operands_run_in_window_order);
  return TEST_RESULT;
}
