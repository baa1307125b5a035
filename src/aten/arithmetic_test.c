// Arithmetic on two and three operands, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_sums_scale_the_second_operand(void) {
  CHECK_CALL("add.Tensor",
             "f32[2,3]: 1.625 0.375 0.125 -1.25 0.125 -2.75; f32[3]: 0.625 2 -2.875; s 2",
             "f32[2,3]: 2.875 4.375 -5.625 0 4.125 -8.5");
  CHECK_CALL("sub.Tensor", "f32[3]: 2 1 2.5; f32[3]: -1.75 0.625 0.875; s 0.5",
             "f32[3]: 2.875 0.6875 2.0625");
  CHECK_CALL("rsub.Tensor", "f32[3]: -0.125 1.875 1.625; f32[3]: 1 -0.375 -1.375; s 2",
             "f32[3]: 1.25 -4.125 -4.625");
  CHECK_CALL("add.Tensor", "pred[2]: 1 0; pred[2]: 1 1; s 1", "pred[2]: 1 1");
  CHECK_CALL("add.Tensor", "s8[2]: 1 2; f32[2]: 1.5 2.5; s 1", "f32[2]: 2.5 4.5");
  CHECK_CALL("add.Tensor", "s8[1]: 127; s8[1]: 1; s 1", "s8[1]: -128");
  CHECK_CALL("addcmul",
             "f32[3]: -2.125 1.5 0.5; f32[3]: -0.75 0.25 -2.375; f32[3]: 1.125 -2.875 -1.25; s 2",
             "f32[3]: -3.8125 0.0625 6.4375");
  CHECK_CALL("addcdiv", "f32[3]: 0.25 -0.5 0.875; f32[3]: 0 2.625 2.875; f32[3]: 1 2 4; s 0.5",
             "f32[3]: 0.25 0.15625 1.234375");
  CHECK_CALL("add.Scalar", "s64[2]: 1 2; s 2.5; s 2", "f32[2]: 6 7");
  CHECK_CALL("sub.Scalar", "s64[2]: 1 2; s 3; s 2", "s64[2]: -5 -4");
  CHECK_CALL("rsub.Scalar", "f32[2]: 1 2; s 3; s 2", "f32[2]: 1 -1");
  CHECK_CALL("mul.Scalar", "s8[2]: 1 2; s 3", "s8[2]: 3 6");
  CHECK_CALL("div.Scalar", "s64[2]: 1 2; s 4", "f32[2]: 0.25 0.5");
}

static void test_numbers_keep_their_precision(void) {
  CHECK_CALL("mul.Tensor", "bf16[2]: 1 3; wrap 0.1", "bf16[2]: 0.1000977 0.3007812");
  CHECK_CALL("add.Tensor", "s64[2]: 1 2; wrap 0.5; s 1", "f32[2]: 1.5 2.5");
  CHECK_CALL("add.Tensor", "u8[2]: 1 2; wrap 3; s 1", "u8[2]: 4 5");
  CHECK_CALL("mul.Tensor", "s64[2]: 1 2; wrap true", "s64[2]: 1 2");
  CHECK_CALL("div.Tensor", "f32[2]: 1 2; host f64: 4", "f32[2]: 0.25 0.5");
  CHECK_CALL("add.Tensor", "f16[2]: 1 2; host f32: 1; s 1", "f16[2]: 2 3");
}

