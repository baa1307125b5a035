// Owns the reshapes, permutations and index arithmetic between a grid over the home and a window's
// own sizes. Must not know storages. Invariant: both directions are inverse to one another.
#include "eager/grid.h"

#include "eager/stride_order.h"
#include "hlo/builder.h"

static bool has_dims(const tpt_type_t* type, int rank, const int64_t* dims) {
  return type->rank == rank && memcmp(type->dims, dims, (size_t)rank * sizeof(*dims)) == 0;
}

tpt_value_t tpt_grid_reshape(tpt_graph_t* g, tpt_value_t value, int rank, const int64_t* dims) {
  if (has_dims(tpt_graph_type(g, value), rank, dims)) return value;
  const tpt_node_t* node = tpt_graph_producer(g, value);
  if (node && node->op == TPT_HLO_RESHAPE) {
    value = node->operands[0];
    if (has_dims(tpt_graph_type(g, value), rank, dims)) return value;
  }
  return tpt_hlo_reshape(g, value, rank, dims);
}

tpt_value_t tpt_grid_transpose(tpt_graph_t* g, tpt_value_t value, const int64_t* permutation) {
  int rank = tpt_graph_type(g, value)->rank;
  int64_t composed[TPT_RANK_MAX];
  memcpy(composed, permutation, (size_t)rank * sizeof(*composed));
  const tpt_node_t* node = tpt_graph_producer(g, value);
  if (node && node->op == TPT_HLO_TRANSPOSE) {
    const int64_t* earlier = tpt_node_ints(node, 0, NULL);
    for (int i = 0; i < rank; i++)
      composed[i] = earlier[permutation[i]];
    value = node->operands[0];
  }
  bool is_identity = true;
  for (int i = 0; i < rank; i++)
    is_identity &= composed[i] == i;
  return is_identity ? value : tpt_hlo_transpose(g, value, composed);
}

// The grid's taken dimensions in grid order: their window dimensions and sizes.
static int taken_dims(const tpt_grid_t* grid, int64_t* out_sources, int64_t* out_counts) {
  int count = 0;
  for (int i = 0; i < grid->rank; i++) {
    if (grid->source[i] < 0) continue;
    out_sources[count] = grid->source[i];
    out_counts[count++] = grid->counts[i];
  }
  return count;
}

// ranks[i]: place of sources[i] among all in ascending order.
static void rank_sources(const int64_t* sources, int count, int64_t* out_ranks) {
  for (int i = 0; i < count; i++) {
    out_ranks[i] = 0;
    for (int j = 0; j < count; j++)
      out_ranks[i] += sources[j] < sources[i];
  }
}

tpt_value_t tpt_grid_to_window(tpt_graph_t* g, const tpt_window_t* w, const tpt_grid_t* grid,
                               tpt_value_t value) {
  int64_t sources[TPT_RANK_MAX] = {0}, counts[TPT_RANK_MAX] = {0}, ranks[TPT_RANK_MAX];
  int64_t permutation[TPT_RANK_MAX] = {0}, ascending[TPT_RANK_MAX] = {0};
  int count = taken_dims(grid, sources, counts);
  value = tpt_grid_reshape(g, value, count, counts);
  rank_sources(sources, count, ranks);
  for (int i = 0; i < count; i++) {
    permutation[ranks[i]] = i;
    ascending[ranks[i]] = sources[i];
  }
  value = tpt_grid_transpose(g, value, permutation);
  if (!w->is_expanded) return tpt_grid_reshape(g, value, w->type.rank, w->type.dims);
  return tpt_hlo_broadcast_in_dim(g, value, w->type.rank, w->type.dims, ascending);
}

tpt_value_t tpt_grid_from_window(tpt_graph_t* g, const tpt_window_t* w, const tpt_grid_t* grid,
                                 tpt_value_t value) {
  int64_t sources[TPT_RANK_MAX] = {0}, counts[TPT_RANK_MAX] = {0}, ranks[TPT_RANK_MAX];
  int64_t ascending[TPT_RANK_MAX] = {0};
  (void)w;
  int count = taken_dims(grid, sources, counts);
  rank_sources(sources, count, ranks);
  for (int i = 0; i < count; i++)
    ascending[ranks[i]] = counts[i];
  value = tpt_grid_reshape(g, value, count, ascending);
  value = tpt_grid_transpose(g, value, ranks);
  return tpt_grid_reshape(g, value, grid->rank, grid->counts);
}

void tpt_grid_extents(const tpt_grid_t* grid, int64_t* out_extents) {
  for (int i = 0; i < grid->rank; i++)
    out_extents[i] = (grid->counts[i] - 1) * grid->steps[i] + 1;
}

bool tpt_grid_has_steps(const tpt_grid_t* grid) {
  for (int i = 0; i < grid->rank; i++) {
    if (grid->steps[i] > 1 && grid->counts[i] > 1) return true;
  }
  return false;
}

void tpt_grid_starts(tpt_graph_t* g, const tpt_window_t* w, const tpt_value_t* starts,
                     tpt_value_t* out_starts) {
  int64_t extents[TPT_RANK_MAX];
  tpt_grid_extents(&w->box, extents);
  tpt_value_t zero = TPT_VALUE_NONE;
  for (int i = 0, next = 0; i < w->box.rank; i++) {
    if (extents[i] < w->box.dims[i]) {
      out_starts[i] = starts[next++];
    } else {
      if (tpt_value_is_none(zero)) zero = tpt_hlo_scalar_i64(g, tpt_window_start_dtype(w), 0);
      out_starts[i] = zero;
    }
  }
}

