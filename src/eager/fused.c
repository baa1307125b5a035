// Owns the fused mode of a device: a window of recorded calls that runs as one program when a value is
// needed, when it is long, or when it begins again. Must not know ops. Invariants: calls run in the order
// in which they were made; a window that fails as one program runs call by call, so that the call to blame
// is found and all others keep their results.
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "base/hash.h"
#include "eager/call.h"
#include "eager/compile_log.h"
#include "eager/fused_reason.h"
#include "eager/fused_window.h"
#include "eager/program.h"

enum { WINDOW_MAX = 1024, PROGRAM_MAX = 256, CYCLE_MIN = 128 };

typedef struct tpt_fused {
  tpt_trace_t trace;
  tpt_table_t programs;
  bool is_running, is_due, is_cycle;
  size_t hashed_count;  // words of the trace in `hash`
  uint64_t hash;
  uint32_t borders[WINDOW_MAX + 1];  // of each prefix of the records: its longest proper border
  uint64_t runs;
} tpt_fused_t;

void tpt_fused_release(tpt_fused_t* fused) {
  if (!fused) return;
  for (size_t i = 0; i < fused->programs.capacity; i++)
    tpt_program_unref(fused->programs.items[i]);
  tpt_table_deinit(&fused->programs);
  tpt_trace_deinit(&fused->trace);
  tpt_free(fused);
}

tpt_status_t tpt_fused_trace(tpt_device_t* device, tpt_trace_t** out_trace) {
  if (!device->fused) {
    device->fused = tpt_calloc(1, sizeof(*device->fused));
    if (!device->fused) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for the fused mode");
    tpt_trace_init(&device->fused->trace, device, /*is_fused=*/true);
  }
  *out_trace = &device->fused->trace;
  return NULL;
}

// --- when --------------------------------------------------------------------------------------------------

static bool is_cycle_of(const void* item, const void* key) {
  const tpt_program_t* program = item;
  const tpt_trace_t* trace = key;
  return program->is_cycle && program->trace_word_count == trace->word_count &&
         memcmp(program->words, trace->words, trace->word_count * sizeof(*trace->words)) == 0;
}

// Notes the last record's border (Knuth, Morris, Pratt: prefix function); true when the records are a
// shorter sequence several times over.
static bool repeats(tpt_fused_t* fused) {
  const tpt_trace_t* trace = &fused->trace;
  const tpt_record_t* records = trace->records;
  size_t count = trace->record_count;
  uint32_t border = count > 1 ? fused->borders[count - 1] : 0;
  while (border > 0 && records[border].entry != records[count - 1].entry)
    border = fused->borders[border];
  if (count > 1 && records[border].entry == records[count - 1].entry) border++;
  fused->borders[count] = border;
  return border > 0 && count % (count - border) == 0;
}

bool tpt_fused_is_due(const tpt_device_t* device) {
  return device->fused && device->fused->is_due;
}

void tpt_fused_note_record(tpt_device_t* device) {
  tpt_fused_t* fused = device->fused;
  const tpt_trace_t* trace = &fused->trace;
  for (; fused->hashed_count < trace->word_count; fused->hashed_count++)
    fused->hash = tpt_hash_mix(fused->hash ^ trace->words[fused->hashed_count], 1);
  bool is_cycle = repeats(fused);
  if (trace->record_count >= WINDOW_MAX) fused->is_due = true;
  if (trace->record_count < CYCLE_MIN) return;
  if (is_cycle || tpt_table_find(&fused->programs, fused->hash, is_cycle_of, trace))
    fused->is_due = fused->is_cycle = true;
}

// --- the program of a window -------------------------------------------------------------------------------

typedef struct program_key {
  const uint64_t* words;
  size_t count;
} program_key_t;

static bool is_program_of(const void* item, const void* key) {
  const tpt_program_t* program = item;
  const program_key_t* wanted = key;
  return program->word_count == wanted->count &&
         memcmp(program->words, wanted->words, wanted->count * sizeof(*wanted->words)) == 0;
}

static tpt_status_t make_program(tpt_fused_t* fused, const tpt_fused_plan_t* plan,
                                 tpt_program_t** out_program) {
  const tpt_trace_t* trace = &fused->trace;
  char label[64];
  snprintf(label, sizeof(label), "%zu fused calls from %s", trace->record_count,
           trace->records[0].entry->label);
  tpt_program_t* program;
  TPT_TRY(tpt_program_create(trace->device, label, &program));
  program->inputs = tpt_calloc(plan->input_count + 1, sizeof(*program->inputs));
  program->outputs = tpt_calloc(plan->output_count + 1, sizeof(*program->outputs));
  program->words = tpt_malloc(plan->word_count * sizeof(*program->words));
  if (!program->inputs || !program->outputs || !program->words) {
    tpt_program_unref(program);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a fused program");
  }
  for (uint32_t i = 0; i < plan->input_count; i++)
    program->inputs[i] = (tpt_program_input_t){.value = plan->inputs[i],
                                               .home = trace->values[plan->inputs[i]].home};
  for (uint32_t i = 0; i < plan->output_count; i++)
    program->outputs[i] =
        (tpt_program_output_t){.value = plan->outputs[i].value, .input = plan->outputs[i].input};
  memcpy(program->words, plan->words, plan->word_count * sizeof(*program->words));
  program->input_count = plan->input_count;
  program->output_count = plan->output_count;
  program->word_count = plan->word_count;
  program->trace_word_count = trace->word_count;
  program->hash = fused->hash;
  program->is_cycle = fused->is_cycle;
  *out_program = program;
  return NULL;
}

