// Tables of taps and their application by one gather along a dimension
// (a slice or a repetition where the table is that regular). Missing taps are selected away,
// never multiplied by zero, so that an infinity elsewhere cannot leak in.
#include "aten/taps.h"

bool tpt_taps_init(tpt_graph_t* g, int64_t size, int64_t count, bool has_weights,
                   tpt_taps_t* out_taps) {
  tpt_arena_t* arena = tpt_graph_arena(g);
  size_t total = (size_t)size * (size_t)count;
  *out_taps = (tpt_taps_t){.size = size, .count = count};
  out_taps->index = tpt_arena_calloc(arena, total + 1, sizeof(*out_taps->index));
  if (has_weights) out_taps->weight = tpt_arena_calloc(arena, total + 1, sizeof(double));
  if (!out_taps->index || (has_weights && !out_taps->weight)) {
    tpt_graph_fail(g, tpt_arena_status(arena));
    return false;
  }
  for (size_t i = 0; i < total; i++)
    out_taps->index[i] = -1;
  return true;
}

bool tpt_taps_transpose(tpt_graph_t* g, const tpt_taps_t* taps, int64_t in_size,
                        tpt_taps_t* out_taps) {
  tpt_taps_t used;  // one tap per input element, as its counter
  if (!tpt_taps_init(g, in_size, 1, false, &used)) return false;
  int64_t most = 1;
  for (int64_t i = 0; i < taps->size * taps->count; i++) {
    if (taps->index[i] < 0) continue;
    int64_t uses = ++used.index[taps->index[i]] + 1;
    if (uses > most) most = uses;
  }
  if (!tpt_taps_init(g, in_size, most, taps->weight != NULL, out_taps)) return false;
  for (int64_t i = 0; i < in_size; i++)
    used.index[i] = 0;
  for (int64_t i = 0; i < taps->size * taps->count; i++) {
    int64_t from = taps->index[i];
    if (from < 0) continue;
    int64_t slot = from * most + used.index[from]++;
    out_taps->index[slot] = i / taps->count;
    if (taps->weight) out_taps->weight[slot] = taps->weight[i];
  }
  return true;
}

// Indexes that rise by one step: a slice.
static bool is_progression(const int64_t* index, int64_t count) {
  int64_t step = count > 1 ? index[1] - index[0] : 1;
  for (int64_t i = 1; i < count; i++)
    if (index[i] - index[i - 1] != step) return false;
  return step > 0;
}

// The factor by which a dimension of `size` is repeated element by element, or 0.
static int64_t repeat_factor(const int64_t* index, int64_t count, int64_t size) {
  if (size == 0 || count % size) return 0;
  int64_t factor = count / size;
  for (int64_t i = 0; i < count; i++)
    if (index[i] != i / factor) return 0;
  return factor;
}

static tpt_v repeat_elements(tpt_graph_t* g, tpt_v x, int dim, int64_t factor) {
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t dims[TPT_RANK_MAX + 1], where[TPT_RANK_MAX];
  for (int d = 0; d < type.rank; d++) {
    where[d] = d <= dim ? d : d + 1;
    dims[where[d]] = type.dims[d];
  }
  dims[dim + 1] = factor;
  type.dims[dim] *= factor;
  x = tpt_hlo_broadcast_in_dim(g, x, type.rank + 1, dims, where);
  return tpt_hlo_reshape(g, x, type.rank, type.dims);
}

tpt_v tpt_take(tpt_graph_t* g, tpt_v x, int dim, const int64_t* index, int64_t count) {
  tpt_type_t type = *tpt_graph_type(g, x);
  if (is_progression(index, count) && count > 0) {
    int64_t step = count > 1 ? index[1] - index[0] : 1;
    if (step == 1 && count == type.dims[dim]) return x;
    return tpt_hlo_slice_dim(g, x, dim, index[0], index[count - 1] + 1, step);
  }
  int64_t factor = repeat_factor(index, count, type.dims[dim]);
  if (factor && type.rank < TPT_RANK_MAX) return repeat_elements(g, x, dim, factor);
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  for (int d = 0; d < type.rank; d++) {
    if (d != dim) gather.offset_dims[gather.offset_count++] = d;
    gather.slice_sizes[d] = d == dim ? 1 : type.dims[d];
  }
  gather.collapsed_count = gather.map_count = 1;
  gather.collapsed_dims[0] = gather.start_index_map[0] = dim;
  gather.index_vector_dim = 1;
  return tpt_hlo_gather(g, x, tpt_constant_ints(g, index, count), &gather);
}

