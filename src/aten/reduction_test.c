// Reductions, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_sums_and_means_match_cpu(void) {
  CHECK_CALL("sum", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2", "f32[]: -4.625");
  CHECK_CALL("sum", "s8[2]: 1 2", "s64[]: 3");
  CHECK_CALL("sum", "pred[2]: 1 1", "s64[]: 2");
  CHECK_CALL("sum.dim_IntList",
             "f32[2,2,2]: 2.75 -1.25 -2.5 -0 -1.125 -1.125 -2.125 3; is 0 -1; b 1",
             "f32[1,2,1]: -0.75 -1.625");
  CHECK_CALL("sum.dim_IntList", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is ; b 0",
             "f32[]: -4.625");
  CHECK_CALL("sum.dim_IntList", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; none; b 1",
             "f32[1,1]: -4.625");
  CHECK_CALL("sum.dim_IntList", "s64[2]: 1 2; is 0; b 0; d f32", "f32[]: 3");
  CHECK_CALL("sum.dim_IntList", "f32[]: 2; is 0; b 0", "f32[]: 2");
  CHECK_CALL("sum.dim_IntList", "f32[0,3]:; is 0; b 0", "f32[3]: 0 0 0");
  CHECK_CALL("mean", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2", "f32[]: -0.7708333");
  CHECK_CALL("mean.dim", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 1; b 1",
             "f32[2,1]: -1.916667 0.375");
  CHECK_CALL("mean.dim", "f32[0,3]:; is 0; b 0", "f32[3]: nan nan nan");
  CHECK_CALL("mean", "s64[2]: 1 2; d f32", "f32[]: 1.5");
  CHECK_CALL("nansum", "f32[2,3]: 1 nan 3 2 2 -1; is 1; b 0", "f32[2]: 4 3");
  CHECK_CALL("prod", "s64[2]: 2 3", "s64[]: 6");
  CHECK_CALL("prod.dim_int", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; i 1; b 1",
             "f32[2,1]: 2.214844 0.1875");
  CHECK_CALL("sum", "bf16[2]: 1 0.001953125", "bf16[]: 1");
}

static void test_truth_reductions_match_cpu(void) {
  CHECK_CALL("any", "pred[2,2]: 1 0 1 1", "pred[]: 1");
  CHECK_CALL("all", "pred[2,2]: 1 0 1 1", "pred[]: 0");
  CHECK_CALL("any.dim", "f32[2,2]: 0 nan 0 0; i 1; b 0", "pred[2]: 1 0");
  CHECK_CALL("all.dim", "f32[2,2]: 0 nan 0 0; i 1; b 0", "pred[2]: 0 0");
  CHECK_CALL("any.dims", "f32[2,2,2]: 2.75 -1.25 -2.5 -0 -1.125 -1.125 -2.125 3; is 0 1; b 1",
             "pred[1,1,2]: 1 1");
  CHECK_CALL("all.dims", "f32[2,2,2]: 2.75 -1.25 -2.5 -0 -1.125 -1.125 -2.125 3; is 0 1; b 1",
             "pred[1,1,2]: 1 0");
  CHECK_CALL("all", "u8[2]: 1 0", "u8[]: 0");
  CHECK_CALL("all", "f32[0]:", "pred[]: 1");
  CHECK_CALL("any", "f32[0]:", "pred[]: 0");
  CHECK_CALL("count_nonzero", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2", "s64[]: 6");
  CHECK_CALL("count_nonzero.dim_IntList", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 0",
             "s64[3]: 2 2 2");
}

static void test_a_nan_wins_and_the_first_index_is_kept(void) {
  CHECK_CALL("amax", "f32[2,3]: 1 nan 3 2 2 -1; is 1; b 0", "f32[2]: nan 2");
  CHECK_CALL("amin", "f32[2,3]: 1 nan 3 2 2 -1; is 0; b 1", "f32[1,3]: 1 nan -1");
  CHECK_CALL("max", "f32[2,3]: 1 nan 3 2 2 -1", "f32[]: nan");
  CHECK_CALL("min", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2", "f32[]: -3.375");
  CHECK_CALL("aminmax", "f32[2,3]: 1 nan 3 2 2 -1; i 1; b 0", "f32[2]: nan -1; f32[2]: nan 2");
  CHECK_CALL("max.dim", "f32[2,3]: 1 nan 3 2 2 -1; i 1; b 0", "f32[2]: nan 2; s64[2]: 1 0");
  CHECK_CALL("max.dim", "f32[2,3]: 3 1 3 2 5 5; i 1; b 1", "f32[2,1]: 3 5; s64[2,1]: 0 1");
  CHECK_CALL("min.dim", "f32[2,3]: 3 1 3 2 5 5; i 0; b 0", "f32[3]: 2 1 3; s64[3]: 1 0 0");
  CHECK_CALL("argmax", "f32[2,3]: 3 1 3 2 5 5; none; b 0", "s64[]: 4");
  CHECK_CALL("argmax", "f32[2,3]: 3 1 3 2 5 5; i 1; b 0", "s64[2]: 0 1");
  CHECK_CALL("argmin", "f32[2,3]: 1 nan 3 2 2 -1; i 0; b 1", "s64[1,3]: 0 0 1");
  CHECK_CALL("argmax", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; none; b 1", "s64[1,1]: 5");
  CHECK_CALL("max.dim", "f32[]: 3; i 0; b 0", "f32[]: 3; s64[]: 0");
  CHECK_CALL("amax", "pred[2]: 1 0; is 0; b 0", "pred[]: 1");
  CHECK_CALL("max.dim", "s64[3]: 5 7 7; i 0; b 0", "s64[]: 7; s64[]: 1");
  CHECK_CALL("argmin", "s64[2,2]: 5 -7 -7 2; none; b 0", "s64[]: 1");
}

static void test_moments_match_cpu(void) {
  CHECK_CALL("var.correction", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 1; s 1; b 0",
             "f32[2]: 3.661458 2.078125");
  CHECK_CALL("std.correction", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; none; s 0; b 1",
             "f32[1,1]: 1.796143");
  CHECK_CALL("var_mean.correction", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 0; s 1; b 0",
             "f32[3]: 3.125 3.445312 1.53125; f32[3]: -1.375 -2.0625 1.125");
  CHECK_CALL("std_mean.correction", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 1; none; b 0",
             "f32[2]: 1.913494 1.44157; f32[2]: -1.916667 0.375");
  CHECK_CALL("var.correction", "f32[1]: 1; is 0; none; b 0", "f32[]: nan");
  CHECK_CALL("var.correction", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 1; s 2.5; b 0",
             "f32[2]: 14.64583 8.3125");
  CHECK_CALL("logsumexp", "f32[2,2]: 1 -inf -inf -inf; is 1; b 0", "f32[2]: 1 -inf");
  CHECK_CALL("logsumexp", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 0 1; b 1",
             "f32[1,1]: 2.315956");
  CHECK_CALL("logsumexp", "s64[2]: 1 2; is 0; b 0", "f32[]: 2.313262");
}

static void test_norms_match_cpu(void) {
  CHECK_CALL("linalg_vector_norm", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s 2; is 1; b 0",
             "f32[2]: 4.28296 2.139655");
  CHECK_CALL("linalg_vector_norm", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s 1; is 1; b 0",
             "f32[2]: 6.25 2.875");
  CHECK_CALL("linalg_vector_norm", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s 0; is 1; b 0",
             "f32[2]: 3 3");
  CHECK_CALL("linalg_vector_norm", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s inf; is 1; b 0",
             "f32[2]: 3.375 2");
  CHECK_CALL("linalg_vector_norm", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s -inf; is 1; b 0",
             "f32[2]: 0.25 0.125");
  CHECK_CALL("linalg_vector_norm", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s 3.5; is 1; b 0",
             "f32[2]: 3.726939 2.018278");
  CHECK_CALL("linalg_vector_norm", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s 2; none; b 1",
             "f32[1,1]: 4.78768");
  CHECK_CALL("linalg_vector_norm", "bf16[2]: 3 4; s 2; none; b 0; d f32", "f32[]: 5");
  CHECK_CALL("norm.ScalarOpt_dim", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; none; is 0; b 0",
             "f32[3]: 2.627975 3.457329 2.015564");
  CHECK_CALL("norm.ScalarOpt_dim", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; s 1; is 0 1; b 1",
             "f32[1,1]: 9.125");
}

static void test_what_cannot_be_reduced_is_told(void) {
  CHECK_CALL_FAILS("sum.dim_IntList", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 2; b 0",
                   TPT_OUT_OF_RANGE,
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  CHECK_CALL_FAILS("sum.dim_IntList", "f32[2,3]: -2.625 -3.375 0.25 -0.125 -0.75 2; is 0 -2; b 0",
                   TPT_INVALID_ARGUMENT, "dim 0 appears multiple times in the list of dims");
  CHECK_CALL_FAILS("amax", "f32[0,3]:; is 0; b 0", TPT_OUT_OF_RANGE,
                   "amax(): Expected reduction dim 0 to have non-zero size.");
  CHECK_CALL_FAILS("max", "f32[0,3]:", TPT_OUT_OF_RANGE,
                   "max(): Expected reduction dim to be specified for input.numel() == 0.");
  CHECK_CALL_FAILS("mean", "s64[1]: 1", TPT_INVALID_ARGUMENT,
                   "mean(): could not infer output dtype. Input dtype must be either a floating "
                   "point or complex dtype. Got: Long");
  CHECK_CALL_FAILS("argmax", "f32[0,3]:; none; b 0", TPT_OUT_OF_RANGE,
                   "argmax(): Expected reduction dim to be specified");
}

int main(void) {
  RUN(test_sums_and_means_match_cpu);
  RUN(test_truth_reductions_match_cpu);
  RUN(test_a_nan_wins_and_the_first_index_is_kept);
  RUN(test_moments_match_cpu);
  RUN(test_norms_match_cpu);
  RUN(test_what_cannot_be_reduced_is_told);
  return TEST_RESULT;
}
