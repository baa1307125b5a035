// Distances between all pairs of rows, and their gradient: one reduction over the differences.
#include <math.h>

#include "aten/array.h"
#include "aten/rows.h"

typedef enum order {
  ORDER_ZERO,
  ORDER_ONE,
  ORDER_TWO,
  ORDER_MOST,
  ORDER_OTHER,
} order_t;

static order_t order_of(double p) {
  if (p == 0.0 || p == 1.0 || p == 2.0) return (order_t)p;
  return isinf(p) ? ORDER_MOST : ORDER_OTHER;
}
int64_t kind_cdist(const tpt_lower_t* l) {
  return order_of(tpt_lower_double(l, 2));
}
int64_t kind_cdist_backward(const tpt_lower_t* l) {
  return order_of(tpt_lower_double(l, 3));
}

// x1[..., p, m] - x2[..., r, m] as [..., p, r, m].
static tpt_status_t differences(tpt_lower_t* l, int first, tpt_v* out) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_tensor(l, first)->dtype;
  if ((dtype != TPT_F32 && dtype != TPT_F64) || tpt_lower_tensor(l, first + 1)->dtype != dtype)
    return tpt_refuse_dtype(l, dtype);
  tpt_v x[2] = {tpt_lower_value(l, first), tpt_lower_value(l, first + 1)};
  for (int i = 0; i < 2; i++) {
    int rank = tpt_graph_type(g, x[i])->rank;
    if (rank < 2 || rank == TPT_RANK_MAX) return tpt_refuse_dtype(l, dtype);
    x[i] = tpt_unsqueeze(g, x[i], i ? rank - 2 : rank - 1);
  }
  TPT_TRY(tpt_lower_broadcast(l, x, 2));
  if (tpt_type_count(tpt_graph_type(g, x[0])) == 0) return tpt_refuse_dtype(l, dtype);
  *out = tpt_sub(g, x[0], x[1]);
  return NULL;
}

// x1, x2, p, compute_mode
tpt_status_t lower_cdist(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v gap;
  TPT_TRY(differences(l, 0, &gap));
  int64_t last[1] = {tpt_graph_type(g, gap)->rank - 1};
  tpt_v size = tpt_abs(g, gap);
  switch ((order_t)tpt_lower_kind(l)) {
  case ORDER_ZERO:
    size = tpt_hlo_convert(g, tpt_truth(g, size), tpt_dtype_of(g, size));
    return tpt_lower_result(l, tpt_reduce_sum(g, size, last, 1));
  case ORDER_ONE:
    return tpt_lower_result(l, tpt_reduce_sum(g, size, last, 1));
  case ORDER_TWO:
    return tpt_lower_result(l, tpt_sqrt(g, tpt_reduce_sum(g, tpt_mul(g, gap, gap), last, 1)));
  case ORDER_MOST:
    return tpt_lower_result(l, tpt_reduce_max(g, size, last, 1));
  default:
    break;
  }
  tpt_v p = tpt_lower_scalar(l, 2, tpt_dtype_of(g, gap));
  tpt_v sum = tpt_reduce_sum(g, tpt_pow(g, size, p), last, 1);
  return tpt_lower_result(l, tpt_pow(g, sum, tpt_div(g, tpt_like(g, p, 1), p)));
}

// d distance / d x1, elementwise over the differences; 0 where the distance is 0.
static tpt_v slope(tpt_lower_t* l, tpt_v gap, tpt_v distance) {
  tpt_graph_t* g = l->graph;
  tpt_v zero = tpt_like(g, gap, 0), size = tpt_abs(g, gap), y;
  order_t order = (order_t)tpt_lower_kind(l);
  if (order == ORDER_ZERO) return zero;
  if (order == ORDER_ONE) return tpt_sign(g, gap);
  if (order == ORDER_TWO) {
    y = tpt_div(g, gap, distance);
  } else if (order == ORDER_MOST) {
    y = tpt_select(g, tpt_eq(g, size, distance), tpt_sign(g, gap), zero);
  } else {
    tpt_v p = tpt_lower_scalar(l, 3, tpt_dtype_of(g, gap)), rest = tpt_add_f64(g, p, -1);
    y = tpt_mul(g, tpt_sign(g, gap), tpt_pow(g, tpt_div(g, size, distance), rest));
    y = tpt_select(g, tpt_eq(g, gap, zero), zero, y);
  }
  return tpt_select(g, tpt_eq(g, distance, zero), zero, y);
}

// grad, x1, x2, p, cdist
tpt_status_t lower_cdist_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v gap;
  TPT_TRY(differences(l, 1, &gap));
  int rank = tpt_graph_type(g, gap)->rank;
  tpt_v distance = tpt_unsqueeze(g, tpt_lower_value(l, 4), rank - 1);
  tpt_v grad = tpt_unsqueeze(g, tpt_lower_value(l, 0), rank - 1);
  distance = tpt_hlo_broadcast_to(g, distance, rank, tpt_graph_type(g, gap)->dims);
  int64_t columns[1] = {rank - 2};
  tpt_v each = tpt_mul(g, slope(l, gap, distance), grad);
  tpt_v sum = tpt_reduce_sum(g, each, columns, 1);
  const tpt_tensor_t* x1 = tpt_lower_tensor(l, 1);
  return tpt_lower_result(l, tpt_sum_to(g, sum, x1->rank, x1->sizes));
}
