// The vector machine's loops that are compiled once: functions of the C library, integer division
// and powers, bit counts, and the 16-bit floats (by convert.c). Correct first; none is hot.
#include <math.h>
#include <string.h>

#include "hlo/builder.h"
#include "vtpu/kernel.h"
#include "vtpu/vm.h"

#include "vtpu/vm_loop.inc"

static double logistic_f64(double x) {
  double e = exp(-fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

VM_UNARY(exp_f64, double, double, exp(x))
VM_UNARY(expm1_f64, double, double, expm1(x))
VM_UNARY(log_f64, double, double, log(x))
VM_UNARY(log1p_f64, double, double, log1p(x))
VM_UNARY(tanh_f64, double, double, tanh(x))
VM_UNARY(logistic_of_f64, double, double, logistic_f64(x))
VM_UNARY(sin_f64, double, double, sin(x))
VM_UNARY(cos_f64, double, double, cos(x))
VM_UNARY(tan_f32, float, float, tanf(x))
VM_UNARY(tan_f64, double, double, tan(x))
VM_UNARY(cbrt_f32, float, float, cbrtf(x))
VM_UNARY(cbrt_f64, double, double, cbrt(x))
VM_BINARY(pow_f64, double, double, pow(x, y))
VM_BINARY(atan2_f32, float, float, atan2f(x, y))
VM_BINARY(atan2_f64, double, double, atan2(x, y))
VM_BINARY(rem_f32, float, float, fmodf(x, y))
VM_BINARY(rem_f64, double, double, fmod(x, y))

// --- integers ----------------------------------------------------------------------------------------
// Powers wrap; a negative exponent gives 1 / x^n rounded towards zero, and 0 for x = 0.
static uint64_t power_of(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}
static uint64_t signed_power_of(int64_t base, int64_t exponent) {
  if (exponent >= 0) return power_of((uint64_t)base, (uint64_t)exponent);
  if (base == 1) return 1;
  if (base == -1) return exponent & 1 ? (uint64_t)-1 : 1;
  return 0;
}

#define SIGNED_OPS(t, T, U, bits, id)                                                              \
  VM_BINARY(div_##t, T, T,                                                                         \
            y == 0 ? -1 : (y == -1 ? (int64_t)(0 - (uint64_t)x) : (int64_t)(x / y)))               \
  VM_BINARY(rem_##t, T, T, y == 0 ? x : (y == -1 ? 0 : x % y))                                     \
  VM_BINARY(pow_##t, T, T, signed_power_of(x, y))                                                  \
  VM_UNARY(popcnt_##t, T, T, __builtin_popcountll((U)x))                                           \
  VM_UNARY(clz_##t, T, T, x == 0 ? bits : __builtin_clzll((U)x) - (64 - bits))
#define UNSIGNED_OPS(t, T, U, bits, id)                                                            \
  VM_BINARY(div_##t, T, T, y == 0 ? (T) ~(T)0 : (T)(x / y))                                        \
  VM_BINARY(rem_##t, T, T, y == 0 ? x : (T)(x % y))                                                \
  VM_BINARY(pow_##t, T, T, power_of(x, y))                                                         \
  VM_UNARY(popcnt_##t, T, T, __builtin_popcountll((U)x))                                           \
  VM_UNARY(clz_##t, T, T, x == 0 ? bits : __builtin_clzll((U)x) - (64 - bits))
#define EACH_SIGNED(X)                                                                             \
  X(s8, int8_t, uint8_t, 8, S8)                                                                    \
  X(s16, int16_t, uint16_t, 16, S16)                                                               \
  X(s32, int32_t, uint32_t, 32, S32) X(s64, int64_t, uint64_t, 64, S64)
#define EACH_UNSIGNED(X)                                                                           \
  X(u8, uint8_t, uint8_t, 8, U8)                                                                   \
  X(u16, uint16_t, uint16_t, 16, U16)                                                              \
  X(u32, uint32_t, uint32_t, 32, U32) X(u64, uint64_t, uint64_t, 64, U64)
EACH_SIGNED(SIGNED_OPS)
EACH_UNSIGNED(UNSIGNED_OPS)

// --- narrow floats -----------------------------------------------------------------------------------
#define CONVERT(name, T, R, function)                                                              \
  static void name(void* dst, const void* a, const void* b, const void* c, int64_t n) {            \
    (void)b, (void)c;                                                                              \
    function((const T*)a, (R*)dst, n);                                                             \
  }
CONVERT(bf16_to_f32, uint16_t, float, vtpu_f32_from_bf16)
CONVERT(f32_to_bf16, float, uint16_t, vtpu_bf16_from_f32)
CONVERT(f16_to_f32, uint16_t, float, vtpu_f32_from_f16)
CONVERT(f32_to_f16, float, uint16_t, vtpu_f16_from_f32)
CONVERT(round_bf16, float, float, vtpu_round_to_bf16)

static void round_f16(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  uint16_t half[256];
  (void)b, (void)c;
  for (int64_t i = 0; i < n; i += 256) {
    int64_t count = n - i < 256 ? n - i : 256;
    vtpu_f16_from_f32((const float*)a + i, half, count);
    vtpu_f32_from_f16(half, (float*)dst + i, count);
  }
}

// --- reduce_precision ----------------------------------------------------------------------------------
// Rounds the mantissa to nearest even on the bits; then exponents beyond the new range become
// infinite or zero. NaN stays NaN.
static uint64_t precision_reduce(uint64_t x, int exponent_bits, int mantissa_bits, int old_exponent,
                                 int old_mantissa) {
  uint64_t sign = x & (1ull << (old_exponent + old_mantissa));
  uint64_t magnitude = x ^ sign;
  uint64_t infinity = ((1ull << old_exponent) - 1) << old_mantissa;
  if (magnitude > infinity) return x;
  int dropped = old_mantissa - mantissa_bits;
  if (dropped > 0) {
    uint64_t last = magnitude >> dropped & 1;
    magnitude += ((1ull << (dropped - 1)) - 1) + last;
    magnitude = magnitude >> dropped << dropped;
  }
  if (exponent_bits < old_exponent) {
    int64_t bias = (1ll << (old_exponent - 1)) - 1, new_bias = (1ll << (exponent_bits - 1)) - 1;
    int64_t exponent = (int64_t)(magnitude >> old_mantissa) - bias;
    if (exponent > new_bias) magnitude = infinity;
    if (exponent <= -new_bias) magnitude = 0;
  }
  return sign | magnitude;
}

static void reduce_precision_f32(void* dst, const void* a, const void* b, const void* c,
                                 int64_t n) {
  const int32_t* bits = b;
  (void)c;
  for (int64_t i = 0; i < n; i++) {
    uint32_t x;
    memcpy(&x, (const float*)a + i, sizeof(x));
    x = (uint32_t)precision_reduce(x, bits[0], bits[1] < 23 ? bits[1] : 23, 8, 23);
    memcpy((float*)dst + i, &x, sizeof(x));
  }
}
static void reduce_precision_f64(void* dst, const void* a, const void* b, const void* c,
                                 int64_t n) {
  const int32_t* bits = b;
  (void)c;
  for (int64_t i = 0; i < n; i++) {
    uint64_t x;
    memcpy(&x, (const double*)a + i, sizeof(x));
    x = precision_reduce(x, bits[0], bits[1] < 52 ? bits[1] : 52, 11, 52);
    memcpy((double*)dst + i, &x, sizeof(x));
  }
}

#define OP(op_id, id, function) .op[TPT_HLO_##op_id][TPT_##id] = function,
#define INTEGER_ROWS(t, T, U, bits, id)                                                            \
  OP(DIVIDE, id, div_##t)                                                                          \
  OP(REMAINDER, id, rem_##t)                                                                       \
  OP(POWER, id, pow_##t) OP(POPCNT, id, popcnt_##t) OP(CLZ, id, clz_##t)
#define FLOAT_ROWS(t, id)                                                                          \
  OP(TAN, id, tan_##t)                                                                             \
  OP(CBRT, id, cbrt_##t) OP(ATAN2, id, atan2_##t) OP(REMAINDER, id, rem_##t)

// clang-format off
const vtpu_vm_table_t vtpu_vm_table_libm = {
    EACH_SIGNED(INTEGER_ROWS)
    EACH_UNSIGNED(INTEGER_ROWS)
    FLOAT_ROWS(f32, F32)
    FLOAT_ROWS(f64, F64)
    OP(POWER, F64, pow_f64)
    OP(EXP, F64, exp_f64)
    OP(EXPM1, F64, expm1_f64)
    OP(LOG, F64, log_f64)
    OP(LOG1P, F64, log1p_f64)
    OP(TANH, F64, tanh_f64)
    OP(LOGISTIC, F64, logistic_of_f64)
    OP(SINE, F64, sin_f64)
    OP(COSINE, F64, cos_f64)
    OP(REDUCE_PRECISION, F32, reduce_precision_f32)
    OP(REDUCE_PRECISION, F64, reduce_precision_f64)
    .convert[TPT_BF16][TPT_F32] = bf16_to_f32,
    .convert[TPT_F32][TPT_BF16] = f32_to_bf16,
    .convert[TPT_F16][TPT_F32] = f16_to_f32,
    .convert[TPT_F32][TPT_F16] = f32_to_f16,
    .round[TPT_BF16] = round_bf16,
    .round[TPT_F16] = round_f16,
};
// clang-format on
