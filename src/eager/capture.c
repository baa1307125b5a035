// Owns captures: a thread's calls recorded between begin and end, and the programs they become. Must not
// know lowerings. Invariant: calls go to the thread's innermost capture, which ends with `end` or `cancel`.
#include <string.h>

#include "base/allocator.h"
#include "eager/program.h"
#include "eager/stride_order.h"

typedef struct placeholder {
  tpt_storage_t* storage;  // NULL: gone
  tpt_program_input_t input;
} placeholder_t;

typedef struct capture {
  struct capture* outer;  // (optional) the one that goes on when this one ends
  tpt_trace_t trace;
  placeholder_t* placeholders;
  size_t count, capacity;
} capture_t;

static __thread capture_t* current;

tpt_trace_t* tpt_capture_trace(const tpt_device_t* device) {
  return current && current->trace.device == device ? &current->trace : NULL;
}

bool tpt_capture_is_active(void) {
  return current != NULL;
}

static void free_capture(capture_t* capture) {
  tpt_device_t* device = capture->trace.device;
  for (size_t i = 0; i < capture->count; i++) {
    if (capture->placeholders[i].storage) capture->placeholders[i].storage->placeholder = NULL;
  }
  device->capture_count--;
  tpt_trace_deinit(&capture->trace);
  tpt_free(capture->placeholders);
  tpt_free(capture);
}

tpt_status_t tpt_capture_begin(int index) {
  tpt_device_t* device;
  TPT_TRY(tpt_device_get(index, &device));
  if (current && current->trace.device != device)
    TPT_FAIL(TPT_FAILED_PRECONDITION, "this thread is already capturing a program on tpu:%d",
             current->trace.device->index);
  capture_t* capture = tpt_calloc(1, sizeof(*capture));
  if (!capture) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a capture");
  tpt_device_lock(device);
  tpt_status_t status = tpt_fused_flush(device);
  if (!status) {
    tpt_trace_init(&capture->trace, device, /*is_fused=*/false);
    device->capture_count++;
    capture->outer = current;
    current = capture;
  }
  tpt_device_unlock(device);
  if (status) tpt_free(capture);
  return status;
}

static tpt_status_t need_capture(int index) {
  if (!current || current->trace.device->index != index)
    TPT_FAIL(TPT_FAILED_PRECONDITION, "no capture is active on tpu:%d in this thread", index);
  return NULL;
}

// --- inputs ------------------------------------------------------------------------------------------------

// Storages point back at their placeholder, and the array may move when it grows.
static tpt_status_t grow_placeholders(capture_t* capture) {
  if (!tpt_grow((void**)&capture->placeholders, &capture->capacity, capture->count + 1,
                sizeof(*capture->placeholders)))
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for %zu inputs", capture->count + 1);
  for (size_t i = 0; i < capture->count; i++) {
    placeholder_t* placeholder = &capture->placeholders[i];
    if (placeholder->storage) placeholder->storage->placeholder = &placeholder->storage;
  }
  return NULL;
}

static tpt_status_t make_placeholder(capture_t* capture, const tpt_tensor_t* like,
                                     placeholder_t* out) {
  tpt_device_t* device = capture->trace.device;
  tpt_type_t type = tpt_type_make(like->dtype, like->rank, like->sizes);
  tpt_program_input_t* input = &out->input;
  tpt_order_t order;
  tpt_order_init(&order, type.rank, type.dims, like->strides);
  input->has_strides = order.is_dense;
  if (input->has_strides) {
    memcpy(input->strides, like->strides, (size_t)type.rank * sizeof(int64_t));
  } else {
    tpt_strides_contiguous_of(&type, input->strides);
    tpt_order_init(&order, type.rank, type.dims, input->strides);
  }
  tpt_type_t memory = type;
  for (int i = 0; i < type.rank; i++)
    memory.dims[i] = type.dims[order.all[i]];
  TPT_TRY(tpt_home_typed(&device->homes, &memory, &input->home));
  tpt_tensor_t whole = *like;
  whole.strides = input->strides;
  whole.offset = 0;
  TPT_TRY(tpt_window_get(&device->windows, input->home, &whole, &input->window));
  tpt_cell_t* cell;
  TPT_TRY(tpt_storage_make(device, input->home->size, input->home, &out->storage));
  tpt_status_t status = tpt_cell_create(device, &cell);
  if (!status) {
    tpt_storage_set(out->storage, input->home, cell);
    out->storage->window = input->window;
    status =
        tpt_trace_add_value(&capture->trace, cell, input->home, /*is_input=*/true, &input->value);
  }
  if (status) tpt_storage_destroy(out->storage);
  return status;
}

