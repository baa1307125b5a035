// Reductions of a fused loop: what happens to a tile's elements, either by a monoid's vector functions
// or by a region body. Bodies combine in index order: they need be associative only.
#include <string.h>

#include "vtpu/kernel.h"
#include "vtpu/lane.h"
#include "vtpu/loop.h"

static int64_t result_lanes(const vtpu_frame_t* frame) {
  return frame->loop->across ? frame->rows : frame->columns;
}

static const void* init_of(const vtpu_frame_t* frame, const vtpu_reduction_t* reduction, int i) {
  uint32_t buffer = reduction->init_buffers[i];
  return buffer == UINT32_MAX ? reduction->inits[i] : frame->pointers[buffer];
}

void vtpu_reduce_start(const vtpu_frame_t* frame, char* acc, int64_t lanes) {
  for (int i = 0; i < frame->loop->reduction_count; i++) {
    const vtpu_reduction_t* reduction = &frame->loop->reductions[i];
    if (reduction->fns) reduction->fns->start(acc + reduction->acc_offsets[0], lanes);
  }
}

// --- bodies ----------------------------------------------------------------------------------------------

enum { OPERANDS = VTPU_LOOP_OUTPUTS_MAX };

// left[i] = body(left, right) for `count` elements of every operand.
static void body_join(const vtpu_reduction_t* reduction, char* const left[],
                      const char* const right[], int64_t count) {
  const void* in[2 * OPERANDS];
  void* out[OPERANDS];
  for (int k = 0; k < reduction->count; k++) {
    in[k] = left[k];
    in[reduction->count + k] = right[k];
    out[k] = left[k];
  }
  vtpu_body_run(reduction->body, count, in, out);
}

static void body_take_down(const vtpu_frame_t* frame, const vtpu_reduction_t* reduction, char* acc,
                           bool first) {
  char* left[OPERANDS];
  const char* right[OPERANDS];
  size_t row_size[OPERANDS];
  for (int k = 0; k < reduction->count; k++) {
    left[k] = acc + reduction->acc_offsets[k];
    right[k] = frame->slots[reduction->slots[k]];
    row_size[k] = (size_t)frame->columns * tpt_dtype_size(reduction->dtypes[k]);
  }
  for (int64_t row = 0; row < frame->rows; row++) {
    if (first && row == 0)
      for (int k = 0; k < reduction->count; k++)
        memcpy(left[k], right[k], row_size[k]);
    else
      body_join(reduction, left, right, frame->columns);
    for (int k = 0; k < reduction->count; k++)
      right[k] += row_size[k];
  }
}

// Splits rows of `columns` elements into those at even and at odd places (an odd last one stays even).
static void halves_split(const char* in, char* even, char* odd, int64_t rows, int64_t columns,
                         size_t size) {
  int64_t pairs = columns / 2, rest = columns & 1;
  for (int64_t row = 0; row < rows; row++) {
    const char* p = in + (size_t)(row * columns) * size;
    char* e = even + (size_t)(row * pairs) * size;
    char* o = odd + (size_t)(row * pairs) * size;
    for (int64_t i = 0; i < pairs; i++) {
      memcpy(e + (size_t)i * size, p + (size_t)(2 * i) * size, size);
      memcpy(o + (size_t)i * size, p + (size_t)(2 * i + 1) * size, size);
    }
  }
  (void)rest;
}

// Puts the joined pairs of each row and, if there was one, its odd last element side by side.
static void halves_join(const char* joined, const char* in, char* out, int64_t rows,
                        int64_t columns, size_t size) {
  int64_t pairs = columns / 2, rest = columns & 1;
  for (int64_t row = 0; row < rows; row++) {
    char* r = out + (size_t)(row * (pairs + rest)) * size;
    memcpy(r, joined + (size_t)(row * pairs) * size, (size_t)pairs * size);
    if (rest)
      memcpy(r + (size_t)pairs * size, in + (size_t)(row * columns + columns - 1) * size, size);
  }
}

// Neighbours join until one element per row is left.
static void body_take_across(const vtpu_frame_t* frame, const vtpu_reduction_t* reduction,
                             char* acc, bool first) {
  const char* values[OPERANDS];
  char *even[OPERANDS], *odd[OPERANDS], *next[OPERANDS], *left[OPERANDS];
  char* work = frame->work;
  for (int k = 0; k < reduction->count; k++) {
    size_t span =
        vtpu_scratch_align((size_t)frame->loop->lanes_max * tpt_dtype_size(reduction->dtypes[k]));
    values[k] = frame->slots[reduction->slots[k]];
    left[k] = acc + reduction->acc_offsets[k];
    even[k] = work;
    odd[k] = work + span;
    next[k] = work + 2 * span;
    work += 3 * span;
  }
  for (int64_t columns = frame->columns; columns > 1; columns = columns / 2 + (columns & 1)) {
    const char* right[OPERANDS];
    for (int k = 0; k < reduction->count; k++) {
      halves_split(values[k], even[k], odd[k], frame->rows, columns,
                   tpt_dtype_size(reduction->dtypes[k]));
      right[k] = odd[k];
    }
    body_join(reduction, even, right, frame->rows * (columns / 2));
    for (int k = 0; k < reduction->count; k++) {
      // `values` may be `next` of the round before: its last elements move before they are overwritten.
      halves_join(even[k], values[k], odd[k], frame->rows, columns,
                  tpt_dtype_size(reduction->dtypes[k]));
      char* spare = next[k];
      next[k] = odd[k];
      odd[k] = spare;
      values[k] = next[k];
    }
  }
  if (first)
    for (int k = 0; k < reduction->count; k++)
      memcpy(left[k], values[k], (size_t)frame->rows * tpt_dtype_size(reduction->dtypes[k]));
  else
    body_join(reduction, left, values, frame->rows);
}

