// dot_general: every operand is seen as batch x free x contracting. An operand whose axes collapse
// to strides goes to BLAS where it lies; one that must be rounded, widened or made contiguous is
// staged, either whole (when several tiles read it) or one panel at a time. Tiles of the result are
// the unit of parallel work; their shape depends on the shapes only, so results do not depend on
// the cores.
//
// f32: DEFAULT multiplies operands rounded to bf16, HIGH adds the products of the rests (three
// passes), HIGHEST is plain f32. The precision of complex operands is always HIGHEST.
#include <string.h>

#include "vtpu/gemv.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/panel.h"

enum {
  TILE = 256,     // rows and columns of an output tile
  TILE_MIN = 64,  // not cut below this for the sake of parallelism
  TILES_WANTED = 8,
  K_STAGED = 512,              // contracting extent of a staged panel
  VECTOR_TILE = 512,           // matrix rows or columns of a tile of a matrix-vector product
  K_DIRECT = 1 << 24,          // of one BLAS call otherwise
  STAGE_WHOLE_MAX = 32 << 20,  // bytes
};

// One operand. part_count is 2 (high and low) for a three-pass product, else 1.
typedef struct side {
  tpt_dtype_t dtype;
  vtpu_axis_t free, contract;
  int64_t batch_stride[TPT_RANK_MAX];
  bool contract_inner;  // panels are stored free x contract, else contract x free
  bool is_direct;       // BLAS reads the operand itself
  bool is_whole;        // staged whole before the tiles
  int part_count;
  vtpu_part_t parts[2];
  int64_t block;        // free positions of a tile
  size_t whole_offset;  // of part 0 in scratch; parts follow each other
  size_t whole_part_size;
  size_t panel_offset[2];  // in a lane's scratch
} side_t;

typedef struct dot {
  vtpu_compute_t compute;
  side_t sides[2];
  int batch_rank;
  int64_t batch_dims[TPT_RANK_MAX];
  int64_t batch_count, m, n, k;
  int64_t k_block, m_tiles, n_tiles;
  vtpu_gemv_fn_t gemv;  // (optional) one side is a vector, the other is converted on the way
  int vector_side;      // with gemv
  vtpu_convert_fn_t narrow;
  bool writes_directly;  // the result has the compute type
  size_t element_size;   // of the compute type
  size_t result_size;    // of an element of the result
  int lane_count;
  size_t lanes_offset, lane_size;
  size_t temp_offset, tile_offset, low_offset;  // in a lane's scratch
} dot_t;

typedef struct run {
  const dot_t* dot;
  const void* in[2];
  char* out;
  char* scratch;
} run_t;

// --- prepare
// ----------------------------------------------------------------------------------------

typedef struct dims {
  int count;
  int64_t size[TPT_RANK_MAX], stride[TPT_RANK_MAX];
} dims_t;

static void dims_add(dims_t* dims, int64_t size, int64_t stride) {
  if (size == 1) return;
  dims->size[dims->count] = size;
  dims->stride[dims->count++] = stride;
}

static int64_t dims_size(const dims_t* dims) {
  int64_t size = 1;
  for (int i = 0; i < dims->count; i++)
    size *= dims->size[i];
  return size;
}

// Row-major walk over `dims` as one axis: a stride if they collapse, a table otherwise.
static vtpu_axis_t axis_make(const dims_t* dims, tpt_arena_t* arena) {
  vtpu_axis_t axis = {.count = dims_size(dims), .stride = 1};
  if (dims->count == 0 || axis.count == 0) return axis;
  axis.stride = dims->stride[dims->count - 1];
  bool collapses = true;
  for (int i = 0; i + 1 < dims->count; i++)
    collapses &= dims->stride[i] == dims->size[i + 1] * dims->stride[i + 1];
  if (collapses) return axis;
  int64_t* table = tpt_arena_alloc(arena, (size_t)axis.count * sizeof(*table));
  int32_t* run = tpt_arena_alloc(arena, (size_t)axis.count * sizeof(*run));
  if (!table || !run) return axis;
  for (int64_t i = 0; i < axis.count; i++) {
    int64_t rest = i, offset = 0;
    for (int d = dims->count - 1; d >= 0; d--) {
      offset += rest % dims->size[d] * dims->stride[d];
      rest /= dims->size[d];
    }
    table[i] = offset;
  }
  axis.even_run = vtpu_axis_runs(table, axis.count, run);
  axis.table = table;
  axis.run = run;
  return axis;
}

