// im2col and col2im, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_windows_become_columns(void) {
  CHECK_CALL("im2col",
             "f32[1,2,3,3]: -0.75 -1.75 0.75 1.875 0.25 1.375 3.625 -1.375 0.5 -1.75 0.25 1.5 "
             "-0.25 -1.875 -0.25 -3.375 -3.625 -0.625; is 2 2; is 1 1; is 0 0; is 1 1",
             "f32[1,8,4]: -0.75 -1.75 1.875 0.25 -1.75 0.75 0.25 1.375 1.875 0.25 3.625 -1.375 "
             "0.25 1.375 -1.375 0.5 -1.75 0.25 -0.25 -1.875 0.25 1.5 -1.875 -0.25 -0.25 -1.875 "
             "-3.375 -3.625 -1.875 -0.25 -3.625 -0.625");
  CHECK_CALL("im2col",
             "f32[1,3,4]: 5.125 1.75 0.875 1.5 -0.5 0 0.625 0.625 -0 4.125 0.625 -0.625; is 2 1; "
             "is 2 1; is 1 0; is 1 2",
             "f32[2,6]: 0 0 5.125 0.875 -0.5 0.625 -0.5 0.625 -0 0.625 0 0");
  CHECK_CALL("im2col", "f32[0,1,2,2]:; is 1 1; is 1 1; is 0 0; is 1 1", "f32[0,1,4]:");
}

static void test_columns_are_added_back(void) {
  CHECK_CALL("col2im",
             "f32[1,4,4]: -2.375 -1.875 -0 -2.125 2.75 2.75 -0.5 0.75 -4.25 2.125 1.25 -0.75 3.25 "
             "-1 -0.5 2.875; is 3 3; is 2 2; is 1 1; is 0 0; is 1 1",
             "f32[1,1,3,3]: -2.375 0.875 2.75 -4.25 2.75 -0.25 1.25 -1.25 2.875");
  CHECK_CALL("col2im",
             "f32[2,6]: -0.25 0.625 -3 0.375 -3.125 -1.75 -1 1.375 1 -3 -1.125 0.875; is 3 4; is 2 "
             "1; is 2 1; is 1 0; is 1 2",
             "f32[1,3,4]: -3 0 0.375 0 -4.125 0 -0.375 0 1 0 -3 0");
}

static void test_windows_that_do_not_fit_are_refused(void) {
  CHECK_CALL_FAILS("im2col", "f32[1,1,2,2]: -1.125 -1 0.75 0.5; is 3 3; is 1 1; is 0 0; is 1 1",
                   TPT_UNIMPLEMENTED, "does not take");
}

int main(void) {
  RUN(test_windows_become_columns);
  RUN(test_columns_are_added_back);
  RUN(test_windows_that_do_not_fit_are_refused);
  return TEST_RESULT;
}
