// Whole-array steps of lowerings. Knows shapes and dtypes only; no op, row or argument.
#include "aten/array.h"

tpt_v tpt_fill(tpt_graph_t* g, tpt_dtype_t dtype, int rank, const int64_t* dims, double number) {
  tpt_type_t type = tpt_type_make(dtype, rank, dims);
  return tpt_hlo_splat_f64(g, &type, number);
}

tpt_v tpt_along(tpt_graph_t* g, tpt_v x, int rank, const int64_t* dims, int dim) {
  int64_t where = dim;
  return tpt_hlo_broadcast_in_dim(g, x, rank, dims, &where);
}

tpt_v tpt_constant_ints(tpt_graph_t* g, const int64_t* numbers, int64_t count) {
  tpt_type_t type = tpt_type_make(TPT_S32, 1, &count);
  tpt_arena_t* arena = tpt_graph_arena(g);
  int32_t* data = tpt_arena_calloc(arena, (size_t)count + 1, sizeof(*data));
  if (!data) {
    tpt_graph_fail(g, tpt_arena_status(arena));
    return TPT_VALUE_NONE;
  }
  for (int64_t i = 0; i < count; i++)
    data[i] = (int32_t)numbers[i];
  return tpt_hlo_constant(g, &type, data);
}

tpt_v tpt_reduce_mean(tpt_graph_t* g, tpt_v x, const int64_t* dims, int count) {
  const tpt_type_t* type = tpt_graph_type(g, x);
  double size = 1;
  for (int i = 0; i < count; i++)
    size *= (double)type->dims[dims[i]];
  tpt_v sum = tpt_reduce_sum(g, x, dims, count);
  return tpt_div(g, sum, tpt_like(g, sum, size));
}

tpt_v tpt_sum_to(tpt_graph_t* g, tpt_v x, int rank, const int64_t* dims) {
  const tpt_type_t* type = tpt_graph_type(g, x);
  int64_t over[TPT_RANK_MAX];
  int count = 0;
  for (int d = 0; d < type->rank; d++) {
    int to = d - (type->rank - rank);
    if (to < 0 || (dims[to] == 1 && type->dims[d] != 1)) over[count++] = d;
  }
  if (count == 0) return x;
  return tpt_hlo_reshape(g, tpt_reduce_sum(g, x, over, count), rank, dims);
}

tpt_v tpt_unsqueeze(tpt_graph_t* g, tpt_v x, int dim) {
  if (tpt_graph_error(g)) return TPT_VALUE_NONE;  // dim may come from a failed value
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t dims[TPT_RANK_MAX + 1];
  for (int d = 0; d <= type.rank; d++)
    dims[d] = d < dim ? type.dims[d] : d == dim ? 1 : type.dims[d - 1];
  return tpt_hlo_reshape(g, x, type.rank + 1, dims);
}

tpt_v tpt_swap_last(tpt_graph_t* g, tpt_v x) {
  int rank = tpt_graph_type(g, x)->rank;
  int64_t permutation[TPT_RANK_MAX];
  for (int d = 0; d < rank; d++)
    permutation[d] = d;
  if (rank >= 2) {
    permutation[rank - 1] = rank - 2;
    permutation[rank - 2] = rank - 1;
  }
  return tpt_hlo_transpose(g, x, permutation);
}

tpt_v tpt_rotate(tpt_graph_t* g, tpt_v x, int count) {
  int rank = tpt_graph_type(g, x)->rank;
  int64_t permutation[TPT_RANK_MAX];
  for (int d = 0; d < rank; d++)
    permutation[d] = (d + count) % rank;
  return tpt_hlo_transpose(g, x, permutation);
}

tpt_v tpt_flatten(tpt_graph_t* g, tpt_v x) {
  int64_t count = tpt_type_count(tpt_graph_type(g, x));
  return tpt_hlo_reshape(g, x, 1, &count);
}