static void strides_of(const tpt_type_t* type, int64_t* strides) {
  int64_t stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= type->dims[d];
  }
}

// Contracting pairs in the order of the lhs's (or the rhs's) dimensions: any common order sums the
// same products, and the operand's own order is the one that collapses.
static void contract_sort(tpt_dot_t* dims, bool by_rhs) {
  int64_t* key = by_rhs ? dims->rhs_contract : dims->lhs_contract;
  int64_t* other = by_rhs ? dims->lhs_contract : dims->rhs_contract;
  for (int i = 1; i < dims->contract_count; i++) {
    for (int j = i; j > 0 && key[j - 1] > key[j]; j--) {
      int64_t a = key[j], b = other[j];
      key[j] = key[j - 1], other[j] = other[j - 1];
      key[j - 1] = a, other[j - 1] = b;
    }
  }
}

static void side_axes(side_t* side, const tpt_type_t* type, const tpt_dot_t* dot, bool is_rhs,
                      tpt_arena_t* arena) {
  const int64_t* batch = is_rhs ? dot->rhs_batch : dot->lhs_batch;
  const int64_t* contract = is_rhs ? dot->rhs_contract : dot->lhs_contract;
  int64_t strides[TPT_RANK_MAX];
  strides_of(type, strides);
  bool is_taken[TPT_RANK_MAX] = {false};
  dims_t free = {0}, inner = {0};
  for (int i = 0; i < dot->batch_count; i++) {
    side->batch_stride[i] = strides[batch[i]];
    is_taken[batch[i]] = true;
  }
  for (int i = 0; i < dot->contract_count; i++) {
    dims_add(&inner, type->dims[contract[i]], strides[contract[i]]);
    is_taken[contract[i]] = true;
  }
  for (int d = 0; d < type->rank; d++)
    if (!is_taken[d]) dims_add(&free, type->dims[d], strides[d]);
  side->dtype = type->dtype;
  side->free = axis_make(&free, arena);
  side->contract = axis_make(&inner, arena);
  bool contract_is_unit = inner.count == 0 || inner.stride[inner.count - 1] == 1;
  bool free_is_unit = free.count == 0 || free.stride[free.count - 1] == 1;
  side->contract_inner = contract_is_unit || !free_is_unit;
}

static void side_parts(side_t* side, vtpu_compute_t compute, tpt_precision_t precision) {
  bool is_f32 = side->dtype == TPT_F32 && compute == VTPU_COMPUTE_F32;
  side->part_count = is_f32 && precision == TPT_PRECISION_HIGH ? 2 : 1;
  side->parts[0] = is_f32 && precision != TPT_PRECISION_HIGHEST ? VTPU_PART_HIGH : VTPU_PART_EXACT;
  side->parts[1] = VTPU_PART_LOW;
  const vtpu_axis_t* inner = side->contract_inner ? &side->contract : &side->free;
  const vtpu_axis_t* outer = side->contract_inner ? &side->free : &side->contract;
  side->is_direct = side->part_count == 1 &&
                    vtpu_widen_is_copy(side->dtype, compute, side->parts[0]) && !inner->table &&
                    !outer->table && inner->stride == 1 && outer->stride <= INT32_MAX;
}

