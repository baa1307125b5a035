// Tests of copies between tensors: conversion, broadcast, overlap, sharing, devices, resizing.
#include "eager/test_device.h"

static void test_copy_converts_and_broadcasts(void) {
  test_tensor_t ints = test_empty(0, TPT_S32, 2, (int64_t[]){2, 3});
  test_tensor_t row = test_f32(3, (float[]){1.75f, -2.5f, 3});
  int32_t back[6];
  CHECK_OK(tpt_tensor_copy(test_ref(&ints), test_ref(&row)));
  CHECK_OK(tpt_tensor_download(test_ref(&ints), back));
  CHECK(memcmp(back, (int32_t[]){1, -2, 3, 1, -2, 3}, sizeof(back)) == 0);
  test_tensor_t flags = test_empty(0, TPT_PRED, 1, (int64_t[]){3});
  unsigned char truth[3];
  CHECK_OK(tpt_tensor_copy(test_ref(&flags), test_ref(&row)));
  CHECK_OK(tpt_tensor_download(test_ref(&flags), truth));
  CHECK(truth[0] == 1 && truth[1] == 1 && truth[2] == 1);
  CHECK_FAILS(tpt_tensor_copy(test_ref(&row), test_ref(&ints)), TPT_INVALID_ARGUMENT, "size");
  test_release(&ints);
  test_release(&row);
  test_release(&flags);
}

// A whole storage of bytes is shared only with a target of as many bytes.
static void test_bytes_broadcast(void) {
  test_tensor_t four = test_empty(0, TPT_U8, 1, (int64_t[]){4});
  test_tensor_t one = test_empty(0, TPT_U8, 1, (int64_t[]){1});
  unsigned char back[4];
  CHECK_OK(tpt_tensor_upload(test_ref(&one), "x"));
  CHECK_OK(tpt_tensor_copy(test_ref(&four), test_ref(&one)));
  CHECK_OK(tpt_tensor_download(test_ref(&four), back));
  CHECK(memcmp(back, "xxxx", 4) == 0);
  test_tensor_t there = test_empty(1, TPT_U8, 1, (int64_t[]){4});
  CHECK_OK(tpt_tensor_upload(test_ref(&one), "y"));
  CHECK_OK(tpt_tensor_copy(test_ref(&there), test_ref(&one)));
  CHECK_OK(tpt_tensor_download(test_ref(&there), back));
  CHECK(memcmp(back, "yyyy", 4) == 0);
  test_tensor_t floats = test_empty(1, TPT_F32, 1, (int64_t[]){4});
  CHECK_OK(tpt_tensor_copy(test_ref(&floats), test_ref(&four)));
  TEST_F32(floats, 120, 120, 120, 120);
  test_release(&four);
  test_release(&one);
  test_release(&there);
  test_release(&floats);
}

static void test_overlapping_copy_reads_old_values(void) {
  test_tensor_t x = test_f32(5, (float[]){1, 2, 3, 4, 5}), head = x, tail = x;
  head.sizes[0] = tail.sizes[0] = 4;
  tail.t.offset = 1;
  CHECK_OK(tpt_tensor_copy(test_ref(&tail), test_ref(&head)));
  TEST_F32(x, 1, 1, 2, 3, 4);
  CHECK_OK(tpt_tensor_copy(test_ref(&head), test_ref(&tail)));
  TEST_F32(x, 1, 2, 3, 4, 4);
  test_release(&x);
}

static void test_transposed_copy_moves_elements(void) {
  test_tensor_t x = test_f32(6, (float[]){1, 2, 3, 4, 5, 6}), y;
  x.t.rank = 2;
  x.sizes[0] = 2;
  x.sizes[1] = 3;
  test_set_contiguous(&x);
  y = test_empty(0, TPT_F32, 2, (int64_t[]){3, 2});
  test_tensor_t transposed = x;
  transposed.sizes[0] = 3;
  transposed.sizes[1] = 2;
  transposed.strides[0] = 1;
  transposed.strides[1] = 3;
  CHECK_OK(tpt_tensor_copy(test_ref(&y), test_ref(&transposed)));
  TEST_F32(y, 1, 4, 2, 5, 3, 6);
  test_release(&x);
  test_release(&y);
}

