// Gathering and scattering element by element along a dimension, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_gather_reads_along_a_dimension(void) {
  CHECK_CALL("gather", "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 2 1 1", "f32[2,2]: -2 0 2 2");
  CHECK_CALL("gather", "f32[2,3]: -2 -1 0 1 2 3; i -2; s64[1,3]: 1 0 1", "f32[1,3]: 1 -1 3");
  CHECK_CALL("gather", "s8[3]: 1 2 3; i 0; s64[2]: 2 2", "s8[2]: 3 3");
  CHECK_CALL("gather", "f32[]: 2.5; i 0; s64[]: 0", "f32[]: 2.5");
  CHECK_CALL("gather", "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,0]:", "f32[2,0]:");
  CHECK_CALL("gather", "pred[2]: 1 0; i 0; s64[1]: 1", "pred[1]: 0");
}

static void test_scatter_writes_values_and_tensors(void) {
  CHECK_CALL("scatter.src",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 2 1 0; f32[2,2]: 10 20 30 nan",
             "f32[2,3]: 10 -1 20 nan 30 3");
  CHECK_CALL("scatter.value", "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,1]: 0 2; s -1.5",
             "f32[2,3]: -1.5 -1 0 1 2 -1.5");
  CHECK_CALL("scatter.value", "s64[3]: 1 2 3; i 0; s64[1]: 1; s 7", "s64[3]: 1 7 3");
  CHECK_CALL("scatter.src", "f32[]: 1; i 0; s64[]: 0; f32[]: 3", "f32[]: 3");
  CHECK_CALL("scatter.src", "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,0]:; f32[2,2]: 10 20 30 nan",
             "f32[2,3]: -2 -1 0 1 2 3");
}

static void test_scatter_add_adds_repeats(void) {
  CHECK_CALL("scatter_add", "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 2 4 nan",
             "f32[2,3]: 1 -1 0 1 2 nan");
  CHECK_CALL("scatter_add", "s8[1]: 100; i 0; s64[2]: 0 0; s8[2]: 20 20", "s8[1]: -116");
  CHECK_CALL("scatter.reduce",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 2 4 5; t add",
             "f32[2,3]: 1 -1 0 1 2 12");
  CHECK_CALL("scatter.reduce",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 2 4 5; t multiply",
             "f32[2,3]: -4 -1 0 1 2 60");
  CHECK_CALL("scatter.value_reduce",
             "f32[2,3]: -2 -1 0 1 2 3; i 0; s64[1,3]: 0 0 1; s 3.0; t multiply",
             "f32[2,3]: -6 -3 0 1 2 9");
}

static void test_scatter_reduce_starts_from_self_or_not(void) {
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t sum; b "
             "1",
             "f32[2,3]: -3 -1 0 1 2 12");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t sum; b "
             "0",
             "f32[2,3]: -1 -1 0 1 2 9");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t prod; b "
             "1",
             "f32[2,3]: 4 -1 0 1 2 60");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t prod; b "
             "0",
             "f32[2,3]: -2 -1 0 1 2 20");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t mean; b "
             "1",
             "f32[2,3]: -1 -1 0 1 2 4");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t mean; b "
             "0",
             "f32[2,3]: -0.5 -1 0 1 2 4.5");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t amax; b "
             "1",
             "f32[2,3]: 1 -1 0 1 2 5");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t amax; b "
             "0",
             "f32[2,3]: 1 -1 0 1 2 5");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t amin; b "
             "1",
             "f32[2,3]: -2 -1 0 1 2 3");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: 1 -2 4 5; t amin; b "
             "0",
             "f32[2,3]: -2 -1 0 1 2 4");
  CHECK_CALL("scatter_reduce.two",
             "f32[2,3]: -2 -1 0 1 2 3; i 1; s64[2,2]: 0 0 2 2; f32[2,2]: nan 1 2 3; t amax; "
             "b 1",
             "f32[2,3]: nan -1 0 1 2 3");
  CHECK_CALL("scatter_reduce.two", "s64[2]: 7 7; i 0; s64[2]: 0 0; s64[2]: 1 2; t mean; b 1",
             "s64[2]: 3 7");
  CHECK_CALL("scatter_reduce.two", "s64[2]: 7 -7; i 0; s64[2]: 1 1; s64[2]: 1 2; t mean; b 1",
             "s64[2]: 7 -2");
}

static void test_indices_and_shapes_are_checked(void) {
  CHECK_CALL_FAILS("gather", "f32[2,3]: -2 -1 0 1 2 3; i 1; f32[1,1]: 0", TPT_INVALID_ARGUMENT,
                   "Expected dtype int64 for index");
  CHECK_CALL_FAILS("gather", "f32[2,3]: -2 -1 0 1 2 3; i 2; s64[2,2]: 0 2 1 1", TPT_OUT_OF_RANGE,
                   "Dimension out of range");
}

int main(void) {
  RUN(test_gather_reads_along_a_dimension);
  RUN(test_scatter_writes_values_and_tensors);
  RUN(test_scatter_add_adds_repeats);
  RUN(test_scatter_reduce_starts_from_self_or_not);
  RUN(test_indices_and_shapes_are_checked);
  return TEST_RESULT;
}
