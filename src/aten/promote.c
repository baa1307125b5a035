// PyTorch's type promotion: promote_types on two dtypes and result_type over the arguments of a
// call. Knows dtypes and argument categories only. Invariant: agrees with torch on every pair of
// dtypes.
#include "aten/promote.h"

#include <math.h>

static bool is_wide_unsigned(tpt_dtype_t d) {
  return d == TPT_U16 || d == TPT_U32 || d == TPT_U64;
}

static bool is_float_or_complex(tpt_dtype_t d) {
  return tpt_dtype_is_float(d) || tpt_dtype_is_complex(d);
}

static tpt_dtype_t promote_floats(tpt_dtype_t a, tpt_dtype_t b) {
  if (a == b) return a;
  if (a == TPT_F64 || b == TPT_F64) return TPT_F64;
  return TPT_F32;  // with f32, or f16 with bf16
}

static tpt_dtype_t complex_of(tpt_dtype_t d) {
  return d == TPT_F64 || d == TPT_C128 ? TPT_C128 : TPT_C64;
}

static tpt_dtype_t promote_complex(tpt_dtype_t a, tpt_dtype_t b) {
  tpt_dtype_t wide = TPT_C64;
  if (is_float_or_complex(a) && complex_of(a) == TPT_C128) wide = TPT_C128;
  if (is_float_or_complex(b) && complex_of(b) == TPT_C128) wide = TPT_C128;
  return wide;
}

static tpt_dtype_t promote_ints(tpt_dtype_t a, tpt_dtype_t b) {
  if (a == TPT_PRED) return b;
  if (b == TPT_PRED) return a;
  if (a == TPT_U8 && b == TPT_S8) return TPT_S16;
  if (a == TPT_S8 && b == TPT_U8) return TPT_S16;
  return tpt_dtype_size(a) >= tpt_dtype_size(b) && a != TPT_U8 ? a : b;
}

tpt_dtype_t tpt_dtype_promote(tpt_dtype_t a, tpt_dtype_t b) {
  if (a == b) return a;
  bool a_wide = is_wide_unsigned(a), b_wide = is_wide_unsigned(b);
  if (a_wide || b_wide) {
    if (a_wide && tpt_dtype_is_float(b)) return b;
    if (b_wide && tpt_dtype_is_float(a)) return a;
    return TPT_DTYPE_INVALID;
  }
  if (tpt_dtype_is_complex(a) || tpt_dtype_is_complex(b)) return promote_complex(a, b);
  bool a_float = tpt_dtype_is_float(a), b_float = tpt_dtype_is_float(b);
  if (a_float && b_float) return promote_floats(a, b);
  if (a_float) return a;
  if (b_float) return b;
  return promote_ints(a, b);
}

// INVALID stands for "no operand of this category yet" on input and, with *failed, for no legal
// type.
static tpt_dtype_t merge(tpt_dtype_t a, tpt_dtype_t b, tpt_promotion_t* p) {
  if (a == TPT_DTYPE_INVALID) return b;
  if (b == TPT_DTYPE_INVALID) return a;
  tpt_dtype_t result = tpt_dtype_promote(a, b);
  if (result == TPT_DTYPE_INVALID && !p->failed) {
    p->failed = true;
    p->failed_a = a;
    p->failed_b = b;
  }
  return result;
}

// The higher category decides unless the lower one is of a higher kind (bool < int < float <
// complex).
static tpt_dtype_t combine(tpt_dtype_t higher, tpt_dtype_t lower, tpt_promotion_t* p) {
  if (higher == TPT_DTYPE_INVALID) return lower;
  if (lower == TPT_DTYPE_INVALID || tpt_dtype_is_complex(higher)) return higher;
  if (tpt_dtype_is_float(higher)) {
    if (!tpt_dtype_is_complex(lower)) return higher;
    if (higher == TPT_F16) {  // torch's answer is ComplexHalf, which no device here has
      p->failed = true;
      p->failed_a = higher;
      p->failed_b = lower;
      return TPT_DTYPE_INVALID;
    }
    return complex_of(higher);
  }
  if (higher == TPT_PRED || is_float_or_complex(lower)) return merge(higher, lower, p);
  return higher;
}

static tpt_dtype_t wrapped_dtype(const tpt_promotion_t* p, tpt_dtype_t d) {
  if (tpt_dtype_is_complex(d)) return complex_of(p->default_dtype);
  return tpt_dtype_is_float(d) ? p->default_dtype : d;
}

void tpt_promotion_add_tensor(tpt_promotion_t* p, const tpt_tensor_t* tensor) {
  if (tensor->flags & TPT_TENSOR_NONE) return;
  if (tensor->flags & TPT_TENSOR_WRAPPED)
    p->wrapped = merge(p->wrapped, wrapped_dtype(p, tensor->dtype), p);
  else if (tensor->rank > 0)
    p->dimension = merge(p->dimension, tensor->dtype, p);
  else
    p->zero = merge(p->zero, tensor->dtype, p);
}

void tpt_promotion_add_number(tpt_promotion_t* p, tpt_dtype_t dtype) {
  p->wrapped = merge(p->wrapped, wrapped_dtype(p, dtype), p);
}

