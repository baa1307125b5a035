// Lists of tensors: each item gets the formula of the elementwise operator of the same name. An item
// whose dtype or shape would need promotion or broadcasting between tensors is refused, and PyTorch
// then takes the list apart.
#include "aten/foreach.h"

#include <math.h>

#include "aten/array.h"
#include "aten/rows.h"
#include "aten/stride.h"

static int list_count(const tpt_lower_t* l) {
  for (int i = 0; i < l->arg_count; i++)
    if (l->args[i].kind == TPT_ARG_TENSORS) return (int)l->args[i].count;
  return 0;
}

static const tpt_arg_t* first_list(const tpt_lower_t* l) {
  for (int i = 0; i < l->arg_count; i++)
    if (l->args[i].kind == TPT_ARG_TENSORS) return &l->args[i];
  return NULL;
}

static tpt_status_t refuse(const tpt_lower_t* l, const char* why) {
  TPT_FAIL(TPT_UNIMPLEMENTED, "%s: %s", tpt_op_schema(l->op)->name, why);
}

static bool same_sizes(const tpt_tensor_t* a, const tpt_tensor_t* b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->sizes, b->sizes, (size_t)a->rank * sizeof(int64_t)) == 0);
}

// A number may meet a float item; anything else would promote.
static bool number_fits(tpt_dtype_t number, tpt_dtype_t item) {
  if (!tpt_dtype_is_float(item)) return false;
  return !tpt_dtype_is_complex(number);
}

tpt_status_t tpt_foreach_result(tpt_lower_t* l, const tpt_tensor_t* like, tpt_v value) {
  int64_t strides[TPT_RANK_MAX];
  tpt_strides_like(like, strides);
  return tpt_lower_result_strides(l, tpt_hlo_convert(l->graph, value, like->dtype), strides);
}

tpt_status_t tpt_foreach_check(tpt_lower_t* l, int arg, int item, const tpt_tensor_t* like) {
  const tpt_arg_t* a = &l->args[arg];
  switch (a->kind) {
  case TPT_ARG_TENSORS: {
    if ((int)a->count <= item)
      return refuse(l, "Tensor lists must have the same number of tensors");
    const tpt_tensor_t* t = &a->tensors[item];
    if (t->dtype != like->dtype || !same_sizes(t, like) || (t->flags & TPT_TENSOR_HOST))
      return refuse(l, "lists of different dtypes or shapes");
    return NULL;
  }
  case TPT_ARG_TENSOR:
    if (a->tensors->rank != 0 || !number_fits(a->tensors->dtype, like->dtype) ||
        (!(a->tensors->flags & TPT_TENSOR_WRAPPED) && a->tensors->dtype != like->dtype))
      return refuse(l, "a tensor that is no plain number of the list's dtype");
    return NULL;
  case TPT_ARG_SCALARS:
    if ((int)a->count <= item || !number_fits(a->numbers[item].dtype, like->dtype))
      return refuse(l, "numbers that promote the list");
    return NULL;
  default:
    if (!number_fits(a->number.dtype, like->dtype))
      return refuse(l, "a number that promotes the list");
    return NULL;
  }
}

static tpt_v operand(tpt_lower_t* l, int arg, int item, tpt_dtype_t dtype) {
  switch (l->args[arg].kind) {
  case TPT_ARG_TENSORS:
    return tpt_lower_item_as(l, arg, item, dtype);
  case TPT_ARG_TENSOR:
    return tpt_lower_value_as(l, arg, dtype);
  case TPT_ARG_SCALARS:
    return tpt_lower_scalar_item(l, arg, item, dtype);
  default:
    return tpt_lower_scalar(l, arg, dtype);
  }
}

// mode 1: the last argument is a 1-d CPU or device tensor of one number an item.
tpt_status_t lower_foreach(tpt_lower_t* l) {
  const tpt_op_params_t* params = &l->op->params;
  const tpt_arg_t* list = first_list(l);
  int count = list_count(l);
  for (int i = 0; i < count; i++) {
    const tpt_tensor_t* like = &list->tensors[i];
    if (!tpt_dtype_is_float(like->dtype)) return refuse(l, "lists of integers or complex numbers");
    tpt_dtype_t compute = tpt_dtype_compute(like->dtype);
    tpt_v x[4];
    int used = 0;
    for (int a = 0; a < l->arg_count && used < 4; a++) {
      if (!tpt_lower_has(l, a)) continue;
      if (params->mode == 1 && a == l->arg_count - 1) {
        tpt_type_t type = *tpt_graph_type(l->graph, tpt_lower_value(l, a));
        if (type.rank != 1 || type.dims[0] != count) return refuse(l, "scalars of another length");
        tpt_v numbers = tpt_lower_value_as(l, a, compute);
        tpt_v one = tpt_hlo_slice_dim(l->graph, numbers, 0, i, i + 1, 1);
        x[used++] = tpt_hlo_reshape(l->graph, one, 0, NULL);
        continue;
      }
      TPT_TRY(tpt_foreach_check(l, a, i, like));
      x[used++] = operand(l, a, i, compute);
    }
    tpt_v value;
    if (params->formula) {
      value = params->formula(l->graph, x);
    } else if (used == 1) {
      value = tpt_hlo_unary(l->graph, params->hlo, x[0]);
    } else {
      value = tpt_binary(l->graph, params->hlo, x[0], x[1]);
    }
    TPT_TRY(tpt_foreach_result(l, like, value));
  }
  return NULL;
}

