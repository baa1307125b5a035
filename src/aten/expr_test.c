// Formula shorthands: broadcasting, constants, neutral elements.
#include "aten/expr.h"
#include "vtpu/program_probe.h"

// The program's only result, as doubles.
static void eval(tpt_graph_t* g, tpt_v y, double* out) {
  tpt_type_t type = *tpt_graph_type(g, y);
  void* data[1] = {NULL};
  tpt_graph_return(g, &y, 1);
  if (!CHECK_OK(tpt_graph_status(g)) || !program_eval(g, NULL, data, false)) return;
  for (int64_t i = 0; i < tpt_type_count(&type); i++)
    out[i] = probe_get(type.dtype, data[0], i);
  free(data[0]);
}

static tpt_v vector(tpt_graph_t* g, tpt_dtype_t dtype, int count) {
  tpt_type_t type = tpt_type_make(dtype, 1, (int64_t[]){count});
  return tpt_hlo_iota(g, &type, 0);
}

static void test_operands_meet(void) {
  tpt_graph_t* g = program_graph();
  tpt_v row = vector(g, TPT_F32, 3);
  tpt_v column = tpt_hlo_reshape(g, vector(g, TPT_F32, 2), 2, (int64_t[]){2, 1});
  double out[6] = {0};
  eval(g, tpt_add(g, tpt_mul_f64(g, column, 10.0), tpt_add_f64(g, row, 1.0)), out);
  CHECK_EQ(out[0], 1);
  CHECK_EQ(out[5], 13);
}

static void test_select_stretches_all_three(void) {
  tpt_graph_t* g = program_graph();
  tpt_v row = vector(g, TPT_F32, 3);
  tpt_v is_one = tpt_eq(g, row, tpt_like(g, row, 1.0));
  double out[3] = {0};
  eval(g,
       tpt_select(g, is_one, tpt_hlo_scalar_f64(g, TPT_F32, 7.0),
                  tpt_hlo_scalar_f64(g, TPT_F32, 8.0)),
       out);
  CHECK_EQ(out[0], 8);
  CHECK_EQ(out[1], 7);
}

static void test_a_clash_of_shapes_fails_the_graph(void) {
  tpt_graph_t* g = program_graph();
  tpt_v y = tpt_add(g, vector(g, TPT_F32, 3), vector(g, TPT_F32, 2));
  CHECK(tpt_value_is_none(y));
  CHECK(tpt_value_is_none(tpt_exp(g, tpt_neg(g, y))));
  CHECK_FAILS(tpt_graph_status(g), TPT_INVALID_ARGUMENT, "The size of tensor a (3) must match");
  tpt_graph_release(g);
}

static void test_limits_of_dtypes(void) {
  static const struct {
    tpt_dtype_t dtype;
    double low, high;
  } kCases[] = {{TPT_S8, -128, 127},
                {TPT_U8, 0, 255},
                {TPT_S32, -0x1p31, 0x1p31 - 1},
                {TPT_PRED, 0, 1},
                {TPT_F16, -INFINITY, INFINITY},
                {TPT_F64, -INFINITY, INFINITY}};
  for (size_t i = 0; i < sizeof(kCases) / sizeof(*kCases); i++) {
    double out = 0;
    tpt_graph_t* g = program_graph();
    eval(g, tpt_lowest(g, kCases[i].dtype), &out);
    CHECK(out == kCases[i].low);
    g = program_graph();
    eval(g, tpt_highest(g, kCases[i].dtype), &out);
    CHECK(out == kCases[i].high);
  }
}

static void test_reductions_start_neutral(void) {
  double out = 1;
  tpt_graph_t* g = program_graph();
  eval(g, tpt_reduce_sum(g, vector(g, TPT_F32, 4), NULL, 0), &out);
  CHECK_EQ(out, 6);
  g = program_graph();
  eval(g, tpt_reduce_max(g, tpt_neg(g, vector(g, TPT_S32, 4)), NULL, 0), &out);
  CHECK_EQ(out, 0);
  g = program_graph();
  eval(g, tpt_reduce_min(g, vector(g, TPT_F32, 0), NULL, 0), &out);
  CHECK(out == INFINITY);
  g = program_graph();
  eval(g, tpt_reduce_sum(g, tpt_hlo_scalar_f64(g, TPT_F32, 5.0), NULL, 0), &out);
  CHECK_EQ(out, 5);
}

static void test_reduced_dimensions_come_back_as_ones(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = tpt_type_make(TPT_F32, 3, (int64_t[]){2, 3, 4});
  const int64_t dims[2] = {0, 2};
  tpt_v y = tpt_reduce_sum(g, tpt_hlo_splat_f64(g, &type, 1.0), dims, 2);
  const tpt_type_t* kept = tpt_graph_type(g, tpt_keep_dims(g, y, 3, dims, 2));
  CHECK_EQ(kept->rank, 3);
  CHECK_EQ(kept->dims[0], 1);
  CHECK_EQ(kept->dims[1], 3);
  CHECK_EQ(kept->dims[2], 1);
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_operands_meet);
  RUN(test_select_stretches_all_three);
  RUN(test_a_clash_of_shapes_fails_the_graph);
  RUN(test_limits_of_dtypes);
  RUN(test_reductions_start_neutral);
  RUN(test_reduced_dimensions_come_back_as_ones);
  return TEST_RESULT;
}
