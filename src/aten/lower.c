// The context of one lowering: arguments as graph values, run-time numbers, results. Knows no row
// and no device. Invariant: equal (argument, item, dtype) requests share one graph parameter.
#include "aten/lower.h"

#include <string.h>

static tpt_arena_t* lower_arena(tpt_lower_t* l) {
  return l->arena ? l->arena : tpt_graph_arena(l->graph);
}

// Makes room for one more element of an arena array (doubling; the old block stays in the arena).
static tpt_status_t grow(tpt_lower_t* l, void** inout_data, uint32_t* inout_capacity,
                         uint32_t count, size_t element_size) {
  if (count < *inout_capacity) return NULL;
  uint32_t capacity = *inout_capacity ? *inout_capacity * 2 : 8;
  void* data = tpt_arena_alloc(lower_arena(l), (size_t)capacity * element_size);
  if (!data) return tpt_arena_status(lower_arena(l));
  if (count) memcpy(data, *inout_data, (size_t)count * element_size);
  *inout_data = data;
  *inout_capacity = capacity;
  return NULL;
}

static tpt_value_t fail_value(tpt_lower_t* l, tpt_status_t take_status) {
  tpt_graph_fail(l->graph, take_status);
  return TPT_VALUE_NONE;
}

// --- the doors ----------------------------------------------------------------------------------

static const char* op_name(const tpt_op_t* op) {
  return tpt_op_schema(op)->name;
}

tpt_status_t tpt_op_check(tpt_lower_t* l) {
  if (!l->op->params.check) return NULL;
  tpt_graph_t* graph = l->graph;
  l->graph = NULL;
  tpt_status_t status = l->op->params.check(l);
  l->graph = graph;
  return status;
}

// The results must match the schema: as many as it says (lists are flattened), written arguments
// declared.
static tpt_status_t check_results(const tpt_lower_t* l) {
  const tpt_schema_t* schema = tpt_op_schema(l->op);
  bool has_list = false;
  for (int i = 0; i < schema->return_count; i++)
    has_list |= schema->returns[i] == TPT_ARG_TENSORS;
  if (!has_list && l->result_count != (uint32_t)schema->return_count)
    TPT_FAIL(TPT_INTERNAL, "the lowering gave %u results, the schema has %d", l->result_count,
             schema->return_count);
  for (uint32_t i = 0; i < l->write_count; i++) {
    int arg = l->writes[i].arg;
    if (arg < 0 || arg > 63 || !(l->op->params.written >> arg & 1))
      TPT_FAIL(TPT_INTERNAL, "the lowering writes argument %d, which the row does not declare",
               arg);
  }
  return NULL;
}

static tpt_status_t check_tensors(const tpt_lower_t* l, const tpt_schema_t* schema) {
  for (int i = 0; i < schema->arg_count; i++) {
    const tpt_schema_arg_t* arg = &schema->args[i];
    bool may_lack = arg->is_optional || l->op->params.undefined >> i & 1;
    if (arg->kind == TPT_ARG_TENSOR && !may_lack && !tpt_lower_has(l, i))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "argument %d (%s) must be a tensor, not None", i, arg->name);
  }
  return NULL;
}

static tpt_status_t lower_checked(tpt_lower_t* l) {
  const tpt_schema_t* schema = tpt_op_schema(l->op);
  if (schema->arg_count != l->arg_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%d arguments given, the schema has %d", l->arg_count,
             schema->arg_count);
  TPT_TRY(check_tensors(l, schema));
  tpt_status_t status = l->op->lower(l);
  if (tpt_graph_error(l->graph)) {  // the first cause; the lowering's own status may be its echo
    tpt_status_release(status);
    return tpt_graph_status(l->graph);
  }
  TPT_TRY(status);
  return check_results(l);
}

