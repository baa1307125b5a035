// Tests of the thread pool: coverage of ranges, grain, nesting, callers in a race, hand-off cost.
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/check.h"
#include "base/thread.h"

enum { COUNT_MAX = 5000, THREADS = 4 };

typedef struct job {
  _Atomic int seen[COUNT_MAX];
  _Atomic int busy[THREADS];
  _Atomic int call_count, bad_range, bad_thread, clash, whole_count;
  int64_t count, grain;
  int thread_count;
  tpt_pool_t* nested;
} job_t;

static void mark(void* arg, int64_t begin, int64_t end, int thread) {
  job_t* job = arg;
  job->call_count++;
  if (begin < 0 || end > job->count || begin >= end) job->bad_range++;
  if (end - begin < job->grain && end != job->count) job->bad_range++;
  if (begin == 0 && end == job->count) job->whole_count++;
  if (thread < 0 || thread >= job->thread_count) job->bad_thread++;
  if (atomic_fetch_add(&job->busy[thread], 1) != 0) job->clash++;
  for (int64_t i = begin; i < end; i++)
    job->seen[i]++;
  atomic_fetch_sub(&job->busy[thread], 1);
}

static void check_job(job_t* job) {
  int wrong = 0;
  for (int i = 0; i < COUNT_MAX; i++)
    wrong += job->seen[i] != (i < job->count);
  CHECK_EQ(wrong, 0);
  CHECK_EQ(job->bad_range, 0);
  CHECK_EQ(job->bad_thread, 0);
  CHECK_EQ(job->clash, 0);
}

static void job_reset(job_t* job, int64_t count, int64_t grain, int thread_count) {
  memset(job, 0, sizeof(*job));
  job->count = count;
  job->grain = grain;
  job->thread_count = thread_count;
}

static void run_job(job_t* job, tpt_pool_t* pool, int64_t count, int64_t grain) {
  job_reset(job, count, grain, tpt_pool_thread_count(pool));
  tpt_pool_for(pool, count, grain, mark, job);
}

static job_t job;

static void test_for_covers_every_item_once(void) {
  const int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, COUNT_MAX};
  const int64_t grains[] = {1, 2, 16, 64, 4096};
  for (int threads = 1; threads <= THREADS; threads++) {
    tpt_pool_t* pool = NULL;
    CHECK_OK(tpt_pool_create(threads, &pool));
    CHECK_EQ(tpt_pool_thread_count(pool), threads);
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++)
      for (size_t g = 0; g < sizeof(grains) / sizeof(*grains); g++) {
        run_job(&job, pool, counts[c], grains[g]);
        check_job(&job);
      }
    tpt_pool_release(pool);
  }
}

static void test_for_runs_inline_when_one_grain_suffices(void) {
  tpt_pool_t* pool = NULL;
  CHECK_OK(tpt_pool_create(THREADS, &pool));
  run_job(&job, pool, 100, 100);
  CHECK_EQ(job.call_count, 1);
  CHECK_EQ(job.whole_count, 1);
  run_job(&job, pool, 101, 100);
  CHECK_EQ(job.call_count, 2);
  run_job(&job, pool, 10, 0);  // a grain below 1 counts as 1
  check_job(&job);
  tpt_pool_release(pool);
}

static void test_for_repeats_many_loops(void) {
  tpt_pool_t* pool = NULL;
  CHECK_OK(tpt_pool_create(THREADS, &pool));
  for (int i = 0; i < 2000; i++) {
    run_job(&job, pool, 64 + i % 7, 4);
    int wrong = 0;
    for (int k = 0; k < 80; k++)
      wrong += job.seen[k] != (k < job.count);
    CHECK_EQ(wrong + job.bad_range + job.bad_thread + job.clash, 0);
    if (i % 500 == 0) {
      struct timespec nap = {0, 2000000};  // long enough for the workers to fall asleep
      nanosleep(&nap, NULL);
    }
  }
  tpt_pool_release(pool);
}

static job_t inner;

