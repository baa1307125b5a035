// Comparisons' kin: logical and bitwise operators, shifts, extrema, and the ops that choose between
// operands (where, clamp, masked_fill, lerp).
#include <math.h>

#include "aten/promote.h"
#include "aten/rows.h"
#include "aten/special.h"

// --- comparisons --------------------------------------------------------------------------------

tpt_v formula_eq(tpt_graph_t* g, const tpt_v* x) {
  return tpt_eq(g, x[0], x[1]);
}
tpt_v formula_ne(tpt_graph_t* g, const tpt_v* x) {
  return tpt_ne(g, x[0], x[1]);
}
tpt_v formula_lt(tpt_graph_t* g, const tpt_v* x) {
  return tpt_lt(g, x[0], x[1]);
}
tpt_v formula_le(tpt_graph_t* g, const tpt_v* x) {
  return tpt_le(g, x[0], x[1]);
}
tpt_v formula_gt(tpt_graph_t* g, const tpt_v* x) {
  return tpt_gt(g, x[0], x[1]);
}
tpt_v formula_ge(tpt_graph_t* g, const tpt_v* x) {
  return tpt_ge(g, x[0], x[1]);
}

// --- logic and bits -----------------------------------------------------------------------------

tpt_status_t lower_logical(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x[2] = {tpt_truth(g, tpt_lower_value(l, 0)), tpt_truth(g, tpt_lower_value(l, 1))};
  TPT_TRY(tpt_lower_broadcast(l, x, 2));
  return tpt_lower_result(l, tpt_hlo_binary(g, l->op->params.hlo, x[0], x[1]));
}

// Shifts by a negative count or by the width and more: 0 to the left, the sign to the right.
static tpt_v shift_is_wide(tpt_graph_t* g, tpt_v count, int64_t width) {
  tpt_v is_negative = tpt_lt(g, count, tpt_like_i64(g, count, 0));
  return tpt_or(g, is_negative, tpt_ge(g, count, tpt_like_i64(g, count, width)));
}

static int64_t width_of(tpt_graph_t* g, tpt_v x) {
  return (int64_t)tpt_dtype_size(tpt_dtype_of(g, x)) * 8;
}

tpt_v formula_shift_left(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0], count = x[1];
  tpt_meet(g, &a, &count);
  tpt_v zero = tpt_like_i64(g, a, 0);
  tpt_v is_wide = shift_is_wide(g, count, width_of(g, a));
  tpt_v safe = tpt_select(g, is_wide, zero, count);
  return tpt_select(g, is_wide, zero, tpt_hlo_binary(g, TPT_HLO_SHL, a, safe));
}

tpt_v formula_shift_right(tpt_graph_t* g, const tpt_v* x) {
  tpt_v a = x[0], count = x[1];
  tpt_meet(g, &a, &count);
  bool is_signed = tpt_dtype_row(tpt_dtype_of(g, a))->kind == TPT_CLASS_SINT;
  int64_t width = width_of(g, a);
  tpt_v is_wide = shift_is_wide(g, count, width);
  tpt_v most = tpt_like_i64(g, a, width - 1);
  tpt_v safe = tpt_select(g, is_wide, most, count);
  tpt_v y = tpt_hlo_binary(g, is_signed ? TPT_HLO_SHRA : TPT_HLO_SHRL, a, safe);
  return is_signed ? y : tpt_select(g, is_wide, tpt_like_i64(g, a, 0), y);
}

// --- extrema ------------------------------------------------------------------------------------

tpt_v formula_fmax(tpt_graph_t* g, const tpt_v* x) {
  tpt_v y = tpt_max(g, x[0], x[1]);
  if (!tpt_dtype_is_float(tpt_dtype_of(g, y))) return y;
  y = tpt_select(g, tpt_isnan(g, x[1]), x[0], y);
  return tpt_select(g, tpt_isnan(g, x[0]), x[1], y);
}

tpt_v formula_fmin(tpt_graph_t* g, const tpt_v* x) {
  tpt_v y = tpt_min(g, x[0], x[1]);
  if (!tpt_dtype_is_float(tpt_dtype_of(g, y))) return y;
  y = tpt_select(g, tpt_isnan(g, x[1]), x[0], y);
  return tpt_select(g, tpt_isnan(g, x[0]), x[1], y);
}

tpt_v formula_maximum(tpt_graph_t* g, const tpt_v* x) {
  return tpt_max(g, x[0], x[1]);
}
tpt_v formula_minimum(tpt_graph_t* g, const tpt_v* x) {
  return tpt_min(g, x[0], x[1]);
}

// x, min, max: the upper bound wins where the bounds cross.
static tpt_v clamp_both(tpt_graph_t* g, const tpt_v* x) {
  return tpt_min(g, tpt_max(g, x[0], x[1]), x[2]);
}

