// Arithmetic on two or three operands: sums, products, the divisions and remainders, powers.
// Integer results follow C++ two's complement as CPU PyTorch gives them; division by a zero number
// is refused by the checks (a zero inside a tensor cannot be: its quotient is the plugin's).
#include <math.h>
#include <string.h>

#include "aten/assert.h"
#include "aten/promote.h"
#include "aten/rows.h"
#include "aten/special.h"

static bool is_real_float(tpt_graph_t* g, tpt_v x) {
  return tpt_dtype_is_float(tpt_dtype_of(g, x));
}
static tpt_v zero_like(tpt_graph_t* g, tpt_v x) {
  return tpt_like_i64(g, x, 0);
}

// --- sums ---------------------------------------------------------------------------------------

static tpt_dtype_t own_dtype(const tpt_lower_t* l, int arg) {
  bool is_tensor = l->args[arg].kind == TPT_ARG_TENSOR;
  return is_tensor ? l->args[arg].tensors->dtype : l->args[arg].number.dtype;
}

static tpt_status_t check_alpha(const tpt_lower_t* l, int arg) {
  tpt_dtype_t dtype = tpt_call_dtype(l, (int[]){0, 1}, 2);
  tpt_dtype_t alpha = l->args[arg].number.dtype;
  bool is_exact = !tpt_dtype_is_float(dtype) && !tpt_dtype_is_complex(dtype);
  if (alpha == TPT_PRED && dtype != TPT_PRED)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Boolean alpha only supported for Boolean results.");
  if (is_exact && (tpt_dtype_is_float(alpha) || tpt_dtype_is_complex(alpha)))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "For integral input tensors, argument alpha must not be a "
                                   "floating point number.");
  if (tpt_dtype_is_complex(alpha) && !tpt_dtype_is_complex(dtype))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "For non-complex input tensors, argument alpha must not be a complex number.");
  return NULL;
}

tpt_status_t check_add(tpt_lower_t* l) {
  return check_alpha(l, 2);
}

tpt_status_t check_sub(tpt_lower_t* l) {
  bool a = own_dtype(l, 0) == TPT_PRED, b = own_dtype(l, 1) == TPT_PRED;
  if (a && b)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Subtraction, the `-` operator, with two bool tensors is not "
                                   "supported. Use the `^` or `logical_xor()` operator instead.");
  if (a || b)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
             "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  return check_alpha(l, 2);
}

static bool is_whole(tpt_dtype_t dtype) {
  return dtype == TPT_PRED || tpt_dtype_is_int(dtype);
}

tpt_status_t check_addcdiv(tpt_lower_t* l) {
  if (is_whole(own_dtype(l, 1)) && is_whole(own_dtype(l, 2)))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Integer division with addcdiv is not supported: convert tensor1 or tensor2 to a "
             "floating-point type first, or use torch.div with a rounding_mode");
  return NULL;
}

tpt_v formula_add(tpt_graph_t* g, const tpt_v* x) {
  return tpt_add(g, x[0], tpt_mul(g, x[1], x[2]));
}

tpt_v formula_sub(tpt_graph_t* g, const tpt_v* x) {
  return tpt_sub(g, x[0], tpt_mul(g, x[1], x[2]));
}

tpt_v formula_rsub(tpt_graph_t* g, const tpt_v* x) {
  return tpt_sub(g, x[1], tpt_mul(g, x[0], x[2]));
}

tpt_v formula_addcmul(tpt_graph_t* g, const tpt_v* x) {
  return tpt_add(g, x[0], tpt_mul(g, tpt_mul(g, x[3], x[1]), x[2]));
}

tpt_v formula_addcdiv(tpt_graph_t* g, const tpt_v* x) {
  return tpt_add(g, x[0], tpt_div(g, tpt_mul(g, x[3], x[1]), x[2]));
}

// --- division -----------------------------------------------------------------------------------

