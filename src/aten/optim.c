// Optimizer steps over lists of parameters in one program, and gradient scaling. Every hyperparameter is
// a run-time number. Formulas: torch.optim's Adam, AdamW and SGD; f16 and bf16 compute in f32.
#include "aten/array.h"
#include "aten/foreach.h"
#include "aten/rows.h"

// A float or 0-d Tensor argument.
static tpt_v number(tpt_lower_t* l, int arg, tpt_dtype_t dtype) {
  if (l->args[arg].kind == TPT_ARG_TENSOR) return tpt_lower_value_as(l, arg, dtype);
  return tpt_lower_scalar(l, arg, dtype);
}

// 1 - x for a float argument, subtracted in f64 so that it is right to the last bit near one.
static tpt_v one_minus(tpt_lower_t* l, int arg, tpt_dtype_t dtype) {
  tpt_v x = tpt_lower_scalar(l, arg, TPT_F64);
  tpt_v one = tpt_hlo_scalar_f64(l->graph, TPT_F64, 1);
  return tpt_hlo_convert(l->graph, tpt_sub(l->graph, one, x), dtype);
}

// 1 - beta^step = -expm1(step * log1p(-(1 - beta))), accurate for betas near one.
static tpt_v bias_correction(tpt_graph_t* g, tpt_v one_minus_beta, tpt_v step) {
  tpt_v exponent = tpt_mul(g, step, tpt_log1p(g, tpt_neg(g, one_minus_beta)));
  return tpt_neg(g, tpt_expm1(g, exponent));
}

// g + decay * p, and g itself when decay is zero (so that an infinite p does no harm).
static tpt_v decayed(tpt_graph_t* g, tpt_v gradient, tpt_v p, tpt_v decay) {
  tpt_v none = tpt_eq(g, decay, tpt_like(g, decay, 0));
  return tpt_select(g, none, gradient, tpt_add(g, gradient, tpt_mul(g, decay, p)));
}

// What every fused step begins with: the shapes agree, the gradient is unscaled.
typedef struct step {
  const tpt_tensor_t* like;
  tpt_dtype_t compute;
  tpt_v parameter, gradient;
  tpt_v unscaled;  // what the grads list becomes
  tpt_v skip;      // pred: found_inf says that nothing may change; NONE without found_inf
} step_t;

static tpt_status_t begin(tpt_lower_t* l, int item, int scale_arg, bool maximize, step_t* s) {
  tpt_graph_t* g = l->graph;
  s->like = &l->args[0].tensors[item];
  if (!tpt_dtype_is_float(s->like->dtype))
    TPT_FAIL(TPT_UNIMPLEMENTED, "%s: parameters of dtype %s", tpt_op_schema(l->op)->name,
             tpt_dtype_row(s->like->dtype)->name);
  s->compute = tpt_dtype_compute(s->like->dtype);
  TPT_TRY(tpt_foreach_check(l, 1, item, s->like));
  s->parameter = tpt_lower_item_as(l, 0, item, s->compute);
  s->gradient = tpt_lower_item_as(l, 1, item, s->compute);
  if (tpt_lower_has(l, scale_arg)) {
    tpt_v scale = tpt_lower_value_as(l, scale_arg, s->compute);
    s->gradient = tpt_div(g, s->gradient, tpt_hlo_reshape(g, scale, 0, NULL));
  }
  s->unscaled = s->gradient;
  if (maximize) s->gradient = tpt_neg(g, s->gradient);
  s->skip = TPT_VALUE_NONE;
  if (tpt_lower_has(l, scale_arg + 1)) {
    tpt_v found = tpt_hlo_reshape(g, tpt_lower_value(l, scale_arg + 1), 0, NULL);
    s->skip = tpt_truth(g, found);
  }
  return NULL;
}

// The new value of a list's item, or the old one when the step is skipped.
static tpt_status_t finish(tpt_lower_t* l, const step_t* s, int arg, int item, tpt_v value) {
  if (!tpt_value_is_none(s->skip)) {
    tpt_v old = tpt_lower_item_as(l, arg, item, s->compute);
    value = tpt_select(l->graph, s->skip, old, value);
  }
  return tpt_foreach_result(l, &l->args[arg].tensors[item], value);
}

enum {
  ADAM_LR = 6,
  ADAM_BETA1,
  ADAM_BETA2,
  ADAM_DECAY,
  ADAM_EPS,
  ADAM_AMSGRAD,
  ADAM_MAXIMIZE,
  ADAM_SCALE
};

typedef struct adam {
  step_t step;
  tpt_v parameter, average, square, greatest;  // new values
} adam_t;

