// cholesky: the factor times its adjoint is the matrix; triangles, types, batches, failures.
#include "vtpu/kernel_probe.h"

// Real and imaginary part of element i.
static void get(tpt_dtype_t dtype, const void* data, int64_t i, double* out) {
  tpt_number_t number =
      tpt_number_load(dtype, (const char*)data + i * (int64_t)tpt_dtype_size(dtype));
  out[0] = number.f;
  out[1] = tpt_dtype_is_complex(dtype) ? number.im : 0;
}

static void set(tpt_dtype_t dtype, void* data, int64_t i, const double* value) {
  tpt_number_t number = {.dtype = TPT_C128, .f = value[0], .im = value[1]};
  if (!tpt_dtype_is_complex(dtype)) number.dtype = TPT_F64;
  tpt_number_store(&number, dtype, (char*)data + i * (int64_t)tpt_dtype_size(dtype));
}

static void* run(const tpt_type_t* type, bool lower, const void* data) {
  tpt_graph_t* graph = NULL;
  void* out = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return NULL;
  tpt_value_t x = tpt_graph_parameter(graph, type);
  const void* in[1] = {data};
  (void)CHECK_OK(probe_run(graph, tpt_hlo_cholesky(graph, x, lower), in, &out));
  tpt_graph_release(graph);
  return out;
}

static void factor_case(tpt_dtype_t dtype, int64_t batch, int64_t n, double tolerance) {
  tpt_type_t type = tpt_type_make(dtype, 3, (int64_t[]){batch, n, n});
  char* data = probe_random(&type);
  bool lower = probe_int(0, 1);
  for (int64_t b = 0; b < batch; b++) {  // Hermitian and dominated by its diagonal
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j <= i; j++) {
        double value[2];
        get(dtype, data, (b * n + i) * n + j, value);
        if (i == j) value[0] = 2 * (double)n, value[1] = 0;
        set(dtype, data, (b * n + i) * n + j, value);
        value[1] = -value[1];
        set(dtype, data, (b * n + j) * n + i, value);
      }
    }
  }
  // The other triangle must not matter.
  char* half = malloc((size_t)tpt_type_size(&type) + 1);
  memcpy(half, data, (size_t)tpt_type_size(&type));
  for (int64_t i = 0; i < batch * n * n; i++) {
    bool is_other = lower ? i % n > i / n % n : i % n < i / n % n;
    if (is_other) set(dtype, half, i, (double[]){NAN, NAN});
  }
  char* out = run(&type, lower, half);
  double worst = 0;
  for (int64_t i = 0; out && i < batch * n * n; i++) {
    int64_t row = i / n % n, col = i % n, base = i / (n * n) * n * n;
    double want[2], sum[2] = {0, 0}, x[2], y[2];
    get(dtype, data, i, want);
    for (int64_t k = 0; k < n; k++) {  // (L L^H)[row, col] or (U^H U)[row, col]
      get(dtype, out, base + (lower ? row * n + k : k * n + row), x);
      get(dtype, out, base + (lower ? col * n + k : k * n + col), y);
      double sign = lower ? 1 : -1;
      sum[0] += x[0] * y[0] + x[1] * y[1];
      sum[1] += sign * (x[1] * y[0] - x[0] * y[1]);
    }
    double error = fabs(sum[0] - want[0]) + fabs(sum[1] - want[1]);
    if (!(error <= worst)) worst = error;
  }
  CHECK_NEAR(worst / (double)(n + 1), 0, tolerance);
  free(data);
  free(half);
  free(out);
}

static void test_cholesky_multiplies_back(void) {
  for (int round = 0; round < 20; round++) {
    factor_case(TPT_F32, probe_int(0, 3), probe_int(1, 20), 1e-6);
    factor_case(TPT_F64, probe_int(0, 3), probe_int(1, 20), 1e-14);
    factor_case(TPT_C64, probe_int(1, 3), probe_int(1, 9), 1e-6);
    factor_case(TPT_C128, probe_int(1, 3), probe_int(1, 9), 1e-14);
    factor_case(TPT_BF16, probe_int(1, 3), probe_int(1, 9), 4e-2);
  }
  factor_case(TPT_F32, 1, 150, 1e-6);
}

static void test_indefinite_matrices_give_nan(void) {
  tpt_type_t type = tpt_type_make(TPT_F32, 3, (int64_t[]){2, 2, 2});
  float data[8] = {1, 2, 2, 1, 4, 0, 0, 9};  // the second one is definite
  float* out = run(&type, true, data);
  if (out) {
    CHECK(isnan(out[0]) && isnan(out[2]) && isnan(out[3]) && out[1] == 0);
    CHECK(out[4] == 2 && out[5] == 0 && out[6] == 0 && out[7] == 3);
  }
  free(out);
}

static void test_integers_are_refused_by_the_graph_or_the_kernel(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t type = tpt_type_make(TPT_S32, 2, (int64_t[]){2, 2});
  tpt_value_t x = tpt_graph_parameter(graph, &type);
  int32_t data[4] = {1, 0, 0, 1};
  const void* in[1] = {data};
  void* out = NULL;
  tpt_status_t status = probe_run(graph, tpt_hlo_cholesky(graph, x, true), in, &out);
  CHECK(tpt_status_code(status) != TPT_OK);
  tpt_status_release(status);
  free(out);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_cholesky_multiplies_back);
  RUN(test_indefinite_matrices_give_nan);
  RUN(test_integers_are_refused_by_the_graph_or_the_kernel);
  return TEST_RESULT;
}
