// Owns the reasons of compiles: the last calls that were compiled, to compare with, and the last entries.
// Must not know keys. Invariant: without host memory compiles go on, their reasons are not told.
#include "eager/compile_log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"
#include "eager/internal_op.h"
#include "eager/program.h"
#include "eager/signature.h"

enum { ENTRY_COUNT = 256, SIGNATURE_COUNT = 2048 };

struct tpt_compile_log {
  tpt_compile_info_t entries[ENTRY_COUNT];  // the newest at (next - 1)
  uint64_t next;
  tpt_signature_t signatures[SIGNATURE_COUNT];  // of compiled calls
  uint64_t next_signature;
  tpt_signature_t current;  // of the call that is being compiled
  tpt_str_t reason;
};

static atomic_int guard_count;
static atomic_uint_fast64_t compile_count;  // of the process: orders the devices' entries

void tpt_compile_guard_hold(void) {
  atomic_fetch_add(&guard_count, 1);
}
void tpt_compile_guard_drop(void) {
  atomic_fetch_sub(&guard_count, 1);
}

bool tpt_compile_guard_refused(tpt_status_t status) {
  return tpt_status_code(status) == TPT_FAILED_PRECONDITION && atomic_load(&guard_count) > 0;
}

static tpt_compile_log_t* log_of(tpt_device_t* device) {
  if (!device->compile_log) {
    device->compile_log = tpt_calloc(1, sizeof(*device->compile_log));
    if (device->compile_log) tpt_str_init(&device->compile_log->reason);
  }
  return device->compile_log;
}

void tpt_compile_log_release(tpt_compile_log_t* log) {
  if (!log) return;
  for (int i = 0; i < SIGNATURE_COUNT; i++)
    tpt_signature_deinit(&log->signatures[i]);
  tpt_signature_deinit(&log->current);
  tpt_str_deinit(&log->reason);
  tpt_free(log);
}

// --- the reason ----------------------------------------------------------------------------------------

// The earlier call of the op that is most like the current one, the newest of equals; NULL: none.
static const tpt_signature_t* find_nearest(const tpt_compile_log_t* log, uint64_t static_args,
                                           size_t* out_first) {
  const tpt_signature_t* nearest = NULL;
  size_t least = SIZE_MAX, first;
  uint64_t count = log->next_signature < SIGNATURE_COUNT ? log->next_signature : SIGNATURE_COUNT;
  for (uint64_t i = 1; i <= count; i++) {
    const tpt_signature_t* other = &log->signatures[(log->next_signature - i) % SIGNATURE_COUNT];
    if (other->op != log->current.op) continue;
    size_t distance = tpt_signature_distance(&log->current, other, static_args, &first);
    if (distance >= least) continue;
    least = distance;
    nearest = other;
    *out_first = first;
    if (distance <= 1) break;
  }
  return nearest;
}

static void write_reason(tpt_compile_log_t* log, const tpt_device_t* device, const tpt_call_t* call,
                         uint64_t static_args) {
  size_t first = 0;
  tpt_str_clear(&log->reason);
  const tpt_signature_t* nearest = find_nearest(log, static_args, &first);
  // A row that tells its numbers apart by kinds: any number that changed may be why.
  if (nearest && first == log->current.trait_count && call->op->params.kind)
    tpt_signature_distance(&log->current, nearest, UINT64_MAX, &first);
  const tpt_program_t* program = tpt_op_program(call->op);
  if (program && program->reason.size) {
    tpt_str_append(&log->reason, program->reason.data, program->reason.size);
  } else if (!nearest) {
    bool is_row = call->op->schema_text || tpt_op_is_internal(call->op);
    tpt_str_append_cstr(&log->reason,
                        is_row ? "first call" : "new sequence of calls, or new sizes in it");
  } else if (first < log->current.trait_count && first < nearest->trait_count) {
    tpt_signature_append_change(&log->reason, call->op, &log->current, nearest, first);
  } else if (device->dropped_count > 0) {
    tpt_str_printf(&log->reason, "dropped since its last call: only %zu programs are kept",
                   device->entry_max);
  } else {
    tpt_str_append_cstr(&log->reason, "another case of the numbers it was given");
  }
  char place[512];
  const tpt_site_t site = tpt_site_of(tpt_op_label(call->op), call->file, call->line);
  if (*tpt_site_print(&site, place, sizeof(place))) tpt_str_printf(&log->reason, ", in %s", place);
}

