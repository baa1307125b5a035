// Shorthands for writing formulas over graph values in lowerings. Every two-operand form broadcasts
// by the numpy rule (so a 0-d number meets a tensor); dtypes must agree. Errors are the graph's,
// sticky.
#ifndef TPUTORCH_ATEN_EXPR_H_
#define TPUTORCH_ATEN_EXPR_H_

#include "aten/lower.h"

typedef tpt_value_t tpt_v;

// Broadcasts both to their common shape; a shape clash fails the graph in PyTorch's words.
void tpt_meet(tpt_graph_t* g, tpt_v* inout_a, tpt_v* inout_b);
tpt_v tpt_binary(tpt_graph_t* g, tpt_hlo_t op, tpt_v a, tpt_v b);
tpt_v tpt_compare(tpt_graph_t* g, tpt_compare_t direction, tpt_v a, tpt_v b);
// All three broadcast together.
tpt_v tpt_select(tpt_graph_t* g, tpt_v predicate, tpt_v on_true, tpt_v on_false);
// A constant of x's type whose elements all equal `value`.
tpt_v tpt_like(tpt_graph_t* g, tpt_v x, double value);
tpt_v tpt_like_i64(tpt_graph_t* g, tpt_v x, int64_t value);
tpt_dtype_t tpt_dtype_of(const tpt_graph_t* g, tpt_v x);
// x != 0 (bool stays as it is).
tpt_v tpt_truth(tpt_graph_t* g, tpt_v x);
// 0-d: the least (greatest) value of a dtype, infinities included.
tpt_v tpt_lowest(tpt_graph_t* g, tpt_dtype_t dtype);
tpt_v tpt_highest(tpt_graph_t* g, tpt_dtype_t dtype);
// Reduces dims (none: all) with the operator's neutral element as start; dims vanish.
tpt_v tpt_reduce_sum(tpt_graph_t* g, tpt_v x, const int64_t* dims, int count);
tpt_v tpt_reduce_max(tpt_graph_t* g, tpt_v x, const int64_t* dims,
                     int count);  // -inf or the least value
tpt_v tpt_reduce_min(tpt_graph_t* g, tpt_v x, const int64_t* dims, int count);
// Puts reduced dimensions back as ones: the inverse of dropping `dims` from a value of rank `rank`.
tpt_v tpt_keep_dims(tpt_graph_t* g, tpt_v reduced, int rank, const int64_t* dims, int count);

#define TPT_EXPR_BINARY(name, op)                                                                  \
  static inline tpt_v tpt_##name(tpt_graph_t* g, tpt_v a, tpt_v b) {                               \
    return tpt_binary(g, TPT_HLO_##op, a, b);                                                      \
  }
TPT_EXPR_BINARY(add, ADD)
TPT_EXPR_BINARY(sub, SUBTRACT)
TPT_EXPR_BINARY(mul, MULTIPLY)
TPT_EXPR_BINARY(div, DIVIDE)
TPT_EXPR_BINARY(max, MAXIMUM)
TPT_EXPR_BINARY(min, MINIMUM)
TPT_EXPR_BINARY(pow, POWER)
TPT_EXPR_BINARY(and, AND)
TPT_EXPR_BINARY(or, OR)
TPT_EXPR_BINARY(xor, XOR)
#undef TPT_EXPR_BINARY

#define TPT_EXPR_COMPARE(name, direction)                                                          \
  static inline tpt_v tpt_##name(tpt_graph_t* g, tpt_v a, tpt_v b) {                               \
    return tpt_compare(g, TPT_##direction, a, b);                                                  \
  }
TPT_EXPR_COMPARE(eq, EQ)
TPT_EXPR_COMPARE(ne, NE)
TPT_EXPR_COMPARE(lt, LT)
TPT_EXPR_COMPARE(le, LE)
TPT_EXPR_COMPARE(gt, GT)
TPT_EXPR_COMPARE(ge, GE)
#undef TPT_EXPR_COMPARE

#define TPT_EXPR_UNARY(name, op)                                                                   \
  static inline tpt_v tpt_##name(tpt_graph_t* g, tpt_v x) {                                        \
    return tpt_hlo_unary(g, TPT_HLO_##op, x);                                                      \
  }
TPT_EXPR_UNARY(neg, NEGATE)
TPT_EXPR_UNARY(abs, ABS)
TPT_EXPR_UNARY(not, NOT)
TPT_EXPR_UNARY(exp, EXP)
TPT_EXPR_UNARY(expm1, EXPM1)
TPT_EXPR_UNARY(log, LOG)
TPT_EXPR_UNARY(log1p, LOG1P)
TPT_EXPR_UNARY(sqrt, SQRT)
TPT_EXPR_UNARY(rsqrt, RSQRT)
TPT_EXPR_UNARY(tanh, TANH)
TPT_EXPR_UNARY(sin, SINE)
TPT_EXPR_UNARY(cos, COSINE)
TPT_EXPR_UNARY(floor, FLOOR)
TPT_EXPR_UNARY(ceil, CEIL)
TPT_EXPR_UNARY(sign, SIGN)
TPT_EXPR_UNARY(logistic, LOGISTIC)
#undef TPT_EXPR_UNARY

static inline tpt_v tpt_isnan(tpt_graph_t* g, tpt_v x) {
  return tpt_compare(g, TPT_NE, x, x);
}
// x + c and x * c for a constant c.
static inline tpt_v tpt_add_f64(tpt_graph_t* g, tpt_v x, double c) {
  return tpt_add(g, x, tpt_like(g, x, c));
}
static inline tpt_v tpt_mul_f64(tpt_graph_t* g, tpt_v x, double c) {
  return tpt_mul(g, x, tpt_like(g, x, c));
}

// Operand `arg` ready to compute with: converted to `dtype`, then to its compute type (f32 for f16
// and bf16). A number of the host goes to the compute type at once and so keeps its precision.
tpt_v tpt_operand(tpt_lower_t* l, int arg, tpt_dtype_t dtype);
// Operand `arg` (tensor, Scalar or float) as `dtype` itself.
tpt_v tpt_operand_rounded(tpt_lower_t* l, int arg, tpt_dtype_t dtype);
// The lowering `pointwise` with what to compute chosen by the caller. Operands are the tensors,
// Scalars and floats that are present, in argument order.
typedef struct tpt_pointwise {
  tpt_hlo_t hlo;  // when formula is NULL
  tpt_formula_t formula;
  tpt_promote_t promote;
} tpt_pointwise_t;
TPT_MUST_USE tpt_status_t tpt_lower_pointwise(tpt_lower_t* l, const tpt_pointwise_t* pointwise);
// The same with the row's promotion.
TPT_MUST_USE tpt_status_t tpt_lower_formula(tpt_lower_t* l, tpt_formula_t formula);
// UNIMPLEMENTED: the row leaves this dtype to the CPU (which has PyTorch's own error text).
TPT_MUST_USE tpt_status_t tpt_refuse_dtype(const tpt_lower_t* l, tpt_dtype_t dtype);

// 1 - x, and the slopes of logistic and tanh by their values.
static inline tpt_v tpt_one_minus(tpt_graph_t* g, tpt_v x) {
  return tpt_sub(g, tpt_like(g, x, 1), x);
}
static inline tpt_v tpt_logistic_slope(tpt_graph_t* g, tpt_v y) {
  return tpt_mul(g, tpt_one_minus(g, y), y);
}
static inline tpt_v tpt_tanh_slope(tpt_graph_t* g, tpt_v y) {
  return tpt_one_minus(g, tpt_mul(g, y, y));
}

#endif  // TPUTORCH_ATEN_EXPR_H_
