// Factorisations and solves that StableHLO has: Cholesky and triangular systems, real, in batches.
#include "aten/array.h"
#include "aten/rows.h"

static tpt_status_t read_square(const tpt_lower_t* l, int arg, tpt_type_t* out) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, arg);
  *out = tpt_type_make(t->dtype, t->rank, t->sizes);
  if (t->dtype != TPT_F32 && t->dtype != TPT_F64) return tpt_refuse_dtype(l, t->dtype);
  bool is_square = t->rank >= 2 && t->sizes[t->rank - 1] == t->sizes[t->rank - 2];
  if (!is_square || tpt_type_count(out) == 0) return tpt_refuse_dtype(l, t->dtype);
  return NULL;
}

// Results lie column by column, as LAPACK leaves them.
static tpt_status_t give(tpt_lower_t* l, tpt_v x) {
  TPT_TRY(tpt_graph_status(l->graph));  // a failed value has no dimensions
  const tpt_type_t* type = tpt_graph_type(l->graph, x);
  int64_t strides[TPT_RANK_MAX], step = 1;
  int rank = type->rank;
  for (int i = 0; i < rank; i++) {
    int d = i == 0 ? rank - 2 : i == 1 ? rank - 1 : rank - 1 - i;
    strides[d] = step;
    step *= type->dims[d] > 1 ? type->dims[d] : 1;
  }
  return tpt_lower_result_strides(l, x, strides);
}

// self, upper, check_errors. info: 0, or one more than the first column that has no root.
tpt_status_t lower_cholesky_ex(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type;
  TPT_TRY(read_square(l, 0, &type));
  if (tpt_lower_bool(l, 2)) return tpt_refuse_dtype(l, type.dtype);
  bool is_upper = tpt_lower_bool(l, 1);
  int rank = type.rank;
  tpt_v x = tpt_lower_value(l, 0);
  if (is_upper) x = tpt_swap_last(g, x);
  x = tpt_hlo_cholesky(g, x, true);
  tpt_type_t places = type;
  places.dtype = TPT_S32;
  tpt_v row = tpt_hlo_iota(g, &places, rank - 2), column = tpt_hlo_iota(g, &places, rank - 1);
  x = tpt_select(g, tpt_ge(g, row, column), x, tpt_like(g, x, 0));
  int64_t size = type.dims[rank - 1], last[2] = {rank - 2, rank - 1};
  tpt_v is_bad = tpt_and(g, tpt_eq(g, row, column), tpt_isnan(g, x));
  tpt_v number = tpt_select(g, is_bad, tpt_add(g, row, tpt_like_i64(g, row, 1)),
                            tpt_like_i64(g, row, size + 1));
  tpt_v info = tpt_reduce_min(g, number, last, 2);
  info =
      tpt_select(g, tpt_gt(g, info, tpt_like_i64(g, info, size)), tpt_like_i64(g, info, 0), info);
  if (is_upper) x = tpt_swap_last(g, x);
  TPT_TRY(give(l, x));
  return tpt_lower_result(l, info);
}

// The batch dimensions of two stacks of matrices meet; the matrices keep theirs.
static tpt_status_t meet_batches(tpt_lower_t* l, tpt_v* inout_a, tpt_v* inout_b) {
  tpt_graph_t* g = l->graph;
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t types[2] = {*tpt_graph_type(g, *inout_a), *tpt_graph_type(g, *inout_b)};
  tpt_v* values[2] = {inout_a, inout_b};
  int rank = types[0].rank > types[1].rank ? types[0].rank : types[1].rank;
  int64_t batch[TPT_RANK_MAX];
  for (int d = 0; d < rank - 2; d++) {
    batch[d] = 1;
    for (int i = 0; i < 2; i++) {
      int at = d - (rank - types[i].rank);
      int64_t size = at < 0 ? 1 : types[i].dims[at];
      if (size != 1 && batch[d] != 1 && size != batch[d])
        TPT_FAIL(TPT_INVALID_ARGUMENT, "the batch dimensions of the matrices do not broadcast");
      if (size != 1) batch[d] = size;
    }
  }
  for (int i = 0; i < 2; i++) {
    batch[rank - 2] = types[i].dims[types[i].rank - 2];
    batch[rank - 1] = types[i].dims[types[i].rank - 1];
    *values[i] = tpt_hlo_broadcast_to(g, *values[i], rank, batch);
  }
  return NULL;
}

static tpt_status_t read_system(tpt_lower_t* l, int matrix, int sides, bool left, tpt_v out[2]) {
  tpt_type_t type;
  TPT_TRY(read_square(l, matrix, &type));
  const tpt_tensor_t* b = tpt_lower_tensor(l, sides);
  if (b->dtype != type.dtype || b->rank < 2) return tpt_refuse_dtype(l, b->dtype);
  if (b->sizes[b->rank - (left ? 2 : 1)] != type.dims[type.rank - 1])
    return tpt_refuse_dtype(l, b->dtype);
  for (int d = 0; d < b->rank; d++)
    if (b->sizes[d] == 0) return tpt_refuse_dtype(l, b->dtype);
  out[0] = tpt_lower_value(l, matrix);
  out[1] = tpt_lower_value(l, sides);
  return meet_batches(l, &out[0], &out[1]);
}

// A, B, upper, left, unitriangular.
tpt_status_t lower_solve_triangular(tpt_lower_t* l) {
  tpt_triangular_t how = {.left = tpt_lower_bool(l, 3),
                          .lower = !tpt_lower_bool(l, 2),
                          .unit_diagonal = tpt_lower_bool(l, 4),
                          .transpose = TPT_NO_TRANSPOSE};
  tpt_v x[2];
  TPT_TRY(read_system(l, 0, 1, how.left, x));
  return give(l, tpt_hlo_triangular_solve(l->graph, x[0], x[1], &how));
}

// B, factor, upper: both triangular systems of a Cholesky factor.
tpt_status_t lower_cholesky_solve(tpt_lower_t* l) {
  bool is_upper = tpt_lower_bool(l, 2);
  tpt_triangular_t how = {.left = true, .lower = !is_upper, .transpose = TPT_NO_TRANSPOSE};
  tpt_v x[2];
  TPT_TRY(read_system(l, 1, 0, true, x));
  how.transpose = is_upper ? TPT_TRANSPOSE_A : TPT_NO_TRANSPOSE;
  tpt_v y = tpt_hlo_triangular_solve(l->graph, x[0], x[1], &how);
  how.transpose = is_upper ? TPT_NO_TRANSPOSE : TPT_TRANSPOSE_A;
  return give(l, tpt_hlo_triangular_solve(l->graph, x[0], y, &how));
}
