// A stage holds the input of its region, zeros elsewhere; the tables find every patch element in it.
#include "vtpu/conv.h"
#include "vtpu/kernel_probe.h"

enum { N = 2, C = 3, H = 5, W = 6, TAPS = 3 };

static void region_check(const vtpu_conv_plan_t* plan, const vtpu_conv_region_t* region,
                         const float* in, char* lane) {
  vtpu_conv_tables_t tables = {0};
  vtpu_conv_tables_build(plan, region, C, lane, &tables);
  vtpu_conv_stage(plan, region, &tables, 0, in, lane);
  const float* stage = (const float*)(lane + plan->stage_offset);
  int64_t k = 0, wrong = 0;
  CHECK_EQ(tables.k_count, C * TAPS * TAPS);
  for (int64_t c = 0; c < C; c++) {
    for (int64_t tap = 0; tap < TAPS * TAPS; tap++, k++) {
      int64_t position = 0;
      for (int64_t n = 0; n < region->count[0]; n++) {
        for (int64_t y = 0; y < region->count[2]; y++) {
          for (int64_t x = 0; x < region->count[3]; x++, position++) {
            int64_t row = region->first[2] + y + tap / TAPS - 1;
            int64_t col = region->first[3] + x + tap % TAPS - 1;
            bool is_inside = row >= 0 && row < H && col >= 0 && col < W;
            int64_t at = (((region->first[0] + n) * C + c) * H + row) * W + col;
            float got = stage[vtpu_axis_offset(&tables.k, k) +
                              vtpu_axis_offset(&tables.position, position)];
            wrong += got != (is_inside ? in[at] : 0);
          }
        }
      }
      CHECK_EQ(position, tables.position_count);
    }
  }
  CHECK_EQ(wrong, 0);
}

static void test_stage_and_tables_hold_every_patch(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t types[2] = {tpt_type_make(TPT_F32, 4, (int64_t[]){N, C, H, W}),
                         tpt_type_make(TPT_F32, 4, (int64_t[]){4, C, TAPS, TAPS})};
  tpt_conv_t how = {.spatial_count = 2,
                    .stride = {1, 1},
                    .pad_low = {1, 1},
                    .pad_high = {1, 1},
                    .lhs_dilation = {1, 1},
                    .rhs_dilation = {1, 1},
                    .input_feature = 1,
                    .kernel_input = 1,
                    .output_feature = 1,
                    .input_spatial = {2, 3},
                    .kernel_spatial = {2, 3},
                    .output_spatial = {2, 3},
                    .feature_groups = 1,
                    .batch_groups = 1,
                    .precision = TPT_PRECISION_HIGHEST};
  tpt_value_t x = tpt_graph_parameter(graph, &types[0]), w = tpt_graph_parameter(graph, &types[1]);
  tpt_value_t result = tpt_hlo_convolution(graph, x, w, &how);
  tpt_type_t out = *tpt_graph_type(graph, result);
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_kernel_t kernel = {.graph = graph,
                          .node = tpt_graph_producer(graph, result),
                          .operand_count = 2,
                          .result_count = 1,
                          .operand_types = types,
                          .result_types = &out,
                          .arena = &arena};
  vtpu_conv_plan_t plan = {0};
  if (CHECK_OK(vtpu_conv_plan_make(&kernel, &plan))) {
    vtpu_conv_plan_cut(&kernel, &plan);
    float* in = probe_random(&types[0]);
    char* lane = malloc(plan.lane_size);
    vtpu_conv_region_t region = {.phase = plan.phases};
    for (int64_t n = 0; n < N; n++) {
      for (int64_t row = 0; row < H; row++) {
        region.first[0] = n, region.first[2] = row;
        region.count[0] = N - n, region.count[2] = H - row, region.count[3] = W;
        region_check(&plan, &region, in, lane);
        CHECK_EQ(vtpu_conv_out_offset(&plan, &region), (n * 4 * H + row) * W);
      }
    }
    free(in);
    free(lane);
  }
  tpt_arena_deinit(&arena);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_stage_and_tables_hold_every_patch);
  return TEST_RESULT;
}
