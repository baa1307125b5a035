// dot_general on BLAS tiles. An operand whose axes collapse to strides goes to BLAS where it lies; one
// that must be rounded, widened or made contiguous is staged, either whole (when several tiles read it)
// or one panel at a time. Tiles of the result are the unit of parallel work; their shape depends on the
// shapes only, so results do not depend on the cores.
#include <string.h>

#include "vtpu/dot_tile.h"
#include "vtpu/gemv.h"
#include "vtpu/keep.h"
#include "vtpu/lane.h"

enum {
  TILE = 256,     // rows and columns of an output tile
  TILE_MIN = 64,  // not cut below this for the sake of parallelism
  TILES_WANTED = 8,
  K_STAGED = 512,              // contracting extent of a staged panel
  VECTOR_TILE = 4096,          // matrix rows or columns of a tile of a product with a few vectors
  K_DIRECT = 1 << 24,          // of one BLAS call otherwise
  STAGE_WHOLE_MAX = 32 << 20,  // bytes
  // Of products of unconverted operands whose packing would not pay:
  SKINNY_MAX = 12,        // rows or columns
  SMALL_FLOPS = 1000000,  // of one batch element
};

// One operand. part_count is 2 (high and low) for a three-pass product, else 1.
typedef struct side {
  vtpu_dot_side_t at;  // panels are stored free x contract (contract_inner), else contract x free
  bool is_direct;      // BLAS reads the operand itself
  bool is_whole;       // staged whole before the tiles
  int part_count;
  vtpu_part_t parts[2];
  int64_t block;        // free positions of a tile
  size_t whole_offset;  // of part 0 in scratch; parts follow each other
  size_t whole_part_size;
  size_t panel_offset[2];  // in a lane's scratch
} side_t;

typedef struct dot {
  vtpu_dot_state_t state;
  vtpu_dot_shape_t shape;
  side_t sides[2];
  int64_t k_block, m_tiles, n_tiles;
  vtpu_gemv_fn_t gemv;   // (optional) one side is a vector, the other is converted on the way
  int vector_side;       // with gemv
  vtpu_dot_form_t form;  // (optional) of the matrix as bf16, which may be kept
  vtpu_gemv_fn_t kept_gemv;
  size_t element_size;  // of the compute type
  vtpu_dot_target_t target;
  int lane_count;
  size_t lanes_offset, lane_size;
  size_t temp_offset;  // in a lane's scratch
} dot_t;

typedef struct run {
  const dot_t* dot;
  vtpu_dot_call_t call;
  uint16_t* kept;  // (optional) the matrix of a gemv, rounded: batch x outer x inner, dense
} run_t;

static void side_parts(side_t* side, vtpu_compute_t compute, tpt_precision_t precision) {
  bool is_f32 = side->at.dtype == TPT_F32 && compute == VTPU_COMPUTE_F32;
  side->part_count = is_f32 && precision == TPT_PRECISION_HIGH ? 2 : 1;
  side->parts[0] = is_f32 && precision != TPT_PRECISION_HIGHEST ? VTPU_PART_HIGH : VTPU_PART_EXACT;
  side->parts[1] = VTPU_PART_LOW;
  const vtpu_axis_t* inner = vtpu_dot_inner(&side->at);
  const vtpu_axis_t* outer = vtpu_dot_outer(&side->at);
  side->is_direct = side->part_count == 1 &&
                    vtpu_widen_is_copy(side->at.dtype, compute, side->parts[0]) && !inner->table &&
                    !outer->table && inner->stride == 1 && outer->stride <= INT32_MAX;
}

