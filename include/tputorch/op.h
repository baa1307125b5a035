// The op table as callers see it: one row per ATen overload, with its parsed schema.
#ifndef TPUTORCH_OP_H_
#define TPUTORCH_OP_H_

#include "tputorch/status.h"
#include "tputorch/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tpt_op tpt_op_t;

typedef struct tpt_schema_arg {
  const char* name;
  tpt_arg_kind_t kind;  // what a present value must be
  bool is_optional;     // may be None
  bool is_keyword_only;
  bool is_written;  // alias mark with "!": the functional forms that mutate (batch norm's buffers)
} tpt_schema_arg_t;

typedef struct tpt_schema {
  const char* name;      // "add.Tensor" ("relu" when there is no overload name)
  const char* base;      // "add"
  const char* overload;  // "Tensor" or ""
  int arg_count;
  const tpt_schema_arg_t* args;
  int return_count;
  const tpt_arg_kind_t* returns;  // TENSOR, TENSORS, or INT: a number no one reads, given as 0
} tpt_schema_t;

// Number of rows, row by number (0 <= index < count, else NULL), row by "add.Tensor" or "aten::add.Tensor" (NULL if none). Static, thread-safe.
int tpt_op_count(void);
const tpt_op_t* tpt_op_row(int index);
const tpt_op_t* tpt_op_find(const char* name);
int tpt_op_index(const tpt_op_t* op);
// The verbatim schema text and its parsed form. Static.
const char* tpt_op_schema_text(const tpt_op_t* op);
const tpt_schema_t* tpt_op_schema(const tpt_op_t* op);
// Family file the row stands in ("elementwise"). Static.
const char* tpt_op_family(const tpt_op_t* op);
// True when only the functional overload may be registered (no in-place or out= form is derived).
bool tpt_op_is_functional_only(const tpt_op_t* op);
// True when the row is no ATen op but a step of some, which the adapter calls itself.
bool tpt_op_is_step(const tpt_op_t* op);
// True when in-place writes put one value everywhere, so that a target may hold an address twice.
bool tpt_op_fills(const tpt_op_t* op);
// True when the row's autograd is made of its own explicit backward row (docs and the dispatch-table test read it).
bool tpt_op_is_composite_implicit(const tpt_op_t* op);

#ifdef __cplusplus
}
#endif

#endif  // TPUTORCH_OP_H_
