// convolution against the naive sum over hundreds of random configurations: dimension numbers, strides,
// paddings (negative too), dilations, reversal, groups, zero to three spatial dimensions, precisions.
#include "vtpu/kernel_probe.h"
#include "vtpu/strip.h"

typedef struct sample {
  tpt_type_t in, kernel, out;
  tpt_conv_t conv;
  void *x, *w, *y;
} sample_t;

static double round_bf16(double x) {
  float in = (float)x, out;
  vtpu_round_to_bf16(&in, &out, 1);
  return out;
}

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

// One output element by the definition.
static double element(const sample_t* s, const int64_t* at) {
  const tpt_conv_t* c = &s->conv;
  bool is_rounded = s->in.dtype == TPT_F32 && c->precision == TPT_PRECISION_DEFAULT;
  int64_t batch = at[c->output_batch], feature = at[c->output_feature];
  int64_t outputs = s->out.dims[c->output_feature], features = s->kernel.dims[c->kernel_input];
  int64_t window[TPT_SPATIAL_MAX], dims[TPT_SPATIAL_MAX + 1];
  int64_t k[TPT_SPATIAL_MAX + 1] = {0};
  int64_t feature_group = feature / (outputs / c->feature_groups);
  int64_t batch_group = feature / (outputs / c->batch_groups);
  if (c->batch_groups > 1) batch += batch_group * s->out.dims[c->output_batch];
  dims[0] = features;
  int64_t terms = features;
  for (int d = 0; d < c->spatial_count; d++) {
    dims[d + 1] = window[d] = s->kernel.dims[c->kernel_spatial[d]];
    terms *= window[d];
  }
  double sum = 0;
  if (terms == 0) return 0;
  do {
    int64_t in_at[TPT_RANK_MAX], kernel_at[TPT_RANK_MAX];
    in_at[c->input_batch] = batch;
    in_at[c->input_feature] = k[0] + feature_group * (c->feature_groups > 1 ? features : 0);
    kernel_at[c->kernel_input] = k[0];
    kernel_at[c->kernel_output] = feature;
    bool is_inside = true;
    for (int d = 0; d < c->spatial_count; d++) {
      int64_t place =
          at[c->output_spatial[d]] * c->stride[d] + k[d + 1] * c->rhs_dilation[d] - c->pad_low[d];
      is_inside &= place >= 0 && place % c->lhs_dilation[d] == 0 &&
                   place / c->lhs_dilation[d] < s->in.dims[c->input_spatial[d]];
      in_at[c->input_spatial[d]] = place / c->lhs_dilation[d];
      kernel_at[c->kernel_spatial[d]] = c->reversal[d] ? window[d] - 1 - k[d + 1] : k[d + 1];
    }
    if (!is_inside) continue;
    double x = probe_get(s->in.dtype, s->x, linear(&s->in, in_at));
    double w = probe_get(s->kernel.dtype, s->w, linear(&s->kernel, kernel_at));
    sum += is_rounded ? round_bf16(x) * round_bf16(w) : x * w;
  } while (advance(c->spatial_count + 1, dims, k));
  return sum;
}

static double worst_error(const sample_t* s) {
  if (tpt_type_count(&s->out) == 0) return 0;
  int64_t at[TPT_RANK_MAX] = {0}, i = 0;
  double worst = 0;
  double scale =
      1 + (double)tpt_type_count(&s->kernel) / (double)s->out.dims[s->conv.output_feature] / 8;
  do {
    double error = fabs(element(s, at) - probe_get(s->out.dtype, s->y, i++)) / scale;
    if (!(error <= worst)) worst = error;
  } while (advance(s->out.rank, s->out.dims, at));
  return worst;
}

static void sample_run(sample_t* s) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t x = tpt_graph_parameter(graph, &s->in), w = tpt_graph_parameter(graph, &s->kernel);
  tpt_value_t result = tpt_hlo_convolution(graph, x, w, &s->conv);
  s->x = probe_random(&s->in);
  s->w = probe_random(&s->kernel);
  const void* in[2] = {s->x, s->w};
  s->out = *tpt_graph_type(graph, result);
  if (!CHECK_OK(probe_run(graph, result, in, &s->y))) s->y = NULL;
  tpt_graph_release(graph);
}

