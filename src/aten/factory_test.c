// Ranges, fills and copies, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_ranges_match_cpu(void) {
  CHECK_CALL("arange", "s 5", "s64[5]: 0 1 2 3 4");
  CHECK_CALL("arange", "s 2.5", "f32[3]: 0 1 2");
  CHECK_CALL("arange.start", "s -2; s 3", "s64[5]: -2 -1 0 1 2");
  CHECK_CALL("arange.start", "s 1; s 4; d f16", "f16[3]: 1 2 3");
  CHECK_CALL("arange.start_step", "s 0.0; s 1.0; s 0.25", "f32[4]: 0 0.25 0.5 0.75");
  CHECK_CALL("arange.start_step", "s 10; s 1; s -3", "s64[3]: 10 7 4");
  CHECK_CALL("arange.start_step", "s 0; s 10; s 4; d s32", "s32[3]: 0 4 8");
  CHECK_CALL("arange", "s 0", "s64[0]:");
  CHECK_CALL("linspace", "s 0; s 1; i 5", "f32[5]: 0 0.25 0.5 0.75 1");
  CHECK_CALL("linspace", "s -3; s 10; i 4; d s64", "s64[4]: -3 1 5 10");
  CHECK_CALL("linspace", "s 2; s 7; i 1", "f32[1]: 2");
  CHECK_CALL("linspace", "s 2; s 7; i 0", "f32[0]:");
  CHECK_CALL("eye", "i 2", "f32[2,2]: 1 0 0 1");
  CHECK_CALL("eye.m", "i 2; i 3; d s32", "s32[2,3]: 1 0 0 0 1 0");
  CHECK_CALL("eye", "i 2; d pred", "pred[2,2]: 1 0 0 1");
  CHECK_CALL("tril_indices", "i 3; i 3; i -1; d s64", "s64[2,3]: 1 2 2 0 0 1");
  CHECK_CALL("triu_indices", "i 2; i 3; i 1; d s64", "s64[2,3]: 0 0 1 1 2 2");
}

static void test_impossible_ranges_are_told(void) {
  CHECK_CALL_FAILS("arange.start_step", "s 0; s 5; s 0", TPT_INVALID_ARGUMENT,
                   "step must be nonzero");
  CHECK_CALL_FAILS("arange.start_step", "s 5; s 0; s 1", TPT_INVALID_ARGUMENT,
                   "upper bound and lower bound inconsistent with step sign");
  CHECK_CALL_FAILS("linspace", "s 0; s 1; i -1", TPT_INVALID_ARGUMENT,
                   "number of steps must be non-negative");
}

static void test_fills_convert_the_number(void) {
  CHECK_CALL("fill.Scalar", "f32[2]: -3.75 -1.25; s 3", "f32[2]: 3 3");
  CHECK_CALL("fill.Scalar", "s64[2]: 1 2; s 2.5", "s64[2]: 2 2");
  CHECK_CALL("fill.Tensor", "f32[2]: 0.375 -1.625; s64[]: 4", "f32[2]: 4 4");
  CHECK_CALL("zero", "f32[2]: 1.125 -0.875", "f32[2]: 0 0");
  CHECK_CALL("copy", "s64[3]: 1 2 3; f32[1]: 2.7; b 0", "s64[3]: 2 2 2");
  CHECK_CALL("clone", "f32[2]: -0.5 0.25", "f32[2]: -0.5 0.25");
  CHECK_CALL("clone", "pred[1]: 1", "pred[1]: 1");
  CHECK_CALL_FAILS("fill.Scalar", "s8[1]: 1; s 300", TPT_INVALID_ARGUMENT,
                   "value cannot be converted to type int8_t without overflow");
  CHECK_CALL_FAILS(
      "fill.Tensor", "f32[1]: 1; f32[1]: 1", TPT_INVALID_ARGUMENT,
      "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions.");
  CHECK_CALL_FAILS("copy", "f32[2]: -2 0.375; f32[3]: -4.25 1.875 0.5; b 0", TPT_INVALID_ARGUMENT,
                   "does not expand");
}

static void test_clones_keep_or_change_the_format(void) {
  CHECK_CALL_STRIDES("clone", "f32[3,2]': 0 0 0 0 0 0", 1, 3);
  CHECK_CALL_STRIDES("clone", "f32[2,3,2,2]~: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", 12,
                     1, 6, 3);
  CHECK_CALL_STRIDES("clone", "f32[1,2,1,2]: 1 2 3 4; i 2", 4, 1, 4, 2);
  CHECK_CALL_STRIDES("clone", "f32[3,2]': 0 0 0 0 0 0; i 0", 2, 1);
  CHECK_CALL_FAILS("clone", "f32[2]: 1 2; i 2", TPT_INVALID_ARGUMENT, "required rank 4 tensor");
}

int main(void) {
  RUN(test_ranges_match_cpu);
  RUN(test_impossible_ranges_are_told);
  RUN(test_fills_convert_the_number);
  RUN(test_clones_keep_or_change_the_format);
  return TEST_RESULT;
}
