// For tests: calls a row with arguments written in place, lowers it, runs the program on the virtual
// TPU at full precision, and keeps every result widened to double.
//
//   row_t r;
//   row_begin(&r, "mse_loss");
//   row_f32(&r, 1, DIMS(2), DATA(1, 2));       // a tensor argument
//   row_f32(&r, 1, DIMS(2), DATA(0, 0));
//   row_int(&r, 2);
//   if (row_run(&r)) CHECK_ROW(&r, 0, 1e-6, 5.0);
//   row_end(&r);
#ifndef TPUTORCH_ATEN_ROW_PROBE_H_
#define TPUTORCH_ATEN_ROW_PROBE_H_

#include "aten/lower.h"
#include "aten/stride.h"
#include "base/fault.h"
#include "vtpu/program_probe.h"

enum { ROW_ARGS_MAX = 24, ROW_RESULTS_MAX = 16 };

typedef struct row_result {
  bool is_none;
  tpt_type_t type;
  int64_t strides[TPT_RANK_MAX];
  double* data;  // owned by the arena
} row_result_t;

typedef struct row {
  tpt_arena_t arena;
  tpt_lower_t lower;
  tpt_arg_t args[ROW_ARGS_MAX];
  tpt_tensor_t tensors[ROW_ARGS_MAX];
  void* data[ROW_ARGS_MAX];  // of tensor arguments, in their dtype
  int count;
  uint64_t seed, offset;
  row_result_t results[ROW_RESULTS_MAX];  // plain results, then written arguments
  int result_count;
} row_t;

#define DATA(...) ((const double[]){__VA_ARGS__})

static inline void row_begin(row_t* r, const char* name) {
  memset(r, 0, sizeof(*r));
  tpt_arena_init(&r->arena);
  r->lower.op = tpt_op_find(name);
  r->lower.default_dtype = TPT_F32;
  r->lower.precision = TPT_PRECISION_HIGHEST;
  r->seed = 42;
  if (!r->lower.op) {
    fprintf(stderr, "no row is named %s\n", name);
    tpt_check_failures++;
  }
}
static inline void row_end(row_t* r) {
  tpt_graph_release(r->lower.graph);
  tpt_arena_deinit(&r->arena);
}

// A dense, contiguous tensor argument.
static inline void row_tensor(row_t* r, tpt_dtype_t dtype, int rank, const int64_t* dims,
                              const double* data) {
  tpt_type_t type = tpt_type_make(dtype, rank, dims);
  int64_t count = tpt_type_count(&type), *strides = tpt_arena_calloc(&r->arena, TPT_RANK_MAX, 8);
  tpt_tensor_t* t = &r->tensors[r->count];
  tpt_strides_contiguous(rank, dims, strides);
  t->sizes = tpt_arena_copy(&r->arena, type.dims, sizeof(type.dims));
  t->strides = strides;
  t->rank = rank;
  t->dtype = dtype;
  r->data[r->count] = tpt_arena_calloc(&r->arena, (size_t)count + 1, 16);
  for (int64_t i = 0; i < count; i++)
    probe_set(dtype, r->data[r->count], i, data[i]);
  r->args[r->count].kind = TPT_ARG_TENSOR;
  r->args[r->count++].tensors = t;
}
static inline void row_f32(row_t* r, int rank, const int64_t* dims, const double* data) {
  row_tensor(r, TPT_F32, rank, dims, data);
}
// The latest tensor argument gets channels-last strides.
static inline void row_channels_last(row_t* r) {
  tpt_tensor_t* t = &r->tensors[r->count - 1];
  tpt_strides_channels_last(t->rank, t->sizes, (int64_t*)t->strides);
}
static inline void row_none(row_t* r) {
  r->args[r->count++].kind = TPT_ARG_NONE;
}
static inline void row_int(row_t* r, int64_t value) {
  r->args[r->count].kind = TPT_ARG_INT;
  r->args[r->count++].number = (tpt_number_t){.dtype = TPT_S64, .i = value};
}
static inline void row_bool(row_t* r, bool value) {
  row_int(r, value);
  r->args[r->count - 1].kind = TPT_ARG_BOOL;
}
static inline void row_dtype(row_t* r, tpt_dtype_t dtype) {
  row_int(r, dtype);
  r->args[r->count - 1].kind = TPT_ARG_DTYPE;
}
static inline void row_float(row_t* r, double value) {
  r->args[r->count].kind = TPT_ARG_FLOAT;
  r->args[r->count++].number = (tpt_number_t){.dtype = TPT_F64, .f = value};
}
static inline void row_list(row_t* r, tpt_arg_kind_t kind, int count, const int64_t* values) {
  r->args[r->count].kind = kind;
  r->args[r->count].count = (uint32_t)count;
  r->args[r->count++].ints = values;
}
#define ROW_INTS(r, ...)                                                                           \
  row_list((r), TPT_ARG_INTS, (int)(sizeof(DIMS(__VA_ARGS__)) / 8), DIMS(__VA_ARGS__))
