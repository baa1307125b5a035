// Tests of misses: what is computed, shared, returned in which order, and what a failed one leaves.
#include "eager/device.h"
#include "eager/test_device.h"

static const char* text_of_last_program(void) {
  return tpt_device_peek(0)->text.data;
}

static int count_of(const char* text, const char* part) {
  int count = 0;
  for (const char* at = strstr(text, part); at; at = strstr(at + 1, part))
    count++;
  return count;
}

static void test_inplace_program_aliases_its_operand(void) {
  test_tensor_t a = test_f32(5, (float[5]){1}), b = test_f32(5, (float[5]){2});
  CHECK_OK(test_add(&a, &b, 1, true, NULL));
  CHECK_EQ(count_of(text_of_last_program(), "tf.aliasing_output = 0"), 1);
  CHECK_EQ(count_of(text_of_last_program(), "tf.aliasing_output"), 1);
  test_release(&a);
  test_release(&b);
}

static void test_rows_are_cut_with_run_time_starts(void) {
  test_tensor_t a = test_f32(30, (float[30]){1}), b = test_f32(3, (float[3]){2});
  test_tensor_t row = a;
  row.sizes[0] = 3;
  row.t.offset = 27;
  CHECK_OK(test_add(&row, &b, 1, true, NULL));
  CHECK_EQ(count_of(text_of_last_program(), "stablehlo.dynamic_slice"), 1);
  CHECK_EQ(count_of(text_of_last_program(), "stablehlo.dynamic_update_slice"), 1);
  CHECK_EQ(count_of(text_of_last_program(), "stablehlo.gather"), 0);
  test_release(&a);
  test_release(&b);
}

static void test_channels_last_inplace_needs_no_transpose_of_the_home(void) {
  test_tensor_t x = test_empty(0, TPT_F32, 4, (int64_t[]){1, 3, 2, 2});
  float data[12] = {0};
  memcpy(x.strides, (int64_t[]){12, 1, 6, 3}, 4 * sizeof(int64_t));
  CHECK_OK(tpt_tensor_upload(test_ref(&x), data));
  CHECK_OK(tpt_tensor_copy(test_ref(&x), test_ref(&x)));
  uint64_t launches = test_counters().launches;
  test_tensor_t y = test_empty(0, TPT_F32, 4, (int64_t[]){1, 3, 2, 2});
  memcpy(y.strides, x.strides, sizeof(x.strides));
  CHECK_OK(tpt_tensor_copy(test_ref(&y), test_ref(&x)));  // one layout: shared, not computed
  CHECK_EQ(test_counters().launches, launches);
  test_release(&x);
  test_release(&y);
}

static void test_failed_build_adds_nothing(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3}), b = test_f32(2, (float[]){1, 2}), c;
  size_t entries = tpt_device_peek(0)->entries.count;
  tpt_device_memory_t before, after;
  CHECK_OK(tpt_device_memory(0, &before));
  for (int i = 0; i < 3; i++)
    CHECK_FAILS(test_add(&a, &b, 1, false, &c), TPT_INVALID_ARGUMENT,
                "The size of tensor a (3) must match the size of tensor b (2)");
  CHECK_OK(tpt_device_memory(0, &after));
  CHECK_EQ(tpt_device_peek(0)->entries.count, entries);
  CHECK_EQ(after.allocated, before.allocated);
  CHECK_EQ(after.storage_count, before.storage_count);
  TEST_F32(a, 1, 2, 3);
  test_release(&a);
  test_release(&b);
}

static void test_dump_writes_every_program(void) {
  char path[256];
  snprintf(path, sizeof(path), "%s/eager_build_test-%d", P_tmpdir, (int)getpid());
  tpt_device_t* device = tpt_device_peek(0);
  device->dump = path;
  test_tensor_t a = test_f32(7, (float[7]){1}), c;
  CHECK_FAILS(test_add(&a, &a, 1, false, &c), TPT_NOT_FOUND, "option dump");
  device->dump = P_tmpdir;
  if (CHECK_OK(test_add(&a, &a, 1, false, &c))) test_release(&c);
  device->dump = NULL;
  snprintf(path, sizeof(path), "%s/tpu0-%06llu-add.Tensor.mlir", P_tmpdir,
           (unsigned long long)test_counters().compiles - 1);
  CHECK(access(path, R_OK) == 0);
  unlink(path);
  test_release(&a);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_inplace_program_aliases_its_operand);
  RUN(test_rows_are_cut_with_run_time_starts);
  RUN(test_channels_last_inplace_needs_no_transpose_of_the_home);
  RUN(test_failed_build_adds_nothing);
  RUN(test_dump_writes_every_program);
  return TEST_RESULT;
}
