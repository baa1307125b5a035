// Owns what a program returns and what becomes of it: new tensors in their strides' memory order,
// in-place results and lowered writes as new values of their storages. Must not know plugins.
// Invariant: a storage written several times is returned once, with all writes in order.
#include <stdio.h>
#include <string.h>

#include "eager/build.h"
#include "eager/internal_op.h"
#include "eager/stride_order.h"

static void* grown(tpt_arena_t* arena, void* data, uint32_t count, uint32_t* inout_capacity,
                   size_t size) {
  if (count < *inout_capacity) return data;
  uint32_t capacity = *inout_capacity ? *inout_capacity * 2 : 8;
  void* bigger = tpt_arena_alloc(arena, (size_t)capacity * size);
  if (!bigger) return NULL;
  if (count) memcpy(bigger, data, (size_t)count * size);
  *inout_capacity = capacity;
  return bigger;
}

static tpt_status_t add_output(tpt_build_t* b, const tpt_output_t* output) {
  tpt_output_t* outputs =
      grown(b->arena, b->outputs, b->output_count, &b->output_capacity, sizeof(*outputs));
  if (!outputs) return tpt_arena_status(b->arena);
  b->outputs = outputs;
  b->outputs[b->output_count++] = *output;
  return NULL;
}

// The group whose untouched value this is, or -1. A replay decides as the call's own entry did.
static int32_t group_of_value(const tpt_build_t* b, tpt_value_t value, const tpt_home_t* home) {
  if (b->replay) return b->replay->outputs[b->output_count].shared;
  for (size_t i = 0; i < b->group_count; i++) {
    const tpt_build_group_t* group = &b->groups[i];
    if (group->parameter < 0 || group->original.index != value.index) continue;
    return group->before == home ? (int32_t)i : -1;
  }
  return -1;
}

// Makes a home value an output: the untouched value of a storage is shared, not computed.
static tpt_status_t return_value(tpt_build_t* b, tpt_value_t value, tpt_output_t* output) {
  output->result = -1;
  output->shared = group_of_value(b, value, output->home);
  if (output->shared >= 0) return NULL;
  tpt_value_t* results =
      grown(b->arena, b->results, b->result_count, &b->result_capacity, sizeof(*results));
  if (!results) return tpt_arena_status(b->arena);
  b->results = results;
  output->result = (int32_t)b->result_count;
  b->results[b->result_count++] = value;
  return NULL;
}

// --- plain results -------------------------------------------------------------------------------------

static tpt_status_t add_plain(tpt_build_t* b, uint32_t number) {
  const tpt_lowered_t* lowered = &b->lower.results[number];
  tpt_output_t output = {.result = -1, .shared = -1, .group = -1};
  if (tpt_value_is_none(lowered->value)) {
    output.is_undefined = true;
    return add_output(b, &output);
  }
  tpt_type_t type = *tpt_graph_type(b->graph, lowered->value);
  if (tpt_op_is_internal(b->call->op) && !lowered->has_strides) {
    tpt_strides_contiguous_of(&type, output.strides);
  } else {
    tpt_lower_strides(&b->lower, number, output.strides);
  }
  tpt_order_t order;
  tpt_order_init(&order, type.rank, type.dims, output.strides);
  if (!order.is_dense) {  // a fresh tensor has no gaps
    tpt_strides_contiguous_of(&type, output.strides);
    tpt_order_init(&order, type.rank, type.dims, output.strides);
  }
  tpt_type_t memory = type;
  for (int i = 0; i < type.rank; i++)
    memory.dims[i] = type.dims[order.all[i]];
  TPT_TRY(tpt_home_typed(&b->device->homes, &memory, &output.home));
  tpt_tensor_t whole = {
      .sizes = type.dims, .strides = output.strides, .rank = type.rank, .dtype = type.dtype};
  TPT_TRY(tpt_window_get(&b->device->windows, output.home, &whole, &output.window));
  if (order.count > 0) {
    tpt_value_t value =
        tpt_window_to_memory(b->graph, &type, output.strides, lowered->value, &memory);
    TPT_TRY(return_value(b, value, &output));
  }
  return add_output(b, &output);
}

// --- writes ----------------------------------------------------------------------------------------------

