// Owns the files of the disk cache: their names, their form, writing them so that a reader never sees
// half of one. Must not know programs or plugins. Invariant: an entry appears by rename only, whole;
// bytes that fail any check are as if they were not there.
#include "eager/disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocator.h"
#include "base/hash.h"
#include "base/options.h"
#include "eager/disk_evict.h"

enum { FORMAT_VERSION = 1, FOLDER_SIZE = 1024, PATH_SIZE = FOLDER_SIZE + TPT_DISK_NAME_SIZE + 2 };

typedef struct head {
  char mark[8];
  uint64_t version;
  uint64_t identity_size;
  uint64_t text_size;
  uint64_t payload_size;
  uint64_t checksum;  // of the payload; identity and text are compared themselves
} head_t;

static const char head_mark[8] = {'T', 'P', 'U', 'T', 'E', 'X', 'E', '\n'};

struct tpt_disk_cache {
  char folder[FOLDER_SIZE];
  int64_t size_max;
  char* identity;
  size_t identity_size;
  tpt_digest_t prefix;  // of the identity: what every name begins with
  pthread_mutex_t lock;
  // guarded by lock
  int64_t size;  // of the folder's entries, as far as known; -1: not looked at yet
  bool is_closed;
  uint64_t trouble_count;
  char trouble[256];
};

// --- life --------------------------------------------------------------------------------------------

static bool choose_folder(const char* folder, char* out_folder) {
  const char* xdg = tpt_environment("XDG_CACHE_HOME");
  const char* home = tpt_environment("HOME");
  int size;
  if (*folder)
    size = snprintf(out_folder, FOLDER_SIZE, "%s", folder);
  else if (xdg && *xdg == '/')  // the specification says to ignore relative ones
    size = snprintf(out_folder, FOLDER_SIZE, "%s/tputorch", xdg);
  else if (home && *home == '/')
    size = snprintf(out_folder, FOLDER_SIZE, "%s/.cache/tputorch", home);
  else
    return false;
  return size < FOLDER_SIZE;
}

tpt_status_t tpt_disk_cache_create(const char* folder, int64_t size_max, const void* identity,
                                   size_t identity_size, tpt_disk_cache_t** out_cache) {
  *out_cache = NULL;
  tpt_disk_cache_t* cache = tpt_calloc(1, sizeof(*cache));
  char* copy = tpt_malloc(identity_size);
  if (!cache || !copy) {
    tpt_free(cache);
    tpt_free(copy);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for the disk cache");
  }
  memcpy(copy, identity, identity_size);
  cache->size_max = size_max;
  cache->identity = copy;
  cache->identity_size = identity_size;
  cache->size = -1;
  pthread_mutex_init(&cache->lock, NULL);
  const uint64_t start[2] = {FORMAT_VERSION, identity_size};
  tpt_digest_init(&cache->prefix);
  tpt_digest_append(&cache->prefix, start, sizeof(start));
  tpt_digest_append(&cache->prefix, identity, identity_size);
  if (!choose_folder(folder, cache->folder)) {
    *cache->folder = 0;
    tpt_disk_cache_close(cache, *folder ? "the path of option cache_dir is too long"
                                        : "neither HOME nor XDG_CACHE_HOME names a folder");
  }
  *out_cache = cache;
  return NULL;
}

void tpt_disk_cache_release(tpt_disk_cache_t* cache) {
  if (!cache) return;
  pthread_mutex_destroy(&cache->lock);
  tpt_free(cache->identity);
  tpt_free(cache);
}

// --- trouble -----------------------------------------------------------------------------------------

static void TPT_PRINTF(3, 4)
    note_trouble(tpt_disk_cache_t* cache, bool is_closing, const char* format, ...) {
  va_list args;
  va_start(args, format);
  pthread_mutex_lock(&cache->lock);
  if (cache->trouble_count++ == 0) vsnprintf(cache->trouble, sizeof(cache->trouble), format, args);
  cache->is_closed |= is_closing;
  pthread_mutex_unlock(&cache->lock);
  va_end(args);
}

void tpt_disk_cache_close(tpt_disk_cache_t* cache, const char* reason) {
  note_trouble(cache, true, "%s", reason);
}

