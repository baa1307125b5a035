// Tests of the key: what must tell calls apart and what must not.
#include "eager/entry.h"
#include "eager/test_device.h"

static uint64_t words[64];
static size_t word_count;

// Keeps the key of a call of `name` on `args`.
static void keep(const char* name, const tpt_arg_t* args, int count) {
  tpt_device_t* device = tpt_device_peek(0);
  tpt_call_t call = {
      .op = tpt_op_find(name), .args = args, .arg_count = count, .default_dtype = TPT_F32};
  uint64_t hash;
  CHECK_OK(tpt_key_build(device, &call, &hash));
  word_count = device->frame.word_count;
  memcpy(words, device->frame.words, word_count * sizeof(*words));
}

static bool is_kept(const char* name, const tpt_arg_t* args, int count) {
  uint64_t before[64];
  size_t before_count = word_count;
  memcpy(before, words, sizeof(before));
  keep(name, args, count);
  bool is_same =
      before_count == word_count && memcmp(before, words, word_count * sizeof(*words)) == 0;
  memcpy(words, before, sizeof(before));
  word_count = before_count;
  return is_same;
}

static void test_numbers_and_offsets_stay_out(void) {
  test_tensor_t x = test_f32(8, (float[8]){0}), a = x, b = x;
  a.sizes[0] = b.sizes[0] = 2;
  tpt_arg_t args[3] = {test_arg(test_ref(&a)), test_arg(test_ref(&b)), test_scalar(1)};
  keep("add.Tensor", args, 3);
  a.t.offset = 3;
  args[2] = test_scalar(7);
  CHECK(is_kept("add.Tensor", args, 3));
  args[2] = test_int_scalar(1);  // another kind of number
  CHECK(!is_kept("add.Tensor", args, 3));
  test_release(&x);
}

static void test_what_a_row_takes_at_run_time_stays_out(void) {
  test_tensor_t x = test_f32(8, (float[8]){0});
  int64_t shift = 1, dim = 0;
  tpt_arg_t args[3] = {test_arg(test_ref(&x))};
  args[1] = args[2] = (tpt_arg_t){.kind = TPT_ARG_INTS, .count = 1, .ints = &shift};
  args[2].ints = &dim;
  keep("roll", args, 3);
  shift = 5;
  CHECK(is_kept("roll", args, 3));
  dim = -1;
  CHECK(!is_kept("roll", args, 3));
  args[1] = test_scalar(2.5);
  keep("pow.Tensor_Scalar", args, 2);
  args[1] = test_scalar(3.5);
  CHECK(is_kept("pow.Tensor_Scalar", args, 2));
  args[1] = test_scalar(2);  // a case of its own
  CHECK(!is_kept("pow.Tensor_Scalar", args, 2));
  test_release(&x);
}

static void test_shapes_kinds_and_aliases_are_in(void) {
  test_tensor_t x = test_f32(8, (float[8]){0}), y = test_f32(8, (float[8]){0}), z = x;
  tpt_arg_t args[3] = {test_arg(test_ref(&x)), test_arg(test_ref(&y)), test_scalar(1)};
  keep("add.Tensor", args, 3);
  args[1] = test_arg(test_ref(&x));  // the same storage twice
  CHECK(!is_kept("add.Tensor", args, 3));
  args[1] = test_arg(test_ref(&y));
  CHECK(is_kept("add.Tensor", args, 3));
  CHECK(!is_kept("sub.Tensor", args, 3));
  z.t.rank = 2;
  z.sizes[0] = 1;
  z.sizes[1] = 8;
  test_set_contiguous(&z);
  args[0] = test_arg(test_ref(&z));
  CHECK(!is_kept("add.Tensor", args, 3));
  args[0] = test_arg(test_ref(&x));
  x.t.flags = TPT_TENSOR_WRAPPED;
  CHECK(!is_kept("add.Tensor", args, 3));
  x.t.flags = 0;
  tpt_precision_set(2);
  CHECK(!is_kept("add.Tensor", args, 3));
  tpt_precision_set(0);
  CHECK(is_kept("add.Tensor", args, 3));
  test_release(&x);
  test_release(&y);
}

static void test_strides_of_one_element_are_not_seen(void) {
  test_tensor_t x = test_f32(8, (float[8]){0});
  x.t.rank = 2;
  x.sizes[0] = 1;
  x.sizes[1] = 8;
  test_set_contiguous(&x);
  tpt_arg_t args[3] = {test_arg(test_ref(&x)), test_arg(test_ref(&x)), test_scalar(1)};
  keep("add.Tensor", args, 3);
  x.strides[0] = 1234;
  CHECK(is_kept("add.Tensor", args, 3));
  test_release(&x);
}

static void test_lists_and_strings_are_in(void) {
  tpt_arg_t arg = {.kind = TPT_ARG_INTS, .count = 2, .ints = (int64_t[]){1, 2}};
  keep("add.Tensor", &arg, 1);
  arg.ints = (int64_t[]){1, 3};
  CHECK(!is_kept("add.Tensor", &arg, 1));
  arg = (tpt_arg_t){.kind = TPT_ARG_STRING, .count = 9, .string = "truncated"};
  keep("add.Tensor", &arg, 1);
  arg.string = "truncateX";
  CHECK(!is_kept("add.Tensor", &arg, 1));
  arg = (tpt_arg_t){.kind = TPT_ARG_FLOATS, .count = 1, .floats = (double[]){0.5}};
  keep("add.Tensor", &arg, 1);
  CHECK(is_kept("add.Tensor", &arg, 1));
  arg.floats = (double[]){0.25};
  CHECK(!is_kept("add.Tensor", &arg, 1));
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_numbers_and_offsets_stay_out);
  RUN(test_what_a_row_takes_at_run_time_stays_out);
  RUN(test_shapes_kinds_and_aliases_are_in);
  RUN(test_strides_of_one_element_are_not_seen);
  RUN(test_lists_and_strings_are_in);
  return TEST_RESULT;
}
