// Tests of launches: inline and queued, poison, donation committed, handed back and refused, memory,
// checks of arguments, threads and devices at once.
#include "base/check.h"
#include "vtpu/launch.h"
#include "vtpu/plugin_probe.h"
#include "vtpu/transfer.h"

typedef struct bench {
  vtpu_device_t* device;
  tpt_pool_t *pool, *serial;
  vtpu_code_t *add, *bump, *pick;
} bench_t;

static vtpu_code_t* compile(const char* text) {
  vtpu_code_t* code = NULL;
  CHECK_OK(vtpu_code_create(text, strlen(text), &code));
  return code;
}

static bench_t open_bench(int64_t inline_limit) {
  bench_t b = {.add = compile(probe_add), .bump = compile(probe_bump), .pick = compile(probe_pick)};
  CHECK_OK(tpt_pool_create(2, &b.pool));
  CHECK_OK(tpt_pool_create(1, &b.serial));
  vtpu_device_params_t params = {
      .hbm_size = 1 << 20, .pool = b.pool, .serial = b.serial, .inline_limit = inline_limit};
  CHECK_OK(vtpu_device_create(&params, &b.device));
  return b;
}

static size_t in_use(vtpu_device_t* device) {
  vtpu_hbm_stats_t stats;
  vtpu_device_lock(device);
  vtpu_hbm_get_stats(device->hbm, &stats);
  vtpu_device_unlock(device);
  return stats.in_use;
}

// Also checks that nothing is left behind.
static void close_bench(bench_t* b) {
  vtpu_device_drain(b->device);
  CHECK_EQ(b->device->buffer_count, 0);
  CHECK_EQ(in_use(b->device), 0);
  vtpu_device_release(b->device);
  tpt_pool_release(b->pool);
  tpt_pool_release(b->serial);
  vtpu_code_release(b->add);
  vtpu_code_release(b->bump);
  vtpu_code_release(b->pick);
}

static vtpu_buffer_t* floats(bench_t* b, float x) {
  const float data[] = {x, x + 1, x + 2, x + 3};
  const int64_t four = 4;
  vtpu_upload_t upload = {
      .type = tpt_type_make(TPT_F32, 1, &four), .data = data, .is_call_only = true};
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* done = NULL;
  CHECK_OK(vtpu_buffer_upload(b->device, &upload, &buffer, &done));
  vtpu_event_release(done);
  return buffer;
}

static vtpu_buffer_t* index_of(bench_t* b, int32_t index) {
  const int64_t one = 1;
  vtpu_upload_t upload = {
      .type = tpt_type_make(TPT_S32, 1, &one), .data = &index, .is_call_only = true};
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* done = NULL;
  CHECK_OK(vtpu_buffer_upload(b->device, &upload, &buffer, &done));
  vtpu_event_release(done);
  return buffer;
}

static tpt_status_t read_floats(vtpu_buffer_t* buffer, float* out) {
  vtpu_event_t* done = NULL;
  vtpu_download_t download = {.data = out};
  TPT_TRY(vtpu_buffer_download(buffer, &download, &done));
  tpt_status_t status = tpt_status_clone(vtpu_event_await(done));
  vtpu_event_release(done);
  return status;
}

static void check_floats(vtpu_buffer_t* buffer, float first, float step) {
  float got[4] = {0};
  if (!CHECK_OK(read_floats(buffer, got))) return;
  for (int i = 0; i < 4; i++)
    CHECK_EQ(got[i], first + (float)i * step);
}

static tpt_status_t run(bench_t* b, vtpu_code_t* code, vtpu_buffer_t* x, vtpu_buffer_t* y,
                        vtpu_buffer_t** results) {
  vtpu_buffer_t* args[] = {x, y};
  vtpu_launch_t launch = {
      .device = b->device, .code = code, .args = args, .arg_count = 2, .results = results};
  return vtpu_launch_run(&launch);
}

// A float[4] buffer that is pending until `gate` is set.
static vtpu_buffer_t* gated(bench_t* b, vtpu_event_t* gate) {
  vtpu_buffer_t* buffer = floats(b, 0);
  buffer->ready = vtpu_event_retain(gate);
  return buffer;
}

