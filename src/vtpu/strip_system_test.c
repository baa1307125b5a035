// The level that the system grants is stable and one of those that exist.
#include "base/check.h"
#include "vtpu/strip.h"
#include "vtpu/strip_system.h"

static void test_the_level_is_stable(void) {
  int level = vtpu_strip_system_level();
  CHECK(level >= VTPU_STRIP_NONE && level < VTPU_STRIP_LEVEL_COUNT);
  CHECK_EQ(vtpu_strip_system_level(), level);
}

int main(void) {
  RUN(test_the_level_is_stable);
  return TEST_RESULT;
}
