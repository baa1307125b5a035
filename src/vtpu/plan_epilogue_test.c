// A product or convolution finished by its epilogue gives the bits that a loop of its own gives: every
// program is compiled twice, once with the raw result returned too, which nothing may then swallow.
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

typedef struct sample {
  tpt_dtype_t dtype, result;
  tpt_precision_t precision;
  int64_t batch, m, n, k;
} sample_t;

typedef enum finish {
  FINISH_BIAS_OF_COLUMNS,
  FINISH_BIAS_OF_ROWS,
  FINISH_RESIDUAL,
  FINISH_SCALED_TANH,
  FINISH_TWO_RESULTS,
  FINISH_NARROWED,
  FINISH_COUNT,
} finish_t;

enum { PARAMETERS = 4 };

// Appends to `out` what is made of x (any shape; its last dimension are columns). Returns the count.
static uint32_t finish(tpt_graph_t* g, tpt_value_t x, finish_t how, const tpt_value_t* p,
                       tpt_value_t* out) {
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t last = type.rank - 1;
  bool is_float = tpt_dtype_is_float(type.dtype);
  tpt_value_t columns = tpt_hlo_broadcast_in_dim(g, p[2], type.rank, type.dims, &last);
  int64_t row_dim = type.rank - 2;
  switch (how) {
  case FINISH_BIAS_OF_COLUMNS:
    out[0] = tpt_hlo_binary(g, TPT_HLO_MAXIMUM, tpt_hlo_binary(g, TPT_HLO_ADD, x, columns),
                            tpt_hlo_splat_f64(g, &type, 0));
    return 1;
  case FINISH_BIAS_OF_ROWS:
    out[0] =
        tpt_hlo_binary(g, TPT_HLO_ADD, x,
                       tpt_hlo_broadcast_in_dim(
                           g, tpt_hlo_slice(g, p[3], DIMS(0), DIMS(type.dims[row_dim]), DIMS(1)),
                           type.rank, type.dims, &row_dim));
    return 1;
  case FINISH_RESIDUAL:
    out[0] = tpt_hlo_binary(g, TPT_HLO_ADD, tpt_hlo_binary(g, TPT_HLO_ADD, x, columns),
                            tpt_hlo_reshape(g, p[1], type.rank, type.dims));
    return 1;
  case FINISH_SCALED_TANH:
    out[0] = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, x, tpt_hlo_splat_f64(g, &type, 3));
    if (is_float) out[0] = tpt_hlo_unary(g, TPT_HLO_TANH, out[0]);
    return 1;
  case FINISH_TWO_RESULTS:
    out[0] = tpt_hlo_binary(g, TPT_HLO_ADD, x, columns);
    out[1] = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, out[0], out[0]);
    return 2;
  default:
    out[0] = tpt_hlo_convert(g, tpt_hlo_binary(g, TPT_HLO_ADD, x, columns),
                             is_float ? TPT_BF16 : TPT_S16);
    return 1;
  }
}

typedef struct made {
  uint32_t result_count, step_count;
  void* results[4];
} made_t;

typedef struct maker {
  tpt_value_t (*make)(tpt_graph_t* g, const void* spec, const tpt_value_t* p);
  const void* spec;
  tpt_type_t parameters[2 + PARAMETERS];  // operands first
} maker_t;

static bool run(const maker_t* maker, finish_t how, bool keeps_raw, const void* const* in,
                made_t* out) {
  tpt_graph_t* g = program_graph();
  tpt_value_t p[2 + PARAMETERS], results[4];
  for (int i = 0; i < 2 + PARAMETERS; i++)
    p[i] = tpt_graph_parameter(g, &maker->parameters[i]);
  tpt_value_t raw = maker->make(g, maker->spec, p);
  out->result_count = finish(g, raw, how, p + 2, results);
  if (keeps_raw) results[out->result_count] = raw;
  tpt_graph_return(g, results, out->result_count + keeps_raw);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return false;
  out->step_count = program->main->step_count;
  bool ok = CHECK_OK(program_run(program, in, out->results, false));
  if (ok && keeps_raw) free(out->results[out->result_count]);
  vtpu_program_release(program);
  return ok;
}

