#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/allocator.h"
#include "base/check.h"
#include "eager/disk_cache.h"

static char folder[] = "/tmp/tputorch-disk-XXXXXX";

static tpt_disk_cache_t* open_cache(const char* where, const char* identity, int64_t size_max) {
  tpt_disk_cache_t* cache = NULL;
  CHECK_OK(tpt_disk_cache_create(where, size_max, identity, strlen(identity), &cache));
  return cache;
}

static void put(tpt_disk_cache_t* cache, const char* text, const char* payload) {
  tpt_disk_cache_put(cache, text, strlen(text), payload, strlen(payload));
}

// The payload of a text, or "" when there is none.
static const char* get(tpt_disk_cache_t* cache, const char* text) {
  static char copy[256];
  tpt_disk_entry_t entry;
  if (!tpt_disk_cache_get(cache, text, strlen(text), &entry)) return "";
  snprintf(copy, sizeof(copy), "%.*s", (int)entry.payload_size, (const char*)entry.payload);
  tpt_free(entry.data);
  return copy;
}

static int trouble(tpt_disk_cache_t* cache, const char* part) {
  char text[256];
  int count = (int)tpt_disk_cache_trouble(cache, text, sizeof(text));
  CHECK(strstr(text, part) != NULL);
  return count;
}

// The one entry of the folder.
static const char* only_path(void) {
  static char path[512];
  DIR* stream = opendir(folder);
  *path = 0;
  for (struct dirent* entry; stream && (entry = readdir(stream));) {
    if (*entry->d_name != '.') snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
  }
  if (stream) closedir(stream);
  return path;
}

static int file_count(void) {
  int count = 0;
  DIR* stream = opendir(folder);
  for (struct dirent* entry; stream && (entry = readdir(stream));)
    count += *entry->d_name != '.';
  if (stream) closedir(stream);
  return count;
}

static void empty_folder(void) {
  while (*only_path() && unlink(only_path()) == 0)
    continue;
}

static void test_what_was_put_is_got(void) {
  tpt_disk_cache_t* cache = open_cache(folder, "plugin 1", 1 << 20);
  CHECK_STR(get(cache, "program"), "");
  put(cache, "program", "code");
  CHECK_STR(get(cache, "program"), "code");
  CHECK_STR(get(cache, "program2"), "");
  tpt_disk_cache_t* again = open_cache(folder, "plugin 1", 1 << 20);
  CHECK_STR(get(again, "program"), "code");
  tpt_disk_cache_t* other = open_cache(folder, "plugin 2", 1 << 20);
  CHECK_STR(get(other, "program"), "");
  CHECK_EQ(trouble(cache, ""), 0);
  tpt_disk_cache_release(cache);
  tpt_disk_cache_release(again);
  tpt_disk_cache_release(other);
  empty_folder();
}

// Where identity ends and text begins is part of the name.
static void test_identity_and_text_do_not_run_together(void) {
  tpt_disk_cache_t* a = open_cache(folder, "ab", 1 << 20);
  tpt_disk_cache_t* b = open_cache(folder, "a", 1 << 20);
  put(a, "c", "of a");
  CHECK_STR(get(b, "bc"), "");
  put(b, "bc", "of b");
  CHECK_STR(get(a, "c"), "of a");
  CHECK_STR(get(b, "bc"), "of b");
  tpt_disk_cache_release(a);
  tpt_disk_cache_release(b);
  empty_folder();
}

// Every byte flipped, every length cut: never a wrong payload, and the next put repairs.
static void test_damage_is_noticed(void) {
  tpt_disk_cache_t* cache = open_cache(folder, "plugin", 1 << 20);
  char whole[512], path[512];
  put(cache, "program", "payload");
  snprintf(path, sizeof(path), "%s", only_path());
  int file = open(path, O_RDONLY);
  ssize_t size = read(file, whole, sizeof(whole));
  close(file);
  CHECK(size > 40 && size < (ssize_t)sizeof(whole));
  for (ssize_t i = 0; i < 2 * size; i++) {
    char copy[512];
    memcpy(copy, whole, sizeof(copy));
    if (i < size) copy[i] ^= 1 << i % 8;
    file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(write(file, copy, (size_t)(i < size ? size : i - size)) >= 0);
    close(file);
    CHECK_STR(get(cache, "program"), "");
    CHECK_EQ(file_count(), 0);
  }
  CHECK_EQ(trouble(cache, path), 2 * size);
  put(cache, "program", "payload");
  CHECK_STR(get(cache, "program"), "payload");
  tpt_disk_cache_release(cache);
  empty_folder();
}

