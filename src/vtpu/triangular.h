// What the dense factorisations share: element types with a LAPACK routine, and bf16/f16 through f32.
#ifndef TPUTORCH_VTPU_TRIANGULAR_H_
#define TPUTORCH_VTPU_TRIANGULAR_H_

#include "vtpu/panel.h"

// The type a factorisation of `dtype` runs in: the dtype itself, f32 for 16-bit floats. UNIMPLEMENTED
// naming `op` for anything but floats and complex numbers.
static inline tpt_status_t vtpu_triangular_find(const char* op, tpt_dtype_t dtype,
                                                vtpu_compute_t* out_compute) {
  TPT_TRY_NOTE(vtpu_compute_find(dtype, dtype, dtype, out_compute), "planning stablehlo.%s", op);
  if (*out_compute != VTPU_COMPUTE_U32 && *out_compute != VTPU_COMPUTE_U64) return NULL;
  TPT_FAIL(TPT_UNIMPLEMENTED, "stablehlo.%s of %s; operands must be float or complex", op,
           tpt_dtype_row(dtype)->name);
}

#endif  // TPUTORCH_VTPU_TRIANGULAR_H_
