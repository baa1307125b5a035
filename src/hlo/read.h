// Reads StableHLO text, generic form (MLIR's, incl. the old attribute dictionary) and pretty form
// (JAX's as_text, OpenXLA's files), into a graph. Private functions are inlined at func.call.
// Never aborts, bounded recursion; an error is INVALID_ARGUMENT "line:column: what".
#ifndef TPUTORCH_HLO_READ_H_
#define TPUTORCH_HLO_READ_H_

#include "hlo/graph.h"

// `text` need not be NUL-terminated. The graph is created and owned by the caller.
TPT_MUST_USE tpt_status_t tpt_graph_read(const char* text, size_t size, tpt_graph_t** out_graph);

#endif  // TPUTORCH_HLO_READ_H_
