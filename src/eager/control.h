// Control flow over programs: an if or a while whose branches or blocks are captured programs, as an op.
// Its call has one argument: the operands, then the constants of both programs.
#ifndef TPUTORCH_EAGER_CONTROL_H_
#define TPUTORCH_EAGER_CONTROL_H_

#include "eager/program.h"

typedef struct tpt_control {
  tpt_op_t op;
  uint64_t number;  // among all programs and control ops ever made
  tpt_control_kind_t kind;
  tpt_program_t* first;      // then, condition: one reference unless it is `second`
  tpt_program_t* second;     // else, body: it owns this op
  struct tpt_control* next;  // the one before it
} tpt_control_t;

// The control op that an op is, or NULL.
const tpt_control_t* tpt_op_control(const tpt_op_t* op);
// Owned by `second`, for as long as that lives: made at first use, again for another `first`.
TPT_MUST_USE tpt_status_t tpt_control_get(tpt_control_kind_t kind, tpt_program_t* first,
                                          tpt_program_t* second, const tpt_control_t** out_control);
void tpt_control_destroy(tpt_control_t* take_control);  // device locked; NULL is legal

#endif  // TPUTORCH_EAGER_CONTROL_H_
