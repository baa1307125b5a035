// Owns device values and the search for the call to blame when one turns out to be an error. Must not
// know storages. Invariant: a suspect stays on the device's list, with its buffer, until somebody has
// looked at it; so no failure is lost by dropping a tensor.
#include "eager/cell.h"

#include <stdio.h>

#include "base/allocator.h"
#include "eager/device.h"
#include "eager/internal_op.h"
#include "eager/trace.h"

tpt_status_t tpt_cell_create(tpt_device_t* device, tpt_cell_t** out_cell) {
  tpt_cell_t* cell = tpt_calloc(1, sizeof(*cell));
  if (!cell) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a device value");
  cell->device = device;
  cell->refs = 1;
  *out_cell = cell;
  return NULL;
}

void tpt_cell_fill(tpt_cell_t* cell, tpt_buffer_t* take_buffer, size_t size) {
  cell->buffer = take_buffer;
  cell->size = size;
  tpt_memory_add(cell->device, size);
}

static void unlink_suspect(tpt_cell_t* cell) {
  if (!cell->is_suspect) return;
  cell->is_suspect = false;
  if (cell->previous) {
    cell->previous->next = cell->next;
  } else {
    cell->device->suspects = cell->next;
  }
  if (cell->next) {
    cell->next->previous = cell->previous;
  } else {
    cell->device->oldest_suspect = cell->previous;
  }
  cell->previous = cell->next = NULL;
}

static void destroy(tpt_cell_t* cell) {
  unlink_suspect(cell);
  if (__builtin_expect(!cell->buffer, 0)) {
    tpt_trace_forget(cell);
    tpt_status_release(cell->failure);
  }
  if (cell->buffer) tpt_memory_remove(cell->device, cell->size);
  tpt_buffer_release(cell->buffer);
  tpt_free(cell);
}

void tpt_cell_release(tpt_cell_t* cell) {
  if (!cell || --cell->refs > 0) return;
  if (cell->is_suspect) {  // stays listed, without references, until it is settled
    tpt_cell_settle(cell);
    return;
  }
  destroy(cell);
}

void tpt_cell_suspect(tpt_cell_t* cell) {
  if (cell->is_suspect) return;
  cell->is_suspect = true;
  cell->previous = NULL;
  cell->next = cell->device->suspects;
  if (cell->next) {
    cell->next->previous = cell;
  } else {
    cell->device->oldest_suspect = cell;
  }
  cell->device->suspects = cell;
}

void tpt_cell_sweep(tpt_device_t* device) {
  tpt_cell_t* newer;
  for (tpt_cell_t* cell = device->oldest_suspect; cell; cell = newer) {
    newer = cell->previous;
    if (!tpt_buffer_is_ready(cell->buffer)) return;
    tpt_cell_settle(cell);
  }
}

void tpt_cell_settle(tpt_cell_t* cell) {
  if (!cell->is_suspect || !tpt_buffer_is_ready(cell->buffer)) return;
  tpt_status_t status = tpt_buffer_await(cell->buffer);
  bool is_good = !status;
  tpt_status_release(status);
  if (!is_good) return;  // synchronize or a reader will tell
  unlink_suspect(cell);
  if (cell->refs == 0) destroy(cell);
}

void tpt_cell_clear(tpt_cell_t* cell) {
  unlink_suspect(cell);
}

// --- sites ---------------------------------------------------------------------------------------------

static __thread tpt_site_t thread_site;

void tpt_site_set(const char* file, int line) {
  thread_site = (tpt_site_t){NULL, file, line};
}

tpt_site_t tpt_site_of(const char* name, const char* file, int line) {
  if (!file) return (tpt_site_t){name, thread_site.file, thread_site.line};
  return (tpt_site_t){name, file, line};
}

const char* tpt_site_print(const tpt_site_t* site, char* text, size_t text_size) {
  if (!site->file) {
    snprintf(text, text_size, "%s", "");
  } else if (site->line == 0) {
    snprintf(text, text_size, "%s", site->file);
  } else {
    snprintf(text, text_size, "%s:%d", site->file, site->line);
  }
  return text;
}

tpt_status_t tpt_site_note(const tpt_site_t* site, tpt_status_t take_status) {
  char place[1024];
  if (!take_status || !site->name) return take_status;
  if (!*tpt_site_print(site, place, sizeof(place)))
    return tpt_status_note(take_status, "in %s%s", tpt_label_prefix(site->name), site->name);
  return tpt_status_note(take_status, "in %s%s%s %s", tpt_label_prefix(site->name), site->name,
                         site->line ? " called at" : ",", place);
}

tpt_status_t tpt_cell_blame(tpt_cell_t* cell, tpt_status_t take_status) {
  if (!take_status) return NULL;
  cell->is_reported = true;
  unlink_suspect(cell);
  return tpt_site_note(&cell->site, take_status);
}
