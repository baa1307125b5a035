// Text of types, constant data and attributes. Private to hlo/print*.c.
#ifndef TPUTORCH_HLO_PRINT_ATTR_H_
#define TPUTORCH_HLO_PRINT_ATTR_H_

#include "base/str.h"
#include "hlo/graph.h"

// "tensor<2x3xf32>"
void tpt__print_type(tpt_str_t* out, const tpt_type_t* type);
// " {a = 1 : i64, ...}", nothing for a node without attributes.
void tpt__print_attrs(tpt_str_t* out, const tpt_graph_t* graph, const tpt_node_t* node);

#endif  // TPUTORCH_HLO_PRINT_ATTR_H_
