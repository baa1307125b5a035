// Lowerings of elementwise operators with one operand, and the families of rows that share one.
#include "aten/expr.h"
#include "aten/rows.h"

// One StableHLO op on the promoted operand, computed in f32 for f16 and bf16.
tpt_status_t lower_unary(tpt_lower_t* l) {
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0}, 1, l->op->params.promote);
  tpt_v y = tpt_hlo_unary(l->graph, l->op->params.hlo, tpt_operand(l, 0, dtype));
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, y, dtype));
}

tpt_status_t lower_abs(tpt_lower_t* l) {
  tpt_v x = tpt_lower_value(l, 0);
  tpt_dtype_class_t kind = tpt_dtype_row(tpt_dtype_of(l->graph, x))->kind;
  bool is_identity = kind == TPT_CLASS_BOOL || kind == TPT_CLASS_UINT;
  return tpt_lower_result(l, is_identity ? x : tpt_abs(l->graph, x));
}

// self + alpha * other.
tpt_status_t lower_add(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1}, 2, TPT_PROMOTE_KEEP);
  tpt_v scaled = tpt_mul(g, tpt_operand(l, 1, dtype), tpt_operand(l, 2, dtype));
  tpt_v sum = tpt_add(g, tpt_operand(l, 0, dtype), scaled);
  return tpt_lower_result(l, tpt_hlo_convert(g, sum, dtype));
}
