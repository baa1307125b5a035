// Lowerings of reductions: sums, products, extrema and where they are, norms, moments. f16 and bf16
// are accumulated in f32 and rounded once. Invariants: a NaN wins every extremum, ties go to the
// first index, an empty sum is 0 and an empty mean NaN.
#include "aten/reduction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aten/promote.h"
#include "aten/rows.h"

// --- which dimensions ---------------------------------------------------------------------------

int tpt_lower_find(const tpt_lower_t* l, const char* name) {
  const tpt_schema_t* schema = tpt_op_schema(l->op);
  for (int i = 0; i < schema->arg_count; i++)
    if (!strcmp(schema->args[i].name, name)) return i;
  return -1;
}

static tpt_status_t mark_dim(int64_t dim, int rank, bool* inout_marks) {
  int wrapped;
  TPT_TRY(tpt_wrap_dim(dim, rank, &wrapped));
  if (inout_marks[wrapped])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "dim %d appears multiple times in the list of dims", wrapped);
  inout_marks[wrapped] = true;
  return NULL;
}

tpt_status_t tpt_lower_reduced(tpt_lower_t* l, tpt_reduced_t* out) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  memset(out, 0, sizeof(*out));
  out->rank = t->rank;
  int dim = tpt_lower_find(l, "dim"), keepdim = tpt_lower_find(l, "keepdim");
  out->keepdim = keepdim >= 0 && tpt_lower_bool(l, keepdim);
  const tpt_arg_t* arg = dim >= 0 ? &l->args[dim] : NULL;
  bool is_list = arg && arg->kind == TPT_ARG_INTS;
  out->whole = !arg || arg->kind == TPT_ARG_NONE || (is_list && arg->count == 0);
  bool marks[TPT_RANK_MAX] = {false};
  for (uint32_t i = 0; !out->whole && i < (is_list ? arg->count : 1); i++)
    TPT_TRY(mark_dim(is_list ? arg->ints[i] : arg->number.i, t->rank, marks));
  out->size = 1;
  for (int d = 0; d < t->rank; d++) {
    if (!out->whole && !marks[d]) continue;
    out->dims[out->count++] = d;
    out->size *= t->sizes[d];
  }
  return NULL;
}

tpt_status_t tpt_reduced_check(const tpt_lower_t* l, const tpt_reduced_t* r, const char* name) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  if (r->whole) {
    if (r->size == 0)
      TPT_FAIL(TPT_OUT_OF_RANGE,
               "%s: Expected reduction dim to be specified for input.numel() == 0. Specify the "
               "reduction dim with the 'dim' argument.",
               name);
    return NULL;
  }
  for (int i = 0; i < r->count; i++) {
    if (t->sizes[r->dims[i]] == 0)
      TPT_FAIL(TPT_OUT_OF_RANGE, "%s: Expected reduction dim %d to have non-zero size.", name,
               (int)r->dims[i]);
  }
  return NULL;
}

tpt_v tpt_reduced_sum(tpt_graph_t* g, tpt_v x, const tpt_reduced_t* r) {
  return r->count ? tpt_reduce_sum(g, x, r->dims, r->count) : x;
}

tpt_v tpt_reduced_max(tpt_graph_t* g, tpt_v x, const tpt_reduced_t* r) {
  return r->count ? tpt_reduce_max(g, x, r->dims, r->count) : x;
}

tpt_v tpt_reduced_min(tpt_graph_t* g, tpt_v x, const tpt_reduced_t* r) {
  return r->count ? tpt_reduce_min(g, x, r->dims, r->count) : x;
}

tpt_v tpt_reduced_keep(tpt_graph_t* g, tpt_v y, const tpt_reduced_t* r) {
  return tpt_keep_dims(g, y, r->rank, r->dims, r->count);
}

tpt_v tpt_reduced_shape(tpt_graph_t* g, tpt_v y, const tpt_reduced_t* r) {
  return r->keepdim ? tpt_reduced_keep(g, y, r) : y;
}

// Rounds to the result's dtype and applies keepdim.
static tpt_status_t add_result(tpt_lower_t* l, const tpt_reduced_t* r, tpt_v y, tpt_dtype_t dtype) {
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, tpt_reduced_shape(l->graph, y, r), dtype));
}

static bool is_exact(tpt_dtype_t d) {
  return d == TPT_PRED || tpt_dtype_is_int(d);
}

