// reduce_window with any body over any number of operands: blocks of output places advance through the
// taps together; places that lack a tap sit that step out.
#include <string.h>

#include "vtpu/window.h"

void vtpu_window_make(const tpt_node_t* node, const tpt_type_t* in, const tpt_type_t* out,
                      vtpu_window_t* window) {
  tpt_pool_window_t attrs;
  tpt_node_window(node, in->rank, &attrs);
  *window = (vtpu_window_t){.rank = in->rank, .first = in->rank, .last = -1, .outer = 1};
  for (int d = 0; d < in->rank; d++) {
    vtpu_window_axis_t* axis = &window->axis[d];
    *axis = (vtpu_window_axis_t){.in = in->dims[d],
                                 .out = out->dims[d],
                                 .taps = attrs.dims[d],
                                 .stride = attrs.stride[d],
                                 .dilation = attrs.dilation[d],
                                 .low = attrs.pad_low[d],
                                 .base = attrs.base_dilation[d]};
    if (!vtpu_window_axis_moves(axis)) continue;
    if (window->first > d) window->first = d;
    window->last = d;
  }
  if (window->last < 0) {  // nothing moves: the last axis (or a made-up one) stands for the window
    if (in->rank == 0) {
      window->rank = 1;
      window->axis[0] = (vtpu_window_axis_t){1, 1, 1, 1, 1, 0, 1};
    }
    window->first = window->last = window->rank - 1;
  }
  for (int d = 0; d < window->first; d++)
    window->outer *= in->dims[d];
}

typedef struct block {
  int count;
  int64_t place[TPT_RANK_MAX][VTPU_WINDOW_BLOCK];  // output coordinates
  int64_t from[VTPU_WINDOW_BLOCK];                 // input elements of the tap at hand
  int member[VTPU_WINDOW_BLOCK];                   // which block places have the tap
  int member_count;
} block_t;

static void block_start(const vtpu_window_t* w, int64_t first, int count, block_t* block) {
  block->count = count;
  for (int i = 0; i < count; i++) {
    int64_t rest = first + i;
    for (int d = w->rank - 1; d >= 0; d--) {
      block->place[d][i] = rest % w->axis[d].out;
      rest /= w->axis[d].out;
    }
  }
}

// Collects the places that have tap `tap`, and the input elements they read.
static void block_tap(const vtpu_window_t* w, const int64_t* tap, block_t* block) {
  block->member_count = 0;
  for (int i = 0; i < block->count; i++) {
    int64_t from = 0;
    bool is_inside = true;
    for (int d = 0; d < w->rank && is_inside; d++) {
      int64_t place = vtpu_window_place(&w->axis[d], block->place[d][i], tap[d]);
      is_inside = place >= 0;
      from = from * w->axis[d].in + place;
    }
    if (!is_inside) continue;
    block->from[block->member_count] = from;
    block->member[block->member_count++] = i;
  }
}

typedef struct cell {
  uint64_t half[2];
} cell_t;

// Elements keep their own size, packed.
static void gather_cells(const char* in, size_t size, const int64_t* at, int count, char* out) {
  for (int i = 0; i < count; i++)
    memcpy(out + (size_t)i * size, in + at[i] * (int64_t)size, size);
}

static void block_fold(const vtpu_window_body_t* run, block_t* block,
                       cell_t acc[][VTPU_WINDOW_BLOCK]) {
  cell_t value[VTPU_WINDOW_OPERANDS_MAX][VTPU_WINDOW_BLOCK];
  cell_t some[VTPU_WINDOW_OPERANDS_MAX][VTPU_WINDOW_BLOCK];
  const void* in[2 * VTPU_WINDOW_OPERANDS_MAX];
  void* out[VTPU_WINDOW_OPERANDS_MAX];
  bool is_whole = block->member_count == block->count;
  for (int o = 0; o < run->count; o++) {
    size_t size = run->sizes[o];
    gather_cells(run->in[o], size, block->from, block->member_count, (char*)value[o]);
    for (int i = 0; i < block->member_count && !is_whole; i++)
      memcpy((char*)some[o] + (size_t)i * size, (char*)acc[o] + (size_t)block->member[i] * size,
             size);
    out[o] = is_whole ? acc[o] : some[o];
    in[o] = out[o];
    in[run->count + o] = value[o];
  }
  vtpu_body_run(run->body, block->member_count, in, out);
  for (int o = 0; o < run->count && !is_whole; o++) {
    size_t size = run->sizes[o];
    for (int i = 0; i < block->member_count; i++)
      memcpy((char*)acc[o] + (size_t)block->member[i] * size, (char*)some[o] + (size_t)i * size,
             size);
  }
}

void vtpu_window_body_run(const vtpu_window_body_t* run, int64_t begin, int64_t end) {
  const vtpu_window_t* w = run->window;
  cell_t acc[VTPU_WINDOW_OPERANDS_MAX][VTPU_WINDOW_BLOCK];
  block_t block;
  for (int64_t first = begin; first < end; first += VTPU_WINDOW_BLOCK) {
    int count = (int)(end - first < VTPU_WINDOW_BLOCK ? end - first : VTPU_WINDOW_BLOCK);
    block_start(w, first, count, &block);
    for (int o = 0; o < run->count; o++)
      for (int i = 0; i < count; i++)
        memcpy((char*)acc[o] + (size_t)i * run->sizes[o], run->start[o], run->sizes[o]);
    int64_t tap[TPT_RANK_MAX] = {0};
    bool has_taps = true;
    for (int d = 0; d < w->rank; d++)
      has_taps &= w->axis[d].taps > 0;
    while (has_taps) {
      block_tap(w, tap, &block);
      if (block.member_count > 0) block_fold(run, &block, acc);
      int d = w->rank - 1;
      while (d >= 0 && ++tap[d] == w->axis[d].taps)
        tap[d--] = 0;
      has_taps = d >= 0;
    }
    for (int o = 0; o < run->count; o++)
      memcpy((char*)run->out[o] + first * (int64_t)run->sizes[o], acc[o],
             (size_t)count * run->sizes[o]);
  }
}