// A vector times a matrix that must be converted: the matrix is then read once and never staged.
static void choose_gemv(dot_t* dot) {
  if (dot->compute != VTPU_COMPUTE_F32 || (dot->m != 1 && dot->n != 1)) return;
  dot->vector_side = dot->m == 1 ? 0 : 1;
  const side_t *vector = &dot->sides[dot->vector_side], *matrix = &dot->sides[1 - dot->vector_side];
  const vtpu_axis_t* inner = matrix->contract_inner ? &matrix->contract : &matrix->free;
  const vtpu_axis_t* outer = matrix->contract_inner ? &matrix->free : &matrix->contract;
  if (vector->part_count + matrix->part_count > 2 || matrix->is_direct || vector->is_direct ||
      inner->table || outer->table || inner->stride != 1 || dot->k == 0 ||
      (matrix->dtype == TPT_F32 && matrix->parts[0] != VTPU_PART_HIGH))
    return;
  dot->gemv = vtpu_gemv_fn(matrix->dtype, !matrix->contract_inner);
}

static int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

static void choose_tiles(dot_t* dot) {
  int64_t tile = dot->gemv ? VECTOR_TILE : TILE;
  int64_t block_m = dot->m < tile ? dot->m : tile, block_n = dot->n < tile ? dot->n : tile;
  if (block_m < 1) block_m = 1;
  if (block_n < 1) block_n = 1;
  double flops = 2.0 * (double)dot->batch_count * (double)dot->m * (double)dot->n * (double)dot->k;
  while (flops > 4e6 && (block_m > TILE_MIN || block_n > TILE_MIN) &&
         dot->batch_count * ceil_div(dot->m, block_m) * ceil_div(dot->n, block_n) < TILES_WANTED) {
    int64_t* larger = block_m > block_n ? &block_m : &block_n;
    *larger = ceil_div(ceil_div(*larger, 2), 16) * 16;
  }
  dot->m_tiles = ceil_div(dot->m, block_m);
  dot->n_tiles = ceil_div(dot->n, block_n);
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
    size_t part = vtpu_scratch_align((size_t)(dot->batch_count * side->free.count * dot->k) *
                                     dot->element_size);
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
  if (dot->k_block > dot->k) dot->k_block = dot->k;
  for (int s = 0; s < 2; s++) {
    side_t* side = &dot->sides[s];
    int64_t row = side->is_whole ? (side->contract_inner ? dot->k : side->free.count)
                                 : (side->contract_inner ? dot->k_block : side->block);
    if (!side->is_direct && row > temp) temp = row;
    bool has_panel = !side->is_direct && !side->is_whole && !dot->gemv;
    for (int p = 0; p < side->part_count && has_panel; p++) {
      side->panel_offset[p] = lane;
      lane += side_panel_size(dot, side);
    }
  }
  dot->temp_offset = lane;
  lane += vtpu_scratch_align((size_t)temp * 16);
  size_t tile =
      vtpu_scratch_align((size_t)(dot->sides[0].block * dot->sides[1].block) * dot->element_size);
  dot->tile_offset = lane;
  if (!dot->writes_directly) lane += tile;
  dot->low_offset = lane;
  if (dot->sides[0].part_count + dot->sides[1].part_count > 2) lane += tile;
  dot->lanes_offset = offset;
  dot->lane_size = lane;
  kernel->scratch_size = offset + lane * (size_t)dot->lane_count;
}

