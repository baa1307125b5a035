// Reads ATen schema text ("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
// into tpt_schema_t. No allocation: everything goes to a pool that the caller provides.
#ifndef TPUTORCH_ATEN_SCHEMA_H_
#define TPUTORCH_ATEN_SCHEMA_H_

#include "tputorch/op.h"

// Where parsed schemas live; the caller sets both arrays and their capacities, the parser advances
// the counts. Contents are borrowed by the schemas.
typedef struct tpt_schema_pool {
  char* text;
  size_t text_count, text_capacity;
  tpt_schema_arg_t* args;
  size_t arg_count, arg_capacity;
  tpt_arg_kind_t* returns;
  size_t return_count, return_capacity;
} tpt_schema_pool_t;

// INVALID_ARGUMENT "schema:column: what" on malformed text or a full pool; never reads past
// `text`'s NUL.
TPT_MUST_USE tpt_status_t tpt_schema_parse(const char* text, tpt_schema_pool_t* pool,
                                           tpt_schema_t* out_schema);

#endif  // TPUTORCH_ATEN_SCHEMA_H_
