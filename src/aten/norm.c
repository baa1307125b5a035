// Layer, RMS and group normalisation. All see the input as rows [outer, inner] that are normalised one
// by one, with two-pass statistics in the compute type.
#include <float.h>

#include "aten/array.h"
#include "aten/memory_format.h"
#include "aten/rows.h"

static const int64_t kInner[] = {1};
static const int64_t kOuter[] = {0};

// [outer] -> [outer, 1], to broadcast over rows.
static tpt_v column(tpt_graph_t* g, tpt_v x) {
  int64_t dims[2] = {tpt_type_count(tpt_graph_type(g, x)), 1};
  return tpt_hlo_reshape(g, x, 2, dims);
}

static tpt_v row_mean(tpt_graph_t* g, tpt_v x) {
  return column(g, tpt_reduce_mean(g, x, kInner, 1));
}

typedef struct stats {
  tpt_v mean, rstd;  // [outer, 1]
  tpt_v normal;      // [outer, inner]
} stats_t;

static stats_t normalise_rows(tpt_graph_t* g, tpt_v x, tpt_v eps) {
  stats_t s;
  s.mean = row_mean(g, x);
  tpt_v centred = tpt_sub(g, x, s.mean);
  tpt_v variance = row_mean(g, tpt_mul(g, centred, centred));
  s.rstd = tpt_rsqrt(g, tpt_add(g, variance, eps));
  s.normal = tpt_mul(g, centred, s.rstd);
  return s;
}

// Gradient of the input of a row normalisation, given that of its output. mean_too: the rows were
// centred as well.
static tpt_v input_grad(tpt_graph_t* g, tpt_v grad, tpt_v normal, tpt_v rstd, bool mean_too) {
  tpt_v along = tpt_mul(g, normal, row_mean(g, tpt_mul(g, grad, normal)));
  tpt_v rest = tpt_sub(g, grad, along);
  if (mean_too) rest = tpt_sub(g, rest, row_mean(g, grad));
  return tpt_mul(g, rest, rstd);
}

// --- over trailing dimensions --------------------------------------------------------------------------

typedef struct rows {
  tpt_type_t type;    // of the input
  tpt_dtype_t dtype;  // computed in
  int kept;           // leading dimensions that are not normalised
  int64_t dims[2];    // outer, inner
} rows_t;

static tpt_status_t read_rows(tpt_lower_t* l, int input, int shape, rows_t* out) {
  out->type = *tpt_graph_type(l->graph, tpt_lower_value(l, input));
  out->dtype = tpt_dtype_compute(out->type.dtype);
  if (!tpt_dtype_is_float(out->dtype))
    TPT_FAIL(TPT_UNIMPLEMENTED, "%s is not implemented for %s", tpt_op_schema(l->op)->base,
             tpt_dtype_row(out->dtype)->name);
  const tpt_arg_t* normalized = &l->args[shape];
  int rank = (int)normalized->count;
  if (rank < 1)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
             "one element, but got an empty normalized_shape");
  out->kept = out->type.rank - rank;
  out->dims[0] = out->dims[1] = 1;
  for (int d = 0; d < out->type.rank; d++) {
    out->dims[d >= out->kept] *= out->type.dims[d];
    if (d >= out->kept && out->type.dims[d] != normalized->ints[d - out->kept]) out->kept = -1;
  }
  if (out->kept < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Given normalized_shape of %d dimensions, expected input whose last sizes equal it, "
             "but got an input of %d dimensions with other sizes",
             rank, out->type.rank);
  return NULL;
}

static tpt_status_t read_vector(tpt_lower_t* l, int arg, const rows_t* rows, tpt_v* out) {
  const tpt_type_t* type = tpt_graph_type(l->graph, tpt_lower_value(l, arg));
  if (tpt_type_count(type) != rows->dims[1] || type->rank != rows->type.rank - rows->kept)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Expected %s to be of same shape as normalized_shape",
             tpt_op_schema(l->op)->args[arg].name);
  *out = tpt_hlo_reshape(l->graph, tpt_lower_value_as(l, arg, rows->dtype), 1, rows->dims + 1);
  return NULL;
}

