// Ops of the runtime itself: they go through the call machinery like rows of the op table, but no
// schema names them.
#ifndef TPUTORCH_EAGER_INTERNAL_OP_H_
#define TPUTORCH_EAGER_INTERNAL_OP_H_

#include "aten/lower.h"

typedef enum tpt_internal_op {
  TPT_INTERNAL_COPY,  // (self, src): src converted to self's dtype and broadcast to its sizes
  TPT_INTERNAL_READ,  // (self): self, contiguous
  TPT_INTERNAL_RANDOM_STATE,  // (): the state of the stream that the next draw continues
  TPT_INTERNAL_BARRIER,  // (Tensor[]): the same, behind an optimization barrier; strides are kept
  TPT_INTERNAL_PROGRAM,  // all programs and control flow: no op has this number
  TPT_INTERNAL_OP_COUNT,
} tpt_internal_op_t;

const tpt_op_t* tpt_internal_op(tpt_internal_op_t op);
bool tpt_op_is_internal(const tpt_op_t* op);
// Row number, internal ops after those of the table.
int tpt_op_number(const tpt_op_t* op);
// "add.Tensor"; "copy_" for an internal one. Static.
const char* tpt_op_label(const tpt_op_t* op);
// "aten::" for the label of an ATen op, "" for that of a program or of control flow. Static.
const char* tpt_label_prefix(const char* label);
// tpt_op_lower for both kinds.
TPT_MUST_USE tpt_status_t tpt_any_op_lower(tpt_lower_t* l);

#endif  // TPUTORCH_EAGER_INTERNAL_OP_H_
