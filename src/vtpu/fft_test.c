// fft in its four kinds over one to three dimensions: against the definition, and there and back.
#include <complex.h>

#include "vtpu/kernel_probe.h"

static tpt_type_t run(const tpt_type_t* type, tpt_fft_t kind, const int64_t* length, int count,
                      const void* data, void** out) {
  tpt_graph_t* graph = NULL;
  *out = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return *type;
  tpt_value_t x = tpt_graph_parameter(graph, type);
  const void* in[1] = {data};
  tpt_value_t result = tpt_hlo_fft(graph, x, kind, length, count);
  (void)CHECK_OK(probe_run(graph, result, in, out));
  tpt_type_t out_type = *tpt_graph_type(graph, result);
  tpt_graph_release(graph);
  return out_type;
}

// Element of the forward transform over the last two dimensions [n0, n1] of a complex plane.
static double _Complex forward(const float _Complex* x, int64_t n0, int64_t n1, int64_t k0,
                               int64_t k1) {
  double _Complex sum = 0;
  double turn = -2 * acos(-1.0);
  for (int64_t i = 0; i < n0; i++)
    for (int64_t j = 0; j < n1; j++)
      sum += x[i * n1 + j] *
             cexp(turn * ((double)(i * k0) / (double)n0 + (double)(j * k1) / (double)n1) * I);
  return sum;
}

static void test_forward_matches_the_definition(void) {
  for (int64_t n1 = 1; n1 < 9; n1++) {
    int64_t n0 = 1 + n1 * 3 % 5, dims[3] = {3, n0, n1};
    tpt_type_t type = tpt_type_make(TPT_C64, 3, dims);
    float _Complex* data = probe_random(&type);
    void* out = NULL;
    run(&type, TPT_FFT, dims + 1, 2, data, &out);
    double worst = 0;
    for (int64_t i = 0; out && i < 3 * n0 * n1; i++) {
      int64_t plane = i / (n0 * n1) * n0 * n1;
      double _Complex want = forward(data + plane, n0, n1, i / n1 % n0, i % n1);
      double error = cabs(want - ((float _Complex*)out)[i]);
      if (!(error <= worst)) worst = error;
    }
    CHECK_NEAR(worst, 0, 1e-5);
    free(data);
    free(out);
  }
}

static void test_real_transform_is_half_of_the_complex_one(void) {
  for (int64_t n = 1; n < 9; n++) {
    int64_t dims[2] = {4, n};
    tpt_type_t type = tpt_type_make(TPT_F32, 2, dims);
    float* data = probe_random(&type);
    float _Complex wide[4 * 9];
    for (int64_t i = 0; i < 4 * n; i++)
      wide[i] = data[i];
    void* out = NULL;
    tpt_type_t half = run(&type, TPT_RFFT, dims, 2, data, &out);
    CHECK_EQ(half.dims[1], n / 2 + 1);
    for (int64_t k0 = 0; k0 < 4; k0++)
      for (int64_t k1 = 0; out && k1 < half.dims[1]; k1++)
        CHECK_NEAR(
            cabs(forward(wide, 4, n, k0, k1) - ((float _Complex*)out)[k0 * half.dims[1] + k1]), 0,
            1e-5);
    void* back = NULL;
    run(&half, TPT_IRFFT, dims, 2, out, &back);
    for (int64_t i = 0; back && i < 4 * n; i++)
      CHECK_NEAR(((float*)back)[i], data[i], 1e-6);
    free(data);
    free(out);
    free(back);
  }
}

static void test_inverse_undoes_the_forward_transform(void) {
  int64_t dims[4] = {2, 3, 5, 37};
  tpt_type_t type = tpt_type_make(TPT_C128, 4, dims);
  double* data = probe_random(&type);
  for (int count = 1; count <= 3; count++) {
    void *out = NULL, *back = NULL;
    run(&type, TPT_FFT, dims + 4 - count, count, data, &out);
    run(&type, TPT_IFFT, dims + 4 - count, count, out, &back);
    double worst = 0;
    for (int64_t i = 0; back && i < 2 * tpt_type_count(&type); i++)
      worst = fmax(worst, fabs(((double*)back)[i] - data[i]));
    CHECK_NEAR(worst, 0, 1e-13);
    free(out);
    free(back);
  }
  free(data);
}

static void test_empty_batches_are_nothing(void) {
  int64_t dims[2] = {0, 8};
  tpt_type_t type = tpt_type_make(TPT_C64, 2, dims);
  void* out = NULL;
  run(&type, TPT_FFT, dims + 1, 1, &dims, &out);
  CHECK(out != NULL);
  free(out);
}

int main(void) {
  RUN(test_forward_matches_the_definition);
  RUN(test_real_transform_is_half_of_the_complex_one);
  RUN(test_inverse_undoes_the_forward_transform);
  RUN(test_empty_batches_are_nothing);
  return TEST_RESULT;
}