static void sample_check(sample_t* s, double tolerance) {
  sample_run(s);
  if (s->y) {
    double error = worst_error(s);
    CHECK_NEAR(error, 0, tolerance);
    if (!(error <= tolerance)) {
      char text[3][128];
      fprintf(stderr, "  %s * %s -> %s, groups %d %d\n", tpt_type_print(&s->in, text[0], 128),
              tpt_type_print(&s->kernel, text[1], 128), tpt_type_print(&s->out, text[2], 128),
              (int)s->conv.feature_groups, (int)s->conv.batch_groups);
    }
  }
  free(s->x);
  free(s->w);
  free(s->y);
}

// Deals batch, feature and spatial roles to positions; standard (NC...) half of the time.
static void deal(int spatial_count, int64_t* a, int64_t* b, int64_t* spatial, bool is_standard) {
  int64_t order[TPT_SPATIAL_MAX + 2];
  for (int i = 0; i < spatial_count + 2; i++)
    order[i] = i;
  for (int i = spatial_count + 1; i > 0 && !is_standard; i--) {
    int j = (int)probe_int(0, i);
    int64_t x = order[i];
    order[i] = order[j], order[j] = x;
  }
  *a = order[0], *b = order[1];
  for (int d = 0; d < spatial_count; d++)
    spatial[d] = order[d + 2];
}

// Random geometry; false when some output dimension would be negative.
static bool sample_random(sample_t* s, tpt_dtype_t dtype, tpt_precision_t precision,
                          int64_t extent) {
  memset(s, 0, sizeof(*s));
  tpt_conv_t* c = &s->conv;
  c->precision = precision;
  c->spatial_count = (int)probe_int(0, 3);
  bool is_standard = probe_int(0, 1);
  deal(c->spatial_count, &c->input_batch, &c->input_feature, c->input_spatial, is_standard);
  deal(c->spatial_count, &c->kernel_output, &c->kernel_input, c->kernel_spatial, is_standard);
  deal(c->spatial_count, &c->output_batch, &c->output_feature, c->output_spatial, is_standard);
  c->feature_groups = probe_int(0, 3) == 0 ? probe_int(2, 4) : 1;
  c->batch_groups = c->feature_groups == 1 && probe_int(0, 3) == 0 ? probe_int(2, 3) : 1;
  int64_t features = probe_int(0, 15) == 0 ? 0 : probe_int(1, 5);
  int64_t outputs = probe_int(1, 4) * c->feature_groups * c->batch_groups;
  s->in.dtype = s->kernel.dtype = dtype;
  s->in.rank = s->kernel.rank = c->spatial_count + 2;
  s->in.dims[c->input_batch] = probe_int(probe_int(0, 15) > 0, 4) * c->batch_groups;
  s->in.dims[c->input_feature] = features * c->feature_groups;
  s->kernel.dims[c->kernel_input] = features;
  s->kernel.dims[c->kernel_output] = outputs;
  for (int d = 0; d < c->spatial_count; d++) {
    int64_t size = probe_int(0, 15) == 0 ? 0 : probe_int(1, extent), window = probe_int(1, 4);
    s->in.dims[c->input_spatial[d]] = size;
    s->kernel.dims[c->kernel_spatial[d]] = window;
    c->stride[d] = probe_int(0, 1) ? 1 : probe_int(1, 4);
    c->lhs_dilation[d] = probe_int(0, 1) ? 1 : probe_int(1, 4);
    c->rhs_dilation[d] = probe_int(0, 1) ? 1 : probe_int(1, 3);
    c->pad_low[d] = probe_int(-2, 4), c->pad_high[d] = probe_int(-2, 4);
    c->reversal[d] = probe_int(0, 1);
    int64_t dilated = size > 0 ? (size - 1) * c->lhs_dilation[d] + 1 : 0;
    int64_t reach = (window - 1) * c->rhs_dilation[d] + 1;
    if (dilated + c->pad_low[d] + c->pad_high[d] < 0) return false;
    (void)reach;
  }
  return true;
}

