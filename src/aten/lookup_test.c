// Values looked up in other values, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_values_are_placed_as_cpu_places_them(void) {
  CHECK_CALL("bucketize.Tensor", "f32[5]: 0 2 2.5 4 nan; f32[4]: 1 2 2 3; b 0; b 0",
             "s64[5]: 0 1 3 4 4");
  CHECK_CALL("bucketize.Tensor", "f32[5]: 0 2 2.5 4 nan; f32[4]: 1 2 2 3; b 1; b 1",
             "s32[5]: 0 3 3 4 4");
  CHECK_CALL("bucketize.Scalar", "s 2.0; f32[4]: 1 2 2 3; b 0; b 0", "s64[]: 1");
  CHECK_CALL("searchsorted.Tensor", "f32[4]: 1 2 2 3; f32[5]: 0 2 2.5 4 nan; b 0; b 0",
             "s64[5]: 0 1 3 4 4");
  CHECK_CALL("searchsorted.Tensor", "f32[4]: 1 2 2 3; f32[5]: 0 2 2.5 4 nan; b 0; b 1",
             "s64[5]: 0 3 3 4 4");
  CHECK_CALL("searchsorted.Tensor", "f32[4]: 1 2 2 3; f32[5]: 0 2 2.5 4 nan; b 0; b 0; t right",
             "s64[5]: 0 3 3 4 4");
  CHECK_CALL("searchsorted.Scalar", "f32[4]: 1 2 2 3; s 3; b 0; b 0; t left", "s64[]: 3");
  CHECK_CALL("searchsorted.Tensor", "f32[2,2]: 1 3 2 4; f32[2,3]: 2 9 0 2 9 0; b 0; b 0",
             "s64[2,3]: 1 2 0 0 2 0");
  CHECK_CALL("bucketize.Tensor", "s64[1,2]: 1 5; s64[2]: 2 4; b 0; b 0", "s64[1,2]: 0 2");
  CHECK_CALL_FAILS("searchsorted.Tensor", "f32[4]: 1 2 2 3; s64[1]: 1; b 0; b 0", TPT_UNIMPLEMENTED,
                   "does not take Long");
}

static void test_membership_matches_cpu(void) {
  CHECK_CALL("isin.Tensor_Tensor", "s64[2,2]: 1 2 3 4; s64[3]: 2 4 9; b 0; b 0",
             "pred[2,2]: 0 1 0 1");
  CHECK_CALL("isin.Tensor_Tensor", "f32[2]: 1 nan; f32[2]: nan 1; b 0; b 1", "pred[2]: 0 1");
  CHECK_CALL("isin.Tensor_Scalar", "s64[2]: 1 2; s 2; b 0; b 0", "pred[2]: 0 1");
  CHECK_CALL("isin.Scalar_Tensor", "s 2; s64[2]: 1 2; b 0; b 0", "pred[]: 1");
  CHECK_CALL("isin.Tensor_Tensor", "s64[2]: 1 2; f32[0]:; b 0; b 0", "pred[2]: 0 0");
}

int main(void) {
  RUN(test_values_are_placed_as_cpu_places_them);
  RUN(test_membership_matches_cpu);
  return TEST_RESULT;
}
