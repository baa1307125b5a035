// Tests of the door for calls: results, in-place writes, the cache, failures, threads.
#include <pthread.h>

#include "eager/test_device.h"

static void test_add_gives_sums(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3}), b = test_f32(3, (float[]){10, 20, 30}), c;
  if (CHECK_OK(test_add(&a, &b, 1, false, &c))) {
    CHECK_EQ(c.t.dtype, TPT_F32);
    CHECK_EQ(c.t.rank, 1);
    TEST_F32(c, 11, 22, 33);
    test_release(&c);
  }
  TEST_F32(a, 1, 2, 3);
  test_release(&a);
  test_release(&b);
}

static void test_inplace_add_is_seen_by_every_alias(void) {
  test_tensor_t a = test_f32(4, (float[]){1, 2, 3, 4}), b = test_f32(2, (float[]){10, 20});
  test_tensor_t tail = a;
  tail.sizes[0] = 2;
  tail.t.offset = 2;
  CHECK_OK(test_add(&tail, &b, 1, true, NULL));
  TEST_F32(a, 1, 2, 13, 24);
  TEST_F32(tail, 13, 24);
  CHECK_OK(test_add(&tail, &tail, 1, true, NULL));
  TEST_F32(a, 1, 2, 26, 48);
  test_tensor_t head = a;
  head.sizes[0] = 3;
  test_tensor_t shifted = head;
  shifted.t.offset = 1;
  CHECK_OK(test_add(&shifted, &head, 1, true, NULL));  // partial overlap: old values on the right
  TEST_F32(a, 1, 3, 28, 74);
  test_release(&a);
  test_release(&b);
}

static void test_zeros_without_value_read_as_zero(void) {
  test_tensor_t a = test_empty(0, TPT_F32, 1, (int64_t[]){3}), b = test_f32(3, (float[]){1, 2, 3});
  TEST_F32(a, 0, 0, 0);
  CHECK_OK(test_add(&a, &b, 2, true, NULL));
  TEST_F32(a, 2, 4, 6);
  test_release(&a);
  test_release(&b);
}

static void test_changing_numbers_compile_nothing(void) {
  test_tensor_t a = test_f32(64, (float[64]){0}),
                b = test_f32(8, (float[]){1, 1, 1, 1, 1, 1, 1, 1});
  test_tensor_t part = a;
  part.sizes[0] = 8;
  for (int i = 0; i < 2; i++) {
    part.t.offset = i;
    CHECK_OK(test_add(&part, &b, 0.5 + i, true, NULL));
  }
  uint64_t compiles = test_counters().compiles;
  for (int i = 0; i < 1000; i++) {
    part.t.offset = i % 57;
    CHECK_OK(test_add(&part, &b, 0.25 * i, true, NULL));
  }
  CHECK_EQ(test_counters().compiles, compiles);
  test_release(&a);
  test_release(&b);
}

static void test_window_beyond_storage_fails(void) {
  test_tensor_t a = test_f32(4, (float[]){1, 2, 3, 4}), b = test_f32(2, (float[]){1, 1}), c;
  test_tensor_t part = a;
  part.sizes[0] = 2;
  part.t.offset = 3;
  CHECK_FAILS(test_add(&part, &b, 1, false, &c), TPT_INVALID_ARGUMENT, "its storage of 16 bytes");
  CHECK_FAILS(test_add(&part, &b, 1, true, NULL), TPT_INVALID_ARGUMENT, "its storage of 16 bytes");
  part.t.offset = -1;
  CHECK_FAILS(test_add(&part, &b, 1, false, &c), TPT_INVALID_ARGUMENT, "offset -1");
  TEST_F32(a, 1, 2, 3, 4);
  test_release(&a);
  test_release(&b);
}

