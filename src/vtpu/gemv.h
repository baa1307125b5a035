// Matrix-vector products that round or widen the matrix on the way, so that it is read once and never
// written: f32 rounded to bf16, or stored as bf16 or f16. Sums in f32. Thread-safe.
#ifndef TPUTORCH_VTPU_GEMV_H_
#define TPUTORCH_VTPU_GEMV_H_

#include <stdbool.h>

#include "tputorch/type.h"

typedef struct vtpu_gemv {
  const void* matrix;  // rows x cols, rows ld elements apart
  int64_t rows, cols, ld;
  const float* x;  // rounded already; cols elements, or rows of them with `trans`
  float* y;        // rows elements, or cols of them with `trans`: y = M x, or M^T x
} vtpu_gemv_t;

typedef void (*vtpu_gemv_fn_t)(const vtpu_gemv_t* gemv);

// The product for matrices of `dtype` (F32: rounded to bf16); NULL for other types.
vtpu_gemv_fn_t vtpu_gemv_fn(tpt_dtype_t dtype, bool trans);

#endif  // TPUTORCH_VTPU_GEMV_H_
