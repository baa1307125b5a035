// Owns if and while over captured programs: their types, their lowering into regions, their calls. Must
// not know who captured the programs. Invariant: a branch or block writes no inputs: how often it runs
// changes nothing but its results and the random stream, whose count is one of them.
#include "eager/control.h"

#include <string.h>

#include "base/allocator.h"
#include "eager/call.h"
#include "eager/internal_op.h"

static tpt_status_t lower_control(tpt_lower_t* l);

const tpt_control_t* tpt_op_control(const tpt_op_t* op) {
  return op->lower == lower_control
             ? (const tpt_control_t*)((const char*)op - offsetof(tpt_control_t, op))
             : NULL;
}

void tpt_control_destroy(tpt_control_t* control) {
  while (control) {
    tpt_control_t* next = control->next;
    tpt_entries_drop(control->second->device, &control->op);
    if (control->first != control->second) tpt_program_unref(control->first);
    tpt_free(control);
    control = next;
  }
}

tpt_status_t tpt_control_get(tpt_control_kind_t kind, tpt_program_t* first, tpt_program_t* second,
                             const tpt_control_t** out_control) {
  tpt_control_t* control = second->control;
  while (control && (control->kind != kind || control->first != first))
    control = control->next;
  *out_control = control;
  if (control) return NULL;
  control = tpt_calloc(1, sizeof(*control));
  if (!control) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for control flow");
  control->kind = kind;
  control->number = tpt_program_next_number();
  control->first = first == second ? first : tpt_program_ref(first);  // no ring of references
  control->second = second;
  control->op.id = kind == TPT_CONTROL_IF ? "cond" : "while_loop";
  control->op.family = "control";
  control->op.lower = lower_control;
  control->op.strides = TPT_STRIDES_OWN;
  // Records may still name the last one: they hold `second`, which keeps all that it ever made.
  control->next = second->control;
  second->control = control;
  *out_control = control;
  return NULL;
}

// --- lowering ----------------------------------------------------------------------------------------------

static uint32_t constant_count(const tpt_program_t* program) {
  return program->input_count - program->placeholder_count;
}

static uint32_t result_count(const tpt_program_t* program) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->output_count; i++)
    count += program->outputs[i].input < 0;
  return count;
}

// Inputs of a program: operands, then its own constants.
static tpt_status_t program_inputs(tpt_lower_t* l, const tpt_program_t* program,
                                   const tpt_value_t* operands, const tpt_value_t* constants,
                                   const tpt_value_t** out_inputs) {
  tpt_value_t* inputs = tpt_arena_alloc(l->arena, (program->input_count + 1) * sizeof(*inputs));
  if (!inputs) return tpt_arena_status(l->arena);
  for (uint32_t i = 0; i < program->input_count; i++)
    inputs[i] =
        i < program->placeholder_count ? operands[i] : constants[i - program->placeholder_count];
  *out_inputs = inputs;
  return NULL;
}

// Where blocks draw from: the stream as it is before the control flow.
typedef struct block_draws {
  bool is_wanted;  // a block's last result is then how many counters were taken, u64[]
  tpt_stream_t stream;
  tpt_value_t taken;  // (bodies) by the runs before this one; else NONE
} block_draws_t;

static block_draws_t draws_of(tpt_lower_t* l, const tpt_control_t* control) {
  block_draws_t draws = {.is_wanted = control->first->has_draws || control->second->has_draws,
                         .taken = TPT_VALUE_NONE};
  if (draws.is_wanted) tpt_lower_random_reserve(l, 0, &draws.stream.seed, &draws.stream.offset);
  return draws;
}

// The program's results as values of the open region, drawing from `draws`. out_results has one more
// place when they are wanted.
static tpt_status_t lower_results(tpt_lower_t* l, const tpt_program_t* program,
                                  const tpt_value_t* inputs, const block_draws_t* draws,
                                  tpt_value_t* out_results) {
  const tpt_stream_t* outer = l->stream;
  uint64_t before = l->rng_draws;
  tpt_value_t taken = l->rng_taken;
  l->rng_draws = 0;
  l->rng_taken = draws->taken;
  if (draws->is_wanted) l->stream = &draws->stream;
  tpt_status_t status = tpt_program_lower(program, l, inputs, out_results);
  if (!status && draws->is_wanted) out_results[result_count(program)] = tpt_lower_random_taken(l);
  l->stream = outer;
  l->rng_draws = before;
  l->rng_taken = taken;
  return status;
}

