// Property test of windows: random chains of reads and in-place writes through random windows of
// random dtypes over one storage must agree with a byte array on the host.
#include "eager/test_device.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static int64_t random_below(int64_t limit) {
  return (int64_t)(next_random() % (uint64_t)limit);
}

static bool is_any_byte_good;

// Any bytes for integers; for floats bytes that make no NaN, whose payload a copy may change. A plugin
// other than vtpu may make the NaNs of 16-bit floats quiet wherever it moves them.
static void fill_random(unsigned char* data, size_t size, tpt_dtype_t dtype) {
  for (size_t i = 0; i < size; i++) {
    bool is_free = tpt_dtype_is_int(dtype) && is_any_byte_good;
    int64_t byte = is_free ? random_below(256) : 4 + random_below(60);
    data[i] = (unsigned char)(dtype == TPT_PRED ? random_below(2) : byte);
  }
}

typedef struct model {
  test_tensor_t whole;   // u8 over all bytes
  unsigned char* bytes;  // what the storage must hold
  size_t size;
} model_t;

static const tpt_dtype_t kDtypes[] = {TPT_F32,  TPT_S32, TPT_U8,  TPT_PRED, TPT_S64,
                                      TPT_BF16, TPT_F64, TPT_C64, TPT_S16,  TPT_C128};

// A random window inside the storage. kind 0: like slicing a row-major tensor; 1: any strides.
static test_tensor_t random_window(const model_t* m, tpt_dtype_t dtype, bool is_expandable) {
  test_tensor_t w = m->whole;
  int64_t count = (int64_t)(m->size / tpt_dtype_size(dtype));
  w.t.dtype = dtype;
  bool is_wild = random_below(4) == 0;
  for (;;) {
    w.t.rank = (int32_t)random_below(4);
    int64_t span = 1, stride = 1;
    for (int i = w.t.rank - 1; i >= 0; i--) {
      w.sizes[i] = 1 + random_below(6);
      int64_t step = 1 + (random_below(3) == 0 ? random_below(3) : 0);
      w.strides[i] = is_wild ? random_below(9) : stride * step;
      if (!is_expandable && w.sizes[i] > 1 && w.strides[i] == 0) w.strides[i] = 1;
      stride = w.strides[i] * (w.sizes[i] + (random_below(2) ? random_below(3) : 0));
      if (stride == 0) stride = 1;
      span += (w.sizes[i] - 1) * w.strides[i];
    }
    if (w.t.rank > 1 && random_below(3) == 0) {  // a transposed view
      int64_t size = w.sizes[0], first = w.strides[0];
      int last = w.t.rank - 1;
      w.sizes[0] = w.sizes[last];
      w.strides[0] = w.strides[last];
      w.sizes[last] = size;
      w.strides[last] = first;
    }
    if (span > count) continue;
    w.t.offset = random_below(count - span + 1);
    return w;
  }
}

static bool overlaps_itself(const test_tensor_t* w) {
  unsigned char seen[4096] = {0};
  int64_t count = test_count(w);
  for (int64_t i = 0; i < count; i++) {
    int64_t at = w->t.offset, rest = i;
    for (int d = w->t.rank - 1; d >= 0; d--) {
      at += rest % w->sizes[d] * w->strides[d];
      rest /= w->sizes[d];
    }
    if (seen[at]++) return true;
  }
  return false;
}

// Element i of the window in the model's bytes.
static unsigned char* element(const model_t* m, const test_tensor_t* w, int64_t i) {
  int64_t at = w->t.offset;
  for (int d = w->t.rank - 1; d >= 0; d--) {
    at += i % w->sizes[d] * w->strides[d];
    i /= w->sizes[d];
  }
  return m->bytes + (size_t)at * tpt_dtype_size(w->t.dtype);
}

static void describe(const char* what, const test_tensor_t* w) {
  fprintf(stderr, "  %s %s", what, tpt_dtype_row(w->t.dtype)->name);
  for (int i = 0; i < w->t.rank; i++)
    fprintf(stderr, " %lld:%lld", (long long)w->sizes[i], (long long)w->strides[i]);
  fprintf(stderr, " at %lld\n", (long long)w->t.offset);
}

static bool is_nan(tpt_dtype_t dtype, const void* element) {
  tpt_number_t number = tpt_number_load(dtype, element);
  return number.f != number.f || number.im != number.im;
}

