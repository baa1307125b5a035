// Owns writing: the home's new value once a window is replaced. Must not know storages.
// Invariant: every element outside the window keeps its bits, and the result has the home's type.
#include "eager/grid.h"
#include "eager/stride_order.h"
#include "hlo/builder.h"

// cells, update: in one dtype; cells has the dimensions of w->cells.
typedef tpt_value_t (*write_fn_t)(tpt_graph_t* g, const tpt_window_t* w,
                                  const tpt_window_update_t* write);

tpt_value_t tpt_window_to_memory(tpt_graph_t* g, const tpt_type_t* sizes, const int64_t* strides,
                                 tpt_value_t value, const tpt_type_t* dims) {
  tpt_order_t order;
  int64_t permutation[TPT_RANK_MAX];
  tpt_order_init(&order, sizes->rank, sizes->dims, strides);
  for (int i = 0; i < sizes->rank; i++)
    permutation[i] = order.all[i];
  return tpt_grid_reshape(g, tpt_grid_transpose(g, value, permutation), dims->rank, dims->dims);
}

static tpt_value_t write_whole(tpt_graph_t* g, const tpt_window_t* w,
                               const tpt_window_update_t* write) {
  return tpt_window_to_memory(g, &w->type, w->strides, write->update, &w->cells);
}

static tpt_value_t zero_of(tpt_graph_t* g, tpt_dtype_t dtype) {
  tpt_type_t type = tpt_type_scalar(dtype);
  return tpt_hlo_splat_i64(g, &type, 0);
}

// `update` spread over `dims` (interior holes, then a tail), and the old elements in the holes.
typedef struct spread {
  int rank;
  const int64_t* high;
  const int64_t* interior;
} spread_t;
static tpt_value_t merge(tpt_graph_t* g, tpt_value_t old, tpt_value_t update,
                         const spread_t* spread) {
  int64_t low[TPT_RANK_MAX] = {0};
  tpt_type_t type = *tpt_graph_type(g, update);
  tpt_type_t mask_type = tpt_type_make(TPT_PRED, type.rank, type.dims);
  tpt_value_t wide =
      tpt_hlo_pad(g, update, zero_of(g, type.dtype), low, spread->high, spread->interior);
  tpt_value_t mask = tpt_hlo_pad(g, tpt_hlo_splat_i64(g, &mask_type, 1), zero_of(g, TPT_PRED), low,
                                 spread->high, spread->interior);
  return tpt_hlo_select(g, mask, wide, old);
}

// cells: of the grid's dimensions or, where they are cut already, its extents; a start for each.
static tpt_value_t put_box(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t cells,
                           tpt_value_t update, const tpt_value_t* starts) {
  const tpt_grid_t* grid = &w->box;
  int64_t extents[TPT_RANK_MAX], high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX];
  update = tpt_grid_from_window(g, w, grid, update);
  tpt_grid_extents(grid, extents);
  if (tpt_grid_has_steps(grid)) {
    for (int i = 0; i < grid->rank; i++)
      interior[i] = grid->counts[i] > 1 ? grid->steps[i] - 1 : 0;
    tpt_value_t old = tpt_hlo_dynamic_slice(g, cells, starts, extents);
    update = merge(g, old, update, &(spread_t){grid->rank, high, interior});
  }
  return tpt_hlo_dynamic_update_slice(g, cells, update, starts);
}

static tpt_value_t write_box(tpt_graph_t* g, const tpt_window_t* w,
                             const tpt_window_update_t* write) {
  tpt_value_t starts[TPT_RANK_MAX];
  tpt_grid_starts(g, w, write->starts, starts);
  tpt_value_t cells = tpt_grid_reshape(g, write->home, w->box.rank, w->box.dims);
  return put_box(g, w, cells, write->update, starts);
}

// A box of another element width: only its part of the home is converted, there and back.
static tpt_value_t write_part(tpt_graph_t* g, const tpt_window_t* w,
                              const tpt_window_update_t* write) {
  const tpt_type_t* home = &w->home->type;
  tpt_value_t starts[TPT_RANK_MAX], inner[TPT_RANK_MAX];
  int prefix = tpt_grid_prefix(w, TPT_SOLUTION_BOX);
  tpt_grid_starts(g, w, write->starts, starts);
  for (int i = 0; i < w->box.rank; i++)
    inner[i] = i < prefix ? tpt_hlo_scalar_i64(g, tpt_window_start_dtype(w), 0) : starts[i];
  tpt_value_t part = tpt_grid_take_part(g, w, write->home, starts);
  tpt_value_t cells = tpt_grid_part_cells(g, w, part);
  tpt_value_t update = tpt_recast_element(g, write->update, tpt_window_cell_dtype(w));
  cells = put_box(g, w, cells, update, inner);
  int64_t dims[TPT_RANK_MAX], width = (int64_t)tpt_dtype_size(w->type.dtype);
  tpt_type_t type = *tpt_graph_type(g, part);
  memcpy(dims, type.dims, sizeof(dims));
  dims[prefix] = dims[prefix] * (int64_t)tpt_dtype_size(home->dtype) / width;
  cells = tpt_grid_reshape(g, cells, prefix + 1, dims);
  part = w->recast == TPT_RECAST_NARROW ? tpt_recast_wide(g, cells, home->dtype)
                                        : tpt_recast_narrow(g, cells, home->dtype);
  tpt_value_t value = tpt_grid_put_part(g, w, write->home, part, starts);
  return tpt_grid_reshape(g, value, home->rank, home->dims);
}

