#include "eager/device.h"
#include "eager/test_device.h"

static void test_devices_keep_apart(void) {
  tpt_device_t *first = NULL, *second = NULL;
  CHECK_OK(tpt_device_get(0, &first));
  CHECK_OK(tpt_device_get(1, &second));
  CHECK(first != second && first == tpt_device_peek(0));
  CHECK_EQ(second->index, 1);
  CHECK(tpt_device_peek(2) == NULL && tpt_device_peek(-1) == NULL);
  CHECK_EQ(tpt_device_count_open(), 2);
  test_tensor_t x = test_empty(1, TPT_F32, 1, (int64_t[]){2});
  CHECK(second->storages == x.t.storage);
  CHECK(first->storages == NULL);
  test_release(&x);
}

static void test_wait_ends_with_every_value_ready(void) {
  static float data[1 << 16];
  test_tensor_t x = test_f32(1 << 16, data), sums[4];
  for (int i = 0; i < 4; i++)
    CHECK_OK(test_add(&x, &x, i, false, &sums[i]));
  CHECK_OK(tpt_device_wait(tpt_device_peek(0)));
  for (int i = 0; i < 4; i++) {
    CHECK(tpt_buffer_is_ready(sums[i].t.storage->cell->buffer));
    test_release(&sums[i]);
  }
  test_release(&x);
}

int main(void) {
  if (!test_open("2")) return TEST_RESULT;
  RUN(test_devices_keep_apart);
  RUN(test_wait_ends_with_every_value_ready);
  return TEST_RESULT;
}
