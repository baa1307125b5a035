// Tests of reading types and dense data.
#include "base/check.h"
#include "hlo/reader.h"

static tpt_reader_t reader;
static tpt_type_t type;
static tpt_attr_t data;

static void open_text(const char* text) {
  tpt_arena_deinit(&reader.temp);
  reader = (tpt_reader_t){.begin = text, .p = text, .end = text + strlen(text)};
  tpt_arena_init(&reader.temp);
}
static tpt_status_t read_dense(const char* text) {
  open_text(text);
  return tpt__read_dense(&reader, &type, &data);
}

static void test_every_dtype_reads(void) {
  for (int i = 1; i < TPT_DTYPE_COUNT; i++) {
    char text[64];
    tpt_type_t in = tpt_type_make((tpt_dtype_t)i, 2, (int64_t[]){0, 12});
    open_text(tpt_type_print(&in, text, sizeof(text)));
    CHECK_OK(tpt__read_type(&reader, &type));
    CHECK(tpt_type_equal(&in, &type));
    CHECK(reader.p == reader.end);
  }
}

static void test_other_types_are_refused(void) {
  static const struct {
    const char* text;
    tpt_code_t code;
    const char* part;
  } cases[] = {
      {"tensor<4x?xf32>", TPT_UNIMPLEMENTED, "dynamic dimensions"},
      {"tensor<*xf32>", TPT_UNIMPLEMENTED, "element type"},
      {"tensor<4xi4>", TPT_UNIMPLEMENTED, "element type 'i4'"},
      {"tensor<4xcomplex<i32>>", TPT_UNIMPLEMENTED, "complex<i32>"},
      {"tensor<4xf32, #x>", TPT_UNIMPLEMENTED, "encodings"},
      {"tuple<tensor<f32>>", TPT_UNIMPLEMENTED, "only tensor types"},
      {"!stablehlo.token", TPT_UNIMPLEMENTED, "only tensor types"},
      {"tensor<4 f32>", TPT_INVALID_ARGUMENT, "followed by 'x'"},
      {"tensor<4xf32", TPT_INVALID_ARGUMENT, "where '>' was expected"},
      {"tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>", TPT_UNIMPLEMENTED, "more than 16"},
      {"tensor<9223372036854775807xf32>", TPT_INVALID_ARGUMENT, "63 bits"},
      {"tensor<", TPT_UNIMPLEMENTED, "element type"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    open_text(cases[i].text);
    CHECK_FAILS(tpt__read_type(&reader, &type), cases[i].code, cases[i].part);
  }
}

static void test_lists_of_types_grow(void) {
  tpt_type_t* types;
  uint32_t count;
  open_text("(tensor<1xf32>, tensor<2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<5xf32>, "
            "tensor<6xf32>, tensor<7xf32>, tensor<8xf32>, tensor<9xf32>)");
  CHECK_OK(tpt__read_types(&reader, true, &types, &count));
  CHECK_EQ(count, 9);
  for (uint32_t i = 0; i < count; i++)
    CHECK_EQ(types[i].dims[0], i + 1);
  open_text("()");
  CHECK_OK(tpt__read_types(&reader, true, &types, &count));
  CHECK_EQ(count, 0);
}

static float first_f32(void) {
  float value;
  memcpy(&value, data.bytes, sizeof(value));
  return value;
}

static void test_floats_read_exactly(void) {
  CHECK_OK(read_dense("dense<3.4028234663852886e+38> : tensor<f32>"));
  CHECK(first_f32() == 3.40282347e38f);
  CHECK_OK(read_dense("dense<-1.401298464324817e-45> : tensor<f32>"));
  CHECK(first_f32() == -0x1p-149f);
  CHECK_OK(read_dense("dense<1> : tensor<f32>"));
  CHECK(first_f32() == 1);
  CHECK_OK(read_dense("dense<0.333333333333333333333333333333> : tensor<f32>"));
  CHECK(first_f32() == 1.0f / 3);
  CHECK_OK(read_dense("dense<1.0E5> : tensor<f32>"));
  CHECK(first_f32() == 1e5f);
  CHECK_OK(read_dense("dense<2.2250738585072014e-308> : tensor<f64>"));
  double value;
  memcpy(&value, data.bytes, sizeof(value));
  CHECK(value == 2.2250738585072014e-308);
  CHECK_OK(read_dense("dense<0xFFC00001> : tensor<f32>"));
  CHECK(memcmp(data.bytes, "\x01\x00\xC0\xFF", 4) == 0);
  CHECK_OK(read_dense("dense<(0x7FC00000, -2.5)> : tensor<complex<f32>>"));
  CHECK(isnan(first_f32()));
}

static void test_lists_nest_as_the_type(void) {
  CHECK_OK(read_dense("dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>"));
  CHECK_EQ(data.count, 6);
  CHECK_EQ(((const int16_t*)data.bytes)[5], 6);
  CHECK_OK(read_dense("dense<[]> : tensor<0xf32>"));
  CHECK_OK(read_dense("dense<> : tensor<0x3xf32>"));
  CHECK_EQ(data.count, 0);
  CHECK_OK(read_dense("dense<[true, false, 1]> : tensor<3xi1>"));
  CHECK(memcmp(data.bytes, "\1\0\1", 3) == 0);
  CHECK_FAILS(read_dense("dense<[1, 2]> : tensor<2x1xi16>"), TPT_INVALID_ARGUMENT, "expected '['");
  CHECK_FAILS(read_dense("dense<[1, 2, 3]> : tensor<2xi16>"), TPT_INVALID_ARGUMENT, "expected ']'");
  CHECK_FAILS(read_dense("dense<[1]> : tensor<i16>"), TPT_INVALID_ARGUMENT, "0-d");
  CHECK_FAILS(read_dense("dense<[1]> : tensor<1000000000xi8>"), TPT_INVALID_ARGUMENT, "too few");
  CHECK_FAILS(read_dense("dense<> : tensor<3xf32>"), TPT_INVALID_ARGUMENT, "no data for 3");
  CHECK_FAILS(read_dense("dense<1, 2> : tensor<f32>"), TPT_INVALID_ARGUMENT, "expected '>'");
}

static void test_integers_must_fit(void) {
  CHECK_OK(read_dense("dense<[-128, 255, 0x7F]> : tensor<3xi8>"));
  CHECK(memcmp(data.bytes, "\x80\xFF\x7F", 3) == 0);
  CHECK_OK(read_dense("dense<18446744073709551615> : tensor<ui64>"));
  CHECK_OK(read_dense("dense<-9223372036854775808> : tensor<i64>"));
  CHECK_EQ(*(const int64_t*)data.bytes, INT64_MIN);
  CHECK_FAILS(read_dense("dense<-129> : tensor<i8>"), TPT_INVALID_ARGUMENT, "does not fit i8");
  CHECK_FAILS(read_dense("dense<256> : tensor<ui8>"), TPT_INVALID_ARGUMENT, "does not fit ui8");
  CHECK_FAILS(read_dense("dense<-1> : tensor<ui8>"), TPT_INVALID_ARGUMENT, "does not fit ui8");
  CHECK_FAILS(read_dense("dense<18446744073709551616> : tensor<i64>"), TPT_INVALID_ARGUMENT,
              "64 bits");
  CHECK_FAILS(read_dense("dense<0x1FFFF> : tensor<f16>"), TPT_INVALID_ARGUMENT, "do not fit f16");
  CHECK_FAILS(read_dense("dense<1.0e> : tensor<f32>"), TPT_INVALID_ARGUMENT, "no digits");
  CHECK_FAILS(read_dense("dense<abc> : tensor<f32>"), TPT_INVALID_ARGUMENT, "expected a number");
}

static void test_blobs_are_bytes(void) {
  CHECK_OK(read_dense("dense<\"0x0000803F00000040\"> : tensor<2xf32>"));
  CHECK_EQ(data.count, 2);
  CHECK(first_f32() == 1);
  CHECK_OK(read_dense("dense<\"0x0000803F\"> : tensor<5xf32>"));
  CHECK_EQ(data.count, 1);
  CHECK_OK(read_dense("dense<\"0x010001\"> : tensor<3xi1>"));
  CHECK(memcmp(data.bytes, "\1\0\1", 3) == 0);
  CHECK_OK(read_dense("dense<\"0x05\"> : tensor<3xi1>"));
  CHECK(memcmp(data.bytes, "\1\0\1", 3) == 0);
  CHECK_FAILS(read_dense("dense<\"0x0000\"> : tensor<2xf32>"), TPT_INVALID_ARGUMENT,
              "2 bytes of data");
  CHECK_FAILS(read_dense("dense<\"0x000\"> : tensor<2xf32>"), TPT_INVALID_ARGUMENT,
              "pairs of digits");
  CHECK_FAILS(read_dense("dense<\"0xZZ\"> : tensor<1xi8>"), TPT_INVALID_ARGUMENT,
              "other characters");
  CHECK_FAILS(read_dense("dense<\"0x0102\"> : tensor<3xi1>"), TPT_INVALID_ARGUMENT, "2 bytes");
}

int main(void) {
  tpt_arena_init(&reader.temp);
  RUN(test_every_dtype_reads);
  RUN(test_other_types_are_refused);
  RUN(test_lists_of_types_grow);
  RUN(test_floats_read_exactly);
  RUN(test_lists_nest_as_the_type);
  RUN(test_integers_must_fit);
  RUN(test_blobs_are_bytes);
  tpt_arena_deinit(&reader.temp);
  return TEST_RESULT;
}