tpt_status_t check_int_division(tpt_lower_t* l) {
  const tpt_arg_t* b = &l->args[1];
  const tpt_number_t* number = NULL;
  if (b->kind == TPT_ARG_SCALAR) number = &b->number;
  if (b->kind == TPT_ARG_TENSOR && b->tensors->flags & TPT_TENSOR_HOST)
    number = &b->tensors->number;
  bool rounds = l->arg_count < 3 || l->args[2].kind == TPT_ARG_STRING;
  if (!number || !rounds) return NULL;
  tpt_dtype_t dtype = tpt_call_dtype(l, (int[]){0, 1}, 2);
  if (tpt_dtype_is_int(dtype) && number->i == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "ZeroDivisionError");
  return NULL;
}

// A divisor of the host was looked at by the check; one on the device is by the launch.
static tpt_status_t divide(tpt_lower_t* l, tpt_formula_t formula) {
  TPT_TRY(tpt_lower_formula(l, formula));
  const tpt_arg_t* b = &l->args[1];
  tpt_dtype_t dtype = tpt_dtype_of(l->graph, l->results[0].value);
  bool is_host = b->kind != TPT_ARG_TENSOR || b->tensors->flags & TPT_TENSOR_HOST;
  if (is_host || !tpt_dtype_is_int(dtype)) return NULL;
  tpt_v divisor = tpt_lower_value_as(l, 1, dtype);
  tpt_v is_fine = tpt_ne(l->graph, divisor, zero_like(l->graph, divisor));
  tpt_assert_result(l, 0, is_fine, "ZeroDivisionError");
  return NULL;
}

static tpt_v formula_div_trunc(tpt_graph_t* g, const tpt_v* x) {
  tpt_v quotient = tpt_div(g, x[0], x[1]);
  return is_real_float(g, quotient) ? formula_trunc(g, &quotient) : quotient;
}

static tpt_v signs_differ(tpt_graph_t* g, tpt_v a, tpt_v b) {
  return tpt_ne(g, tpt_lt(g, a, zero_like(g, a)), tpt_lt(g, b, zero_like(g, b)));
}

// The quotient rounded down. Floats take Python's way: (a - fmod(a, b)) / b, so that a close to a
// multiple of b does not round up; +-0 keeps the sign of a / b and division by zero gives a / b.
static tpt_v floor_float(tpt_graph_t* g, tpt_v a, tpt_v b) {
  tpt_v zero = zero_like(g, a);
  tpt_v plain = tpt_div(g, a, b);
  tpt_v mod = tpt_binary(g, TPT_HLO_REMAINDER, a, b);
  tpt_v quotient = tpt_div(g, tpt_sub(g, a, mod), b);
  tpt_v is_over = tpt_and(g, tpt_ne(g, mod, zero), signs_differ(g, mod, b));
  quotient = tpt_select(g, is_over, tpt_add_f64(g, quotient, -1.0), quotient);
  tpt_v down = tpt_floor(g, quotient);
  tpt_v is_off = tpt_gt(g, tpt_sub(g, quotient, down), tpt_like(g, down, 0.5));
  down = tpt_select(g, is_off, tpt_add_f64(g, down, 1.0), down);
  tpt_v signed_zero = tpt_mul(g, zero, plain);  // a / b is finite here, or the select skips it
  down = tpt_select(g, tpt_eq(g, quotient, zero), signed_zero, down);
  return tpt_select(g, tpt_eq(g, b, zero), plain, down);
}

static tpt_v formula_div_floor(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0], b = x[1];
  tpt_meet(g, &a, &b);
  if (is_real_float(g, a)) return floor_float(g, a, b);
  tpt_v quotient = tpt_div(g, a, b);
  if (tpt_dtype_row(tpt_dtype_of(g, a))->kind == TPT_CLASS_UINT) return quotient;
  tpt_v rest = tpt_sub(g, a, tpt_mul(g, quotient, b));
  tpt_v is_over = tpt_and(g, tpt_ne(g, rest, zero_like(g, rest)), signs_differ(g, rest, b));
  return tpt_select(g, is_over, tpt_sub(g, quotient, tpt_like_i64(g, quotient, 1)), quotient);
}

static tpt_v formula_remainder(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0], b = x[1];
  tpt_meet(g, &a, &b);
  tpt_v mod = tpt_binary(g, TPT_HLO_REMAINDER, a, b);
  if (tpt_dtype_row(tpt_dtype_of(g, a))->kind == TPT_CLASS_UINT) return mod;
  tpt_v is_over = tpt_and(g, tpt_ne(g, mod, zero_like(g, mod)), signs_differ(g, mod, b));
  return tpt_select(g, is_over, tpt_add(g, mod, b), mod);
}

