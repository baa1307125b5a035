// Owns the solving of windows: which box, range or index set of a home a tensor is. Must not build
// graphs. Invariant: a solution never reads or writes an element outside the storage, because the
// offset is checked against the span before any start is made (a run-time slice clamps silently).
#include "eager/window.h"

#include "aten/memory_format.h"
#include "base/allocator.h"
#include "base/hash.h"
#include "eager/stride_order.h"

// --- grids -------------------------------------------------------------------------------------------

// A grid while it is made: cuts are strides, smallest first; cuts[count] closes the last interval.
typedef struct cuts {
  int count;
  int64_t at[TPT_RANK_MAX + 1];
  int8_t source[TPT_RANK_MAX];
  int64_t taken[TPT_RANK_MAX];
  int64_t step[TPT_RANK_MAX];
} cuts_t;

static void cuts_from_dims(cuts_t* cuts, const tpt_type_t* cells) {
  int64_t stride = 1;
  cuts->count = 0;
  for (int i = cells->rank - 1; i >= 0; i--) {
    if (cells->dims[i] == 1) continue;
    cuts->at[cuts->count] = stride;
    cuts->source[cuts->count] = -1;
    cuts->taken[cuts->count] = cuts->step[cuts->count] = 1;
    cuts->count++;
    stride *= cells->dims[i];
  }
  cuts->at[cuts->count] = stride;
}

static int64_t interval(const cuts_t* cuts, int i) {
  return cuts->at[i + 1] / cuts->at[i];
}

static void remove_cut(cuts_t* cuts, int i) {
  for (int j = i; j < cuts->count; j++)
    cuts->at[j] = cuts->at[j + 1];
  for (int j = i; j + 1 < cuts->count; j++) {
    cuts->source[j] = cuts->source[j + 1];
    cuts->taken[j] = cuts->taken[j + 1];
    cuts->step[j] = cuts->step[j + 1];
  }
  cuts->count--;
}

// Splits interval i at `stride`; false when that does not divide it or there is no room.
static bool insert_cut(cuts_t* cuts, int i, int64_t stride) {
  if (cuts->count >= TPT_RANK_MAX || stride % cuts->at[i] != 0 || cuts->at[i + 1] % stride != 0)
    return false;
  for (int j = cuts->count; j > i; j--) {
    cuts->at[j + 1] = cuts->at[j];
    if (j < cuts->count) {
      cuts->source[j + 1] = cuts->source[j];
      cuts->taken[j + 1] = cuts->taken[j];
      cuts->step[j + 1] = cuts->step[j];
    }
  }
  cuts->at[i + 1] = stride;
  cuts->source[i + 1] = -1;
  cuts->taken[i + 1] = cuts->step[i + 1] = 1;
  cuts->count++;
  return true;
}

// Gives window dimension `dim` an interval of its own; smaller strides have theirs already.
static bool place_dim(cuts_t* cuts, int dim, int64_t size, int64_t stride) {
  int i = 0;
  while (i + 1 < cuts->count && cuts->at[i + 1] <= stride)
    i++;
  if (cuts->count == 0 || stride >= cuts->at[cuts->count]) return false;
  if (cuts->source[i] >= 0) {
    int64_t step = stride / cuts->at[i];
    if ((cuts->taken[i] - 1) * cuts->step[i] >= step || !insert_cut(cuts, i, stride)) return false;
    i++;
  }
  if (stride % cuts->at[i] != 0) return false;
  int64_t step = stride / cuts->at[i];
  while ((size - 1) * step >= interval(cuts, i)) {
    if (i + 1 >= cuts->count || cuts->source[i + 1] >= 0) return false;
    remove_cut(cuts, i + 1);
  }
  cuts->source[i] = (int8_t)dim;
  cuts->taken[i] = size;
  cuts->step[i] = step;
  return true;
}

static void grid_from_cuts(tpt_grid_t* grid, const cuts_t* cuts) {
  grid->rank = cuts->count;
  for (int i = 0; i < cuts->count; i++) {
    int k = cuts->count - 1 - i;
    grid->dims[k] = interval(cuts, i);
    grid->counts[k] = cuts->taken[i];
    grid->steps[k] = cuts->step[i];
    grid->source[k] = cuts->source[i];
  }
}

// The home's own dimensions as far as possible: merged where a window dimension runs across them,
// split where two window dimensions share one.
static void solve_box(tpt_window_t* w, const tpt_order_t* order) {
  cuts_t cuts;
  cuts_from_dims(&cuts, &w->cells);
  for (int i = order->core_count - 1; i >= 0; i--) {
    int dim = order->core[i];
    if (i > 0 && w->strides[order->core[i - 1]] == w->strides[dim]) return;
    if (!place_dim(&cuts, dim, w->type.dims[dim], w->strides[dim])) return;
  }
  grid_from_cuts(&w->box, &cuts);
  w->has_box = true;
}

