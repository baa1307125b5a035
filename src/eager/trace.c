// Owns the records of a trace: copies of calls, their values numbered, their numbers in a row. Must not
// know who records or when a trace is run. Invariant: a cell waits for at most one value of one trace,
// and that value knows the cell until it goes.
#include "eager/trace.h"

#include <string.h>

#include "base/allocator.h"
#include "eager/fused_reason.h"
#include "eager/internal_op.h"
#include "eager/program.h"

enum { VALUE_MAX = 1 << 24 };

static uint64_t next_serial =
    1;  // any device's lock would do; a clash needs equal serials alive at once

static uint64_t take_serial(void) {
  return __atomic_fetch_add(&next_serial, 1, __ATOMIC_RELAXED);
}

void tpt_trace_init(tpt_trace_t* trace, tpt_device_t* device, bool is_fused) {
  memset(trace, 0, sizeof(*trace));
  trace->device = device;
  trace->is_fused = is_fused;
  trace->serial = take_serial();
  tpt_arena_init(&trace->arena);
}

void tpt_trace_let_go(tpt_trace_t* trace) {
  for (size_t i = 0; i < trace->value_count; i++) {
    tpt_cell_t* cell = trace->values[i].cell;
    trace->values[i].cell = NULL;
    if (!cell) continue;
    if (cell->trace == trace) {
      cell->trace = NULL;
    } else if (trace->values[i].is_input) {
      tpt_cell_release(cell);
    }
  }
}

void tpt_trace_reset(tpt_trace_t* trace) {
  tpt_trace_let_go(trace);
  for (size_t i = 0; i < trace->record_count; i++) {
    tpt_op_unref(trace->records[i].call.op);
    tpt_entry_release(trace->records[i].entry);
  }
  trace->record_count = trace->value_count = trace->number_count = trace->word_count = 0;
  trace->stream_count = trace->stream = 0;
  trace->serial = take_serial();
  tpt_arena_reset(&trace->arena);
}

void tpt_trace_deinit(tpt_trace_t* trace) {
  tpt_trace_reset(trace);
  tpt_arena_deinit(&trace->arena);
  tpt_free(trace->records);
  tpt_free(trace->values);
  tpt_free(trace->numbers);
  tpt_free(trace->streams);
  tpt_free(trace->words);
}

void tpt_trace_forget(const tpt_cell_t* cell) {
  if (cell->trace) cell->trace->values[cell->value].cell = NULL;
}

static tpt_status_t reserve(void** inout_data, size_t* inout_capacity, size_t count, size_t size) {
  if (count <= *inout_capacity) return NULL;
  if (tpt_grow(inout_data, inout_capacity, count, size)) return NULL;
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory to record a call");
}

// --- values ------------------------------------------------------------------------------------------------

