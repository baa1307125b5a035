// Calls of every kind for fault tests: whatever allocation of theirs fails, the runtime's or the plugin's,
// there is an error that says host memory, tensors and random state are as before, nothing is lost, and
// the same call works right afterwards. vtpu is linked in, so that both draw from one heap. Tests only.
#ifndef TPUTORCH_EAGER_FAULT_WORKS_H_
#define TPUTORCH_EAGER_FAULT_WORKS_H_

#include "base/fault.h"
#include "eager/device.h"
#include "eager/test_device.h"
#include "pjrt/pjrt_abi.h"

const PJRT_Api* GetPjrtApi(void);

// Stands in for the C library's: whatever library was opened, the plugin is the one linked here.
void* dlsym(void* library, const char* name);
void* dlsym(void* library, const char* name) {
  void* symbol = NULL;
  const PJRT_Api* (*entry)(void) = GetPjrtApi;
  (void)library;
  if (strcmp(name, "GetPjrtApi") == 0) memcpy(&symbol, &entry, sizeof(symbol));
  return symbol;
}

typedef struct work work_t;
struct work {
  const char* name;
  void (*prepare)(work_t* work);  // (optional) makes what `result` must be before
  tpt_status_t (*run)(work_t* work);
  void (*check)(work_t* work);  // (optional) beyond a and b, after success
  bool is_fresh;                // every run has new sizes, so that it compiles
  bool is_queued;               // the device has a queue: failures come when it is waited for
  // --- state
  int64_t size;
  float a_before[64], b_before[64];  // what a and b hold
  float a_after[64];                 // and a after success
  test_tensor_t a, b, result;
  uint64_t rng_before;
  bool is_done;    // the call succeeded; waiting for it may have failed
  bool is_random;  // a's values after success are not known
  tpt_program_t* program;
};

// With a queue the work is not done before it was waited for.
static inline tpt_status_t fault_works_run(void* arg) {
  work_t* work = arg;
  TPT_TRY(work->run(work));
  work->is_done = true;
  return work->is_queued ? tpt_device_synchronize(0) : NULL;
}

static int64_t next_size = 4;

static uint64_t rng_offset(void) {
  uint64_t seed, offset;
  tpt_generator_get(tpt_generator_default(0), &seed, &offset);
  return offset;
}

static void begin(void* arg) {
  work_t* w = arg;
  if (w->is_fresh || !w->size) w->size = next_size++ % 60 + 4;
  for (int64_t i = 0; i < w->size; i++) {
    w->a_before[i] = w->a_after[i] = (float)i + 1;
    w->b_before[i] = 10 * (float)(i + 1);
  }
  w->a = test_f32(w->size, w->a_before);
  w->b = test_f32(w->size, w->b_before);
  w->result = (test_tensor_t){0};
  w->program = NULL;
  w->is_done = false;
  w->rng_before = rng_offset();
  if (w->prepare) w->prepare(w);
}

static void check_tensors(work_t* w, const float* a_wanted) {
  if (!w->is_random || a_wanted == w->a_before) test_check_f32(&w->a, a_wanted, __FILE__, __LINE__);
  test_check_f32(&w->b, w->b_before, __FILE__, __LINE__);
}

static void drop_result(work_t* w) {
  test_release(&w->result);
  tpt_program_release(w->program);
  w->program = NULL;
}

static void end(void* arg, bool has_failed) {
  work_t* w = arg;
  CHECK(has_failed || w->is_done);
  if (!w->is_done) {
    drop_result(w);
    CHECK_EQ(rng_offset(), w->rng_before);
    check_tensors(w, w->a_before);
    if (w->prepare) w->prepare(w);
  }
  if (w->is_done || CHECK_OK(fault_works_run(w))) {  // the device works
    check_tensors(w, w->a_after);
    if (w->check) w->check(w);
  }
  drop_result(w);
  test_release(&w->a);
  test_release(&w->b);
  CHECK_OK(tpt_device_synchronize(0));
}

// --- the works ---------------------------------------------------------------------------------------

static tpt_status_t add(work_t* w) {
  return test_add(&w->a, &w->b, 2, false, &w->result);
}
static void check_add(work_t* w) {
  float wanted[64];
  for (int64_t i = 0; i < w->size; i++)
    wanted[i] = w->a_before[i] + 2 * w->b_before[i];
  test_check_f32(&w->result, wanted, __FILE__, __LINE__);
}

