// The order of a tensor's dimensions in memory. Pure functions of sizes and strides.
#ifndef TPUTORCH_EAGER_STRIDE_ORDER_H_
#define TPUTORCH_EAGER_STRIDE_ORDER_H_

#include "tputorch/type.h"

typedef struct tpt_order {
  int all[TPT_RANK_MAX];   // every dimension, largest stride first, ties and size-1 dims in place
  int core[TPT_RANK_MAX];  // those of more than one element and stride > 0
  int core_count;
  bool is_dense;     // the elements fill one gap-free range, each once
  bool is_expanded;  // a dimension of more than one element has stride 0
  int64_t count;     // elements
} tpt_order_t;

// strides must not be negative and the counts must not overflow.
void tpt_order_init(tpt_order_t* order, int rank, const int64_t* sizes, const int64_t* strides);

// Strides with those of size-1 dimensions (and of empty tensors) replaced by what a contiguous
// neighbour implies, so that they cannot tell two equal windows apart. channels_last (of rank 4 or 5):
// the neighbours in that order, so that PyTorch's reading of the strides as such survives.
void tpt_strides_normalise(int rank, const int64_t* sizes, const int64_t* strides,
                           bool channels_last, int64_t* out_strides);

// Strides of a contiguous tensor.
void tpt_strides_contiguous_of(const tpt_type_t* type, int64_t* out_strides);

#endif  // TPUTORCH_EAGER_STRIDE_ORDER_H_
