// Tests of region bodies over vectors: any count, results on top of arguments, refusals.
#include "vtpu/program_probe.h"

static vtpu_body_t* compile(tpt_graph_t* g, uint32_t block, tpt_arena_t* arena) {
  vtpu_body_t* body = NULL;
  (void)!CHECK_OK(vtpu_body_compile(g, block, arena, &body));
  return body;
}

static void test_body_runs_any_count_in_place(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t f = tpt_type_scalar(TPT_F32), types[2] = {f, f};
  tpt_value_t a[2], r[2];
  tpt_region_begin(g, types, 2, a);
  // (x, y) -> (y, x * 2 + y): results cross over their arguments.
  r[0] = a[1];
  r[1] = tpt_hlo_binary(
      g, TPT_HLO_ADD, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, a[0], tpt_hlo_scalar_f64(g, TPT_F32, 2)),
      a[1]);
  uint32_t block = tpt_region_end(g, r, 2);
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_body_t* body = compile(g, block, &arena);
  static const int64_t counts[] = {0, 1, 2, 31, 1024, 2047, 2048, 2049, 5000};
  for (size_t c = 0; body && c < sizeof(counts) / sizeof(*counts); c++) {
    int64_t n = counts[c];
    float* x = malloc((size_t)n * sizeof(*x) + 1);
    float* y = malloc((size_t)n * sizeof(*y) + 1);
    for (int64_t i = 0; i < n; i++) {
      x[i] = (float)i;
      y[i] = (float)(3 * i + 1);
    }
    vtpu_body_run(body, n, (const void*[]){x, y}, (void*[]){x, y});
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
      bad += x[i] != (float)(3 * i + 1) || y[i] != (float)(2 * i + 3 * i + 1);
    CHECK_EQ(bad, 0);
    free(x);
    free(y);
  }
  tpt_arena_deinit(&arena);
  tpt_graph_release(g);
}

static void test_body_keeps_narrow_types(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t types[2] = {tpt_type_scalar(TPT_BF16), tpt_type_scalar(TPT_BF16)};
  tpt_value_t a[2];
  tpt_region_begin(g, types, 2, a);
  tpt_value_t sum = tpt_hlo_binary(g, TPT_HLO_ADD, a[0], a[1]);
  tpt_value_t less = tpt_hlo_compare(g, TPT_LT, sum, a[0]);
  uint32_t block = tpt_region_end(g, (tpt_value_t[]){sum, less}, 2);
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_body_t* body = compile(g, block, &arena);
  float x[3] = {256, 1, -3}, y[3] = {1, 0.5f, -1};
  uint16_t bx[3], by[3], out[3];
  uint8_t flags[3];
  vtpu_bf16_from_f32(x, bx, 3);
  vtpu_bf16_from_f32(y, by, 3);
  if (body) {
    vtpu_body_run(body, 3, (const void*[]){bx, by}, (void*[]){out, flags});
    vtpu_f32_from_bf16(out, x, 3);
    CHECK(x[0] == 256 && x[1] == 1.5f && x[2] == -4);  // 257 is not a bf16
    CHECK(flags[0] == 0 && flags[1] == 0 && flags[2] == 1);
  }
  tpt_arena_deinit(&arena);
  tpt_graph_release(g);
}

static void test_body_refuses_captured_values(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t f = tpt_type_scalar(TPT_F32), types[2] = {f, f};
  tpt_value_t outside = tpt_graph_parameter(g, &f), a[2];
  tpt_region_begin(g, types, 2, a);
  tpt_value_t r = tpt_hlo_binary(g, TPT_HLO_ADD, a[0], outside);
  uint32_t block = tpt_region_end(g, &r, 1);
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_body_t* body;
  CHECK_FAILS(vtpu_body_compile(g, block, &arena, &body), TPT_UNIMPLEMENTED, "outer block");
  tpt_arena_deinit(&arena);
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_body_runs_any_count_in_place);
  RUN(test_body_keeps_narrow_types);
  RUN(test_body_refuses_captured_values);
  return TEST_RESULT;
}
