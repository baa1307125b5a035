// Rows of a table looked up by index, the gradient summed back into the table, and dropout.
#include "aten/array.h"
#include "aten/rows.h"

static tpt_status_t read_indices(tpt_lower_t* l, int arg, tpt_v* out) {
  *out = tpt_lower_value(l, arg);
  tpt_dtype_t dtype = tpt_dtype_of(l->graph, *out);
  if (dtype == TPT_S32 || dtype == TPT_S64) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "Expected tensor for argument '%s' to have one of the following scalar types: Long, Int; "
           "but got %s instead",
           tpt_op_schema(l->op)->args[arg].name, tpt_dtype_row(dtype)->name);
}

tpt_status_t lower_embedding(tpt_lower_t* l) {
  tpt_v table = tpt_lower_value(l, 0), indices;
  TPT_TRY(read_indices(l, 1, &indices));
  tpt_type_t type = *tpt_graph_type(l->graph, table);
  const tpt_type_t* places = tpt_graph_type(l->graph, indices);
  if (type.rank != 2) TPT_FAIL(TPT_INVALID_ARGUMENT, "'weight' must be 2-D");
  if (places->rank + 1 > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "more than %d dimensions", TPT_RANK_MAX);
  tpt_type_t out = tpt_type_make(type.dtype, places->rank, places->dims);
  out.dims[out.rank++] = type.dims[1];
  if (tpt_type_count(&out) == 0 && tpt_type_count(places) == 0)
    return tpt_lower_result(l, tpt_fill(l->graph, out.dtype, out.rank, out.dims, 0));
  if (type.dims[0] == 0) TPT_FAIL(TPT_OUT_OF_RANGE, "index out of range in self");
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  gather.offset_count = gather.collapsed_count = gather.map_count = 1;
  gather.offset_dims[0] = gather.index_vector_dim = places->rank;
  gather.slice_sizes[0] = 1;
  gather.slice_sizes[1] = type.dims[1];
  gather.check = "index out of range in self (embedding)";
  return tpt_lower_result(l, tpt_hlo_gather(l->graph, table, indices, &gather));
}

// Adds rows [n, width] (width < 0: numbers [n]) into a zeroed table of `size` entries.
static tpt_v add_rows(tpt_graph_t* g, int64_t size, int64_t width, tpt_v indices, tpt_v rows) {
  int64_t dims[2] = {size, width};
  tpt_v zero = tpt_fill(g, tpt_dtype_of(g, rows), width < 0 ? 1 : 2, dims, 0);
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  if (width >= 0) {
    scatter.update_window_count = 1;
    scatter.update_window_dims[0] = 1;
  }
  scatter.inserted_count = scatter.map_count = 1;
  scatter.index_vector_dim = 1;
  return tpt_hlo_scatter(g, zero, indices, rows, &scatter, TPT_HLO_ADD);
}

// grad_output, indices, num_weights, padding_idx, scale_grad_by_freq.
tpt_status_t lower_embedding_dense_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v indices;
  TPT_TRY(read_indices(l, 1, &indices));
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 0));
  int64_t size = tpt_lower_int(l, 2), padding = tpt_lower_int(l, 3);
  indices = tpt_flatten(g, indices);
  int64_t dims[2] = {tpt_graph_type(g, indices)->dims[0], 1};
  if (type.rank > 0) dims[1] = type.dims[type.rank - 1];
  if (size < 0 || dims[0] * dims[1] != tpt_type_count(&type))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "grad_output must hold one row for each index");
  tpt_dtype_t compute = tpt_dtype_compute(type.dtype);
  tpt_v rows = tpt_hlo_reshape(g, tpt_lower_value_as(l, 0, compute), 2, dims);
  int64_t shape[2] = {size, dims[1]};
  if (dims[0] == 0 || size == 0 || dims[1] == 0)
    return tpt_lower_result(l, tpt_fill(g, type.dtype, 2, shape, 0));
  if (padding >= 0) {  // a place past the table is dropped
    tpt_v is_padding = tpt_eq(g, indices, tpt_like_i64(g, indices, padding));
    indices = tpt_select(g, is_padding, tpt_like_i64(g, indices, size), indices);
  }
  tpt_v sum = add_rows(g, size, dims[1], indices, rows);
  if (tpt_lower_bool(l, 4)) {  // the mean over an entry's uses
    tpt_v uses = add_rows(g, size, -1, indices, tpt_fill(g, compute, 1, dims, 1));
    uses = tpt_max(g, uses, tpt_like(g, uses, 1));
    sum = tpt_div(g, sum, tpt_along(g, uses, 2, shape, 0));
  }
  return tpt_lower_result(l, tpt_hlo_convert(g, sum, type.dtype));
}

// --- dropout -----------------------------------------------------------------------------------------------

tpt_status_t check_dropout(tpt_lower_t* l) {
  double p = l->args[1].number.f;
  if (p >= 0 && p <= 1) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "dropout probability has to be between 0 and 1, but got %g", p);
}

// Keeps an element when its 32 random bits reach p * 2^32; p = 1 keeps none.
static tpt_v keep_mask(tpt_lower_t* l, tpt_v x, tpt_v p) {
  tpt_graph_t* g = l->graph;
  const tpt_type_t* type = tpt_graph_type(g, x);
  tpt_v bits = tpt_lower_random_bits(l, type->rank, type->dims);
  // The largest f32 below 2^32 keeps the conversion defined; p = 1 is asked for on its own.
  tpt_v level = tpt_min(g, tpt_mul_f64(g, p, 4294967296.0), tpt_like(g, p, 4294967040.0));
  tpt_v keep = tpt_ge(g, bits, tpt_hlo_convert(g, level, TPT_U32));
  return tpt_and(g, keep, tpt_lt(g, p, tpt_like(g, p, 1)));
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
  tpt_v mask = keep_mask(l, x, tpt_lower_scalar(l, 1, TPT_F32));
  tpt_v p = tpt_lower_scalar(l, 1, real);
  tpt_v scale = tpt_div(g, tpt_like(g, p, 1), tpt_sub(g, tpt_like(g, p, 1), p));
  tpt_v y = tpt_mul(g, tpt_hlo_convert(g, x, compute), tpt_hlo_convert(g, scale, compute));
  y = tpt_select(g, mask, y, tpt_like(g, y, 0));
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, y, type.dtype)));
  return tpt_lower_result(l, mask);
}

tpt_status_t lower_dropout_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_dtype_of(g, tpt_lower_value(l, 0));
  tpt_v grad = tpt_operand(l, 0, dtype);
  tpt_v mask = tpt_truth(g, tpt_lower_value(l, 1));
  tpt_v scaled = tpt_mul(g, grad, tpt_lower_scalar(l, 2, tpt_dtype_of(g, grad)));
  scaled = tpt_select(g, mask, scaled, tpt_like(g, scaled, 0));
  return tpt_lower_result(l, tpt_hlo_convert(g, scaled, dtype));
}
