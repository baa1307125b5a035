// Runs row steps: lanes take blocks of rows as they get free and run all parts on each. A lane's scratch
// holds a frame and its registers per loop, the scratch of products, then the local arrays.
#include "vtpu/rows.h"

#include <stdatomic.h>

#include "vtpu/lane.h"
#include "vtpu/subnormal.h"

enum { GRAIN_NS = 20000 };

static size_t frames_size(const vtpu_rows_t* rows) {
  return vtpu_scratch_align(sizeof(vtpu_frame_t) * (size_t)rows->part_count);
}

static int64_t row_tiles(const vtpu_rows_t* rows) {
  return rows->rows / rows->inner_rows *
         ((rows->inner_rows + rows->tile_rows - 1) / rows->tile_rows);
}

// --- memory ahead --------------------------------------------------------------------------------------

static bool ahead_has(const vtpu_rows_t* rows, uint32_t buffer, const vtpu_stream_t* stream) {
  for (int i = 0; i < rows->ahead_count; i++) {
    const vtpu_loop_t* loop = rows->parts[rows->ahead[i].part].loop;
    const vtpu_stream_t* other = &loop->streams[rows->ahead[i].slot - loop->register_count];
    if (other->buffer == buffer && other->offset == stream->offset) return true;
  }
  return false;
}

// Passes of a loop over a block, slow ones counted by pieces.
static int64_t passes_of(const vtpu_loop_t* loop) {
  int64_t passes = loop->reduction_count;
  for (int i = loop->prologue_count; i < loop->instr_count; i++)
    passes += loop->instrs[i].is_slow ? loop->lanes_max / VTPU_AHEAD_LANES + 1 : 1;
  return passes;
}

// Arrays in memory that move on with the blocks, and how many lines to ask for after each pass. Not where
// products take most of the time.
static void ahead_find(vtpu_rows_t* rows) {
  enum { SIZE_LEAST = 256, SIZE_MOST = 32 << 10 };
  int64_t passes = 0, size = 0;
  rows->ahead_count = 0;
  if (rows->span_tiles > 1 || rows->product_size > 0) return;
  for (int i = 0; i < rows->part_count; i++) {
    const vtpu_loop_t* loop = rows->parts[i].loop;
    if (!loop || loop->block_level < 0) continue;
    int64_t tiles = loop->kept_tiles / row_tiles(rows) * loop->reduced_tiles;
    passes += passes_of(loop) * (tiles > 0 ? tiles : 1);
    for (int s = 0; s < loop->stream_count && rows->ahead_count < VTPU_AHEAD_MAX; s++) {
      const vtpu_stream_t* stream = &loop->streams[s];
      int64_t step = stream->step[loop->block_level];
      if (stream->buffer == UINT32_MAX || vtpu_buffer_is_local(stream->buffer) ||
          step < SIZE_LEAST || step > SIZE_MOST || ahead_has(rows, stream->buffer, stream))
        continue;
      rows->ahead[rows->ahead_count++] =
          (vtpu_rows_ahead_t){.part = i, .slot = stream->slot, .size = step};
      size += step;
    }
  }
  rows->ahead_burst = (int)(size / 64 / (passes + 1)) + 1;
}

void vtpu_rows_finish(vtpu_rows_t* rows, int64_t product_cost, double product_flops,
                      double product_bytes) {
  rows->blocks = rows->rows / rows->inner_rows * vtpu_rows_inner_blocks(rows);
  rows->cost = product_cost;
  rows->flops = product_flops;
  rows->bytes = product_bytes;
  rows->product_size = 0;
  rows->lane_size = vtpu_scratch_align(rows->local_size) + frames_size(rows);
  for (int i = 0; i < rows->part_count; i++) {
    const vtpu_loop_t* loop = rows->parts[i].loop;
    if (!loop) {
      size_t size = rows->parts[i].product->scratch_size;
      if (size > rows->product_size) rows->product_size = size;
      continue;
    }
    rows->lane_size += vtpu_scratch_align(loop->frame_size);
    rows->cost += loop->cost;
    rows->flops += loop->flops;
    rows->bytes += loop->bytes;
  }
  rows->lane_size += vtpu_scratch_align(rows->product_size);
  ahead_find(rows);
  rows->lane_count = vtpu_lane_count(rows->blocks, rows->cost);
  rows->scratch_size = rows->lane_size * (size_t)rows->lane_count;
}