// Bounds that are Scalars must fit the integer dtype of the result.
static tpt_status_t check_bounds(const tpt_lower_t* l) {
  int args[3] = {0, 1, 2};
  tpt_dtype_t dtype = tpt_call_dtype(l, args, l->arg_count);
  for (int i = 1; i < l->arg_count; i++) {
    if (l->args[i].kind == TPT_ARG_SCALAR)
      TPT_TRY(tpt_check_number_fits(&l->args[i].number, dtype));
  }
  return NULL;
}

tpt_status_t check_clamp(tpt_lower_t* l) {
  if (!tpt_lower_has(l, 1) && !tpt_lower_has(l, 2))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "torch.clamp: At least one of 'min' or 'max' must not be None");
  return check_bounds(l);
}

tpt_status_t check_clamp_scalar(tpt_lower_t* l) {
  return check_bounds(l);
}

tpt_status_t lower_clamp(tpt_lower_t* l) {
  bool has_min = tpt_lower_has(l, 1), has_max = tpt_lower_has(l, 2);
  return tpt_lower_formula(l, has_min && has_max ? clamp_both
                              : has_min          ? formula_maximum
                                                 : formula_minimum);
}

tpt_v formula_heaviside(tpt_graph_t* g, const tpt_v* x) {
  tpt_v zero = tpt_like_i64(g, x[0], 0), one = tpt_like_i64(g, x[0], 1);
  tpt_v step = tpt_select(g, tpt_gt(g, x[0], zero), one, zero);
  return tpt_select(g, tpt_eq(g, x[0], zero), x[1], step);
}

static bool same_dtypes(const tpt_lower_t* l, int count) {
  for (int i = 1; i < count; i++)
    if (tpt_lower_tensor(l, i)->dtype != tpt_lower_tensor(l, 0)->dtype) return false;
  return true;
}

tpt_status_t lower_heaviside(tpt_lower_t* l) {
  if (!same_dtypes(l, 2)) return tpt_refuse_dtype(l, tpt_lower_tensor(l, 1)->dtype);
  return tpt_lower_formula(l, formula_heaviside);
}

// --- choice -------------------------------------------------------------------------------------

tpt_status_t lower_where(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t mask = tpt_lower_tensor(l, 0)->dtype;
  if (mask != TPT_PRED && mask != TPT_U8) return tpt_refuse_dtype(l, mask);
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){1, 2}, 2, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(g));
  tpt_v x[3] = {tpt_truth(g, tpt_lower_value(l, 0)), tpt_lower_value_as(l, 1, dtype),
                tpt_lower_value_as(l, 2, dtype)};
  TPT_TRY(tpt_lower_broadcast(l, x, 3));
  return tpt_lower_result(l, tpt_hlo_select(g, x[0], x[1], x[2]));
}

tpt_status_t check_masked_fill(tpt_lower_t* l) {
  const tpt_arg_t* value = &l->args[2];
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  if (value->kind == TPT_ARG_SCALAR) return tpt_check_number_fits(&value->number, dtype);
  if (value->tensors->rank != 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d "
             "dimension(s).",
             (int)value->tensors->rank);
  if (value->tensors->flags & TPT_TENSOR_HOST)
    return tpt_check_number_fits(&value->tensors->number, dtype);
  return NULL;
}

tpt_status_t lower_masked_fill(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v mask = tpt_lower_value(l, 1);
  if (tpt_dtype_of(g, mask) != TPT_PRED) return tpt_refuse_dtype(l, tpt_dtype_of(g, mask));
  tpt_v x[2] = {tpt_lower_value(l, 0), mask};
  tpt_v value = tpt_operand_rounded(l, 2, tpt_dtype_of(g, x[0]));
  TPT_TRY(tpt_lower_broadcast(l, x, 2));
  return tpt_lower_result(l, tpt_select(g, x[1], value, x[0]));
}

// start + weight (end - start), from the nearer end.
static tpt_v lerp(tpt_graph_t* g, const tpt_v* x) {
  tpt_v gap = tpt_sub(g, x[1], x[0]), weight = x[2];
  tpt_v is_near = tpt_lt(g, tpt_abs(g, weight), tpt_like(g, weight, 0.5));
  tpt_v near = tpt_add(g, x[0], tpt_mul(g, weight, gap));
  tpt_v rest = tpt_sub(g, tpt_like(g, weight, 1.0), weight);
  return tpt_select(g, is_near, near, tpt_sub(g, x[1], tpt_mul(g, gap, rest)));
}

tpt_status_t lower_lerp(tpt_lower_t* l) {
  bool has_tensor_weight = l->args[2].kind == TPT_ARG_TENSOR;
  if (!same_dtypes(l, has_tensor_weight ? 3 : 2))
    return tpt_refuse_dtype(l, tpt_lower_tensor(l, 1)->dtype);
  return tpt_lower_formula(l, lerp);
}
