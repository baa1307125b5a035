// Comparators: regions that only compare arguments, found so that kernels can compare without running a
// body.
#ifndef TPUTORCH_VTPU_COMPARATOR_H_
#define TPUTORCH_VTPU_COMPARATOR_H_

#include "hlo/builder.h"

// The region returns compare(direction, kind, argument a, argument b).
typedef struct vtpu_comparator {
  uint32_t a, b;  // argument numbers
  tpt_compare_t direction;
  tpt_compare_type_t kind;
} vtpu_comparator_t;

// False when the block is anything but one such compare of two of its own arguments.
bool vtpu_comparator_find(const tpt_graph_t* graph, uint32_t block, vtpu_comparator_t* out);

#endif  // TPUTORCH_VTPU_COMPARATOR_H_