static const int64_t limits[] = {1000000000, -1};

static void test_results_are_right_inline_and_queued(void) {
  for (int k = 0; k < 2; k++) {
    bench_t b = open_bench(limits[k]);
    vtpu_buffer_t *x = floats(&b, 1), *y = floats(&b, 10), *sum = NULL, *next = NULL;
    CHECK_OK(run(&b, b.add, x, y, &sum));
    if (k == 0) CHECK_EQ(vtpu_buffer_state(sum), VTPU_EVENT_READY);
    CHECK_OK(run(&b, b.add, sum, y, &next));
    check_floats(next, 21, 3);
    check_floats(sum, 11, 2);
    check_floats(x, 1, 1);
    vtpu_buffer_destroy(x);
    vtpu_buffer_destroy(y);
    vtpu_buffer_destroy(sum);
    vtpu_buffer_destroy(next);
    close_bench(&b);
  }
}

static void test_completion_event(void) {
  for (int k = 0; k < 2; k++) {
    bench_t b = open_bench(limits[k]);
    vtpu_buffer_t *x = floats(&b, 1), *sum = NULL;
    vtpu_buffer_t* args[] = {x, x};
    vtpu_event_t* done = NULL;
    vtpu_launch_t launch = {.device = b.device,
                            .code = b.add,
                            .args = args,
                            .arg_count = 2,
                            .results = &sum,
                            .out_done = &done};
    CHECK_OK(vtpu_launch_run(&launch));
    CHECK(vtpu_event_await(done) == NULL);
    CHECK_EQ(vtpu_buffer_state(sum), VTPU_EVENT_READY);
    vtpu_event_release(done);
    vtpu_buffer_destroy(x);
    vtpu_buffer_destroy(sum);
    close_bench(&b);
  }
}

static void test_memory_is_reused_in_submission_order(void) {
  bench_t b = open_bench(-1);
  vtpu_event_t* gate = NULL;
  CHECK_OK(vtpu_event_create(&gate));
  vtpu_buffer_t *x = gated(&b, gate), *y = floats(&b, 1), *sum = NULL;
  CHECK_OK(run(&b, b.add, x, y, &sum));
  // Each step frees the last sum while it is queued; the memory goes round.
  size_t before = in_use(b.device);
  for (int i = 0; i < 100; i++) {
    vtpu_buffer_t* next = NULL;
    CHECK_OK(run(&b, b.add, sum, y, &next));
    vtpu_buffer_destroy(sum);
    sum = next;
  }
  CHECK_EQ(in_use(b.device), before);
  vtpu_buffer_destroy(x);
  vtpu_event_set(gate, NULL);
  check_floats(sum, 101, 102);  // (0, 1, 2, 3) + 101 * (1, 2, 3, 4)
  vtpu_buffer_destroy(y);
  vtpu_buffer_destroy(sum);
  vtpu_event_release(gate);
  close_bench(&b);
}

static void test_donation_takes_the_memory_in_place(void) {
  for (int k = 0; k < 2; k++) {
    bench_t b = open_bench(limits[k]);
    vtpu_buffer_t *x = floats(&b, 1), *y = floats(&b, 10), *sum = NULL, *again = NULL;
    char* memory = x->block->data;
    CHECK_OK(run(&b, b.bump, x, y, &sum));
    CHECK(vtpu_buffer_is_deleted(x));
    CHECK(sum->block->data == memory);
    CHECK_FAILS(run(&b, b.add, x, y, &again), TPT_INVALID_ARGUMENT,
                "deleted or donated (tensor<4xf32>); argument 0");
    check_floats(sum, 11, 2);
    vtpu_device_drain(b.device);
    CHECK(vtpu_buffer_is_deleted(x));
    vtpu_buffer_destroy(x);
    check_floats(sum, 11, 2);
    vtpu_buffer_destroy(y);
    vtpu_buffer_destroy(sum);
    close_bench(&b);
  }
}

