// Loops of the monoids, one set per op and element type, made by macros. The scalar step of each op
// is written once; the compiler vectorises the contiguous form.
#include "vtpu/monoid.h"

#include "vtpu/half.h"

// --- scalar steps
// -----------------------------------------------------------------------------------

#define STEP_ADD(a, b) ((a) + (b))
#define STEP_MUL(a, b) ((a) * (b))
#define STEP_AND(a, b) ((a) & (b))
#define STEP_OR(a, b)  ((a) | (b))
#define STEP_XOR(a, b) ((a) ^ (b))
#define STEP_MAX(a, b) ((a) > (b) ? (a) : (b))
#define STEP_MIN(a, b) ((a) < (b) ? (a) : (b))

// NaN wins from either side. Equal zeros are told apart by their sum, which is -0 only when both
// are. Everything is computed without branches, so that the loops vectorise.
#define FLOAT_EXTREMES(type)                                                                       \
  VTPU_INLINE type max_##type(type a, type b) {                                                    \
    type sum = a + b;                                                                              \
    type most = a > b ? a : b;                                                                     \
    most = ((a == 0) & (b == 0)) ? sum : most;                                                     \
    return a != a ? a : most;                                                                      \
  }                                                                                                \
  VTPU_INLINE type min_##type(type a, type b) {                                                    \
    type sum = -(-a - b);                                                                          \
    type least = a < b ? a : b;                                                                    \
    least = ((a == 0) & (b == 0)) ? sum : least;                                                   \
    return a != a ? a : least;                                                                     \
  }
FLOAT_EXTREMES(float)
FLOAT_EXTREMES(double)
#define STEP_MAX_F32(a, b) max_float((a), (b))
#define STEP_MIN_F32(a, b) min_float((a), (b))
#define STEP_MAX_F64(a, b) max_double((a), (b))
#define STEP_MIN_F64(a, b) min_double((a), (b))

// --- loops
// ------------------------------------------------------------------------------------------ LOAD
// and STORE convert between the stored type and the type that `step` works in.

#define SAME(x) (x)

#define MONOID(name, stored, type, load, store, step)                                              \
  VTPU_INLINE void name##_array_body(stored* acc, const stored* x, int64_t count) {                \
    for (int64_t i = 0; i < count; i++) {                                                          \
      type a = load(acc[i]), b = load(x[i]);                                                       \
      acc[i] = (stored)store((type)step(a, b));                                                    \
    }                                                                                              \
  }                                                                                                \
  VTPU_SIMD_FUNCTION(static, name##_array, (stored * acc, const stored* x, int64_t count),         \
                     (acc, x, count))                                                              \
  static void name##_combine(void* acc, const void* x, int64_t count) {                            \
    name##_array(acc, x, count);                                                                   \
  }                                                                                                \
  static void name##_combine_at(void* out, const int64_t* at, const void* in, int64_t count) {     \
    stored* acc = out;                                                                             \
    const stored* x = in;                                                                          \
    for (int64_t i = 0; i < count; i++) {                                                          \
      if (at[i] < 0) continue;                                                                     \
      type a = load(acc[at[i]]), b = load(x[i]);                                                   \
      acc[at[i]] = (stored)store((type)step(a, b));                                                \
    }                                                                                              \
  }                                                                                                \
  static void name##_scan(const void* first, const void* in, int64_t in_stride, void* to,          \
                          int64_t out_stride, int64_t count) {                                     \
    const stored* x = in;                                                                          \
    stored* out = to;                                                                              \
    type a = load(*(const stored*)first);                                                          \
    for (int64_t i = 0; i < count; i++) {                                                          \
      type b = load(x[i * in_stride]);                                                             \
      a = (type)step(a, b);                                                                        \
      out[i * out_stride] = (stored)store(a);                                                      \
    }                                                                                              \
  }

