// Batch normalisation: statistics over every dimension but the channels', in training from the batch
// (two passes, biased variance), else from the running ones. Running statistics are mutated arguments
// or results, as the row says.
#include "aten/array.h"
#include "aten/memory_format.h"
#include "aten/rows.h"

// Where a row's arguments stand; -1: absent.
typedef struct places {
  int running, momentum, eps;
  bool training;
} places_t;

typedef struct batch {
  tpt_type_t type;
  tpt_dtype_t dtype;             // computed in
  int64_t planes[3];             // batch, channels, space
  tpt_v x;                       // laid out as planes
  tpt_v mean, variance, invstd;  // [channels]
} batch_t;

static const int64_t kOver[] = {0, 2};

static tpt_status_t read_batch(tpt_lower_t* l, int input, batch_t* b) {
  b->type = *tpt_graph_type(l->graph, tpt_lower_value(l, input));
  b->dtype = tpt_dtype_compute(b->type.dtype);
  if (b->type.rank < 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "batch norm wants an input of at least 2 dimensions, but got %d",
             b->type.rank);
  if (!tpt_dtype_is_float(b->dtype))
    TPT_FAIL(TPT_UNIMPLEMENTED, "batch_norm is not implemented for %s",
             tpt_dtype_row(b->dtype)->name);
  b->planes[0] = b->type.dims[0];
  b->planes[1] = b->type.dims[1];
  b->planes[2] = 1;
  for (int d = 2; d < b->type.rank; d++)
    b->planes[2] *= b->type.dims[d];
  b->x = tpt_hlo_reshape(l->graph, tpt_lower_value_as(l, input, b->dtype), 3, b->planes);
  return NULL;
}

static tpt_status_t read_channels(tpt_lower_t* l, int arg, const batch_t* b, tpt_v* out) {
  *out = tpt_lower_value_as(l, arg, b->dtype);
  const tpt_type_t* type = tpt_graph_type(l->graph, *out);
  if (type->rank != 1 || type->dims[0] != b->planes[1])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s should contain %lld elements not %lld",
             tpt_op_schema(l->op)->args[arg].name, (long long)b->planes[1],
             (long long)tpt_type_count(type));
  return NULL;
}

static tpt_v lay(tpt_graph_t* g, tpt_v channels, const batch_t* b) {
  return tpt_along(g, channels, 3, b->planes, 1);
}

static void batch_statistics(tpt_graph_t* g, batch_t* b) {
  b->mean = tpt_reduce_mean(g, b->x, kOver, 2);
  tpt_v centred = tpt_sub(g, b->x, lay(g, b->mean, b));
  b->variance = tpt_reduce_mean(g, tpt_mul(g, centred, centred), kOver, 2);
}

// The running statistics after this batch, in their own dtype.
static tpt_status_t update_running(tpt_lower_t* l, const places_t* at, const batch_t* b,
                                   tpt_v out[2]) {
  tpt_graph_t* g = l->graph;
  tpt_v momentum = tpt_lower_scalar(l, at->momentum, b->dtype);
  tpt_v rest = tpt_sub(g, tpt_like(g, momentum, 1), momentum);
  double size = (double)(b->planes[0] * b->planes[2]);
  tpt_v unbiased = tpt_mul_f64(g, b->variance, size);
  unbiased = tpt_div(g, unbiased, tpt_like(g, unbiased, size - 1));
  tpt_v now[2] = {b->mean, unbiased};
  for (int i = 0; i < 2; i++) {
    tpt_v before;
    TPT_TRY(read_channels(l, at->running + i, b, &before));
    tpt_v mixed = tpt_add(g, tpt_mul(g, now[i], momentum), tpt_mul(g, before, rest));
    out[i] = tpt_hlo_convert(g, mixed, tpt_lower_tensor(l, at->running + i)->dtype);
  }
  return NULL;
}

