// Layouts that device tpu does not have: one clear error each, instead of the dispatcher's.
#include <torch/library.h>

#include "adapter/adapter.h"

namespace tputorch {
namespace {

[[noreturn]] void refuse(const c10::OperatorHandle& op, const char* what, const char* instead) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, c10::toString(op.operator_name()), ": ", what,
                              " tensors are not supported on device tpu; ", instead);
  throw std::logic_error("not reached");
}

void refuse_sparse(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse(op, "sparse",
         "use dense ones (x.to_dense(), sparse=False), or keep this part of the model on the CPU");
}
void refuse_quantized(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse(op, "quantized",
         "use bfloat16, integer tensors with your own scales, or keep this part on the CPU");
}
void refuse_nested(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse(op, "nested (strided)",
         "pad them (nested.to_padded_tensor on the CPU), or use layout=torch.jagged");
}

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_sparse>());
}
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_quantized>());
}
TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_nested>());
}

}  // namespace
}  // namespace tputorch
