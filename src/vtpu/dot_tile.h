// Tiles of a product's result: where a lane sums one, and how it becomes the result (rounded, handed to
// an epilogue). Shared by the ways to run a product. Private to the files dot*.c.
#ifndef TPUTORCH_VTPU_DOT_TILE_H_
#define TPUTORCH_VTPU_DOT_TILE_H_

#include "vtpu/dot.h"
#include "vtpu/epilogue.h"

// What a kernel was called with.
typedef struct vtpu_dot_call {
  const vtpu_exec_t* exec;
  const void* const* in;
  void* const* out;
  char* scratch;
} vtpu_dot_call_t;

// Part of the state of a kernel.
typedef struct vtpu_dot_target {
  const vtpu_epilogue_t* epilogue;  // (optional)
  vtpu_convert_fn_t narrow;         // (optional) NULL: the result has the compute type
  bool is_direct;                   // tiles are summed in the result itself
  size_t sum_size, result_size;     // of an element
  int64_t m, n, ld;
  size_t sum_offset, narrow_offset, low_offset;  // in a lane's scratch
} vtpu_dot_target_t;

// One tile.
typedef struct vtpu_dot_tile {
  int64_t batch, first[2], count[2];  // rows and columns
  int lane;
  char* memory;  // of the lane
  // --- set by vtpu_dot_tile_begin
  void* sum;
  int64_t ld;  // elements from a row of the sum to the next
  void* low;   // (optional) the sum of the low products (three passes), dense
} vtpu_dot_tile_t;

// block: rows and columns of a full tile. Takes scratch of a lane; tells the kernel's epilogue.
void vtpu_dot_target_make(const vtpu_kernel_t* kernel, const vtpu_dot_shape_t* shape,
                          const int64_t block[2], bool has_low, size_t* inout_lane,
                          vtpu_dot_target_t* out);
void vtpu_dot_tile_begin(const vtpu_dot_target_t* target, const vtpu_dot_call_t* call,
                         vtpu_dot_tile_t* tile);
// The tile is summed.
void vtpu_dot_tile_end(const vtpu_dot_target_t* target, const vtpu_dot_call_t* call,
                       const vtpu_dot_tile_t* tile);

#endif  // TPUTORCH_VTPU_DOT_TILE_H_
