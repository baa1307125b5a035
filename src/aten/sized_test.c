// Steps of ops whose sizes depend on values, at sizes larger than needed, and rows made of them.
#include "aten/call_probe.h"

static void test_places_lie_column_by_column(void) {
  CHECK_CALL("sized_nonzero", "f32[2,3]: 0 5 0 -1 0 nan; i 4; i 3", "s64[8]: 0 1 1 1 0 2 0 0");
  CHECK_CALL("sized_nonzero", "pred[5]: 0 1 0 1 1; i 4; i 3", "s64[4]: 1 3 4 0");
  CHECK_CALL("nonzero_static", "pred[2,2]: 0 1 1 0; i 3; i -7", "s64[3,2]: 0 1 1 0 -7 -7");
  CHECK_CALL("nonzero_static", "pred[2,2]: 0 1 1 1; i 1; i -1", "s64[1,2]: 0 1");
}

static void test_a_mask_selects_entries(void) {
  CHECK_CALL("sized_select", "f32[3,2]: 1 2 3 4 5 6; pred[3]: 1 0 1; i 2", "f32[2,2]: 1 2 5 6");
  CHECK_CALL("masked_scatter", "f32[4]: 1 2 3 4; pred[4]: 0 1 0 1; f32[3]: 7 8 9",
             "f32[4]: 1 7 3 8");
  CHECK_LAUNCH_FAILS("masked_scatter", "f32[4]: 1 2 3 4; pred[4]: 0 1 1 1; f32[2]: 7 8",
                     TPT_INVALID_ARGUMENT, "Number of elements of source");
}

static void test_runs_are_told_with_their_lengths(void) {
  CHECK_CALL("sized_unique", "s32[5]: 3 1 3 3 1; b 1; b 1; b 1",
             "s32[5]: 1 3 3 3 3; s64[5]: 1 0 1 1 0; s64[5]: 2 3 0 0 0; s64[]: 2");
  CHECK_CALL("sized_unique", "s32[5]: 3 1 3 3 1; b 0; b 0; b 0",
             "s32[5]: 3 1 3 1 1; none; none; s64[]: 4");
  CHECK_CALL("sized_unique_rows", "s32[3,2]: 2 1 1 9 2 1; b 1",
             "s64[3]: 1 0 2; s64[3]: 1 0 1; s64[3]: 1 2 0; s64[]: 2");
}

static void test_histograms_count_what_lies_inside(void) {
  CHECK_CALL("histc", "f32[5]: 0 1 2 3 9; i 3; s 0; s 3", "f32[3]: 1 1 2");
  CHECK_CALL("histc", "f32[4]: 0 1 2 3; i 3; s 0; s 0", "f32[3]: 1 1 2");
  CHECK_CALL("histc", "s32[4]: 0 7 3 8; i 8; s 0; s 7", "s32[8]: 1 0 0 1 0 0 0 1");
  CHECK_CALL("histc", "f32[0]:; i 2; s 0; s 0", "f32[2]: 0 0");
  CHECK_CALL_FAILS("histc", "f32[1]: 1; i 2; s 3; s 1", TPT_INVALID_ARGUMENT, "max must be larger");
}

int main(void) {
  RUN(test_places_lie_column_by_column);
  RUN(test_a_mask_selects_entries);
  RUN(test_runs_are_told_with_their_lengths);
  RUN(test_histograms_count_what_lies_inside);
  return TEST_RESULT;
}
