// Threads call into two devices at once, as autograd's and a user's do: own tensors keep their values, a
// shared one gets every addition exactly once, reads in flight and late failures stay with their owners.
#include <pthread.h>

#include "eager/device.h"
#include "eager/test_device.h"

enum { THREADS = 4, ROUNDS = 100 };

typedef struct racer {
  pthread_t thread;
  unsigned seed;
  int number, failures;
  test_tensor_t* shared;  // of both devices
} racer_t;

static bool passes(racer_t* r, tpt_status_t take_status) {
  if (!take_status) return true;
  fprintf(stderr, "thread %d: %s\n", r->number, tpt_status_message(take_status));
  tpt_status_release(take_status);
  r->failures++;
  return false;
}

static tpt_status_t run(int device, const char* name, bool inplace, const tpt_arg_t* args,
                        int arg_count, test_tensor_t* out) {
  static const int kFirst = 0;
  tpt_call_t call = {.op = tpt_op_find(name),
                     .variant = inplace ? TPT_INPLACE : TPT_FUNCTIONAL,
                     .args = args,
                     .arg_count = arg_count,
                     .inplace_args = &kFirst,
                     .inplace_count = inplace,
                     .device = device,
                     .default_dtype = TPT_F32};
  tpt_result_t* results;
  int count;
  TPT_TRY(tpt_call_run(&call, &results, &count));
  if (out && count > 0) *out = test_result(&results[0]);
  return NULL;
}

static tpt_status_t add(int device, test_tensor_t* self, test_tensor_t* other, double alpha,
                        bool inplace, test_tensor_t* out) {
  tpt_arg_t args[3] = {test_arg(test_ref(self)), test_arg(test_ref(other)), test_scalar(alpha)};
  return run(device, "add.Tensor", inplace, args, 3, out);
}

static tpt_status_t make(int device, int64_t size, float value, test_tensor_t* out) {
  float data[32];
  for (int64_t i = 0; i < size; i++)
    data[i] = value;
  *out = (test_tensor_t){.t = {.dtype = TPT_F32, .rank = 1}, .sizes = {size}, .strides = {1}};
  TPT_TRY(tpt_storage_create(device, (size_t)size * sizeof(float), &out->t.storage));
  return tpt_tensor_upload(test_ref(out), data);
}

static void expect(racer_t* r, test_tensor_t* tensor, float value) {
  float data[32];
  if (!passes(r, tpt_tensor_download(test_ref(tensor), data))) return;
  for (int64_t i = 0; i < tensor->sizes[0]; i++)
    r->failures += data[i] != value;
}

// New sizes compile while other threads launch; results go before and after they are read.
static void step_own(racer_t* r, int device) {
  int64_t size = 1 + rand_r(&r->seed) % 24;
  float value = (float)(rand_r(&r->seed) % 100);
  test_tensor_t a = {0}, b = {0}, unread = {0};
  if (passes(r, make(device, size, value, &a)) && passes(r, add(device, &a, &a, 1, false, &b)) &&
      passes(r, add(device, &b, &a, 3, true, NULL)) &&
      passes(r, add(device, &b, &b, 1, false, &unread))) {
    test_release(&unread);
    expect(r, &b, 5 * value);
    expect(r, &a, value);
  }
  test_release(&a);
  test_release(&b);
}

static void step_move(racer_t* r, int device) {
  test_tensor_t from = {0}, to = {0};
  if (passes(r, make(device, 7, 3, &from)) && passes(r, make(1 - device, 7, 0, &to)) &&
      passes(r, tpt_tensor_copy(test_ref(&to), test_ref(&from))))
    expect(r, &to, 3);
  test_release(&from);
  test_release(&to);
}

// The window's owner is another thread's tensor, too: reads see whole values only.
static void step_shared(racer_t* r, int device) {
  test_tensor_t shared = r->shared[device], one = {0};
  float data[8];
  if (passes(r, make(device, 8, 1, &one))) passes(r, add(device, &shared, &one, 1, true, NULL));
  if (passes(r, tpt_tensor_download(test_ref(&shared), data))) {
    for (int i = 1; i < 8; i++)
      r->failures += data[i] != data[0];
  }
  test_release(&one);
}

