// Negative log likelihood over classes, forward and backward, for [classes], [batch, classes] and
// [batch, classes, space...] alike. A target out of range fails the launch by the gather's index check.
#include "aten/array.h"
#include "aten/rows.h"

enum { NONE, MEAN, SUM };

typedef struct nll {
  tpt_type_t type;    // of self
  tpt_dtype_t dtype;  // computed in
  int64_t dims[3];    // batch, classes, space
  int64_t places[2];  // batch, space
  tpt_v target;       // s64 [batch, space]; ignored ones read class 0
  tpt_v is_ignored;   // pred [batch, space]
  tpt_v weight;       // of each place's class, 0 where ignored
} nll_t;

// weight[target] over the places.
static tpt_v place_weights(tpt_lower_t* l, const nll_t* n, int arg) {
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  gather.collapsed_count = gather.map_count = 1;
  gather.index_vector_dim = 2;
  gather.slice_sizes[0] = 1;
  gather.check = "Target is out of bounds (nll_loss)";
  return tpt_hlo_gather(l->graph, tpt_lower_value_as(l, arg, n->dtype), n->target, &gather);
}

static tpt_status_t check_sizes(const tpt_lower_t* l, int self, const tpt_type_t* target) {
  const tpt_type_t* type = tpt_graph_type(l->graph, tpt_lower_value((tpt_lower_t*)l, self));
  if (type->rank == 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "input tensor should be 1D or 2D");
  if (!tpt_dtype_is_float(type->dtype))
    TPT_FAIL(TPT_UNIMPLEMENTED, "\"nll_loss\" not implemented for '%s'",
             tpt_dtype_row(type->dtype)->name);
  if (target->dtype != TPT_S64 && target->dtype != TPT_U8)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected scalar type Long or Byte but found %s",
             tpt_dtype_row(target->dtype)->name);
  bool matches = type->rank == 1 ? target->rank <= 1 && tpt_type_count(target) == 1
                                 : target->rank == type->rank - 1;
  for (int d = 0; matches && type->rank > 1 && d < target->rank; d++)
    matches = target->dims[d] == type->dims[d == 0 ? 0 : d + 1];
  if (!matches)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "size mismatch (got input of %d dimensions and %lld elements, target of %d dimensions "
             "and %lld elements)",
             type->rank, (long long)tpt_type_count(type), target->rank,
             (long long)tpt_type_count(target));
  return NULL;
}

// Arguments: self, target, weight from `self` on; ignore_index after the reduction.
static tpt_status_t read_nll(tpt_lower_t* l, int self, nll_t* n) {
  tpt_graph_t* g = l->graph;
  tpt_v target = tpt_lower_value(l, self + 1);
  n->type = *tpt_graph_type(g, tpt_lower_value(l, self));
  n->dtype = tpt_dtype_compute(n->type.dtype);
  TPT_TRY(check_sizes(l, self, tpt_graph_type(g, target)));
  n->dims[0] = n->type.rank == 1 ? 1 : n->type.dims[0];
  n->dims[1] = n->type.dims[n->type.rank > 1];
  n->dims[2] = 1;
  for (int d = 2; d < n->type.rank; d++)
    n->dims[2] *= n->type.dims[d];
  n->places[0] = n->dims[0];
  n->places[1] = n->dims[2];
  target = tpt_hlo_reshape(g, tpt_hlo_convert(g, target, TPT_S64), 2, n->places);
  tpt_v ignore = tpt_lower_scalar(l, (int)l->op->params.mode + 1, TPT_S64);
  n->is_ignored = tpt_eq(g, target, ignore);
  n->target = tpt_select(g, n->is_ignored, tpt_like_i64(g, target, 0), target);
  tpt_v one = tpt_fill(g, n->dtype, 2, n->places, 1);
  bool has_classes = n->dims[1] > 0;
  if (tpt_lower_has(l, self + 2) && has_classes) {
    const tpt_type_t* type = tpt_graph_type(g, tpt_lower_value(l, self + 2));
    if (type->rank != 1 || type->dims[0] != n->dims[1])
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "weight tensor should be defined either for all %lld classes or no classes but got "
               "weight tensor of %lld elements",
               (long long)n->dims[1], (long long)tpt_type_count(type));
    one = place_weights(l, n, self + 2);
  }
  n->weight = tpt_select(g, n->is_ignored, tpt_like(g, one, 0), one);
  return NULL;
}

