// Type promotion in PyTorch's terms, for lowerings that gather their operands by hand.
#ifndef TPUTORCH_ATEN_PROMOTE_H_
#define TPUTORCH_ATEN_PROMOTE_H_

#include "aten/lower.h"

// torch.promote_types; INVALID where torch raises (u16/u32/u64 with other integers, bool or
// complex).
tpt_dtype_t tpt_dtype_promote(tpt_dtype_t a, tpt_dtype_t b);
// The name that PyTorch's messages use: "Float", "Long", "Bool".
const char* tpt_dtype_torch_name(tpt_dtype_t dtype);

// torch.result_type in progress: one dtype for each category of operands (INVALID: none yet).
typedef struct tpt_promotion {
  tpt_dtype_t default_dtype;
  tpt_dtype_t dimension, zero, wrapped;
  bool failed;  // failed_a and failed_b have no common type
  tpt_dtype_t failed_a, failed_b;
} tpt_promotion_t;
void tpt_promotion_add_tensor(tpt_promotion_t* promotion, const tpt_tensor_t* tensor);
void tpt_promotion_add_number(tpt_promotion_t* promotion, tpt_dtype_t dtype);
// INVALID when there is no legal type (or no operand).
tpt_dtype_t tpt_promotion_result(tpt_promotion_t* promotion);

// torch.result_type of some arguments of a call, without a graph (for checks); INVALID if there is
// none.
tpt_dtype_t tpt_call_dtype(const tpt_lower_t* l, const int* args, int count);
// "value cannot be converted to type int8_t without overflow" unless the number fits an integer
// dtype.
TPT_MUST_USE tpt_status_t tpt_check_number_fits(const tpt_number_t* number, tpt_dtype_t dtype);

#endif  // TPUTORCH_ATEN_PROMOTE_H_
