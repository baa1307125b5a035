// Tests of the device's queue: order, errors of inputs, waiting, threads that submit at once.
#include <time.h>

#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/device.h"

typedef struct step {
  vtpu_task_t task;
  vtpu_device_t* device;
  int* log;
  _Atomic int* log_count;
  int number;
  int64_t nap;
  tpt_code_t code;
  _Atomic int* finished;
} step_t;

static tpt_status_t run_step(vtpu_task_t* task) {
  step_t* step = (step_t*)task;
  struct timespec nap = {0, (long)step->nap};
  if (step->nap) nanosleep(&nap, NULL);
  step->log[atomic_fetch_add(step->log_count, 1)] = step->number;
  if (step->code) TPT_FAIL(step->code, "step %d", step->number);
  return NULL;
}

static void finish_step(vtpu_task_t* task, tpt_status_t status) {
  (void)status;
  atomic_fetch_add(((step_t*)task)->finished, 1);
}

static void release_step(vtpu_task_t* task) {
  tpt_free(task->waits);
  tpt_free(task);
}

typedef struct bench {
  vtpu_device_t* device;
  int log[4096];
  _Atomic int log_count, finished;
} bench_t;

static vtpu_device_t* open_device(void) {
  vtpu_device_params_t params = {.hbm_size = 1 << 20};
  vtpu_device_t* device = NULL;
  CHECK_OK(vtpu_device_create(&params, &device));
  return device;
}

// Submits a step; returns a reference to its event.
static vtpu_event_t* submit(bench_t* bench, int number, int64_t nap, tpt_code_t code,
                            vtpu_event_t* wait) {
  step_t* step = tpt_calloc(1, sizeof(*step));
  *step = (step_t){.task = {.run = run_step, .finish = finish_step, .release = release_step},
                   .log = bench->log,
                   .log_count = &bench->log_count,
                   .number = number,
                   .nap = nap,
                   .code = code,
                   .finished = &bench->finished};
  CHECK_OK(vtpu_event_create(&step->task.done));
  if (wait) {
    step->task.waits = tpt_malloc(sizeof(vtpu_event_t*));
    step->task.waits[0] = vtpu_event_retain(wait);
    step->task.wait_count = 1;
  }
  vtpu_event_t* done = vtpu_event_retain(step->task.done);
  vtpu_device_lock(bench->device);
  CHECK_OK(vtpu_device_submit(bench->device, &step->task));
  vtpu_device_unlock(bench->device);
  return done;
}

static void test_tasks_run_in_order(void) {
  bench_t bench = {.device = open_device()};
  for (int i = 0; i < 1000; i++)
    vtpu_event_release(submit(&bench, i, i == 0 ? 2000000 : 0, TPT_OK, NULL));
  vtpu_device_drain(bench.device);
  CHECK_EQ(bench.log_count, 1000);
  CHECK_EQ(bench.finished, 1000);
  int wrong = 0;
  for (int i = 0; i < 1000; i++)
    wrong += bench.log[i] != i;
  CHECK_EQ(wrong, 0);
  vtpu_device_lock(bench.device);
  CHECK(vtpu_device_is_idle(bench.device));
  CHECK_EQ(vtpu_device_next_ticket(bench.device), 1001);
  vtpu_device_unlock(bench.device);
  vtpu_device_release(bench.device);
}

static void test_release_runs_what_is_queued(void) {
  bench_t bench = {.device = open_device()};
  for (int i = 0; i < 20; i++)
    vtpu_event_release(submit(&bench, i, 100000, TPT_OK, NULL));
  vtpu_device_release(bench.device);
  CHECK_EQ(bench.log_count, 20);
}

static void test_the_event_tells_the_outcome_and_finds_an_idle_queue(void) {
  bench_t bench = {.device = open_device()};
  vtpu_event_t* bad = submit(&bench, 1, 1000000, TPT_OUT_OF_RANGE, NULL);
  CHECK_EQ(vtpu_event_get_state(bad), VTPU_EVENT_PENDING);
  CHECK_STR(tpt_status_message(vtpu_event_await(bad)), "step 1");
  vtpu_device_lock(bench.device);
  CHECK(vtpu_device_is_idle(bench.device));
  vtpu_device_unlock(bench.device);
  vtpu_event_release(bad);
  vtpu_device_release(bench.device);
}

static void test_a_failed_input_skips_the_task_and_carries_on(void) {
  bench_t bench = {.device = open_device()};
  vtpu_event_t* bad = submit(&bench, 1, 100000, TPT_OUT_OF_RANGE, NULL);
  vtpu_event_t* next = submit(&bench, 2, 0, TPT_OK, bad);
  vtpu_event_t* last = submit(&bench, 3, 0, TPT_OK, next);
  tpt_status_t status = vtpu_event_await(last);
  CHECK_EQ(tpt_status_code(status), TPT_OUT_OF_RANGE);
  CHECK_STR(tpt_status_message(status), "step 1");
  CHECK_EQ(bench.log_count, 1);
  CHECK_EQ(bench.finished, 3);
  vtpu_event_release(bad);
  vtpu_event_release(next);
  vtpu_event_release(last);
  vtpu_device_release(bench.device);
}

