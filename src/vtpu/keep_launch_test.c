// Kept operands are never stale: donations, frees, given out addresses and other programs between two
// calls of a product, inline and queued, for one row (rounded copies), few and many (packed ones).
#include "base/check.h"
#include "vtpu/launch.h"
#include "vtpu/transfer.h"

enum { K = 128, N = 96, LIMIT = 1 << 20 };

typedef struct bench {
  vtpu_device_t* device;
  tpt_pool_t *pool, *serial;
  vtpu_code_t* bump;
} bench_t;

static vtpu_code_t* compile(const char* text) {
  vtpu_code_t* code = NULL;
  (void)!CHECK_OK(vtpu_code_create(text, strlen(text), &code));
  return code;
}

static vtpu_code_t* product_of(int rows, const char* precision) {
  char text[1000];
  snprintf(
      text, sizeof(text),
      "func.func @main(%%x: tensor<%dx%dxf32>, %%w: tensor<%dx%dxf32>) -> tensor<%dx%dxf32> {\n"
      "  %%y = stablehlo.dot_general %%x, %%w, contracting_dims = [1] x [0], precision = [%s, %s]"
      " : (tensor<%dx%dxf32>, tensor<%dx%dxf32>) -> tensor<%dx%dxf32>\n"
      "  return %%y : tensor<%dx%dxf32>\n}\n",
      rows, K, K, N, rows, N, precision, precision, rows, K, K, N, rows, N, rows, N);
  return compile(text);
}

static bench_t open_bench(int64_t inline_limit, size_t keep) {
  char text[1000];
  snprintf(
      text, sizeof(text),
      "func.func @main(%%w: tensor<%dx%dxf32> {tf.aliasing_output = 0 : i32}) -> tensor<%dx%dxf32> "
      "{\n  %%one = stablehlo.constant dense<1.0> : tensor<%dx%dxf32>\n"
      "  %%y = stablehlo.add %%w, %%one : tensor<%dx%dxf32>\n"
      "  return %%y : tensor<%dx%dxf32>\n}\n",
      K, N, K, N, K, N, K, N, K, N);
  bench_t b = {.bump = compile(text)};
  (void)!CHECK_OK(tpt_pool_create(2, &b.pool));
  (void)!CHECK_OK(tpt_pool_create(1, &b.serial));
  vtpu_device_params_t params = {.hbm_size = 4 << 20,
                                 .pool = b.pool,
                                 .serial = b.serial,
                                 .inline_limit = inline_limit,
                                 .keep = keep};
  (void)!CHECK_OK(vtpu_device_create(&params, &b.device));
  return b;
}

static void close_bench(bench_t* b) {
  vtpu_device_stop(b->device);  // a task gives its keeps back after it was done
  CHECK_EQ(b->device->buffer_count, 0);
  CHECK_EQ(vtpu_keeper_in_use(b->device->keeper), 0);
  vtpu_device_release(b->device);
  tpt_pool_release(b->pool);
  tpt_pool_release(b->serial);
  vtpu_code_release(b->bump);
}

static vtpu_buffer_t* filled(bench_t* b, int64_t rows, int64_t cols, float value) {
  static float data[64 * K];
  for (int64_t i = 0; i < rows * cols && i < 64 * K; i++)
    data[i] = value;
  static float weights[K * N];
  for (int64_t i = 0; i < K * N; i++)
    weights[i] = value;
  vtpu_upload_t upload = {.type = tpt_type_make(TPT_F32, 2, (int64_t[]){rows, cols}),
                          .data = cols == K ? data : weights,
                          .is_call_only = true};
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* done = NULL;
  (void)!CHECK_OK(vtpu_buffer_upload(b->device, &upload, &buffer, &done));
  vtpu_event_release(done);
  return buffer;
}

static vtpu_buffer_t* launch(bench_t* b, vtpu_code_t* code, vtpu_buffer_t* x, vtpu_buffer_t* w) {
  vtpu_buffer_t *args[] = {x ? x : w, w}, *result = NULL;
  vtpu_launch_t call = {
      .device = b->device, .code = code, .args = args, .arg_count = x ? 2 : 1, .results = &result};
  (void)!CHECK_OK(vtpu_launch_run(&call));
  return result;
}

