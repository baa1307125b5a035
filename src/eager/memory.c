// Owns memory accounting by live values, and the message of an out-of-memory error. Must not know how
// a plugin allocates. Invariant: `allocated` is the sum of the sizes of all cells that have a buffer.
#include <stdio.h>

#include "base/str.h"
#include "eager/device.h"
#include "eager/internal_op.h"
#include "eager/program.h"

// A storage of at least 1/PROMISE_SHARE of the memory is held against what was promised to others.
enum { LARGEST_COUNT = 5, PROMISE_SHARE = 64 };

void tpt_memory_add(tpt_device_t* device, size_t size) {
  tpt_device_memory_t* memory = &device->memory;
  memory->allocated += (int64_t)size;
  memory->allocation_count++;
  if (memory->allocated > memory->peak_allocated) memory->peak_allocated = memory->allocated;
}

void tpt_memory_remove(tpt_device_t* device, size_t size) {
  device->memory.allocated -= (int64_t)size;
}

bool tpt_memory_trim(tpt_device_t* device) {
  bool had_any = tpt_scalar_cache_clear(device->scalars);
  tpt_cell_t* next;
  for (tpt_cell_t* cell = device->suspects; cell; cell = next) {
    next = cell->next;
    if (cell->refs == 0) {
      had_any = true;
      tpt_cell_settle(cell);
    }
  }
  return had_any;
}

// "12.50 MiB"
static void append_size(tpt_str_t* text, int64_t size) {
  static const char* const kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = (double)size;
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    unit++;
  }
  tpt_str_printf(text, unit ? "%.2f %s" : "%.0f %s", value, kUnits[unit]);
}

// The largest live values, each once though several storages may share it.
static int find_largest(const tpt_device_t* device, const tpt_storage_t** out_largest) {
  int count = 0;
  for (const tpt_storage_t* s = device->storages; s; s = s->next) {
    if (!s->cell || !s->cell->buffer) continue;
    bool is_known = false;
    for (int i = 0; i < count; i++)
      is_known |= out_largest[i]->cell == s->cell;
    if (is_known) continue;
    int place = count;
    while (place > 0 && out_largest[place - 1]->size < s->size)
      place--;
    if (place >= LARGEST_COUNT) continue;
    if (count < LARGEST_COUNT) count++;
    for (int i = count - 1; i > place; i--)
      out_largest[i] = out_largest[i - 1];
    out_largest[place] = s;
  }
  return count;
}

static void append_largest(tpt_str_t* text, const tpt_device_t* device) {
  const tpt_storage_t* largest[LARGEST_COUNT];
  int count = find_largest(device, largest);
  for (int i = 0; i < count; i++) {
    char type[256];
    tpt_str_printf(text, "%s%s ", i ? ", " : "; largest live tensors: ",
                   tpt_type_print(&largest[i]->home->type, type, sizeof(type)));
    append_size(text, (int64_t)largest[i]->size);
    char place[512];
    const tpt_site_t* site = &largest[i]->cell->site;
    tpt_site_print(site, place, sizeof(place));
    if (site->name)
      tpt_str_printf(text, *place ? " (%s%s, %s)" : " (%s%s%s)", tpt_label_prefix(site->name),
                     site->name, place);
    else if (*place)
      tpt_str_printf(text, " (copied from the host, %s)", place);
  }
}

// Limit and bytes in use, as the plugin tells them or, if it does not, as we know them.
static void read_plugin(tpt_device_t* device, int64_t* out_limit, int64_t* out_in_use) {
  tpt_memory_stats_t stats = {.in_use = -1, .limit = -1};
  tpt_status_release(tpt_client_memory_stats(device->client, device->index, &stats));
  *out_limit = stats.limit > 0 ? stats.limit : device->memory.limit;
  *out_in_use = stats.in_use >= 0 ? stats.in_use : device->memory.allocated;
}

