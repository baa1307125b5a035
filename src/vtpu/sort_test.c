// sort against a naive stable insertion: simple comparators of every kind and type, compound ones, NaN,
// several operands, any dimension, long rows.
#include "vtpu/kernel_probe.h"
#include "vtpu/sort.h"

// The comparator of a case: a compare of operand `key`, turned round or not; or a compound one.
typedef struct order {
  int key;
  tpt_compare_t direction;
  bool is_swapped, is_total, is_compound;
} order_t;

static uint32_t comparator_make(tpt_graph_t* graph, const tpt_type_t* types, int count,
                                const order_t* order) {
  tpt_type_t scalars[2 * VTPU_SORT_OPERANDS_MAX];
  tpt_value_t args[2 * VTPU_SORT_OPERANDS_MAX], operands[2];
  for (int i = 0; i < 2 * count; i++)
    scalars[i] = tpt_type_scalar(types[i / 2].dtype);
  tpt_region_begin(graph, scalars, (uint32_t)(2 * count), args);
  operands[0] = args[2 * order->key + order->is_swapped];
  operands[1] = args[2 * order->key + !order->is_swapped];
  tpt_attr_t attrs[2] = {{.is_set = true, .i = order->direction},
                         {.is_set = order->is_total, .i = TPT_COMPARE_TOTALORDER}};
  tpt_node_params_t params = {
      .op = TPT_HLO_COMPARE, .operands = operands, .operand_count = 2, .attrs = attrs};
  tpt_value_t less = tpt_graph_append(graph, &params);
  if (order->is_compound) {  // NaN last
    tpt_value_t a = operands[0], b = operands[1];
    tpt_value_t b_nan = tpt_hlo_compare(graph, TPT_NE, b, b);
    tpt_value_t a_number = tpt_hlo_compare(graph, TPT_EQ, a, a);
    tpt_value_t nan_after = tpt_hlo_binary(graph, TPT_HLO_AND, b_nan, a_number);
    less = tpt_hlo_binary(graph, TPT_HLO_OR, less, nan_after);
  }
  return tpt_region_end(graph, &less, 1);
}

// Total order of doubles: by sign, then magnitude; NaN beyond infinity.
static double total_rank(double x) {
  double rank = isnan(x) ? 1e300 : isinf(x) ? 1e299 : fabs(x) + 1e-30;
  return signbit(x) ? -rank : rank;
}

static bool is_less(const order_t* order, double a, double b) {
  if (order->is_swapped) {
    double x = a;
    a = b, b = x;
  }
  if (order->is_total) a = total_rank(a), b = total_rank(b);
  bool less = order->direction == TPT_LT   ? a < b
              : order->direction == TPT_GT ? a > b
              : order->direction == TPT_LE ? a <= b
                                           : a >= b;
  return less || (order->is_compound && isnan(b) && !isnan(a));
}

typedef struct sample {
  int count;
  tpt_type_t types[3];
  int dim;
  order_t order;
  char* data[3];
  void* out[3];
} sample_t;

static void sample_run(sample_t* s) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_value_t xs[3];
  for (int i = 0; i < s->count; i++)
    xs[i] = tpt_graph_parameter(graph, &s->types[i]);
  uint32_t block = comparator_make(graph, s->types, s->count, &s->order);
  tpt_value_t result = tpt_hlo_sort(graph, xs, s->count, s->dim, true, block);
  if (!CHECK_OK(probe_run(graph, result, (const void* const*)s->data, s->out))) s->out[0] = NULL;
  tpt_graph_release(graph);
}

// Compares with a stable insertion sort of every row.
static int sample_wrong(const sample_t* s) {
  const tpt_type_t* type = &s->types[0];
  int64_t n = type->dims[s->dim], inner = 1, wrong = 0;
  for (int d = s->dim + 1; d < type->rank; d++)
    inner *= type->dims[d];
  int64_t rows = n > 0 ? tpt_type_count(type) / n : 0;
  int64_t* positions = malloc((size_t)(n + 1) * sizeof(*positions));
  tpt_dtype_t dtype = s->types[s->order.key].dtype;
  for (int64_t row = 0; row < rows; row++) {
    int64_t base = row / inner * inner * n + row % inner;
    for (int64_t i = 0; i < n; i++) {
      int64_t j = i;
      double x = probe_get(dtype, s->data[s->order.key], base + i * inner);
      for (; j > 0; j--) {
        double before = probe_get(dtype, s->data[s->order.key], base + positions[j - 1] * inner);
        if (!is_less(&s->order, x, before)) break;
        positions[j] = positions[j - 1];
      }
      positions[j] = i;
    }
    for (int o = 0; o < s->count; o++) {
      size_t size = tpt_dtype_size(s->types[o].dtype);
      for (int64_t i = 0; i < n; i++)
        wrong += memcmp((char*)s->out[o] + (size_t)(base + i * inner) * size,
                        s->data[o] + (size_t)(base + positions[i] * inner) * size, size) != 0;
    }
  }
  free(positions);
  return (int)wrong;
}

