// The table of kernels: complete rows, none for elementwise ops.
#include "base/check.h"
#include "vtpu/kernel.h"

static void test_rows_are_complete_and_agree_with_their_op(void) {
  int count = 0;
  for (int op = 0; op < TPT_HLO_COUNT; op++) {
    const vtpu_kernel_row_t* row = vtpu_kernel_row((tpt_hlo_t)op);
    if (!row) continue;
    count++;
    CHECK_EQ(row->op, op);
    CHECK(row->run != NULL && row->prepare != NULL);
    CHECK(row->in_place_operand >= -1);
  }
  CHECK(count > 5);
}

static void test_ops_without_a_kernel_have_no_row(void) {
  CHECK(!vtpu_kernel_row(TPT_HLO_ADD));
  CHECK(!vtpu_kernel_row(TPT_HLO_COUNT));
  CHECK(!vtpu_kernel_row((tpt_hlo_t)-1));
}

int main(void) {
  RUN(test_rows_are_complete_and_agree_with_their_op);
  RUN(test_ops_without_a_kernel_have_no_row);
  return TEST_RESULT;
}
