// Bytes as a sequence of calls on windows of three storages, legal and not. Two storages have a model on
// the host: every copy, upload and addition is made there too, element by element, and must agree
// afterwards; what PyTorch forbids (out of bounds, a result that overlaps itself) must be an error that
// changes nothing. Then any row of the table with arguments of any kind: an error or a result, no more.
#include "base/fuzz.h"
#include "eager/device.h"
#include "eager/test_device.h"

enum { ELEMENTS = 48, MODELS = 2, STORAGES = 3, CALLS_MAX = 24, VIEW_MAX = 5 * 5 * 5 * 5 };

typedef struct input {
  const uint8_t* data;
  size_t size, at;
} input_t;

static struct {
  bool is_open;
  tpt_storage_t* storages[STORAGES];
  float model[MODELS][ELEMENTS];
} world;

static unsigned next(input_t* in, unsigned count) {
  return in->at < in->size ? in->data[in->at++] % count : 0;
}

static void fail(const char* what, tpt_status_t status) {
  fprintf(stderr, "%s: %s\n", what, tpt_status_message(status));
  __builtin_trap();
}

// --- windows -----------------------------------------------------------------------------------------

typedef struct view {
  test_tensor_t tensor;
  int storage;
  bool is_legal;  // within its storage
  int count;
  int places[VIEW_MAX];  // element numbers, in the window's order; valid when legal
} view_t;

static void list_places(view_t* v) {
  const tpt_tensor_t* t = &v->tensor.t;
  int64_t index[4] = {0};
  v->count = 1;
  for (int d = 0; d < t->rank; d++)
    v->count *= (int)v->tensor.sizes[d];
  if (v->count == 0) v->tensor.t.offset = 0;  // an empty one may lie anywhere
  v->is_legal = t->offset >= 0;
  for (int i = 0; i < v->count; i++) {
    int64_t place = t->offset;
    for (int d = 0; d < t->rank; d++)
      place += index[d] * v->tensor.strides[d];
    v->is_legal &= place >= 0 && place < ELEMENTS;
    v->places[i] = v->is_legal ? (int)place : 0;
    for (int d = t->rank - 1; d >= 0 && ++index[d] == v->tensor.sizes[d]; d--)
      index[d] = 0;
  }
}

// Sizes up to 4 in up to 4 dimensions; strides of a dense block in some order, or anything.
static void take_view(input_t* in, int storages, view_t* v) {
  memset(v, 0, sizeof(*v));
  v->storage = (int)next(in, (unsigned)storages);
  v->tensor.t.storage = world.storages[v->storage];
  v->tensor.t.dtype = TPT_F32;
  v->tensor.t.rank = (int)next(in, 5);
  unsigned kind = next(in, 8);
  int64_t dense = 1;
  for (int d = v->tensor.t.rank - 1; d >= 0; d--) {
    v->tensor.sizes[d] = next(in, kind ? 4 : 6);
    v->tensor.strides[d] = kind < 5 ? dense : (int64_t)next(in, 14);
    dense *= v->tensor.sizes[d] > 1 ? v->tensor.sizes[d] : 1;
  }
  for (int d = 1; kind > 2 && kind < 5 && d < v->tensor.t.rank; d++) {  // transposed
    int64_t size = v->tensor.sizes[d - 1], stride = v->tensor.strides[d - 1];
    v->tensor.sizes[d - 1] = v->tensor.sizes[d];
    v->tensor.strides[d - 1] = v->tensor.strides[d];
    v->tensor.sizes[d] = size;
    v->tensor.strides[d] = stride;
  }
  v->tensor.t.offset = next(in, ELEMENTS + 2);
  if (next(in, 32) == 0) v->tensor.t.offset = -1;
  (void)test_ref(&v->tensor);
  list_places(v);
}

static bool repeats_places(const view_t* v) {
  bool seen[ELEMENTS] = {false};
  for (int i = 0; i < v->count; i++) {
    if (seen[v->places[i]]) return true;
    seen[v->places[i]] = true;
  }
  return false;
}

static bool same_sizes(const view_t* a, const view_t* b) {
  return a->tensor.t.rank == b->tensor.t.rank &&
         memcmp(a->tensor.sizes, b->tensor.sizes, sizeof(a->tensor.sizes)) == 0;
}

// What must be the case after a call: it failed if and only if it had to, where that is known.
static bool settle(const char* what, tpt_status_t status, bool is_legal) {
  if (status && is_legal) fail(what, status);
  bool passed = !status;
  if (passed && !is_legal) fail("passed, but is illegal", tpt_status_make(0, "", 0, "%s", what));
  tpt_status_release(status);
  return passed;
}

// --- calls with a model --------------------------------------------------------------------------------

static void read_view(const view_t* v, const char* what) {
  float data[VIEW_MAX];
  if (!settle(what, tpt_tensor_download(&v->tensor.t, data), v->is_legal)) return;
  for (int i = 0; i < v->count; i++) {
    float wanted = world.model[v->storage][v->places[i]];
    if (data[i] == wanted) continue;
    fprintf(stderr, "%s: element %d is %g, not %g\n", what, i, data[i], wanted);
    __builtin_trap();
  }
}