// The "dtype" argument, else the operand's dtype.
static tpt_dtype_t wanted_dtype(const tpt_lower_t* l) {
  int arg = tpt_lower_find(l, "dtype");
  tpt_dtype_t own = tpt_lower_tensor(l, 0)->dtype;
  return arg >= 0 ? tpt_lower_dtype_or(l, arg, own) : own;
}

// The same, where integers add up in int64 unless "dtype" says otherwise.
static tpt_dtype_t sum_dtype(const tpt_lower_t* l) {
  int arg = tpt_lower_find(l, "dtype");
  tpt_dtype_t own = tpt_lower_tensor(l, 0)->dtype;
  return tpt_lower_dtype_or(l, arg, is_exact(own) ? TPT_S64 : own);
}

// --- sums and products --------------------------------------------------------------------------

tpt_status_t lower_sum(tpt_lower_t* l) {
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_dtype_t dtype = sum_dtype(l);
  tpt_v x = tpt_operand(l, 0, dtype);
  return add_result(l, &r, tpt_reduced_sum(l->graph, x, &r), dtype);
}

tpt_status_t lower_nansum(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_dtype_t dtype = sum_dtype(l);
  if (tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_v x = tpt_operand(l, 0, dtype);
  if (tpt_dtype_is_float(dtype)) x = tpt_select(g, tpt_isnan(g, x), tpt_like(g, x, 0.0), x);
  return add_result(l, &r, tpt_reduced_sum(g, x, &r), dtype);
}

tpt_status_t lower_mean(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_dtype_t dtype = wanted_dtype(l);
  if (is_exact(dtype)) {
    bool is_given = tpt_lower_has(l, tpt_lower_find(l, "dtype"));
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "mean(): could not infer output dtype. %s dtype must be either a floating point or "
             "complex dtype. Got: %s",
             is_given ? "Optional" : "Input", tpt_dtype_torch_name(dtype));
  }
  tpt_v sum = tpt_reduced_sum(g, tpt_operand(l, 0, dtype), &r);
  return add_result(l, &r, tpt_div(g, sum, tpt_like(g, sum, (double)r.size)), dtype);
}

tpt_status_t lower_prod(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_dtype_t dtype = sum_dtype(l);
  tpt_v x = tpt_operand(l, 0, dtype);
  tpt_v one = tpt_hlo_scalar_i64(g, tpt_dtype_of(g, x), 1);
  if (r.count) x = tpt_hlo_reduce(g, x, one, TPT_HLO_MULTIPLY, r.dims, r.count);
  return add_result(l, &r, x, dtype);
}

// any and all; uint8 keeps its dtype, as PyTorch's do.
tpt_status_t lower_truth(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_hlo_t op = l->op->params.hlo;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_dtype_t dtype = tpt_dtype_of(g, x) == TPT_U8 ? TPT_U8 : TPT_PRED;
  x = tpt_truth(g, x);
  tpt_v init = tpt_hlo_scalar_i64(g, TPT_PRED, op == TPT_HLO_AND);
  if (r.count) x = tpt_hlo_reduce(g, x, init, op, r.dims, r.count);
  return add_result(l, &r, x, dtype);
}

tpt_status_t lower_count_nonzero(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_v x = tpt_hlo_convert(g, tpt_truth(g, tpt_lower_value(l, 0)), TPT_S64);
  return add_result(l, &r, tpt_reduced_sum(g, x, &r), TPT_S64);
}

// --- extrema ------------------------------------------------------------------------------------

enum { WANT_MAX = 1, WANT_MIN = 2, WANT_INDEX = 4, WANT_VALUE = 8 };  // params.mode

static tpt_v extremum(tpt_graph_t* g, tpt_v x, const tpt_reduced_t* r, int64_t mode) {
  return mode & WANT_MAX ? tpt_reduced_max(g, x, r) : tpt_reduced_min(g, x, r);
}

// "amax()", "max()", ...: the names of the functions' own messages.
static tpt_status_t check_own(const tpt_lower_t* l, const tpt_reduced_t* r) {
  char name[64];
  snprintf(name, sizeof(name), "%s()", tpt_op_schema(l->op)->base);
  return tpt_reduced_check(l, r, name);
}

