// Tests of element types and number conversion.
#include <ctype.h>

#include "tputorch/type.h"

#include "base/check.h"

static uint64_t stored(tpt_number_t number, tpt_dtype_t dtype) {
  unsigned char bytes[16] = {0};
  uint64_t word;
  tpt_number_store(&number, dtype, bytes);
  memcpy(&word, bytes, 8);
  return word;
}
static tpt_number_t f64(double x) {
  return (tpt_number_t){.dtype = TPT_F64, .f = x};
}
static tpt_number_t s64(int64_t x) {
  return (tpt_number_t){.dtype = TPT_S64, .i = x};
}

static void test_rows_match_table(void) {
#define DTYPE(id, pjrt, mlir_text, bytes, class, torch_number)                                     \
  {                                                                                                \
    const tpt_dtype_row_t* row = tpt_dtype_row(TPT_##id);                                          \
    for (size_t i = 0; i <= strlen(#id); i++)                                                      \
      CHECK(row->name[i] == (char)tolower(#id[i]));                                                \
    CHECK_STR(row->mlir, mlir_text);                                                               \
    CHECK_EQ(row->size, bytes);                                                                    \
    CHECK_EQ(row->kind, TPT_CLASS_##class);                                                        \
    CHECK_EQ(tpt_dtype_from_torch(torch_number), TPT_##id);                                        \
  }
#include "tputorch/dtype.def"
#undef DTYPE
  CHECK_EQ(tpt_dtype_size(TPT_DTYPE_INVALID), 0);
  CHECK_EQ(tpt_dtype_size((tpt_dtype_t)99), 0);
  CHECK_EQ(tpt_dtype_from_torch(-1), TPT_DTYPE_INVALID);
  CHECK_EQ(tpt_dtype_from_torch(12), TPT_DTYPE_INVALID);
  CHECK_EQ(tpt_dtype_real(TPT_C128), TPT_F64);
  CHECK_EQ(tpt_dtype_real(TPT_BF16), TPT_BF16);
}

static void test_type_print_is_mlir(void) {
  char text[64];
  tpt_type_t type = tpt_type_make(TPT_C64, 2, (int64_t[]){2, 0});
  CHECK_STR(tpt_type_print(&type, text, sizeof(text)), "tensor<2x0xcomplex<f32>>");
  CHECK_EQ(tpt_type_size(&type), 0);
  type = tpt_type_scalar(TPT_U8);
  CHECK_STR(tpt_type_print(&type, text, sizeof(text)), "tensor<ui8>");
  CHECK_STR(tpt_type_print(&type, text, 5), "tens");
}

static void test_f16_rounds_to_nearest_even(void) {
  CHECK_EQ(stored(f64(1.0), TPT_F16), 0x3C00);
  CHECK_EQ(stored(f64(-0.0), TPT_F16), 0x8000);
  CHECK_EQ(stored(f64(65504), TPT_F16), 0x7BFF);
  CHECK_EQ(stored(f64(65519.9), TPT_F16), 0x7BFF);
  CHECK_EQ(stored(f64(65520), TPT_F16), 0x7C00);
  CHECK_EQ(stored(f64(-1e10), TPT_F16), 0xFC00);
  CHECK_EQ(stored(f64(0x1p-24), TPT_F16), 1);
  CHECK_EQ(stored(f64(0x1p-25), TPT_F16), 0);    // tie to even
  CHECK_EQ(stored(f64(0x1.8p-24), TPT_F16), 2);  // tie to even
  CHECK_EQ(stored(f64(0x1.000002p-25), TPT_F16), 1);
  CHECK_EQ(stored(f64(0x1.ff8p-15), TPT_F16), 0x3FF);
  CHECK_EQ(stored(f64(0x1.ffcp-15), TPT_F16), 0x400);  // subnormal rounds up to normal
  CHECK_EQ(stored(f64(1 + 0x1p-11), TPT_F16), 0x3C00);
  CHECK_EQ(stored(f64(1 + 0x3p-11), TPT_F16), 0x3C02);
  CHECK_EQ(stored(f64(NAN), TPT_F16) & 0x7FFF, 0x7E00);
  CHECK_EQ(stored(f64(INFINITY), TPT_F16), 0x7C00);
}

static void test_f16_survives_a_round_trip(void) {
  for (uint32_t half = 0; half < 0x10000; half++) {
    uint16_t in = (uint16_t)half;
    tpt_number_t number = tpt_number_load(TPT_F16, &in);
    bool is_nan = (half & 0x7C00) == 0x7C00 && (half & 0x3FF);
    if (is_nan)
      CHECK(isnan(number.f));
    else
      CHECK_EQ(stored(number, TPT_F16), half);
    number = tpt_number_load(TPT_BF16, &in);
    if (!isnan(number.f)) CHECK_EQ(stored(number, TPT_BF16), half);
  }
}

static void test_bf16_rounds_to_nearest_even(void) {
  CHECK_EQ(stored(f64(1 + 0x1p-8), TPT_BF16), 0x3F80);
  CHECK_EQ(stored(f64(1 + 0x3p-8), TPT_BF16), 0x3F82);
  CHECK_EQ(stored(f64(3.4e38), TPT_BF16), 0x7F80);
  CHECK_EQ(stored(f64(-NAN), TPT_BF16), 0x7FC0);
  CHECK_EQ(stored(f64(0x1p-133), TPT_BF16), 1);
}

static void test_integers_wrap(void) {
  CHECK_EQ(stored(s64(300), TPT_U8), 44);
  CHECK_EQ(stored(s64(-1), TPT_U16), 0xFFFF);
  CHECK_EQ(stored(s64(-1), TPT_S32), 0xFFFFFFFF);
  CHECK_EQ(stored(s64(2), TPT_PRED), 1);
  CHECK_EQ(stored(f64(-1.9), TPT_S8), 0xFF);
  CHECK_EQ(stored(f64(NAN), TPT_S64), INT64_MIN);
  CHECK_EQ(stored(f64(1e30), TPT_S32), 0x80000000);
  CHECK_EQ(stored(f64(0x1p63), TPT_U64), INT64_MIN);
  CHECK_EQ(stored(f64(-2147483648.5), TPT_S32), 0x80000000);
  CHECK_EQ(stored(f64(NAN), TPT_PRED), 1);
  CHECK_EQ(stored(f64(-0.0), TPT_PRED), 0);
  CHECK_EQ(stored((tpt_number_t){.dtype = TPT_C64, .im = 1}, TPT_PRED), 1);
}

static void test_big_integers_round_once(void) {
  // 2^54 + 2^30 + 1 is just above a float tie; through double it would be the tie itself.
  float single;
  uint64_t bits = stored(s64((1LL << 54) + (1LL << 30) + 1), TPT_F32);
  memcpy(&single, &bits, 4);
  CHECK(single == 0x1.000002p54f);
  tpt_number_t big = {.dtype = TPT_U64, .i = -1};
  bits = stored(big, TPT_F32);
  memcpy(&single, &bits, 4);
  CHECK(single == 0x1p64f);
}

static void test_numbers_load_as_stored(void) {
  for (int d = 1; d < TPT_DTYPE_COUNT; d++) {
    unsigned char bytes[16] = {0};
    tpt_number_t in = s64(1);
    tpt_number_store(&in, (tpt_dtype_t)d, bytes);
    tpt_number_t out = tpt_number_load((tpt_dtype_t)d, bytes);
    CHECK_EQ(out.dtype, d);
    CHECK(out.i + out.f == 1);
  }
  int8_t minus = -5;
  CHECK_EQ(tpt_number_load(TPT_S8, &minus).i, -5);
  CHECK_EQ(tpt_number_load(TPT_U8, &minus).i, 251);
  double pair[2] = {1.5, -2.5};
  tpt_number_t number = tpt_number_load(TPT_C128, pair);
  CHECK(number.f == 1.5 && number.im == -2.5);
}

int main(void) {
  RUN(test_rows_match_table);
  RUN(test_type_print_is_mlir);
  RUN(test_f16_rounds_to_nearest_even);
  RUN(test_f16_survives_a_round_trip);
  RUN(test_bf16_rounds_to_nearest_even);
  RUN(test_integers_wrap);
  RUN(test_big_integers_round_once);
  RUN(test_numbers_load_as_stored);
  return TEST_RESULT;
}
