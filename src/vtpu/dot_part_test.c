// Tests of parts of products: blocks of rows give the bits of the whole product.
#include "vtpu/dot_part.h"
#include "vtpu/program_probe.h"

enum { B = 2, M = 19, H = 3, K = 24, N = 21, ROWS = 8 };

// The product [B][M][H][K] x [B][N][H][K] -> [B][H][M][N], batched over B and H.
static tpt_graph_t* product_graph(tpt_precision_t precision) {
  tpt_graph_t* g = program_graph();
  tpt_type_t lhs = type_of(TPT_F32, 4, DIMS(B, M, H, K)),
             rhs = type_of(TPT_F32, 4, DIMS(B, N, H, K));
  tpt_value_t x = tpt_graph_parameter(g, &lhs), y = tpt_graph_parameter(g, &rhs);
  tpt_dot_t dot = {.batch_count = 2,
                   .lhs_batch = {0, 2},
                   .rhs_batch = {0, 2},
                   .contract_count = 1,
                   .lhs_contract = {3},
                   .rhs_contract = {3},
                   .precision = precision};
  tpt_value_t z = tpt_hlo_dot_general(g, x, y, &dot);
  tpt_graph_return(g, &z, 1);
  return g;
}

static void blocks_match_the_whole(tpt_precision_t precision) {
  tpt_graph_t* g = product_graph(precision);
  const tpt_node_t* node = tpt_graph_node(g, 0);
  tpt_type_t types[3];
  for (int i = 0; i < 2; i++)
    types[i] = *tpt_graph_type(g, node->operands[i]);
  types[2] = *tpt_graph_type(g, tpt_node_result(node, 0));
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_kernel_t whole = {.graph = g,
                         .node = node,
                         .operand_count = 2,
                         .result_count = 1,
                         .operand_types = types,
                         .result_types = types + 2,
                         .arena = &arena};
  vtpu_dot_part_t part;
  bool ok = false;
  CHECK_OK(vtpu_dot_part_make(&whole, &part, &ok));
  CHECK(ok && !part.lhs_is_rows);
  CHECK_EQ(part.batch_count, B * H);
  CHECK_OK(vtpu_dot_part_prepare(&whole, ROWS, M % ROWS, &part));
  float *x = probe_random(&types[0]), *y = probe_random(&types[1]);
  float* blocks = program_memory(sizeof(float) * B * H * M * N);
  void* scratch = program_memory(part.scratch_size);
  for (int64_t batch = 0; batch < B * H; batch++)
    for (int64_t row = 0; row < M; row += ROWS) {
      vtpu_dot_piece_t piece = {.which = row + ROWS > M,
                                .row = batch * M + row,
                                .lhs = x,
                                .rhs = y,
                                .out_rows = blocks + (batch * M + row) * N,
                                .scratch = scratch};
      CHECK_OK(vtpu_dot_part_run(&part, &piece));
    }
  void* out[1];
  if (program_eval(g, (const void*[]){x, y}, out, false)) {
    double worst = 0;
    for (int i = 0; i < B * H * M * N; i++)
      worst = fmax(worst, fabs((double)((float*)out[0])[i] - blocks[i]));
    CHECK(worst < 1e-5);
    free(out[0]);
  }
  free(x);
  free(y);
  free(blocks);
  free(scratch);
  tpt_arena_deinit(&arena);
}

static void test_blocks_of_rows_match_the_whole(void) {
  blocks_match_the_whole(TPT_PRECISION_HIGHEST);
  blocks_match_the_whole(TPT_PRECISION_HIGH);
  blocks_match_the_whole(TPT_PRECISION_DEFAULT);
}

int main(void) {
  RUN(test_blocks_of_rows_match_the_whole);
  return TEST_RESULT;
}
