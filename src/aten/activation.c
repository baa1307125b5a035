// Formulas of activation functions and their gradients. Operands come in argument order, in the
// compute dtype; the rows take floats only unless they say otherwise.
#include <math.h>
#include <string.h>

#include "aten/rows.h"
#include "aten/special.h"

static tpt_v zero_like(tpt_graph_t* g, tpt_v x) {
  return tpt_like(g, x, 0.0);
}
static tpt_v one_like(tpt_graph_t* g, tpt_v x) {
  return tpt_like(g, x, 1.0);
}

tpt_v formula_relu(tpt_graph_t* g, const tpt_v* x) {
  return tpt_max(g, x[0], zero_like(g, x[0]));
}

// x, threshold, value
tpt_v formula_threshold(tpt_graph_t* g, const tpt_v* x) {
  return tpt_select(g, tpt_le(g, x[0], x[1]), x[2], x[0]);
}

// grad, x, threshold
tpt_v formula_threshold_backward(tpt_graph_t* g, const tpt_v* x) {
  return tpt_select(g, tpt_le(g, x[1], x[2]), zero_like(g, x[0]), x[0]);
}

// --- gelu ---------------------------------------------------------------------------------------

static const double kGeluBeta = M_SQRT2 * M_2_SQRTPI * 0.5;
static const double kGeluKappa = 0.044715;

// The normal distribution function.
static tpt_v normal_cdf(tpt_graph_t* g, tpt_v x) {
  tpt_v scaled = tpt_mul_f64(g, x, M_SQRT1_2);
  return tpt_mul_f64(g, tpt_add_f64(g, formula_erf(g, &scaled), 1.0), 0.5);
}

tpt_v formula_gelu(tpt_graph_t* g, const tpt_v* x) {
  return tpt_mul(g, x[0], normal_cdf(g, x[0]));
}

static tpt_v gelu_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v square = tpt_mul(g, x[1], x[1]);
  tpt_v density = tpt_exp(g, tpt_mul_f64(g, square, -0.5));
  density = tpt_mul_f64(g, density, M_2_SQRTPI * M_SQRT1_2 * 0.5);
  tpt_v slope = tpt_add(g, normal_cdf(g, x[1]), tpt_mul(g, x[1], density));
  return tpt_mul(g, x[0], slope);
}

static tpt_v gelu_tanh_inner(tpt_graph_t* g, tpt_v x) {
  tpt_v cube = tpt_mul(g, tpt_mul(g, x, x), x);
  tpt_v inner = tpt_add(g, x, tpt_mul_f64(g, cube, kGeluKappa));
  return tpt_tanh(g, tpt_mul_f64(g, inner, kGeluBeta));
}

static tpt_v gelu_tanh(tpt_graph_t* g, const tpt_v* x) {
  tpt_v right = tpt_add_f64(g, gelu_tanh_inner(g, x[0]), 1.0);
  return tpt_mul(g, tpt_mul_f64(g, x[0], 0.5), right);
}

static tpt_v gelu_tanh_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v t = gelu_tanh_inner(g, x[1]);
  tpt_v square = tpt_mul(g, x[1], x[1]);
  tpt_v inner = tpt_add_f64(g, tpt_mul_f64(g, square, 3 * kGeluKappa * kGeluBeta), kGeluBeta);
  tpt_v sloped = tpt_mul(g, tpt_one_minus(g, tpt_mul(g, t, t)), inner);
  sloped = tpt_mul(g, tpt_mul_f64(g, x[1], 0.5), sloped);
  tpt_v level = tpt_mul_f64(g, tpt_add_f64(g, t, 1.0), 0.5);
  return tpt_mul(g, x[0], tpt_add(g, level, sloped));
}

static tpt_status_t lower_gelu_kind(tpt_lower_t* l, int arg, tpt_formula_t exact,
                                    tpt_formula_t by_tanh) {
  const tpt_arg_t* kind = &l->args[arg];
  if (kind->count == 4 && !memcmp(kind->string, "none", 4)) return tpt_lower_formula(l, exact);
  if (kind->count == 4 && !memcmp(kind->string, "tanh", 4)) return tpt_lower_formula(l, by_tanh);
  TPT_FAIL(TPT_INVALID_ARGUMENT, "approximate argument must be either none or tanh.");
}

tpt_status_t lower_gelu(tpt_lower_t* l) {
  return lower_gelu_kind(l, 1, formula_gelu, gelu_tanh);
}
tpt_status_t lower_gelu_backward(tpt_lower_t* l) {
  return lower_gelu_kind(l, 2, gelu_backward, gelu_tanh_backward);
}

// --- sigmoid and tanh kinds ---------------------------------------------------------------------

