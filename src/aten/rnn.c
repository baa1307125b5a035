// LSTM and GRU cells with all gates in one array [batch, gates * hidden], forward and backward.
// Gates stand as PyTorch lays them out: LSTM input, forget, cell, output; GRU reset, update, new.
#include "aten/array.h"
#include "aten/rows.h"

typedef struct cell {
  tpt_dtype_t dtype, compute;
  int64_t batch, hidden;
} cell_t;

// Sizes off the state at argument `arg`, which is [batch, hidden] after `gates` parts.
static tpt_status_t read_cell(tpt_lower_t* l, int arg, int gates, cell_t* out) {
  const tpt_type_t* type = tpt_graph_type(l->graph, tpt_lower_value(l, arg));
  out->dtype = type->dtype;
  out->compute = tpt_dtype_compute(type->dtype);
  if (type->rank != 2 || !tpt_dtype_is_float(type->dtype) || type->dims[1] % gates)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s must be a floating point matrix [batch, hidden]",
             tpt_op_schema(l->op)->args[arg].name);
  out->batch = type->dims[0];
  out->hidden = type->dims[1] / gates;
  return NULL;
}

// A matrix argument of `gates` parts, in the compute type.
static tpt_status_t read_gates(tpt_lower_t* l, int arg, const cell_t* c, int gates, tpt_v* out) {
  *out = tpt_lower_value_as(l, arg, c->compute);
  const tpt_type_t* type = tpt_graph_type(l->graph, *out);
  if (type->rank != 2 || type->dims[0] != c->batch || type->dims[1] != gates * c->hidden)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s must have sizes [%lld, %lld]",
             tpt_op_schema(l->op)->args[arg].name, (long long)c->batch,
             (long long)(gates * c->hidden));
  return NULL;
}

static tpt_status_t add_bias(tpt_lower_t* l, int arg, tpt_v* inout_gates) {
  if (!tpt_lower_has(l, arg)) return NULL;
  tpt_type_t type = *tpt_graph_type(l->graph, *inout_gates);
  tpt_v bias = tpt_lower_value_as(l, arg, type.dtype);
  if (tpt_type_count(tpt_graph_type(l->graph, bias)) != type.dims[1])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s must have %lld elements",
             tpt_op_schema(l->op)->args[arg].name, (long long)type.dims[1]);
  bias = tpt_along(l->graph, tpt_flatten(l->graph, bias), 2, type.dims, 1);
  *inout_gates = tpt_add(l->graph, *inout_gates, bias);
  return NULL;
}

static tpt_v part(tpt_graph_t* g, const cell_t* c, tpt_v gates, int number) {
  return tpt_hlo_slice_dim(g, gates, 1, number * c->hidden, (number + 1) * c->hidden, 1);
}

static tpt_status_t give(tpt_lower_t* l, const cell_t* c, tpt_v x) {
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, x, c->dtype));
}

// Sum over the batch.
static tpt_v batch_sum(tpt_graph_t* g, tpt_v x) {
  return tpt_reduce_sum(g, x, (int64_t[]){0}, 1);
}

// input_gates, hidden_gates, cx, input_bias, hidden_bias -> hy, cy, the activated gates.
tpt_status_t lower_lstm_cell(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  cell_t c;
  tpt_v input, hidden;
  TPT_TRY(read_cell(l, 2, 1, &c));
  TPT_TRY(read_gates(l, 0, &c, 4, &input));
  TPT_TRY(read_gates(l, 1, &c, 4, &hidden));
  tpt_v gates = tpt_add(g, input, hidden);
  TPT_TRY(add_bias(l, 3, &gates));
  TPT_TRY(add_bias(l, 4, &gates));
  tpt_v act[4];
  for (int k = 0; k < 4; k++) {
    tpt_v x = part(g, &c, gates, k);
    act[k] = k == 2 ? tpt_tanh(g, x) : tpt_logistic(g, x);
  }
  tpt_v cx = tpt_lower_value_as(l, 2, c.compute);
  tpt_v cy = tpt_add(g, tpt_mul(g, act[1], cx), tpt_mul(g, act[0], act[2]));
  TPT_TRY(give(l, &c, tpt_mul(g, act[3], tpt_tanh(g, cy))));
  TPT_TRY(give(l, &c, cy));
  return give(l, &c, tpt_hlo_concatenate(g, act, 4, 1));
}

// A gradient that may be absent.
static tpt_status_t read_grad(tpt_lower_t* l, int arg, const cell_t* c, tpt_v* out) {
  if (tpt_lower_has(l, arg)) return read_gates(l, arg, c, 1, out);
  *out = tpt_fill(l->graph, c->compute, 2, (int64_t[]){c->batch, c->hidden}, 0);
  return NULL;
}

