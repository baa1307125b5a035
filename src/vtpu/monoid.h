// Monoids over arrays: the combining ops of scatter and reduce_window as loops on contiguous and on
// indexed elements. Integers wrap; maximum and minimum of floats let NaN win and order -0 below +0;
// pred adds as or. 16-bit floats compute in f32 and round each result. Thread-safe.
#ifndef TPUTORCH_VTPU_MONOID_H_
#define TPUTORCH_VTPU_MONOID_H_

#include "hlo/graph.h"

typedef struct vtpu_monoid {
  // acc[i] = acc[i] op x[i]. x may equal acc.
  void (*combine)(void* acc, const void* x, int64_t count);
  // acc[at[i]] = acc[at[i]] op x[i], in order of i; a negative at[i] is skipped.
  void (*combine_at)(void* acc, const int64_t* at, const void* x, int64_t count);
  // out[i] = out[i - 1] op x[i] for i > 0, out[0] = first op x[0]; `first` is one element. x may
  // equal out. Sequential; 16-bit floats carry the running value in f32.
  void (*scan)(const void* first, const void* x, int64_t x_stride, void* out, int64_t out_stride,
               int64_t count);
} vtpu_monoid_t;

// ADD MULTIPLY MAXIMUM MINIMUM AND OR XOR on a dtype; NULL when the op has no meaning there (or is
// not one of these). Static.
const vtpu_monoid_t* vtpu_monoid(tpt_hlo_t op, tpt_dtype_t dtype);

// Combining f32 values for a 16-bit type without rounding in between: the f32 monoid of the same
// op.
static inline bool vtpu_dtype_is_half(tpt_dtype_t dtype) {
  return dtype == TPT_BF16 || dtype == TPT_F16;
}

#endif  // TPUTORCH_VTPU_MONOID_H_
