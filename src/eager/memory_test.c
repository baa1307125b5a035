// Tests of accounting and of the out-of-memory message, on a device of 16 MiB where the plugin can
// have one.
#include "eager/device.h"
#include "eager/test_device.h"

static void test_counts_follow_values(void) {
  tpt_device_memory_t before, memory;
  CHECK_OK(tpt_device_memory(0, &before));
  test_tensor_t a = test_f32(1000, (float[1000]){0}), b = test_f32(1000, (float[1000]){0});
  CHECK_OK(tpt_device_memory(0, &memory));
  CHECK_EQ(memory.allocated - before.allocated, 8000);
  CHECK_EQ(memory.allocation_count - before.allocation_count, 2);
  test_release(&a);
  CHECK_OK(tpt_device_memory(0, &memory));
  CHECK_EQ(memory.allocated - before.allocated, 4000);
  CHECK(memory.peak_allocated - before.allocated >= 8000);
  tpt_device_memory_reset_peak(0);
  CHECK_OK(tpt_device_memory(0, &memory));
  CHECK_EQ(memory.peak_allocated, memory.allocated);
  test_release(&b);
}

static void test_message_names_what_users_look_for(void) {
  static float data[70000];
  test_tensor_t big = test_f32(70000, data);
  tpt_device_t* device = tpt_device_peek(0);
  tpt_status_t status = tpt_memory_explain(
      device, 3 << 20, tpt_status_make(TPT_RESOURCE_EXHAUSTED, "x.c", 1, "full"));
  const char* message = tpt_status_message(status);
  CHECK(strstr(message, "out of memory on tpu:0"));
  CHECK(strstr(message, "Tried to allocate 3.00 MiB"));
  CHECK(strstr(message, "peak"));
  CHECK(strstr(message, "tensor<70000xf32> 273.44 KiB"));
  CHECK(strstr(message, "full"));
  CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
  tpt_status_release(status);
  CHECK(tpt_memory_explain(device, 1, NULL) == NULL);
  CHECK_FAILS(tpt_memory_explain(device, 1, tpt_status_make(TPT_INTERNAL, "x.c", 1, "other")),
              TPT_INTERNAL, "other");
  test_release(&big);
}

static void test_full_device_stays_usable(void) {
  int64_t count = 1 << 20;  // 4 MiB each
  test_tensor_t tensors[8];
  float* data = calloc((size_t)count, sizeof(*data));
  int made = 0;
  tpt_status_t status = NULL;
  while (made < 8 && !status) {
    tensors[made] = test_empty(0, TPT_F32, 1, &count);
    status = tpt_tensor_upload(test_ref(&tensors[made]), data);
    made++;
  }
  CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
  CHECK(status && strstr(tpt_status_message(status), "Tried to allocate 4.00 MiB"));
  tpt_status_release(status);
  test_tensor_t sum;
  status = NULL;
  for (int i = 0; i < 4 && !status; i++) {  // a program's results do not fit either
    status = test_add(&tensors[0], &tensors[1], 1, false, &sum);
    if (!status) test_release(&sum);
  }
  tpt_status_release(status);
  for (int i = 1; i < made; i++)
    test_release(&tensors[i]);
  CHECK_OK(test_add(&tensors[0], &tensors[0], 1, true, NULL));
  CHECK_OK(tpt_tensor_download(test_ref(&tensors[0]), data));
  CHECK_EQ(data[count - 1], 0);
  test_release(&tensors[0]);
  free(data);
}

static void test_empty_cache_drops_scalars(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2});
  CHECK_OK(test_add(&a, &a, 0.125, true, NULL));
  uint64_t uploads = tpt_scalar_cache_upload_count(tpt_device_peek(0)->scalars);
  CHECK_OK(test_add(&a, &a, 0.125, true, NULL));
  CHECK_EQ(tpt_scalar_cache_upload_count(tpt_device_peek(0)->scalars), uploads);
  tpt_device_empty_cache(0);
  tpt_device_empty_cache(77);
  CHECK_OK(test_add(&a, &a, 0.125, true, NULL));
  CHECK_EQ(tpt_scalar_cache_upload_count(tpt_device_peek(0)->scalars), uploads + 1);
  test_release(&a);
}

int main(void) {
  CHECK_OK(tpt_runtime_set_option("hbm", "16M"));
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_counts_follow_values);
  RUN(test_message_names_what_users_look_for);
  RUN(test_empty_cache_drops_scalars);
  if (test_is_vtpu()) RUN(test_full_device_stays_usable);
  return TEST_RESULT;
}