static bool is_recent(const void* item, const void* arg) {
  return ((const tpt_program_t*)item)->last_run >= *(const uint64_t*)arg;
}

static void take_program(void* item, void* arg) {
  (void)arg;
  tpt_program_unref(item);
}

// Keeps the programs of the last half as many runs as the table has room for.
static tpt_status_t drop_old_programs(tpt_fused_t* fused) {
  uint64_t half = PROGRAM_MAX / 2, oldest_kept = fused->runs > half ? fused->runs - half : 0;
  const tpt_table_filter_t filter = {is_recent, take_program, &oldest_kept};
  return tpt_table_filter(&fused->programs, &filter);
}

static tpt_status_t find_program(tpt_fused_t* fused, const tpt_fused_plan_t* plan,
                                 tpt_program_t** out_program) {
  const program_key_t key = {plan->words, plan->word_count};
  *out_program = tpt_table_find(&fused->programs, fused->hash, is_program_of, &key);
  if (*out_program) return NULL;
  if (fused->programs.count >= PROGRAM_MAX) TPT_TRY(drop_old_programs(fused));
  TPT_TRY(make_program(fused, plan, out_program));
  tpt_fused_append_reason(&(*out_program)->reason, &fused->trace, &fused->programs);
  (void)tpt_fused_keep_calls(&fused->trace, *out_program);
  tpt_status_t status = tpt_table_add(&fused->programs, fused->hash, *out_program);
  if (status) tpt_program_unref(*out_program);
  return status;
}

// --- running -----------------------------------------------------------------------------------------------

static tpt_status_t run_program(tpt_fused_t* fused, const tpt_fused_plan_t* plan,
                                tpt_storage_t* storages, tpt_tensor_t* tensors) {
  tpt_trace_t* trace = &fused->trace;
  tpt_program_t* program;
  tpt_result_t* results;
  int count;
  TPT_TRY(find_program(fused, plan, &program));
  for (uint32_t i = 0; i < plan->input_count; i++)
    TPT_TRY(tpt_storage_whole(&storages[i], &tensors[i]));
  program->last_run = ++fused->runs;
  program->trace = trace;
  tpt_status_t status = tpt_program_call(program, tensors, NULL, &results, &count);
  program->trace = NULL;
  if (status) return status;
  for (uint32_t i = 0, plain = 0; i < plan->output_count; i++) {
    const tpt_fused_output_t* output = &plan->outputs[i];
    tpt_storage_t* storage =
        output->input >= 0 ? &storages[output->input] : results[plain++].storage;
    tpt_cell_t* waiting = trace->values[output->value].cell;
    trace->values[output->value].cell = NULL;
    tpt_cell_t* cell = storage->cell;
    storage->cell = NULL;
    if (waiting) {
      tpt_cell_give(waiting, cell);
    } else {
      tpt_cell_release(cell);
    }
    if (output->input < 0) tpt_storage_destroy(storage);
  }
  return NULL;
}

// The inputs' cells move into storages of the call and, what is left of them, back.
static tpt_status_t run_window(tpt_fused_t* fused, const tpt_fused_plan_t* plan) {
  tpt_trace_t* trace = &fused->trace;
  tpt_storage_t* storages = tpt_calloc(plan->input_count + 1, sizeof(*storages));
  tpt_tensor_t* tensors = tpt_calloc(plan->input_count + 1, sizeof(*tensors));
  tpt_status_t status = NULL;
  if (!storages || !tensors)
    status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                             "no host memory for %u inputs", plan->input_count);
  for (uint32_t i = 0; !status && i < plan->input_count; i++) {
    tpt_trace_value_t* value = &trace->values[plan->inputs[i]];
    storages[i].device = trace->device;
    storages[i].home = value->home;
    storages[i].size = value->home->size;
    storages[i].cell = value->cell;
    value->cell = NULL;
  }
  bool is_moved = !status;
  if (!status) status = run_program(fused, plan, storages, tensors);
  for (uint32_t i = 0; is_moved && i < plan->input_count; i++)
    trace->values[plan->inputs[i]].cell = storages[i].cell;
  tpt_free(storages);
  tpt_free(tensors);
  return status;
}

tpt_status_t tpt_fused_flush(tpt_device_t* device) {
  tpt_fused_t* fused = device->fused;
  if (!fused || fused->is_running || fused->trace.record_count == 0) return NULL;
  fused->is_running = true;
  tpt_fused_plan_t plan;
  tpt_status_t status = tpt_fused_plan_init(&plan, &fused->trace);
  if (!status && plan.output_count > 0) {
    device->counters.fused_windows++;
    status = run_window(fused, &plan);
    if (tpt_compile_guard_refused(status)) {  // the window waits until the guard is gone
      tpt_fused_plan_deinit(&plan);
      fused->is_running = false;
      return status;
    }
    if (status) status = tpt_fused_run_singly(&fused->trace, status);
  } else if (status) {
    status = tpt_fused_run_singly(&fused->trace, status);
  }
  tpt_fused_plan_deinit(&plan);
  tpt_trace_reset(&fused->trace);
  fused->is_running = fused->is_due = fused->is_cycle = false;
  fused->hashed_count = 0;
  fused->hash = 0;
  return status;
}