tpt_status_t vtpu_dot_prepare(vtpu_kernel_t* kernel) {
  const tpt_type_t *lhs = &kernel->operand_types[0], *rhs = &kernel->operand_types[1];
  const tpt_type_t* result = &kernel->result_types[0];
  dot_t* dot = tpt_arena_calloc(kernel->arena, 1, sizeof(*dot));
  if (!dot) return tpt_arena_status(kernel->arena);
  TPT_TRY(vtpu_compute_find(lhs->dtype, rhs->dtype, result->dtype, &dot->compute));
  tpt_dot_t dims;
  tpt_node_dot(kernel->node, &dims);
  contract_sort(&dims, tpt_type_count(rhs) > tpt_type_count(lhs));
  side_axes(&dot->sides[0], lhs, &dims, false, kernel->arena);
  side_axes(&dot->sides[1], rhs, &dims, true, kernel->arena);
  for (int s = 0; s < 2; s++)
    side_parts(&dot->sides[s], dot->compute, dims.precision);
  dot->batch_rank = dims.batch_count;
  dot->batch_count = 1;
  for (int i = 0; i < dims.batch_count; i++) {
    dot->batch_dims[i] = lhs->dims[dims.lhs_batch[i]];
    dot->batch_count *= dot->batch_dims[i];
  }
  dot->m = dot->sides[0].free.count;
  dot->n = dot->sides[1].free.count;
  dot->k = dot->sides[0].contract.count;
  dot->element_size = vtpu_compute_row(dot->compute)->size;
  dot->result_size = tpt_dtype_size(result->dtype);
  dot->narrow = vtpu_narrow_fn(dot->compute, result->dtype);
  dot->writes_directly =
      vtpu_widen_is_copy(result->dtype, dot->compute, VTPU_PART_EXACT) && dot->n <= INT32_MAX;
  choose_gemv(dot);
  choose_tiles(dot);
  kernel->flops = 2.0 * (double)dot->batch_count * (double)dot->m * (double)dot->n * (double)dot->k;
  int64_t items = dot->batch_count * dot->m_tiles * dot->n_tiles;
  int passes = dot->sides[0].part_count + dot->sides[1].part_count - 1;
  double bytes = (double)(tpt_type_size(lhs) + tpt_type_size(rhs) + tpt_type_size(result));
  double rate = dot->compute == VTPU_COMPUTE_F32   ? 60.0
                : dot->compute == VTPU_COMPUTE_F64 ? 30.0
                                                   : 5.0;
  kernel->cost = (int64_t)(kernel->flops * passes / rate + bytes / 10) + 100 + items * 60;
  dot->lane_count = vtpu_lane_count(items, kernel->cost);
  layout_scratch(dot, kernel);
  kernel->state = dot;
  return tpt_arena_status(kernel->arena);
}

// --- run
// --------------------------------------------------------------------------------------------

static int64_t batch_offset(const dot_t* dot, const side_t* side, int64_t batch) {
  int64_t offset = 0;
  for (int d = dot->batch_rank - 1; d >= 0; d--) {
    offset += batch % dot->batch_dims[d] * side->batch_stride[d];
    batch /= dot->batch_dims[d];
  }
  return offset;
}

static vtpu_panel_t side_panel(const run_t* run, int s, int part, int64_t batch) {
  const dot_t* dot = run->dot;
  const side_t* side = &dot->sides[s];
  size_t size = tpt_dtype_size(side->dtype);
  vtpu_panel_t panel = {.element_size = size, .out_size = dot->element_size};
  panel.data = (const char*)run->in[s] + batch_offset(dot, side, batch) * (int64_t)size;
  panel.row = side->contract_inner ? side->free : side->contract;
  panel.col = side->contract_inner ? side->contract : side->free;
  if (!vtpu_widen_is_copy(side->dtype, dot->compute, side->parts[part]))
    panel.widen = vtpu_widen_fn(side->dtype, dot->compute, side->parts[part]);
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
  int64_t block = item % whole->blocks, batch = item / whole->blocks % dot->batch_count;
  int part = (int)(item / whole->blocks / dot->batch_count);
  vtpu_panel_t panel = side_panel(whole->run, whole->side, part, batch);
  int64_t first = block * whole->row_block, rest = whole->row_count - first;
  vtpu_block_t rows = {.row = first, .col_count = (int)panel.col.count};
  rows.row_count = (int)(rest < whole->row_block ? rest : whole->row_block);
  char* to = whole->run->scratch + side->whole_offset + side->whole_part_size * (size_t)part +
             (size_t)((batch * whole->row_count + first) * panel.col.count) * dot->element_size;
  char* temp =
      whole->run->scratch + dot->lanes_offset + dot->lane_size * (size_t)lane + dot->temp_offset;
  vtpu_panel_pack(&panel, &rows, temp, to);
}