static bool check_read(model_t* m) {
  tpt_dtype_t dtype = kDtypes[random_below(sizeof(kDtypes) / sizeof(*kDtypes))];
  test_tensor_t w = random_window(m, dtype, true);
  test_tensor_t out = test_empty(0, dtype, w.t.rank, w.sizes);
  size_t size = tpt_dtype_size(dtype);
  int64_t count = test_count(&w);
  unsigned char* data = calloc((size_t)count, size);
  bool is_right = CHECK_OK(tpt_tensor_copy(test_ref(&out), test_ref(&w))) &&
                  CHECK_OK(tpt_tensor_download(test_ref(&out), data));
  for (int64_t i = 0; is_right && i < count; i++) {
    unsigned char wanted[16];
    memcpy(wanted, element(m, &w, i), size);
    if (dtype == TPT_PRED) *wanted = *wanted != 0;
    if (memcmp(wanted, data + (size_t)i * size, size) == 0) continue;
    if (is_nan(dtype, wanted) && is_nan(dtype, data + (size_t)i * size)) continue;
    is_right = false;
    CHECK(!"a read differs");
  }
  if (!is_right) describe("read", &w);
  free(data);
  test_release(&out);
  return is_right;
}

static bool check_all(model_t* m) {
  unsigned char* data = calloc(m->size, 1);
  bool is_right = CHECK_OK(tpt_tensor_download(test_ref(&m->whole), data)) &&
                  memcmp(data, m->bytes, m->size) == 0;
  CHECK(is_right);
  free(data);
  return is_right;
}

static bool check_write(model_t* m) {
  tpt_dtype_t dtype = kDtypes[random_below(sizeof(kDtypes) / sizeof(*kDtypes))];
  test_tensor_t w = random_window(m, dtype, false);
  if (overlaps_itself(&w)) return true;
  size_t size = tpt_dtype_size(dtype);
  int64_t count = test_count(&w);
  unsigned char* data = calloc((size_t)count, size);
  fill_random(data, (size_t)count * size, dtype);
  test_tensor_t source = test_upload(dtype, w.t.rank, w.sizes, data);
  bool is_right = CHECK_OK(tpt_tensor_copy(test_ref(&w), test_ref(&source)));
  for (int64_t i = 0; is_right && i < count; i++)
    memcpy(element(m, &w, i), data + (size_t)i * size, size);
  is_right = is_right && check_all(m);
  if (!is_right) describe("write", &w);
  free(data);
  test_release(&source);
  return is_right;
}

// One storage whose home is of `dtype` with these sizes.
static void run_chain(tpt_dtype_t dtype, int rank, const int64_t* sizes, int steps) {
  model_t m = {0};
  test_tensor_t home = test_empty(0, dtype, rank, sizes);
  m.size = tpt_storage_size(home.t.storage);
  m.bytes = calloc(m.size, 1);
  m.whole = home;
  m.whole.t.dtype = TPT_U8;
  m.whole.t.rank = 1;
  m.whole.sizes[0] = (int64_t)m.size;
  m.whole.strides[0] = 1;
  is_any_byte_good = dtype != TPT_BF16;
  fill_random(m.bytes, m.size, dtype);
  bool is_right = CHECK_OK(tpt_tensor_upload(test_ref(&home), m.bytes));
  for (int i = 0; is_right && i < steps; i++)
    is_right = i % 2 ? check_write(&m) : check_read(&m);
  if (!is_right) describe("home", &home);
  free(m.bytes);
  test_release(&home);
}

static int chain_steps(void) {
  return test_is_vtpu() ? 60 : 10;
}

static void test_f32_matrix_agrees_with_bytes(void) {
  run_chain(TPT_F32, 2, (int64_t[]){12, 20}, chain_steps());
  run_chain(TPT_F32, 3, (int64_t[]){4, 6, 5}, chain_steps());
}

static void test_integers_agree_with_bytes(void) {
  run_chain(TPT_S64, 2, (int64_t[]){6, 10}, chain_steps());
  run_chain(TPT_U8, 1, (int64_t[]){203}, chain_steps());
}

static void test_halves_agree_with_bytes(void) {
  run_chain(TPT_BF16, 3, (int64_t[]){5, 4, 6}, chain_steps());
  run_chain(TPT_S16, 2, (int64_t[]){9, 13}, chain_steps());
}

static void test_complex_and_bool_agree_with_bytes(void) {
  run_chain(TPT_C64, 2, (int64_t[]){6, 7}, chain_steps());
  run_chain(TPT_PRED, 2, (int64_t[]){16, 12}, chain_steps());
}

static void test_storage_without_value_takes_writes(void) {
  for (int i = 0; i < (test_is_vtpu() ? 20 : 4); i++) {
    model_t m = {.size = 480};
    m.whole = test_empty(0, TPT_U8, 1, (int64_t[]){480});
    m.bytes = calloc(m.size, 1);
    bool is_right = true;
    for (int k = 0; is_right && k < 4; k++)
      is_right = check_write(&m) && check_read(&m);
    free(m.bytes);
    test_release(&m.whole);
  }
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_f32_matrix_agrees_with_bytes);
  RUN(test_integers_agree_with_bytes);
  RUN(test_halves_agree_with_bytes);
  RUN(test_complex_and_bool_agree_with_bytes);
  RUN(test_storage_without_value_takes_writes);
  return TEST_RESULT;
}