#define ARITHMETIC(name, stored, type, load, store, max, min)                                      \
  MONOID(name##_add, stored, type, load, store, STEP_ADD)                                          \
  MONOID(name##_mul, stored, type, load, store, STEP_MUL)                                          \
  MONOID(name##_max, stored, type, load, store, max)                                               \
  MONOID(name##_min, stored, type, load, store, min)

#define BITWISE(name, stored)                                                                      \
  MONOID(name##_and, stored, stored, SAME, SAME, STEP_AND)                                         \
  MONOID(name##_or, stored, stored, SAME, SAME, STEP_OR)                                           \
  MONOID(name##_xor, stored, stored, SAME, SAME, STEP_XOR)

// Sums and products of integers are those of the unsigned type of the same width (at least 32 bits
// wide, since C would widen narrower ones to int, whose overflow is undefined).
#define INTEGER(bits, wide)                                                                        \
  MONOID(w##bits##_add, uint##bits##_t, wide, SAME, SAME, STEP_ADD)                                \
  MONOID(w##bits##_mul, uint##bits##_t, wide, SAME, SAME, STEP_MUL)                                \
  MONOID(s##bits##_max, int##bits##_t, int##bits##_t, SAME, SAME, STEP_MAX)                        \
  MONOID(s##bits##_min, int##bits##_t, int##bits##_t, SAME, SAME, STEP_MIN)                        \
  MONOID(u##bits##_max, uint##bits##_t, uint##bits##_t, SAME, SAME, STEP_MAX)                      \
  MONOID(u##bits##_min, uint##bits##_t, uint##bits##_t, SAME, SAME, STEP_MIN)                      \
  BITWISE(w##bits, uint##bits##_t)

INTEGER(8, uint32_t)
INTEGER(16, uint32_t)
INTEGER(32, uint32_t)
INTEGER(64, uint64_t)
ARITHMETIC(f32, float, float, SAME, SAME, STEP_MAX_F32, STEP_MIN_F32)
ARITHMETIC(f64, double, double, SAME, SAME, STEP_MAX_F64, STEP_MIN_F64)
ARITHMETIC(bf16, uint16_t, float, vtpu_f32_from_bf16_one, vtpu_bf16_from_f32_one, STEP_MAX_F32,
           STEP_MIN_F32)
ARITHMETIC(f16, uint16_t, float, vtpu_f32_from_f16_one, vtpu_f16_from_f32_one, STEP_MAX_F32,
           STEP_MIN_F32)
typedef _Complex float c64_t;
typedef _Complex double c128_t;
MONOID(c64_add, c64_t, c64_t, SAME, SAME, STEP_ADD)
MONOID(c64_mul, c64_t, c64_t, SAME, SAME, STEP_MUL)
MONOID(c128_add, c128_t, c128_t, SAME, SAME, STEP_ADD)
MONOID(c128_mul, c128_t, c128_t, SAME, SAME, STEP_MUL)

// --- table
// ------------------------------------------------------------------------------------------

typedef enum slot { SLOT_ADD, SLOT_MUL, SLOT_MAX, SLOT_MIN, SLOT_AND, SLOT_OR, SLOT_XOR } slot_t;
enum { SLOT_COUNT = SLOT_XOR + 1 };

#define ROW(name) {name##_combine, name##_combine_at, name##_scan}
#define INTEGER_ROWS(sign, bits)                                                                   \
  {[SLOT_ADD] = ROW(w##bits##_add),    [SLOT_MUL] = ROW(w##bits##_mul),                            \
   [SLOT_MAX] = ROW(sign##bits##_max), [SLOT_MIN] = ROW(sign##bits##_min),                         \
   [SLOT_AND] = ROW(w##bits##_and),    [SLOT_OR] = ROW(w##bits##_or),                              \
   [SLOT_XOR] = ROW(w##bits##_xor)}
#define FLOAT_ROWS(name)                                                                           \
  {[SLOT_ADD] = ROW(name##_add),                                                                   \
   [SLOT_MUL] = ROW(name##_mul),                                                                   \
   [SLOT_MAX] = ROW(name##_max),                                                                   \
   [SLOT_MIN] = ROW(name##_min)}

static const vtpu_monoid_t monoids[TPT_DTYPE_COUNT][SLOT_COUNT] = {
    [TPT_PRED] = {[SLOT_ADD] = ROW(w8_or),
                  [SLOT_MUL] = ROW(w8_and),
                  [SLOT_MAX] = ROW(w8_or),
                  [SLOT_MIN] = ROW(w8_and),
                  [SLOT_AND] = ROW(w8_and),
                  [SLOT_OR] = ROW(w8_or),
                  [SLOT_XOR] = ROW(w8_xor)},
    [TPT_S8] = INTEGER_ROWS(s, 8),
    [TPT_S16] = INTEGER_ROWS(s, 16),
    [TPT_S32] = INTEGER_ROWS(s, 32),
    [TPT_S64] = INTEGER_ROWS(s, 64),
    [TPT_U8] = INTEGER_ROWS(u, 8),
    [TPT_U16] = INTEGER_ROWS(u, 16),
    [TPT_U32] = INTEGER_ROWS(u, 32),
    [TPT_U64] = INTEGER_ROWS(u, 64),
    [TPT_F16] = FLOAT_ROWS(f16),
    [TPT_BF16] = FLOAT_ROWS(bf16),
    [TPT_F32] = FLOAT_ROWS(f32),
    [TPT_F64] = FLOAT_ROWS(f64),
    [TPT_C64] = {[SLOT_ADD] = ROW(c64_add), [SLOT_MUL] = ROW(c64_mul)},
    [TPT_C128] = {[SLOT_ADD] = ROW(c128_add), [SLOT_MUL] = ROW(c128_mul)},
};

static const struct {
  tpt_hlo_t op;
  slot_t slot;
} slots[SLOT_COUNT] = {
    {TPT_HLO_ADD, SLOT_ADD},     {TPT_HLO_MULTIPLY, SLOT_MUL}, {TPT_HLO_MAXIMUM, SLOT_MAX},
    {TPT_HLO_MINIMUM, SLOT_MIN}, {TPT_HLO_AND, SLOT_AND},      {TPT_HLO_OR, SLOT_OR},
    {TPT_HLO_XOR, SLOT_XOR},
};

const vtpu_monoid_t* vtpu_monoid(tpt_hlo_t op, tpt_dtype_t dtype) {
  if ((unsigned)dtype >= TPT_DTYPE_COUNT) return NULL;
  for (int i = 0; i < SLOT_COUNT; i++) {
    if (slots[i].op != op) continue;
    const vtpu_monoid_t* monoid = &monoids[dtype][slots[i].slot];
    return monoid->combine ? monoid : NULL;
  }
  return NULL;
}
