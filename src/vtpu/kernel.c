// The table of kernels, made from kernel.def.
#include "vtpu/kernel_rows.h"

static const vtpu_kernel_row_t rows[TPT_HLO_COUNT] = {
#define KERNEL(op, name, in_place_operand)                                                         \
  [TPT_HLO_##op] = {TPT_HLO_##op, vtpu_##name##_prepare, vtpu_##name##_run, in_place_operand},
#include "vtpu/kernel.def"
#undef KERNEL
};

const vtpu_kernel_row_t* vtpu_kernel_row(tpt_hlo_t op) {
  if ((unsigned)op >= TPT_HLO_COUNT || !rows[op].run) return NULL;
  return &rows[op];
}