static void compare(maker_t* maker, finish_t how, bool is_certain) {
  void* in[2 + PARAMETERS];
  tpt_graph_t* g = program_graph();
  tpt_value_t p[2];
  for (int i = 0; i < 2; i++)
    p[i] = tpt_graph_parameter(g, &maker->parameters[i]);
  tpt_type_t type = *tpt_graph_type(g, maker->make(g, maker->spec, p));
  tpt_graph_release(g);
  int64_t count = tpt_type_count(&type), last = type.rank ? type.dims[type.rank - 1] : 1;
  tpt_type_t scalar = tpt_type_make(type.dtype, 0, NULL);
  maker->parameters[2] = scalar;
  maker->parameters[3] = tpt_type_make(type.dtype, 1, &count);
  maker->parameters[4] = tpt_type_make(type.dtype, 1, &last);
  maker->parameters[5] = tpt_type_make(type.dtype, 1, DIMS(4096));
  for (int i = 0; i < 2 + PARAMETERS; i++)
    in[i] = probe_random(&maker->parameters[i]);
  made_t fused = {0}, apart = {0};
  if (run(maker, how, false, (const void* const*)in, &fused) &&
      run(maker, how, true, (const void* const*)in, &apart)) {
    if (is_certain) CHECK_EQ(fused.step_count, 1);
    CHECK_EQ(apart.step_count >= 2, 1);
    for (uint32_t r = 0; r < fused.result_count; r++) {
      size_t size = how == FINISH_NARROWED ? 2 : tpt_dtype_size(type.dtype);
      bool is_same = memcmp(fused.results[r], apart.results[r], size * (size_t)count) == 0;
      CHECK(is_same);
      if (!is_same)
        fprintf(stderr, "finish %d, result %u of %lld elements\n", (int)how, r, (long long)count);
    }
  }
  for (uint32_t r = 0; r < fused.result_count; r++)
    free(fused.results[r]), free(apart.results[r]);
  for (int i = 0; i < 2 + PARAMETERS; i++)
    free(in[i]);
}

// --- products ------------------------------------------------------------------------------------------

static tpt_value_t product_make(tpt_graph_t* g, const void* spec, const tpt_value_t* p) {
  const sample_t* s = spec;
  tpt_dot_t dot = {.batch_count = 1,
                   .contract_count = 1,
                   .lhs_contract = {2},
                   .rhs_contract = {1},
                   .precision = s->precision,
                   .result = s->result};
  return tpt_hlo_dot_general(g, p[0], p[1], &dot);
}

static void product_compare(const sample_t* s, finish_t how, bool is_certain) {
  maker_t maker = {.make = product_make, .spec = s};
  maker.parameters[0] = tpt_type_make(s->dtype, 3, DIMS(s->batch, s->m, s->k));
  maker.parameters[1] = tpt_type_make(s->dtype, 3, DIMS(s->batch, s->k, s->n));
  compare(&maker, how, is_certain);
}

static void test_products_of_every_type(void) {
  static const tpt_dtype_t types[][2] = {
      {TPT_F32, TPT_F32}, {TPT_BF16, TPT_BF16}, {TPT_BF16, TPT_F32}, {TPT_F16, TPT_F16},
      {TPT_F64, TPT_F64}, {TPT_S32, TPT_S32},   {TPT_S64, TPT_S64},  {TPT_S8, TPT_S32}};
  for (int t = 0; t < 8; t++)
    for (int how = 0; how < FINISH_COUNT; how++)
      for (int precision = 0; precision < 3; precision++) {
        if (precision > 0 && types[t][0] != TPT_F32) continue;
        sample_t s = {types[t][0], types[t][1], (tpt_precision_t)precision, 1, 300, 272, 70};
        product_compare(&s, (finish_t)how, how != FINISH_BIAS_OF_ROWS);
      }
}