tpt_v formula_silu(tpt_graph_t* g, const tpt_v* x) {
  return tpt_mul(g, x[0], tpt_logistic(g, x[0]));
}

tpt_v formula_silu_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v s = tpt_logistic(g, x[1]);
  tpt_v slope = tpt_add_f64(g, tpt_mul(g, x[1], tpt_one_minus(g, s)), 1.0);
  return tpt_mul(g, x[0], tpt_mul(g, s, slope));
}

// grad, output
tpt_v formula_sigmoid_backward(tpt_graph_t* g, const tpt_v* x) {
  return tpt_mul(g, x[0], tpt_mul(g, tpt_one_minus(g, x[1]), x[1]));
}

tpt_v formula_tanh_backward(tpt_graph_t* g, const tpt_v* x) {
  return tpt_mul(g, x[0], tpt_one_minus(g, tpt_mul(g, x[1], x[1])));
}

static tpt_v tanh_of_softplus(tpt_graph_t* g, tpt_v x) {
  return tpt_tanh(g, tpt_log1p(g, tpt_exp(g, x)));
}

tpt_v formula_mish(tpt_graph_t* g, const tpt_v* x) {
  return tpt_mul(g, x[0], tanh_of_softplus(g, x[0]));
}

tpt_v formula_mish_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v t = tanh_of_softplus(g, x[1]);
  tpt_v slope = tpt_mul(g, tpt_logistic(g, x[1]), tpt_one_minus(g, tpt_mul(g, t, t)));
  return tpt_mul(g, x[0], tpt_add(g, t, tpt_mul(g, x[1], slope)));
}

// --- piecewise linear ---------------------------------------------------------------------------

// x, slope
tpt_v formula_leaky_relu(tpt_graph_t* g, const tpt_v* x) {
  tpt_v is_positive = tpt_gt(g, x[0], zero_like(g, x[0]));
  return tpt_select(g, is_positive, x[0], tpt_mul(g, x[0], x[1]));
}

// grad, x or the result, slope
tpt_v formula_leaky_relu_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v is_positive = tpt_gt(g, x[1], zero_like(g, x[1]));
  return tpt_select(g, is_positive, x[0], tpt_mul(g, x[0], x[2]));
}

tpt_status_t check_leaky_relu_backward(tpt_lower_t* l) {
  const tpt_number_t* slope = &l->args[2].number;
  double value = tpt_dtype_is_float(slope->dtype) ? slope->f : (double)slope->i;
  if (tpt_lower_bool(l, 3) && value < 0.0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "In-place leakyReLu backward calculation is triggered with a negative slope which is "
             "not supported. This is caused by calling in-place forward function with a negative "
             "slope, please call out-of-place version instead. File an issue at "
             "https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu "
             "backward calculation with negative slope");
  return NULL;
}

// x, min, max
tpt_v formula_hardtanh(tpt_graph_t* g, const tpt_v* x) {
  return tpt_min(g, tpt_max(g, x[0], x[1]), x[2]);
}

tpt_v formula_hardtanh_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v is_flat = tpt_or(g, tpt_le(g, x[1], x[2]), tpt_ge(g, x[1], x[3]));
  return tpt_select(g, is_flat, zero_like(g, x[0]), x[0]);
}

tpt_v formula_hardsigmoid(tpt_graph_t* g, const tpt_v* x) {
  tpt_v six = tpt_like(g, x[0], 6.0);
  tpt_v ramp = tpt_max(g, tpt_add_f64(g, x[0], 3.0), zero_like(g, x[0]));
  return tpt_div(g, tpt_min(g, ramp, six), six);
}

tpt_v formula_hardsigmoid_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v is_ramp =
      tpt_and(g, tpt_gt(g, x[1], tpt_like(g, x[1], -3.0)), tpt_lt(g, x[1], tpt_like(g, x[1], 3.0)));
  return tpt_select(g, is_ramp, tpt_mul_f64(g, x[0], 1.0 / 6.0), zero_like(g, x[0]));
}

tpt_v formula_hardswish(tpt_graph_t* g, const tpt_v* x) {
  tpt_v six = tpt_like(g, x[0], 6.0);
  tpt_v ramp = tpt_max(g, tpt_add_f64(g, x[0], 3.0), zero_like(g, x[0]));
  return tpt_div(g, tpt_mul(g, x[0], tpt_min(g, ramp, six)), six);
}

tpt_v formula_hardswish_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v slope = tpt_add_f64(g, tpt_div(g, x[1], tpt_like(g, x[1], 3.0)), 0.5);
  tpt_v is_ramp = tpt_lt(g, x[1], tpt_like(g, x[1], 3.0));
  tpt_v y = tpt_select(g, is_ramp, tpt_mul(g, x[0], slope), x[0]);
  return tpt_select(g, tpt_le(g, x[1], tpt_like(g, x[1], -3.0)), zero_like(g, y), y);
}