// Writes over a storage whose home this very call has changed, or not known before: always by
// position, since the starts in the key belong to the old home.
static tpt_status_t write_rehomed(tpt_build_t* b, const tpt_use_t* use, tpt_value_t update) {
  tpt_build_group_t* group = &b->groups[use->group];
  const tpt_window_t* window;
  TPT_TRY(tpt_window_get(&b->device->windows, group->home, use->tensor, &window));
  tpt_window_update_t write = {
      .solution = TPT_SOLUTION_WHOLE, .home = group->current, .update = update};
  tpt_value_t start;
  if (!window->is_whole) {
    TPT_TRY(tpt_build_offset(b, use, &start));
    start = tpt_hlo_convert(b->graph, start, tpt_window_start_dtype(window));
    write.solution = TPT_SOLUTION_GATHER;
    write.starts = &start;
  }
  group->current = tpt_window_write(b->graph, window, &write);
  return NULL;
}

// A bool home cannot hold what other dtypes write through a view: it becomes bytes first.
static tpt_status_t leave_bool_home(tpt_build_t* b, tpt_build_group_t* group) {
  tpt_type_t type = group->home->type;
  type.dtype = TPT_U8;
  group->current = tpt_recast_element(b->graph, group->current, TPT_U8);
  return tpt_home_typed(&b->device->homes, &type, &group->home);
}

// One of the equal elements that an expanded window repeats.
static tpt_value_t drop_repeats(tpt_build_t* b, const tpt_window_t* window, tpt_value_t update) {
  for (int i = 0; i < window->type.rank; i++) {
    if (window->strides[i] == 0 && window->type.dims[i] > 1)
      update = tpt_hlo_slice_dim(b->graph, update, i, 0, 1, 1);
  }
  return update;
}

static tpt_status_t write_use(tpt_build_t* b, const tpt_use_t* use, tpt_value_t update) {
  const tpt_window_t* window = use->window;
  tpt_build_group_t* group = &b->groups[use->group];
  if (window->span == 0) return NULL;
  if (window->is_expanded && !tpt_op_fills(b->call->op))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "unsupported operation: more than one element of the written-to tensor refers to a "
             "single memory location. Please clone() the tensor before performing the operation.");
  if (window->is_expanded) update = drop_repeats(b, window, update);
  tpt_value_t original;
  if (!group->is_written && tpt_home_is_typed(group->home))
    TPT_TRY(tpt_build_original(b, use->group, &original));
  group->is_written = true;
  if (window->is_whole && group->home->type.dtype != window->type.dtype) {
    TPT_TRY(tpt_home_adopt(&b->device->homes, group->home->size, use->tensor, &group->home));
    group->current =
        tpt_window_to_memory(b->graph, &window->type, window->strides, update, &group->home->type);
    return NULL;
  }
  if (group->home->type.dtype == TPT_PRED && window->type.dtype != TPT_PRED)
    TPT_TRY(leave_bool_home(b, group));
  if (window->home != group->home) return write_rehomed(b, use, update);
  tpt_value_t starts[TPT_START_MAX];
  TPT_TRY(tpt_build_starts(b, use, starts));
  tpt_window_update_t write = {use->solution, group->current, update, starts};
  group->current = tpt_window_write(b->graph, window, &write);
  return NULL;
}

static const tpt_use_t* find_use(const tpt_build_t* b, int arg, int item) {
  for (size_t i = 0; i < b->use_count; i++) {
    if (b->uses[i].arg == arg && b->uses[i].item == item) return &b->uses[i];
  }
  return NULL;
}

// PyTorch's canCast.
static bool can_cast(tpt_dtype_t from, tpt_dtype_t to) {
  if (tpt_dtype_is_complex(from) && !tpt_dtype_is_complex(to)) return false;
  if (tpt_dtype_is_float(from) && (tpt_dtype_is_int(to) || to == TPT_PRED)) return false;
  return from == TPT_PRED || to != TPT_PRED;
}

// PyTorch's name of a dtype, as its messages print it.
static const char* torch_name(tpt_dtype_t dtype) {
  static const char* const kNames[TPT_DTYPE_COUNT] = {
      [TPT_PRED] = "Bool",     [TPT_S8] = "Char",          [TPT_S16] = "Short",
      [TPT_S32] = "Int",       [TPT_S64] = "Long",         [TPT_U8] = "Byte",
      [TPT_U16] = "UInt16",    [TPT_U32] = "UInt32",       [TPT_U64] = "UInt64",
      [TPT_F16] = "Half",      [TPT_F32] = "Float",        [TPT_F64] = "Double",
      [TPT_BF16] = "BFloat16", [TPT_C64] = "ComplexFloat", [TPT_C128] = "ComplexDouble",
  };
  return dtype < TPT_DTYPE_COUNT && kNames[dtype] ? kNames[dtype] : "Undefined";
}

