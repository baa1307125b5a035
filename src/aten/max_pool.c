// Max pools. The running maximum walks the window's places one strided slice at a time and carries the
// place of the best so far as an offset from the window's start; small windows in one pass over all
// dimensions, large ones dimension by dimension, last first, which costs k + k instead of k * k.
// Ties keep the first place in row-major order; a NaN beats everything before it, as on the CPU.
#include <math.h>

#include "aten/memory_format.h"
#include "aten/pool.h"
#include "aten/rows.h"

enum { ONE_PASS_MAX = 16 };  // window places taken in one pass

typedef struct best {
  tpt_v value;
  tpt_v offset;  // s32; NONE while it is zero everywhere
} best_t;

// Elements of one step along dimension i inside a plane of the input.
static int64_t plane_step(const tpt_pool_t* p, int i) {
  int64_t step = 1;
  for (int d = i + 1; d < p->count; d++)
    step *= p->in[d];
  return step;
}

// A table over dimension i's output, laid over an array.
static tpt_v lay_table(tpt_graph_t* g, const tpt_pool_t* p, int i, const int64_t* table,
                       const tpt_type_t* type) {
  return tpt_along(g, tpt_constant_ints(g, table, p->out[i]), type->rank, type->dims, p->first + i);
}

static int64_t* alloc_table(tpt_graph_t* g, int64_t size) {
  int64_t* table = tpt_arena_calloc(tpt_graph_arena(g), (size_t)size + 1, sizeof(*table));
  if (!table) tpt_graph_fail(g, tpt_arena_status(tpt_graph_arena(g)));
  return table;
}

// Offset of each window's first place inside the input, over the dimensions in `mask`: the answer when
// nothing in a window beats minus infinity.
static tpt_v first_offset(tpt_graph_t* g, const tpt_pool_t* p, unsigned mask,
                          const tpt_type_t* type) {
  tpt_v sum = TPT_VALUE_NONE;
  for (int i = 0; i < p->count; i++) {
    if (!(mask >> i & 1) || p->pad[i] == 0) continue;
    int64_t* table = alloc_table(g, p->out[i]);
    if (!table) return TPT_VALUE_NONE;
    for (int64_t o = 0; o < p->out[i]; o++) {
      int64_t outside = p->pad[i] - o * p->stride[i];
      int64_t skipped = outside > 0 ? (outside + p->dilation[i] - 1) / p->dilation[i] : 0;
      table[o] = skipped * p->dilation[i] * plane_step(p, i);
    }
    tpt_v laid = lay_table(g, p, i, table, type);
    sum = tpt_value_is_none(sum) ? laid : tpt_add(g, sum, laid);
  }
  return sum;
}

// The elements at place `at` of every window, over the dimensions in `mask`.
static tpt_v slice_place(tpt_graph_t* g, const tpt_pool_t* p, unsigned mask, const int64_t* at,
                         tpt_v x) {
  if (tpt_value_is_none(x)) return x;
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t start[TPT_RANK_MAX] = {0}, step[TPT_RANK_MAX];
  for (int d = 0; d < type.rank; d++)
    step[d] = 1;
  for (int i = 0; i < p->count; i++) {
    if (!(mask >> i & 1)) continue;
    int d = p->first + i;
    start[d] = at[i] * p->dilation[i];
    step[d] = p->stride[i];
    type.dims[d] = start[d] + (p->out[i] - 1) * p->stride[i] + 1;
  }
  return tpt_hlo_slice(g, x, start, type.dims, step);
}

static tpt_v add_offset(tpt_graph_t* g, tpt_v offset, int64_t more, const tpt_type_t* type) {
  tpt_type_t s32 = tpt_type_make(TPT_S32, type->rank, type->dims);
  tpt_v constant = tpt_hlo_splat_i64(g, &s32, more);
  if (tpt_value_is_none(offset)) return constant;
  return more == 0 ? offset : tpt_add(g, offset, constant);
}

// Next place of the window in row-major order; false after the last.
static bool next_place(const tpt_pool_t* p, unsigned mask, int64_t* at) {
  for (int i = p->count - 1; i >= 0; i--) {
    if (!(mask >> i & 1)) continue;
    if (++at[i] < p->kernel[i]) return true;
    at[i] = 0;
  }
  return false;
}