typedef struct launch {
  const vtpu_rows_t* rows;
  void* const* pointers;
  char* scratch;
  int64_t grain;
  bool flush_subnormals;
  atomic_llong next;
  _Atomic(tpt_status_t) status;
} launch_t;

typedef struct lane {
  launch_t* launch;
  vtpu_frame_t* frames;  // by part
  char *local, *product_scratch;
  bool is_begun;
  vtpu_ahead_t ahead;
} lane_t;

// A block: tiles [tile, tile + tiles) of the innermost row dimension, of all tiles of rows from
// first_tile on.
typedef struct block {
  int64_t row, first_tile, tile, tiles;
  bool is_last;
} block_t;

static block_t block_at(const vtpu_rows_t* rows, int64_t number) {
  int64_t inner_tiles = (rows->inner_rows + rows->tile_rows - 1) / rows->tile_rows;
  int64_t inner_blocks = vtpu_rows_inner_blocks(rows);
  int64_t outer = number / inner_blocks, inner = number % inner_blocks;
  block_t block = {.tile = inner * rows->span_tiles, .is_last = inner == inner_blocks - 1};
  int64_t left = inner_tiles - block.tile;
  block.tiles = left < rows->span_tiles ? left : rows->span_tiles;
  block.first_tile = outer * inner_tiles + block.tile;
  block.row = outer * rows->inner_rows + block.tile * rows->tile_rows;
  return block;
}

// Kept tiles of a loop per tile of rows.
static int64_t tiles_each(const vtpu_rows_t* rows, const vtpu_loop_t* loop) {
  return loop->kept_tiles / row_tiles(rows);
}

static char* local_at(const lane_t* lane, uint32_t buffer) {
  return lane->local + (size_t)(buffer & ~VTPU_BUFFER_LOCAL) * 64;
}

static void product_run(const lane_t* lane, const vtpu_rows_part_t* part, const block_t* block) {
  launch_t* launch = lane->launch;
  const vtpu_dot_part_t* product = part->product;
  vtpu_dot_piece_t piece = {.which = block->is_last && product->kernels[1] ? 1 : 0,
                            .row = block->row,
                            .rhs = launch->pointers[part->in[1]],
                            .scratch = lane->product_scratch,
                            .flush_subnormals = launch->flush_subnormals};
  if (vtpu_buffer_is_local(part->in[0]))
    piece.lhs_rows = local_at(lane, part->in[0]);
  else
    piece.lhs = launch->pointers[part->in[0]];
  if (vtpu_buffer_is_local(part->out))
    piece.out_rows = local_at(lane, part->out);
  else
    piece.out_rows = (char*)launch->pointers[part->out] + block->row * product->result_stride;
  tpt_status_t status = vtpu_dot_part_run(product, &piece);
  tpt_status_t none = NULL;
  if (status && !atomic_compare_exchange_strong(&launch->status, &none, status))
    tpt_status_release(status);
}

static void frames_seek(lane_t* lane, const block_t* block) {
  const vtpu_rows_t* rows = lane->launch->rows;
  for (int i = 0; i < rows->part_count; i++) {
    const vtpu_loop_t* loop = rows->parts[i].loop;
    if (!loop) continue;
    vtpu_frame_t* frame = &lane->frames[i];
    frame->row_first = block->tile;
    vtpu_frame_seek(frame, block->first_tile * tiles_each(rows, loop), 0);
    if (!lane->is_begun) vtpu_frame_prologue(frame);
  }
  lane->is_begun = true;
}

