// Tests of the rules by which loops share a row step, and of the numbers that come out for row spaces of
// every kind: short, long and ragged rows, masks that repeat, transposed operands, results that outlive
// the step.
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

static tpt_value_t reduce_rows(tpt_graph_t* g, tpt_value_t x, tpt_hlo_t op, double init) {
  int last = tpt_graph_type(g, x)->rank - 1;
  return tpt_hlo_reduce(g, x, tpt_hlo_scalar_f64(g, TPT_F32, init), op, DIMS(last), 1);
}

static tpt_value_t widen(tpt_graph_t* g, tpt_value_t x, const tpt_type_t* type) {
  const int64_t dims[] = {0, 1, 2, 3};
  return tpt_hlo_broadcast_in_dim(g, x, type->rank, type->dims, dims);
}

static tpt_value_t softmax(tpt_graph_t* g, tpt_value_t x, const tpt_type_t* type) {
  tpt_value_t m = reduce_rows(g, x, TPT_HLO_MAXIMUM, -INFINITY);
  tpt_value_t e =
      tpt_hlo_unary(g, TPT_HLO_EXP, tpt_hlo_binary(g, TPT_HLO_SUBTRACT, x, widen(g, m, type)));
  tpt_value_t s = reduce_rows(g, e, TPT_HLO_ADD, 0);
  return tpt_hlo_binary(g, TPT_HLO_DIVIDE, e, widen(g, s, type));
}

static void softmax_expect(const float* x, double* y, int64_t n) {
  double most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++)
    most = x[i] > most ? x[i] : most;
  for (int64_t i = 0; i < n; i++)
    sum += y[i] = exp(x[i] - most);
  for (int64_t i = 0; i < n; i++)
    y[i] /= sum;
}

static bool compile(tpt_graph_t* g, const tpt_value_t* values, uint32_t count,
                    vtpu_program_t** out) {
  tpt_graph_return(g, values, count);
  return CHECK_OK(vtpu_program_compile(g, out));
}

static int row_steps(const vtpu_program_t* program) {
  int count = 0;
  for (uint32_t i = 0; i < program->main->step_count; i++)
    count += program->main->steps[i].rows != NULL;
  return count;
}

static void softmax_case(int64_t rows, int64_t columns) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(rows, columns));
  tpt_value_t y = softmax(g, tpt_graph_parameter(g, &type), &type);
  vtpu_program_t* program;
  if (!compile(g, &y, 1, &program)) return;
  bool is_grouped = columns > 1 && (rows * columns <= 16384 || (rows >= 8 && columns < 100000));
  if (rows > 1) CHECK_EQ(row_steps(program), is_grouped);
  float* x = probe_random(&type);
  double* want = malloc((size_t)columns * sizeof(*want));
  void* out[1];
  if (want && CHECK_OK(program_run(program, (const void*[]){x}, out, false))) {
    double worst = 0;
    for (int64_t r = 0; r < rows; r++) {
      softmax_expect(x + r * columns, want, columns);
      for (int64_t i = 0; i < columns; i++)
        worst = fmax(worst, fabs(((float*)out[0])[r * columns + i] / want[i] - 1));
    }
    CHECK(worst < 1e-6);
    free(out[0]);
  }
  free(want);
  free(x);
  vtpu_program_release(program);
}

