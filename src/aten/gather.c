// gather and scatter: one index for each element, along one dimension. index may be smaller than self
// (and than src) in the other dimensions.
#include <math.h>

#include "aten/array.h"
#include "aten/index.h"
#include "aten/rows.h"

typedef struct places {
  tpt_v self;   // at least 1-d
  tpt_v index;  // s64, self's rank, wrapped
  tpt_type_t type, index_type;
  int dim;
  bool empty;  // no index at all
} places_t;

// self at argument 0, dim 1, index 2.
static tpt_status_t read_places(tpt_lower_t* l, places_t* out) {
  tpt_graph_t* g = l->graph;
  const char* name = tpt_op_schema(l->op)->base;
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, 1), tpt_lower_tensor(l, 0)->rank, &out->dim));
  out->self = tpt_at_least_1d(g, tpt_lower_value(l, 0));
  out->type = *tpt_graph_type(g, out->self);
  tpt_v index = tpt_at_least_1d(g, tpt_lower_value(l, 2));
  out->index_type = *tpt_graph_type(g, index);
  out->empty = tpt_type_count(&out->index_type) == 0;
  if (out->empty) return NULL;  // of any dtype, as on the CPU
  if (out->index_type.dtype != TPT_S64 && out->index_type.dtype != TPT_S32)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s(): Expected dtype int64 for index", name);
  if (out->index_type.rank != out->type.rank)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Index tensor must have the same number of dimensions as input tensor");
  for (int d = 0; d < out->type.rank; d++) {
    if (d != out->dim && out->index_type.dims[d] > out->type.dims[d])
      TPT_FAIL(
          TPT_INVALID_ARGUMENT,
          "Size does not match at dimension %d expected index to be no larger than self apart from "
          "dimension %d",
          d, out->dim);
  }
  if (out->type.dims[out->dim] == 0)
    TPT_FAIL(TPT_OUT_OF_RANGE, "%s(): index is out of bounds for dimension %d with size 0", name,
             out->dim);
  out->index =
      tpt_hlo_convert(g, index, TPT_S64);  // negative indices are errors here, as on the CPU
  return NULL;
}

// The part of x that the index covers: its leading sizes, whole along dim when `whole`.
static tpt_v covered(tpt_graph_t* g, const places_t* p, tpt_v x, bool whole) {
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t start[TPT_RANK_MAX] = {0}, stride[TPT_RANK_MAX], limit[TPT_RANK_MAX];
  bool same = true;
  for (int d = 0; d < type.rank; d++) {
    stride[d] = 1;
    limit[d] = whole && d == p->dim ? type.dims[d] : p->index_type.dims[d];
    same = same && limit[d] == type.dims[d];
  }
  return same ? x : tpt_hlo_slice(g, x, start, limit, stride);
}

tpt_status_t lower_gather(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  places_t p;
  TPT_TRY(read_places(l, &p));
  const tpt_tensor_t* shape = tpt_lower_tensor(l, 2);
  if (p.empty) return tpt_lower_result(l, tpt_fill(g, p.type.dtype, shape->rank, shape->sizes, 0));
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  for (int d = 0; d < p.type.rank; d++) {
    gather.slice_sizes[d] = 1;
    if (d == p.dim) continue;
    gather.operand_batching[gather.batching_count] = d;
    gather.indices_batching[gather.batching_count++] = d;
  }
  gather.collapsed_count = gather.map_count = 1;
  gather.collapsed_dims[0] = gather.start_index_map[0] = p.dim;
  gather.index_vector_dim = p.type.rank;
  gather.check = tpt_value_check_text(l);
  tpt_v result = tpt_hlo_gather(g, covered(g, &p, p.self, true), p.index, &gather);
  return tpt_lower_result(l, tpt_hlo_reshape(g, result, shape->rank, shape->sizes));
}

// Combines `update` (the index's shape) into `base` (self's type) at the places.
static tpt_v scatter_into(tpt_lower_t* l, const places_t* p, tpt_v base, tpt_v update,
                          tpt_hlo_t combine) {
  tpt_graph_t* g = l->graph;
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  for (int d = 0; d < p->type.rank; d++) {
    if (d == p->dim) continue;
    scatter.input_batching[scatter.batching_count] = d;
    scatter.indices_batching[scatter.batching_count++] = d;
  }
  scatter.inserted_count = scatter.map_count = 1;
  scatter.inserted_dims[0] = scatter.dims_to_operand[0] = p->dim;
  scatter.index_vector_dim = p->type.rank;
  scatter.check = tpt_value_check_text(l);
  tpt_v part = covered(g, p, base, true);
  tpt_v result = tpt_hlo_scatter(g, part, p->index, update, &scatter, combine);
  if (part.index == base.index) return result;
  tpt_v starts[TPT_RANK_MAX];
  for (int d = 0; d < p->type.rank; d++)
    starts[d] = tpt_hlo_scalar_i64(g, TPT_S64, 0);
  return tpt_hlo_dynamic_update_slice(g, base, result, starts);
}

static tpt_status_t give(tpt_lower_t* l, tpt_v result) {
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  return tpt_lower_result(l, tpt_hlo_reshape(l->graph, result, self->rank, self->sizes));
}