// One range of the flat home whose inside is a grid cut at the window's own strides.
static void solve_flat(tpt_window_t* w, const tpt_order_t* order) {
  if (order->core_count == 0 || order->core_count >= TPT_RANK_MAX) return;
  tpt_grid_t* grid = &w->flat;
  grid->rank = order->core_count + 1;
  for (int i = 0; i < order->core_count; i++) {
    int dim = order->core[i];
    int64_t stride = w->strides[dim], above = i ? w->strides[order->core[i - 1]] : 0;
    grid->counts[i] = w->type.dims[dim];
    grid->steps[i] = 1;
    grid->source[i] = (int8_t)dim;
    if (i == 0) {
      grid->dims[0] = w->type.dims[dim];
      continue;
    }
    if (above % stride != 0 || (w->type.dims[dim] - 1) * stride >= above) return;
    grid->dims[i] = above / stride;
  }
  int last = order->core_count;
  grid->dims[last] = w->strides[order->core[last - 1]];
  grid->counts[last] = grid->steps[last] = 1;
  grid->source[last] = -1;
  w->has_flat = true;
}

// --- making --------------------------------------------------------------------------------------------

static void set_cells(tpt_window_t* w) {
  const tpt_type_t* home = &w->home->type;
  w->cells = *home;
  w->cells.dtype = w->type.dtype;
  size_t from = tpt_dtype_size(home->dtype), to = tpt_dtype_size(w->type.dtype);
  if (home->dtype == w->type.dtype) {
    w->recast = TPT_RECAST_NONE;
  } else if (from == to) {
    w->recast = TPT_RECAST_ELEMENT;
  } else if (from > to) {
    w->recast = TPT_RECAST_NARROW;
    if (home->rank == 0) w->cells.dims[w->cells.rank++] = 1;
    w->cells.dims[w->cells.rank - 1] *= (int64_t)(from / to);
  } else {
    w->recast = TPT_RECAST_WIDE;
    int64_t ratio = (int64_t)(to / from);
    if (home->rank > 0 && home->dims[home->rank - 1] % ratio == 0) {
      w->cells.dims[home->rank - 1] /= ratio;
    } else {
      w->cells.rank = 1;
      w->cells.dims[0] = (tpt_type_count(home) + ratio - 1) / ratio;
    }
  }
}

static tpt_status_t set_span(tpt_window_t* w) {
  int64_t last = 0, count = 1;
  bool is_wrong = false, is_empty = false;
  for (int i = 0; i < w->type.rank; i++) {
    int64_t size = w->type.dims[i], reach;
    if (size < 0 || w->strides[i] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "a tensor with size %lld and stride %lld in dimension %d",
               (long long)size, (long long)w->strides[i], i);
    is_empty |= size == 0;
    is_wrong |= __builtin_mul_overflow(count, size > 1 ? size : 1, &count) ||
                __builtin_mul_overflow(size > 1 ? size - 1 : 0, w->strides[i], &reach) ||
                __builtin_add_overflow(last, reach, &last);
  }
  if (is_wrong || last == INT64_MAX || count > INT64_MAX / 16)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "a tensor's sizes and strides overflow 63 bits");
  w->span = is_empty ? 0 : last + 1;
  return NULL;
}

static tpt_status_t solve(tpt_window_t* w) {
  TPT_TRY(set_span(w));
  w->limit = (int64_t)(w->home->size / tpt_dtype_size(w->type.dtype));
  tpt_order_t order;
  tpt_order_init(&order, w->type.rank, w->type.dims, w->strides);
  w->is_expanded = order.is_expanded;
  w->is_whole = order.is_dense && order.count == w->limit && w->span > 0 &&
                w->home->size == (size_t)tpt_type_size(&w->type);
  w->is_contiguous = order.is_dense;
  for (int i = 0; i < w->type.rank; i++)
    w->is_contiguous &= order.all[i] == i;
  if (w->span == 0 || !tpt_home_is_typed(w->home)) return NULL;
  set_cells(w);
  solve_box(w, &order);
  solve_flat(w, &order);
  return NULL;
}

static uint64_t window_hash(const tpt_window_t* w) {
  size_t size = (size_t)w->type.rank * sizeof(int64_t);
  uint64_t hash = tpt_hash_bytes(w->type.dims, size, (uint64_t)w->home->id << 8 | w->type.dtype);
  return tpt_hash_bytes(w->strides, size, hash);
}

static bool window_equal(const void* item, const void* key) {
  const tpt_window_t *a = item, *b = key;
  return a->home == b->home && tpt_type_equal(&a->type, &b->type) &&
         memcmp(a->strides, b->strides, (size_t)a->type.rank * sizeof(int64_t)) == 0;
}