static void print_sizes(char* text, size_t size, int rank, const int64_t* dims) {
  size_t used = (size_t)snprintf(text, size, "[");
  for (int i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, i ? ", %lld" : "%lld", (long long)dims[i]);
  if (used < size) snprintf(text + used, size - used, "]");
}

static tpt_status_t write_converted(tpt_build_t* b, const tpt_use_t* use, tpt_value_t value) {
  tpt_type_t type = *tpt_graph_type(b->graph, value);
  const tpt_type_t* wanted = &use->window->type;
  if (!tpt_dims_equal(&type, wanted)) {
    char from[256], to[256];
    print_sizes(from, sizeof(from), wanted->rank, wanted->dims);
    print_sizes(to, sizeof(to), type.rank, type.dims);
    TPT_FAIL(TPT_INVALID_ARGUMENT, "output with shape %s doesn't match the broadcast shape %s",
             from, to);
  }
  if (!can_cast(type.dtype, wanted->dtype))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "result type %s can't be cast to the desired output type %s",
             torch_name(type.dtype), torch_name(wanted->dtype));
  return write_use(b, use, tpt_hlo_convert(b->graph, value, wanted->dtype));
}

static tpt_status_t add_inplace(tpt_build_t* b, uint32_t* inout_next) {
  const tpt_call_t* call = b->call;
  for (int k = 0; k < call->inplace_count; k++) {
    int number = call->inplace_args[k];
    if (number < 0 || number >= call->arg_count)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "in-place argument %d does not exist", number);
    const tpt_arg_t* arg = &call->args[number];
    if (arg->kind != TPT_ARG_TENSOR && arg->kind != TPT_ARG_TENSORS)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "in-place argument %d is no tensor", number);
    int count = arg->kind == TPT_ARG_TENSOR ? 1 : (int)arg->count;
    for (int item = 0; item < count; item++) {
      const tpt_use_t* use = find_use(b, number, item);
      if (*inout_next >= b->lower.result_count || !use ||
          tpt_value_is_none(b->lower.results[*inout_next].value))
        TPT_FAIL(TPT_INVALID_ARGUMENT, "nothing can be written to argument %d in place", number);
      TPT_TRY(write_converted(b, use, b->lower.results[(*inout_next)++].value));
    }
  }
  return NULL;
}

static tpt_status_t add_lowered_writes(tpt_build_t* b) {
  for (uint32_t i = 0; i < b->lower.write_count; i++) {
    const tpt_lowered_t* write = &b->lower.writes[i];
    const tpt_use_t* use = find_use(b, write->arg, write->item);
    if (!use) TPT_FAIL(TPT_INVALID_ARGUMENT, "argument %d cannot be written to", write->arg);
    TPT_TRY(write_converted(b, use, write->value));
  }
  return NULL;
}

static tpt_status_t return_written(tpt_build_t* b) {
  for (size_t i = 0; i < b->group_count; i++) {
    tpt_build_group_t* group = &b->groups[i];
    if (!group->is_written) continue;
    if (group->parameter >= 0 && group->current.index == group->original.index &&
        group->home == group->before)
      continue;  // written with what it was
    tpt_output_t output = {.group = (int32_t)i, .home = group->home};
    TPT_TRY(return_value(b, group->current, &output));
    TPT_TRY(add_output(b, &output));
    bool is_same_type = group->home == group->before;
    if (output.result >= 0 && group->parameter >= 0 && is_same_type && !b->replay)
      tpt_graph_alias(b->graph, (uint32_t)group->parameter, (uint32_t)output.result);
  }
  return NULL;
}

// Counters that only the device knows of are a result of the program's own.
static tpt_status_t return_draws(tpt_build_t* b) {
  tpt_output_t output = {.home = NULL};
  if (tpt_value_is_none(b->lower.rng_taken)) return NULL;
  TPT_TRY(return_value(b, b->lower.rng_taken, &output));
  b->rng_result = output.result;
  return NULL;
}

tpt_status_t tpt_build_outputs(tpt_build_t* b) {
  uint32_t next = 0;
  if (b->call->variant == TPT_INPLACE) TPT_TRY(add_inplace(b, &next));
  for (; next < b->lower.result_count; next++)
    TPT_TRY(add_plain(b, next));
  TPT_TRY(add_lowered_writes(b));
  TPT_TRY(return_written(b));
  b->rng_result = -1;
  if (!b->replay) TPT_TRY(return_draws(b));
  if (!b->replay) tpt_graph_return(b->graph, b->results, b->result_count);
  return tpt_graph_status(b->graph);
}
