// Windows as columns and back, on the virtual TPU.
#include "aten/row_probe.h"

static void test_im2col_of_padded_and_dilated_windows(void) {
  row_t r;
  row_begin(&r, "im2col");
  row_f32(&r, 4, DIMS(1, 1, 3, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 2);
  ROW_INTS(&r, 1, 0);
  ROW_INTS(&r, 2, 1);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0, 0, 1, 2, 0, 0, 3, -3, -3, -2, -2, -1, -1, 0, 0, 1);
  }
  row_end(&r);
}

static void test_im2col_of_tiles_without_a_batch(void) {
  row_t r;
  row_begin(&r, "im2col");
  row_f32(&r, 3, DIMS(2, 2, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
  ROW_INTS(&r, 2, 2);
  ROW_INTS(&r, 1, 1);
  ROW_INTS(&r, 0, 0);
  ROW_INTS(&r, 2, 2);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, -3, -1, -2, 0, 1, 3, 2, -3, -2, 0, -1, 1, 2, -3, 3, -2);
  }
  row_end(&r);
}

static void test_col2im_adds_overlaps(void) {
  {
    row_t r;
    row_begin(&r, "col2im");
    row_f32(
        &r, 3, DIMS(1, 4, 6),
        DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1));
    ROW_INTS(&r, 3, 4);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -3, 1, -4, -2, 2, 4, 1, 4, -2, -4, -2, -1);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "col2im");
    row_f32(&r, 3, DIMS(1, 4, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2));
    ROW_INTS(&r, 3, 4);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 2);
    ROW_INTS(&r, 1, 0);
    ROW_INTS(&r, 2, 1);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -2, -1, 2, 3, -1, 0, 3, -3, 0, 1, -3, -2);
    }
    row_end(&r);
  }
}

static void test_im2col_refuses_windows_that_do_not_fit(void) {
  {
    row_t r;
    row_begin(&r, "im2col");
    row_f32(&r, 4, DIMS(1, 1, 3, 4), DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1));
    ROW_INTS(&r, 4, 2);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "sliding blocks is too small");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "col2im");
    row_f32(&r, 3, DIMS(1, 4, 5),
            DATA(-3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2, 3, -3, -2, -1, 0, 1, 2));
    ROW_INTS(&r, 3, 4);
    ROW_INTS(&r, 2, 2);
    ROW_INTS(&r, 1, 1);
    ROW_INTS(&r, 0, 0);
    ROW_INTS(&r, 1, 1);
    CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "dimension 2 to be 6");
    row_end(&r);
  }
}

int main(void) {
  RUN(test_im2col_of_padded_and_dilated_windows);
  RUN(test_im2col_of_tiles_without_a_batch);
  RUN(test_col2im_adds_overlaps);
  RUN(test_im2col_refuses_windows_that_do_not_fit);
  return TEST_RESULT;
}