static tpt_v read_matrix(tpt_lower_t* l, int arg, const rows_t* rows) {
  return tpt_hlo_reshape(l->graph, tpt_lower_value_as(l, arg, rows->dtype), 2, rows->dims);
}

static tpt_status_t give_matrix(tpt_lower_t* l, const rows_t* rows, tpt_v x) {
  x = tpt_hlo_reshape(l->graph, x, rows->type.rank, rows->type.dims);
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, x, rows->type.dtype));
}

// Statistics keep the input's leading sizes, with ones for what was normalised.
static tpt_status_t give_statistic(tpt_lower_t* l, const rows_t* rows, tpt_v x) {
  int64_t dims[TPT_RANK_MAX];
  for (int d = 0; d < rows->type.rank; d++)
    dims[d] = d < rows->kept ? rows->type.dims[d] : 1;
  return tpt_lower_result(l, tpt_hlo_reshape(l->graph, x, rows->type.rank, dims));
}

tpt_status_t lower_layer_norm(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  rows_t rows;
  TPT_TRY(read_rows(l, 0, 1, &rows));
  stats_t s = normalise_rows(g, read_matrix(l, 0, &rows), tpt_lower_scalar(l, 4, rows.dtype));
  tpt_v y = s.normal, vector;
  if (tpt_lower_has(l, 2)) {
    TPT_TRY(read_vector(l, 2, &rows, &vector));
    y = tpt_mul(g, y, vector);
  }
  if (tpt_lower_has(l, 3)) {
    TPT_TRY(read_vector(l, 3, &rows, &vector));
    y = tpt_add(g, y, vector);
  }
  TPT_TRY(give_matrix(l, &rows, y));
  TPT_TRY(give_statistic(l, &rows, s.mean));
  return give_statistic(l, &rows, s.rstd);
}

// The gradient of weight or bias: a sum over rows, in the argument's own shape and dtype.
static tpt_status_t give_vector_grad(tpt_lower_t* l, int arg, const rows_t* rows, tpt_v x) {
  tpt_v sum = tpt_reduce_sum(l->graph, x, kOuter, 1);
  tpt_dtype_t dtype = tpt_lower_has(l, arg) ? tpt_lower_tensor(l, arg)->dtype : rows->type.dtype;
  sum = tpt_hlo_reshape(l->graph, sum, rows->type.rank - rows->kept, rows->type.dims + rows->kept);
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, sum, dtype));
}

tpt_status_t lower_layer_norm_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  rows_t rows;
  TPT_TRY(read_rows(l, 1, 2, &rows));
  tpt_v grad = read_matrix(l, 0, &rows), x = read_matrix(l, 1, &rows);
  tpt_v mean = column(g, tpt_lower_value_as(l, 3, rows.dtype));
  tpt_v rstd = column(g, tpt_lower_value_as(l, 4, rows.dtype));
  tpt_v normal = tpt_mul(g, tpt_sub(g, x, mean), rstd);
  const int64_t* mask = l->args[7].ints;
  if (mask[0]) {
    tpt_v scaled = grad, weight;
    if (tpt_lower_has(l, 5)) {
      TPT_TRY(read_vector(l, 5, &rows, &weight));
      scaled = tpt_mul(g, grad, weight);
    }
    TPT_TRY(give_matrix(l, &rows, input_grad(g, scaled, normal, rstd, true)));
  } else {
    TPT_TRY(tpt_lower_result_none(l));
  }
  TPT_TRY(mask[1] ? give_vector_grad(l, 5, &rows, tpt_mul(g, grad, normal))
                  : tpt_lower_result_none(l));
  return mask[2] ? give_vector_grad(l, 6, &rows, grad) : tpt_lower_result_none(l);
}