// A region that computes the program's results.
static tpt_status_t lower_block(tpt_lower_t* l, const tpt_program_t* program,
                                const tpt_value_t* operands, const tpt_value_t* constants,
                                const block_draws_t* draws, uint32_t* out_block) {
  const tpt_value_t* inputs = NULL;
  uint32_t count = result_count(program);
  tpt_value_t* results = tpt_arena_alloc(l->arena, (count + 1) * sizeof(*results));
  if (!results) return tpt_arena_status(l->arena);
  TPT_TRY(program_inputs(l, program, operands, constants, &inputs));
  TPT_TRY(lower_results(l, program, inputs, draws, results));
  *out_block = tpt_region_end(l->graph, results, count + draws->is_wanted);
  return tpt_graph_status(l->graph);
}

static void add_taken(tpt_lower_t* l, tpt_value_t taken) {
  l->rng_taken = tpt_value_is_none(l->rng_taken)
                     ? taken
                     : tpt_hlo_binary(l->graph, TPT_HLO_ADD, l->rng_taken, taken);
}

static tpt_status_t lower_if(tpt_lower_t* l, const tpt_control_t* control,
                             const tpt_value_t* values, const tpt_value_t* constants,
                             tpt_value_t* out_first) {
  uint32_t blocks[2], count = result_count(control->second);
  const block_draws_t draws = draws_of(l, control);
  tpt_region_begin(l->graph, NULL, 0, NULL);
  TPT_TRY(lower_block(l, control->first, values + 1, constants, &draws, &blocks[0]));
  tpt_region_begin(l->graph, NULL, 0, NULL);
  TPT_TRY(lower_block(l, control->second, values + 1, constants + constant_count(control->first),
                      &draws, &blocks[1]));
  *out_first = tpt_hlo_if(l->graph, values[0], blocks[0], blocks[1]);
  if (draws.is_wanted) add_taken(l, (tpt_value_t){out_first->index + count});
  return tpt_graph_status(l->graph);
}

static tpt_status_t lower_while(tpt_lower_t* l, const tpt_control_t* control,
                                const tpt_value_t* values, const tpt_value_t* constants,
                                tpt_value_t* out_first) {
  uint32_t blocks[2], count = result_count(control->second);
  const tpt_program_t* programs[2] = {control->first, control->second};
  uint32_t operand_count = control->second->placeholder_count;
  block_draws_t draws = draws_of(l, control);
  const block_draws_t none = {.is_wanted = false, .taken = TPT_VALUE_NONE};
  uint32_t carried = count + draws.is_wanted;
  tpt_type_t* types = tpt_arena_alloc(l->arena, (carried + 1) * sizeof(*types));
  tpt_value_t* first = tpt_arena_alloc(l->arena, (carried + 1) * sizeof(*first));
  tpt_value_t* operands = tpt_arena_alloc(l->arena, (operand_count + 1) * sizeof(*operands));
  tpt_value_t* inside = tpt_arena_alloc(l->arena, (carried + 1) * sizeof(*inside));
  if (!types || !first || !operands || !inside) return tpt_arena_status(l->arena);
  memcpy(first, values, count * sizeof(*first));
  if (draws.is_wanted) first[count] = tpt_hlo_scalar_i64(l->graph, TPT_U64, 0);
  TPT_TRY(tpt_graph_status(l->graph));
  for (uint32_t i = 0; i < carried; i++)
    types[i] = *tpt_graph_type(l->graph, first[i]);
  memcpy(operands, values, operand_count * sizeof(*operands));
  for (int i = 0; i < 2; i++) {
    tpt_region_begin(l->graph, types, carried, inside);
    memcpy(operands, inside, count * sizeof(*operands));  // the carried ones come first
    const tpt_value_t* own = i ? constants + constant_count(control->first) : constants;
    if (draws.is_wanted) draws.taken = inside[count];
    TPT_TRY(lower_block(l, programs[i], operands, own, i ? &draws : &none, &blocks[i]));
  }
  *out_first = tpt_hlo_while(l->graph, first, (int)carried, blocks[0], blocks[1]);
  if (draws.is_wanted) add_taken(l, (tpt_value_t){out_first->index + count});
  return tpt_graph_status(l->graph);
}

