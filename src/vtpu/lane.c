// Deals items of a kernel to lanes over the thread pool. Holds no state between loops but the core
// count of the process.
#include "vtpu/lane.h"

#include <stdatomic.h>

enum {
  LANE_COUNT_MAX = 64,
  LANE_COST_MIN = 10000,  // nanoseconds of work that justify waking another thread
};

static int cores_cached(void) {
  static atomic_int cached;
  int cores = atomic_load_explicit(&cached, memory_order_relaxed);
  if (cores == 0) {
    cores = tpt_thread_cores();
    atomic_store_explicit(&cached, cores, memory_order_relaxed);
  }
  return cores;
}

int vtpu_lane_count(int64_t item_count, int64_t cost) {
  int64_t count = cores_cached();
  if (count > LANE_COUNT_MAX) count = LANE_COUNT_MAX;
  if (count > item_count) count = item_count;
  if (count > cost / LANE_COST_MIN) count = cost / LANE_COST_MIN;
  return count < 1 ? 1 : (int)count;
}

typedef struct deal {
  atomic_llong next;
  int64_t item_count;
  vtpu_item_fn_t fn;
  void* arg;
} deal_t;

static void lanes_run(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  deal_t* deal = arg;
  for (int64_t lane = begin; lane < end; lane++) {
    for (;;) {
      int64_t item = atomic_fetch_add_explicit(&deal->next, 1, memory_order_relaxed);
      if (item >= deal->item_count) break;
      deal->fn(deal->arg, item, (int)lane);
    }
  }
}

void vtpu_lane_for(const vtpu_exec_t* exec, int lane_count, int64_t item_count, vtpu_item_fn_t fn,
                   void* arg) {
  if (lane_count <= 1 || !exec->pool) {
    for (int64_t item = 0; item < item_count; item++)
      fn(arg, item, 0);
    return;
  }
  deal_t deal = {.item_count = item_count, .fn = fn, .arg = arg};
  atomic_init(&deal.next, 0);
  tpt_pool_for(exec->pool, lane_count, 1, lanes_run, &deal);
}

void vtpu_range_for(const vtpu_exec_t* exec, int64_t count, int64_t grain, tpt_pool_fn_t fn,
                    void* arg) {
  if (count <= 0) return;
  if (!exec->pool || count <= grain) {
    fn(arg, 0, count, 0);
    return;
  }
  tpt_pool_for(exec->pool, count, grain, fn, arg);
}
