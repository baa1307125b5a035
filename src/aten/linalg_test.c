// Cholesky factors and triangular systems of small matrices.
#include "aten/call_probe.h"

static void test_a_factor_is_found_or_its_lack_told(void) {
  CHECK_CALL("linalg_cholesky_ex", "f32[2,2]: 4 2 2 5; b 0; b 0", "f32[2,2]: 2 0 1 2; s32[]: 0");
  CHECK_CALL("linalg_cholesky_ex", "f32[2,2]: 4 2 9 5; b 1; b 0", "f32[2,2]: 2 1 0 2; s32[]: 0");
  CHECK_CALL_STRIDES("linalg_cholesky_ex", "f32[2,2]: 4 2 2 5; b 0; b 0", 1, 2);
  CHECK_CALL_FAILS("linalg_cholesky_ex", "f32[2,3]: 1 2 3 4 5 6; b 0; b 0", TPT_UNIMPLEMENTED,
                   "linalg_cholesky_ex");
}

static void test_triangular_systems_are_solved(void) {
  CHECK_CALL("linalg_solve_triangular", "f32[2,2]: 2 1 9 4; f32[2,1]: 4 8; b 1; b 1; b 0",
             "f32[2,1]: 1 2");
  CHECK_CALL("linalg_solve_triangular", "f32[2,2]: 2 9 1 4; f32[1,2]: 4 8; b 0; b 0; b 0",
             "f32[1,2]: 1 2");
  CHECK_CALL("linalg_solve_triangular", "f32[2,2]: 5 9 3 7; f32[2,1]: 2 8; b 0; b 1; b 1",
             "f32[2,1]: 2 2");
  CHECK_CALL("_cholesky_solve_helper", "f32[2,1]: 8 9; f32[2,2]: 2 0 1 2; b 0",
             "f32[2,1]: 1.375 1.25");
  CHECK_CALL_FAILS("linalg_solve_triangular",
                   "f32[2,2,2]: 1 2 3 4 5 6 7 8; f32[3,2,1]: 1 2 3 4 5 6; b 1; b 1; b 0",
                   TPT_INVALID_ARGUMENT, "do not broadcast");
}

int main(void) {
  RUN(test_a_factor_is_found_or_its_lack_told);
  RUN(test_triangular_systems_are_solved);
  return TEST_RESULT;
}