static tpt_status_t adam_item(tpt_lower_t* l, int item, bool amsgrad, adam_t* out) {
  tpt_graph_t* g = l->graph;
  step_t* s = &out->step;
  TPT_TRY(begin(l, item, ADAM_SCALE, tpt_lower_bool(l, ADAM_MAXIMIZE), s));
  for (int arg = 2; arg <= (amsgrad ? 4 : 3); arg++)
    TPT_TRY(tpt_foreach_check(l, arg, item, s->like));
  tpt_dtype_t dtype = s->compute;
  tpt_v lr = number(l, ADAM_LR, dtype), decay = tpt_lower_scalar(l, ADAM_DECAY, dtype);
  tpt_v rest1 = one_minus(l, ADAM_BETA1, dtype), rest2 = one_minus(l, ADAM_BETA2, dtype);
  tpt_v p = s->parameter, gradient = s->gradient;
  if (l->op->params.mode == 1) {
    p = tpt_sub(g, p, tpt_mul(g, p, tpt_mul(g, lr, decay)));
  } else {
    gradient = decayed(g, gradient, p, decay);
  }
  tpt_v m = tpt_lower_item_as(l, 2, item, dtype), v = tpt_lower_item_as(l, 3, item, dtype);
  out->average = tpt_add(g, m, tpt_mul(g, rest1, tpt_sub(g, gradient, m)));
  tpt_v beta2 = tpt_lower_scalar(l, ADAM_BETA2, dtype);
  tpt_v fresh = tpt_mul(g, rest2, tpt_mul(g, gradient, gradient));
  out->square = tpt_add(g, tpt_mul(g, beta2, v), fresh);
  out->greatest = out->square;
  if (amsgrad) out->greatest = tpt_max(g, tpt_lower_item_as(l, 4, item, dtype), out->square);
  tpt_v step = tpt_hlo_reshape(g, tpt_lower_item_as(l, 5, item, dtype), 0, NULL);
  tpt_v size = tpt_div(g, lr, bias_correction(g, rest1, step));
  tpt_v root = tpt_sqrt(g, bias_correction(g, rest2, step));
  tpt_v eps = tpt_lower_scalar(l, ADAM_EPS, dtype);
  tpt_v scale = tpt_add(g, tpt_div(g, tpt_sqrt(g, out->greatest), root), eps);
  out->parameter = tpt_sub(g, p, tpt_div(g, tpt_mul(g, size, out->average), scale));
  return NULL;
}

// Results in the order of the schema: parameters, gradients, averages, squares, greatest squares.
tpt_status_t lower_fused_adam(tpt_lower_t* l) {
  bool amsgrad = tpt_lower_bool(l, ADAM_AMSGRAD);
  int count = (int)l->args[0].count;
  adam_t* items = tpt_arena_calloc(l->arena, (size_t)count + 1, sizeof(*items));
  if (!items) return tpt_arena_status(l->arena);
  for (int i = 0; i < count; i++)
    TPT_TRY(adam_item(l, i, amsgrad, &items[i]));
  for (int i = 0; i < count; i++)
    TPT_TRY(finish(l, &items[i].step, 0, i, items[i].parameter));
  for (int i = 0; i < count; i++)
    TPT_TRY(tpt_foreach_result(l, &l->args[1].tensors[i], items[i].step.unscaled));
  for (int i = 0; i < count; i++)
    TPT_TRY(finish(l, &items[i].step, 2, i, items[i].average));
  for (int i = 0; i < count; i++)
    TPT_TRY(finish(l, &items[i].step, 3, i, items[i].square));
  for (int i = 0; amsgrad && i < count; i++)
    TPT_TRY(finish(l, &items[i].step, 4, i, items[i].greatest));
  return NULL;
}

enum {
  SGD_DECAY = 3,
  SGD_MOMENTUM,
  SGD_LR,
  SGD_DAMPENING,
  SGD_NESTEROV,
  SGD_MAXIMIZE,
  SGD_FIRST,
  SGD_SCALE
};

typedef struct sgd {
  step_t step;
  tpt_v parameter, buffer;  // new values
} sgd_t;

static tpt_status_t sgd_item(tpt_lower_t* l, int item, bool has_momentum, sgd_t* out) {
  tpt_graph_t* g = l->graph;
  step_t* s = &out->step;
  TPT_TRY(begin(l, item, SGD_SCALE, tpt_lower_bool(l, SGD_MAXIMIZE), s));
  tpt_dtype_t dtype = s->compute;
  tpt_v gradient = decayed(g, s->gradient, s->parameter, tpt_lower_scalar(l, SGD_DECAY, dtype));
  if (has_momentum) {
    TPT_TRY(tpt_foreach_check(l, 2, item, s->like));
    tpt_v momentum = tpt_lower_scalar(l, SGD_MOMENTUM, dtype);
    out->buffer = gradient;
    if (!tpt_lower_bool(l, SGD_FIRST)) {
      tpt_v kept = tpt_mul(g, momentum, tpt_lower_item_as(l, 2, item, dtype));
      out->buffer = tpt_add(g, kept, tpt_mul(g, one_minus(l, SGD_DAMPENING, dtype), gradient));
    }
    gradient = tpt_lower_bool(l, SGD_NESTEROV)
                   ? tpt_add(g, gradient, tpt_mul(g, momentum, out->buffer))
                   : out->buffer;
  }
  out->parameter = tpt_sub(g, s->parameter, tpt_mul(g, number(l, SGD_LR, dtype), gradient));
  return NULL;
}

