// The barrier: it ends after everything that was sent before it, also what nobody holds.
#include "base/check.h"
#include "eager/barrier.h"
#include "eager/device.h"
#include "eager/test_device.h"

// The result is dropped at once, so that no live value leads to it: only order does.
static void test_wait_covers_values_that_nobody_holds(void) {
  static float data[1 << 20];
  test_tensor_t x = test_f32(1 << 20, data), sum;
  for (int i = 0; i < 8; i++) {
    CHECK_OK(test_add(&x, &x, i, false, &sum));
    tpt_buffer_t* buffer = tpt_buffer_retain(sum.t.storage->cell->buffer);
    test_release(&sum);
    CHECK_OK(tpt_device_wait(tpt_device_peek(0)));
    if (test_is_vtpu()) CHECK(tpt_buffer_is_ready(buffer));
    tpt_buffer_release(buffer);
  }
  test_release(&x);
}

static void test_barrier_is_compiled_once(void) {
  tpt_device_t* device = tpt_device_peek(0);
  tpt_executable_t* executable = device->barrier.executable;
  CHECK(executable != NULL);
  CHECK_OK(tpt_device_wait(device));
  CHECK(device->barrier.executable == executable);
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_wait_covers_values_that_nobody_holds);
  RUN(test_barrier_is_compiled_once);
  return TEST_RESULT;
}
