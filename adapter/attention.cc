// Which implementation scaled_dot_product_attention takes: the fused rows of the op table. Answered from
// metadata alone, both to the function itself (the stub) and to whoever asks by name.
#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>
#include <torch/library.h>

namespace at::native {

namespace {

int64_t choose_fused_rows(const Tensor& query, const Tensor&, const Tensor&,
                          const std::optional<Tensor>&, double, bool, std::optional<double>, bool) {
  bool is_allowed = globalContext().userEnabledOverrideableSDP();
  bool is_fused = is_allowed && query.is_floating_point() && !query.is_nested();
  return static_cast<int64_t>(is_fused ? SDPBackend::overrideable : SDPBackend::math);
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &choose_fused_rows)

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_fused_sdp_choice", TORCH_FN(choose_fused_rows));
}

}  // namespace at::native
