// Conditions on values that only the launch can see. vtpu fails the launch with the message, before
// anything is written; plugins that do not know the check ignore it.
#ifndef TPUTORCH_ATEN_ASSERT_H_
#define TPUTORCH_ATEN_ASSERT_H_

#include "aten/expr.h"

// x itself, whose making fails with RuntimeError(`message`) unless every element of the pred `is_fine`
// (any shape) is true. The message is copied.
tpt_v tpt_assert(tpt_graph_t* g, tpt_v is_fine, const char* message, tpt_v x);
// The same for result `number` of the lowering.
void tpt_assert_result(tpt_lower_t* l, uint32_t number, tpt_v is_fine, const char* message);

#endif  // TPUTORCH_ATEN_ASSERT_H_
