// Window: how a tensor's elements lie in the home of its storage. Solved once per (home, dtype,
// sizes, strides) into ways of reading and writing it inside a program; the offset stays a run-time
// number. Interned per device and kept for ever, so a pointer (or its number) stands for all of it.
#ifndef TPUTORCH_EAGER_WINDOW_H_
#define TPUTORCH_EAGER_WINDOW_H_

#include "eager/home.h"
#include "hlo/graph.h"

typedef enum tpt_solution {
  TPT_SOLUTION_WHOLE,   // every element of the home once: reshape and transpose; no starts
  TPT_SOLUTION_BOX,     // a box in a grid over the home; a start per partial dimension
  TPT_SOLUTION_FLAT,    // one range of the flat home, cut inside at fixed places; one start
  TPT_SOLUTION_GATHER,  // computed indices into the flat home; one start
} tpt_solution_t;

// What the window's dtype makes of the home's.
typedef enum tpt_recast {
  TPT_RECAST_NONE,
  TPT_RECAST_ELEMENT,  // same width: element by element
  TPT_RECAST_NARROW,   // each home element is several of the window's
  TPT_RECAST_WIDE,     // several home elements make one of the window's
} tpt_recast_t;

// A row-major factorisation of a flat array and a box of steps in it.
typedef struct tpt_grid {
  int rank;
  int64_t dims[TPT_RANK_MAX];
  int64_t counts[TPT_RANK_MAX];  // elements taken
  int64_t steps[TPT_RANK_MAX];   // elements between two taken
  int8_t source[TPT_RANK_MAX];   // window dimension taken from here, -1: none (count 1)
} tpt_grid_t;

typedef struct tpt_window {
  uint32_t id;
  const tpt_home_t* home;
  tpt_type_t type;                // dtype and sizes
  int64_t strides[TPT_RANK_MAX];  // normalised
  int64_t span;                   // elements from the first to the last, both included; 0: empty
  int64_t limit;                  // elements of this dtype that fit the storage
  tpt_recast_t recast;
  tpt_type_t cells;  // the home as elements of this dtype (wide: flat and padded)
  bool is_whole;
  bool is_expanded;  // an element appears more than once (stride 0)
  bool is_contiguous;
  bool has_box, has_flat;
  tpt_grid_t box, flat;
} tpt_window_t;

// The window of `tensor` (sizes, strides, dtype; not its offset) over a home. Errors: rank, negative
// sizes or strides, overflow.
TPT_MUST_USE tpt_status_t tpt_window_get(tpt_table_t* windows, const tpt_home_t* home,
                                         const tpt_tensor_t* tensor,
                                         const tpt_window_t** out_window);
// True if `window` (may be NULL) is that of the tensor over this home.
bool tpt_window_is(const tpt_window_t* window, const tpt_home_t* home, const tpt_tensor_t* tensor);

enum { TPT_START_MAX = TPT_RANK_MAX };
// Checks the offset against the storage and finds the solution for it and its run-time starts.
TPT_MUST_USE tpt_status_t tpt_window_solve(const tpt_window_t* window, int64_t offset,
                                           int64_t* out_starts, int* out_start_count,
                                           tpt_solution_t* out_solution);
// Starts that a solution takes, and their dtype (S32, or S64 in homes of 2^31 elements and more).
int tpt_window_start_count(const tpt_window_t* window, tpt_solution_t solution);
tpt_dtype_t tpt_window_start_dtype(const tpt_window_t* window);

// The dtype in which a home of another element width is cut: bits, because a conversion on the way
// (bool, or a float NaN made quiet) would change the bytes around the window. c128 has no such type.
tpt_dtype_t tpt_window_cell_dtype(const tpt_window_t* window);

// --- in a graph: window_read.c, window_write.c, recast.c -----------------------------------------------
// The window's value (its dtype and sizes) out of the home's.
tpt_value_t tpt_window_read(tpt_graph_t* graph, const tpt_window_t* window, tpt_solution_t solution,
                            tpt_value_t home, const tpt_value_t* starts);
// The home's new value once `update` (the window's dtype and sizes) is written.
typedef struct tpt_window_update {
  tpt_solution_t solution;
  tpt_value_t home;
  tpt_value_t update;
  const tpt_value_t* starts;
} tpt_window_update_t;
tpt_value_t tpt_window_write(tpt_graph_t* graph, const tpt_window_t* window,
                             const tpt_window_update_t* write);
// A value of these sizes and strides (dense) in the order of memory, as a value of dimensions `dims`.
tpt_value_t tpt_window_to_memory(tpt_graph_t* graph, const tpt_type_t* sizes,
                                 const int64_t* strides, tpt_value_t value, const tpt_type_t* dims);

// Element by element to a dtype of the same width, bits kept (bool by value).
tpt_value_t tpt_recast_element(tpt_graph_t* graph, tpt_value_t value, tpt_dtype_t dtype);
// The last dimension grows or shrinks by the ratio of widths; little-endian.
tpt_value_t tpt_recast_narrow(tpt_graph_t* graph, tpt_value_t value, tpt_dtype_t dtype);
tpt_value_t tpt_recast_wide(tpt_graph_t* graph, tpt_value_t value, tpt_dtype_t dtype);

#endif  // TPUTORCH_EAGER_WINDOW_H_
