// Tests of fused loops below the planner: specs by hand, tiles and patterns, ragged ends, what is
// hoisted, order of reads and writes.
#include "vtpu/loop.h"
#include "vtpu/program_probe.h"

enum { BUFFERS = 8 };

// A spec of two loads, one op and one output.
typedef struct stage {
  vtpu_loop_spec_t spec;
  vtpu_map_t maps[4];
  vtpu_member_t members[4];
  tpt_arena_t arena;
} stage_t;

static void stage_init(stage_t* s, int rank, const int64_t* dims) {
  memset(s, 0, sizeof(*s));
  tpt_arena_init(&s->arena);
  s->spec.rank = rank;
  memcpy(s->spec.dims, dims, sizeof(*dims) * (size_t)rank);
  s->spec.maps = s->maps;
  s->spec.members = s->members;
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    s->maps[0].stride[d] = stride;
    stride *= dims[d];
  }
  s->spec.map_count = 2;
  for (int i = 0; i < 3; i++) {
    s->members[i].dtype = TPT_F32;
    s->members[i].kind = i ? VTPU_MEMBER_LOAD : VTPU_MEMBER_OP;
    s->members[i].operands[0] = s->members[i].operands[1] = s->members[i].operands[2] = -1;
    s->members[i].buffer = (uint32_t)i;
  }
  s->members[0].op = TPT_HLO_SUBTRACT;
  s->members[0].operands[0] = 1;
  s->members[0].operands[1] = 2;
  s->members[2].map = 1;
  s->spec.member_count = 3;
  s->spec.outputs[0] = (vtpu_output_t){
      .member = 0, .map = 0, .buffer = 0, .monoid = TPT_HLO_COUNT, .init_buffer = UINT32_MAX};
  s->spec.output_count = 1;
}

static vtpu_loop_t* stage_compile(stage_t* s) {
  vtpu_loop_t* loop = NULL;
  (void)!CHECK_OK(vtpu_loop_compile(&s->spec, &s->arena, &loop));
  return loop;
}

// Runs x - y, y walked by map 1, over two threads and over none; checks every element.
static void stage_check(stage_t* s, int64_t y_count) {
  int rank = s->spec.rank;
  int64_t dims[VTPU_LOOP_RANK_MAX], count = 1;
  vtpu_map_t map = s->maps[1];
  for (int d = 0; d < rank; d++) {
    dims[d] = s->spec.dims[d];
    count *= dims[d];
  }
  vtpu_loop_t* loop = stage_compile(s);
  float* x = malloc(sizeof(float) * (size_t)count);
  float* y = malloc(sizeof(float) * (size_t)y_count);
  float* out = malloc(sizeof(float) * (size_t)count);
  for (int64_t i = 0; i < count; i++)
    x[i] = (float)(3 * i);
  for (int64_t i = 0; i < y_count; i++)
    y[i] = (float)i;
  for (int threads = 0; loop && threads < 2; threads++) {
    memset(out, 0xFF, sizeof(float) * (size_t)count);
    vtpu_exec_t exec = {.pool = threads ? probe_pool() : NULL};
    void* pointers[BUFFERS] = {out, x, y};
    vtpu_loop_run(loop, &exec, pointers, NULL);
    int64_t bad = 0;
    for (int64_t i = 0; i < count; i++) {
      int64_t rest = i, place = map.offset;
      for (int d = rank - 1; d >= 0; d--) {
        place += rest % dims[d] * map.stride[d];
        rest /= dims[d];
      }
      bad += out[i] != x[i] - y[place];
    }
    CHECK_EQ(bad, 0);
  }
  free(x);
  free(y);
  free(out);
  tpt_arena_deinit(&s->arena);
}

