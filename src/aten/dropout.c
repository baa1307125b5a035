// Dropout from 32 random bits per element whatever the dtype. The probability stays a run-time number.
#include "aten/dropout.h"

#include "aten/promote.h"
#include "aten/rows.h"

tpt_status_t check_dropout(tpt_lower_t* l) {
  double p = l->args[1].number.f;
  if (p >= 0 && p <= 1) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "dropout probability has to be between 0 and 1, but got %g", p);
}

tpt_v tpt_dropout_keep(tpt_graph_t* g, tpt_v bits, tpt_v p) {
  // The largest f32 below 2^32 keeps the conversion defined; p = 1 is asked for on its own.
  tpt_v level = tpt_min(g, tpt_mul_f64(g, p, 4294967296.0), tpt_like(g, p, 4294967040.0));
  tpt_v keep = tpt_ge(g, bits, tpt_hlo_convert(g, level, TPT_U32));
  return tpt_and(g, keep, tpt_lt(g, p, tpt_like(g, p, 1)));
}

tpt_v tpt_dropout_scale(tpt_graph_t* g, tpt_v p) {
  tpt_v one = tpt_like(g, p, 1);
  return tpt_div(g, one, tpt_sub(g, one, p));
}

tpt_status_t lower_dropout(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  if (!tpt_dtype_is_float(type.dtype) && !tpt_dtype_is_complex(type.dtype))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "result type Float can't be cast to the desired output type %s",
             tpt_dtype_row(type.dtype)->name);
  bool trains = !tpt_lower_has(l, 2) || tpt_lower_bool(l, 2);
  if (!trains) {
    TPT_TRY(tpt_lower_result(l, x));
    tpt_type_t mask = tpt_type_make(TPT_PRED, type.rank, type.dims);
    return tpt_lower_result(l, tpt_hlo_splat_i64(g, &mask, 1));
  }
  tpt_dtype_t compute = tpt_dtype_compute(type.dtype);
  tpt_dtype_t real = tpt_dtype_real(compute);
  tpt_v bits = tpt_lower_random_bits(l, type.rank, type.dims);
  tpt_v mask = tpt_dropout_keep(g, bits, tpt_lower_scalar(l, 1, TPT_F32));
  tpt_v scale = tpt_dropout_scale(g, tpt_lower_scalar(l, 1, real));
  tpt_v y = tpt_mul(g, tpt_hlo_convert(g, x, compute), tpt_hlo_convert(g, scale, compute));
  y = tpt_select(g, mask, y, tpt_like(g, y, 0));
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, y, type.dtype)));
  return tpt_lower_result(l, mask);
}

// grad * mask * scale, in the dtype that those products have.
tpt_status_t lower_dropout_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_call_dtype(l, (int[]){0, 1}, 2);
  if (dtype == TPT_DTYPE_INVALID)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "native_dropout_backward: %s and %s have no common type",
             tpt_dtype_row(tpt_lower_tensor(l, 0)->dtype)->name,
             tpt_dtype_row(tpt_lower_tensor(l, 1)->dtype)->name);
  if (!tpt_dtype_is_float(dtype) && !tpt_dtype_is_complex(dtype)) dtype = l->default_dtype;
  tpt_v grad = tpt_operand(l, 0, dtype), mask = tpt_operand(l, 1, dtype);
  tpt_v scale = tpt_lower_scalar(l, 2, tpt_dtype_of(g, grad));
  tpt_v scaled = tpt_mul(g, tpt_binary(g, TPT_HLO_MULTIPLY, grad, mask), scale);
  return tpt_lower_result(l, tpt_hlo_convert(g, scaled, dtype));
}
