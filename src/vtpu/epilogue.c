// Compiles epilogues and runs them on blocks. A block's memory poses as the whole result: its address
// is moved back to where element (0, 0) would lie.
#include "vtpu/epilogue.h"

#include "vtpu/lane.h"
#include "vtpu/subnormal.h"

enum {
  LANES_MIN = 128,  // of a tile; with fewer, a loop of its own is as good
  OPERANDS = 2,     // of the kernel
};

static int64_t divisor_below(int64_t number, int64_t most) {
  int64_t best = most < number ? most : number;
  while (best > 1 && number % best)
    best--;
  return best;
}

// Largest tile whose edges include those of every block.
static void boxes_choose(vtpu_epilogue_t* e, int64_t lanes) {
  e->col_box = e->col_align >= e->cols ? e->cols : e->col_align;
  if (e->col_box > lanes)
    e->col_box = divisor_below(e->col_align >= e->cols ? e->cols : e->col_align, lanes);
  int64_t most = lanes / e->col_box, align = e->row_align;
  if (align % e->inner_rows == 0) {  // blocks hold whole inner dimensions
    e->row_box = most < e->inner_rows ? most : e->inner_rows;
  } else {
    if (e->inner_rows != e->rows) align = vtpu_gcd(align, e->inner_rows);
    e->row_box = divisor_below(align, most);
  }
}

// Arrays that are walked across their rows are a matter for transposing loops.
static bool walks_along(const vtpu_loop_spec_t* spec) {
  for (int m = 0; m < spec->map_count; m++) {
    int64_t stride = spec->maps[m].stride[spec->rank - 1];
    if (stride != 0 && stride != 1) return false;
  }
  return true;
}

tpt_status_t vtpu_epilogue_compile(vtpu_epilogue_t* e, vtpu_loop_spec_t* spec, tpt_arena_t* arena,
                                   bool* out_ok) {
  *out_ok = e->is_taken = false;
  spec->col_block = e->cols;
  vtpu_spec_merge(spec);
  if (spec->rank != spec->row_rank + 1 || !walks_along(spec)) return NULL;
  e->inner_rows = spec->row_rank ? spec->dims[spec->row_rank - 1] : 1;
  boxes_choose(e, spec->member_count <= 8 ? 2048 : (spec->member_count <= 24 ? 1024 : 512));
  int64_t lanes = e->row_box * e->col_box;
  if (lanes < LANES_MIN && lanes < e->rows * e->cols) return NULL;
  spec->col_block = e->col_box;
  spec->row_block = e->row_box;
  TPT_TRY(vtpu_loop_compile(spec, arena, &e->loop));
  size_t pointers = sizeof(void*) * (1 + (size_t)e->read_count + (size_t)e->write_count);
  e->lane_size = vtpu_scratch_align(pointers) + vtpu_scratch_align(e->loop->frame_size);
  *out_ok = e->is_taken = true;
  return NULL;
}

static void* address_back(const void* at, int64_t bytes) {
  return (void*)((intptr_t)at - (intptr_t)bytes);
}

// Rows [row, row + rows) of one index of the outer row dimensions.
static void rows_run(const vtpu_epilogue_t* e, vtpu_frame_t* frame,
                     const vtpu_epilogue_block_t* block, int64_t row, int64_t rows) {
  int64_t col_tiles = vtpu_ceil_div(e->cols, e->col_box);
  int64_t row_tiles = vtpu_ceil_div(e->inner_rows, e->row_box);
  int64_t first = row / e->inner_rows * row_tiles + row % e->inner_rows / e->row_box;
  int64_t count = vtpu_ceil_div(rows, e->row_box);
  int64_t col = block->col / e->col_box, cols = vtpu_ceil_div(block->cols, e->col_box);
  for (int64_t i = first; i < first + count; i++) {
    vtpu_frame_seek(frame, i * col_tiles + col, 0);
    vtpu_frame_run(frame, cols);
  }
}

void vtpu_epilogue_run(const vtpu_epilogue_t* e, const vtpu_epilogue_call_t* call,
                       const vtpu_epilogue_block_t* block, int lane) {
  if (block->rows == 0 || block->cols == 0) return;
  char* memory = call->scratch + e->scratch_offset + e->lane_size * (size_t)lane;
  size_t count = 1 + (size_t)e->read_count + (size_t)e->write_count;
  void** pointers = (void**)memory;
  pointers[0] =
      address_back(block->tile, (block->row * e->ld + block->col) * (int64_t)e->element_size);
  for (uint32_t i = 0; i < e->read_count; i++)
    pointers[1 + i] = (void*)(uintptr_t)call->in[OPERANDS + i];
  for (uint32_t i = 0; i < e->write_count; i++)
    pointers[1 + e->read_count + i] = call->out[i];
  vtpu_frame_t frame;
  vtpu_subnormal_t mode = vtpu_subnormal_begin(call->flush_subnormals);
  vtpu_frame_begin(&frame, e->loop, pointers, memory + vtpu_scratch_align(count * sizeof(void*)));
  vtpu_frame_seek(&frame, 0, 0);
  vtpu_frame_prologue(&frame);
  for (int64_t row = block->row, end = row + block->rows; row < end;) {
    int64_t left = e->inner_rows - row % e->inner_rows;
    if (left > end - row) left = end - row;
    rows_run(e, &frame, block, row, left);
    row += left;
  }
  vtpu_subnormal_end(mode);
}
