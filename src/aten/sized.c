// Steps of nonzero, masked selection and unique, and rows made of the same steps: masked_scatter, histc.
#include <math.h>

#include "aten/array.h"
#include "aten/assert.h"
#include "aten/compact.h"
#include "aten/order.h"
#include "aten/rows.h"

static tpt_status_t refuse_size(const tpt_lower_t* l, int64_t count) {
  TPT_FAIL(TPT_UNIMPLEMENTED, "aten::%s of %lld elements; at most 2^31 - 1",
           tpt_op_schema(l->op)->name, (long long)count);
}

// The flags x != 0, flat, with their running count.
typedef struct flags {
  tpt_v set, counts;
  int64_t size;
} flags_t;

static tpt_status_t read_flags(tpt_lower_t* l, tpt_v x, flags_t* out) {
  tpt_graph_t* g = l->graph;
  out->size = tpt_type_count(tpt_graph_type(g, x));
  if (out->size > INT32_MAX) return refuse_size(l, out->size);
  out->set = tpt_truth(g, tpt_flatten(g, x));
  out->counts = tpt_running_count(g, out->set);
  return NULL;
}

// Coordinate `k` (s32, like places) of flat places in an array of these dims.
static tpt_v coordinates(tpt_graph_t* g, const tpt_type_t* type, tpt_v places, tpt_v k) {
  tpt_v stride = tpt_like_i64(g, places, 1), size = stride;
  int64_t step = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    tpt_v is_it = tpt_eq(g, k, tpt_like_i64(g, k, d));
    stride = tpt_select(g, is_it, tpt_like_i64(g, places, step), stride);
    size = tpt_select(g, is_it, tpt_like_i64(g, places, type->dims[d]), size);
    step *= type->dims[d];
  }
  return tpt_binary(g, TPT_HLO_REMAINDER, tpt_div(g, places, stride), size);
}

// Coordinate k of the i-th nonzero element at k * count + i, i < count <= size: a matrix of strides
// (1, count), as CPU's. self is neither 0-d nor empty, count is not 0.
tpt_status_t lower_sized_nonzero(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t size = tpt_lower_int(l, 1), total = size;
  flags_t f;
  if (__builtin_mul_overflow(size, type.rank, &total) || total > INT32_MAX)
    return refuse_size(l, size);
  TPT_TRY(read_flags(l, x, &f));
  tpt_v zero = tpt_hlo_scalar_i64(g, TPT_S32, 0);
  tpt_v places = tpt_set_places(g, f.set, f.counts, size, zero);
  if (type.rank > 1) {
    tpt_type_t flat = tpt_type_make(TPT_S32, 1, &total);
    tpt_v e = tpt_hlo_iota(g, &flat, 0), count = tpt_lower_scalar(l, 2, TPT_S32);
    tpt_v i = tpt_binary(g, TPT_HLO_REMAINDER, e, count);
    places = coordinates(g, &type, tpt_take_rows(g, places, i), tpt_div(g, e, count));
  }
  return tpt_lower_result(l, tpt_hlo_convert(g, places, TPT_S64));
}

// [size, rank], places without an element being the fill value.
tpt_status_t lower_nonzero_static(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t size = tpt_lower_int(l, 1), dims[2] = {size, type.rank};
  if (size < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "nonzero_static: 'size' must be an non-negative integer");
  tpt_v fill = tpt_lower_scalar(l, 2, TPT_S64);
  fill = tpt_hlo_broadcast_to(g, fill, 2, dims);
  if (tpt_type_count(&type) == 0 || size == 0 || type.rank == 0) return tpt_lower_result(l, fill);
  flags_t f;
  if (size > INT32_MAX / type.rank) return refuse_size(l, size);
  TPT_TRY(read_flags(l, x, &f));
  tpt_v none = tpt_hlo_scalar_i64(g, TPT_S32, -1);
  tpt_v places = tpt_set_places(g, f.set, f.counts, size, none);
  tpt_type_t matrix = tpt_type_make(TPT_S32, 2, dims);
  places = tpt_along(g, places, 2, dims, 0);
  tpt_v is_there = tpt_ge(g, places, tpt_like_i64(g, places, 0));
  places = coordinates(g, &type, places, tpt_hlo_iota(g, &matrix, 1));
  places = tpt_select(g, is_there, tpt_hlo_convert(g, places, TPT_S64), fill);
  return tpt_lower_result(l, places);
}

