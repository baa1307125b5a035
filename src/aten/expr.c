// Formula shorthands of lowerings: broadcasting forms, neutral elements, compute types. Knows no
// row.
#include "aten/expr.h"

#include <math.h>
#include <string.h>

void tpt_meet(tpt_graph_t* g, tpt_v* inout_a, tpt_v* inout_b) {
  if (tpt_value_is_none(*inout_a) || tpt_value_is_none(*inout_b)) return;
  tpt_lower_t l = {.graph = g};
  tpt_v pair[2] = {*inout_a, *inout_b};
  tpt_status_t status = tpt_lower_broadcast(&l, pair, 2);
  if (status) {
    tpt_graph_fail(g, status);
    *inout_a = *inout_b = TPT_VALUE_NONE;
    return;
  }
  *inout_a = pair[0];
  *inout_b = pair[1];
}

tpt_v tpt_binary(tpt_graph_t* g, tpt_hlo_t op, tpt_v a, tpt_v b) {
  tpt_meet(g, &a, &b);
  return tpt_hlo_binary(g, op, a, b);
}

tpt_v tpt_compare(tpt_graph_t* g, tpt_compare_t direction, tpt_v a, tpt_v b) {
  tpt_meet(g, &a, &b);
  return tpt_hlo_compare(g, direction, a, b);
}

tpt_v tpt_select(tpt_graph_t* g, tpt_v predicate, tpt_v on_true, tpt_v on_false) {
  tpt_meet(g, &on_true, &on_false);
  tpt_meet(g, &predicate, &on_true);
  tpt_meet(g, &on_true, &on_false);  // the predicate may have stretched one of them
  return tpt_hlo_select(g, predicate, on_true, on_false);
}

tpt_v tpt_like(tpt_graph_t* g, tpt_v x, double value) {
  tpt_type_t type = *tpt_graph_type(g, x);
  return tpt_hlo_splat_f64(g, &type, value);
}

tpt_v tpt_like_i64(tpt_graph_t* g, tpt_v x, int64_t value) {
  tpt_type_t type = *tpt_graph_type(g, x);
  return tpt_hlo_splat_i64(g, &type, value);
}

tpt_dtype_t tpt_dtype_of(const tpt_graph_t* g, tpt_v x) {
  return tpt_graph_type(g, x)->dtype;
}

tpt_v tpt_truth(tpt_graph_t* g, tpt_v x) {
  if (tpt_dtype_of(g, x) == TPT_PRED) return x;
  return tpt_hlo_compare(g, TPT_NE, x, tpt_like_i64(g, x, 0));
}

static tpt_v reduce(tpt_graph_t* g, tpt_v x, tpt_v init, tpt_hlo_t op, const int64_t* dims,
                    int count) {
  int64_t all[TPT_RANK_MAX];
  if (!count) {
    count = tpt_graph_type(g, x)->rank;
    for (int i = 0; i < count; i++)
      all[i] = i;
    dims = all;
  }
  return count ? tpt_hlo_reduce(g, x, init, op, dims, count) : x;
}

tpt_v tpt_reduce_sum(tpt_graph_t* g, tpt_v x, const int64_t* dims, int count) {
  return reduce(g, x, tpt_hlo_scalar_i64(g, tpt_dtype_of(g, x), 0), TPT_HLO_ADD, dims, count);
}

tpt_v tpt_lowest(tpt_graph_t* g, tpt_dtype_t dtype) {
  tpt_dtype_class_t kind = tpt_dtype_row(dtype)->kind;
  int bits = (int)tpt_dtype_size(dtype) * 8;
  if (kind == TPT_CLASS_FLOAT) return tpt_hlo_scalar_f64(g, dtype, -INFINITY);
  if (kind == TPT_CLASS_SINT)
    return tpt_hlo_scalar_i64(g, dtype, -(int64_t)(UINT64_MAX >> (65 - bits)) - 1);
  return tpt_hlo_scalar_i64(g, dtype, 0);
}

tpt_v tpt_highest(tpt_graph_t* g, tpt_dtype_t dtype) {
  tpt_dtype_class_t kind = tpt_dtype_row(dtype)->kind;
  int bits = (int)tpt_dtype_size(dtype) * 8;
  if (kind == TPT_CLASS_FLOAT) return tpt_hlo_scalar_f64(g, dtype, INFINITY);
  if (kind == TPT_CLASS_SINT)
    return tpt_hlo_scalar_i64(g, dtype, (int64_t)(UINT64_MAX >> (65 - bits)));
  if (kind == TPT_CLASS_UINT)
    return tpt_hlo_scalar_i64(g, dtype, (int64_t)(UINT64_MAX >> (64 - bits)));
  return tpt_hlo_scalar_i64(g, dtype, 1);
}

tpt_v tpt_reduce_max(tpt_graph_t* g, tpt_v x, const int64_t* dims, int count) {
  tpt_v init = tpt_lowest(g, tpt_dtype_of(g, x));
  return reduce(g, x, init, TPT_HLO_MAXIMUM, dims, count);
}

tpt_v tpt_reduce_min(tpt_graph_t* g, tpt_v x, const int64_t* dims, int count) {
  tpt_v init = tpt_highest(g, tpt_dtype_of(g, x));
  return reduce(g, x, init, TPT_HLO_MINIMUM, dims, count);
}

tpt_v tpt_keep_dims(tpt_graph_t* g, tpt_v reduced, int rank, const int64_t* dims, int count) {
  bool is_reduced[TPT_RANK_MAX] = {false};
  for (int i = 0; i < count; i++)
    is_reduced[dims[i]] = true;
  int64_t sizes[TPT_RANK_MAX];
  const tpt_type_t* type = tpt_graph_type(g, reduced);
  for (int d = 0, k = 0; d < rank; d++)
    sizes[d] = is_reduced[d] || k >= type->rank ? 1 : type->dims[k++];
  return tpt_hlo_reshape(g, reduced, rank, sizes);
}

tpt_v tpt_operand_rounded(tpt_lower_t* l, int arg, tpt_dtype_t dtype) {
  const tpt_arg_t* a = &l->args[arg];
  bool is_number = a->kind == TPT_ARG_SCALAR || a->kind == TPT_ARG_FLOAT;
  return is_number ? tpt_lower_scalar(l, arg, dtype) : tpt_lower_value_as(l, arg, dtype);
}

tpt_v tpt_operand(tpt_lower_t* l, int arg, tpt_dtype_t dtype) {
  const tpt_arg_t* a = &l->args[arg];
  tpt_dtype_t compute = tpt_dtype_compute(dtype);
  bool is_host = a->kind == TPT_ARG_TENSOR && a->tensors->flags & TPT_TENSOR_HOST;
  if (a->kind == TPT_ARG_SCALAR || a->kind == TPT_ARG_FLOAT || is_host)
    return tpt_operand_rounded(l, arg, compute);
  return tpt_hlo_convert(l->graph, tpt_lower_value_as(l, arg, dtype), compute);
}
