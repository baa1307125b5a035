// Tests of the vector machine: arithmetic gives the same bits on every level, f32 functions stay within
// their error over the whole range on each, integers wrap and never trap, special values behave.
#include <stdlib.h>

#include "base/check.h"
#include "hlo/builder.h"
#include "vtpu/simd.h"
#include "vtpu/vm.h"

enum { LANES = 1000 };

static float f32_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

// Distance in units of the last place of the reference, subnormals counted as steps of 2^-149.
static double ulps(float got, double want) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : 1e30;
  float rounded = (float)want;
  if (isinf(rounded) || isinf(got)) return rounded == got || fabs(want) > 3.40282e38 ? 0 : 1e30;
  int exponent;
  frexp(want, &exponent);
  double step = ldexp(1.0, exponent - 24 < -149 ? -149 : exponent - 24);
  return fabs((double)got - want) / step;
}

static double logistic(double x) {
  return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}
static double rsqrt(double x) {
  return 1 / sqrt(x);
}

static void sweep_of(vtpu_vm_fn_t fn, tpt_hlo_t op, double (*reference)(double), double most) {
  CHECK(fn != NULL);
  if (!fn) return;
  static float in[1 << 12], out[1 << 12];
  double worst = 0;
  float worst_at = 0;
  // A step prime to 2^32 visits all magnitudes and mantissas.
  uint32_t bits = 0;
  for (int round = 0; round < 512; round++) {
    for (int i = 0; i < 1 << 12; i++, bits += 2043u * 1021u)
      in[i] = f32_of(bits);
    fn(out, in, NULL, NULL, 1 << 12);
    for (int i = 0; i < 1 << 12; i++) {
      double error = ulps(out[i], reference((double)in[i]));
      if (!(error <= worst)) {
        worst = error;
        worst_at = in[i];
      }
    }
  }
  if (!(worst <= most)) {
    fprintf(stderr, "%s: %.2f ulp at %.9g\n", tpt_hlo_row(op)->mnemonic, worst, (double)worst_at);
    tpt_check_failures++;
  }
}

static const vtpu_vm_table_t* const levels[] = {&vtpu_vm_table_base, &vtpu_vm_table_avx2,
                                                &vtpu_vm_table_avx512};

// On every level of this CPU: fused multiply-add makes their bits differ, not their error.
static void sweep(tpt_hlo_t op, double (*reference)(double), double most) {
  if (!levels[0]->op[op][TPT_F32]) sweep_of(vtpu_vm_op(op, TPT_F32), op, reference, most);
  for (int level = 0; level <= vtpu_simd_level() && levels[0]->op[op][TPT_F32]; level++)
    sweep_of(levels[level]->op[op][TPT_F32], op, reference, most);
}

static void test_f32_functions_are_accurate(void) {
  sweep(TPT_HLO_EXP, exp, 1.5);
  sweep(TPT_HLO_LOG, log, 1.5);
  sweep(TPT_HLO_TANH, tanh, 2);
  sweep(TPT_HLO_LOGISTIC, logistic, 2.5);
  sweep(TPT_HLO_EXPM1, expm1, 2);
  sweep(TPT_HLO_LOG1P, log1p, 2);
  sweep(TPT_HLO_SINE, sin, 2);
  sweep(TPT_HLO_COSINE, cos, 2);
  sweep(TPT_HLO_TAN, tan, 1.5);
  sweep(TPT_HLO_SQRT, sqrt, 0.5);
  sweep(TPT_HLO_RSQRT, rsqrt, 1.5);
  sweep(TPT_HLO_CBRT, cbrt, 1.5);
}

// Dense samples of the interval where most arguments lie.
static void test_f32_functions_are_accurate_near_zero(void) {
  static const struct {
    tpt_hlo_t op;
    double (*reference)(double);
    double most;
  } cases[] = {{TPT_HLO_EXP, exp, 1.5},           {TPT_HLO_TANH, tanh, 2},
               {TPT_HLO_LOGISTIC, logistic, 2.5}, {TPT_HLO_EXPM1, expm1, 2},
               {TPT_HLO_LOG1P, log1p, 2},         {TPT_HLO_SINE, sin, 2},
               {TPT_HLO_COSINE, cos, 2},          {TPT_HLO_LOG, log, 1.5}};
  for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
    vtpu_vm_fn_t fn = vtpu_vm_op(cases[c].op, TPT_F32);
    static float in[4096], out[4096];
    double worst = 0, worst_at = 0;
    for (int round = 0; round < 64; round++) {
      for (int i = 0; i < 4096; i++)
        in[i] = (float)((round * 4096 + i) * (24.0 / (64 * 4096)) - 12.0);
      fn(out, in, NULL, NULL, 4096);
      for (int i = 0; i < 4096; i++) {
        double error = ulps(out[i], cases[c].reference((double)in[i]));
        if (!(error <= worst)) worst = error, worst_at = in[i];
      }
    }
    if (!(worst <= cases[c].most)) {
      fprintf(stderr, "%s: %.2f ulp at %.9g\n", tpt_hlo_row(cases[c].op)->mnemonic, worst,
              worst_at);
      tpt_check_failures++;
    }
  }
}

