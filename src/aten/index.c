// Advanced indexing: x[i, :, j] with tensors i and j, reading and writing, and the one-dimension forms
// index_select, index_add, index_copy, index_fill, take, put. Indices are checked by the launch.
#include "aten/index.h"

#include "aten/array.h"
#include "aten/assert.h"
#include "aten/compact.h"
#include "aten/rows.h"

tpt_v tpt_index_wrap(tpt_graph_t* g, tpt_v index, int64_t size) {
  index = tpt_hlo_convert(g, index, TPT_S64);
  tpt_v from_end = tpt_add(g, index, tpt_like_i64(g, index, size));
  // One that is too small stays as it was given, so that the launch's error shows it.
  tpt_v fits = tpt_ge(g, index, tpt_like_i64(g, index, -size));
  from_end = tpt_select(g, fits, from_end, index);
  return tpt_select(g, tpt_lt(g, index, tpt_like_i64(g, index, 0)), from_end, index);
}

const char* tpt_index_check_text(tpt_lower_t* l) {
  return tpt_arena_printf(l->arena, "aten::%s", tpt_op_schema(l->op)->name);
}

const char* tpt_value_check_text(tpt_lower_t* l) {
  return tpt_arena_printf(l->arena, "!aten::%s", tpt_op_schema(l->op)->name);
}

tpt_v tpt_at_least_1d(tpt_graph_t* g, tpt_v x) {
  static const int64_t kOne[1] = {1};
  return tpt_graph_type(g, x)->rank == 0 ? tpt_hlo_reshape(g, x, 1, kOne) : x;
}

static tpt_status_t check_index_dtype(tpt_lower_t* l, tpt_dtype_t dtype) {
  if (dtype == TPT_S64 || dtype == TPT_S32) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "%s(): Expected dtype int64 for index, but got %s",
           tpt_op_schema(l->op)->base, tpt_dtype_row(dtype)->name);
}

tpt_status_t tpt_index_read(tpt_lower_t* l, int arg, int64_t size, tpt_v* out) {
  tpt_v index = tpt_lower_value(l, arg);
  TPT_TRY(check_index_dtype(l, tpt_dtype_of(l->graph, index)));
  *out = tpt_index_wrap(l->graph, index, size);
  return NULL;
}

// --- x[indices] ----------------------------------------------------------------------------------------

// Where a tensor's dimensions go: `dims` are indexed, by indices of the common shape `shape`, which stands
// at dimension `place` of the result; the others keep their order.
typedef struct plan {
  tpt_type_t self;
  int dim_count;
  int dims[TPT_RANK_MAX];
  int shape_rank;
  int64_t shape[TPT_RANK_MAX];
  int place;
  int rank;
  int64_t result[TPT_RANK_MAX];
  tpt_v coordinates;  // s64[shape..., dim_count]
} plan_t;

static bool is_indexed(const plan_t* p, int dim) {
  for (int i = 0; i < p->dim_count; i++)
    if (p->dims[i] == dim) return true;
  return false;
}

