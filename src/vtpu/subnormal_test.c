// Tests of the subnormal mode: flushing while on, restored after.
#include "base/check.h"
#include "vtpu/subnormal.h"

static volatile float tiny = 1e-39f, one = 1.0f;

static void test_mode_flushes_and_is_restored(void) {
  CHECK(tiny * one > 0);
  vtpu_subnormal_t off = vtpu_subnormal_begin(false);
  CHECK(tiny * one > 0);
  vtpu_subnormal_t on = vtpu_subnormal_begin(true);
#if defined(__x86_64__) || defined(__aarch64__)
  CHECK(tiny * one == 0);
#endif
  vtpu_subnormal_end(on);
  CHECK(tiny * one > 0);
  vtpu_subnormal_end(off);
  CHECK(tiny * one > 0);
}

int main(void) {
  RUN(test_mode_flushes_and_is_restored);
  return TEST_RESULT;
}
