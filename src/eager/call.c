// Owns the door for calls: key, entry, checks, launch, under the device's lock. Must not know how any
// of them works. Invariant: value rules run on every call, hit or miss, before anything is changed.
#include "eager/call.h"

#include "aten/lower.h"
#include "base/allocator.h"
#include "eager/internal_op.h"
#include "eager/program.h"

// Results of this thread's last call.
typedef struct thread_results {
  tpt_result_t* items;
  size_t capacity;
} thread_results_t;

static __thread thread_results_t thread_results;
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void free_thread_results(void* data) {
  thread_results_t* results = data;
  tpt_free(results->items);
  *results = (thread_results_t){0};
}

static void make_thread_key(void) {
  pthread_key_create(&thread_key, free_thread_results);
}

static tpt_status_t reserve_results(size_t count, tpt_result_t** out_results) {
  if (count > thread_results.capacity || !thread_results.items) {
    pthread_once(&thread_once, make_thread_key);
    if (!tpt_grow((void**)&thread_results.items, &thread_results.capacity, count ? count : 1,
                  sizeof(*thread_results.items)))
      TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %zu results", count);
    pthread_setspecific(thread_key, &thread_results);
  }
  *out_results = thread_results.items;
  return NULL;
}

static tpt_status_t check_values(tpt_device_t* device, const tpt_call_t* call) {
  if (__builtin_expect(!call->op->params.check, 1)) return NULL;
  tpt_arena_reset(&device->arena);
  tpt_lower_t lower = {.op = call->op,
                       .args = call->args,
                       .arg_count = call->arg_count,
                       .default_dtype = call->default_dtype,
                       .arena = &device->arena};
  return tpt_op_check(&lower);
}

// Where the call goes; NULL: it runs. The fused window runs first when the call is not to join it.
static tpt_status_t choose_trace(tpt_device_t* device, tpt_trace_t** out_trace) {
  *out_trace = NULL;
  if (device->is_strict) return NULL;
  *out_trace = tpt_capture_trace(device);
  if (!*out_trace && tpt_eager_mode_get() == TPT_EAGER_FUSED) {
    if (tpt_fused_is_due(device)) TPT_TRY(tpt_fused_flush(device));
    return tpt_fused_trace(device, out_trace);
  }
  return tpt_fused_flush(device);
}

static tpt_status_t record(tpt_device_t* device, tpt_trace_t* trace, const tpt_call_t* call,
                           tpt_entry_t* entry, tpt_result_t* results) {
  tpt_generator_t* generator = call->generator ? call->generator : device->generator;
  if (trace->is_fused && entry->has_draws) TPT_TRY(tpt_generator_settle(generator));
  TPT_TRY(tpt_trace_record(trace, call, entry, results));
  if (!trace->is_fused) return NULL;
  generator->offset += entry->rng_counters;
  tpt_fused_note_record(device);
  return NULL;
}

// A call whose draws only the device can count: the fused window counts on the host, so it runs first.
static tpt_status_t run_outside_window(tpt_device_t* device, const tpt_call_t* call,
                                       tpt_result_t** out_results, int* out_count) {
  TPT_TRY(tpt_fused_flush(device));
  device->is_strict = true;
  tpt_status_t status = tpt_call_run_locked(device, call, out_results, out_count);
  device->is_strict = false;
  return status;
}

// The call's compiled entry, made if there is none; the trace that it is to be recorded in, or NULL.
static tpt_status_t find_entry(tpt_device_t* device, const tpt_call_t* call,
                               tpt_entry_t** out_entry, tpt_trace_t** out_trace) {
  uint64_t hash;
  TPT_TRY(check_values(device, call));
  *out_trace = NULL;
  if (__builtin_expect(tpt_device_may_record(device), 0)) TPT_TRY(choose_trace(device, out_trace));
  TPT_TRY(tpt_key_build(device, call, &hash));
  *out_entry = tpt_key_find(device, hash);
  if (__builtin_expect(*out_entry == NULL, 0))
    return tpt_entry_build(device, call, /*is_run=*/!*out_trace, out_entry);
  device->counters.hits++;
  return NULL;
}

static tpt_status_t run_entry(tpt_device_t* device, const tpt_call_t* call, tpt_entry_t* entry,
                              tpt_trace_t* trace, tpt_result_t** out_results, int* out_count) {
  if (__builtin_expect(trace && trace->is_fused && entry->rng_result >= 0, 0))
    return run_outside_window(device, call, out_results, out_count);
  TPT_TRY(reserve_results(entry->plain_count, out_results));
  *out_count = (int)entry->plain_count;
  if (__builtin_expect(trace != NULL, 0)) return record(device, trace, call, entry, *out_results);
  if (__builtin_expect(entry->is_lowered_only, 0)) TPT_TRY(tpt_entry_compile(device, call, entry));
  return tpt_entry_launch(device, call, entry, *out_results);
}

tpt_status_t tpt_call_run_locked(tpt_device_t* device, const tpt_call_t* call,
                                 tpt_result_t** out_results, int* out_count) {
  tpt_entry_t* entry;
  tpt_trace_t* trace;
  device->counters.calls++;
  TPT_TRY(find_entry(device, call, &entry, &trace));
  return run_entry(device, call, entry, trace, out_results, out_count);
}

// A call that is waited for under the lock, while earlier work is still to be done: waits for that without
// the lock, so that other threads go on and a signal can end the wait; then the call is looked up anew,
// because its tensors may have changed. On failure the lock is gone.
static tpt_status_t await_earlier_work(tpt_device_t* device, const tpt_call_t* call,
                                       tpt_entry_t** inout_entry, tpt_trace_t** inout_trace) {
  tpt_buffer_t* pending = tpt_entry_pending(device, *inout_entry);
  if (!pending) return NULL;
  tpt_device_unlock(device);
  tpt_status_t status = tpt_wait_ready(pending);
  tpt_buffer_release(pending);
  TPT_TRY(status);
  TPT_TRY(tpt_device_enter(device));
  uint64_t hits = device->counters.hits;
  status = find_entry(device, call, inout_entry, inout_trace);
  device->counters.hits = hits;  // counted already
  if (status) tpt_device_unlock(device);
  return status;
}

tpt_status_t tpt_call_run(const tpt_call_t* call, tpt_result_t** out_results, int* out_count) {
  tpt_device_t* device;
  tpt_entry_t* entry;
  tpt_trace_t* trace;
  *out_results = NULL;
  *out_count = 0;
  TPT_TRY(tpt_device_get(call->device, &device));
  TPT_TRY(tpt_device_enter(device));
  device->counters.calls++;
  tpt_status_t status = find_entry(device, call, &entry, &trace);
  if (!status && __builtin_expect(!trace && tpt_entry_must_confirm(device, entry), 0))
    TPT_TRY(await_earlier_work(device, call, &entry, &trace));
  if (!status) status = run_entry(device, call, entry, trace, out_results, out_count);
  tpt_device_unlock(device);
  return status;
}
