// What a caller (the PyTorch adapter, a tool) hands to the core: tensors as windows onto storages,
// and the arguments of an ATen call. All arrays are borrowed for the call.
#ifndef TPUTORCH_TENSOR_H_
#define TPUTORCH_TENSOR_H_

#include <stdbool.h>
#include <stdint.h>

#include "tputorch/type.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tpt_storage tpt_storage_t;

enum {
  TPT_TENSOR_NONE = 1,  // an absent optional tensor: every other field is meaningless
  TPT_TENSOR_HOST = 2,  // a 0-d CPU tensor or Python number: `number` is its value, storage is NULL
  TPT_TENSOR_WRAPPED = 4,  // came from a Python number: takes part in promotion as a number does
};

// A window: element (i0, i1, ...) is element offset + sum(i_k * strides[k]) of the storage's flat
// array of `dtype`. sizes, strides, offset in elements.
typedef struct tpt_tensor {
  tpt_storage_t* storage;
  const int64_t* sizes;
  const int64_t* strides;
  int64_t offset;
  int32_t rank;
  tpt_dtype_t dtype;
  uint32_t flags;
  uint32_t value;       // lowering only: the graph value that holds the tensor (tpt_value_t.index)
  tpt_number_t number;  // TPT_TENSOR_HOST only
} tpt_tensor_t;

typedef enum tpt_arg_kind {
  TPT_ARG_NONE,     // None for any optional parameter
  TPT_ARG_TENSOR,   // Tensor, Tensor?
  TPT_ARG_TENSORS,  // Tensor[], Tensor?[]
  TPT_ARG_SCALAR,   // Scalar: its value stays out of the program unless a lowering asks for it
  TPT_ARG_SCALARS,  // Scalar[]
  TPT_ARG_FLOAT,    // float: like Scalar
  TPT_ARG_INT,      // int, SymInt, and enums that PyTorch passes as int (Layout, MemoryFormat)
  TPT_ARG_BOOL,
  TPT_ARG_DTYPE,   // ScalarType: number.i is a tpt_dtype_t
  TPT_ARG_INTS,    // int[], SymInt[]
  TPT_ARG_FLOATS,  // float[]
  TPT_ARG_BOOLS,   // bool[] (as int64)
  TPT_ARG_STRING,
  TPT_ARG_DEVICE,     // number.i is the index, -1 for none
  TPT_ARG_GENERATOR,  // see tpt_call_t.generator
} tpt_arg_kind_t;

typedef struct tpt_arg {
  tpt_arg_kind_t kind;
  uint32_t count;  // TENSORS, SCALARS, INTS, FLOATS, BOOLS; characters of STRING
  union {
    const tpt_tensor_t* tensors;  // TENSOR (one), TENSORS
    const tpt_number_t* numbers;  // SCALARS
    const int64_t* ints;          // INTS, BOOLS
    const double* floats;         // FLOATS
    const char* string;
  };
  tpt_number_t number;  // SCALAR, FLOAT (f), INT, BOOL, DTYPE, DEVICE (i)
} tpt_arg_t;

#ifdef __cplusplus
}
#endif

#endif  // TPUTORCH_TENSOR_H_
