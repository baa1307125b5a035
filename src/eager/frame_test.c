#include "base/allocator.h"
#include "base/check.h"
#include "eager/frame.h"

static void test_arrays_grow_and_keep_contents(void) {
  tpt_frame_t frame = {0};
  for (size_t i = 0; i < 500; i++) {
    CHECK_OK(tpt_frame_reserve((void**)&frame.starts, &frame.start_capacity, i + 1,
                               sizeof(*frame.starts)));
    frame.starts[i] = (int64_t)i;
  }
  for (size_t i = 0; i < 500; i++)
    CHECK_EQ(frame.starts[i], i);
  tpt_frame_deinit(&frame);
  CHECK(!frame.starts && frame.start_capacity == 0);
}

static void test_growth_without_memory_is_a_status(void) {
  tpt_frame_t frame = {0};
  tpt_allocator_fail_after(1);
  CHECK_FAILS(
      tpt_frame_reserve((void**)&frame.words, &frame.word_capacity, 10, sizeof(*frame.words)),
      TPT_RESOURCE_EXHAUSTED, "");
  tpt_allocator_fail_after(0);
  tpt_frame_deinit(&frame);
}

int main(void) {
  RUN(test_arrays_grow_and_keep_contents);
  RUN(test_growth_without_memory_is_a_status);
  return TEST_RESULT;
}