// A few vectors times a matrix that must be converted: the matrix is then read once and never staged.
static void choose_gemv(dot_t* dot) {
  bool is_lhs = dot->shape.m <= VTPU_GEMV_MAX;
  if (dot->shape.compute != VTPU_COMPUTE_F32 || (!is_lhs && dot->shape.n != 1)) return;
  if (dot->shape.n == 1 && dot->shape.m != 1) is_lhs = false;
  dot->vector_side = is_lhs ? 0 : 1;
  side_t *vectors = &dot->sides[dot->vector_side], *matrix = &dot->sides[1 - dot->vector_side];
  const vtpu_axis_t* inner = vtpu_dot_inner(&matrix->at);
  const vtpu_axis_t* outer = vtpu_dot_outer(&matrix->at);
  if (vectors->part_count != matrix->part_count || matrix->is_direct || vectors->is_direct ||
      inner->table || outer->table || inner->stride != 1 || dot->shape.k == 0 ||
      (matrix->at.dtype == TPT_F32 && matrix->parts[0] != VTPU_PART_HIGH))
    return;
  dot->gemv = vtpu_gemv_fn(matrix->at.dtype, matrix->part_count > 1, !matrix->at.contract_inner);
  if (!dot->gemv) return;
  vectors->at.contract_inner = true;  // as they are staged
  if (matrix->at.dtype != TPT_F32 || matrix->part_count > 1) return;
  vtpu_dot_form_make(&dot->shape, 1 - dot->vector_side, VTPU_DOT_WAY_BF16, 0, &dot->form);
  dot->kept_gemv = vtpu_gemv_fn(TPT_BF16, false, !matrix->at.contract_inner);
}

static void choose_tiles(dot_t* dot) {
  int64_t tile = dot->gemv ? VECTOR_TILE : TILE;
  int64_t block_m = dot->shape.m < tile ? dot->shape.m : tile,
          block_n = dot->shape.n < tile ? dot->shape.n : tile;
  if (block_m < 1) block_m = 1;
  if (block_n < 1) block_n = 1;
  double flops = vtpu_dot_flops(&dot->shape);
  // Long rows are read faster; the order of a gemv's sums does not depend on the tile.
  int64_t wanted = dot->gemv ? vtpu_lane_count(TILES_WANTED, INT64_MAX) : TILES_WANTED;
  while (flops > 4e6 && (block_m > TILE_MIN || block_n > TILE_MIN) &&
         dot->shape.batch_count * vtpu_ceil_div(dot->shape.m, block_m) *
                 vtpu_ceil_div(dot->shape.n, block_n) <
             wanted) {
    int64_t* larger = block_m > block_n ? &block_m : &block_n;
    *larger = vtpu_ceil_div(vtpu_ceil_div(*larger, 2), 16) * 16;
  }
  dot->m_tiles = vtpu_ceil_div(dot->shape.m, block_m);
  dot->n_tiles = vtpu_ceil_div(dot->shape.n, block_n);
  dot->sides[0].block = block_m;
  dot->sides[1].block = block_n;
}

static size_t side_panel_size(const dot_t* dot, const side_t* side) {
  return vtpu_scratch_align((size_t)(side->block * dot->k_block) * dot->element_size);
}

// Lays out the scratch: wholes first, then a slice for each lane.
static void layout_scratch(dot_t* dot, vtpu_kernel_t* kernel) {
  size_t offset = 0, lane = 0;
  int64_t temp = 0;
  bool is_staged = false;
  for (int s = 0; s < 2; s++) {
    side_t* side = &dot->sides[s];
    int64_t readers = s == 0 ? dot->n_tiles : dot->m_tiles;
    size_t part = vtpu_scratch_align(
        (size_t)(dot->shape.batch_count * side->at.free.count * dot->shape.k) * dot->element_size);
    side->is_whole =
        !side->is_direct && readers > 1 && part * (size_t)side->part_count <= STAGE_WHOLE_MAX;
    if (dot->gemv) side->is_whole = s == dot->vector_side;
    if (side->is_whole) {
      side->whole_offset = offset;
      side->whole_part_size = part;
      offset += part * (size_t)side->part_count;
    }
    is_staged |= !side->is_direct && !side->is_whole && !dot->gemv;
  }
  dot->k_block = is_staged ? K_STAGED : K_DIRECT;
  if (dot->k_block > dot->shape.k) dot->k_block = dot->shape.k;
  for (int s = 0; s < 2; s++) {
    side_t* side = &dot->sides[s];
    int64_t row = side->is_whole ? (side->at.contract_inner ? dot->shape.k : side->at.free.count)
                                 : (side->at.contract_inner ? dot->k_block : side->block);
    if (!side->is_direct && row > temp) temp = row;
    bool has_panel = !side->is_direct && !side->is_whole && !dot->gemv;
    for (int p = 0; p < side->part_count && has_panel; p++) {
      side->panel_offset[p] = lane;
      lane += side_panel_size(dot, side);
    }
  }
  dot->temp_offset = lane;
  lane += vtpu_scratch_align((size_t)temp * 16);
  int64_t block[2] = {dot->sides[0].block, dot->sides[1].block};
  bool has_low = dot->sides[0].part_count + dot->sides[1].part_count > 2;
  vtpu_dot_target_make(kernel, &dot->shape, block, has_low, &lane, &dot->target);
  dot->lanes_offset = offset;
  dot->lane_size = lane;
  kernel->scratch_size = offset + lane * (size_t)dot->lane_count;
}

