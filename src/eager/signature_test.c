// Tests of signatures: what counts as a difference, and how it is told.
#include <string.h>

#include "eager/entry.h"
#include "eager/signature.h"
#include "eager/test_device.h"

static tpt_device_t* device;

// Signature of `name` on the arguments, through the key, which fills the frame.
static tpt_signature_t read_call(const char* name, const tpt_arg_t* args, int arg_count) {
  tpt_call_t call = {
      .op = tpt_op_find(name), .args = args, .arg_count = arg_count, .default_dtype = TPT_F32};
  tpt_signature_t signature;
  uint64_t hash;
  CHECK_OK(tpt_key_build(device, &call, &hash));
  CHECK(tpt_signature_read(device, &call, &signature));
  return signature;
}

static void check_change(const char* name, const tpt_signature_t* now,
                         const tpt_signature_t* before, const char* wanted) {
  tpt_str_t text;
  size_t first;
  tpt_str_init(&text);
  CHECK(tpt_signature_distance(now, before, 0, &first) > 0);
  tpt_signature_append_change(&text, tpt_op_find(name), now, before, first);
  CHECK_STR(text.data, wanted);
  tpt_str_deinit(&text);
}

static void test_tensors_differ_by_dtype_sizes_strides(void) {
  test_tensor_t a = test_f32(6, (float[]){1, 2, 3, 4, 5, 6});
  test_tensor_t wide = a, tall = a, part = a;
  wide.t.rank = tall.t.rank = 2;
  memcpy(wide.sizes, (int64_t[]){2, 3}, 16);
  memcpy(wide.strides, (int64_t[]){3, 1}, 16);
  memcpy(tall.sizes, (int64_t[]){2, 3}, 16);
  memcpy(tall.strides, (int64_t[]){1, 2}, 16);
  part.sizes[0] = 4;
  test_tensor_t i = test_empty(0, TPT_S32, 1, (int64_t[]){6});
  test_tensor_t* const tensors[] = {&a, &wide, &tall, &part, &i};
  tpt_signature_t s[5];
  for (int k = 0; k < 5; k++)
    s[k] = read_call("relu", (const tpt_arg_t[]){test_arg(test_ref(tensors[k]))}, 1);
  check_change("relu", &s[1], &s[0], "new sizes (2, 3), was (6,), of argument self");
  check_change("relu", &s[2], &s[1], "new strides (1, 2), was (3, 1), of argument self");
  check_change("relu", &s[4], &s[0], "new dtype s32, was f32, of argument self");
  check_change("relu", &s[3], &s[0], "new sizes (4,), was (6,), of argument self");
  size_t first;
  CHECK_EQ(tpt_signature_distance(&s[0], &s[0], 0, &first), 0);
  CHECK_EQ(first, s[0].trait_count);
  for (int k = 0; k < 5; k++)
    tpt_signature_deinit(&s[k]);
  test_release(&a);
  test_release(&i);
}

static void test_a_number_counts_only_where_it_is_read(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3});
  tpt_arg_t args[3] = {test_arg(test_ref(&a)), test_arg(test_ref(&a)), test_scalar(1)};
  tpt_signature_t one = read_call("add.Tensor", args, 3);
  args[2] = test_scalar(0.1);
  tpt_signature_t other = read_call("add.Tensor", args, 3);
  args[2] = test_int_scalar(1);
  tpt_signature_t integer = read_call("add.Tensor", args, 3);
  size_t first;
  CHECK_EQ(tpt_signature_distance(&other, &one, 0, &first), 0);
  CHECK_EQ(tpt_signature_distance(&other, &one, 1 << 2, &first), 1);
  tpt_str_t text;
  tpt_str_init(&text);
  tpt_signature_append_change(&text, tpt_op_find("add.Tensor"), &other, &one, first);
  CHECK_STR(text.data, "new value 0.1, was 1, of argument alpha");
  tpt_str_deinit(&text);
  check_change("add.Tensor", &integer, &one, "new dtype s64, was f64, of argument alpha");
  tpt_signature_deinit(&one);
  tpt_signature_deinit(&other);
  tpt_signature_deinit(&integer);
  test_release(&a);
}

static void test_lists_and_aliases(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b = test_f32(2, (float[]){3, 4});
  const tpt_tensor_t two[2] = {*test_ref(&a), *test_ref(&b)}, same[2] = {two[0], two[0]};
  tpt_arg_t args[2] = {{.kind = TPT_ARG_TENSORS, .count = 2, .tensors = two},
                       {.kind = TPT_ARG_INT, .number = {.dtype = TPT_S64, .i = 0}}};
  tpt_signature_t pair = read_call("cat", args, 2);
  args[0].tensors = same;
  tpt_signature_t twin = read_call("cat", args, 2);
  args[0].count = 1;
  tpt_signature_t single = read_call("cat", args, 2);
  check_change("cat", &twin, &pair,
               "new storage among those of the call 0, was 1, of argument tensors[1]");
  check_change("cat", &single, &twin, "new length 1, was 2, of argument tensors");
  tpt_signature_deinit(&pair);
  tpt_signature_deinit(&twin);
  tpt_signature_deinit(&single);
  test_release(&a);
  test_release(&b);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  CHECK_OK(tpt_device_get(0, &device));
  RUN(test_tensors_differ_by_dtype_sizes_strides);
  RUN(test_a_number_counts_only_where_it_is_read);
  RUN(test_lists_and_aliases);
  return TEST_RESULT;
}