tpt_status_t tpt_op_lower(tpt_lower_t* l) {
  l->requests = NULL;
  l->results = l->writes = NULL;
  l->request_count = l->request_capacity = 0;
  l->result_count = l->result_capacity = 0;
  l->write_count = l->write_capacity = 0;
  l->static_args = l->rng_draws = 0;
  l->rng_taken = TPT_VALUE_NONE;
  TPT_TRY_NOTE(lower_checked(l), "while lowering aten::%s", op_name(l->op));
  return NULL;
}

// --- arguments ----------------------------------------------------------------------------------

tpt_status_t tpt_lower_check_i32(const tpt_lower_t* l, int arg) {
  const tpt_arg_t* a = &l->args[arg];
  for (uint32_t i = 0; a->kind == TPT_ARG_INTS && i < a->count; i++)
    if (a->ints[i] > INT32_MAX || a->ints[i] < -INT32_MAX)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "integer out of range: %s has %lld",
               tpt_op_schema(l->op)->args[arg].name, (long long)a->ints[i]);
  return NULL;
}

tpt_status_t tpt_lower_listed_type(const tpt_lower_t* l, int arg, tpt_dtype_t dtype,
                                   tpt_type_t* out_type) {
  const tpt_arg_t* a = &l->args[arg];
  int64_t size = 16;  // of the widest element
  if (a->count > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a tensor of %u dimensions: at most %d are supported", a->count,
             TPT_RANK_MAX);
  for (uint32_t i = 0; i < a->count; i++) {
    if (a->ints[i] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "Trying to create tensor with negative dimension %lld",
               (long long)a->ints[i]);
    if (__builtin_mul_overflow(size, a->ints[i] > 1 ? a->ints[i] : 1, &size))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "a tensor of more than 2^63 bytes");
  }
  *out_type = tpt_type_make(dtype, (int)a->count, a->ints);
  return NULL;
}

int64_t tpt_lower_int(const tpt_lower_t* l, int arg) {
  if (l->graph && arg < 64 && l->op->params.operands >> arg & 1)
    tpt_graph_fail(l->graph,
                   tpt_status_make(TPT_INTERNAL, __FILE__, __LINE__,
                                   "the lowering reads argument %d, a run-time input", arg));
  return l->args[arg].number.i;
}

double tpt_lower_double(const tpt_lower_t* l, int arg) {
  const tpt_arg_t* a = &l->args[arg];
  bool is_host = a->kind == TPT_ARG_TENSOR && a->tensors->flags & TPT_TENSOR_HOST;
  const tpt_number_t* n = is_host ? &a->tensors->number : &a->number;
  return tpt_dtype_is_float(n->dtype) || tpt_dtype_is_complex(n->dtype) ? n->f : (double)n->i;
}

tpt_dtype_t tpt_lower_dtype_or(const tpt_lower_t* l, int arg, tpt_dtype_t otherwise) {
  const tpt_arg_t* a = &l->args[arg];
  return a->kind == TPT_ARG_NONE ? otherwise : (tpt_dtype_t)a->number.i;
}

int64_t tpt_lower_int_or(const tpt_lower_t* l, int arg, int64_t otherwise) {
  const tpt_arg_t* a = &l->args[arg];
  return a->kind == TPT_ARG_NONE ? otherwise : tpt_lower_int(l, arg);
}

static tpt_value_t request(tpt_lower_t* l, const tpt_request_t* wanted) {
  for (uint32_t i = l->request_count; i-- > 0;) {
    const tpt_request_t* r = &l->requests[i];
    if (r->kind == wanted->kind && r->arg == wanted->arg && r->item == wanted->item &&
        r->dtype == wanted->dtype)
      return r->value;
  }
  if (l->request_count >= TPT_REQUEST_MAX)
    return fail_value(l, tpt_status_make(TPT_UNIMPLEMENTED, __FILE__, __LINE__,
                                         "more than %d run-time numbers in one call",
                                         TPT_REQUEST_MAX));
  tpt_status_t status =
      grow(l, (void**)&l->requests, &l->request_capacity, l->request_count, sizeof(*l->requests));
  if (status) return fail_value(l, status);
  tpt_request_t made = *wanted;
  tpt_type_t type = tpt_type_scalar(wanted->dtype);
  made.value = l->make_number ? l->make_number(l->number_context, wanted)
                              : tpt_graph_parameter(l->graph, &type);
  l->requests[l->request_count++] = made;
  return made.value;
}