static void dot_make(const vtpu_dot_shape_t* shape, dot_t* dot) {
  dot->shape = *shape;
  for (int s = 0; s < 2; s++) {
    dot->sides[s].at = shape->sides[s];
    side_parts(&dot->sides[s], shape->compute, shape->precision);
    if (shape->compute == VTPU_COMPUTE_S16) dot->sides[s].at.contract_inner = true;
  }
  choose_gemv(dot);
}

bool vtpu_dot_wants_blas(const vtpu_dot_shape_t* shape) {
  dot_t dot = {0};
  dot_make(shape, &dot);
  if (dot.gemv) return true;
  int64_t least = shape->m < shape->n ? shape->m : shape->n;
  double flops = 2.0 * (double)shape->m * (double)shape->n * (double)shape->k;
  return dot.sides[0].is_direct && dot.sides[1].is_direct &&
         (least <= SKINNY_MAX || flops <= SMALL_FLOPS);
}

static tpt_status_t run_blas(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                             const void* const* in, void* const* out);

tpt_status_t vtpu_dot_blas_prepare(vtpu_kernel_t* kernel, const vtpu_dot_shape_t* shape) {
  dot_t* dot = tpt_arena_calloc(kernel->arena, 1, sizeof(*dot));
  if (!dot) return tpt_arena_status(kernel->arena);
  dot->state.run = run_blas;
  dot_make(shape, dot);
  dot->element_size = vtpu_compute_row(shape->compute)->size;
  choose_tiles(dot);
  int64_t items = shape->batch_count * dot->m_tiles * dot->n_tiles;
  int passes = dot->sides[0].part_count + dot->sides[1].part_count - 1;
  double rate = shape->compute == VTPU_COMPUTE_F32   ? 60.0
                : shape->compute == VTPU_COMPUTE_F64 ? 30.0
                : shape->compute == VTPU_COMPUTE_S16 ? 100.0
                                                     : 5.0;
  kernel->cost = (int64_t)(kernel->flops * passes / rate + vtpu_dot_bytes(kernel) / 10) + 100;
  kernel->cost += items * 60;
  dot->lane_count = vtpu_lane_count(items, kernel->cost);
  if (dot->form.count > 0) kernel->keep_operands[1 - dot->vector_side] = true;
  if (kernel->epilogue) kernel->epilogue->lane_count = dot->lane_count;
  layout_scratch(dot, kernel);
  kernel->state = dot;
  return tpt_arena_status(kernel->arena);
}

// --- run
// --------------------------------------------------------------------------------------------

static vtpu_panel_t side_panel(const run_t* run, int s, int part, int64_t batch) {
  const dot_t* dot = run->dot;
  const side_t* side = &dot->sides[s];
  size_t size = tpt_dtype_size(side->at.dtype);
  vtpu_panel_t panel = {.element_size = size, .out_size = dot->element_size};
  panel.data =
      (const char*)run->call.in[s] + vtpu_dot_batch_offset(&dot->shape, s, batch) * (int64_t)size;
  panel.row = side->at.contract_inner ? side->at.free : side->at.contract;
  panel.col = side->at.contract_inner ? side->at.contract : side->at.free;
  if (!vtpu_widen_is_copy(side->at.dtype, dot->shape.compute, side->parts[part]))
    panel.widen = vtpu_widen_fn(side->at.dtype, dot->shape.compute, side->parts[part]);
  return panel;
}

