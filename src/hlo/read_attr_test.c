// Tests of reading attributes: the old and new spellings, what is skipped, what is refused.
#include "base/check.h"
#include "hlo/reader.h"

static tpt_reader_t reader;
static tpt_read_op_t op;

// Reads a dictionary (given without its first brace) for an op.
static tpt_status_t read_attrs(tpt_hlo_t number, const char* text) {
  tpt_arena_deinit(&reader.temp);
  reader = (tpt_reader_t){.begin = text, .p = text, .end = text + strlen(text)};
  tpt_arena_init(&reader.temp);
  memset(&op, 0, sizeof(op));
  op.op = number;
  return tpt__read_attrs(&reader, &op);
}

static void check_ints(int slot, int count, const int64_t* expected) {
  CHECK(op.attrs[slot].is_set);
  CHECK_EQ(op.attrs[slot].count, count);
  for (int i = 0; i < count && i < (int)op.attrs[slot].count; i++)
    CHECK_EQ(op.attrs[slot].ints[i], expected[i]);
}

static void test_lists_have_several_spellings(void) {
  static const char* const texts[] = {
      "permutation = array<i64: 1, 0>}", "permutation = dense<[1, 0]> : tensor<2xi64>}",
      "permutation = [1, 0]}", "permutation = [1 : i64, 0 : i64]}",
      "permutation = dense<\"0x01000000000000000000000000000000\"> : tensor<2xi64>}"};
  for (int i = 0; i < 5; i++) {
    CHECK_OK(read_attrs(TPT_HLO_TRANSPOSE, texts[i]));
    check_ints(0, 2, (int64_t[]){1, 0});
  }
  CHECK_OK(read_attrs(TPT_HLO_TRANSPOSE, "permutation = array<i64>}"));
  check_ints(0, 0, NULL);
  CHECK_OK(read_attrs(TPT_HLO_TRANSPOSE, "permutation = dense<0> : tensor<3xi64>}"));
  check_ints(0, 3, (int64_t[]){0, 0, 0});
  CHECK_FAILS(read_attrs(TPT_HLO_TRANSPOSE, "permutation = dense<1.5> : tensor<1xf32>}"),
              TPT_INVALID_ARGUMENT, "expected integers");
  CHECK_FAILS(read_attrs(TPT_HLO_TRANSPOSE, "permutation = dense<1> : tensor<100000xi64>}"),
              TPT_INVALID_ARGUMENT, "too many numbers");
}

static void test_long_lists_grow(void) {
  CHECK_OK(read_attrs(TPT_HLO_TRANSPOSE,
                      "permutation = [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}"));
  CHECK_EQ(op.attrs[0].count, 18);
  CHECK_EQ(op.attrs[0].ints[17], 17);
}

static void test_kinds_read(void) {
  CHECK_OK(read_attrs(TPT_HLO_SORT, "dimension = -1 : i64, is_stable = true}"));
  CHECK_EQ(op.attrs[0].i, -1);
  CHECK_EQ(op.attrs[1].i, 1);
  CHECK_OK(
      read_attrs(TPT_HLO_COMPARE,
                 "compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = "
                 "#stablehlo<comparison_direction NE>}"));
  CHECK_EQ(op.attrs[0].i, TPT_NE);
  CHECK_EQ(op.attrs[1].i, TPT_COMPARE_TOTALORDER);
  CHECK_OK(
      read_attrs(TPT_HLO_REDUCE_WINDOW, "padding = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}"));
  check_ints(4, 4, (int64_t[]){1, 2, 3, 4});
  CHECK_OK(read_attrs(
      TPT_HLO_DOT_GENERAL,
      "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}"));
  check_ints(4, 2, (int64_t[]){TPT_PRECISION_HIGH, TPT_PRECISION_DEFAULT});
  CHECK_OK(
      read_attrs(TPT_HLO_CONVOLUTION, "window_reversal = dense<[true, false]> : tensor<2xi1>}"));
  check_ints(4, 2, (int64_t[]){1, 0});
  CHECK_OK(
      read_attrs(TPT_HLO_CUSTOM_CALL, "call_target_name = \"a\\22b\", backend_config = {x = 1}}"));
  CHECK_EQ(op.attrs[0].count, 3);
  CHECK(!op.attrs[2].is_set);
}

