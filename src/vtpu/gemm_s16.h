// Products of 16-bit integers (which hold what 8-bit ones say, signed or not) summed modulo 2^32, on the
// CPU's multiply-add of pairs: AVX512-VNNI, AVX-512, AVX2, or plain C; chosen once per process. Thread-safe.
#ifndef TPUTORCH_VTPU_GEMM_S16_H_
#define TPUTORCH_VTPU_GEMM_S16_H_

#include "vtpu/blas.h"

enum {
  VTPU_GEMM_S16_BASE,
  VTPU_GEMM_S16_AVX2,
  VTPU_GEMM_S16_AVX512,
  VTPU_GEMM_S16_VNNI,
  VTPU_GEMM_S16_LEVEL_COUNT,
};

// As gemm (blas.h), of int16_t into uint32_t, for elements of -255 .. 255: a is stored m x k, b n x k
// (trans_b, not trans_a).
void vtpu_gemm_s16(const vtpu_gemm_t* gemm);
// The same at one level; NULL if this CPU or build lacks it.
vtpu_gemm_fn_t vtpu_gemm_s16_level(int level);

#endif  // TPUTORCH_VTPU_GEMM_S16_H_
