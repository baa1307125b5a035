// Programs stored to, loaded from and evicted from a folder with each allocation failing: the caller gets
// a program or an error about host memory, the folder holds whole entries only, and stays within its size.
#include <dirent.h>
#include <sys/stat.h>

#include "eager/compile.h"
#include "eager/disk_evict.h"
#include "eager/fault_works.h"

enum { CACHE_SIZE = 96 * 1024 };

static char folder[] = "/tmp/tputorch-fault-XXXXXX";
static char program[4096];

// A program nobody has seen: x + x ... on `number` elements.
static void print_program(int number) {
  snprintf(program, sizeof(program),
           "module {\n  func.func public @main(%%arg0: tensor<%dxf32>) -> tensor<%dxf32> {\n"
           "    %%0 = stablehlo.add %%arg0, %%arg0 : tensor<%dxf32>\n"
           "    return %%0 : tensor<%dxf32>\n  }\n}\n",
           number, number, number, number);
}

static void check_folder(void) {
  int64_t size = 0;
  struct stat info;
  DIR* stream = opendir(folder);
  for (struct dirent* entry; stream && (entry = readdir(stream));) {
    if (*entry->d_name == '.') continue;
    CHECK(strncmp(entry->d_name, TPT_DISK_UNFINISHED, strlen(TPT_DISK_UNFINISHED)) != 0);
    if (fstatat(dirfd(stream), entry->d_name, &info, 0) == 0) size += info.st_size;
  }
  if (stream) closedir(stream);
  CHECK(size <= CACHE_SIZE);
}

static void empty_folder(void) {
  DIR* stream = opendir(folder);
  for (struct dirent* entry; stream && (entry = readdir(stream));) {
    if (*entry->d_name != '.') unlinkat(dirfd(stream), entry->d_name, 0);
  }
  if (stream) closedir(stream);
}

typedef struct disk_work {
  bool is_kept;  // a whole entry is there before
  tpt_executable_t* executable;
} disk_work_t;

static tpt_status_t get_program(void* arg) {
  disk_work_t* work = arg;
  return tpt_device_compile(tpt_device_peek(0), program, strlen(program), NULL, &work->executable,
                            NULL);
}

static void begin_disk(void* arg) {
  static int number = 100;
  disk_work_t* work = arg;
  print_program(number++);
  if (work->is_kept && CHECK_OK(get_program(work))) tpt_executable_release(work->executable);
  work->executable = NULL;
}

static void end_disk(void* arg, bool has_failed) {
  disk_work_t* work = arg;
  CHECK(has_failed == !work->executable);
  tpt_executable_release(work->executable);
  check_folder();
  uint64_t hits = tpt_device_peek(0)->counters.disk_hits;
  for (int i = 0; i < 2; i++) {  // what is there now is right: the second time it is loaded
    if (CHECK_OK(get_program(work))) tpt_executable_release(work->executable);
    work->executable = NULL;
  }
  CHECK(tpt_device_peek(0)->counters.disk_hits > hits);
}

static void test_stored_programs(void) {
  disk_work_t work = {0};
  const fault_case_t one = {"compile, store and evict", begin_disk, get_program, end_disk};
  CHECK(fault_run(&one, &work, 400) > 0);
}

static void test_loaded_programs(void) {
  disk_work_t work = {.is_kept = true};
  const fault_case_t one = {"load", begin_disk, get_program, end_disk};
  CHECK(fault_run(&one, &work, 400) > 0);
}

static tpt_status_t evict(void* arg) {
  (void)arg;
  CHECK(tpt_disk_evict(folder, CACHE_SIZE / 4) >= 0);
  return NULL;
}

static void test_eviction(void) {
  const fault_case_t one = {"evict", NULL, evict, NULL};
  (void)fault_run(&one, NULL, 100);
  check_folder();
}

static void test_calls_whose_programs_are_kept(void) {
  fault_works_run_all(true, false, 60);
  check_folder();
}

int main(void) {
  char size[32];
  snprintf(size, sizeof(size), "%d", CACHE_SIZE);
  CHECK_OK(tpt_runtime_set_option("cache_size", size));
  if (!mkdtemp(folder) || !test_open_cached("2", folder)) return TEST_RESULT;
  RUN(test_stored_programs);
  RUN(test_loaded_programs);
  RUN(test_eviction);
  RUN(test_calls_whose_programs_are_kept);
  char text[512];
  tpt_disk_trouble(text, sizeof(text));
  CHECK_STR(text, "");
  empty_folder();
  rmdir(folder);
  return TEST_RESULT;
}
