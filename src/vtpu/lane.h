// Parallel loops of kernels. A lane is a slot of private scratch: a kernel fixes its lane count
// when it is prepared, before the pool of the run is known, and items are dealt to lanes as they
// get free. Items must not depend on each other, nor results on which lane ran an item.
#ifndef TPUTORCH_VTPU_LANE_H_
#define TPUTORCH_VTPU_LANE_H_

#include "vtpu/program.h"

// Lanes worth having for `item_count` items that take `cost` nanoseconds together: at least 1, at
// most the cores of this process. Thread-safe.
int vtpu_lane_count(int64_t item_count, int64_t cost);

// Calls fn(arg, item, lane) once for every item in [0, item_count), lane < lane_count unique among
// concurrent calls. Inline when lane_count is 1.
typedef void (*vtpu_item_fn_t)(void* arg, int64_t item, int lane);
void vtpu_lane_for(const vtpu_exec_t* exec, int lane_count, int64_t item_count, vtpu_item_fn_t fn,
                   void* arg);

// tpt_pool_for on the exec's pool, inline when there is none.
void vtpu_range_for(const vtpu_exec_t* exec, int64_t count, int64_t grain, tpt_pool_fn_t fn,
                    void* arg);

static inline int64_t vtpu_ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
static inline int64_t vtpu_gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

// Sizes of scratch pieces, rounded up so that every piece is 64-aligned.
static inline size_t vtpu_scratch_align(size_t size) {
  return (size + 63) & ~(size_t)63;
}
// Takes the next piece: returns where it starts and moves the offset past it.
static inline size_t vtpu_scratch_take(size_t* inout_offset, size_t size) {
  size_t at = *inout_offset;
  *inout_offset += vtpu_scratch_align(size);
  return at;
}

#endif  // TPUTORCH_VTPU_LANE_H_