// The entries of self (mask's dimensions, then others) where mask is set: [size, others...].
tpt_status_t lower_sized_select(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0), mask = tpt_lower_value(l, 1);
  tpt_type_t type = *tpt_graph_type(g, x);
  int rank = tpt_graph_type(g, mask)->rank;
  flags_t f;
  TPT_TRY(read_flags(l, mask, &f));
  int64_t dims[TPT_RANK_MAX + 1] = {f.size};
  for (int d = rank; d < type.rank; d++)
    dims[d - rank + 1] = type.dims[d];
  x = tpt_hlo_reshape(g, x, type.rank - rank + 1, dims);
  tpt_v zero = tpt_hlo_scalar_i64(g, TPT_S32, 0);
  tpt_v places = tpt_set_places(g, f.set, f.counts, tpt_lower_int(l, 2), zero);
  return tpt_lower_result(l, tpt_take_rows(g, x, places));
}

// --- unique --------------------------------------------------------------------------------------------

// Runs of equal elements: is_first marks where each begins; `order` (NONE: as it is) says where the
// elements stood before they were sorted.
typedef struct runs {
  tpt_v is_first, order;
  int64_t size;
} runs_t;

// Results after the values: the run of every element, the length of every run, their number.
static tpt_status_t give_runs(tpt_lower_t* l, const runs_t* r, tpt_v counts, tpt_v firsts,
                              const bool wants[2]) {
  tpt_graph_t* g = l->graph;
  tpt_v run = tpt_sub(g, counts, tpt_like_i64(g, counts, 1));
  if (!wants[0]) {
    TPT_TRY(tpt_lower_result_none(l));
  } else {
    if (!tpt_value_is_none(r->order)) {
      tpt_scatter_t scatter;
      memset(&scatter, 0, sizeof(scatter));
      scatter.inserted_count = scatter.map_count = 1;
      scatter.index_vector_dim = 1;
      scatter.unique = true;
      run = tpt_hlo_scatter(g, tpt_like_i64(g, run, 0), r->order, run, &scatter, TPT_HLO_COUNT);
    }
    TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, run, TPT_S64)));
  }
  if (!wants[1]) {
    TPT_TRY(tpt_lower_result_none(l));
  } else {
    tpt_v ends[2] = {tpt_hlo_slice_dim(g, firsts, 0, 1, r->size, 1),
                     tpt_fill(g, TPT_S32, 1, (int64_t[]){1}, (double)r->size)};
    tpt_v length = tpt_sub(g, tpt_hlo_concatenate(g, ends, 2, 0), firsts);
    TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, length, TPT_S64)));
  }
  return tpt_lower_result(l, tpt_hlo_convert(g, tpt_last(g, counts), TPT_S64));
}

// Places where runs begin, as many as there may be; those past the last are the size.
static tpt_v first_places(tpt_graph_t* g, const runs_t* r, tpt_v counts) {
  tpt_v end = tpt_hlo_scalar_i64(g, TPT_S32, r->size);
  return tpt_set_places(g, r->is_first, counts, r->size, end);
}

static tpt_v inside(tpt_graph_t* g, tpt_v places, int64_t size) {
  return tpt_min(g, places, tpt_like_i64(g, places, size - 1));
}

// pred[n]: row i of [n, m] differs from row i - 1; row 0 does.
static tpt_v starts_of_runs(tpt_graph_t* g, tpt_v rows) {
  tpt_type_t type = *tpt_graph_type(g, rows);
  int64_t size = type.dims[0];
  tpt_v differs = tpt_ne(g, tpt_hlo_slice_dim(g, rows, 0, 1, size, 1),
                         tpt_hlo_slice_dim(g, rows, 0, 0, size - 1, 1));
  tpt_v no = tpt_hlo_scalar_i64(g, TPT_PRED, 0);
  int64_t last[1] = {1};
  if (type.rank > 1) differs = tpt_hlo_reduce(g, differs, no, TPT_HLO_OR, last, 1);
  tpt_v parts[2] = {tpt_fill(g, TPT_PRED, 1, (int64_t[]){1}, 1), differs};
  return tpt_hlo_concatenate(g, parts, 2, 0);
}

