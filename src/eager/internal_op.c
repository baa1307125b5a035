// Owns the runtime's own ops. Must not know storages or windows: they are lowerings like any other.
#include "eager/internal_op.h"

#include <string.h>

#include "eager/control.h"

static tpt_status_t lower_copy(tpt_lower_t* l) {
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  tpt_value_t value = tpt_lower_value_as(l, 1, self->dtype);
  const tpt_type_t* type = tpt_graph_type(l->graph, value);
  for (int i = 1; i <= type->rank; i++) {
    int64_t from = type->dims[type->rank - i],
            to = i <= self->rank ? self->sizes[self->rank - i] : 1;
    if (from != to && (from != 1 || i > self->rank))
      TPT_FAIL(
          TPT_INVALID_ARGUMENT,
          "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton "
          "dimension %d",
          (long long)to, (long long)from, self->rank >= i ? self->rank - i : 0);
  }
  return tpt_lower_result(l, tpt_hlo_broadcast_to(l->graph, value, self->rank, self->sizes));
}

static tpt_status_t lower_read(tpt_lower_t* l) {
  return tpt_lower_result(l, tpt_lower_value(l, 0));
}

static tpt_status_t lower_random_state(tpt_lower_t* l) {
  tpt_stream_t stream;
  tpt_lower_random_reserve(l, 0, &stream.seed, &stream.offset);
  return tpt_lower_result(l, tpt_random_state_pack(l->graph, stream));
}

static tpt_status_t lower_barrier(tpt_lower_t* l) {
  uint32_t count = l->args[0].count;
  if (count == 0) return NULL;
  tpt_value_t* values = tpt_arena_alloc(l->arena, count * sizeof(*values));
  if (!values) return tpt_arena_status(l->arena);
  for (uint32_t i = 0; i < count; i++)
    values[i] = tpt_lower_item(l, 0, (int)i);
  tpt_value_t first = tpt_hlo_optimization_barrier(l->graph, values, (int)count);
  TPT_TRY(tpt_graph_status(l->graph));
  for (uint32_t i = 0; i < count; i++)
    TPT_TRY(
        tpt_lower_result_strides(l, (tpt_value_t){first.index + i}, l->args[0].tensors[i].strides));
  return NULL;
}

static const tpt_op_t kOps[TPT_INTERNAL_OP_COUNT] = {
    [TPT_INTERNAL_COPY] = {.id = "COPY", .lower = lower_copy, .strides = TPT_STRIDES_CONTIGUOUS},
    [TPT_INTERNAL_READ] = {.id = "READ", .lower = lower_read, .strides = TPT_STRIDES_CONTIGUOUS},
    [TPT_INTERNAL_RANDOM_STATE] = {.id = "RANDOM_STATE",
                                   .lower = lower_random_state,
                                   .strides = TPT_STRIDES_CONTIGUOUS},
    [TPT_INTERNAL_BARRIER] = {.id = "BARRIER", .lower = lower_barrier, .strides = TPT_STRIDES_OWN},
};
static const char* const kLabels[TPT_INTERNAL_OP_COUNT] = {
    [TPT_INTERNAL_COPY] = "copy_",
    [TPT_INTERNAL_READ] = "_to_copy",
    [TPT_INTERNAL_RANDOM_STATE] = "random_state",
    [TPT_INTERNAL_BARRIER] = "optimization_barrier",
};

const tpt_op_t* tpt_internal_op(tpt_internal_op_t op) {
  return &kOps[op];
}

bool tpt_op_is_internal(const tpt_op_t* op) {
  return op >= kOps && op < kOps + TPT_INTERNAL_OP_COUNT;
}

int tpt_op_number(const tpt_op_t* op) {
  if (tpt_op_program(op) || tpt_op_control(op)) return tpt_op_count() + TPT_INTERNAL_PROGRAM;
  return tpt_op_is_internal(op) ? tpt_op_count() + (int)(op - kOps) : tpt_op_index(op);
}

const char* tpt_op_label(const tpt_op_t* op) {
  if (tpt_op_program(op)) return tpt_op_program(op)->label;
  if (tpt_op_control(op)) return op->id;
  return tpt_op_is_internal(op) ? kLabels[op - kOps] : tpt_op_schema(op)->name;
}

const char* tpt_label_prefix(const char* label) {
  bool is_copy = strcmp(label, kLabels[TPT_INTERNAL_COPY]) == 0 ||
                 strcmp(label, kLabels[TPT_INTERNAL_READ]) == 0;
  return is_copy || tpt_op_find(label) ? "aten::" : "";
}

tpt_status_t tpt_any_op_lower(tpt_lower_t* l) {
  if (!tpt_op_is_internal(l->op) && !tpt_op_program(l->op) && !tpt_op_control(l->op))
    return tpt_op_lower(l);
  l->rng_taken = TPT_VALUE_NONE;
  tpt_status_t status = l->op->lower(l);
  if (!tpt_graph_error(l->graph)) return status;
  tpt_status_release(status);
  return tpt_graph_status(l->graph);
}
