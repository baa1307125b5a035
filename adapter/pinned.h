// Pinned host memory: an allocator and the question whether an address came from it.
#ifndef TPUTORCH_ADAPTER_PINNED_H_
#define TPUTORCH_ADAPTER_PINNED_H_

#include <c10/core/Allocator.h>

namespace tputorch {
c10::Allocator* pinned_allocator();
bool is_pinned(const void* data);
}  // namespace tputorch

#endif  // TPUTORCH_ADAPTER_PINNED_H_