static void stage_whole(const run_t* run, const vtpu_exec_t* exec, int s) {
  const dot_t* dot = run->dot;
  const side_t* side = &dot->sides[s];
  int64_t cols = side->contract_inner ? dot->k : side->free.count;
  whole_t whole = {.run = run, .side = s};
  whole.row_count = side->contract_inner ? side->free.count : dot->k;
  whole.row_block = cols > 0 && 16384 / cols > 1 ? 16384 / cols : 1;
  whole.blocks = ceil_div(whole.row_count, whole.row_block);
  vtpu_lane_for(exec, dot->lane_count, whole.blocks * dot->batch_count * side->part_count,
                whole_item, &whole);
}

typedef struct tile {
  int64_t batch, first[2];  // first free position of each side
  int count[2];             // rows and columns
  int64_t k;
  int k_count;
  char* lane;
} tile_t;

typedef struct matrix {
  const void* data;
  int ld;
} matrix_t;

// The part of an operand that the tile's present contracting range multiplies.
static matrix_t tile_operand(const run_t* run, const tile_t* tile, int s, int part) {
  const dot_t* dot = run->dot;
  const side_t* side = &dot->sides[s];
  const vtpu_axis_t* outer = side->contract_inner ? &side->free : &side->contract;
  const vtpu_axis_t* inner = side->contract_inner ? &side->contract : &side->free;
  int64_t row = side->contract_inner ? tile->first[s] : tile->k;
  int64_t col = side->contract_inner ? tile->k : tile->first[s];
  int64_t inner_count = inner->count < INT32_MAX ? inner->count : INT32_MAX;
  if (side->is_direct) {
    int64_t offset = batch_offset(dot, side, tile->batch) + row * outer->stride + col;
    int64_t ld = outer->count > 1 ? outer->stride : inner_count;
    return (matrix_t){(const char*)run->in[s] + offset * (int64_t)dot->element_size,
                      ld > 0 ? (int)ld : 1};
  }
  if (side->is_whole) {
    int64_t offset = (tile->batch * outer->count + row) * inner->count + col;
    return (matrix_t){run->scratch + side->whole_offset + side->whole_part_size * (size_t)part +
                          offset * (int64_t)dot->element_size,
                      (int)inner_count};
  }
  vtpu_panel_t panel = side_panel(run, s, part, tile->batch);
  vtpu_block_t block = {.row = row, .col = col};
  block.row_count = side->contract_inner ? tile->count[s] : tile->k_count;
  block.col_count = side->contract_inner ? tile->k_count : tile->count[s];
  char* to = tile->lane + side->panel_offset[part];
  vtpu_panel_pack(&panel, &block, tile->lane + dot->temp_offset, to);
  return (matrix_t){to, block.col_count > 0 ? block.col_count : 1};
}

static void gemm_pass(const run_t* run, const tile_t* tile, const matrix_t* a, const matrix_t* b,
                      vtpu_gemm_t* gemm) {
  const dot_t* dot = run->dot;
  gemm->trans_a = !dot->sides[0].contract_inner;
  gemm->trans_b = dot->sides[1].contract_inner;
  gemm->m = tile->count[0], gemm->n = tile->count[1], gemm->k = tile->k_count;
  gemm->a = a->data, gemm->lda = a->ld;
  gemm->b = b->data, gemm->ldb = b->ld;
  vtpu_compute_row(dot->compute)->gemm(gemm);
}

// The tile of a matrix-vector product; c is contiguous.
static void tile_gemv(const run_t* run, const tile_t* tile, float* c) {
  const dot_t* dot = run->dot;
  int v = dot->vector_side;
  const side_t* matrix = &dot->sides[1 - v];
  tile_t whole = *tile;
  whole.k_count = (int)(dot->k < INT32_MAX ? dot->k : INT32_MAX);
  int64_t first = tile->first[1 - v], count = tile->count[1 - v];
  const vtpu_axis_t* outer = matrix->contract_inner ? &matrix->free : &matrix->contract;
  int64_t offset = batch_offset(dot, matrix, tile->batch) +
                   first * (matrix->contract_inner ? matrix->free.stride : 1);
  vtpu_gemv_t gemv = {.ld = outer->stride, .y = c};
  gemv.matrix = (const char*)run->in[1 - v] + offset * (int64_t)tpt_dtype_size(matrix->dtype);
  gemv.rows = matrix->contract_inner ? count : dot->k;
  gemv.cols = matrix->contract_inner ? dot->k : count;
  gemv.x = tile_operand(run, &whole, v, 0).data;
  dot->gemv(&gemv);
}