// x, lambda
tpt_v formula_softshrink(tpt_graph_t* g, const tpt_v* x) {
  tpt_v low = tpt_neg(g, x[1]);
  tpt_v inner = tpt_mul(g, x[0], zero_like(g, x[0]));  // 0, but NaN stays
  tpt_v y = tpt_select(g, tpt_lt(g, x[0], low), tpt_add(g, x[0], x[1]), inner);
  return tpt_select(g, tpt_gt(g, x[0], x[1]), tpt_sub(g, x[0], x[1]), y);
}

static tpt_v is_within(tpt_graph_t* g, tpt_v x, tpt_v lambda) {
  return tpt_and(g, tpt_ge(g, x, tpt_neg(g, lambda)), tpt_le(g, x, lambda));
}

tpt_v formula_hardshrink(tpt_graph_t* g, const tpt_v* x) {
  return tpt_select(g, is_within(g, x[0], x[1]), zero_like(g, x[0]), x[0]);
}

// grad, x, lambda
tpt_v formula_shrink_backward(tpt_graph_t* g, const tpt_v* x) {
  return tpt_select(g, is_within(g, x[1], x[2]), zero_like(g, x[0]), x[0]);
}

// self, weight (already of a broadcastable shape)
tpt_v formula_prelu(tpt_graph_t* g, const tpt_v* x) {
  tpt_v is_positive = tpt_gt(g, x[0], zero_like(g, x[0]));
  return tpt_select(g, is_positive, x[0], tpt_mul(g, x[0], x[1]));
}

tpt_status_t lower_prelu_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1, 2}, 3, TPT_PROMOTE_KEEP);
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_v x[3] = {tpt_operand(l, 0, dtype), tpt_operand(l, 1, dtype), tpt_operand(l, 2, dtype)};
  TPT_TRY(tpt_lower_broadcast(l, x, 3));
  tpt_v zero = zero_like(g, x[0]);
  tpt_v is_positive = tpt_gt(g, x[1], zero);
  tpt_v grad = tpt_select(g, is_positive, x[0], tpt_mul(g, x[2], x[0]));
  tpt_v weight_grad = tpt_select(g, is_positive, zero, tpt_mul(g, x[1], x[0]));
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, grad, dtype)));
  return tpt_lower_result(l, tpt_hlo_convert(g, weight_grad, dtype));
}

// --- exponential kinds --------------------------------------------------------------------------

// x, alpha, scale, input_scale
tpt_v formula_elu(tpt_graph_t* g, const tpt_v* x) {
  tpt_v bent = tpt_mul(g, tpt_expm1(g, tpt_mul(g, x[0], x[3])), tpt_mul(g, x[1], x[2]));
  tpt_v is_negative = tpt_le(g, x[0], zero_like(g, x[0]));
  return tpt_select(g, is_negative, bent, tpt_mul(g, x[0], x[2]));
}

// grad, alpha, scale, input_scale, x
static tpt_v elu_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v coefficient = tpt_mul(g, tpt_mul(g, x[1], x[2]), x[3]);
  tpt_v bent = tpt_mul(g, tpt_exp(g, tpt_mul(g, x[4], x[3])), coefficient);
  tpt_v is_negative = tpt_le(g, x[4], zero_like(g, x[4]));
  return tpt_mul(g, x[0], tpt_select(g, is_negative, bent, x[2]));
}

// grad, alpha, scale, input_scale, result
static tpt_v elu_backward_result(tpt_graph_t* g, const tpt_v* x) {
  tpt_v bent = tpt_mul(g, tpt_add(g, x[4], tpt_mul(g, x[1], x[2])), x[3]);
  tpt_v is_negative = tpt_le(g, x[4], zero_like(g, x[4]));
  return tpt_mul(g, x[0], tpt_select(g, is_negative, bent, x[2]));
}

tpt_status_t lower_elu_backward(tpt_lower_t* l) {
  return tpt_lower_formula(l, tpt_lower_bool(l, 4) ? elu_backward_result : elu_backward);
}

// x, beta, threshold
tpt_v formula_softplus(tpt_graph_t* g, const tpt_v* x) {
  tpt_v scaled = tpt_mul(g, x[0], x[1]);
  tpt_v bent = tpt_div(g, tpt_log1p(g, tpt_exp(g, scaled)), x[1]);
  return tpt_select(g, tpt_gt(g, scaled, x[2]), x[0], bent);
}