static void sweep(tpt_dtype_t dtype, tpt_precision_t precision, double tolerance, int rounds) {
  for (int round = 0; round < rounds;) {
    sample_t s;
    if (!sample_random(&s, dtype, precision, round % 8 == 0 ? 20 : 7)) continue;
    sample_check(&s, tolerance);
    round++;
  }
}

static void test_convolution_matches_the_sum_in_f32(void) {
  sweep(TPT_F32, TPT_PRECISION_HIGHEST, 2e-6, 400);
  sweep(TPT_F32, TPT_PRECISION_DEFAULT, 2e-6, 400);
  sweep(TPT_F32, TPT_PRECISION_HIGH, 3e-5, 200);
}

static void test_convolution_matches_the_sum_in_other_types(void) {
  sweep(TPT_BF16, TPT_PRECISION_DEFAULT, 2e-2, 150);
  sweep(TPT_F16, TPT_PRECISION_DEFAULT, 2e-3, 100);
  sweep(TPT_F64, TPT_PRECISION_DEFAULT, 1e-14, 150);
  sweep(TPT_S32, TPT_PRECISION_DEFAULT, 0, 150);
  sweep(TPT_S64, TPT_PRECISION_DEFAULT, 0, 50);
}

// The three products of a training step, as lowerings express them, at sizes that need several regions,
// feature chunks and splits.
static tpt_conv_t plain(int64_t stride, int64_t pad, tpt_precision_t precision) {
  tpt_conv_t c = {.spatial_count = 2,
                  .feature_groups = 1,
                  .batch_groups = 1,
                  .precision = precision,
                  .input_feature = 1,
                  .kernel_input = 1,
                  .output_feature = 1};
  for (int d = 0; d < 2; d++) {
    c.stride[d] = stride, c.pad_low[d] = c.pad_high[d] = pad;
    c.lhs_dilation[d] = c.rhs_dilation[d] = 1;
    c.input_spatial[d] = c.kernel_spatial[d] = c.output_spatial[d] = d + 2;
  }
  return c;
}

static void training_step(int64_t stride, int64_t groups, tpt_precision_t precision) {
  int64_t n = 5, i = 6, o = 8, h = 13, oh = (h + 2 - 3) / stride + 1;
  double tolerance = precision == TPT_PRECISION_HIGH ? 3e-5 : 2e-6;
  sample_t s = {.conv = plain(stride, 1, precision)};
  s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){n, i, h, h});
  s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){o, i / groups, 3, 3});
  s.conv.feature_groups = groups;
  sample_check(&s, tolerance);
  // Gradient of the input: dilated, reversed, roles of the kernel's channels exchanged.
  s = (sample_t){.conv = plain(1, 1, precision)};
  s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){n, o, oh, oh});
  s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){o / groups, i, 3, 3});
  s.conv.kernel_input = 0, s.conv.kernel_output = 1;
  s.conv.feature_groups = groups;
  for (int d = 0; d < 2; d++) {
    s.conv.lhs_dilation[d] = stride, s.conv.reversal[d] = true;
    s.conv.pad_high[d] = h - (oh - 1) * stride;
  }
  sample_check(&s, tolerance);
  CHECK_EQ(s.out.dims[2], h);
  // Gradient of the weights: the batch is contracted, the gradient is the window.
  s = (sample_t){.conv = plain(1, 1, precision)};
  s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){n, i, h, h});
  s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){n, o, oh, oh});
  s.conv.input_batch = s.conv.kernel_output = s.conv.output_batch = 1;
  s.conv.input_feature = s.conv.kernel_input = s.conv.output_feature = 0;
  s.conv.batch_groups = groups;
  for (int d = 0; d < 2; d++) {
    s.conv.rhs_dilation[d] = stride;
    s.conv.pad_high[d] = 2 + (oh - 1) * stride + 1 - h - 1;
  }
  sample_check(&s, tolerance);
  CHECK_EQ(s.out.dims[2], 3);
}

static void test_training_products_match_the_sum(void) {
  for (int precision = 0; precision < 3; precision++) {
    for (int64_t stride = 1; stride < 4; stride++) {
      training_step(stride, 1, (tpt_precision_t)precision);
      training_step(stride, 2, (tpt_precision_t)precision);
    }
  }
}

