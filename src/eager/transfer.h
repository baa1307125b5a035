// Reading and writing windows with the device's lock held, for copies between tensors.
#ifndef TPUTORCH_EAGER_TRANSFER_H_
#define TPUTORCH_EAGER_TRANSFER_H_

#include "eager/device.h"

// The tensor's window over its storage's home, its offset checked; settles nothing.
TPT_MUST_USE tpt_status_t tpt_transfer_window(const tpt_tensor_t* tensor,
                                              const tpt_window_t** out_window);
// True for the windows that byte copies come as: all of a storage, u8, in order.
bool tpt_transfer_is_bytes(const tpt_window_t* window);
// dst = src on one device, by a program.
TPT_MUST_USE tpt_status_t tpt_copy_locked(tpt_device_t* device, const tpt_tensor_t* dst,
                                          const tpt_tensor_t* src);
// The tensor's elements, dense, as a value of their own (NULL: zeros); one reference.
TPT_MUST_USE tpt_status_t tpt_read_locked(const tpt_tensor_t* tensor, const tpt_home_t** out_home,
                                          tpt_cell_t** out_cell);

#endif  // TPUTORCH_EAGER_TRANSFER_H_
