// Owns the choice of which cache entries go. Must not know what is in them. Invariant: a file whose name
// is not of our making is never removed.
#include "eager/disk_evict.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/allocator.h"

enum { UNFINISHED_SECONDS = 3600 };

typedef struct item {
  char name[TPT_DISK_NAME_SIZE + 1];
  int64_t size;
  struct timespec used;
} item_t;

typedef struct items {
  item_t* data;
  size_t count, capacity;
  int64_t size;
} items_t;

static bool is_entry(const char* name) {
  return strspn(name, "0123456789abcdef") == TPT_DISK_NAME_SIZE && !name[TPT_DISK_NAME_SIZE];
}

static bool is_unfinished(const char* name) {
  return strncmp(name, TPT_DISK_UNFINISHED, strlen(TPT_DISK_UNFINISHED)) == 0;
}

static int by_use(const void* a, const void* b) {
  const struct timespec *x = &((const item_t*)a)->used, *y = &((const item_t*)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

// Without memory for the list the entry is counted, but cannot be chosen.
static void take_file(items_t* items, int folder, const char* name) {
  struct stat info;
  bool is_left = is_unfinished(name);
  if (!is_left && !is_entry(name)) return;
  if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) return;
  if (is_left) {
    if (time(NULL) - info.st_mtim.tv_sec > UNFINISHED_SECONDS) unlinkat(folder, name, 0);
    return;
  }
  items->size += info.st_size;
  if (!tpt_grow((void**)&items->data, &items->capacity, items->count + 1, sizeof(*items->data)))
    return;
  item_t* item = &items->data[items->count++];
  memcpy(item->name, name, sizeof(item->name));
  item->size = info.st_size;
  item->used = info.st_mtim;
}

int64_t tpt_disk_evict(const char* folder, int64_t size_max) {
  items_t items = {0};
  DIR* stream = opendir(folder);
  if (!stream) return -1;
  int file = dirfd(stream);
  for (struct dirent* entry; (entry = readdir(stream));)
    take_file(&items, file, entry->d_name);
  if (items.size > size_max) {
    if (items.count) qsort(items.data, items.count, sizeof(*items.data), by_use);
    int64_t goal = size_max / 4 * 3;
    for (size_t i = 0; i < items.count && items.size > goal; i++) {
      if (unlinkat(file, items.data[i].name, 0) == 0) items.size -= items.data[i].size;
    }
  }
  closedir(stream);
  tpt_free(items.data);
  return items.size;
}
