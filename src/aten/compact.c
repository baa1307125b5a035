// Running counts in blocks: a block's counts are one product with a triangle of ones (exact: at most
// BLOCK), its total is carried into the later ones. Places by one scatter, unset flags going nowhere.
#include "aten/compact.h"

#include "aten/array.h"

enum { BLOCK = 128, SHORT = 512 };

// Running sums along dimension `dim`, log2(size) whole-array steps.
static tpt_v doubling_sum(tpt_graph_t* g, tpt_v x, int dim) {
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_v zero = tpt_hlo_scalar_i64(g, type.dtype, 0);
  for (int64_t distance = 1; distance < type.dims[dim]; distance *= 2) {
    int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX] = {0};
    low[dim] = distance;
    high[dim] = -distance;
    x = tpt_add(g, x, tpt_hlo_pad(g, x, zero, low, high, interior));
  }
  return x;
}

// x (1-d) as [blocks, BLOCK], zeros at the end.
static tpt_v in_blocks(tpt_graph_t* g, tpt_v x) {
  const tpt_type_t* type = tpt_graph_type(g, x);
  int64_t size = type->dims[0], blocks = (size + BLOCK - 1) / BLOCK;
  int64_t low[1] = {0}, high[1] = {blocks * BLOCK - size}, interior[1] = {0};
  tpt_v zero = tpt_hlo_scalar_i64(g, type->dtype, 0);
  x = tpt_hlo_pad(g, x, zero, low, high, interior);
  return tpt_hlo_reshape(g, x, 2, (int64_t[]){blocks, BLOCK});
}

static tpt_v running_sum(tpt_graph_t* g, tpt_v x);

// sums: s32[blocks, BLOCK], each block's own running sums. The running sums of all, `size` of them.
static tpt_v carry(tpt_graph_t* g, tpt_v sums, int64_t size) {
  tpt_type_t type = *tpt_graph_type(g, sums);
  int64_t blocks = type.dims[0], total = blocks * BLOCK;
  tpt_v totals = tpt_flatten(g, tpt_hlo_slice_dim(g, sums, 1, BLOCK - 1, BLOCK, 1));
  tpt_v before = tpt_sub(g, running_sum(g, totals), totals);
  sums = tpt_add(g, sums, tpt_along(g, before, 2, type.dims, 0));
  return tpt_hlo_slice_dim(g, tpt_hlo_reshape(g, sums, 1, &total), 0, 0, size, 1);
}

static tpt_v running_sum(tpt_graph_t* g, tpt_v x) {
  int64_t size = tpt_graph_type(g, x)->dims[0];
  if (size <= SHORT) return doubling_sum(g, x, 0);
  return carry(g, doubling_sum(g, in_blocks(g, x), 1), size);
}

tpt_v tpt_running_count(tpt_graph_t* g, tpt_v flags) {
  int64_t size = tpt_graph_type(g, flags)->dims[0];
  if (size <= SHORT) return doubling_sum(g, tpt_hlo_convert(g, flags, TPT_S32), 0);
  tpt_v x = in_blocks(g, tpt_hlo_convert(g, flags, TPT_F32));
  tpt_type_t square = tpt_type_make(TPT_S32, 2, (int64_t[]){BLOCK, BLOCK});
  tpt_v up = tpt_le(g, tpt_hlo_iota(g, &square, 0), tpt_hlo_iota(g, &square, 1));
  tpt_dot_t dot;
  memset(&dot, 0, sizeof(dot));
  dot.contract_count = 1;
  dot.lhs_contract[0] = 1;
  tpt_v counts = tpt_hlo_dot_general(g, x, tpt_hlo_convert(g, up, TPT_F32), &dot);
  return carry(g, tpt_hlo_convert(g, counts, TPT_S32), size);
}

tpt_v tpt_set_places(tpt_graph_t* g, tpt_v flags, tpt_v counts, int64_t size, tpt_v fill) {
  tpt_type_t type = *tpt_graph_type(g, counts);
  tpt_v slot = tpt_sub(g, counts, tpt_like_i64(g, counts, 1));
  slot = tpt_select(g, flags, slot, tpt_like_i64(g, slot, size));  // nowhere
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  scatter.inserted_count = scatter.map_count = 1;
  scatter.index_vector_dim = 1;
  tpt_v places = tpt_hlo_broadcast_to(g, fill, 1, &size);
  return tpt_hlo_scatter(g, places, slot, tpt_hlo_iota(g, &type, 0), &scatter, TPT_HLO_COUNT);
}

tpt_v tpt_take_rows(tpt_graph_t* g, tpt_v x, tpt_v places) {
  tpt_type_t type = *tpt_graph_type(g, x), at = *tpt_graph_type(g, places);
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  for (int d = 0; d < type.rank; d++) {
    gather.slice_sizes[d] = d ? type.dims[d] : 1;
    if (d) gather.offset_dims[gather.offset_count++] = at.rank + d - 1;
  }
  gather.collapsed_count = gather.map_count = 1;
  gather.index_vector_dim = at.rank;
  return tpt_hlo_gather(g, x, places, &gather);
}

tpt_v tpt_last(tpt_graph_t* g, tpt_v x) {
  int64_t size = tpt_graph_type(g, x)->dims[0];
  return tpt_hlo_reshape(g, tpt_hlo_slice_dim(g, x, 0, size - 1, size, 1), 0, NULL);
}
