// Owns a run: operands in, program, outputs committed. The hot path. Must not know ops or keys.
// Invariant: whatever can fail comes before the first storage changes, so a failed call leaves its
// tensors, and the generator, as they were.
#include <string.h>

#include "base/allocator.h"
#include "eager/entry.h"
#include "eager/trace.h"

// A run that has not been committed yet.
typedef struct launch {
  tpt_device_t* device;
  const tpt_call_t* call;
  const tpt_entry_t* entry;
  tpt_generator_t* generator;
  tpt_cell_t** cells;     // one per output; NULL where there is no value
  tpt_result_t* results;  // plain ones
  int keep_count;         // in frame->keep
  tpt_site_t site;
  bool is_suspect;  // an operand's value may yet turn out to be an error
} launch_t;

// True when the program may fail on the values it is given.
static inline bool can_fail(const launch_t* l) {
  return l->entry->is_checked && l->device->checks_indices;
}

// --- operands --------------------------------------------------------------------------------------------

static tpt_number_t number_of(const tpt_call_t* call, const tpt_operand_t* operand) {
  const tpt_arg_t* arg = &call->args[operand->arg];
  tpt_number_t number = {.dtype = TPT_F64};
  if (operand->is_tensor) return arg->tensors[operand->item].number;
  switch (arg->kind) {
  case TPT_ARG_SCALARS:
    return arg->numbers[operand->item];
  case TPT_ARG_FLOATS:
    number.f = arg->floats[operand->item];
    return number;
  case TPT_ARG_INTS:
  case TPT_ARG_BOOLS:
    number.dtype = TPT_S64;
    number.i = arg->ints[operand->item];
    return number;
  default:
    return arg->number;
  }
}

tpt_number_t tpt_operand_number(const tpt_device_t* device, const tpt_call_t* call,
                                const tpt_operand_t* operand) {
  const tpt_frame_t* frame = &device->frame;
  const tpt_generator_t* generator = call->generator ? call->generator : device->generator;
  tpt_number_t number = {.dtype = TPT_S64};
  switch (operand->kind) {
  case TPT_OPERAND_START:
    number.i = frame->starts[operand->index];
    return number;
  case TPT_OPERAND_OFFSET:
    number.i = frame->uses[operand->index].tensor->offset;
    return number;
  case TPT_OPERAND_SEED:
    number.i = (int64_t)generator->seed;
    return number;
  case TPT_OPERAND_COUNTER:
    number.i = (int64_t)generator->offset;
    return number;
  default:
    return number_of(call, operand);
  }
}

static tpt_status_t integer_operand(launch_t* l, tpt_dtype_t dtype, int64_t value,
                                    tpt_buffer_t** out_buffer) {
  int32_t narrow = (int32_t)value;
  const void* element = dtype == TPT_S32 ? (const void*)&narrow : (const void*)&value;
  return tpt_scalar_cache_get(l->device->scalars, dtype, element, out_buffer);
}

// Tells a known failure now; carries an unknown one on to the results.
static tpt_status_t check_suspect(launch_t* l, tpt_cell_t* cell) {
  if (!cell->buffer) return NULL;
  tpt_cell_settle(cell);
  if (!cell->is_suspect && !cell->is_reported) return NULL;
  if (tpt_buffer_is_ready(cell->buffer))
    return tpt_cell_blame(cell, tpt_buffer_await(cell->buffer));
  if (!l->is_suspect) l->site = cell->site;
  l->is_suspect = true;
  return NULL;
}

static tpt_status_t home_operand(launch_t* l, uint32_t group, tpt_buffer_t** out_buffer) {
  tpt_cell_t* cell = l->device->frame.groups[group]->cell;
  if (__builtin_expect(!cell->buffer, 0)) return tpt_trace_no_value(cell);
  if (__builtin_expect(cell->is_suspect | cell->is_reported, 0)) TPT_TRY(check_suspect(l, cell));
  *out_buffer = cell->buffer;
  return NULL;
}

