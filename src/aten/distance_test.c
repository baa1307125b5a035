// Distances between rows by every order, and their gradients.
#include "aten/call_probe.h"

static void test_distances_by_order(void) {
  CHECK_CALL("_cdist_forward", "f32[1,2]: 0 0; f32[2,2]: 3 4 0 -1; f 2; none", "f32[1,2]: 5 1");
  CHECK_CALL("_cdist_forward", "f32[1,2]: 0 0; f32[2,2]: 3 4 0 -1; f 1; none", "f32[1,2]: 7 1");
  CHECK_CALL("_cdist_forward", "f32[1,2]: 0 0; f32[2,2]: 3 4 0 -1; f 0; none", "f32[1,2]: 2 1");
  CHECK_CALL("_cdist_forward", "f32[1,2]: 0 0; f32[2,2]: 1 1 0 -1; f 0.5; none", "f32[1,2]: 4 1");
}

static void test_gradients_vanish_where_points_meet(void) {
  CHECK_CALL("_cdist_backward",
             "f32[1,2]: 1 1; f32[1,2]: 0 0; f32[2,2]: -3 -4 0 0; f 2; f32[1,2]: 5 0",
             "f32[1,2]: 0.6 0.8");
  CHECK_CALL("_cdist_backward",
             "f32[1,2]: 2 1; f32[1,2]: 0 0; f32[2,2]: 3 -4 1 0; f 1; f32[1,2]: 7 1",
             "f32[1,2]: -3 2");
}

int main(void) {
  RUN(test_distances_by_order);
  RUN(test_gradients_vanish_where_points_meet);
  return TEST_RESULT;
}
