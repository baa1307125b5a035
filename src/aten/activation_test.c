// Activations and their gradients, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_activations_match_cpu(void) {
  CHECK_CALL("relu", "f32[7]: 1 -2 3 0.5 1 -1 2", "f32[7]: 1 0 3 0.5 1 0 2");
  CHECK_CALL("silu", "f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -0.07194484 -0.2126062 -0 0.2394751 0.7310586 2.857723 nan");
  CHECK_CALL("mish", "f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -0.07259175 -0.246936 -0 0.2890305 0.8650984 2.986535 nan");
  CHECK_CALL("hardswish", "f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -0 -0.24 -0 0.2266667 0.6666667 3 nan");
  CHECK_CALL("hardsigmoid", "f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: 0 0.4 0.5 0.5666667 0.6666667 1 nan");
  CHECK_CALL("softshrink", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0.5",
             "f32[7]: -3.5 -0.1 -0 0 0.5 2.5 nan");
  CHECK_CALL("hardshrink", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0.5", "f32[7]: -4 -0.6 0 0 1 3 nan");
  CHECK_CALL("gelu", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; t none",
             "f32[7]: -0.0001264811 -0.1645519 -0 0.2621687 0.8413447 2.99595 nan");
  CHECK_CALL("gelu", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; t tanh",
             "f32[7]: -7.021427e-05 -0.1645848 -0 0.2621612 0.841192 2.996363 nan");
  CHECK_CALL("leaky_relu", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0.1",
             "f32[7]: -0.4 -0.06 -0 0.4 1 3 nan");
  CHECK_CALL("hardtanh", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; s -1; s 2",
             "f32[7]: -1 -0.6 -0 0.4 1 2 nan");
  CHECK_CALL("threshold", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0.5; s 9.0",
             "f32[7]: 9 9 9 9 1 3 nan");
  CHECK_CALL("elu", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 1.5; s 2; s 0.5",
             "f32[7]: -2.593994 -0.7775454 -0 0.8 2 6 nan");
  CHECK_CALL("softplus", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 2; s 4",
             "f32[7]: 0.0001677032 0.1316412 0.3465736 0.5855503 1.063464 3 nan");
  CHECK_CALL("_prelu_kernel", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; f32[1]: 0.25",
             "f32[7]: -1 -0.15 -0 0.4 1 3 nan");
  CHECK_CALL("glu", "f32[2,4]: -0.25 0.75 -0.875 -1.875 -0.125 -2.875 -2.375 2.25; i 1",
             "f32[2,2]: -0.07355374 0.09972318 -0.01063738 -2.60087");
  CHECK_CALL("relu", "s64[2]: -1 2", "s64[2]: 0 2");
}

