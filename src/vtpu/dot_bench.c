// Products on one thread, by unit: the kernel of dot_general alone, the best of many runs, in GFLOP/s.
// With BLAS (HIGHEST at the level "none") for comparison in the same run.
#include <time.h>

#include "vtpu/kernel_probe.h"
#include "vtpu/strip.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct bench {
  int64_t batch, m, n, k;
  bool rhs_k_inner;
} bench_t;

static const bench_t benches[] = {
    {1, 1024, 1024, 1024, false}, {1, 1024, 1024, 1024, true}, {1, 32, 3072, 768, true},
    {1, 4, 3072, 768, true},      {1, 2048, 1536, 384, true},  {1, 512, 512, 2048, false},
    {96, 64, 64, 64, false},      {48, 128, 128, 32, true},    {1, 64, 64, 64, false},
    {1, 1, 3072, 768, true},      {1, 1, 3072, 768, false},    {1, 4, 3072, 768, false},
    {1, 2, 3072, 768, true},      {1, 8, 3072, 768, true},     {1, 12, 3072, 768, true},
    {1, 64, 512, 784, true},      {1, 1, 2048, 2048, true},    {1, 1, 2048, 2048, false},
};

// Seconds of one run.
static double measure(const bench_t* b, tpt_precision_t precision) {
  tpt_graph_t* graph = NULL;
  if (tpt_graph_create(&graph)) return 0;
  tpt_type_t types[3] = {
      tpt_type_make(TPT_F32, 3, (int64_t[]){b->batch, b->m, b->k}),
      tpt_type_make(
          TPT_F32, 3,
          (int64_t[]){b->batch, b->rhs_k_inner ? b->n : b->k, b->rhs_k_inner ? b->k : b->n}),
      tpt_type_make(TPT_F32, 3, (int64_t[]){b->batch, b->m, b->n}),
  };
  tpt_value_t x = tpt_graph_parameter(graph, &types[0]), y = tpt_graph_parameter(graph, &types[1]);
  tpt_dot_t dot = {.batch_count = 1,
                   .contract_count = 1,
                   .lhs_contract = {2},
                   .rhs_contract = {b->rhs_k_inner ? 2 : 1},
                   .precision = precision};
  const tpt_node_t* node = tpt_graph_producer(graph, tpt_hlo_dot_general(graph, x, y, &dot));
  const vtpu_kernel_row_t* row = vtpu_kernel_row(node->op);
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_kernel_t kernel = {.graph = graph,
                          .node = node,
                          .operand_count = 2,
                          .result_count = 1,
                          .operand_types = types,
                          .result_types = &types[2],
                          .arena = &arena};
  void *in[2] = {probe_random(&types[0]), probe_random(&types[1])}, *out = NULL, *scratch = NULL;
  double best = 1e9, total = 0;
  if (!row->prepare(&kernel) && !posix_memalign(&out, 64, (size_t)tpt_type_size(&types[2]) + 64) &&
      !posix_memalign(&scratch, 64, kernel.scratch_size + 64)) {
    vtpu_exec_t exec = {0};
    while (total < 0.15) {
      double start = now();
      if (row->run(&kernel, &exec, scratch, (const void* const*)in, &out)) break;
      double one = now() - start;
      total += one;
      if (one < best) best = one;
    }
  }
  free(in[0]), free(in[1]), free(out), free(scratch);
  tpt_arena_deinit(&arena);
  tpt_graph_release(graph);
  return best;
}

int main(void) {
  static const char* const names[] = {"default", "high", "highest"};
  for (size_t i = 0; i < sizeof(benches) / sizeof(*benches); i++) {
    const bench_t* b = &benches[i];
    double flops = 2.0 * (double)(b->batch * b->m * b->n * b->k);
    printf("%3lld x %4lld x %4lld x %4lld %s", (long long)b->batch, (long long)b->m,
           (long long)b->n, (long long)b->k, b->rhs_k_inner ? "t" : " ");
    vtpu_strip_limit(VTPU_STRIP_NONE);
    printf("  blas %6.1f", flops / measure(b, TPT_PRECISION_HIGHEST) * 1e-9);
    vtpu_strip_limit(VTPU_STRIP_LEVEL_COUNT - 1);
    for (int p = 2; p >= 0; p--)
      printf("  %s %6.1f", names[p], flops / measure(b, (tpt_precision_t)p) * 1e-9);
    printf("\n");
  }
  return 0;
}
