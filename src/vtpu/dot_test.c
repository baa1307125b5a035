// dot_general against a naive loop over every dimension arrangement, and the numerics of a TPU.
#include "vtpu/kernel_probe.h"
#include "vtpu/strip.h"

typedef struct sample {
  tpt_type_t lhs, rhs, result;
  tpt_dot_t dot;
  void *a, *b, *out;
} sample_t;

static double round_bf16(double x) {
  float in = (float)x, out;
  vtpu_round_to_bf16(&in, &out, 1);
  return out;
}

// Element of an operand from the coordinates of its batch, free and contracting dimensions.
static int64_t locate(const tpt_type_t* type, const int64_t* at) {
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

static bool has(const int64_t* list, int count, int64_t x) {
  for (int i = 0; i < count; i++)
    if (list[i] == x) return true;
  return false;
}

// Compares every result element with the sum in double; returns the worst error relative to
// `scale`.
static double worst_error(const sample_t* s) {
  int64_t index[TPT_RANK_MAX] = {0}, element = 0;
  double worst = 0;
  if (tpt_type_count(&s->result) == 0) return 0;
  bool is_f32 = s->lhs.dtype == TPT_F32 && s->dot.precision == TPT_PRECISION_DEFAULT;
  int64_t step = tpt_type_count(&s->result) / 2000 * 2 + 1;
  do {
    if (element % step != 0) {
      element++;
      continue;
    }
    int64_t la[TPT_RANK_MAX] = {0}, ra[TPT_RANK_MAX] = {0}, k[TPT_RANK_MAX] = {0};
    int64_t dims[TPT_RANK_MAX];
    int next = 0;
    for (int i = 0; i < s->dot.batch_count; i++, next++)
      la[s->dot.lhs_batch[i]] = ra[s->dot.rhs_batch[i]] = index[next];
    for (int d = 0; d < s->lhs.rank; d++)
      if (!has(s->dot.lhs_batch, s->dot.batch_count, d) &&
          !has(s->dot.lhs_contract, s->dot.contract_count, d))
        la[d] = index[next++];
    for (int d = 0; d < s->rhs.rank; d++)
      if (!has(s->dot.rhs_batch, s->dot.batch_count, d) &&
          !has(s->dot.rhs_contract, s->dot.contract_count, d))
        ra[d] = index[next++];
    int64_t terms = 1;
    for (int i = 0; i < s->dot.contract_count; i++)
      terms *= dims[i] = s->lhs.dims[s->dot.lhs_contract[i]];
    double sum = 0;
    do {
      if (terms == 0) break;
      for (int i = 0; i < s->dot.contract_count; i++)
        la[s->dot.lhs_contract[i]] = ra[s->dot.rhs_contract[i]] = k[i];
      double x = probe_get(s->lhs.dtype, s->a, locate(&s->lhs, la));
      double y = probe_get(s->rhs.dtype, s->b, locate(&s->rhs, ra));
      sum += is_f32 ? round_bf16(x) * round_bf16(y) : x * y;
    } while (advance(s->dot.contract_count, dims, k));
    if (s->result.dtype == TPT_PRED) sum = sum != 0;
    double error = fabs(sum - probe_get(s->result.dtype, s->out, element));
    double scale = 1 + (double)terms / 8;
    if (!(error / scale <= worst)) worst = error / scale;
    element++;
  } while (advance(s->result.rank, s->result.dims, index));
  return worst;
}

static void sample_run(sample_t* s) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t a = tpt_graph_parameter(graph, &s->lhs), b = tpt_graph_parameter(graph, &s->rhs);
  tpt_value_t result = tpt_hlo_dot_general(graph, a, b, &s->dot);
  s->a = probe_random(&s->lhs);
  s->b = probe_random(&s->rhs);
  const void* in[2] = {s->a, s->b};
  s->result = *tpt_graph_type(graph, result);
  if (!CHECK_OK(probe_run(graph, result, in, &s->out))) s->out = NULL;
  tpt_graph_release(graph);
}