tpt_status_t tpt_compile_log_begin(tpt_device_t* device, const tpt_call_t* call,
                                   uint64_t static_args) {
  tpt_compile_log_t* log = log_of(device);
  if (log) {
    tpt_signature_deinit(&log->current);
    tpt_str_clear(&log->reason);
    if (tpt_signature_read(device, call, &log->current))
      write_reason(log, device, call, static_args);
  }
  if (__builtin_expect(atomic_load(&guard_count) == 0, 1)) return NULL;
  const char* reason = log && log->reason.size ? log->reason.data : "reason not known";
  TPT_FAIL(TPT_FAILED_PRECONDITION, "compile_guard: %s%s would be compiled: %s",
           tpt_label_prefix(tpt_op_label(call->op)), tpt_op_label(call->op), reason);
}

void tpt_compile_log_end(tpt_device_t* device, const char* label, const tpt_compile_cost_t* cost) {
  tpt_compile_log_t* log = device->compile_log;
  if (!log) return;
  tpt_compile_info_t* entry = &log->entries[log->next++ % ENTRY_COUNT];
  memset(entry, 0, sizeof(*entry));
  snprintf(entry->op, sizeof(entry->op), "%s", label);
  if (log->reason.size) snprintf(entry->reason, sizeof(entry->reason), "%s", log->reason.data);
  entry->seconds = cost->seconds;
  entry->program_size = (int64_t)cost->program_size;
  entry->is_loaded = cost->is_loaded;
  entry->number = atomic_fetch_add(&compile_count, 1) + 1;
  entry->device = device->index;
  if (!log->current.op) return;
  tpt_signature_t* place = &log->signatures[log->next_signature++ % SIGNATURE_COUNT];
  tpt_signature_deinit(place);
  *place = log->current;
  memset(&log->current, 0, sizeof(log->current));
}

// --- the public functions ------------------------------------------------------------------------------

static int by_number(const void* a, const void* b) {
  uint64_t x = ((const tpt_compile_info_t*)a)->number, y = ((const tpt_compile_info_t*)b)->number;
  return (x > y) - (x < y);
}

// The device's entries, oldest first, as far as there is room.
static int copy_entries(tpt_device_t* device, tpt_compile_info_t* out_entries, int capacity) {
  int count = 0;
  tpt_device_lock(device);
  const tpt_compile_log_t* log = device->compile_log;
  uint64_t held = !log ? 0 : log->next < ENTRY_COUNT ? log->next : ENTRY_COUNT;
  for (uint64_t i = held; i > 0 && count < capacity; i--)
    out_entries[count++] = log->entries[(log->next - i) % ENTRY_COUNT];
  tpt_device_unlock(device);
  return count;
}

int tpt_compile_log_get(tpt_compile_info_t* out_entries, int capacity) {
  int count = 0;
  for (int i = 0; i < tpt_device_count_open(); i++)
    count += copy_entries(tpt_device_peek(i), out_entries + count, capacity - count);
  qsort(out_entries, (size_t)count, sizeof(*out_entries), by_number);
  return count;
}

int tpt_compile_log_capacity(void) {
  return ENTRY_COUNT * tpt_device_count_open();
}

void tpt_compile_log_clear(void) {
  for (int i = 0; i < tpt_device_count_open(); i++) {
    tpt_device_t* device = tpt_device_peek(i);
    tpt_device_lock(device);
    if (device->compile_log) device->compile_log->next = 0;
    tpt_device_unlock(device);
  }
}