static void test_chains_of_donations_stay_in_place_while_handles_live(void) {
  bench_t b = open_bench(-1);
  vtpu_event_t* gate = NULL;
  CHECK_OK(vtpu_event_create(&gate));
  vtpu_buffer_t *y = floats(&b, 1), *chain[20] = {gated(&b, gate)};
  char* memory = chain[0]->block->data;
  for (int i = 1; i < 20; i++)
    CHECK_OK(run(&b, b.bump, chain[i - 1], y, &chain[i]));
  CHECK(chain[19]->block->data == memory);
  vtpu_event_set(gate, NULL);
  check_floats(chain[19], 19, 20);
  for (int i = 0; i < 20; i++)
    vtpu_buffer_destroy(chain[i]);
  vtpu_buffer_destroy(y);
  vtpu_event_release(gate);
  close_bench(&b);
}

static void test_kept_and_held_arguments_are_copied(void) {
  for (int k = 0; k < 2; k++) {
    bench_t b = open_bench(limits[k]);
    vtpu_buffer_t *x = floats(&b, 1), *y = floats(&b, 10), *kept = NULL, *held = NULL;
    vtpu_buffer_t* args[] = {x, y};
    const int64_t keep[] = {0};
    vtpu_launch_t launch = {.device = b.device,
                            .code = b.bump,
                            .args = args,
                            .arg_count = 2,
                            .keep = keep,
                            .keep_count = 1,
                            .results = &kept};
    CHECK_OK(vtpu_launch_run(&launch));
    CHECK(!vtpu_buffer_is_deleted(x));
    CHECK(kept->block->data != x->block->data);
    CHECK_OK(vtpu_buffer_add_external(x));
    char* memory = x->block->data;
    CHECK_OK(run(&b, b.bump, x, y, &held));
    CHECK(held->block->data != memory);
    CHECK(vtpu_buffer_is_deleted(x));
    check_floats(held, 11, 2);
    CHECK_EQ(((float*)memory)[0], 1);  // the outside holder's value is untouched
    check_floats(kept, 11, 2);
    vtpu_buffer_destroy(x);
    vtpu_buffer_destroy(y);
    vtpu_buffer_destroy(kept);
    vtpu_buffer_destroy(held);
    close_bench(&b);
  }
}

static void test_donating_a_buffer_that_is_passed_twice_is_refused(void) {
  bench_t b = open_bench(0);
  vtpu_buffer_t *x = floats(&b, 1), *sum = NULL;
  CHECK_FAILS(run(&b, b.bump, x, x, &sum), TPT_INVALID_ARGUMENT, "f(donate(a), a)");
  CHECK(!vtpu_buffer_is_deleted(x));
  CHECK_OK(run(&b, b.add, x, x, &sum));
  check_floats(sum, 2, 2);
  vtpu_buffer_destroy(x);
  vtpu_buffer_destroy(sum);
  close_bench(&b);
}

static void test_failed_inline_launch_hands_donations_back(void) {
  bench_t b = open_bench(1000000000);
  vtpu_buffer_t *x = floats(&b, 1), *i = index_of(&b, 9), *j = index_of(&b, 2);
  vtpu_buffer_t* results[2] = {NULL, NULL};
  CHECK_FAILS(run(&b, b.pick, x, i, results), TPT_OUT_OF_RANGE, "pick: index 9");
  CHECK(results[0] == NULL && results[1] == NULL);
  CHECK(!vtpu_buffer_is_deleted(x));
  check_floats(x, 1, 1);
  CHECK_OK(run(&b, b.pick, x, j, results));
  CHECK(vtpu_buffer_is_deleted(x));
  check_floats(results[0], 4, 1);
  vtpu_buffer_destroy(x);
  vtpu_buffer_destroy(i);
  vtpu_buffer_destroy(j);
  vtpu_buffer_destroy(results[0]);
  vtpu_buffer_destroy(results[1]);
  close_bench(&b);
}

