// Sorting and what follows from it: topk, kthvalue, median. f32, bf16 and f16 are compared through
// integers that order as the numbers do, so every comparison is one integer comparison.
#include "aten/array.h"
#include "aten/index.h"
#include "aten/order.h"
#include "aten/rows.h"

// s32 that order as f32 x: -0 equals 0, every NaN is one number above infinity. (Negative floats order
// backwards as integers: all bits but the sign are flipped.)
static tpt_v float_key(tpt_graph_t* g, tpt_v x) {
  tpt_v zero = tpt_like(g, x, 0);
  x = tpt_select(g, tpt_eq(g, x, zero), zero, x);
  tpt_type_t type = *tpt_graph_type(g, x);
  type.dtype = TPT_S32;
  tpt_v bits = tpt_hlo_bitcast_convert(g, x, &type);
  tpt_v sign = tpt_hlo_binary(g, TPT_HLO_SHRA, bits, tpt_like_i64(g, bits, 31));
  tpt_v key = tpt_xor(g, bits, tpt_and(g, sign, tpt_like_i64(g, bits, 0x7FFFFFFF)));
  return tpt_select(g, tpt_isnan(g, x), tpt_like_i64(g, key, 0x7FC00000), key);
}

// a before b? f64 compare as numbers, NaN last (first when descending).
static tpt_v is_before(tpt_graph_t* g, tpt_v a, tpt_v b, bool descending) {
  tpt_v less = tpt_hlo_compare(g, descending ? TPT_GT : TPT_LT, a, b);
  if (!tpt_dtype_is_float(tpt_dtype_of(g, a))) return less;
  tpt_v first = descending ? a : b, second = descending ? b : a;
  tpt_v apart = tpt_and(g, tpt_isnan(g, first), tpt_not(g, tpt_isnan(g, second)));
  return tpt_or(g, less, apart);
}

static tpt_v sort_operands(tpt_graph_t* g, tpt_v* xs, int count, int dim, bool descending) {
  tpt_type_t types[6];
  tpt_v args[6];
  for (int i = 0; i < count; i++)
    types[2 * i] = types[2 * i + 1] = tpt_type_scalar(tpt_dtype_of(g, xs[i]));
  tpt_region_begin(g, types, (uint32_t)(2 * count), args);
  tpt_v less = is_before(g, args[0], args[1], descending);
  uint32_t body = tpt_region_end(g, &less, 1);
  return tpt_hlo_sort(g, xs, count, dim, true, body);
}

static tpt_v nth(tpt_v first, uint32_t n) {
  return tpt_value_is_none(first) ? first : (tpt_v){first.index + n};
}

tpt_sorted_t tpt_sort(tpt_graph_t* g, tpt_v x, int dim, bool descending) {
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_type_t places = type;
  places.dtype = type.rank > 0 && type.dims[dim] > INT32_MAX ? TPT_S64 : TPT_S32;
  tpt_v iota = tpt_hlo_iota(g, &places, dim);
  bool is_short = type.dtype == TPT_F32 || type.dtype == TPT_BF16 || type.dtype == TPT_F16;
  tpt_sorted_t out;
  if (is_short || type.dtype == TPT_PRED) {
    tpt_v key =
        is_short ? float_key(g, tpt_hlo_convert(g, x, TPT_F32)) : tpt_hlo_convert(g, x, TPT_S32);
    tpt_v xs[3] = {key, x, iota};
    tpt_v first = sort_operands(g, xs, 3, dim, descending);
    out = (tpt_sorted_t){nth(first, 1), nth(first, 2)};
  } else {
    tpt_v xs[2] = {x, iota};
    tpt_v first = sort_operands(g, xs, 2, dim, descending);
    out = (tpt_sorted_t){first, nth(first, 1)};
  }
  out.positions = tpt_hlo_convert(g, out.positions, TPT_S64);
  return out;
}

tpt_v tpt_sort_by(tpt_graph_t* g, tpt_v x, tpt_v payload, int dim) {
  tpt_v xs[2] = {x, payload};
  return nth(sort_operands(g, xs, 2, dim, false), 1);
}

// The operand, its dimension at argument `dim_arg` (wrapped) and its own shape.
typedef struct ordered {
  tpt_v x;
  tpt_type_t type, own;
  int dim;
} ordered_t;

static tpt_status_t read_ordered(tpt_lower_t* l, int dim_arg, ordered_t* out) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  out->own = *tpt_graph_type(g, x);
  if (tpt_dtype_is_complex(out->own.dtype)) return tpt_refuse_dtype(l, out->own.dtype);
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, dim_arg), out->own.rank, &out->dim));
  out->x = tpt_at_least_1d(g, x);
  out->type = *tpt_graph_type(g, out->x);
  return NULL;
}

static tpt_status_t give_pair(tpt_lower_t* l, tpt_sorted_t sorted, int rank, const int64_t* dims) {
  TPT_TRY(tpt_lower_result(l, tpt_hlo_reshape(l->graph, sorted.values, rank, dims)));
  return tpt_lower_result(l, tpt_hlo_reshape(l->graph, sorted.positions, rank, dims));
}

tpt_status_t lower_sort(tpt_lower_t* l) {
  int shift = (int)l->op->params.mode;
  ordered_t o;
  TPT_TRY(read_ordered(l, 1 + shift, &o));
  tpt_sorted_t sorted = tpt_sort(l->graph, o.x, o.dim, tpt_lower_bool(l, 2 + shift));
  return give_pair(l, sorted, o.own.rank, o.own.dims);
}