tpt_status_t lower_floor_divide(tpt_lower_t* l) {
  return divide(l, formula_div_floor);
}
tpt_status_t lower_remainder(tpt_lower_t* l) {
  return divide(l, formula_remainder);
}
tpt_status_t lower_fmod(tpt_lower_t* l) {
  return divide(l, NULL);
}

static bool arg_is_text(const tpt_lower_t* l, int arg, const char* text) {
  const tpt_arg_t* a = &l->args[arg];
  return a->kind == TPT_ARG_STRING && a->count == strlen(text) &&
         !memcmp(a->string, text, a->count);
}

// Three rows in one: no rounding mode promotes to float, the others keep integers.
tpt_status_t lower_div_mode(tpt_lower_t* l) {
  tpt_pointwise_t plain = {TPT_HLO_DIVIDE, NULL, TPT_PROMOTE_INT_TO_FLOAT};
  if (!tpt_lower_has(l, 2)) return tpt_lower_pointwise(l, &plain);
  tpt_formula_t formula = arg_is_text(l, 2, "trunc")   ? formula_div_trunc
                          : arg_is_text(l, 2, "floor") ? formula_div_floor
                                                       : NULL;
  if (!formula)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%.*s'",
             (int)l->args[2].count, l->args[2].string);
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1}, 2, TPT_PROMOTE_KEEP);
  if (dtype == TPT_PRED || tpt_dtype_is_complex(dtype)) return tpt_refuse_dtype(l, dtype);
  return divide(l, formula);
}

// --- common divisors ----------------------------------------------------------------------------

// |gcd| by Euclid's steps, all elements at once, until every remainder is 0.
tpt_v formula_gcd(tpt_graph_t* g, const tpt_v* x) {
  tpt_v state[2] = {x[0], x[1]}, args[2];
  tpt_meet(g, &state[0], &state[1]);
  bool is_signed = tpt_dtype_row(tpt_dtype_of(g, state[0]))->kind == TPT_CLASS_SINT;
  for (int i = 0; i < 2 && is_signed; i++)
    state[i] = tpt_abs(g, state[i]);
  tpt_type_t types[2] = {*tpt_graph_type(g, state[0]), *tpt_graph_type(g, state[1])};
  tpt_region_begin(g, types, 2, args);
  tpt_v is_left = tpt_ne(g, args[1], zero_like(g, args[1]));
  int64_t dims[TPT_RANK_MAX];
  for (int d = 0; d < types[0].rank; d++)
    dims[d] = d;
  tpt_v no = tpt_hlo_scalar_i64(g, TPT_PRED, 0);
  if (types[0].rank) is_left = tpt_hlo_reduce(g, is_left, no, TPT_HLO_OR, dims, types[0].rank);
  uint32_t condition = tpt_region_end(g, &is_left, 1);
  tpt_region_begin(g, types, 2, args);
  tpt_v zero = zero_like(g, args[1]);
  tpt_v is_done = tpt_eq(g, args[1], zero);
  tpt_v divisor = tpt_select(g, is_done, tpt_like_i64(g, args[1], 1), args[1]);
  tpt_v rest = tpt_binary(g, TPT_HLO_REMAINDER, args[0], divisor);
  tpt_v next[2] = {tpt_select(g, is_done, args[0], args[1]), tpt_select(g, is_done, zero, rest)};
  uint32_t body = tpt_region_end(g, next, 2);
  return tpt_hlo_while(g, state, 2, condition, body);
}

tpt_v formula_lcm(tpt_graph_t* g, const tpt_v* x) {
  tpt_v divisor = formula_gcd(g, x);
  tpt_v is_zero = tpt_eq(g, divisor, zero_like(g, divisor));
  divisor = tpt_select(g, is_zero, tpt_like_i64(g, divisor, 1), divisor);
  tpt_v product = tpt_mul(g, tpt_div(g, x[0], divisor), x[1]);
  bool is_signed = tpt_dtype_row(tpt_dtype_of(g, product))->kind == TPT_CLASS_SINT;
  return is_signed ? tpt_abs(g, product) : product;
}