static void test_host_number_is_an_operand(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), c;
  tpt_tensor_t number = {.dtype = TPT_F64,
                         .flags = TPT_TENSOR_HOST | TPT_TENSOR_WRAPPED,
                         .number = {.dtype = TPT_F64, .f = 0.5}};
  uint64_t compiles = 0;
  for (int i = 0; i < 10; i++) {
    number.number.f = 0.5 * i;
    tpt_arg_t args[3] = {test_arg(test_ref(&a)), test_arg(&number), test_int_scalar(1)};
    if (!CHECK_OK(test_call("add.Tensor", false, args, 3, &c))) break;
    CHECK_EQ(c.t.dtype, TPT_F32);
    TEST_F32(c, 1 + 0.5f * i, 2 + 0.5f * i);
    test_release(&c);
    if (i == 0) compiles = test_counters().compiles;
  }
  CHECK_EQ(test_counters().compiles, compiles);
  test_release(&a);
}

static void test_donation_is_counted_and_refused_when_shared(void) {
  test_tensor_t a = test_f32(4, (float[]){1, 2, 3, 4}), b = test_f32(4, (float[]){1, 1, 1, 1});
  test_tensor_t twin = test_empty(0, TPT_F32, 1, (int64_t[]){4});
  tpt_counters_t before = test_counters();
  CHECK_OK(test_add(&a, &b, 1, true, NULL));
  CHECK_EQ(test_counters().donations, before.donations + 1);
  CHECK_EQ(test_counters().refused_donations, before.refused_donations);
  uint64_t launches = test_counters().launches;
  CHECK_OK(tpt_tensor_copy(test_ref(&twin), test_ref(&a)));  // shares the value
  CHECK_EQ(test_counters().launches, launches);
  CHECK_OK(test_add(&a, &b, 1, true, NULL));
  CHECK_EQ(test_counters().refused_donations, before.refused_donations + 1);
  TEST_F32(a, 3, 4, 5, 6);
  TEST_F32(twin, 2, 3, 4, 5);
  test_release(&a);
  test_release(&b);
  test_release(&twin);
}

static void* add_many(void* arg) {
  test_tensor_t* shared = arg;
  test_tensor_t mine = *shared, sum = test_f32(4, (float[4]){0});
  for (int i = 0; i < 200; i++)
    CHECK_OK(test_add(&sum, &mine, 1, true, NULL));
  TEST_F32(sum, 200, 400, 600, 800);
  test_release(&sum);
  return NULL;
}

static void test_two_threads_share_a_device(void) {
  test_tensor_t a = test_f32(4, (float[]){1, 2, 3, 4});
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, add_many, &a);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  TEST_F32(a, 1, 2, 3, 4);
  test_release(&a);
}

static void test_memory_is_accounted_by_storage(void) {
  tpt_device_memory_t before, during, after;
  CHECK_OK(tpt_device_memory(0, &before));
  float* data = calloc(1 << 18, sizeof(*data));
  test_tensor_t a = test_f32(1 << 18, data);
  CHECK_OK(tpt_device_memory(0, &during));
  CHECK_EQ(during.allocated - before.allocated, 4 << 18);
  CHECK_EQ(during.storage_count - before.storage_count, 1);
  CHECK(during.peak_allocated >= during.allocated);
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  CHECK_OK(tpt_device_memory(0, &after));
  CHECK_EQ(after.allocated, during.allocated);
  test_release(&a);
  CHECK_OK(tpt_device_memory(0, &after));
  CHECK_EQ(after.allocated, before.allocated);
  free(data);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_add_gives_sums);
  RUN(test_inplace_add_is_seen_by_every_alias);
  RUN(test_zeros_without_value_read_as_zero);
  RUN(test_changing_numbers_compile_nothing);
  RUN(test_window_beyond_storage_fails);
  RUN(test_host_number_is_an_operand);
  RUN(test_donation_is_counted_and_refused_when_shared);
  RUN(test_two_threads_share_a_device);
  RUN(test_memory_is_accounted_by_storage);
  return TEST_RESULT;
}
