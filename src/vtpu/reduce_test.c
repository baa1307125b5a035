// Tests of reductions: every choice of dimensions against plain loops, all types, chunks, initial
// values, bodies that must combine in order.
#include "vtpu/loop.h"
#include "vtpu/program_probe.h"

// Reference: folds in index order, in double.
typedef double (*fold_t)(double a, double x);
static double add(double a, double x) {
  return a + x;
}
static double multiply(double a, double x) {
  return a * x;
}
static double maximum(double a, double x) {
  return isnan(a) || isnan(x) ? NAN : (a > x ? a : x);
}
static double minimum(double a, double x) {
  return isnan(a) || isnan(x) ? NAN : (a < x ? a : x);
}

static void reference(const tpt_type_t* type, const void* data, const bool* reduced, double init,
                      fold_t fold, double* out) {
  int64_t at[TPT_RANK_MAX] = {0}, count = tpt_type_count(type), results = 1;
  for (int d = 0; d < type->rank; d++)
    if (!reduced[d]) results *= type->dims[d];
  for (int64_t i = 0; i < results; i++)
    out[i] = init;
  for (int64_t i = 0; i < count; i++) {
    int64_t place = 0;
    for (int d = 0; d < type->rank; d++)
      if (!reduced[d]) place = place * type->dims[d] + at[d];
    out[place] = fold(out[place], probe_get(type->dtype, data, i));
    for (int d = type->rank - 1; d >= 0 && ++at[d] == type->dims[d]; d--)
      at[d] = 0;
  }
}

typedef struct reduce_case {
  tpt_type_t type;
  unsigned mask;  // reduced dimensions
  tpt_hlo_t op;
  fold_t fold;
  double init, tolerance;
} reduce_case_t;

static void check_case(const reduce_case_t* c, const void* data) {
  bool reduced[TPT_RANK_MAX] = {false};
  int64_t dims[TPT_RANK_MAX];
  int count = 0;
  for (int d = 0; d < c->type.rank; d++)
    if (c->mask >> d & 1) {
      reduced[d] = true;
      dims[count++] = d;
    }
  tpt_graph_t* g = program_graph();
  tpt_value_t x = tpt_graph_parameter(g, &c->type);
  tpt_value_t y =
      tpt_hlo_reduce(g, x, tpt_hlo_scalar_f64(g, c->type.dtype, c->init), c->op, dims, count);
  tpt_graph_return(g, &y, 1);
  tpt_type_t type = *tpt_graph_type(g, y);
  void* out[1];
  if (!program_eval(g, &data, out, false)) return;
  double* want = malloc(sizeof(*want) * (size_t)(tpt_type_count(&type) + 1));
  reference(&c->type, data, reduced, c->init, c->fold, want);
  int bad = 0;
  for (int64_t i = 0; i < tpt_type_count(&type) && !bad; i++) {
    double got = probe_get(type.dtype, out[0], i);
    bool equal = (isnan(got) && isnan(want[i])) || got == want[i] ||
                 fabs(got - want[i]) <= c->tolerance * (1 + fabs(want[i]));
    if (equal) continue;
    char text[120];
    fprintf(stderr, "reduce %s of %s, mask %u: element %lld is %.9g, not %.9g\n",
            tpt_hlo_row(c->op)->mnemonic, tpt_type_print(&c->type, text, sizeof(text)), c->mask,
            (long long)i, got, want[i]);
    tpt_check_failures++;
    bad = 1;
  }
  free(want);
  free(out[0]);
}

static void check_shape(tpt_dtype_t dtype, int rank, const int64_t* dims) {
  reduce_case_t c = {
      .type = type_of(dtype, rank, dims),
      .tolerance =
          dtype == TPT_BF16 ? 0.01 : (dtype == TPT_F16 ? 2e-3 : (dtype == TPT_F32 ? 1e-5 : 1e-12))};
  void* data = probe_random(&c.type);
  for (c.mask = 0; c.mask < 1u << rank; c.mask++) {
    c.op = TPT_HLO_ADD, c.fold = add, c.init = dtype == TPT_U8 || dtype == TPT_S8 ? 0 : 3;
    if (dtype == TPT_U8 || dtype == TPT_S8) {
      int64_t reduced = 1;
      for (int d = 0; d < rank; d++)
        if (c.mask >> d & 1) reduced *= dims[d];
      if (reduced > 8) continue;  // would wrap
    }
    check_case(&c, data);
    c.op = TPT_HLO_MAXIMUM, c.fold = maximum,
    c.init = tpt_dtype_row(dtype)->kind == TPT_CLASS_UINT ? 0 : -1;
    check_case(&c, data);
    c.op = TPT_HLO_MINIMUM, c.fold = minimum, c.init = 2;
    check_case(&c, data);
  }
  free(data);
}