static tpt_status_t add_inplace(work_t* w) {
  for (int64_t i = 0; i < w->size; i++)
    w->a_after[i] = w->a_before[i] + 3 * w->b_before[i];
  return test_add(&w->a, &w->b, 3, true, NULL);
}

// a[1::2] += b[:half]
static tpt_status_t add_to_window(work_t* w) {
  test_tensor_t window = w->a, other = w->b;
  window.sizes[0] = other.sizes[0] = w->size / 2;
  window.strides[0] = 2;
  window.t.offset = 1;
  for (int64_t i = 0; i < w->size / 2; i++)
    w->a_after[2 * i + 1] = w->a_before[2 * i + 1] + w->b_before[i];
  return test_add(&window, &other, 1, true, NULL);
}

static void prepare_add_lists(work_t* w) {
  w->result = test_f32(w->size, w->b_before);
}
// Both lists at once: a += b, c += b for a new c.
static tpt_status_t add_lists(work_t* w) {
  tpt_tensor_t written[2] = {*test_ref(&w->a), *test_ref(&w->result)};
  tpt_tensor_t added[2] = {*test_ref(&w->b), *test_ref(&w->b)};
  tpt_arg_t args[3] = {{.kind = TPT_ARG_TENSORS, .count = 2, .tensors = written},
                       {.kind = TPT_ARG_TENSORS, .count = 2, .tensors = added},
                       test_scalar(1)};
  for (int64_t i = 0; i < w->size; i++)
    w->a_after[i] = w->a_before[i] + w->b_before[i];
  return test_call("_foreach_add.List", true, args, 3, NULL);
}

static tpt_status_t concatenate(work_t* w) {
  tpt_tensor_t parts[2] = {*test_ref(&w->a), *test_ref(&w->b)};
  tpt_arg_t args[2] = {{.kind = TPT_ARG_TENSORS, .count = 2, .tensors = parts},
                       {.kind = TPT_ARG_INT, .number = {.dtype = TPT_S64}}};
  return test_call("cat", false, args, 2, &w->result);
}

static tpt_status_t draw(work_t* w) {
  tpt_arg_t args[4] = {test_arg(test_ref(&w->a)),
                       {.kind = TPT_ARG_FLOAT, .number = {.dtype = TPT_F64, .f = 0}},
                       {.kind = TPT_ARG_FLOAT, .number = {.dtype = TPT_F64, .f = 1}},
                       {.kind = TPT_ARG_NONE}};
  w->is_random = true;
  return test_call("uniform", true, args, 4, NULL);
}

static void prepare_scatter(work_t* w) {
  w->result = test_upload(TPT_S64, 1, (int64_t[]){1}, (int64_t[]){1});
}
// scatter_(0, [1], 9): checked, so that it is awaited.
static tpt_status_t scatter(work_t* w) {
  tpt_arg_t args[4] = {test_arg(test_ref(&w->a)),
                       {.kind = TPT_ARG_INT, .number = {.dtype = TPT_S64}},
                       test_arg(test_ref(&w->result)),
                       test_scalar(9)};
  w->a_after[1] = 9;
  return test_call("scatter.value", true, args, 4, NULL);
}

static void prepare_copy(work_t* w) {
  w->result = test_empty(0, TPT_S32, 1, (int64_t[]){w->size / 2});
}
// a[::2] = b[-half:], converted to and from integers on the way.
static tpt_status_t copy(work_t* w) {
  int64_t half = w->size / 2;
  test_tensor_t window = w->a, other = w->b;
  window.sizes[0] = other.sizes[0] = half;
  window.strides[0] = 2;
  other.t.offset = w->size - half;
  for (int64_t i = 0; i < half; i++)
    w->a_after[2 * i] = w->b_before[w->size - half + i];
  TPT_TRY(tpt_tensor_copy(test_ref(&w->result), test_ref(&other)));
  return tpt_tensor_copy(test_ref(&window), test_ref(&w->result));
}

