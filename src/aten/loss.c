// Pointwise losses with a reduction, forward and backward. Computed in f32 for f16 and bf16, rounded
// once after the reduction; parameters such as beta stay run-time numbers.
#include "aten/array.h"
#include "aten/assert.h"
#include "aten/rows.h"
#include "aten/stride.h"

enum { NONE, MEAN, SUM };

typedef struct pair {
  tpt_dtype_t dtype;  // of the result
  tpt_v x, t;         // prediction and target in the compute type, broadcast together
} pair_t;

// Arguments `first` and first + 1.
static tpt_status_t read_pair(tpt_lower_t* l, int first, pair_t* out) {
  int args[2] = {first, first + 1};
  out->dtype = tpt_lower_promote(l, args, 2, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(l->graph));
  if (!tpt_dtype_is_float(out->dtype))
    TPT_FAIL(TPT_UNIMPLEMENTED, "\"%s\" not implemented for '%s'", tpt_op_schema(l->op)->base,
             tpt_dtype_row(out->dtype)->name);
  tpt_v pair[2] = {tpt_operand(l, first, out->dtype), tpt_operand(l, first + 1, out->dtype)};
  TPT_TRY(tpt_lower_broadcast(l, pair, 2));
  out->x = pair[0];
  out->t = pair[1];
  return NULL;
}

static tpt_v reduced(tpt_lower_t* l, tpt_v loss) {
  int64_t reduction = tpt_lower_int(l, (int)l->op->params.mode);
  if (reduction == NONE) return loss;
  double size = (double)tpt_type_count(tpt_graph_type(l->graph, loss));
  tpt_v sum = tpt_reduce_sum(l->graph, loss, NULL, 0);
  return reduction == MEAN ? tpt_div(l->graph, sum, tpt_like(l->graph, sum, size)) : sum;
}

static tpt_status_t give_loss(tpt_lower_t* l, const pair_t* p, tpt_v loss) {
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, reduced(l, loss), p->dtype));
}

// slope * grad_output, divided by the number of elements when the forward pass took the mean.
static tpt_v chain(tpt_lower_t* l, const pair_t* p, tpt_v slope) {
  tpt_graph_t* g = l->graph;
  tpt_v grad = tpt_operand(l, 0, p->dtype);
  if (tpt_lower_int(l, (int)l->op->params.mode) == MEAN) {
    double size = (double)tpt_type_count(tpt_graph_type(g, p->x));
    grad = tpt_div(g, grad, tpt_like(g, grad, size));
  }
  return tpt_hlo_convert(g, tpt_mul(g, slope, grad), p->dtype);
}

// A result laid out like argument `arg`.
static tpt_status_t give_like(tpt_lower_t* l, int arg, tpt_v x) {
  int64_t strides[TPT_RANK_MAX] = {0};
  const tpt_tensor_t* like = tpt_lower_tensor(l, arg);
  if (!(like->flags & TPT_TENSOR_HOST)) tpt_strides_like(like, strides);
  return tpt_lower_result_strides(l, x, strides);
}

// The target may broadcast to the input, not the other way round.
static tpt_status_t check_fits(const tpt_lower_t* l, int self, const pair_t* p) {
  const tpt_tensor_t* x = tpt_lower_tensor(l, self);
  const tpt_type_t* type = tpt_graph_type(l->graph, p->x);
  bool fits = x->flags & TPT_TENSOR_HOST ? type->rank == 0 : x->rank == type->rank;
  for (int d = 0; fits && d < type->rank; d++)
    fits = x->sizes[d] == type->dims[d];
  if (fits) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "output with the input's shape doesn't match the broadcast shape of input and target");
}

// --- distances -----------------------------------------------------------------------------------------

tpt_status_t lower_mse_loss(tpt_lower_t* l) {
  pair_t p;
  TPT_TRY(read_pair(l, 0, &p));
  tpt_v d = tpt_sub(l->graph, p.x, p.t);
  return give_loss(l, &p, tpt_mul(l->graph, d, d));
}

tpt_status_t lower_mse_loss_backward(tpt_lower_t* l) {
  pair_t p;
  TPT_TRY(read_pair(l, 1, &p));
  tpt_v d = tpt_sub(l->graph, p.x, p.t);
  return tpt_lower_result(l, chain(l, &p, tpt_mul_f64(l->graph, d, 2)));
}

tpt_status_t check_smooth_l1_loss(tpt_lower_t* l) {
  if (l->args[3].number.f >= 0) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "smooth_l1_loss does not support negative values for beta.");
}

tpt_status_t lower_smooth_l1_loss(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(read_pair(l, 0, &p));
  tpt_v beta = tpt_operand(l, 3, p.dtype);
  tpt_v d = tpt_abs(g, tpt_sub(g, p.x, p.t));
  tpt_v near = tpt_div(g, tpt_mul_f64(g, tpt_mul(g, d, d), 0.5), beta);
  tpt_v far = tpt_sub(g, d, tpt_mul_f64(g, beta, 0.5));
  return give_loss(l, &p, tpt_select(g, tpt_lt(g, d, beta), near, far));
}

// The slope that grows as x / width up to `limit` on both sides; NaN stays NaN.
static tpt_v clipped_slope(tpt_graph_t* g, tpt_v d, tpt_v width, tpt_v inside, tpt_v limit) {
  tpt_v low = tpt_le(g, d, tpt_neg(g, width));
  tpt_v slope = tpt_select(g, tpt_ge(g, d, width), limit, inside);
  return tpt_select(g, low, tpt_neg(g, limit), slope);
}

