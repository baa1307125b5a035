// What the tests of this folder share: the runtime on a plugin, tensors that own their sizes, calls by
// name. Tests only.
#ifndef TPUTORCH_EAGER_TEST_DEVICE_H_
#define TPUTORCH_EAGER_TEST_DEVICE_H_

#include <stdlib.h>
#include <unistd.h>

#include "tputorch/runtime.h"

#include "base/check.h"
#include "base/options.h"

#ifndef TPUTORCH_TEST_PLUGIN
#define TPUTORCH_TEST_PLUGIN ""
#endif
#ifndef TPUTORCH_TEST_XLA_CPU
#define TPUTORCH_TEST_XLA_CPU ""
#endif

#ifdef __SANITIZE_ADDRESS__
// gcc's leak checker misreads the thread-local storage of libraries opened at run time, and dies.
__attribute__((visibility("default"))) const char* __asan_default_options(void);
const char* __asan_default_options(void) {
  return "intercept_tls_get_addr=0:allocator_may_return_null=1";
}
#endif

// Our virtual TPU, or XLA:CPU when TPUTORCH_TEST_EAGER=xla or vtpu is not built. False: neither exists.
// cache_folder: of the disk cache, which then takes every program; NULL: none, tests leave nothing behind.
static inline bool test_open_cached(const char* devices, const char* cache_folder) {
  const char* wanted = tpt_environment("TPUTORCH_TEST_EAGER");
  const char* path = TPUTORCH_TEST_PLUGIN;
  if ((wanted && strcmp(wanted, "xla") == 0) || access(path, R_OK) != 0)
    path = TPUTORCH_TEST_XLA_CPU;
  if (access(path, R_OK) != 0) {
    printf("skip: no plugin\n");
    return false;
  }
  CHECK_OK(tpt_runtime_set_option("plugin", path));
  CHECK_OK(tpt_runtime_set_option("devices", devices));
  CHECK_OK(tpt_runtime_set_option("cache", cache_folder ? "on" : "off"));
  if (cache_folder) CHECK_OK(tpt_runtime_set_option("cache_dir", cache_folder));
  return CHECK_OK(tpt_runtime_open());
}

static inline bool test_open(const char* devices) {
  return test_open_cached(devices, NULL);
}

static inline bool test_is_vtpu(void) {
  tpt_device_info_t info;
  return CHECK_OK(tpt_device_info(0, &info)) && strcmp(info.platform, "vtpu") == 0;
}

typedef struct test_tensor {
  tpt_tensor_t t;
  int64_t sizes[TPT_RANK_MAX];
  int64_t strides[TPT_RANK_MAX];
} test_tensor_t;

// Points the tensor at its own arrays; call after copying one.
static inline const tpt_tensor_t* test_ref(test_tensor_t* tensor) {
  tensor->t.sizes = tensor->sizes;
  tensor->t.strides = tensor->strides;
  return &tensor->t;
}

static inline int64_t test_count(const test_tensor_t* tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor->t.rank; i++)
    count *= tensor->sizes[i];
  return count;
}

static inline void test_set_contiguous(test_tensor_t* tensor) {
  int64_t stride = 1;
  for (int i = tensor->t.rank - 1; i >= 0; i--) {
    tensor->strides[i] = stride;
    stride *= tensor->sizes[i] > 1 ? tensor->sizes[i] : 1;
  }
}

// A contiguous tensor with a storage of its own and no value.
static inline test_tensor_t test_empty(int device, tpt_dtype_t dtype, int rank,
                                       const int64_t* sizes) {
  test_tensor_t tensor = {0};
  tensor.t.dtype = dtype;
  tensor.t.rank = rank;
  for (int i = 0; i < rank; i++)
    tensor.sizes[i] = sizes[i];
  test_set_contiguous(&tensor);
  size_t size = (size_t)test_count(&tensor) * tpt_dtype_size(dtype);
  CHECK_OK(tpt_storage_create(device, size, &tensor.t.storage));
  return tensor;
}

static inline test_tensor_t test_upload(tpt_dtype_t dtype, int rank, const int64_t* sizes,
                                        const void* data) {
  test_tensor_t tensor = test_empty(0, dtype, rank, sizes);
  CHECK_OK(tpt_tensor_upload(test_ref(&tensor), data));
  return tensor;
}

static inline test_tensor_t test_f32(int64_t count, const float* data) {
  return test_upload(TPT_F32, 1, &count, data);
}

static inline void test_release(test_tensor_t* tensor) {
  tpt_storage_release(tensor->t.storage);
  tensor->t.storage = NULL;
}

