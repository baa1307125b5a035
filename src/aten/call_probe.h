// For tests: a call of a row written as one line of text, run on the virtual TPU at full precision.
//
//   CHECK_CALL("add.Tensor", "f32[2]: 1 2; f32[]: 10; s 2", "f32[2]: 21 22");
//   CHECK_CALL_FAILS("arange", "s 1; none ...", TPT_INVALID_ARGUMENT, "step must be nonzero");
//
// Arguments are parted by ";":  `f32[2,3]: 1 2 3 4 5 6` a tensor, `{f32[1]: 1 | f32[1]: 2}` a list of
// them (an item may be `none`), `host f64: 2.5` a 0-d CPU tensor, `wrap 2` a Python number passed as a tensor, `s 2` `s 2.5`
// `s true` a Scalar, `f 2` a float, `i 3`, `b 1`, `d s64` a dtype, `is 1 2` int[], `t tanh` a string,
// `none`. "~" after a tensor's bracket gives it channels-last strides, "'" transposed ones. Results are
// tensors parted by ";", `none` for an undefined one; trailing arguments left out are None.
#ifndef TPUTORCH_ATEN_CALL_PROBE_H_
#define TPUTORCH_ATEN_CALL_PROBE_H_

#include <ctype.h>

#include "aten/lower.h"
#include "aten/stride.h"
#include "base/fault.h"
#include "vtpu/program_probe.h"

enum { CALL_ARGS_MAX = 24, CALL_TENSORS_MAX = 64 };

typedef struct call {
  tpt_arena_t arena;
  tpt_lower_t lower;
  tpt_arg_t args[CALL_ARGS_MAX];
  tpt_tensor_t tensors[CALL_TENSORS_MAX];
  void* data[CALL_TENSORS_MAX];
  int count, tensor_count;
  const char* next;  // of the text
} call_t;

static inline bool call_take(call_t* c, const char* word) {
  while (*c->next == ' ')
    c->next++;
  size_t size = strlen(word);
  if (strncmp(c->next, word, size) != 0) return false;
  if (isalnum((unsigned char)word[size - 1]) && isalnum((unsigned char)c->next[size])) return false;
  c->next += size;
  return true;
}

static inline double call_number(call_t* c) {
  if (call_take(c, "true")) return 1.0;
  if (call_take(c, "false")) return 0.0;
  char* end;
  double value = strtod(c->next, &end);
  if (end == c->next) {
    fprintf(stderr, "not a number: %s\n", c->next);
    tpt_check_failures++;
    end += *end != 0;
  }
  c->next = end;
  return value;
}

static inline bool call_has_number(call_t* c) {
  while (*c->next == ' ')
    c->next++;
  return *c->next && !strchr(";|}", *c->next);
}

static inline tpt_dtype_t call_dtype(call_t* c) {
  for (int d = 1; d < TPT_DTYPE_COUNT; d++)
    if (call_take(c, tpt_dtype_row((tpt_dtype_t)d)->name)) return (tpt_dtype_t)d;
  return TPT_DTYPE_INVALID;
}

static inline tpt_number_t call_scalar(call_t* c) {
  while (*c->next == ' ')
    c->next++;
  bool is_bool = *c->next == 't' || (*c->next == 'f');
  size_t size = strcspn(c->next, ";");
  bool is_float = memchr(c->next, '.', size) || memchr(c->next, 'n', size);
  if (is_bool || !is_float) {
    tpt_dtype_t dtype = is_bool ? TPT_PRED : TPT_S64;
    return (tpt_number_t){.dtype = dtype, .i = (int64_t)call_number(c)};
  }
  return (tpt_number_t){.dtype = TPT_F64, .f = call_number(c)};
}

static inline void call_strides(call_t* c, tpt_tensor_t* t, int64_t* strides) {
  tpt_strides_contiguous(t->rank, t->sizes, strides);
  if (*c->next == '~') tpt_strides_channels_last(t->rank, t->sizes, strides);
  if (*c->next == '\'') {
    int64_t sizes[TPT_RANK_MAX], reversed[TPT_RANK_MAX];
    for (int d = 0; d < t->rank; d++)
      sizes[d] = t->sizes[t->rank - 1 - d];
    tpt_strides_contiguous(t->rank, sizes, reversed);
    for (int d = 0; d < t->rank; d++)
      strides[d] = reversed[t->rank - 1 - d];
  }
  c->next += *c->next == '~' || *c->next == '\'';
}

