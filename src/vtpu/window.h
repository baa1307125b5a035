// Windows: the geometry of reduce_window and select_and_scatter.
//
// Places outside the operand and in the holes of a dilated operand take no part (as in XLA; where the
// initial value is the identity of the reduction that is what StableHLO says, too).
#ifndef TPUTORCH_VTPU_WINDOW_H_
#define TPUTORCH_VTPU_WINDOW_H_

#include "hlo/builder.h"
#include "vtpu/kernel.h"
#include "vtpu/monoid.h"

// One dimension: output place j reads places j * stride + t * dilation - low for t < taps, each
// divided by base (and skipped when that leaves a rest).
typedef struct vtpu_window_axis {
  int64_t in, out;
  int64_t taps, stride, dilation, low, base;
} vtpu_window_axis_t;

typedef struct vtpu_window {
  int rank;  // at least 1
  vtpu_window_axis_t axis[TPT_RANK_MAX];
  int first, last;  // the axes that are windowed lie in [first, last]; never empty
  int64_t outer;    // elements of the axes before `first`
} vtpu_window_t;

void vtpu_window_make(const tpt_node_t* node, const tpt_type_t* in, const tpt_type_t* out,
                      vtpu_window_t* window);

// True if the axis is more than a copy.
static inline bool vtpu_window_axis_moves(const vtpu_window_axis_t* a) {
  return a->taps != 1 || a->stride != 1 || a->low != 0 || a->base != 1 || a->in != a->out;
}

// The input place of (j, t), or -1.
static inline int64_t vtpu_window_place(const vtpu_window_axis_t* a, int64_t j, int64_t t) {
  int64_t place = j * a->stride + t * a->dilation - a->low;
  if (place < 0 || place % a->base != 0) return -1;
  place /= a->base;
  return place < a->in ? place : -1;
}

// --- one axis after the other (window_pass.c) ---------------------------------------------------------

// A fold along one axis of an array [rows, in, inner] into [rows, out, inner], elements of one type.
typedef struct vtpu_window_pass {
  vtpu_window_axis_t axis;
  int64_t rows, inner;
  size_t size;
  const vtpu_monoid_t* monoid;
  const void* start;  // one element: what every fold starts with
} vtpu_window_pass_t;

// `temp`: 2 * out * inner elements. in and out must not overlap.
void vtpu_window_pass_run(const vtpu_window_pass_t* pass, const void* in, void* out, void* temp);

// --- any body, any number of operands (window_body.c) -------------------------------------------------

typedef struct vtpu_window_body {
  const vtpu_window_t* window;
  int count;
  const size_t* sizes;  // bytes of an element of each operand
  const vtpu_body_t* body;
  const void* const* in;
  const void* const* start;  // one element each
  void* const* out;
} vtpu_window_body_t;

enum {
  VTPU_WINDOW_OPERANDS_MAX = 8,
  VTPU_WINDOW_BLOCK = 128,  // output places folded at a time
};

// Folds the output places [begin, end) (row-major). Row-major order of the window, first to last.
void vtpu_window_body_run(const vtpu_window_body_t* run, int64_t begin, int64_t end);

#endif  // TPUTORCH_VTPU_WINDOW_H_
