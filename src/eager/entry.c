// Owns the life of compiled calls: added under their key, dropped when there are too many. Must not
// know how one is made or run. Invariant: an entry that is dropped is freed no earlier than the next
// time entries are dropped, because results of a recent call may still point at its strides.
#include "eager/entry.h"

#include <stdlib.h>

#include "base/allocator.h"
#include "eager/program.h"

void tpt_entry_release(tpt_entry_t* entry) {
  if (!entry || --entry->refs > 0) return;
  tpt_executable_release(entry->executable);
  tpt_free(entry->words);
  tpt_free(entry->operands);
  tpt_free(entry->outputs);
  tpt_free(entry->donations);
  tpt_free(entry);
}

static int by_last_call(const void* a, const void* b) {
  uint64_t x = (*(tpt_entry_t* const*)a)->last_call, y = (*(tpt_entry_t* const*)b)->last_call;
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

// Drops the half that was used longest ago. Without memory to do so nothing changes.
static void drop_old_half(tpt_device_t* device) {
  size_t count = 0, half = device->entries.count / 2;
  tpt_entry_t** all = tpt_malloc(device->entries.count * sizeof(*all));
  tpt_table_t kept = {0};
  if (!all) return;
  for (size_t i = 0; i < device->entries.capacity; i++) {
    if (device->entries.items[i]) all[count++] = device->entries.items[i];
  }
  qsort(all, count, sizeof(*all), by_last_call);
  tpt_status_t status = NULL;
  for (size_t i = half; i < count && !status; i++)
    status = tpt_table_add(&kept, all[i]->hash, all[i]);
  if (!status && tpt_grow((void**)&device->dropped, &device->dropped_capacity, half,
                          sizeof(*device->dropped))) {
    free_dropped(device);
    for (size_t i = 0; i < half; i++)
      device->dropped[i] = all[i];
    device->dropped_count = half;
    tpt_table_deinit(&device->entries);
    device->entries = kept;
    kept = (tpt_table_t){0};
  }
  tpt_status_release(status);
  tpt_table_deinit(&kept);
  tpt_free(all);
}

void tpt_entries_drop(tpt_device_t* device, const tpt_op_t* op) {
  uint64_t identity = tpt_op_identity(op);
  tpt_table_t kept = {0};
  bool has_any = false;
  for (size_t i = 0; i < device->entries.capacity && !has_any; i++) {
    const tpt_entry_t* entry = device->entries.items[i];
    has_any = entry && entry->words[0] == identity;
  }
  if (!has_any) return;
  for (size_t i = 0; i < device->entries.capacity; i++) {
    tpt_entry_t* entry = device->entries.items[i];
    if (!entry || entry->words[0] == identity) continue;
    tpt_status_t status = tpt_table_add(&kept, entry->hash, entry);
    if (!status) continue;
    tpt_status_release(status);  // without memory they stay until they are old: nothing finds them
    tpt_table_deinit(&kept);
    return;
  }
  for (size_t i = 0; i < device->entries.capacity; i++) {
    tpt_entry_t* entry = device->entries.items[i];
    if (entry && entry->words[0] == identity) tpt_entry_release(entry);
  }
  tpt_table_deinit(&device->entries);
  device->entries = kept;
}

tpt_status_t tpt_entry_add(tpt_device_t* device, tpt_entry_t* entry) {
  if (device->entries.count >= device->entry_max) drop_old_half(device);
  entry->last_call = device->call;
  return tpt_table_add(&device->entries, entry->hash, entry);
}
