// Complex arithmetic of the vector machine, by C99's complex functions. A register holds pairs
// (real, imaginary). Complex values have equality but no order.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "hlo/builder.h"
#include "vtpu/vm.h"

#include "vtpu/vm_loop.inc"

typedef float complex c64_t;
typedef double complex c128_t;

// C11's CMPLX, which not every compiler has. A complex value is its two parts in memory.
static inline c64_t make_c64(float re, float im) {
  float parts[2] = {re, im};
  c64_t z;
  memcpy(&z, parts, sizeof(z));
  return z;
}
static inline c128_t make_c128(double re, double im) {
  double parts[2] = {re, im};
  c128_t z;
  memcpy(&z, parts, sizeof(z));
  return z;
}

// T complex type, R real type, f suffix of the library's functions.
#define COMPLEX_OPS(t, T, R, f)                                                                    \
  static T sign_of_##t(T x) {                                                                      \
    R size = cabs##f(x);                                                                           \
    return size == 0 ? x : make_##t(creal##f(x) / size, cimag##f(x) / size);                       \
  }                                                                                                \
  static T expm1_of_##t(T x) {                                                                     \
    R re = creal##f(x), im = cimag##f(x), half = sin##f(im / 2);                                   \
    return make_##t(expm1##f(re) * cos##f(im) - 2 * half * half, exp##f(re) * sin##f(im));         \
  }                                                                                                \
  static T log1p_of_##t(T x) {                                                                     \
    R re = creal##f(x), im = cimag##f(x);                                                          \
    R real = fabs##f(re) < (R)0.5 && fabs##f(im) < (R)0.5 ? log1p##f(re * (2 + re) + im * im) / 2  \
                                                          : log##f(hypot##f(1 + re, im));          \
    return make_##t(real, atan2##f(im, 1 + re));                                                   \
  }                                                                                                \
  static T pow_of_##t(T x, T y) {                                                                  \
    if (creal##f(x) == 0 && cimag##f(x) == 0 && cimag##f(y) == 0)                                  \
      return make_##t(pow##f(0, creal##f(y)), 0);                                                  \
    return cpow##f(x, y);                                                                          \
  }                                                                                                \
  VM_BINARY(add_##t, T, T, x + y)                                                                  \
  VM_BINARY(sub_##t, T, T, x - y)                                                                  \
  VM_BINARY(mul_##t, T, T, x* y)                                                                   \
  VM_BINARY(div_##t, T, T, x / y)                                                                  \
  VM_BINARY(pow_##t, T, T, pow_of_##t(x, y))                                                       \
  VM_BINARY(atan2_##t, T, T,                                                                       \
            -make_##t(0, 1) * clog##f((y + make_##t(0, 1) * x) / csqrt##f(x * x + y * y)))         \
  VM_UNARY(abs_##t, T, R, cabs##f(x))                                                              \
  VM_UNARY(neg_##t, T, T, -x)                                                                      \
  VM_UNARY(real_##t, T, R, creal##f(x))                                                            \
  VM_UNARY(imag_##t, T, R, cimag##f(x))                                                            \
  VM_UNARY(exp_##t, T, T, cexp##f(x))                                                              \
  VM_UNARY(log_##t, T, T, clog##f(x))                                                              \
  VM_UNARY(sqrt_##t, T, T, csqrt##f(x))                                                            \
  VM_UNARY(rsqrt_##t, T, T, 1 / csqrt##f(x))                                                       \
  VM_UNARY(cbrt_##t, T, T, pow_of_##t(x, make_##t((R)(1.0 / 3.0), 0)))                             \
  VM_UNARY(tanh_##t, T, T, ctanh##f(x))                                                            \
  VM_UNARY(sin_##t, T, T, csin##f(x))                                                              \
  VM_UNARY(cos_##t, T, T, ccos##f(x))                                                              \
  VM_UNARY(tan_##t, T, T, ctan##f(x))                                                              \
  VM_UNARY(sign_##t, T, T, sign_of_##t(x))                                                         \
  VM_UNARY(expm1_##t, T, T, expm1_of_##t(x))                                                       \
  VM_UNARY(log1p_##t, T, T, log1p_of_##t(x))                                                       \
  VM_UNARY(logistic_##t, T, T, 1 / (1 + cexp##f(-x)))                                              \
  VM_BINARY(eq_##t, T, uint8_t, x == y)                                                            \
  VM_BINARY(ne_##t, T, uint8_t, x != y)                                                            \
  VM_BINARY(make_of_##t, R, T, make_##t(x, y))                                                     \
  VM_UNARY(from_real_##t, R, T, make_##t(x, 0))

COMPLEX_OPS(c64, c64_t, float, f)
COMPLEX_OPS(c128, c128_t, double, )
VM_UNARY(c64_to_c128, c64_t, c128_t, x)
VM_UNARY(c128_to_c64, c128_t, c64_t, x)
VM_UNARY(f64_to_c64, double, c64_t, make_c64((float)x, 0))
VM_UNARY(f32_to_c128, float, c128_t, make_c128(x, 0))
VM_UNARY(c64_to_f64, c64_t, double, crealf(x))
VM_UNARY(c128_to_f32, c128_t, float, creal(x))
VM_UNARY(c64_to_pred, c64_t, uint8_t, x != 0)
VM_UNARY(c128_to_pred, c128_t, uint8_t, x != 0)
VM_SELECT(select_c128, c128_t)

// --- accumulation, always in c128 ----------------------------------------------------------------------
#define ADD(a, x)      ((a) + (x))
#define MULTIPLY(a, x) ((a) * (x))
#define COMPLEX_REDUCE(name, T, start_value, take)                                                 \
  static void start_##name(void* acc, int64_t n) {                                                 \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((c128_t*)acc)[i] = start_value;                                                             \
  }                                                                                                \
  static void across_##name(void* acc, const void* x, int64_t rows, int64_t columns) {             \
    c128_t* out = acc;                                                                             \
    const T* p = x;                                                                                \
    for (int64_t row = 0; row < rows; row++)                                                       \
      for (int64_t i = 0; i < columns; i++)                                                        \
        out[row] = take(out[row], (c128_t)p[row * columns + i]);                                   \
  }                                                                                                \
  static void down_##name(void* acc, const void* x, int64_t rows, int64_t columns) {               \
    c128_t* out = acc;                                                                             \
    const T* p = x;                                                                                \
    for (int64_t row = 0; row < rows; row++)                                                       \
      for (int64_t i = 0; i < columns; i++)                                                        \
        out[i] = take(out[i], (c128_t)p[row * columns + i]);                                       \
  }                                                                                                \
  static void merge_##name(void* acc, const void* other, int64_t n) {                              \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((c128_t*)acc)[i] = take(((c128_t*)acc)[i], ((const c128_t*)other)[i]);                      \
  }                                                                                                \
  static void finish_##name(void* out, const void* acc, const void* init, int64_t n) {             \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((T*)out)[i] = (T)take((c128_t) * (const T*)init, ((const c128_t*)acc)[i]);                  \
  }
#define REDUCE_ROW(name)                                                                           \
  {start_##name, across_##name, down_##name, NULL, merge_##name, finish_##name, sizeof(c128_t)}
COMPLEX_REDUCE(add_c64, c64_t, 0, ADD)
COMPLEX_REDUCE(mul_c64, c64_t, 1, MULTIPLY)
COMPLEX_REDUCE(add_c128, c128_t, 0, ADD)
COMPLEX_REDUCE(mul_c128, c128_t, 1, MULTIPLY)

#define OP(op_id, id, function) .op[TPT_HLO_##op_id][TPT_##id] = function,
// clang-format off
#define ROWS(t, id, real)                                                                          \
  OP(ADD, id, add_##t) OP(SUBTRACT, id, sub_##t) OP(MULTIPLY, id, mul_##t)                         \
  OP(DIVIDE, id, div_##t) OP(POWER, id, pow_##t) OP(ATAN2, id, atan2_##t) OP(ABS, id, abs_##t)     \
  OP(NEGATE, id, neg_##t) OP(REAL, id, real_##t) OP(IMAG, id, imag_##t) OP(EXP, id, exp_##t)       \
  OP(LOG, id, log_##t) OP(SQRT, id, sqrt_##t) OP(RSQRT, id, rsqrt_##t) OP(CBRT, id, cbrt_##t)      \
  OP(TANH, id, tanh_##t) OP(SINE, id, sin_##t) OP(COSINE, id, cos_##t) OP(TAN, id, tan_##t)        \
  OP(SIGN, id, sign_##t) OP(EXPM1, id, expm1_##t) OP(LOG1P, id, log1p_##t)                         \
  OP(LOGISTIC, id, logistic_##t) OP(COMPLEX, real, make_of_##t)                                    \
  .compare[TPT_EQ][TPT_##id] = eq_##t, .compare[TPT_NE][TPT_##id] = ne_##t,                        \
  .convert[TPT_##id][TPT_##real] = real_##t, .convert[TPT_##real][TPT_##id] = from_real_##t,       \
  .convert[TPT_##id][TPT_PRED] = t##_to_pred,                                                      \
  .reduce[0][TPT_##id] = REDUCE_ROW(add_##t), .reduce[1][TPT_##id] = REDUCE_ROW(mul_##t),

const vtpu_vm_table_t vtpu_vm_table_complex = {
    ROWS(c64, C64, F32)
    ROWS(c128, C128, F64)
    OP(SELECT, C128, select_c128)
    .convert[TPT_C64][TPT_C128] = c64_to_c128,
    .convert[TPT_C128][TPT_C64] = c128_to_c64,
    .convert[TPT_F64][TPT_C64] = f64_to_c64,
    .convert[TPT_F32][TPT_C128] = f32_to_c128,
    .convert[TPT_C64][TPT_F64] = c64_to_f64,
    .convert[TPT_C128][TPT_F32] = c128_to_f32,
};
// clang-format on