static tpt_status_t place_result(plan_t* p) {
  bool adjacent = true;
  for (int i = 1; i < p->dim_count; i++)
    adjacent = adjacent && p->dims[i] == p->dims[i - 1] + 1;
  p->place = adjacent ? p->dims[0] : 0;
  p->rank = p->self.rank - p->dim_count + p->shape_rank;
  if (p->rank > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a result of %d dimensions; at most %d", p->rank, TPT_RANK_MAX);
  int next = 0;
  for (int d = 0, kept = 0; d <= p->self.rank; d++) {
    if (kept == p->place && next == kept) {
      for (int i = 0; i < p->shape_rank; i++)
        p->result[next++] = p->shape[i];
    }
    if (d == p->self.rank || is_indexed(p, d)) continue;
    p->result[next++] = p->self.dims[d];
    kept++;
  }
  return NULL;
}

// Broadcasts the index tensors and joins them as coordinate vectors.
static tpt_status_t join(tpt_lower_t* l, plan_t* p, tpt_v* indices) {
  tpt_graph_t* g = l->graph;
  TPT_TRY_NOTE(tpt_lower_broadcast(l, indices, p->dim_count),
               "shape mismatch: indexing tensors could not be broadcast together");
  tpt_type_t shape = *tpt_graph_type(g, indices[0]);
  p->shape_rank = shape.rank;
  memcpy(p->shape, shape.dims, sizeof(p->shape));
  if (shape.rank + 1 > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "indices of more than %d dimensions", TPT_RANK_MAX - 1);
  for (int i = 0; i < p->dim_count; i++)
    indices[i] = tpt_unsqueeze(g, indices[i], shape.rank);
  p->coordinates = tpt_hlo_concatenate(g, indices, p->dim_count, shape.rank);
  return NULL;
}

static tpt_status_t make_plan(tpt_lower_t* l, plan_t* p) {
  tpt_graph_t* g = l->graph;
  memset(p, 0, sizeof(*p));
  p->self = *tpt_graph_type(g, tpt_lower_value(l, 0));
  const tpt_arg_t* list = &l->args[1];
  if ((int)list->count > p->self.rank)
    TPT_FAIL(TPT_OUT_OF_RANGE, "too many indices for tensor of dimension %d (got %u)", p->self.rank,
             list->count);
  tpt_v indices[TPT_RANK_MAX];
  for (int d = 0; d < (int)list->count; d++) {
    if (list->tensors[d].flags & TPT_TENSOR_NONE) continue;
    tpt_dtype_t dtype = list->tensors[d].dtype;
    if (dtype == TPT_PRED || dtype == TPT_U8)
      TPT_FAIL(TPT_UNIMPLEMENTED,
               "masks select a number of elements that is known only at run time");
    if (!tpt_dtype_is_int(dtype))
      TPT_FAIL(TPT_OUT_OF_RANGE, "tensors used as indices must be long, int, byte or bool tensors");
    indices[p->dim_count] = tpt_index_wrap(g, tpt_lower_item(l, 1, d), p->self.dims[d]);
    p->dims[p->dim_count++] = d;
  }
  if (p->dim_count == 0) return NULL;
  TPT_TRY(join(l, p, indices));
  for (int i = 0; i < p->dim_count; i++) {
    int64_t count = 1;
    for (int k = 0; k < p->shape_rank; k++)
      count *= p->shape[k];
    if (p->self.dims[p->dims[i]] == 0 && count > 0)
      TPT_FAIL(TPT_OUT_OF_RANGE, "index is out of bounds for dimension with size 0");
  }
  return place_result(p);
}

static bool has_elements(int rank, const int64_t* dims) {
  for (int i = 0; i < rank; i++)
    if (dims[i] == 0) return false;
  return true;
}

tpt_status_t lower_index(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  plan_t p;
  TPT_TRY(make_plan(l, &p));
  tpt_v self = tpt_lower_value(l, 0);
  if (p.dim_count == 0) return tpt_lower_result(l, self);
  if (!has_elements(p.rank, p.result))
    return tpt_lower_result(l, tpt_fill(g, p.self.dtype, p.rank, p.result, 0));
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  for (int d = 0; d < p.self.rank; d++) {
    bool indexed = is_indexed(&p, d);
    gather.slice_sizes[d] = indexed ? 1 : p.self.dims[d];
    if (indexed) {
      gather.start_index_map[gather.map_count++] = d;
      gather.collapsed_dims[gather.collapsed_count++] = d;
    } else {
      int kept = gather.offset_count;
      gather.offset_dims[gather.offset_count++] = kept < p.place ? kept : kept + p.shape_rank;
    }
  }
  gather.index_vector_dim = p.shape_rank;
  gather.check = tpt_index_check_text(l);
  return tpt_lower_result(l, tpt_hlo_gather(g, self, p.coordinates, &gather));
}

// --- x[mask] = values: the sizes are known, for the values say how many are set ----------------------------

// The mask covers dimensions first .. first + rank of self; `type` is self's.
typedef struct masked {
  tpt_type_t type, mask;
  int first;
} masked_t;

static bool find_mask(const tpt_lower_t* l, int* out_first) {
  const tpt_arg_t* list = &l->args[1];
  int first = -1;
  for (int d = 0; d < (int)list->count; d++) {
    if (list->tensors[d].flags & TPT_TENSOR_NONE) continue;
    if (first >= 0 || list->tensors[d].dtype != TPT_PRED) return false;
    first = d;
  }
  *out_first = first;
  return first >= 0;
}

// Values [before..., n, after...] (n in dimension `at`; below 0 or of size 1: one for all) as an array that broadcasts to self: the k-th goes where the k-th flag is set.
static tpt_v spread_values(tpt_graph_t* g, const masked_t* m, tpt_v values, int at, tpt_v counts) {
  tpt_type_t type = *tpt_graph_type(g, values);
  if (at < 0) return values;
  int64_t dims[TPT_RANK_MAX];
  int rank = 0;
  bool is_one = type.dims[at] == 1;
  for (int d = 0; d < type.rank; d++) {
    for (int k = 0; d == at && k < m->mask.rank; k++)
      dims[rank++] = is_one ? 1 : m->mask.dims[k];
    if (d != at) dims[rank++] = type.dims[d];
  }
  if (is_one) return tpt_hlo_reshape(g, values, rank, dims);
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  for (int d = 0; d < type.rank; d++) {
    gather.slice_sizes[d] = d == at ? 1 : type.dims[d];
    if (d != at) gather.offset_dims[gather.offset_count++] = d;
  }
  gather.collapsed_count = gather.map_count = 1;
  gather.collapsed_dims[0] = gather.start_index_map[0] = at;
  gather.index_vector_dim = 1;
  tpt_v place = tpt_sub(g, counts, tpt_like_i64(g, counts, 1));
  place = tpt_max(g, place, tpt_like_i64(g, place, 0));
  place = tpt_min(g, place, tpt_like_i64(g, place, type.dims[at] - 1));
  return tpt_hlo_reshape(g, tpt_hlo_gather(g, values, place, &gather), rank, dims);
}

// The k-th entry of `values` where the k-th flag is set; a count that does not match fails the launch.
static tpt_status_t masked_values(tpt_lower_t* l, const masked_t* m, tpt_v mask, tpt_v* out) {
  static const char* const kMismatch =
      "shape mismatch: value tensor cannot be broadcast to indexing result";
  tpt_graph_t* g = l->graph;
  tpt_v values = tpt_lower_value_as(l, 2, m->type.dtype);
  tpt_type_t type = *tpt_graph_type(g, values);
  int rank = m->type.rank - m->mask.rank + 1, at = m->first - rank + type.rank;
  if (type.rank > rank) TPT_FAIL(TPT_INVALID_ARGUMENT, "%s", kMismatch);
  int64_t given = at < 0 ? 1 : type.dims[at];
  tpt_v needed = TPT_VALUE_NONE, counts = TPT_VALUE_NONE;
  if (given != 1) {
    if (tpt_type_count(&m->mask) > INT32_MAX)
      TPT_FAIL(TPT_UNIMPLEMENTED, "a mask of more than 2^31 - 1 elements");
    counts = tpt_running_count(g, tpt_flatten(g, mask));
    needed = tpt_last(g, counts);
  }
  tpt_v spread =
      given ? spread_values(g, m, values, at, counts) : tpt_hlo_scalar_i64(g, m->type.dtype, 0);
  spread = tpt_hlo_broadcast_to(g, spread, m->type.rank, m->type.dims);
  if (given != 1)
    spread = tpt_assert(g, tpt_eq(g, needed, tpt_like_i64(g, needed, given)), kMismatch, spread);
  *out = spread;
  return NULL;
}

static tpt_status_t put_by_mask(tpt_lower_t* l, int first) {
  tpt_graph_t* g = l->graph;
  tpt_v self = tpt_lower_value(l, 0), mask = tpt_lower_item(l, 1, first), values;
  masked_t m = {*tpt_graph_type(g, self), *tpt_graph_type(g, mask), first};
  int64_t dims[TPT_RANK_MAX];
  for (int d = 0; d < m.mask.rank; d++) {
    dims[d] = first + d;
    if (first + d >= m.type.rank || m.mask.dims[d] != m.type.dims[first + d])
      TPT_FAIL(TPT_OUT_OF_RANGE,
               "The shape of the mask at index %d does not match the shape of the indexed tensor",
               d);
  }
  if (tpt_type_count(&m.type) == 0) return tpt_lower_result(l, self);
  TPT_TRY(masked_values(l, &m, mask, &values));
  if (tpt_lower_bool(l, 3)) {
    bool is_pred = m.type.dtype == TPT_PRED;
    values = is_pred ? tpt_or(g, self, values) : tpt_add(g, self, values);
  }
  mask = tpt_hlo_broadcast_in_dim(g, mask, m.type.rank, m.type.dims, dims);
  return tpt_lower_result(l, tpt_select(g, mask, values, self));
}

static tpt_status_t check_value_dtype(const tpt_lower_t* l, tpt_dtype_t dtype) {
  const tpt_tensor_t* values = tpt_lower_tensor(l, 2);
  if (values->flags & TPT_TENSOR_HOST || values->dtype == dtype) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "Index put requires the source and destination dtypes match, got %s for the destination "
           "and %s for the source.",
           tpt_dtype_row(dtype)->name, tpt_dtype_row(values->dtype)->name);
}