static void test_gradients_match_cpu(void) {
  CHECK_CALL("silu_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -0.05266461 -0.4341463 1.5 0.347396 0.9276705 -1.088104 nan");
  CHECK_CALL("mish_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -0.05377321 -0.4699309 1.8 0.4185087 1.049036 -1.021107 nan");
  CHECK_CALL("hardswish_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: 0 -0.6 1.5 0.3166667 0.8333334 -1 2");
  CHECK_CALL("hardsigmoid_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: 0 -0.3333333 0.5 0.08333334 0.1666667 0 0");
  CHECK_CALL("gelu_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; t none",
             "f32[7]: -0.0005036294 -0.1486366 1.5 0.4013649 1.083315 -1.011946 nan");
  CHECK_CALL("tanh_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -15 -1.28 3 0.42 0 8 nan");
  CHECK_CALL("sigmoid_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -20 1.92 -0 0.12 0 6 nan");
  CHECK_CALL("gelu_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; t tanh",
             "f32[7]: -0.0003349721 -0.1490169 1.5 0.4013294 1.082964 -1.011584 nan");
  CHECK_CALL("threshold_backward", "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0",
             "f32[7]: 0 0 0 0.5 1 -1 2");
  CHECK_CALL("leaky_relu_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0.1; b 0",
             "f32[7]: 0.1 -0.2 0.3 0.5 1 -1 0.2");
  CHECK_CALL("hardtanh_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; s -1; s 2",
             "f32[7]: 0 -2 3 0.5 1 0 2");
  CHECK_CALL("softshrink_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0.5",
             "f32[7]: 1 -2 0 0 1 -1 2");
  CHECK_CALL("hardshrink_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 0.5",
             "f32[7]: 1 -2 0 0 1 -1 2");
  CHECK_CALL("elu_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; s 1.5; s 2; s 0.5; b 0; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: 0.2030029 -2.222455 4.5 1 2 -2 4");
  CHECK_CALL("elu_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; s 1.5; s 2; s 0.5; b 1; f32[7]: -4 -0.6 -0 0.4 1 3 nan",
             "f32[7]: -0.5 -2.4 4.5 1 2 -2 4");
  CHECK_CALL("softplus_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; s 2; s 4",
             "f32[7]: 0.0003353501 -0.4629504 1.5 0.3449872 0.8807971 -1 nan");
  CHECK_CALL("_prelu_kernel_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; f32[1]: 0.25",
             "f32[7]: 0.25 -0.5 0.75 0.5 1 -1 0.5; f32[7]: -4 1.2 -0 0 0 0 nan");
  CHECK_CALL("glu_backward",
             "f32[2,2]: -1 1.5 -1.375 1.625; f32[2,4]: 1.25 1.375 0.875 0 -0 2.875 7.625 0.5; i 1",
             "f32[2,4]: -0.705785 0.75 -0.2595657 0.515625 -1.374329 1.011496 0 1.097908");
  CHECK_CALL("logit_backward", "f32[3]: 1 1 1; f32[3]: 0.25 -1 0.9",
             "f32[3]: 5.333333 nan 11.11111");
  CHECK_CALL("logit_backward", "f32[3]: 1 1 1; f32[3]: 0.25 0.05 0.9; f 0.125",
             "f32[3]: 5.333333 0 0");
}

static void test_log_sigmoid_needs_no_buffer(void) {
  CHECK_CALL(
      "log_sigmoid_forward", "f32[7]: -4 -0.6 -0 0.4 1 3 nan",
      "f32[7]: -4.01815 -1.037488 -0.6931472 -0.5130153 -0.3132617 -0.04858735 nan; f32[0]:");
  CHECK_CALL("log_sigmoid_backward",
             "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; f32[0]:",
             "f32[7]: 0.9820138 -1.291313 1.5 0.2006562 0.2689414 -0.04742587 nan");
}

static void test_bad_arguments_are_told(void) {
  CHECK_CALL_FAILS("gelu", "f32[7]: -4 -0.6 -0 0.4 1 3 nan; t erf", TPT_INVALID_ARGUMENT,
                   "approximate argument must be either none or tanh.");
  CHECK_CALL_FAILS("glu", "f32[2,3]: 0.75 -1.25 0.75 1 -3.875 -4; i 1", TPT_INVALID_ARGUMENT,
                   "Halving dimension must be even, but dimension 1 is size 3");
  CHECK_CALL_FAILS("glu", "f32[2,4]: 1.125 -0.25 -1.875 -1.5 0.375 0 0.25 -1; i 2",
                   TPT_OUT_OF_RANGE,
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  CHECK_CALL_FAILS("silu", "s64[1]: 1", TPT_UNIMPLEMENTED, "does not take Long");
  CHECK_CALL_FAILS("leaky_relu_backward",
                   "f32[7]: 1 -2 3 0.5 1 -1 2; f32[7]: -4 -0.6 -0 0.4 1 3 nan; s -0.1; b 1",
                   TPT_INVALID_ARGUMENT,
                   "In-place leakyReLu backward calculation is triggered with a negative slope");
}

int main(void) {
  RUN(test_activations_match_cpu);
  RUN(test_gradients_match_cpu);
  RUN(test_log_sigmoid_needs_no_buffer);
  RUN(test_bad_arguments_are_told);
  return TEST_RESULT;
}
