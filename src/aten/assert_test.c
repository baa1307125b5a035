// Conditions on values: what holds changes nothing, what does not fails the launch with its message.
#include "aten/call_probe.h"

static void test_a_condition_that_holds_changes_nothing(void) {
  CHECK_CALL("floor_divide", "s32[3]: 7 -7 5; s32[3]: 2 2 -5", "s32[3]: 3 -4 -1");
  CHECK_CALL("floor_divide", "s32[0]:; s32[0]:", "s32[0]:");
  CHECK_CALL("floor_divide", "f32[2]: 1 -1; f32[2]: 0 0", "f32[2]: inf -inf");
}

static void test_a_condition_that_fails_is_told(void) {
  CHECK_LAUNCH_FAILS("floor_divide", "s32[2]: 7 7; s32[2]: 1 0", TPT_INVALID_ARGUMENT,
                     "ZeroDivisionError");
  CHECK_LAUNCH_FAILS("remainder.Tensor", "s64[2]: 7 7; s64[]: 0", TPT_INVALID_ARGUMENT,
                     "ZeroDivisionError");
  CHECK_CALL_FAILS("floor_divide", "s32[2]: 7 7; wrap 0", TPT_INVALID_ARGUMENT,
                   "ZeroDivisionError");
}

int main(void) {
  RUN(test_a_condition_that_holds_changes_nothing);
  RUN(test_a_condition_that_fails_is_told);
  return TEST_RESULT;
}
