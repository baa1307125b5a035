// Geometry of pools: output sizes, adaptive windows, repetition over tiles.
#include "aten/pool.h"
#include "vtpu/program_probe.h"

// Reads a pool over one row of `size` elements: kernel, stride, padding, dilation, ceil mode.
static tpt_status_t read_row(int64_t size, const int64_t* numbers, tpt_pool_t* out) {
  tpt_arg_t args[6] = {{.kind = TPT_ARG_NONE}};
  int64_t lists[4][2];
  for (int i = 0; i < 4; i++) {
    lists[i][0] = i == 2 ? 0 : 1;  // the first dimension is not pooled
    lists[i][1] = numbers[i];
    args[1 + i] = (tpt_arg_t){.kind = TPT_ARG_INTS, .count = 2, .ints = lists[i]};
  }
  args[5] = (tpt_arg_t){.kind = TPT_ARG_BOOL, .number = {.i = numbers[4]}};
  tpt_lower_t l = {.op = tpt_op_find("max_pool2d_with_indices"), .args = args, .arg_count = 6};
  tpt_type_t type = type_of(TPT_F32, 4, DIMS(1, 1, 1, size));
  return tpt_pool_read(&l, &type, &(tpt_pool_args_t){1, 4, 5}, out);
}

static void test_read_counts_windows(void) {
  tpt_pool_t p;
  if (CHECK_OK(read_row(7, DIMS(3, 2, 1, 1, 0), &p))) CHECK_EQ(p.out[1], 4);
  if (CHECK_OK(read_row(7, DIMS(2, 2, 0, 1, 0), &p))) CHECK_EQ(p.out[1], 3);
  if (CHECK_OK(read_row(7, DIMS(2, 2, 0, 1, 1), &p))) CHECK_EQ(p.out[1], 4);
  if (CHECK_OK(read_row(7, DIMS(2, 1, 0, 3, 0), &p))) CHECK_EQ(p.out[1], 4);
}

static void test_ceil_mode_never_starts_in_the_right_padding(void) {
  tpt_pool_t p;
  if (CHECK_OK(read_row(2, DIMS(2, 3, 1, 1, 1), &p))) CHECK_EQ(p.out[1], 1);
}

static void test_read_refuses_bad_numbers(void) {
  tpt_pool_t p;
  CHECK_FAILS(read_row(7, DIMS(0, 1, 0, 1, 0), &p), TPT_INVALID_ARGUMENT, "kernel size");
  CHECK_FAILS(read_row(7, DIMS(2, 0, 0, 1, 0), &p), TPT_INVALID_ARGUMENT, "stride");
  CHECK_FAILS(read_row(7, DIMS(2, 1, 2, 1, 0), &p), TPT_INVALID_ARGUMENT, "pad");
  CHECK_FAILS(read_row(7, DIMS(2, 1, 0, 0, 0), &p), TPT_INVALID_ARGUMENT, "dilation");
  CHECK_FAILS(read_row(2, DIMS(3, 1, 0, 1, 0), &p), TPT_INVALID_ARGUMENT, "too small");
}

static void test_adaptive_windows_cover_the_input(void) {
  tpt_pool_t p = {.count = 1, .in = {7}, .out = {3}};
  const int64_t start[3] = {0, 2, 4}, end[3] = {3, 5, 7};
  for (int o = 0; o < 3; o++) {
    CHECK_EQ(tpt_pool_start(&p, 0, o), start[o]);
    CHECK_EQ(tpt_pool_end(&p, 0, o), end[o]);
  }
  CHECK(!tpt_pool_is_even(&p, 0));
  p.out[0] = 7;
  CHECK(tpt_pool_is_even(&p, 0));
}

static void test_taps_hold_the_windows(void) {
  tpt_graph_t* g = program_graph();
  tpt_pool_t p = {.count = 1, .in = {5}, .out = {3}, .kernel = {3}};
  tpt_taps_t taps;
  if (tpt_pool_taps(g, &p, 0, &taps)) {
    const int64_t want[9] = {0, 1, -1, 1, 2, 3, 3, 4, -1};
    for (int i = 0; i < 9; i++)
      CHECK_EQ(taps.index[i], want[i]);
  }
  tpt_graph_release(g);
}

// Three elements repeated over tiles of two in an input of `size`.
static void check_repeat(int64_t size, const float* want) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(1, 3));
  tpt_pool_t p = {.count = 1, .first = 1, .in = {size}, .out = {3}};
  p.kernel[0] = p.stride[0] = 2;
  p.dilation[0] = 1;
  CHECK(tpt_pool_tiles(&p, 0));
  tpt_value_t y = tpt_pool_repeat(g, tpt_graph_parameter(g, &type), &p, 0);
  CHECK_EQ(tpt_graph_type(g, y)->dims[1], size);
  tpt_graph_return(g, &y, 1);
  float x[3] = {1, 2, 3};
  const void* in[1] = {x};
  void* out[1] = {NULL};
  if (program_eval(g, in, out, false)) {
    for (int64_t i = 0; i < size; i++)
      CHECK_NEAR(((float*)out[0])[i], want[i], 0);
  }
  free(out[0]);
}

static void test_repeat_fits_the_input(void) {
  check_repeat(6, (float[]){1, 1, 2, 2, 3, 3});
  check_repeat(5, (float[]){1, 1, 2, 2, 3});
  check_repeat(7, (float[]){1, 1, 2, 2, 3, 3, 0});
}

int main(void) {
  RUN(test_read_counts_windows);
  RUN(test_ceil_mode_never_starts_in_the_right_padding);
  RUN(test_read_refuses_bad_numbers);
  RUN(test_adaptive_windows_cover_the_input);
  RUN(test_taps_hold_the_windows);
  RUN(test_repeat_fits_the_input);
  return TEST_RESULT;
}