static void test_softmax_of_every_shape(void) {
  static const int64_t shapes[][2] = {{2, 3},    {7, 5},       {1000, 3},  {513, 64},   {64, 100},
                                      {33, 700}, {9, 2049},    {11, 4097}, {3, 100000}, {12, 60000},
                                      {1, 50},   {16, 200000}, {300, 1},   {5, 16}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
    softmax_case(shapes[i][0], shapes[i][1]);
}

static tpt_value_t with_number(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t x, double number) {
  return tpt_hlo_binary(g, op, x, tpt_hlo_splat_f64(g, tpt_graph_type(g, x), number));
}

// (x - mean) / sqrt(mean of squares + 0.5): constants and numbers of rows beside elements, several rows to
// a tile and all of them in one.
static void standard_case(int64_t rows, int64_t columns) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(rows, columns));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t sum = reduce_rows(g, x, TPT_HLO_ADD, 0);
  tpt_value_t mean = with_number(g, TPT_HLO_DIVIDE, sum, (double)columns);
  tpt_value_t d = tpt_hlo_binary(g, TPT_HLO_SUBTRACT, x, widen(g, mean, &type));
  tpt_value_t square = reduce_rows(g, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, d, d), TPT_HLO_ADD, 0);
  tpt_value_t scale = with_number(g, TPT_HLO_DIVIDE, square, (double)columns);
  scale = tpt_hlo_unary(g, TPT_HLO_RSQRT, with_number(g, TPT_HLO_ADD, scale, 0.5));
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, d, widen(g, scale, &type));
  vtpu_program_t* program;
  if (!compile(g, &y, 1, &program)) return;
  float* data = probe_random(&type);
  void* out[1];
  if (CHECK_OK(program_run(program, (const void*[]){data}, out, false))) {
    double worst = 0;
    for (int64_t r = 0; r < rows; r++) {
      const float* row = data + r * columns;
      double m = 0, v = 0;
      for (int64_t i = 0; i < columns; i++)
        m += row[i] / (double)columns;
      for (int64_t i = 0; i < columns; i++)
        v += (row[i] - m) * (row[i] - m) / (double)columns;
      for (int64_t i = 0; i < columns; i++)
        worst = fmax(worst, fabs(((float*)out[0])[r * columns + i] - (row[i] - m) / sqrt(v + 0.5)));
    }
    CHECK(worst < 2e-6);
    free(out[0]);
  }
  free(data);
  vtpu_program_release(program);
}

static void test_rows_are_standardised_in_every_shape(void) {
  static const int64_t shapes[][2] = {{2, 9},    {20, 7},   {20, 48},  {20, 64},  {5, 100},
                                      {500, 47}, {513, 64}, {40, 700}, {9, 2049}, {11, 4097}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
    standard_case(shapes[i][0], shapes[i][1]);
}

// Scores with a mask that repeats over heads or over queries: rows of two or three radixes.
static void masked_case(int64_t mask_heads, int64_t mask_queries) {
  enum { B = 3, H = 5, T = 7, S = 40 };
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 4, DIMS(B, H, T, S));
  tpt_type_t mask_type = type_of(TPT_F32, 4, DIMS(B, mask_heads, mask_queries, S));
  tpt_value_t x = tpt_graph_parameter(g, &type), mask = tpt_graph_parameter(g, &mask_type);
  tpt_value_t y = softmax(g, tpt_hlo_binary(g, TPT_HLO_ADD, x, widen(g, mask, &type)), &type);
  vtpu_program_t* program;
  if (!compile(g, &y, 1, &program)) return;
  CHECK_EQ(row_steps(program), 1);
  float *dx = probe_random(&type), *dm = probe_random(&mask_type);
  void* out[1];
  if (CHECK_OK(program_run(program, (const void*[]){dx, dm}, out, false))) {
    double worst = 0;
    for (int64_t r = 0; r < B * H * T; r++) {
      int64_t b = r / (H * T), h = r / T % H, t = r % T;
      int64_t m = (b * mask_heads + h % mask_heads) * mask_queries + t % mask_queries;
      float row[S];
      double want[S];
      for (int i = 0; i < S; i++)
        row[i] = dx[r * S + i] + dm[m * S + i];
      softmax_expect(row, want, S);
      for (int i = 0; i < S; i++)
        worst = fmax(worst, fabs(((float*)out[0])[r * S + i] / want[i] - 1));
    }
    CHECK(worst < 1e-6);
    free(out[0]);
  }
  free(dx);
  free(dm);
  vtpu_program_release(program);
}

static void test_masks_that_repeat(void) {
  masked_case(1, 1);
  masked_case(1, 7);
  masked_case(5, 1);
}