tpt_status_t lower_rms_norm(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  rows_t rows;
  TPT_TRY(read_rows(l, 0, 1, &rows));
  tpt_v x = read_matrix(l, 0, &rows);
  double epsilon = rows.dtype == TPT_F64 ? DBL_EPSILON : FLT_EPSILON;
  tpt_v eps = tpt_lower_has(l, 3) ? tpt_lower_scalar(l, 3, rows.dtype)
                                  : tpt_hlo_scalar_f64(g, rows.dtype, epsilon);
  tpt_v rstd = tpt_rsqrt(g, tpt_add(g, row_mean(g, tpt_mul(g, x, x)), eps));
  tpt_v y = tpt_mul(g, x, rstd), weight;
  if (tpt_lower_has(l, 2)) {
    TPT_TRY(read_vector(l, 2, &rows, &weight));
    y = tpt_mul(g, y, weight);
  }
  TPT_TRY(give_matrix(l, &rows, y));
  return give_statistic(l, &rows, rstd);
}

tpt_status_t lower_rms_norm_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  rows_t rows;
  TPT_TRY(read_rows(l, 1, 2, &rows));
  tpt_v grad = read_matrix(l, 0, &rows);
  tpt_v rstd = column(g, tpt_lower_value_as(l, 3, rows.dtype));
  tpt_v normal = tpt_mul(g, read_matrix(l, 1, &rows), rstd);
  const int64_t* mask = l->args[5].ints;
  if (mask[0]) {
    tpt_v scaled = grad, weight;
    if (tpt_lower_has(l, 4)) {
      TPT_TRY(read_vector(l, 4, &rows, &weight));
      scaled = tpt_mul(g, grad, weight);
    }
    TPT_TRY(give_matrix(l, &rows, input_grad(g, scaled, normal, rstd, false)));
  } else {
    TPT_TRY(tpt_lower_result_none(l));
  }
  return mask[1] ? give_vector_grad(l, 4, &rows, tpt_mul(g, grad, normal))
                 : tpt_lower_result_none(l);
}

// --- over groups of channels ------------------------------------------------------------------------------

typedef struct groups {
  tpt_type_t type;
  tpt_dtype_t dtype;
  int64_t rows[2];    // batch * groups, elements of a group
  int64_t planes[3];  // batch, channels, elements of a channel
  int64_t stats[2];   // batch, groups
} groups_t;

// Arguments `first` ... are N, C, HxW, group.
static tpt_status_t read_groups(tpt_lower_t* l, int input, int first, groups_t* out) {
  out->type = *tpt_graph_type(l->graph, tpt_lower_value(l, input));
  out->dtype = tpt_dtype_compute(out->type.dtype);
  int64_t group = tpt_lower_int(l, first + 3);
  int64_t total = 1;
  bool fits = true;
  for (int i = 0; i < 3; i++) {
    out->planes[i] = tpt_lower_int(l, first + i);
    fits &= out->planes[i] >= 0 && !__builtin_mul_overflow(total, out->planes[i], &total);
  }
  if (!tpt_dtype_is_float(out->dtype) || !fits || total != tpt_type_count(&out->type))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected a floating point input of N * C * HxW elements");
  if (group <= 0 || out->planes[1] % group ||
      __builtin_mul_overflow(out->planes[0], group, &out->rows[0]))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Expected number of channels in input to be divisible by num_groups, but got %lld "
             "channels and num_groups=%lld",
             (long long)out->planes[1], (long long)group);
  out->stats[0] = out->planes[0];
  out->stats[1] = group;
  out->rows[1] = out->planes[1] / group * out->planes[2];
  return NULL;
}

static tpt_v read_group_matrix(tpt_lower_t* l, int arg, const groups_t* gr) {
  return tpt_hlo_reshape(l->graph, tpt_lower_value_as(l, arg, gr->dtype), 2, gr->rows);
}