tpt_status_t tpt_trace_add_value(tpt_trace_t* trace, tpt_cell_t* cell, const tpt_home_t* home,
                                 bool is_input, uint32_t* out_value) {
  if (trace->value_count >= VALUE_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a recording of more than %d values", VALUE_MAX);
  TPT_TRY(reserve((void**)&trace->values, &trace->value_capacity, trace->value_count + 1,
                  sizeof(*trace->values)));
  *out_value = (uint32_t)trace->value_count;
  trace->values[trace->value_count++] = (tpt_trace_value_t){cell, home, is_input};
  if (!cell->buffer) {
    cell->trace = trace;
    cell->value = *out_value;
  } else {
    cell->input_serial = trace->serial;
    cell->input_value = *out_value;
  }
  return NULL;
}

tpt_status_t tpt_trace_value_of(tpt_trace_t* trace, tpt_cell_t* cell, const tpt_home_t* home,
                                uint32_t* out_value) {
  *out_value = TPT_TRACE_ZEROS;
  if (!cell) return NULL;
  if (cell->trace == trace) {
    *out_value = cell->value;
    return NULL;
  }
  if (!cell->buffer) return tpt_trace_no_value(cell);
  if (cell->input_serial == trace->serial) {
    *out_value = cell->input_value;
    return NULL;
  }
  tpt_status_t status =
      tpt_trace_add_value(trace, tpt_cell_retain(cell), home, /*is_input=*/true, out_value);
  if (status) tpt_cell_release(cell);
  return status;
}

tpt_status_t tpt_trace_no_value(const tpt_cell_t* cell) {
  if (cell->failure) return tpt_status_clone(cell->failure);
  TPT_FAIL(TPT_FAILED_PRECONDITION,
           "the value of %s%s does not exist: it was recorded for a compiled program, where no "
           "value "
           "can be read while the program is captured, and none outside it afterwards",
           cell->site.name ? tpt_label_prefix(cell->site.name) : "",
           cell->site.name ? cell->site.name : "a placeholder");
}

tpt_status_t tpt_trace_need(tpt_device_t* device, const tpt_cell_t* cell) {
  if (__builtin_expect(cell->buffer != NULL, 1)) return NULL;
  TPT_TRY(tpt_fused_flush(device));
  return cell->buffer ? NULL : tpt_trace_no_value(cell);
}

tpt_status_t tpt_trace_draw_from(tpt_trace_t* trace, const tpt_tensor_t* state) {
  uint32_t value = TPT_TRACE_ZEROS;
  if (!state) {
    trace->stream = 0;
    return NULL;
  }
  const tpt_storage_t* storage = state->storage;
  bool is_state = storage && storage->device == trace->device && state->dtype == TPT_S64 &&
                  state->rank == 1 && state->sizes[0] == TPT_RANDOM_STATE_SIZE;
  if (!is_state || state->offset != 0 || state->strides[0] != 1 || !storage->home ||
      storage->home->type.dtype != TPT_S64 || storage->home->type.rank != 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "a random state of tpu:%d must be %d int64 of a storage of its own",
             trace->device->index, TPT_RANDOM_STATE_SIZE);
  TPT_TRY(tpt_trace_value_of(trace, storage->cell, storage->home, &value));
  if (value == TPT_TRACE_ZEROS) TPT_FAIL(TPT_INVALID_ARGUMENT, "a random state without a value");
  for (uint32_t i = 0; i < trace->stream_count; i++) {
    if (trace->streams[i] != value) continue;
    trace->stream = i + 1;
    return NULL;
  }
  TPT_TRY(reserve((void**)&trace->streams, &trace->stream_capacity, trace->stream_count + 1,
                  sizeof(*trace->streams)));
  trace->streams[trace->stream_count++] = value;
  trace->stream = (uint32_t)trace->stream_count;
  return NULL;
}

// --- records -----------------------------------------------------------------------------------------------

static const void* copied(tpt_trace_t* trace, const void* data, size_t size) {
  static const int64_t kNothing[1];
  return size ? tpt_arena_copy(&trace->arena, data, size) : kNothing;
}

static void copy_tensors(tpt_trace_t* trace, tpt_arg_t* arg) {
  uint32_t count = arg->kind == TPT_ARG_TENSOR ? 1 : arg->count;
  tpt_tensor_t* tensors = tpt_arena_alloc(&trace->arena, (count + 1) * sizeof(*tensors));
  if (!tensors) return;
  if (count) memcpy(tensors, arg->tensors, count * sizeof(*tensors));
  arg->tensors = tensors;
  for (uint32_t i = 0; i < count; i++) {
    tpt_tensor_t* tensor = &tensors[i];
    if (tensor->flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST)) continue;
    size_t size = (size_t)tensor->rank * sizeof(int64_t);
    tensor->storage = NULL;
    tensor->sizes = copied(trace, tensor->sizes, size);
    tensor->strides = copied(trace, tensor->strides, size);
  }
}

