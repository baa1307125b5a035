// Epilogues: a fused loop over the result of a product or a convolution (bias, scale, activation, a sum
// with another array), run on each block of the result while it is in the cache; the result itself is
// never written to memory. Blocks are rounded to the result's type first, so that every bit is what a
// loop of its own would make.
//
// The kernel sees its result as rows x cols, row-major, and finishes it block by block; the planner cuts
// the loop into tiles that no block's edge crosses.
#ifndef TPUTORCH_VTPU_EPILOGUE_H_
#define TPUTORCH_VTPU_EPILOGUE_H_

#include "vtpu/loop.h"

typedef struct vtpu_epilogue {
  // --- set by the kernel's prepare, which leaves is_taken false if it cannot finish its result in blocks
  bool is_taken;
  int64_t rows, cols;
  int64_t row_align, col_align;  // blocks start at multiples of these, or cover all rows or columns
  int64_t ld;                    // elements from a row of a block to the next
  size_t element_size;           // of the result
  int lane_count;                // threads that finish blocks at the same time
  // --- set by vtpu_epilogue_compile
  vtpu_loop_t* loop;  // buffers: 0 the result, then what it reads, then what it writes
  uint32_t read_count, write_count;
  int64_t inner_rows, row_box, col_box;  // rows of the innermost row dimension; a tile of the loop
  size_t lane_size;                      // bytes of scratch of a lane
  // --- set by the planner
  size_t scratch_offset;  // of the lanes, in the kernel's scratch
} vtpu_epilogue_t;

// Compiles the loop of a taken epilogue. `spec`: leading dimensions (row_rank) of `rows` indexes, then
// `cols`; buffers numbered as above; loads of buffer 0 have ld elements from row to row. False in *out_ok: no tiles fit the blocks,
// or the arrays are walked across; is_taken is cleared then.
TPT_MUST_USE tpt_status_t vtpu_epilogue_compile(vtpu_epilogue_t* epilogue, vtpu_loop_spec_t* spec,
                                                tpt_arena_t* arena, bool* out_ok);

// A finished block. `tile` points at element (row, col) of the result.
typedef struct vtpu_epilogue_block {
  int64_t row, col, rows, cols;
  const void* tile;
} vtpu_epilogue_block_t;

// What the kernel was called with: in[2] and further are what the loop reads, out[] what it writes.
typedef struct vtpu_epilogue_call {
  const void* const* in;
  void* const* out;
  char* scratch;
  bool flush_subnormals;
} vtpu_epilogue_call_t;

void vtpu_epilogue_run(const vtpu_epilogue_t* epilogue, const vtpu_epilogue_call_t* call,
                       const vtpu_epilogue_block_t* block, int lane);

#endif  // TPUTORCH_VTPU_EPILOGUE_H_