// --- powers -------------------------------------------------------------------------------------

// base^exponent of integers: a negative exponent leaves only 1 and -1 (and 0 for the rest).
static tpt_v int_power(tpt_graph_t* g, tpt_v base, tpt_v exponent) {
  tpt_meet(g, &base, &exponent);
  tpt_v zero = zero_like(g, base), one = tpt_like_i64(g, base, 1);
  if (tpt_dtype_row(tpt_dtype_of(g, base))->kind == TPT_CLASS_UINT)
    return tpt_pow(g, base, exponent);
  tpt_v power = tpt_pow(g, base, tpt_max(g, exponent, zero));
  tpt_v is_odd = tpt_ne(g, tpt_and(g, exponent, one), zero);
  tpt_v minus_one = tpt_neg(g, one);
  tpt_v alternating = tpt_select(g, is_odd, minus_one, one);
  tpt_v inverse = tpt_select(g, tpt_eq(g, base, minus_one), alternating, zero);
  inverse = tpt_select(g, tpt_eq(g, base, one), one, inverse);
  return tpt_select(g, tpt_lt(g, exponent, zero), inverse, power);
}

tpt_v formula_pow(tpt_graph_t* g, const tpt_v* x) {
  bool is_int = tpt_dtype_is_int(tpt_dtype_of(g, x[0]));
  return is_int ? int_power(g, x[0], x[1]) : tpt_pow(g, x[0], x[1]);
}

tpt_status_t check_pow(tpt_lower_t* l) {
  const tpt_number_t* exponent = &l->args[1].number;
  tpt_dtype_t base = tpt_lower_tensor(l, 0)->dtype;
  bool is_int = base == TPT_PRED || tpt_dtype_is_int(base);
  if (is_int && tpt_dtype_is_int(exponent->dtype) && exponent->i < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Integers to negative integer powers are not allowed.");
  return NULL;
}

// x^n, n >= 0, by repeated squaring.
static tpt_v natural_power(tpt_graph_t* g, tpt_v x, uint64_t n) {
  tpt_v result = TPT_VALUE_NONE;
  for (; n; n >>= 1) {
    if (n & 1) result = tpt_value_is_none(result) ? x : tpt_mul(g, result, x);
    if (n > 1) x = tpt_mul(g, x, x);
  }
  return tpt_value_is_none(result) ? tpt_like(g, x, 1.0) : result;
}

// Exponents with a closed form: as a product x^2 is exact and cheap everywhere, as a power neither.
static const double kEasy[] = {0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0};
enum { EASY_COUNT = sizeof(kEasy) / sizeof(*kEasy) };

// Number of the exponent among the easy ones, EASY_COUNT for all others.
int64_t kind_pow_scalar(const tpt_lower_t* l) {
  int64_t kind = 0;
  if (tpt_dtype_is_complex(l->args[1].number.dtype)) return EASY_COUNT;
  while (kind < EASY_COUNT && kEasy[kind] != tpt_lower_double(l, 1))
    kind++;
  return kind;
}

static tpt_v easy_power(tpt_graph_t* g, tpt_v x, double exponent) {
  if (exponent >= 0 && exponent != 0.5) return natural_power(g, x, (uint64_t)exponent);
  tpt_v one = tpt_like(g, x, 1.0);
  if (exponent == 0.5) return tpt_sqrt(g, x);
  if (exponent == -0.5) return tpt_div(g, one, tpt_sqrt(g, x));
  if (exponent == -1.0) return tpt_div(g, one, x);
  return tpt_div(g, one, tpt_mul(g, x, x));
}

tpt_status_t lower_pow_scalar(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1}, 2, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(g));
  if (dtype == TPT_PRED) return tpt_refuse_dtype(l, dtype);
  int64_t kind = tpt_lower_kind(l);
  tpt_v x = tpt_operand(l, 0, dtype), y;
  if (kind < EASY_COUNT) {
    y = easy_power(g, x, kEasy[kind]);
  } else {
    tpt_v pair[2] = {x, tpt_lower_scalar(l, 1, tpt_dtype_of(g, x))};
    y = formula_pow(g, pair);
  }
  return tpt_lower_result(l, tpt_hlo_convert(g, y, dtype));
}

// --- other functions of two operands ------------------------------------------------------------

