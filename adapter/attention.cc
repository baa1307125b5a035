// Which implementation scaled_dot_product_attention takes: the fused rows of the op table. Answered from
// metadata alone; without an answer PyTorch would ask the CPU's kernel, with copies of the operands.
#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace tputorch {

namespace {

int64_t fused_sdp_choice(const at::Tensor& query, const at::Tensor&, const at::Tensor&,
                         const std::optional<at::Tensor>&, double, bool, std::optional<double>, bool) {
  bool is_allowed = at::globalContext().userEnabledOverrideableSDP();
  bool is_fused = is_allowed && query.is_floating_point() && !query.is_nested();
  return static_cast<int64_t>(is_fused ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_fused_sdp_choice", TORCH_FN(fused_sdp_choice)); }

}  // namespace tputorch
