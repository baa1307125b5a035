// Prints a graph as StableHLO in MLIR's generic form, deterministically (attributes in table order).
// "tputorch.check" prints as a discardable attribute. Float constants print so that they read back
// bit for bit (hex blobs for large or non-finite ones).
#ifndef TPUTORCH_HLO_PRINT_H_
#define TPUTORCH_HLO_PRINT_H_

#include "base/str.h"
#include "hlo/graph.h"

TPT_MUST_USE tpt_status_t tpt_graph_print(const tpt_graph_t* graph, tpt_str_t* out);

#endif  // TPUTORCH_HLO_PRINT_H_
