// Products of a matrix with a few vectors that round or widen the matrix on the way, so that it is read
// once and never written: f32 rounded to bf16 (one pass, or three with the rests), or stored as bf16 or
// f16. Sums in f32, in an order that depends on the sizes only. Thread-safe.
#ifndef TPUTORCH_VTPU_GEMV_H_
#define TPUTORCH_VTPU_GEMV_H_

#include <stdbool.h>

#include "tputorch/type.h"

enum { VTPU_GEMV_MAX = 2 };  // vectors

typedef struct vtpu_gemv {
  const void* matrix;  // rows x cols, rows ld elements apart
  int64_t rows, cols, ld;
  int count;           // vectors, x_ld and y_ld elements apart
  const float* x;      // rounded already; cols elements each, or rows of them with `trans`
  const float* x_low;  // split: the rounded rests
  int64_t x_ld;
  float* y;    // rows elements each, or cols of them with `trans`: y = M x, or M^T x
  float* low;  // split: the sums of the products with a rest, low_ld elements apart
  int64_t y_ld, low_ld;
} vtpu_gemv_t;

typedef void (*vtpu_gemv_fn_t)(const vtpu_gemv_t* gemv);

// The product for matrices of `dtype` (F32: rounded to bf16; `split`: three passes); NULL for others.
vtpu_gemv_fn_t vtpu_gemv_fn(tpt_dtype_t dtype, bool split, bool trans);

#endif  // TPUTORCH_VTPU_GEMV_H_
