// Owns the choice of a window's inputs, outputs and donations, and its run call by call. Must not know
// the table of programs. Invariant: after run_singly no cell waits for the trace any more.
#include "eager/fused_window.h"

#include <string.h>

#include "base/allocator.h"
#include "eager/call.h"

void tpt_cell_give(tpt_cell_t* waiting, tpt_cell_t* cell) {
  waiting->trace = NULL;
  waiting->size = cell->size;
  waiting->is_reported = cell->is_reported;
  bool is_suspect = cell->is_suspect;
  if (is_suspect) waiting->site = cell->site;
  if (cell->refs == 1) {
    waiting->buffer = cell->buffer;
    tpt_cell_clear(cell);
    cell->buffer = NULL;
  } else {
    waiting->buffer = tpt_buffer_retain(cell->buffer);
    tpt_memory_add(waiting->device, waiting->size);
  }
  if (is_suspect) tpt_cell_suspect(waiting);
  tpt_cell_release(cell);
}

// --- the plan ----------------------------------------------------------------------------------------------

static tpt_status_t add_inputs(tpt_fused_plan_t* plan, const tpt_trace_t* trace) {
  plan->inputs = tpt_malloc((trace->value_count + 1) * sizeof(*plan->inputs));
  plan->outputs = tpt_malloc((trace->value_count + 1) * sizeof(*plan->outputs));
  plan->words = tpt_malloc((trace->word_count + 2 * trace->value_count + 2) * sizeof(*plan->words));
  if (!plan->inputs || !plan->outputs || !plan->words)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %zu fused values", trace->value_count);
  for (size_t i = 0; i < trace->value_count; i++) {
    if (trace->values[i].is_input) plan->inputs[plan->input_count++] = (uint32_t)i;
  }
  return NULL;
}

static void add_outputs(tpt_fused_plan_t* plan, const tpt_trace_t* trace) {
  for (size_t i = 0; i < trace->record_count; i++) {
    const tpt_record_t* record = &trace->records[i];
    bool has_any = false;
    for (uint32_t k = 0; k < record->result_count; k++) {
      uint32_t value = record->first_result + k;
      bool is_last = k + 1 == record->result_count;
      bool is_needed = record->entry->is_checked && is_last && !has_any;
      if (!trace->values[value].cell && !is_needed) continue;
      has_any = true;
      plan->outputs[plan->output_count++] = (tpt_fused_output_t){value, -1};
    }
  }
}

static bool can_give_memory(const tpt_cell_t* cell) {
  return cell->refs == 1 && !cell->is_suspect && !tpt_buffer_is_shared(cell->buffer);
}

// Outputs take the memory of inputs of their home in the order of both. An optimizer's window has them
// in nearly the same order, so that the search starts where the last one ended.
static tpt_status_t pair_memory(tpt_fused_plan_t* plan, const tpt_trace_t* trace) {
  enum { SEARCH_MAX = 64 };
  bool* is_taken = tpt_calloc(plan->input_count + 1, sizeof(*is_taken));
  if (!is_taken)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %u inputs", plan->input_count);
  uint32_t from = 0;
  for (uint32_t i = 0; i < plan->output_count; i++) {
    const tpt_home_t* home = trace->values[plan->outputs[i].value].home;
    for (uint32_t k = 0; k < plan->input_count && k < SEARCH_MAX; k++) {
      uint32_t number = (from + k) % plan->input_count;
      const tpt_trace_value_t* input = &trace->values[plan->inputs[number]];
      if (is_taken[number] || input->home != home || !can_give_memory(input->cell)) continue;
      is_taken[number] = true;
      plan->outputs[i].input = (int32_t)number;
      from = number + 1;
      break;
    }
  }
  tpt_free(is_taken);
  return NULL;
}

