// Owns the life of compiled calls: added under their key, dropped when there are too many. Must not
// know how one is made or run. Invariant: an entry that is dropped is freed no earlier than the next
// time entries are dropped, because results of a recent call may still point at its strides.
#include "eager/entry.h"

#include <stdlib.h>

#include "base/allocator.h"
#include "eager/program.h"
#include "eager/signature.h"

void tpt_entry_release(tpt_entry_t* entry) {
  if (!entry || --entry->refs > 0) return;
  tpt_executable_release(entry->executable);
  tpt_free(entry->words);
  tpt_free(entry->operands);
  tpt_free(entry->outputs);
  tpt_free(entry->donations);
  if (entry->signature) tpt_signature_deinit(entry->signature);
  tpt_free(entry->signature);
  tpt_free(entry);
}

static int by_number(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static void free_dropped(tpt_device_t* device) {
  for (size_t i = 0; i < device->dropped_count; i++)
    tpt_entry_release(device->dropped[i]);
  device->dropped_count = 0;
}

void tpt_entries_deinit(tpt_device_t* device) {
  free_dropped(device);
  tpt_free(device->dropped);
  for (size_t i = 0; i < device->entries.capacity; i++)
    tpt_entry_release(device->entries.items[i]);
  tpt_table_deinit(&device->entries);
}

typedef struct age_filter {
  tpt_device_t* device;
  uint64_t oldest_kept;
} age_filter_t;

static bool is_young(const void* item, const void* arg) {
  return ((const tpt_entry_t*)item)->last_call >= ((const age_filter_t*)arg)->oldest_kept;
}

static void take_old(void* item, void* arg) {
  tpt_device_t* device = ((age_filter_t*)arg)->device;
  device->dropped[device->dropped_count++] = item;
}

// Drops the half that was used longest ago. Without memory to do so nothing changes.
static void drop_old_half(tpt_device_t* device) {
  size_t count = 0;
  uint64_t* calls = tpt_malloc(device->entries.count * sizeof(*calls));
  bool has_room = calls && tpt_grow((void**)&device->dropped, &device->dropped_capacity,
                                    device->entries.count, sizeof(*device->dropped));
  if (has_room) {
    for (size_t i = 0; i < device->entries.capacity; i++) {
      const tpt_entry_t* entry = device->entries.items[i];
      if (entry) calls[count++] = entry->last_call;
    }
    qsort(calls, count, sizeof(*calls), by_number);
    age_filter_t age = {device, calls[count / 2]};
    const tpt_table_filter_t filter = {is_young, take_old, &age};
    free_dropped(device);
    tpt_status_release(tpt_table_filter(&device->entries, &filter));
  }
  tpt_free(calls);
}

static bool is_of_other_op(const void* item, const void* arg) {
  return ((const tpt_entry_t*)item)->words[0] != *(const uint64_t*)arg;
}

static void take_entry(void* item, void* arg) {
  (void)arg;
  tpt_entry_release(item);
}

void tpt_entries_drop(tpt_device_t* device, const tpt_op_t* op) {
  uint64_t identity = tpt_op_identity(op);
  const tpt_table_filter_t filter = {is_of_other_op, take_entry, &identity};
  // Without memory they stay until they are old: nothing finds them.
  tpt_status_release(tpt_table_filter(&device->entries, &filter));
}

tpt_status_t tpt_entry_add(tpt_device_t* device, tpt_entry_t* entry) {
  if (device->entries.count >= device->entry_max) drop_old_half(device);
  entry->last_call = device->call;
  return tpt_table_add(&device->entries, entry->hash, entry);
}