static tpt_status_t add_input(capture_t* capture, const tpt_tensor_t* like, tpt_result_t* out) {
  TPT_TRY(grow_placeholders(capture));
  placeholder_t* placeholder = &capture->placeholders[capture->count];
  memset(placeholder, 0, sizeof(*placeholder));
  TPT_TRY(make_placeholder(capture, like, placeholder));
  placeholder->storage->placeholder = &placeholder->storage;
  capture->count++;
  *out = (tpt_result_t){.storage = placeholder->storage,
                        .dtype = like->dtype,
                        .rank = like->rank,
                        .sizes = placeholder->input.window->type.dims,
                        .strides = placeholder->input.strides};
  return NULL;
}

tpt_status_t tpt_capture_input(int index, const tpt_tensor_t* like, tpt_result_t* out_result) {
  memset(out_result, 0, sizeof(*out_result));
  TPT_TRY(need_capture(index));
  if (like->flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "an input of a captured program must be a tensor on tpu:%d",
             index);
  tpt_device_lock(current->trace.device);
  tpt_status_t status = add_input(current, like, out_result);
  tpt_device_unlock(current->trace.device);
  return status;
}

tpt_status_t tpt_capture_draw_from(int index, const tpt_tensor_t* state) {
  TPT_TRY(need_capture(index));
  tpt_device_t* device = current->trace.device;
  tpt_device_lock(device);
  tpt_status_t status = NULL;
  if (state && state->storage && state->storage->device == device)
    status = tpt_storage_settle(state->storage, state);
  if (!status) status = tpt_trace_draw_from(&current->trace, state);
  tpt_device_unlock(device);
  return status;
}

// --- the end -----------------------------------------------------------------------------------------------

static tpt_status_t find_output(capture_t* capture, const tpt_tensor_t* tensor,
                                tpt_program_output_t* out) {
  out->input = -1;
  out->value = TPT_TRACE_ZEROS;
  if (tensor->flags & TPT_TENSOR_NONE) {
    out->is_undefined = true;
    return NULL;
  }
  if (!tensor->storage || tensor->storage->device != capture->trace.device)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "an output of a captured program must be a tensor on tpu:%d",
             capture->trace.device->index);
  tpt_storage_t* storage = tensor->storage;
  int count;
  TPT_TRY(tpt_storage_settle(storage, tensor));
  out->window = storage->window;
  if (out->window->span == 0) return NULL;
  TPT_TRY(tpt_window_solve(out->window, tensor->offset, out->starts, &count, &out->solution));
  return tpt_trace_value_of(&capture->trace, storage->cell, storage->home, &out->value);
}

// A placeholder whose storage has another value than it began with is written back.
static tpt_status_t find_write(capture_t* capture, uint32_t number, tpt_program_output_t* out,
                               bool* out_is_written) {
  const placeholder_t* placeholder = &capture->placeholders[number];
  tpt_storage_t* storage = placeholder->storage;
  *out_is_written = false;
  if (!storage) return NULL;
  if (storage->cell && storage->cell->trace == &capture->trace &&
      storage->cell->value == placeholder->input.value)
    return NULL;
  const tpt_window_t* window = placeholder->input.window;
  const tpt_tensor_t whole = {.storage = storage,
                              .sizes = window->type.dims,
                              .strides = window->strides,
                              .rank = window->type.rank,
                              .dtype = window->type.dtype};
  TPT_TRY(find_output(capture, &whole, out));
  out->input = (int32_t)number;
  *out_is_written = true;
  return NULL;
}

