// Tests of the way between host and device: layouts, parts, byte storages, bad windows.
#include "eager/test_device.h"

static const int64_t kNchw[] = {2, 3, 2, 2};

static void test_channels_last_round_trip_keeps_elements(void) {
  test_tensor_t x = test_empty(0, TPT_F32, 4, kNchw);
  float data[24], back[24];
  for (int i = 0; i < 24; i++)
    data[i] = (float)i;
  const int64_t strides[] = {12, 1, 6, 3};
  memcpy(x.strides, strides, sizeof(strides));
  CHECK_OK(tpt_tensor_upload(test_ref(&x), data));
  CHECK_OK(tpt_tensor_download(test_ref(&x), back));
  CHECK(memcmp(data, back, sizeof(data)) == 0);
  test_tensor_t y;
  if (CHECK_OK(test_add(&x, &x, 1, false, &y))) {
    CHECK(memcmp(y.strides, strides, sizeof(strides)) == 0);  // TensorIterator keeps the layout
    CHECK_OK(tpt_tensor_download(test_ref(&y), back));
    for (int i = 0; i < 24; i++)
      CHECK_EQ(back[i], 2 * data[i]);
    test_release(&y);
  }
  test_release(&x);
}

static void test_part_is_uploaded_and_downloaded(void) {
  float data[20000];
  for (int i = 0; i < 20000; i++)
    data[i] = (float)i;
  test_tensor_t x = test_f32(20000, data), part = x;
  part.t.rank = 2;
  part.sizes[0] = 2;
  part.sizes[1] = 2;
  part.strides[0] = 100;
  part.strides[1] = 3;
  part.t.offset = 50;
  TEST_F32(part, 50, 53, 150, 153);  // a program: the storage is large
  CHECK_OK(tpt_tensor_upload(test_ref(&part), (float[]){1, 2, 3, 4}));
  TEST_F32(part, 1, 2, 3, 4);
  part.t.offset = 51;
  TEST_F32(part, 51, 54, 151, 154);
  test_release(&x);
}

static void test_bytes_wait_for_their_first_typed_window(void) {
  const float data[] = {1, 2, 3, 4, 5, 6};
  test_tensor_t bytes = test_upload(TPT_U8, 1, (int64_t[]){24}, data);
  tpt_device_memory_t before, after;
  CHECK_OK(tpt_device_memory(0, &before));
  test_tensor_t twin = test_empty(0, TPT_U8, 1, (int64_t[]){24});
  CHECK_OK(tpt_tensor_copy(test_ref(&twin), test_ref(&bytes)));
  CHECK_OK(tpt_device_memory(0, &after));
  CHECK_EQ(after.allocated, before.allocated);  // both wait on the host
  test_tensor_t typed = twin, sum;
  typed.t.dtype = TPT_F32;
  typed.t.rank = 2;
  typed.sizes[0] = 3;
  typed.sizes[1] = 2;
  test_set_contiguous(&typed);
  uint64_t compiles = test_counters().compiles;
  if (CHECK_OK(test_add(&typed, &typed, 1, false, &sum))) {
    TEST_F32(sum, 2, 4, 6, 8, 10, 12);
    test_release(&sum);
  }
  CHECK_EQ(test_counters().compiles, compiles + 1);
  float back[6];
  CHECK_OK(tpt_tensor_download(test_ref(&twin), back));  // bytes of a typed home
  CHECK(memcmp(back, data, sizeof(data)) == 0);
  CHECK_OK(tpt_tensor_upload(test_ref(&twin), (float[]){7, 8, 9, 10, 11, 12}));
  TEST_F32(typed, 7, 8, 9, 10, 11, 12);
  CHECK_OK(tpt_tensor_download(test_ref(&bytes), back));
  CHECK(memcmp(back, data, sizeof(data)) == 0);
  test_release(&bytes);
  test_release(&twin);
}