static void call_download(input_t* in) {
  view_t v;
  take_view(in, MODELS, &v);
  test_ref(&v.tensor);
  read_view(&v, "download");
}

static void call_upload(input_t* in) {
  view_t v;
  float data[VIEW_MAX];
  take_view(in, MODELS, &v);
  for (int i = 0; i < v.count; i++)
    data[i] = (float)next(in, 100);
  if (v.is_legal && repeats_places(&v)) return;  // the last one wins, or not
  if (!settle("upload", tpt_tensor_upload(test_ref(&v.tensor), data), v.is_legal)) return;
  for (int i = 0; i < v.count; i++)
    world.model[v.storage][v.places[i]] = data[i];
}

static void call_copy(input_t* in) {
  view_t to, from;
  float data[VIEW_MAX];
  take_view(in, MODELS, &to);
  take_view(in, MODELS, &from);
  if (!same_sizes(&to, &from)) {  // the same window elsewhere
    int64_t offset = from.tensor.t.offset;
    int storage = from.storage;
    from = to;
    from.storage = storage;
    from.tensor.t.storage = world.storages[storage];
    from.tensor.t.offset = offset;
    list_places(&from);
  }
  bool is_legal = to.is_legal && from.is_legal;
  if (is_legal && repeats_places(&to)) return;
  tpt_status_t status = tpt_tensor_copy(test_ref(&to.tensor), test_ref(&from.tensor));
  if (!settle("copy", status, is_legal)) return;
  for (int i = 0; i < to.count; i++)
    data[i] = world.model[from.storage][from.places[i]];
  for (int i = 0; i < to.count; i++)
    world.model[to.storage][to.places[i]] = data[i];
}

// self += alpha * other, the numbers small enough to stay exact.
static void call_add(input_t* in) {
  view_t self, other;
  float data[VIEW_MAX];
  take_view(in, MODELS, &self);
  take_view(in, MODELS, &other);
  float alpha = (float)next(in, 3);
  if (!self.is_legal || !other.is_legal || !same_sizes(&self, &other)) return;
  if (repeats_places(&self)) return;
  tpt_arg_t args[3] = {test_arg(test_ref(&self.tensor)), test_arg(test_ref(&other.tensor)),
                       test_scalar(alpha)};
  tpt_status_t status = test_call("add.Tensor", true, args, 3, NULL);
  // PyTorch forbids windows that overlap in part; what is allowed must be right.
  bool may_fail = self.storage == other.storage;
  if (status && may_fail) {
    tpt_status_release(status);
    return;
  }
  if (!settle("add_", status, true)) return;
  for (int i = 0; i < self.count; i++)
    data[i] = world.model[self.storage][self.places[i]] +
              alpha * world.model[other.storage][other.places[i]];
  for (int i = 0; i < self.count; i++)
    world.model[self.storage][self.places[i]] = data[i] > 1e6f ? 0 : data[i];
}

static void call_check(void) {
  for (int s = 0; s < MODELS; s++) {
    view_t v = {.storage = s, .is_legal = true, .count = ELEMENTS};
    v.tensor.t = (tpt_tensor_t){.storage = world.storages[s], .dtype = TPT_F32, .rank = 1};
    v.tensor.sizes[0] = ELEMENTS;
    v.tensor.strides[0] = 1;
    for (int i = 0; i < ELEMENTS; i++)
      v.places[i] = i;
    (void)test_ref(&v.tensor);
    read_view(&v, "at the end");
  }
}

// --- any row ---------------------------------------------------------------------------------------------

typedef struct any_args {
  tpt_arg_t args[16];
  view_t views[16];
  tpt_tensor_t tensors[16];
  int64_t ints[16][4];
  double floats[4];
  tpt_number_t numbers[4];
  int view_count;
} any_args_t;

static void take_tensor(input_t* in, any_args_t* a, tpt_tensor_t* out) {
  static const tpt_dtype_t kDtypes[] = {TPT_F32,  TPT_F32,  TPT_F32, TPT_S64, TPT_S32,
                                        TPT_PRED, TPT_BF16, TPT_F64, TPT_C64, TPT_U8};
  view_t* v = &a->views[a->view_count++ % 16];
  take_view(in, STORAGES, v);
  v->storage = STORAGES - 1;  // without a model
  v->tensor.t.storage = world.storages[STORAGES - 1];
  v->tensor.t.dtype = kDtypes[next(in, sizeof(kDtypes) / sizeof(*kDtypes))];
  if (next(in, 3)) v->tensor.t.offset = 0;
  *out = *test_ref(&v->tensor);
  unsigned flags = next(in, 24);
  if (flags == 0) out->flags = TPT_TENSOR_NONE;
  if (flags == 1) {
    out->flags = TPT_TENSOR_HOST | TPT_TENSOR_WRAPPED;
    out->rank = 0;
    out->number = (tpt_number_t){.dtype = out->dtype, .i = next(in, 9), .f = next(in, 9)};
  }
}

