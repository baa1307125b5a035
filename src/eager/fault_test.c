// Calls of every kind with each of their allocations failing, on the caller's thread.
#include "eager/fault_works.h"

static void test_calls_that_compile(void) {
  fault_works_run_all(true, false, 400);
}
static void test_calls_that_were_compiled_before(void) {
  fault_works_run_all(false, false, 400);
}

int main(void) {
  if (!test_open("2")) return TEST_RESULT;
  RUN(test_calls_that_compile);
  RUN(test_calls_that_were_compiled_before);
  return TEST_RESULT;
}
