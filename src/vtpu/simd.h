// Vector instruction sets of the CPU at hand: one always-inline body, compiled once per level,
// chosen at run time. The compiler vectorises the bodies; nothing here uses intrinsics, so every
// architecture builds. No ifuncs, which sanitizers and static linking dislike.
#ifndef TPUTORCH_VTPU_SIMD_H_
#define TPUTORCH_VTPU_SIMD_H_

enum { VTPU_SIMD_BASE, VTPU_SIMD_AVX2, VTPU_SIMD_AVX512 };
// The best level that this CPU and its system support. Thread-safe, cached.
int vtpu_simd_level(void);

#define VTPU_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define VTPU_TARGET_AVX2   __attribute__((target("avx2,fma")))
#define VTPU_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
// Defines `linkage void name params` over the always-inline function name_body of the same
// parameters. `params` and `args` are in parentheses.
#define VTPU_SIMD_FUNCTION(linkage, name, params, args)                                            \
  VTPU_TARGET_AVX512 static void name##_avx512 params {                                            \
    name##_body args;                                                                              \
  }                                                                                                \
  VTPU_TARGET_AVX2 static void name##_avx2 params {                                                \
    name##_body args;                                                                              \
  }                                                                                                \
  static void name##_base params {                                                                 \
    name##_body args;                                                                              \
  }                                                                                                \
  linkage void name params {                                                                       \
    int level = vtpu_simd_level();                                                                 \
    if (level == VTPU_SIMD_AVX512) {                                                               \
      name##_avx512 args;                                                                          \
    } else if (level == VTPU_SIMD_AVX2) {                                                          \
      name##_avx2 args;                                                                            \
    } else {                                                                                       \
      name##_base args;                                                                            \
    }                                                                                              \
  }
#else
#define VTPU_SIMD_FUNCTION(linkage, name, params, args)                                            \
  linkage void name params {                                                                       \
    name##_body args;                                                                              \
  }
#endif

#endif  // TPUTORCH_VTPU_SIMD_H_