// An s32 or float table [size * count] laid along dimension `dim` of x.
static tpt_v lay(tpt_graph_t* g, tpt_v table, tpt_v x, int dim) {
  tpt_type_t type = *tpt_graph_type(g, x);
  return tpt_along(g, table, type.rank, type.dims, dim);
}

static bool has_gaps(const tpt_taps_t* taps) {
  for (int64_t i = 0; i < taps->size * taps->count; i++)
    if (taps->index[i] < 0) return true;
  return false;
}

tpt_v tpt_taps_gather(tpt_graph_t* g, tpt_v x, int dim, const tpt_taps_t* taps, double fill) {
  int64_t total = taps->size * taps->count;
  tpt_taps_t clamped;
  if (!tpt_taps_init(g, total, 1, false, &clamped)) return TPT_VALUE_NONE;
  for (int64_t i = 0; i < total; i++)
    clamped.index[i] = taps->index[i] < 0 ? 0 : taps->index[i];
  tpt_v taken = tpt_take(g, x, dim, clamped.index, total);
  if (!has_gaps(taps)) return taken;
  tpt_v index = tpt_constant_ints(g, taps->index, total);
  tpt_v is_there = tpt_ge(g, index, tpt_like_i64(g, index, 0));
  return tpt_select(g, lay(g, is_there, taken, dim), taken, tpt_like(g, taken, fill));
}

static tpt_v constant_weights(tpt_graph_t* g, const tpt_taps_t* taps, tpt_dtype_t dtype) {
  int64_t total = taps->size * taps->count;
  tpt_type_t type = tpt_type_make(TPT_F64, 1, &total);
  if (dtype == TPT_F64) return tpt_hlo_constant(g, &type, taps->weight);
  float* weight = tpt_arena_calloc(tpt_graph_arena(g), (size_t)total + 1, sizeof(*weight));
  if (!weight) {
    tpt_graph_fail(g, tpt_arena_status(tpt_graph_arena(g)));
    return TPT_VALUE_NONE;
  }
  for (int64_t i = 0; i < total; i++)
    weight[i] = (float)taps->weight[i];
  type.dtype = TPT_F32;
  return tpt_hlo_convert(g, tpt_hlo_constant(g, &type, weight), dtype);
}

tpt_v tpt_taps_sum(tpt_graph_t* g, tpt_v x, int dim, const tpt_taps_t* taps) {
  if (taps->size * taps->count == 0 || tpt_type_count(tpt_graph_type(g, x)) == 0) {
    tpt_type_t type = *tpt_graph_type(g, x);
    type.dims[dim] = taps->size;
    return tpt_fill(g, type.dtype, type.rank, type.dims, 0);
  }
  tpt_v taken = tpt_taps_gather(g, x, dim, taps, 0);
  tpt_type_t type = *tpt_graph_type(g, taken);
  if (taps->weight) {
    tpt_v weight = constant_weights(g, taps, type.dtype);
    taken = tpt_mul(g, taken, lay(g, weight, taken, dim));
  }
  if (taps->count == 1) return taken;
  int64_t dims[TPT_RANK_MAX + 1];
  for (int d = 0; d < type.rank; d++)
    dims[d < dim ? d : d + 1] = type.dims[d];
  dims[dim] = taps->size;
  dims[dim + 1] = taps->count;
  tpt_v split = tpt_hlo_reshape(g, taken, type.rank + 1, dims);
  return tpt_reduce_sum(g, split, (int64_t[]){dim + 1}, 1);
}