static tpt_status_t gather_operand(launch_t* l, const tpt_operand_t* operand,
                                   tpt_buffer_t** out_buffer) {
  const tpt_frame_t* frame = &l->device->frame;
  switch (operand->kind) {
  case TPT_OPERAND_HOME:
    return home_operand(l, operand->index, out_buffer);
  case TPT_OPERAND_START:
    return integer_operand(l, operand->dtype, frame->starts[operand->index], out_buffer);
  case TPT_OPERAND_OFFSET:
    return integer_operand(l, operand->dtype, frame->uses[operand->index].tensor->offset,
                           out_buffer);
  case TPT_OPERAND_SEED:
    return integer_operand(l, TPT_U64, (int64_t)l->generator->seed, out_buffer);
  case TPT_OPERAND_COUNTER:
    TPT_TRY(tpt_generator_settle(l->generator));
    return integer_operand(l, TPT_U64, (int64_t)l->generator->offset, out_buffer);
  case TPT_OPERAND_SCALAR:
    break;
  }
  uint64_t element[2] = {0, 0};
  tpt_number_t number = number_of(l->call, operand);
  tpt_number_store(&number, operand->dtype, element);
  return tpt_scalar_cache_get(l->device->scalars, operand->dtype, element, out_buffer);
}

static tpt_status_t gather_operands(launch_t* l) {
  tpt_frame_t* frame = &l->device->frame;
  const tpt_entry_t* entry = l->entry;
  TPT_TRY(tpt_frame_reserve((void**)&frame->operands, &frame->operand_capacity,
                            entry->operand_count, sizeof(*frame->operands)));
  tpt_scalar_cache_begin(l->device->scalars);
  for (uint32_t i = 0; i < entry->operand_count; i++)
    TPT_TRY(gather_operand(l, &entry->operands[i], &frame->operands[i]));
  return NULL;
}

// --- outputs ---------------------------------------------------------------------------------------------

// Makes every storage and cell the commit will need. On failure what was made is released by `undo`.
static tpt_status_t prepare_outputs(launch_t* l) {
  tpt_frame_t* frame = &l->device->frame;
  for (uint32_t i = 0; i < l->entry->output_count; i++) {
    const tpt_output_t* output = &l->entry->outputs[i];
    if (output->group < 0 && !output->is_undefined)
      TPT_TRY(
          tpt_storage_make(l->device, output->home->size, output->home, &l->results[i].storage));
    if (output->shared >= 0) {
      tpt_cell_t* cell = frame->groups[output->shared]->cell;
      if (__builtin_expect(cell->is_suspect | cell->is_reported, 0))
        TPT_TRY(check_suspect(l, cell));
      l->cells[i] = tpt_cell_retain(cell);
    } else if (output->result >= 0) {
      TPT_TRY(tpt_cell_create(l->device, &l->cells[i]));
    }
  }
  return NULL;
}

static void undo(launch_t* l) {
  for (uint32_t i = 0; i < l->entry->output_count; i++) {
    tpt_cell_release(l->cells[i]);
    if (i < l->entry->plain_count) tpt_storage_destroy(l->results[i].storage);
  }
}

static void note_refusal(launch_t* l, size_t size, bool is_shared) {
  uint64_t number = l->device->counters.refused_donations++;
  l->device->refusals[number % TPT_REFUSED_DONATION_MAX] = (tpt_refused_donation_t){
      .op = l->site.name,
      .file = l->site.file,
      .line = l->site.line,
      .size = size,
      .reason = is_shared ? "another tensor shares the old value, or it is being read"
                          : "in debug mode a failed call must leave the old value"};
}

// Operands whose buffers others hold too, or that must survive a failure, are kept.
static tpt_status_t choose_donations(launch_t* l) {
  tpt_frame_t* frame = &l->device->frame;
  const tpt_entry_t* entry = l->entry;
  bool must_survive = !l->device->returns_donations && tpt_blocking_get();
  TPT_TRY(tpt_frame_reserve((void**)&frame->keep, &frame->keep_capacity, entry->donation_count,
                            sizeof(*frame->keep)));
  for (uint32_t i = 0; i < entry->donation_count; i++) {
    const tpt_cell_t* cell = frame->groups[entry->donations[i].group]->cell;
    bool is_shared = cell->refs > 1 || tpt_buffer_is_shared(cell->buffer);
    if (is_shared || must_survive) {
      frame->keep[l->keep_count++] = entry->donations[i].operand;
      note_refusal(l, cell->size, is_shared);
    } else {
      l->device->counters.donations++;
    }
  }
  return NULL;
}