// Every element of the buffer (destroyed) is `want`.
static void expect(vtpu_buffer_t* take_buffer, float want) {
  static float got[64 * N];
  vtpu_event_t* done = NULL;
  vtpu_download_t download = {.data = got};
  if (!CHECK_OK(vtpu_buffer_download(take_buffer, &download, &done))) return;
  (void)!CHECK_OK(tpt_status_clone(vtpu_event_await(done)));
  vtpu_event_release(done);
  int wrong = 0;
  for (int64_t i = 0; i < tpt_type_count(&take_buffer->type); i++)
    wrong += got[i] != want;
  CHECK_EQ(wrong, 0);
  vtpu_buffer_destroy(take_buffer);
}

static const int64_t limits[] = {1000000000, -1};
static const int row_counts[] = {1, 3, 20};
static const char* const precisions[] = {"DEFAULT", "HIGHEST"};

typedef void (*case_fn_t)(bench_t* b, vtpu_code_t* code, int rows, bool may_keep);

// Inline and queued, by rows and precision. HIGHEST of few rows is BLAS's, which packs nothing.
static void for_all(case_fn_t fn) {
  for (int i = 0; i < 12; i++) {
    int rows = row_counts[i % 3];
    const char* precision = precisions[i / 3 % 2];
    bench_t b = open_bench(limits[i / 6], LIMIT);
    vtpu_code_t* code = product_of(rows, precision);
    fn(&b, code, rows, *precision == 'D');
    close_bench(&b);
    vtpu_code_release(code);
  }
}

static void repeat(bench_t* b, vtpu_code_t* code, vtpu_buffer_t* x, vtpu_buffer_t* w, float want) {
  for (int i = 0; i < 5; i++)
    expect(launch(b, code, x, w), want);
}

static void case_kept(bench_t* b, vtpu_code_t* code, int rows, bool may_keep) {
  vtpu_buffer_t *x = filled(b, rows, K, 1), *w = filled(b, K, N, 2);
  expect(launch(b, code, x, w), 2 * K);
  CHECK_EQ(vtpu_keeper_in_use(b->device->keeper), 0);  // used once
  repeat(b, code, x, w, 2 * K);
  if (may_keep) CHECK(vtpu_keeper_in_use(b->device->keeper) >= K * N * 2);
  vtpu_buffer_destroy(w);
  vtpu_buffer_destroy(x);
}

static void case_updated_in_place(bench_t* b, vtpu_code_t* code, int rows, bool may_keep) {
  vtpu_buffer_t *x = filled(b, rows, K, 1), *w = filled(b, K, N, 2);
  (void)may_keep;
  for (int step = 0; step < 4; step++) {
    repeat(b, code, x, w, (float)(2 + step) * K);
    vtpu_block_t* block = w->block;
    vtpu_buffer_t* next = launch(b, b->bump, NULL, w);
    CHECK(next && next->block == block);
    vtpu_buffer_destroy(w);
    w = next;
  }
  repeat(b, code, x, w, 6 * K);
  vtpu_buffer_destroy(w);
  vtpu_buffer_destroy(x);
}

// Nothing is awaited before all is queued: a product still computes with the copy of its own time.
static void case_updates_queued_between(bench_t* b, vtpu_code_t* code, int rows, bool may_keep) {
  enum { STEPS = 12 };
  vtpu_buffer_t *x = filled(b, rows, K, 1), *w = filled(b, K, N, 1), *results[3 * STEPS];
  (void)may_keep;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < 3; i++)
      results[3 * step + i] = launch(b, code, x, w);
    vtpu_buffer_t* next = launch(b, b->bump, NULL, w);
    vtpu_buffer_destroy(w);
    w = next;
  }
  for (int i = 0; i < 3 * STEPS; i++)
    expect(results[i], (float)(1 + i / 3) * K);
  vtpu_buffer_destroy(w);
  vtpu_buffer_destroy(x);
}

