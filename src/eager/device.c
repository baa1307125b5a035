// Owns the making and ending of a device's state, and waiting for all of its work. Must not know how
// the plugin was chosen.
#include "eager/device.h"

#include <string.h>

#include "aten/lower.h"
#include "base/allocator.h"
#include "eager/compile_log.h"
#include "eager/entry.h"
#include "eager/internal_op.h"
#include "eager/program.h"
#include "eager/wait.h"

enum { ENTRY_MAX = 16384 };

tpt_status_t tpt_device_init(tpt_device_t* device, tpt_client_t* client, int index) {
  memset(device, 0, sizeof(*device));
  device->index = index;
  device->client = client;
  device->entry_max = ENTRY_MAX;
  bool is_vtpu = strcmp(tpt_client_platform_name(client), "vtpu") == 0;
  device->returns_donations = device->checks_indices = is_vtpu;
  pthread_mutex_init(&device->lock, NULL);
  tpt_arena_init(&device->arena);
  tpt_str_init(&device->text);
  tpt_memory_stats_t stats = {.limit = -1};
  tpt_status_release(tpt_client_memory_stats(client, index, &stats));
  device->memory.limit = stats.limit > 0 ? stats.limit : 0;
  size_t row_count = (size_t)tpt_op_count() + TPT_INTERNAL_OP_COUNT;
  device->static_args = tpt_calloc(row_count, sizeof(*device->static_args));
  if (!device->static_args) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a device");
  TPT_TRY(tpt_scalar_cache_create(client, index, &device->scalars));
  return tpt_graph_create(&device->graph);
}

void tpt_device_deinit(tpt_device_t* device) {
  tpt_fused_release(device->fused);
  tpt_barrier_deinit(&device->barrier);
  tpt_scalar_cache_release(device->scalars);
  tpt_frame_deinit(&device->frame);
  tpt_graph_release(device->graph);
  tpt_arena_deinit(&device->arena);
  tpt_str_deinit(&device->text);
  tpt_free(device->static_args);
  tpt_entries_deinit(device);
  tpt_compile_log_release(device->compile_log);
  tpt_table_deinit_items(&device->windows, tpt_free);
  tpt_table_deinit_items(&device->homes.table, tpt_free);
  pthread_mutex_destroy(&device->lock);
}

// --- waiting -------------------------------------------------------------------------------------------

// Every live value, and every suspect whose tensors are gone, once.
static tpt_status_t collect_cells(tpt_device_t* device, tpt_cell_t*** out_cells,
                                  size_t* out_count) {
  size_t capacity = 0;
  *out_cells = NULL;
  *out_count = 0;
  for (tpt_storage_t* s = device->storages; s; s = s->next) {
    if (!s->cell || !s->cell->buffer) continue;
    if (!tpt_grow((void**)out_cells, &capacity, *out_count + 1, sizeof(**out_cells))) break;
    (*out_cells)[(*out_count)++] = tpt_cell_retain(s->cell);
  }
  for (tpt_cell_t* cell = device->suspects; cell; cell = cell->next) {
    if (cell->refs > 0) continue;
    if (!tpt_grow((void**)out_cells, &capacity, *out_count + 1, sizeof(**out_cells))) break;
    (*out_cells)[(*out_count)++] = tpt_cell_retain(cell);
  }
  return NULL;
}

tpt_status_t tpt_device_wait(tpt_device_t* device) {
  tpt_cell_t** cells;
  size_t count;
  tpt_buffer_t* last = NULL;
  TPT_TRY(tpt_device_enter(device));
  tpt_status_t flushed = tpt_fused_flush(device);
  tpt_status_t status = collect_cells(device, &cells, &count);
  if (!status) status = tpt_barrier_send(&device->barrier, device->client, device->index, &last);
  tpt_device_unlock(device);
  tpt_status_t interrupt = last && !status ? tpt_wait_ready(last) : NULL;
  if (last && !status && !interrupt) status = tpt_buffer_await(last);
  tpt_buffer_release(last);
  tpt_status_t first = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!interrupt) interrupt = tpt_wait_ready(cells[i]->buffer);
    tpt_status_t failure = interrupt ? NULL : tpt_buffer_await(cells[i]->buffer);
    tpt_device_lock(device);
    if (interrupt) {
      // nothing is known about the value
    } else if (failure && !first && !cells[i]->is_reported) {
      first = tpt_cell_blame(cells[i], failure);
    } else {
      tpt_status_release(failure);
      tpt_cell_clear(cells[i]);
    }
    tpt_cell_release(cells[i]);
    tpt_device_unlock(device);
  }
  tpt_free(cells);
  first = tpt_status_first(tpt_status_first(interrupt, flushed), first);
  return tpt_status_first(first, status);
}

tpt_status_t tpt_device_synchronize(int index) {
  tpt_device_t* device;
  TPT_TRY(tpt_device_get(index, &device));
  return tpt_device_wait(device);
}