static void test_f32_specials_come_out_exactly(void) {
  float in[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f};
  float out[6];
  vtpu_vm_op(TPT_HLO_EXP, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(out[0] == 1 && out[1] == 1 && out[2] == INFINITY && out[3] == 0 && isnan(out[4]));
  vtpu_vm_op(TPT_HLO_LOG, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(out[0] == -INFINITY && out[1] == -INFINITY && out[2] == INFINITY && isnan(out[3]) &&
        isnan(out[4]) && out[5] == 0);
  vtpu_vm_op(TPT_HLO_TANH, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(out[0] == 0 && signbit(out[1]) && out[2] == 1 && out[3] == -1 && isnan(out[4]));
  vtpu_vm_op(TPT_HLO_EXPM1, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(signbit(out[1]) && out[2] == INFINITY && out[3] == -1 && isnan(out[4]));
  vtpu_vm_op(TPT_HLO_LOG1P, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(signbit(out[1]) && out[2] == INFINITY && isnan(out[3]) && isnan(out[4]));
  vtpu_vm_op(TPT_HLO_SINE, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(out[0] == 0 && signbit(out[1]) && isnan(out[2]) && isnan(out[3]) && isnan(out[4]));
  vtpu_vm_op(TPT_HLO_SIGN, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(out[0] == 0 && signbit(out[1]) && out[2] == 1 && out[3] == -1 && isnan(out[4]));
  vtpu_vm_op(TPT_HLO_RSQRT, TPT_F32)(out, in, NULL, NULL, 6);
  CHECK(out[0] == INFINITY && out[1] == -INFINITY && out[2] == 0 && isnan(out[3]));
  float half[] = {0.5f, 1.5f, -0.5f, -2.5f, 2.5f, 0.49999997f};
  vtpu_vm_op(TPT_HLO_ROUND_AFZ, TPT_F32)(out, half, NULL, NULL, 6);
  CHECK(out[0] == 1 && out[1] == 2 && out[2] == -1 && out[3] == -3 && out[4] == 3 && out[5] == 0);
  vtpu_vm_op(TPT_HLO_ROUND_EVEN, TPT_F32)(out, half, NULL, NULL, 6);
  CHECK(out[0] == 0 && out[1] == 2 && out[2] == 0 && signbit(out[2]) && out[3] == -2 &&
        out[4] == 2);
}

static void test_maximum_and_minimum_keep_nan_and_zero_signs(void) {
  float a[] = {NAN, 1, -0.0f, 0.0f, INFINITY, -1}, b[] = {1, NAN, 0.0f, -0.0f, NAN, -2}, out[6];
  vtpu_vm_op(TPT_HLO_MAXIMUM, TPT_F32)(out, a, b, NULL, 6);
  CHECK(isnan(out[0]) && isnan(out[1]) && !signbit(out[2]) && !signbit(out[3]) && isnan(out[4]) &&
        out[5] == -1);
  vtpu_vm_op(TPT_HLO_MINIMUM, TPT_F32)(out, a, b, NULL, 6);
  CHECK(isnan(out[0]) && isnan(out[1]) && signbit(out[2]) && signbit(out[3]) && isnan(out[4]) &&
        out[5] == -2);
  double c[] = {NAN, 1, -0.0, 0.0}, d[] = {1, NAN, 0.0, -0.0}, wide[4];
  vtpu_vm_op(TPT_HLO_MAXIMUM, TPT_F64)(wide, c, d, NULL, 4);
  CHECK(isnan(wide[0]) && isnan(wide[1]) && !signbit(wide[2]) && !signbit(wide[3]));
}

static void test_integer_division_never_traps(void) {
  int32_t a[] = {7, INT32_MIN, INT32_MIN, -7, 0}, b[] = {0, -1, 0, 2, 0}, out[5];
  vtpu_vm_op(TPT_HLO_DIVIDE, TPT_S32)(out, a, b, NULL, 5);
  CHECK(out[0] == -1 && out[1] == INT32_MIN && out[2] == -1 && out[3] == -3 && out[4] == -1);
  vtpu_vm_op(TPT_HLO_REMAINDER, TPT_S32)(out, a, b, NULL, 5);
  CHECK(out[0] == 7 && out[1] == 0 && out[2] == INT32_MIN && out[3] == -1 && out[4] == 0);
  int64_t c[] = {INT64_MIN, 5}, d[] = {-1, 0}, wide[2];
  vtpu_vm_op(TPT_HLO_DIVIDE, TPT_S64)(wide, c, d, NULL, 2);
  CHECK(wide[0] == INT64_MIN && wide[1] == -1);
  vtpu_vm_op(TPT_HLO_REMAINDER, TPT_S64)(wide, c, d, NULL, 2);
  CHECK(wide[0] == 0 && wide[1] == 5);
  uint8_t e[] = {200, 9}, f[] = {0, 4}, small[2];
  vtpu_vm_op(TPT_HLO_DIVIDE, TPT_U8)(small, e, f, NULL, 2);
  CHECK(small[0] == 255 && small[1] == 2);
  int8_t g[] = {-128, 100}, h[] = {-1, 3}, tiny[2];
  vtpu_vm_op(TPT_HLO_DIVIDE, TPT_S8)(tiny, g, h, NULL, 2);
  CHECK(tiny[0] == -128 && tiny[1] == 33);
}

static void test_integer_powers_and_shifts_wrap(void) {
  int32_t a[] = {3, -1, -1, 2, 0, 1, 7, 0}, b[] = {5, -3, -2, -1, -1, -9, 0, 0}, out[8];
  vtpu_vm_op(TPT_HLO_POWER, TPT_S32)(out, a, b, NULL, 8);
  CHECK(out[0] == 243 && out[1] == -1 && out[2] == 1 && out[3] == 0 && out[4] == 0 && out[5] == 1 &&
        out[6] == 1 && out[7] == 1);
  int32_t s[] = {1, -8, -8, 1, INT32_MAX}, by[] = {31, 1, 40, 32, -1};
  vtpu_vm_op(TPT_HLO_SHL, TPT_S32)(out, s, by, NULL, 5);
  CHECK(out[0] == INT32_MIN && out[1] == -16 && out[2] == 0 && out[3] == 0 && out[4] == 0);
  vtpu_vm_op(TPT_HLO_SHRA, TPT_S32)(out, s, by, NULL, 5);
  CHECK(out[0] == 0 && out[1] == -4 && out[2] == -1 && out[3] == 0 && out[4] == 0);
  vtpu_vm_op(TPT_HLO_SHRL, TPT_S32)(out, s, by, NULL, 5);
  CHECK(out[1] == 0x7FFFFFFC && out[2] == 0 && out[3] == 0);
  uint16_t m[] = {65535, 40000}, n[] = {65535, 40000}, product[2];
  vtpu_vm_op(TPT_HLO_MULTIPLY, TPT_U16)(product, m, n, NULL, 2);
  CHECK(product[0] == 1 && product[1] == (uint16_t)(40000u * 40000u));
  int32_t bits[] = {0, 1, -1, 0x00F0}, counted[4];
  vtpu_vm_op(TPT_HLO_POPCNT, TPT_S32)(counted, bits, NULL, NULL, 4);
  CHECK(counted[0] == 0 && counted[1] == 1 && counted[2] == 32 && counted[3] == 4);
  vtpu_vm_op(TPT_HLO_CLZ, TPT_S32)(counted, bits, NULL, NULL, 4);
  CHECK(counted[0] == 32 && counted[1] == 31 && counted[2] == 0 && counted[3] == 24);
  int32_t least[] = {INT32_MIN, -5}, up[2];
  vtpu_vm_op(TPT_HLO_ABS, TPT_S32)(up, least, NULL, NULL, 2);
  CHECK(up[0] == INT32_MIN && up[1] == 5);
}

static void test_floats_convert_saturating(void) {
  float in[] = {NAN, INFINITY, -INFINITY, 3e9f, -3e9f, -1.9f, 300.7f, 2147483520.0f};
  int32_t s32[8];
  vtpu_vm_convert(TPT_F32, TPT_S32)(s32, in, NULL, NULL, 8);
  CHECK(s32[0] == 0 && s32[1] == INT32_MAX && s32[2] == INT32_MIN && s32[3] == INT32_MAX &&
        s32[4] == INT32_MIN && s32[5] == -1 && s32[6] == 300 && s32[7] == 2147483520);
  int8_t s8[8];
  vtpu_vm_convert(TPT_F32, TPT_S8)(s8, in, NULL, NULL, 8);
  CHECK(s8[0] == 0 && s8[1] == 127 && s8[2] == -128 && s8[5] == -1 && s8[6] == 127);
  uint8_t u8[8];
  vtpu_vm_convert(TPT_F32, TPT_U8)(u8, in, NULL, NULL, 8);
  CHECK(u8[0] == 0 && u8[1] == 255 && u8[2] == 0 && u8[5] == 0 && u8[6] == 255);
  uint64_t u64[8];
  vtpu_vm_convert(TPT_F32, TPT_U64)(u64, in, NULL, NULL, 8);
  CHECK(u64[0] == 0 && u64[1] == UINT64_MAX && u64[2] == 0 && u64[3] == 3000000000u);
  uint8_t truth[8];
  vtpu_vm_convert(TPT_F32, TPT_PRED)(truth, in, NULL, NULL, 8);
  CHECK(truth[0] == 1 && truth[1] == 1 && truth[5] == 1);
  double wide[] = {9.3e18, -9.3e18, NAN, 1e300};
  int64_t s64[4];
  vtpu_vm_convert(TPT_F64, TPT_S64)(s64, wide, NULL, NULL, 4);
  CHECK(s64[0] == INT64_MAX && s64[1] == INT64_MIN && s64[2] == 0 && s64[3] == INT64_MAX);
}

static void test_total_order_places_zeros_and_nans(void) {
  float in[] = {-NAN, -INFINITY, -1, -0.0f, 0.0f, 1, INFINITY, NAN};
  int32_t keys[8];
  vtpu_vm_order_key(TPT_F32)(keys, in, NULL, NULL, 8);
  for (int i = 0; i + 1 < 8; i++)
    CHECK(keys[i] < keys[i + 1]);
}

static void test_reduce_precision_rounds_overflows_and_flushes(void) {
  int32_t bf16[2] = {8, 7}, f16[2] = {5, 10};
  float in[] = {1.00390625f, 1.01171875f, 70000.0f, 65504.0f, 1e-6f, NAN, -INFINITY}, out[7];
  vtpu_vm_reduce_precision(TPT_F32)(out, in, bf16, NULL, 7);
  CHECK(out[0] == 1.0f && out[1] == 1.015625f && isnan(out[5]) && out[6] == -INFINITY);
  vtpu_vm_reduce_precision(TPT_F32)(out, in, f16, NULL, 7);
  CHECK(out[2] == INFINITY && out[3] == 65504.0f && out[4] == 0 && isnan(out[5]));
}

// --- every op on every type against plain arithmetic ------------------------------------------------------

typedef struct int_type {
  tpt_dtype_t dtype;
  int bits;
  bool is_signed;
} int_type_t;

// The value that a type holds after wrapping.
static int64_t wrapped(__int128 x, const int_type_t* t) {
  unsigned __int128 mask = (((unsigned __int128)1) << t->bits) - 1;
  unsigned __int128 low = (unsigned __int128)x & mask;
  if (t->is_signed && (low >> (t->bits - 1))) return (int64_t)(low | ~mask);
  return (int64_t)low;
}

static bool int_reference(tpt_hlo_t op, __int128 x, __int128 y, const int_type_t* t,
                          __int128* out) {
  unsigned __int128 mask = (((unsigned __int128)1) << t->bits) - 1;
  unsigned __int128 ux = (unsigned __int128)x & mask, uy = (unsigned __int128)y & mask;
  bool large = uy >= (unsigned)t->bits;
  switch (op) {
  case TPT_HLO_ADD:
    *out = x + y;
    return true;
  case TPT_HLO_SUBTRACT:
    *out = x - y;
    return true;
  case TPT_HLO_MULTIPLY:
    *out = (__int128)(ux * uy);
    return true;
  case TPT_HLO_DIVIDE:
    *out = y == 0 ? -1 : x / y;
    return true;
  case TPT_HLO_REMAINDER:
    *out = y == 0 ? x : x % y;
    return true;
  case TPT_HLO_MAXIMUM:
    *out = x > y ? x : y;
    return true;
  case TPT_HLO_MINIMUM:
    *out = x < y ? x : y;
    return true;
  case TPT_HLO_AND:
    *out = x & y;
    return true;
  case TPT_HLO_OR:
    *out = x | y;
    return true;
  case TPT_HLO_XOR:
    *out = x ^ y;
    return true;
  case TPT_HLO_SHL:
    *out = large ? 0 : (__int128)(ux << (int)uy);
    return true;
  case TPT_HLO_SHRL:
    *out = large ? 0 : (__int128)(ux >> (int)uy);
    return true;
  case TPT_HLO_SHRA: {
    __int128 s = (ux >> (t->bits - 1)) ? (__int128)(ux | ~mask) : (__int128)ux;
    *out = s >> (large ? t->bits - 1 : (int)uy);
    return true;
  }
  case TPT_HLO_NEGATE:
    *out = -x;
    return true;
  case TPT_HLO_NOT:
    *out = ~x;
    return true;
  case TPT_HLO_ABS:
    *out = x < 0 ? -x : x;
    return true;
  case TPT_HLO_SIGN:
    *out = (x > 0) - (x < 0);
    return true;
  case TPT_HLO_POPCNT:
    *out = __builtin_popcountll((uint64_t)ux);
    return true;
  default:
    return false;
  }
}

static __int128 int_load(const int_type_t* t, const void* data, int i) {
  tpt_number_t number =
      tpt_number_load(t->dtype, (const char*)data + (size_t)i * tpt_dtype_size(t->dtype));
  return t->is_signed ? (__int128)number.i : (__int128)(uint64_t)number.i;
}

static void check_int_op(tpt_hlo_t op, const int_type_t* t) {
  static uint64_t a[LANES], b[LANES], out[LANES];
  vtpu_vm_fn_t fn = vtpu_vm_op(op, t->dtype);
  __int128 want;
  if (!int_reference(op, 1, 1, t, &want)) return;
  if (!fn) {
    fprintf(stderr, "no %s of %s\n", tpt_hlo_row(op)->mnemonic, tpt_dtype_row(t->dtype)->name);
    tpt_check_failures++;
    return;
  }
  uint64_t state = 99;
  for (int i = 0; i < LANES; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    a[i] = state ^ state >> 29;
    b[i] =
        i % 3 ? state * 31 ^ state >> 7 : (state >> 40 & 0x0703010501020300u);  // small shifts too
  }
  fn(out, a, b, NULL, LANES);
  for (int i = 0; i < LANES; i++) {
    (void)int_reference(op, int_load(t, a, i), int_load(t, b, i), t, &want);
    if ((int64_t)int_load(t, out, i) == wrapped(want, t)) continue;
    fprintf(stderr, "%s of %s: %lld, %lld gave %lld\n", tpt_hlo_row(op)->mnemonic,
            tpt_dtype_row(t->dtype)->name, (long long)int_load(t, a, i),
            (long long)int_load(t, b, i), (long long)int_load(t, out, i));
    tpt_check_failures++;
    return;
  }
}

static void check_int_compares(const int_type_t* t) {
  static uint64_t a[LANES], b[LANES];
  static uint8_t out[LANES];
  for (int i = 0; i < LANES; i++) {
    a[i] = (uint64_t)i * 0x9E3779B97F4A7C15u;
    b[i] = i % 4 ? a[i] * 7 : a[i];
  }
  for (int c = 0; c < 6; c++) {
    vtpu_vm_compare(c, t->dtype)(out, a, b, NULL, LANES);
    int bad = 0;
    for (int i = 0; i < LANES; i++) {
      __int128 x = int_load(t, a, i), y = int_load(t, b, i);
      bool want[6] = {x == y, x != y, x >= y, x > y, x <= y, x < y};
      bad += out[i] != want[c];
    }
    CHECK_EQ(bad, 0);
  }
}

static const int_type_t int_types[] = {
    {TPT_S8, 8, true},  {TPT_S16, 16, true},  {TPT_S32, 32, true},  {TPT_S64, 64, true},
    {TPT_U8, 8, false}, {TPT_U16, 16, false}, {TPT_U32, 32, false}, {TPT_U64, 64, false}};

static void test_integer_ops_of_all_widths(void) {
  for (size_t i = 0; i < sizeof(int_types) / sizeof(*int_types); i++) {
    for (int op = 0; op < TPT_HLO_COUNT; op++)
      check_int_op((tpt_hlo_t)op, &int_types[i]);
    check_int_compares(&int_types[i]);
  }
}

static void test_integer_conversions_of_all_widths(void) {
  static uint64_t a[LANES], out[LANES];
  for (int i = 0; i < LANES; i++)
    a[i] = (uint64_t)i * 0xD1342543DE82EF95u;
  for (size_t f = 0; f < 8; f++)
    for (size_t t = 0; t < 8; t++) {
      if (f == t) continue;
      vtpu_vm_convert(int_types[f].dtype, int_types[t].dtype)(out, a, NULL, NULL, LANES);
      int bad = 0;
      for (int i = 0; i < LANES; i++)
        bad += (int64_t)int_load(&int_types[t], out, i) !=
               wrapped(int_load(&int_types[f], a, i), &int_types[t]);
      if (bad)
        fprintf(stderr, "%s to %s\n", tpt_dtype_row(int_types[f].dtype)->name,
                tpt_dtype_row(int_types[t].dtype)->name);
      CHECK_EQ(bad, 0);
    }
  for (size_t f = 0; f < 8; f++) {
    static float narrow[LANES];
    static double wide[LANES];
    vtpu_vm_convert(int_types[f].dtype, TPT_F32)(narrow, a, NULL, NULL, LANES);
    vtpu_vm_convert(int_types[f].dtype, TPT_F64)(wide, a, NULL, NULL, LANES);
    for (int i = 0; i < LANES; i++) {
      __int128 x = int_load(&int_types[f], a, i);
      if (narrow[i] == (float)x && wide[i] == (double)x) continue;
      CHECK(!"integer to float");
      break;
    }
  }
}

typedef struct float_case {
  tpt_hlo_t op;
  double (*reference)(double, double);
} float_case_t;
static double r_add(double x, double y) {
  return x + y;
}
static double r_sub(double x, double y) {
  return x - y;
}
static double r_mul(double x, double y) {
  return x * y;
}
static double r_div(double x, double y) {
  return x / y;
}
static double r_abs(double x, double y) {
  return (void)y, fabs(x);
}
static double r_neg(double x, double y) {
  return (void)y, -x;
}
static double r_floor(double x, double y) {
  return (void)y, floor(x);
}
static double r_ceil(double x, double y) {
  return (void)y, ceil(x);
}
static double r_even(double x, double y) {
  return (void)y, rint(x);
}
static double r_afz(double x, double y) {
  return (void)y, round(x);
}
static double r_sqrt(double x, double y) {
  return (void)y, sqrt(x);
}
static double r_max(double x, double y) {
  return x > y ? x : y;
}
static double r_min(double x, double y) {
  return x < y ? x : y;
}

static void test_float_ops_round_once(void) {
  static const float_case_t cases[] = {
      {TPT_HLO_ADD, r_add},       {TPT_HLO_SUBTRACT, r_sub}, {TPT_HLO_MULTIPLY, r_mul},
      {TPT_HLO_DIVIDE, r_div},    {TPT_HLO_ABS, r_abs},      {TPT_HLO_NEGATE, r_neg},
      {TPT_HLO_FLOOR, r_floor},   {TPT_HLO_CEIL, r_ceil},    {TPT_HLO_ROUND_EVEN, r_even},
      {TPT_HLO_ROUND_AFZ, r_afz}, {TPT_HLO_MAXIMUM, r_max},  {TPT_HLO_MINIMUM, r_min},
      {TPT_HLO_REMAINDER, fmod},  {TPT_HLO_POWER, pow},      {TPT_HLO_ATAN2, atan2},
      {TPT_HLO_SQRT, r_sqrt}};
  static float a[LANES], b[LANES], out[LANES];
  static double wa[LANES], wb[LANES], wide[LANES];
  for (int i = 0; i < LANES; i++) {
    a[i] = (float)((i * 7919 % 2003) * 0.013 - 12.5);
    b[i] = (float)((i * 104729 % 1999) * 0.0071 - 6.9);
    wa[i] = a[i] * 1.1;
    wb[i] = b[i] / 3.3;
  }
  for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
    vtpu_vm_op(cases[c].op, TPT_F32)(out, a, b, NULL, LANES);
    vtpu_vm_op(cases[c].op, TPT_F64)(wide, wa, wb, NULL, LANES);
    bool exact = cases[c].op != TPT_HLO_POWER && cases[c].op != TPT_HLO_ATAN2;
    for (int i = 0; i < LANES; i++) {
      double want = cases[c].reference(a[i], b[i]), wanted = cases[c].reference(wa[i], wb[i]);
      bool same = (isnan(want) && isnan(out[i])) || ulps(out[i], want) <= (exact ? 0.5 : 1.5);
      bool same_wide = (isnan(wanted) && isnan(wide[i])) || wide[i] == wanted;
      if (same && same_wide) continue;
      fprintf(stderr, "%s of %g, %g: %.9g\n", tpt_hlo_row(cases[c].op)->mnemonic, (double)a[i],
              (double)b[i], (double)out[i]);
      tpt_check_failures++;
      break;
    }
  }
}

static void test_chains_round_twice(void) {
  static float a[LANES], b[LANES], c[LANES], out[LANES];
  for (int i = 0; i < LANES; i++) {
    a[i] = 1.0f + (float)i * 0x1p-20f;
    b[i] = 1.0f + (float)(i * 7) * 0x1p-21f;
    c[i] = -(a[i] * b[i]);
  }
  vtpu_vm_chain(VTPU_CHAIN_MUL_ADD, TPT_F32)(out, a, b, c, LANES);
  for (int i = 0; i < LANES; i++)
    CHECK(out[i] == 0);  // a fused one would leave the rounding error
  vtpu_vm_chain(VTPU_CHAIN_MUL_SUB, TPT_F32)(out, a, b, c, LANES);
  CHECK(out[5] == a[5] * b[5] - c[5]);
  vtpu_vm_chain(VTPU_CHAIN_SUB_MUL, TPT_F32)(out, a, b, c, LANES);
  CHECK(out[5] == c[5] - a[5] * b[5]);
}

// Every function of the table, on every level this CPU has, gives the base level's bits.
static void same_bits(vtpu_vm_fn_t a, vtpu_vm_fn_t b, const char* what) {
  static uint64_t x[2 * LANES], y[2 * LANES], z[2 * LANES], got[2 * LANES], want[2 * LANES];
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 2 * LANES; i++) {
    uint64_t* lists[] = {x, y, z};
    for (int k = 0; k < 3; k++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      lists[k][i] = state;
    }
  }
  for (int i = 0; i < LANES; i++)  // predicates are 0 or 1
    ((uint8_t*)x)[i] = (uint8_t)(x[i] & 1);
  memset(got, 0, sizeof(got));
  memset(want, 0, sizeof(want));
  a(got, x, y, z, LANES - 3);
  b(want, x, y, z, LANES - 3);
  if (memcmp(got, want, sizeof(got)) != 0) {
    // NaNs may differ in sign and payload.
    bool differ = false;
    for (int i = 0; i < 2 * LANES; i++) {
      float f[2], g[2];
      double d, e;
      memcpy(f, &got[i], 8), memcpy(g, &want[i], 8);
      memcpy(&d, &got[i], 8), memcpy(&e, &want[i], 8);
      bool floats = (f[0] == g[0] || (isnan(f[0]) && isnan(g[0]))) &&
                    (f[1] == g[1] || (isnan(f[1]) && isnan(g[1])));
      differ |= got[i] != want[i] && !floats && !(isnan(d) && isnan(e));
    }
    if (!differ) return;
    fprintf(stderr, "%s differs between vector levels\n", what);
    tpt_check_failures++;
  }
}

static bool uses_fma(tpt_hlo_t op) {
  return op == TPT_HLO_EXP || op == TPT_HLO_EXPM1 || op == TPT_HLO_LOG || op == TPT_HLO_LOG1P ||
         op == TPT_HLO_TANH || op == TPT_HLO_LOGISTIC || op == TPT_HLO_SINE || op == TPT_HLO_COSINE;
}

static void test_levels_agree(void) {
  for (int level = VTPU_SIMD_AVX2; level <= vtpu_simd_level(); level++)
    for (int type = 1; type < TPT_DTYPE_COUNT; type++) {
      const vtpu_vm_table_t *t = levels[level], *base = &vtpu_vm_table_base;
      for (int op = 0; op < TPT_HLO_COUNT; op++)
        if (t->op[op][type] && !(type == TPT_F32 && uses_fma((tpt_hlo_t)op)))
          same_bits(t->op[op][type], base->op[op][type], tpt_hlo_row((tpt_hlo_t)op)->mnemonic);
      for (int c = 0; c < 6; c++)
        if (t->compare[c][type]) same_bits(t->compare[c][type], base->compare[c][type], "compare");
      for (int c = 0; c < VTPU_CHAIN_COUNT; c++)
        if (t->chain[c][type]) same_bits(t->chain[c][type], base->chain[c][type], "chain");
      for (int to = 1; to < TPT_DTYPE_COUNT; to++)
        if (t->convert[type][to])
          same_bits(t->convert[type][to], base->convert[type][to], "convert");
    }
}

// f32 of any magnitude, every seventh special.
static void floats_fill(float* x, uint32_t seed) {
  static const float specials[] = {0.0f,   -0.0f,     1.0f,      INFINITY, -INFINITY,
                                   1e-40f, -0x1p-76f, 0x1p-126f, 3e38f,    NAN};
  for (int i = 0; i < LANES; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = f32_of(seed);
    if (i % 3 == 1) x[i] = (float)(int32_t)seed * 0x1p-28f;
    if (i % 7 == 0) x[i] = specials[seed >> 16 & 7 ? seed >> 20 & 7 : 8 + (seed >> 20 & 1)];
  }
}

static void check_equal(const float* got, const float* want, int n, const char* what) {
  for (int i = 0; i < n; i++) {
    if (isnan(want[i]) ? isnan(got[i]) : memcmp(&got[i], &want[i], 4) == 0) continue;
    fprintf(stderr, "%s [%d]: %a, not %a\n", what, i, (double)got[i], (double)want[i]);
    tpt_check_failures++;
    return;
  }
}

// One element for all lanes gives what a copy of it in each lane gives.
static void test_spread_operands_give_the_same_bits(void) {
  static const tpt_hlo_t ops[VTPU_SPREAD_COUNT] = {TPT_HLO_ADD,      TPT_HLO_SUBTRACT,
                                                   TPT_HLO_MULTIPLY, TPT_HLO_DIVIDE,
                                                   TPT_HLO_MAXIMUM,  TPT_HLO_MINIMUM};
  static float x[LANES], y[LANES], z[LANES], all_y[LANES], all_z[LANES], got[LANES], want[LANES];
  const int n = LANES - 3;
  for (uint32_t round = 0; round < 400; round++) {
    floats_fill(x, round * 7919 + 1);
    floats_fill(y, round * 104729 + 5);
    floats_fill(z, round * 611953 + 9);
    for (int i = 0; i < LANES; i++) {
      all_y[i] = y[round];
      all_z[i] = z[round];
    }
    for (int i = 0; i < VTPU_SPREAD_COUNT; i++) {
      vtpu_vm_fn_t plain = vtpu_vm_op(ops[i], TPT_F32);
      plain(want, x, all_y, NULL, n);
      vtpu_vm_spread(ops[i], TPT_F32, VTPU_OPERAND_B)(got, x, all_y, NULL, n);
      check_equal(got, want, n, tpt_hlo_row(ops[i])->mnemonic);
      plain(want, all_y, x, NULL, n);
      vtpu_vm_spread(ops[i], TPT_F32, VTPU_OPERAND_A)(got, all_y, x, NULL, n);
      check_equal(got, want, n, tpt_hlo_row(ops[i])->mnemonic);
    }
    for (int chain = 0; chain < VTPU_CHAIN_COUNT; chain++)
      for (int bits = VTPU_OPERAND_B; bits <= 6; bits += 2) {
        const float* b = bits & VTPU_OPERAND_B ? all_y : y;
        const float* c = bits & VTPU_OPERAND_C ? all_z : z;
        vtpu_vm_chain((vtpu_chain_t)chain, TPT_F32)(want, x, b, c, n);
        vtpu_vm_chain_spread((vtpu_chain_t)chain, TPT_F32, bits)(got, x, b, c, n);
        check_equal(got, want, n, "chain");
      }
    vtpu_vm_op(TPT_HLO_SUBTRACT, TPT_F32)(want, x, all_y, NULL, n);
    vtpu_vm_op(TPT_HLO_EXP, TPT_F32)(want, want, NULL, NULL, n);
    vtpu_vm_exp_less()(got, x, all_y, NULL, n);
    check_equal(got, want, n, "exp of a difference");
  }
  CHECK(!vtpu_vm_spread(TPT_HLO_ADD, TPT_F64, VTPU_OPERAND_B));
  CHECK(!vtpu_vm_spread(TPT_HLO_POWER, TPT_F32, VTPU_OPERAND_B));
  CHECK(!vtpu_vm_chain_spread(VTPU_CHAIN_MUL_ADD, TPT_F32, VTPU_OPERAND_A));
}

// Masks of attention are full of -infinity, and what underflows is as exact as the rest.
static void test_exp_of_what_vanishes(void) {
  static const float in[10] = {-INFINITY, -1e30f, -104, -103.98f, -103.96f, -100, -88, -87, NAN, 0};
  float out[10];
  for (int level = 0; level <= vtpu_simd_level(); level++) {
    levels[level]->op[TPT_HLO_EXP][TPT_F32](out, in, NULL, NULL, 10);
    for (int i = 0; i < 8; i++) {
      double want = exp((double)in[i]);
      CHECK(fabs((double)out[i] - want) <= ldexp(1, -149) + 2e-7 * want);
    }
    CHECK(out[0] == 0 && !signbit(out[0]) && out[3] == 0 && out[4] > 0);
    CHECK(isnan(out[8]) && out[9] == 1);
  }
}

static void test_sums_of_many_floats_are_accurate(void) {
  const vtpu_vm_reduce_t* sum = vtpu_vm_reduce(TPT_HLO_ADD, TPT_F32);
  static float x[64 * LANES];
  double want[LANES] = {0}, total = 0;
  for (int i = 0; i < 64 * LANES; i++) {
    x[i] = (float)((i * 7919 % 1000) * 0.001 + 1);
    want[i % LANES] += x[i];
    total += x[i];
  }
  static char acc[LANES * 16];
  static float out[LANES];
  float init = 0.5f;
  sum->start(acc, LANES);
  for (int repeat = 0; repeat < 100; repeat++) {
    sum->down(acc, x, 64, LANES);
    sum->settle(acc, LANES);
  }
  sum->finish(out, acc, &init, LANES);
  for (int i = 0; i < LANES; i++)
    CHECK_NEAR(out[i], 100 * want[i] + 0.5, 1e-6 * 100 * want[i]);
  sum->start(acc, 1);
  for (int repeat = 0; repeat < 100; repeat++)
    for (int row = 0; row < 64; row++)
      sum->across(acc, x + row * LANES, 1, LANES);
  sum->finish(out, acc, &init, 1);
  CHECK_NEAR(out[0], 100 * total + 0.5, 1);
}

static void test_f32_powers_are_accurate(void) {
  vtpu_vm_fn_t fn = vtpu_vm_op(TPT_HLO_POWER, TPT_F32);
  static float x[4096], y[4096], out[4096];
  double worst = 0;
  uint32_t a = 1, b = 7;
  for (int round = 0; round < 300; round++) {
    for (int i = 0; i < 4096; i++, a += 2043u * 1021u, b += 40503u * 65537u) {
      x[i] = f32_of(a);
      // Exponents of any size, those that give finite results, and whole ones.
      y[i] = f32_of(b);
      if (round % 3 == 1)
        y[i] = (float)((double)(int32_t)b * 0x1p-25 / (1 + fabs(log2(fabs((double)x[i])))));
      if (round % 3 == 2) y[i] = (float)((int32_t)b >> 28);
    }
    fn(out, x, y, NULL, 4096);
    for (int i = 0; i < 4096; i++)
      worst = fmax(worst, ulps(out[i], pow(x[i], y[i])));
  }
  CHECK(worst <= 1);
  if (worst > 1) fprintf(stderr, "power: %.2f ulp\n", worst);
}

static void test_f32_powers_of_specials(void) {
  static const float values[] = {0.0f,   -0.0f,       1,        -1,        2,     -2,
                                 0.5f,   -0.5f,       3,        -3,        1e30f, -1e30f,
                                 1e-40f, 16777217.0f, INFINITY, -INFINITY, NAN};
  enum { COUNT = sizeof(values) / sizeof(*values) };
  vtpu_vm_fn_t fn = vtpu_vm_op(TPT_HLO_POWER, TPT_F32);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++) {
      float got, want = powf(values[i], values[k]);
      fn(&got, &values[i], &values[k], NULL, 1);
      if (isnan(want))
        CHECK(isnan(got));
      else
        CHECK(ulps(got, want) <= 1 && !signbit(got) == !signbit(want));
    }
}

// Rows of every length around the vector width, with specials anywhere in them.
static void test_extremes_of_rows_keep_nan_and_zero_signs(void) {
  static const float specials[] = {NAN, -NAN, -0.0f, 0.0f, INFINITY, -INFINITY, -1, 2};
  enum { LONGEST = 70 };
  for (int op = 0; op < 2; op++) {
    const vtpu_vm_reduce_t* fns = vtpu_vm_reduce(op ? TPT_HLO_MINIMUM : TPT_HLO_MAXIMUM, TPT_F32);
    for (int n = 1; n <= LONGEST; n++)
      for (int place = 0; place < n; place += 1 + n / 7)
        for (int special = 0; special < 8; special++)
          for (int base = 0; base < 3; base++) {  // all -0, all negative, mixed
            float x[LONGEST], got, init = op ? INFINITY : -INFINITY;
            float want = init;
            bool has_nan = false;
            for (int i = 0; i < n; i++)
              x[i] = base == 0 ? -0.0f : (base == 1 ? -3.0f - (float)i : (float)(i % 5 - 2));
            x[place] = specials[special];
            for (int i = 0; i < n; i++) {
              bool above = x[i] > want || (x[i] == want && signbit(want) && !signbit(x[i]));
              bool below = x[i] < want || (x[i] == want && !signbit(want) && signbit(x[i]));
              has_nan |= isnan(x[i]);
              if (op ? below : above) want = x[i];
            }
            char acc[64];
            fns->start(acc, 1);
            fns->across(acc, x, 1, n);
            fns->finish(&got, acc, &init, 1);
            if (has_nan)
              CHECK(isnan(got));
            else
              CHECK(got == want && !signbit(got) == !signbit(want));
          }
  }
}

int main(void) {
  RUN(test_f32_functions_are_accurate);
  RUN(test_f32_functions_are_accurate_near_zero);
  RUN(test_f32_specials_come_out_exactly);
  RUN(test_maximum_and_minimum_keep_nan_and_zero_signs);
  RUN(test_integer_division_never_traps);
  RUN(test_integer_powers_and_shifts_wrap);
  RUN(test_floats_convert_saturating);
  RUN(test_total_order_places_zeros_and_nans);
  RUN(test_reduce_precision_rounds_overflows_and_flushes);
  RUN(test_integer_ops_of_all_widths);
  RUN(test_integer_conversions_of_all_widths);
  RUN(test_float_ops_round_once);
  RUN(test_chains_round_twice);
  RUN(test_levels_agree);
  RUN(test_exp_of_what_vanishes);
  RUN(test_spread_operands_give_the_same_bits);
  RUN(test_sums_of_many_floats_are_accurate);
  RUN(test_f32_powers_are_accurate);
  RUN(test_f32_powers_of_specials);
  RUN(test_extremes_of_rows_keep_nan_and_zero_signs);
  return TEST_RESULT;
}
