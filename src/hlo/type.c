// Owns the facts of element types and the exact conversion of host numbers to and from elements.
// Must not know graphs. Invariant: no conversion has undefined behaviour; floats round to nearest
// even through float, as PyTorch's scalar conversion does.
#include "tputorch/type.h"

#include <math.h>
#include <stdio.h>

// The id in lower case, which the preprocessor cannot make.
#define NAME_PRED "pred"
#define NAME_S8   "s8"
#define NAME_S16  "s16"
#define NAME_S32  "s32"
#define NAME_S64  "s64"
#define NAME_U8   "u8"
#define NAME_U16  "u16"
#define NAME_U32  "u32"
#define NAME_U64  "u64"
#define NAME_F16  "f16"
#define NAME_F32  "f32"
#define NAME_F64  "f64"
#define NAME_BF16 "bf16"
#define NAME_C64  "c64"
#define NAME_C128 "c128"

static const tpt_dtype_row_t rows[TPT_DTYPE_COUNT] = {
#define DTYPE(id, pjrt, mlir, bytes, class, torch)                                                 \
  [TPT_##id] = {NAME_##id, mlir, bytes, TPT_CLASS_##class, torch},
#include "tputorch/dtype.def"
#undef DTYPE
};

const tpt_dtype_row_t* tpt_dtype_row(tpt_dtype_t dtype) {
  return &rows[(unsigned)dtype < TPT_DTYPE_COUNT ? dtype : TPT_DTYPE_INVALID];
}

tpt_dtype_t tpt_dtype_from_torch(int scalar_type) {
  for (int i = 1; i < TPT_DTYPE_COUNT; i++) {
    if (rows[i].torch == scalar_type && scalar_type >= 0) return (tpt_dtype_t)i;
  }
  return TPT_DTYPE_INVALID;
}

tpt_dtype_t tpt_dtype_real(tpt_dtype_t dtype) {
  if (dtype == TPT_C64) return TPT_F32;
  return dtype == TPT_C128 ? TPT_F64 : dtype;
}

bool tpt_dims_equal(const tpt_type_t* a, const tpt_type_t* b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

bool tpt_type_equal(const tpt_type_t* a, const tpt_type_t* b) {
  return a->dtype == b->dtype && tpt_dims_equal(a, b);
}

const char* tpt_type_print(const tpt_type_t* type, char* text, size_t text_size) {
  if (text_size == 0) return text;
  size_t used = 0;
  const char* part = "tensor<";
  char number[32];
  for (int i = 0;; i++) {
    for (; *part && used + 1 < text_size; part++)
      text[used++] = *part;
    if (i == type->rank + 1) break;
    if (i == type->rank)
      snprintf(number, sizeof(number), "%s>",
               type->dtype && tpt_dtype_row(type->dtype)->mlir ? tpt_dtype_row(type->dtype)->mlir
                                                               : "invalid");
    else
      snprintf(number, sizeof(number), "%lldx", (long long)type->dims[i]);
    part = number;
  }
  text[used] = 0;
  return text;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

static uint16_t bf16_of(float x) {
  if (isnan(x)) return 0x7FC0;
  uint32_t bits = bits_of(x);
  return (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

static uint16_t f16_of(float x) {
  uint32_t bits = bits_of(x);
  uint16_t sign = (uint16_t)((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // 65520 and above round to infinity
  if (magnitude < 0x38800000) {
    // Below 2^-14 the result counts units of 2^-24: an addition that leaves exactly those bits
    // rounds to nearest even in hardware.
    float shifted = float_of(magnitude) + 0.5f;
    return sign | (uint16_t)(bits_of(shifted) - bits_of(0.5f));
  }
  uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return sign | (uint16_t)((rounded - 0x38000000) >> 13);
}

static double double_of_f16(uint16_t half) {
  int exponent = (half >> 10) & 31;
  int fraction = half & 0x3FF;
  double magnitude;
  if (exponent == 31)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = fraction * 0x1p-24;
  else
    magnitude = ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

// Truncation with what x86 gives outside of the range, so that the result is defined everywhere.
static int64_t s64_of(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
static int32_t s32_of(double x) {
  return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}
static uint64_t u64_of(double x) {
  return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)x : (uint64_t)s64_of(x);
}

static bool has_integer(const tpt_number_t* number) {
  tpt_dtype_class_t kind = tpt_dtype_row(number->dtype)->kind;
  return kind == TPT_CLASS_BOOL || kind == TPT_CLASS_SINT || kind == TPT_CLASS_UINT;
}

static double real_part(const tpt_number_t* number) {
  if (!has_integer(number)) return number->f;
  return number->dtype == TPT_U64 ? (double)(uint64_t)number->i : (double)number->i;
}

// One rounding only: through double a 64-bit integer would round twice.
static float real_part_f32(const tpt_number_t* number) {
  if (!has_integer(number)) return (float)number->f;
  return number->dtype == TPT_U64 ? (float)(uint64_t)number->i : (float)number->i;
}

static uint64_t integer_of(const tpt_number_t* number, tpt_dtype_t dtype) {
  if (has_integer(number)) return (uint64_t)number->i;
  switch (dtype) {
  case TPT_S8:
  case TPT_S16:
  case TPT_S32:
    return (uint64_t)(int64_t)s32_of(number->f);
  case TPT_U64:
    return u64_of(number->f);
  default:
    return (uint64_t)s64_of(number->f);
  }
}

static bool is_nonzero(const tpt_number_t* number) {
  if (has_integer(number)) return number->i != 0;
  return number->f != 0 || (tpt_dtype_is_complex(number->dtype) && number->im != 0);
}

static void put(void* out, const void* data, size_t size) {
  memcpy(out, data, size);
}

static void store_float(const tpt_number_t* number, tpt_dtype_t dtype, void* out) {
  float single = real_part_f32(number);
  double real = real_part(number);
  double imaginary = tpt_dtype_is_complex(number->dtype) ? number->im : 0;
  switch (dtype) {
  case TPT_F16:
    put(out, &(uint16_t){f16_of(single)}, 2);
    break;
  case TPT_BF16:
    put(out, &(uint16_t){bf16_of(single)}, 2);
    break;
  case TPT_F32:
    put(out, &single, 4);
    break;
  case TPT_F64:
    put(out, &real, 8);
    break;
  case TPT_C64:
    put(out, (float[2]){single, (float)imaginary}, 8);
    break;
  case TPT_C128:
    put(out, (double[2]){real, imaginary}, 16);
    break;
  default:
    break;
  }
}

void tpt_number_store(const tpt_number_t* number, tpt_dtype_t dtype, void* out_element) {
  const tpt_dtype_row_t* row = tpt_dtype_row(dtype);
  switch (row->kind) {
  case TPT_CLASS_NONE:
    return;
  case TPT_CLASS_BOOL:
    put(out_element, &(uint8_t){is_nonzero(number)}, 1);
    return;
  case TPT_CLASS_SINT:
  case TPT_CLASS_UINT: {
    uint64_t value = integer_of(number, dtype);
    switch (row->size) {
    case 1:
      put(out_element, &(uint8_t){(uint8_t)value}, 1);
      return;
    case 2:
      put(out_element, &(uint16_t){(uint16_t)value}, 2);
      return;
    case 4:
      put(out_element, &(uint32_t){(uint32_t)value}, 4);
      return;
    default:
      put(out_element, &value, 8);
      return;
    }
  }
  case TPT_CLASS_FLOAT:
  case TPT_CLASS_COMPLEX:
    store_float(number, dtype, out_element);
    return;
  }
}

tpt_number_t tpt_number_load(tpt_dtype_t dtype, const void* element) {
  tpt_number_t number = {.dtype = dtype};
  union {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    int64_t i64;
    float f32[2];
    double f64[2];
  } bits;
  memset(&bits, 0, sizeof(bits));
  memcpy(&bits, element, tpt_dtype_size(dtype));
  switch (dtype) {
  case TPT_PRED:
    number.i = bits.u8 != 0;
    break;
  case TPT_U8:
    number.i = bits.u8;
    break;
  case TPT_U16:
    number.i = bits.u16;
    break;
  case TPT_U32:
    number.i = bits.u32;
    break;
  case TPT_S8:
    number.i = (int8_t)bits.u8;
    break;
  case TPT_S16:
    number.i = (int16_t)bits.u16;
    break;
  case TPT_S32:
    number.i = (int32_t)bits.u32;
    break;
  case TPT_S64:
  case TPT_U64:
    number.i = bits.i64;
    break;
  case TPT_F16:
    number.f = double_of_f16(bits.u16);
    break;
  case TPT_BF16:
    number.f = float_of((uint32_t)bits.u16 << 16);
    break;
  case TPT_F32:
    number.f = bits.f32[0];
    break;
  case TPT_F64:
    number.f = bits.f64[0];
    break;
  case TPT_C64:
    number.f = bits.f32[0], number.im = bits.f32[1];
    break;
  case TPT_C128:
    number.f = bits.f64[0], number.im = bits.f64[1];
    break;
  default:
    break;
  }
  return number;
}