static void copy_arg(tpt_trace_t* trace, tpt_arg_t* arg) {
  switch (arg->kind) {
  case TPT_ARG_TENSOR:
  case TPT_ARG_TENSORS:
    copy_tensors(trace, arg);
    return;
  case TPT_ARG_SCALARS:
    arg->numbers = copied(trace, arg->numbers, arg->count * sizeof(*arg->numbers));
    return;
  case TPT_ARG_INTS:
  case TPT_ARG_BOOLS:
    arg->ints = copied(trace, arg->ints, arg->count * sizeof(*arg->ints));
    return;
  case TPT_ARG_FLOATS:
    arg->floats = copied(trace, arg->floats, arg->count * sizeof(*arg->floats));
    return;
  case TPT_ARG_STRING:
    arg->string = tpt_arena_strndup(&trace->arena, arg->string, arg->count);
    return;
  default:
    return;
  }
}

// The call and its uses, in the trace's arena.
static tpt_status_t copy_call(tpt_trace_t* trace, const tpt_call_t* call, tpt_record_t* record) {
  const tpt_frame_t* frame = &trace->device->frame;
  size_t size = (size_t)call->arg_count * sizeof(tpt_arg_t);
  tpt_arg_t* args = tpt_arena_alloc(&trace->arena, size ? size : 1);
  tpt_use_t* uses = tpt_arena_alloc(&trace->arena, (frame->use_count + 1) * sizeof(*uses));
  if (!args || !uses) return tpt_arena_status(&trace->arena);
  if (size) memcpy(args, call->args, size);
  for (int i = 0; i < call->arg_count; i++)
    copy_arg(trace, &args[i]);
  if (frame->use_count) memcpy(uses, frame->uses, frame->use_count * sizeof(*uses));
  TPT_TRY(tpt_arena_status(&trace->arena));
  for (size_t i = 0; i < frame->use_count; i++)
    uses[i].tensor = args[uses[i].arg].tensors + uses[i].item;
  const tpt_site_t site = tpt_site_of(record->entry->label, call->file, call->line);
  record->call = *call;
  record->call.args = args;
  record->call.file = site.file;
  record->call.line = site.line;
  if (call->variant == TPT_INPLACE)
    record->call.inplace_args =
        copied(trace, call->inplace_args, (size_t)call->inplace_count * sizeof(int));
  record->uses = uses;
  record->use_count = (uint32_t)frame->use_count;
  record->start_count = (uint32_t)frame->start_count;
  record->group_count = (uint32_t)frame->group_count;
  return tpt_arena_status(&trace->arena);
}

static tpt_status_t number_groups(tpt_trace_t* trace, tpt_record_t* record) {
  const tpt_frame_t* frame = &trace->device->frame;
  tpt_record_group_t* groups =
      tpt_arena_alloc(&trace->arena, (frame->group_count + 1) * sizeof(*groups));
  if (!groups) return tpt_arena_status(&trace->arena);
  for (size_t i = 0; i < frame->group_count; i++) {
    const tpt_storage_t* storage = frame->groups[i];
    groups[i].home = storage->home;
    TPT_TRY(tpt_trace_value_of(trace, storage->cell, storage->home, &groups[i].value));
  }
  record->groups = groups;
  return NULL;
}

static tpt_status_t add_numbers(tpt_trace_t* trace, const tpt_call_t* call, tpt_record_t* record) {
  const tpt_entry_t* entry = record->entry;
  TPT_TRY(reserve((void**)&trace->numbers, &trace->number_capacity,
                  trace->number_count + entry->operand_count, sizeof(*trace->numbers)));
  record->first_number = (uint32_t)trace->number_count;
  for (uint32_t i = 0; i < entry->operand_count; i++) {
    if (entry->operands[i].kind == TPT_OPERAND_HOME) continue;
    trace->numbers[trace->number_count++] =
        tpt_operand_number(trace->device, call, &entry->operands[i]);
  }
  return NULL;
}

static uint32_t count_results(const tpt_entry_t* entry) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < entry->output_count; i++)
    count += entry->outputs[i].result >= 0;
  return count;
}

// What tells this record from others in its place.
static tpt_status_t add_words(tpt_trace_t* trace, const tpt_record_t* record) {
  TPT_TRY(reserve((void**)&trace->words, &trace->word_capacity,
                  trace->word_count + 2 + record->group_count, sizeof(*trace->words)));
  trace->words[trace->word_count++] = (uint64_t)(uintptr_t)record->entry;
  trace->words[trace->word_count++] = (uint64_t)record->first_result << 32 | record->group_count;
  for (uint32_t i = 0; i < record->group_count; i++)
    trace->words[trace->word_count++] = record->groups[i].value;
  return NULL;
}

