// Integer products of every level of this CPU against loops, at sizes around blocks and registers; sums
// wrap.
#include "vtpu/gemm_s16.h"
#include "vtpu/kernel_probe.h"

static void compare(int level, int m, int n, int k, bool accumulate, int most) {
  static int16_t a[40 * 200], b[40 * 200];
  static uint32_t got[40 * 40], want[40 * 40];
  int ld = k + 3, ldc = n + 1;
  for (int i = 0; i < 40 * 200; i++) {
    a[i] = (int16_t)(most ? most : probe_int(-255, 255));
    b[i] = (int16_t)(most ? most : probe_int(-255, 255));
  }
  for (int i = 0; i < 40 * 40; i++)
    got[i] = want[i] = (uint32_t)probe_next();
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      uint32_t sum = accumulate ? want[i * ldc + j] : 0;
      for (int x = 0; x < k; x++)
        sum += (uint32_t)(a[i * ld + x] * b[j * ld + x]);
      want[i * ldc + j] = sum;
    }
  vtpu_gemm_t gemm = {.trans_b = true,
                      .accumulate = accumulate,
                      .m = m,
                      .n = n,
                      .k = k,
                      .lda = ld,
                      .ldb = ld,
                      .ldc = ldc,
                      .a = a,
                      .b = b,
                      .c = got};
  vtpu_gemm_s16_level(level)(&gemm);
  CHECK(memcmp(got, want, sizeof(got)) == 0);
}

static void test_levels_match_loops(void) {
  for (int level = 0; level < VTPU_GEMM_S16_LEVEL_COUNT; level++) {
    if (!vtpu_gemm_s16_level(level)) continue;  // not on this CPU
    for (int round = 0; round < 60; round++)
      compare(level, (int)probe_int(0, 38), (int)probe_int(0, 38), (int)probe_int(0, 190),
              round & 1, 0);
    compare(level, 9, 7, 190, true, 255);
    compare(level, 9, 7, 190, true, -255);
  }
}

static void test_the_plain_level_is_everywhere(void) {
  CHECK(vtpu_gemm_s16_level(VTPU_GEMM_S16_BASE));
  CHECK(!vtpu_gemm_s16_level(VTPU_GEMM_S16_LEVEL_COUNT) && !vtpu_gemm_s16_level(-1));
}

int main(void) {
  RUN(test_levels_match_loops);
  RUN(test_the_plain_level_is_everywhere);
  return TEST_RESULT;
}