static tpt_status_t give_planes(tpt_lower_t* l, int input, const batch_t* b, tpt_v x) {
  x = tpt_hlo_reshape(l->graph, x, b->type.rank, b->type.dims);
  return tpt_lower_result_format(l, tpt_hlo_convert(l->graph, x, b->type.dtype),
                                 tpt_lower_is_channels_last(l, input));
}

// Results 0..2: output, mean and inverse deviation that the backward pass of training wants.
static tpt_status_t give_norm(tpt_lower_t* l, const places_t* at, batch_t* b) {
  tpt_graph_t* g = l->graph;
  TPT_TRY(read_batch(l, 0, b));
  if (at->training) {
    batch_statistics(g, b);
  } else {
    if (at->running < 0 || !tpt_lower_has(l, at->running) || !tpt_lower_has(l, at->running + 1))
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "Expected running_mean and running_var to be defined when training is False");
    TPT_TRY(read_channels(l, at->running, b, &b->mean));
    TPT_TRY(read_channels(l, at->running + 1, b, &b->variance));
  }
  b->invstd = tpt_rsqrt(g, tpt_add(g, b->variance, tpt_lower_scalar(l, at->eps, b->dtype)));
  tpt_v scale = b->invstd, channels;
  if (tpt_lower_has(l, 1)) {
    TPT_TRY(read_channels(l, 1, b, &channels));
    scale = tpt_mul(g, scale, channels);
  }
  tpt_v y = tpt_mul(g, tpt_sub(g, b->x, lay(g, b->mean, b)), lay(g, scale, b));
  if (tpt_lower_has(l, 2)) {
    TPT_TRY(read_channels(l, 2, b, &channels));
    y = tpt_add(g, y, lay(g, channels, b));
  }
  TPT_TRY(give_planes(l, 0, b, y));
  // In evaluation the backward pass reads the running statistics: nothing is saved.
  tpt_v nothing = tpt_fill(g, b->dtype, 1, (int64_t[]){0}, 0);
  TPT_TRY(tpt_lower_result_format(l, at->training ? b->mean : nothing, false));
  return tpt_lower_result_format(l, at->training ? b->invstd : nothing, false);
}

static tpt_status_t write_running(tpt_lower_t* l, const places_t* at, const batch_t* b) {
  if (!at->training || !tpt_lower_has(l, at->running) || !tpt_lower_has(l, at->running + 1))
    return NULL;
  tpt_v running[2];
  TPT_TRY(update_running(l, at, b, running));
  TPT_TRY(tpt_lower_write(l, at->running, 0, running[0]));
  return tpt_lower_write(l, at->running + 1, 0, running[1]);
}

static tpt_status_t give_running(tpt_lower_t* l, const places_t* at, const batch_t* b) {
  tpt_v running[2] = {tpt_lower_value(l, at->running), tpt_lower_value(l, at->running + 1)};
  if (at->training) TPT_TRY(update_running(l, at, b, running));
  TPT_TRY(tpt_lower_result_format(l, running[0], false));
  return tpt_lower_result_format(l, running[1], false);
}

// Other back ends keep work space here; this one needs none.
static tpt_status_t give_reserve(tpt_lower_t* l) {
  return tpt_lower_result_format(l, tpt_fill(l->graph, TPT_U8, 1, (int64_t[]){0}, 0), false);
}

tpt_status_t lower_batch_norm(tpt_lower_t* l) {
  batch_t b;
  places_t at = {3, 6, 7, tpt_lower_bool(l, 5)};
  TPT_TRY(give_norm(l, &at, &b));
  return write_running(l, &at, &b);
}

tpt_status_t lower_batch_norm_no_stats(tpt_lower_t* l) {
  batch_t b;
  places_t at = {-1, 4, 5, tpt_lower_bool(l, 3)};
  return give_norm(l, &at, &b);
}