static tpt_status_t find_outputs(capture_t* capture, const tpt_tensor_t* outputs, int output_count,
                                 tpt_program_t* program) {
  size_t most = (size_t)output_count + capture->count + 1;
  program->outputs = tpt_calloc(most, sizeof(*program->outputs));
  if (!program->outputs) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a program");
  for (int i = 0; i < output_count; i++)
    TPT_TRY(find_output(capture, &outputs[i], &program->outputs[program->output_count++]));
  for (size_t i = 0; i < capture->count; i++) {
    bool is_written;
    TPT_TRY(
        find_write(capture, (uint32_t)i, &program->outputs[program->output_count], &is_written));
    program->output_count += is_written;
  }
  return NULL;
}

// Values of the device that the records used without being given them.
static tpt_status_t find_inputs(capture_t* capture, tpt_program_t* program) {
  const tpt_trace_t* trace = &capture->trace;
  uint32_t constant_count = 0;
  for (size_t i = 0; i < trace->value_count; i++)
    constant_count +=
        trace->values[i].is_input && trace->values[i].cell && trace->values[i].cell->buffer;
  uint32_t count = (uint32_t)capture->count + constant_count;
  program->inputs = tpt_calloc(count + 1, sizeof(*program->inputs));
  program->constants = tpt_calloc(constant_count + 1, sizeof(*program->constants));
  if (!program->inputs || !program->constants)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a program");
  for (size_t i = 0; i < capture->count; i++)
    program->inputs[i] = capture->placeholders[i].input;
  program->placeholder_count = program->input_count = (uint32_t)capture->count;
  for (size_t i = 0; i < trace->value_count; i++) {
    const tpt_trace_value_t* value = &trace->values[i];
    if (!value->is_input || !value->cell || !value->cell->buffer) continue;
    tpt_storage_t* constant =
        &program->constants[program->input_count - program->placeholder_count];
    constant->device = program->device;
    constant->home = value->home;
    constant->size = value->home->size;
    constant->cell = tpt_cell_retain(value->cell);
    program->inputs[program->input_count++] =
        (tpt_program_input_t){.value = (uint32_t)i, .home = value->home};
  }
  return NULL;
}

// The trace moves into the program; cells that waited for it will never have a value.
static void move_trace(capture_t* capture, tpt_program_t* program) {
  tpt_trace_t* trace = &capture->trace;
  tpt_trace_let_go(trace);
  program->captured = *trace;
  program->is_captured = true;
  program->trace = &program->captured;
  tpt_trace_init(trace, program->device, false);
}

static tpt_status_t end_locked(capture_t* capture, const tpt_tensor_t* outputs, int output_count,
                               tpt_program_t** out_program) {
  tpt_program_t* program;
  TPT_TRY(tpt_program_create(capture->trace.device, "program", &program));
  tpt_status_t status = find_outputs(capture, outputs, output_count, program);
  if (!status) status = find_inputs(capture, program);
  if (status) {
    tpt_program_unref(program);
    return status;
  }
  for (size_t i = 0; i < capture->trace.record_count; i++) {
    const tpt_record_t* record = &capture->trace.records[i];
    program->has_draws |= record->stream == 0 && record->entry->has_draws;
  }
  move_trace(capture, program);
  *out_program = program;
  return NULL;
}

tpt_status_t tpt_capture_end(int index, const tpt_tensor_t* outputs, int output_count,
                             tpt_program_t** out_program) {
  *out_program = NULL;
  TPT_TRY(need_capture(index));
  capture_t* capture = current;
  tpt_device_t* device = capture->trace.device;
  tpt_device_lock(device);
  tpt_status_t status = end_locked(capture, outputs, output_count, out_program);
  current = capture->outer;
  free_capture(capture);
  tpt_device_unlock(device);
  return status;
}