static void sample_free(sample_t* s) {
  free(s->a);
  free(s->b);
  free(s->out);
}

static void shuffle(int64_t* order, int count) {
  for (int i = 0; i < count; i++)
    order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    int j = (int)probe_int(0, i);
    int64_t x = order[i];
    order[i] = order[j], order[j] = x;
  }
}

// Random batch, free and contracting dimensions, scattered over random positions.
static sample_t sample_random(tpt_dtype_t dtype, tpt_precision_t precision, int64_t extent) {
  sample_t s = {.dot = {.precision = precision}};
  s.dot.batch_count = (int)probe_int(0, 2);
  s.dot.contract_count = (int)probe_int(0, 2);
  int free[2] = {(int)probe_int(0, 2), (int)probe_int(0, 2)};
  int64_t order[2][TPT_RANK_MAX];
  tpt_type_t* types[2] = {&s.lhs, &s.rhs};
  for (int side = 0; side < 2; side++) {
    types[side]->dtype = dtype;
    types[side]->rank = s.dot.batch_count + s.dot.contract_count + free[side];
    shuffle(order[side], types[side]->rank);
  }
  for (int i = 0; i < s.dot.batch_count + s.dot.contract_count; i++) {
    int64_t size = probe_int(0, 12) == 0 ? 0 : probe_int(1, extent);
    s.lhs.dims[order[0][i]] = s.rhs.dims[order[1][i]] = size;
    if (i < s.dot.batch_count) {
      s.dot.lhs_batch[i] = order[0][i], s.dot.rhs_batch[i] = order[1][i];
    } else {
      s.dot.lhs_contract[i - s.dot.batch_count] = order[0][i];
      s.dot.rhs_contract[i - s.dot.batch_count] = order[1][i];
    }
  }
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < free[side]; i++)
      types[side]->dims[order[side][s.dot.batch_count + s.dot.contract_count + i]] =
          probe_int(0, 12) == 0 ? 0 : probe_int(1, extent);
  return s;
}

static void sweep(tpt_dtype_t dtype, tpt_precision_t precision, double tolerance) {
  for (int round = 0; round < 120; round++) {
    sample_t s = sample_random(dtype, precision, round % 20 == 0 ? 40 : 6);
    if (tpt_type_count(&s.lhs) > 60000 || tpt_type_count(&s.rhs) > 60000) continue;
    sample_run(&s);
    if (s.out && tpt_type_count(&s.result) < 60000) CHECK_NEAR(worst_error(&s), 0, tolerance);
    sample_free(&s);
  }
}

static void test_dot_matches_loops_in_every_arrangement(void) {
  sweep(TPT_F32, TPT_PRECISION_HIGHEST, 1e-6);
  sweep(TPT_F32, TPT_PRECISION_HIGH, 3e-5);
  sweep(TPT_F32, TPT_PRECISION_DEFAULT, 1e-6);
  sweep(TPT_F64, TPT_PRECISION_DEFAULT, 1e-14);
  sweep(TPT_BF16, TPT_PRECISION_DEFAULT, 2e-2);
  sweep(TPT_F16, TPT_PRECISION_DEFAULT, 2e-3);
}

static void test_dot_of_integers_is_exact(void) {
  sweep(TPT_S32, TPT_PRECISION_DEFAULT, 0);
  sweep(TPT_S64, TPT_PRECISION_DEFAULT, 0);
  sweep(TPT_U64, TPT_PRECISION_DEFAULT, 0);
  sweep(TPT_PRED, TPT_PRECISION_DEFAULT, 0);
}

static void run_matrices(sample_t* s, int64_t m, int64_t n, int64_t k, tpt_dtype_t dtype) {
  s->lhs = tpt_type_make(dtype, 2, (int64_t[]){m, k});
  s->rhs = tpt_type_make(dtype, 2, (int64_t[]){k, n});
  s->dot.contract_count = 1;
  s->dot.lhs_contract[0] = 1;
  s->dot.rhs_contract[0] = 0;
  sample_run(s);
}

