// What a call costs on a hit: key and look-up alone, and whole calls on the plugin beside the bare run
// of the same program. Prints nanoseconds of this thread, so that a busy
// machine disturbs little; run by hand.
#include <time.h>

#include "eager/entry.h"
#include "eager/test_device.h"

enum { REPEATS = 200000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void print(const char* what, double begin, int count) {
  printf("%-34s %8.1f ns\n", what, (now() - begin) / count);
}

static void bench_key(const char* what, const tpt_call_t* call) {
  tpt_device_t* device = tpt_device_peek(0);
  uint64_t hash, sum = 0;
  double begin = now();
  for (int i = 0; i < REPEATS; i++) {
    tpt_device_lock(device);
    CHECK_OK(tpt_key_build(device, call, &hash));
    sum += tpt_key_find(device, hash) != NULL;
    tpt_device_unlock(device);
  }
  print(what, begin, REPEATS);
  CHECK_EQ(sum, REPEATS);
}

static void bench_run(const tpt_call_t* call) {
  tpt_device_t* device = tpt_device_peek(0);
  uint64_t hash;
  CHECK_OK(tpt_key_build(device, call, &hash));
  tpt_entry_t* entry = tpt_key_find(device, hash);
  if (!entry) return;
  tpt_buffer_t *args[8], *result;
  float one = 1;
  for (uint32_t i = 0; i < entry->operand_count; i++) {
    args[i] = device->frame.groups[0]->cell->buffer;
    if (entry->operands[i].kind == TPT_OPERAND_HOME)
      args[i] = device->frame.groups[entry->operands[i].index]->cell->buffer;
    else
      CHECK_OK(tpt_scalar_cache_get(device->scalars, entry->operands[i].dtype, &one, &args[i]));
  }
  tpt_run_params_t params = {.args = args, .arg_count = (int)entry->operand_count};
  double begin = now();
  for (int i = 0; i < REPEATS / 10; i++) {
    CHECK_OK(tpt_executable_run(entry->executable, &params, &result));
    tpt_buffer_release(result);
  }
  print("  the bare run", begin, REPEATS / 10);
}

static void bench_call(const char* what, const tpt_call_t* call) {
  tpt_result_t* results;
  int count;
  double begin = now();
  for (int i = 0; i < REPEATS / 10; i++) {
    CHECK_OK(tpt_call_run(call, &results, &count));
    if (count) tpt_storage_release(results[0].storage);
  }
  print(what, begin, REPEATS / 10);
}

// Calls of ever new shapes: lowering, printing and the plugin's compilation.
static void bench_miss(void) {
  enum { SHAPES = 300 };
  static float data[SHAPES + 8];
  double begin = now();
  for (int i = 1; i <= SHAPES; i++) {
    test_tensor_t x = test_f32(i + 7, data), sum = {0};
    CHECK_OK(test_add(&x, &x, 1, false, &sum));
    test_release(&x);
    test_release(&sum);
  }
  print("a miss (add)", begin, SHAPES);
  printf("%-34s %8.1f ns\n", "  of it in the plugin",
         1e9 * test_counters().compile_seconds / (double)test_counters().compiles);
}

int main(void) {
  if (!test_open("1")) return 1;
  bench_miss();
  static const int kFirst = 0;
  test_tensor_t a = test_f32(16, (float[16]){1}), b = test_f32(16, (float[16]){2});
  a.t.rank = b.t.rank = 2;
  a.sizes[0] = a.sizes[1] = b.sizes[0] = b.sizes[1] = 4;
  test_set_contiguous(&a);
  test_set_contiguous(&b);
  tpt_arg_t args[3] = {test_arg(test_ref(&a)), test_arg(test_ref(&b)), test_scalar(1)};
  tpt_call_t call = {.op = tpt_op_find("add.Tensor"),
                     .args = args,
                     .arg_count = 3,
                     .inplace_args = &kFirst,
                     .default_dtype = TPT_F32};
  bench_call("add 4x4, first calls", &call);
  bench_call("add 4x4", &call);
  bench_run(&call);
  bench_key("  key and look-up", &call);
  call.variant = TPT_INPLACE;
  call.inplace_count = 1;
  bench_call("add_ 4x4, first calls", &call);
  bench_call("add_ 4x4", &call);
  bench_key("  key and look-up", &call);
  test_tensor_t row = a;
  row.t.rank = 1;
  row.t.offset = 8;
  row.strides[0] = 1;
  test_tensor_t other = b;
  other.t.rank = 1;
  other.strides[0] = 1;
  args[0] = test_arg(test_ref(&row));
  args[1] = test_arg(test_ref(&other));
  bench_call("add_ to a row, first calls", &call);
  bench_call("add_ to a row", &call);
  bench_key("  key and look-up", &call);
  test_release(&a);
  test_release(&b);
  return TEST_RESULT;
}
