// Packing through strides and tables, and the table of conversions.
#include "base/check.h"
#include "vtpu/panel.h"

static void test_runs_count_consecutive_offsets(void) {
  int64_t table[7] = {5, 6, 7, 2, 4, 5, 4};
  int32_t run[7];
  vtpu_axis_runs(table, 7, run);
  int32_t want[7] = {3, 2, 1, 1, 2, 1, 1};
  CHECK(memcmp(run, want, sizeof(want)) == 0);
}

static void pack_and_check(const vtpu_panel_t* panel, const float* data) {
  float out[12];
  char temp[64];
  vtpu_block_t block = {.row = 1, .col = 1, .row_count = 3, .col_count = 4};
  vtpu_panel_pack(panel, &block, temp, out);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      CHECK(out[i * 4 + j] ==
            data[vtpu_axis_offset(&panel->row, 1 + i) + vtpu_axis_offset(&panel->col, 1 + j)]);
}

static void test_pack_follows_strides_and_tables(void) {
  float data[200];
  for (int i = 0; i < 200; i++)
    data[i] = (float)i;
  vtpu_panel_t panel = {.data = data, .element_size = 4, .out_size = 4};
  panel.row = (vtpu_axis_t){.count = 4, .stride = 9};
  panel.col = (vtpu_axis_t){.count = 5, .stride = 1};
  pack_and_check(&panel, data);
  panel.col.stride = 7;
  pack_and_check(&panel, data);
  int64_t cols[5] = {3, 4, 5, 20, 21};
  int32_t run[5];
  vtpu_axis_runs(cols, 5, run);
  panel.col = (vtpu_axis_t){.count = 5, .table = cols, .run = run};
  pack_and_check(&panel, data);
  panel.widen = vtpu_widen_fn(TPT_F32, VTPU_COMPUTE_F32, VTPU_PART_HIGH);
  pack_and_check(&panel, data);  // small integers are bf16 numbers
}

static void test_parts_add_up_to_the_operand(void) {
  float in[4] = {1.2345678f, -3e38f, INFINITY, 0.0f}, high[4], low[4];
  vtpu_widen_fn(TPT_F32, VTPU_COMPUTE_F32, VTPU_PART_HIGH)(in, high, 4);
  vtpu_widen_fn(TPT_F32, VTPU_COMPUTE_F32, VTPU_PART_LOW)(in, low, 4);
  CHECK_NEAR((double)high[0] + low[0], in[0], 3e-5);
  CHECK(high[0] != in[0] && low[0] != 0);
  CHECK(isinf(high[2]) && low[2] == 0 && high[3] == 0 && low[3] == 0);
  in[0] = NAN;
  vtpu_widen_fn(TPT_F32, VTPU_COMPUTE_F32, VTPU_PART_LOW)(in, low, 4);
  CHECK(low[0] == 0);
}

static void test_compute_type_is_found_or_refused(void) {
  vtpu_compute_t compute;
  CHECK_OK(vtpu_compute_find(TPT_BF16, TPT_BF16, TPT_F32, &compute));
  CHECK_EQ(compute, VTPU_COMPUTE_F32);
  CHECK_OK(vtpu_compute_find(TPT_S8, TPT_S8, TPT_S32, &compute));
  CHECK_EQ(compute, VTPU_COMPUTE_U32);
  CHECK_OK(vtpu_compute_find(TPT_F32, TPT_F32, TPT_F64, &compute));
  CHECK_EQ(compute, VTPU_COMPUTE_F64);
  CHECK_FAILS(vtpu_compute_find(TPT_F32, TPT_S32, TPT_F32, &compute), TPT_UNIMPLEMENTED, "f32");
  CHECK_FAILS(vtpu_compute_find(TPT_C64, TPT_C64, TPT_F32, &compute), TPT_UNIMPLEMENTED, "c64");
}

static void test_integers_extend_by_their_sign(void) {
  int8_t s8[2] = {-1, 5};
  uint8_t u8[2] = {255, 5};
  uint64_t wide[2];
  vtpu_widen_fn(TPT_S8, VTPU_COMPUTE_U64, VTPU_PART_EXACT)(s8, wide, 2);
  CHECK(wide[0] == UINT64_MAX && wide[1] == 5);
  vtpu_widen_fn(TPT_U8, VTPU_COMPUTE_U64, VTPU_PART_EXACT)(u8, wide, 2);
  CHECK(wide[0] == 255 && wide[1] == 5);
  uint8_t flags[2];
  vtpu_narrow_fn(VTPU_COMPUTE_U64, TPT_PRED)((uint64_t[]){1ull << 40, 0}, flags, 2);
  CHECK(flags[0] == 1 && flags[1] == 0);
}

int main(void) {
  RUN(test_runs_count_consecutive_offsets);
  RUN(test_pack_follows_strides_and_tables);
  RUN(test_parts_add_up_to_the_operand);
  RUN(test_compute_type_is_found_or_refused);
  RUN(test_integers_extend_by_their_sign);
  return TEST_RESULT;
}