// An entry of one program under the name of another, as a collision of digests would look.
static void test_hit_is_confirmed_by_equality(void) {
  tpt_disk_cache_t* cache = open_cache(folder, "plugin", 1 << 20);
  char first[512], second[512];
  put(cache, "program a", "code a");
  snprintf(first, sizeof(first), "%s", only_path());
  CHECK(rename(first, "/tmp/tputorch-disk-entry") == 0);
  put(cache, "program b", "code b");
  snprintf(second, sizeof(second), "%s", only_path());
  CHECK(rename("/tmp/tputorch-disk-entry", second) == 0);
  CHECK_STR(get(cache, "program b"), "");
  CHECK_EQ(trouble(cache, "another program"), 1);
  tpt_disk_cache_release(cache);
  empty_folder();
}

static void test_what_is_no_file_is_no_entry(void) {
  tpt_disk_cache_t* cache = open_cache(folder, "plugin", 1 << 20);
  char path[512];
  put(cache, "program", "code");
  snprintf(path, sizeof(path), "%s", only_path());
  unlink(path);
  CHECK(symlink("/etc/passwd", path) == 0);
  CHECK_STR(get(cache, "program"), "");
  unlink(path);
  CHECK(mkfifo(path, 0600) == 0);  // opening one would wait for a writer
  CHECK_STR(get(cache, "program"), "");
  unlink(path);
  CHECK(mkdir(path, 0700) == 0);
  CHECK_STR(get(cache, "program"), "");
  put(cache, "program", "code");  // cannot take the folder's place
  CHECK(trouble(cache, path) >= 4);
  rmdir(path);
  tpt_disk_cache_release(cache);
  empty_folder();
}

static void test_folders_are_made(void) {
  char path[600];
  snprintf(path, sizeof(path), "%s/a/b", folder);
  tpt_disk_cache_t* cache = open_cache(path, "plugin", 1 << 20);
  CHECK_STR(get(cache, "program"), "");
  CHECK(access(path, F_OK) != 0);  // looking makes nothing
  put(cache, "program", "code");
  CHECK_STR(get(cache, "program"), "code");
  tpt_disk_cache_release(cache);
  CHECK(system("rm -r /tmp/tputorch-disk-*/a") == 0);
}

static void test_bad_folders_are_survived(void) {
  char path[600];
  snprintf(path, sizeof(path), "%s/file/sub", folder);
  int file = open(strcat(strcpy(path, folder), "/file"), O_CREAT | O_WRONLY, 0600);
  close(file);
  strcat(path, "/sub");
  const char* const bad[] = {path, "/proc/no/such", "/dev/full/x", "/proc/self/fd"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    tpt_disk_cache_t* cache = open_cache(bad[i], "plugin", 1 << 20);
    CHECK_STR(get(cache, "program"), "");
    for (int j = 0; j < 3; j++)
      put(cache, "program", "code");
    CHECK(trouble(cache, bad[i]) <= 2);  // reading, writing; then it is left alone
    tpt_disk_cache_release(cache);
  }
  char longer[2000];
  memset(longer, 'x', sizeof(longer));
  longer[0] = '/';
  longer[sizeof(longer) - 1] = 0;
  tpt_disk_cache_t* cache = open_cache(longer, "plugin", 1 << 20);
  CHECK_STR(get(cache, "program"), "");
  put(cache, "program", "code");
  CHECK_EQ(trouble(cache, "too long"), 1);
  tpt_disk_cache_release(cache);
  empty_folder();
}

