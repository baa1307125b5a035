// Tests of runs: what a failure leaves behind, and how late errors are told. The failing program is an
// index out of range, which vtpu reports and other plugins clamp.
#include "base/allocator.h"
#include "eager/device.h"
#include "eager/test_device.h"

// embedding(weight, indices) with a good or a bad index.
static test_tensor_t make_weight(void) {
  return test_upload(TPT_F32, 2, (int64_t[]){3, 2}, (float[]){1, 2, 3, 4, 5, 6});
}

static void test_good_index_is_looked_up(void) {
  test_tensor_t weight = make_weight(), row;
  if (CHECK_OK(test_look_up(&weight, 2, &row))) {
    TEST_F32(row, 5, 6);
    test_release(&row);
  }
  test_release(&weight);
}

// Either the call itself or the first read must fail, and say which op.
static void test_bad_index_is_told_with_its_op(void) {
  test_tensor_t weight = make_weight(), row = {0};
  float data[2];
  tpt_status_t status = test_look_up(&weight, 7, &row);
  if (!status) {
    status = tpt_tensor_download(test_ref(&row), data);
    CHECK(strstr(tpt_status_message(status), "called at model.py:12"));
  }
  CHECK(status != NULL);
  CHECK(strstr(tpt_status_message(status), "aten::embedding"));
  CHECK_EQ(tpt_status_code(status), TPT_OUT_OF_RANGE);
  tpt_status_release(status);
  CHECK_OK(tpt_device_synchronize(0));
  if (row.t.storage) test_release(&row);
  TEST_F32(weight, 1, 2, 3, 4, 5, 6);
  test_release(&weight);
}

static void test_unread_failure_is_told_by_synchronize(void) {
  test_tensor_t weight = make_weight(), row = {0};
  tpt_status_t status = test_look_up(&weight, 9, &row);
  if (!status) {
    test_release(&row);  // nobody reads it
    status = tpt_device_synchronize(0);
  }
  CHECK(status != NULL);
  tpt_status_release(status);
  CHECK_OK(tpt_device_synchronize(0));
  test_release(&weight);
}

static void test_value_made_of_a_failed_one_fails(void) {
  test_tensor_t weight = make_weight(), row = {0}, sum = {0};
  test_tensor_t target = test_upload(TPT_F32, 2, (int64_t[]){1, 2}, (float[]){1, 1});
  tpt_status_t status = test_look_up(&weight, -5, &row);
  if (!status) {
    status = test_add(&row, &target, 1, false, &sum);
    float data[2];
    if (!status) status = tpt_tensor_download(test_ref(&sum), data);
    CHECK(strstr(tpt_status_message(status), "aten::embedding called at model.py:12"));
  }
  CHECK(status != NULL);
  tpt_status_release(status);
  tpt_status_release(tpt_device_synchronize(0));
  TEST_F32(target, 1, 1);
  if (row.t.storage) test_release(&row);
  if (sum.t.storage) test_release(&sum);
  test_release(&target);
  test_release(&weight);
}

static void test_blocking_mode_tells_at_once(void) {
  test_tensor_t weight = make_weight(), row = {0};
  tpt_blocking_set(true);
  CHECK_FAILS(test_look_up(&weight, 7, &row), TPT_OUT_OF_RANGE, "aten::embedding");
  tpt_blocking_set(false);
  CHECK(row.t.storage == NULL);
  test_release(&weight);
}

static void test_outputs_without_memory_leave_all_as_it_was(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3}), c = {0};
  if (!CHECK_OK(test_add(&a, &a, 1, false, &c))) return;
  test_release(&c);
  tpt_device_memory_t before, after;
  CHECK_OK(tpt_device_memory(0, &before));
  int failures = 0;
  for (uint64_t n = 1; n < 1000; n++) {
    tpt_allocator_fail_after(n);
    tpt_status_t status = test_add(&a, &a, 1, true, NULL);
    tpt_allocator_fail_after(0);
    if (!status) break;
    failures++;
    CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
    TEST_F32(a, 1, 2, 3);
  }
  CHECK(failures > 0);
  TEST_F32(a, 2, 4, 6);
  CHECK_OK(tpt_device_memory(0, &after));
  CHECK_EQ(after.allocated, before.allocated);
  test_release(&a);
}

// Indexed in-place writes wait for their result, so that a failed one changes nothing.
static void test_failed_inplace_write_leaves_its_tensor(void) {
  if (!tpt_op_find("scatter.value")) return;
  test_tensor_t x = test_f32(3, (float[]){1, 2, 3});
  int64_t indices[] = {1, 7};
  test_tensor_t index = test_upload(TPT_S64, 1, (int64_t[]){2}, indices);
  for (int i = 0; i < 2; i++) {
    tpt_arg_t args[4] = {test_arg(test_ref(&x)),
                         {.kind = TPT_ARG_INT, .number = {.dtype = TPT_S64}},
                         test_arg(test_ref(&index)),
                         test_scalar(9)};
    tpt_status_t status = test_call("scatter.value", true, args, 4, NULL);
    if (i == 0) {
      CHECK_EQ(tpt_status_code(status), TPT_INVALID_ARGUMENT);
      tpt_status_release(status);
      TEST_F32(x, 1, 2, 3);
      CHECK_OK(tpt_tensor_upload(test_ref(&index), (int64_t[]){1, 2}));
    } else if (CHECK_OK(status)) {
      TEST_F32(x, 1, 9, 9);
    }
  }
  test_release(&x);
  test_release(&index);
}

int main(void) {
  CHECK_OK(
      tpt_runtime_set_option("inline_limit", "0"));  // vtpu queues everything: errors come late
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_good_index_is_looked_up);
  RUN(test_outputs_without_memory_leave_all_as_it_was);
  if (!test_is_vtpu()) return TEST_RESULT;
  RUN(test_bad_index_is_told_with_its_op);
  RUN(test_unread_failure_is_told_by_synchronize);
  RUN(test_value_made_of_a_failed_one_fails);
  RUN(test_blocking_mode_tells_at_once);
  RUN(test_failed_inplace_write_leaves_its_tensor);
  return TEST_RESULT;
}