uint64_t tpt_disk_cache_trouble(tpt_disk_cache_t* cache, char* text, int text_size) {
  pthread_mutex_lock(&cache->lock);
  uint64_t count = cache->trouble_count;
  snprintf(text, (size_t)text_size, "%s", cache->trouble);
  pthread_mutex_unlock(&cache->lock);
  return count;
}

static bool is_closed(tpt_disk_cache_t* cache) {
  pthread_mutex_lock(&cache->lock);
  bool closed = cache->is_closed;
  pthread_mutex_unlock(&cache->lock);
  return closed;
}

// --- reading -----------------------------------------------------------------------------------------

// The entry's path; out_path has PATH_SIZE places.
static void print_path(const tpt_disk_cache_t* cache, const char* text, size_t text_size,
                       char* out_path) {
  unsigned char bytes[TPT_DIGEST_SIZE];
  tpt_digest_t digest = cache->prefix;
  tpt_digest_append(&digest, text, text_size);
  tpt_digest_finish(&digest, bytes);
  size_t size = strlen(cache->folder);
  memcpy(out_path, cache->folder, size);
  out_path[size] = '/';
  tpt_digest_print(bytes, sizeof(bytes), out_path + size + 1);
}

static bool read_all(int file, char* data, size_t size) {
  while (size > 0) {
    ssize_t part = read(file, data, size);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    data += part;
    size -= (size_t)part;
  }
  return true;
}

// What is wrong with the entry, or NULL.
static const char* check(const tpt_disk_cache_t* cache, const char* data, size_t size,
                         const char* text, size_t text_size, tpt_disk_entry_t* out_entry) {
  head_t head;
  if (size < sizeof(head)) return "is cut off";
  memcpy(&head, data, sizeof(head));
  if (memcmp(head.mark, head_mark, sizeof(head_mark)) != 0) return "is no entry of this cache";
  if (head.version != FORMAT_VERSION) return "has another format";
  size_t rest = size - sizeof(head);
  const char* p = data + sizeof(head);
  if (head.identity_size != cache->identity_size || head.text_size != text_size ||
      rest < cache->identity_size || rest - cache->identity_size < text_size ||
      memcmp(p, cache->identity, cache->identity_size) != 0 ||
      memcmp(p + cache->identity_size, text, text_size) != 0)
    return "belongs to another program or is cut off";
  p += cache->identity_size + text_size;
  rest -= cache->identity_size + text_size;
  if (head.payload_size != rest || tpt_hash_bytes(p, rest, FORMAT_VERSION) != head.checksum)
    return "is damaged";
  out_entry->payload = p;
  out_entry->payload_size = rest;
  return NULL;
}

// Reads the whole file. False: nothing to use; *out_fault is NULL when memory is what lacks.
static bool read_entry(int file, tpt_disk_entry_t* out_entry, size_t* out_size,
                       const char** out_fault) {
  struct stat info;
  *out_fault = "cannot be read";
  if (fstat(file, &info) != 0) return false;
  *out_fault = "is no file";
  if (!S_ISREG(info.st_mode)) return false;
  *out_fault = "belongs to another user";  // it holds code that would run
  if (info.st_uid != geteuid() && info.st_uid != 0) return false;
  *out_fault = NULL;
  *out_size = (size_t)info.st_size;
  out_entry->data = tpt_malloc(*out_size);
  if (!out_entry->data) return false;
  *out_fault = "cannot be read in full";
  return read_all(file, out_entry->data, *out_size);
}

bool tpt_disk_cache_get(tpt_disk_cache_t* cache, const char* text, size_t text_size,
                        tpt_disk_entry_t* out_entry) {
  char path[PATH_SIZE];
  size_t size = 0;
  const char* fault = NULL;
  *out_entry = (tpt_disk_entry_t){0};
  if (!*cache->folder) return false;
  print_path(cache, text, text_size, path);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    if (errno != ENOENT) note_trouble(cache, false, "cannot read %s: %s", path, strerror(errno));
    return false;
  }
  bool is_found = read_entry(file, out_entry, &size, &fault);
  if (is_found) {
    fault = check(cache, out_entry->data, size, text, text_size, out_entry);
    is_found = !fault;
    if (fault) unlink(path);  // the program is compiled and the entry written again
  }
  if (is_found) futimens(file, NULL);  // used now; a read-only folder keeps its old order
  close(file);
  if (fault) note_trouble(cache, false, "%s %s", path, fault);
  if (is_found) return true;
  tpt_free(out_entry->data);
  *out_entry = (tpt_disk_entry_t){0};
  return false;
}