// What to write: src cut to the index's shape, or a number repeated.
static tpt_status_t read_update(tpt_lower_t* l, const places_t* p, tpt_v* out) {
  tpt_graph_t* g = l->graph;
  if (l->args[3].kind != TPT_ARG_TENSOR) {
    tpt_v number = tpt_lower_scalar(l, 3, p->type.dtype);
    *out = tpt_hlo_broadcast_to(g, number, p->type.rank, p->index_type.dims);
    return NULL;
  }
  tpt_v source = tpt_at_least_1d(g, tpt_lower_value(l, 3));
  tpt_type_t type = *tpt_graph_type(g, source);
  if (type.dtype != p->type.dtype)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s(): Expected self.dtype to be equal to src.dtype",
             tpt_op_schema(l->op)->base);
  if (type.rank != p->type.rank)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Index tensor must have the same number of dimensions as src tensor");
  for (int d = 0; d < type.rank; d++)
    if (p->index_type.dims[d] > type.dims[d])
      TPT_FAIL(TPT_INVALID_ARGUMENT, "Expected index to be no larger than src in dimension %d", d);
  *out = covered(g, p, source, false);
  return NULL;
}

static bool is_named(const tpt_lower_t* l, int arg, const char* name) {
  const tpt_arg_t* a = &l->args[arg];
  return a->count == strlen(name) && memcmp(a->string, name, a->count) == 0;
}

static tpt_hlo_t adding(tpt_dtype_t dtype) {
  return dtype == TPT_PRED ? TPT_HLO_OR : TPT_HLO_ADD;
}
static tpt_hlo_t multiplying(tpt_dtype_t dtype) {
  return dtype == TPT_PRED ? TPT_HLO_AND : TPT_HLO_MULTIPLY;
}

// mode 1: scatter_add.
tpt_status_t lower_scatter(tpt_lower_t* l) {
  places_t p;
  tpt_v update;
  TPT_TRY(read_places(l, &p));
  if (p.empty) return tpt_lower_result(l, tpt_lower_value(l, 0));
  TPT_TRY(read_update(l, &p, &update));
  tpt_hlo_t combine = l->op->params.mode == 1 ? adding(p.type.dtype) : TPT_HLO_COUNT;
  if (l->arg_count == 5) {
    if (is_named(l, 4, "add")) {
      combine = adding(p.type.dtype);
    } else if (is_named(l, 4, "multiply")) {
      combine = multiplying(p.type.dtype);
    } else {
      TPT_FAIL(TPT_INVALID_ARGUMENT, "reduce argument must be either add or multiply.");
    }
  }
  return give(l, scatter_into(l, &p, p.self, update, combine));
}

typedef enum reduction {
  REDUCE_SUM,
  REDUCE_PROD,
  REDUCE_MEAN,
  REDUCE_AMAX,
  REDUCE_AMIN
} reduction_t;

static tpt_status_t read_reduction(const tpt_lower_t* l, reduction_t* out) {
  static const char* const kNames[] = {"sum", "prod", "mean", "amax", "amin"};
  for (int i = 0; i < 5; i++) {
    *out = (reduction_t)i;
    if (is_named(l, 4, kNames[i])) return NULL;
  }
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "reduce argument must be either sum, prod, mean, amax or amin, got %.*s",
           (int)l->args[4].count, l->args[4].string);
}

static tpt_v neutral(tpt_graph_t* g, reduction_t reduction, tpt_dtype_t dtype) {
  switch (reduction) {
  case REDUCE_PROD:
    return tpt_hlo_scalar_i64(g, dtype, 1);
  case REDUCE_AMAX:
    return tpt_lowest(g, dtype);
  case REDUCE_AMIN:
    return tpt_highest(g, dtype);
  default:
    return tpt_hlo_scalar_i64(g, dtype, 0);
  }
}

// sum / count, towards minus infinity for integers; counts of at least one.
static tpt_v mean_of(tpt_graph_t* g, tpt_v sum, tpt_v count) {
  if (!tpt_dtype_is_int(tpt_dtype_of(g, sum))) return tpt_div(g, sum, count);
  tpt_v quotient = tpt_div(g, sum, count);
  tpt_v rest = tpt_sub(g, sum, tpt_mul(g, quotient, count));
  tpt_v below = tpt_lt(g, rest, tpt_like_i64(g, rest, 0));
  return tpt_select(g, below, tpt_sub(g, quotient, tpt_like_i64(g, quotient, 1)), quotient);
}

tpt_status_t lower_scatter_reduce(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  places_t p;
  tpt_v update;
  reduction_t reduction;
  TPT_TRY(read_reduction(l, &reduction));
  TPT_TRY(read_places(l, &p));
  if (p.empty) return tpt_lower_result(l, tpt_lower_value(l, 0));
  TPT_TRY(read_update(l, &p, &update));
  tpt_dtype_t dtype = p.type.dtype;
  if (dtype == TPT_PRED || tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  static const tpt_hlo_t kCombine[] = {TPT_HLO_ADD, TPT_HLO_MULTIPLY, TPT_HLO_ADD, TPT_HLO_MAXIMUM,
                                       TPT_HLO_MINIMUM};
  bool include_self = tpt_lower_bool(l, 5);
  tpt_dtype_t compute = reduction == REDUCE_MEAN ? tpt_dtype_compute(dtype) : dtype;
  tpt_v base = tpt_hlo_convert(g, p.self, compute);
  update = tpt_hlo_convert(g, update, compute);
  if (!include_self) {
    tpt_v start = neutral(g, reduction, compute);
    start = tpt_hlo_broadcast_to(g, start, p.index_type.rank, p.index_type.dims);
    base = scatter_into(l, &p, base, start, TPT_HLO_COUNT);
  }
  tpt_v result = scatter_into(l, &p, base, update, kCombine[reduction]);
  if (reduction == REDUCE_MEAN) {
    tpt_v ones = tpt_like_i64(g, update, 1);
    tpt_v counts = tpt_like_i64(g, base, include_self ? 1 : 0);
    counts = scatter_into(l, &p, counts, ones, TPT_HLO_ADD);
    counts = tpt_max(g, counts, tpt_like_i64(g, counts, 1));
    result = mean_of(g, result, counts);
  }
  return give(l, tpt_hlo_convert(g, result, dtype));
}
