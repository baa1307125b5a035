// The lowering behind most rows: promotion, compute types, numbers, refusals, strides.
#include "aten/call_probe.h"

static void test_half_types_are_rounded_once(void) {
  // 1 + 2^-9 + 2^-9: each sum alone rounds to 1 in bf16, both together do not.
  CHECK_CALL("addcmul", "bf16[1]: 1; bf16[1]: 0.00390625; bf16[1]: 1; s 1", "bf16[1]: 1");
  CHECK_CALL("addcmul", "bf16[1]: 1; bf16[1]: 0.0078125; bf16[1]: 0.5; s 2", "bf16[1]: 1.0078125");
  CHECK_CALL("sigmoid", "f16[2]: 0 2", "f16[2]: 0.5 0.8808");
}

static void test_numbers_of_the_host_keep_their_precision(void) {
  // 3 * 0.1 in f32 rounds to 0.30078125; 0.1 rounded to bf16 first gives 0.298828125.
  CHECK_CALL("mul.Tensor", "bf16[1]: 3; wrap 0.1", "bf16[1]: 0.30078125");
  CHECK_CALL("mul.Tensor", "bf16[1]: 3; host f64: 0.1", "bf16[1]: 0.30078125");
}

static void test_comparisons_round_numbers_to_the_tensor(void) {
  CHECK_CALL("eq.Scalar", "bf16[1]: 0.10009765625; s 0.1", "pred[1]: 1");
  CHECK_CALL("eq.Tensor", "f32[1]: 0.1; wrap 0.1", "pred[1]: 1");
}

static void test_scalars_take_part_only_where_they_should(void) {
  CHECK_CALL("clamp", "s64[2]: 1 5; s 2.5; none", "f32[2]: 2.5 5");
  CHECK_CALL("threshold", "s64[2]: 1 5; s 2.5; s 9.0", "s64[2]: 9 5");
}

static void test_dtypes_that_a_row_refuses_are_unimplemented(void) {
  CHECK_CALL_FAILS("silu", "s64[1]: 1", TPT_UNIMPLEMENTED,
                   "aten::silu does not take Long here; while lowering aten::silu");
  CHECK_CALL_FAILS("nextafter", "bf16[1]: 1; bf16[1]: 2", TPT_UNIMPLEMENTED, "BFloat16");
}

static void test_results_follow_the_iterator(void) {
  CHECK_CALL_STRIDES("add.Tensor", "f32[1,2,2,2]~: 0 0 0 0 0 0 0 0; f32[2,1,1]: 0 0; s 1", 8, 1, 4,
                     2);
  CHECK_CALL_STRIDES("add.Tensor", "f32[2,3]': 0 0 0 0 0 0; f32[2,3]: 0 0 0 0 0 0; s 1", 1, 2);
  CHECK_CALL_STRIDES("add.Tensor", "f32[2,3]: 0 0 0 0 0 0; f32[2,3]': 0 0 0 0 0 0; s 1", 3, 1);
  CHECK_CALL_STRIDES("mul.Tensor", "f32[2,3]': 0 0 0 0 0 0; wrap 2.0", 1, 2);
  CHECK_CALL_STRIDES("eq.Scalar", "f32[2,3]': 0 0 0 0 0 0; s 1", 1, 2);
}

int main(void) {
  RUN(test_half_types_are_rounded_once);
  RUN(test_numbers_of_the_host_keep_their_precision);
  RUN(test_comparisons_round_numbers_to_the_tensor);
  RUN(test_scalars_take_part_only_where_they_should);
  RUN(test_dtypes_that_a_row_refuses_are_unimplemented);
  RUN(test_results_follow_the_iterator);
  return TEST_RESULT;
}