static void test_dot_spans_several_tiles_and_panels(void) {
  for (int precision = 0; precision < 3; precision++) {
    sample_t s = {.dot = {.precision = (tpt_precision_t)precision}};
    run_matrices(&s, 300, 530, 1100, TPT_F32);
    if (s.out) CHECK_NEAR(worst_error(&s), 0, precision == 1 ? 3e-6 : 1e-6);
    sample_free(&s);
    s = (sample_t){.dot = {.precision = (tpt_precision_t)precision}};
    run_matrices(&s, 1, 700, 1300, TPT_F32);
    if (s.out) CHECK_NEAR(worst_error(&s), 0, precision == 1 ? 3e-6 : 1e-6);
    sample_free(&s);
  }
}

static void test_dot_of_vectors_matches_loops(void) {
  static const tpt_dtype_t dtypes[4] = {TPT_F32, TPT_BF16, TPT_F16, TPT_F64};
  for (int round = 0; round < 64; round++) {
    tpt_dtype_t dtype = dtypes[round % 4];
    int64_t m = round & 4 ? 1 : probe_int(1, 700), n = round & 4 ? probe_int(1, 1300) : 1;
    int64_t k = probe_int(1, 300);
    sample_t s = {.dot = {.contract_count = 1, .result = dtype == TPT_F64 ? TPT_F64 : TPT_F32}};
    int lhs_k = round >> 3 & 1, rhs_k = round >> 4 & 1;
    s.lhs = tpt_type_make(dtype, 2, lhs_k ? (int64_t[]){m, k} : (int64_t[]){k, m});
    s.rhs = tpt_type_make(dtype, 2, rhs_k ? (int64_t[]){n, k} : (int64_t[]){k, n});
    s.dot.lhs_contract[0] = lhs_k, s.dot.rhs_contract[0] = rhs_k;
    sample_run(&s);
    if (s.out) CHECK_NEAR(worst_error(&s), 0, 1e-6);
    sample_free(&s);
  }
}

static void test_dot_rounds_a_wide_sum_once(void) {
  sample_t s = {.dot = {.result = TPT_F32}};
  run_matrices(&s, 33, 20, 700, TPT_BF16);
  CHECK_EQ(s.result.dtype, TPT_F32);
  if (s.out) CHECK_NEAR(worst_error(&s), 0, 1e-6);
  sample_free(&s);
  s = (sample_t){.dot = {.result = TPT_S32}};
  run_matrices(&s, 9, 20, 700, TPT_S8);
  if (s.out) CHECK_NEAR(worst_error(&s), 0, 0);
  sample_free(&s);
}

static tpt_status_t run_pair(const float* a, const float* b, tpt_precision_t precision, int k,
                             float* out_value) {
  tpt_graph_t* graph = NULL;
  TPT_TRY(tpt_graph_create(&graph));
  tpt_type_t type = tpt_type_make(TPT_F32, 1, (int64_t[]){k});
  tpt_value_t x = tpt_graph_parameter(graph, &type), y = tpt_graph_parameter(graph, &type);
  tpt_dot_t dot = {.contract_count = 1, .precision = precision};
  const void* in[2] = {a, b};
  void* out = NULL;
  tpt_status_t status = probe_run(graph, tpt_hlo_dot_general(graph, x, y, &dot), in, &out);
  if (out) *out_value = *(float*)out;
  free(out);
  tpt_graph_release(graph);
  return status;
}

