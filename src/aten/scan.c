// Lowerings of running reductions (cumsum, cumprod, cummax, cummin, logcumsumexp): each step
// doubles the distance over which elements are combined, so n elements take log2(n) whole-array
// steps.
#include <math.h>

#include "aten/promote.h"
#include "aten/reduction.h"
#include "aten/rows.h"
#include "aten/special.h"

// `x` moved by `distance` along dim, elements from outside being `fill` (0-d).
static tpt_v shifted(tpt_graph_t* g, tpt_v x, tpt_v fill, int dim, int64_t distance) {
  int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX] = {0};
  low[dim] = distance;
  high[dim] = -distance;
  return tpt_hlo_pad(g, x, fill, low, high, interior);
}

typedef struct scan {
  tpt_dtype_t dtype;  // of the result
  int dim;
  int64_t size;  // elements along dim; 1 for a 0-d operand
  tpt_v x;       // in the compute dtype
} scan_t;

static tpt_status_t read_scan(tpt_lower_t* l, tpt_dtype_t dtype, scan_t* out) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, 1), t->rank, &out->dim));
  out->dtype = dtype;
  out->size = t->rank ? t->sizes[out->dim] : 1;
  out->x = tpt_operand(l, 0, dtype);
  return NULL;
}

static tpt_dtype_t sum_dtype(const tpt_lower_t* l) {
  tpt_dtype_t own = tpt_lower_tensor(l, 0)->dtype;
  bool is_exact = own == TPT_PRED || tpt_dtype_is_int(own);
  return tpt_lower_dtype_or(l, 2, is_exact ? TPT_S64 : own);
}

static tpt_status_t lower_scan(tpt_lower_t* l, tpt_hlo_t op, int64_t neutral) {
  tpt_graph_t* g = l->graph;
  scan_t s;
  TPT_TRY(read_scan(l, sum_dtype(l), &s));
  tpt_v fill = tpt_hlo_scalar_i64(g, tpt_dtype_of(g, s.x), neutral);
  for (int64_t distance = 1; distance < s.size; distance *= 2)
    s.x = tpt_binary(g, op, s.x, shifted(g, s.x, fill, s.dim, distance));
  return tpt_lower_result(l, tpt_hlo_convert(g, s.x, s.dtype));
}

tpt_status_t lower_cumsum(tpt_lower_t* l) {
  return lower_scan(l, TPT_HLO_ADD, 0);
}
tpt_status_t lower_cumprod(tpt_lower_t* l) {
  return lower_scan(l, TPT_HLO_MULTIPLY, 1);
}

tpt_status_t lower_logcumsumexp(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  scan_t s;
  TPT_TRY(read_scan(l, dtype, &s));
  tpt_v fill = tpt_lowest(g, tpt_dtype_of(g, s.x));
  for (int64_t distance = 1; distance < s.size; distance *= 2) {
    tpt_v pair[2] = {s.x, shifted(g, s.x, fill, s.dim, distance)};
    s.x = formula_logaddexp(g, pair);
  }
  return tpt_lower_result(l, tpt_hlo_convert(g, s.x, dtype));
}

// Values and indices; the later of two equal elements is taken, and a NaN from its first place on.
tpt_status_t lower_cumulative_extremum(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_compare_t at_least = l->op->params.mode ? TPT_GE : TPT_LE;
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  if (tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  scan_t s;
  TPT_TRY(read_scan(l, dtype, &s));
  s.x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, s.x);
  bool is_float = tpt_dtype_is_float(dtype);
  type.dtype = TPT_S32;
  tpt_v index = type.rank ? tpt_hlo_iota(g, &type, s.dim) : tpt_hlo_splat_i64(g, &type, 0);
  tpt_v position = index;
  tpt_v zero = tpt_hlo_scalar_i64(g, dtype, 0), zero_index = tpt_hlo_scalar_i64(g, TPT_S32, 0);
  for (int64_t distance = 1; distance < s.size; distance *= 2) {
    tpt_v before = shifted(g, s.x, zero, s.dim, distance);
    tpt_v before_index = shifted(g, index, zero_index, s.dim, distance);
    tpt_v keeps = tpt_compare(g, at_least, s.x, before);
    if (is_float) {
      keeps = tpt_and(g, keeps, tpt_not(g, tpt_isnan(g, before)));
      keeps = tpt_or(g, keeps, tpt_isnan(g, s.x));
    }
    keeps = tpt_or(g, keeps, tpt_lt(g, position, tpt_like_i64(g, position, distance)));
    s.x = tpt_select(g, keeps, s.x, before);
    index = tpt_select(g, keeps, index, before_index);
  }
  TPT_TRY(tpt_lower_result(l, s.x));
  return tpt_lower_result(l, tpt_hlo_convert(g, index, TPT_S64));
}
