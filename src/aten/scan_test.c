// Running reductions, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_running_sums_match_cpu(void) {
  CHECK_CALL("cumsum", "f32[7]: 1 2 3 4 5 6 7; i 0", "f32[7]: 1 3 6 10 15 21 28");
  CHECK_CALL("cumsum", "f32[3,2]: -0 -2.125 0.25 1.25 -0.75 0.875; i 0",
             "f32[3,2]: 0 -2.125 0.25 -0.875 -0.5 0");
  CHECK_CALL("cumsum", "s8[1,3]: 1 2 3; i 1", "s64[1,3]: 1 3 6");
  CHECK_CALL("cumsum", "pred[2]: 1 1; i 0", "s64[2]: 1 2");
  CHECK_CALL("cumsum", "s64[2]: 1 2; i 0; d f32", "f32[2]: 1 3");
  CHECK_CALL("cumsum", "f32[]: 2; i 0", "f32[]: 2");
  CHECK_CALL("cumsum", "f32[0]:; i 0", "f32[0]:");
  CHECK_CALL("cumprod", "f32[5]: 1 -2 3 nan 2; i 0", "f32[5]: 1 -2 -6 nan nan");
  CHECK_CALL("cumprod", "s64[3]: 2 3 4; i -1", "s64[3]: 2 6 24");
  CHECK_CALL("_logcumsumexp", "f32[4]: 1 -inf 2 3; i 0", "f32[4]: 1 1 2.313262 3.407606");
}

static void test_running_extrema_take_the_later_tie(void) {
  CHECK_CALL("cummax", "f32[6]: 1 3 3 2 nan 5; i 0",
             "f32[6]: 1 3 3 3 nan nan; s64[6]: 0 1 2 2 4 4");
  CHECK_CALL("cummin", "s64[4]: 3 1 1 2; i 0", "s64[4]: 3 1 1 1; s64[4]: 0 1 2 2");
  CHECK_CALL("cummax", "s64[3,2]: 1 5 4 2 4 9; i 0",
             "s64[3,2]: 1 5 4 5 4 9; s64[3,2]: 0 0 1 0 2 2");
  CHECK_CALL("cummin", "f32[2]: nan 1; i 0", "f32[2]: nan nan; s64[2]: 0 0");
  CHECK_CALL("cummax", "f32[]: 2; i 0", "f32[]: 2; s64[]: 0");
}

static void test_dimensions_are_checked(void) {
  CHECK_CALL_FAILS("cumsum", "f32[1]: 1; i 1", TPT_OUT_OF_RANGE,
                   "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}

int main(void) {
  RUN(test_running_sums_match_cpu);
  RUN(test_running_extrema_take_the_later_tie);
  RUN(test_dimensions_are_checked);
  return TEST_RESULT;
}
