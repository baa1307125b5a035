// Prototypes of every lowering, made from the rows: lower_<lowering> for each row of family.def.
#ifndef TPUTORCH_ATEN_ROWS_H_
#define TPUTORCH_ATEN_ROWS_H_

#include "aten/lower.h"

// Value checks that rows name in .check.
#define ATEN_CHECK(name) tpt_status_t check_##name(tpt_lower_t* l);
#include "aten/check.def"
#undef ATEN_CHECK

#define ATEN(id, schema, lowering, rule, ...) tpt_status_t lower_##lowering(tpt_lower_t* l);
#include "aten/family.def"
#undef ATEN

#endif  // TPUTORCH_ATEN_ROWS_H_