static tpt_status_t lower_control(tpt_lower_t* l) {
  const tpt_control_t* control = tpt_op_control(l->op);
  uint32_t count = l->args[0].count, results = result_count(control->second);
  uint32_t constants = count - constant_count(control->first) - constant_count(control->second);
  tpt_value_t* values = tpt_arena_alloc(l->arena, (count + 1) * sizeof(*values));
  tpt_value_t first = TPT_VALUE_NONE;
  if (!values) return tpt_arena_status(l->arena);
  for (uint32_t i = 0; i < count; i++)
    values[i] = tpt_lower_item(l, 0, (int)i);
  TPT_TRY(tpt_graph_status(l->graph));
  if (control->kind == TPT_CONTROL_IF) {
    TPT_TRY(lower_if(l, control, values, values + constants, &first));
  } else {
    TPT_TRY(lower_while(l, control, values, values + constants, &first));
  }
  for (uint32_t i = 0; i < results; i++) {
    const tpt_window_t* window = control->second->outputs[i].window;
    TPT_TRY(tpt_lower_result_strides(l, (tpt_value_t){first.index + i}, window->strides));
  }
  return NULL;
}

// --- calls -------------------------------------------------------------------------------------------------

static tpt_status_t refuse_type(const tpt_control_t* control, const char* what, uint32_t number,
                                const tpt_type_t* got, const tpt_type_t* wanted) {
  char a[256], b[256];
  TPT_FAIL(TPT_INVALID_ARGUMENT, "%s: %s %u is of type %s and must be of type %s", control->op.id,
           what, number, tpt_type_print(got, a, sizeof(a)), tpt_type_print(wanted, b, sizeof(b)));
}

static bool is_same_type(const tpt_type_t* a, const tpt_type_t* b) {
  return a->dtype == b->dtype && tpt_dims_equal(a, b);
}

static tpt_status_t check_program(const tpt_control_t* control, const tpt_program_t* program,
                                  const tpt_tensor_t* operands, int operand_count) {
  if ((int)program->placeholder_count != operand_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s: %d operands are given, a program takes %u", control->op.id,
             operand_count, program->placeholder_count);
  for (uint32_t i = 0; i < program->placeholder_count; i++) {
    const tpt_type_t type = tpt_type_make(operands[i].dtype, operands[i].rank, operands[i].sizes);
    const tpt_type_t* wanted = &program->inputs[i].window->type;
    if (!is_same_type(&type, wanted)) return refuse_type(control, "operand", i, &type, wanted);
  }
  for (uint32_t i = 0; i < program->output_count; i++) {
    const tpt_program_output_t* output = &program->outputs[i];
    if (output->input >= 0)
      TPT_FAIL(TPT_UNIMPLEMENTED, "%s: a branch or body writes its operand %d in place",
               control->op.id, output->input);
    if (output->is_undefined)
      TPT_FAIL(TPT_UNIMPLEMENTED, "%s: result %u is undefined", control->op.id, i);
  }
  return NULL;
}

static tpt_status_t check_if(const tpt_control_t* control, const tpt_tensor_t* operands,
                             int operand_count) {
  const tpt_type_t pred = tpt_type_scalar(TPT_PRED);
  if (operand_count < 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "cond: the first operand must be the predicate");
  const tpt_type_t given = tpt_type_make(operands[0].dtype, operands[0].rank, operands[0].sizes);
  if (!is_same_type(&given, &pred)) return refuse_type(control, "operand", 0, &given, &pred);
  TPT_TRY(check_program(control, control->first, operands + 1, operand_count - 1));
  TPT_TRY(check_program(control, control->second, operands + 1, operand_count - 1));
  if (control->first->output_count != control->second->output_count ||
      control->first->output_count == 0)
    TPT_FAIL(TPT_UNIMPLEMENTED, "cond: branches with %u and %u results",
             control->first->output_count, control->second->output_count);
  for (uint32_t i = 0; i < control->first->output_count; i++) {
    const tpt_type_t *a = &control->first->outputs[i].window->type,
                     *b = &control->second->outputs[i].window->type;
    if (!is_same_type(a, b)) return refuse_type(control, "result", i, a, b);
  }
  return NULL;
}

