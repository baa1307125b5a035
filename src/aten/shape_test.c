// Movement of elements, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_cat_joins_and_promotes(void) {
  CHECK_CALL("cat", "{f32[2,2]: 0.875 -0.5 -1.5 -2.25 | f32[1,2]: -1.375 -1.75}; i 0",
             "f32[3,2]: 0.875 -0.5 -1.5 -2.25 -1.375 -1.75");
  CHECK_CALL("cat", "{s64[2]: 1 2 | f32[1]: 0.5}; i 0", "f32[3]: 1 2 0.5");
  CHECK_CALL("cat", "{f32[0]: | f32[2,1]: 2.125 4.5 | f32[2,2]: 4.875 5 -0.375 0.375}; i -1",
             "f32[2,3]: 2.125 4.875 5 4.5 -0.375 0.375");
  CHECK_CALL("cat", "{f32[2]: 1.625 -2.375}; i 0", "f32[2]: 1.625 -2.375");
  CHECK_CALL_STRIDES(
      "cat", "{f32[1,2,2,2]~: 0 0 0 0 0 0 0 0 | f32[1,2,2,2]~: 0 0 0 0 0 0 0 0}; i 1", 16, 1, 8, 4);
  CHECK_CALL_FAILS("cat", "{}; i 0", TPT_INVALID_ARGUMENT,
                   "torch.cat(): expected a non-empty list of Tensors");
  CHECK_CALL_FAILS(
      "cat", "{f32[2,2]: 0.75 -2.75 1 -2.25 | f32[2,3]: 0.375 -0.125 -2.25 1.875 -3.25 1.125}; i 0",
      TPT_INVALID_ARGUMENT,
      "Sizes of tensors must match except in dimension 0. Expected size 2 but got size 3 for "
      "tensor number 1 in the list.");
  CHECK_CALL_FAILS("cat", "{f32[2]: -2 2.25 | f32[]: 1}; i 0", TPT_INVALID_ARGUMENT,
                   "zero-dimensional tensor (at position 1) cannot be concatenated");
  CHECK_CALL_FAILS("cat", "{f32[2]: -2.75 0.75 | f32[2,3]: 0.875 -2.25 0.25 0.5 0.25 3.5}; i 0",
                   TPT_INVALID_ARGUMENT,
                   "Tensors must have same number of dimensions: got 1 and 2");
  CHECK_CALL_FAILS("cat", "{f32[2]: -1.875 -0.375}; i 1", TPT_OUT_OF_RANGE,
                   "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}

static void test_elements_move_where_cpu_moves_them(void) {
  CHECK_CALL("flip", "f32[2,3]: -0.375 -0.375 -0.75 -0.125 -0 3.875; is 0 -1",
             "f32[2,3]: 3.875 -0 -0.125 -0.75 -0.375 -0.375");
  CHECK_CALL("roll", "f32[5]: -1.875 -1.75 3.625 2 -1.5; is 2; is ",
             "f32[5]: 2 -1.5 -1.875 -1.75 3.625");
  CHECK_CALL("roll", "f32[2,3]: -3.375 3.375 -1.5 -2.125 -3.5 -1.875; is 1 -1; is 0 1",
             "f32[2,3]: -3.5 -1.875 -2.125 3.375 -1.5 -3.375");
  CHECK_CALL("roll", "f32[2,2]: 2.375 -1 1.5 1.25; is 1; is ", "f32[2,2]: 1.25 2.375 -1 1.5");
  CHECK_CALL(
      "repeat", "f32[2]: -1.25 -3.125; is 2 3",
      "f32[2,6]: -1.25 -3.125 -1.25 -3.125 -1.25 -3.125 -1.25 -3.125 -1.25 -3.125 -1.25 -3.125");
  CHECK_CALL("repeat", "f32[]: 1; is 2", "f32[2]: 1 1");
  CHECK_CALL("repeat", "f32[2,1]: -1.125 -1.5; is 1 0", "f32[2,0]:");
  CHECK_CALL("channel_shuffle", "f32[1,4,1]: 2 2.25 1.25 -0.375; i 2",
             "f32[1,4,1]: 2 1.25 2.25 -0.375");
  CHECK_CALL("pixel_shuffle", "f32[4,1,2]: -4.375 0.5 0 -2.875 -0.625 3.375 1.375 -0.875; i 2",
             "f32[1,2,4]: -4.375 0 0.5 -2.875 -0.625 1.375 3.375 -0.875");
  CHECK_CALL("pixel_unshuffle", "f32[1,2,2]: -2.875 -0.125 -1.625 -1.125; i 2",
             "f32[4,1,1]: -2.875 -0.125 -1.625 -1.125");
  CHECK_CALL(
      "linalg_cross",
      "f32[2,3]: 2.625 1.375 2 -1.375 0.5 -2.75; f32[2,3]: 2.625 -1.75 0.625 -1 -3.5 -1.375; i -1",
      "f32[2,3]: 4.359375 3.609375 -8.203125 -10.3125 0.859375 5.3125");
  CHECK_CALL_FAILS("flip", "f32[2]: -0.75 2; is 0 0", TPT_INVALID_ARGUMENT,
                   "dim 0 appears multiple times in the list of dims");
  CHECK_CALL_FAILS("roll", "f32[2]: -0.625 -1.625; is 1 2; is 0", TPT_INVALID_ARGUMENT,
                   "shifts and dimensions must align. shifts: 2, dims:1");
  CHECK_CALL_FAILS(
      "repeat", "f32[2,2]: -1.5 2.75 1.75 0.75; is 2", TPT_INVALID_ARGUMENT,
      "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
}

static void test_slices_are_written_back(void) {
  CHECK_CALL("slice_scatter",
             "f32[2,5]: -0.25 0.625 1 2.5 -1.5 -1.125 -2.25 -2 0.375 0.75; f32[2,2]: -2.625 -0.75 "
             "0.125 -2.75; i 1; i 1; i 3; i 1",
             "f32[2,5]: -0.25 -2.625 -0.75 2.5 -1.5 -1.125 0.125 -2.75 0.375 0.75");
  CHECK_CALL("slice_scatter",
             "f32[5]: 2.5 0.125 -1.625 1.75 -0.625; f32[2]: -1.375 5.625; i 0; i -4; none; i 2",
             "f32[5]: 2.5 -1.375 -1.625 5.625 -0.625");
  CHECK_CALL("slice_backward", "f32[2]: 3 0.25; is 5; i 0; i 1; i 5; i 2", "f32[5]: 0 3 0 0.25 0");
  CHECK_CALL("slice_backward", "f32[2,2]: -1.25 -0.375 -0.5 -2.875; is 2 4; i 1; i 1; i 3; i 1",
             "f32[2,4]: 0 -1.25 -0.375 0 0 -0.5 -2.875 0");
  CHECK_CALL("select_scatter",
             "f32[2,3]: -2.125 -0.25 -3.625 0.25 -0.5 -2.75; f32[3]: 1.375 0.875 -1; i 0; i -1",
             "f32[2,3]: -2.125 -0.25 -3.625 1.375 0.875 -1");
  CHECK_CALL("select_backward", "f32[2]: -0.625 0.125; is 2 3; i 1; i 1",
             "f32[2,3]: 0 -0.625 0 0 0.125 0");
  CHECK_CALL("unfold_backward", "f32[3,2]: 1.875 -3 0.375 -0.375 3.5 -3.5; is 4; i 0; i 2; i 1",
             "f32[4]: 1.875 -2.625 3.125 -3.5");
  CHECK_CALL("unfold_backward", "f32[2,2]: 0.625 -0.25 -0.75 0.625; is 5; i 0; i 2; i 3",
             "f32[5]: 0.625 -0.25 0 -0.75 0.625");
  CHECK_CALL_FAILS("unfold_backward", "f32[2,2]: 1 2 3 4; is 5; i 0; i 2; i 9223372036854775807",
                   TPT_INVALID_ARGUMENT, "does not come of unfolding dimension 0");
  CHECK_CALL_FAILS("unfold_backward", "f32[2,2]: 1 2 3 4; is 5; i 0; i 2; i 0",
                   TPT_INVALID_ARGUMENT, "into parts of 2, 0 apart");
  CHECK_CALL_FAILS("select_backward", "f32[2]: -0.125 -2.875; is 2 3; i 1; i 3", TPT_OUT_OF_RANGE,
                   "select(): index 3 out of range for tensor of size 3 at dimension 1");
  CHECK_CALL_FAILS(
      "slice_scatter",
      "f32[5]: -1.875 0.5 1.375 1.25 2.625; f32[3]: -1.5 1.625 0.625; i 0; i 1; i 3; i 1",
      TPT_INVALID_ARGUMENT, "expected src to have a size equal to the slice of self");
}

int main(void) {
  RUN(test_cat_joins_and_promotes);
  RUN(test_elements_move_where_cpu_moves_them);
  RUN(test_slices_are_written_back);
  return TEST_RESULT;
}