static void nest(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  tpt_pool_t* pool = arg;
  (void)begin;
  (void)end;
  tpt_pool_for(pool, 50, 1, mark, &inner);
}

static void* run_if_free(void* pool) {
  tpt_pool_for_if_free(pool, 50, 1, mark, &inner);
  return NULL;
}

// A thread that knows nothing of the loop it is started from.
static void start_other(void* arg, int64_t begin, int64_t end, int thread) {
  (void)end;
  (void)thread;
  pthread_t other;
  if (begin == 0 && pthread_create(&other, NULL, run_if_free, arg) == 0) pthread_join(other, NULL);
}

static void test_for_if_free_does_not_wait_for_a_loop(void) {
  tpt_pool_t* pool = NULL;
  CHECK_OK(tpt_pool_create(THREADS, &pool));
  job_reset(&inner, 50, 1, THREADS);
  run_if_free(pool);
  check_job(&inner);
  CHECK(inner.call_count > 1);
  job_reset(&inner, 50, 1, THREADS);
  tpt_pool_for(pool, 2, 1, start_other, pool);
  check_job(&inner);
  CHECK_EQ(inner.call_count, 1);
  tpt_pool_release(pool);
}

static void test_nested_loop_runs_inline(void) {
  tpt_pool_t* pool = NULL;
  CHECK_OK(tpt_pool_create(THREADS, &pool));
  job_reset(&inner, 50, 1, THREADS);
  tpt_pool_for(pool, 16, 1, nest, pool);
  CHECK_EQ(inner.call_count, 16);
  CHECK_EQ(inner.whole_count, 16);
  CHECK_EQ(inner.clash, 0);  // thread numbers stay apart in nested loops too
  CHECK_EQ(inner.seen[0], 16);
  tpt_pool_release(pool);
}

typedef struct racer {
  pthread_t thread;
  tpt_pool_t* pool;
  job_t* job;
  int wrong;
} racer_t;

static void* race(void* arg) {
  racer_t* racer = arg;
  for (int i = 0; i < 200; i++) {
    run_job(racer->job, racer->pool, 300, 8);
    for (int k = 0; k < 300; k++)
      racer->wrong += racer->job->seen[k] != 1;
  }
  return NULL;
}

static void test_callers_take_turns(void) {
  static job_t jobs[3];
  racer_t racers[3];
  tpt_pool_t* pool = NULL;
  CHECK_OK(tpt_pool_create(THREADS, &pool));
  for (int i = 0; i < 3; i++) {
    racers[i] = (racer_t){.pool = pool, .job = &jobs[i]};
    CHECK_EQ(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(racers[i].thread, NULL);
    CHECK_EQ(racers[i].wrong, 0);
  }
  tpt_pool_release(pool);
}

static void test_create_refuses_bad_counts(void) {
  tpt_pool_t* pool = NULL;
  CHECK_FAILS(tpt_pool_create(0, &pool), TPT_INVALID_ARGUMENT, "not 0");
  CHECK_FAILS(tpt_pool_create(100000, &pool), TPT_INVALID_ARGUMENT, "not 100000");
  CHECK(pool == NULL);
  tpt_pool_release(NULL);
}

static void test_cores_follow_affinity(void) {
  int cores = tpt_thread_cores();
  CHECK(cores >= 1);
  cpu_set_t before, one;
  if (sched_getaffinity(0, sizeof(before), &before) != 0) return;
  CHECK(cores <= CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  if (sched_setaffinity(0, sizeof(one), &one) == 0) {
    CHECK_EQ(tpt_thread_cores(), 1);
    CHECK_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  }
}

int main(void) {
  RUN(test_for_covers_every_item_once);
  RUN(test_for_runs_inline_when_one_grain_suffices);
  RUN(test_for_repeats_many_loops);
  RUN(test_for_if_free_does_not_wait_for_a_loop);
  RUN(test_nested_loop_runs_inline);
  RUN(test_callers_take_turns);
  RUN(test_create_refuses_bad_counts);
  RUN(test_cores_follow_affinity);
  return TEST_RESULT;
}