// Reduces the windows over the dimensions in `mask`.
static best_t reduce_places(tpt_graph_t* g, const tpt_pool_t* p, unsigned mask, best_t x) {
  int64_t at[TPT_POOL_MAX] = {0};
  best_t best = {slice_place(g, p, mask, at, x.value), slice_place(g, p, mask, at, x.offset)};
  tpt_type_t type = *tpt_graph_type(g, best.value);
  bool is_float = tpt_dtype_is_float(type.dtype);
  tpt_v first = first_offset(g, p, mask, &type);
  if (!tpt_value_is_none(first))
    best.offset = tpt_value_is_none(best.offset) ? first : tpt_add(g, best.offset, first);
  while (next_place(p, mask, at)) {
    tpt_v value = slice_place(g, p, mask, at, x.value);
    tpt_v wins = tpt_gt(g, value, best.value);
    if (is_float) wins = tpt_or(g, wins, tpt_isnan(g, value));
    int64_t more = 0;
    for (int i = 0; i < p->count; i++)
      more += at[i] * p->dilation[i] * plane_step(p, i);
    tpt_v offset = add_offset(g, slice_place(g, p, mask, at, x.offset), more, &type);
    best.offset = tpt_select(g, wins, offset, add_offset(g, best.offset, 0, &type));
    best.value = tpt_select(g, wins, value, best.value);
  }
  return best;
}

static best_t reduce_windows(tpt_graph_t* g, const tpt_pool_t* p, tpt_v x) {
  int64_t places = 1;
  for (int i = 0; i < p->count; i++)
    places *= p->kernel[i];
  unsigned all = (1u << p->count) - 1;
  best_t best = {x, TPT_VALUE_NONE};
  if (places <= ONE_PASS_MAX) {
    best = reduce_places(g, p, all, best);
  } else {
    for (int i = p->count - 1; i >= 0; i--)
      best = reduce_places(g, p, 1u << i, best);
  }
  tpt_type_t type = *tpt_graph_type(g, best.value);
  best.offset = add_offset(g, best.offset, 0, &type);
  return best;
}

// Adds the windows' starts, given by start[i][o], to the offsets.
static tpt_v plane_index(tpt_graph_t* g, const tpt_pool_t* p, int64_t* const* start, tpt_v offset) {
  tpt_type_t type = *tpt_graph_type(g, offset);
  for (int i = 0; i < p->count; i++) {
    for (int64_t o = 0; o < p->out[i]; o++)
      start[i][o] *= plane_step(p, i);
    offset = tpt_add(g, offset, lay_table(g, p, i, start[i], &type));
  }
  return tpt_hlo_convert(g, offset, TPT_S64);
}

// Adaptive pools of three dimensions do not keep channels last on the CPU.
static bool keeps_channels_last(const tpt_lower_t* l, int arg, bool is_adaptive) {
  return !(is_adaptive && l->op->params.mode == 3) && tpt_lower_is_channels_last(l, arg);
}

static tpt_status_t give_pool(tpt_lower_t* l, const tpt_pool_t* p, int64_t* const* start, tpt_v x,
                              bool is_adaptive) {
  bool channels_last = keeps_channels_last(l, 0, is_adaptive);
  best_t best = reduce_windows(l->graph, p, x);
  TPT_TRY(tpt_lower_result_format(l, best.value, channels_last));
  return tpt_lower_result_format(l, plane_index(l->graph, p, start, best.offset), channels_last);
}

static tpt_status_t check_plane(const tpt_pool_t* p) {
  if (p->in[0] * plane_step(p, 0) <= INT32_MAX) return NULL;
  TPT_FAIL(TPT_UNIMPLEMENTED, "a plane of more than %d elements in a max pool", INT32_MAX);
}

// Results without elements: the loops above want at least one window.
static tpt_status_t give_empty(tpt_lower_t* l, const tpt_type_t* type) {
  bool channels_last = tpt_lower_is_channels_last(l, 0);
  TPT_TRY(tpt_lower_result_format(l, tpt_fill(l->graph, type->dtype, type->rank, type->dims, 0),
                                  channels_last));
  return tpt_lower_result_format(l, tpt_fill(l->graph, TPT_S64, type->rank, type->dims, 0),
                                 channels_last);
}