tpt_value_t tpt_lower_request(tpt_lower_t* l, tpt_request_kind_t kind) {
  if (l->stream) return kind == TPT_REQUEST_SEED ? l->stream->seed : l->stream->offset;
  tpt_request_t wanted;
  memset(&wanted, 0, sizeof(wanted));
  wanted.kind = kind;
  wanted.arg = -1;
  wanted.dtype = TPT_U64;
  return request(l, &wanted);
}

static tpt_value_t number_value(tpt_lower_t* l, int arg, int item, bool is_tensor,
                                tpt_dtype_t dtype) {
  tpt_request_t wanted;
  memset(&wanted, 0, sizeof(wanted));
  wanted.kind = TPT_REQUEST_SCALAR;
  wanted.arg = (int16_t)arg;
  wanted.is_tensor = is_tensor;
  wanted.item = item;
  wanted.dtype = dtype;
  return request(l, &wanted);
}

static tpt_value_t tensor_value(tpt_lower_t* l, int arg, int item, tpt_dtype_t dtype) {
  const tpt_arg_t* a = &l->args[arg];
  bool is_tensor = a->kind == TPT_ARG_TENSOR || a->kind == TPT_ARG_TENSORS;
  const tpt_tensor_t* t = is_tensor && (uint32_t)item < a->count + (a->kind == TPT_ARG_TENSOR)
                              ? &a->tensors[item]
                              : NULL;
  if (!t || t->flags & TPT_TENSOR_NONE)
    return fail_value(l, tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                                         "argument %d (%s) must be a tensor, not None", arg,
                                         tpt_op_schema(l->op)->args[arg].name));
  if (dtype == TPT_DTYPE_INVALID) dtype = t->dtype;
  if (t->flags & TPT_TENSOR_HOST) return number_value(l, arg, item, true, dtype);
  return tpt_hlo_convert(l->graph, (tpt_value_t){t->value}, dtype);
}

tpt_value_t tpt_lower_value(tpt_lower_t* l, int arg) {
  return tensor_value(l, arg, 0, TPT_DTYPE_INVALID);
}

tpt_value_t tpt_lower_value_as(tpt_lower_t* l, int arg, tpt_dtype_t dtype) {
  return tensor_value(l, arg, 0, dtype);
}

tpt_value_t tpt_lower_item(tpt_lower_t* l, int arg, int item) {
  return tensor_value(l, arg, item, TPT_DTYPE_INVALID);
}

tpt_value_t tpt_lower_item_as(tpt_lower_t* l, int arg, int item, tpt_dtype_t dtype) {
  return tensor_value(l, arg, item, dtype);
}

tpt_value_t tpt_lower_scalar(tpt_lower_t* l, int arg, tpt_dtype_t dtype) {
  return number_value(l, arg, 0, false, dtype);
}

tpt_value_t tpt_lower_scalar_item(tpt_lower_t* l, int arg, int item, tpt_dtype_t dtype) {
  return number_value(l, arg, item, false, dtype);
}

tpt_number_t tpt_lower_number(tpt_lower_t* l, int arg) {
  if (arg < 64) l->static_args |= (uint64_t)1 << arg;
  const tpt_arg_t* a = &l->args[arg];
  bool is_host = a->kind == TPT_ARG_TENSOR && a->tensors->flags & TPT_TENSOR_HOST;
  return is_host ? a->tensors->number : a->number;
}

// --- results ------------------------------------------------------------------------------------

