// The lowering behind most rows: operands promoted, broadcast, computed in f32 for f16 and bf16 by
// a StableHLO op or a formula, rounded once. Knows no formula; the rows name them.
#include "aten/expr.h"
#include "aten/promote.h"
#include "aten/rows.h"

enum { OPERAND_MAX = 8 };

typedef struct operands {
  int arg[OPERAND_MAX];
  bool is_number[OPERAND_MAX];  // a Scalar, a float or a host tensor
  int count;
} operands_t;

static bool is_host_number(const tpt_arg_t* a) {
  return a->kind == TPT_ARG_SCALAR || a->kind == TPT_ARG_FLOAT ||
         (a->kind == TPT_ARG_TENSOR && a->tensors->flags & TPT_TENSOR_HOST);
}

static void collect(const tpt_lower_t* l, operands_t* out) {
  out->count = 0;
  for (int i = 0; i < l->arg_count && out->count < OPERAND_MAX; i++) {
    tpt_arg_kind_t kind = l->args[i].kind;
    if (kind != TPT_ARG_TENSOR && kind != TPT_ARG_SCALAR && kind != TPT_ARG_FLOAT) continue;
    out->is_number[out->count] = is_host_number(&l->args[i]);
    out->arg[out->count++] = i;
  }
}

static tpt_dtype_t promoted(tpt_lower_t* l, const operands_t* ops, tpt_promote_t rule) {
  int64_t mode = l->op->params.mode;
  int args[OPERAND_MAX], count = 0;
  for (int i = 0; i < ops->count; i++) {
    bool is_other = mode & TPT_POINTWISE_OTHER && ops->arg[i] == 1;
    if (l->args[ops->arg[i]].kind == TPT_ARG_TENSOR || mode & TPT_POINTWISE_SCALARS || is_other)
      args[count++] = ops->arg[i];
  }
  return tpt_lower_promote(l, args, count, rule);
}

// Numbers stay 0-d: formulas broadcast them.
static tpt_status_t broadcast_tensors(tpt_lower_t* l, const operands_t* ops, tpt_v* inout_x) {
  tpt_v tensors[OPERAND_MAX];
  int count = 0;
  for (int i = 0; i < ops->count; i++)
    if (!ops->is_number[i]) tensors[count++] = inout_x[i];
  TPT_TRY(tpt_lower_broadcast(l, tensors, count));
  for (int i = 0, k = 0; i < ops->count; i++)
    if (!ops->is_number[i]) inout_x[i] = tensors[k++];
  return NULL;
}

tpt_status_t tpt_refuse_dtype(const tpt_lower_t* l, tpt_dtype_t dtype) {
  TPT_FAIL(TPT_UNIMPLEMENTED, "aten::%s does not take %s here", tpt_op_schema(l->op)->name,
           tpt_dtype_torch_name(dtype));
}

static tpt_v compute(tpt_lower_t* l, const tpt_pointwise_t* p, const tpt_v* x, int count) {
  if (p->formula) return p->formula(l->graph, x);
  if (count == 1) return tpt_hlo_unary(l->graph, p->hlo, x[0]);
  return tpt_binary(l->graph, p->hlo, x[0], x[1]);
}

tpt_status_t tpt_lower_pointwise(tpt_lower_t* l, const tpt_pointwise_t* p) {
  const tpt_op_params_t* params = &l->op->params;
  tpt_graph_t* g = l->graph;
  operands_t ops;
  collect(l, &ops);
  tpt_dtype_t dtype = promoted(l, &ops, p->promote);
  TPT_TRY(tpt_graph_status(g));
  bool is_narrow = tpt_dtype_compute(dtype) != dtype && params->mode & TPT_POINTWISE_WIDE;
  if (is_narrow || params->refuses >> tpt_dtype_row(dtype)->kind & 1)
    return tpt_refuse_dtype(l, dtype);
  bool is_compare = p->promote == TPT_PROMOTE_COMPARE;
  bool is_pred = is_compare || params->mode & TPT_POINTWISE_PRED;
  bool is_rounded = is_pred || params->mode & TPT_POINTWISE_ROUNDED;
  tpt_dtype_t math = is_compare ? dtype : tpt_dtype_compute(dtype);
  tpt_v x[OPERAND_MAX];
  for (int i = 0; i < ops.count; i++) {
    x[i] = is_rounded ? tpt_hlo_convert(g, tpt_operand_rounded(l, ops.arg[i], dtype), math)
                      : tpt_operand(l, ops.arg[i], dtype);
  }
  TPT_TRY(broadcast_tensors(l, &ops, x));
  tpt_v y = compute(l, p, x, ops.count);
  return tpt_lower_result(l, is_pred ? y : tpt_hlo_convert(g, y, dtype));
}

tpt_status_t tpt_lower_formula(tpt_lower_t* l, tpt_formula_t formula) {
  tpt_pointwise_t p = {l->op->params.hlo, formula, l->op->params.promote};
  return tpt_lower_pointwise(l, &p);
}

tpt_status_t lower_pointwise(tpt_lower_t* l) {
  return tpt_lower_formula(l, l->op->params.formula);
}
