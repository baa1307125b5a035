// Tests of a program's parameters: one per storage, start and number, none for what is not there.
#include "eager/entry.h"
#include "eager/test_device.h"

// The entry of the call that was built last.
static const tpt_entry_t* last_entry(void) {
  tpt_device_t* device = tpt_device_peek(0);
  return tpt_key_find(device, tpt_frame_hash(&device->frame));
}

static int count_kind(tpt_operand_kind_t kind) {
  const tpt_entry_t* entry = last_entry();
  int count = 0;
  for (uint32_t i = 0; entry && i < entry->operand_count; i++)
    count += entry->operands[i].kind == kind;
  return count;
}

static void test_windows_of_one_storage_are_one_parameter(void) {
  test_tensor_t x = test_f32(8, (float[]){1, 2, 3, 4, 5, 6, 7, 8}), a = x, b = x, sum;
  a.sizes[0] = b.sizes[0] = 4;
  b.t.offset = 4;
  if (CHECK_OK(test_add(&a, &b, 2, false, &sum))) {
    CHECK_EQ(count_kind(TPT_OPERAND_HOME), 1);
    CHECK_EQ(count_kind(TPT_OPERAND_START), 2);  // equal sizes: one window, two starts
    CHECK_EQ(count_kind(TPT_OPERAND_SCALAR), 1);
    TEST_F32(sum, 11, 14, 17, 20);
    test_release(&sum);
  }
  test_release(&x);
}

static void test_storage_without_value_is_no_parameter(void) {
  test_tensor_t x = test_empty(0, TPT_F32, 1, (int64_t[]){5}), sum;
  if (CHECK_OK(test_add(&x, &x, 1, false, &sum))) {
    CHECK_EQ(count_kind(TPT_OPERAND_HOME), 0);
    TEST_F32(sum, 0, 0, 0, 0, 0);
    test_release(&sum);
  }
  test_release(&x);
}

static void test_shared_values_stay_two_parameters(void) {
  test_tensor_t x = test_f32(6, (float[]){1, 2, 3, 4, 5, 6});
  test_tensor_t y = test_empty(0, TPT_F32, 1, (int64_t[]){6});
  CHECK_OK(tpt_tensor_copy(test_ref(&y), test_ref(&x)));
  CHECK_OK(test_add(&x, &y, 1, true, NULL));
  CHECK_EQ(count_kind(TPT_OPERAND_HOME), 2);
  CHECK_EQ(last_entry() ? last_entry()->donation_count : 0, 1);
  TEST_F32(x, 2, 4, 6, 8, 10, 12);
  TEST_F32(y, 1, 2, 3, 4, 5, 6);
  test_release(&x);
  test_release(&y);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_windows_of_one_storage_are_one_parameter);
  RUN(test_storage_without_value_is_no_parameter);
  RUN(test_shared_values_stay_two_parameters);
  return TEST_RESULT;
}