// self, indices, values, accumulate.
tpt_status_t lower_index_put(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  int first;
  bool has_mask = find_mask(l, &first), accumulates = tpt_lower_bool(l, 3);
  // One number for all is a fill, which converts.
  if (!has_mask || accumulates || tpt_type_count(tpt_graph_type(g, tpt_lower_value(l, 2))) != 1)
    TPT_TRY(check_value_dtype(l, tpt_lower_tensor(l, 0)->dtype));
  if (has_mask) return put_by_mask(l, first);
  plan_t p;
  TPT_TRY(make_plan(l, &p));
  tpt_v self = tpt_lower_value(l, 0);
  tpt_v update = tpt_lower_value_as(l, 2, p.self.dtype);
  if (p.dim_count == 0) {
    memcpy(p.result, p.self.dims, sizeof(p.result));
    p.rank = p.self.rank;
  }
  // Leading ones of the values may be dropped: x[i] = v[None].
  tpt_type_t type = *tpt_graph_type(g, update);
  int drop = 0;
  while (type.rank - drop > p.rank && type.dims[drop] == 1)
    drop++;
  if (drop) update = tpt_hlo_reshape(g, update, type.rank - drop, type.dims + drop);
  update = tpt_hlo_broadcast_to(g, update, p.rank, p.result);
  bool accumulate = tpt_lower_bool(l, 3);
  tpt_hlo_t combine = accumulate ? TPT_HLO_ADD : TPT_HLO_COUNT;
  if (accumulate && p.self.dtype == TPT_PRED) combine = TPT_HLO_OR;
  if (p.dim_count == 0)
    return tpt_lower_result(l, accumulate ? tpt_hlo_binary(g, combine, self, update) : update);
  if (!has_elements(p.rank, p.result)) return tpt_lower_result(l, self);
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  for (int d = 0; d < p.self.rank; d++) {
    if (is_indexed(&p, d)) {
      scatter.dims_to_operand[scatter.map_count++] = d;
      scatter.inserted_dims[scatter.inserted_count++] = d;
    } else {
      int kept = scatter.update_window_count;
      scatter.update_window_dims[scatter.update_window_count++] =
          kept < p.place ? kept : kept + p.shape_rank;
    }
  }
  scatter.index_vector_dim = p.shape_rank;
  scatter.check = tpt_index_check_text(l);
  return tpt_lower_result(l, tpt_hlo_scatter(g, self, p.coordinates, update, &scatter, combine));
}