tpt_status_t lower_max_pool(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_pool_t p;
  TPT_TRY(tpt_pool_read(l, &type, &(tpt_pool_args_t){1, 4, 5}, &p));
  TPT_TRY(check_plane(&p));
  tpt_type_t out = tpt_pool_output(&p, &type);
  if (tpt_type_count(&out) == 0) return give_empty(l, &out);
  int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, none[TPT_RANK_MAX] = {0};
  int64_t* start[TPT_POOL_MAX];
  bool is_padded = false;
  for (int i = 0; i < p.count; i++) {
    int64_t reach = (p.out[i] - 1) * p.stride[i] + p.dilation[i] * (p.kernel[i] - 1) + 1;
    int64_t missing = reach - p.in[i] - p.pad[i];
    low[p.first + i] = p.pad[i];
    high[p.first + i] = missing > 0 ? missing : 0;
    is_padded |= p.pad[i] > 0 || missing > 0;
    start[i] = alloc_table(g, p.out[i]);
    if (!start[i]) return tpt_graph_status(g);
    for (int64_t o = 0; o < p.out[i]; o++)
      start[i][o] = o * p.stride[i] - p.pad[i];
  }
  if (is_padded) x = tpt_hlo_pad(g, x, tpt_lowest(g, type.dtype), low, high, none);
  return give_pool(l, &p, start, x, false);
}

tpt_status_t lower_adaptive_max_pool(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_pool_t p;
  TPT_TRY(tpt_pool_read_adaptive(l, &type, 1, NULL, &p));
  TPT_TRY(check_plane(&p));
  tpt_type_t out = tpt_pool_output(&p, &type);
  if (tpt_type_count(&out) == 0) return give_empty(l, &out);
  int64_t* start[TPT_POOL_MAX];
  for (int i = 0; i < p.count; i++) {
    start[i] = alloc_table(g, p.out[i]);
    if (!start[i]) return tpt_graph_status(g);
    for (int64_t o = 0; o < p.out[i]; o++)
      start[i][o] = tpt_pool_start(&p, i, o);
    tpt_taps_t taps;
    if (tpt_pool_is_even(&p, i)) continue;
    if (!tpt_pool_taps(g, &p, i, &taps)) return tpt_graph_status(g);
    x = tpt_taps_gather(g, x, p.first + i, &taps, -INFINITY);
  }
  return give_pool(l, &p, start, x, true);
}

// --- backward --------------------------------------------------------------------------------------------

// Sums the gradients into the places their indexes name, plane by plane.
static tpt_v scatter_planes(tpt_graph_t* g, const tpt_pool_t* p, tpt_v grad, tpt_v index,
                            const tpt_type_t* to) {
  tpt_type_t from = *tpt_graph_type(g, grad);
  int64_t plane = p->in[0] * plane_step(p, 0), total = tpt_type_count(to);
  int64_t windows = 1;
  for (int i = 0; i < p->count; i++)
    windows *= p->out[i];
  int64_t shape[2] = {plane ? total / plane : 0, windows};
  tpt_dtype_t kind = total <= INT32_MAX ? TPT_S32 : TPT_S64;
  tpt_type_t planes = tpt_type_make(kind, 1, shape);
  tpt_v base = tpt_mul(g, tpt_hlo_iota(g, &planes, 0), tpt_hlo_scalar_i64(g, kind, plane));
  index = tpt_hlo_reshape(g, tpt_hlo_convert(g, index, kind), 2, shape);
  index = tpt_flatten(g, tpt_add(g, index, tpt_along(g, base, 2, shape, 0)));
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  scatter.inserted_count = scatter.map_count = 1;
  scatter.index_vector_dim = 1;
  tpt_v sum = tpt_hlo_scatter(g, tpt_fill(g, from.dtype, 1, &total, 0), index, tpt_flatten(g, grad),
                              &scatter, TPT_HLO_ADD);
  return tpt_hlo_reshape(g, sum, to->rank, to->dims);
}

// Dimensions of x with each spatial one followed by its tile: [..., out, kernel, out, kernel]; where
// x's own dimensions stand among them.
static int split_tiles(const tpt_pool_t* p, const tpt_type_t* x, int64_t* dims, int64_t* where) {
  int rank = 0;
  for (int d = 0; d < x->rank; d++) {
    where[d] = rank;
    dims[rank++] = x->dims[d];
    if (d >= p->first) dims[rank++] = p->kernel[d - p->first];
  }
  return rank;
}

// Flat place in the input's plane of every element of the tiles, as s32 [out, kernel, out, kernel].
static tpt_v tile_places(tpt_graph_t* g, const tpt_pool_t* p, int rank, const int64_t* dims) {
  tpt_type_t type = tpt_type_make(TPT_S32, rank - p->first, dims + p->first);
  tpt_v sum = tpt_hlo_splat_i64(g, &type, 0);
  for (int i = 0; i < p->count; i++) {
    tpt_v block = tpt_mul_f64(g, tpt_hlo_iota(g, &type, 2 * i), (double)p->kernel[i]);
    tpt_v row = tpt_add(g, block, tpt_hlo_iota(g, &type, 2 * i + 1));
    sum = tpt_add(g, sum, tpt_mul_f64(g, row, (double)plane_step(p, i)));
  }
  return sum;
}