static tpt_status_t check_while(const tpt_control_t* control, const tpt_tensor_t* operands,
                                int operand_count) {
  TPT_TRY(check_program(control, control->first, operands, operand_count));
  TPT_TRY(check_program(control, control->second, operands, operand_count));
  const tpt_type_t pred = tpt_type_scalar(TPT_PRED);
  if (control->first->output_count != 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "while_loop: the condition must have one result, it has %u",
             control->first->output_count);
  if (control->first->has_draws)
    TPT_FAIL(TPT_UNIMPLEMENTED, "while_loop: a condition that draws random numbers");
  const tpt_type_t* condition = &control->first->outputs[0].window->type;
  if (!is_same_type(condition, &pred))
    return refuse_type(control, "the condition's result", 0, condition, &pred);
  uint32_t carried = control->second->output_count;
  if (carried == 0 || carried > control->second->placeholder_count)
    TPT_FAIL(TPT_UNIMPLEMENTED, "while_loop: a body of %u results for %u operands", carried,
             control->second->placeholder_count);
  for (uint32_t i = 0; i < carried; i++) {
    const tpt_type_t *a = &control->second->outputs[i].window->type,
                     *b = &control->second->inputs[i].window->type;
    if (!is_same_type(a, b)) return refuse_type(control, "the body's result", i, a, b);
  }
  return NULL;
}

static tpt_status_t add_constants(tpt_program_t* program, tpt_tensor_t* tensors,
                                  uint32_t* inout_count) {
  for (uint32_t i = 0; i < constant_count(program); i++)
    TPT_TRY(tpt_storage_whole(&program->constants[i], &tensors[(*inout_count)++]));
  return NULL;
}

static tpt_status_t run_locked(const tpt_control_t* control, const tpt_tensor_t* operands,
                               int operand_count, tpt_result_t** out_results, int* out_count) {
  tpt_device_t* device = control->second->device;
  uint32_t count = (uint32_t)operand_count;
  TPT_TRY(control->kind == TPT_CONTROL_IF ? check_if(control, operands, operand_count)
                                          : check_while(control, operands, operand_count));
  size_t total = count + constant_count(control->first) + constant_count(control->second);
  tpt_tensor_t* tensors = tpt_calloc(total + 1, sizeof(*tensors));
  if (!tensors) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a call");
  memcpy(tensors, operands, count * sizeof(*tensors));
  tpt_status_t status = add_constants(control->first, tensors, &count);
  if (!status) status = add_constants(control->second, tensors, &count);
  const tpt_arg_t arg = {.kind = TPT_ARG_TENSORS, .count = count, .tensors = tensors};
  const tpt_call_t call = {.op = &control->op,
                           .args = &arg,
                           .arg_count = 1,
                           .device = device->index,
                           .default_dtype = TPT_F32};
  if (!status) status = tpt_call_run_locked(device, &call, out_results, out_count);
  tpt_free(tensors);
  return status;
}

tpt_status_t tpt_barrier(const tpt_tensor_t* tensors, int count, tpt_result_t** out_results,
                         int* out_count) {
  *out_results = NULL;
  *out_count = 0;
  for (int i = 0; i < count; i++)
    if (!tensors[i].storage)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "optimization_barrier: operand %d is no tensor of tpu", i);
  const tpt_arg_t arg = {.kind = TPT_ARG_TENSORS, .count = (uint32_t)count, .tensors = tensors};
  const tpt_call_t call = {.op = tpt_internal_op(TPT_INTERNAL_BARRIER),
                           .args = &arg,
                           .arg_count = 1,
                           .device = count ? tpt_storage_device(tensors[0].storage) : 0,
                           .default_dtype = TPT_F32};
  return tpt_call_run(&call, out_results, out_count);
}

tpt_status_t tpt_control_run(tpt_control_kind_t kind, tpt_program_t* const* programs,
                             const tpt_tensor_t* operands, int operand_count,
                             tpt_result_t** out_results, int* out_count) {
  tpt_device_t* device = programs[1]->device;
  const tpt_control_t* control;
  *out_results = NULL;
  *out_count = 0;
  if (programs[0]->device != device)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "control flow over programs of tpu:%d and tpu:%d",
             programs[0]->device->index, device->index);
  TPT_TRY(tpt_device_enter(device));
  tpt_status_t status = tpt_control_get(kind, programs[0], programs[1], &control);
  if (!status) status = run_locked(control, operands, operand_count, out_results, out_count);
  tpt_device_unlock(device);
  return status;
}
