// Owns programs as ops: their lowering and their calls. Must not know how their traces came to be.
// Invariant: a program's number is never used again, so that keys that name it cannot name another.
#include "eager/program.h"

#include <pthread.h>
#include <string.h>

#include "base/allocator.h"
#include "eager/call.h"
#include "eager/control.h"
#include "eager/internal_op.h"
#include "eager/stride_order.h"

enum { ARG_INPUTS, ARG_NUMBERS, ARG_COUNT };

static uint64_t next_number = 1;

static tpt_status_t lower_program(tpt_lower_t* l);

const tpt_program_t* tpt_op_program(const tpt_op_t* op) {
  return op->lower == lower_program
             ? (const tpt_program_t*)((const char*)op - offsetof(tpt_program_t, op))
             : NULL;
}

uint64_t tpt_program_next_number(void) {
  return __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);
}

uint64_t tpt_op_identity(const tpt_op_t* op) {
  const tpt_program_t* program = tpt_op_program(op);
  const tpt_control_t* control = tpt_op_control(op);
  if (program) return program->number << 1 | 1;
  return control ? control->number << 1 | 1 : (uint64_t)(uintptr_t)op;
}

void tpt_op_ref(const tpt_op_t* op) {
  const tpt_control_t* control = tpt_op_control(op);
  if (control) tpt_program_ref(control->second);
}

void tpt_op_unref(const tpt_op_t* op) {
  const tpt_control_t* control = tpt_op_control(op);
  if (control) tpt_program_unref(control->second);
}

typedef struct label {
  struct label* next;
  char text[];
} label_t;

tpt_status_t tpt_label_intern(const char* text, const char** out_label) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static label_t* labels;
  pthread_mutex_lock(&lock);
  label_t* label = labels;
  while (label && strcmp(label->text, text) != 0)
    label = label->next;
  if (!label) {
    size_t size = strlen(text) + 1;
    label = tpt_malloc(sizeof(*label) + size);
    if (label) {
      memcpy(label->text, text, size);
      label->next = labels;
      labels = label;
    }
  }
  pthread_mutex_unlock(&lock);
  if (!label) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a name");
  *out_label = label->text;
  return NULL;
}

tpt_status_t tpt_program_create(tpt_device_t* device, const char* label,
                                tpt_program_t** out_program) {
  tpt_program_t* program = tpt_calloc(1, sizeof(*program));
  *out_program = program;
  if (!program) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a program");
  program->device = device;
  program->refs = 1;
  tpt_str_init(&program->reason);
  program->number = tpt_program_next_number();
  tpt_status_t status = tpt_label_intern(label, &program->label);
  if (status) {
    tpt_free(program);
    return status;
  }
  program->op.id = "PROGRAM";
  program->op.family = "program";
  program->op.lower = lower_program;
  program->op.strides = TPT_STRIDES_OWN;
  return NULL;
}

void tpt_program_unref(tpt_program_t* program) {
  if (!program || --program->refs > 0) return;
  tpt_control_destroy(program->control);
  tpt_entries_drop(program->device, &program->op);
  uint32_t constant_count = program->input_count - program->placeholder_count;
  for (uint32_t i = 0; program->constants && i < constant_count; i++)
    tpt_cell_release(program->constants[i].cell);
  if (program->is_captured) tpt_trace_deinit(&program->captured);
  tpt_free(program->constants);
  tpt_free(program->inputs);
  tpt_free(program->outputs);
  tpt_free(program->words);
  for (size_t i = 0; i < program->call_count; i++)
    tpt_entry_release(program->calls[i]);
  tpt_free(program->calls);
  tpt_str_deinit(&program->reason);
  tpt_free(program);
}

// --- lowering ----------------------------------------------------------------------------------------------

// The home value of each input, from its logical value.
static tpt_status_t set_inputs(const tpt_program_t* program, tpt_lower_t* l,
                               const tpt_value_t* inputs, tpt_value_t* values) {
  for (uint32_t i = 0; i < program->input_count; i++) {
    const tpt_program_input_t* input = &program->inputs[i];
    tpt_value_t value = inputs[i];
    if (input->window)
      value = tpt_window_to_memory(l->graph, &input->window->type, input->window->strides, value,
                                   &input->home->type);
    values[input->value] = value;
  }
  return tpt_graph_status(l->graph);
}

