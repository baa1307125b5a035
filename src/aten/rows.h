// Prototypes of every function that a row names: lower_<lowering>, formula_<formula>,
// check_<check>, kind_<kind>.
#ifndef TPUTORCH_ATEN_ROWS_H_
#define TPUTORCH_ATEN_ROWS_H_

#include "aten/foreach.h"

#define ATEN_CHECK(name) tpt_status_t check_##name(tpt_lower_t* l);
#include "aten/check.def"

#define ATEN_KIND(name) int64_t kind_##name(const tpt_lower_t* l);
#include "aten/check.def"

#define ATEN(id, schema, lowering, rule, ...) tpt_status_t lower_##lowering(tpt_lower_t* l);
#include "aten/family.def"
#undef ATEN

#define ATEN(id, schema, lowering, rule, ...)
#define POINTWISE(id, schema, name, rule, ...)                                                     \
  tpt_value_t formula_##name(tpt_graph_t* g, const tpt_value_t* x);
#include "aten/family.def"
#undef ATEN

#endif  // TPUTORCH_ATEN_ROWS_H_
