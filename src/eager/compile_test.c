// Two devices share the disk, not the compiled calls in memory: what one compiled, the other loads.
#include <dirent.h>
#include <fcntl.h>

#include "eager/compile.h"
#include "eager/test_device.h"

static char folder[] = "/tmp/tputorch-compile-XXXXXX";

// Calls fn with the path of every file in the folder; their count.
static int each_file(void (*fn)(const char* path)) {
  char path[512];
  int count = 0;
  DIR* stream = opendir(folder);
  for (struct dirent* entry; stream && (entry = readdir(stream));) {
    if (*entry->d_name == '.') continue;
    count++;
    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    if (fn) fn(path);
  }
  if (stream) closedir(stream);
  return count;
}

static void remove_file(const char* path) {
  CHECK(unlink(path) == 0);
}

// The last byte belongs to what the plugin wrote.
static void damage_file(const char* path) {
  char byte = 0;
  int file = open(path, O_RDWR);
  off_t end = lseek(file, -1, SEEK_END);
  CHECK(end > 0 && pread(file, &byte, 1, end) == 1);
  byte ^= 0x40;
  CHECK(pwrite(file, &byte, 1, end) == 1);
  close(file);
}

// x * 3 + x on a device, `count` long.
static void run_on(int device, int64_t count) {
  float data[16], wanted[16];
  for (int64_t i = 0; i < count; i++) {
    data[i] = (float)i + 0.5f;
    wanted[i] = 4 * data[i];
  }
  test_tensor_t x = test_empty(device, TPT_F32, 1, &count), y = {0};
  CHECK_OK(tpt_tensor_upload(test_ref(&x), data));
  tpt_arg_t args[3] = {test_arg(test_ref(&x)), test_arg(&x.t), test_scalar(3)};
  tpt_call_t call = {.op = tpt_op_find("add.Tensor"),
                     .args = args,
                     .arg_count = 3,
                     .device = device,
                     .default_dtype = TPT_F32};
  tpt_result_t* results;
  int result_count;
  if (CHECK_OK(tpt_call_run(&call, &results, &result_count))) {
    y = test_result(&results[0]);
    test_check_f32(&y, wanted, __FILE__, __LINE__);
  }
  test_release(&x);
  test_release(&y);
}

static void check_counts(uint64_t hits, uint64_t misses, uint64_t errors) {
  static uint64_t errors_before;
  tpt_counters_t counters = test_counters();
  CHECK_EQ(counters.compiles, hits + misses);
  CHECK_EQ(counters.disk_hits, hits);
  CHECK_EQ(counters.disk_misses, misses);
  CHECK_EQ(counters.disk_errors - errors_before, errors);
  errors_before = counters.disk_errors;
  tpt_counters_reset();
}

static void test_second_device_loads_what_the_first_compiled(void) {
  run_on(0, 3);
  check_counts(0, 1, 0);
  CHECK_EQ(each_file(NULL), 1);
  run_on(0, 3);  // from memory
  check_counts(0, 0, 0);
  run_on(1, 3);
  check_counts(1, 0, 0);
  CHECK_EQ(each_file(remove_file), 1);
}

static void test_damaged_entry_is_compiled_again(void) {
  run_on(0, 4);
  each_file(damage_file);
  check_counts(0, 1, 0);
  run_on(1, 4);
  check_counts(0, 1, 1);
  char text[512];
  tpt_disk_trouble(text, sizeof(text));
  CHECK(strstr(text, folder) && strstr(text, "damaged"));
  CHECK_EQ(each_file(remove_file), 1);
}

// A payload that the cache believes and the plugin does not.
static void test_refused_entry_is_compiled_again(void) {
  tpt_device_t* device = tpt_device_peek(0);
  static const char program[] =
      "module {\n  func.func public @main(%arg0: tensor<5xf32>) -> tensor<5xf32> {\n"
      "    return %arg0 : tensor<5xf32>\n  }\n}\n";
  tpt_executable_t* executable = NULL;
  tpt_disk_cache_put(device->disk, program, strlen(program), "nonsense", 8);
  CHECK_OK(tpt_device_compile(device, program, strlen(program), NULL, &executable, NULL));
  check_counts(0, 1, 1);
  tpt_executable_release(executable);
  CHECK_OK(tpt_device_compile(device, program, strlen(program), NULL, &executable, NULL));
  check_counts(1, 0, 0);
  tpt_executable_release(executable);
  CHECK_EQ(each_file(remove_file), 1);
}

static void test_fast_compiles_make_no_files(void) {
  tpt_device_t* device = tpt_device_peek(0);
  device->disk_seconds = 1e9;
  run_on(0, 6);
  device->disk_seconds = 0;
  check_counts(0, 1, 0);
  CHECK_EQ(each_file(NULL), 0);
}

// The guard is about compiling: what the disk has is loaded.
static void test_guard_lets_loads_through(void) {
  static tpt_compile_info_t infos[512];
  test_tensor_t x = test_f32(7, (float[]){1, 2, 3, 4, 5, 6, 7});
  tpt_compile_guard_hold();
  tpt_status_t status = test_add(&x, &x, 1, true, NULL);
  tpt_compile_guard_drop();
  CHECK_EQ(tpt_status_code(status), TPT_FAILED_PRECONDITION);
  tpt_status_release(status);
  check_counts(0, 0, 0);
  TEST_F32(x, 1, 2, 3, 4, 5, 6, 7);
  test_release(&x);
  run_on(0, 8);
  int count = tpt_compile_log_get(infos, 512);
  CHECK(count > 0 && !infos[count - 1].is_loaded);
  tpt_compile_guard_hold();
  run_on(1, 8);
  tpt_compile_guard_drop();
  check_counts(1, 1, 0);
  count = tpt_compile_log_get(infos, 512);
  CHECK(count > 0 && infos[count - 1].is_loaded && infos[count - 1].device == 1);
  CHECK_EQ(each_file(remove_file), 1);
}

static void test_failed_compile_is_told(void) {
  tpt_device_t* device = tpt_device_peek(0);
  tpt_executable_t* executable = NULL;
  tpt_status_t status = tpt_device_compile(device, "rubbish", 7, NULL, &executable, NULL);
  CHECK(status != NULL && executable == NULL);
  tpt_status_release(status);
  check_counts(0, 1, 0);
  CHECK_EQ(each_file(NULL), 0);
}

int main(void) {
  if (!mkdtemp(folder) || !test_open_cached("2", folder)) return TEST_RESULT;
  tpt_counters_reset();
  RUN(test_second_device_loads_what_the_first_compiled);
  RUN(test_damaged_entry_is_compiled_again);
  RUN(test_refused_entry_is_compiled_again);
  RUN(test_fast_compiles_make_no_files);
  RUN(test_guard_lets_loads_through);
  RUN(test_failed_compile_is_told);
  rmdir(folder);
  return TEST_RESULT;
}
