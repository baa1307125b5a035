// Compaction: the places of set flags in order, at sizes that a program knows. What ops whose sizes depend
// on values are made of.
#ifndef TPUTORCH_ATEN_COMPACT_H_
#define TPUTORCH_ATEN_COMPACT_H_

#include "aten/expr.h"

// s32[n]: how many of flags[0 .. i] (pred[n], n < 2^31) are set.
tpt_v tpt_running_count(tpt_graph_t* g, tpt_v flags);
// s32[size]: the places of the set flags in order, then `fill` (0-d s32); those past `size` are dropped.
// `counts` is the running count of the flags.
tpt_v tpt_set_places(tpt_graph_t* g, tpt_v flags, tpt_v counts, int64_t size, tpt_v fill);
// Rows of x ([n, rest...]) at places (s32, any shape, each within 0 .. n - 1): [places..., rest...].
tpt_v tpt_take_rows(tpt_graph_t* g, tpt_v x, tpt_v places);
// The last element of a 1-d value as 0-d.
tpt_v tpt_last(tpt_graph_t* g, tpt_v x);

#endif  // TPUTORCH_ATEN_COMPACT_H_
