#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "eager/disk_evict.h"

static char folder[] = "/tmp/tputorch-evict-XXXXXX";

static const char* path_of(const char* name) {
  static char path[256];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}

static const char* entry_name(int number) {
  static char name[TPT_DISK_NAME_SIZE + 1];
  snprintf(name, sizeof(name), "%064x", (unsigned)number);
  return name;
}

static void make_file(const char* name, size_t size, int seconds_ago) {
  int file = open(path_of(name), O_CREAT | O_WRONLY, 0600);
  CHECK(file >= 0 && ftruncate(file, (off_t)size) == 0);
  struct timespec times[2] = {{time(NULL) - seconds_ago, 0}, {time(NULL) - seconds_ago, 0}};
  CHECK(futimens(file, times) == 0);
  close(file);
}

static bool exists(const char* name) {
  return access(path_of(name), F_OK) == 0;
}

static void test_nothing_goes_within_the_size(void) {
  for (int i = 0; i < 4; i++)
    make_file(entry_name(i), 100, 10 * i);
  CHECK_EQ(tpt_disk_evict(folder, 400), 400);
  for (int i = 0; i < 4; i++)
    CHECK(exists(entry_name(i)));
}

static void test_oldest_go_first_down_to_three_quarters(void) {
  CHECK_EQ(tpt_disk_evict(folder, 300), 200);
  CHECK(exists(entry_name(0)) && exists(entry_name(1)));
  CHECK(!exists(entry_name(2)) && !exists(entry_name(3)));
  CHECK_EQ(tpt_disk_evict(folder, 0), 0);
}

static void test_files_of_others_stay(void) {
  make_file("notes.txt", 1000, 1000000);
  make_file("0123abcd", 1000, 1000000);
  make_file(TPT_DISK_UNFINISHED "old", 50, 7200);
  make_file(TPT_DISK_UNFINISHED "new", 50, 5);
  CHECK(mkdir(path_of(entry_name(9)), 0700) == 0);
  CHECK_EQ(tpt_disk_evict(folder, 0), 0);
  CHECK(exists("notes.txt") && exists("0123abcd") && exists(entry_name(9)));
  CHECK(exists(TPT_DISK_UNFINISHED "new") && !exists(TPT_DISK_UNFINISHED "old"));
  rmdir(path_of(entry_name(9)));
  unlink(path_of("notes.txt"));
  unlink(path_of("0123abcd"));
  unlink(path_of(TPT_DISK_UNFINISHED "new"));
}

static void test_no_folder(void) {
  CHECK_EQ(tpt_disk_evict(path_of("none"), 0), -1);
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  RUN(test_nothing_goes_within_the_size);
  RUN(test_oldest_go_first_down_to_three_quarters);
  RUN(test_files_of_others_stay);
  RUN(test_no_folder);
  rmdir(folder);
  return TEST_RESULT;
}
