// Tests of the arena.
#include <stdint.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/check.h"

static void test_objects_are_aligned_and_apart(void) {
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  char* previous = NULL;
  for (size_t size = 0; size < 300; size++) {
    char* data = tpt_arena_alloc(&arena, size);
    CHECK_EQ((uintptr_t)data % 16, 0);
    memset(data, (int)size, size);
    if (previous && size > 1) CHECK_EQ(previous[size - 2], (char)(size - 1));
    previous = data;
  }
  CHECK_OK(tpt_arena_status(&arena));
  tpt_arena_deinit(&arena);
}

static void test_big_objects_fit(void) {
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  char* data = tpt_arena_calloc(&arena, 3 << 20, 1);
  CHECK(data && data[(3 << 20) - 1] == 0);
  CHECK_EQ(arena.used_size, 3 << 20);
  CHECK(tpt_arena_calloc(&arena, SIZE_MAX, 2) == NULL);
  CHECK(tpt_arena_alloc(&arena, SIZE_MAX) == NULL);
  CHECK_FAILS(tpt_arena_status(&arena), TPT_RESOURCE_EXHAUSTED, "memory");
  tpt_arena_deinit(&arena);
}

static void test_reset_reuses_the_newest_block(void) {
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  for (int i = 0; i < 100; i++)
    CHECK(tpt_arena_alloc(&arena, 1000) != NULL);
  tpt_arena_reset(&arena);
  CHECK_EQ(arena.used_size, 0);
  tpt_allocator_fail_after(1);
  CHECK(tpt_arena_alloc(&arena, 1000) != NULL);
  tpt_allocator_fail_after(0);
  CHECK_OK(tpt_arena_status(&arena));
  tpt_arena_deinit(&arena);
  tpt_arena_reset(&arena);
  tpt_arena_deinit(&arena);
}

static void test_text_is_copied(void) {
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  CHECK_STR(tpt_arena_strndup(&arena, "abcdef", 3), "abc");
  CHECK_STR(tpt_arena_printf(&arena, "%d-%s", 5, "x"), "5-x");
  int64_t number = 9;
  CHECK_EQ(*(int64_t*)tpt_arena_copy(&arena, &number, sizeof(number)), 9);
  CHECK(tpt_arena_copy(&arena, NULL, 8) == NULL);
  CHECK(!arena.failed);
  tpt_arena_deinit(&arena);
}

static void test_failure_is_sticky(void) {
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  tpt_allocator_fail_after(1);
  CHECK(tpt_arena_alloc(&arena, 8) == NULL);
  tpt_allocator_fail_after(0);
  CHECK(tpt_arena_alloc(&arena, 8) != NULL);
  CHECK_FAILS(tpt_arena_status(&arena), TPT_RESOURCE_EXHAUSTED, "memory");
  tpt_arena_reset(&arena);
  CHECK_OK(tpt_arena_status(&arena));
  tpt_arena_deinit(&arena);
}

int main(void) {
  RUN(test_objects_are_aligned_and_apart);
  RUN(test_big_objects_fit);
  RUN(test_reset_reuses_the_newest_block);
  RUN(test_text_is_copied);
  RUN(test_failure_is_sticky);
  return TEST_RESULT;
}
