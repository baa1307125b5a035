#include "eager/test_device.h"

static void test_counts_tell_hits_from_compiles(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3});
  tpt_counters_reset();
  for (int i = 0; i < 3; i++)
    CHECK_OK(test_add(&a, &a, 1, true, NULL));
  TEST_F32(a, 8, 16, 24);
  tpt_counters_t c = test_counters();
  CHECK_EQ(c.calls, 3);
  CHECK_EQ(c.hits, 2);
  CHECK_EQ(c.compiles, 1);
  CHECK_EQ(c.launches, 3);
  CHECK_EQ(c.downloads, 1);
  CHECK_EQ(c.uploads, 0);
  CHECK(c.compile_seconds > 0);
  test_release(&a);
}

static void test_fallbacks_are_the_callers_to_report(void) {
  tpt_counters_reset();
  tpt_counters_add_fallback();
  tpt_counters_add_fallback();
  CHECK_EQ(test_counters().fallbacks, 2);
  tpt_counters_reset();
  CHECK_EQ(test_counters().fallbacks, 0);
  CHECK_EQ(test_counters().calls, 0);
}

int main(void) {
  RUN(test_fallbacks_are_the_callers_to_report);  // before anything is open
  if (!test_open("2")) return TEST_RESULT;
  RUN(test_counts_tell_hits_from_compiles);
  RUN(test_fallbacks_are_the_callers_to_report);
  return TEST_RESULT;
}
