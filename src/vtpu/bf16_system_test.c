// The level that the system grants is stable and one of those that exist.
#include "base/check.h"
#include "vtpu/bf16.h"
#include "vtpu/bf16_system.h"

static void test_the_level_is_stable(void) {
  int level = vtpu_bf16_system_level();
  CHECK(level >= VTPU_BF16_NONE && level < VTPU_BF16_LEVEL_COUNT);
  CHECK_EQ(vtpu_bf16_system_level(), level);
}

int main(void) {
  RUN(test_the_level_is_stable);
  return TEST_RESULT;
}
