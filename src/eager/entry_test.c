// Tests of how long compiled calls live.
#include "eager/entry.h"
#include "eager/test_device.h"

static void add_of_size(int64_t size) {
  static float data[64];
  test_tensor_t x = test_f32(size, data), sum = {0};
  CHECK_OK(test_add(&x, &x, 1, false, &sum));
  test_release(&x);
  test_release(&sum);
}

static void test_old_entries_make_room_and_come_back(void) {
  tpt_device_t* device = tpt_device_peek(0);
  device->entry_max = 8;
  for (int64_t size = 1; size <= 8; size++)
    add_of_size(size);
  add_of_size(1);  // used lately
  CHECK_EQ(device->entries.count, 8);
  add_of_size(9);
  CHECK_EQ(device->entries.count, 5);
  CHECK_EQ(device->dropped_count, 4);
  uint64_t compiles = test_counters().compiles;
  add_of_size(1);
  add_of_size(8);
  CHECK_EQ(test_counters().compiles, compiles);
  add_of_size(2);
  CHECK_EQ(test_counters().compiles, compiles + 1);
  for (int64_t size = 10; size <= 30; size++)
    add_of_size(size);
  CHECK(device->entries.count <= 8);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_old_entries_make_room_and_come_back);
  return TEST_RESULT;
}
