// Small regions that the typed doors make themselves. Private to hlo/builder*.c.
#ifndef TPUTORCH_HLO_REGION_H_
#define TPUTORCH_HLO_REGION_H_

#include "hlo/builder.h"

// A block of two 0-d arguments that returns `combine` of them; TPT_HLO_COUNT: the second.
uint32_t tpt__region_binary(tpt_graph_t* g, tpt_hlo_t combine, tpt_dtype_t dtype);

#endif  // TPUTORCH_HLO_REGION_H_