tpt_status_t lower_extremum(tpt_lower_t* l) {
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  TPT_TRY(check_own(l, &r));
  tpt_v x = tpt_lower_value(l, 0);
  tpt_dtype_t dtype = tpt_dtype_of(l->graph, x);
  if (tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  return add_result(l, &r, extremum(l->graph, x, &r, l->op->params.mode), dtype);
}

tpt_status_t lower_aminmax(tpt_lower_t* l) {
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  if (r.whole && r.size == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "aminmax(): cannot compute aminmax over an empty dimension as "
                                   "the operation has no identity.");
  TPT_TRY(tpt_reduced_check(l, &r, "aminmax"));
  tpt_v x = tpt_lower_value(l, 0);
  tpt_dtype_t dtype = tpt_dtype_of(l->graph, x);
  if (tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  TPT_TRY(add_result(l, &r, tpt_reduced_min(l->graph, x, &r), dtype));
  return add_result(l, &r, tpt_reduced_max(l->graph, x, &r), dtype);
}

// The first place along one dimension where x equals its extremum (or is NaN, if that is one).
static tpt_v index_of(tpt_graph_t* g, tpt_v x, tpt_v best, const tpt_reduced_t* r) {
  tpt_type_t type = *tpt_graph_type(g, x);
  if (r->count == 0) return tpt_hlo_splat_i64(g, &(tpt_type_t){.dtype = TPT_S64}, 0);
  int dim = (int)r->dims[0];
  tpt_v wide = tpt_reduced_keep(g, best, r);
  tpt_v is_best = tpt_eq(g, x, wide);
  if (tpt_dtype_is_float(type.dtype)) is_best = tpt_or(g, is_best, tpt_isnan(g, x));
  type.dtype = TPT_S32;
  tpt_v where = tpt_select(g, is_best, tpt_hlo_iota(g, &type, dim),
                           tpt_like_i64(g, tpt_hlo_iota(g, &type, dim), type.dims[dim]));
  return tpt_hlo_convert(g, tpt_reduced_min(g, where, r), TPT_S64);
}

// max.dim, min.dim, argmax, argmin.
tpt_status_t lower_arg_extremum(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  int64_t mode = l->op->params.mode;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_v x = tpt_lower_value(l, 0);
  tpt_dtype_t dtype = tpt_dtype_of(g, x);
  if (dtype == TPT_PRED && !(mode & WANT_VALUE))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s(): does not support bool input", tpt_op_schema(l->op)->base);
  if (tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  TPT_TRY(check_own(l, &r));
  tpt_reduced_t flat = r;
  if (r.count > 1) {  // argmax over everything: the index counts elements in row-major order
    flat = (tpt_reduced_t){.rank = 1, .count = 1, .size = r.size};
    x = tpt_hlo_reshape(g, x, 1, (int64_t[]){r.size});
  }
  tpt_v best = extremum(g, x, &flat, mode);
  if (mode & WANT_VALUE) TPT_TRY(add_result(l, &r, best, dtype));
  return add_result(l, &r, index_of(g, x, best, &flat), TPT_S64);
}

// --- moments ------------------------------------------------------------------------------------

enum { WANT_ROOT = 1, WANT_MEAN = 2 };  // params.mode

// var, std and their *_mean forms: two passes, divided by max(0, n - correction). The second pass also
// finds how far the rounded mean is off, without which n * error^2 would enter the sum of squares.
tpt_status_t lower_variance(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_v x = tpt_operand(l, 0, dtype);
  tpt_dtype_t compute = tpt_dtype_of(g, x);
  tpt_v size = tpt_hlo_scalar_f64(g, compute, (double)r.size);
  tpt_v mean = tpt_reduced_sum(g, x, &r);
  mean = tpt_div(g, mean, size);
  tpt_v gap = tpt_sub(g, x, tpt_reduced_keep(g, mean, &r));
  tpt_v drift = tpt_reduced_sum(g, gap, &r);
  tpt_v sum = tpt_reduced_sum(g, tpt_mul(g, gap, gap), &r);
  sum = tpt_sub(g, sum, tpt_div(g, tpt_mul(g, drift, drift), size));
  sum = tpt_max(g, sum, tpt_like(g, sum, 0.0));
  int arg = tpt_lower_find(l, "correction");
  tpt_v correction = tpt_lower_has(l, arg) ? tpt_lower_scalar(l, arg, compute)
                                           : tpt_hlo_scalar_f64(g, compute, 1.0);
  tpt_v degrees = tpt_max(g, tpt_sub(g, size, correction), tpt_hlo_scalar_f64(g, compute, 0.0));
  tpt_v y = tpt_div(g, sum, degrees);
  if (l->op->params.mode & WANT_ROOT) y = tpt_sqrt(g, y);
  TPT_TRY(add_result(l, &r, y, dtype));
  return l->op->params.mode & WANT_MEAN ? add_result(l, &r, mean, dtype) : NULL;
}

tpt_status_t lower_logsumexp(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0}, 1, TPT_PROMOTE_INT_TO_FLOAT);
  if (tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_v x = tpt_operand(l, 0, dtype);
  tpt_v top = tpt_reduced_max(g, x, &r);
  tpt_v is_infinite = tpt_eq(g, tpt_abs(g, top), tpt_like(g, top, INFINITY));
  top = tpt_select(g, is_infinite, tpt_like(g, top, 0.0), top);
  tpt_v shifted = tpt_exp(g, tpt_sub(g, x, tpt_reduced_keep(g, top, &r)));
  tpt_v y = tpt_add(g, tpt_log(g, tpt_reduced_sum(g, shifted, &r)), top);
  return add_result(l, &r, y, dtype);
}

// --- norms --------------------------------------------------------------------------------------

typedef enum order {
  ORDER_ZERO,
  ORDER_ONE,
  ORDER_TWO,
  ORDER_MOST,
  ORDER_LEAST,
  ORDER_POSITIVE,  // any other
  ORDER_NEGATIVE,
} order_t;

int64_t kind_vector_norm(const tpt_lower_t* l) {
  double p = tpt_lower_has(l, 1) ? tpt_lower_double(l, 1) : 2.0;
  if (p == INFINITY) return ORDER_MOST;
  if (p == -INFINITY) return ORDER_LEAST;
  if (p == 0.0 || p == 1.0 || p == 2.0) return (int64_t)p;
  return p < 0 ? ORDER_NEGATIVE : ORDER_POSITIVE;
}

// (sum |x|^p)^(1/p) and its limits; x is real and not negative.
static tpt_v power_norm(tpt_lower_t* l, tpt_v x, const tpt_reduced_t* r, order_t order) {
  tpt_graph_t* g = l->graph;
  switch (order) {
  case ORDER_MOST:
    return tpt_reduced_max(g, x, r);
  case ORDER_LEAST:
    return tpt_reduced_min(g, x, r);
  case ORDER_ZERO:
    return tpt_reduced_sum(g, tpt_hlo_convert(g, tpt_truth(g, x), tpt_dtype_of(g, x)), r);
  case ORDER_ONE:
    return tpt_reduced_sum(g, x, r);
  case ORDER_TWO:
    return tpt_sqrt(g, tpt_reduced_sum(g, tpt_mul(g, x, x), r));
  default:
    break;
  }
  tpt_v p = tpt_lower_scalar(l, 1, tpt_dtype_of(g, x));
  tpt_v sum = tpt_reduced_sum(g, tpt_pow(g, x, p), r);
  return tpt_pow(g, sum, tpt_div(g, tpt_like(g, p, 1.0), p));
}

// linalg_vector_norm and the norm.* overloads; argument 1 is the order.
tpt_status_t lower_vector_norm(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_reduced_t r;
  TPT_TRY(tpt_lower_reduced(l, &r));
  tpt_dtype_t own = tpt_lower_tensor(l, 0)->dtype, dtype = wanted_dtype(l);
  if (is_exact(dtype) || (is_exact(own) && dtype == own)) return tpt_refuse_dtype(l, dtype);
  if (tpt_dtype_is_complex(dtype) != tpt_dtype_is_complex(own)) return tpt_refuse_dtype(l, dtype);
  order_t order = (order_t)tpt_lower_kind(l);
  bool has_identity = order != ORDER_MOST && order != ORDER_LEAST && order != ORDER_NEGATIVE;
  if (r.size == 0 && !has_identity) return tpt_refuse_dtype(l, dtype);  // CPU has the message
  tpt_v x = tpt_abs(g, tpt_operand(l, 0, dtype));
  return add_result(l, &r, power_norm(l, x, &r, order), tpt_dtype_real(dtype));
}
