// Prototypes of the kernels' entry points, one pair per row of kernel.def.
#ifndef TPUTORCH_VTPU_KERNEL_ROWS_H_
#define TPUTORCH_VTPU_KERNEL_ROWS_H_

#include "vtpu/kernel.h"

#define KERNEL(op, name, in_place_operand)                                                         \
  TPT_MUST_USE tpt_status_t vtpu_##name##_prepare(vtpu_kernel_t* kernel);                          \
  TPT_MUST_USE tpt_status_t vtpu_##name##_run(const vtpu_kernel_t* kernel,                         \
                                              const vtpu_exec_t* exec, void* scratch,              \
                                              const void* const* in, void* const* out);
#include "vtpu/kernel.def"
#undef KERNEL

#endif  // TPUTORCH_VTPU_KERNEL_ROWS_H_
