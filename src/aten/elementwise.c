// Formulas of elementwise operators with one operand. Each sees its operand in the compute dtype;
// the rows say which dtypes reach it.
#include <math.h>
#include <stdlib.h>

#include "aten/rows.h"
#include "aten/special.h"

static tpt_v one_like(tpt_graph_t* g, tpt_v x) {
  return tpt_like(g, x, 1.0);
}
static tpt_v zero_like(tpt_graph_t* g, tpt_v x) {
  return tpt_like(g, x, 0.0);
}

static tpt_dtype_class_t class_of(tpt_graph_t* g, tpt_v x) {
  return tpt_dtype_row(tpt_dtype_of(g, x))->kind;
}

tpt_status_t lower_abs(tpt_lower_t* l) {  // |complex| is real: outside the pointwise scheme
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  if (class_of(g, x) == TPT_CLASS_BOOL) return tpt_refuse_dtype(l, TPT_PRED);
  return tpt_lower_result(l, class_of(g, x) == TPT_CLASS_UINT ? x : tpt_abs(g, x));
}

tpt_status_t check_neg(tpt_lower_t* l) {
  if (tpt_lower_tensor(l, 0)->dtype == TPT_PRED)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
             "invert a mask, use the `~` or `logical_not()` operator instead.");
  return NULL;
}

// --- powers and logarithms ----------------------------------------------------------------------

tpt_v formula_exp2(tpt_graph_t* g, const tpt_v* x) {
  return tpt_pow(g, tpt_like(g, x[0], 2.0), x[0]);
}

tpt_v formula_log2(tpt_graph_t* g, const tpt_v* x) {
  return tpt_div(g, tpt_log(g, x[0]), tpt_like(g, x[0], M_LN2));
}

tpt_v formula_log10(tpt_graph_t* g, const tpt_v* x) {
  return tpt_div(g, tpt_log(g, x[0]), tpt_like(g, x[0], M_LN10));
}

tpt_v formula_reciprocal(tpt_graph_t* g, const tpt_v* x) {
  return tpt_div(g, one_like(g, x[0]), x[0]);
}

// --- trigonometry -------------------------------------------------------------------------------

// sqrt(1 - x^2) without cancellation.
static tpt_v cosine_of_asin(tpt_graph_t* g, tpt_v x) {
  tpt_v one = one_like(g, x);
  return tpt_sqrt(g, tpt_mul(g, tpt_sub(g, one, x), tpt_add(g, one, x)));
}

tpt_v formula_asin(tpt_graph_t* g, const tpt_v* x) {
  return tpt_binary(g, TPT_HLO_ATAN2, x[0], cosine_of_asin(g, x[0]));
}

tpt_v formula_acos(tpt_graph_t* g, const tpt_v* x) {
  return tpt_binary(g, TPT_HLO_ATAN2, cosine_of_asin(g, x[0]), x[0]);
}

tpt_v formula_atan(tpt_graph_t* g, const tpt_v* x) {
  return tpt_binary(g, TPT_HLO_ATAN2, x[0], one_like(g, x[0]));
}

tpt_v formula_sinh(tpt_graph_t* g, const tpt_v* x) {
  tpt_v m = tpt_abs(g, x[0]);
  tpt_v e = tpt_expm1(g, m);
  tpt_v small = tpt_mul_f64(g, tpt_add(g, e, tpt_div(g, e, tpt_add(g, e, one_like(g, e)))), 0.5);
  tpt_v half = tpt_exp(g, tpt_mul_f64(g, m, 0.5));  // exp(m) itself would overflow too early
  tpt_v large = tpt_mul(g, tpt_mul_f64(g, half, 0.5), half);
  tpt_v y = tpt_select(g, tpt_lt(g, m, tpt_like(g, m, 20.0)), small, large);
  tpt_v is_negative = tpt_lt(g, x[0], zero_like(g, m));
  tpt_v is_zero = tpt_eq(g, m, zero_like(g, m));
  return tpt_select(g, is_zero, x[0], tpt_select(g, is_negative, tpt_neg(g, y), y));
}