// --- along one dimension -----------------------------------------------------------------------------------

// self (at least 1-d), its dimension `dim`, and a 1-d index. Negative indices are out of range, as on the
// CPU; index_fill alone counts them from the end.
typedef struct line {
  tpt_v self, index;
  tpt_type_t type;
  int dim;
  int64_t count;  // of indices
} line_t;

static tpt_status_t read_line(tpt_lower_t* l, line_t* out) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, 1), self->rank, &out->dim));
  out->self = tpt_at_least_1d(g, tpt_lower_value(l, 0));
  out->type = *tpt_graph_type(g, out->self);
  if (tpt_lower_tensor(l, 2)->rank > 1)
    TPT_FAIL(TPT_OUT_OF_RANGE, "%s(): Index is supposed to be a vector, but got dim: %d",
             tpt_op_schema(l->op)->base, tpt_lower_tensor(l, 2)->rank);
  out->index = tpt_lower_value(l, 2);
  TPT_TRY(check_index_dtype(l, tpt_dtype_of(g, out->index)));
  out->index = tpt_at_least_1d(g, tpt_hlo_convert(g, out->index, TPT_S64));
  out->count = tpt_graph_type(g, out->index)->dims[0];
  return NULL;
}

tpt_status_t lower_index_select(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  line_t line;
  TPT_TRY(read_line(l, &line));
  int rank = line.type.rank;
  int64_t dims[TPT_RANK_MAX];
  memcpy(dims, line.type.dims, sizeof(dims));
  dims[line.dim] = line.count;
  if (line.type.dims[line.dim] == 0 && line.count > 0)
    TPT_FAIL(TPT_OUT_OF_RANGE, "index_select(): index out of range: the dimension has size 0");
  tpt_v result;
  if (!has_elements(rank, dims)) {
    result = tpt_fill(g, line.type.dtype, rank, dims, 0);
  } else {
    tpt_gather_t gather;
    memset(&gather, 0, sizeof(gather));
    for (int d = 0; d < rank; d++) {
      gather.slice_sizes[d] = d == line.dim ? 1 : line.type.dims[d];
      if (d != line.dim) gather.offset_dims[gather.offset_count++] = d;
    }
    gather.collapsed_count = gather.map_count = 1;
    gather.collapsed_dims[0] = gather.start_index_map[0] = line.dim;
    gather.index_vector_dim = 1;
    gather.check = tpt_index_check_text(l);
    result = tpt_hlo_gather(g, line.self, line.index, &gather);
  }
  // A 0-d tensor gives a 0-d result for one index.
  if (tpt_lower_tensor(l, 0)->rank == 0) result = tpt_hlo_reshape(g, result, 0, NULL);
  return tpt_lower_result(l, result);
}

