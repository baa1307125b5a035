// The table of kernels: complete rows, none for elementwise ops.
#include "vtpu/kernel.h"
#include "vtpu/kernel_probe.h"

static void test_rows_are_complete_and_agree_with_their_op(void) {
  int count = 0;
  for (int op = 0; op < TPT_HLO_COUNT; op++) {
    const vtpu_kernel_row_t* row = vtpu_kernel_row((tpt_hlo_t)op);
    if (!row) continue;
    count++;
    CHECK_EQ(row->op, op);
    CHECK(row->run != NULL && row->prepare != NULL);
    CHECK(row->in_place_operand >= -1);
  }
  CHECK(count > 5);
}

static void test_ops_without_a_kernel_have_no_row(void) {
  CHECK(!vtpu_kernel_row(TPT_HLO_ADD));
  CHECK(!vtpu_kernel_row(TPT_HLO_COUNT));
  CHECK(!vtpu_kernel_row((tpt_hlo_t)-1));
}

// Prepares the kernel of `value` with the n-th allocation failing, for n = 1, 2 ... until it succeeds.
static void starve(tpt_graph_t* graph, tpt_value_t value) {
  const tpt_node_t* node = tpt_graph_producer(graph, value);
  tpt_type_t operands[PROBE_OPERANDS_MAX], results[PROBE_OPERANDS_MAX];
  for (uint32_t i = 0; i < node->operand_count; i++)
    operands[i] = *tpt_graph_type(graph, node->operands[i]);
  for (uint32_t i = 0; i < node->result_count; i++)
    results[i] = *tpt_graph_type(graph, tpt_node_result(node, i));
  bool is_done = false;
  int failures = 0;
  for (uint64_t n = 1; !is_done && n < 1000; n++) {
    tpt_arena_t arena;
    tpt_arena_init(&arena);
    vtpu_kernel_t kernel = {.graph = graph,
                            .node = node,
                            .operand_count = (int)node->operand_count,
                            .result_count = (int)node->result_count,
                            .operand_types = operands,
                            .result_types = results,
                            .arena = &arena};
    tpt_allocator_fail_after(n);
    tpt_status_t status = vtpu_kernel_row(node->op)->prepare(&kernel);
    tpt_allocator_fail_after(0);
    is_done = !status;
    failures += status != NULL;
    if (status) CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
    tpt_arena_deinit(&arena);
  }
  CHECK(is_done && failures > 0);
}

static void test_prepare_survives_every_failing_allocation(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_type_t cube = tpt_type_make(TPT_F32, 4, (int64_t[]){20, 30, 40, 10});
  tpt_type_t line = tpt_type_make(TPT_C64, 1, (int64_t[]){10007}),
             scalar = tpt_type_scalar(TPT_F32);
  tpt_value_t x = tpt_graph_parameter(graph, &cube), z = tpt_graph_parameter(graph, &line);
  tpt_value_t start = tpt_graph_parameter(graph, &scalar);
  tpt_dot_t dot = {.contract_count = 2, .lhs_contract = {1, 3}, .rhs_contract = {1, 3}};
  starve(graph, tpt_hlo_dot_general(graph, x, x, &dot));
  tpt_conv_t conv = {.spatial_count = 2,
                     .stride = {1, 1},
                     .pad_low = {50, 20},
                     .pad_high = {50, 20},
                     .lhs_dilation = {30, 30},
                     .rhs_dilation = {1, 1},
                     .input_feature = 1,
                     .kernel_input = 1,
                     .output_feature = 1,
                     .input_spatial = {2, 3},
                     .kernel_spatial = {2, 3},
                     .output_spatial = {2, 3},
                     .feature_groups = 1,
                     .batch_groups = 1};
  starve(graph, tpt_hlo_convolution(graph, x, x, &conv));
  int64_t length = 10007;
  starve(graph, tpt_hlo_fft(graph, z, TPT_FFT, &length, 1));
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[3] = 2;
  starve(graph, tpt_hlo_reduce_window(graph, x, start, TPT_HLO_ADD, &window));
  int64_t low[4] = {1, 1, 1, 1};
  starve(graph, tpt_hlo_pad(graph, x, start, low, low, low));
  CHECK_OK(tpt_graph_status(graph));
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_rows_are_complete_and_agree_with_their_op);
  RUN(test_ops_without_a_kernel_have_no_row);
  RUN(test_prepare_survives_every_failing_allocation);
  return TEST_RESULT;
}