static void take_arg(input_t* in, any_args_t* a, int number, const tpt_schema_arg_t* schema) {
  tpt_arg_t* arg = &a->args[number];
  *arg = (tpt_arg_t){.kind = schema->kind};  // PyTorch's dispatcher lets nothing else through
  if (schema->is_optional && next(in, 2) == 0) arg->kind = TPT_ARG_NONE;
  int64_t value = (int64_t)next(in, 12) - 4;
  if (next(in, 64) == 0) value = INT64_MAX - (value + 4);
  arg->number = (tpt_number_t){.dtype = TPT_S64, .i = value, .f = (double)value / 2};
  if (arg->kind == TPT_ARG_FLOAT || next(in, 3) == 0) arg->number.dtype = TPT_F64;
  if (arg->kind == TPT_ARG_BOOL) arg->number = (tpt_number_t){.dtype = TPT_PRED, .i = value & 1};
  if (arg->kind == TPT_ARG_DTYPE) arg->number.i = 1 + next(in, TPT_DTYPE_COUNT - 1);
  if (arg->kind == TPT_ARG_TENSOR) {
    arg->count = 1;
    arg->tensors = &a->tensors[number];
    take_tensor(in, a, &a->tensors[number]);
  } else if (arg->kind == TPT_ARG_TENSORS) {
    arg->count = number < 13 ? next(in, 3) : 0;
    arg->tensors = &a->tensors[number];
    for (uint32_t i = 0; i < arg->count; i++)
      take_tensor(in, a, &a->tensors[number + (int)i]);
  } else if (arg->kind == TPT_ARG_STRING) {
    static const char* const kWords[] = {"none", "tanh", "sum", "mean", "floor", "amax", ""};
    arg->string = kWords[next(in, 7)];
    arg->count = (uint32_t)strlen(arg->string);
  } else {
    arg->count = next(in, 4);
    arg->ints = a->ints[number];
    for (int i = 0; i < 4; i++)
      a->ints[number][i] = next(in, 64) ? (int64_t)next(in, 7) - 2 : INT64_MAX - next(in, 3);
    if (arg->kind == TPT_ARG_FLOATS) arg->floats = a->floats;
    if (arg->kind == TPT_ARG_SCALARS) arg->numbers = a->numbers;
    for (int i = 0; i < 4; i++)
      a->numbers[i] = (tpt_number_t){.dtype = TPT_F64, .f = (double)next(in, 9) / 4};
  }
}

static void call_any(input_t* in) {
  static any_args_t a;
  static const int kFirst = 0;
  memset(&a, 0, sizeof(a));
  const tpt_op_t* op =
      tpt_op_row((int)((next(in, 256) | next(in, 256) << 8) % (unsigned)tpt_op_count()));
  const tpt_schema_t* schema = tpt_op_schema(op);
  if (schema->arg_count > 16) return;
  for (int i = 0; i < schema->arg_count; i++)
    take_arg(in, &a, i, &schema->args[i]);
  bool is_written = next(in, 2) && !tpt_op_is_functional_only(op) && schema->arg_count > 0 &&
                    schema->args[0].kind == TPT_ARG_TENSOR && a.args[0].kind == TPT_ARG_TENSOR &&
                    !a.args[0].tensors->flags && schema->return_count == 1 &&
                    schema->returns[0] == TPT_ARG_TENSOR;
  tpt_call_t call = {.op = op,
                     .variant = is_written ? TPT_INPLACE : TPT_FUNCTIONAL,
                     .args = a.args,
                     .arg_count = schema->arg_count,
                     .inplace_args = &kFirst,
                     .inplace_count = is_written,
                     .default_dtype = TPT_F32};
  tpt_result_t* results;
  int count = 0;
  tpt_status_t status = tpt_call_run(&call, &results, &count);
  if (tpt_status_code(status) == TPT_INTERNAL) fail(schema->name, status);
  for (int i = 0; !status && i < count; i++)
    tpt_storage_release(results[i].storage);
  tpt_status_release(status);
}

// --- the program -----------------------------------------------------------------------------------------

static void open_world(void) {
  bool is_good = CHECK_OK(tpt_runtime_set_option("hbm", "64M")) && test_open("1");
  if (!is_good) exit(1);
  for (int i = 0; i < STORAGES; i++)
    CHECK_OK(tpt_storage_create(0, ELEMENTS * sizeof(float), &world.storages[i]));
  world.is_open = true;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static void (*const calls[])(input_t*) = {call_download, call_upload, call_copy, call_copy,
                                            call_add,      call_add,    call_any,  call_any};
  input_t in = {data, size, 0};
  if (!world.is_open) open_world();
  for (int i = 0; i < CALLS_MAX && in.at < in.size; i++)
    calls[next(&in, 8)](&in);
  call_check();
  tpt_status_release(tpt_device_synchronize(0));
  return 0;
}

// Random bytes: which of them are windows that fit is for the mutations to find.
size_t fuzz_seed(size_t number, char* out, size_t room) {
  enum { SEEDS = 64, SIZE = 240 };
  if (number >= SEEDS || room < SIZE) return 0;
  for (size_t i = 0; i < SIZE; i++)
    out[i] = (char)fuzz_random();
  return SIZE;
}