static inline test_tensor_t test_result(const tpt_result_t* result) {
  test_tensor_t tensor = {0};
  tensor.t.storage = result->storage;
  tensor.t.dtype = result->dtype;
  tensor.t.rank = result->rank;
  for (int i = 0; i < result->rank; i++) {
    tensor.sizes[i] = result->sizes[i];
    tensor.strides[i] = result->strides[i];
  }
  return tensor;
}

static inline tpt_arg_t test_arg(const tpt_tensor_t* tensor) {
  return (tpt_arg_t){.kind = TPT_ARG_TENSOR, .count = 1, .tensors = tensor};
}

static inline tpt_arg_t test_scalar(double value) {
  return (tpt_arg_t){.kind = TPT_ARG_SCALAR, .number = {.dtype = TPT_F64, .f = value}};
}

static inline tpt_arg_t test_int_scalar(int64_t value) {
  return (tpt_arg_t){.kind = TPT_ARG_SCALAR, .number = {.dtype = TPT_S64, .i = value}};
}

// Calls a row by name; inplace: argument 0 is written. One result or none.
static inline tpt_status_t test_call(const char* name, bool inplace, const tpt_arg_t* args,
                                     int arg_count, test_tensor_t* out) {
  static const int kFirst = 0;
  tpt_call_t call = {.op = tpt_op_find(name),
                     .variant = inplace ? TPT_INPLACE : TPT_FUNCTIONAL,
                     .args = args,
                     .arg_count = arg_count,
                     .inplace_args = &kFirst,
                     .inplace_count = inplace,
                     .default_dtype = TPT_F32,
                     .file = "model.py",
                     .line = 12};
  if (!call.op) TPT_FAIL(TPT_NOT_FOUND, "no row %s", name);
  tpt_result_t* results;
  int count;
  TPT_TRY(tpt_call_run(&call, &results, &count));
  if (out && count > 0) *out = test_result(&results[0]);
  return NULL;
}

// self + alpha * other
static inline tpt_status_t test_add(test_tensor_t* self, test_tensor_t* other, double alpha,
                                    bool inplace, test_tensor_t* out) {
  tpt_arg_t args[3] = {test_arg(test_ref(self)), test_arg(test_ref(other)), test_scalar(alpha)};
  return test_call("add.Tensor", inplace, args, 3, out);
}

// The row of a f32 weight at an index (embedding), which may be out of range.
static inline tpt_status_t test_look_up(test_tensor_t* weight, int64_t index, test_tensor_t* out) {
  test_tensor_t indices = test_upload(TPT_S64, 1, (int64_t[]){1}, &index);
  tpt_arg_t args[5] = {test_arg(test_ref(weight)),
                       test_arg(test_ref(&indices)),
                       {.kind = TPT_ARG_INT, .number = {.dtype = TPT_S64, .i = -1}},
                       {.kind = TPT_ARG_BOOL, .number = {.dtype = TPT_PRED}},
                       {.kind = TPT_ARG_BOOL, .number = {.dtype = TPT_PRED}}};
  tpt_status_t status = test_call("embedding", false, args, 5, out);
  test_release(&indices);
  return status;
}

// Numbers from 0 to 1 in the sizes of `like`.
static inline tpt_status_t test_uniform(test_tensor_t* like, test_tensor_t* out) {
  tpt_arg_t args[4] = {
      test_arg(test_ref(like)), test_scalar(0), test_scalar(1), {.kind = TPT_ARG_GENERATOR}};
  args[1].kind = args[2].kind = TPT_ARG_FLOAT;
  return test_call("uniform", false, args, 4, out);
}

// The placeholder of a capture's next input.
static inline test_tensor_t test_capture_input(test_tensor_t* like) {
  tpt_result_t result;
  CHECK_OK(tpt_capture_input(0, test_ref(like), &result));
  return test_result(&result);
}

static inline tpt_counters_t test_counters(void) {
  tpt_counters_t counters;
  tpt_counters_get(&counters);
  return counters;
}

static inline void test_check_f32(test_tensor_t* tensor, const float* wanted, const char* file,
                                  int line) {
  int64_t count = test_count(tensor);
  float* data = calloc((size_t)count + 1, sizeof(*data));
  if (CHECK_OK(tpt_tensor_download(test_ref(tensor), data))) {
    for (int64_t i = 0; i < count; i++) {
      if (data[i] == wanted[i]) continue;
      fprintf(stderr, "%s:%d: element %lld is %g, not %g\n", file, line, (long long)i, data[i],
              wanted[i]);
      tpt_check_failures++;
    }
  }
  free(data);
}
#define TEST_F32(tensor, ...)                                                                      \
  test_check_f32(&(tensor), (const float[]){__VA_ARGS__}, __FILE__, __LINE__)

#endif  // TPUTORCH_EAGER_TEST_DEVICE_H_
