// Owns a program's parameters: one per storage, start, offset and run-time number. Must not know what
// the op does. Invariant: operands[i] describes parameter i of the graph.
#include <string.h>

#include "base/allocator.h"
#include "eager/build.h"

static void fill_none(tpt_value_t* values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = TPT_VALUE_NONE;
}

static tpt_status_t make_arrays(tpt_build_t* b) {
  b->starts = tpt_arena_calloc(b->arena, b->start_count + 1, sizeof(*b->starts));
  b->offsets = tpt_arena_calloc(b->arena, b->use_count + 1, sizeof(*b->offsets));
  TPT_TRY(tpt_arena_status(b->arena));
  fill_none(b->starts, b->start_count);
  fill_none(b->offsets, b->use_count);
  for (size_t i = 0; i < b->group_count; i++) {
    b->groups[i].original = b->groups[i].current = TPT_VALUE_NONE;
    b->groups[i].home = b->groups[i].before;
    b->groups[i].parameter = -1;
  }
  return NULL;
}

tpt_status_t tpt_build_from_frame(tpt_build_t* b) {
  const tpt_frame_t* frame = &b->device->frame;
  b->uses = frame->uses;
  b->use_count = frame->use_count;
  b->start_count = frame->start_count;
  b->group_count = frame->group_count;
  b->groups = tpt_arena_calloc(b->arena, frame->group_count + 1, sizeof(*b->groups));
  if (!b->groups) return tpt_arena_status(b->arena);
  for (size_t i = 0; i < frame->group_count; i++) {
    b->groups[i].before = frame->groups[i]->home;
    b->groups[i].has_value = frame->groups[i]->cell != NULL;
  }
  return NULL;
}

// Records where the buffer of parameter `number` comes from.
static tpt_status_t set_operand(tpt_build_t* b, size_t number, const tpt_operand_t* operand) {
  if (number >= b->operand_capacity) {
    size_t capacity = b->operand_capacity ? b->operand_capacity * 2 : 16;
    while (capacity <= number)
      capacity *= 2;
    tpt_operand_t* operands = tpt_arena_calloc(b->arena, capacity, sizeof(*operands));
    if (!operands) return tpt_arena_status(b->arena);
    if (b->operand_count) memcpy(operands, b->operands, b->operand_count * sizeof(*operands));
    b->operands = operands;
    b->operand_capacity = capacity;
  }
  b->operands[number] = *operand;
  if (number + 1 > b->operand_count) b->operand_count = number + 1;
  return NULL;
}

tpt_status_t tpt_build_parameter(tpt_build_t* b, const tpt_type_t* type,
                                 const tpt_operand_t* operand, tpt_value_t* out_value) {
  if (b->replay) {
    const tpt_request_t wanted = {.kind = TPT_REQUEST_SCALAR, .arg = -1, .dtype = type->dtype};
    *out_value = operand->kind == TPT_OPERAND_HOME
                     ? b->replay->values[operand->index]
                     : b->replay->make_number(b->replay->context, &wanted);
    return tpt_graph_status(b->graph);
  }
  *out_value = tpt_graph_parameter(b->graph, type);
  TPT_TRY(tpt_graph_status(b->graph));
  return set_operand(b, tpt_graph_origin(b->graph, *out_value).number, operand);
}

tpt_status_t tpt_build_original(tpt_build_t* b, uint32_t number, tpt_value_t* out_value) {
  tpt_build_group_t* group = &b->groups[number];
  if (tpt_value_is_none(group->original)) {
    if (!tpt_home_is_typed(group->before))
      TPT_FAIL(TPT_INTERNAL, "a storage without home type is read in part");
    if (group->has_value) {
      tpt_operand_t operand = {.kind = TPT_OPERAND_HOME, .index = number};
      TPT_TRY(tpt_build_parameter(b, &group->before->type, &operand, &group->original));
      group->parameter =
          b->replay ? 0 : (int32_t)tpt_graph_origin(b->graph, group->original).number;
    } else {
      group->original = tpt_hlo_splat_i64(b->graph, &group->before->type, 0);
    }
    if (!group->is_written) group->current = group->original;
  }
  *out_value = group->original;
  return NULL;
}

