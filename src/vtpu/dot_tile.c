// Tiles are summed in the result where its type allows, else in a lane's scratch, rounded to the
// result's type a row at a time, and given to the epilogue if there is one.
#include "vtpu/dot_tile.h"

#include "vtpu/lane.h"

// One column is a row: its tiles are stretches of it.
static void epilogue_tell(const vtpu_dot_target_t* t, const vtpu_dot_shape_t* shape,
                          const int64_t block[2], vtpu_epilogue_t* e) {
  bool is_column = t->n == 1;
  e->is_taken = true;
  e->rows = shape->batch_count * (is_column ? 1 : t->m);
  e->cols = is_column ? t->m : t->n;
  e->row_align = is_column ? 1 : block[0];
  if (!is_column && shape->batch_count > 1) e->row_align = vtpu_gcd(block[0], t->m);
  e->col_align = is_column ? block[0] : block[1];
  e->ld = is_column ? block[0] : t->ld;
  e->element_size = t->result_size;
}

void vtpu_dot_target_make(const vtpu_kernel_t* kernel, const vtpu_dot_shape_t* shape,
                          const int64_t block[2], bool has_low, size_t* inout_lane,
                          vtpu_dot_target_t* out) {
  size_t tile = (size_t)(block[0] * block[1]);
  out->epilogue = kernel->epilogue;
  out->sum_size = vtpu_compute_row(shape->compute)->sum_size;
  out->result_size = tpt_dtype_size(shape->result);
  out->narrow = vtpu_narrow_fn(shape->compute, shape->result);
  if (vtpu_convert_is_copy(out->narrow)) out->narrow = NULL;
  out->is_direct = !out->narrow && !out->epilogue && shape->n <= INT32_MAX;
  if (!out->narrow && !out->is_direct && !out->epilogue)
    out->narrow = vtpu_narrow_fn(shape->compute, shape->result);  // copies
  out->m = shape->m;
  out->n = shape->n;
  out->ld = block[1];
  if (!out->is_direct) out->sum_offset = vtpu_scratch_take(inout_lane, tile * out->sum_size);
  if (has_low) out->low_offset = vtpu_scratch_take(inout_lane, tile * out->sum_size);
  if (!out->epilogue) return;
  if (out->narrow) out->narrow_offset = vtpu_scratch_take(inout_lane, tile * out->result_size);
  epilogue_tell(out, shape, block, kernel->epilogue);
}

static char* result_at(const vtpu_dot_target_t* t, const vtpu_dot_call_t* call,
                       const vtpu_dot_tile_t* tile) {
  int64_t offset = (tile->batch * t->m + tile->first[0]) * t->n + tile->first[1];
  return (char*)call->out[0] + offset * (int64_t)t->result_size;
}

void vtpu_dot_tile_begin(const vtpu_dot_target_t* t, const vtpu_dot_call_t* call,
                         vtpu_dot_tile_t* tile) {
  tile->sum = t->is_direct ? result_at(t, call, tile) : tile->memory + t->sum_offset;
  tile->ld = t->is_direct ? t->n : t->ld;
  tile->low = tile->memory + t->low_offset;
}

void vtpu_dot_tile_end(const vtpu_dot_target_t* t, const vtpu_dot_call_t* call,
                       const vtpu_dot_tile_t* tile) {
  if (t->is_direct) return;
  char* result = t->epilogue ? tile->memory + t->narrow_offset : result_at(t, call, tile);
  int64_t ld = t->epilogue ? t->ld : t->n;
  for (int64_t i = 0; i < tile->count[0] && t->narrow; i++)
    t->narrow((const char*)tile->sum + (size_t)(i * tile->ld) * t->sum_size,
              result + (size_t)(i * ld) * t->result_size, tile->count[1]);
  if (!t->epilogue) return;
  vtpu_epilogue_call_t done = {call->in, call->out, call->scratch, call->exec->flush_subnormals};
  vtpu_epilogue_block_t block = {.row = tile->batch * t->m + tile->first[0],
                                 .col = tile->first[1],
                                 .rows = tile->count[0],
                                 .cols = tile->count[1],
                                 .tile = t->narrow ? result : tile->sum};
  if (t->n == 1) {
    block.row = tile->batch, block.rows = tile->count[1];
    block.col = tile->first[0], block.cols = tile->count[0];
  }
  vtpu_epilogue_run(t->epilogue, &done, &block, tile->lane);
}