// "f32[2,3]: ..." into the next tensor; INVALID dtype when the text is something else.
static inline tpt_tensor_t* call_tensor(call_t* c) {
  const char* start = c->next;
  tpt_dtype_t dtype = call_dtype(c);
  if (dtype == TPT_DTYPE_INVALID || *c->next != '[') {
    c->next = start;
    return NULL;
  }
  tpt_type_t type = {.dtype = dtype};
  for (c->next++; *c->next != ']'; c->next += *c->next == ',')
    type.dims[type.rank++] = (int64_t)call_number(c);
  c->next++;
  tpt_tensor_t* t = &c->tensors[c->tensor_count];
  int64_t* strides = tpt_arena_calloc(&c->arena, TPT_RANK_MAX, sizeof(*strides));
  t->dtype = dtype;
  t->rank = type.rank;
  t->sizes = tpt_arena_copy(&c->arena, type.dims, sizeof(type.dims));
  t->strides = strides;
  call_strides(c, t, strides);
  CHECK(call_take(c, ":"));
  int64_t count = tpt_type_count(&type);
  void* data = c->data[c->tensor_count++] = tpt_arena_calloc(&c->arena, (size_t)count + 1, 16);
  for (int64_t i = 0; i < count; i++)
    probe_set(dtype, data, i, call_number(c));
  return t;
}

static inline void call_list(call_t* c, tpt_arg_t* arg) {
  arg->kind = TPT_ARG_TENSORS;
  arg->tensors = &c->tensors[c->tensor_count];
  while (!call_take(c, "}")) {
    call_take(c, "|");
    if (call_take(c, "none")) {
      c->tensors[c->tensor_count++].flags = TPT_TENSOR_NONE;
    } else if (!call_tensor(c)) {
      break;
    }
    arg->count++;
  }
}

static inline void call_host(call_t* c, tpt_arg_t* arg, bool is_wrapped) {
  tpt_tensor_t* t = &c->tensors[c->tensor_count++];
  t->flags = TPT_TENSOR_HOST | (is_wrapped ? TPT_TENSOR_WRAPPED : 0);
  if (is_wrapped) {
    t->number = call_scalar(c);
  } else {
    t->number.dtype = call_dtype(c);
    CHECK(call_take(c, ":"));
    t->number.f = call_number(c);
    t->number.i = (int64_t)t->number.f;
  }
  t->dtype = t->number.dtype;
  arg->kind = TPT_ARG_TENSOR;
  arg->tensors = t;
}

static inline void call_ints(call_t* c, tpt_arg_t* arg) {
  int64_t* ints = tpt_arena_calloc(&c->arena, 32, sizeof(*ints));
  arg->kind = TPT_ARG_INTS;
  arg->ints = ints;
  while (call_has_number(c))
    ints[arg->count++] = (int64_t)call_number(c);
}

static inline void call_arg(call_t* c, tpt_arg_t* arg) {
  arg->number.dtype = TPT_S64;
  if (call_take(c, "none")) {
    arg->kind = TPT_ARG_NONE;
  } else if (call_take(c, "{")) {
    call_list(c, arg);
  } else if (call_take(c, "host")) {
    call_host(c, arg, false);
  } else if (call_take(c, "wrap")) {
    call_host(c, arg, true);
  } else if (call_take(c, "is")) {
    call_ints(c, arg);
  } else if (call_take(c, "t ")) {
    arg->kind = TPT_ARG_STRING;
    arg->count = (uint32_t)strcspn(c->next, "; ");
    arg->string = c->next;
    c->next += arg->count;
  } else if (call_take(c, "s ")) {
    arg->kind = TPT_ARG_SCALAR;
    arg->number = call_scalar(c);
  } else if (call_take(c, "f ")) {
    arg->kind = TPT_ARG_FLOAT;
    arg->number = (tpt_number_t){.dtype = TPT_F64, .f = call_number(c)};
  } else if (call_take(c, "d ")) {
    arg->kind = TPT_ARG_DTYPE;
    arg->number.i = call_dtype(c);
  } else if (call_take(c, "i ") || call_take(c, "b ")) {
    arg->kind = c->next[-2] == 'i' ? TPT_ARG_INT : TPT_ARG_BOOL;
    arg->number.i = (int64_t)call_number(c);
  } else {
    arg->kind = TPT_ARG_TENSOR;
    arg->count = 1;
    arg->tensors = call_tensor(c);
    CHECK(arg->tensors != NULL);
  }
}

