// Tests of storages: life, addresses, zeros, and when a home is fixed.
#include "eager/device.h"
#include "eager/storage.h"
#include "eager/test_device.h"

static void test_storage_knows_itself(void) {
  tpt_storage_t* storage = NULL;
  if (!CHECK_OK(tpt_storage_create(0, 100, &storage))) return;
  CHECK_EQ(tpt_storage_size(storage), 100);
  CHECK_EQ(tpt_storage_device(storage), 0);
  size_t offset = 0;
  char* address = tpt_storage_address(storage);
  CHECK(tpt_storage_find(address + 60, &offset) == storage);
  CHECK_EQ(offset, 60);
  tpt_storage_release(storage);
  CHECK(tpt_storage_find(address, &offset) == NULL);
  tpt_storage_release(NULL);
  CHECK_FAILS(tpt_storage_create(5, 4, &storage), TPT_INVALID_ARGUMENT, "tpu:5");
}

static void test_whole_use_fixes_no_home_before_a_value(void) {
  test_tensor_t x = test_empty(0, TPT_F32, 2, (int64_t[]){3, 4});
  tpt_device_lock(x.t.storage->device);
  CHECK_OK(tpt_storage_settle(x.t.storage, test_ref(&x)));
  CHECK(!tpt_home_is_typed(x.t.storage->home));
  test_tensor_t part = x;
  part.sizes[0] = 2;
  CHECK_OK(tpt_storage_settle(x.t.storage, test_ref(&part)));
  CHECK(tpt_home_is_typed(x.t.storage->home));
  CHECK(x.t.storage->cell == NULL);
  tpt_device_unlock(x.t.storage->device);
  test_release(&x);
}

static void test_first_typed_window_uploads_bytes_once(void) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  test_tensor_t bytes = test_upload(TPT_U8, 1, (int64_t[]){24}, data), typed = bytes;
  CHECK(bytes.t.storage->bytes != NULL);
  typed.t.dtype = TPT_F32;
  typed.t.rank = 2;
  typed.sizes[0] = 2;
  typed.sizes[1] = 3;
  test_set_contiguous(&typed);
  uint64_t uploads = test_counters().uploads;
  for (int i = 0; i < 2; i++) {
    tpt_device_lock(bytes.t.storage->device);
    CHECK_OK(tpt_storage_settle(bytes.t.storage, test_ref(&typed)));
    tpt_device_unlock(bytes.t.storage->device);
  }
  CHECK_EQ(test_counters().uploads, uploads + 1);
  CHECK(bytes.t.storage->bytes == NULL && bytes.t.storage->cell != NULL);
  CHECK_EQ(bytes.t.storage->home->type.rank, 2);
  test_release(&bytes);
}

static void test_setting_a_value_drops_the_old_one(void) {
  test_tensor_t x = test_f32(4, (float[]){1, 2, 3, 4}), y = test_f32(4, (float[]){5, 6, 7, 8});
  tpt_device_t* device = x.t.storage->device;
  tpt_device_lock(device);
  int64_t allocated = device->memory.allocated;
  tpt_storage_set(x.t.storage, y.t.storage->home, tpt_cell_retain(y.t.storage->cell));
  CHECK_EQ(y.t.storage->cell->refs, 2);
  CHECK_EQ(device->memory.allocated, allocated - 16);
  tpt_device_unlock(device);
  TEST_F32(x, 5, 6, 7, 8);
  test_release(&x);
  TEST_F32(y, 5, 6, 7, 8);
  test_release(&y);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_storage_knows_itself);
  RUN(test_whole_use_fixes_no_home_before_a_value);
  RUN(test_first_typed_window_uploads_bytes_once);
  RUN(test_setting_a_value_drops_the_old_one);
  return TEST_RESULT;
}