// The next block's lines, from where the frames stand.
static void ahead_begin(lane_t* lane) {
  const vtpu_rows_t* rows = lane->launch->rows;
  lane->ahead.count = rows->ahead_count;
  lane->ahead.burst = rows->ahead_burst;
  for (int i = 0; i < rows->ahead_count; i++) {
    const vtpu_rows_ahead_t* ahead = &rows->ahead[i];
    const char* next = (const char*)lane->frames[ahead->part].slots[ahead->slot] + ahead->size;
    lane->ahead.ranges[i].next = next;
    lane->ahead.ranges[i].end = next + ahead->size;
  }
}

static void block_run(lane_t* lane, const block_t* block) {
  const vtpu_rows_t* rows = lane->launch->rows;
  ahead_begin(lane);
  for (int i = 0; i < rows->part_count; i++) {
    const vtpu_loop_t* loop = rows->parts[i].loop;
    if (loop)
      vtpu_frame_run(&lane->frames[i], block->tiles * tiles_each(rows, loop));
    else
      product_run(lane, &rows->parts[i], block);
  }
}

static void lane_begin(lane_t* lane, char* memory) {
  const vtpu_rows_t* rows = lane->launch->rows;
  lane->frames = (vtpu_frame_t*)memory;
  lane->local = memory + frames_size(rows);
  lane->product_scratch = lane->local + vtpu_scratch_align(rows->local_size);
  char* registers = lane->product_scratch + vtpu_scratch_align(rows->product_size);
  for (int i = 0; i < rows->part_count; i++) {
    const vtpu_loop_t* loop = rows->parts[i].loop;
    if (!loop) continue;
    vtpu_frame_begin(&lane->frames[i], loop, lane->launch->pointers, registers);
    lane->frames[i].local = lane->local;
    if (rows->ahead_count > 0) lane->frames[i].ahead = &lane->ahead;
    registers += vtpu_scratch_align(loop->frame_size);
  }
}

static void lane_run(launch_t* launch, char* memory) {
  const vtpu_rows_t* rows = launch->rows;
  lane_t lane = {.launch = launch};
  for (;;) {
    int64_t first = atomic_fetch_add_explicit(&launch->next, launch->grain, memory_order_relaxed);
    if (first >= rows->blocks) return;
    int64_t end = first + launch->grain < rows->blocks ? first + launch->grain : rows->blocks;
    if (!lane.frames) lane_begin(&lane, memory);
    for (int64_t number = first; number < end; number++) {
      block_t block = block_at(rows, number);
      // After a block of one tile the frames stand at the next one.
      if (number == first || rows->span_tiles > 1) frames_seek(&lane, &block);
      block_run(&lane, &block);
    }
  }
}

static void lanes_run(void* arg, int64_t begin, int64_t end, int thread) {
  launch_t* launch = arg;
  (void)thread;
  vtpu_subnormal_t mode = vtpu_subnormal_begin(launch->flush_subnormals);
  for (int64_t lane = begin; lane < end; lane++)
    lane_run(launch, launch->scratch + (size_t)lane * launch->rows->lane_size);
  vtpu_subnormal_end(mode);
}

tpt_status_t vtpu_rows_run(const vtpu_rows_t* rows, const vtpu_exec_t* exec, void* const* pointers,
                           void* scratch) {
  launch_t launch = {.rows = rows,
                     .pointers = pointers,
                     .scratch = scratch,
                     .grain = rows->blocks * GRAIN_NS / (rows->cost + 1) + 1,
                     .flush_subnormals = exec->flush_subnormals};
  atomic_init(&launch.next, 0);
  atomic_init(&launch.status, NULL);
  vtpu_range_for(exec, rows->lane_count, 1, lanes_run, &launch);
  return atomic_load(&launch.status);
}