tpt_v formula_cosh(tpt_graph_t* g, const tpt_v* x) {
  tpt_v half = tpt_exp(g, tpt_mul_f64(g, tpt_abs(g, x[0]), 0.5));
  tpt_v scaled = tpt_mul_f64(g, half, 0.5);
  tpt_v small = tpt_div(g, tpt_div(g, tpt_like(g, half, 0.5), half), half);
  return tpt_add(g, tpt_mul(g, scaled, half), small);
}

tpt_v formula_asinh(tpt_graph_t* g, const tpt_v* x) {
  tpt_v m = tpt_abs(g, x[0]);
  tpt_v one = one_like(g, m);
  tpt_v limit = tpt_like(g, m, tpt_dtype_of(g, m) == TPT_F64 ? 1e150 : 1e18);
  tpt_v square = tpt_mul(g, m, m);
  tpt_v ratio = tpt_div(g, square, tpt_add(g, one, tpt_sqrt(g, tpt_add(g, square, one))));
  tpt_v large = tpt_add_f64(g, tpt_log(g, m), M_LN2);
  tpt_v y = tpt_select(g, tpt_gt(g, m, limit), large, tpt_log1p(g, tpt_add(g, m, ratio)));
  tpt_v is_negative = tpt_lt(g, x[0], zero_like(g, m));
  tpt_v is_zero = tpt_eq(g, m, zero_like(g, m));
  return tpt_select(g, is_zero, x[0], tpt_select(g, is_negative, tpt_neg(g, y), y));
}

tpt_v formula_acosh(tpt_graph_t* g, const tpt_v* x) {
  tpt_v one = one_like(g, x[0]);
  tpt_v t = tpt_sub(g, x[0], one);
  tpt_v root = tpt_sqrt(g, tpt_mul(g, t, tpt_add_f64(g, t, 2.0)));
  tpt_v limit = tpt_like(g, t, tpt_dtype_of(g, t) == TPT_F64 ? 1e150 : 1e18);
  tpt_v large = tpt_add_f64(g, tpt_log(g, x[0]), M_LN2);
  tpt_v y = tpt_select(g, tpt_gt(g, x[0], limit), large, tpt_log1p(g, tpt_add(g, t, root)));
  return tpt_select(g, tpt_lt(g, x[0], one), tpt_like(g, t, NAN), y);
}

tpt_v formula_atanh(tpt_graph_t* g, const tpt_v* x) {
  tpt_v difference = tpt_sub(g, tpt_log1p(g, x[0]), tpt_log1p(g, tpt_neg(g, x[0])));
  return tpt_mul_f64(g, difference, 0.5);
}

tpt_v formula_sinc(tpt_graph_t* g, const tpt_v* x) {
  tpt_v angle = tpt_mul_f64(g, x[0], M_PI);
  tpt_v is_zero = tpt_eq(g, x[0], zero_like(g, angle));
  return tpt_select(g, is_zero, one_like(g, angle), tpt_div(g, tpt_sin(g, angle), angle));
}

// log(x / (1 - x)); an eps clamps x into [eps, 1 - eps] first.
tpt_v formula_logit(tpt_graph_t* g, const tpt_v* x) {
  return tpt_log(g, tpt_div(g, x[0], tpt_sub(g, one_like(g, x[0]), x[0])));
}

tpt_v formula_logit_eps(tpt_graph_t* g, const tpt_v* x) {
  tpt_v high = tpt_sub(g, one_like(g, x[1]), x[1]);
  tpt_v z = tpt_select(g, tpt_lt(g, x[0], x[1]), x[1], x[0]);
  z = tpt_select(g, tpt_gt(g, x[0], high), high, z);
  return formula_logit(g, &z);
}

tpt_status_t lower_logit(tpt_lower_t* l) {
  return tpt_lower_formula(l, tpt_lower_has(l, 1) ? formula_logit_eps : formula_logit);
}

// --- rounding -----------------------------------------------------------------------------------

static bool is_whole(tpt_graph_t* g, tpt_v x) {
  return class_of(g, x) == TPT_CLASS_SINT || class_of(g, x) == TPT_CLASS_UINT;
}

static tpt_v rounded(tpt_graph_t* g, tpt_hlo_t op, tpt_v x) {
  return is_whole(g, x) ? x : tpt_hlo_unary(g, op, x);
}