// grad, x, beta, threshold
tpt_v formula_softplus_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v scaled = tpt_mul(g, x[1], x[2]);
  tpt_v bent = tpt_mul(g, x[0], tpt_logistic(g, scaled));
  return tpt_select(g, tpt_gt(g, scaled, x[3]), x[0], bent);
}

static tpt_v exp_minus_abs(tpt_graph_t* g, tpt_v x) {
  return tpt_exp(g, tpt_neg(g, tpt_abs(g, x)));
}

// The buffer that CPU keeps for the gradient is cheaper to compute again: it is left empty.
tpt_status_t lower_log_sigmoid_forward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_v x = tpt_operand(l, 0, dtype);
  tpt_v y = tpt_sub(g, tpt_min(g, x, zero_like(g, x)), tpt_log1p(g, exp_minus_abs(g, x)));
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, y, dtype)));
  tpt_type_t empty = tpt_type_make(dtype, 1, (int64_t[]){0});
  return tpt_lower_result(l, tpt_hlo_splat_i64(g, &empty, 0));
}

tpt_status_t lower_log_sigmoid_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1}, 2, TPT_PROMOTE_KEEP);
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_v grad = tpt_operand(l, 0, dtype);
  tpt_v slope = tpt_logistic(g, tpt_neg(g, tpt_operand(l, 1, dtype)));
  return tpt_lower_result(l, tpt_hlo_convert(g, tpt_mul(g, grad, slope), dtype));
}

// grad, x
static tpt_v logit_backward(tpt_graph_t* g, const tpt_v* x) {
  tpt_v zero = zero_like(g, x[1]), one = one_like(g, x[1]);
  tpt_v y = tpt_div(g, x[0], tpt_mul(g, x[1], tpt_sub(g, one, x[1])));
  tpt_v is_outside = tpt_or(g, tpt_lt(g, x[1], zero), tpt_gt(g, x[1], one));
  return tpt_select(g, is_outside, tpt_like(g, y, NAN), y);
}

// grad, x, eps
static tpt_v logit_backward_eps(tpt_graph_t* g, const tpt_v* x) {
  tpt_v high = tpt_one_minus(g, x[2]);
  tpt_v y = tpt_div(g, x[0], tpt_mul(g, x[1], tpt_one_minus(g, x[1])));
  tpt_v is_outside = tpt_or(g, tpt_lt(g, x[1], x[2]), tpt_gt(g, x[1], high));
  return tpt_select(g, is_outside, zero_like(g, y), y);
}

tpt_status_t lower_logit_backward(tpt_lower_t* l) {
  return tpt_lower_formula(l, tpt_lower_has(l, 2) ? logit_backward_eps : logit_backward);
}

// --- glu ----------------------------------------------------------------------------------------

typedef struct halves {
  tpt_dtype_t dtype;
  int dim;
  tpt_v value, gate;
} halves_t;

static tpt_status_t take_halves(tpt_lower_t* l, int tensor_arg, int dim_arg, halves_t* out) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, tensor_arg);
  if (t->rank == 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "glu does not support 0-dimensional tensors");
  if (!tpt_dtype_is_float(t->dtype)) return tpt_refuse_dtype(l, t->dtype);
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, dim_arg), t->rank, &out->dim));
  int64_t size = t->sizes[out->dim];
  if (size % 2 != 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Halving dimension must be even, but dimension %d is size %lld",
             out->dim, (long long)size);
  out->dtype = t->dtype;
  tpt_v x = tpt_operand(l, tensor_arg, t->dtype);
  out->value = tpt_hlo_slice_dim(l->graph, x, out->dim, 0, size / 2, 1);
  out->gate = tpt_hlo_slice_dim(l->graph, x, out->dim, size / 2, size, 1);
  return NULL;
}

tpt_status_t lower_glu(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  halves_t h;
  TPT_TRY(take_halves(l, 0, 1, &h));
  tpt_v y = tpt_mul(g, h.value, tpt_logistic(g, h.gate));
  return tpt_lower_result(l, tpt_hlo_convert(g, y, h.dtype));
}

tpt_status_t lower_glu_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  halves_t h;
  TPT_TRY(take_halves(l, 1, 2, &h));
  tpt_v grad = tpt_operand(l, 0, h.dtype);
  tpt_v s = tpt_logistic(g, h.gate);
  tpt_v parts[2];
  parts[0] = tpt_mul(g, grad, s);
  parts[1] = tpt_mul(g, tpt_mul(g, tpt_one_minus(g, s), parts[0]), h.value);
  tpt_v y = tpt_hlo_concatenate(g, parts, 2, h.dim);
  return tpt_lower_result(l, tpt_hlo_convert(g, y, h.dtype));
}
