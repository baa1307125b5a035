// The 16-bit float types on bits, for loops that the compiler vectorises. Rounding is to nearest
// even; NaN stays NaN with the bits that fit, so that a value which is only moved through f32 comes
// back as it was, signalling or not; independent of the flush modes of the FPU.
#ifndef TPUTORCH_VTPU_HALF_H_
#define TPUTORCH_VTPU_HALF_H_

#include <stdint.h>
#include <string.h>

#include "vtpu/simd.h"

VTPU_INLINE uint32_t vtpu_bits_from_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

VTPU_INLINE float vtpu_f32_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

// The f32 bits of the nearest bf16; the low half is zero.
VTPU_INLINE uint32_t vtpu_bf16_round_bits(uint32_t x) {
  uint32_t rounded = (x + 0x7FFFu + ((x >> 16) & 1u)) & 0xFFFF0000u;
  uint32_t nan = x & 0xFFFF0000u;
  nan |= (x & 0x007F0000u) != 0 ? 0u : 0x00400000u;
  return (x & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded;
}

VTPU_INLINE uint32_t vtpu_f32_bits_from_f16(uint32_t h) {
  uint32_t sign = (h & 0x8000u) << 16;
  uint32_t magnitude = h & 0x7FFFu;
  uint32_t normal = (magnitude << 13) + (112u << 23);
  uint32_t subnormal = vtpu_bits_from_f32((float)(int32_t)magnitude * 0x1p-24f);
  uint32_t special = (magnitude << 13) + (224u << 23);
  uint32_t bits = magnitude < 0x0400u ? subnormal : normal;
  bits = magnitude >= 0x7C00u ? special : bits;
  return sign | bits;
}

VTPU_INLINE uint16_t vtpu_f16_from_f32_bits(uint32_t x) {
  uint32_t sign = (x >> 16) & 0x8000u;
  uint32_t magnitude = x & 0x7FFFFFFFu;
  // Normal results: rebias the exponent and round; a carry out of 65504 gives infinity by itself.
  uint32_t normal = (magnitude - (112u << 23) + 0x0FFFu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal results: adding 0.5 aligns the last kept bit with the last bit of the sum.
  uint32_t subnormal = vtpu_bits_from_f32(vtpu_f32_from_bits(magnitude) + 0.5f) - 0x3F000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? 0x7C00u : result;
  uint32_t nan = 0x7C00u | ((magnitude >> 13) & 0x03FFu);
  nan |= (nan & 0x03FFu) != 0 ? 0u : 0x0200u;
  result = magnitude > 0x7F800000u ? nan : result;
  return (uint16_t)(sign | result);
}

VTPU_INLINE float vtpu_f32_from_bf16_one(uint16_t x) {
  return vtpu_f32_from_bits((uint32_t)x << 16);
}
VTPU_INLINE uint16_t vtpu_bf16_from_f32_one(float x) {
  return (uint16_t)(vtpu_bf16_round_bits(vtpu_bits_from_f32(x)) >> 16);
}
VTPU_INLINE float vtpu_f32_from_f16_one(uint16_t x) {
  return vtpu_f32_from_bits(vtpu_f32_bits_from_f16(x));
}
VTPU_INLINE uint16_t vtpu_f16_from_f32_one(float x) {
  return vtpu_f16_from_f32_bits(vtpu_bits_from_f32(x));
}

#endif  // TPUTORCH_VTPU_HALF_H_