// self[b, target[b, s], s].
static tpt_v pick(tpt_lower_t* l, const nll_t* n) {
  if (tpt_type_count(&n->type) == 0) return tpt_fill(l->graph, n->dtype, 2, n->places, 0);
  tpt_v x = tpt_hlo_reshape(l->graph, tpt_lower_value_as(l, 0, n->dtype), 3, n->dims);
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  gather.collapsed_count = gather.map_count = 1;
  gather.collapsed_dims[0] = gather.start_index_map[0] = 1;
  gather.batching_count = 2;
  gather.operand_batching[1] = 2;
  gather.indices_batching[1] = 1;
  gather.index_vector_dim = 2;
  for (int d = 0; d < 3; d++)
    gather.slice_sizes[d] = 1;
  gather.check = "Target is out of bounds (nll_loss)";
  return tpt_hlo_gather(l->graph, x, n->target, &gather);
}

tpt_status_t lower_nll_loss(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  nll_t n;
  TPT_TRY(read_nll(l, 0, &n));
  int64_t reduction = tpt_lower_int(l, (int)l->op->params.mode);
  tpt_v picked = tpt_neg(g, tpt_mul(g, pick(l, &n), n.weight));
  tpt_v loss = tpt_select(g, n.is_ignored, tpt_like(g, picked, 0), picked);
  tpt_v total = tpt_reduce_sum(g, n.weight, NULL, 0);
  if (reduction == NONE) {
    tpt_type_t type = n.type;  // of the target: self's without the classes
    int at = type.rank > 1;
    memmove(type.dims + at, type.dims + at + 1, (size_t)(type.rank - at - 1) * sizeof(int64_t));
    type.rank--;
    if (type.rank > 0) total = tpt_like(g, total, 0);
    loss = tpt_hlo_reshape(g, loss, type.rank, type.dims);
  } else {
    loss = tpt_reduce_sum(g, loss, NULL, 0);
    if (reduction == MEAN) loss = tpt_div(g, loss, total);
  }
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, loss, n.type.dtype)));
  return tpt_lower_result(l, tpt_hlo_convert(g, total, n.type.dtype));
}

// grad_output, self, target, weight, reduction, ignore_index, total_weight. One hot: each class asks
// whether it is the target's.
tpt_status_t lower_nll_loss_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  nll_t n;
  TPT_TRY(read_nll(l, 1, &n));
  int64_t reduction = tpt_lower_int(l, (int)l->op->params.mode);
  tpt_v grad = tpt_lower_value_as(l, 0, n.dtype);
  if (reduction == NONE)
    grad = tpt_hlo_reshape(g, grad, 2, n.places);
  else if (tpt_type_count(tpt_graph_type(g, grad)) == 1)
    grad = tpt_hlo_reshape(g, grad, 0, NULL);
  else
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Expected a single element grad_output tensor, but got: %lld",
             (long long)tpt_type_count(tpt_graph_type(g, grad)));
  grad = tpt_neg(g, tpt_mul(g, n.weight, grad));
  if (reduction == MEAN) {
    tpt_v total = tpt_hlo_reshape(g, tpt_lower_value_as(l, 6, n.dtype), 0, NULL);
    grad = tpt_div(g, grad, total);
  }
  grad = tpt_select(g, n.is_ignored, tpt_like(g, grad, 0), grad);
  int64_t where[2] = {0, 2};
  tpt_type_t classes = tpt_type_make(TPT_S64, 3, n.dims);
  tpt_v target = tpt_hlo_broadcast_in_dim(g, n.target, 3, n.dims, where);
  tpt_v is_target = tpt_eq(g, tpt_hlo_iota(g, &classes, 1), target);
  grad = tpt_hlo_broadcast_in_dim(g, grad, 3, n.dims, where);
  grad = tpt_select(g, is_target, grad, tpt_like(g, grad, 0));
  grad = tpt_hlo_reshape(g, grad, n.type.rank, n.type.dims);
  return tpt_lower_result(l, tpt_hlo_convert(g, grad, n.type.dtype));
}
