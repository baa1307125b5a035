// Reads channels-last off strides and makes the strides of channels-last results. Knows no op.
#include "aten/memory_format.h"

#include "aten/stride.h"

bool tpt_tensor_is_channels_last(const tpt_tensor_t* tensor) {
  int rank = tensor->rank;
  if ((rank != 4 && rank != 5) || (tensor->flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST)))
    return false;
  if (!tensor->strides || tensor->strides[1] == 0) return false;
  // Strides must not fall on the way channels, innermost to outermost space, batch. A batch as
  // tight as the channels is the ambiguous case that counts as contiguous.
  int64_t least = 0;
  for (int i = 0; i < rank; i++) {
    int dim = i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
    int64_t stride = tensor->strides[dim], size = tensor->sizes[dim];
    if (size == 0 || stride < least) return false;
    if (dim == 0 && least == tensor->strides[1]) return false;
    least = size > 1 ? stride * size : stride;
  }
  return true;
}

bool tpt_lower_is_channels_last(const tpt_lower_t* l, int arg) {
  return tpt_lower_has(l, arg) && tpt_tensor_is_channels_last(tpt_lower_tensor(l, arg));
}

tpt_status_t tpt_lower_result_format(tpt_lower_t* l, tpt_value_t value, bool channels_last) {
  const tpt_type_t* type = tpt_graph_type(l->graph, value);
  int64_t strides[TPT_RANK_MAX];
  if (channels_last && (type->rank == 4 || type->rank == 5))
    tpt_strides_channels_last(type->rank, type->dims, strides);
  else
    tpt_strides_contiguous(type->rank, type->dims, strides);
  return tpt_lower_result_strides(l, value, strides);
}