#define ROW_BOOLS(r, ...)                                                                          \
  row_list((r), TPT_ARG_BOOLS, (int)(sizeof(DIMS(__VA_ARGS__)) / 8), DIMS(__VA_ARGS__))

// Checks, lowers; the program returns what the row returns and writes.
static inline tpt_status_t row_lower(row_t* r) {
  tpt_lower_t* l = &r->lower;
  TPT_TRY(tpt_graph_create(&l->graph));
  for (int i = 0; i < r->count; i++) {
    if (!r->tensors[i].sizes) continue;
    tpt_type_t type = tpt_type_make(r->tensors[i].dtype, r->tensors[i].rank, r->tensors[i].sizes);
    r->tensors[i].value = tpt_graph_parameter(l->graph, &type).index;
  }
  l->args = r->args;
  l->arg_count = r->count;
  l->arena = &r->arena;
  TPT_TRY(tpt_op_check(l));
  TPT_TRY(tpt_op_lower(l));
  tpt_value_t values[ROW_RESULTS_MAX];
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->result_count + l->write_count; i++) {
    bool is_plain = i < l->result_count;
    const tpt_lowered_t* x = is_plain ? &l->results[i] : &l->writes[i - l->result_count];
    row_result_t* result = &r->results[r->result_count++];
    result->is_none = tpt_value_is_none(x->value);
    if (result->is_none) continue;
    result->type = *tpt_graph_type(l->graph, x->value);
    if (is_plain) tpt_lower_strides(l, i, result->strides);
    values[count++] = x->value;
  }
  tpt_graph_return(l->graph, values, count);
  return tpt_graph_status(l->graph);
}

// Stores run-time numbers behind their parameters.
static inline void row_feed(row_t* r, const void** in) {
  for (int i = 0; i < r->count; i++) {
    tpt_value_t value = {r->tensors[i].value};
    if (r->tensors[i].sizes) in[tpt_graph_origin(r->lower.graph, value).number] = r->data[i];
  }
  for (uint32_t i = 0; i < r->lower.request_count; i++) {
    const tpt_request_t* q = &r->lower.requests[i];
    void* element = tpt_arena_calloc(&r->arena, 1, 16);
    tpt_number_t number = {.dtype = TPT_U64};
    if (q->kind == TPT_REQUEST_SCALAR) number = r->args[q->arg].number;
    if (q->kind == TPT_REQUEST_SCALAR && r->args[q->arg].kind == TPT_ARG_INTS)
      number = (tpt_number_t){.dtype = TPT_S64, .i = r->args[q->arg].ints[q->item]};
    if (q->kind == TPT_REQUEST_SEED) number.i = (int64_t)r->seed;
    if (q->kind == TPT_REQUEST_OFFSET) number.i = (int64_t)r->offset;
    tpt_number_store(&number, q->dtype, element);
    in[tpt_graph_origin(r->lower.graph, q->value).number] = element;
  }
}