static void test_products_of_every_shape(void) {
  static const int64_t shapes[][4] = {
      {1, 1, 700, 900},  {1, 700, 1, 900}, {1, 5, 3000, 40},  {1, 257, 513, 600}, {3, 100, 80, 50},
      {5, 300, 40, 20},  {40, 1, 200, 30}, {40, 200, 1, 30},  {1, 64, 64, 0},     {2, 40, 1009, 33},
      {1, 1100, 30, 12}, {1, 7, 11, 13},   {1, 1, 5000, 100}, {6, 256, 256, 64},
  };
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
    for (int how = 0; how < FINISH_COUNT; how++)
      for (int t = 0; t < 3; t++) {
        const int64_t* n = shapes[i];
        sample_t s = {t == 2 ? TPT_BF16 : TPT_F32,
                      t == 2 ? TPT_BF16 : TPT_F32,
                      t == 0 ? TPT_PRECISION_DEFAULT : TPT_PRECISION_HIGHEST,
                      n[0],
                      n[1],
                      n[2],
                      n[3]};
        product_compare(&s, (finish_t)how, false);
      }
}

static void test_no_results(void) {
  sample_t s = {TPT_F32, TPT_F32, TPT_PRECISION_DEFAULT, 1, 0, 30, 40};
  maker_t maker = {.make = product_make, .spec = &s};
  maker.parameters[0] = tpt_type_make(s.dtype, 3, DIMS(1, 0, 40));
  maker.parameters[1] = tpt_type_make(s.dtype, 3, DIMS(1, 40, 30));
  compare(&maker, FINISH_BIAS_OF_COLUMNS, false);
}

// --- convolutions --------------------------------------------------------------------------------------

typedef struct conv_sample {
  tpt_dtype_t dtype;
  tpt_precision_t precision;
  int64_t batch, in, size, out, taps, stride, groups;
  bool is_last;  // features are the innermost dimension
} conv_sample_t;

static tpt_value_t conv_make(tpt_graph_t* g, const void* spec, const tpt_value_t* p) {
  const conv_sample_t* s = spec;
  tpt_conv_t conv = {.spatial_count = 2,
                     .input_feature = s->is_last ? 3 : 1,
                     .input_spatial = {s->is_last ? 1 : 2, s->is_last ? 2 : 3},
                     .kernel_output = 0,
                     .kernel_input = 1,
                     .kernel_spatial = {2, 3},
                     .output_feature = s->is_last ? 3 : 1,
                     .output_spatial = {s->is_last ? 1 : 2, s->is_last ? 2 : 3},
                     .feature_groups = s->groups,
                     .batch_groups = 1,
                     .precision = s->precision};
  for (int d = 0; d < 2; d++) {
    conv.stride[d] = s->stride;
    conv.lhs_dilation[d] = conv.rhs_dilation[d] = 1;
    conv.pad_low[d] = conv.pad_high[d] = s->taps / 2;
  }
  return tpt_hlo_convolution(g, p[0], p[1], &conv);
}

static void conv_compare(const conv_sample_t* s, finish_t how) {
  maker_t maker = {.make = conv_make, .spec = s};
  int64_t first = s->is_last ? s->size : s->in, last = s->is_last ? s->in : s->size;
  maker.parameters[0] = tpt_type_make(s->dtype, 4, DIMS(s->batch, first, s->size, last));
  maker.parameters[1] =
      tpt_type_make(s->dtype, 4, DIMS(s->out, s->in / s->groups, s->taps, s->taps));
  compare(&maker, how, false);
}

static void test_convolutions(void) {
  static const conv_sample_t samples[] = {
      {TPT_F32, TPT_PRECISION_DEFAULT, 2, 16, 30, 24, 3, 1, 1, false},
      {TPT_F32, TPT_PRECISION_HIGHEST, 2, 16, 30, 24, 3, 1, 1, false},
      {TPT_F32, TPT_PRECISION_HIGH, 2, 16, 30, 24, 3, 2, 1, false},
      {TPT_F32, TPT_PRECISION_HIGHEST, 9, 16, 7, 40, 3, 1, 1, false},
      {TPT_F32, TPT_PRECISION_DEFAULT, 1, 512, 7, 64, 3, 1, 1, false},
      {TPT_F32, TPT_PRECISION_DEFAULT, 2, 32, 28, 32, 3, 1, 32, false},
      {TPT_F32, TPT_PRECISION_DEFAULT, 2, 32, 28, 64, 3, 1, 4, false},
      {TPT_F32, TPT_PRECISION_HIGHEST, 2, 24, 20, 32, 1, 1, 1, false},
      {TPT_BF16, TPT_PRECISION_DEFAULT, 2, 16, 30, 24, 3, 1, 1, false},
      {TPT_BF16, TPT_PRECISION_DEFAULT, 2, 16, 30, 24, 3, 1, 1, true},
      {TPT_F32, TPT_PRECISION_HIGHEST, 3, 16, 30, 48, 3, 2, 1, true},
      {TPT_F32, TPT_PRECISION_DEFAULT, 3, 16, 9, 48, 3, 1, 2, true},
      {TPT_F64, TPT_PRECISION_DEFAULT, 2, 8, 20, 24, 3, 1, 1, false},
  };
  for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
    for (int how = 0; how < FINISH_COUNT; how++)
      conv_compare(&samples[i], (finish_t)how);
}