tpt_v formula_hypot(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = tpt_abs(g, x[0]), b = tpt_abs(g, x[1]);
  tpt_v high = tpt_max(g, a, b), low = tpt_min(g, a, b);
  tpt_v zero = zero_like(g, high), infinity = tpt_like(g, high, INFINITY);
  tpt_v ratio = tpt_div(g, low, high);
  tpt_v root = tpt_sqrt(g, tpt_add_f64(g, tpt_mul(g, ratio, ratio), 1.0));
  tpt_v y = tpt_select(g, tpt_eq(g, high, zero), zero, tpt_mul(g, high, root));
  tpt_v is_infinite = tpt_or(g, tpt_eq(g, a, infinity), tpt_eq(g, b, infinity));
  return tpt_select(g, is_infinite, infinity, y);
}

tpt_v formula_copysign(tpt_graph_t* g, const tpt_v* x) {
  tpt_v magnitude = tpt_abs(g, x[0]);
  return tpt_select(g, formula_signbit(g, &x[1]), tpt_neg(g, magnitude), magnitude);
}

tpt_v formula_nextafter(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0], b = x[1];
  tpt_meet(g, &a, &b);
  tpt_type_t type = *tpt_graph_type(g, a), bits_type = type;
  bits_type.dtype = type.dtype == TPT_F64 ? TPT_S64 : TPT_S32;
  tpt_v bits = tpt_hlo_bitcast_convert(g, a, &bits_type);
  tpt_v one = tpt_like_i64(g, bits, 1), zero = zero_like(g, a);
  tpt_v is_outward = tpt_eq(g, tpt_lt(g, a, b), tpt_gt(g, a, zero));
  bits = tpt_select(g, is_outward, tpt_add(g, bits, one), tpt_sub(g, bits, one));
  tpt_v next = tpt_hlo_bitcast_convert(g, bits, &type);
  tpt_v least = tpt_hlo_bitcast_convert(g, one, &type);
  least = tpt_select(g, tpt_lt(g, b, zero), tpt_neg(g, least), least);
  next = tpt_select(g, tpt_eq(g, a, zero), least, next);
  next = tpt_select(g, tpt_eq(g, a, b), b, next);
  return tpt_select(g, tpt_or(g, tpt_isnan(g, a), tpt_isnan(g, b)), tpt_add(g, a, b), next);
}

// x * log(y), 0 where x is 0, NaN where y is.
static tpt_v product_with_log(tpt_graph_t* g, const tpt_v* x, tpt_v log) {
  tpt_v zero = zero_like(g, x[0]);
  tpt_v y = tpt_select(g, tpt_eq(g, x[0], zero), zero, tpt_mul(g, x[0], log));
  return tpt_select(g, tpt_isnan(g, x[1]), x[1], y);
}

tpt_v formula_xlogy(tpt_graph_t* g, const tpt_v* x) {
  return product_with_log(g, x, tpt_log(g, x[1]));
}

tpt_v formula_xlog1py(tpt_graph_t* g, const tpt_v* x) {
  return product_with_log(g, x, tpt_log1p(g, x[1]));
}

// max + f(|a - b|); equal infinities give themselves.
static tpt_v log_add(tpt_graph_t* g, const tpt_v* x, double log_base) {
  tpt_v a = x[0], b = x[1];
  tpt_meet(g, &a, &b);
  tpt_v gap = tpt_neg(g, tpt_abs(g, tpt_sub(g, a, b)));
  tpt_v rest = tpt_log1p(g, tpt_exp(g, tpt_mul_f64(g, gap, log_base)));
  tpt_v y = tpt_add(g, tpt_max(g, a, b), tpt_div(g, rest, tpt_like(g, rest, log_base)));
  tpt_v is_infinite = tpt_eq(g, tpt_abs(g, a), tpt_like(g, a, INFINITY));
  return tpt_select(g, tpt_and(g, is_infinite, tpt_eq(g, a, b)), a, y);
}

tpt_v formula_logaddexp(tpt_graph_t* g, const tpt_v* x) {
  return log_add(g, x, 1.0);
}
tpt_v formula_logaddexp2(tpt_graph_t* g, const tpt_v* x) {
  return log_add(g, x, M_LN2);
}