static void test_failed_queued_launch_hands_donations_back(void) {
  bench_t b = open_bench(-1);
  vtpu_buffer_t *x = floats(&b, 1), *y = floats(&b, 0), *i = index_of(&b, 9), *after = NULL;
  vtpu_buffer_t* results[2] = {NULL, NULL};
  float got[4];
  CHECK_OK(run(&b, b.pick, x, i, results));
  CHECK_OK(run(&b, b.bump, results[0], y, &after));
  CHECK_FAILS(read_floats(after, got), TPT_OUT_OF_RANGE, "pick: index 9");
  CHECK_FAILS(read_floats(results[1], got), TPT_OUT_OF_RANGE, "pick: index 9");
  vtpu_device_drain(b.device);
  CHECK(!vtpu_buffer_is_deleted(x));
  CHECK(!vtpu_buffer_is_deleted(results[0]));
  check_floats(x, 1, 1);
  vtpu_buffer_destroy(x);
  vtpu_buffer_destroy(y);
  vtpu_buffer_destroy(i);
  vtpu_buffer_destroy(after);
  vtpu_buffer_destroy(results[0]);
  vtpu_buffer_destroy(results[1]);
  close_bench(&b);
}

static void test_failed_arguments_poison_results(void) {
  for (int k = 0; k < 2; k++) {
    bench_t b = open_bench(limits[k]);
    vtpu_event_t* event = NULL;
    vtpu_buffer_t *bad = NULL, *y = floats(&b, 1), *sum = NULL, *next = NULL;
    float got[4];
    CHECK_OK(vtpu_event_create(&event));
    vtpu_event_set(event, tpt_status_make(TPT_DATA_LOSS, "f", 1, "gone"));
    CHECK_OK(vtpu_buffer_create_failed(b.device, &y->type, event, &bad));
    vtpu_event_release(event);
    CHECK_OK(run(&b, b.bump, y, bad, &sum));
    CHECK(!vtpu_buffer_is_deleted(y));
    CHECK_OK(run(&b, b.add, y, sum, &next));
    CHECK_FAILS(read_floats(sum, got), TPT_DATA_LOSS, "gone");
    CHECK_FAILS(read_floats(next, got), TPT_DATA_LOSS, "gone");
    vtpu_buffer_destroy(bad);
    vtpu_buffer_destroy(y);
    vtpu_buffer_destroy(sum);
    vtpu_buffer_destroy(next);
    close_bench(&b);
  }
}

static void test_pending_argument_that_fails_poisons_results(void) {
  bench_t b = open_bench(1000000000);
  vtpu_event_t* gate = NULL;
  float got[4];
  CHECK_OK(vtpu_event_create(&gate));
  vtpu_buffer_t *x = gated(&b, gate), *y = floats(&b, 1), *sum = NULL;
  CHECK_OK(run(&b, b.add, x, y, &sum));
  CHECK_EQ(vtpu_buffer_state(sum), VTPU_EVENT_PENDING);
  vtpu_event_set(gate, tpt_status_make(TPT_ABORTED, "f", 1, "stopped"));
  CHECK_FAILS(read_floats(sum, got), TPT_ABORTED, "stopped");
  vtpu_buffer_destroy(x);
  vtpu_buffer_destroy(y);
  vtpu_buffer_destroy(sum);
  vtpu_event_release(gate);
  close_bench(&b);
}

static void test_wrong_arguments_name_both_sides(void) {
  bench_t b = open_bench(0), other = open_bench(0);
  const int64_t five = 5;
  tpt_type_t type = tpt_type_make(TPT_F32, 1, &five);
  vtpu_buffer_t *x = floats(&b, 1), *wide = NULL, *i = index_of(&b, 1), *sum = NULL;
  vtpu_buffer_t *far = floats(&other, 1), *args[] = {x, x, x};
  CHECK_OK(vtpu_buffer_create(b.device, &type, &wide));
  CHECK_FAILS(run(&b, b.add, x, wide, &sum), TPT_INVALID_ARGUMENT,
              "argument 1: the program takes tensor<4xf32>, the buffer is tensor<5xf32>");
  CHECK_FAILS(run(&b, b.add, i, x, &sum), TPT_INVALID_ARGUMENT, "the buffer is tensor<1xi32>");
  CHECK_FAILS(run(&b, b.add, x, NULL, &sum), TPT_INVALID_ARGUMENT, "buffer is NULL; argument 1");
  CHECK_FAILS(run(&b, b.add, x, far, &sum), TPT_INVALID_ARGUMENT, "argument 1 is on device");
  vtpu_launch_t launch = {
      .device = b.device, .code = b.add, .args = args, .arg_count = 3, .results = &sum};
  CHECK_FAILS(vtpu_launch_run(&launch), TPT_INVALID_ARGUMENT, "takes 2 arguments, 3 were passed");
  vtpu_buffer_destroy(wide);
  vtpu_buffer_destroy(i);
  vtpu_buffer_destroy(x);
  CHECK_FAILS(run(&b, b.add, x, x, &sum), TPT_INVALID_ARGUMENT, "not a live buffer");
  CHECK(sum == NULL);
  vtpu_buffer_destroy(far);
  close_bench(&b);
  close_bench(&other);
}