// Bias and relu of a convolution are no step of their own.
static void test_a_convolution_swallows_its_norm(void) {
  tpt_graph_t* g = program_graph();
  conv_sample_t s = {TPT_F32, TPT_PRECISION_DEFAULT, 2, 16, 30, 24, 3, 1, 1, false};
  tpt_type_t types[4] = {tpt_type_make(TPT_F32, 4, DIMS(2, 16, 30, 30)),
                         tpt_type_make(TPT_F32, 4, DIMS(24, 16, 3, 3)),
                         tpt_type_make(TPT_F32, 1, DIMS(24)), tpt_type_make(TPT_F32, 1, DIMS(24))};
  tpt_value_t p[4];
  for (int i = 0; i < 4; i++)
    p[i] = tpt_graph_parameter(g, &types[i]);
  tpt_value_t x = conv_make(g, &s, p);
  tpt_type_t type = *tpt_graph_type(g, x);
  x = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, x,
                     tpt_hlo_broadcast_in_dim(g, p[2], 4, type.dims, DIMS(1)));
  x = tpt_hlo_binary(g, TPT_HLO_ADD, x, tpt_hlo_broadcast_in_dim(g, p[3], 4, type.dims, DIMS(1)));
  x = tpt_hlo_binary(g, TPT_HLO_MAXIMUM, x, tpt_hlo_splat_f64(g, &type, 0));
  tpt_graph_return(g, &x, 1);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  CHECK_EQ(program->main->step_count, 1);
  vtpu_program_release(program);
}

// --- memory ----------------------------------------------------------------------------------------------

// p - x w: the update may lie where p lay; p - p w may not, and is two steps.
static void test_updates_in_place(void) {
  for (int is_operand = 0; is_operand < 2; is_operand++) {
    tpt_graph_t* g = program_graph();
    tpt_type_t type = tpt_type_make(TPT_F32, 2, DIMS(300, 300));
    tpt_value_t p = tpt_graph_parameter(g, &type), x = tpt_graph_parameter(g, &type);
    tpt_value_t w = tpt_graph_parameter(g, &type);
    tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
    tpt_value_t y =
        tpt_hlo_binary(g, TPT_HLO_SUBTRACT, p, tpt_hlo_dot_general(g, is_operand ? p : x, w, &dot));
    tpt_graph_return(g, &y, 1);
    tpt_graph_alias(g, 0, 0);
    vtpu_program_t* program;
    if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
    CHECK_EQ(program->main->step_count, is_operand ? 2 : 1);
    CHECK_EQ(vtpu_program_alias(program, 0), 0);
    void* in[3] = {probe_random(&type), probe_random(&type), probe_random(&type)};
    void *there[1], *apart[1];
    if (CHECK_OK(program_run(program, (const void* const*)in, there, true)) &&
        CHECK_OK(program_run(program, (const void* const*)in, apart, false))) {
      CHECK(memcmp(there[0], apart[0], (size_t)tpt_type_size(&type)) == 0);
      free(there[0]), free(apart[0]);
    }
    for (int i = 0; i < 3; i++)
      free(in[i]);
    vtpu_program_release(program);
  }
}

int main(void) {
  RUN(test_products_of_every_type);
  RUN(test_products_of_every_shape);
  RUN(test_no_results);
  RUN(test_convolutions);
  RUN(test_a_convolution_swallows_its_norm);
  RUN(test_updates_in_place);
  return TEST_RESULT;
}
