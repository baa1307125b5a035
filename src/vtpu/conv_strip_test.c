// Convolutions on each unit of this CPU against the same convolution on BLAS, at sizes with several
// regions, chunks and blocks of K, in the forms of training: forward, by input, by weight.
#include "vtpu/kernel_probe.h"
#include "vtpu/strip.h"

typedef struct sample {
  tpt_type_t in, kernel;
  tpt_conv_t conv;
  double count;  // terms of a sum
} sample_t;

static float* run(const sample_t* s, const void* x, const void* w, int level, int64_t* out_count) {
  tpt_graph_t* graph = NULL;
  void* out = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return NULL;
  tpt_value_t a = tpt_graph_parameter(graph, &s->in), b = tpt_graph_parameter(graph, &s->kernel);
  tpt_value_t y = tpt_hlo_convolution(graph, a, b, &s->conv);
  const void* in[2] = {x, w};
  vtpu_strip_limit(level);
  if (CHECK_OK(probe_run(graph, y, in, &out)))
    *out_count = tpt_type_count(tpt_graph_type(graph, y));
  vtpu_strip_limit(VTPU_STRIP_LEVEL_COUNT - 1);
  tpt_graph_release(graph);
  return out;
}

static void compare(const sample_t* s) {
  void *x = probe_random(&s->in), *w = probe_random(&s->kernel);
  int64_t count = 0;
  float* want = run(s, x, w, VTPU_STRIP_NONE, &count);
  for (int level = VTPU_STRIP_F32_AVX512; level < VTPU_STRIP_LEVEL_COUNT && want; level++) {
    if (!vtpu_strip_level(level)) continue;  // not on this CPU
    float* got = run(s, x, w, level, &count);
    double worst = 0;
    for (int64_t i = 0; got && i < count; i++)
      if (!(fabs(got[i] - want[i]) <= worst)) worst = fabs(got[i] - want[i]);
    CHECK_NEAR(worst, 0, 2e-6 * sqrt(s->count) + 1e-6 * s->count / 8);
    free(got);
  }
  free(want), free(x), free(w);
}

// Images and weights as PyTorch lays them out.
static sample_t forward(int64_t c, int64_t h, int64_t o, int64_t taps, int64_t stride) {
  sample_t s = {.in = tpt_type_make(TPT_F32, 4, (int64_t[]){3, c, h, h + 1}),
                .kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){o, c, taps, taps}),
                .count = (double)(c * taps * taps)};
  s.conv = (tpt_conv_t){.spatial_count = 2,
                        .input_feature = 1,
                        .input_spatial = {2, 3},
                        .kernel_input = 1,
                        .kernel_spatial = {2, 3},
                        .output_feature = 1,
                        .output_spatial = {2, 3},
                        .feature_groups = 1,
                        .batch_groups = 1};
  for (int d = 0; d < 2; d++) {
    s.conv.stride[d] = stride, s.conv.lhs_dilation[d] = s.conv.rhs_dilation[d] = 1;
    s.conv.pad_low[d] = s.conv.pad_high[d] = taps / 2;
  }
  return s;
}

// The gradient by the input: outputs dilated by the stride, windows reversed.
static sample_t by_input(int64_t c, int64_t h, int64_t o, int64_t taps, int64_t stride) {
  sample_t s = forward(c, h, o, taps, 1);
  s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){3, o, h / stride, h / stride});
  s.conv.kernel_input = 0, s.conv.kernel_output = 1;
  s.count = (double)(o * taps * taps);
  for (int d = 0; d < 2; d++)
    s.conv.lhs_dilation[d] = stride, s.conv.reversal[d] = true;
  return s;
}

// The gradient by the weights: batch and features change places, the outputs are the window.
static sample_t by_weight(int64_t c, int64_t h, int64_t o, int64_t taps, int64_t stride) {
  sample_t s = forward(c, h, o, taps, 1);
  int64_t places = (h - 1) / stride + 1;
  s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){3, o, places, h / stride + 1});
  s.conv.input_batch = 1, s.conv.input_feature = 0;
  s.conv.kernel_input = 0, s.conv.kernel_output = 1;
  s.conv.output_batch = 1, s.conv.output_feature = 0;
  s.count = 3.0 * (double)(places * places);
  for (int d = 0; d < 2; d++)
    s.conv.rhs_dilation[d] = stride;
  return s;
}

static void test_forms_of_training_agree_with_blas(void) {
  static const int64_t shapes[][5] = {{70, 14, 45, 3, 1}, {40, 7, 600, 3, 1}, {130, 20, 20, 1, 1},
                                      {20, 30, 33, 3, 2}, {3, 40, 16, 7, 2},  {48, 9, 3, 5, 1}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
    const int64_t* p = shapes[i];
    for (int precision = 0; precision < 3; precision++) {
      sample_t s[3] = {forward(p[0], p[1], p[2], p[3], p[4]),
                       by_input(p[0], p[1], p[2], p[3], p[4]),
                       by_weight(p[0], p[1], p[2], p[3], p[4])};
      for (int form = 0; form < 3; form++) {
        s[form].conv.precision = (tpt_precision_t)precision;
        compare(&s[form]);
      }
    }
  }
}

int main(void) {
  RUN(test_forms_of_training_agree_with_blas);
  return TEST_RESULT;
}