// results = body(init, acc).
static void body_finish(const vtpu_frame_t* frame, const vtpu_reduction_t* reduction, char* acc,
                        bool empty) {
  int64_t lanes = result_lanes(frame);
  const void* in[2 * OPERANDS];
  void* out[OPERANDS];
  char* work = frame->work;
  for (int k = 0; k < reduction->count; k++) {
    size_t size = tpt_dtype_size(reduction->dtypes[k]);
    out[k] = frame->slots[frame->loop->streams[reduction->streams[k]].slot];
    char* inits = empty ? out[k] : work;
    for (int64_t i = 0; i < lanes; i++)
      memcpy(inits + (size_t)i * size, init_of(frame, reduction, k), size);
    in[k] = inits;
    in[reduction->count + k] = acc + reduction->acc_offsets[k];
    work += vtpu_scratch_align((size_t)frame->loop->lanes_max * size);
  }
  if (!empty) vtpu_body_run(reduction->body, lanes, in, out);
}

// --- both ------------------------------------------------------------------------------------------------

void vtpu_reduce_take(const vtpu_frame_t* frame, char* acc, int64_t tile_number) {
  bool across = frame->loop->across;
  for (int i = 0; i < frame->loop->reduction_count; i++) {
    const vtpu_reduction_t* reduction = &frame->loop->reductions[i];
    if (!reduction->fns) {
      (across ? body_take_across : body_take_down)(frame, reduction, acc, tile_number == 0);
      continue;
    }
    (across ? reduction->fns->across : reduction->fns->down)(acc + reduction->acc_offsets[0],
                                                             frame->slots[reduction->slots[0]],
                                                             frame->rows, frame->columns);
  }
}

void vtpu_reduce_settle(const vtpu_frame_t* frame, char* acc, int64_t lanes) {
  for (int i = 0; i < frame->loop->reduction_count; i++) {
    const vtpu_reduction_t* reduction = &frame->loop->reductions[i];
    if (reduction->fns && reduction->fns->settle && !frame->loop->across)
      reduction->fns->settle(acc + reduction->acc_offsets[0], lanes);
  }
}

void vtpu_reduce_merge(const vtpu_frame_t* frame, char* acc, const char* other, int64_t lanes) {
  for (int i = 0; i < frame->loop->reduction_count; i++) {
    const vtpu_reduction_t* reduction = &frame->loop->reductions[i];
    if (reduction->fns) {
      reduction->fns->merge(acc + reduction->acc_offsets[0], other + reduction->acc_offsets[0],
                            lanes);
      continue;
    }
    char* left[OPERANDS];
    const char* right[OPERANDS];
    for (int k = 0; k < reduction->count; k++) {
      left[k] = acc + reduction->acc_offsets[k];
      right[k] = other + reduction->acc_offsets[k];
    }
    body_join(reduction, left, right, lanes);
  }
}

static void monoid_finish(const vtpu_frame_t* frame, const vtpu_reduction_t* reduction, char* acc) {
  int64_t lanes = result_lanes(frame);
  tpt_dtype_t dtype = reduction->dtypes[0];
  const void* init = init_of(frame, reduction, 0);
  void* out = frame->slots[frame->loop->streams[reduction->streams[0]].slot];
  if (dtype != TPT_BF16 && dtype != TPT_F16) {
    reduction->fns->finish(out, acc + reduction->acc_offsets[0], init, lanes);
    return;
  }
  float wide;
  vtpu_vm_convert(dtype, TPT_F32)(&wide, init, NULL, NULL, 1);
  reduction->fns->finish(frame->work, acc + reduction->acc_offsets[0], &wide, lanes);
  vtpu_vm_convert(TPT_F32, dtype)(out, frame->work, NULL, NULL, lanes);
}

void vtpu_reduce_finish(const vtpu_frame_t* frame, char* acc, bool empty) {
  for (int i = 0; i < frame->loop->reduction_count; i++) {
    const vtpu_reduction_t* reduction = &frame->loop->reductions[i];
    if (reduction->fns)
      monoid_finish(frame, reduction, acc);
    else
      body_finish(frame, reduction, acc, empty);
  }
}
