// Every item runs exactly once, on a lane of its own.
#include <stdatomic.h>

#include "base/check.h"
#include "vtpu/lane.h"

enum { ITEMS = 1000, LANES = 4 };

typedef struct count {
  atomic_int seen[ITEMS];
  atomic_int busy[LANES];
  atomic_int clashes;
} count_t;

static void count_item(void* arg, int64_t item, int lane) {
  count_t* count = arg;
  if (atomic_fetch_add(&count->busy[lane], 1) != 0) atomic_fetch_add(&count->clashes, 1);
  atomic_fetch_add(&count->seen[item], 1);
  atomic_fetch_sub(&count->busy[lane], 1);
}

static void run_lanes(tpt_pool_t* pool, int lane_count) {
  static count_t count;
  memset(&count, 0, sizeof(count));
  vtpu_exec_t exec = {.pool = pool};
  vtpu_lane_for(&exec, lane_count, ITEMS, count_item, &count);
  int wrong = 0;
  for (int i = 0; i < ITEMS; i++)
    wrong += count.seen[i] != 1;
  CHECK_EQ(wrong, 0);
  CHECK_EQ(count.clashes, 0);
}

static void test_lane_for_runs_each_item_once(void) {
  tpt_pool_t* pool = NULL;
  if (!CHECK_OK(tpt_pool_create(3, &pool))) return;
  for (int round = 0; round < 50; round++)
    run_lanes(pool, 1 + round % LANES);
  tpt_pool_release(pool);
  run_lanes(NULL, LANES);
}

static void count_range(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  for (int64_t i = begin; i < end; i++)
    atomic_fetch_add(&((count_t*)arg)->seen[i], 1);
}

static void test_range_for_covers_the_range(void) {
  static count_t count;
  memset(&count, 0, sizeof(count));
  vtpu_exec_t exec = {0};
  vtpu_range_for(&exec, ITEMS, 10, count_range, &count);
  vtpu_range_for(&exec, 0, 10, count_range, &count);
  int wrong = 0;
  for (int i = 0; i < ITEMS; i++)
    wrong += count.seen[i] != 1;
  CHECK_EQ(wrong, 0);
}

static void test_lane_count_follows_items_and_cost(void) {
  CHECK_EQ(vtpu_lane_count(100, 10), 1);
  CHECK_EQ(vtpu_lane_count(1, INT64_MAX), 1);
  CHECK_EQ(vtpu_lane_count(0, 0), 1);
  int many = vtpu_lane_count(INT64_MAX, INT64_MAX);
  CHECK(many >= 1 && many <= 64);
}

int main(void) {
  RUN(test_lane_for_runs_each_item_once);
  RUN(test_range_for_covers_the_range);
  RUN(test_lane_count_follows_items_and_cost);
  return TEST_RESULT;
}