static void test_bytes_on_the_host_are_read_and_patched(void) {
  test_tensor_t bytes = test_upload(TPT_U8, 1, (int64_t[]){4}, (unsigned char[]){1, 2, 3, 4});
  test_tensor_t part = bytes;
  unsigned char back[4];
  part.sizes[0] = 2;
  part.t.offset = 1;
  CHECK_OK(tpt_tensor_upload(test_ref(&part), (unsigned char[]){8, 9}));
  CHECK_OK(tpt_tensor_download(test_ref(&bytes), back));
  CHECK(memcmp(back, (unsigned char[]){1, 8, 9, 4}, 4) == 0);
  test_release(&bytes);
}

static void test_bool_home_keeps_bytes_that_are_no_truth(void) {
  test_tensor_t flags = test_upload(TPT_PRED, 1, (int64_t[]){3}, (unsigned char[]){1, 0, 1});
  test_tensor_t bytes = flags;
  unsigned char back[3];
  bytes.t.dtype = TPT_U8;
  CHECK_OK(tpt_tensor_download(test_ref(&bytes), back));
  CHECK(memcmp(back, (unsigned char[]){1, 0, 1}, 3) == 0);
  CHECK_OK(tpt_tensor_upload(test_ref(&bytes), (unsigned char[]){0, 5, 0}));
  CHECK_OK(tpt_tensor_download(test_ref(&flags), back));
  CHECK(back[0] == 0 && back[1] != 0 && back[2] == 0);
  test_tensor_t copy = test_empty(0, TPT_PRED, 1, (int64_t[]){3});
  CHECK_OK(tpt_tensor_copy(test_ref(&copy), test_ref(&flags)));
  CHECK_OK(tpt_tensor_download(test_ref(&copy), back));
  CHECK(memcmp(back, (unsigned char[]){0, 1, 0}, 3) == 0);
  CHECK_OK(tpt_tensor_download(test_ref(&bytes), back));
  CHECK(memcmp(back, (unsigned char[]){0, 5, 0}, 3) == 0);
  test_release(&copy);
  test_release(&flags);
}

static void test_empty_tensors_move_nothing(void) {
  test_tensor_t x = test_empty(0, TPT_F32, 2, (int64_t[]){3, 0}), y;
  CHECK_OK(tpt_tensor_upload(test_ref(&x), NULL));
  CHECK_OK(tpt_tensor_download(test_ref(&x), NULL));
  uint64_t launches = test_counters().launches;
  if (CHECK_OK(test_add(&x, &x, 1, false, &y))) {
    CHECK_EQ(y.sizes[1], 0);
    test_release(&y);
  }
  CHECK_EQ(test_counters().launches, launches);
  test_release(&x);
}

static void test_bad_windows_are_refused(void) {
  test_tensor_t x = test_f32(3, (float[]){1, 2, 3}), y = x;
  float data[8] = {0};
  y.sizes[0] = 4;
  CHECK_FAILS(tpt_tensor_download(test_ref(&y), data), TPT_INVALID_ARGUMENT, "reaches over 4");
  CHECK_FAILS(tpt_tensor_upload(test_ref(&y), data), TPT_INVALID_ARGUMENT, "reaches over 4");
  y.strides[0] = 0;
  CHECK_FAILS(tpt_tensor_upload(test_ref(&y), data), TPT_INVALID_ARGUMENT,
              "more than one element of the written-to tensor");
  CHECK_OK(tpt_tensor_download(test_ref(&y), data));
  CHECK_EQ(data[3], 1);
  TEST_F32(x, 1, 2, 3);
  test_release(&x);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_channels_last_round_trip_keeps_elements);
  RUN(test_part_is_uploaded_and_downloaded);
  RUN(test_bytes_wait_for_their_first_typed_window);
  RUN(test_bytes_on_the_host_are_read_and_patched);
  RUN(test_bool_home_keeps_bytes_that_are_no_truth);
  RUN(test_empty_tensors_move_nothing);
  RUN(test_bad_windows_are_refused);
  return TEST_RESULT;
}
