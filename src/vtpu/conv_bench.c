// Convolutions on one thread, by unit: the kernel alone, the best of many runs, in GFLOP/s; forward, by
// input and by weight. With BLAS (HIGHEST at the level "none") for comparison in the same run.
#include <time.h>

#include "vtpu/kernel_probe.h"
#include "vtpu/strip.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct bench {
  int64_t batch, in, size, out, taps, stride, groups;
} bench_t;

static const bench_t benches[] = {
    {8, 64, 56, 64, 3, 1, 1},  {8, 128, 28, 128, 3, 1, 1},   {8, 256, 14, 256, 3, 1, 1},
    {8, 512, 7, 512, 3, 1, 1}, {8, 64, 56, 128, 3, 2, 1},    {8, 256, 14, 1024, 1, 1, 1},
    {4, 3, 224, 64, 7, 2, 1},  {8, 128, 28, 128, 3, 1, 128}, {32, 16, 8, 16, 3, 1, 1},
    {4, 512, 2, 512, 3, 1, 1},
};

typedef struct sample {
  tpt_type_t in, kernel;
  tpt_conv_t conv;
} sample_t;

// form 0: forward, 1: by input, 2: by weight.
static sample_t sample_make(const bench_t* b, int form) {
  int64_t places = (b->size + b->taps / 2 * 2 - b->taps) / b->stride + 1;
  int64_t rest = b->size + b->taps / 2 * 2 - b->taps - (places - 1) * b->stride;
  sample_t s = {.in = tpt_type_make(TPT_F32, 4, (int64_t[]){b->batch, b->in, b->size, b->size}),
                .kernel = tpt_type_make(TPT_F32, 4,
                                        (int64_t[]){b->out, b->in / b->groups, b->taps, b->taps})};
  tpt_type_t outer = tpt_type_make(TPT_F32, 4, (int64_t[]){b->batch, b->out, places, places});
  s.conv = (tpt_conv_t){.spatial_count = 2,
                        .input_feature = 1,
                        .input_spatial = {2, 3},
                        .kernel_input = 1,
                        .kernel_spatial = {2, 3},
                        .output_feature = 1,
                        .output_spatial = {2, 3},
                        .feature_groups = b->groups,
                        .batch_groups = 1};
  for (int d = 0; d < 2; d++) {
    s.conv.stride[d] = form == 0 ? b->stride : 1;
    s.conv.lhs_dilation[d] = form == 1 ? b->stride : 1;
    s.conv.rhs_dilation[d] = form == 2 ? b->stride : 1;
    s.conv.reversal[d] = form == 1;
    s.conv.pad_low[d] = b->taps / 2;
    s.conv.pad_high[d] = b->taps / 2 - (form == 2 ? rest : 0) + (form == 1 ? rest : 0);
  }
  if (form == 1) {
    s.in = outer;
    if (b->groups == 1) s.conv.kernel_input = 0, s.conv.kernel_output = 1;
  }
  if (form == 2) {
    s.kernel = outer;
    s.conv.input_batch = 1, s.conv.input_feature = 0;
    s.conv.kernel_input = 0, s.conv.kernel_output = 1;
    s.conv.output_batch = 1, s.conv.output_feature = 0;
    s.conv.feature_groups = 1, s.conv.batch_groups = b->groups;
  }
  return s;
}

static double run(const sample_t* s, double* out_flops) {
  tpt_graph_t* graph = NULL;
  if (tpt_graph_create(&graph)) return 0;
  tpt_value_t x = tpt_graph_parameter(graph, &s->in), w = tpt_graph_parameter(graph, &s->kernel);
  tpt_value_t y = tpt_hlo_convolution(graph, x, w, &s->conv);
  const tpt_node_t* node = tpt_graph_producer(graph, y);
  tpt_type_t types[3] = {s->in, s->kernel, *tpt_graph_type(graph, y)};
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  vtpu_kernel_t kernel = {.graph = graph,
                          .node = node,
                          .operand_count = 2,
                          .result_count = 1,
                          .operand_types = types,
                          .result_types = &types[2],
                          .arena = &arena};
  const vtpu_kernel_row_t* row = vtpu_kernel_row(node->op);
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
  *out_flops = kernel.flops;
  free(in[0]), free(in[1]), free(out), free(scratch);
  tpt_arena_deinit(&arena);
  tpt_graph_release(graph);
  return best;
}

int main(void) {
  static const char* const forms[] = {"forward", "by input", "by weight"};
  for (size_t i = 0; i < sizeof(benches) / sizeof(*benches); i++) {
    const bench_t* b = &benches[i];
    for (int form = 0; form < 3; form++) {
      sample_t s = sample_make(b, form);
      double flops;
      printf("%2lld x %3lld x %3lld^2 -> %4lld, %lldx%lld/%lld, %3lld groups, %-9s",
             (long long)b->batch, (long long)b->in, (long long)b->size, (long long)b->out,
             (long long)b->taps, (long long)b->taps, (long long)b->stride, (long long)b->groups,
             forms[form]);
      s.conv.precision = TPT_PRECISION_HIGHEST;
      vtpu_strip_limit(VTPU_STRIP_NONE);
      double seconds = run(&s, &flops);
      printf("  blas %6.1f", flops / seconds * 1e-9);
      vtpu_strip_limit(VTPU_STRIP_LEVEL_COUNT - 1);
      seconds = run(&s, &flops);
      printf("  highest %6.1f", flops / seconds * 1e-9);
      s.conv.precision = TPT_PRECISION_DEFAULT;
      seconds = run(&s, &flops);
      printf("  default %6.1f\n", flops / seconds * 1e-9);
    }
  }
  return 0;
}