static void test_default_folder_follows_xdg(void) {
  char path[600];
  setenv("XDG_CACHE_HOME", folder, 1);
  tpt_disk_cache_t* cache = open_cache("", "plugin", 1 << 20);
  put(cache, "program", "code");
  snprintf(path, sizeof(path), "%s/tputorch", folder);
  CHECK(access(path, F_OK) == 0);
  CHECK_STR(get(cache, "program"), "code");
  tpt_disk_cache_release(cache);
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "", 1);
  cache = open_cache("", "plugin", 1 << 20);
  put(cache, "program", "code");
  CHECK_EQ(trouble(cache, "HOME"), 1);
  tpt_disk_cache_release(cache);
  CHECK(system("rm -r /tmp/tputorch-disk-*/tputorch") == 0);
}

static void test_size_is_bounded_and_use_keeps_alive(void) {
  enum { COUNT = 40, SIZE = 1000, BOUND = 20 * 1100 };
  tpt_disk_cache_t* cache = open_cache(folder, "plugin", BOUND);
  char payload[SIZE + 1], text[32];
  memset(payload, 'x', SIZE);
  payload[SIZE] = 0;
  for (int i = 0; i < COUNT; i++) {
    snprintf(text, sizeof(text), "program %d", i);
    put(cache, text, payload);
    CHECK(*get(cache, "program 0"));  // used all the time
    usleep(2000);
  }
  CHECK(file_count() <= 20 && file_count() >= 10);
  CHECK(*get(cache, "program 39"));
  CHECK_STR(get(cache, "program 1"), "");
  char* huge = calloc(1, BOUND);
  memset(huge, 'x', BOUND - 1);
  put(cache, "huge", huge);
  CHECK_STR(get(cache, "huge"), "");
  CHECK(*get(cache, "program 39"));
  CHECK_EQ(trouble(cache, ""), 0);
  free(huge);
  tpt_disk_cache_release(cache);
  empty_folder();
}

// Eight processes write and read the same few entries in a folder that is always too small.
static void test_processes_at_once(void) {
  enum { PROCESSES = 8, ROUNDS = 300 };
  for (int p = 0; p < PROCESSES; p++) {
    if (fork() > 0) continue;
    tpt_disk_cache_t* cache = open_cache(folder, "plugin", 3000);
    int failures = 0;
    for (int i = 0; i < ROUNDS; i++) {
      char text[32], payload[128];
      snprintf(text, sizeof(text), "program %d", (i * 7 + p) % 11);
      snprintf(payload, sizeof(payload), "code of %s, and as much again as that", text);
      const char* got = get(cache, text);
      failures += *got && strcmp(got, payload) != 0;
      put(cache, text, payload);
    }
    char text[256];
    failures += tpt_disk_cache_trouble(cache, text, sizeof(text)) != 0;
    if (failures) fprintf(stderr, "process %d: %d failures, %s\n", p, failures, text);
    tpt_disk_cache_release(cache);
    _exit(failures != 0);
  }
  for (int p = 0; p < PROCESSES; p++) {
    int result = 1;
    CHECK(wait(&result) > 0 && result == 0);
  }
  tpt_disk_cache_t* cache = open_cache(folder, "plugin", 3000);
  put(cache, "one more", "x");
  CHECK(file_count() <= 30);
  tpt_disk_cache_release(cache);
  empty_folder();
}

static void test_closed_cache_still_reads(void) {
  tpt_disk_cache_t* cache = open_cache(folder, "plugin", 1 << 20);
  put(cache, "a", "code a");
  tpt_disk_cache_close(cache, "the plugin cannot serialize");
  put(cache, "b", "code b");
  CHECK_STR(get(cache, "a"), "code a");
  CHECK_STR(get(cache, "b"), "");
  tpt_disk_cache_drop(cache, "a", 1);
  CHECK_STR(get(cache, "a"), "");
  CHECK_EQ(trouble(cache, "cannot serialize"), 2);
  tpt_disk_cache_release(cache);
  empty_folder();
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  RUN(test_what_was_put_is_got);
  RUN(test_identity_and_text_do_not_run_together);
  RUN(test_damage_is_noticed);
  RUN(test_hit_is_confirmed_by_equality);
  RUN(test_what_is_no_file_is_no_entry);
  RUN(test_folders_are_made);
  RUN(test_bad_folders_are_survived);
  RUN(test_default_folder_follows_xdg);
  RUN(test_size_is_bounded_and_use_keeps_alive);
  RUN(test_processes_at_once);
  RUN(test_closed_cache_still_reads);
  rmdir(folder);
  return TEST_RESULT;
}