static void test_division_rounds_as_asked(void) {
  CHECK_CALL("div.Tensor", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2", "f32[4]: 3.5 -3.5 -3.5 3.5");
  CHECK_CALL("div.Tensor", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0",
             "f32[6]: 3.5 -3.5 -3.75 -0 inf inf");
  CHECK_CALL("div.Tensor_mode", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2; t trunc",
             "s64[4]: 3 -3 -3 3");
  CHECK_CALL("div.Tensor_mode", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0; t trunc",
             "f32[6]: 3 -3 -3 -0 inf inf");
  CHECK_CALL("div.Tensor_mode", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2; t floor",
             "s64[4]: 3 -4 -4 3");
  CHECK_CALL("div.Tensor_mode", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0; t floor",
             "f32[6]: 3 -4 -4 -0 nan inf");
  CHECK_CALL("div.Tensor_mode", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2",
             "f32[4]: 3.5 -3.5 -3.5 3.5");
  CHECK_CALL("div.Tensor_mode", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0",
             "f32[6]: 3.5 -3.5 -3.75 -0 inf inf");
  CHECK_CALL("floor_divide", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2", "s64[4]: 3 -4 -4 3");
  CHECK_CALL("floor_divide", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0",
             "f32[6]: 3 -4 -4 -0 nan inf");
  CHECK_CALL("remainder.Tensor", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2", "s64[4]: 1 1 -1 -1");
  CHECK_CALL("remainder.Tensor", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0",
             "f32[6]: 1 1 -0.5 0 nan nan");
  CHECK_CALL("fmod.Tensor", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2", "s64[4]: 1 -1 1 -1");
  CHECK_CALL("fmod.Tensor", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0",
             "f32[6]: 1 -1 1.5 0 nan nan");
  CHECK_CALL("remainder.Scalar_Tensor", "s 7; s64[2]: 2 -2", "s64[2]: 1 -1");
  CHECK_CALL("floor_divide", "u8[1]: 200; u8[1]: 3", "u8[1]: 66");
}

static void test_division_by_the_number_zero_is_an_error(void) {
  CHECK_CALL_FAILS("floor_divide", "s64[4]: 7 -7 7 -7; wrap 0", TPT_INVALID_ARGUMENT,
                   "ZeroDivisionError");
  CHECK_CALL_FAILS("remainder.Tensor", "s64[4]: 7 -7 7 -7; wrap 0", TPT_INVALID_ARGUMENT,
                   "ZeroDivisionError");
  CHECK_CALL_FAILS(
      "div.Tensor_mode", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2; t up", TPT_INVALID_ARGUMENT,
      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'");
  CHECK_CALL("floor_divide", "f32[6]: 7 -7 7.5 0 inf 1; wrap 0",
             "f32[6]: inf -inf inf nan inf inf");
}

static void test_powers_match_cpu(void) {
  CHECK_CALL("pow.Tensor_Tensor", "f32[4]: 2 -2 0 9; f32[4]: 3 2 0 0.5", "f32[4]: 8 4 1 3");
  CHECK_CALL("pow.Tensor_Tensor", "s64[5]: 2 -1 1 -1 3; s64[5]: 3 -3 -2 -2 -1",
             "s64[5]: 8 -1 1 1 0");
  CHECK_CALL("pow.Scalar", "s 2; f32[3]: 0 3 -1", "f32[3]: 1 8 0.5");
  CHECK_CALL("pow.Scalar", "s 2.5; s64[2]: 1 2", "f32[2]: 2.5 6.25");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s 0", "f32[3]: 1 1 1");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s 1", "f32[3]: 0.5 2 9");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s 2", "f32[3]: 0.25 4 81");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s 3", "f32[3]: 0.125 8 729");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s 0.5", "f32[3]: 0.7071068 1.414214 3");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s -0.5",
             "f32[3]: 1.414214 0.7071068 0.3333333");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s -1", "f32[3]: 2 0.5 0.1111111");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s -2", "f32[3]: 4 0.25 0.01234568");
  CHECK_CALL("pow.Tensor_Scalar", "f32[3]: 0.5 2 9; s 1.5", "f32[3]: 0.3535534 2.828427 27");
  CHECK_CALL("pow.Tensor_Scalar", "s64[2]: 2 -3; s 0", "s64[2]: 1 1");
  CHECK_CALL("pow.Tensor_Scalar", "s64[2]: 2 -3; s 5", "s64[2]: 32 -243");
  CHECK_CALL("pow.Tensor_Scalar", "s64[2]: 2 -3; s 2.0", "f32[2]: 4 9");
}

static void test_divisors_match_cpu(void) {
  CHECK_CALL("gcd", "s64[5]: 12 -18 0 0 7; s64[5]: 18 12 5 0 -1", "s64[5]: 6 6 5 0 1");
  CHECK_CALL("lcm", "s32[3]: 4 -6 0; s32[3]: 6 4 5", "s32[3]: 12 12 0");
  CHECK_CALL("gcd", "u8[2,1]: 200 7; u8[2]: 150 14", "u8[2,2]: 50 2 1 7");
}

static void test_integers_refuse_negative_powers(void) {
  CHECK_CALL_FAILS("pow.Tensor_Scalar", "s64[4]: 7 -7 7 -7; s -1", TPT_INVALID_ARGUMENT,
                   "Integers to negative integer powers are not allowed.");
}

static void test_bool_and_alpha_rules_are_told(void) {
  CHECK_CALL_FAILS("sub.Tensor", "pred[1]: 1; pred[1]: 1; s 1", TPT_INVALID_ARGUMENT,
                   "Subtraction, the `-` operator, with two bool tensors is not supported");
  CHECK_CALL_FAILS("sub.Tensor", "pred[1]: 1; s64[1]: 1; s 1", TPT_INVALID_ARGUMENT,
                   "Subtraction, the `-` operator, with a bool tensor is not supported");
  CHECK_CALL_FAILS(
      "add.Tensor", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2; s 0.5", TPT_INVALID_ARGUMENT,
      "For integral input tensors, argument alpha must not be a floating point number.");
  CHECK_CALL_FAILS("add.Tensor", "s64[4]: 7 -7 7 -7; s64[4]: 2 2 -2 -2; s true",
                   TPT_INVALID_ARGUMENT, "Boolean alpha only supported for Boolean results.");
}

static void test_other_functions_of_two_operands(void) {
  CHECK_CALL("atan2", "f32[6]: 7 -7 7.5 0 inf 1; f32[6]: 2 2 -2 -3 2 0",
             "f32[6]: 1.292497 -1.292497 1.831399 3.141593 1.570796 1.570796");
  CHECK_CALL("hypot", "f32[4]: 3 0 inf 1e+30; f32[4]: 4 0 nan 1e+30",
             "f32[4]: 5 0 inf 1.414214e+30");
  CHECK_CALL("copysign.Tensor", "f32[3]: 1 -2 3; f32[3]: -0 1 -5", "f32[3]: -1 2 -3");
  CHECK_CALL("nextafter", "f32[3]: 1 0 -1; f32[3]: 2 -1 -1", "f32[3]: 1 -1.401298e-45 -1");
  CHECK_CALL("xlogy.Tensor", "f32[3]: 0 2 0; f32[3]: 0 3 nan", "f32[3]: 0 2.197225 nan");
  CHECK_CALL("special_xlog1py", "f32[2]: 0 2; f32[2]: -1 3", "f32[2]: 0 2.772589");
  CHECK_CALL("logaddexp", "f32[3]: 1 -inf inf; f32[3]: 2 -inf inf", "f32[3]: 2.313262 -inf inf");
  CHECK_CALL("logaddexp2", "f32[2]: 1 3; f32[2]: 2 3", "f32[2]: 2.584962 4");
}

int main(void) {
  RUN(test_sums_scale_the_second_operand);
  RUN(test_numbers_keep_their_precision);
  RUN(test_division_rounds_as_asked);
  RUN(test_division_by_the_number_zero_is_an_error);
  RUN(test_powers_match_cpu);
  RUN(test_divisors_match_cpu);
  RUN(test_integers_refuse_negative_powers);
  RUN(test_bool_and_alpha_rules_are_told);
  RUN(test_other_functions_of_two_operands);
  return TEST_RESULT;
}