tpt_status_t lower_smooth_l1_loss_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(read_pair(l, 1, &p));
  tpt_v beta = tpt_operand(l, 4, p.dtype);
  tpt_v d = tpt_sub(g, p.x, p.t);
  tpt_v slope = clipped_slope(g, d, beta, tpt_div(g, d, beta), tpt_like(g, beta, 1));
  return tpt_lower_result(l, chain(l, &p, slope));
}

tpt_status_t check_huber_loss(tpt_lower_t* l) {
  if (l->args[3].number.f > 0) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "huber_loss does not support non-positive values for delta.");
}

tpt_status_t lower_huber_loss(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(read_pair(l, 0, &p));
  tpt_v delta = tpt_operand(l, 3, p.dtype);
  tpt_v d = tpt_abs(g, tpt_sub(g, p.x, p.t));
  tpt_v near = tpt_mul_f64(g, tpt_mul(g, d, d), 0.5);
  tpt_v far = tpt_mul(g, tpt_sub(g, d, tpt_mul_f64(g, delta, 0.5)), delta);
  return give_loss(l, &p, tpt_select(g, tpt_le(g, d, delta), near, far));
}

tpt_status_t lower_huber_loss_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(read_pair(l, 1, &p));
  tpt_v delta = tpt_operand(l, 4, p.dtype);
  tpt_v d = tpt_sub(g, p.x, p.t);
  return tpt_lower_result(l, chain(l, &p, clipped_slope(g, d, delta, d, delta)));
}

tpt_status_t lower_soft_margin_loss(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(read_pair(l, 0, &p));
  TPT_TRY(check_fits(l, 0, &p));
  tpt_v z = tpt_exp(g, tpt_neg(g, tpt_mul(g, p.x, p.t)));
  return give_loss(l, &p, tpt_log1p(g, z));
}

tpt_status_t lower_soft_margin_loss_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(read_pair(l, 1, &p));
  TPT_TRY(check_fits(l, 1, &p));
  // z / (1 + z) for z = exp(-t x), without overflow.
  tpt_v part = tpt_logistic(g, tpt_neg(g, tpt_mul(g, p.x, p.t)));
  return give_like(l, 1, chain(l, &p, tpt_neg(g, tpt_mul(g, p.t, part))));
}

// --- cross entropies of probabilities ---------------------------------------------------------------------

// loss * argument `arg` when that is present.
static tpt_v weighted(tpt_lower_t* l, int arg, tpt_dtype_t dtype, tpt_v loss) {
  return tpt_lower_has(l, arg) ? tpt_mul(l->graph, loss, tpt_operand(l, arg, dtype)) : loss;
}

static tpt_status_t check_same_sizes(const tpt_lower_t* l, int first) {
  const tpt_tensor_t* x = tpt_lower_tensor(l, first);
  const tpt_tensor_t* t = tpt_lower_tensor(l, first + 1);
  bool same = x->rank == t->rank;
  for (int d = 0; same && d < x->rank; d++)
    same = x->sizes[d] == t->sizes[d];
  if (same) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "Using a target size that is different to the input size is not supported");
}

tpt_status_t lower_binary_cross_entropy(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(check_same_sizes(l, 0));
  TPT_TRY(read_pair(l, 0, &p));
  tpt_v floor = tpt_like(g, p.x, -100);
  tpt_v no = tpt_max(g, tpt_log1p(g, tpt_neg(g, p.x)), floor);
  tpt_v yes = tpt_max(g, tpt_log(g, p.x), floor);
  tpt_v loss = tpt_sub(g, tpt_mul(g, tpt_add_f64(g, p.t, -1), no), tpt_mul(g, p.t, yes));
  loss = reduced(l, weighted(l, 2, p.dtype, loss));
  tpt_v is_outside =
      tpt_or(g, tpt_lt(g, p.x, tpt_like(g, p.x, 0)), tpt_gt(g, p.x, tpt_like(g, p.x, 1)));
  loss = tpt_assert(g, tpt_not(g, is_outside), "all elements of input should be between 0 and 1",
                    loss);
  return tpt_lower_result(l, tpt_hlo_convert(g, loss, p.dtype));
}

tpt_status_t lower_binary_cross_entropy_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(check_same_sizes(l, 1));
  TPT_TRY(read_pair(l, 1, &p));
  tpt_v spread = tpt_mul(g, tpt_sub(g, tpt_like(g, p.x, 1), p.x), p.x);
  spread = tpt_max(g, spread, tpt_like(g, p.x, (double)1e-12f));
  tpt_v slope = tpt_div(g, tpt_sub(g, p.x, p.t), spread);
  tpt_v grad = chain(l, &p, weighted(l, 3, p.dtype, slope));
  return give_like(l, 1, grad);
}

// self, target, weight, pos_weight, reduction.
tpt_status_t lower_binary_cross_entropy_with_logits(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  pair_t p;
  TPT_TRY(check_same_sizes(l, 0));
  TPT_TRY(read_pair(l, 0, &p));
  // softplus(-x) = log(1 + exp(-|x|)) + max(-x, 0)
  tpt_v soft = tpt_log1p(g, tpt_exp(g, tpt_neg(g, tpt_abs(g, p.x))));
  soft = tpt_add(g, soft, tpt_max(g, tpt_neg(g, p.x), tpt_like(g, p.x, 0)));
  if (tpt_lower_has(l, 3)) {
    tpt_v more = tpt_add_f64(g, tpt_operand(l, 3, p.dtype), -1);
    soft = tpt_mul(g, soft, tpt_add_f64(g, tpt_mul(g, more, p.t), 1));
  }
  tpt_v loss = tpt_add(g, tpt_mul(g, tpt_sub(g, tpt_like(g, p.t, 1), p.t), p.x), soft);
  return give_loss(l, &p, weighted(l, 2, p.dtype, loss));
}
