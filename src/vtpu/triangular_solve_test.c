// triangular_solve: the solution times the matrix is the right-hand side, in all forms and types.
#include <complex.h>

#include "vtpu/kernel_probe.h"

static double _Complex get(tpt_dtype_t dtype, const void* data, int64_t i) {
  tpt_number_t number =
      tpt_number_load(dtype, (const char*)data + i * (int64_t)tpt_dtype_size(dtype));
  return number.f + (tpt_dtype_is_complex(dtype) ? number.im : 0) * I;
}

typedef tpt_triangular_t form_t;

// Element (i, j) of op(a).
static double _Complex element(const form_t* form, tpt_dtype_t dtype, const void* a, int64_t n,
                               int64_t i, int64_t j) {
  bool is_turned = form->transpose != TPT_NO_TRANSPOSE;
  int64_t row = is_turned ? j : i, col = is_turned ? i : j;
  if (row == col && form->unit_diagonal) return 1;
  if (form->lower ? row < col : row > col) return 0;
  double _Complex value = get(dtype, a, row * n + col);
  return form->transpose == TPT_ADJOINT_A ? conj(value) : value;
}

static void solve_case(tpt_dtype_t dtype, const form_t* form, int64_t n, int64_t other,
                       double tolerance) {
  int64_t batch = probe_int(1, 3), rows = form->left ? n : other, cols = form->left ? other : n;
  tpt_type_t a_type = tpt_type_make(dtype, 3, (int64_t[]){batch, n, n});
  tpt_type_t b_type = tpt_type_make(dtype, 3, (int64_t[]){batch, rows, cols});
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t a = tpt_graph_parameter(graph, &a_type), b = tpt_graph_parameter(graph, &b_type);
  char *a_data = probe_random(&a_type), *b_data = probe_random(&b_type);
  size_t size = tpt_dtype_size(dtype);
  for (int64_t i = 0; i < batch * n * n; i++) {
    tpt_number_t number = {.dtype = TPT_F64, .f = 2 + (double)(i % 3)};
    if (i / n % n == i % n) tpt_number_store(&number, dtype, a_data + (size_t)i * size);
    double _Complex scaled = get(dtype, a_data, i) / (double)n;
    number = (tpt_number_t){.dtype = TPT_C128, .f = creal(scaled), .im = cimag(scaled)};
    if (!tpt_dtype_is_complex(dtype)) number.dtype = TPT_F64;
    if (i / n % n != i % n) tpt_number_store(&number, dtype, a_data + (size_t)i * size);
  }
  const void* in[2] = {a_data, b_data};
  void* out = NULL;
  tpt_value_t result = tpt_hlo_triangular_solve(graph, a, b, form);
  double worst = 0;
  if (CHECK_OK(probe_run(graph, result, in, &out))) {
    for (int64_t i = 0; i < batch * rows * cols; i++) {
      int64_t at = i / (rows * cols), row = i / cols % rows, col = i % cols;
      const char* matrix = a_data + (size_t)(at * n * n) * size;
      double _Complex sum = 0;
      for (int64_t k = 0; k < n; k++)
        sum += form->left ? element(form, dtype, matrix, n, row, k) *
                                get(dtype, out, (at * rows + k) * cols + col)
                          : get(dtype, out, (at * rows + row) * cols + k) *
                                element(form, dtype, matrix, n, k, col);
      double error = cabs(sum - get(dtype, b_data, i));
      if (!(error <= worst)) worst = error;
    }
  }
  CHECK_NEAR(worst, 0, tolerance);
  free(a_data);
  free(b_data);
  free(out);
  tpt_graph_release(graph);
}

static void test_solution_satisfies_the_equations(void) {
  for (int bits = 0; bits < 24; bits++) {
    form_t form = {bits & 1, bits & 2, bits & 4, TPT_NO_TRANSPOSE + bits / 8};
    solve_case(TPT_F32, &form, probe_int(1, 12), probe_int(0, 9), 1e-5);
    solve_case(TPT_F64, &form, probe_int(1, 12), probe_int(1, 9), 1e-12);
    solve_case(TPT_C64, &form, probe_int(1, 7), probe_int(1, 5), 1e-5);
    solve_case(TPT_C128, &form, probe_int(1, 7), probe_int(1, 5), 1e-12);
    solve_case(TPT_BF16, &form, probe_int(1, 7), probe_int(1, 5), 5e-2);
    solve_case(TPT_F32, &form, 20, 200, 1e-5);  // several stretches
  }
}

int main(void) {
  RUN(test_solution_satisfies_the_equations);
  return TEST_RESULT;
}
