// Embeddings on the virtual TPU.
#include "aten/row_probe.h"

static void test_embedding_reads_rows(void) {
  {
    row_t r;
    row_begin(&r, "embedding");
    row_f32(&r, 2, DIMS(4, 2), DATA(2.75, 1.5, 0, -0.75, -0.25, -0.25, -1.5, -1));
    row_tensor(&r, TPT_S64, 2, DIMS(2, 2), DATA(3, 0, 3, 1));
    row_int(&r, -1);
    row_bool(&r, false);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -1.5, -1, 2.75, 1.5, -1.5, -1, 0, -0.75);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "embedding");
    row_f32(&r, 2, DIMS(4, 2), DATA(2.75, 1.5, 0, -0.75, -0.25, -0.25, -1.5, -1));
    row_tensor(&r, TPT_S64, 0, DIMS(0), DATA(2));
    row_int(&r, -1);
    row_bool(&r, false);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, -0.25, -0.25);
    }
    row_end(&r);
  }
}

static void test_embedding_out_of_range_fails(void) {
  {
    row_t r;
    row_begin(&r, "embedding");
    row_f32(&r, 2, DIMS(4, 2), DATA(2.75, 1.5, 0, -0.75, -0.25, -0.25, -1.5, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(2), DATA(1, 4));
    row_int(&r, -1);
    row_bool(&r, false);
    row_bool(&r, false);
    CHECK_FAILS(row_try(&r), TPT_OUT_OF_RANGE, "index out of range in self");
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "embedding");
    row_f32(&r, 2, DIMS(4, 2), DATA(2.75, 1.5, 0, -0.75, -0.25, -0.25, -1.5, -1));
    row_tensor(&r, TPT_S64, 1, DIMS(1), DATA(-1));
    row_int(&r, -1);
    row_bool(&r, false);
    row_bool(&r, false);
    CHECK_FAILS(row_try(&r), TPT_OUT_OF_RANGE, "index out of range in self");
    row_end(&r);
  }
}

static void test_embedding_backward_adds_rows(void) {
  row_t r;
  row_begin(&r, "embedding_dense_backward");
  row_f32(&r, 3, DIMS(2, 2, 2), DATA(-0.0, -1.75, 0.25, -0.25, -1.5, 0.75, 0.5, -0.5));
  row_tensor(&r, TPT_S64, 2, DIMS(2, 2), DATA(3, 0, 3, 1));
  row_int(&r, 4);
  row_int(&r, -1);
  row_bool(&r, false);
  if (row_run(&r)) {
    CHECK_ROW(&r, 0, 1e-6, 0.25, -0.25, 0.5, -0.5, 0, 0, -1.5, -1);
  }
  row_end(&r);
}

static void test_embedding_backward_skips_padding_and_scales(void) {
  {
    row_t r;
    row_begin(&r, "embedding_dense_backward");
    row_f32(&r, 3, DIMS(2, 2, 2), DATA(-0.0, -1.75, 0.25, -0.25, -1.5, 0.75, 0.5, -0.5));
    row_tensor(&r, TPT_S64, 2, DIMS(2, 2), DATA(3, 0, 3, 1));
    row_int(&r, 4);
    row_int(&r, 0);
    row_bool(&r, false);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0, 0, 0.5, -0.5, 0, 0, -1.5, -1);
    }
    row_end(&r);
  }
  {
    row_t r;
    row_begin(&r, "embedding_dense_backward");
    row_f32(&r, 3, DIMS(2, 2, 2), DATA(-0.0, -1.75, 0.25, -0.25, -1.5, 0.75, 0.5, -0.5));
    row_tensor(&r, TPT_S64, 2, DIMS(2, 2), DATA(3, 0, 3, 1));
    row_int(&r, 4);
    row_int(&r, -1);
    row_bool(&r, true);
    if (row_run(&r)) {
      CHECK_ROW(&r, 0, 1e-6, 0.25, -0.25, 0.5, -0.5, 0, 0, -0.75, -0.5);
    }
    row_end(&r);
  }
}

static void test_embedding_refuses_real_indices(void) {
  row_t r;
  row_begin(&r, "embedding");
  row_f32(&r, 2, DIMS(4, 2), DATA(2.75, 1.5, 0, -0.75, -0.25, -0.25, -1.5, -1));
  row_f32(&r, 1, DIMS(1), DATA(1));
  row_int(&r, -1);
  row_bool(&r, false);
  row_bool(&r, false);
  CHECK_FAILS(row_try(&r), TPT_INVALID_ARGUMENT, "one of the following scalar types: Long, Int");
  row_end(&r);
}

int main(void) {
  RUN(test_embedding_reads_rows);
  RUN(test_embedding_out_of_range_fails);
  RUN(test_embedding_backward_adds_rows);
  RUN(test_embedding_backward_skips_padding_and_scales);
  RUN(test_embedding_refuses_real_indices);
  return TEST_RESULT;
}