static tpt_status_t fill_record(tpt_trace_t* trace, const tpt_call_t* call, tpt_record_t* record) {
  TPT_TRY(copy_call(trace, call, record));
  TPT_TRY(number_groups(trace, record));
  TPT_TRY(add_numbers(trace, call, record));
  record->precision = tpt_precision_get();
  record->stream = trace->stream;
  record->result_count = count_results(record->entry);
  record->first_result = (uint32_t)trace->value_count;
  TPT_TRY(reserve((void**)&trace->values, &trace->value_capacity,
                  trace->value_count + record->result_count, sizeof(*trace->values)));
  return add_words(trace, record);
}

tpt_status_t tpt_trace_record(tpt_trace_t* trace, const tpt_call_t* call, tpt_entry_t* entry,
                              tpt_result_t* results) {
  size_t number_count = trace->number_count, word_count = trace->word_count;
  TPT_TRY(reserve((void**)&trace->records, &trace->record_capacity, trace->record_count + 1,
                  sizeof(*trace->records)));
  tpt_record_t* record = &trace->records[trace->record_count];
  memset(record, 0, sizeof(*record));
  record->entry = entry;
  if (trace->is_fused) tpt_fused_note_signature(trace->device, call, entry);
  entry->last_call = trace->device->call;
  tpt_status_t status = fill_record(trace, call, record);
  tpt_cell_t** cells;
  if (!status) status = tpt_entry_defer(trace->device, call, entry, results, &cells);
  if (status) {                   // inputs that were added stay: they are read by nothing
    trace->arena.failed = false;  // the next call may find memory
    trace->number_count = number_count;
    trace->word_count = word_count;
    return status;
  }
  trace->value_count += record->result_count;
  for (uint32_t i = 0; i < entry->output_count; i++) {
    const tpt_output_t* output = &entry->outputs[i];
    if (output->result < 0) continue;
    uint32_t value = record->first_result + (uint32_t)output->result;
    trace->values[value] = (tpt_trace_value_t){cells[i], output->home, false};
    cells[i]->trace = trace;
    cells[i]->value = value;
  }
  tpt_entry_retain(entry);
  tpt_op_ref(call->op);
  trace->record_count++;
  return NULL;
}

// --- lowering ----------------------------------------------------------------------------------------------

// A stream while it is drawn from: the generator's, or a state's.
typedef struct draw {
  tpt_stream_t from;  // (states) once it was asked for
  bool has_from;
  uint64_t draws;
  tpt_value_t taken;  // counters beside those, or NONE
} draw_t;

typedef struct number_source {
  const tpt_trace_t* trace;
  tpt_lower_t* outer;
  int arg;
  uint32_t next;
  draw_t* draws;              // by a record's `stream`
  uint32_t stream;            // of the record
  const tpt_value_t* values;  // of the trace
} number_source_t;

static tpt_value_t stream_number(number_source_t* source, tpt_request_kind_t kind) {
  tpt_lower_t* outer = source->outer;
  draw_t* draw = &source->draws[source->stream];
  if (source->stream && !draw->has_from) {
    tpt_value_t state = source->values[source->trace->streams[source->stream - 1]];
    draw->from = tpt_random_state_unpack(outer->graph, state);
    draw->has_from = true;
  }
  tpt_value_t value = kind == TPT_REQUEST_SEED ? draw->from.seed : draw->from.offset;
  if (!source->stream) value = tpt_lower_request(outer, kind);
  if (kind == TPT_REQUEST_SEED) return value;
  if (draw->draws)
    value = tpt_hlo_binary(outer->graph, TPT_HLO_ADD, value,
                           tpt_hlo_scalar_i64(outer->graph, TPT_U64, (int64_t)(draw->draws / 4)));
  if (!tpt_value_is_none(draw->taken))
    value = tpt_hlo_binary(outer->graph, TPT_HLO_ADD, value, draw->taken);
  return value;
}