static void test_host_number_fills(void) {
  test_tensor_t x = test_empty(0, TPT_F32, 1, (int64_t[]){3});
  tpt_tensor_t number = {
      .dtype = TPT_F64, .flags = TPT_TENSOR_HOST, .number = {.dtype = TPT_F64, .f = 2.5}};
  CHECK_OK(tpt_tensor_copy(test_ref(&x), &number));
  TEST_F32(x, 2.5f, 2.5f, 2.5f);
  test_release(&x);
}

static void test_copy_to_another_device(void) {
  if (tpt_runtime_device_count() < 2) return;
  test_tensor_t x = test_f32(4, (float[]){1, 2, 3, 4});
  test_tensor_t far = test_empty(1, TPT_F32, 1, (int64_t[]){4});
  test_tensor_t far_ints = test_empty(1, TPT_S32, 1, (int64_t[]){2});
  CHECK_OK(tpt_tensor_copy(test_ref(&far), test_ref(&x)));
  TEST_F32(far, 1, 2, 3, 4);
  test_tensor_t odd = x;
  odd.sizes[0] = 2;
  odd.strides[0] = 2;
  odd.t.offset = 1;
  int32_t back[2];
  CHECK_OK(tpt_tensor_copy(test_ref(&far_ints), test_ref(&odd)));
  CHECK_OK(tpt_tensor_download(test_ref(&far_ints), back));
  CHECK_EQ(back[0], 2);
  CHECK_EQ(back[1], 4);
  test_tensor_t sum;
  CHECK_FAILS(test_add(&x, &far, 1, false, &sum), TPT_INVALID_ARGUMENT,
              "Expected all tensors to be on the same device");
  CHECK_OK(tpt_tensor_copy(test_ref(&x), test_ref(&far)));
  test_release(&x);
  test_release(&far);
  test_release(&far_ints);
}

static void test_bytes_and_zeros_cross_devices(void) {
  if (tpt_runtime_device_count() < 2) return;
  test_tensor_t bytes = test_upload(TPT_U8, 1, (int64_t[]){8}, (float[]){1, 2});
  test_tensor_t far = test_empty(1, TPT_U8, 1, (int64_t[]){8}), typed = far;
  CHECK_OK(tpt_tensor_copy(test_ref(&far), test_ref(&bytes)));
  typed.t.dtype = TPT_F32;
  typed.sizes[0] = 2;
  TEST_F32(typed, 1, 2);
  test_tensor_t zeros = test_empty(0, TPT_F32, 1, (int64_t[]){2});
  CHECK_OK(tpt_tensor_copy(test_ref(&typed), test_ref(&zeros)));
  TEST_F32(typed, 0, 0);
  test_release(&bytes);
  test_release(&far);
  test_release(&zeros);
}

static void test_resize_keeps_leading_bytes(void) {
  test_tensor_t x = test_f32(3, (float[]){1, 2, 3});
  CHECK_OK(tpt_storage_resize(x.t.storage, 5 * sizeof(float)));
  CHECK_EQ(tpt_storage_size(x.t.storage), 20);
  x.sizes[0] = 5;
  TEST_F32(x, 1, 2, 3, 0, 0);
  CHECK_OK(tpt_storage_resize(x.t.storage, 2 * sizeof(float)));
  x.sizes[0] = 2;
  TEST_F32(x, 1, 2);
  size_t offset;
  CHECK_OK(tpt_storage_resize(x.t.storage, 1 << 20));
  void* address = tpt_storage_address(x.t.storage);
  CHECK(tpt_storage_find((char*)address + (1 << 20) - 1, &offset) == x.t.storage);
  TEST_F32(x, 1, 2);
  CHECK_OK(tpt_storage_resize(x.t.storage, 0));
  CHECK_OK(tpt_storage_resize(x.t.storage, 8));
  TEST_F32(x, 0, 0);
  test_release(&x);
}

int main(void) {
  if (!test_open("2")) return TEST_RESULT;
  RUN(test_copy_converts_and_broadcasts);
  RUN(test_bytes_broadcast);
  RUN(test_overlapping_copy_reads_old_values);
  RUN(test_transposed_copy_moves_elements);
  RUN(test_host_number_fills);
  RUN(test_copy_to_another_device);
  RUN(test_bytes_and_zeros_cross_devices);
  RUN(test_resize_keeps_leading_bytes);
  return TEST_RESULT;
}
