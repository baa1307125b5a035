// Tests of the list of live tensors: order, shared values, values that are not there yet.
#include <string.h>

#include "eager/test_device.h"

static void test_largest_first_with_their_makers(void) {
  static float data[5000];
  test_tensor_t small = test_f32(3, data), big = test_f32(5000, data), made = {0};
  test_tensor_t none = test_empty(0, TPT_F32, 1, (int64_t[]){100});
  if (!CHECK_OK(test_add(&big, &big, 1, false, &made))) return;
  tpt_live_tensor_t lives[16];
  int count;
  CHECK_OK(tpt_device_live_tensors(0, lives, 16, &count));
  CHECK_EQ(count, 4);
  CHECK_EQ(lives[0].size, 20000);
  CHECK_EQ(lives[1].size, 20000);
  const tpt_live_tensor_t* sum = lives[0].op ? &lives[0] : &lives[1];
  CHECK_STR(sum->op, "add.Tensor");
  CHECK_STR(sum->file, "model.py");
  CHECK_EQ(sum->line, 12);
  CHECK_EQ(sum->type.dims[0], 5000);
  CHECK_EQ(lives[2].size, 400);
  CHECK(!lives[2].has_value);
  CHECK_EQ(lives[3].size, 12);
  CHECK(lives[3].has_value);
  CHECK_OK(tpt_device_live_tensors(0, lives, 1, &count));
  CHECK_EQ(count, 4);
  test_release(&small);
  test_release(&big);
  test_release(&none);
  test_release(&made);
  CHECK_OK(tpt_device_live_tensors(0, lives, 16, &count));
  CHECK_EQ(count, 0);
}

static void test_a_shared_value_stands_once(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3});
  test_tensor_t b = test_empty(0, TPT_F32, 1, (int64_t[]){3});
  CHECK_OK(tpt_tensor_copy(test_ref(&b), test_ref(&a)));
  tpt_live_tensor_t lives[4];
  int count, storages = 0;
  CHECK_OK(tpt_device_live_tensors(0, lives, 4, &count));
  for (int i = 0; i < count; i++)
    storages += lives[i].storage_count;
  CHECK_EQ(storages, 2);
  test_release(&a);
  test_release(&b);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_largest_first_with_their_makers);
  RUN(test_a_shared_value_stands_once);
  return TEST_RESULT;
}
