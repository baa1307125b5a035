// Advanced indexing and the one-dimension forms on the virtual TPU, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_indices_read_rows_columns_and_points(void) {
  CHECK_CALL("index.Tensor", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {s64[3]: 2 0 -1}",
             "f32[3,4]: 3 4 5 6 -5 -4 -3 -2 3 4 5 6");
  CHECK_CALL("index.Tensor", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {none | s64[3]: 0 3 1}",
             "f32[3,3]: -5 -2 -4 -1 2 0 3 6 4");
  CHECK_CALL("index.Tensor",
             "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {s64[3]: 2 0 -1 | s64[3]: 0 3 1}",
             "f32[3]: 3 -2 4");
  CHECK_CALL("index.Tensor",
             "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {s64[3,1]: 2 0 -1 | s64[3]: 0 3 1}",
             "f32[3,3]: 3 6 4 -5 -2 -4 3 6 4");
  CHECK_CALL("index.Tensor", "s64[2,2,2]: 0 1 2 3 4 5 6 7; {s64[1]: 1 | none | s64[1]: 0}",
             "s64[1,2]: 4 6");
  CHECK_CALL("index.Tensor", "s64[2,2,2]: 0 1 2 3 4 5 6 7; {none | s32[2]: 1 0 | s32[2]: 0 1}",
             "s64[2,2]: 2 1 6 5");
  CHECK_CALL("index.Tensor", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {s64[0]:}", "f32[0,4]:");
  CHECK_CALL("index.Tensor", "pred[2]: 1 0; {s64[]: 1}", "pred[]: 0");
}

static void test_index_put_writes_and_adds(void) {
  CHECK_CALL("_index_put_impl",
             "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {s64[3]: 2 0 -1 | s64[3]: 0 3 1}; "
             "f32[3]: 1.5 nan -0; b 0; b 0",
             "f32[3,4]: -5 -4 -3 nan -1 0 1 2 1.5 -0 5 6");
  CHECK_CALL("_index_put_impl",
             "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {s64[3]: 1 1 1}; f32[]: 0.5; b 1; b 0",
             "f32[3,4]: -5 -4 -3 -2 0.5 1.5 2.5 3.5 3 4 5 6");
  CHECK_CALL("_index_put_impl", "s64[3]: 1 2 3; {s64[3]: 0 0 -1}; s64[3]: 10 20 30; b 1; b 0",
             "s64[3]: 31 2 33");
  CHECK_CALL("_index_put_impl", "pred[2]: 1 0; {s64[1]: 1}; pred[1]: 1; b 1; b 0", "pred[2]: 1 1");
  CHECK_CALL("_index_put_impl",
             "f32[2,4]: -5 -4 -3 -2 -1 0 1 2; {none | s64[1]: 3}; f32[2,1]: 7 8; b 0; b 0",
             "f32[2,4]: -5 -4 -3 7 -1 0 1 8");
}