// Combines `update` (self's shape, count along dim) into self at the line's indices.
static tpt_status_t write_line(tpt_lower_t* l, const line_t* line, tpt_v update,
                               tpt_hlo_t combine) {
  tpt_graph_t* g = l->graph;
  tpt_v result = line->self;
  tpt_type_t type = *tpt_graph_type(g, update);
  if (tpt_type_count(&type) > 0) {
    tpt_scatter_t scatter;
    memset(&scatter, 0, sizeof(scatter));
    for (int d = 0; d < line->type.rank; d++)
      if (d != line->dim) scatter.update_window_dims[scatter.update_window_count++] = d;
    scatter.inserted_count = scatter.map_count = 1;
    scatter.inserted_dims[0] = scatter.dims_to_operand[0] = line->dim;
    scatter.index_vector_dim = 1;
    scatter.check = tpt_index_check_text(l);
    result = tpt_hlo_scatter(g, line->self, line->index, update, &scatter, combine);
  }
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  if (self->rank == 0) result = tpt_hlo_reshape(g, result, 0, NULL);
  return tpt_lower_result(l, result);
}

// The source of index_add and index_copy, of self's dtype, with `count` entries along the dimension.
static tpt_status_t read_source(tpt_lower_t* l, const line_t* line, tpt_v* out) {
  tpt_graph_t* g = l->graph;
  const char* name = tpt_op_schema(l->op)->base;
  tpt_v source = tpt_lower_value(l, 3);
  if (tpt_dtype_of(g, source) != line->type.dtype)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s(): self (%s) and source (%s) must have the same scalar type",
             name, tpt_dtype_row(line->type.dtype)->name,
             tpt_dtype_row(tpt_dtype_of(g, source))->name);
  int64_t dims[TPT_RANK_MAX];
  memcpy(dims, line->type.dims, sizeof(dims));
  dims[line->dim] = line->count;
  tpt_type_t type = *tpt_graph_type(g, source);
  if (type.rank == 0 && line->type.rank >= 1 && line->count == 1 && line->type.rank == 1) {
    *out = tpt_hlo_reshape(g, source, 1, dims);
    return NULL;
  }
  tpt_type_t wanted = tpt_type_make(type.dtype, line->type.rank, dims);
  if (!tpt_dims_equal(&type, &wanted)) {
    char have[256], want[256];
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s(): source has shape %s where the index and self ask for %s",
             name, tpt_type_print(&type, have, sizeof(have)),
             tpt_type_print(&wanted, want, sizeof(want)));
  }
  *out = source;
  return NULL;
}

