// One-axis folds against their definition, over strides, dilations, holes, margins and inner sizes.
#include "vtpu/kernel_probe.h"
#include "vtpu/window.h"

static void pass_case(const vtpu_window_axis_t* axis, int64_t rows, int64_t inner) {
  int64_t in_count = rows * axis->in * inner, out_count = rows * axis->out * inner;
  int32_t* in = malloc((size_t)(in_count + 1) * 4);
  int32_t* out = malloc((size_t)(out_count + 1) * 4);
  int32_t* temp = malloc((size_t)(2 * out_count + 1) * 4);
  int32_t start = 100;
  for (int64_t i = 0; i < in_count; i++)
    in[i] = (int32_t)probe_int(-50, 50);
  vtpu_window_pass_t pass = {.axis = *axis,
                             .rows = rows,
                             .inner = inner,
                             .size = 4,
                             .monoid = vtpu_monoid(TPT_HLO_ADD, TPT_S32),
                             .start = &start};
  vtpu_window_pass_run(&pass, in, out, temp);
  int wrong = 0;
  for (int64_t i = 0; i < out_count; i++) {
    int64_t row = i / inner / axis->out, j = i / inner % axis->out;
    int32_t want = start;
    for (int64_t t = 0; t < axis->taps; t++) {
      int64_t place = vtpu_window_place(axis, j, t);
      if (place >= 0) want += in[(row * axis->in + place) * inner + i % inner];
    }
    wrong += out[i] != want;
  }
  CHECK_EQ(wrong, 0);
  free(in);
  free(out);
  free(temp);
}

static void test_passes_match_their_definition(void) {
  for (int round = 0; round < 600; round++) {
    vtpu_window_axis_t a = {.in = probe_int(0, 12),
                            .taps = probe_int(1, 5),
                            .stride = probe_int(1, 4),
                            .dilation = probe_int(1, 3),
                            .low = probe_int(-2, 5),
                            .base = probe_int(1, 3)};
    a.out = probe_int(1, 8);
    pass_case(&a, probe_int(1, 3), probe_int(1, 12));
  }
}

static void test_tiling_windows_and_running_folds(void) {
  for (int64_t n = 1; n < 12; n++) {
    for (int64_t inner = 1; inner < 20; inner += 6) {
      vtpu_window_axis_t tiles = {
          .in = 3 * n, .out = n, .taps = 3, .stride = 3, .dilation = 1, .base = 1};
      pass_case(&tiles, 4, inner);
      vtpu_window_axis_t forward = {
          .in = n, .out = n, .taps = n + 1, .stride = 1, .dilation = 1, .low = n, .base = 1};
      pass_case(&forward, 3, inner);
      vtpu_window_axis_t backward = forward;
      backward.low = 0;
      pass_case(&backward, 3, inner);
    }
  }
}

int main(void) {
  RUN(test_passes_match_their_definition);
  RUN(test_tiling_windows_and_running_folds);
  return TEST_RESULT;
}