static inline bool call_begin(call_t* c, const char* name, const char* text) {
  memset(c, 0, sizeof(*c));
  tpt_arena_init(&c->arena);
  c->lower = (tpt_lower_t){.op = tpt_op_find(name),
                           .default_dtype = TPT_F32,
                           .precision = TPT_PRECISION_HIGHEST,
                           .arena = &c->arena,
                           .rng_taken = TPT_VALUE_NONE,
                           .args = c->args};
  if (!c->lower.op) {
    fprintf(stderr, "no row is named %s\n", name);
    tpt_check_failures++;
    return false;
  }
  c->next = text;
  while (*c->next && c->count < CALL_ARGS_MAX) {
    call_arg(c, &c->args[c->count++]);
    call_take(c, ";");
  }
  c->lower.arg_count = tpt_op_schema(c->lower.op)->arg_count;
  return true;
}

static inline void call_end(call_t* c) {
  tpt_graph_release(c->lower.graph);
  tpt_arena_deinit(&c->arena);
}

// Checks and lowers; the program returns the results that are defined.
static inline tpt_status_t call_lower(call_t* c) {
  tpt_lower_t* l = &c->lower;
  TPT_TRY(tpt_graph_create(&l->graph));
  for (int i = 0; i < c->tensor_count; i++) {
    tpt_tensor_t* t = &c->tensors[i];
    if (t->flags) continue;
    tpt_type_t type = tpt_type_make(t->dtype, t->rank, t->sizes);
    t->value = tpt_graph_parameter(l->graph, &type).index;
  }
  TPT_TRY(tpt_op_check(l));
  TPT_TRY(tpt_op_lower(l));
  tpt_value_t values[CALL_TENSORS_MAX];
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->result_count; i++)
    if (!tpt_value_is_none(l->results[i].value)) values[count++] = l->results[i].value;
  tpt_graph_return(l->graph, values, count);
  return tpt_graph_status(l->graph);
}

static inline void call_feed(call_t* c, const void** in, uint64_t seed, uint64_t offset) {
  int k = 0;
  for (int i = 0; i < c->tensor_count; i++)
    if (!c->tensors[i].flags) in[k++] = c->data[i];
  for (uint32_t i = 0; i < c->lower.request_count; i++) {
    const tpt_request_t* q = &c->lower.requests[i];
    void* element = tpt_arena_calloc(&c->arena, 1, 16);
    tpt_number_t number = {.dtype = TPT_U64};
    number.i = (int64_t)(q->kind == TPT_REQUEST_SEED ? seed : offset);
    if (q->kind == TPT_REQUEST_SCALAR)
      number = q->is_tensor ? c->args[q->arg].tensors[q->item].number : c->args[q->arg].number;
    if (q->kind == TPT_REQUEST_SCALAR && c->args[q->arg].kind == TPT_ARG_INTS)
      number = (tpt_number_t){.dtype = TPT_S64, .i = c->args[q->arg].ints[q->item]};
    tpt_number_store(&number, q->dtype, element);
    in[k++] = element;
  }
}

static inline void call_compare(call_t* c, const tpt_type_t* type, const void* data) {
  tpt_tensor_t* want = call_tensor(c);
  tpt_type_t type_wanted = want ? tpt_type_make(want->dtype, want->rank, want->sizes) : *type;
  if (!want || !tpt_type_equal(type, &type_wanted)) {
    char text[160];
    fprintf(stderr, "a result is %s\n", tpt_type_print(type, text, sizeof(text)));
    tpt_check_failures++;
    return;
  }
  double tolerance = type->dtype == TPT_BF16  ? 1e-2
                     : type->dtype == TPT_F16 ? 2e-3
                     : type->dtype == TPT_F64 ? 1e-8
                                              : 2e-6;
  for (int64_t i = 0; i < tpt_type_count(type); i++) {
    double a = probe_get(type->dtype, data, i);
    double b = probe_get(type->dtype, c->data[c->tensor_count - 1], i);
    if (a == b ? signbit(a) == signbit(b) : isnan(a) && isnan(b)) continue;
    if (fabs(a - b) <= tolerance * fmax(1.0, fabs(b)) && a != b) continue;
    fprintf(stderr, "element %lld is %.9g, not %.9g\n", (long long)i, a, b);
    tpt_check_failures++;
  }
}

// Runs the lowered call and compares its results with `want`. The graph is consumed.
static inline tpt_status_t call_run(call_t* c, const char* want) {
  const void* in[256] = {NULL};
  void* out[CALL_TENSORS_MAX] = {NULL};
  tpt_type_t types[CALL_TENSORS_MAX];
  int count = 0;
  call_feed(c, in, 42, 0);
  for (uint32_t i = 0; i < c->lower.result_count; i++) {
    tpt_value_t value = c->lower.results[i].value;
    if (!tpt_value_is_none(value)) types[count++] = *tpt_graph_type(c->lower.graph, value);
  }
  vtpu_program_t* program = NULL;
  tpt_graph_t* graph = c->lower.graph;
  c->lower.graph = NULL;
  TPT_TRY(vtpu_program_compile(graph, &program));
  tpt_status_t status = program_run(program, in, out, false);
  vtpu_program_release(program);
  c->next = want;
  for (uint32_t i = 0, k = 0; i < c->lower.result_count && !status; i++) {
    if (tpt_value_is_none(c->lower.results[i].value)) {
      CHECK(call_take(c, "none"));
    } else {
      call_compare(c, &types[k], out[k]);
      k++;
    }
    call_take(c, ";");
  }
  CHECK_STR(status ? "" : c->next, "");
  for (int i = 0; i < count; i++)
    free(out[i]);
  return status;
}