// A vector over channels laid over [batch, channels, space].
static tpt_status_t read_channels(tpt_lower_t* l, int arg, const groups_t* gr, tpt_v* out) {
  tpt_v x = tpt_lower_value_as(l, arg, gr->dtype);
  const tpt_type_t* type = tpt_graph_type(l->graph, x);
  if (type->rank != 1 || type->dims[0] != gr->planes[1])
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Expected %s to be a vector of size equal to the number of channels in input",
             tpt_op_schema(l->op)->args[arg].name);
  *out = tpt_along(l->graph, x, 3, gr->planes, 1);
  return NULL;
}

static tpt_status_t give_groups(tpt_lower_t* l, int input, const groups_t* gr, tpt_v x) {
  x = tpt_hlo_reshape(l->graph, x, gr->type.rank, gr->type.dims);
  return tpt_lower_result_format(l, tpt_hlo_convert(l->graph, x, gr->type.dtype),
                                 tpt_lower_is_channels_last(l, input));
}

tpt_status_t lower_group_norm(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  groups_t gr;
  TPT_TRY(read_groups(l, 0, 3, &gr));
  tpt_v x = read_group_matrix(l, 0, &gr);
  stats_t s = normalise_rows(g, x, tpt_lower_scalar(l, 7, gr.dtype));
  tpt_v y = tpt_hlo_reshape(g, s.normal, 3, gr.planes), vector;
  tpt_dtype_t stats_dtype = gr.type.dtype;
  if (tpt_lower_has(l, 1)) {
    TPT_TRY(read_channels(l, 1, &gr, &vector));
    y = tpt_mul(g, y, vector);
    stats_dtype = tpt_lower_tensor(l, 1)->dtype;
  }
  if (tpt_lower_has(l, 2)) {
    TPT_TRY(read_channels(l, 2, &gr, &vector));
    y = tpt_add(g, y, vector);
    stats_dtype = tpt_lower_tensor(l, 2)->dtype;
  }
  TPT_TRY(give_groups(l, 0, &gr, y));
  tpt_v stats[2] = {s.mean, s.rstd};
  for (int i = 0; i < 2; i++) {
    tpt_v laid = tpt_hlo_reshape(g, stats[i], 2, gr.stats);
    TPT_TRY(tpt_lower_result_format(l, tpt_hlo_convert(g, laid, stats_dtype), false));
  }
  return NULL;
}

static tpt_status_t give_channel_grad(tpt_lower_t* l, const groups_t* gr, tpt_v x) {
  tpt_dtype_t dtype = tpt_lower_has(l, 4) ? tpt_lower_tensor(l, 4)->dtype : gr->type.dtype;
  x = tpt_hlo_reshape(l->graph, x, 3, gr->planes);
  tpt_v sum = tpt_reduce_sum(l->graph, x, (int64_t[]){0, 2}, 2);
  return tpt_lower_result_format(l, tpt_hlo_convert(l->graph, sum, dtype), false);
}

tpt_status_t lower_group_norm_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  groups_t gr;
  TPT_TRY(read_groups(l, 1, 5, &gr));
  tpt_v grad = read_group_matrix(l, 0, &gr);
  tpt_v mean = column(g, tpt_lower_value_as(l, 2, gr.dtype));
  tpt_v rstd = column(g, tpt_lower_value_as(l, 3, gr.dtype));
  tpt_v normal = tpt_mul(g, tpt_sub(g, read_group_matrix(l, 1, &gr), mean), rstd);
  const int64_t* mask = l->args[9].ints;
  if (mask[0]) {
    tpt_v scaled = grad, weight;
    if (tpt_lower_has(l, 4)) {
      TPT_TRY(read_channels(l, 4, &gr, &weight));
      scaled = tpt_mul(g, grad, tpt_hlo_reshape(g, weight, 2, gr.rows));
    }
    TPT_TRY(give_groups(l, 1, &gr, input_grad(g, scaled, normal, rstd, true)));
  } else {
    TPT_TRY(tpt_lower_result_none(l));
  }
  TPT_TRY(mask[1] ? give_channel_grad(l, &gr, tpt_mul(g, grad, normal)) : tpt_lower_result_none(l));
  return mask[2] ? give_channel_grad(l, &gr, grad) : tpt_lower_result_none(l);
}
