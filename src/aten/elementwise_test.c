// Elementwise operators with one operand, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_powers_and_logarithms_match_cpu(void) {
  CHECK_CALL("exp", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 0.1353353 1 1 1.284025 2.718282 20.08554 inf 0 nan");
  CHECK_CALL("exp2", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 0.25 1 1 1.189207 2 8 inf 0 nan");
  CHECK_CALL("expm1", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -0.8646647 -0 0 0.2840254 1.718282 19.08554 inf -1 nan");
  CHECK_CALL("log", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: nan -inf -inf -1.386294 0 1.098612 inf nan nan");
  CHECK_CALL("log2", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: nan -inf -inf -2 0 1.584962 inf nan nan");
  CHECK_CALL("log10", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: nan -inf -inf -0.60206 0 0.4771213 inf nan nan");
  CHECK_CALL("log1p", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: nan -0 0 0.2231435 0.6931472 1.386294 inf nan nan");
  CHECK_CALL("sqrt", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: nan -0 0 0.5 1 1.732051 inf nan nan");
  CHECK_CALL("rsqrt", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: nan -inf inf 2 1 0.5773503 0 nan nan");
  CHECK_CALL("reciprocal", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -0.5 -inf inf 4 1 0.3333333 0 -0 nan");
  CHECK_CALL("sigmoid", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 0.1192029 0.5 0.5 0.5621765 0.7310586 0.9525741 1 0 nan");
}

static void test_trigonometry_matches_cpu(void) {
  CHECK_CALL("sin", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -0.9092974 -0 0 0.247404 0.841471 0.14112 nan nan nan");
  CHECK_CALL("cos", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -0.4161468 1 1 0.9689124 0.5403023 -0.9899925 nan nan nan");
  CHECK_CALL("tan", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 2.18504 -0 0 0.2553419 1.557408 -0.1425465 nan nan nan");
  CHECK_CALL("tanh", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -0.9640276 -0 0 0.2449187 0.7615942 0.9950548 1 -1 nan");
  CHECK_CALL("sinh", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -3.62686 -0 0 0.2526123 1.175201 10.01787 inf -inf nan");
  CHECK_CALL("cosh", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 3.762196 1 1 1.031413 1.543081 10.06766 inf inf nan");
  CHECK_CALL("asinh", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -1.443635 -0 0 0.2474665 0.8813736 1.818447 inf -inf nan");
  CHECK_CALL("atan", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -1.107149 -0 0 0.2449787 0.7853982 1.249046 1.570796 -1.570796 nan");
  CHECK_CALL("sinc", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 2.782753e-08 1 1 0.9003163 -2.782753e-08 -2.530538e-09 nan nan nan");
  CHECK_CALL("asin", "f32[6]: -1 -0.5 0 0.25 1 nan",
             "f32[6]: -1.570796 -0.5235988 0 0.2526802 1.570796 nan");
  CHECK_CALL("acos", "f32[6]: -1 -0.5 0 0.25 1 nan",
             "f32[6]: 3.141593 2.094395 1.570796 1.318116 0 nan");
  CHECK_CALL("atanh", "f32[6]: -1 -0.5 0 0.25 1 nan",
             "f32[6]: -inf -0.5493062 0 0.2554128 inf nan");
  CHECK_CALL("logit", "f32[6]: -1 -0.5 0 0.25 1 nan", "f32[6]: nan nan -inf -1.098612 inf nan");
  CHECK_CALL("acosh", "f32[4]: 0.5 1 2 1e+20", "f32[4]: nan 0 1.316958 46.74485");
  CHECK_CALL("logit", "f32[6]: -1 -0.5 0 0.25 1 nan; f 0.125",
             "f32[6]: -1.94591 -1.94591 -1.94591 -1.098612 1.94591 nan");
  CHECK_CALL("sinh", "f32[4]: 100 -100 89 1e-06", "f32[4]: inf -inf 2.244806e+38 1e-06");
  CHECK_CALL("cosh", "f32[2]: 89 -89", "f32[2]: 2.244806e+38 2.244806e+38");
  CHECK_CALL("asinh", "f32[2]: 1e+30 -1e+30", "f32[2]: 69.7707 -69.7707");
}

static void test_rounding_keeps_integers(void) {
  CHECK_CALL("floor", "f32[6]: -2.5 -0.5 0.5 1.5 2.7 nan", "f32[6]: -3 -1 0 1 2 nan");
  CHECK_CALL("ceil", "f32[6]: -2.5 -0.5 0.5 1.5 2.7 nan", "f32[6]: -2 -0 1 2 3 nan");
  CHECK_CALL("round", "f32[6]: -2.5 -0.5 0.5 1.5 2.7 nan", "f32[6]: -2 -0 0 2 3 nan");
  CHECK_CALL("trunc", "f32[6]: -2.5 -0.5 0.5 1.5 2.7 nan", "f32[6]: -2 -0 0 1 2 nan");
  CHECK_CALL("frac", "f32[6]: -2.5 -0.5 0.5 1.5 2.7 nan", "f32[6]: -0.5 -0.5 0.5 0.5 0.7 nan");
  CHECK_CALL("floor", "s64[3]: -3 0 2", "s64[3]: -3 0 2");
  CHECK_CALL("ceil", "s64[3]: -3 0 2", "s64[3]: -3 0 2");
  CHECK_CALL("round", "s64[3]: -3 0 2", "s64[3]: -3 0 2");
  CHECK_CALL("trunc", "s64[3]: -3 0 2", "s64[3]: -3 0 2");
  CHECK_CALL("round.decimals", "f32[3]: 1.25 -7.891 1234.5; i 1", "f32[3]: 1.2 -7.9 1234.5");
  CHECK_CALL("round.decimals", "f32[3]: 1.25 -7.891 1234.5; i -2", "f32[3]: 0 -0 1200");
}

static void test_signs_and_classes_of_numbers(void) {
  CHECK_CALL("sign", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "f32[9]: -1 0 0 1 1 1 1 -1 0");
  CHECK_CALL("sgn", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "f32[9]: -1 0 0 1 1 1 1 -1 0");
  CHECK_CALL("signbit", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "pred[9]: 1 1 0 0 0 0 0 1 0");
  CHECK_CALL("isnan", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "pred[9]: 0 0 0 0 0 0 0 0 1");
  CHECK_CALL("isinf", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "pred[9]: 0 0 0 0 0 0 1 1 0");
  CHECK_CALL("isposinf", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "pred[9]: 0 0 0 0 0 0 1 0 0");
  CHECK_CALL("isneginf", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "pred[9]: 0 0 0 0 0 0 0 1 0");
  CHECK_CALL("logical_not", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "pred[9]: 0 1 1 0 0 0 0 0 0");
  CHECK_CALL("neg", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 2 0 -0 -0.25 -1 -3 -inf inf nan");
  CHECK_CALL("abs", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan", "f32[9]: 2 0 0 0.25 1 3 inf inf nan");
  CHECK_CALL("angle", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: 3.141593 0 0 0 0 0 0 3.141593 nan");
  CHECK_CALL("nan_to_num", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -2 -0 0 0.25 1 3 3.402823e+38 -3.402823e+38 0");
  CHECK_CALL("special_entr", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan",
             "f32[9]: -inf 0 0 0.3465736 -0 -3.295837 -inf -inf nan");
  CHECK_CALL("sign", "s64[3]: -3 0 2", "s64[3]: -1 0 1");
  CHECK_CALL("signbit", "s64[3]: -3 0 2", "pred[3]: 1 0 0");
  CHECK_CALL("isnan", "s64[3]: -3 0 2", "pred[3]: 0 0 0");
  CHECK_CALL("isinf", "s64[3]: -3 0 2", "pred[3]: 0 0 0");
  CHECK_CALL("neg", "s64[3]: -3 0 2", "s64[3]: 3 0 -2");
  CHECK_CALL("abs", "s64[3]: -3 0 2", "s64[3]: 3 0 2");
  CHECK_CALL("bitwise_not", "s64[3]: -3 0 2", "s64[3]: 2 -1 -3");
  CHECK_CALL("logical_not", "s64[3]: -3 0 2", "pred[3]: 0 1 0");
  CHECK_CALL("angle", "s64[3]: -3 0 2", "f32[3]: 3.141593 0 0");
  CHECK_CALL("nan_to_num", "s64[3]: -3 0 2", "s64[3]: -3 0 2");
  CHECK_CALL("bitwise_not", "pred[2]: 1 0", "pred[2]: 0 1");
  CHECK_CALL("abs", "u8[2]: 0 200", "u8[2]: 0 200");
  CHECK_CALL("nan_to_num", "f32[9]: -2 -0 0 0.25 1 3 inf -inf nan; f 1; f 2; f 3",
             "f32[9]: -2 -0 0 0.25 1 3 2 3 1");
  CHECK_CALL("_conj_physical", "s64[3]: -3 0 2", "s64[3]: -3 0 2");
  CHECK_CALL("sign", "pred[2]: 1 0", "pred[2]: 1 0");
}

static void test_integers_become_the_default_dtype(void) {
  CHECK_CALL("exp", "s64[3]: -3 0 2", "f32[3]: 0.04978707 1 7.389056");
  CHECK_CALL("sigmoid", "s64[3]: -3 0 2", "f32[3]: 0.04742587 0.5 0.880797");
  CHECK_CALL("sin", "s64[3]: -3 0 2", "f32[3]: -0.14112 0 0.9092974");
  CHECK_CALL("exp", "pred[2]: 1 0", "f32[2]: 2.718282 1");
}

static void test_half_types_round_once(void) {
  CHECK_CALL("exp", "bf16[3]: 0.1000977 1 3", "bf16[3]: 1.101562 2.71875 20.125");
  CHECK_CALL("sqrt", "f16[2]: 2 3", "f16[2]: 1.414062 1.732422");
}

static void test_negation_of_bool_says_what_to_do(void) {
  CHECK_CALL_FAILS("neg", "pred[1]: 1", TPT_INVALID_ARGUMENT,
                   "Negation, the `-` operator, on a bool tensor is not supported");
  CHECK_CALL_FAILS("floor", "pred[1]: 1", TPT_UNIMPLEMENTED, "does not take Bool");
}

static void test_unary_rows_keep_dense_strides(void) {
  CHECK_CALL_STRIDES("exp", "f32[2,3,2,2]~: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", 12, 1,
                     6, 3);
  CHECK_CALL_STRIDES("neg", "f32[3,2]': 0 0 0 0 0 0", 1, 3);
}

int main(void) {
  RUN(test_powers_and_logarithms_match_cpu);
  RUN(test_trigonometry_matches_cpu);
  RUN(test_rounding_keeps_integers);
  RUN(test_signs_and_classes_of_numbers);
  RUN(test_integers_become_the_default_dtype);
  RUN(test_half_types_round_once);
  RUN(test_negation_of_bool_says_what_to_do);
  RUN(test_unary_rows_keep_dense_strides);
  return TEST_RESULT;
}
