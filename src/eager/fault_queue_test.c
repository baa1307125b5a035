// The same calls on a device that queues everything: allocations fail while programs wait and run.
#include "eager/fault_works.h"

static void test_calls_that_compile(void) {
  fault_works_run_all(true, true, 150);
}
static void test_calls_that_were_compiled_before(void) {
  fault_works_run_all(false, true, 400);
}

int main(void) {
  CHECK_OK(tpt_runtime_set_option("inline_limit", "0"));
  if (!test_open("2")) return TEST_RESULT;
  RUN(test_calls_that_compile);
  RUN(test_calls_that_were_compiled_before);
  return TEST_RESULT;
}