tpt_status_t tpt_fused_plan_init(tpt_fused_plan_t* plan, const tpt_trace_t* trace) {
  memset(plan, 0, sizeof(*plan));
  TPT_TRY(add_inputs(plan, trace));
  add_outputs(plan, trace);
  TPT_TRY(pair_memory(plan, trace));
  memcpy(plan->words, trace->words, trace->word_count * sizeof(*plan->words));
  plan->word_count = trace->word_count;
  plan->words[plan->word_count++] = plan->input_count;
  for (uint32_t i = 0; i < plan->output_count; i++)
    plan->words[plan->word_count++] =
        (uint64_t)plan->outputs[i].value << 32 | (uint32_t)(plan->outputs[i].input + 1);
  return NULL;
}

void tpt_fused_plan_deinit(tpt_fused_plan_t* plan) {
  tpt_free(plan->inputs);
  tpt_free(plan->outputs);
  tpt_free(plan->words);
}

// --- call by call ------------------------------------------------------------------------------------------

typedef struct single_run {
  tpt_trace_t* trace;
  tpt_cell_t** done;       // by value; one reference each; NULL: not there
  tpt_status_t* failures;  // by value; borrowed from `first` of its record
  tpt_status_t first;
} single_run_t;

// The failure that a record inherits from what it reads, or NULL.
static tpt_status_t inherited(const single_run_t* run, const tpt_record_t* record) {
  for (uint32_t i = 0; i < record->group_count; i++) {
    uint32_t value = record->groups[i].value;
    if (value != TPT_TRACE_ZEROS && run->failures[value]) return run->failures[value];
  }
  return NULL;
}

static void set_storages(const single_run_t* run, const tpt_record_t* record,
                         tpt_storage_t* storages) {
  for (uint32_t i = 0; i < record->group_count; i++) {
    const tpt_record_group_t* group = &record->groups[i];
    storages[i].device = run->trace->device;
    storages[i].home = group->home;
    storages[i].size = group->home->size;
    if (group->value != TPT_TRACE_ZEROS)
      storages[i].cell = tpt_cell_retain(run->done[group->value]);
  }
  for (uint32_t i = 0; i < record->use_count; i++) {
    tpt_tensor_t* tensor = (tpt_tensor_t*)record->uses[i].tensor;  // in the trace's own arena
    tensor->storage = &storages[record->uses[i].group];
  }
}

// The random state as it was when the call was made.
static tpt_generator_t generator_of(const tpt_trace_t* trace, const tpt_record_t* record) {
  tpt_generator_t generator = {.device = trace->device->index};
  const tpt_number_t* number = &trace->numbers[record->first_number];
  for (uint32_t i = 0; i < record->entry->operand_count; i++) {
    const tpt_operand_t* operand = &record->entry->operands[i];
    if (operand->kind == TPT_OPERAND_HOME) continue;
    if (operand->kind == TPT_OPERAND_SEED) generator.seed = (uint64_t)number->i;
    if (operand->kind == TPT_OPERAND_COUNTER) generator.offset = (uint64_t)number->i;
    number++;
  }
  return generator;
}

static void keep_results(single_run_t* run, const tpt_record_t* record, tpt_storage_t* storages,
                         tpt_result_t* results) {
  const tpt_entry_t* entry = record->entry;
  for (uint32_t i = 0; i < entry->output_count; i++) {
    const tpt_output_t* output = &entry->outputs[i];
    bool is_plain = output->group < 0;
    tpt_storage_t* storage = is_plain ? results[i].storage : &storages[output->group];
    if (output->result >= 0)
      run->done[record->first_result + (uint32_t)output->result] = tpt_cell_retain(storage->cell);
    if (is_plain) tpt_storage_destroy(storage);
  }
}