static void test_out_of_memory_waits_for_the_queue_then_tells(void) {
  bench_t b = open_bench(-1);
  vtpu_hbm_stats_t stats;
  vtpu_block_t* rest = NULL;
  vtpu_buffer_t *x = floats(&b, 1), *sum = NULL;
  vtpu_device_lock(b.device);
  vtpu_hbm_get_stats(b.device->hbm, &stats);
  CHECK_OK(vtpu_hbm_alloc(b.device->hbm, stats.largest_free, &rest));
  vtpu_device_unlock(b.device);
  CHECK_FAILS(run(&b, b.add, x, x, &sum), TPT_RESOURCE_EXHAUSTED, "out of HBM");
  CHECK(sum == NULL);
  vtpu_device_lock(b.device);
  vtpu_hbm_free(b.device->hbm, rest);
  vtpu_device_unlock(b.device);
  CHECK_OK(run(&b, b.add, x, x, &sum));
  check_floats(sum, 2, 2);
  vtpu_buffer_destroy(x);
  vtpu_buffer_destroy(sum);
  close_bench(&b);
}

typedef struct runner {
  bench_t* bench;
  vtpu_buffer_t* one;
  int wrong;
} runner_t;

static void* run_many(void* arg) {
  runner_t* r = arg;
  for (int i = 0; i < 100; i++) {
    vtpu_buffer_t* sum = floats(r->bench, (float)i);
    for (int k = 0; k < 10; k++) {
      vtpu_buffer_t* next = NULL;
      CHECK_OK(run(r->bench, k % 2 ? r->bench->bump : r->bench->add, sum, r->one, &next));
      vtpu_buffer_destroy(sum);
      sum = next;
    }
    float got[4] = {0};
    CHECK_OK(read_floats(sum, got));
    for (int k = 0; k < 4; k++)
      r->wrong += got[k] != (float)(i + k + 10 * (k + 1));
    vtpu_buffer_destroy(sum);
  }
  return NULL;
}

static void test_threads_launch_at_once(void) {
  for (int k = 0; k < 2; k++) {
    bench_t b = open_bench(limits[k]);
    vtpu_buffer_t* one = floats(&b, 1);
    runner_t runners[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
      runners[i] = (runner_t){&b, one, 0};
      pthread_create(&threads[i], NULL, run_many, &runners[i]);
    }
    for (int i = 0; i < 3; i++) {
      pthread_join(threads[i], NULL);
      CHECK_EQ(runners[i].wrong, 0);
    }
    vtpu_buffer_destroy(one);
    close_bench(&b);
  }
}

int main(void) {
  RUN(test_results_are_right_inline_and_queued);
  RUN(test_completion_event);
  RUN(test_memory_is_reused_in_submission_order);
  RUN(test_donation_takes_the_memory_in_place);
  RUN(test_chains_of_donations_stay_in_place_while_handles_live);
  RUN(test_kept_and_held_arguments_are_copied);
  RUN(test_donating_a_buffer_that_is_passed_twice_is_refused);
  RUN(test_failed_inline_launch_hands_donations_back);
  RUN(test_failed_queued_launch_hands_donations_back);
  RUN(test_failed_arguments_poison_results);
  RUN(test_pending_argument_that_fails_poisons_results);
  RUN(test_wrong_arguments_name_both_sides);
  RUN(test_out_of_memory_waits_for_the_queue_then_tells);
  RUN(test_threads_launch_at_once);
  return TEST_RESULT;
}
