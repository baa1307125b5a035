// Matrix and vector products, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_products_match_cpu(void) {
  CHECK_CALL(
      "mm", "f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3,2]: -3.875 1 1.25 2.125 0.625 1.125",
      "f32[2,2]: 3.90625 2.0625 -0.25 5.265625");
  CHECK_CALL(
      "mm",
      "f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3,2]': -3.5 -2.875 1.625 1 0.375 2.125",
      "f32[2,2]: 2.96875 7.25 0.828125 -0.03125");
  CHECK_CALL("bmm", "f32[2,1,2]: -0.625 0.875 1.5 -4.375; f32[2,2,1]: -5 0.125 1.25 -1.875",
             "f32[2,1,1]: 3.234375 10.07812");
  CHECK_CALL("addmm",
             "f32[2]: -3.125 2.625; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3,2]: -3.875 1 "
             "1.25 2.125 0.625 1.125; s 2; s 0.5",
             "f32[2,2]: -4.296875 6.28125 -6.375 7.882812");
  CHECK_CALL("addmm",
             "f32[2,2]: -0.125 1.375 0.5 4.375; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; "
             "f32[3,2]: -3.875 1 1.25 2.125 0.625 1.125; s 1; s 1",
             "f32[2,2]: 3.78125 3.4375 0.25 9.640625");
  CHECK_CALL("baddbmm",
             "f32[1,1]: -1.375; f32[2,1,2]: -0.625 1.375 -1.5 1.75; f32[2,2,1]: 2.375 -0.375 "
             "-1.875 2.375; s 0.5; s 1",
             "f32[2,1,1]: -2.6875 6.28125");
  CHECK_CALL("addbmm",
             "f32[1,1]: -0.625; f32[2,1,2]: 0.375 0.5 0.5 3.25; f32[2,2,1]: 0.25 0.375 -1.25 1.25; "
             "s 1; s 1",
             "f32[1,1]: 3.09375");
  CHECK_CALL("mv", "f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3]: 1.375 1.375 -3.25",
             "f32[2]: -9.5625 3.953125");
  CHECK_CALL("addmv",
             "f32[2]: 3.125 -0.75; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3]: -0.75 3.5 "
             "1.75; s 3; s 1",
             "f32[2]: 14 4.625");
  CHECK_CALL("dot", "f32[3]: -0.75 1 -1.75; f32[3]: 0.25 -0.125 0.875", "f32[]: -1.84375");
  CHECK_CALL("vdot", "f32[3]: 2.125 1.875 -0.375; f32[3]: -2.5 2.75 3.625", "f32[]: -1.515625");
  CHECK_CALL(
      "addr",
      "f32[2,2]: 2.375 1.375 -1.875 0.625; f32[2]: 0.25 0.375; f32[2]: -0.875 2.375; s 0.5; s 2",
      "f32[2,2]: 0.75 1.875 -1.59375 2.09375");
  CHECK_CALL("mm", "s64[1,2]: 1 2; s64[2,1]: 3 4", "s64[1,1]: 11");
  CHECK_CALL("mm", "f32[2,0]:; f32[0,2]:", "f32[2,2]: 0 0 0 0");
  CHECK_CALL("_addmm_activation",
             "f32[2]: 2.875 -4.125; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3,2]: -3.875 1 "
             "1.25 2.125 0.625 1.125; s 1; s 1; b 0",
             "f32[2,2]: 6.78125 0 2.625 1.140625");
  CHECK_CALL("mm", "bf16[1,2]: 1 0.001953125; bf16[2,1]: 1 1", "bf16[1,1]: 1");
}

static void test_a_beta_of_zero_hides_self(void) {
  CHECK_CALL("addmm",
             "f32[2]: nan nan; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3,2]: -3.875 1 1.25 "
             "2.125 0.625 1.125; s 0; s 1",
             "f32[2,2]: 3.90625 2.0625 -0.25 5.265625");
  CHECK_CALL(
      "addmv",
      "f32[2]: nan nan; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3]: 3 0.375 4; s 0; s 1",
      "f32[2]: 8.578125 3.046875");
}

static void test_the_fused_gelu_is_the_exact_one(void) {
  CHECK_CALL("_addmm_activation",
             "f32[2]: 1 1; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[3,2]: -3.875 1 1.25 "
             "2.125 0.625 1.125; s 1; s 1; b 1",
             "f32[2,2]: 4.906248 3.059139 0.5800295 6.265625");
}

static void test_narrow_integers_multiply_into_int32(void) {
  CHECK_CALL("_int_mm", "s8[1,2]: 100 -128; s8[2,1]: 100 127", "s32[1,1]: -6256");
}

static void test_shapes_that_do_not_fit_are_told(void) {
  CHECK_CALL_FAILS(
      "mm",
      "f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0",
      TPT_INVALID_ARGUMENT, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  CHECK_CALL_FAILS("mm", "f32[2]: 1.625 2.625; f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0",
                   TPT_INVALID_ARGUMENT, "self must be a matrix");
  CHECK_CALL_FAILS(
      "bmm",
      "f32[1,2,3]: 0.5 0.875 1.25 2.875 -0.875 -2.5; f32[1,2,3]: -0.375 3.125 2 -1.75 -0.125 3.375",
      TPT_INVALID_ARGUMENT, "batch2 tensor to be: [1, 3] but got: [1, 2]");
  CHECK_CALL_FAILS("dot", "f32[2]: 0.75 1.125; f32[3]: -0.375 2.375 1.25", TPT_INVALID_ARGUMENT,
                   "inconsistent tensor size");
  CHECK_CALL_FAILS("mv", "f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f32[2]: 0.75 1.75",
                   TPT_INVALID_ARGUMENT, "size mismatch, got input (2), mat (2x3), vec (2)");
  CHECK_CALL_FAILS(
      "mm", "f32[2,3]: -0.625 -0.125 2.625 0.75 2.125 0; f64[3,2]: 0.75 1 0.125 -0.75 2.5 -0.125",
      TPT_UNIMPLEMENTED, "does not take Double");
  CHECK_CALL_FAILS("mm", "pred[1,1]: 1; pred[1,1]: 1", TPT_UNIMPLEMENTED, "does not take Bool");
}

int main(void) {
  RUN(test_products_match_cpu);
  RUN(test_a_beta_of_zero_hides_self);
  RUN(test_the_fused_gelu_is_the_exact_one);
  RUN(test_narrow_integers_multiply_into_int32);
  RUN(test_shapes_that_do_not_fit_are_told);
  return TEST_RESULT;
}
