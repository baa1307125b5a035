// Owns reading: a window's value as StableHLO over the home's value. Must not know storages.
// Invariant: the result has exactly the window's dtype and sizes.
#include "eager/grid.h"
#include "eager/stride_order.h"
#include "hlo/builder.h"

typedef tpt_value_t (*read_fn_t)(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t cells,
                                 const tpt_value_t* starts);

static tpt_value_t read_whole(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t cells,
                              const tpt_value_t* starts) {
  (void)starts;
  tpt_order_t order;
  tpt_order_init(&order, w->type.rank, w->type.dims, w->strides);
  int64_t sorted[TPT_RANK_MAX], back[TPT_RANK_MAX];
  for (int i = 0; i < w->type.rank; i++) {
    sorted[i] = w->type.dims[order.all[i]];
    back[order.all[i]] = i;
  }
  return tpt_grid_transpose(g, tpt_grid_reshape(g, cells, w->type.rank, sorted), back);
}

// The box out of `value`, whose dimensions are the grid's or, where they are cut already, its extents.
static tpt_value_t cut_box(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t value,
                           const tpt_value_t* all_starts) {
  const tpt_grid_t* grid = &w->box;
  int64_t extents[TPT_RANK_MAX], zeros[TPT_RANK_MAX] = {0};
  tpt_grid_extents(grid, extents);
  const int64_t* dims = tpt_graph_type(g, value)->dims;
  if (memcmp(extents, dims, (size_t)grid->rank * sizeof(*extents)) != 0)
    value = tpt_hlo_dynamic_slice(g, value, all_starts, extents);
  if (tpt_grid_has_steps(grid)) value = tpt_hlo_slice(g, value, zeros, extents, grid->steps);
  return tpt_grid_to_window(g, w, grid, value);
}

static tpt_value_t read_box(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t cells,
                            const tpt_value_t* starts) {
  tpt_value_t all_starts[TPT_RANK_MAX];
  tpt_grid_starts(g, w, starts, all_starts);
  return cut_box(g, w, tpt_grid_reshape(g, cells, w->box.rank, w->box.dims), all_starts);
}

// A box of another element width: only its part of the home is converted.
static tpt_value_t read_part(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t home,
                             const tpt_value_t* starts) {
  tpt_value_t all_starts[TPT_RANK_MAX];
  tpt_grid_starts(g, w, starts, all_starts);
  tpt_value_t part = tpt_grid_take_part(g, w, home, all_starts);
  int prefix = tpt_grid_prefix(w, TPT_SOLUTION_BOX);
  for (int i = 0; i < prefix; i++)
    all_starts[i] = tpt_hlo_scalar_i64(g, tpt_window_start_dtype(w), 0);
  return cut_box(g, w, tpt_grid_part_cells(g, w, part), all_starts);
}

static tpt_value_t flatten(tpt_graph_t* g, tpt_value_t cells) {
  int64_t count = tpt_type_count(tpt_graph_type(g, cells));
  return tpt_grid_reshape(g, cells, 1, &count);
}

static tpt_value_t read_flat(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t cells,
                             const tpt_value_t* starts) {
  const tpt_grid_t* grid = &w->flat;
  int64_t low = 0, interior = 0, length = 1, zeros[TPT_RANK_MAX] = {0}, ones[TPT_RANK_MAX];
  for (int i = 0; i < grid->rank; i++) {
    length *= grid->dims[i];
    ones[i] = 1;
  }
  int64_t high = length - w->span;
  tpt_value_t range = tpt_hlo_dynamic_slice(g, flatten(g, cells), starts, &w->span);
  if (high > 0) {  // the last row ends early: pad instead of reading beyond the storage
    tpt_type_t zero = tpt_type_scalar(tpt_graph_type(g, range)->dtype);
    range = tpt_hlo_pad(g, range, tpt_hlo_splat_i64(g, &zero, 0), &low, &high, &interior);
  }
  tpt_value_t value = tpt_grid_reshape(g, range, grid->rank, grid->dims);
  if (memcmp(grid->counts, grid->dims, (size_t)grid->rank * sizeof(*ones)) != 0)
    value = tpt_hlo_slice(g, value, zeros, grid->counts, ones);
  return tpt_grid_to_window(g, w, grid, value);
}

static tpt_value_t read_gather(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t cells,
                               const tpt_value_t* starts) {
  tpt_grid_t core;
  tpt_value_t positions = tpt_grid_positions(g, w, starts[0], &core);
  tpt_gather_t gather = {0};
  gather.collapsed_count = gather.map_count = 1;
  gather.index_vector_dim = 1;
  gather.slice_sizes[0] = 1;
  tpt_value_t value = tpt_hlo_gather(g, flatten(g, cells), positions, &gather);
  return tpt_grid_to_window(g, w, &core, value);
}

tpt_value_t tpt_window_read(tpt_graph_t* g, const tpt_window_t* w, tpt_solution_t solution,
                            tpt_value_t home, const tpt_value_t* starts) {
  static const read_fn_t kReads[] = {
      [TPT_SOLUTION_WHOLE] = read_whole,
      [TPT_SOLUTION_BOX] = read_box,
      [TPT_SOLUTION_FLAT] = read_flat,
      [TPT_SOLUTION_GATHER] = read_gather,
  };
  if (tpt_grid_prefix(w, solution) > 0)
    return tpt_recast_element(g, read_part(g, w, home, starts), w->type.dtype);
  if (w->recast == TPT_RECAST_NARROW) home = tpt_recast_narrow(g, home, tpt_window_cell_dtype(w));
  if (w->recast == TPT_RECAST_WIDE) home = tpt_recast_wide(g, home, tpt_window_cell_dtype(w));
  tpt_value_t value = kReads[solution](g, w, home, starts);
  return tpt_recast_element(g, value, w->type.dtype);
}
