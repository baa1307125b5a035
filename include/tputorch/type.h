// Element types and tensor types of the graph. Facts of one dtype are one row of dtype.def.
#ifndef TPUTORCH_TYPE_H_
#define TPUTORCH_TYPE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TPT_RANK_MAX = 16 };  // tensors of higher rank are refused with UNIMPLEMENTED

// Numbers equal PJRT_Buffer_Type.
typedef enum tpt_dtype {
  TPT_DTYPE_INVALID = 0,
#define DTYPE(id, pjrt, mlir, bytes, class, torch) TPT_##id = pjrt,
#include "tputorch/dtype.def"
#undef DTYPE
  TPT_DTYPE_COUNT = 16,
} tpt_dtype_t;

typedef enum tpt_dtype_class {
  TPT_CLASS_NONE,
  TPT_CLASS_BOOL,
  TPT_CLASS_SINT,
  TPT_CLASS_UINT,
  TPT_CLASS_FLOAT,
  TPT_CLASS_COMPLEX,
} tpt_dtype_class_t;

typedef struct tpt_dtype_row {
  const char* name;  // lower-case id: "f32", "pred"
  const char* mlir;
  size_t size;  // bytes of an element
  tpt_dtype_class_t kind;
  int torch;  // c10::ScalarType, -1 if torch has none
} tpt_dtype_row_t;

// Row of a dtype; a row of zeros for INVALID or unknown numbers. Static.
const tpt_dtype_row_t* tpt_dtype_row(tpt_dtype_t dtype);
// INVALID when torch's type has no counterpart.
tpt_dtype_t tpt_dtype_from_torch(int scalar_type);
static inline size_t tpt_dtype_size(tpt_dtype_t dtype) {
  return tpt_dtype_row(dtype)->size;
}
static inline bool tpt_dtype_is_float(tpt_dtype_t d) {
  return tpt_dtype_row(d)->kind == TPT_CLASS_FLOAT;
}
static inline bool tpt_dtype_is_complex(tpt_dtype_t d) {
  return tpt_dtype_row(d)->kind == TPT_CLASS_COMPLEX;
}
// Signed or unsigned integer; not bool.
static inline bool tpt_dtype_is_int(tpt_dtype_t d) {
  return tpt_dtype_row(d)->kind == TPT_CLASS_SINT || tpt_dtype_row(d)->kind == TPT_CLASS_UINT;
}
// F32 for C64, F64 for C128, else the dtype itself.
tpt_dtype_t tpt_dtype_real(tpt_dtype_t dtype);

typedef struct tpt_type {
  tpt_dtype_t dtype;
  int32_t rank;
  int64_t dims[TPT_RANK_MAX];
} tpt_type_t;

static inline tpt_type_t tpt_type_make(tpt_dtype_t dtype, int rank, const int64_t* dims) {
  tpt_type_t type;
  memset(&type, 0, sizeof(type));
  type.dtype = dtype;
  type.rank = rank;
  if (rank > 0) memcpy(type.dims, dims, (size_t)rank * sizeof(*dims));
  return type;
}
static inline tpt_type_t tpt_type_scalar(tpt_dtype_t dtype) {
  return tpt_type_make(dtype, 0, NULL);
}
static inline int64_t tpt_type_count(const tpt_type_t* type) {
  int64_t count = 1;
  for (int i = 0; i < type->rank; i++)
    count *= type->dims[i];
  return count;
}
static inline int64_t tpt_type_size(const tpt_type_t* type) {
  return tpt_type_count(type) * (int64_t)tpt_dtype_size(type->dtype);
}
bool tpt_type_equal(const tpt_type_t* a, const tpt_type_t* b);
bool tpt_dims_equal(const tpt_type_t* a, const tpt_type_t* b);
// "tensor<2x3xf32>" into text, cut at text_size; returns text.
const char* tpt_type_print(const tpt_type_t* type, char* text, size_t text_size);

// A number of the host: what a Python scalar or a 0-d CPU tensor is. `dtype` says which is set:
// PRED and integers -> i (u64 in two's complement), floats -> f, complex -> f and im.
typedef struct tpt_number {
  tpt_dtype_t dtype;
  int64_t i;
  double f;
  double im;
} tpt_number_t;
// Writes the number as one element of `dtype` (at most 16 bytes). Rounds floats to nearest even,
// wraps integers, as c10::convert does; complex to real drops the imaginary part.
void tpt_number_store(const tpt_number_t* number, tpt_dtype_t dtype, void* out_element);
// Reads one element.
tpt_number_t tpt_number_load(tpt_dtype_t dtype, const void* element);

#ifdef __cplusplus
}
#endif

#endif  // TPUTORCH_TYPE_H_