// Staging of whole operands: one item is a stretch of rows of one batch element and part.
typedef struct whole {
  const run_t* run;
  int side;
  int64_t row_count, row_block, blocks;  // per batch element
} whole_t;

static void whole_item(void* arg, int64_t item, int lane) {
  const whole_t* whole = arg;
  const dot_t* dot = whole->run->dot;
  const side_t* side = &dot->sides[whole->side];
  int64_t block = item % whole->blocks, batch = item / whole->blocks % dot->shape.batch_count;
  int part = (int)(item / whole->blocks / dot->shape.batch_count);
  vtpu_panel_t panel = side_panel(whole->run, whole->side, part, batch);
  int64_t first = block * whole->row_block, rest = whole->row_count - first;
  vtpu_block_t rows = {.row = first, .col_count = (int)panel.col.count};
  rows.row_count = (int)(rest < whole->row_block ? rest : whole->row_block);
  char* to = whole->run->call.scratch + side->whole_offset + side->whole_part_size * (size_t)part +
             (size_t)((batch * whole->row_count + first) * panel.col.count) * dot->element_size;
  char* temp = whole->run->call.scratch + dot->lanes_offset + dot->lane_size * (size_t)lane +
               dot->temp_offset;
  vtpu_panel_pack(&panel, &rows, temp, to);
}

static void stage_whole(const run_t* run, const vtpu_exec_t* exec, int s) {
  const dot_t* dot = run->dot;
  const side_t* side = &dot->sides[s];
  int64_t cols = side->at.contract_inner ? dot->shape.k : side->at.free.count;
  whole_t whole = {.run = run, .side = s};
  whole.row_count = side->at.contract_inner ? side->at.free.count : dot->shape.k;
  whole.row_block = cols > 0 && 16384 / cols > 1 ? 16384 / cols : 1;
  whole.blocks = vtpu_ceil_div(whole.row_count, whole.row_block);
  vtpu_lane_for(exec, dot->lane_count, whole.blocks * dot->shape.batch_count * side->part_count,
                whole_item, &whole);
}

typedef struct tile {
  vtpu_dot_tile_t at;
  int64_t k;
  int k_count;
} tile_t;

typedef struct matrix {
  const void* data;
  int ld;
} matrix_t;

// The part of an operand that the tile's present contracting range multiplies.
static matrix_t tile_operand(const run_t* run, const tile_t* tile, int s, int part) {
  const dot_t* dot = run->dot;
  const side_t* side = &dot->sides[s];
  const vtpu_axis_t* outer = vtpu_dot_outer(&side->at);
  const vtpu_axis_t* inner = vtpu_dot_inner(&side->at);
  int64_t row = side->at.contract_inner ? tile->at.first[s] : tile->k;
  int64_t col = side->at.contract_inner ? tile->k : tile->at.first[s];
  int64_t inner_count = inner->count < INT32_MAX ? inner->count : INT32_MAX;
  if (side->is_direct) {
    int64_t offset =
        vtpu_dot_batch_offset(&dot->shape, s, tile->at.batch) + row * outer->stride + col;
    int64_t ld = outer->count > 1 ? outer->stride : inner_count;
    return (matrix_t){(const char*)run->call.in[s] + offset * (int64_t)dot->element_size,
                      ld > 0 ? (int)ld : 1};
  }
  if (side->is_whole) {
    int64_t offset = (tile->at.batch * outer->count + row) * inner->count + col;
    return (matrix_t){run->call.scratch + side->whole_offset +
                          side->whole_part_size * (size_t)part +
                          offset * (int64_t)dot->element_size,
                      (int)inner_count};
  }
  vtpu_panel_t panel = side_panel(run, s, part, tile->at.batch);
  vtpu_block_t block = {.row = row, .col = col};
  block.row_count = side->at.contract_inner ? (int)tile->at.count[s] : tile->k_count;
  block.col_count = side->at.contract_inner ? tile->k_count : (int)tile->at.count[s];
  char* to = tile->at.memory + side->panel_offset[part];
  vtpu_panel_pack(&panel, &block, tile->at.memory + dot->temp_offset, to);
  return (matrix_t){to, block.col_count > 0 ? block.col_count : 1};
}

