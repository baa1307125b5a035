// Tests of slabs.
#include <stdint.h>

#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/slab.h"

typedef struct thing {
  uint64_t mark;
  void* link;
  char rest[24];
} thing_t;

static void test_take_gives_distinct_objects(void) {
  static thing_t* things[300];
  vtpu_slab_t slab;
  vtpu_slab_init(&slab, sizeof(thing_t));
  for (int i = 0; i < 300; i++) {
    things[i] = vtpu_slab_take(&slab);
    CHECK(things[i] != NULL && (uintptr_t)things[i] % 8 == 0);
    memset(things[i], i, sizeof(thing_t));
  }
  int wrong = 0;
  for (int i = 0; i < 300; i++)
    wrong += (unsigned char)things[i]->rest[23] != i % 256;
  CHECK_EQ(wrong, 0);
  vtpu_slab_deinit(&slab);
}

static void test_give_keeps_the_mark_and_reuses_newest_first(void) {
  vtpu_slab_t slab;
  vtpu_slab_init(&slab, sizeof(thing_t));
  thing_t* a = vtpu_slab_take(&slab);
  thing_t* b = vtpu_slab_take(&slab);
  a->mark = 0xdead;
  vtpu_slab_give(&slab, b);
  vtpu_slab_give(&slab, a);
  CHECK_EQ(a->mark, 0xdead);
  CHECK(vtpu_slab_take(&slab) == a);
  CHECK(vtpu_slab_take(&slab) == b);
  vtpu_slab_deinit(&slab);
}

static void test_take_survives_lack_of_memory(void) {
  vtpu_slab_t slab;
  vtpu_slab_init(&slab, sizeof(thing_t));
  tpt_allocator_fail_after(1);
  CHECK(vtpu_slab_take(&slab) == NULL);
  tpt_allocator_fail_after(0);
  CHECK(vtpu_slab_take(&slab) != NULL);
  vtpu_slab_deinit(&slab);
}

int main(void) {
  RUN(test_take_gives_distinct_objects);
  RUN(test_give_keeps_the_mark_and_reuses_newest_first);
  RUN(test_take_survives_lack_of_memory);
  return TEST_RESULT;
}
