// Ordering: sort, topk, kthvalue, median, against values of CPU PyTorch (its stable sort).
#include "aten/call_probe.h"

static void test_sort_orders_numbers_with_nan_last(void) {
  CHECK_CALL("sort", "f32[2,4]: 3 -1 nan 2 inf -inf -0 0.5; i -1; b 0",
             "f32[2,4]: -1 2 3 nan -inf -0 0.5 inf; s64[2,4]: 1 3 0 2 1 2 3 0");
  CHECK_CALL("sort", "f32[2,4]: 3 -1 nan 2 inf -inf -0 0.5; i 1; b 1",
             "f32[2,4]: nan 3 2 -1 inf 0.5 -0 -inf; s64[2,4]: 2 0 3 1 0 3 2 1");
  CHECK_CALL("sort", "f32[2,4]: 3 -1 nan 2 inf -inf -0 0.5; i 0; b 0",
             "f32[2,4]: 3 -inf -0 0.5 inf -1 nan 2; s64[2,4]: 0 1 1 1 1 0 0 0");
  CHECK_CALL("sort", "bf16[2,4]: 3 -1 nan 2 inf -inf -0 0.5; i 1; b 0",
             "bf16[2,4]: -1 2 3 nan -inf -0 0.5 inf; s64[2,4]: 1 3 0 2 1 2 3 0");
  CHECK_CALL("sort", "f64[2,4]: 3 -1 nan 2 inf -inf -0 0.5; i 1; b 0",
             "f64[2,4]: -1 2 3 nan -inf -0 0.5 inf; s64[2,4]: 1 3 0 2 1 2 3 0");
  CHECK_CALL("sort", "s8[4]: -5 3 -128 127; i 0; b 0", "s8[4]: -128 -5 3 127; s64[4]: 2 0 1 3");
  CHECK_CALL("sort", "u8[2]: 200 3; i 0; b 1", "u8[2]: 200 3; s64[2]: 0 1");
  CHECK_CALL("sort", "s64[3]: 4611686018427387904 -4611686018427387904 0; i 0; b 0",
             "s64[3]: -4611686018427387904 0 4611686018427387904; s64[3]: 1 2 0");
  CHECK_CALL("sort", "f32[]: 1.5; i 0; b 0", "f32[]: 1.5; s64[]: 0");
  CHECK_CALL("sort", "f32[0]:; i 0; b 0", "f32[0]:; s64[0]:");
}

static void test_sort_keeps_the_order_of_ties(void) {
  CHECK_CALL("sort", "s64[5]: 2 1 2 1 3; i 0; b 0", "s64[5]: 1 1 2 2 3; s64[5]: 1 3 0 2 4");
  CHECK_CALL("sort", "s64[5]: 2 1 2 1 3; i 0; b 1", "s64[5]: 3 2 2 1 1; s64[5]: 4 0 2 1 3");
  CHECK_CALL("sort.stable", "f32[5]: 2 1 2 1 3; b 1; i 0; b 1",
             "f32[5]: 3 2 2 1 1; s64[5]: 4 0 2 1 3");
  CHECK_CALL("sort.stable", "pred[4]: 1 0 1 0; none; i 0; b 0",
             "pred[4]: 0 0 1 1; s64[4]: 1 3 0 2");
  CHECK_CALL("sort", "f32[3]: 0 -0 0; i 0; b 0", "f32[3]: 0 -0 0; s64[3]: 0 1 2");
}

static void test_topk_takes_the_first_of_the_order(void) {
  CHECK_CALL("topk", "f32[4]: 1 5 nan 3; i 2; i -1; b 1; b 1", "f32[2]: nan 5; s64[2]: 2 1");
  CHECK_CALL("topk", "f32[4]: 1 5 nan 3; i 2; i -1; b 0; b 1", "f32[2]: 1 3; s64[2]: 0 3");
  CHECK_CALL("topk", "s64[2,2]: 1 4 3 2; i 1; i 0; b 1; b 1", "s64[1,2]: 3 4; s64[1,2]: 1 0");
  CHECK_CALL("topk", "f32[]: 2; i 1; i 0; b 1; b 1", "f32[]: 2; s64[]: 0");
  CHECK_CALL("topk", "f32[2,4]: 3 -1 nan 2 inf -inf -0 0.5; i 0; i 1; b 1; b 1",
             "f32[2,0]:; s64[2,0]:");
}

static void test_kthvalue_and_median_pick_one(void) {
  CHECK_CALL("kthvalue", "f32[4]: 5 1 4 2; i 2; i 0; b 0", "f32[]: 2; s64[]: 3");
  CHECK_CALL("kthvalue", "s64[2,2]: 5 1 4 2; i 1; i 0; b 1", "s64[1,2]: 4 1; s64[1,2]: 1 0");
  CHECK_CALL("median", "f32[4]: 5 1 4 2", "f32[]: 2");
  CHECK_CALL("median", "f32[3]: 5 nan 1", "f32[]: nan");
  CHECK_CALL("median.dim", "s64[2,3]: 5 1 9 4 2 0; i 1; b 0", "s64[2]: 5 2; s64[2]: 0 1");
  CHECK_CALL("median.dim", "f32[1,3]: 5 nan 9; i 1; b 1", "f32[1,1]: nan; s64[1,1]: 1");
}

static void test_places_are_checked(void) {
  CHECK_CALL_FAILS("median", "f32[0]:", TPT_UNIMPLEMENTED, "the median of nothing");
  CHECK_CALL_FAILS("topk", "f32[2]: 1 2; i 3; i 0; b 1; b 1", TPT_INVALID_ARGUMENT,
                   "selected index k out of range");
  CHECK_CALL_FAILS("kthvalue", "f32[2]: 1 2; i 3; i 0; b 0", TPT_INVALID_ARGUMENT,
                   "selected number k out of range");
  CHECK_CALL_FAILS("sort", "f32[2]: 1 2; i 1; b 0", TPT_OUT_OF_RANGE, "Dimension out of range");
}

int main(void) {
  RUN(test_sort_orders_numbers_with_nan_last);
  RUN(test_sort_keeps_the_order_of_ties);
  RUN(test_topk_takes_the_first_of_the_order);
  RUN(test_kthvalue_and_median_pick_one);
  RUN(test_places_are_checked);
  return TEST_RESULT;
}