static inline void row_keep(row_t* r, void* const* out) {
  for (int i = 0, k = 0; i < r->result_count; i++) {
    row_result_t* result = &r->results[i];
    if (result->is_none) continue;
    int64_t count = tpt_type_count(&result->type);
    result->data = tpt_arena_calloc(&r->arena, (size_t)count + 1, sizeof(double));
    for (int64_t e = 0; e < count; e++)
      result->data[e] = probe_get(result->type.dtype, out[k], e);
    free(out[k++]);
  }
}

// Lowers what a test wrote again with some of the allocations failing, one at a time; leaves the row
// as before lowering.
static inline void row_fault_begin(void* arg) {
  row_t* r = arg;
  const tpt_op_t* op = r->lower.op;
  r->lower = (tpt_lower_t){
      .op = op, .default_dtype = r->lower.default_dtype, .precision = r->lower.precision};
  r->result_count = 0;
}
static inline tpt_status_t row_fault_lower(void* arg) {
  return row_lower(arg);
}
static inline void row_fault_end(void* arg, bool has_failed) {
  row_t* r = arg;
  (void)has_failed;
  tpt_graph_release(r->lower.graph);
  row_fault_begin(r);
}
static inline void row_fail(row_t* r) {
  enum { POINTS = 24 };
  const fault_case_t lowering = {"row", row_fault_begin, row_fault_lower, row_fault_end};
  tpt_lower_t lower = r->lower;
  CHECK(fault_run(&lowering, r, POINTS) > 0);
  r->lower = lower;
}

// Lowers and runs. The status is the lowering's or the launch's.
static inline tpt_status_t row_try(row_t* r) {
  const void* in[64] = {NULL};
  void* out[ROW_RESULTS_MAX] = {NULL};
  TPT_TRY(row_lower(r));
  row_feed(r, in);
  vtpu_program_t* program = NULL;
  tpt_graph_t* graph = r->lower.graph;
  r->lower.graph = NULL;
  TPT_TRY(vtpu_program_compile(graph, &program));
  tpt_status_t status = program_run(program, in, out, false);
  vtpu_program_release(program);
  if (!status) row_keep(r, out);
  for (int i = 0; status && i < ROW_RESULTS_MAX; i++)
    free(out[i]);
  return status;
}
static inline bool row_run(row_t* r) {
  row_fail(r);
  return CHECK_OK(row_try(r));
}

static inline void row_compare(const row_t* r, int number, double tolerance, const double* want,
                               int64_t count, int line) {
  const row_result_t* result = &r->results[number];
  if (number >= r->result_count || result->is_none || tpt_type_count(&result->type) != count) {
    fprintf(stderr, "line %d: result %d has not %lld elements\n", line, number, (long long)count);
    tpt_check_failures++;
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    bool both_nan = isnan(want[i]) && isnan(result->data[i]);
    if (both_nan || want[i] == result->data[i] || fabs(want[i] - result->data[i]) <= tolerance)
      continue;
    fprintf(stderr, "line %d: result %d[%lld] is %.9g, not %.9g\n", line, number, (long long)i,
            result->data[i], want[i]);
    tpt_check_failures++;
  }
}
// Result `number` must have these elements.
#define CHECK_ROW(r, number, tolerance, ...)                                                       \
  row_compare((r), (number), (tolerance), DATA(__VA_ARGS__),                                       \
              (int64_t)(sizeof(DATA(__VA_ARGS__)) / sizeof(double)), __LINE__)
// Result `number` must have these strides.
#define CHECK_STRIDES(r, number, ...)                                                              \
  do {                                                                                             \
    for (int row_d = 0; row_d < (int)(sizeof(DIMS(__VA_ARGS__)) / 8); row_d++)                     \
      CHECK_EQ((r)->results[number].strides[row_d], DIMS(__VA_ARGS__)[row_d]);                     \
  } while (0)

#endif  // TPUTORCH_ATEN_ROW_PROBE_H_