// --- the run ---------------------------------------------------------------------------------------------

static tpt_status_t run_once(launch_t* l) {
  tpt_frame_t* frame = &l->device->frame;
  const tpt_run_params_t params = {
      .device = l->device->index,
      .args = frame->operands,
      .arg_count = (int)l->entry->operand_count,
      .keep = frame->keep,
      .keep_count = l->keep_count,
  };
  l->device->counters.launches++;
  return tpt_executable_run(l->entry->executable, &params, frame->results);
}

static int result_count(const launch_t* l) {
  return tpt_executable_result_count(l->entry->executable);
}

// Waits for all results; on failure they are released and its status returned.
static tpt_status_t confirm(launch_t* l) {
  tpt_frame_t* frame = &l->device->frame;
  tpt_status_t first = NULL;
  for (int i = 0; i < result_count(l); i++) {
    tpt_status_t status = tpt_buffer_await(frame->results[i]);
    if (first) {
      tpt_status_release(status);
    } else {
      first = status;
    }
  }
  for (int i = 0; first && i < result_count(l); i++)
    tpt_buffer_release(frame->results[i]);
  return first;
}

static tpt_status_t run(launch_t* l) {
  tpt_frame_t* frame = &l->device->frame;
  TPT_TRY(choose_donations(l));
  TPT_TRY(tpt_frame_reserve((void**)&frame->results, &frame->result_capacity,
                            (size_t)result_count(l), sizeof(*frame->results)));
  tpt_status_t status = run_once(l);
  if (__builtin_expect(tpt_status_code(status) == TPT_RESOURCE_EXHAUSTED, 0)) {
    if (tpt_memory_trim(l->device)) {
      tpt_status_release(status);
      TPT_TRY(gather_operands(l));
      status = run_once(l);
    }
    status = tpt_memory_explain(l->device, l->entry->result_size, status);
  }
  const tpt_site_t here = tpt_site_of(l->entry->label, l->call->file, l->call->line);
  if (status) return tpt_site_note(&here, status);
  if (__builtin_expect(!tpt_entry_must_confirm(l->device, l->entry), 1)) return NULL;
  return tpt_site_note(&here, confirm(l));
}

// Nothing can fail from here on.
static void commit(launch_t* l) {
  tpt_frame_t* frame = &l->device->frame;
  const tpt_entry_t* entry = l->entry;
  for (uint32_t i = 0; i < entry->donation_count; i++) {
    // The old buffers go first, so that the peak does not count a donated one twice.
    // A suspect that was donated is gone; what was made of it carries the suspicion on.
    tpt_storage_t* storage = frame->groups[entry->donations[i].group];
    tpt_cell_clear(storage->cell);
    tpt_cell_release(storage->cell);
    storage->cell = NULL;
  }
  for (uint32_t i = 0; i < entry->output_count; i++) {
    const tpt_output_t* output = &entry->outputs[i];
    tpt_cell_t* cell = l->cells[i];
    if (output->result >= 0) {
      tpt_cell_fill(cell, frame->results[output->result], output->home->size);
      cell->site = l->site;
      if (__builtin_expect(l->is_suspect || can_fail(l), 0)) tpt_cell_suspect(cell);
    }
    if (output->is_undefined) continue;
    bool is_plain = output->group < 0;
    tpt_storage_t* storage = is_plain ? l->results[i].storage : frame->groups[output->group];
    tpt_storage_set(storage, output->home, cell);
    if (is_plain) storage->window = output->window;
  }
  l->generator->offset += entry->rng_counters;
  if (__builtin_expect(entry->rng_result >= 0, 0))  // its offset was an operand: nothing is pending
    l->generator->pending = frame->results[entry->rng_result];
  if (l->device->suspects) tpt_cell_sweep(l->device);
}