tpt_v formula_floor(tpt_graph_t* g, const tpt_v* x) {
  return rounded(g, TPT_HLO_FLOOR, x[0]);
}
tpt_v formula_ceil(tpt_graph_t* g, const tpt_v* x) {
  return rounded(g, TPT_HLO_CEIL, x[0]);
}
tpt_v formula_round(tpt_graph_t* g, const tpt_v* x) {
  return rounded(g, TPT_HLO_ROUND_EVEN, x[0]);
}

tpt_v formula_trunc(tpt_graph_t* g, const tpt_v* x) {
  if (is_whole(g, x[0])) return x[0];
  tpt_v is_negative = tpt_lt(g, x[0], zero_like(g, x[0]));
  return tpt_select(g, is_negative, tpt_ceil(g, x[0]), tpt_floor(g, x[0]));
}

tpt_v formula_frac(tpt_graph_t* g, const tpt_v* x) {
  return tpt_sub(g, x[0], formula_trunc(g, x));
}

// The sign of the number of decimals.
int64_t kind_round_decimals(const tpt_lower_t* l) {
  int64_t decimals = l->args[1].number.i;
  return (decimals > 0) - (decimals < 0);
}

tpt_status_t lower_round_decimals(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  int64_t sign = tpt_lower_kind(l);
  tpt_v x = tpt_operand(l, 0, dtype), y = x;
  tpt_v decimals = tpt_lower_scalar(l, 1, TPT_F64);
  tpt_v scale = tpt_pow(g, tpt_like(g, decimals, 10), tpt_abs(g, decimals));
  scale = tpt_hlo_convert(g, scale, tpt_dtype_of(g, x));
  if (sign > 0) y = tpt_mul(g, x, scale);
  if (sign < 0) y = tpt_div(g, x, scale);
  y = tpt_hlo_unary(g, TPT_HLO_ROUND_EVEN, y);
  if (sign > 0) y = tpt_div(g, y, scale);
  if (sign < 0) y = tpt_mul(g, y, scale);
  return tpt_lower_result(l, tpt_hlo_convert(g, y, dtype));
}

// --- signs and classes of numbers ---------------------------------------------------------------

// -1, 0 or 1; a NaN has no sign and gives 0.
tpt_v formula_sign(tpt_graph_t* g, const tpt_v* x) {
  tpt_v zero = tpt_like_i64(g, x[0], 0);
  tpt_v one = tpt_like_i64(g, x[0], 1);
  switch (class_of(g, x[0])) {
  case TPT_CLASS_BOOL:
    return x[0];
  case TPT_CLASS_UINT:
    return tpt_select(g, tpt_ne(g, x[0], zero), one, zero);
  case TPT_CLASS_COMPLEX:
    return tpt_sign(g, x[0]);
  default: {
    tpt_v positive = tpt_select(g, tpt_gt(g, x[0], zero), one, zero);
    return tpt_select(g, tpt_lt(g, x[0], zero), tpt_neg(g, one), positive);
  }
  }
}

static tpt_v false_like(tpt_graph_t* g, tpt_v x) {
  tpt_type_t type = *tpt_graph_type(g, x);
  type.dtype = TPT_PRED;
  return tpt_hlo_splat_i64(g, &type, 0);
}

tpt_v formula_signbit(tpt_graph_t* g, const tpt_v* x) {
  tpt_dtype_class_t kind = class_of(g, x[0]);
  if (kind == TPT_CLASS_UINT || kind == TPT_CLASS_BOOL) return false_like(g, x[0]);
  if (kind == TPT_CLASS_SINT) return tpt_lt(g, x[0], tpt_like_i64(g, x[0], 0));
  tpt_type_t type = *tpt_graph_type(g, x[0]);
  type.dtype = type.dtype == TPT_F64 ? TPT_S64 : TPT_S32;
  tpt_v bits = tpt_hlo_bitcast_convert(g, x[0], &type);
  return tpt_lt(g, bits, tpt_like_i64(g, bits, 0));
}

static bool is_exact(tpt_graph_t* g, tpt_v x) {
  return is_whole(g, x) || class_of(g, x) == TPT_CLASS_BOOL;
}

static tpt_v real_part(tpt_graph_t* g, tpt_v x) {
  return tpt_hlo_unary(g, TPT_HLO_REAL, x);
}
static tpt_v imag_part(tpt_graph_t* g, tpt_v x) {
  return tpt_hlo_unary(g, TPT_HLO_IMAG, x);
}

