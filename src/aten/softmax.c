// Softmax along one dimension, forward and backward; computed in f32 for f16 and bf16. A tensor without
// dimensions counts as one element.
#include "aten/array.h"
#include "aten/rows.h"

typedef struct line {
  tpt_type_t type;  // of the argument
  tpt_v x;          // in the compute type, at least one dimension
  int rank;         // of x
  int64_t dim;
} line_t;

static tpt_status_t read_line(tpt_lower_t* l, int arg, int dim_arg, tpt_dtype_t compute,
                              line_t* out) {
  out->type = *tpt_graph_type(l->graph, tpt_lower_value(l, arg));
  if (!tpt_dtype_is_float(out->type.dtype))
    TPT_FAIL(TPT_UNIMPLEMENTED, "\"softmax\" not implemented for '%s'",
             tpt_dtype_row(out->type.dtype)->name);
  int dim = 0;
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, dim_arg), out->type.rank, &dim));
  out->dim = dim;
  out->x = tpt_lower_value_as(l, arg, compute);
  out->rank = out->type.rank;
  if (out->rank == 0) {
    out->rank = 1;
    out->x = tpt_hlo_reshape(l->graph, out->x, 1, (int64_t[]){1});
  }
  return NULL;
}

static tpt_status_t give_line(tpt_lower_t* l, const line_t* line, tpt_v x, tpt_dtype_t dtype) {
  x = tpt_hlo_reshape(l->graph, x, line->type.rank, line->type.dims);
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, x, dtype));
}

// Sum or maximum along the line, kept as a dimension of size 1.
static tpt_v line_sum(tpt_graph_t* g, const line_t* line, tpt_v x) {
  return tpt_keep_dims(g, tpt_reduce_sum(g, x, &line->dim, 1), line->rank, &line->dim, 1);
}
static tpt_v line_max(tpt_graph_t* g, const line_t* line, tpt_v x) {
  return tpt_keep_dims(g, tpt_reduce_max(g, x, &line->dim, 1), line->rank, &line->dim, 1);
}

// half_to_float: the result is f32.
static tpt_dtype_t result_dtype(const tpt_lower_t* l, const line_t* line) {
  return tpt_lower_bool(l, 2) ? TPT_F32 : line->type.dtype;
}

tpt_status_t lower_softmax(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  line_t line;
  TPT_TRY(read_line(l, 0, 1, tpt_dtype_compute(tpt_dtype_of(g, tpt_lower_value(l, 0))), &line));
  tpt_v e = tpt_exp(g, tpt_sub(g, line.x, line_max(g, &line, line.x)));
  return give_line(l, &line, tpt_div(g, e, line_sum(g, &line, e)), result_dtype(l, &line));
}

tpt_status_t lower_log_softmax(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  line_t line;
  TPT_TRY(read_line(l, 0, 1, tpt_dtype_compute(tpt_dtype_of(g, tpt_lower_value(l, 0))), &line));
  tpt_v shifted = tpt_sub(g, line.x, line_max(g, &line, line.x));
  tpt_v norm = tpt_log(g, line_sum(g, &line, tpt_exp(g, shifted)));
  return give_line(l, &line, tpt_sub(g, shifted, norm), result_dtype(l, &line));
}

// Lines that are minus infinity throughout give zeros.
tpt_status_t lower_safe_softmax(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_dtype_or(l, 2, tpt_dtype_of(g, tpt_lower_value(l, 0)));
  line_t line;
  TPT_TRY(read_line(l, 0, 1, tpt_dtype_compute(dtype), &line));
  tpt_v most = line_max(g, &line, line.x);
  tpt_v is_void = tpt_eq(g, most, tpt_lowest(g, tpt_dtype_of(g, most)));
  tpt_v e = tpt_exp(g, tpt_sub(g, line.x, tpt_select(g, is_void, tpt_like(g, most, 0), most)));
  tpt_v sum = tpt_select(g, is_void, tpt_like(g, most, 1), line_sum(g, &line, e));
  return give_line(l, &line, tpt_div(g, e, sum), dtype);
}

// grad_output, output, dim, input_dtype.
static tpt_status_t read_backward(tpt_lower_t* l, line_t* grad, line_t* out) {
  tpt_dtype_t compute = tpt_dtype_compute(tpt_dtype_of(l->graph, tpt_lower_value(l, 1)));
  TPT_TRY(read_line(l, 0, 2, compute, grad));
  TPT_TRY(read_line(l, 1, 2, compute, out));
  if (!tpt_dims_equal(&grad->type, &out->type))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "grad_output and output must have the same sizes");
  return NULL;
}

tpt_status_t lower_softmax_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  line_t grad, out;
  TPT_TRY(read_backward(l, &grad, &out));
  tpt_v dot = line_sum(g, &grad, tpt_mul(g, grad.x, out.x));
  tpt_v dx = tpt_mul(g, tpt_sub(g, grad.x, dot), out.x);
  return give_line(l, &grad, dx, tpt_lower_dtype_or(l, 3, grad.type.dtype));
}

tpt_status_t lower_log_softmax_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  line_t grad, out;
  TPT_TRY(read_backward(l, &grad, &out));
  tpt_v sum = line_sum(g, &grad, grad.x);
  tpt_v dx = tpt_sub(g, grad.x, tpt_mul(g, tpt_exp(g, out.x), sum));
  return give_line(l, &grad, dx, tpt_lower_dtype_or(l, 3, grad.type.dtype));
}