static void sample_make(sample_t* s, tpt_dtype_t dtype, int64_t extent) {
  static const tpt_dtype_t others[3] = {TPT_S32, TPT_C128, TPT_S8};
  s->count = (int)probe_int(1, 3);
  s->order.key = (int)probe_int(0, s->count - 1);
  tpt_type_t type = {.dtype = dtype, .rank = (int)probe_int(1, 3)};
  s->dim = (int)probe_int(0, type.rank - 1);
  for (int d = 0; d < type.rank; d++)
    type.dims[d] = probe_int(0, 19) ? probe_int(1, 5) : 0;
  type.dims[s->dim] = probe_int(0, extent);
  for (int i = 0; i < s->count; i++) {
    s->types[i] = type;
    if (i != s->order.key) s->types[i].dtype = others[probe_int(0, 2)];
    s->data[i] = probe_random(&s->types[i]);
  }
  // Ties, and the special values of floats.
  for (int64_t i = 0; i < tpt_type_count(&type); i++) {
    double value = probe_get(dtype, s->data[s->order.key], i);
    if (tpt_dtype_is_float(dtype)) value = floor(value * 8) / 2;
    if (tpt_dtype_row(dtype)->kind == TPT_CLASS_SINT) value -= 7;
    if (tpt_dtype_is_float(dtype) && (s->order.is_total || s->order.is_compound)) {
      int64_t special = probe_int(0, 15);
      value = special == 0 ? NAN : special == 1 ? -NAN : special == 2 ? -0.0 : value;
    } else if (tpt_dtype_is_float(dtype)) {
      int64_t special = probe_int(0, 9);
      value = special == 0 ? INFINITY : special == 1 ? -0.0 : value;
    }
    probe_set(dtype, s->data[s->order.key], i, value);
  }
}

static void sample_free(sample_t* s) {
  for (int i = 0; i < s->count; i++) {
    free(s->data[i]);
    free(s->out[i]);
  }
}

static void test_simple_comparators_sort_every_type(void) {
  static const tpt_dtype_t dtypes[12] = {TPT_F32, TPT_F64, TPT_BF16, TPT_F16, TPT_S8,  TPT_S16,
                                         TPT_S32, TPT_S64, TPT_U8,   TPT_U32, TPT_U64, TPT_PRED};
  for (int round = 0; round < 480; round++) {
    sample_t s = {.order = {.direction = round & 1 ? TPT_GT : TPT_LT, .is_swapped = round & 2}};
    s.order.is_total = tpt_dtype_is_float(dtypes[round % 12]) && (round & 4);
    sample_make(&s, dtypes[round % 12], round % 10 == 0 ? 300 : 30);
    sample_run(&s);
    if (s.out[0]) CHECK_EQ(sample_wrong(&s), 0);
    sample_free(&s);
  }
}

static void test_compound_and_weak_comparators_sort(void) {
  static const tpt_dtype_t dtypes[3] = {TPT_F32, TPT_F64, TPT_S32};
  for (int round = 0; round < 300; round++) {
    sample_t s = {.order = {.direction = TPT_LT}};
    s.order.is_compound = tpt_dtype_is_float(dtypes[round % 3]);
    s.order.is_swapped = round & 1;
    if (round & 1) s.order.is_compound = false, s.order.direction = TPT_GT;
    if (!s.order.is_compound && tpt_dtype_is_float(dtypes[round % 3])) s.order.is_total = true;
    sample_make(&s, dtypes[round % 3], round % 10 == 0 ? 500 : 40);
    sample_run(&s);
    if (s.out[0]) CHECK_EQ(sample_wrong(&s), 0);
    sample_free(&s);
  }
}

static void test_long_rows_are_merged_in_pieces(void) {
  for (int64_t n = 2000; n < 6000; n += 777) {
    sample_t s = {.count = 1, .order = {.direction = TPT_LT, .is_compound = true}};
    s.types[0] = tpt_type_make(TPT_F64, 1, (int64_t[]){n});
    s.data[0] = probe_random(&s.types[0]);
    for (int64_t i = 0; i < n; i += 50)
      ((double*)s.data[0])[i] = NAN;
    sample_run(&s);
    if (s.out[0]) CHECK_EQ(sample_wrong(&s), 0);
    sample_free(&s);
  }
}

// A comparator that is no order at all still yields a permutation.
static void test_unordered_values_are_never_lost(void) {
  enum { N = 3000 };
  for (int round = 0; round < 4; round++) {
    sample_t s = {.count = 1};
    s.order.direction = round & 1 ? TPT_LE : TPT_LT;
    s.types[0] = tpt_type_make(TPT_F32, 1, (int64_t[]){N});
    s.data[0] = malloc(N * sizeof(float));
    float* values = (float*)s.data[0];
    double sum = 0, got = 0;
    int nans = 0, got_nans = 0;
    for (int i = 0; i < N; i++) {
      values[i] = i % 7 == round ? NAN : (float)probe_int(0, 999);
      if (isnan(values[i])) nans++;
      if (!isnan(values[i])) sum += values[i];
    }
    sample_run(&s);
    for (int i = 0; i < N && s.out[0]; i++) {
      float value = ((float*)s.out[0])[i];
      if (isnan(value)) got_nans++;
      if (!isnan(value)) got += value;
    }
    CHECK_EQ(got_nans, nans);
    CHECK(got == sum);
    sample_free(&s);
  }
}

int main(void) {
  RUN(test_simple_comparators_sort_every_type);
  RUN(test_compound_and_weak_comparators_sort);
  RUN(test_long_rows_are_merged_in_pieces);
  RUN(test_unordered_values_are_never_lost);
  return TEST_RESULT;
}
