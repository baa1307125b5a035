// Special functions, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_error_functions_match_cpu(void) {
  CHECK_CALL("erf", "f32[9]: -4 -1 -0 1e-06 0.3 0.9 2 inf nan",
             "f32[9]: -1 -0.8427008 -0 1.128379e-06 0.3286268 0.7969082 0.9953223 1 nan");
  CHECK_CALL("erfc", "f32[8]: -4 -0.2 0.3 1 4 9 inf nan",
             "f32[8]: 2 1.222703 0.6713732 0.1572992 1.541726e-08 4.137032e-37 0 nan");
  CHECK_CALL("erf", "f64[3]: -3 0.7 1.5", "f64[3]: -0.999977909503 0.677801193837 0.966105146475");
  CHECK_CALL("erfc", "f64[3]: -3 0.7 5", "f64[3]: 1.9999779095 0.322198806163 1.53745979443e-12");
  CHECK_CALL("erfinv", "f32[7]: -1 -0.9 0 0.25 0.999 1 2",
             "f32[7]: -inf -1.163087 0 0.2253121 2.326756 inf nan");
  CHECK_CALL("erfinv", "f64[3]: -0.7 0.1 0.9999",
             "f64[3]: -0.732869077959 0.0888559904943 2.75106390571");
}

static void test_gamma_functions_match_cpu(void) {
  CHECK_CALL(
      "lgamma", "f32[11]: -2.5 -1 -0.3 0 0.4 1.2 2 5.5 30 inf nan",
      "f32[11]: -0.05624372 inf 1.46484 inf 0.7966778 -0.0853741 0 3.957814 71.25704 inf nan");
  CHECK_CALL("digamma", "f32[11]: -2.5 -1 -0.3 0 0.4 1.2 2 5.5 30 inf nan",
             "f32[11]: 1.103157 nan 2.11331 -inf -2.561384 -0.2890402 0.4227842 1.611093 3.384438 "
             "inf nan");
  CHECK_CALL("lgamma", "f64[3]: 0.7 2.5 100", "f64[3]: 0.260867246532 0.284682870473 359.13420537");
  CHECK_CALL("digamma", "f64[3]: 0.7 -2.3 100",
             "f64[3]: -1.2200235537 3.31732315756 4.60016185274");
}

int main(void) {
  RUN(test_error_functions_match_cpu);
  RUN(test_gamma_functions_match_cpu);
  return TEST_RESULT;
}