static void gemm_pass(const run_t* run, const tile_t* tile, const matrix_t* a, const matrix_t* b,
                      vtpu_gemm_t* gemm) {
  const dot_t* dot = run->dot;
  gemm->trans_a = !dot->sides[0].at.contract_inner;
  gemm->trans_b = dot->sides[1].at.contract_inner;
  gemm->m = (int)tile->at.count[0], gemm->n = (int)tile->at.count[1], gemm->k = tile->k_count;
  gemm->a = a->data, gemm->lda = a->ld;
  gemm->b = b->data, gemm->ldb = b->ld;
  vtpu_compute_row(dot->shape.compute)->gemm(gemm);
}

// The tile of a product with a few vectors.
static void tile_gemv(const run_t* run, const tile_t* tile) {
  const dot_t* dot = run->dot;
  int v = dot->vector_side;
  const side_t* matrix = &dot->sides[1 - v];
  tile_t whole = *tile;
  whole.k_count = (int)(dot->shape.k < INT32_MAX ? dot->shape.k : INT32_MAX);
  int64_t first = tile->at.first[1 - v], count = tile->at.count[1 - v];
  const vtpu_axis_t* outer = vtpu_dot_outer(&matrix->at);
  int64_t offset = vtpu_dot_batch_offset(&dot->shape, 1 - v, tile->at.batch) +
                   first * (matrix->at.contract_inner ? matrix->at.free.stride : 1);
  vtpu_gemv_t gemv = {.ld = outer->stride,
                      .count = (int)tile->at.count[v],
                      .x_ld = dot->shape.k,
                      .y = tile->at.sum,
                      .low = tile->at.low,
                      .y_ld = tile->at.ld,
                      .low_ld = tile->at.count[1]};
  gemv.matrix =
      (const char*)run->call.in[1 - v] + offset * (int64_t)tpt_dtype_size(matrix->at.dtype);
  gemv.rows = matrix->at.contract_inner ? count : dot->shape.k;
  gemv.cols = matrix->at.contract_inner ? dot->shape.k : count;
  gemv.x = tile_operand(run, &whole, v, 0).data;
  if (run->kept) {
    const vtpu_axis_t* inner = vtpu_dot_inner(&matrix->at);
    gemv.ld = inner->count;
    gemv.matrix = run->kept + tile->at.batch * outer->count * inner->count +
                  first * (matrix->at.contract_inner ? inner->count : 1);
  }
  bool is_split = matrix->part_count > 1;
  if (is_split) gemv.x_low = tile_operand(run, &whole, v, 1).data;
  (run->kept ? dot->kept_gemv : dot->gemv)(&gemv);
  if (is_split)
    vtpu_low_add(tile->at.sum, tile->at.ld, tile->at.low, tile->at.count[0], tile->at.count[1]);
}

static void tile_gemm(const run_t* run, tile_t* tile) {
  const dot_t* dot = run->dot;
  int part_counts[2] = {dot->sides[0].part_count, dot->sides[1].part_count};
  do {  // without terms there still are zeros to write
    int64_t rest = dot->shape.k - tile->k;
    tile->k_count = (int)(rest < dot->k_block ? rest : dot->k_block);
    matrix_t operand[2][2];
    for (int s = 0; s < 2; s++)
      for (int p = 0; p < part_counts[s]; p++)
        operand[s][p] = tile_operand(run, tile, s, p);
    vtpu_gemm_t gemm = {.accumulate = tile->k > 0, .c = tile->at.sum, .ldc = (int)tile->at.ld};
    gemm_pass(run, tile, &operand[0][0], &operand[1][0], &gemm);
    gemm.c = tile->at.low, gemm.ldc = (int)tile->at.count[1];
    for (int s = 0; s < 2; s++) {
      if (part_counts[s] < 2) continue;
      gemm_pass(run, tile, &operand[0][s == 0], &operand[1][s == 1], &gemm);
      gemm.accumulate = true;
    }
    tile->k += tile->k_count;
  } while (tile->k < dot->shape.k);
  if (part_counts[0] + part_counts[1] > 2)
    vtpu_low_add(tile->at.sum, tile->at.ld, tile->at.low, tile->at.count[0], tile->at.count[1]);
}