tpt_status_t tpt_window_get(tpt_table_t* windows, const tpt_home_t* home,
                            const tpt_tensor_t* tensor, const tpt_window_t** out_window) {
  if (tensor->rank < 0 || tensor->rank > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a tensor of %d dimensions; at most %d are supported",
             (int)tensor->rank, TPT_RANK_MAX);
  if (tpt_dtype_size(tensor->dtype) == 0)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a tensor of unknown element type %d", (int)tensor->dtype);
  tpt_window_t wanted;
  memset(&wanted, 0, sizeof(wanted));
  wanted.home = home;
  wanted.type = tpt_type_make(tensor->dtype, tensor->rank, tensor->sizes);
  tpt_strides_normalise(tensor->rank, tensor->sizes, tensor->strides,
                        tpt_tensor_is_channels_last(tensor), wanted.strides);
  uint64_t hash = window_hash(&wanted);
  tpt_window_t* window = tpt_table_find(windows, hash, window_equal, &wanted);
  if (!window) {
    TPT_TRY(solve(&wanted));
    wanted.id = (uint32_t)windows->count + 1;
    window = tpt_malloc(sizeof(*window));
    if (!window) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a window");
    *window = wanted;
    tpt_status_t status = tpt_table_add(windows, hash, window);
    if (status) {
      tpt_free(window);
      return status;
    }
  }
  *out_window = window;
  return NULL;
}

bool tpt_window_is(const tpt_window_t* window, const tpt_home_t* home, const tpt_tensor_t* tensor) {
  if (!window || window->home != home || window->type.dtype != tensor->dtype ||
      window->type.rank != tensor->rank)
    return false;
  bool has_format = tensor->rank == 4 || tensor->rank == 5;  // strides of one element count, too
  for (int i = 0; i < tensor->rank; i++) {
    int64_t size = tensor->sizes[i];
    if (window->type.dims[i] != size) return false;
    if (window->strides[i] != tensor->strides[i] && (size != 1 || has_format) && window->span != 0)
      return false;
  }
  return true;
}

// --- solving for an offset -------------------------------------------------------------------------------

static tpt_status_t out_of_storage(const tpt_window_t* w, int64_t offset) {
  char type[160];
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "%s at offset %lld reaches over %lld elements, but its storage of %zu bytes holds %lld",
           tpt_type_print(&w->type, type, sizeof(type)), (long long)offset, (long long)w->span,
           w->home->size, (long long)w->limit);
}

static bool is_partial(const tpt_grid_t* grid, int dim) {
  return (grid->counts[dim] - 1) * grid->steps[dim] + 1 < grid->dims[dim];
}

// Starts of the box at `offset`, or false when it would run over an edge of the grid.
static bool box_starts(const tpt_grid_t* grid, int64_t offset, int64_t* out_starts,
                       int* out_count) {
  int64_t at[TPT_RANK_MAX];
  for (int i = grid->rank - 1; i >= 0; i--) {
    at[i] = offset % grid->dims[i];
    offset /= grid->dims[i];
    if (at[i] + (grid->counts[i] - 1) * grid->steps[i] >= grid->dims[i]) return false;
  }
  int count = 0;
  for (int i = 0; i < grid->rank; i++) {
    if (is_partial(grid, i)) out_starts[count++] = at[i];
  }
  *out_count = count;
  return true;
}

tpt_status_t tpt_window_solve(const tpt_window_t* w, int64_t offset, int64_t* out_starts,
                              int* out_start_count, tpt_solution_t* out_solution) {
  int64_t end;
  *out_start_count = 0;
  *out_solution = TPT_SOLUTION_WHOLE;
  if (w->span == 0) return NULL;
  if (offset < 0 || __builtin_add_overflow(offset, w->span, &end) || end > w->limit)
    return out_of_storage(w, offset);
  if (w->is_whole || !tpt_home_is_typed(w->home)) return NULL;
  if (w->has_box && box_starts(&w->box, offset, out_starts, out_start_count)) {
    *out_solution = TPT_SOLUTION_BOX;
    return NULL;
  }
  *out_starts = offset;
  *out_start_count = 1;
  *out_solution = w->has_flat ? TPT_SOLUTION_FLAT : TPT_SOLUTION_GATHER;
  return NULL;
}

int tpt_window_start_count(const tpt_window_t* w, tpt_solution_t solution) {
  if (solution != TPT_SOLUTION_BOX) return solution != TPT_SOLUTION_WHOLE;
  int count = 0;
  for (int i = 0; i < w->box.rank; i++)
    count += is_partial(&w->box, i);
  return count;
}

tpt_dtype_t tpt_window_start_dtype(const tpt_window_t* w) {
  return tpt_type_count(&w->cells) <= INT32_MAX ? TPT_S32 : TPT_S64;
}

tpt_dtype_t tpt_window_cell_dtype(const tpt_window_t* w) {
  static const tpt_dtype_t kBits[] = {[1] = TPT_U8, [2] = TPT_U16, [4] = TPT_U32, [8] = TPT_U64};
  size_t size = tpt_dtype_size(w->type.dtype);
  return size < sizeof(kBits) / sizeof(*kBits) ? kBits[size] : w->type.dtype;
}
