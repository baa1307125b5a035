// Sorting along a dimension, for lowerings.
#ifndef TPUTORCH_ATEN_ORDER_H_
#define TPUTORCH_ATEN_ORDER_H_

#include "aten/expr.h"

// x (rank >= 1) and the s64 positions of its elements, sorted along `dim`, stably; NaN is the greatest.
typedef struct tpt_sorted {
  tpt_v values, positions;
} tpt_sorted_t;
tpt_sorted_t tpt_sort(tpt_graph_t* g, tpt_v x, int dim, bool descending);
// `payload` (x's shape) in the order of the keys x; x is compared as it is (integers).
tpt_v tpt_sort_by(tpt_graph_t* g, tpt_v x, tpt_v payload, int dim);

#endif  // TPUTORCH_ATEN_ORDER_H_