static void test_devices_wait_for_each_other(void) {
  bench_t a = {.device = open_device()}, b = {.device = open_device()};
  vtpu_event_t* last = vtpu_event_retain(vtpu_event_ready());
  for (int i = 0; i < 200; i++) {
    vtpu_event_t* next = submit(i % 2 ? &a : &b, i, 0, TPT_OK, last);
    vtpu_event_release(last);
    last = next;
  }
  CHECK(vtpu_event_await(last) == NULL);
  CHECK_EQ(a.log_count + b.log_count, 200);
  vtpu_event_release(last);
  vtpu_device_release(a.device);
  vtpu_device_release(b.device);
}

static void* submit_many(void* arg) {
  bench_t* bench = arg;
  for (int i = 0; i < 500; i++) {
    vtpu_event_t* done = submit(bench, i, 0, TPT_OK, NULL);
    if (i % 50 == 0) vtpu_event_await(done);
    vtpu_event_release(done);
  }
  return NULL;
}

static void test_threads_submit_at_once(void) {
  static bench_t bench;
  bench.device = open_device();
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, submit_many, &bench);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  vtpu_device_drain(bench.device);
  CHECK_EQ(bench.log_count, 2000);
  vtpu_device_release(bench.device);
}

static void test_the_worker_wakes_from_sleep(void) {
  bench_t bench = {.device = open_device()};
  struct timespec nap = {0, 2000000};
  for (int i = 0; i < 10; i++) {
    vtpu_event_t* done = submit(&bench, i, 0, TPT_OK, NULL);
    CHECK(vtpu_event_await(done) == NULL);
    vtpu_event_release(done);
    nanosleep(&nap, NULL);
  }
  vtpu_device_release(bench.device);
}

static void test_blocks_live_as_long_as_owners_or_readers(void) {
  vtpu_device_t* device = open_device();
  vtpu_block_t* block = NULL;
  vtpu_hbm_stats_t stats;
  CHECK_OK(vtpu_hbm_alloc(device->hbm, 1000, &block));
  block->ref_count = 1;
  block->hold_count = 1;
  vtpu_block_unref(device, block);
  vtpu_hbm_get_stats(device->hbm, &stats);
  CHECK_EQ(stats.in_use, 1024);
  vtpu_block_unhold(device, block);
  vtpu_hbm_get_stats(device->hbm, &stats);
  CHECK_EQ(stats.in_use, 0);
  vtpu_device_release(device);
}

static void test_scratch_grows(void) {
  vtpu_device_t* device = open_device();
  CHECK(vtpu_device_scratch(device, 0) != NULL);
  void** scratch = vtpu_device_scratch(device, 1000);
  scratch[999] = device;
  CHECK(vtpu_device_scratch(device, 1000)[999] == device);
  vtpu_device_release(device);
  vtpu_device_release(NULL);
}

// Last, because it ends all devices of the process.
static void test_abandoned_devices_start_nothing_more(void) {
  static bench_t bench;
  bench.device = open_device();
  vtpu_event_t* first = submit(&bench, 0, 200000000, TPT_OK, NULL);
  for (int i = 1; i < 5; i++)
    vtpu_event_release(submit(&bench, i, 0, TPT_OK, NULL));
  struct timespec nap = {0, 5000000};
  bool is_running = false;
  while (!is_running) {  // a busy machine starts the worker late
    nanosleep(&(struct timespec){0, 100000}, NULL);
    vtpu_device_lock(bench.device);
    is_running = bench.device->is_running || bench.device->completed > 0;
    vtpu_device_unlock(bench.device);
  }
  vtpu_devices_abandon();
  CHECK_EQ(bench.log_count, 1);  // what ran was awaited
  CHECK(vtpu_event_await(first) == NULL);
  vtpu_event_release(first);
  vtpu_device_drain(bench.device);
  nanosleep(&nap, NULL);
  CHECK_EQ(bench.log_count, 1);
  vtpu_task_t task = {0};
  vtpu_device_lock(bench.device);
  CHECK_FAILS(vtpu_device_submit(bench.device, &task), TPT_UNAVAILABLE, "exiting");
  vtpu_device_unlock(bench.device);
  vtpu_device_release(bench.device);
}

int main(void) {
  RUN(test_tasks_run_in_order);
  RUN(test_release_runs_what_is_queued);
  RUN(test_the_event_tells_the_outcome_and_finds_an_idle_queue);
  RUN(test_a_failed_input_skips_the_task_and_carries_on);
  RUN(test_devices_wait_for_each_other);
  RUN(test_threads_submit_at_once);
  RUN(test_the_worker_wakes_from_sleep);
  RUN(test_blocks_live_as_long_as_owners_or_readers);
  RUN(test_scratch_grows);
  RUN(test_abandoned_devices_start_nothing_more);
  return TEST_RESULT;
}
