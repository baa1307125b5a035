// The vector level is stable and the dispatcher of each level computes the same.
#include "base/check.h"
#include "vtpu/simd.h"

VTPU_INLINE void scale_body(const float* in, float* out, int count) {
  for (int i = 0; i < count; i++)
    out[i] = in[i] * 3.0f + 1.0f;
}
VTPU_SIMD_FUNCTION(static, scale, (const float* in, float* out, int count), (in, out, count))

static void test_level_is_in_range_and_stable(void) {
  int level = vtpu_simd_level();
  CHECK(level >= VTPU_SIMD_BASE && level <= VTPU_SIMD_AVX512);
  CHECK_EQ(vtpu_simd_level(), level);
}

static void test_levels_agree_bit_for_bit(void) {
  float in[37], base[37], best[37];
  for (int i = 0; i < 37; i++)
    in[i] = 0.1f * (float)i;
  scale_body(in, base, 37);
  scale(in, best, 37);
  CHECK(memcmp(base, best, sizeof(base)) == 0);
}

int main(void) {
  RUN(test_level_is_in_range_and_stable);
  RUN(test_levels_agree_bit_for_bit);
  return TEST_RESULT;
}