tpt_value_t tpt_grid_positions(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t start,
                               tpt_grid_t* out_core) {
  tpt_order_t order;
  tpt_order_init(&order, w->type.rank, w->type.dims, w->strides);
  out_core->rank = order.core_count;
  for (int i = 0; i < order.core_count; i++) {
    out_core->counts[i] = out_core->dims[i] = w->type.dims[order.core[i]];
    out_core->steps[i] = 1;
    out_core->source[i] = (int8_t)order.core[i];
  }
  tpt_type_t type = tpt_type_make(tpt_window_start_dtype(w), out_core->rank, out_core->counts);
  tpt_value_t sum = tpt_hlo_broadcast_in_dim(g, start, type.rank, type.dims, NULL);
  for (int i = 0; i < order.core_count; i++) {
    tpt_value_t step = tpt_hlo_splat_i64(g, &type, w->strides[order.core[i]]);
    tpt_value_t term = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, tpt_hlo_iota(g, &type, i), step);
    sum = tpt_hlo_binary(g, TPT_HLO_ADD, sum, term);
  }
  int64_t dims[2] = {tpt_type_count(&type), 1};
  return tpt_hlo_reshape(g, sum, 2, dims);
}

// --- parts of another element width ------------------------------------------------------------------

int tpt_grid_prefix(const tpt_window_t* w, tpt_solution_t solution) {
  bool has_width = w->recast == TPT_RECAST_NARROW || w->recast == TPT_RECAST_WIDE;
  int64_t home = tpt_type_size(&w->home->type), cells = tpt_type_count(&w->cells);
  if (!has_width || solution != TPT_SOLUTION_BOX || w->cells.rank == 0 || w->home->type.rank == 0)
    return 0;
  if (cells * (int64_t)tpt_dtype_size(w->type.dtype) != home) return 0;  // padded
  int64_t minor = w->cells.dims[w->cells.rank - 1], kept = 1;
  int prefix = w->box.rank;
  while (prefix > 0 && (kept == 1 || kept % minor != 0))
    kept *= w->box.dims[--prefix];
  int64_t extents[TPT_RANK_MAX];
  tpt_grid_extents(&w->box, extents);
  for (int i = 0; i < prefix; i++) {
    if (extents[i] < w->box.dims[i]) return prefix;
  }
  return 0;
}

// The home's dimensions for the cut: the grid's first ones, and the rest as one in home elements.
static int part_dims(const tpt_window_t* w, int64_t* out_dims) {
  int prefix = tpt_grid_prefix(w, TPT_SOLUTION_BOX);
  int64_t rest = tpt_type_count(&w->home->type);
  for (int i = 0; i < prefix; i++) {
    out_dims[i] = w->box.dims[i];
    rest /= out_dims[i];
  }
  out_dims[prefix] = rest;
  return prefix;
}

static void part_starts(tpt_graph_t* g, const tpt_window_t* w, const tpt_value_t* all_starts,
                        int prefix, tpt_value_t* out_starts) {
  for (int i = 0; i < prefix; i++)
    out_starts[i] = all_starts[i];
  out_starts[prefix] = tpt_hlo_scalar_i64(g, tpt_window_start_dtype(w), 0);
}

tpt_value_t tpt_grid_take_part(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t home,
                               const tpt_value_t* all_starts) {
  int64_t dims[TPT_RANK_MAX], extents[TPT_RANK_MAX];
  tpt_value_t starts[TPT_RANK_MAX];
  int prefix = part_dims(w, dims);
  tpt_grid_extents(&w->box, extents);
  extents[prefix] = dims[prefix];
  part_starts(g, w, all_starts, prefix, starts);
  home = tpt_grid_reshape(g, home, prefix + 1, dims);
  return tpt_hlo_dynamic_slice(g, home, starts, extents);
}

tpt_value_t tpt_grid_put_part(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t home,
                              tpt_value_t part, const tpt_value_t* all_starts) {
  int64_t dims[TPT_RANK_MAX], extents[TPT_RANK_MAX];
  tpt_value_t starts[TPT_RANK_MAX];
  int prefix = part_dims(w, dims);
  tpt_grid_extents(&w->box, extents);
  extents[prefix] = dims[prefix];
  part_starts(g, w, all_starts, prefix, starts);
  home = tpt_grid_reshape(g, home, prefix + 1, dims);
  return tpt_hlo_dynamic_update_slice(g, home, tpt_grid_reshape(g, part, prefix + 1, extents),
                                      starts);
}

tpt_value_t tpt_grid_part_cells(tpt_graph_t* g, const tpt_window_t* w, tpt_value_t part) {
  int64_t dims[TPT_RANK_MAX];
  int prefix = tpt_grid_prefix(w, TPT_SOLUTION_BOX);
  tpt_grid_extents(&w->box, dims);
  for (int i = prefix; i < w->box.rank; i++)
    dims[i] = w->box.dims[i];
  tpt_dtype_t cell = tpt_window_cell_dtype(w);
  part = w->recast == TPT_RECAST_NARROW ? tpt_recast_narrow(g, part, cell)
                                        : tpt_recast_wide(g, part, cell);
  return tpt_grid_reshape(g, part, w->box.rank, dims);
}
