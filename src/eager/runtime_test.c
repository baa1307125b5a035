// Tests of opening: options, counting, errors that are told again, forks.
#include <sys/wait.h>

#include "eager/test_device.h"

static void test_a_missing_plugin_is_told_with_its_name(void) {
  CHECK_OK(tpt_runtime_set_option("plugin", "/nowhere/plugin.so"));
  CHECK_FAILS(tpt_runtime_open(), TPT_NOT_FOUND, "/nowhere/plugin.so");
  CHECK_FAILS(tpt_runtime_open(), TPT_NOT_FOUND, "/nowhere/plugin.so");
  CHECK_EQ(tpt_runtime_device_count(), 0);
  CHECK(!tpt_runtime_is_open());
  tpt_storage_t* storage = NULL;
  CHECK_FAILS(tpt_storage_create(0, 4, &storage), TPT_NOT_FOUND, "while opening device tpu");
  CHECK_OK(tpt_runtime_set_option("plugin", "vtpu"));
  CHECK_OK(tpt_runtime_set_library_folder("/nowhere"));
  CHECK_FAILS(tpt_runtime_open(), TPT_NOT_FOUND, "/nowhere/libvtpu.so");
}

static void test_options_are_checked(void) {
  char text[64];
  CHECK_FAILS(tpt_runtime_set_option("colour", "red"), TPT_INVALID_ARGUMENT, "colour");
  CHECK_FAILS(tpt_runtime_set_option("chip", "v99"), TPT_INVALID_ARGUMENT, "v99");
  CHECK_OK(tpt_runtime_get_option("chip", text, sizeof(text)));
  CHECK_STR(text, "v5e");
  CHECK_OK(tpt_runtime_set_option("precision", "high"));
  CHECK_EQ(tpt_precision_get(), 1);
  CHECK_OK(tpt_runtime_set_option("precision", "default"));
  CHECK_EQ(tpt_precision_get(), 0);
}

static void test_open_runtime_refuses_late_options(void) {
  CHECK(tpt_runtime_is_open());
  CHECK_FAILS(tpt_runtime_set_option("devices", "3"), TPT_FAILED_PRECONDITION, "option devices");
  CHECK_OK(tpt_runtime_set_option("quiet", "1"));
  CHECK_OK(tpt_runtime_set_option("blocking", "1"));
  CHECK(tpt_blocking_get());
  tpt_blocking_set(false);
  CHECK(!tpt_blocking_get());
}

static void test_devices_are_described(void) {
  tpt_device_info_t info;
  CHECK_EQ(tpt_runtime_device_count(), 2);
  CHECK_OK(tpt_device_info(1, &info));
  CHECK(*info.kind && *info.platform && *info.plugin);
  CHECK_FAILS(tpt_device_info(2, &info), TPT_INVALID_ARGUMENT, "tpu:2 does not exist");
  CHECK_FAILS(tpt_device_synchronize(-1), TPT_INVALID_ARGUMENT, "tpu:-1 does not exist");
  CHECK_OK(tpt_device_synchronize(0));
}

static void test_forked_child_is_refused(void) {
  test_tensor_t x = test_f32(2, (float[]){1, 2});
  pid_t child = fork();
  if (child == 0) {
    float data[2];
    tpt_status_t status = tpt_tensor_download(test_ref(&x), data);
    bool is_told = tpt_runtime_is_bad_fork() &&
                   tpt_status_code(status) == TPT_FAILED_PRECONDITION &&
                   strstr(tpt_status_message(status), "'spawn' start method");
    tpt_status_release(status);
    tpt_storage_release(x.t.storage);
    _exit(is_told ? 0 : 1);
  }
  int result = 1;
  CHECK(waitpid(child, &result, 0) == child);
  CHECK_EQ(result, 0);
  CHECK(!tpt_runtime_is_bad_fork());
  TEST_F32(x, 1, 2);
  test_release(&x);
}

int main(void) {
  RUN(test_a_missing_plugin_is_told_with_its_name);
  RUN(test_options_are_checked);
  if (!test_open("2")) return TEST_RESULT;
  RUN(test_open_runtime_refuses_late_options);
  RUN(test_devices_are_described);
  RUN(test_forked_child_is_refused);
  return TEST_RESULT;
}