static void test_all_dimension_choices_reduce(void) {
  check_shape(TPT_F32, 3, DIMS(5, 7, 3));
  check_shape(TPT_F32, 3, DIMS(3, 300, 4));
  check_shape(TPT_F32, 3, DIMS(40, 2, 600));
  check_shape(TPT_F32, 4, DIMS(4, 9, 5, 33));
  check_shape(TPT_F32, 1, DIMS(5000));
  check_shape(TPT_F32, 0, NULL);
  check_shape(TPT_F32, 2, DIMS(1, 1));
  check_shape(TPT_F32, 2, DIMS(3000, 5));
}

static void test_all_types_reduce(void) {
  static const tpt_dtype_t dtypes[] = {TPT_F64, TPT_BF16, TPT_F16, TPT_S32, TPT_S64, TPT_S16,
                                       TPT_S8,  TPT_U8,   TPT_U16, TPT_U32, TPT_U64};
  for (size_t i = 0; i < sizeof(dtypes) / sizeof(*dtypes); i++) {
    check_shape(dtypes[i], 3, DIMS(3, 17, 6));
    check_shape(dtypes[i], 2, DIMS(2, 700));
  }
}

static void test_empty_reductions_give_the_initial_value(void) {
  check_shape(TPT_F32, 3, DIMS(4, 0, 5));
  check_shape(TPT_BF16, 3, DIMS(4, 0, 5));
  check_shape(TPT_S32, 2, DIMS(0, 3));
  check_shape(TPT_F32, 1, DIMS(0));
}

static void test_products_and_nan(void) {
  reduce_case_t c = {.type = type_of(TPT_F32, 2, DIMS(6, 50)),
                     .op = TPT_HLO_MULTIPLY,
                     .fold = multiply,
                     .init = 2,
                     .tolerance = 1e-6};
  float* data = probe_random(&c.type);
  for (int i = 0; i < 300; i++)
    data[i] += 1.0f;
  for (c.mask = 0; c.mask < 4; c.mask++)
    check_case(&c, data);
  data[77] = NAN;
  c.op = TPT_HLO_MAXIMUM, c.fold = maximum, c.init = -10;
  for (c.mask = 0; c.mask < 4; c.mask++)
    check_case(&c, data);
  c.op = TPT_HLO_MINIMUM, c.fold = minimum;
  for (c.mask = 0; c.mask < 4; c.mask++)
    check_case(&c, data);
  free(data);
}

static void test_long_sums_are_cut_and_accurate(void) {
  enum { N = 1 << 21 };
  reduce_case_t c = {.type = type_of(TPT_F32, 1, DIMS(N)),
                     .mask = 1,
                     .op = TPT_HLO_ADD,
                     .fold = add,
                     .init = 1,
                     .tolerance = 1e-7};
  float* data = malloc(N * sizeof(*data));
  for (int i = 0; i < N; i++)
    data[i] = 1.0f + 0.001f * (float)(i % 1000);
  check_case(&c, data);
  c.type = type_of(TPT_F32, 2, DIMS(N / 2, 2));
  check_case(&c, data);  // rows away, two columns stay
  c.type = type_of(TPT_F32, 2, DIMS(N / 512, 512));
  check_case(&c, data);
  c.type = type_of(TPT_F32, 2, DIMS(3, N / 4)), c.mask = 2;
  check_case(&c, data);
  free(data);
}

static void test_pred_and_bits_reduce(void) {
  enum { R = 5, C = 40 };
  tpt_type_t type = type_of(TPT_PRED, 2, DIMS(R, C));
  static const tpt_hlo_t ops[] = {TPT_HLO_AND, TPT_HLO_OR, TPT_HLO_XOR};
  for (int k = 0; k < 3; k++)
    for (int dim = 0; dim < 2; dim++) {
      tpt_graph_t* g = program_graph();
      tpt_value_t x = tpt_graph_parameter(g, &type);
      tpt_value_t y =
          tpt_hlo_reduce(g, x, tpt_hlo_scalar_i64(g, TPT_PRED, k == 0), ops[k], DIMS(dim), 1);
      tpt_graph_return(g, &y, 1);
      uint8_t* data = probe_random(&type);
      if (k == 0) memset(data + C, 1, C);
      if (k == 1) memset(data + C, 0, C);
      void* out[1];
      if (program_eval(g, (const void*[]){data}, out, false)) {
        for (int i = 0; i < (dim ? R : C); i++) {
          int want = k == 0;
          for (int j = 0; j < (dim ? C : R); j++) {
            int v = dim ? data[i * C + j] : data[j * C + i];
            want = k == 0 ? want & v : (k == 1 ? want | v : want ^ v);
          }
          CHECK_EQ(((uint8_t*)out[0])[i], want);
        }
        free(out[0]);
      }
      free(data);
    }
}