static tpt_status_t add_lowered(tpt_lower_t* l, bool is_write, const tpt_lowered_t* item) {
  tpt_lowered_t** items = is_write ? &l->writes : &l->results;
  uint32_t* count = is_write ? &l->write_count : &l->result_count;
  uint32_t* capacity = is_write ? &l->write_capacity : &l->result_capacity;
  if (*count >= TPT_RESULT_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "more than %d results in one call", TPT_RESULT_MAX);
  TPT_TRY(grow(l, (void**)items, capacity, *count, sizeof(**items)));
  (*items)[(*count)++] = *item;
  return NULL;
}

// A value that carries a builder error is that error.
static tpt_status_t check_value(tpt_lower_t* l, tpt_value_t value) {
  if (!tpt_value_is_none(value)) return NULL;
  TPT_TRY(tpt_graph_status(l->graph));
  TPT_FAIL(TPT_INTERNAL, "a result without a value");
}

tpt_status_t tpt_lower_result(tpt_lower_t* l, tpt_value_t value) {
  return tpt_lower_result_strides(l, value, NULL);
}

tpt_status_t tpt_lower_result_none(tpt_lower_t* l) {
  tpt_lowered_t item = {.value = TPT_VALUE_NONE, .arg = -1};
  return add_lowered(l, false, &item);
}

tpt_status_t tpt_lower_result_strides(tpt_lower_t* l, tpt_value_t value, const int64_t* strides) {
  TPT_TRY(check_value(l, value));
  tpt_lowered_t item = {.value = value, .arg = -1};
  if (strides) {
    item.has_strides = true;
    int rank = tpt_graph_type(l->graph, value)->rank;
    memcpy(item.strides, strides, (size_t)rank * sizeof(*strides));
  }
  return add_lowered(l, false, &item);
}

tpt_status_t tpt_lower_write(tpt_lower_t* l, int arg, int item, tpt_value_t value) {
  TPT_TRY(check_value(l, value));
  tpt_lowered_t lowered = {.value = value, .arg = arg, .item = item};
  return add_lowered(l, true, &lowered);
}

// --- shapes -------------------------------------------------------------------------------------

tpt_status_t tpt_wrap_dim(int64_t dim, int rank, int* out_dim) {
  int64_t size = rank > 0 ? rank : 1;
  if (dim < -size || dim >= size)
    TPT_FAIL(TPT_OUT_OF_RANGE,
             "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
             (long long)-size, (long long)(size - 1), (long long)dim);
  *out_dim = (int)(dim < 0 ? dim + size : dim);
  return NULL;
}

tpt_status_t tpt_lower_broadcast(tpt_lower_t* l, tpt_value_t* inout_values, int count) {
  int64_t dims[TPT_RANK_MAX];
  int rank = 0;
  for (int i = 0; i < count; i++) {
    const tpt_type_t* type = tpt_graph_type(l->graph, inout_values[i]);
    if (type->rank > rank) {  // leading dimensions appear as ones
      memmove(dims + type->rank - rank, dims, (size_t)rank * sizeof(*dims));
      for (int d = 0; d < type->rank - rank; d++)
        dims[d] = 1;
      rank = type->rank;
    }
    for (int d = 0; d < type->rank; d++) {
      int64_t* size = &dims[rank - type->rank + d];
      int64_t other = type->dims[d];
      if (*size != other && *size != 1 && other != 1)
        TPT_FAIL(TPT_INVALID_ARGUMENT,
                 "The size of tensor a (%lld) must match the size of tensor b (%lld) at "
                 "non-singleton dimension %d",
                 (long long)*size, (long long)other, rank - type->rank + d);
      if (*size == 1) *size = other;
    }
  }
  for (int i = 0; i < count; i++)
    inout_values[i] = tpt_hlo_broadcast_to(l->graph, inout_values[i], rank, dims);
  return NULL;
}