// Cuts or zero-fills dimension by dimension to the input's sizes.
static tpt_v fit_input(tpt_graph_t* g, const tpt_pool_t* p, tpt_v x, const tpt_type_t* to) {
  int64_t none[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0};
  tpt_type_t type = *tpt_graph_type(g, x);
  bool is_same = true;
  for (int i = 0; i < p->count; i++) {
    high[p->first + i] = to->dims[p->first + i] - type.dims[p->first + i];
    is_same &= high[p->first + i] == 0;
  }
  return is_same ? x : tpt_hlo_pad(g, x, tpt_hlo_scalar_i64(g, type.dtype, 0), none, high, none);
}

// Windows that tile the input: every element asks whether its window named it.
static tpt_v select_tiles(tpt_graph_t* g, const tpt_pool_t* p, tpt_v grad, tpt_v index,
                          const tpt_type_t* to) {
  tpt_type_t type = *tpt_graph_type(g, grad);
  int64_t dims[2 * TPT_RANK_MAX], where[TPT_RANK_MAX], joined[TPT_RANK_MAX], space[TPT_RANK_MAX];
  int rank = split_tiles(p, &type, dims, where);
  index = tpt_hlo_broadcast_in_dim(g, tpt_hlo_convert(g, index, TPT_S32), rank, dims, where);
  grad = tpt_hlo_broadcast_in_dim(g, grad, rank, dims, where);
  for (int d = p->first; d < rank; d++)
    space[d - p->first] = d;
  tpt_v places = tpt_hlo_broadcast_in_dim(g, tile_places(g, p, rank, dims), rank, dims, space);
  tpt_v x = tpt_select(g, tpt_eq(g, index, places), grad, tpt_like(g, grad, 0));
  for (int d = 0; d < type.rank; d++)
    joined[d] = d < p->first ? type.dims[d] : type.dims[d] * p->kernel[d - p->first];
  return fit_input(g, p, tpt_hlo_reshape(g, x, type.rank, joined), to);
}

static tpt_status_t give_backward(tpt_lower_t* l, const tpt_pool_t* p, int index_arg,
                                  bool is_adaptive) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 1));
  tpt_v grad = tpt_lower_value_as(l, 0, tpt_dtype_compute(type.dtype));
  tpt_v index = tpt_lower_value(l, index_arg);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t out = tpt_pool_output(p, &type);
  if (!tpt_dims_equal(tpt_graph_type(g, grad), &out) ||
      !tpt_dims_equal(tpt_graph_type(g, index), &out))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "grad_output and indices must have the pool's output sizes");
  bool tiles = true;
  for (int i = 0; i < p->count; i++)
    tiles = tiles && tpt_pool_tiles(p, i) && p->out[i] > 0;
  tpt_v sum;
  if (tpt_type_count(&type) == 0 || tpt_type_count(&out) == 0)
    sum = tpt_fill(g, type.dtype, type.rank, type.dims, 0);
  else if (tiles)
    sum = select_tiles(g, p, grad, index, &type);
  else
    sum = scatter_planes(g, p, grad, index, &type);
  return tpt_lower_result_format(l, tpt_hlo_convert(g, sum, type.dtype),
                                 keeps_channels_last(l, 1, is_adaptive));
}

tpt_status_t lower_max_pool_backward(tpt_lower_t* l) {
  tpt_pool_t p;
  tpt_type_t type = *tpt_graph_type(l->graph, tpt_lower_value(l, 1));
  TPT_TRY(tpt_pool_read(l, &type, &(tpt_pool_args_t){2, 5, 6}, &p));
  TPT_TRY(check_plane(&p));
  return give_backward(l, &p, 7, false);
}

tpt_status_t lower_adaptive_max_pool_backward(tpt_lower_t* l) {
  tpt_pool_t p;
  tpt_type_t type = *tpt_graph_type(l->graph, tpt_lower_value(l, 1));
  tpt_type_t out = *tpt_graph_type(l->graph, tpt_lower_value(l, 0));
  TPT_TRY(tpt_pool_read_adaptive(l, &type, -1, &out, &p));
  TPT_TRY(check_plane(&p));
  for (int i = 0; i < p.count; i++)
    if (!tpt_pool_is_even(&p, i)) p.pad[i] = 1;  // not tiles
  return give_backward(l, &p, 2, true);
}