tpt_status_t lower_fused_sgd(tpt_lower_t* l) {
  int count = (int)l->args[0].count;
  bool has_momentum = l->args[2].count > 0;
  sgd_t* items = tpt_arena_calloc(l->arena, (size_t)count + 1, sizeof(*items));
  if (!items) return tpt_arena_status(l->arena);
  for (int i = 0; i < count; i++)
    TPT_TRY(sgd_item(l, i, has_momentum, &items[i]));
  for (int i = 0; i < count; i++)
    TPT_TRY(finish(l, &items[i].step, 0, i, items[i].parameter));
  for (int i = 0; i < count; i++)
    TPT_TRY(tpt_foreach_result(l, &l->args[1].tensors[i], items[i].step.unscaled));
  for (int i = 0; has_momentum && i < count; i++)
    TPT_TRY(finish(l, &items[i].step, 2, i, items[i].buffer));
  return NULL;
}

// Gradients times inv_scale; found_inf becomes 1 when any of them is infinite or NaN.
tpt_status_t lower_amp_unscale(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v found = tpt_truth(g, tpt_hlo_reshape(g, tpt_lower_value(l, 1), 0, NULL));
  for (int i = 0; i < (int)l->args[0].count; i++) {
    const tpt_tensor_t* like = &l->args[0].tensors[i];
    tpt_dtype_t compute = tpt_dtype_compute(like->dtype);
    if (!tpt_dtype_is_float(compute)) return tpt_refuse_dtype(l, like->dtype);
    tpt_v x = tpt_lower_item_as(l, 0, i, compute);
    tpt_v bad = tpt_not(g, tpt_hlo_unary(g, TPT_HLO_IS_FINITE, x));
    tpt_type_t type = *tpt_graph_type(g, bad);
    int64_t dims[TPT_RANK_MAX];
    for (int d = 0; d < type.rank; d++)
      dims[d] = d;
    tpt_v none = tpt_hlo_scalar_i64(g, TPT_PRED, 0);
    if (type.rank > 0) bad = tpt_hlo_reduce(g, bad, none, TPT_HLO_OR, dims, type.rank);
    found = tpt_or(g, found, bad);
    tpt_v scale = tpt_hlo_reshape(g, tpt_lower_value_as(l, 2, compute), 0, NULL);
    TPT_TRY(tpt_foreach_result(l, like, tpt_mul(g, x, scale)));
  }
  const tpt_tensor_t* flag = tpt_lower_tensor(l, 1);
  tpt_v value = tpt_hlo_convert(g, found, flag->dtype);
  return tpt_foreach_result(l, flag, tpt_hlo_reshape(g, value, flag->rank, flag->sizes));
}

// The rule of torch.amp.GradScaler.update: shrink after an overflow, grow after growth_interval steps
// without one, unless that would overflow the scale itself.
tpt_status_t lower_amp_update_scale(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v scale = tpt_lower_value(l, 0), tracker = tpt_lower_value(l, 1);
  tpt_dtype_t dtype = tpt_dtype_of(g, scale);
  tpt_v found = tpt_truth(g, tpt_hlo_reshape(g, tpt_lower_value(l, 2), 0, NULL));
  tpt_v next = tpt_add(g, tracker, tpt_like_i64(g, tracker, 1));
  tpt_v due = tpt_eq(g, next, tpt_lower_scalar(l, 5, tpt_dtype_of(g, next)));
  tpt_v grown = tpt_mul(g, scale, tpt_lower_scalar(l, 3, dtype));
  grown = tpt_select(g, tpt_hlo_unary(g, TPT_HLO_IS_FINITE, grown), grown, scale);
  tpt_v shrunk = tpt_mul(g, scale, tpt_lower_scalar(l, 4, dtype));
  tpt_v scale_due = tpt_hlo_reshape(g, due, 0, NULL);
  tpt_v kept = tpt_select(g, scale_due, grown, scale);
  TPT_TRY(tpt_lower_result(l, tpt_select(g, found, shrunk, kept)));
  tpt_v restart = tpt_or(g, found, due);
  return tpt_lower_result(l, tpt_select(g, restart, tpt_like_i64(g, next, 0), next));
}
