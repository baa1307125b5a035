// Lowerings about diagonals and triangles. All are masks over two dimensions made of iotas: no gather,
// so that they fuse.
#include "aten/array.h"
#include "aten/rows.h"

// row index - column index compared with -offset, over dimensions row and column of an array.
static tpt_v mask(tpt_graph_t* g, const tpt_type_t* array, const int axes[2], int64_t offset,
                  tpt_compare_t direction) {
  tpt_type_t type = *array;
  type.dtype = TPT_S32;
  tpt_v row = tpt_hlo_iota(g, &type, axes[0]), column = tpt_hlo_iota(g, &type, axes[1]);
  int64_t limit = offset < -0x40000000 ? -0x40000000 : offset > 0x40000000 ? 0x40000000 : offset;
  return tpt_compare(g, direction, tpt_sub(g, column, row), tpt_like_i64(g, row, limit));
}

static tpt_status_t lower_triangle(tpt_lower_t* l, tpt_compare_t keeps) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  if (t->rank < 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s: input tensor must have at least 2 dimensions",
             tpt_op_schema(l->op)->base);
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  int axes[2] = {t->rank - 2, t->rank - 1};
  tpt_v is_kept = mask(g, &type, axes, tpt_lower_int(l, 1), keeps);
  return tpt_lower_result(l, tpt_select(g, is_kept, x, tpt_like_i64(g, x, 0)));
}

tpt_status_t lower_tril(tpt_lower_t* l) {
  return lower_triangle(l, TPT_LE);
}
tpt_status_t lower_triu(tpt_lower_t* l) {
  return lower_triangle(l, TPT_GE);
}

tpt_status_t lower_trace(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  if (t->rank != 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "trace: expected a matrix, but got tensor with dim %d",
             (int)t->rank);
  bool is_exact = t->dtype == TPT_PRED || tpt_dtype_is_int(t->dtype);
  tpt_dtype_t dtype = is_exact ? TPT_S64 : t->dtype;
  tpt_v x = tpt_operand(l, 0, dtype);
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_v is_diagonal = mask(g, &type, (int[]){0, 1}, 0, TPT_EQ);
  tpt_v sum = tpt_reduce_sum(g, tpt_select(g, is_diagonal, x, tpt_like_i64(g, x, 0)), NULL, 0);
  return tpt_lower_result(l, tpt_hlo_convert(g, sum, dtype));
}

// Where a diagonal lies in an array: dimensions, offset, and its length.
typedef struct diagonal {
  int axes[2];
  int64_t offset, size;
} diagonal_t;

static tpt_status_t find_diagonal(const tpt_type_t* type, int64_t offset, const int64_t dims[2],
                                  diagonal_t* out) {
  out->offset = offset;
  for (int i = 0; i < 2; i++)
    TPT_TRY(tpt_wrap_dim(dims[i], type->rank, &out->axes[i]));
  if (out->axes[0] == out->axes[1])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "diagonal dimensions cannot be identical %lld, %lld",
             (long long)dims[0], (long long)dims[1]);
  int64_t rows = type->dims[out->axes[0]], columns = type->dims[out->axes[1]];
  int64_t size = offset >= 0 ? (rows < columns - offset ? rows : columns - offset)
                             : (rows + offset < columns ? rows + offset : columns);
  out->size = size > 0 ? size : 0;
  return NULL;
}

// `base` with the diagonal replaced by x, whose last dimension runs along it.
static tpt_v put_diagonal(tpt_graph_t* g, tpt_v base, tpt_v x, const diagonal_t* d) {
  tpt_type_t type = *tpt_graph_type(g, base);
  int rank = type.rank;
  int along = d->offset >= 0 ? d->axes[0] : d->axes[1];
  int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX] = {0};
  high[rank - 2] = type.dims[along] - d->size;
  tpt_v zero = tpt_hlo_scalar_i64(g, type.dtype, 0);
  tpt_v line = tpt_hlo_pad(g, x, zero, low, high, interior);
  int64_t where[TPT_RANK_MAX];
  int k = 0;
  for (int i = 0; i < rank; i++)
    if (i != d->axes[0] && i != d->axes[1]) where[k++] = i;
  where[k] = along;  // not ascending in general: transposed so that it is
  int64_t permutation[TPT_RANK_MAX], sorted[TPT_RANK_MAX];
  int position = 0;
  while (position < k && where[position] < along)
    position++;
  for (int i = 0; i <= k; i++) {
    permutation[i] = i < position ? i : i == position ? k : i - 1;
    sorted[i] = where[permutation[i]];
  }
  line = tpt_hlo_transpose(g, line, permutation);
  line = tpt_hlo_broadcast_in_dim(g, line, rank, type.dims, sorted);
  return tpt_select(g, mask(g, &type, d->axes, d->offset, TPT_EQ), line, base);
}

tpt_status_t lower_diag_embed(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t from = *tpt_graph_type(g, x);
  int64_t offset = tpt_lower_int(l, 1), dims[2] = {tpt_lower_int(l, 2), tpt_lower_int(l, 3)};
  if (from.rank < 1) return tpt_refuse_dtype(l, from.dtype);
  if (from.rank + 1 > TPT_RANK_MAX) return tpt_refuse_dtype(l, from.dtype);
  int axes[2];
  for (int i = 0; i < 2; i++)
    TPT_TRY(tpt_wrap_dim(dims[i], from.rank + 1, &axes[i]));
  if (axes[0] == axes[1])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "diagonal dimensions cannot be identical %lld, %lld",
             (long long)dims[0], (long long)dims[1]);
  int64_t size = from.dims[from.rank - 1] + (offset < 0 ? -offset : offset);
  tpt_type_t type = {.dtype = from.dtype, .rank = from.rank + 1};
  for (int i = 0, k = 0; i < type.rank; i++)
    type.dims[i] = i == axes[0] || i == axes[1] ? size : from.dims[k++];
  diagonal_t d;
  TPT_TRY(find_diagonal(&type, offset, dims, &d));
  return tpt_lower_result(l, put_diagonal(g, tpt_hlo_splat_i64(g, &type, 0), x, &d));
}

// grad, input_sizes, offset, dim1, dim2
tpt_status_t lower_diagonal_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v grad = tpt_lower_value(l, 0);
  tpt_type_t type = tpt_type_make(tpt_dtype_of(g, grad), (int)l->args[1].count, l->args[1].ints);
  diagonal_t d;
  int64_t dims[2] = {tpt_lower_int(l, 3), tpt_lower_int(l, 4)};
  TPT_TRY(find_diagonal(&type, tpt_lower_int(l, 2), dims, &d));
  return tpt_lower_result(l, put_diagonal(g, tpt_hlo_splat_i64(g, &type, 0), grad, &d));
}

// self, src, offset, dim1, dim2
tpt_status_t lower_diagonal_scatter(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v base = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, base);
  tpt_v source = tpt_lower_value_as(l, 1, type.dtype);
  diagonal_t d;
  int64_t dims[2] = {tpt_lower_int(l, 3), tpt_lower_int(l, 4)};
  TPT_TRY(find_diagonal(&type, tpt_lower_int(l, 2), dims, &d));
  const tpt_type_t* from = tpt_graph_type(g, source);
  if (from->rank != type.rank - 1 || from->dims[from->rank - 1] != d.size)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected src to have a size equal to the slice of self");
  return tpt_lower_result(l, put_diagonal(g, base, source, &d));
}