void tpt_capture_cancel(int index) {
  if (!current || current->trace.device->index != index) return;
  tpt_device_t* device = current->trace.device;
  tpt_device_lock(device);
  capture_t* outer = current->outer;
  free_capture(current);
  current = outer;
  tpt_device_unlock(device);
}

// --- running -----------------------------------------------------------------------------------------------

static tpt_status_t check_input(const tpt_program_t* program, uint32_t number,
                                const tpt_tensor_t* tensor) {
  const tpt_program_input_t* input = &program->inputs[number];
  const tpt_type_t* type = &input->window->type;
  if (tensor->flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s: input %u is no tensor of tpu:%d", program->label, number,
             program->device->index);
  bool is_same = tensor->dtype == type->dtype && tensor->rank == type->rank;
  for (int i = 0; is_same && i < type->rank; i++)
    is_same = tensor->sizes[i] == type->dims[i] && (!input->has_strides || type->dims[i] <= 1 ||
                                                    tensor->strides[i] == input->strides[i]);
  if (is_same) return NULL;
  tpt_type_t given = tpt_type_make(tensor->dtype, tensor->rank, tensor->sizes);
  char wanted_text[256], given_text[256];
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "%s was captured for input %u of type %s in its memory order, not for %s; capture it "
           "again for other sizes",
           program->label, number, tpt_type_print(type, wanted_text, sizeof(wanted_text)),
           tpt_type_print(&given, given_text, sizeof(given_text)));
}

static tpt_status_t gather_inputs(const tpt_program_t* program, const tpt_tensor_t* inputs,
                                  tpt_tensor_t* out_tensors) {
  for (uint32_t i = 0; i < program->placeholder_count; i++) {
    TPT_TRY(check_input(program, i, &inputs[i]));
    out_tensors[i] = inputs[i];
  }
  for (uint32_t i = program->placeholder_count; i < program->input_count; i++)
    TPT_TRY(
        tpt_storage_whole(&program->constants[i - program->placeholder_count], &out_tensors[i]));
  return NULL;
}

static tpt_status_t run_locked(tpt_program_t* program, const tpt_tensor_t* inputs,
                               tpt_generator_t* generator, tpt_result_t** out_results,
                               int* out_count) {
  enum { FEW = 64 };
  tpt_tensor_t few[FEW];
  tpt_tensor_t* tensors =
      program->input_count <= FEW ? few : tpt_malloc(program->input_count * sizeof(*tensors));
  if (!tensors) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a call");
  tpt_status_t status = gather_inputs(program, inputs, tensors);
  if (!status) status = tpt_fused_flush(program->device);
  if (!status) status = tpt_program_call(program, tensors, generator, out_results, out_count);
  if (tensors != few) tpt_free(tensors);
  return status;
}

tpt_status_t tpt_program_run(tpt_program_t* program, const tpt_tensor_t* inputs, int input_count,
                             tpt_generator_t* generator, tpt_result_t** out_results,
                             int* out_count) {
  *out_results = NULL;
  *out_count = 0;
  if ((uint32_t)input_count != program->placeholder_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s takes %u inputs, %d were given", program->label,
             program->placeholder_count, input_count);
  if (current)
    TPT_FAIL(TPT_FAILED_PRECONDITION,
             "%s cannot run while another program is captured; make its calls one by one",
             program->label);
  TPT_TRY(tpt_device_enter(program->device));
  tpt_status_t status = run_locked(program, inputs, generator, out_results, out_count);
  tpt_device_unlock(program->device);
  return status;
}

tpt_status_t tpt_program_set_name(tpt_program_t* program, const char* name) {
  tpt_device_lock(program->device);
  tpt_status_t status = tpt_label_intern(name, &program->label);
  tpt_device_unlock(program->device);
  return status;
}

void tpt_program_release(tpt_program_t* program) {
  if (!program || tpt_runtime_is_bad_fork()) return;
  tpt_device_t* device = program->device;
  tpt_device_lock(device);
  tpt_program_unref(program);
  tpt_device_unlock(device);
}
