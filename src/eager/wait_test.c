// Tests of waiting: the poll is asked during a long wait only, and can end it without harm.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "eager/device.h"
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

// scatter_(0, [1], 9) is waited for under the lock; the work before it is not.
static void test_a_checked_write_waits_for_earlier_work_without_the_lock(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3});
  test_tensor_t index = test_upload(TPT_S64, 1, (int64_t[]){1}, (int64_t[]){1});
  const tpt_arg_t args[4] = {test_arg(test_ref(&a)),
                             {.kind = TPT_ARG_INT, .number = {.dtype = TPT_S64}},
                             test_arg(test_ref(&index)),
                             test_scalar(9)};
  CHECK_OK(test_call("scatter.value", true, args, 4, NULL));
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  tpt_wait_poll_set(count_poll);
  polls = polls_allowed = 0;
  test_tensor_t x = start_work(60);
  tpt_status_t status = test_call("scatter.value", true, args, 4, NULL);
  if (polls > 0) {
    CHECK_EQ(tpt_status_code(status), TPT_CANCELLED);
    TEST_F32(a, 2, 18, 6);
  }
  tpt_status_release(status);
  polls_allowed = 1 << 30;
  CHECK_OK(test_call("scatter.value", true, args, 4, NULL));
  TEST_F32(a, 2, 9, 6);
  tpt_wait_poll_set(NULL);
  test_release(&x);
  test_release(&index);
  test_release(&a);
}

static void* hold_lock(void* arg) {
  tpt_device_t* device = tpt_device_peek(0);
  tpt_device_lock(device);
  atomic_store((atomic_bool*)arg, true);
  const struct timespec pause = {.tv_nsec = 600000000};
  nanosleep(&pause, NULL);
  tpt_device_unlock(device);
  return NULL;
}

// Another thread has the device, to compile say.
static void test_the_wait_for_the_lock_can_be_ended(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3});
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  tpt_wait_poll_set(count_poll);
  for (int allowed = 0; allowed < 2; allowed++) {
    pthread_t thread;
    atomic_bool is_held = false;
    polls = 0;
    polls_allowed = allowed ? 1 << 30 : 0;
    CHECK(pthread_create(&thread, NULL, hold_lock, &is_held) == 0);
    while (!atomic_load(&is_held))
      continue;
    tpt_status_t status = test_add(&a, &a, 1, true, NULL);
    CHECK(polls > 0);
    CHECK_EQ(tpt_status_code(status), allowed ? TPT_OK : TPT_CANCELLED);
    tpt_status_release(status);
    pthread_join(thread, NULL);
  }
  tpt_wait_poll_set(NULL);
  TEST_F32(a, 4, 8, 12);
  test_release(&a);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_a_short_wait_asks_nobody);
  RUN(test_a_long_wait_can_be_ended);
  RUN(test_a_checked_write_waits_for_earlier_work_without_the_lock);
  RUN(test_the_wait_for_the_lock_can_be_ended);
  return TEST_RESULT;
}
