// Conversion of arrays between f32 and the 16-bit float types. Rounds to nearest even; NaN stays
// NaN (its leading bits kept), infinities and signed zeros stay; values too large become infinite. Every conversion
// works on bits, so that it does not depend on the flush modes of the FPU. Knows no op.
#include "vtpu/half.h"
#include "vtpu/kernel.h"
#include "vtpu/simd.h"

VTPU_INLINE void vtpu_f32_from_bf16_body(const uint16_t* in, float* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    out[i] = vtpu_f32_from_bits((uint32_t)in[i] << 16);
}

VTPU_INLINE void vtpu_bf16_from_f32_body(const float* in, uint16_t* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    out[i] = (uint16_t)(vtpu_bf16_round_bits(vtpu_bits_from_f32(in[i])) >> 16);
}

VTPU_INLINE void vtpu_f32_from_f16_body(const uint16_t* in, float* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    out[i] = vtpu_f32_from_bits(vtpu_f32_bits_from_f16(in[i]));
}

VTPU_INLINE void vtpu_f16_from_f32_body(const float* in, uint16_t* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    out[i] = vtpu_f16_from_f32_bits(vtpu_bits_from_f32(in[i]));
}

VTPU_INLINE void vtpu_round_to_bf16_body(const float* in, float* out, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    out[i] = vtpu_f32_from_bits(vtpu_bf16_round_bits(vtpu_bits_from_f32(in[i])));
}

VTPU_SIMD_FUNCTION(, vtpu_f32_from_bf16, (const uint16_t* in, float* out, int64_t count),
                   (in, out, count))
VTPU_SIMD_FUNCTION(, vtpu_bf16_from_f32, (const float* in, uint16_t* out, int64_t count),
                   (in, out, count))
VTPU_SIMD_FUNCTION(, vtpu_f32_from_f16, (const uint16_t* in, float* out, int64_t count),
                   (in, out, count))
VTPU_SIMD_FUNCTION(, vtpu_f16_from_f32, (const float* in, uint16_t* out, int64_t count),
                   (in, out, count))
VTPU_SIMD_FUNCTION(, vtpu_round_to_bf16, (const float* in, float* out, int64_t count),
                   (in, out, count))
