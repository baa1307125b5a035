// Steps that the lowerings of indexing share.
#ifndef TPUTORCH_ATEN_INDEX_H_
#define TPUTORCH_ATEN_INDEX_H_

#include "aten/expr.h"

// Argument `arg` as s64 indices into a dimension of `size` elements: i32 or i64, negative ones counted
// from the end. `name` is what PyTorch calls the argument.
TPT_MUST_USE tpt_status_t tpt_index_read(tpt_lower_t* l, int arg, int64_t size, tpt_v* out);
// The same for a value.
tpt_v tpt_index_wrap(tpt_graph_t* g, tpt_v index, int64_t size);
// The text that a failed launch starts with: "aten::gather".
const char* tpt_index_check_text(tpt_lower_t* l);
// The same for ops whose CPU kernels raise RuntimeError, not IndexError (gather, scatter).
const char* tpt_value_check_text(tpt_lower_t* l);
// A rank-0 value as rank 1; others as they are.
tpt_v tpt_at_least_1d(tpt_graph_t* g, tpt_v x);

#endif  // TPUTORCH_ATEN_INDEX_H_