// self (not empty) flat. Values, inverse (flat), counts, their number.
tpt_status_t lower_sized_unique(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_flatten(g, tpt_lower_value(l, 0));
  tpt_type_t type = *tpt_graph_type(g, x);
  if (tpt_dtype_is_complex(type.dtype)) return tpt_refuse_dtype(l, type.dtype);
  if (type.dims[0] > INT32_MAX) return refuse_size(l, type.dims[0]);
  runs_t r = {.order = TPT_VALUE_NONE, .size = type.dims[0]};
  bool wants[2] = {tpt_lower_bool(l, 2), tpt_lower_bool(l, 3)};
  if (tpt_lower_bool(l, 1)) {
    tpt_sorted_t sorted = tpt_sort(g, x, 0, false);
    x = sorted.values;
    r.order = sorted.positions;
  }
  r.is_first = starts_of_runs(g, x);
  tpt_v counts = tpt_running_count(g, r.is_first), firsts = first_places(g, &r, counts);
  TPT_TRY(tpt_lower_result(l, tpt_take_rows(g, x, inside(g, firsts, r.size))));
  return give_runs(l, &r, counts, firsts, wants);
}

// s64[n]: the rows of [n, m] in lexicographic order.
static tpt_v sorted_rows(tpt_graph_t* g, tpt_v rows, int64_t width) {
  tpt_type_t line = tpt_type_make(TPT_S32, 1, tpt_graph_type(g, rows)->dims);
  tpt_v order = tpt_hlo_iota(g, &line, 0);
  for (int64_t c = width - 1; c >= 0; c--) {  // stably, by the last column first
    tpt_v column = tpt_flatten(g, tpt_hlo_slice_dim(g, rows, 1, c, c + 1, 1));
    tpt_v now = tpt_take_rows(g, column, order);
    tpt_v by = tpt_sort(g, now, 0, false).positions;
    order = tpt_take_rows(g, order, tpt_hlo_convert(g, by, TPT_S32));
  }
  return order;
}

// self: [n, m], n > 0. The first row of each run (places), inverse, counts, their number.
tpt_status_t lower_sized_unique_rows(tpt_lower_t* l) {
  enum { WIDTH_MAX = 64 };
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  bool sorts = tpt_lower_bool(l, 1), all[2] = {true, true};
  if (tpt_dtype_is_complex(type.dtype) || (sorts && type.dims[1] > WIDTH_MAX))
    return tpt_refuse_dtype(l, type.dtype);
  if (type.dims[0] > INT32_MAX) return refuse_size(l, type.dims[0]);
  runs_t r = {.order = TPT_VALUE_NONE, .size = type.dims[0]};
  if (sorts) {
    r.order = sorted_rows(g, x, type.dims[1]);
    x = tpt_take_rows(g, x, r.order);
  }
  r.is_first = starts_of_runs(g, x);
  tpt_v counts = tpt_running_count(g, r.is_first), firsts = first_places(g, &r, counts);
  tpt_v at = inside(g, firsts, r.size);
  if (sorts) at = tpt_take_rows(g, r.order, at);
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, at, TPT_S64)));
  return give_runs(l, &r, counts, firsts, all);
}

// --- rows of known size ----------------------------------------------------------------------------------

// self where mask is unset, else the elements of source one after another.
tpt_status_t lower_masked_scatter(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x[2] = {tpt_lower_value(l, 0), tpt_lower_value(l, 1)};
  tpt_dtype_t dtype = tpt_dtype_of(g, x[0]);
  if (tpt_dtype_of(g, x[1]) != TPT_PRED)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
             tpt_dtype_row(tpt_dtype_of(g, x[1]))->name);
  tpt_v source = tpt_flatten(g, tpt_lower_value(l, 2));
  if (tpt_dtype_of(g, source) != dtype)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "masked_scatter: expected self and source to have same dtypes but got %s and %s",
             tpt_dtype_row(dtype)->name, tpt_dtype_row(tpt_dtype_of(g, source))->name);
  TPT_TRY(tpt_lower_broadcast(l, x, 2));
  tpt_type_t type = *tpt_graph_type(g, x[0]);
  int64_t given = tpt_graph_type(g, source)->dims[0];
  if (tpt_type_count(&type) == 0) return tpt_lower_result(l, x[0]);
  flags_t f;
  TPT_TRY(read_flags(l, x[1], &f));
  if (given > INT32_MAX) return refuse_size(l, given);
  tpt_v needed = tpt_last(g, f.counts), result = x[0];
  if (given) {
    tpt_v at = tpt_sub(g, f.counts, tpt_like_i64(g, f.counts, 1));
    at = inside(g, tpt_max(g, at, tpt_like_i64(g, at, 0)), given);
    tpt_v taken = tpt_hlo_reshape(g, tpt_take_rows(g, source, at), type.rank, type.dims);
    result = tpt_select(g, x[1], taken, x[0]);
  }
  result = tpt_assert(g, tpt_le(g, needed, tpt_like_i64(g, needed, given)),
                      "Number of elements of source < number of ones in mask", result);
  return tpt_lower_result(l, result);
}