void tpt_disk_cache_drop(tpt_disk_cache_t* cache, const char* text, size_t text_size) {
  char path[PATH_SIZE];
  if (!*cache->folder) return;
  print_path(cache, text, text_size, path);
  unlink(path);
  note_trouble(cache, false, "the plugin does not take %s", path);
}

// --- writing -----------------------------------------------------------------------------------------

// Makes the folder and those above it, for the user alone.
static bool make_folder(const char* folder) {
  char path[FOLDER_SIZE];
  size_t size = strlen(folder);
  memcpy(path, folder, size + 1);
  for (size_t i = 1; i <= size; i++) {
    if (path[i] != '/' && path[i]) continue;
    path[i] = 0;
    if (mkdir(path, 0700) != 0 && errno != EEXIST && errno != EISDIR && access(path, F_OK) != 0)
      return false;
    path[i] = folder[i];
  }
  return true;
}

static bool write_all(int file, const char* data, size_t size) {
  while (size > 0) {
    ssize_t part = write(file, data, size);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    data += part;
    size -= (size_t)part;
  }
  return true;
}

static bool write_entry(const tpt_disk_cache_t* cache, int file, const char* text, size_t text_size,
                        const void* payload, size_t payload_size) {
  head_t head = {.version = FORMAT_VERSION,
                 .identity_size = cache->identity_size,
                 .text_size = text_size,
                 .payload_size = payload_size,
                 .checksum = tpt_hash_bytes(payload, payload_size, FORMAT_VERSION)};
  memcpy(head.mark, head_mark, sizeof(head_mark));
  return write_all(file, (const char*)&head, sizeof(head)) &&
         write_all(file, cache->identity, cache->identity_size) &&
         write_all(file, text, text_size) && write_all(file, payload, payload_size);
}

// Room for `size` bytes more, by what is known of the folder. False: too big to be kept at all.
static bool make_room(tpt_disk_cache_t* cache, int64_t size) {
  if (size > cache->size_max / 4) return false;
  pthread_mutex_lock(&cache->lock);
  cache->size += size;
  bool is_over = cache->size < size || cache->size > cache->size_max;
  pthread_mutex_unlock(&cache->lock);
  if (!is_over) return true;
  int64_t left = tpt_disk_evict(cache->folder, cache->size_max - size);
  pthread_mutex_lock(&cache->lock);
  cache->size = (left < 0 ? 0 : left) + size;
  pthread_mutex_unlock(&cache->lock);
  return true;
}

// errno says what failed.
static bool write_file(tpt_disk_cache_t* cache, const char* text, size_t text_size,
                       const void* payload, size_t payload_size) {
  char path[PATH_SIZE], unfinished[PATH_SIZE];
  snprintf(unfinished, sizeof(unfinished), "%s/" TPT_DISK_UNFINISHED "XXXXXX", cache->folder);
  print_path(cache, text, text_size, path);
  int file = mkostemp(unfinished, O_CLOEXEC);
  if (file < 0) return false;
  bool is_written = write_entry(cache, file, text, text_size, payload, payload_size);
  int fault = errno;
  if (close(file) != 0 && is_written) {
    is_written = false;
    fault = errno;
  }
  if (is_written && rename(unfinished, path) == 0) return true;
  if (is_written) fault = errno;
  unlink(unfinished);
  errno = fault;
  return false;
}

void tpt_disk_cache_put(tpt_disk_cache_t* cache, const char* text, size_t text_size,
                        const void* payload, size_t payload_size) {
  size_t size = sizeof(head_t) + cache->identity_size + text_size + payload_size;
  if (is_closed(cache)) return;
  if (!make_folder(cache->folder)) {
    note_trouble(cache, true, "cannot make the folder %s: %s", cache->folder, strerror(errno));
    return;
  }
  if (!make_room(cache, (int64_t)size)) return;
  if (!write_file(cache, text, text_size, payload, payload_size))
    note_trouble(cache, true, "cannot write to %s: %s", cache->folder, strerror(errno));
}