tpt_dtype_t tpt_promotion_result(tpt_promotion_t* p) {
  tpt_dtype_t lower = combine(p->zero, p->wrapped, p);
  tpt_dtype_t result = combine(p->dimension, lower, p);
  return p->failed ? TPT_DTYPE_INVALID : result;
}

static void add_arg(tpt_promotion_t* p, const tpt_arg_t* arg) {
  switch (arg->kind) {
  case TPT_ARG_TENSOR:
    tpt_promotion_add_tensor(p, arg->tensors);
    break;
  case TPT_ARG_TENSORS:
    for (uint32_t i = 0; i < arg->count; i++)
      tpt_promotion_add_tensor(p, &arg->tensors[i]);
    break;
  case TPT_ARG_SCALAR:
  case TPT_ARG_FLOAT:
    tpt_promotion_add_number(p, arg->number.dtype);
    break;
  case TPT_ARG_SCALARS:
    for (uint32_t i = 0; i < arg->count; i++)
      tpt_promotion_add_number(p, arg->numbers[i].dtype);
    break;
  default:
    break;  // None takes no part
  }
}

tpt_dtype_t tpt_call_dtype(const tpt_lower_t* l, const int* args, int count) {
  tpt_promotion_t p = {.default_dtype = l->default_dtype};
  for (int i = 0; i < count; i++)
    add_arg(&p, &l->args[args[i]]);
  return tpt_promotion_result(&p);
}

tpt_dtype_t tpt_lower_promote(tpt_lower_t* l, const int* args, int count, tpt_promote_t rule) {
  tpt_promotion_t p = {.default_dtype = l->default_dtype};
  for (int i = 0; i < count; i++)
    add_arg(&p, &l->args[args[i]]);
  tpt_dtype_t result = tpt_promotion_result(&p);
  if (result == TPT_DTYPE_INVALID) {
    bool half = p.failed_a == TPT_F16 || p.failed_b == TPT_F16;
    tpt_graph_fail(l->graph, tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                                             "%s is not supported, attempted to promote %s and %s",
                                             half ? "Promotion to complex32"
                                                  : "Promotion for uint16, uint32, uint64 types",
                                             tpt_dtype_torch_name(p.failed_a),
                                             tpt_dtype_torch_name(p.failed_b)));
    return TPT_DTYPE_INVALID;
  }
  if (rule == TPT_PROMOTE_INT_TO_FLOAT && !is_float_or_complex(result)) return l->default_dtype;
  return result;
}

tpt_dtype_t tpt_dtype_compute(tpt_dtype_t dtype) {
  return dtype == TPT_F16 || dtype == TPT_BF16 ? TPT_F32 : dtype;
}

const char* tpt_dtype_torch_name(tpt_dtype_t dtype) {
  static const char* const kNames[TPT_DTYPE_COUNT] = {
      [TPT_PRED] = "Bool",     [TPT_S8] = "Char",          [TPT_S16] = "Short",
      [TPT_S32] = "Int",       [TPT_S64] = "Long",         [TPT_U8] = "Byte",
      [TPT_U16] = "UInt16",    [TPT_U32] = "UInt32",       [TPT_U64] = "UInt64",
      [TPT_F16] = "Half",      [TPT_F32] = "Float",        [TPT_F64] = "Double",
      [TPT_BF16] = "BFloat16", [TPT_C64] = "ComplexFloat", [TPT_C128] = "ComplexDouble",
  };
  const char* name = dtype < TPT_DTYPE_COUNT ? kNames[dtype] : NULL;
  return name ? name : "Undefined";
}

tpt_status_t tpt_check_number_fits(const tpt_number_t* number, tpt_dtype_t dtype) {
  tpt_dtype_class_t kind = tpt_dtype_row(dtype)->kind;
  if (kind != TPT_CLASS_SINT && kind != TPT_CLASS_UINT) return NULL;
  bool fits;
  int bits = (int)tpt_dtype_size(dtype) * 8;
  if (tpt_dtype_is_float(number->dtype) || tpt_dtype_is_complex(number->dtype)) {
    double low = kind == TPT_CLASS_SINT ? -ldexp(1.0, bits - 1) : -ldexp(1.0, bits) + 1;
    double limit = ldexp(1.0, kind == TPT_CLASS_SINT ? bits - 1 : bits);
    fits = isnan(number->f) ? false : number->f >= low && number->f < limit;
  } else if (bits == 64) {
    fits = true;
  } else if (kind == TPT_CLASS_UINT) {  // PyTorch lets -255 .. 255 into uint8
    int64_t limit = (int64_t)1 << bits;
    fits = number->i > -limit && number->i < limit;
  } else {
    int64_t limit = (int64_t)1 << (bits - 1);
    fits = number->i >= -limit && number->i < limit;
  }
  if (fits) return NULL;
  static const char* const kNames[TPT_DTYPE_COUNT] = {
      [TPT_S8] = "int8_t",  [TPT_S16] = "int16_t",  [TPT_S32] = "int",      [TPT_S64] = "int64_t",
      [TPT_U8] = "uint8_t", [TPT_U16] = "uint16_t", [TPT_U32] = "uint32_t", [TPT_U64] = "uint64_t"};
  TPT_FAIL(TPT_INVALID_ARGUMENT, "value cannot be converted to type %s without overflow",
           kNames[dtype]);
}