// What was to be written stays; what was to be made gets the failure.
static void keep_failure(single_run_t* run, const tpt_record_t* record, tpt_status_t failure) {
  const tpt_entry_t* entry = record->entry;
  for (uint32_t i = 0; i < entry->output_count; i++) {
    const tpt_output_t* output = &entry->outputs[i];
    if (output->result < 0) continue;
    uint32_t value = record->first_result + (uint32_t)output->result;
    run->failures[value] = failure;
    if (output->group < 0) continue;
    const tpt_record_group_t* group = &record->groups[output->group];
    bool was_there = group->value != TPT_TRACE_ZEROS && run->done[group->value];
    if (!was_there || group->home != output->home) continue;
    run->failures[value] = NULL;
    run->done[value] = tpt_cell_retain(run->done[group->value]);
  }
}

static void run_record(single_run_t* run, const tpt_record_t* record, tpt_storage_t* storages) {
  tpt_trace_t* trace = run->trace;
  tpt_status_t failure = inherited(run, record);
  if (failure) {
    keep_failure(run, record, failure);
    return;
  }
  memset(storages, 0, record->group_count * sizeof(*storages));
  set_storages(run, record, storages);
  tpt_generator_t generator = generator_of(trace, record);
  tpt_call_t call = record->call;
  tpt_result_t* results;
  int count;
  call.generator = &generator;
  int precision = tpt_precision_get();
  if (precision != record->precision) tpt_precision_set(record->precision);
  trace->device->is_strict = true;
  tpt_status_t status = tpt_call_run_locked(trace->device, &call, &results, &count);
  trace->device->is_strict = false;
  if (precision != record->precision) tpt_precision_set(precision);
  if (!status) {
    keep_results(run, record, storages, results);
  } else {
    if (run->first) {  // a later one is told as the first
      tpt_status_release(status);
    } else {
      run->first = status;
    }
    keep_failure(run, record, run->first);
  }
  for (uint32_t i = 0; i < record->group_count; i++)
    tpt_cell_release(storages[i].cell);
}

static void settle_values(single_run_t* run) {
  tpt_trace_t* trace = run->trace;
  for (size_t i = 0; i < trace->value_count; i++) {
    tpt_trace_value_t* value = &trace->values[i];
    if (value->is_input || !value->cell) continue;
    tpt_cell_t* waiting = value->cell;
    value->cell = NULL;
    if (run->done[i]) {
      tpt_cell_give(waiting, tpt_cell_retain(run->done[i]));
    } else {
      waiting->trace = NULL;
      waiting->failure = tpt_status_clone(run->failures[i] ? run->failures[i] : run->first);
    }
  }
  for (size_t i = 0; i < trace->value_count; i++)
    tpt_cell_release(run->done[i]);
}

tpt_status_t tpt_fused_run_singly(tpt_trace_t* trace, tpt_status_t take_status) {
  single_run_t run = {.trace = trace};
  size_t group_max = 0;
  for (size_t i = 0; i < trace->record_count; i++)
    group_max =
        trace->records[i].group_count > group_max ? trace->records[i].group_count : group_max;
  run.done = tpt_calloc(trace->value_count + 1, sizeof(*run.done));
  run.failures = tpt_calloc(trace->value_count + 1, sizeof(*run.failures));
  tpt_storage_t* storages = tpt_calloc(group_max + 1, sizeof(*storages));
  if (run.done && run.failures && storages) {
    for (size_t i = 0; i < trace->value_count; i++) {
      const tpt_trace_value_t* value = &trace->values[i];
      if (value->is_input && value->cell) run.done[i] = tpt_cell_retain(value->cell);
    }
    for (size_t i = 0; i < trace->record_count; i++)
      run_record(&run, &trace->records[i], storages);
    tpt_status_release(take_status);
    settle_values(&run);
  } else {
    run.first = take_status;
    for (size_t i = 0; i < trace->value_count; i++) {
      tpt_trace_value_t* value = &trace->values[i];
      if (value->is_input || !value->cell) continue;
      value->cell->trace = NULL;
      value->cell->failure = tpt_status_clone(take_status);
      value->cell = NULL;
    }
  }
  tpt_free(run.done);
  tpt_free(run.failures);
  tpt_free(storages);
  return run.first;
}