// As commit, but the values are still to come: outputs get cells without buffer.
static void commit_deferred(launch_t* l) {
  for (uint32_t i = 0; i < l->entry->output_count; i++) {
    const tpt_output_t* output = &l->entry->outputs[i];
    tpt_cell_t* cell = l->cells[i];
    if (output->is_undefined) continue;
    if (output->result >= 0) {
      cell->size = output->home->size;
      cell->site = l->site;
    }
    bool is_plain = output->group < 0;
    tpt_storage_t* storage =
        is_plain ? l->results[i].storage : l->device->frame.groups[output->group];
    tpt_storage_set(storage, output->home, cell);
    if (is_plain) storage->window = output->window;
  }
}

static void fill_results(launch_t* l) {
  for (uint32_t i = 0; i < l->entry->plain_count; i++) {
    const tpt_output_t* output = &l->entry->outputs[i];
    tpt_result_t* result = &l->results[i];
    if (output->is_undefined) continue;
    result->dtype = output->window->type.dtype;
    result->rank = output->window->type.rank;
    result->sizes = output->window->type.dims;
    result->strides = output->strides;
  }
}

static tpt_status_t begin(launch_t* l, tpt_device_t* device, const tpt_call_t* call,
                          tpt_entry_t* entry, tpt_result_t* results) {
  tpt_frame_t* frame = &device->frame;
  *l = (launch_t){.device = device,
                  .call = call,
                  .entry = entry,
                  .results = results,
                  .generator = call->generator ? call->generator : device->generator,
                  .site = tpt_site_of(entry->label, call->file, call->line)};
  entry->last_call = device->call;
  TPT_TRY(tpt_frame_reserve((void**)&frame->cells, &frame->cell_capacity, entry->output_count,
                            sizeof(*frame->cells)));
  l->cells = frame->cells;
  if (entry->output_count) memset(l->cells, 0, entry->output_count * sizeof(*l->cells));
  if (entry->plain_count) memset(results, 0, entry->plain_count * sizeof(*results));
  return NULL;
}

static tpt_buffer_t* pending_of(const tpt_cell_t* cell) {
  if (!cell || !cell->buffer || tpt_buffer_is_ready(cell->buffer)) return NULL;
  return tpt_buffer_retain(cell->buffer);
}

tpt_buffer_t* tpt_entry_pending(const tpt_device_t* device, const tpt_entry_t* entry) {
  tpt_buffer_t* pending = device->storages ? pending_of(device->storages->cell) : NULL;
  for (uint32_t i = 0; !pending && i < entry->operand_count; i++) {
    const tpt_operand_t* operand = &entry->operands[i];
    if (operand->kind == TPT_OPERAND_HOME)
      pending = pending_of(device->frame.groups[operand->index]->cell);
  }
  return pending;
}

tpt_status_t tpt_entry_defer(tpt_device_t* device, const tpt_call_t* call, tpt_entry_t* entry,
                             tpt_result_t* results, tpt_cell_t*** out_cells) {
  launch_t l;
  TPT_TRY(begin(&l, device, call, entry, results));
  tpt_status_t status = prepare_outputs(&l);
  if (status) {
    undo(&l);
    return status;
  }
  commit_deferred(&l);
  fill_results(&l);
  *out_cells = l.cells;
  return NULL;
}

tpt_status_t tpt_entry_launch(tpt_device_t* device, const tpt_call_t* call, tpt_entry_t* entry,
                              tpt_result_t* results) {
  launch_t l;
  TPT_TRY(begin(&l, device, call, entry, results));
  tpt_status_t status = prepare_outputs(&l);
  if (!status && entry->executable) status = gather_operands(&l);
  if (!status && entry->executable) status = run(&l);
  if (__builtin_expect(status != NULL, 0)) {
    undo(&l);
    return status;
  }
  commit(&l);
  fill_results(&l);
  return NULL;
}