static void test_depthwise_matches_the_sum(void) {
  for (int64_t stride = 1; stride < 3; stride++) {
    for (int64_t multiplier = 1; multiplier < 4; multiplier++) {
      sample_t s = {.conv = plain(stride, 1, TPT_PRECISION_DEFAULT)};
      s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){3, 9, 17, 17});
      s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){9 * multiplier, 1, 3, 3});
      s.conv.feature_groups = 9;
      sample_check(&s, 2e-6);
    }
    // Its weight gradient: one output a group, a long K.
    sample_t s = {.conv = plain(1, 1, TPT_PRECISION_DEFAULT)};
    s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){6, 9, 17, 17});
    s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){6, 9, 17, 17});
    s.conv.input_batch = s.conv.kernel_output = s.conv.output_batch = 1;
    s.conv.input_feature = s.conv.kernel_input = s.conv.output_feature = 0;
    s.conv.batch_groups = 9;
    sample_check(&s, 2e-6);
  }
}

static void test_large_planes_are_cut_into_regions(void) {
  sample_t s = {.conv = plain(1, 2, TPT_PRECISION_HIGHEST)};
  s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){1, 3, 70, 90});
  s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){5, 3, 5, 5});
  sample_check(&s, 2e-6);
  // Pointwise: the input is the matrix.
  s = (sample_t){.conv = plain(1, 0, TPT_PRECISION_HIGHEST)};
  s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){3, 40, 25, 25});
  s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){20, 40, 1, 1});
  sample_check(&s, 2e-6);
  // A weight gradient over planes too large for one stage: features go chunk by chunk.
  s = (sample_t){.conv = plain(1, 1, TPT_PRECISION_DEFAULT)};
  s.in = tpt_type_make(TPT_F32, 4, (int64_t[]){7, 4, 120, 130});
  s.kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){7, 3, 120, 130});
  s.conv.input_batch = s.conv.kernel_output = s.conv.output_batch = 1;
  s.conv.input_feature = s.conv.kernel_input = s.conv.output_feature = 0;
  sample_check(&s, 2e-6);
}

static void test_convolution_keeps_infinity(void) {
  for (int precision = 0; precision < 3; precision++) {
    sample_t s = {.conv = plain(1, 0, (tpt_precision_t)precision)};
    tpt_type_t type = tpt_type_make(TPT_F32, 4, (int64_t[]){1, 1, 1, 2});
    tpt_graph_t* graph = NULL;
    if (!CHECK_OK(tpt_graph_create(&graph))) return;
    tpt_type_t kernel = tpt_type_make(TPT_F32, 4, (int64_t[]){3, 1, 1, 2});
    tpt_value_t x = tpt_graph_parameter(graph, &type), w = tpt_graph_parameter(graph, &kernel);
    float x_data[2] = {INFINITY, 1.001f}, w_data[6] = {1.003f, 2, -1.003f, 2, 0, 2};
    const void* in[2] = {x_data, w_data};
    void* out = NULL;
    if (CHECK_OK(probe_run(graph, tpt_hlo_convolution(graph, x, w, &s.conv), in, &out))) {
      const float* y = out;
      CHECK(isinf(y[0]) && y[0] > 0 && isinf(y[1]) && y[1] < 0 && isnan(y[2]));
    }
    free(out);
    tpt_graph_release(graph);
  }
}

// Once for every unit that this CPU has, and for BLAS.
int main(void) {
  for (int level = VTPU_STRIP_NONE; level < VTPU_STRIP_LEVEL_COUNT; level++) {
    if (level > VTPU_STRIP_NONE && !vtpu_strip_level(level)) continue;  // not on this CPU
    vtpu_strip_limit(level);
    printf("level: %s\n", level > VTPU_STRIP_NONE ? vtpu_strip_level(level)->name : "none");
    RUN(test_convolution_matches_the_sum_in_f32);
    RUN(test_convolution_matches_the_sum_in_other_types);
    RUN(test_training_products_match_the_sum);
    RUN(test_depthwise_matches_the_sum);
    RUN(test_large_planes_are_cut_into_regions);
    RUN(test_convolution_keeps_infinity);
  }
  return TEST_RESULT;
}