static void test_contiguous_arrays_merge_into_one_dimension(void) {
  stage_t s;
  stage_init(&s, 3, DIMS(7, 11, 301));
  s.maps[1] = s.maps[0];
  vtpu_loop_spec_t before = s.spec;
  vtpu_loop_t* loop = stage_compile(&s);
  CHECK_EQ(s.spec.rank, 1);
  CHECK_EQ(loop->instr_count, 1);
  s.spec = before;
  s.maps[0] = (vtpu_map_t){.stride = {11 * 301, 301, 1}};
  s.maps[1] = s.maps[0];
  stage_check(&s, 7 * 11 * 301);
}

static void test_rows_columns_and_scalars_broadcast(void) {
  static const int64_t shapes[][2] = {{5, 10},    {3000, 10}, {10, 3000},
                                      {513, 511}, {1, 5000},  {77, 1}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
    for (int kind = 0; kind < 3; kind++) {
      stage_t s;
      stage_init(&s, 2, shapes[i]);
      s.maps[1].stride[0] = kind == 1;
      s.maps[1].stride[1] = kind == 2;
      stage_check(&s, kind == 0 ? 1 : shapes[i][kind - 1]);
    }
}

static void test_transposed_and_reversed_walks(void) {
  static const int64_t shapes[][2] = {{5, 10},   {300, 200}, {1000, 17},
                                      {9, 4000}, {64, 64},   {33, 129}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
    int64_t rows = shapes[i][0], columns = shapes[i][1];
    stage_t s;
    stage_init(&s, 2, shapes[i]);
    s.maps[1].stride[0] = 1;
    s.maps[1].stride[1] = rows;
    stage_check(&s, rows * columns);
    stage_init(&s, 2, shapes[i]);
    s.maps[1].offset = rows * columns - 1;
    s.maps[1].stride[0] = -columns;
    s.maps[1].stride[1] = -1;
    stage_check(&s, rows * columns);
  }
}

// Upsampling: short runs at odd strides in four dimensions.
static void test_short_runs_are_gathered(void) {
  static const int64_t shapes[][5] = {
      {3, 4, 2, 4, 2}, {100, 4, 2, 4, 2}, {37, 5, 3, 7, 2}, {2, 2, 500, 3, 5}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
    stage_t s;
    stage_init(&s, 5, shapes[i]);
    const int64_t* d = shapes[i];
    s.maps[1].stride[0] = d[1] * d[3];
    s.maps[1].stride[1] = d[3];
    s.maps[1].stride[3] = 1;
    stage_check(&s, d[0] * d[1] * d[3]);
  }
}

static void test_invariant_loads_are_hoisted(void) {
  stage_t s;
  stage_init(&s, 2, DIMS(1000, 16));
  s.maps[1].stride[1] = 1;
  vtpu_loop_t* loop = stage_compile(&s);
  CHECK(loop && loop->prologue_count == 1 && loop->instr_count == 2);
  tpt_arena_deinit(&s.arena);
}

static void test_reads_and_writes_are_told(void) {
  stage_t s;
  stage_init(&s, 1, DIMS(100));
  s.maps[1] = s.maps[0];
  vtpu_loop_t* loop = stage_compile(&s);
  CHECK(loop && loop->store_at[0] == 0 && loop->last_read[1] == 0 && loop->last_read[2] == 0);
  tpt_arena_deinit(&s.arena);
}

static void test_an_empty_loop_touches_nothing(void) {
  stage_t s;
  stage_init(&s, 2, DIMS(0, 5));
  s.maps[1] = s.maps[0];
  vtpu_loop_t* loop = stage_compile(&s);
  vtpu_exec_t exec = {.pool = NULL};
  void* pointers[BUFFERS] = {NULL, NULL, NULL};
  if (loop) vtpu_loop_run(loop, &exec, pointers, NULL);
  tpt_arena_deinit(&s.arena);
}

int main(void) {
  RUN(test_contiguous_arrays_merge_into_one_dimension);
  RUN(test_rows_columns_and_scalars_broadcast);
  RUN(test_transposed_and_reversed_walks);
  RUN(test_short_runs_are_gathered);
  RUN(test_invariant_loads_are_hoisted);
  RUN(test_reads_and_writes_are_told);
  RUN(test_an_empty_loop_touches_nothing);
  return TEST_RESULT;
}
