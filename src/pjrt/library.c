// Opening a shared library without trusting its file. Knows ELF's two header tables, nothing of
// PJRT.
#include "pjrt/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_at(int file, void* data, size_t size, uint64_t offset) {
  return pread(file, data, size, (off_t)offset) == (ssize_t)size;
}

static tpt_status_t check_segments(const char* path, int file, uint64_t file_size) {
  Elf64_Ehdr header;
  if (!read_at(file, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    TPT_FAIL(TPT_FAILED_PRECONDITION, "%s is not a shared library (no ELF header)", path);
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    TPT_FAIL(TPT_FAILED_PRECONDITION, "%s is not a 64-bit shared library", path);
  }
  for (int i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    uint64_t end;
    bool whole = read_at(file, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)) &&
                 !__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) &&
                 (segment.p_type != PT_LOAD || end <= file_size);
    if (!whole) {
      TPT_FAIL(TPT_FAILED_PRECONDITION,
               "%s is cut off: it has %llu bytes, fewer than its own headers ask for; copy or "
               "install it again",
               path, (unsigned long long)file_size);
    }
  }
  return NULL;
}

static tpt_status_t check_file(const char* path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    tpt_code_t code = errno == ENOENT || errno == ENOTDIR ? TPT_NOT_FOUND : TPT_FAILED_PRECONDITION;
    TPT_FAIL(code, "cannot open the PJRT plugin %s: %s", path, strerror(errno));
  }
  struct stat info;
  tpt_status_t status = NULL;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    status = tpt_status_make(TPT_FAILED_PRECONDITION, __FILE__, __LINE__,
                             "the PJRT plugin %s is not a file", path);
  } else {
    status = check_segments(path, file, (uint64_t)info.st_size);
  }
  close(file);
  return status;
}

tpt_status_t tpt__library_open(const char* path, void** out_library) {
  *out_library = NULL;
  // A name without a slash would be searched for in the system's folders, past the check.
  char local[4096];
  if (!strchr(path, '/')) {
    if (strlen(path) + 3 > sizeof(local)) TPT_FAIL(TPT_NOT_FOUND, "the plugin's name is too long");
    memcpy(local, "./", 2);
    strcpy(local + 2, path);
    path = local;
  }
  TPT_TRY(check_file(path));
  *out_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*out_library) {
    const char* reason = dlerror();
    TPT_FAIL(TPT_FAILED_PRECONDITION, "cannot load the PJRT plugin %s: %s", path,
             reason ? reason : "unknown reason");
  }
  return NULL;
}
