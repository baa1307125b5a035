// Tests of overlap: PyTorch's answers for windows of one storage, and lists whose order matters.
#include <string.h>

#include "eager/test_device.h"

// A window of n elements at an offset.
static test_tensor_t part_of(const test_tensor_t* base, int64_t count, int64_t offset) {
  test_tensor_t part = *base;
  part.t.rank = 1;
  part.sizes[0] = count;
  part.strides[0] = 1;
  part.t.offset = offset;
  return part;
}

static tpt_code_t check(tpt_overlap_rule_t rule, test_tensor_t* written, test_tensor_t* read) {
  const tpt_arg_t args[2] = {test_arg(test_ref(written)), test_arg(test_ref(read))};
  tpt_status_t status = tpt_overlap_check(rule, args[0].tensors, args, 2, 0);
  tpt_code_t code = tpt_status_code(status);
  if (status) CHECK(strstr(tpt_status_message(status), "refer to a single memory location"));
  tpt_status_release(status);
  return code;
}

static void test_windows_of_one_storage(void) {
  test_tensor_t a = test_empty(0, TPT_F32, 1, (int64_t[]){9}), other = a;
  other = test_empty(0, TPT_F32, 1, (int64_t[]){9});
  test_tensor_t head = part_of(&a, 6, 0), tail = part_of(&a, 3, 6), middle = part_of(&a, 6, 3);
  test_tensor_t square = a, turned = a, odd = part_of(&a, 3, 0), none = part_of(&a, 0, 2);
  square.t.rank = turned.t.rank = 2;
  memcpy(square.sizes, (int64_t[]){3, 3}, 16);
  memcpy(square.strides, (int64_t[]){3, 1}, 16);
  memcpy(turned.sizes, (int64_t[]){3, 3}, 16);
  memcpy(turned.strides, (int64_t[]){1, 3}, 16);
  odd.strides[0] = 2;
  const tpt_overlap_rule_t rule = TPT_OVERLAP_NOT_PARTIAL;
  CHECK_EQ(check(rule, &a, &other), TPT_OK);
  CHECK_EQ(check(rule, &a, &a), TPT_OK);
  CHECK_EQ(check(rule, &head, &tail), TPT_OK);
  CHECK_EQ(check(rule, &head, &middle), TPT_INVALID_ARGUMENT);
  CHECK_EQ(check(rule, &square, &turned), TPT_INVALID_ARGUMENT);
  CHECK_EQ(check(rule, &odd, &head), TPT_OK);  // PyTorch does not look into strided windows
  CHECK_EQ(check(rule, &none, &head), TPT_OK);
  CHECK_EQ(check(TPT_OVERLAP_NONE, &a, &a), TPT_INVALID_ARGUMENT);
  CHECK_EQ(check(TPT_OVERLAP_ANY, &head, &middle), TPT_OK);
  test_release(&a);
  test_release(&other);
}

static void test_rules_of_rows(void) {
  CHECK_EQ(tpt_op_overlap_rule(tpt_op_find("add.Tensor")), TPT_OVERLAP_NOT_PARTIAL);
  CHECK_EQ(tpt_op_overlap_rule(tpt_op_find("gather")), TPT_OVERLAP_NONE);
  CHECK_EQ(tpt_op_overlap_rule(tpt_op_find("mm")), TPT_OVERLAP_ANY);
  CHECK_EQ(tpt_op_overlap_rule(tpt_op_find("_foreach_add.List")), TPT_OVERLAP_LISTS);
}

static tpt_code_t check_lists(const tpt_tensor_t* written, const tpt_tensor_t* read) {
  const tpt_arg_t args[2] = {{.kind = TPT_ARG_TENSORS, .count = 2, .tensors = written},
                             {.kind = TPT_ARG_TENSORS, .count = 2, .tensors = read}};
  const int first = 0;
  const tpt_call_t call = {
      .args = args, .arg_count = 2, .inplace_args = &first, .inplace_count = 1};
  tpt_status_t status = tpt_overlap_check_lists(&call);
  tpt_code_t code = tpt_status_code(status);
  tpt_status_release(status);
  return code;
}

static void test_lists_whose_order_matters(void) {
  test_tensor_t a = test_empty(0, TPT_F32, 1, (int64_t[]){8});
  test_tensor_t b = test_empty(0, TPT_F32, 1, (int64_t[]){4});
  test_tensor_t head = part_of(&a, 4, 0), tail = part_of(&a, 4, 4), middle = part_of(&a, 4, 2);
#define PAIR(x, y) (const tpt_tensor_t[]){*test_ref(&x), *test_ref(&y)}
  CHECK_EQ(check_lists(PAIR(head, tail), PAIR(b, b)), TPT_OK);
  CHECK_EQ(check_lists(PAIR(head, tail), PAIR(head, tail)), TPT_OK);
  CHECK_EQ(check_lists(PAIR(head, head), PAIR(b, b)), TPT_UNIMPLEMENTED);
  CHECK_EQ(check_lists(PAIR(head, tail), PAIR(tail, head)), TPT_UNIMPLEMENTED);
  CHECK_EQ(check_lists(PAIR(head, b), PAIR(middle, b)), TPT_INVALID_ARGUMENT);
#undef PAIR
  test_release(&a);
  test_release(&b);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_windows_of_one_storage);
  RUN(test_rules_of_rows);
  RUN(test_lists_whose_order_matters);
  return TEST_RESULT;
}
