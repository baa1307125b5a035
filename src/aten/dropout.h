// The decision behind every dropout, so that a mask can be made again from the same random bits.
#ifndef TPUTORCH_ATEN_DROPOUT_H_
#define TPUTORCH_ATEN_DROPOUT_H_

#include "aten/expr.h"

// pred: true where an element stays. `bits` is u32, `p` a 0-d f32; bits below p * 2^32 drop, p = 1 drops all.
tpt_v tpt_dropout_keep(tpt_graph_t* g, tpt_v bits, tpt_v p);
// 1 / (1 - p).
tpt_v tpt_dropout_scale(tpt_graph_t* g, tpt_v p);

#endif  // TPUTORCH_ATEN_DROPOUT_H_
