// The steps that reading and writing a window share inside a program.
#ifndef TPUTORCH_EAGER_GRID_H_
#define TPUTORCH_EAGER_GRID_H_

#include "eager/window.h"

// Reshape that gives back its operand (or its operand's operand) when that has the dimensions already.
tpt_value_t tpt_grid_reshape(tpt_graph_t* graph, tpt_value_t value, int rank, const int64_t* dims);
// Transpose that undoes an earlier one instead of stacking on it.
tpt_value_t tpt_grid_transpose(tpt_graph_t* graph, tpt_value_t value, const int64_t* permutation);
// The box taken out of a grid: a value of dims grid->counts <-> the window's sizes (without stride 0
// on the way in).
tpt_value_t tpt_grid_to_window(tpt_graph_t* graph, const tpt_window_t* window,
                               const tpt_grid_t* grid, tpt_value_t value);
tpt_value_t tpt_grid_from_window(tpt_graph_t* graph, const tpt_window_t* window,
                                 const tpt_grid_t* grid, tpt_value_t value);
// Elements from the first to the last taken, per dimension.
void tpt_grid_extents(const tpt_grid_t* grid, int64_t* out_extents);
bool tpt_grid_has_steps(const tpt_grid_t* grid);
// A start per dimension: the run-time ones where the box is partial, zero elsewhere.
void tpt_grid_starts(tpt_graph_t* graph, const tpt_window_t* window, const tpt_value_t* starts,
                     tpt_value_t* out_starts);
// A box of another element width is cut out of the home before its width changes, as far as the home's
// minor dimension stays whole. The number of grid dimensions that are cut first; 0: nothing can be cut
// before the whole home is converted.
int tpt_grid_prefix(const tpt_window_t* window, tpt_solution_t solution);
// That part: the first dimensions' extents and one dimension of home elements; and back into the home.
// all_starts: of tpt_grid_starts.
tpt_value_t tpt_grid_take_part(tpt_graph_t* graph, const tpt_window_t* window, tpt_value_t home,
                               const tpt_value_t* all_starts);
tpt_value_t tpt_grid_put_part(tpt_graph_t* graph, const tpt_window_t* window, tpt_value_t home,
                              tpt_value_t part, const tpt_value_t* all_starts);
// The part in the window's element width (as bits), in grid dimensions.
tpt_value_t tpt_grid_part_cells(tpt_graph_t* graph, const tpt_window_t* window, tpt_value_t part);
// Positions, in the flat home, of the window's elements of distinct address: [count, 1], row-major over
// out_core (the dimensions of more than one element and stride > 0).
tpt_value_t tpt_grid_positions(tpt_graph_t* graph, const tpt_window_t* window, tpt_value_t start,
                               tpt_grid_t* out_core);

#endif  // TPUTORCH_EAGER_GRID_H_
