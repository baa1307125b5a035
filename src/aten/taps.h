// Taps: one dimension resampled by a table known to the host, the common core of adaptive pools and of
// interpolation. Output element i reads input elements index[i][k] with weight[i][k].
#ifndef TPUTORCH_ATEN_TAPS_H_
#define TPUTORCH_ATEN_TAPS_H_

#include "aten/array.h"

typedef struct tpt_taps {
  int64_t size;    // of the output dimension
  int64_t count;   // taps per output element
  int64_t* index;  // [size * count]; -1: no tap
  double* weight;  // [size * count]; NULL: all 1
} tpt_taps_t;

// Room for a table in the graph's arena: indexes -1, weights 0. False when memory is out (the graph
// has failed then).
bool tpt_taps_init(tpt_graph_t* g, int64_t size, int64_t count, bool has_weights,
                   tpt_taps_t* out_taps);
// The table of the adjoint map for an input dimension of in_size.
bool tpt_taps_transpose(tpt_graph_t* g, const tpt_taps_t* taps, int64_t in_size,
                        tpt_taps_t* out_taps);
// x with dimension `dim` replaced by size * count elements; missing taps read `fill`. No weights.
tpt_v tpt_taps_gather(tpt_graph_t* g, tpt_v x, int dim, const tpt_taps_t* taps, double fill);
// The weighted sum; dimension `dim` has taps->size elements. x must be a float type.
tpt_v tpt_taps_sum(tpt_graph_t* g, tpt_v x, int dim, const tpt_taps_t* taps);
// x[index] along `dim` with indexes known to the host (each in range).
tpt_v tpt_take(tpt_graph_t* g, tpt_v x, int dim, const int64_t* index, int64_t count);

#endif  // TPUTORCH_ATEN_TAPS_H_
