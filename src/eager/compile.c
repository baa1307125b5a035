// Owns the order of the ways to an executable: the disk, the plugin. Must not know calls or files.
// Invariant: whatever the disk does, the caller gets what compiling would have given.
#include "eager/compile.h"

#include <string.h>
#include <time.h>

#include "base/allocator.h"

// With cache=auto: loading, a file and its share of the folder cost about a millisecond.
static const double worth_seconds = 2e-3;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void tpt_device_use_disk(tpt_device_t* devices, int count, const tpt_options_t* options) {
  bool is_forced = strcmp(options->cache, "on") == 0;
  bool is_vtpu = strcmp(tpt_client_platform_name(devices->client), "vtpu") == 0;
  if (strcmp(options->cache, "off") == 0 || options->cache_size == 0) return;
  if (is_vtpu && !is_forced) return;
  tpt_str_t identity;
  tpt_disk_cache_t* cache = NULL;
  tpt_str_init(&identity);
  tpt_status_t status = tpt_client_identity(devices->client, &identity);
  if (!status)
    status = tpt_disk_cache_create(options->cache_dir, options->cache_size, identity.data,
                                   identity.size, &cache);
  tpt_status_release(status);
  tpt_str_deinit(&identity);
  for (int i = 0; i < count; i++) {
    devices[i].disk = cache;
    devices[i].disk_seconds = is_forced ? 0 : worth_seconds;
  }
}

static bool load(tpt_device_t* device, const char* text, size_t size,
                 tpt_executable_t** out_executable) {
  tpt_disk_entry_t entry;
  if (!tpt_disk_cache_get(device->disk, text, size, &entry)) return false;
  tpt_status_t status =
      tpt_client_deserialize(device->client, entry.payload, entry.payload_size, out_executable);
  tpt_free(entry.data);
  // An entry is dropped for what it is, not for a moment without memory.
  if (status && tpt_status_code(status) != TPT_RESOURCE_EXHAUSTED)
    tpt_disk_cache_drop(device->disk, text, size);
  tpt_status_release(status);
  return !status;
}

static void store(tpt_device_t* device, const char* text, size_t size,
                  tpt_executable_t* executable) {
  void* bytes = NULL;
  size_t bytes_size = 0;
  tpt_status_t status = tpt_executable_serialize(executable, &bytes, &bytes_size);
  if (!status)
    tpt_disk_cache_put(device->disk, text, size, bytes, bytes_size);
  else if (tpt_status_code(status) == TPT_UNIMPLEMENTED)
    tpt_disk_cache_close(device->disk, tpt_status_message(status));
  tpt_status_release(status);
  tpt_free(bytes);
}

tpt_status_t tpt_device_compile(tpt_device_t* device, const char* text, size_t text_size,
                                tpt_status_t take_refusal, tpt_executable_t** out_executable,
                                bool* out_is_loaded) {
  double start = seconds();
  tpt_status_t status = NULL;
  *out_executable = NULL;
  bool is_loaded = device->disk && load(device, text, text_size, out_executable);
  if (out_is_loaded) *out_is_loaded = is_loaded;
  if (is_loaded) {
    tpt_status_release(take_refusal);
    device->counters.disk_hits++;
  } else if (take_refusal) {
    return take_refusal;
  } else {
    double compile_start = seconds();
    device->counters.disk_misses += device->disk != NULL;
    status = tpt_client_compile(device->client, text, text_size, out_executable);
    if (!status && device->disk && seconds() - compile_start >= device->disk_seconds)
      store(device, text, text_size, *out_executable);
  }
  device->counters.compile_seconds += seconds() - start;
  device->counters.compiles++;
  return status;
}