static void prepare_copy_to_other_device(work_t* w) {
  w->result = test_empty(1, TPT_F32, 1, &w->size);
}
static tpt_status_t copy_to_other_device(work_t* w) {
  return tpt_tensor_copy(test_ref(&w->result), test_ref(&w->b));
}
static void check_copy(work_t* w) {
  test_check_f32(&w->result, w->b_before, __FILE__, __LINE__);
}

static tpt_status_t upload_to_window(work_t* w) {
  const float data[2] = {-1, -2};
  test_tensor_t window = w->a;
  window.sizes[0] = 2;
  window.strides[0] = 2;
  w->a_after[0] = -1;
  w->a_after[2] = -2;
  return tpt_tensor_upload(test_ref(&window), data);
}

static tpt_status_t download_window(work_t* w) {
  float data[32] = {0};
  test_tensor_t window = w->b;
  window.sizes[0] = w->size / 2;
  window.strides[0] = 2;
  TPT_TRY(tpt_tensor_download(test_ref(&window), data));
  for (int64_t i = 0; i < w->size / 2; i++)
    CHECK_EQ(data[i], w->b_before[2 * i]);
  return NULL;
}

static tpt_status_t make_storage(work_t* w) {
  if (!w->result.t.storage) TPT_TRY(tpt_storage_create(0, 64, &w->result.t.storage));
  TPT_TRY(tpt_storage_resize(w->result.t.storage, 128));
  return tpt_storage_resize(w->a.t.storage, (size_t)w->size * 4);
}

// Calls that wait in the fused window, then run as one program.
static tpt_status_t run_fused(work_t* w) {
  float data[64];
  tpt_status_t status = tpt_eager_mode_set(TPT_EAGER_FUSED);
  if (!status) status = test_add(&w->a, &w->b, 2, false, &w->result);
  if (!status) status = tpt_tensor_download(test_ref(&w->result), data);
  tpt_status_t left = tpt_eager_mode_set(TPT_EAGER_STRICT);
  if (!status) return left;
  tpt_status_release(left);
  return status;
}

static tpt_status_t record(work_t* w, test_tensor_t* input, test_tensor_t* sum) {
  tpt_result_t made;
  TPT_TRY(tpt_capture_input(0, test_ref(&w->a), &made));
  *input = test_result(&made);
  TPT_TRY(test_add(input, &w->b, 2, false, sum));
  return NULL;
}

static tpt_status_t run_program(work_t* w) {
  test_tensor_t input = {0}, sum = {0};
  tpt_result_t* results = NULL;
  int count = 0;
  TPT_TRY(tpt_capture_begin(0));
  tpt_status_t status = record(w, &input, &sum);
  if (status)
    tpt_capture_cancel(0);
  else
    status = tpt_capture_end(0, test_ref(&sum), 1, &w->program);
  test_release(&input);
  test_release(&sum);
  if (!status) status = tpt_program_run(w->program, test_ref(&w->a), 1, NULL, &results, &count);
  if (!status) w->result = test_result(&results[0]);
  return status;
}

// Every work with each of its allocations failing, at most `points` of them.
static inline void fault_works_run_all(bool is_fresh, bool is_queued, uint64_t points) {
  work_t works[] = {
      {.name = "add", .run = add, .check = check_add},
      {.name = "add_", .run = add_inplace},
      {.name = "add_ to a window", .run = add_to_window},
      {.name = "_foreach_add_", .prepare = prepare_add_lists, .run = add_lists},
      {.name = "cat", .run = concatenate},
      {.name = "uniform_", .run = draw},
      {.name = "scatter_", .prepare = prepare_scatter, .run = scatter},
      {.name = "copy", .prepare = prepare_copy, .run = copy},
      {.name = "copy to another device",
       .prepare = prepare_copy_to_other_device,
       .run = copy_to_other_device,
       .check = check_copy},
      {.name = "upload to a window", .run = upload_to_window},
      {.name = "download of a window", .run = download_window},
      {.name = "storage", .run = make_storage},
      {.name = "fused calls", .run = run_fused, .check = check_add},
      {.name = "recorded program", .run = run_program, .check = check_add},
  };
  for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
    works[i].is_fresh = is_fresh;
    works[i].is_queued = is_queued;
    const fault_case_t one = {works[i].name, begin, fault_works_run, end};
    CHECK(fault_run(&one, &works[i], points) > 0);
  }
}

#endif  // TPUTORCH_EAGER_FAULT_WORKS_H_