// grad_hy, grad_cy, cx, cy, workspace, has_bias -> gates, cx, bias.
tpt_status_t lower_lstm_cell_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  if (!tpt_lower_has(l, 0) && !tpt_lower_has(l, 1)) {
    for (int i = 0; i < 3; i++)
      TPT_TRY(tpt_lower_result_none(l));
    return NULL;
  }
  cell_t c;
  tpt_v grad_hy, grad_cy, cx, cy, workspace, act[4], grad[4];
  TPT_TRY(read_cell(l, 3, 1, &c));
  TPT_TRY(read_grad(l, 0, &c, &grad_hy));
  TPT_TRY(read_grad(l, 1, &c, &grad_cy));
  TPT_TRY(read_gates(l, 2, &c, 1, &cx));
  TPT_TRY(read_gates(l, 3, &c, 1, &cy));
  TPT_TRY(read_gates(l, 4, &c, 4, &workspace));
  for (int k = 0; k < 4; k++)
    act[k] = part(g, &c, workspace, k);
  tpt_v shown = tpt_tanh(g, cy);
  tpt_v through = tpt_mul(g, tpt_mul(g, grad_hy, act[3]), tpt_tanh_slope(g, shown));
  tpt_v state = tpt_add(g, through, grad_cy);
  grad[0] = tpt_mul(g, tpt_mul(g, state, act[2]), tpt_logistic_slope(g, act[0]));
  grad[1] = tpt_mul(g, tpt_mul(g, state, cx), tpt_logistic_slope(g, act[1]));
  grad[2] = tpt_mul(g, tpt_mul(g, state, act[0]), tpt_tanh_slope(g, act[2]));
  grad[3] = tpt_mul(g, tpt_mul(g, grad_hy, shown), tpt_logistic_slope(g, act[3]));
  tpt_v gates = tpt_hlo_concatenate(g, grad, 4, 1);
  TPT_TRY(give(l, &c, gates));
  TPT_TRY(give(l, &c, tpt_mul(g, state, act[1])));
  return tpt_lower_bool(l, 5) ? give(l, &c, batch_sum(g, gates)) : tpt_lower_result_none(l);
}

// input_gates, hidden_gates, hx, input_bias, hidden_bias -> hy and, for the way back, reset, update,
// new, hx and the hidden part of the new gate.
tpt_status_t lower_gru_cell(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  cell_t c;
  tpt_v input, hidden;
  TPT_TRY(read_cell(l, 2, 1, &c));
  TPT_TRY(read_gates(l, 0, &c, 3, &input));
  TPT_TRY(read_gates(l, 1, &c, 3, &hidden));
  TPT_TRY(add_bias(l, 3, &input));
  TPT_TRY(add_bias(l, 4, &hidden));
  tpt_v gate[2];
  for (int k = 0; k < 2; k++)
    gate[k] = tpt_logistic(g, tpt_add(g, part(g, &c, input, k), part(g, &c, hidden, k)));
  tpt_v recalled = part(g, &c, hidden, 2), hx = tpt_lower_value_as(l, 2, c.compute);
  tpt_v fresh = tpt_add(g, part(g, &c, input, 2), tpt_mul(g, gate[0], recalled));
  fresh = tpt_tanh(g, fresh);
  tpt_v hy = tpt_add(g, fresh, tpt_mul(g, gate[1], tpt_sub(g, hx, fresh)));
  TPT_TRY(give(l, &c, hy));
  tpt_v kept[5] = {gate[0], gate[1], fresh, hx, recalled};
  return give(l, &c, tpt_hlo_concatenate(g, kept, 5, 1));
}

// grad_hy, workspace, has_bias -> input gates, hidden gates, hx, input bias, hidden bias.
tpt_status_t lower_gru_cell_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  cell_t c;
  tpt_v grad_hy, workspace, kept[5];
  TPT_TRY(read_cell(l, 1, 5, &c));
  TPT_TRY(read_gates(l, 0, &c, 1, &grad_hy));
  TPT_TRY(read_gates(l, 1, &c, 5, &workspace));
  for (int k = 0; k < 5; k++)
    kept[k] = part(g, &c, workspace, k);
  tpt_v reset = kept[0], update = kept[1], fresh = kept[2], hx = kept[3], recalled = kept[4];
  tpt_v through = tpt_mul(g, grad_hy, tpt_one_minus(g, update));
  tpt_v grad_new = tpt_mul(g, through, tpt_tanh_slope(g, fresh));
  tpt_v grad_update =
      tpt_mul(g, tpt_mul(g, grad_hy, tpt_sub(g, hx, fresh)), tpt_logistic_slope(g, update));
  tpt_v grad_reset = tpt_mul(g, tpt_mul(g, grad_new, recalled), tpt_logistic_slope(g, reset));
  tpt_v parts[3] = {grad_reset, grad_update, grad_new};
  tpt_v input = tpt_hlo_concatenate(g, parts, 3, 1);
  parts[2] = tpt_mul(g, grad_new, reset);
  tpt_v hidden = tpt_hlo_concatenate(g, parts, 3, 1);
  TPT_TRY(give(l, &c, input));
  TPT_TRY(give(l, &c, hidden));
  TPT_TRY(give(l, &c, tpt_mul(g, grad_hy, update)));
  if (!tpt_lower_bool(l, 2)) {
    TPT_TRY(tpt_lower_result_none(l));
    return tpt_lower_result_none(l);
  }
  TPT_TRY(give(l, &c, batch_sum(g, input)));
  return give(l, &c, batch_sum(g, hidden));
}
