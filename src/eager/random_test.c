// Tests of random state: where it starts, how far calls move it, that it never compiles anything.
#include "eager/test_device.h"

enum { COUNT = 1000 };

// One dropout of ones; the mask's bytes into out_mask.
static tpt_status_t drop(tpt_generator_t* generator, unsigned char* out_mask) {
  static float ones[COUNT];
  for (int i = 0; i < COUNT; i++)
    ones[i] = 1;
  test_tensor_t x = test_f32(COUNT, ones);
  tpt_arg_t args[3] = {test_arg(test_ref(&x)),
                       {.kind = TPT_ARG_FLOAT, .number = {.dtype = TPT_F64, .f = 0.5}},
                       {.kind = TPT_ARG_BOOL, .number = {.dtype = TPT_PRED, .i = 1}}};
  tpt_call_t call = {.op = tpt_op_find("native_dropout"),
                     .args = args,
                     .arg_count = 3,
                     .default_dtype = TPT_F32,
                     .generator = generator};
  tpt_result_t* results;
  int count = 0;
  tpt_status_t status = tpt_call_run(&call, &results, &count);
  for (int i = 0; i < count; i++) {
    test_tensor_t result = test_result(&results[i]);
    if (i == 1) status = tpt_tensor_download(test_ref(&result), out_mask);
    test_release(&result);
  }
  test_release(&x);
  return status;
}

static void test_default_generator_starts_as_pytorchs(void) {
  uint64_t seed, offset;
  tpt_generator_get(tpt_generator_default(0), &seed, &offset);
  CHECK_EQ(seed, 67280421310721);
  CHECK_EQ(offset, 0);
  CHECK(tpt_generator_default(0) == tpt_generator_default(0));
  CHECK(tpt_generator_default(-1) == NULL);
}

static void test_calls_move_the_offset_and_compile_once(void) {
  unsigned char first[COUNT], second[COUNT], again[COUNT];
  tpt_generator_t* generator = tpt_generator_default(0);
  tpt_generator_set(generator, 7, 0);
  CHECK_OK(drop(NULL, first));
  uint64_t seed, offset, compiles = test_counters().compiles;
  tpt_generator_get(generator, &seed, &offset);
  CHECK_EQ(seed, 7);
  CHECK_EQ(offset, COUNT / 4);
  CHECK_OK(drop(NULL, second));
  CHECK(memcmp(first, second, COUNT) != 0);
  tpt_generator_get(generator, &seed, &offset);
  CHECK_EQ(offset, 2 * COUNT / 4);
  tpt_generator_set(generator, 7, 0);
  CHECK_OK(drop(NULL, again));
  CHECK(memcmp(first, again, COUNT) == 0);
  tpt_generator_set(generator, 8, 0);
  CHECK_OK(drop(NULL, again));
  CHECK(memcmp(first, again, COUNT) != 0);
  CHECK_EQ(test_counters().compiles, compiles);
  int kept = 0;
  for (int i = 0; i < COUNT; i++)
    kept += first[i];
  CHECK(kept > 400 && kept < 600);
}

static void test_own_generator_leaves_the_default_alone(void) {
  tpt_generator_t* own = NULL;
  unsigned char mask[COUNT], twin[COUNT];
  uint64_t seed, offset;
  CHECK_OK(tpt_generator_create(0, &own));
  tpt_generator_set(own, 7, 0);
  tpt_generator_set(tpt_generator_default(0), 7, 0);
  CHECK_OK(drop(own, mask));
  tpt_generator_get(tpt_generator_default(0), &seed, &offset);
  CHECK_EQ(offset, 0);
  CHECK_OK(drop(NULL, twin));
  CHECK(memcmp(mask, twin, COUNT) == 0);
  tpt_generator_release(own);
  tpt_generator_release(NULL);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_default_generator_starts_as_pytorchs);
  RUN(test_calls_move_the_offset_and_compile_once);
  RUN(test_own_generator_leaves_the_default_alone);
  return TEST_RESULT;
}