// softmax(q k^T scale + mask) v for queries that need not fill a block, q and v lying as [B][T][H][D].
static void attention_case(int64_t t_count, int64_t s_count, tpt_precision_t precision,
                           double tolerance) {
  enum { B = 2, H = 3, D = 16 };
  tpt_graph_t* g = program_graph();
  tpt_type_t q_type = type_of(TPT_F32, 4, DIMS(B, t_count, H, D));
  tpt_type_t k_type = type_of(TPT_F32, 4, DIMS(B, s_count, H, D));
  tpt_type_t scores = type_of(TPT_F32, 4, DIMS(B, H, t_count, s_count));
  tpt_type_t mask_type = type_of(TPT_F32, 4, DIMS(B, 1, 1, s_count));
  tpt_value_t q = tpt_graph_parameter(g, &q_type), k = tpt_graph_parameter(g, &k_type);
  tpt_value_t v = tpt_graph_parameter(g, &k_type), mask = tpt_graph_parameter(g, &mask_type);
  tpt_dot_t first = {.batch_count = 2,
                     .lhs_batch = {0, 2},
                     .rhs_batch = {0, 2},
                     .contract_count = 1,
                     .lhs_contract = {3},
                     .rhs_contract = {3},
                     .precision = precision};
  tpt_dot_t second = {.batch_count = 2,
                      .lhs_batch = {0, 1},
                      .rhs_batch = {0, 2},
                      .contract_count = 1,
                      .lhs_contract = {3},
                      .rhs_contract = {1},
                      .precision = precision};
  tpt_value_t s = tpt_hlo_dot_general(g, q, k, &first);
  s = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, s, tpt_hlo_splat_f64(g, &scores, 0.25));
  s = tpt_hlo_binary(g, TPT_HLO_ADD, s, widen(g, mask, &scores));
  tpt_value_t y = tpt_hlo_dot_general(g, softmax(g, s, &scores), v, &second);
  vtpu_program_t* program;
  if (!compile(g, &y, 1, &program)) return;
  CHECK_EQ(program->main->step_count, 1);
  CHECK_EQ(row_steps(program), 1);
  // Scores are never whole in memory.
  if (s_count > 500)
    CHECK(vtpu_program_temp_size(program) < (size_t)(B * H * t_count * s_count) * sizeof(float));
  float *dq = probe_random(&q_type), *dk = probe_random(&k_type), *dv = probe_random(&k_type);
  float* dm = probe_random(&mask_type);
  float* row = malloc((size_t)s_count * sizeof(*row));
  double* p = malloc((size_t)s_count * sizeof(*p));
  void* out[1];
  if (row && p && CHECK_OK(program_run(program, (const void*[]){dq, dk, dv, dm}, out, false))) {
    double worst = 0;
    for (int64_t r = 0; r < B * H * t_count; r++) {
      int64_t b = r / (H * t_count), h = r / t_count % H, t = r % t_count;
      for (int64_t i = 0; i < s_count; i++) {
        double sum = 0;
        for (int d = 0; d < D; d++)
          sum += (double)dq[((b * t_count + t) * H + h) * D + d] *
                 dk[((b * s_count + i) * H + h) * D + d];
        row[i] = (float)(sum * 0.25) + dm[b * s_count + i];
      }
      softmax_expect(row, p, s_count);
      for (int d = 0; d < D; d++) {
        double want = 0;
        for (int64_t i = 0; i < s_count; i++)
          want += p[i] * dv[((b * s_count + i) * H + h) * D + d];
        worst = fmax(worst, fabs(((float*)out[0])[r * D + d] - want));
      }
    }
    CHECK(worst < tolerance);
    free(out[0]);
  }
  free(row);
  free(p);
  free(dq);
  free(dk);
  free(dv);
  free(dm);
  vtpu_program_release(program);
}

