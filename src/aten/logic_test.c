// Comparisons, bits, extrema and choices, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_comparisons_promote_and_give_bool(void) {
  CHECK_CALL("eq.Tensor", "f32[3]: 1 2 nan; f32[3]: 1 3 nan", "pred[3]: 1 0 0");
  CHECK_CALL("ne.Tensor", "f32[3]: 1 2 nan; f32[3]: 1 3 nan", "pred[3]: 0 1 1");
  CHECK_CALL("lt.Tensor", "f32[3]: 1 2 nan; f32[3]: 1 3 nan", "pred[3]: 0 1 0");
  CHECK_CALL("le.Tensor", "f32[3]: 1 2 nan; f32[3]: 1 3 nan", "pred[3]: 1 1 0");
  CHECK_CALL("gt.Tensor", "f32[3]: 1 2 nan; f32[3]: 1 3 nan", "pred[3]: 0 0 0");
  CHECK_CALL("ge.Tensor", "f32[3]: 1 2 nan; f32[3]: 1 3 nan", "pred[3]: 1 0 0");
  CHECK_CALL("eq.Scalar", "s64[3]: 1 2 3; s 2", "pred[3]: 0 1 0");
  CHECK_CALL("ne.Scalar", "s64[3]: 1 2 3; s 2", "pred[3]: 1 0 1");
  CHECK_CALL("lt.Scalar", "s64[3]: 1 2 3; s 2", "pred[3]: 1 0 0");
  CHECK_CALL("le.Scalar", "s64[3]: 1 2 3; s 2", "pred[3]: 1 1 0");
  CHECK_CALL("gt.Scalar", "s64[3]: 1 2 3; s 2", "pred[3]: 0 0 1");
  CHECK_CALL("ge.Scalar", "s64[3]: 1 2 3; s 2", "pred[3]: 0 1 1");
  CHECK_CALL("gt.Tensor", "s64[2]: 1 2; f32[2]: 1.5 1.5", "pred[2]: 0 1");
  CHECK_CALL("eq.Scalar", "s8[1]: 44; s 300", "pred[1]: 1");
}

static void test_logic_takes_any_dtype(void) {
  CHECK_CALL("logical_and", "f32[3]: 0 2 nan; s64[3]: 0 1 0", "pred[3]: 0 1 0");
  CHECK_CALL("logical_or", "f32[3]: 0 2 nan; s64[3]: 0 1 0", "pred[3]: 0 1 1");
  CHECK_CALL("logical_xor", "f32[3]: 0 2 nan; s64[3]: 0 1 0", "pred[3]: 0 0 1");
}

static void test_bits_and_shifts_match_cpu(void) {
  CHECK_CALL("bitwise_and.Tensor", "s64[2]: 12 -1; s64[2]: 10 7", "s64[2]: 8 7");
  CHECK_CALL("bitwise_or.Tensor", "s64[2]: 12 -1; s64[2]: 10 7", "s64[2]: 14 -1");
  CHECK_CALL("bitwise_xor.Tensor", "s64[2]: 12 -1; s64[2]: 10 7", "s64[2]: 6 -8");
  CHECK_CALL("bitwise_left_shift.Tensor", "s32[4]: 1 -8 5 5; s32[4]: 3 1 32 -1",
             "s32[4]: 8 -16 0 0");
  CHECK_CALL("bitwise_right_shift.Tensor", "s32[4]: 1 -8 5 5; s32[4]: 3 1 32 -1",
             "s32[4]: 0 -4 0 0");
  CHECK_CALL("__lshift__.Scalar", "u8[2]: 1 200; s 1", "u8[2]: 2 144");
  CHECK_CALL("__rshift__.Scalar", "u8[2]: 1 200; s 8", "u8[2]: 0 0");
  CHECK_CALL("__lshift__.Tensor", "s64[1]: 1; s64[1]: 4", "s64[1]: 16");
  CHECK_CALL("__rshift__.Tensor", "s64[1]: -16; s64[1]: 2", "s64[1]: -4");
}

static void test_extrema_treat_nan_as_documented(void) {
  CHECK_CALL("maximum", "f32[4]: 1 nan 2 nan; f32[4]: 3 1 nan nan", "f32[4]: 3 nan nan nan");
  CHECK_CALL("minimum", "f32[4]: 1 nan 2 nan; f32[4]: 3 1 nan nan", "f32[4]: 1 nan nan nan");
  CHECK_CALL("fmax", "f32[4]: 1 nan 2 nan; f32[4]: 3 1 nan nan", "f32[4]: 3 1 2 nan");
  CHECK_CALL("fmin", "f32[4]: 1 nan 2 nan; f32[4]: 3 1 nan nan", "f32[4]: 1 1 2 nan");
  CHECK_CALL("maximum", "s64[2]: 1 5; f32[2]: 2.5 2.5", "f32[2]: 2.5 5");
}

