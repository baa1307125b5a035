#include <stdlib.h>
#include <sys/stat.h>

#include "base/allocator.h"
#include "pjrt/library.h"
#include "pjrt/test_plugin.h"

static char folder[] = "/tmp/tpt_library_XXXXXX";

static const char* write_file(const char* name, const void* data, size_t size) {
  static char path[256];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "wb");
  CHECK(file && fwrite(data, 1, size, file) == size);
  if (file) fclose(file);
  return path;
}

static void* read_file(const char* path, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *out_size = (size_t)ftell(file);
  rewind(file);
  void* data = tpt_malloc(*out_size);
  if (data && fread(data, 1, *out_size, file) != *out_size) *out_size = 0;
  fclose(file);
  return data;
}

static void test_open_refuses_what_is_no_library(void) {
  void* library = NULL;
  CHECK_FAILS(tpt__library_open("/nowhere/at/all.so", &library), TPT_NOT_FOUND,
              "/nowhere/at/all.so");
  CHECK_FAILS(tpt__library_open("no_such_plugin.so", &library), TPT_NOT_FOUND, "no_such_plugin.so");
  CHECK_FAILS(tpt__library_open(folder, &library), TPT_FAILED_PRECONDITION, "not a file");
  CHECK_FAILS(tpt__library_open(write_file("empty.so", "", 0), &library), TPT_FAILED_PRECONDITION,
              "no ELF header");
  CHECK_FAILS(tpt__library_open(write_file("text.so", "hello, world", 12), &library),
              TPT_FAILED_PRECONDITION, "no ELF header");
  CHECK(library == NULL);
}

// The test program itself is a whole ELF file at hand.
static void test_open_refuses_a_cut_file(void) {
  size_t size = 0;
  unsigned char* bytes = read_file("/proc/self/exe", &size);
  CHECK(bytes && size > 4096);
  if (!bytes) return;
  void* library = NULL;
  size_t sizes[] = {20, 64, 100, 700, size / 4, size / 2};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    CHECK_FAILS(tpt__library_open(write_file("cut.so", bytes, sizes[i]), &library),
                TPT_FAILED_PRECONDITION, "cut.so");
  }
  bytes[4] = 1;  // 32-bit class
  CHECK_FAILS(tpt__library_open(write_file("old.so", bytes, size), &library),
              TPT_FAILED_PRECONDITION, "64-bit");
  tpt_free(bytes);
}

static void test_load_refuses_a_library_without_the_entry(void) {
  tpt_plugin_t* plugin = NULL;
  CHECK_FAILS(tpt_plugin_load("", &plugin), TPT_INVALID_ARGUMENT, "empty");
  const char* libraries[] = {"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6",
                             "/usr/lib/aarch64-linux-gnu/libm.so.6"};
  for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
    if (access(libraries[i], R_OK) != 0) continue;
    CHECK_FAILS(tpt_plugin_load(libraries[i], &plugin), TPT_FAILED_PRECONDITION, "no GetPjrtApi");
    CHECK(plugin == NULL);
    return;
  }
  printf("skip: no libm.so.6 in the usual folders\n");
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  RUN(test_open_refuses_what_is_no_library);
  RUN(test_open_refuses_a_cut_file);
  RUN(test_load_refuses_a_library_without_the_entry);
  const char* names[] = {"empty.so", "text.so", "cut.so", "old.so"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
  return TEST_RESULT;
}
