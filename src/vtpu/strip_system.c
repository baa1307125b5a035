// Reads CPUID, and on Linux asks for the permission that AMX needs. Whatever is missing lowers the level.
#include "vtpu/strip_system.h"

#include "vtpu/simd.h"
#include "vtpu/strip.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

enum { ARCH_REQUEST_STATE = 0x1023, STATE_TILE_DATA = 18 };

static int tiles_are_granted(void) {
  return syscall(SYS_arch_prctl, ARCH_REQUEST_STATE, STATE_TILE_DATA) == 0;
}
#else
static int tiles_are_granted(void) {
  return 0;
}
#endif

int vtpu_strip_system_level(void) {
#if defined(__x86_64__)
  unsigned a, b, c, d, features = 0;
  if (vtpu_simd_level() < VTPU_SIMD_AVX512) return VTPU_STRIP_NONE;
  if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a & 1u << 5))  // AVX512_BF16
    return VTPU_STRIP_F32_AVX512;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) features = d;
  bool has_tiles = (features & 1u << 22) && (features & 1u << 24);  // AMX-BF16, AMX-TILE
  if (has_tiles && tiles_are_granted()) return VTPU_STRIP_BF16_AMX;
  // Intel's dot products of pairs run at half the rate of f32 multiply-adds: no gain.
  return __builtin_cpu_is("intel") ? VTPU_STRIP_F32_AVX512 : VTPU_STRIP_BF16_AVX512;
#else
  return VTPU_STRIP_NONE;
#endif
}