static void case_freed_and_reused(bench_t* b, vtpu_code_t* code, int rows, bool may_keep) {
  vtpu_buffer_t* x = filled(b, rows, K, 1);
  const void* last = NULL;
  int again = 0;
  (void)may_keep;
  for (int step = 0; step < 4; step++) {
    vtpu_buffer_t* w = filled(b, K, N, (float)step);
    again += w->block->data == last;
    last = w->block->data;
    repeat(b, code, x, w, (float)step * K);
    vtpu_buffer_destroy(w);
    if (b->device->params.inline_limit > 0)
      CHECK_EQ(vtpu_keeper_in_use(b->device->keeper) >= K * N * 2, 0);
  }
  CHECK(again > 0);  // else the test says nothing
  vtpu_buffer_destroy(x);
}

static void case_shared_by_programs(bench_t* b, vtpu_code_t* code, int rows, bool may_keep) {
  vtpu_code_t* other = product_of(rows + 30, may_keep ? "DEFAULT" : "HIGHEST");
  vtpu_buffer_t *x = filled(b, rows, K, 1), *w = filled(b, K, N, 2),
                *y = filled(b, rows + 30, K, 3);
  for (int i = 0; i < 5; i++) {
    expect(launch(b, code, x, w), 2 * K);
    expect(launch(b, other, y, w), 6 * K);
  }
  size_t in_use = vtpu_keeper_in_use(b->device->keeper);
  if (rows > 16) CHECK(in_use < 3 * K * N * sizeof(float));  // the weights once, and x, y
  vtpu_buffer_t* next = launch(b, b->bump, NULL, w);
  for (int i = 0; i < 5; i++) {
    expect(launch(b, other, y, next), 9 * K);
    expect(launch(b, code, x, next), 3 * K);
  }
  vtpu_buffer_destroy(w);
  vtpu_buffer_destroy(next);
  vtpu_buffer_destroy(x);
  vtpu_buffer_destroy(y);
  vtpu_device_drain(b->device);
  vtpu_code_release(other);
}

// Who has the address may write there unseen.
static void case_address_given_out(bench_t* b, vtpu_code_t* code, int rows, bool may_keep) {
  vtpu_buffer_t *x = filled(b, rows, K, 1), *w = filled(b, K, N, 2);
  void* address = NULL;
  (void)may_keep;
  repeat(b, code, x, w, 2 * K);
  if (!CHECK_OK(vtpu_buffer_address(w, &address))) return;
  for (int step = 3; step < 6; step++) {
    for (int i = 0; i < K * N; i++)
      ((float*)address)[i] = (float)step;
    repeat(b, code, x, w, (float)step * K);
  }
  vtpu_buffer_destroy(w);
  vtpu_buffer_destroy(x);
}

static void test_unchanged_operands_are_kept(void) {
  for_all(case_kept);
}
static void test_updates_in_place_drop_copies(void) {
  for_all(case_updated_in_place);
}
static void test_queued_updates_do_not_mix(void) {
  for_all(case_updates_queued_between);
}
static void test_reused_memory_has_no_past(void) {
  for_all(case_freed_and_reused);
}
static void test_programs_share_copies(void) {
  for_all(case_shared_by_programs);
}
static void test_given_out_addresses_keep_nothing(void) {
  for_all(case_address_given_out);
}

static void test_a_bound_of_zero_keeps_nothing(void) {
  bench_t b = open_bench(1000000000, 0);
  vtpu_code_t* code = product_of(20, "DEFAULT");
  vtpu_buffer_t *x = filled(&b, 20, K, 1), *w = filled(&b, K, N, 2);
  repeat(&b, code, x, w, 2 * K);
  CHECK_EQ(vtpu_keeper_in_use(b.device->keeper), 0);
  vtpu_buffer_destroy(w);
  vtpu_buffer_destroy(x);
  close_bench(&b);
  vtpu_code_release(code);
}

int main(void) {
  RUN(test_unchanged_operands_are_kept);
  RUN(test_updates_in_place_drop_copies);
  RUN(test_queued_updates_do_not_mix);
  RUN(test_reused_memory_has_no_past);
  RUN(test_programs_share_copies);
  RUN(test_given_out_addresses_keep_nothing);
  RUN(test_a_bound_of_zero_keeps_nothing);
  return TEST_RESULT;
}