static void test_attention_is_one_step(void) {
  attention_case(8, 20, TPT_PRECISION_HIGHEST, 1e-6);
  attention_case(33, 47, TPT_PRECISION_HIGHEST, 1e-6);
  attention_case(301, 1030, TPT_PRECISION_HIGHEST, 1e-6);
  attention_case(70, 2500, TPT_PRECISION_HIGHEST, 1e-6);
  attention_case(33, 47, TPT_PRECISION_DEFAULT, 1e-2);
  attention_case(301, 1030, TPT_PRECISION_HIGH, 1e-4);
}

// The gradient of the scores is used twice, by rows and by columns: it has to be in memory as well.
static void test_products_share_rows_that_others_read(void) {
  enum { B = 2, T = 40, D = 8 };
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 3, DIMS(B, T, D)), scores = type_of(TPT_F32, 3, DIMS(B, T, T));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_dot_t by_d = {.batch_count = 1,
                    .contract_count = 1,
                    .lhs_contract = {2},
                    .rhs_contract = {2},
                    .precision = TPT_PRECISION_HIGHEST};
  tpt_dot_t by_rows = by_d, by_columns = by_d;
  by_rows.rhs_contract[0] = 1;
  by_columns.lhs_contract[0] = by_columns.rhs_contract[0] = 1;
  tpt_value_t p = softmax(g, tpt_hlo_dot_general(g, x, x, &by_d), &scores);
  tpt_value_t results[2] = {tpt_hlo_dot_general(g, p, x, &by_rows),
                            tpt_hlo_dot_general(g, p, x, &by_columns)};
  tpt_graph_return(g, results, 2);
  float* dx = probe_random(&type);
  void* out[2];
  if (program_eval(g, (const void*[]){dx}, out, false)) {
    for (int b = 0; b < B; b++) {
      double columns[T][D] = {{0}};
      for (int t = 0; t < T; t++) {
        float row[T];
        double weights[T];
        for (int s = 0; s < T; s++) {
          double sum = 0;
          for (int d = 0; d < D; d++)
            sum += (double)dx[(b * T + t) * D + d] * dx[(b * T + s) * D + d];
          row[s] = (float)sum;
        }
        softmax_expect(row, weights, T);
        for (int d = 0; d < D; d++) {
          double want = 0;
          for (int s = 0; s < T; s++) {
            want += weights[s] * dx[(b * T + s) * D + d];
            columns[s][d] += weights[s] * dx[(b * T + t) * D + d];
          }
          CHECK_NEAR(((float*)out[0])[(b * T + t) * D + d], want, 1e-5);
        }
      }
      for (int s = 0; s < T; s++)
        for (int d = 0; d < D; d++)
          CHECK_NEAR(((float*)out[1])[(b * T + s) * D + d], columns[s][d], 1e-5);
    }
    free(out[0]);
    free(out[1]);
  }
  free(dx);
}

// Mean and centred rows of a transposed operand; the mean is a result as well, so it outlives the step.
static void test_norm_of_a_transposed_operand(void) {
  enum { A = 6, C = 10, N = 48 };
  tpt_graph_t* g = program_graph();
  tpt_type_t stored = type_of(TPT_F32, 3, DIMS(A, N, C)), type = type_of(TPT_F32, 3, DIMS(A, C, N));
  tpt_value_t x = tpt_hlo_transpose(g, tpt_graph_parameter(g, &stored), DIMS(0, 2, 1));
  tpt_type_t means = type_of(TPT_F32, 2, DIMS(A, C));
  tpt_value_t mean = tpt_hlo_binary(g, TPT_HLO_DIVIDE, reduce_rows(g, x, TPT_HLO_ADD, 0),
                                    tpt_hlo_splat_f64(g, &means, N));
  tpt_value_t d = tpt_hlo_binary(g, TPT_HLO_SUBTRACT, x, widen(g, mean, &type));
  tpt_value_t v = reduce_rows(g, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, d, d), TPT_HLO_ADD, 0);
  tpt_value_t y =
      tpt_hlo_binary(g, TPT_HLO_MULTIPLY, d, widen(g, tpt_hlo_unary(g, TPT_HLO_RSQRT, v), &type));
  tpt_value_t results[2] = {y, mean};
  vtpu_program_t* program;
  if (!compile(g, results, 2, &program)) return;
  CHECK_EQ(row_steps(program), 1);
  float* dx = probe_random(&stored);
  void* out[2];
  if (CHECK_OK(program_run(program, (const void*[]){dx}, out, false))) {
    for (int r = 0; r < A * C; r++) {
      const float* p = dx + r / C * N * C + r % C;
      double sum = 0, square = 0;
      for (int i = 0; i < N; i++)
        sum += p[i * C];
      for (int i = 0; i < N; i++)
        square += (p[i * C] - sum / N) * (p[i * C] - sum / N);
      CHECK_NEAR(((float*)out[1])[r], sum / N, 1e-6);
      for (int i = 0; i < N; i++)
        CHECK_NEAR(((float*)out[0])[r * N + i], (p[i * C] - sum / N) / sqrt(square), 1e-6);
    }
    free(out[0]);
    free(out[1]);
  }
  free(dx);
  vtpu_program_release(program);
}

