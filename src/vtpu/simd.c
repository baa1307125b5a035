// Finds the vector level of the CPU once.
#include "vtpu/simd.h"

#include <stdatomic.h>

static int level_find(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return VTPU_SIMD_AVX512;
    return VTPU_SIMD_AVX2;
  }
#endif
  return VTPU_SIMD_BASE;
}

int vtpu_simd_level(void) {
  static atomic_int cached = -1;
  int level = atomic_load_explicit(&cached, memory_order_relaxed);
  if (level < 0) {
    level = level_find();
    atomic_store_explicit(&cached, level, memory_order_relaxed);
  }
  return level;
}