// Graph values of all of the trace's values.
static tpt_status_t lower_trace(const tpt_program_t* program, tpt_lower_t* l,
                                const tpt_value_t* inputs, tpt_value_t** out_values) {
  const tpt_trace_t* trace = program->trace;
  if (!trace) TPT_FAIL(TPT_INTERNAL, "%s has no records", program->label);
  tpt_value_t* values = tpt_arena_alloc(l->arena, (trace->value_count + 1) * sizeof(*values));
  if (!values) return tpt_arena_status(l->arena);
  for (size_t i = 0; i < trace->value_count; i++)
    values[i] = TPT_VALUE_NONE;
  *out_values = values;
  TPT_TRY(set_inputs(program, l, inputs, values));
  return tpt_trace_lower(trace, l, trace->is_fused ? ARG_NUMBERS : -1, values);
}

static tpt_status_t output_value(tpt_lower_t* l, const tpt_program_output_t* output,
                                 const tpt_value_t* values, tpt_value_t* out_value) {
  const tpt_window_t* window = output->window;
  if (output->value == TPT_TRACE_ZEROS) {
    *out_value = tpt_hlo_splat_i64(l->graph, &window->type, 0);
  } else if (!window) {
    *out_value = values[output->value];
  } else {
    tpt_value_t starts[TPT_START_MAX];
    tpt_type_t type = tpt_type_scalar(tpt_window_start_dtype(window));
    for (int i = 0; i < tpt_window_start_count(window, output->solution); i++)
      starts[i] = tpt_hlo_splat_i64(l->graph, &type, output->starts[i]);
    *out_value = tpt_window_read(l->graph, window, output->solution, values[output->value], starts);
  }
  return tpt_graph_status(l->graph);
}

tpt_status_t tpt_program_lower(const tpt_program_t* program, tpt_lower_t* l,
                               const tpt_value_t* inputs, tpt_value_t* out_results) {
  tpt_value_t* values;
  TPT_TRY(lower_trace(program, l, inputs, &values));
  for (uint32_t i = 0; i < program->output_count; i++)
    TPT_TRY(output_value(l, &program->outputs[i], values, &out_results[i]));
  return NULL;
}

static tpt_status_t lower_program(tpt_lower_t* l) {
  const tpt_program_t* program = tpt_op_program(l->op);
  tpt_value_t *values, value;
  tpt_value_t* inputs = tpt_arena_alloc(l->arena, (program->input_count + 1) * sizeof(*inputs));
  if (!inputs) return tpt_arena_status(l->arena);
  for (uint32_t i = 0; i < program->input_count; i++)
    inputs[i] = tpt_lower_item(l, ARG_INPUTS, (int)i);
  TPT_TRY(lower_trace(program, l, inputs, &values));
  for (uint32_t i = 0; i < program->output_count; i++) {
    const tpt_program_output_t* output = &program->outputs[i];
    if (output->is_undefined) {
      TPT_TRY(tpt_lower_result_none(l));
      continue;
    }
    TPT_TRY(output_value(l, output, values, &value));
    if (output->input >= 0) {
      TPT_TRY(tpt_lower_write(l, ARG_INPUTS, output->input, value));
    } else if (output->window) {
      TPT_TRY(tpt_lower_result_strides(l, value, output->window->strides));
    } else {
      TPT_TRY(tpt_lower_result(l, value));
    }
  }
  return NULL;
}

// --- calls -------------------------------------------------------------------------------------------------

tpt_status_t tpt_program_call(tpt_program_t* program, const tpt_tensor_t* inputs,
                              tpt_generator_t* generator, tpt_result_t** out_results,
                              int* out_count) {
  const tpt_trace_t* trace = program->trace;
  tpt_device_t* device = program->device;
  tpt_arg_t args[ARG_COUNT] = {
      {.kind = TPT_ARG_TENSORS, .count = program->input_count, .tensors = inputs},
      {.kind = TPT_ARG_NONE}};
  if (trace->is_fused && trace->number_count)
    args[ARG_NUMBERS] = (tpt_arg_t){
        .kind = TPT_ARG_SCALARS, .count = (uint32_t)trace->number_count, .numbers = trace->numbers};
  const tpt_call_t call = {.op = &program->op,
                           .args = args,
                           .arg_count = ARG_COUNT,
                           .device = device->index,
                           .default_dtype = TPT_F32,
                           .generator = generator};
  bool was_strict = device->is_strict;
  device->is_strict = true;
  tpt_status_t status = tpt_call_run_locked(device, &call, out_results, out_count);
  device->is_strict = was_strict;
  return status;
}
