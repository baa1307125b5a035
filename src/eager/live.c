// Owns the list of live values of a device, for reports. Must not know how memory is accounted.
// Invariant: a value that several storages share stands in it once.
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"
#include "eager/device.h"

typedef struct live {
  const tpt_storage_t* storage;
  const tpt_cell_t* cell;  // NULL: the storage has no value on the device
  int storages;
} live_t;

static int by_cell(const void* a, const void* b) {
  uintptr_t x = (uintptr_t)((const live_t*)a)->cell, y = (uintptr_t)((const live_t*)b)->cell;
  return (x > y) - (x < y);
}

static int by_size(const void* a, const void* b) {
  size_t x = ((const live_t*)a)->storage->size, y = ((const live_t*)b)->storage->size;
  return (x < y) - (x > y);
}

// All storages; those that share a value as one.
static size_t collect(const tpt_device_t* device, live_t* out_lives) {
  size_t count = 0, kept = 0;
  for (const tpt_storage_t* s = device->storages; s; s = s->next) {
    const tpt_cell_t* cell = s->cell && s->cell->buffer ? s->cell : NULL;
    out_lives[count++] = (live_t){s, cell, 1};
  }
  qsort(out_lives, count, sizeof(*out_lives), by_cell);
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && out_lives[i].cell && out_lives[i].cell == out_lives[kept - 1].cell) {
      out_lives[kept - 1].storages++;
    } else {
      out_lives[kept++] = out_lives[i];
    }
  }
  qsort(out_lives, kept, sizeof(*out_lives), by_size);
  return kept;
}

static void describe(const live_t* live, tpt_live_tensor_t* out) {
  memset(out, 0, sizeof(*out));
  out->size = (int64_t)live->storage->size;
  out->type = live->storage->home->type;
  out->has_value = live->cell != NULL;
  out->storage_count = live->storages;
  if (!live->cell) return;
  out->op = live->cell->site.name;
  out->file = live->cell->site.file;
  out->line = live->cell->site.line;
}

tpt_status_t tpt_device_live_tensors(int index, tpt_live_tensor_t* out_tensors, int capacity,
                                     int* out_count) {
  tpt_device_t* device;
  *out_count = 0;
  TPT_TRY(tpt_device_get(index, &device));
  tpt_device_lock(device);
  size_t storages = (size_t)device->memory.storage_count;
  live_t* lives = tpt_malloc((storages + 1) * sizeof(*lives));
  if (lives) {
    int count = (int)collect(device, lives);
    for (int i = 0; i < count && i < capacity; i++)
      describe(&lives[i], &out_tensors[i]);
    *out_count = count;
  }
  tpt_device_unlock(device);
  tpt_free(lives);
  if (!lives)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a list of %zu tensors", storages);
  return NULL;
}