static void test_index_select_reads_a_dimension(void) {
  CHECK_CALL("index_select", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 1; s64[3]: 3 3 0",
             "f32[3,3]: -2 -2 -5 2 2 -1 6 6 3");
  CHECK_CALL("index_select", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i -2; s32[1]: 1",
             "f32[1,4]: -1 0 1 2");
  CHECK_CALL("index_select", "f32[]: 2.5; i 0; s64[1]: 0", "f32[]: 2.5");
  CHECK_CALL("index_select", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; s64[0]:", "f32[0,4]:");
}

static void test_index_add_copy_and_fill_write_a_dimension(void) {
  CHECK_CALL("index_add",
             "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; s64[2]: 0 0; f32[2,4]: 1 1 1 1 1 "
             "1 1 1; s 2",
             "f32[3,4]: -1 0 1 2 -1 0 1 2 3 4 5 6");
  CHECK_CALL("index_add", "s8[2]: 1 2; i 0; s64[1]: 1; s8[1]: 127; s 1", "s8[2]: 1 -127");
  CHECK_CALL("index_copy",
             "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 1; s64[1]: 1; f32[3,1]: 9 nan -0",
             "f32[3,4]: -5 9 -3 -2 -1 nan 1 2 3 -0 5 6");
  CHECK_CALL("index_fill.int_Scalar",
             "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; s64[2]: 1 -1; s 0.5",
             "f32[3,4]: -5 -4 -3 -2 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5");
  CHECK_CALL("index_fill.int_Tensor", "s64[3]: 1 2 3; i 0; s64[1]: 0; s64[]: 7", "s64[3]: 7 2 3");
}

static void test_take_and_put_count_flat_elements(void) {
  CHECK_CALL("take", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; s64[2,2]: 0 -1 5 5",
             "f32[2,2]: -5 6 0 0");
  CHECK_CALL("put", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; s64[2]: 0 -1; f32[2]: 8 9; b 0",
             "f32[3,4]: 8 -4 -3 -2 -1 0 1 2 3 4 5 9");
  CHECK_CALL("put", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; s64[2]: 1 1; f32[2]: 8 9; b 1",
             "f32[3,4]: -5 13 -3 -2 -1 0 1 2 3 4 5 6");
  CHECK_CALL("take", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; s64[0]:", "f32[0]:");
}

static void test_what_cannot_index_is_refused(void) {
  CHECK_CALL_FAILS("index.Tensor", "f32[2]: 1 2; {s64[1]: 0 | s64[1]: 0}", TPT_OUT_OF_RANGE,
                   "too many indices for tensor of dimension 1");
  CHECK_CALL_FAILS("index.Tensor", "f32[2]: 1 2; {f32[1]: 0}", TPT_OUT_OF_RANGE,
                   "tensors used as indices must be long, int, byte or bool tensors");
  CHECK_CALL_FAILS("index.Tensor", "f32[2]: 1 2; {pred[2]: 1 0}", TPT_UNIMPLEMENTED,
                   "known only at run time");
  CHECK_CALL_FAILS("index.Tensor",
                   "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; {s64[2]: 0 1 | s64[3]: 0 1 2}",
                   TPT_INVALID_ARGUMENT, "shape mismatch");
  CHECK_CALL_FAILS("index_select", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; f32[1]: 0",
                   TPT_INVALID_ARGUMENT, "Expected dtype int64 for index");
  CHECK_CALL_FAILS("index_select", "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; s64[1,1]: 0",
                   TPT_OUT_OF_RANGE, "Index is supposed to be a vector");
  CHECK_CALL_FAILS("index_add",
                   "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; s64[1]: 0; s64[1,4]: 1 1 1 1; s 1",
                   TPT_INVALID_ARGUMENT, "must have the same scalar type");
  CHECK_CALL_FAILS("index_copy",
                   "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; s64[1]: 0; f32[2,4]: 1 1 1 1 1 1 "
                   "1 1",
                   TPT_INVALID_ARGUMENT, "source has shape");
  CHECK_CALL_FAILS("index_fill.int_Tensor",
                   "f32[3,4]: -5 -4 -3 -2 -1 0 1 2 3 4 5 6; i 0; s64[1]: 0; f32[1]: 1",
                   TPT_INVALID_ARGUMENT, "only supports a 0-dimensional value");
  CHECK_CALL_FAILS("take", "f32[0]:; s64[1]: 0", TPT_OUT_OF_RANGE, "empty tensor");
}

int main(void) {
  RUN(test_indices_read_rows_columns_and_points);
  RUN(test_index_put_writes_and_adds);
  RUN(test_index_select_reads_a_dimension);
  RUN(test_index_add_copy_and_fill_write_a_dimension);
  RUN(test_take_and_put_count_flat_elements);
  RUN(test_what_cannot_index_is_refused);
  return TEST_RESULT;
}
