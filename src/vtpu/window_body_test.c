// Geometry read from a node, and folds by a body over blocks of any borders.
#include "vtpu/kernel_probe.h"
#include "vtpu/window.h"

// acc * 2 + x: the order of the window shows in the result.
static uint32_t body_make(tpt_graph_t* graph) {
  tpt_type_t scalar = tpt_type_scalar(TPT_S32), types[2] = {scalar, scalar};
  tpt_value_t a[2];
  tpt_region_begin(graph, types, 2, a);
  tpt_value_t twice = tpt_hlo_binary(graph, TPT_HLO_ADD, a[0], a[0]);
  tpt_value_t result = tpt_hlo_binary(graph, TPT_HLO_ADD, twice, a[1]);
  return tpt_region_end(graph, &result, 1);
}

static void test_body_sees_the_window_in_row_major_order(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t type = tpt_type_make(TPT_S32, 2, (int64_t[]){20, 21}),
             scalar = tpt_type_scalar(TPT_S32);
  tpt_value_t x = tpt_graph_parameter(graph, &type), start = tpt_graph_parameter(graph, &scalar);
  tpt_pool_window_t attrs;
  tpt_pool_window_init(&attrs);
  attrs.dims[0] = 2, attrs.dims[1] = 3, attrs.pad_low[1] = 1, attrs.pad_high[0] = 1;
  uint32_t block = body_make(graph);
  tpt_value_t result = tpt_hlo_reduce_window_n(graph, &x, &start, 1, &attrs, block);
  tpt_type_t out_type = *tpt_graph_type(graph, result);
  vtpu_window_t window;
  vtpu_window_make(tpt_graph_producer(graph, result), &type, &out_type, &window);
  CHECK_EQ(window.first, 0);
  CHECK_EQ(window.last, 1);
  CHECK_EQ(window.outer, 1);
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_body_t* body = NULL;
  if (CHECK_OK(vtpu_body_compile(graph, block, &arena, &body))) {
    int32_t* data = probe_random(&type);
    int32_t zero = 0;
    int64_t count = tpt_type_count(&out_type);
    int32_t* got = malloc((size_t)count * 4);
    const void *in[1] = {data}, *starts[1] = {&zero};
    void* out[1] = {got};
    size_t size = 4;
    vtpu_window_body_t run = {.window = &window,
                              .count = 1,
                              .sizes = &size,
                              .body = body,
                              .in = in,
                              .start = starts,
                              .out = out};
    vtpu_window_body_run(&run, 0, 37);
    vtpu_window_body_run(&run, 37, count);
    int wrong = 0;
    for (int64_t i = 0; i < count; i++) {
      int32_t want = 0;
      for (int64_t t = 0; t < 6; t++) {
        int64_t row = i / out_type.dims[1] + t / 3, col = i % out_type.dims[1] + t % 3 - 1;
        if (row < 20 && col >= 0 && col < 21) want = 2 * want + data[row * 21 + col];
      }
      wrong += got[i] != want;
    }
    CHECK_EQ(wrong, 0);
    free(data);
    free(got);
  }
  tpt_arena_deinit(&arena);
  tpt_graph_release(graph);
}

static void test_a_window_that_does_nothing_has_one_axis(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t scalar = tpt_type_scalar(TPT_F32);
  tpt_value_t x = tpt_graph_parameter(graph, &scalar), start = tpt_graph_parameter(graph, &scalar);
  tpt_pool_window_t attrs;
  tpt_pool_window_init(&attrs);
  tpt_value_t result = tpt_hlo_reduce_window(graph, x, start, TPT_HLO_ADD, &attrs);
  vtpu_window_t window;
  vtpu_window_make(tpt_graph_producer(graph, result), &scalar, &scalar, &window);
  CHECK(window.rank == 1 && window.first == 0 && window.last == 0 && window.axis[0].in == 1);
  float a = 2, b = 3;
  const void* in[2] = {&a, &b};
  void* out = NULL;
  if (CHECK_OK(probe_run(graph, result, in, &out))) CHECK(*(float*)out == 5);
  free(out);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_body_sees_the_window_in_row_major_order);
  RUN(test_a_window_that_does_nothing_has_one_axis);
  return TEST_RESULT;
}