static void test_clamps_match_cpu(void) {
  CHECK_CALL("clamp", "f32[4]: -2 0.5 3 nan; s -1; s 1.0", "f32[4]: -1 0.5 1 nan");
  CHECK_CALL("clamp", "s64[2]: 1 5; none; s 2.5", "f32[2]: 1 2.5");
  CHECK_CALL("clamp", "f32[2]: 1 5; s 2", "f32[2]: 2 5");
  CHECK_CALL("clamp", "f32[2]: 1 5; s 3.0; s 2.0", "f32[2]: 2 2");
  CHECK_CALL("clamp.Tensor", "f32[2,2]: 0.875 2 -4.375 0.375; f32[2]: 0 1",
             "f32[2,2]: 0.875 2 0 1");
  CHECK_CALL("clamp.Tensor", "f32[2,2]: -1.875 -0.625 -2.125 1.625; f32[2]: 0 0; f32[2]: 1 1",
             "f32[2,2]: 0 0 0 1");
  CHECK_CALL("clamp_min", "s64[2]: 1 5; s 3", "s64[2]: 3 5");
  CHECK_CALL("clamp_max", "f32[2]: 1 5; s 3", "f32[2]: 1 3");
  CHECK_CALL("clamp_min.Tensor", "s64[2]: 1 5; f32[2]: 3 3", "f32[2]: 3 5");
  CHECK_CALL("clamp_max.Tensor", "s64[2]: 1 5; s64[2]: 3 3", "s64[2]: 1 3");
  CHECK_CALL("heaviside", "f32[3]: -1 0 2; f32[1]: 0.5", "f32[3]: 0 0.5 1");
  CHECK_CALL_FAILS("clamp", "f32[1]: 1", TPT_INVALID_ARGUMENT,
                   "At least one of 'min' or 'max' must not be None");
  CHECK_CALL_FAILS("clamp_min", "s8[1]: 1; s 300", TPT_INVALID_ARGUMENT,
                   "value cannot be converted to type int8_t without overflow");
}

static void test_choices_match_cpu(void) {
  CHECK_CALL("where.self", "pred[2]: 1 0; f32[2,1]: 1 2; s64[2]: 3 4", "f32[2,2]: 1 4 2 4");
  CHECK_CALL("where.self", "pred[2]: 1 0; wrap 1; s8[2]: 3 4", "s8[2]: 1 4");
  CHECK_CALL("masked_fill.Scalar", "f32[2,2]: -1 1.625 -1.625 -2.125; pred[2]: 1 0; s 7",
             "f32[2,2]: 7 1.625 7 -2.125");
  CHECK_CALL("masked_fill.Tensor", "s64[2]: 1 2; pred[2]: 1 0; f32[]: 9", "s64[2]: 9 2");
  CHECK_CALL("masked_fill.Tensor", "s64[2]: 1 2; pred[2]: 1 0; host f64: 3", "s64[2]: 3 2");
  CHECK_CALL("lerp.Scalar", "f32[2]: 0 1; f32[2]: 10 3; s 0.25", "f32[2]: 2.5 1.5");
  CHECK_CALL("lerp.Tensor", "f32[2]: 0 1; f32[2]: 10 3; f32[2]: 0.75 0.5", "f32[2]: 7.5 2");
  CHECK_CALL_FAILS("masked_fill.Tensor", "f32[1]: 1; pred[1]: 1; f32[1]: 1", TPT_INVALID_ARGUMENT,
                   "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 "
                   "dimension(s).");
  CHECK_CALL_FAILS("where.self", "f32[1]: 1; f32[1]: 1; f32[1]: 1", TPT_UNIMPLEMENTED,
                   "does not take Float");
}

int main(void) {
  RUN(test_comparisons_promote_and_give_bool);
  RUN(test_logic_takes_any_dtype);
  RUN(test_bits_and_shifts_match_cpu);
  RUN(test_extrema_treat_nan_as_documented);
  RUN(test_clamps_match_cpu);
  RUN(test_choices_match_cpu);
  return TEST_RESULT;
}
