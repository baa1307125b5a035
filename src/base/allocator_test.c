// Tests of the heap's door.
#include "base/allocator.h"
#include "base/check.h"

static void test_nth_allocation_fails(void) {
  tpt_allocator_fail_after(2);
  void* first = tpt_malloc(8);
  void* second = tpt_malloc(8);
  void* third = tpt_calloc(2, 8);
  CHECK(first && !second && third);
  CHECK_EQ(tpt_allocator_fail_after(0), 3);
  tpt_free(first);
  tpt_free(third);
  tpt_free(NULL);
}

static void test_failed_growth_changes_nothing(void) {
  void* data = NULL;
  size_t capacity = 0;
  CHECK(tpt_grow(&data, &capacity, 5, 4));
  CHECK_EQ(capacity, 8);
  memset(data, 7, 32);
  void* before = data;
  tpt_allocator_fail_after(1);
  CHECK(!tpt_grow(&data, &capacity, 9, 4));
  tpt_allocator_fail_after(0);
  CHECK(data == before && capacity == 8);
  CHECK(!tpt_grow(&data, &capacity, SIZE_MAX, 4));
  CHECK(data == before && capacity == 8);
  CHECK(tpt_grow(&data, &capacity, 9, 4));
  CHECK_EQ(capacity, 16);
  CHECK_EQ(((char*)data)[31], 7);
  tpt_free(data);
}

static void test_overflow_is_refused(void) {
  size_t out;
  CHECK(tpt_calloc(SIZE_MAX / 2, 3) == NULL);
  CHECK(!tpt_size_mul(SIZE_MAX, 2, &out));
  CHECK(!tpt_size_add(SIZE_MAX, 1, &out));
  CHECK(tpt_size_mul(6, 7, &out) && out == 42);
}

static void test_empty_block_is_a_block(void) {
  void* data = tpt_malloc(0);
  CHECK(data != NULL);
  data = tpt_realloc(data, 0);
  CHECK(data != NULL);
  tpt_free(data);
}

int main(void) {
  RUN(test_nth_allocation_fails);
  RUN(test_failed_growth_changes_nothing);
  RUN(test_overflow_is_refused);
  RUN(test_empty_block_is_a_block);
  return TEST_RESULT;
}
