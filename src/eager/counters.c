// Owns the sums of what the devices counted. Must not know what a count means. Invariant: a counter
// of a device changes under that device's lock only.
#include <stdatomic.h>
#include <string.h>

#include "eager/device.h"

static atomic_uint_fast64_t fallback_count;

void tpt_counters_add_fallback(void) {
  atomic_fetch_add_explicit(&fallback_count, 1, memory_order_relaxed);
}

static void add(tpt_counters_t* sum, const tpt_counters_t* part) {
  sum->calls += part->calls;
  sum->hits += part->hits;
  sum->compiles += part->compiles;
  sum->launches += part->launches;
  sum->uploads += part->uploads;
  sum->downloads += part->downloads;
  sum->donations += part->donations;
  sum->refused_donations += part->refused_donations;
  sum->disk_hits += part->disk_hits;
  sum->disk_misses += part->disk_misses;
  sum->fused_windows += part->fused_windows;
  sum->compile_seconds += part->compile_seconds;
}

void tpt_counters_get(tpt_counters_t* out_counters) {
  char trouble[8];
  memset(out_counters, 0, sizeof(*out_counters));
  for (int i = 0; i < tpt_device_count_open(); i++) {
    tpt_device_t* device = tpt_device_peek(i);
    tpt_device_lock(device);
    add(out_counters, &device->counters);
    tpt_device_unlock(device);
    if (i == 0 && device->disk)  // all devices share it
      out_counters->disk_errors = tpt_disk_cache_trouble(device->disk, trouble, sizeof(trouble));
  }
  out_counters->fallbacks = atomic_load_explicit(&fallback_count, memory_order_relaxed);
}

int tpt_refused_donations(tpt_refused_donation_t out[TPT_REFUSED_DONATION_MAX]) {
  int count = 0;
  for (int i = 0; i < tpt_device_count_open(); i++) {
    tpt_device_t* device = tpt_device_peek(i);
    tpt_device_lock(device);
    uint64_t end = device->counters.refused_donations, number = 0;
    if (end > TPT_REFUSED_DONATION_MAX) number = end - TPT_REFUSED_DONATION_MAX;
    for (; number < end && count < TPT_REFUSED_DONATION_MAX; number++)
      out[count++] = device->refusals[number % TPT_REFUSED_DONATION_MAX];
    tpt_device_unlock(device);
  }
  return count;
}

void tpt_counters_reset(void) {
  for (int i = 0; i < tpt_device_count_open(); i++) {
    tpt_device_t* device = tpt_device_peek(i);
    tpt_device_lock(device);
    memset(&device->counters, 0, sizeof(device->counters));
    tpt_device_unlock(device);
  }
  atomic_store_explicit(&fallback_count, 0, memory_order_relaxed);
}

void tpt_disk_trouble(char* text, int text_size) {
  tpt_device_t* device = tpt_device_peek(0);
  if (text_size > 0) *text = 0;
  if (device && device->disk) (void)tpt_disk_cache_trouble(device->disk, text, text_size);
}