static void step_random(racer_t* r, int device) {
  test_tensor_t x = {0};
  float data[16];
  tpt_arg_t args[4] = {{0},
                       {.kind = TPT_ARG_FLOAT, .number = {.dtype = TPT_F64, .f = 0}},
                       {.kind = TPT_ARG_FLOAT, .number = {.dtype = TPT_F64, .f = 1}},
                       {.kind = TPT_ARG_NONE}};
  if (passes(r, make(device, 16, 2, &x))) {
    args[0] = test_arg(test_ref(&x));
    if (passes(r, run(device, "uniform", true, args, 4, NULL)) &&
        passes(r, tpt_tensor_download(test_ref(&x), data)))
      for (int i = 0; i < 16; i++)
        r->failures += !(data[i] >= 0 && data[i] < 1);
  }
  test_release(&x);
}

// An index out of range fails late; only who reads the value hears of it.
static void step_late_failure(racer_t* r, int device) {
  test_tensor_t weight = {0}, index = {0}, row = {0};
  const int64_t wrong = 99;
  float data[8];
  index = (test_tensor_t){.t = {.dtype = TPT_S64, .rank = 1}, .sizes = {1}, .strides = {1}};
  bool is_made = passes(r, make(device, 8, 2, &weight)) &&
                 passes(r, tpt_storage_create(device, 8, &index.t.storage)) &&
                 passes(r, tpt_tensor_upload(test_ref(&index), &wrong));
  weight.t.rank = 2;
  weight.sizes[0] = weight.sizes[1] = weight.strides[0] = 2;
  weight.strides[1] = 1;
  if (is_made) {
    tpt_arg_t args[3] = {test_arg(test_ref(&weight)),
                         {.kind = TPT_ARG_INT, .number = {.dtype = TPT_S64}},
                         test_arg(test_ref(&index))};
    tpt_status_t status = run(device, "index_select", false, args, 3, &row);
    if (!status) status = tpt_tensor_download(test_ref(&row), data);
    r->failures += tpt_status_code(status) != TPT_OUT_OF_RANGE;
    tpt_status_release(status);
  }
  test_release(&weight);
  test_release(&index);
  test_release(&row);
}

static void step_ask(racer_t* r, int device) {
  tpt_counters_t counters;
  tpt_device_memory_t memory;
  size_t offset;
  tpt_counters_get(&counters);
  passes(r, tpt_device_memory(device, &memory));
  void* address = tpt_storage_address(r->shared[device].t.storage);
  r->failures += tpt_storage_find(address, &offset) != r->shared[device].t.storage;
  if (rand_r(&r->seed) % 4 == 0) {  // may be the first to hear of another thread's failure
    tpt_status_t status = tpt_device_synchronize(device);
    r->failures += status && tpt_status_code(status) != TPT_OUT_OF_RANGE;
    tpt_status_release(status);
  }
  if (rand_r(&r->seed) % 4 == 0) tpt_device_empty_cache(device);
}

static void* race(void* arg) {
  static void (*const steps[])(racer_t*, int) = {step_own,    step_move,         step_shared,
                                                 step_random, step_late_failure, step_ask};
  racer_t* r = arg;
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < 6; k++)
      steps[k](r, rand_r(&r->seed) % 2);
    step_shared(r, 0);
  }
  return NULL;
}

static void test_threads_on_two_devices(void) {
  test_tensor_t shared[2];
  racer_t racers[THREADS];
  float data[8];
  for (int i = 0; i < 2; i++)
    CHECK_OK(make(i, 8, 0, &shared[i]));
  for (int i = 0; i < THREADS; i++) {
    racers[i] = (racer_t){.seed = (unsigned)i + 1, .number = i, .shared = shared};
    CHECK(pthread_create(&racers[i].thread, NULL, race, &racers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(racers[i].thread, NULL);
    CHECK_EQ(racers[i].failures, 0);
  }
  float sum = 0;
  for (int i = 0; i < 2; i++) {
    CHECK_OK(tpt_device_synchronize(i));
    CHECK_OK(tpt_tensor_download(test_ref(&shared[i]), data));
    sum += data[0];
    test_release(&shared[i]);
  }
  CHECK_EQ(sum, 2 * THREADS * ROUNDS);
}

int main(void) {
  if (!test_open("2")) return TEST_RESULT;
  if (test_is_vtpu()) RUN(test_threads_on_two_devices);
  return TEST_RESULT;
}
