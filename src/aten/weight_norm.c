// Weight normalisation: v scaled to length g along one dimension, lengths taken over all the others.
#include "aten/array.h"
#include "aten/rows.h"

typedef struct weight {
  tpt_type_t type;
  tpt_dtype_t compute;
  tpt_v v, g;  // g keeps its own shape, ones but for the dimension
  int64_t others[TPT_RANK_MAX];
  int other_count;
} weight_t;

static tpt_status_t read_weight(tpt_lower_t* l, int v_arg, int dim_arg, weight_t* w) {
  tpt_graph_t* g = l->graph;
  w->type = *tpt_graph_type(g, tpt_lower_value(l, v_arg));
  w->compute = tpt_dtype_compute(w->type.dtype);
  int dim = 0;
  if (!tpt_dtype_is_float(w->compute) || w->type.rank == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "weight norm wants a floating point tensor with dimensions");
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, dim_arg), w->type.rank, &dim));
  w->other_count = 0;
  int64_t dims[TPT_RANK_MAX];
  for (int d = 0; d < w->type.rank; d++) {
    dims[d] = d == dim ? w->type.dims[d] : 1;
    if (d != dim) w->others[w->other_count++] = d;
  }
  w->v = tpt_lower_value_as(l, v_arg, w->compute);
  w->g = tpt_lower_value_as(l, v_arg + 1, w->compute);
  if (tpt_type_count(tpt_graph_type(g, w->g)) != w->type.dims[dim])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "weight norm: g must have one number along dimension %d", dim);
  w->g = tpt_hlo_reshape(g, w->g, w->type.rank, dims);
  return NULL;
}

static tpt_v sum_others(tpt_graph_t* g, const weight_t* w, tpt_v x) {
  if (w->other_count == 0) return x;
  x = tpt_reduce_sum(g, x, w->others, w->other_count);
  return tpt_keep_dims(g, x, w->type.rank, w->others, w->other_count);
}

static tpt_status_t give_shaped(tpt_lower_t* l, tpt_v x, int like, tpt_dtype_t dtype) {
  tpt_type_t type = *tpt_graph_type(l->graph, tpt_lower_value(l, like));
  x = tpt_hlo_reshape(l->graph, x, type.rank, type.dims);
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, x, dtype));
}

// v, g, dim -> w and the lengths, which stay in f32 for bf16.
tpt_status_t lower_weight_norm(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  weight_t w;
  TPT_TRY(read_weight(l, 0, 2, &w));
  tpt_v norm = tpt_sqrt(g, sum_others(g, &w, tpt_mul(g, w.v, w.v)));
  TPT_TRY(give_shaped(l, tpt_mul(g, w.v, tpt_div(g, w.g, norm)), 0, w.type.dtype));
  return give_shaped(l, norm, 1, w.type.dtype == TPT_BF16 ? TPT_F32 : w.type.dtype);
}

// grad_w, saved_v, saved_g, saved_norms, dim.
tpt_status_t lower_weight_norm_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  weight_t w;
  TPT_TRY(read_weight(l, 1, 4, &w));
  tpt_type_t lengths = *tpt_graph_type(g, w.g);
  tpt_v grad = tpt_lower_value_as(l, 0, w.compute);
  tpt_v norm = tpt_hlo_reshape(g, tpt_lower_value_as(l, 3, w.compute), lengths.rank, lengths.dims);
  tpt_v dot = tpt_div(g, sum_others(g, &w, tpt_mul(g, grad, w.v)), norm);
  tpt_v along = tpt_mul(g, w.v, tpt_div(g, dot, norm));
  tpt_v dv = tpt_mul(g, tpt_sub(g, grad, along), tpt_div(g, w.g, norm));
  TPT_TRY(give_shaped(l, dv, 1, w.type.dtype));
  return give_shaped(l, dot, 2, tpt_dtype_of(g, tpt_lower_value(l, 2)));
}