// Numbers come in the order in which the call's own entry asked for them.
static tpt_value_t make_number(void* context, const tpt_request_t* wanted) {
  number_source_t* source = context;
  tpt_lower_t* outer = source->outer;
  uint32_t number = source->next++;
  if (source->arg >= 0)
    return tpt_lower_scalar_item(outer, source->arg, (int)number, wanted->dtype);
  if (wanted->kind != TPT_REQUEST_SCALAR) return stream_number(source, wanted->kind);
  tpt_type_t type = tpt_type_scalar(wanted->dtype);
  return tpt_hlo_splat(outer->graph, &type, source->trace->numbers[number]);
}

static void count_draws(tpt_graph_t* g, draw_t* draw, const tpt_lower_t* l) {
  draw->draws += (l->rng_draws + 3) / 4 * 4;
  if (tpt_value_is_none(l->rng_taken)) return;
  bool is_first = tpt_value_is_none(draw->taken);
  draw->taken = is_first ? l->rng_taken : tpt_hlo_binary(g, TPT_HLO_ADD, draw->taken, l->rng_taken);
}

static tpt_status_t lower_record(const tpt_record_t* record, number_source_t* source,
                                 tpt_value_t* values) {
  tpt_lower_t* outer = source->outer;
  tpt_build_t b;
  memset(&b, 0, sizeof(b));
  tpt_value_t* inputs = tpt_arena_alloc(outer->arena, (record->group_count + 1) * sizeof(*inputs));
  b.groups = tpt_arena_calloc(outer->arena, record->group_count + 1, sizeof(*b.groups));
  if (!inputs || !b.groups) return tpt_arena_status(outer->arena);
  for (uint32_t i = 0; i < record->group_count; i++) {
    const tpt_record_group_t* group = &record->groups[i];
    bool has_value = group->value != TPT_TRACE_ZEROS;
    inputs[i] = has_value ? values[group->value] : TPT_VALUE_NONE;
    b.groups[i].before = group->home;
    b.groups[i].has_value = has_value;
  }
  source->next = record->first_number;
  source->stream = record->stream;
  const tpt_replay_t replay = {inputs, record->entry->outputs, make_number, source};
  b.replay = &replay;
  b.device = source->trace->device;
  b.call = &record->call;
  b.graph = outer->graph;
  b.arena = outer->arena;
  b.uses = record->uses;
  b.use_count = record->use_count;
  b.start_count = record->start_count;
  b.group_count = record->group_count;
  TPT_TRY(tpt_build_lower(&b, record->precision));
  if (b.result_count != record->result_count)
    TPT_FAIL(TPT_INTERNAL, "%s%s gave %u values when recorded and %u in the program",
             tpt_label_prefix(record->entry->label), record->entry->label, record->result_count,
             b.result_count);
  for (uint32_t i = 0; i < b.result_count; i++)
    values[record->first_result + i] = b.results[i];
  count_draws(outer->graph, &source->draws[record->stream], &b.lower);
  return NULL;
}

tpt_status_t tpt_trace_lower(const tpt_trace_t* trace, tpt_lower_t* l, int number_arg,
                             tpt_value_t* inout_values) {
  draw_t* draws = tpt_arena_calloc(l->arena, trace->stream_count + 1, sizeof(*draws));
  if (!draws) return tpt_arena_status(l->arena);
  for (size_t i = 0; i <= trace->stream_count; i++)
    draws[i].taken = TPT_VALUE_NONE;
  if (number_arg < 0) draws[0] = (draw_t){.draws = l->rng_draws, .taken = l->rng_taken};
  number_source_t source = {
      .trace = trace, .outer = l, .arg = number_arg, .draws = draws, .values = inout_values};
  for (size_t i = 0; i < trace->record_count; i++)
    TPT_TRY(lower_record(&trace->records[i], &source, inout_values));
  if (number_arg < 0) {
    l->rng_draws = draws[0].draws;
    l->rng_taken = draws[0].taken;
  }
  return NULL;
}