tpt_status_t lower_index_add(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  line_t line;
  tpt_v source;
  TPT_TRY(read_line(l, &line));
  TPT_TRY(read_source(l, &line, &source));
  bool is_bool = line.type.dtype == TPT_PRED;
  tpt_v alpha = tpt_lower_scalar(l, 4, line.type.dtype);
  source = is_bool ? tpt_and(g, source, alpha) : tpt_mul(g, source, alpha);
  return write_line(l, &line, source, is_bool ? TPT_HLO_OR : TPT_HLO_ADD);
}

tpt_status_t lower_index_copy(tpt_lower_t* l) {
  line_t line;
  tpt_v source;
  TPT_TRY(read_line(l, &line));
  TPT_TRY(read_source(l, &line, &source));
  return write_line(l, &line, source, TPT_HLO_COUNT);
}

tpt_status_t lower_index_fill(tpt_lower_t* l) {
  line_t line;
  TPT_TRY(read_line(l, &line));
  line.index = tpt_index_wrap(l->graph, line.index, line.type.dims[line.dim]);
  int64_t dims[TPT_RANK_MAX];
  memcpy(dims, line.type.dims, sizeof(dims));
  dims[line.dim] = line.count;
  tpt_v value;
  if (l->args[3].kind == TPT_ARG_TENSOR) {
    if (tpt_lower_tensor(l, 3)->rank != 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d "
               "dimension(s).",
               tpt_lower_tensor(l, 3)->rank);
    value = tpt_lower_value_as(l, 3, line.type.dtype);
  } else {
    value = tpt_lower_scalar(l, 3, line.type.dtype);
  }
  value = tpt_hlo_broadcast_to(l->graph, value, line.type.rank, dims);
  return write_line(l, &line, value, TPT_HLO_COUNT);
}

// --- flat --------------------------------------------------------------------------------------------------

// Indices into the flattened self.
tpt_status_t lower_take(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v self = tpt_flatten(g, tpt_lower_value(l, 0)), index;
  int64_t size = tpt_graph_type(g, self)->dims[0];
  TPT_TRY(tpt_index_read(l, 1, size, &index));
  tpt_type_t type = *tpt_graph_type(g, index);
  if (tpt_type_count(&type) == 0)
    return tpt_lower_result(l, tpt_fill(g, tpt_dtype_of(g, self), type.rank, type.dims, 0));
  if (size == 0) TPT_FAIL(TPT_OUT_OF_RANGE, "take(): tried to take from an empty tensor");
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  gather.collapsed_count = gather.map_count = 1;
  gather.slice_sizes[0] = 1;
  gather.index_vector_dim = 1;
  gather.check = tpt_index_check_text(l);
  tpt_v result = tpt_hlo_gather(g, self, tpt_flatten(g, index), &gather);
  return tpt_lower_result(l, tpt_hlo_reshape(g, result, type.rank, type.dims));
}

tpt_status_t lower_put(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v value = tpt_lower_value(l, 0), index;
  tpt_type_t type = *tpt_graph_type(g, value);
  tpt_v self = tpt_flatten(g, value), source = tpt_flatten(g, tpt_lower_value(l, 2));
  TPT_TRY(tpt_index_read(l, 1, tpt_graph_type(g, self)->dims[0], &index));
  index = tpt_flatten(g, index);
  if (tpt_dtype_of(g, source) != type.dtype)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "put_(): self and source expected to have the same dtype");
  if (tpt_graph_type(g, source)->dims[0] != tpt_graph_type(g, index)->dims[0])
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "put_(): Expected source and index to have the same number of elements");
  if (tpt_graph_type(g, index)->dims[0] == 0) return tpt_lower_result(l, value);
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  scatter.inserted_count = scatter.map_count = 1;
  scatter.index_vector_dim = 1;
  scatter.check = tpt_index_check_text(l);
  tpt_hlo_t combine = TPT_HLO_COUNT;
  if (tpt_lower_bool(l, 3)) combine = type.dtype == TPT_PRED ? TPT_HLO_OR : TPT_HLO_ADD;
  tpt_v result = tpt_hlo_scatter(g, self, index, source, &scatter, combine);
  return tpt_lower_result(l, tpt_hlo_reshape(g, result, type.rank, type.dims));
}