static tpt_value_t flatten(tpt_graph_t* g, tpt_value_t value) {
  int64_t count = tpt_type_count(tpt_graph_type(g, value));
  return tpt_grid_reshape(g, value, 1, &count);
}

static tpt_value_t write_flat(tpt_graph_t* g, const tpt_window_t* w,
                              const tpt_window_update_t* write) {
  const tpt_grid_t* grid = &w->flat;
  int64_t low = 0, none = 0, length = 1;
  int64_t high[TPT_RANK_MAX], interior[TPT_RANK_MAX] = {0};
  for (int i = 0; i < grid->rank; i++) {
    length *= grid->dims[i];
    high[i] = grid->dims[i] - grid->counts[i];
  }
  int64_t tail = length - w->span;
  tpt_value_t home = flatten(g, write->home);
  tpt_value_t old = tpt_hlo_dynamic_slice(g, home, write->starts, &w->span);
  tpt_value_t zero = zero_of(g, tpt_graph_type(g, old)->dtype);
  if (tail > 0) old = tpt_hlo_pad(g, old, zero, &low, &tail, &none);
  old = tpt_grid_reshape(g, old, grid->rank, grid->dims);
  tpt_value_t update = tpt_grid_from_window(g, w, grid, write->update);
  update = flatten(g, merge(g, old, update, &(spread_t){grid->rank, high, interior}));
  if (tail > 0) update = tpt_hlo_slice_dim(g, update, 0, 0, w->span, 1);
  return tpt_hlo_dynamic_update_slice(g, home, update, write->starts);
}

static tpt_value_t write_scatter(tpt_graph_t* g, const tpt_window_t* w,
                                 const tpt_window_update_t* write) {
  tpt_grid_t core;
  tpt_value_t positions = tpt_grid_positions(g, w, write->starts[0], &core);
  tpt_value_t update = flatten(g, tpt_grid_from_window(g, w, &core, write->update));
  tpt_scatter_t scatter = {0};
  scatter.inserted_count = scatter.map_count = 1;
  scatter.index_vector_dim = 1;
  return tpt_hlo_scatter(g, flatten(g, write->home), positions, update, &scatter, TPT_HLO_COUNT);
}

// Back from the window's element width to the home's.
static tpt_value_t cells_to_home(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t cells) {
  const tpt_type_t* home = &w->home->type;
  if (w->recast == TPT_RECAST_NARROW) {
    cells = tpt_grid_reshape(g, cells, w->cells.rank, w->cells.dims);
    cells = tpt_recast_wide(g, cells, home->dtype);
  }
  if (w->recast == TPT_RECAST_WIDE) {
    cells = tpt_recast_narrow(g, cells, home->dtype);
    int64_t count = tpt_type_count(home);
    if (tpt_type_count(tpt_graph_type(g, cells)) > count)
      cells = tpt_hlo_slice_dim(g, flatten(g, cells), 0, 0, count, 1);
  }
  return tpt_grid_reshape(g, cells, home->rank, home->dims);
}

tpt_value_t tpt_window_write(tpt_graph_t* g, const tpt_window_t* w,
                             const tpt_window_update_t* write) {
  static const write_fn_t kWrites[] = {
      [TPT_SOLUTION_WHOLE] = write_whole,
      [TPT_SOLUTION_BOX] = write_box,
      [TPT_SOLUTION_FLAT] = write_flat,
      [TPT_SOLUTION_GATHER] = write_scatter,
  };
  if (tpt_grid_prefix(w, write->solution) > 0) return write_part(g, w, write);
  tpt_window_update_t inner = *write;
  bool is_replaced = write->solution == TPT_SOLUTION_WHOLE;
  if (w->recast == TPT_RECAST_ELEMENT)
    inner.update = tpt_recast_element(g, inner.update, w->home->type.dtype);
  if (w->recast == TPT_RECAST_NARROW || w->recast == TPT_RECAST_WIDE) {
    tpt_dtype_t cell = tpt_window_cell_dtype(w);
    inner.update = tpt_recast_element(g, inner.update, cell);
    if (!is_replaced)
      inner.home = w->recast == TPT_RECAST_NARROW ? tpt_recast_narrow(g, inner.home, cell)
                                                  : tpt_recast_wide(g, inner.home, cell);
  }
  return cells_to_home(g, w, kWrites[write->solution](g, w, &inner));
}
