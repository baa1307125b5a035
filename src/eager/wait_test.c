// Tests of waiting: the poll is asked during a long wait only, and can end it without harm.
#include "eager/test_device.h"
#include "eager/wait.h"

static int polls, polls_allowed;

static tpt_status_t count_poll(void) {
  if (++polls <= polls_allowed) return NULL;
  TPT_FAIL(TPT_CANCELLED, "interrupted");
}

// A chain of products that takes a second or so.
static test_tensor_t start_work(int steps) {
  static float data[1 << 21];
  for (int i = 0; i < 1 << 21; i++)
    data[i] = 1e-3f;
  test_tensor_t x = test_upload(TPT_F32, 2, (int64_t[]){1448, 1448}, data);
  for (int i = 0; i < steps; i++) {
    test_tensor_t next = {0};
    const tpt_arg_t args[2] = {test_arg(test_ref(&x)), test_arg(test_ref(&x))};
    if (!CHECK_OK(test_call("mm", false, args, 2, &next))) return x;
    test_release(&x);
    x = next;
  }
  return x;
}

static void test_a_short_wait_asks_nobody(void) {
  tpt_wait_poll_set(count_poll);
  polls = polls_allowed = 0;
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3});
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  TEST_F32(a, 2, 4, 6);
  CHECK_EQ(polls, 0);
  tpt_wait_poll_set(NULL);
  test_release(&a);
}

static void test_a_long_wait_can_be_ended(void) {
  tpt_wait_poll_set(count_poll);
  for (int kind = 0; kind < 2; kind++) {
    polls = polls_allowed = 0;
    test_tensor_t x = start_work(60), one = x;
    float value;
    one.t.rank = 0;
    tpt_status_t status =
        kind ? tpt_tensor_download(test_ref(&one), &value) : tpt_device_synchronize(0);
    if (polls > 0) {  // a machine fast enough to end the work within a slice proves nothing
      CHECK_EQ(tpt_status_code(status), TPT_CANCELLED);
      CHECK_EQ(polls, 1);
    }
    tpt_status_release(status);
    polls_allowed = 1 << 30;
    CHECK_OK(tpt_device_synchronize(0));
    CHECK_OK(tpt_tensor_download(test_ref(&one), &value));
    test_release(&x);
  }
  tpt_wait_poll_set(NULL);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_a_short_wait_asks_nobody);
  RUN(test_a_long_wait_can_be_ended);
  return TEST_RESULT;
}