// A product between the reduction and its reader must run before the reader and after the reduction.
static void test_a_step_between_keeps_loops_apart(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(32, 32));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t s = reduce_rows(g, tpt_hlo_unary(g, TPT_HLO_TANH, x), TPT_HLO_ADD, 0);
  tpt_dot_t dot = {.contract_count = 1,
                   .lhs_contract = {1},
                   .rhs_contract = {0},
                   .precision = TPT_PRECISION_HIGHEST};
  tpt_value_t wide = widen(g, s, &type);
  tpt_value_t p = tpt_hlo_dot_general(g, wide, x, &dot);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_ADD, p, wide);
  float* dx = probe_random(&type);
  void* out[1];
  tpt_graph_return(g, &y, 1);
  if (program_eval(g, (const void*[]){dx}, out, false)) {
    for (int i = 0; i < 32; i++) {
      double sum = 0;
      for (int k = 0; k < 32; k++)
        sum += tanh(dx[i * 32 + k]);
      for (int j = 0; j < 32; j++) {
        double want = sum;
        for (int k = 0; k < 32; k++)
          want += sum * dx[k * 32 + j];
        CHECK_NEAR(((float*)out[0])[i * 32 + j], want, 1e-4);
      }
    }
    free(out[0]);
  }
  free(dx);
}

// Rows that meet only through a transpose are not the same rows.
static void test_rows_of_a_transpose_are_not_grouped(void) {
  enum { N = 24 };
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(N, N));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t e = tpt_hlo_unary(g, TPT_HLO_EXP, x);
  tpt_value_t s = reduce_rows(g, e, TPT_HLO_ADD, 0);
  tpt_value_t y =
      tpt_hlo_binary(g, TPT_HLO_MULTIPLY, tpt_hlo_transpose(g, e, DIMS(1, 0)), widen(g, s, &type));
  tpt_value_t results[2] = {y, e};
  tpt_graph_return(g, results, 2);
  float* dx = probe_random(&type);
  void* out[2];
  if (program_eval(g, (const void*[]){dx}, out, false)) {
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k < N; k++)
        sum += exp(dx[i * N + k]);
      for (int j = 0; j < N; j++)
        CHECK_NEAR(((float*)out[0])[i * N + j], exp(dx[j * N + i]) * sum, 1e-4);
    }
    free(out[0]);
    free(out[1]);
  }
  free(dx);
}

int main(void) {
  RUN(test_softmax_of_every_shape);
  RUN(test_rows_are_standardised_in_every_shape);
  RUN(test_masks_that_repeat);
  RUN(test_attention_is_one_step);
  RUN(test_products_share_rows_that_others_read);
  RUN(test_norm_of_a_transposed_operand);
  RUN(test_a_step_between_keeps_loops_apart);
  RUN(test_rows_of_a_transpose_are_not_grouped);
  return TEST_RESULT;
}
