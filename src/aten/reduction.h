// What the reduction rows share: which dimensions a call reduces, and the shape it leaves.
#ifndef TPUTORCH_ATEN_REDUCTION_H_
#define TPUTORCH_ATEN_REDUCTION_H_

#include "aten/expr.h"

typedef struct tpt_reduced {
  int rank;                    // of the operand
  int64_t dims[TPT_RANK_MAX];  // ascending; none for a 0-d operand
  int count;
  int64_t size;  // elements that go into one result
  bool keepdim;
  bool whole;  // no dimension was named: all are reduced
} tpt_reduced_t;

// Number of the schema's argument of that name, -1 if it has none.
int tpt_lower_find(const tpt_lower_t* l, const char* name);
// Reads "dim" (int, int[], None or absent) and "keepdim" for the tensor argument 0. OUT_OF_RANGE in
// PyTorch's words for dimensions that do not exist.
TPT_MUST_USE tpt_status_t tpt_lower_reduced(tpt_lower_t* l, tpt_reduced_t* out);
// IndexError if the operand has no element to choose from ("amax(): Expected reduction dim 0 to
// have non-zero size."); `name` is the function's name in messages, "amax()".
TPT_MUST_USE tpt_status_t tpt_reduced_check(const tpt_lower_t* l, const tpt_reduced_t* reduced,
                                            const char* name);
// Reduces; keepdim is not applied (see tpt_reduced_shape).
tpt_v tpt_reduced_sum(tpt_graph_t* g, tpt_v x, const tpt_reduced_t* reduced);
tpt_v tpt_reduced_max(tpt_graph_t* g, tpt_v x, const tpt_reduced_t* reduced);
tpt_v tpt_reduced_min(tpt_graph_t* g, tpt_v x, const tpt_reduced_t* reduced);
// With the reduced dimensions as ones, ready to broadcast against the operand.
tpt_v tpt_reduced_keep(tpt_graph_t* g, tpt_v y, const tpt_reduced_t* reduced);
// Applies keepdim.
tpt_v tpt_reduced_shape(tpt_graph_t* g, tpt_v y, const tpt_reduced_t* reduced);

#endif  // TPUTORCH_ATEN_REDUCTION_H_