// Weighted from the nearer end, as aten::lerp: start + w * d for |w| < 0.5, else end - (1 - w) * d.
tpt_value_t formula_foreach_lerp(tpt_graph_t* g, const tpt_value_t* x) {
  tpt_v difference = tpt_sub(g, x[1], x[0]);
  tpt_v near_start = tpt_add(g, x[0], tpt_mul(g, x[2], difference));
  tpt_v rest = tpt_sub(g, tpt_like(g, x[2], 1), x[2]);
  tpt_v near_end = tpt_sub(g, x[1], tpt_mul(g, difference, rest));
  tpt_v is_near = tpt_lt(g, tpt_abs(g, x[2]), tpt_like(g, x[2], 0.5));
  return tpt_select(g, is_near, near_start, near_end);
}

tpt_status_t lower_foreach_zero(tpt_lower_t* l) {
  for (int i = 0; i < list_count(l); i++) {
    const tpt_tensor_t* like = &l->args[0].tensors[i];
    tpt_type_t type = tpt_type_make(like->dtype, like->rank, like->sizes);
    TPT_TRY(tpt_foreach_result(l, like, tpt_hlo_splat_i64(l->graph, &type, 0)));
  }
  return NULL;
}

tpt_status_t lower_foreach_copy(tpt_lower_t* l) {
  if (l->args[0].count != l->args[1].count)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Tensor lists must have the same number of tensors, got %u and %u", l->args[0].count,
             l->args[1].count);
  for (int i = 0; i < list_count(l); i++) {
    const tpt_tensor_t* like = &l->args[0].tensors[i];
    tpt_v source = tpt_lower_item(l, 1, i);
    if (tpt_dtype_is_complex(tpt_dtype_of(l->graph, source)) != tpt_dtype_is_complex(like->dtype))
      return refuse(l, "copies between real and complex");
    source = tpt_hlo_convert(l->graph, source, like->dtype);
    source = tpt_hlo_broadcast_to(l->graph, source, like->rank, like->sizes);
    TPT_TRY(tpt_foreach_result(l, like, source));
  }
  return NULL;
}

// 1 and 2 for themselves, -1 for infinity, 0 for all other orders.
int64_t kind_foreach_norm(const tpt_lower_t* l) {
  double order = tpt_lower_double(l, 1);
  if (order == 1 || order == 2) return (int64_t)order;
  return isinf(order) && order > 0 ? -1 : 0;
}

// The 1-, 2- and infinity-norm of each item; other orders item by item.
tpt_status_t lower_foreach_norm(tpt_lower_t* l) {
  double order = (double)tpt_lower_kind(l);
  bool is_max = order < 0;
  if (!(order == 1 || order == 2 || is_max))
    return refuse(l, "orders other than 1, 2 and infinity");
  if (tpt_lower_has(l, 2)) return refuse(l, "another result dtype");
  tpt_graph_t* g = l->graph;
  for (int i = 0; i < list_count(l); i++) {
    const tpt_tensor_t* like = &l->args[0].tensors[i];
    if (!tpt_dtype_is_float(like->dtype)) return refuse(l, "lists of integers or complex numbers");
    tpt_v x = tpt_lower_item_as(l, 0, i, tpt_dtype_compute(like->dtype));
    tpt_type_t type = *tpt_graph_type(g, x);
    if (is_max && tpt_type_count(&type) == 0) return refuse(l, "the infinity norm of nothing");
    tpt_v value;
    if (order == 2) {
      value = tpt_sqrt(g, tpt_reduce_sum(g, tpt_mul(g, x, x), NULL, 0));
    } else if (order == 1) {
      value = tpt_reduce_sum(g, tpt_abs(g, x), NULL, 0);
    } else {
      value = tpt_reduce_max(g, tpt_abs(g, x), NULL, 0);
    }
    TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, value, like->dtype)));
  }
  return NULL;
}