tpt_status_t lower_topk(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  ordered_t o;
  TPT_TRY(read_ordered(l, 2, &o));
  int64_t k = tpt_lower_int(l, 1);
  if (k < 0 || k > o.type.dims[o.dim])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "selected index k out of range");
  tpt_sorted_t sorted = tpt_sort(g, o.x, o.dim, tpt_lower_bool(l, 3));
  sorted.values = tpt_hlo_slice_dim(g, sorted.values, o.dim, 0, k, 1);
  sorted.positions = tpt_hlo_slice_dim(g, sorted.positions, o.dim, 0, k, 1);
  tpt_type_t type = *tpt_graph_type(g, sorted.values);
  return give_pair(l, sorted, o.own.rank == 0 && k == 1 ? 0 : type.rank, type.dims);
}

// Element `place` of the sorted dimension, which vanishes or stays as 1.
static tpt_status_t give_place(tpt_lower_t* l, const ordered_t* o, tpt_sorted_t sorted,
                               int64_t place, bool keep) {
  tpt_graph_t* g = l->graph;
  sorted.values = tpt_hlo_slice_dim(g, sorted.values, o->dim, place, place + 1, 1);
  sorted.positions = tpt_hlo_slice_dim(g, sorted.positions, o->dim, place, place + 1, 1);
  int64_t dims[TPT_RANK_MAX];
  int rank = 0;
  for (int d = 0; d < o->own.rank; d++) {
    if (d != o->dim) dims[rank++] = o->own.dims[d];
    if (d == o->dim && keep) dims[rank++] = 1;
  }
  return give_pair(l, sorted, rank, dims);
}

tpt_status_t check_kthvalue(tpt_lower_t* l) {
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  int64_t k = tpt_lower_int(l, 1);
  int dim;
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, 2), self->rank, &dim));
  if (k < 1 || k > (self->rank ? self->sizes[dim] : 1))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "kthvalue(): selected number k out of range for dimension %d",
             dim);
  return NULL;
}

// The element at a place (0-d s32) of a dimension, which stays as 1.
static tpt_v at_place(tpt_graph_t* g, tpt_v x, int dim, tpt_v place) {
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_v starts[TPT_RANK_MAX];
  for (int d = 0; d < type.rank; d++)
    starts[d] = d == dim ? place : tpt_hlo_scalar_i64(g, TPT_S32, 0);
  type.dims[dim] = 1;
  return tpt_hlo_dynamic_slice(g, x, starts, type.dims);
}

tpt_status_t lower_kthvalue(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  ordered_t o;
  TPT_TRY(read_ordered(l, 2, &o));
  tpt_sorted_t sorted = tpt_sort(g, o.x, o.dim, false);
  tpt_v place = tpt_hlo_convert(g, tpt_lower_scalar(l, 1, TPT_S64), TPT_S32);
  place = tpt_sub(g, place, tpt_like_i64(g, place, 1));
  sorted.values = at_place(g, sorted.values, o.dim, place);
  sorted.positions = at_place(g, sorted.positions, o.dim, place);
  return give_place(l, &o, sorted, 0, tpt_lower_bool(l, 3));
}

// The lower of the two middle elements; NaN if there is any, which sorts last: then the first NaN.
static tpt_sorted_t median_of(tpt_graph_t* g, const ordered_t* o) {
  tpt_sorted_t sorted = tpt_sort(g, o->x, o->dim, false);
  int64_t size = o->type.dims[o->dim], middle = (size - 1) / 2;
  tpt_v value = tpt_hlo_slice_dim(g, sorted.values, o->dim, middle, middle + 1, 1);
  tpt_v position = tpt_hlo_slice_dim(g, sorted.positions, o->dim, middle, middle + 1, 1);
  if (tpt_dtype_is_float(o->type.dtype)) {
    tpt_v last = tpt_hlo_slice_dim(g, sorted.values, o->dim, size - 1, size, 1);
    tpt_v has_nan = tpt_isnan(g, last);
    tpt_type_t places = o->type;
    places.dtype = TPT_S64;
    tpt_v iota = tpt_hlo_iota(g, &places, o->dim);
    tpt_v candidates = tpt_select(g, tpt_isnan(g, o->x), iota, tpt_like_i64(g, iota, size));
    int64_t dims[1] = {o->dim};
    tpt_v first = tpt_reduce_min(g, candidates, dims, 1);
    first = tpt_keep_dims(g, first, o->type.rank, dims, 1);
    value = tpt_select(g, has_nan, last, value);
    position = tpt_select(g, has_nan, first, position);
  }
  return (tpt_sorted_t){value, position};
}

tpt_status_t lower_median_dim(tpt_lower_t* l) {
  ordered_t o;
  TPT_TRY(read_ordered(l, 1, &o));
  if (o.type.dims[o.dim] == 0)
    TPT_FAIL(TPT_OUT_OF_RANGE, "median(): Expected reduction dim %d to have non-zero size.", o.dim);
  return give_place(l, &o, median_of(l->graph, &o), 0, tpt_lower_bool(l, 2));
}

tpt_status_t lower_median(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  ordered_t o;
  memset(&o, 0, sizeof(o));
  o.x = tpt_flatten(g, tpt_lower_value(l, 0));
  o.type = *tpt_graph_type(g, o.x);
  if (tpt_dtype_is_complex(o.type.dtype)) return tpt_refuse_dtype(l, o.type.dtype);
  if (o.type.dims[0] == 0) TPT_FAIL(TPT_UNIMPLEMENTED, "the median of nothing");
  tpt_sorted_t median = median_of(g, &o);
  return tpt_lower_result(l, tpt_hlo_reshape(g, median.values, 0, NULL));
}
