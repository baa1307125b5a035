// Lowerings about diagonals and triangles. All are masks over two dimensions made of iotas: no gather,
// so that they fuse.
#include "aten/array.h"
#include "aten/rows.h"

// The run-time number at argument `arg` as a 0-d s32, far ones at +-2^30 (no index is that large).
static tpt_v offset_of(tpt_lower_t* l, int arg) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_scalar(l, arg, TPT_S64);
  x = tpt_max(g, tpt_min(g, x, tpt_like_i64(g, x, 0x40000000)), tpt_like_i64(g, x, -0x40000000));
  return tpt_hlo_convert(g, x, TPT_S32);
}

// column index - row index compared with the offset (0-d s32), over two dimensions of an array.
static tpt_v mask(tpt_graph_t* g, const tpt_type_t* array, const int axes[2], tpt_v offset,
                  tpt_compare_t direction) {
  tpt_type_t type = *array;
  type.dtype = TPT_S32;
  tpt_v row = tpt_hlo_iota(g, &type, axes[0]), column = tpt_hlo_iota(g, &type, axes[1]);
  return tpt_compare(g, direction, tpt_sub(g, column, row), offset);
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
  tpt_v is_kept = mask(g, &type, axes, offset_of(l, 1), keeps);
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
  tpt_v is_diagonal = mask(g, &type, (int[]){0, 1}, tpt_hlo_scalar_i64(g, TPT_S32, 0), TPT_EQ);
  tpt_v sum = tpt_reduce_sum(g, tpt_select(g, is_diagonal, x, tpt_like_i64(g, x, 0)), NULL, 0);
  return tpt_lower_result(l, tpt_hlo_convert(g, sum, dtype));
}

// Where a diagonal lies in an array: dimensions, whether it starts below the main one, its length.
typedef struct diagonal {
  int axes[2];
  bool is_below;
  int64_t size;
} diagonal_t;

static tpt_status_t find_diagonal(const tpt_type_t* type, int64_t offset, const int64_t dims[2],
                                  diagonal_t* out) {
  out->is_below = offset < 0;
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

// `base` with the diagonal at `offset` (0-d s32) replaced by x, whose last dimension runs along it.
static tpt_v put_diagonal(tpt_graph_t* g, tpt_v base, tpt_v x, const diagonal_t* d, tpt_v offset) {
  tpt_type_t type = *tpt_graph_type(g, base);
  if (tpt_graph_error(g)) return TPT_VALUE_NONE;  // `base` has no dimensions then
  int rank = type.rank;
  int along = d->is_below ? d->axes[1] : d->axes[0];
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
  return tpt_select(g, mask(g, &type, d->axes, offset, TPT_EQ), line, base);
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
  return tpt_lower_result(l, put_diagonal(g, tpt_hlo_splat_i64(g, &type, 0), x, &d,
                                          tpt_hlo_scalar_i64(g, TPT_S32, offset)));
}

// --- written back ------------------------------------------------------------------------------------------

// The diagonal of `type` that arguments `at` (offset), at + 1 and at + 2 (dimensions) name; `source` must
// have its length. The program knows of the offset only on which side it lies (diagonal_kind).
static tpt_status_t check_diagonal(const tpt_lower_t* l, const tpt_type_t* type, int at,
                                   const tpt_tensor_t* source, diagonal_t* out) {
  int64_t dims[2] = {tpt_lower_int(l, at + 1), tpt_lower_int(l, at + 2)};
  TPT_TRY(find_diagonal(type, l->args[at].number.i, dims, out));
  if (source->rank != type->rank - 1 || source->sizes[source->rank - 1] != out->size)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected src to have a size equal to the slice of self");
  return NULL;
}

static tpt_type_t self_type(const tpt_lower_t* l) {
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  return tpt_type_make(self->dtype, self->rank, self->sizes);
}

// grad, input_sizes, offset, dim1, dim2
tpt_status_t check_diagonal_backward(tpt_lower_t* l) {
  diagonal_t d;
  tpt_type_t type;
  TPT_TRY(tpt_lower_listed_type(l, 1, tpt_lower_tensor(l, 0)->dtype, &type));
  return check_diagonal(l, &type, 2, tpt_lower_tensor(l, 0), &d);
}
int64_t kind_diagonal_backward(const tpt_lower_t* l) {
  return l->args[2].number.i < 0;
}
tpt_status_t lower_diagonal_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  diagonal_t d;
  tpt_type_t type;
  TPT_TRY(tpt_lower_listed_type(l, 1, tpt_lower_tensor(l, 0)->dtype, &type));
  TPT_TRY(check_diagonal(l, &type, 2, tpt_lower_tensor(l, 0), &d));
  tpt_v zero = tpt_hlo_splat_i64(g, &type, 0);
  return tpt_lower_result(l, put_diagonal(g, zero, tpt_lower_value(l, 0), &d, offset_of(l, 2)));
}

// self, src, offset, dim1, dim2
tpt_status_t check_diagonal_scatter(tpt_lower_t* l) {
  diagonal_t d;
  tpt_type_t type = self_type(l);
  return check_diagonal(l, &type, 2, tpt_lower_tensor(l, 1), &d);
}
int64_t kind_diagonal_scatter(const tpt_lower_t* l) {
  return kind_diagonal_backward(l);
}
tpt_status_t lower_diagonal_scatter(tpt_lower_t* l) {
  diagonal_t d;
  tpt_type_t type = self_type(l);
  TPT_TRY(check_diagonal(l, &type, 2, tpt_lower_tensor(l, 1), &d));
  tpt_v base = tpt_lower_value(l, 0), source = tpt_lower_value_as(l, 1, type.dtype);
  return tpt_lower_result(l, put_diagonal(l->graph, base, source, &d, offset_of(l, 2)));
}
