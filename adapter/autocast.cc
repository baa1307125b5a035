// Autocast on device tpu: core's lists of ops by policy, with bfloat16 as the default low precision.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace at::autocast {
namespace {

// As on other devices: its input is a probability, which low precision cannot hold near 0 and 1.
Tensor refuse_binary_cross_entropy(const Tensor&, const Tensor&, const std::optional<Tensor>&,
                                   int64_t) {
  TORCH_CHECK(false,
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to "
              "autocast; use binary_cross_entropy_with_logits or BCEWithLogitsLoss, or leave "
              "autocast with torch.autocast(\"tpu\", enabled=False)");
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define TPUTORCH_LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
  AT_FORALL_LOWER_PRECISION_FP(TPUTORCH_LOWER)
#undef TPUTORCH_LOWER
#define TPUTORCH_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
  AT_FORALL_FP32(TPUTORCH_FP32)
#undef TPUTORCH_FP32
#define TPUTORCH_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
  AT_FORALL_FP32_SET_OPT_DTYPE(TPUTORCH_DTYPE)
#undef TPUTORCH_DTYPE
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
#define TPUTORCH_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_PROMOTE(TPUTORCH_PROMOTE)
#undef TPUTORCH_PROMOTE
  KERNEL_PRIVATEUSEONE(mkldnn_rnn_layer, lower_precision_fp)
  m.impl("binary_cross_entropy", TORCH_FN(refuse_binary_cross_entropy));
}

}  // namespace
}  // namespace at::autocast
