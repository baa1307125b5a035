// Copies between a dense row-major array and a strided window of a flat array, both in host memory.
#ifndef TPUTORCH_EAGER_STRIDED_COPY_H_
#define TPUTORCH_EAGER_STRIDED_COPY_H_

#include "tputorch/tensor.h"

// flat: the storage's bytes; the window must lie inside.
void tpt_strided_pack(const tpt_tensor_t* window, const void* flat, void* out_dense);
void tpt_strided_unpack(const tpt_tensor_t* window, const void* dense, void* out_flat);

#endif  // TPUTORCH_EAGER_STRIDED_COPY_H_