static void test_dot_precision_is_that_of_the_passes(void) {
  float a = 1.0f + 0x1p-8f + 0x1p-12f, b = 1.0f, got = 0;
  CHECK_OK(run_pair(&a, &b, TPT_PRECISION_DEFAULT, 1, &got));
  CHECK(got == 1.0f + 0x1p-7f);  // above the half: up to the next bf16
  CHECK_OK(run_pair(&a, &b, TPT_PRECISION_HIGHEST, 1, &got));
  CHECK(got == a);
  CHECK_OK(run_pair(&a, &b, TPT_PRECISION_HIGH, 1, &got));
  CHECK(got == a);
  // Three passes leave out the product of the two rests.
  float c = 1.0f + 0x1p-10f;
  CHECK_OK(run_pair(&c, &c, TPT_PRECISION_HIGH, 1, &got));
  CHECK(got == 1.0f + 0x1p-9f);
  CHECK_OK(run_pair(&c, &c, TPT_PRECISION_HIGHEST, 1, &got));
  CHECK(got == 1.0f + 0x1p-9f + 0x1p-20f);
}

static void test_dot_keeps_infinity_and_nan_in_every_precision(void) {
  for (int precision = 0; precision < 3; precision++) {
    float a[2] = {INFINITY, 1.001f}, b[2] = {1.003f, 2.0f}, got = 0;
    CHECK_OK(run_pair(a, b, (tpt_precision_t)precision, 2, &got));
    CHECK(isinf(got) && got > 0);
    b[0] = -1.0f;
    CHECK_OK(run_pair(a, b, (tpt_precision_t)precision, 2, &got));
    CHECK(isinf(got) && got < 0);
    b[0] = 0.0f;
    CHECK_OK(run_pair(a, b, (tpt_precision_t)precision, 2, &got));
    CHECK(isnan(got));
    a[0] = NAN;
    CHECK_OK(run_pair(a, b, (tpt_precision_t)precision, 2, &got));
    CHECK(isnan(got));
  }
}

static void test_dot_of_complex_matches_loops(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t type = tpt_type_make(TPT_C64, 2, (int64_t[]){5, 5});
  tpt_value_t x = tpt_graph_parameter(graph, &type), y = tpt_graph_parameter(graph, &type);
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {1}};
  float* a = probe_random(&type);
  float* b = probe_random(&type);
  const void* in[2] = {a, b};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, tpt_hlo_dot_general(graph, x, y, &dot), in, &out))) {
    for (int i = 0; i < 5; i++) {
      for (int j = 0; j < 5; j++) {
        double re = 0, im = 0;
        for (int k = 0; k < 5; k++) {
          const float *p = a + 2 * (i * 5 + k), *q = b + 2 * (j * 5 + k);
          re += (double)p[0] * q[0] - (double)p[1] * q[1];
          im += (double)p[0] * q[1] + (double)p[1] * q[0];
        }
        CHECK_NEAR(((float*)out)[2 * (i * 5 + j)], re, 1e-5);
        CHECK_NEAR(((float*)out)[2 * (i * 5 + j) + 1], im, 1e-5);
      }
    }
  }
  free(a);
  free(b);
  free(out);
  tpt_graph_release(graph);
}

// Once for every unit that this CPU has, and for BLAS.
int main(void) {
  for (int level = VTPU_STRIP_NONE; level < VTPU_STRIP_LEVEL_COUNT; level++) {
    vtpu_strip_limit(level);
    if (level > VTPU_STRIP_NONE && !vtpu_strip_level(level)) continue;  // not on this CPU
    printf("level: %s\n", level > VTPU_STRIP_NONE ? vtpu_strip_level(level)->name : "none");
    RUN(test_dot_matches_loops_in_every_arrangement);
    RUN(test_dot_of_integers_is_exact);
    RUN(test_dot_spans_several_tiles_and_panels);
    RUN(test_dot_of_vectors_matches_loops);
    RUN(test_dot_rounds_a_wide_sum_once);
    RUN(test_dot_precision_is_that_of_the_passes);
    RUN(test_dot_keeps_infinity_and_nan_in_every_precision);
    RUN(test_dot_of_complex_matches_loops);
  }
  return TEST_RESULT;
}