// The same call again with some of its allocations failing, one at a time: lowering, then compiling.
typedef struct call_fault {
  const char *name, *args;
  call_t call;
  vtpu_program_t* program;
} call_fault_t;
static inline void call_fault_begin(void* arg) {
  call_fault_t* fault = arg;
  (void)call_begin(&fault->call, fault->name, fault->args);
  fault->program = NULL;
}
static inline void call_fault_begin_lowered(void* arg) {
  call_fault_begin(arg);
  (void)CHECK_OK(call_lower(&((call_fault_t*)arg)->call));
}
static inline tpt_status_t call_fault_lower(void* arg) {
  return call_lower(&((call_fault_t*)arg)->call);
}
static inline tpt_status_t call_fault_compile(void* arg) {
  call_fault_t* fault = arg;
  tpt_graph_t* graph = fault->call.lower.graph;
  fault->call.lower.graph = NULL;
  return vtpu_program_compile(graph, &fault->program);
}
static inline void call_fault_end(void* arg, bool has_failed) {
  call_fault_t* fault = arg;
  CHECK(!has_failed || !fault->program);
  vtpu_program_release(fault->program);
  call_end(&fault->call);
}
static inline void call_fail(const char* name, const char* args) {
  enum { POINTS = 24 };
  call_fault_t fault = {.name = name, .args = args};
  const fault_case_t lowering = {name, call_fault_begin, call_fault_lower, call_fault_end};
  const fault_case_t compiling = {name, call_fault_begin_lowered, call_fault_compile,
                                  call_fault_end};
  CHECK(fault_run(&lowering, &fault, POINTS) > 0);
  CHECK(fault_run(&compiling, &fault, POINTS) > 0);
}

static inline void call_check(const char* name, const char* args, const char* want, int line) {
  call_t c;
  int before = tpt_check_failures;
  if (call_begin(&c, name, args) && CHECK_OK(call_lower(&c))) (void)CHECK_OK(call_run(&c, want));
  call_end(&c);
  if (tpt_check_failures == before) call_fail(name, args);
  if (tpt_check_failures != before) fprintf(stderr, "  line %d: %s(%s)\n", line, name, args);
}
#define CHECK_CALL(name, args, want) call_check((name), (args), (want), __LINE__)

#define CHECK_CALL_FAILS(name, args, code, text)                                                   \
  do {                                                                                             \
    call_t call_failing;                                                                           \
    if (call_begin(&call_failing, (name), (args)))                                                 \
      CHECK_FAILS(call_lower(&call_failing), (code), (text));                                      \
    call_end(&call_failing);                                                                       \
  } while (0)

// The call lowers, and its launch fails.
#define CHECK_LAUNCH_FAILS(name, args, code, text)                                                 \
  do {                                                                                             \
    call_t call_failing;                                                                           \
    if (call_begin(&call_failing, (name), (args)) && CHECK_OK(call_lower(&call_failing)))          \
      CHECK_FAILS(call_run(&call_failing, ""), (code), (text));                                    \
    call_end(&call_failing);                                                                       \
  } while (0)

// Strides of result 0 of a call.
#define CHECK_CALL_STRIDES(name, args, ...)                                                        \
  do {                                                                                             \
    call_t call_lowered;                                                                           \
    int64_t call_strides_found[TPT_RANK_MAX] = {0};                                                \
    if (call_begin(&call_lowered, (name), (args)) && CHECK_OK(call_lower(&call_lowered))) {        \
      tpt_lower_strides(&call_lowered.lower, 0, call_strides_found);                               \
      for (int call_d = 0; call_d < (int)(sizeof(DIMS(__VA_ARGS__)) / 8); call_d++)                \
        CHECK_EQ(call_strides_found[call_d], DIMS(__VA_ARGS__)[call_d]);                           \
    }                                                                                              \
    call_end(&call_lowered);                                                                       \
  } while (0)

#endif  // TPUTORCH_ATEN_CALL_PROBE_H_