static void tile_item(void* arg, int64_t item, int lane) {
  const run_t* run = arg;
  const dot_t* dot = run->dot;
  tile_t tile = {.at = {.lane = lane}};
  tile.at.memory = run->call.scratch + dot->lanes_offset + dot->lane_size * (size_t)lane;
  int64_t position[2] = {item / dot->n_tiles % dot->m_tiles, item % dot->n_tiles};
  tile.at.batch = item / dot->n_tiles / dot->m_tiles;
  for (int s = 0; s < 2; s++) {
    const side_t* side = &dot->sides[s];
    tile.at.first[s] = position[s] * side->block;
    int64_t rest = side->at.free.count - tile.at.first[s];
    tile.at.count[s] = rest < side->block ? rest : side->block;
  }
  vtpu_dot_tile_begin(&dot->target, &run->call, &tile.at);
  if (dot->gemv) {
    tile_gemv(run, &tile);
  } else {
    tile_gemm(run, &tile);
  }
  vtpu_dot_tile_end(&dot->target, &run->call, &tile.at);
}

// Rounds a stretch of rows of the matrix of a gemv into the copy that is kept.
static void round_item(void* arg, int64_t item, int lane) {
  const run_t* run = arg;
  const dot_t* dot = run->dot;
  int side = 1 - dot->vector_side;
  const vtpu_dot_side_t* at = &dot->sides[side].at;
  const vtpu_axis_t *outer = vtpu_dot_outer(at), *inner = vtpu_dot_inner(at);
  int64_t batch = item / outer->count, row = item % outer->count;
  const float* from = (const float*)run->call.in[side] +
                      vtpu_dot_batch_offset(&dot->shape, side, batch) + row * outer->stride;
  (void)lane;
  vtpu_bf16_from_f32(from, run->kept + item * inner->count, inner->count);
}

static vtpu_kept_t* kept_take(run_t* run, const vtpu_exec_t* exec) {
  const dot_t* dot = run->dot;
  int side = 1 - dot->vector_side;
  const vtpu_dot_side_t* at = &dot->sides[side].at;
  int64_t rows = dot->shape.batch_count * vtpu_dot_outer(at)->count;
  size_t size = (size_t)(rows * vtpu_dot_inner(at)->count) * sizeof(uint16_t);
  bool is_fresh;
  vtpu_kept_t* kept =
      vtpu_keep_take(exec->operand_keeps[side], dot->form.words, dot->form.count, size, &is_fresh);
  if (!kept) return NULL;
  run->kept = vtpu_kept_data(kept);
  if (is_fresh) vtpu_lane_for(exec, dot->lane_count, rows, round_item, run);
  return kept;
}

static tpt_status_t run_blas(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                             const void* const* in, void* const* out) {
  const dot_t* dot = kernel->state;
  run_t run = {.dot = dot, .call = {exec, in, out, scratch}};
  int64_t items = dot->shape.batch_count * dot->m_tiles * dot->n_tiles;
  if (items == 0) return NULL;
  for (int s = 0; s < 2; s++)
    if (dot->sides[s].is_whole) stage_whole(&run, exec, s);
  vtpu_kept_t* kept = dot->form.count > 0 ? kept_take(&run, exec) : NULL;
  vtpu_lane_for(exec, dot->lane_count, items, tile_item, &run);
  vtpu_kept_give(kept);
  return NULL;
}
