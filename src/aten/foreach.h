// Steps that lowerings over lists of tensors share.
#ifndef TPUTORCH_ATEN_FOREACH_H_
#define TPUTORCH_ATEN_FOREACH_H_

#include "aten/expr.h"

// Fails with UNIMPLEMENTED unless item `item` of argument `arg` can meet `like` without promotion or
// broadcasting (numbers and 0-d tensors of its dtype can).
TPT_MUST_USE tpt_status_t tpt_foreach_check(tpt_lower_t* l, int arg, int item,
                                            const tpt_tensor_t* like);
// Adds a result with the dtype and the strides of `like` (rows of rule OWN).
TPT_MUST_USE tpt_status_t tpt_foreach_result(tpt_lower_t* l, const tpt_tensor_t* like, tpt_v value);
// x: start, end, weight.
tpt_value_t formula_foreach_lerp(tpt_graph_t* g, const tpt_value_t* x);

#endif  // TPUTORCH_ATEN_FOREACH_H_
