// Triangles and diagonals, against values of CPU PyTorch.
#include "aten/call_probe.h"

static void test_triangles_match_cpu(void) {
  CHECK_CALL("tril", "f32[3,3]: -2.75 2.125 1.25 1.75 1.875 0.625 -2.25 -4.875 0; i 0",
             "f32[3,3]: -2.75 0 0 1.75 1.875 0 -2.25 -4.875 0");
  CHECK_CALL("triu", "f32[2,3]: 0 -3.375 1.75 -4.5 -1 -1.125; i 1",
             "f32[2,3]: 0 -3.375 1.75 0 0 -1.125");
  CHECK_CALL("tril", "f32[2,2,2]: -0.375 -2.25 -1 0.125 0.125 1.25 0.5 0.875; i -1",
             "f32[2,2,2]: 0 0 -1 0 0 0 0.5 0");
  CHECK_CALL("triu", "pred[2,2]: 1 1 1 1; i 0", "pred[2,2]: 1 1 0 1");
  CHECK_CALL("trace", "f32[2,3]: -0.25 -2.125 -0.625 -3.125 -0.25 -2.875", "f32[]: -0.5");
  CHECK_CALL("trace", "s8[2,2]: 1 2 3 4", "s64[]: 5");
  CHECK_CALL_FAILS("tril", "f32[3]: -0.375 1.375 0.625; i 0", TPT_INVALID_ARGUMENT,
                   "tril: input tensor must have at least 2 dimensions");
}

static void test_diagonals_are_put_back(void) {
  CHECK_CALL("diag_embed", "f32[2]: 2.125 -0.25; i 0; i -2; i -1", "f32[2,2]: 2.125 0 0 -0.25");
  CHECK_CALL("diag_embed", "f32[2,2]: 2.75 -0.5 -1.625 -3.875; i 1; i 0; i 2",
             "f32[3,2,3]: 0 2.75 0 0 -1.625 0 0 0 -0.5 0 0 -3.875 0 0 0 0 0 0");
  CHECK_CALL("diag_embed", "f32[2]: -0.75 -1.625; i -1; i -2; i -1",
             "f32[3,3]: 0 0 0 -0.75 0 0 0 -1.625 0");
  CHECK_CALL("diagonal_backward", "f32[2]: 0 0.5; is 2 3; i 0; i 0; i 1",
             "f32[2,3]: 0 0 0 0 0.5 0");
  CHECK_CALL("diagonal_backward", "f32[2,2]: -0.5 -0.625 -3 -3.375; is 3 2 2; i -1; i 0; i 2",
             "f32[3,2,2]: 0 0 0 0 -0.5 0 -3 0 0 -0.625 0 -3.375");
  CHECK_CALL("diagonal_backward",
             "f32[3,3]: 0.75 0.625 1 1.5 -1.375 0.5 3 -0.25 2.125; is 4 3 3; i 1; i 2; i 0",
             "f32[4,3,3]: 0 0 0 0 0 0 0 0 0 0.75 0 0 1.5 0 0 3 0 0 0 0.625 0 0 -1.375 0 0 -0.25 0 "
             "0 0 1 0 0 0.5 0 0 2.125");
  CHECK_CALL("diagonal_scatter",
             "f32[2,3]: -1 1.875 1.75 -0 0.75 -3.125; f32[2]: 1.125 -0; i 1; i 0; i 1",
             "f32[2,3]: -1 1.125 1.75 -0 0.75 -0");
  CHECK_CALL_FAILS("diag_embed", "f32[2]: 2.25 2.5; i 0; i 1; i 1", TPT_INVALID_ARGUMENT,
                   "diagonal dimensions cannot be identical");
}

int main(void) {
  RUN(test_triangles_match_cpu);
  RUN(test_diagonals_are_put_back);
  return TEST_RESULT;
}
