// Phases, regions and chunks cover every output place and every feature exactly once.
#include "vtpu/conv.h"
#include "vtpu/kernel_probe.h"

typedef struct planned {
  tpt_graph_t* graph;
  tpt_arena_t arena;
  tpt_type_t types[2], out;
  vtpu_kernel_t kernel;
  vtpu_conv_plan_t plan;
} planned_t;

// A one-dimensional convolution, NCW.
static void planned_init(planned_t* p, int64_t size, int64_t window, const tpt_conv_t* how) {
  memset(p, 0, sizeof(*p));
  if (!CHECK_OK(tpt_graph_create(&p->graph))) return;
  tpt_arena_init(&p->arena);
  p->types[0] = tpt_type_make(TPT_F32, 3, (int64_t[]){3, 40, size});
  p->types[1] = tpt_type_make(TPT_F32, 3, (int64_t[]){6, 40, window});
  tpt_value_t x = tpt_graph_parameter(p->graph, &p->types[0]);
  tpt_value_t w = tpt_graph_parameter(p->graph, &p->types[1]);
  tpt_value_t y = tpt_hlo_convolution(p->graph, x, w, how);
  p->out = *tpt_graph_type(p->graph, y);
  p->kernel = (vtpu_kernel_t){.graph = p->graph,
                              .node = tpt_graph_producer(p->graph, y),
                              .operand_count = 2,
                              .result_count = 1,
                              .operand_types = p->types,
                              .result_types = &p->out,
                              .arena = &p->arena};
  if (CHECK_OK(vtpu_conv_plan_make(&p->kernel, &p->plan))) vtpu_conv_plan_cut(&p->kernel, &p->plan);
}

static void planned_deinit(planned_t* p) {
  tpt_arena_deinit(&p->arena);
  tpt_graph_release(p->graph);
}

static tpt_conv_t line(int64_t stride, int64_t hole, int64_t dilation, int64_t low) {
  return (tpt_conv_t){.spatial_count = 1,
                      .stride = {stride},
                      .pad_low = {low},
                      .pad_high = {2},
                      .lhs_dilation = {hole},
                      .rhs_dilation = {dilation},
                      .input_feature = 1,
                      .kernel_input = 1,
                      .output_feature = 1,
                      .input_spatial = {2},
                      .kernel_spatial = {2},
                      .output_spatial = {2},
                      .feature_groups = 1,
                      .batch_groups = 1};
}

static void test_phases_hold_each_output_and_only_matching_taps(void) {
  for (int64_t stride = 1; stride < 5; stride++) {
    for (int64_t hole = 1; hole < 5; hole++) {
      for (int64_t dilation = 1; dilation < 4; dilation++) {
        tpt_conv_t how = line(stride, hole, dilation, 3);
        planned_t p;
        planned_init(&p, 11, 5, &how);
        int64_t outputs = p.out.dims[2], seen = 0, meets = 0, want_meets = 0;
        for (int64_t f = 0; f < p.plan.phase_count; f++) {
          const vtpu_conv_axis_t* a = &p.plan.phases[f].axis[0];
          seen += a->out_count;
          meets += a->out_count * a->tap_count;
          for (int64_t t = 0; t < a->out_count; t++) {
            for (int64_t u = 0; u < a->tap_count; u++) {
              int64_t o = a->out_first + t * a->out_step, w = a->tap_first + u * a->tap_step;
              int64_t place = o * stride + w * dilation - 3;
              CHECK(o < outputs && w < 5);
              CHECK_EQ(place, (a->in_base + t * a->in_step + u * a->in_tap) * hole);
            }
          }
        }
        for (int64_t o = 0; o < outputs; o++)
          for (int64_t w = 0; w < 5; w++)
            want_meets += (o * stride + w * dilation - 3) % hole == 0;
        CHECK_EQ(seen, outputs);
        CHECK_EQ(meets, want_meets);
        planned_deinit(&p);
      }
    }
  }
}

static void test_regions_cover_the_output_once(void) {
  for (int64_t size = 5; size < 3000; size = size * 3 + 1) {
    tpt_conv_t how = line(1, 2, 1, 1);
    planned_t p;
    planned_init(&p, size, 3, &how);
    int64_t count = 3 * p.out.dims[2], wrong = 0;
    char* seen = calloc((size_t)count, 1);
    for (int64_t item = 0; item < p.plan.item_count; item += p.plan.split_count) {
      vtpu_conv_region_t region = {0};
      vtpu_conv_region_find(&p.plan, item, &region);
      const vtpu_conv_axis_t* a = &region.phase->axis[0];
      for (int64_t n = 0; n < region.count[VTPU_CONV_BATCH]; n++)
        for (int64_t t = 0; t < region.count[VTPU_CONV_SPATIAL]; t++)
          seen[(region.first[VTPU_CONV_BATCH] + n) * p.out.dims[2] + a->out_first +
               (region.first[VTPU_CONV_SPATIAL] + t) * a->out_step]++;
    }
    for (int64_t i = 0; i < count; i++)
      wrong += seen[i] != 1;
    CHECK_EQ(wrong, 0);
    CHECK(p.plan.feature_chunk * p.plan.feature_chunks >= 40);
    free(seen);
    planned_deinit(&p);
  }
}

static void test_monstrous_dilation_is_refused(void) {
  tpt_conv_t how = line(1, 100000, 1, 0);
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t in = tpt_type_make(TPT_F32, 3, (int64_t[]){1, 1, 3});
  tpt_type_t kernel = tpt_type_make(TPT_F32, 3, (int64_t[]){1, 1, 2});
  tpt_value_t x = tpt_graph_parameter(graph, &in), w = tpt_graph_parameter(graph, &kernel);
  float data[5] = {0};
  const void* operands[2] = {data, data};
  void* out = NULL;
  CHECK_FAILS(probe_run(graph, tpt_hlo_convolution(graph, x, w, &how), operands, &out),
              TPT_UNIMPLEMENTED, "lhs_dilation");
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_phases_hold_each_output_and_only_matching_taps);
  RUN(test_regions_cover_the_output_once);
  RUN(test_monstrous_dilation_is_refused);
  return TEST_RESULT;
}