tpt_status_t lower_batch_norm_functional(tpt_lower_t* l) {
  batch_t b;
  places_t at = {3, 6, 7, tpt_lower_bool(l, 5)};
  TPT_TRY(give_norm(l, &at, &b));
  return give_running(l, &at, &b);
}

tpt_status_t lower_batch_norm_no_training(tpt_lower_t* l) {
  batch_t b;
  places_t at = {3, 5, 6, false};
  return give_norm(l, &at, &b);
}

tpt_status_t lower_batch_norm_with_update(tpt_lower_t* l) {
  batch_t b;
  places_t at = {3, 5, 6, true};
  TPT_TRY(give_norm(l, &at, &b));
  TPT_TRY(give_reserve(l));
  return write_running(l, &at, &b);
}

tpt_status_t lower_batch_norm_with_update_functional(tpt_lower_t* l) {
  batch_t b;
  places_t at = {3, 5, 6, true};
  TPT_TRY(give_norm(l, &at, &b));
  TPT_TRY(give_reserve(l));
  return give_running(l, &at, &b);
}

tpt_status_t lower_batch_norm_no_update(tpt_lower_t* l) {
  batch_t b;
  places_t at = {3, 5, 6, !tpt_lower_has(l, 3) || !tpt_lower_has(l, 4)};
  TPT_TRY(give_norm(l, &at, &b));
  return give_reserve(l);
}

static tpt_status_t give_channel_grad(tpt_lower_t* l, tpt_v sum, const batch_t* b) {
  tpt_dtype_t dtype = tpt_lower_has(l, 2) ? tpt_lower_tensor(l, 2)->dtype : b->type.dtype;
  return tpt_lower_result_format(l, tpt_hlo_convert(l->graph, sum, dtype), false);
}

// grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask.
tpt_status_t lower_batch_norm_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  batch_t b;
  TPT_TRY(read_batch(l, 1, &b));
  tpt_v grad = tpt_hlo_reshape(g, tpt_lower_value_as(l, 0, b.dtype), 3, b.planes);
  bool training = tpt_lower_bool(l, 7);
  if (training) {
    TPT_TRY(read_channels(l, 5, &b, &b.mean));
    TPT_TRY(read_channels(l, 6, &b, &b.invstd));
  } else {
    TPT_TRY(read_channels(l, 3, &b, &b.mean));
    TPT_TRY(read_channels(l, 4, &b, &b.variance));
    b.invstd = tpt_rsqrt(g, tpt_add(g, b.variance, tpt_lower_scalar(l, 8, b.dtype)));
  }
  tpt_v centred = tpt_sub(g, b.x, lay(g, b.mean, &b));
  tpt_v sum = tpt_reduce_sum(g, grad, kOver, 2);
  tpt_v dot = tpt_mul(g, tpt_reduce_sum(g, tpt_mul(g, grad, centred), kOver, 2), b.invstd);
  const int64_t* mask = l->args[9].ints;
  if (mask[0]) {
    tpt_v scale = b.invstd, weight, dx = grad;
    if (tpt_lower_has(l, 2)) {
      TPT_TRY(read_channels(l, 2, &b, &weight));
      scale = tpt_mul(g, scale, weight);
    }
    if (training) {
      tpt_v size = tpt_like(g, sum, (double)(b.planes[0] * b.planes[2]));
      tpt_v along = tpt_mul(g, tpt_div(g, dot, size), b.invstd);
      dx = tpt_sub(g, dx, tpt_mul(g, centred, lay(g, along, &b)));
      dx = tpt_sub(g, dx, lay(g, tpt_div(g, sum, size), &b));
    }
    TPT_TRY(give_planes(l, 1, &b, tpt_mul(g, dx, lay(g, scale, &b))));
  } else {
    TPT_TRY(tpt_lower_result_none(l));
  }
  TPT_TRY(mask[1] ? give_channel_grad(l, dot, &b) : tpt_lower_result_none(l));
  return mask[2] ? give_channel_grad(l, sum, &b) : tpt_lower_result_none(l);
}