tpt_v formula_isnan(tpt_graph_t* g, const tpt_v* x) {
  return is_exact(g, x[0]) ? false_like(g, x[0]) : tpt_isnan(g, x[0]);
}

static tpt_v is_infinite(tpt_graph_t* g, tpt_v x) {
  return tpt_eq(g, tpt_abs(g, x), tpt_like(g, x, INFINITY));
}

tpt_v formula_isinf(tpt_graph_t* g, const tpt_v* x) {
  if (is_exact(g, x[0])) return false_like(g, x[0]);
  if (class_of(g, x[0]) != TPT_CLASS_COMPLEX) return is_infinite(g, x[0]);
  return tpt_or(g, is_infinite(g, real_part(g, x[0])), is_infinite(g, imag_part(g, x[0])));
}

tpt_v formula_isposinf(tpt_graph_t* g, const tpt_v* x) {
  if (is_exact(g, x[0])) return false_like(g, x[0]);
  return tpt_eq(g, x[0], tpt_like(g, x[0], INFINITY));
}

tpt_v formula_isneginf(tpt_graph_t* g, const tpt_v* x) {
  if (is_exact(g, x[0])) return false_like(g, x[0]);
  return tpt_eq(g, x[0], tpt_like(g, x[0], -INFINITY));
}

tpt_v formula_logical_not(tpt_graph_t* g, const tpt_v* x) {
  return tpt_not(g, tpt_truth(g, x[0]));
}

tpt_v formula_conj(tpt_graph_t* g, const tpt_v* x) {
  if (class_of(g, x[0]) != TPT_CLASS_COMPLEX) return x[0];
  return tpt_hlo_complex(g, real_part(g, x[0]), tpt_neg(g, imag_part(g, x[0])));
}

tpt_status_t lower_angle(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0}, 1, TPT_PROMOTE_INT_TO_FLOAT);
  tpt_v x = tpt_operand(l, 0, dtype);
  if (tpt_dtype_is_complex(dtype))
    return tpt_lower_result(l, tpt_binary(g, TPT_HLO_ATAN2, imag_part(g, x), real_part(g, x)));
  tpt_v zero = zero_like(g, x);
  tpt_v y = tpt_select(g, tpt_lt(g, x, zero), tpt_like(g, x, M_PI), zero);
  y = tpt_select(g, tpt_isnan(g, x), x, y);
  return tpt_lower_result(l, tpt_hlo_convert(g, y, dtype));
}

// The largest finite number of a float dtype.
static double largest(tpt_dtype_t dtype) {
  switch (dtype) {
  case TPT_F16:
    return 65504.0;
  case TPT_BF16:
    return 0x1.FEp127;
  case TPT_F32:
    return 0x1.FFFFFEp127;
  default:
    return 0x1.FFFFFFFFFFFFFp1023;
  }
}

tpt_status_t lower_nan_to_num(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_dtype_t dtype = tpt_dtype_of(g, x);
  if (is_exact(g, x)) return tpt_lower_result(l, x);
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  double limit = largest(dtype);
  tpt_v nan = tpt_lower_has(l, 1) ? tpt_lower_scalar(l, 1, dtype) : zero_like(g, x);
  tpt_v high = tpt_lower_has(l, 2) ? tpt_lower_scalar(l, 2, dtype) : tpt_like(g, x, limit);
  tpt_v low = tpt_lower_has(l, 3) ? tpt_lower_scalar(l, 3, dtype) : tpt_like(g, x, -limit);
  tpt_v y = tpt_select(g, tpt_eq(g, x, tpt_like(g, x, INFINITY)), high, x);
  y = tpt_select(g, tpt_eq(g, x, tpt_like(g, x, -INFINITY)), low, y);
  return tpt_lower_result(l, tpt_select(g, tpt_isnan(g, x), nan, y));
}

// -x log(x), 0 at 0, -inf below.
tpt_v formula_entr(tpt_graph_t* g, const tpt_v* x) {
  tpt_v zero = zero_like(g, x[0]);
  tpt_v y = tpt_neg(g, tpt_mul(g, x[0], tpt_log(g, x[0])));
  y = tpt_select(g, tpt_eq(g, x[0], zero), zero, y);
  return tpt_select(g, tpt_lt(g, x[0], zero), tpt_like(g, x[0], -INFINITY), y);
}
