// Where tiles are summed: in the result if its type is that of the sum and nobody waits for the tile,
// else in the lane; rounding then writes the tile's rows to their places.
#include "vtpu/dot_tile.h"
#include "vtpu/kernel_probe.h"

static vtpu_dot_target_t target_of(tpt_dtype_t result, vtpu_epilogue_t* epilogue,
                                   size_t* out_lane) {
  vtpu_kernel_t kernel = {.epilogue = epilogue};
  vtpu_dot_shape_t shape = {
      .result = result, .compute = VTPU_COMPUTE_F32, .batch_count = 3, .m = 5, .n = 7, .k = 1};
  vtpu_dot_target_t target = {0};
  *out_lane = 0;
  vtpu_dot_target_make(&kernel, &shape, (int64_t[]){2, 4}, false, out_lane, &target);
  return target;
}

static void test_sums_lie_in_the_result_if_they_may(void) {
  size_t lane;
  CHECK(target_of(TPT_F32, NULL, &lane).is_direct && lane == 0);
  CHECK(!target_of(TPT_BF16, NULL, &lane).is_direct && lane >= 2 * 4 * 4);
  vtpu_epilogue_t epilogue = {0};
  CHECK(!target_of(TPT_F32, &epilogue, &lane).is_direct);
  CHECK(epilogue.is_taken);
  CHECK_EQ(epilogue.rows, 15);
  CHECK_EQ(epilogue.cols, 7);
  CHECK_EQ(epilogue.row_align, 1);  // blocks of the second batch element start at row 5
  CHECK_EQ(epilogue.ld, 4);
}

static void test_a_tile_is_rounded_into_its_place(void) {
  size_t lane;
  vtpu_dot_target_t target = target_of(TPT_F16, NULL, &lane);
  static _Alignas(64) char memory[4096];
  uint16_t out[3 * 5 * 7] = {0};
  void* results[1] = {out};
  vtpu_exec_t exec = {0};
  vtpu_dot_call_t call = {.exec = &exec, .out = results};
  vtpu_dot_tile_t tile = {.batch = 1, .first = {2, 4}, .count = {2, 3}, .memory = memory};
  vtpu_dot_tile_begin(&target, &call, &tile);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      ((float*)tile.sum)[i * tile.ld + j] = (float)(1 + i * 3 + j);
  vtpu_dot_tile_end(&target, &call, &tile);
  int found = 0;
  for (int64_t i = 0; i < 3 * 5 * 7; i++) {
    int64_t row = i / 7 - 7, col = i % 7 - 4;  // row 2 of batch element 1
    bool is_inside = row >= 0 && row < 2 && col >= 0 && col < 3;
    double want = is_inside ? (double)(1 + row * 3 + col) : 0;
    found += probe_get(TPT_F16, out, i) == want;
  }
  CHECK_EQ(found, 3 * 5 * 7);
}

int main(void) {
  RUN(test_sums_lie_in_the_result_if_they_may);
  RUN(test_a_tile_is_rounded_into_its_place);
  return TEST_RESULT;
}
