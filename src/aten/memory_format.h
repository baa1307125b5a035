// Memory format of a tensor: whether its strides say "channels last" (NHWC, NDHWC), the question
// that decides the strides of what convolutions, pools and norms return.
#ifndef TPUTORCH_ATEN_MEMORY_FORMAT_H_
#define TPUTORCH_ATEN_MEMORY_FORMAT_H_

#include "aten/lower.h"

// PyTorch's suggested memory format of a tensor of rank 4 or 5: true for channels last. False for
// every other rank, for ambiguous strides and for tensors without elements.
bool tpt_tensor_is_channels_last(const tpt_tensor_t* tensor);
// The same for an argument that may be None (false).
bool tpt_lower_is_channels_last(const tpt_lower_t* l, int arg);
// Adds a result that is dense in the given format (rows of rule OWN).
TPT_MUST_USE tpt_status_t tpt_lower_result_format(tpt_lower_t* l, tpt_value_t value,
                                                  bool channels_last);

#endif  // TPUTORCH_ATEN_MEMORY_FORMAT_H_