// Where a tile is summed: rows ldc apart; the sum of low products is dense.
typedef struct target {
  char* c;
  int ldc;
  float* low;
} target_t;

static void tile_gemm(const run_t* run, tile_t* tile, const target_t* to) {
  const dot_t* dot = run->dot;
  int part_counts[2] = {dot->sides[0].part_count, dot->sides[1].part_count};
  do {  // without terms there still are zeros to write
    int64_t rest = dot->k - tile->k;
    tile->k_count = (int)(rest < dot->k_block ? rest : dot->k_block);
    matrix_t operand[2][2];
    for (int s = 0; s < 2; s++)
      for (int p = 0; p < part_counts[s]; p++)
        operand[s][p] = tile_operand(run, tile, s, p);
    vtpu_gemm_t gemm = {.accumulate = tile->k > 0, .c = to->c, .ldc = to->ldc};
    gemm_pass(run, tile, &operand[0][0], &operand[1][0], &gemm);
    gemm.c = to->low, gemm.ldc = tile->count[1];
    for (int s = 0; s < 2; s++) {
      if (part_counts[s] < 2) continue;
      gemm_pass(run, tile, &operand[0][s == 0], &operand[1][s == 1], &gemm);
      gemm.accumulate = true;
    }
    tile->k += tile->k_count;
  } while (tile->k < dot->k);
  if (part_counts[0] + part_counts[1] > 2)
    vtpu_low_add((float*)to->c, to->ldc, to->low, tile->count[0], tile->count[1]);
}

static void tile_item(void* arg, int64_t item, int lane) {
  const run_t* run = arg;
  const dot_t* dot = run->dot;
  tile_t tile = {.lane = run->scratch + dot->lanes_offset + dot->lane_size * (size_t)lane};
  int64_t position[2] = {item / dot->n_tiles % dot->m_tiles, item % dot->n_tiles};
  tile.batch = item / dot->n_tiles / dot->m_tiles;
  for (int s = 0; s < 2; s++) {
    const side_t* side = &dot->sides[s];
    tile.first[s] = position[s] * side->block;
    int64_t rest = side->free.count - tile.first[s];
    tile.count[s] = (int)(rest < side->block ? rest : side->block);
  }
  int64_t result_offset = (tile.batch * dot->m + tile.first[0]) * dot->n + tile.first[1];
  char* result = run->out + result_offset * (int64_t)dot->result_size;
  target_t to = {result, (int)dot->n, (float*)(tile.lane + dot->low_offset)};
  if (!dot->writes_directly) to.c = tile.lane + dot->tile_offset, to.ldc = tile.count[1];
  if (dot->gemv) {
    tile_gemv(run, &tile, (float*)to.c);
  } else {
    tile_gemm(run, &tile, &to);
  }
  for (int i = 0; i < tile.count[0] && !dot->writes_directly; i++)
    dot->narrow(to.c + (size_t)i * (size_t)to.ldc * dot->element_size,
                result + (size_t)(i * dot->n) * dot->result_size, tile.count[1]);
}

tpt_status_t vtpu_dot_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                          const void* const* in, void* const* out) {
  const dot_t* dot = kernel->state;
  run_t run = {.dot = dot, .in = {in[0], in[1]}, .out = out[0], .scratch = scratch};
  int64_t items = dot->batch_count * dot->m_tiles * dot->n_tiles;
  if (items == 0) return NULL;
  for (int s = 0; s < 2; s++)
    if (dot->sides[s].is_whole) stage_whole(&run, exec, s);
  vtpu_lane_for(exec, dot->lane_count, items, tile_item, &run);
  return NULL;
}
