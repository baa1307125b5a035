// Whole-array steps that lowerings share: filling, laying a vector along a dimension, means, sums back
// to a smaller shape. Elementwise formulas are expr.h's.
#ifndef TPUTORCH_ATEN_ARRAY_H_
#define TPUTORCH_ATEN_ARRAY_H_

#include "aten/expr.h"

// An array of one number.
tpt_v tpt_fill(tpt_graph_t* g, tpt_dtype_t dtype, int rank, const int64_t* dims, double number);
// The 1-d x laid along dimension `dim` of an array with these dims.
tpt_v tpt_along(tpt_graph_t* g, tpt_v x, int rank, const int64_t* dims, int dim);
// A 1-d constant of s32.
tpt_v tpt_constant_ints(tpt_graph_t* g, const int64_t* numbers, int64_t count);
// Sum over dims divided by the number of elements reduced (0/0 when there are none); dims vanish.
tpt_v tpt_reduce_mean(tpt_graph_t* g, tpt_v x, const int64_t* dims, int count);
// Sums x down to `dims`: the adjoint of broadcasting from dims to x's shape.
tpt_v tpt_sum_to(tpt_graph_t* g, tpt_v x, int rank, const int64_t* dims);
// A dimension of size 1 inserted before dimension `dim`.
tpt_v tpt_unsqueeze(tpt_graph_t* g, tpt_v x, int dim);
// Exchanges the last two dimensions.
tpt_v tpt_swap_last(tpt_graph_t* g, tpt_v x);
// Moves the first `count` dimensions behind the others.
tpt_v tpt_rotate(tpt_graph_t* g, tpt_v x, int count);
// The elements as one dimension.
tpt_v tpt_flatten(tpt_graph_t* g, tpt_v x);

#endif  // TPUTORCH_ATEN_ARRAY_H_