// (value, index) pairs: the first largest wins; NaN beats everything.
static tpt_value_t argmax(tpt_graph_t* g, tpt_value_t x, int dim, tpt_dtype_t dtype) {
  tpt_type_t space = *tpt_graph_type(g, x), index_type = space;
  index_type.dtype = TPT_S32;
  tpt_value_t iota = tpt_hlo_iota(g, &index_type, dim);
  tpt_value_t inits[2] = {tpt_hlo_scalar_f64(g, dtype, -INFINITY),
                          tpt_hlo_scalar_i64(g, TPT_S32, 0)};
  tpt_type_t types[4] = {tpt_type_scalar(dtype), tpt_type_scalar(TPT_S32), tpt_type_scalar(dtype),
                         tpt_type_scalar(TPT_S32)};
  tpt_value_t args[4], results[2];
  tpt_region_begin(g, types, 4, args);
  // Keeps the left one on ties: right only if the order of combination is that of the indexes.
  tpt_value_t keep = tpt_hlo_binary(g, TPT_HLO_OR, tpt_hlo_compare(g, TPT_GE, args[0], args[2]),
                                    tpt_hlo_compare(g, TPT_NE, args[0], args[0]));
  results[0] = tpt_hlo_select(g, keep, args[0], args[2]);
  results[1] = tpt_hlo_select(g, keep, args[1], args[3]);
  uint32_t body = tpt_region_end(g, results, 2);
  tpt_value_t xs[2] = {x, iota};
  int64_t reduced = dim;
  tpt_reduction_t reduction = {
      .xs = xs, .inits = inits, .count = 2, .dims = &reduced, .dim_count = 1, .body = body};
  tpt_value_t first = tpt_hlo_reduce_n(g, &reduction);
  return (tpt_value_t){first.index + 1};
}

static void check_argmax(int64_t a, int64_t b, int64_t c, int dim, tpt_dtype_t dtype) {
  int64_t dims[3] = {a, b, c};
  tpt_type_t type = type_of(dtype, 3, dims);
  tpt_graph_t* g = program_graph();
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t y = argmax(g, x, dim, dtype);
  tpt_graph_return(g, &y, 1);
  void* data = probe_random(&type);
  int64_t count = a * b * c;
  for (int64_t i = 0; i < count; i++)  // many ties
    probe_set(dtype, data, i, (double)probe_int(0, 20));
  void* out[1];
  if (program_eval(g, (const void*[]){data}, out, false)) {
    int64_t inner = dim == 2 ? 1 : (dim == 1 ? c : b * c), n = dims[dim], bad = 0;
    for (int64_t r = 0; r < count / n; r++) {
      int64_t base = r / inner * inner * n + r % inner, best = 0;
      for (int64_t i = 1; i < n; i++)
        if (probe_get(dtype, data, base + i * inner) > probe_get(dtype, data, base + best * inner))
          best = i;
      bad += ((int32_t*)out[0])[r] != best;
    }
    if (bad) fprintf(stderr, "argmax %ldx%ldx%ld dim %d\n", (long)a, (long)b, (long)c, dim);
    CHECK_EQ(bad, 0);
    free(out[0]);
  }
  free(data);
}

static void test_bodies_combine_in_order(void) {
  for (int dim = 0; dim < 3; dim++) {
    check_argmax(3, 5, 7, dim, TPT_F32);
    check_argmax(2, 300, 10, dim, TPT_F32);
    check_argmax(130, 3, 333, dim, TPT_F32);
    check_argmax(4, 4, 5000, dim, TPT_BF16);
    check_argmax(1, 1, 1, dim, TPT_F64);
  }
  check_argmax(1, 1, 1 << 20, 2, TPT_F32);
  check_argmax(1 << 18, 1, 3, 0, TPT_F32);
}

static void test_initial_values_may_be_computed(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(3, 4)), scalar = tpt_type_scalar(TPT_F32);
  tpt_value_t x = tpt_graph_parameter(g, &type), s = tpt_graph_parameter(g, &scalar);
  tpt_value_t init = tpt_hlo_unary(g, TPT_HLO_NEGATE, s);
  tpt_value_t y = tpt_hlo_reduce(g, x, init, TPT_HLO_ADD, DIMS(1), 1);
  tpt_graph_return(g, &y, 1);
  float data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, five = 5;
  void* out[1];
  if (!program_eval(g, (const void*[]){data, &five}, out, false)) return;
  CHECK(((float*)out[0])[0] == 5 && ((float*)out[0])[1] == 21 && ((float*)out[0])[2] == 37);
  free(out[0]);
}

static void test_complex_sums(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_C64, 2, DIMS(2, 3));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t y = tpt_hlo_reduce(g, x, tpt_hlo_scalar_f64(g, TPT_C64, 1), TPT_HLO_ADD, DIMS(1), 1);
  tpt_graph_return(g, &y, 1);
  float data[12] = {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6};
  void* out[1];
  if (!program_eval(g, (const void*[]){data}, out, false)) return;
  const float* z = out[0];
  CHECK(z[0] == 7 && z[1] == -6 && z[2] == 16 && z[3] == -15);
  free(out[0]);
}

int main(void) {
  RUN(test_all_dimension_choices_reduce);
  RUN(test_all_types_reduce);
  RUN(test_empty_reductions_give_the_initial_value);
  RUN(test_products_and_nan);
  RUN(test_long_sums_are_cut_and_accurate);
  RUN(test_pred_and_bits_reduce);
  RUN(test_bodies_combine_in_order);
  RUN(test_initial_values_may_be_computed);
  RUN(test_complex_sums);
  return TEST_RESULT;
}
