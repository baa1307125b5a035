// Runs a fused loop: walks its tiles with an odometer, moves lanes that are not contiguous, calls the
// vector machine. Everything a thread needs lies on its stack.
#include <string.h>

#include "vtpu/lane.h"
#include "vtpu/loop_build.h"
#include "vtpu/subnormal.h"

// --- lanes in and out ------------------------------------------------------------------------------------

static int64_t run_extent(const vtpu_frame_t* frame, const vtpu_span_t* run) {
  return run->partial < 0 ? run->count : run->count * frame->extent[run->partial];
}

// Moves the innermost run of every position of the outer ones.
static void lanes_move(const vtpu_frame_t* frame, const vtpu_instr_t* instr, char* memory,
                       char* lanes, bool load) {
  const vtpu_pattern_t* pattern = instr->extra;
  int64_t size = instr->size;
  int64_t extents[VTPU_LOOP_RANK_MAX], at[VTPU_LOOP_RANK_MAX];
  int inner = pattern->rank - 1;
  for (int d = 0; d <= inner; d++) {
    extents[d] = run_extent(frame, &pattern->runs[d]);
    at[d] = 0;
  }
  int64_t count = extents[inner], stride = pattern->runs[inner].stride;
  for (;;) {
    if (load)
      instr->move(lanes, size, memory, stride, count);
    else
      instr->move(memory, stride, lanes, size, count);
    lanes += count * size;
    int d = inner - 1;
    for (; d >= 0; d--) {
      memory += pattern->runs[d].stride;
      if (++at[d] < extents[d]) break;
      memory -= pattern->runs[d].stride * extents[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

static void lanes_fill(const vtpu_frame_t* frame, const vtpu_instr_t* instr, const void* element) {
  instr->move(frame->slots[instr->dst], instr->size, element, 0, frame->lanes);
}

static void lanes_load(const vtpu_frame_t* frame, const vtpu_instr_t* instr) {
  const vtpu_pattern_t* pattern = instr->extra;
  if (pattern->rank == 0)
    lanes_fill(frame, instr, frame->slots[instr->a]);
  else
    lanes_move(frame, instr, frame->slots[instr->a], frame->slots[instr->dst], true);
}

static void lanes_transpose(const vtpu_frame_t* frame, const vtpu_instr_t* instr) {
  const vtpu_pattern_t* pattern = instr->extra;
  instr->transpose(frame->slots[instr->dst], frame->slots[instr->a], pattern->runs[1].stride,
                   run_extent(frame, &pattern->runs[0]), run_extent(frame, &pattern->runs[1]));
}

static void lanes_store(const vtpu_frame_t* frame, const vtpu_instr_t* instr) {
  const vtpu_pattern_t* pattern = instr->extra;
  if (pattern->rank == 0)  // a tile of one lane
    memcpy(frame->slots[instr->dst], frame->slots[instr->a], instr->size);
  else
    lanes_move(frame, instr, frame->slots[instr->dst], frame->slots[instr->a], false);
}

static void lanes_spread(const vtpu_frame_t* frame, const vtpu_instr_t* instr) {
  int64_t size = instr->size;
  char* dst = frame->slots[instr->dst];
  const char* a = frame->slots[instr->a];
  for (int64_t row = 0; row < frame->rows; row++)
    instr->move(dst + row * frame->columns * size, size, a + row * size, 0, frame->columns);
}

// Asks for the next burst of lines.
static void ahead_take(const vtpu_frame_t* frame) {
  vtpu_ahead_t* ahead = frame->ahead;
  if (!ahead) return;
  for (int left = ahead->burst; left > 0 && ahead->count > 0;) {
    const char *next = ahead->ranges[ahead->count - 1].next,
               *end = ahead->ranges[ahead->count - 1].end;
    const char* stop = end - next > (int64_t)left * 64 ? next + (int64_t)left * 64 : end;
    left -= (int)((stop - next + 63) / 64);
    for (const char* line = next; line < stop; line += 64)
      __builtin_prefetch(line);
    ahead->ranges[ahead->count - 1].next = stop;
    if (stop == end) ahead->count--;
  }
}

// Steps in bytes per lane of operands a, b, c (f32) of a slow op.
static void op_pieces(const vtpu_frame_t* frame, const vtpu_instr_t* instr, char* dst,
                      const char* const from[3], int64_t lanes) {
  const int64_t steps[3] = {instr->spread & VTPU_OPERAND_A ? 0 : 4,
                            instr->spread & VTPU_OPERAND_B ? 0 : 4,
                            instr->spread & VTPU_OPERAND_C ? 0 : 4};
  for (int64_t i = 0; i < lanes; i += VTPU_AHEAD_LANES) {
    int64_t count = lanes - i < VTPU_AHEAD_LANES ? lanes - i : VTPU_AHEAD_LANES;
    instr->fn(dst + i * 4, from[0] + i * steps[0], from[1] + i * steps[1], from[2] + i * steps[2],
              count);
    ahead_take(frame);
  }
}

static void op_run(const vtpu_frame_t* frame, const vtpu_instr_t* instr) {
  void* const* slots = frame->slots;
  int64_t lanes = instr->by_row ? frame->rows : frame->lanes;
  if (frame->ahead && instr->is_slow && lanes > VTPU_AHEAD_LANES) {
    const char* from[3] = {slots[instr->a], slots[instr->b], slots[instr->c]};
    op_pieces(frame, instr, slots[instr->dst], from, lanes);
    return;
  }
  instr->fn(slots[instr->dst], slots[instr->a], instr->extra ? instr->extra : slots[instr->b],
            slots[instr->c], lanes);
  ahead_take(frame);
}

static int64_t row_stride(const vtpu_frame_t* frame, const vtpu_instr_t* instr, int operand) {
  if (!(instr->spread & operand)) return frame->columns * 4;
  return instr->step & operand ? 4 : 0;
}

static void rows_op(const vtpu_frame_t* frame, const vtpu_instr_t* instr) {
  char* dst = frame->slots[instr->dst];
  const char* from[3] = {frame->slots[instr->a], frame->slots[instr->b], frame->slots[instr->c]};
  const int64_t steps[3] = {row_stride(frame, instr, VTPU_OPERAND_A),
                            row_stride(frame, instr, VTPU_OPERAND_B),
                            row_stride(frame, instr, VTPU_OPERAND_C)};
  bool pieces = frame->ahead && instr->is_slow && frame->columns >= VTPU_AHEAD_LANES;
  for (int64_t row = 0; row < frame->rows; row++) {
    if (pieces)
      op_pieces(frame, instr, dst, from, frame->columns);
    else
      instr->fn(dst, from[0], from[1], from[2], frame->columns);
    dst += frame->columns * 4;
    for (int i = 0; i < 3; i++)
      from[i] += steps[i];
  }
  if (!pieces) ahead_take(frame);
}

static void lanes_iota(const vtpu_frame_t* frame, const vtpu_instr_t* instr) {
  const vtpu_pattern_t* pattern = instr->extra;
  int64_t* out = frame->slots[instr->dst];
  int64_t value = (int64_t)(intptr_t)frame->slots[instr->a];
  if (pattern->rank == 0) {
    for (int64_t i = 0; i < frame->lanes; i++)
      out[i] = value;
    return;
  }
  int64_t extents[VTPU_LOOP_RANK_MAX], at[VTPU_LOOP_RANK_MAX];
  int inner = pattern->rank - 1;
  for (int d = 0; d <= inner; d++) {
    extents[d] = run_extent(frame, &pattern->runs[d]);
    at[d] = 0;
  }
  for (;;) {
    for (int64_t i = 0; i < extents[inner]; i++)
      out[i] = value + i * pattern->runs[inner].stride;
    out += extents[inner];
    int d = inner - 1;
    for (; d >= 0; d--) {
      value += pattern->runs[d].stride;
      if (++at[d] < extents[d]) break;
      value -= pattern->runs[d].stride * extents[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

// --- tiles -----------------------------------------------------------------------------------------------

static void extents_set(vtpu_frame_t* frame) {
  const vtpu_loop_t* loop = frame->loop;
  for (int p = 0; p < 2; p++) {
    int level = loop->partial[p].level;
    if (level >= 0)
      frame->extent[p] =
          frame->at[level] == loop->tiles[level] - 1 ? loop->partial[p].last : loop->partial[p].box;
  }
  frame->rows = loop->row_lanes * frame->extent[0];
  frame->columns = loop->column_lanes * frame->extent[1];
  frame->lanes = frame->rows * frame->columns;
}

static intptr_t stream_base(const vtpu_frame_t* frame, uint32_t buffer) {
  if (buffer == UINT32_MAX) return 0;
  if (vtpu_buffer_is_local(buffer))
    return (intptr_t)frame->local + (intptr_t)(buffer & ~VTPU_BUFFER_LOCAL) * 64;
  return (intptr_t)frame->pointers[buffer];
}

void vtpu_frame_seek(vtpu_frame_t* frame, int64_t kept_tile, int64_t reduced_tile) {
  const vtpu_loop_t* loop = frame->loop;
  for (int level = loop->kept_level_count - 1; level >= 0; level--) {
    frame->at[level] = kept_tile % loop->tiles[level];
    kept_tile /= loop->tiles[level];
  }
  for (int level = loop->level_count - 1; level >= loop->kept_level_count; level--) {
    frame->at[level] = reduced_tile % loop->tiles[level];
    reduced_tile /= loop->tiles[level];
  }
  for (int s = 0; s < loop->stream_count; s++) {
    const vtpu_stream_t* stream = &loop->streams[s];
    intptr_t base = stream_base(frame, stream->buffer);
    int64_t offset = stream->offset;
    for (int level = 0; level < loop->level_count; level++)
      offset += stream->step[level] * frame->at[level];
    if (loop->row_level >= 0 && vtpu_buffer_is_local(stream->buffer))
      offset -= stream->step[loop->row_level] * frame->row_first;
    frame->slots[stream->slot] = (void*)(base + offset);
  }
  extents_set(frame);
}

static void frame_advance(vtpu_frame_t* frame) {
  const vtpu_loop_t* loop = frame->loop;
  for (int level = loop->level_count - 1; level >= 0; level--) {
    if (++frame->at[level] == loop->tiles[level]) {
      frame->at[level] = 0;
      continue;
    }
    for (int s = 0; s < loop->stream_count; s++) {
      const vtpu_stream_t* stream = &loop->streams[s];
      frame->slots[stream->slot] =
          (void*)((intptr_t)frame->slots[stream->slot] + stream->delta[level]);
    }
    extents_set(frame);
    return;
  }
}

static void instrs_run(const vtpu_frame_t* frame, int first, int end) {
  const vtpu_loop_t* loop = frame->loop;
  void* const* slots = frame->slots;
  for (int i = first; i < end; i++) {
    const vtpu_instr_t* instr = &loop->instrs[i];
    switch ((vtpu_instr_kind_t)instr->kind) {
    case VTPU_INSTR_NONE:
      break;
    case VTPU_INSTR_OP:
      op_run(frame, instr);
      break;
    case VTPU_INSTR_ROWS:
      rows_op(frame, instr);
      break;
    case VTPU_INSTR_SPREAD:
      lanes_spread(frame, instr);
      break;
    case VTPU_INSTR_LOAD:
      lanes_load(frame, instr);
      break;
    case VTPU_INSTR_TRANSPOSE:
      lanes_transpose(frame, instr);
      break;
    case VTPU_INSTR_GATHER:
      instr->gather(slots[instr->dst], slots[instr->a], instr->extra, frame->lanes);
      break;
    case VTPU_INSTR_STORE:
      lanes_store(frame, instr);
      break;
    case VTPU_INSTR_IOTA:
      lanes_iota(frame, instr);
      break;
    case VTPU_INSTR_FILL:
      lanes_fill(frame, instr, instr->extra);
      break;
    }
  }
}

// --- ranges of work --------------------------------------------------------------------------------------

typedef struct launch {
  const vtpu_loop_t* loop;
  void* const* pointers;
  char* scratch;
  bool flush_subnormals;
} launch_t;

void vtpu_frame_begin(vtpu_frame_t* frame, const vtpu_loop_t* loop, void* const* pointers,
                      char* memory) {
  frame->loop = loop;
  frame->pointers = pointers;
  frame->local = NULL;
  frame->row_first = 0;
  frame->ahead = NULL;
  frame->extent[0] = frame->extent[1] = 1;
  frame->slots[0] = NULL;
  for (int i = 0; i < loop->register_count; i++)
    frame->slots[i] = memory + loop->register_offsets[i];
  frame->work = memory + loop->register_size;
  frame->acc = frame->work + vtpu_align64(loop->work_size);
}

void vtpu_loop_run_vector(const vtpu_loop_t* loop, int64_t count, void* const* pointers) {
  _Alignas(64) char memory[VTPU_LOOP_STACK];
  vtpu_frame_t frame;
  if (count == 0) return;
  vtpu_frame_begin(&frame, loop, pointers, memory);
  vtpu_frame_seek(&frame, 0, 0);
  int64_t box = loop->partial[1].box;
  for (int64_t done = 0; done < count; done += box) {
    frame.extent[1] = frame.columns = frame.lanes = count - done < box ? count - done : box;
    instrs_run(&frame, done == 0 ? 0 : loop->prologue_count, loop->instr_count);
    if (done + box < count)
      for (int s = 0; s < loop->stream_count; s++) {
        const vtpu_stream_t* stream = &loop->streams[s];
        frame.slots[stream->slot] = (char*)frame.slots[stream->slot] + stream->step[0];
      }
  }
}

void vtpu_frame_prologue(vtpu_frame_t* frame) {
  if (frame->loop->prologue_count == 0) return;
  int64_t lanes = frame->lanes, extents[2] = {frame->extent[0], frame->extent[1]};
  for (int p = 0; p < 2; p++)
    if (frame->loop->partial[p].level >= 0) frame->extent[p] = frame->loop->partial[p].box;
  frame->lanes = frame->loop->lanes_max;
  instrs_run(frame, 0, frame->loop->prologue_count);
  frame->lanes = lanes;
  frame->extent[0] = extents[0];
  frame->extent[1] = extents[1];
}

static void map_range(void* arg, int64_t begin, int64_t end, int thread) {
  const launch_t* launch = arg;
  _Alignas(64) char memory[VTPU_LOOP_STACK];
  vtpu_frame_t frame;
  (void)thread;
  vtpu_subnormal_t mode = vtpu_subnormal_begin(launch->flush_subnormals);
  vtpu_frame_begin(&frame, launch->loop, launch->pointers, memory);
  vtpu_frame_seek(&frame, begin, 0);
  vtpu_frame_prologue(&frame);
  for (int64_t tile = begin; tile < end; tile++) {
    instrs_run(&frame, launch->loop->prologue_count, launch->loop->instr_count);
    if (tile + 1 < end) frame_advance(&frame);
  }
  vtpu_subnormal_end(mode);
}

// Takes the reduced tiles [begin, end) of a unit, from where the frame stands; ends at the last one.
static void unit_take(vtpu_frame_t* frame, int64_t begin, int64_t end, char* acc) {
  const vtpu_loop_t* loop = frame->loop;
  int64_t lanes = loop->across ? frame->rows : frame->columns;
  int64_t gathered = 0;
  vtpu_reduce_start(frame, acc, lanes);
  for (int64_t tile = begin; tile < end; tile++) {
    instrs_run(frame, loop->prologue_count, loop->instr_count);
    vtpu_reduce_take(frame, acc, tile - begin);
    ahead_take(frame);
    gathered += frame->rows;
    if (gathered >= VTPU_VM_SETTLE_ROWS) {
      vtpu_reduce_settle(frame, acc, lanes);
      gathered = 0;
    }
    if (tile + 1 < end) frame_advance(frame);
  }
  vtpu_reduce_settle(frame, acc, lanes);
}

static void reduce_unit(vtpu_frame_t* frame, int64_t kept_tile, int64_t chunk, char* acc) {
  const vtpu_loop_t* loop = frame->loop;
  int64_t begin = loop->reduced_tiles * chunk / loop->chunks;
  int64_t end = loop->reduced_tiles * (chunk + 1) / loop->chunks;
  vtpu_frame_seek(frame, kept_tile, begin);
  unit_take(frame, begin, end, acc);
}

void vtpu_frame_run(vtpu_frame_t* frame, int64_t count) {
  const vtpu_loop_t* loop = frame->loop;
  for (int64_t tile = 0; tile < count; tile++) {
    if (loop->reduction_count) {
      unit_take(frame, 0, loop->reduced_tiles, frame->acc);
      vtpu_reduce_finish(frame, frame->acc, loop->reduced_tiles == 0);
    } else {
      instrs_run(frame, loop->prologue_count, loop->instr_count);
    }
    frame_advance(frame);
  }
}

static void reduce_range(void* arg, int64_t begin, int64_t end, int thread) {
  const launch_t* launch = arg;
  const vtpu_loop_t* loop = launch->loop;
  _Alignas(64) char memory[VTPU_LOOP_STACK];
  vtpu_frame_t frame;
  (void)thread;
  vtpu_subnormal_t mode = vtpu_subnormal_begin(launch->flush_subnormals);
  vtpu_frame_begin(&frame, launch->loop, launch->pointers, memory);
  vtpu_frame_seek(&frame, begin / loop->chunks, 0);
  if (loop->reduced_tiles > 0) vtpu_frame_prologue(&frame);
  for (int64_t unit = begin; unit < end; unit++) {
    char* acc = loop->chunks > 1 ? launch->scratch + (size_t)unit * loop->acc_size : frame.acc;
    reduce_unit(&frame, unit / loop->chunks, unit % loop->chunks, acc);
    if (loop->chunks == 1) vtpu_reduce_finish(&frame, acc, loop->reduced_tiles == 0);
  }
  vtpu_subnormal_end(mode);
}

// Chunks of one kept tile join in order.
static void chunks_join(const launch_t* launch) {
  const vtpu_loop_t* loop = launch->loop;
  _Alignas(64) char memory[VTPU_LOOP_STACK];
  vtpu_frame_t frame;
  vtpu_frame_begin(&frame, launch->loop, launch->pointers, memory);
  for (int64_t kept = 0; kept < loop->kept_tiles; kept++) {
    vtpu_frame_seek(&frame, kept, 0);
    char* first = launch->scratch + (size_t)(kept * loop->chunks) * loop->acc_size;
    int64_t lanes = loop->across ? frame.rows : frame.columns;
    for (int64_t chunk = 1; chunk < loop->chunks; chunk++)
      vtpu_reduce_merge(&frame, first, first + (size_t)chunk * loop->acc_size, lanes);
    vtpu_reduce_finish(&frame, first, false);
  }
}

void vtpu_loop_run(const vtpu_loop_t* loop, const vtpu_exec_t* exec, void* const* pointers,
                   void* scratch) {
  enum { GRAIN_NS = 20000 };
  launch_t launch = {loop, pointers, scratch, exec->flush_subnormals};
  int64_t units = loop->kept_tiles * loop->chunks;
  if (units == 0) return;
  int64_t grain = units * GRAIN_NS / (loop->cost + 1) + 1;
  tpt_pool_fn_t range = loop->reduction_count ? reduce_range : map_range;
  if (grain >= units)
    range(&launch, 0, units, 0);
  else
    vtpu_range_for(exec, units, grain, range, &launch);
  if (loop->chunks > 1) chunks_join(&launch);
}