// What users of other devices look for in such a message.
static void append_report(tpt_str_t* text, tpt_device_t* device, size_t requested) {
  const tpt_device_memory_t* memory = &device->memory;
  int64_t limit, in_use;
  read_plugin(device, &limit, &in_use);
  tpt_str_printf(text, "TPU out of memory on tpu:%d.", device->index);
  if (requested) {
    tpt_str_append_cstr(text, " Tried to allocate ");
    append_size(text, (int64_t)requested);
    tpt_str_append_cstr(text, ".");
  }
  if (limit > 0) {
    tpt_str_append_cstr(text, " Of ");
    append_size(text, limit);
    tpt_str_append_cstr(text, " of device memory ");
    append_size(text, limit > in_use ? limit - in_use : 0);
    tpt_str_append_cstr(text, " is free.");
  }
  tpt_str_append_cstr(text, " Live tensors take ");
  append_size(text, memory->allocated);
  tpt_str_append_cstr(text, " (peak ");
  append_size(text, memory->peak_allocated);
  tpt_str_append_cstr(text, ")");
  append_largest(text, device);
}

tpt_status_t tpt_memory_explain(tpt_device_t* device, size_t requested, tpt_status_t take_status) {
  if (tpt_status_code(take_status) != TPT_RESOURCE_EXHAUSTED) return take_status;
  tpt_str_t text;
  tpt_str_init(&text);
  append_report(&text, device, requested);
  tpt_status_t status =
      tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "%s; the plugin said: %s",
                      text.data ? text.data : "", tpt_status_message(take_status));
  tpt_status_release(take_status);
  tpt_str_deinit(&text);
  return status;
}

// --- promises ------------------------------------------------------------------------------------------

// Bytes of large storages that wait for their value. Small ones are not worth the walk.
static int64_t promised(const tpt_device_t* device) {
  int64_t sum = 0;
  for (const tpt_storage_t* s = device->storages; s; s = s->next)
    if (!s->cell) sum += (int64_t)s->size;
  return sum;
}

static bool fits(const tpt_device_t* device, size_t size) {
  int64_t free = device->memory.limit - device->memory.allocated;
  if (free < 0 || size > (size_t)free) return false;
  bool is_large = size >= (size_t)device->memory.limit / PROMISE_SHARE;
  return !is_large || (int64_t)size <= free - promised(device);
}

tpt_status_t tpt_memory_promise(tpt_device_t* device, size_t size) {
  if (device->memory.limit <= 0 || fits(device, size)) return NULL;
  if (tpt_memory_trim(device) && fits(device, size)) return NULL;
  tpt_str_t text;
  tpt_str_init(&text);
  append_report(&text, device, size);
  int64_t waiting = promised(device);
  if (waiting > 0) {
    tpt_str_append_cstr(&text, "; tensors made without a value (torch.empty) will take ");
    append_size(&text, waiting);
  }
  tpt_status_t status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "%s",
                                        text.data ? text.data : "TPU out of memory");
  tpt_str_deinit(&text);
  return status;
}

// --- the public functions ----------------------------------------------------------------------------------

tpt_status_t tpt_device_memory(int index, tpt_device_memory_t* out_memory) {
  tpt_device_t* device;
  TPT_TRY(tpt_device_get(index, &device));
  tpt_device_lock(device);
  read_plugin(device, &device->memory.limit, &device->memory.in_use);
  *out_memory = device->memory;
  tpt_device_unlock(device);
  return NULL;
}

void tpt_device_memory_reset_peak(int index) {
  tpt_device_t* device = tpt_device_peek(index);
  if (!device) return;
  tpt_device_lock(device);
  device->memory.peak_allocated = device->memory.allocated;
  tpt_device_unlock(device);
}

void tpt_device_empty_cache(int index) {
  tpt_device_t* device = tpt_device_peek(index);
  if (!device) return;
  tpt_device_lock(device);
  tpt_memory_trim(device);
  tpt_device_unlock(device);
}
