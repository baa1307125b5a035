// Lists of tensors: each item equals the single operator's result on CPU PyTorch.
#include "aten/call_probe.h"

static void test_each_item_gets_the_formula(void) {
  CHECK_CALL("_foreach_abs", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: 1 2; f32[1,1]: 0.25");
  CHECK_CALL("_foreach_neg", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: -1 2; f32[1,1]: -0.25");
  CHECK_CALL("_foreach_floor", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: 1 -2; f32[1,1]: 0");
  CHECK_CALL("_foreach_round", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: 1 -2; f32[1,1]: 0");
  CHECK_CALL("_foreach_sign", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: 1 -1; f32[1,1]: 1");
  CHECK_CALL("_foreach_trunc", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: 1 -2; f32[1,1]: 0");
  CHECK_CALL("_foreach_exp", "{f32[2]: 1 -2 | f32[1,1]: 0.25}",
             "f32[2]: 2.71828175 0.135335281; f32[1,1]: 1.28402543");
  CHECK_CALL("_foreach_sigmoid", "{f32[2]: 1 -2 | f32[1,1]: 0.25}",
             "f32[2]: 0.731058598 0.119202919; f32[1,1]: 0.562176526");
  CHECK_CALL("_foreach_tanh", "{f32[2]: 1 -2 | f32[1,1]: 0.25}",
             "f32[2]: 0.761594176 -0.964027584; f32[1,1]: 0.244918659");
  CHECK_CALL("_foreach_erf", "{f32[2]: 1 -2 | f32[1,1]: 0.25}",
             "f32[2]: 0.842700779 -0.995322287; f32[1,1]: 0.276326388");
  CHECK_CALL("_foreach_reciprocal", "{f32[2]: 1 -2 | f32[1,1]: 0.25}",
             "f32[2]: 1 -0.5; f32[1,1]: 4");
  CHECK_CALL("_foreach_sqrt", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: 1 nan; f32[1,1]: 0.5");
  CHECK_CALL("_foreach_sqrt", "{bf16[2]: 1 -2 | bf16[1,1]: 0.25}",
             "bf16[2]: 1 nan; bf16[1,1]: 0.5");
}

static void test_lists_meet_lists_numbers_and_tensors(void) {
  CHECK_CALL("_foreach_add.List",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5 | f32[1,1]: nan}; s 2",
             "f32[2]: 7 -1; f32[1,1]: nan");
  CHECK_CALL("_foreach_sub.List",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5 | f32[1,1]: nan}; s 1",
             "f32[2]: -2 -2.5; f32[1,1]: nan");
  CHECK_CALL("_foreach_mul.Scalar", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; s 2.5",
             "f32[2]: 2.5 -5; f32[1,1]: 0.625");
  CHECK_CALL("_foreach_div.List", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 2 4 | f32[1,1]: 8}",
             "f32[2]: 0.5 -0.5; f32[1,1]: 0.03125");
  CHECK_CALL("_foreach_maximum.List",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5 | f32[1,1]: nan}",
             "f32[2]: 3 0.5; f32[1,1]: nan");
  CHECK_CALL("_foreach_clamp_max.Scalar", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; s 0.5",
             "f32[2]: 0.5 -2; f32[1,1]: 0.25");
  CHECK_CALL("_foreach_pow.List", "{f32[2]: 2 4 | f32[1,1]: 8}; {f32[2]: 3 0.5 | f32[1,1]: nan}",
             "f32[2]: 8 2; f32[1,1]: nan");
  CHECK_CALL("_foreach_pow.ScalarAndTensor", "s 2.0; {f32[2]: 2 4 | f32[1,1]: 8}",
             "f32[2]: 4 16; f32[1,1]: 256");
  CHECK_CALL("_foreach_mul.Tensor", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; f32[]: 3",
             "f32[2]: 3 -6; f32[1,1]: 0.75");
  CHECK_CALL("_foreach_add.List",
             "{bf16[2]: 1 -2 | bf16[1,1]: 0.25}; {bf16[2]: 1 -2 | bf16[1,1]: 0.25}; s 1",
             "bf16[2]: 2 -4; bf16[1,1]: 0.5");
}

static void test_three_lists_meet(void) {
  CHECK_CALL("_foreach_addcmul.Scalar",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5 | f32[1,1]: nan}; {f32[2]: 2 4 "
             "| f32[1,1]: 8}; s 0.5",
             "f32[2]: 4 -1; f32[1,1]: nan");
  CHECK_CALL("_foreach_addcdiv.Scalar",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5 | f32[1,1]: nan}; {f32[2]: 2 4 "
             "| f32[1,1]: 8}; s 2",
             "f32[2]: 4 -1.75; f32[1,1]: nan");
  CHECK_CALL("_foreach_addcmul.Tensor",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5 | f32[1,1]: nan}; {f32[2]: 2 4 "
             "| f32[1,1]: 8}; f32[2]: 0.5 2",
             "f32[2]: 4 -1; f32[1,1]: nan");
  CHECK_CALL("_foreach_lerp.List",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 2 4 | f32[1,1]: 8}; {f32[2]: 0.25 "
             "0.75 | f32[1,1]: 1}",
             "f32[2]: 1.25 2.5; f32[1,1]: 8");
  CHECK_CALL("_foreach_lerp.Scalar",
             "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 2 4 | f32[1,1]: 8}; s 0.75",
             "f32[2]: 1.75 2.5; f32[1,1]: 6.0625");
}

static void test_whole_items_are_written(void) {
  CHECK_CALL("_foreach_zero", "{f32[2]: 1 -2 | f32[1,1]: 0.25}", "f32[2]: 0 0; f32[1,1]: 0");
  CHECK_CALL("_foreach_copy", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {s64[2]: 7 8 | s64[1,1]: 9}",
             "f32[2]: 7 8; f32[1,1]: 9");
  CHECK_CALL("_foreach_norm.Scalar", "{f32[2]: 2 4 | f32[1,1]: 8}; s 2",
             "f32[]: 4.47213602; f32[]: 8");
  CHECK_CALL("_foreach_norm.Scalar", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; s 1",
             "f32[]: 3; f32[]: 0.25");
  CHECK_CALL("_foreach_norm.Scalar", "{f32[2]: 3 0.5 | f32[1,1]: nan}; s 2.0",
             "f32[]: 3.04138136; f32[]: nan");
}

static void test_lists_that_need_promotion_are_refused(void) {
  CHECK_CALL_FAILS("_foreach_add.List",
                   "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {bf16[2]: 1 -2 | bf16[1,1]: 0.25}; s 1",
                   TPT_UNIMPLEMENTED, "lists of different dtypes or shapes");
  CHECK_CALL_FAILS("_foreach_mul.List", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5}",
                   TPT_UNIMPLEMENTED, "must have the same number of tensors");
  CHECK_CALL_FAILS("_foreach_mul.List",
                   "{f32[2]: 1 -2 | f32[1,1]: 0.25}; {f32[2]: 3 0.5 | f32[1]: 1}",
                   TPT_UNIMPLEMENTED, "different dtypes or shapes");
  CHECK_CALL_FAILS("_foreach_abs", "{s64[1]: 1}", TPT_UNIMPLEMENTED,
                   "lists of integers or complex numbers");
  CHECK_CALL_FAILS("_foreach_norm.Scalar", "{f32[2]: 1 -2 | f32[1,1]: 0.25}; s 3",
                   TPT_UNIMPLEMENTED, "orders other than 1, 2 and infinity");
}

int main(void) {
  RUN(test_each_item_gets_the_formula);
  RUN(test_lists_meet_lists_numbers_and_tensors);
  RUN(test_three_lists_meet);
  RUN(test_whole_items_are_written);
  RUN(test_lists_that_need_promotion_are_refused);
  return TEST_RESULT;
}
