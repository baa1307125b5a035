// Rows of a table looked up by index, and the gradient summed back into the table.
#include "aten/array.h"
#include "aten/rows.h"

static tpt_status_t read_indices(tpt_lower_t* l, int arg, tpt_v* out) {
  *out = tpt_lower_value(l, arg);
  tpt_dtype_t dtype = tpt_dtype_of(l->graph, *out);
  if (dtype == TPT_S32 || dtype == TPT_S64) return NULL;
  TPT_FAIL(
      TPT_INVALID_ARGUMENT,
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

// Is there a padding index that can occur?
int64_t kind_embedding_dense_backward(const tpt_lower_t* l) {
  int64_t padding = l->args[3].number.i;
  return padding >= 0 && padding < l->args[2].number.i;
}

// grad_output, indices, num_weights, padding_idx, scale_grad_by_freq.
tpt_status_t lower_embedding_dense_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v indices;
  TPT_TRY(read_indices(l, 1, &indices));
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 0));
  int64_t size = tpt_lower_int(l, 2);
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
  if (tpt_lower_kind(l)) {  // a place past the table is dropped
    tpt_v padding = tpt_lower_scalar(l, 3, tpt_dtype_of(g, indices));
    tpt_v is_padding = tpt_eq(g, indices, padding);
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
