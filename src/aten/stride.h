// Strides of new tensors by PyTorch's rules, in elements. Pure functions of sizes and strides.
#ifndef TPUTORCH_ATEN_STRIDE_H_
#define TPUTORCH_ATEN_STRIDE_H_

#include "aten/lower.h"

void tpt_strides_contiguous(int rank, const int64_t* sizes, int64_t* out_strides);
// NHWC (rank 4) or NDHWC (rank 5) order for NCHW sizes; rank must be 4 or 5.
void tpt_strides_channels_last(int rank, const int64_t* sizes, int64_t* out_strides);
bool tpt_strides_are_contiguous(int rank, const int64_t* sizes, const int64_t* strides);
bool tpt_strides_are_channels_last(int rank, const int64_t* sizes, const int64_t* strides);
// Non-overlapping and dense: a permutation of a contiguous tensor.
bool tpt_strides_are_dense(int rank, const int64_t* sizes, const int64_t* strides);
// empty_like(preserve_format): the tensor's own strides when dense, else its suggested memory
// format.
void tpt_strides_like(const tpt_tensor_t* tensor, int64_t* out_strides);
// TensorIterator's output for operands that broadcast to `sizes`.
void tpt_strides_iterator(const tpt_tensor_t* const* operands, int count, int rank,
                          const int64_t* sizes, int64_t* out_strides);

#endif  // TPUTORCH_ATEN_STRIDE_H_
