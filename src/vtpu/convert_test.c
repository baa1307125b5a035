// The 16-bit conversions against their definition: the nearest value of the grid, ties to even.
#include "base/check.h"
#include "vtpu/kernel.h"

static float f32_make(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

// Value of a finite or infinite 16-bit pattern by the textbook formula.
static double value_of(uint16_t h, int exponent_bits, int mantissa_bits) {
  int exponent = (h >> mantissa_bits) & ((1 << exponent_bits) - 1);
  int mantissa = h & ((1 << mantissa_bits) - 1);
  int bias = (1 << (exponent_bits - 1)) - 1;
  double sign = h & 0x8000 ? -1.0 : 1.0;
  if (exponent == 0) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
  // The pattern of infinity, read as a number, is where rounding to infinity begins to be nearer.
  return sign * ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

// True if `h` is the nearest-even rounding of x on a grid of such numbers.
static bool is_nearest(float x, uint16_t h, int exponent_bits, int mantissa_bits) {
  uint16_t magnitude = h & 0x7FFF;
  uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << mantissa_bits);
  if ((h >> 15) != (signbit(x) ? 1 : 0)) return false;
  if (magnitude > infinity) return isnan(x);
  if (isnan(x)) return false;
  double a = fabs((double)x), mine = value_of(magnitude, exponent_bits, mantissa_bits);
  if (isinf(a)) return magnitude == infinity;
  if (magnitude < infinity) {
    double up = value_of((uint16_t)(magnitude + 1), exponent_bits, mantissa_bits);
    double half = (mine + up) / 2;
    if (a > half || (a == half && (magnitude & 1))) return false;
  }
  if (magnitude > 0) {
    double down = value_of((uint16_t)(magnitude - 1), exponent_bits, mantissa_bits);
    double half = (mine + down) / 2;
    if (a < half || (a == half && (magnitude & 1))) return false;
  }
  return true;
}

enum { CHUNK = 16 };

static void test_narrowing_rounds_to_nearest_even(void) {
  static const uint32_t lows[CHUNK] = {0,      1,      0x0FFF, 0x1000, 0x1001, 0x1FFF,
                                       0x2000, 0x2FFF, 0x3000, 0x7FFF, 0x8000, 0x8001,
                                       0xEFFF, 0xF000, 0xF001, 0xFFFF};
  int bad_bf16 = 0, bad_f16 = 0, bad_round = 0;
  for (uint32_t high = 0; high < 65536; high++) {
    float in[CHUNK], rounded[CHUNK];
    uint16_t bf16[CHUNK], f16[CHUNK];
    for (int i = 0; i < CHUNK; i++)
      in[i] = f32_make(high << 16 | lows[i]);
    vtpu_bf16_from_f32(in, bf16, CHUNK);
    vtpu_f16_from_f32(in, f16, CHUNK);
    vtpu_round_to_bf16(in, rounded, CHUNK);
    for (int i = 0; i < CHUNK; i++) {
      bad_bf16 += !is_nearest(in[i], bf16[i], 8, 7);
      bad_f16 += !is_nearest(in[i], f16[i], 5, 10);
      bad_round += bits_of(rounded[i]) != (uint32_t)bf16[i] << 16;
    }
  }
  CHECK_EQ(bad_bf16, 0);
  CHECK_EQ(bad_f16, 0);
  CHECK_EQ(bad_round, 0);
}

static void test_widening_is_exact_for_every_pattern(void) {
  int bad = 0;
  for (uint32_t h = 0; h < 65536; h++) {
    uint16_t in = (uint16_t)h;
    float wide;
    vtpu_f32_from_bf16(&in, &wide, 1);
    bad += bits_of(wide) != h << 16;
    vtpu_f32_from_f16(&in, &wide, 1);
    if ((h & 0x7FFF) > 0x7C00) {
      bad += !isnan(wide) || (signbit(wide) != 0) != (h >> 15);
    } else if ((h & 0x7FFF) == 0x7C00) {
      bad += !isinf(wide) || (signbit(wide) != 0) != (h >> 15);
    } else {
      bad += bits_of(wide) != bits_of((float)value_of(in, 5, 10));
    }
  }
  CHECK_EQ(bad, 0);
}

static void test_every_pattern_survives_the_way_through_f32(void) {
  int bad = 0;
  for (uint32_t h = 0; h < 65536; h++) {
    uint16_t in = (uint16_t)h, back;
    float wide;
    vtpu_f32_from_bf16(&in, &wide, 1);
    vtpu_bf16_from_f32(&wide, &back, 1);
    bad += back != in;
    vtpu_f32_from_f16(&in, &wide, 1);
    vtpu_f16_from_f32(&wide, &back, 1);
    bad += back != in;
  }
  CHECK_EQ(bad, 0);
}

static void test_every_length_converts_every_element(void) {
  for (int count = 0; count < 70; count++) {
    float in[70], out[71];
    uint16_t half[71];
    for (int i = 0; i < 70; i++)
      in[i] = (float)i - 8.5f;
    half[count] = 0xABCD;
    vtpu_f16_from_f32(in, half, count);
    CHECK_EQ(half[count], 0xABCD);
    out[count] = -1.0f;
    vtpu_f32_from_f16(half, out, count);
    CHECK(out[count] == -1.0f);
    for (int i = 0; i < count; i++)
      CHECK(out[i] == in[i]);
  }
}

int main(void) {
  RUN(test_narrowing_rounds_to_nearest_even);
  RUN(test_widening_is_exact_for_every_pattern);
  RUN(test_every_pattern_survives_the_way_through_f32);
  RUN(test_every_length_converts_every_element);
  return TEST_RESULT;
}