static void test_groups_fill_slots(void) {
  CHECK_OK(
      read_attrs(TPT_HLO_GATHER,
                 "dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [1], "
                 "index_vector_dim = 2>, slice_sizes = array<i64: 3>, tputorch.check = \"it\"}"));
  check_ints(0, 1, (int64_t[]){0});
  check_ints(4, 1, (int64_t[]){1});
  CHECK_EQ(op.attrs[5].i, 2);
  CHECK(op.attrs[8].is_set && memcmp(op.attrs[8].bytes, "it", 2) == 0);
  CHECK_OK(
      read_attrs(TPT_HLO_CONVOLUTION,
                 "dimension_numbers = #stablehlo.conv<[b, 1, f, 0]x[o, 0, 1, i]->[0, f, 1, b]>}"));
  check_ints(5, 4, (int64_t[]){0, 2, 3, 1});
  check_ints(6, 4, (int64_t[]){3, 0, 1, 2});
  check_ints(7, 4, (int64_t[]){3, 1, 0, 2});
  CHECK_FAILS(read_attrs(TPT_HLO_GATHER, "dimension_numbers = #stablehlo.gather<offsets = [0]>}"),
              TPT_INVALID_ARGUMENT, "unknown dimension number 'offsets'");
  CHECK_FAILS(read_attrs(TPT_HLO_CONVOLUTION,
                         "dimension_numbers = #stablehlo.conv<[b, 1, f]x[o, 0, i]->[0, f, b]>}"),
              TPT_INVALID_ARGUMENT, "dimension numbers need b, f");
  CHECK_FAILS(read_attrs(TPT_HLO_CONVOLUTION,
                         "dimension_numbers = #stablehlo.conv<[b, b, f]x[o, 0, i]->[0, f, b]>}"),
              TPT_INVALID_ARGUMENT, "twice");
}

static void test_unknown_attributes_are_skipped(void) {
  CHECK_OK(read_attrs(TPT_HLO_EXP,
                      "mhlo.sharding = \"{}}\", \"a b\" = {x = [1, {y}]}, unit, "
                      "result_accuracy = #stablehlo.result_accuracy<mode = DEFAULT>}"));
  CHECK(reader.p == reader.end);
  CHECK_OK(read_attrs(TPT_HLO_EXP, "}"));
  CHECK_FAILS(read_attrs(TPT_HLO_EXP, "a = "), TPT_INVALID_ARGUMENT, "no end");
  CHECK_FAILS(read_attrs(TPT_HLO_EXP, "= 1}"), TPT_INVALID_ARGUMENT, "name of an attribute");
  CHECK_FAILS(read_attrs(TPT_HLO_DOT_GENERAL, "algorithm = #stablehlo.dot_algorithm<a = f32>}"),
              TPT_UNIMPLEMENTED, "dot algorithms");
  CHECK_FAILS(
      read_attrs(TPT_HLO_COMPARE, "comparison_direction = #stablehlo<comparison_direction XX>}"),
      TPT_INVALID_ARGUMENT, "'XX' is no comparison_direction");
}

static void test_callee_is_kept(void) {
  CHECK_OK(read_attrs(TPT_HLO_COUNT, "callee = @f_0, other = @g}"));
  CHECK(tpt__text_is(op.callee, "f_0"));
}

int main(void) {
  tpt_arena_init(&reader.temp);
  RUN(test_lists_have_several_spellings);
  RUN(test_long_lists_grow);
  RUN(test_kinds_read);
  RUN(test_groups_fill_slots);
  RUN(test_unknown_attributes_are_skipped);
  RUN(test_callee_is_kept);
  tpt_arena_deinit(&reader.temp);
  return TEST_RESULT;
}