tpt_status_t check_histc(tpt_lower_t* l) {
  double low = tpt_lower_double(l, 2), high = tpt_lower_double(l, 3);
  if (tpt_lower_int(l, 1) <= 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "torch.histogram(): bins must be > 0, but got %lld for dimension 0",
             (long long)tpt_lower_int(l, 1));
  if (!isfinite(low) || !isfinite(high))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "torch.histc: range of [%g, %g] is not finite", low, high);
  if (low > high) TPT_FAIL(TPT_INVALID_ARGUMENT, "torch.histc: max must be larger than min");
  return NULL;
}

// Is the range that of the data?
int64_t kind_histc(const tpt_lower_t* l) {
  return tpt_lower_double(l, 2) == tpt_lower_double(l, 3);
}

// Bounds of the histogram; an empty range grows by one on both sides.
static void read_range(tpt_lower_t* l, tpt_v x, tpt_v out[2]) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_dtype_of(g, x);
  for (int i = 0; i < 2; i++)
    out[i] = tpt_lower_scalar(l, 2 + i, dtype);
  if (!tpt_lower_kind(l)) return;
  if (tpt_type_count(tpt_graph_type(g, x)) > 0) {
    out[0] = tpt_reduce_min(g, x, NULL, 0);
    out[1] = tpt_reduce_max(g, x, NULL, 0);
    tpt_v all[2] = {tpt_sub(g, out[0], out[0]), tpt_sub(g, out[1], out[1])};
    tpt_v is_finite = tpt_eq(g, all[0], all[1]);
    out[0] = tpt_assert(g, is_finite, "torch.histc: range of [min, max] is not finite", out[0]);
  }
  tpt_v one = tpt_like_i64(g, out[0], 1), is_empty = tpt_eq(g, out[0], out[1]);
  tpt_v low = tpt_sub(g, out[0], one), high = tpt_add(g, out[1], one);
  out[0] = tpt_select(g, is_empty, low, out[0]);
  out[1] = tpt_select(g, is_empty, high, out[1]);
}

// Integers count as well (CUDA has them, CPU has not): in whole numbers of 64 bits.
tpt_status_t lower_histc(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_flatten(g, tpt_lower_value(l, 0)), range[2];
  tpt_dtype_t dtype = tpt_dtype_of(g, x);
  bool is_int = tpt_dtype_is_int(dtype);
  if (!tpt_dtype_is_float(dtype) && !is_int) return tpt_refuse_dtype(l, dtype);
  x = tpt_hlo_convert(g, x, is_int ? TPT_S64 : tpt_dtype_compute(dtype));
  int64_t bins = tpt_lower_int(l, 1);
  read_range(l, x, range);
  tpt_v is_inside = tpt_and(g, tpt_ge(g, x, range[0]), tpt_le(g, x, range[1]));
  tpt_v offset = tpt_sub(g, tpt_select(g, is_inside, x, range[0]), range[0]);
  tpt_v scaled = tpt_mul(g, offset, tpt_like_i64(g, offset, bins));
  tpt_v bin = tpt_div(g, scaled, tpt_sub(g, range[1], range[0]));
  bin = tpt_hlo_convert(g, bin, TPT_S64);
  bin = tpt_min(g, bin, tpt_like_i64(g, bin, bins - 1));
  bin = tpt_select(g, is_inside, bin, tpt_like_i64(g, bin, bins));  // nowhere
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  scatter.inserted_count = scatter.map_count = 1;
  scatter.index_vector_dim = 1;
  tpt_v counts = tpt_fill(g, TPT_S32, 1, &bins, 0);
  tpt_v ones = tpt_fill(g, TPT_S32, 1, tpt_graph_type(g, x)->dims, 1);
  counts = tpt_hlo_scatter(g, counts, bin, ones, &scatter, TPT_HLO_ADD);
  return tpt_lower_result(l, tpt_hlo_convert(g, counts, dtype));
}