tpt_status_t tpt_build_starts(tpt_build_t* b, const tpt_use_t* use, tpt_value_t* out_starts) {
  int count = tpt_window_start_count(use->window, use->solution);
  for (int i = 0; i < count; i++) {
    tpt_value_t* start = &b->starts[use->first_start + (uint32_t)i];
    if (tpt_value_is_none(*start)) {
      tpt_type_t type = tpt_type_scalar(tpt_window_start_dtype(use->window));
      tpt_operand_t operand = {
          .kind = TPT_OPERAND_START, .dtype = type.dtype, .index = use->first_start + (uint32_t)i};
      TPT_TRY(tpt_build_parameter(b, &type, &operand, start));
    }
    out_starts[i] = *start;
  }
  return NULL;
}

tpt_status_t tpt_build_offset(tpt_build_t* b, const tpt_use_t* use, tpt_value_t* out_value) {
  size_t number = (size_t)(use - b->uses);
  if (tpt_value_is_none(b->offsets[number])) {
    tpt_type_t type = tpt_type_scalar(TPT_S64);
    tpt_operand_t operand = {
        .kind = TPT_OPERAND_OFFSET, .dtype = TPT_S64, .index = (uint32_t)number};
    TPT_TRY(tpt_build_parameter(b, &type, &operand, &b->offsets[number]));
  }
  *out_value = b->offsets[number];
  return NULL;
}

static tpt_status_t read_use(tpt_build_t* b, const tpt_use_t* use, tpt_value_t* out_value) {
  const tpt_window_t* window = use->window;
  if (window->span == 0 || !b->groups[use->group].has_value) {
    *out_value = tpt_hlo_splat_i64(b->graph, &window->type, 0);
    return NULL;
  }
  tpt_value_t home, starts[TPT_START_MAX];
  TPT_TRY(tpt_build_original(b, use->group, &home));
  TPT_TRY(tpt_build_starts(b, use, starts));
  *out_value = tpt_window_read(b->graph, window, use->solution, home, starts);
  return NULL;
}

// Copies the tensors of one argument, each with its value and normalised strides.
static tpt_status_t give_values(tpt_build_t* b, tpt_arg_t* arg, const tpt_use_t** inout_use) {
  uint32_t count = arg->kind == TPT_ARG_TENSOR ? 1 : arg->count;
  tpt_tensor_t* tensors = tpt_arena_alloc(b->arena, (count + 1) * sizeof(*tensors));
  if (!tensors) return tpt_arena_status(b->arena);
  memcpy(tensors, arg->tensors, count * sizeof(*tensors));
  arg->tensors = tensors;
  for (uint32_t i = 0; i < count; i++) {
    tensors[i].value = TPT_VALUE_NONE.index;
    if (tensors[i].flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST)) continue;
    const tpt_use_t* use = (*inout_use)++;
    tpt_value_t value;
    TPT_TRY(read_use(b, use, &value));
    tensors[i].value = value.index;
    tensors[i].strides = use->window->strides;
  }
  return NULL;
}

tpt_status_t tpt_build_operands(tpt_build_t* b) {
  const tpt_call_t* call = b->call;
  TPT_TRY(make_arrays(b));
  size_t size = (size_t)call->arg_count * sizeof(tpt_arg_t);
  tpt_arg_t* args = tpt_arena_alloc(b->arena, size ? size : 1);
  if (!args) return tpt_arena_status(b->arena);
  if (size) memcpy(args, call->args, size);
  const tpt_use_t* use = b->uses;
  for (int i = 0; i < call->arg_count; i++) {
    if (args[i].kind == TPT_ARG_TENSOR || args[i].kind == TPT_ARG_TENSORS)
      TPT_TRY(give_values(b, &args[i], &use));
  }
  b->lower.args = args;
  b->lower.arg_count = call->arg_count;
  return tpt_graph_status(b->graph);
}

tpt_status_t tpt_build_requests(tpt_build_t* b) {
  if (b->replay) return NULL;
  static const tpt_operand_kind_t kKinds[] = {
      [TPT_REQUEST_SCALAR] = TPT_OPERAND_SCALAR,
      [TPT_REQUEST_SEED] = TPT_OPERAND_SEED,
      [TPT_REQUEST_OFFSET] = TPT_OPERAND_COUNTER,
  };
  for (uint32_t i = 0; i < b->lower.request_count; i++) {
    const tpt_request_t* request = &b->lower.requests[i];
    tpt_operand_t operand = {.kind = kKinds[request->kind],
                             .dtype = request->dtype,
                             .item = request->item,
                             .arg = request->arg,
                             .is_tensor = request->is_tensor};
    TPT_TRY(set_operand(b, tpt_graph_origin(b->graph, request->value).number, &operand));
  }
  return NULL;
}
