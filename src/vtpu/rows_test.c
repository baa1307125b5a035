// Tests of row steps at run time: lanes, scratch, and that threads change nothing.
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

static vtpu_program_t* normalise(int64_t rows, int64_t columns) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(rows, columns));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t s = tpt_hlo_reduce(g, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, x, x),
                                 tpt_hlo_scalar_f64(g, TPT_F32, 0), TPT_HLO_ADD, DIMS(1), 1);
  tpt_value_t y = tpt_hlo_binary(
      g, TPT_HLO_DIVIDE, x,
      tpt_hlo_broadcast_in_dim(g, tpt_hlo_unary(g, TPT_HLO_SQRT, s), 2, type.dims, DIMS(0)));
  vtpu_program_t* program = NULL;
  tpt_graph_return(g, &y, 1);
  (void)!CHECK_OK(vtpu_program_compile(g, &program));
  return program;
}

static void test_lanes_have_their_own_scratch(void) {
  vtpu_program_t* program = normalise(4000, 300);
  if (!program) return;
  CHECK_EQ(program->main->step_count, 1);
  const vtpu_rows_t* rows = program->main->steps[0].rows;
  CHECK(rows != NULL);
  if (!rows) return;
  size_t frames = 0;
  for (int i = 0; i < rows->part_count; i++)
    frames += rows->parts[i].loop->frame_size;
  CHECK(rows->lane_size >= frames + rows->local_size);
  CHECK_EQ(rows->scratch_size, rows->lane_size * (size_t)rows->lane_count);
  CHECK(rows->local_size > 0 && rows->blocks > 1 && rows->cost > 0);
  CHECK_EQ((int64_t)rows->bytes, 4000 * 300 * 4 * 3);  // two reads and a write; sums stay inside
  vtpu_program_release(program);
}

static void test_threads_change_no_bit(void) {
  enum { R = 999, C = 77 };
  vtpu_program_t* program = normalise(R, C);
  if (!program) return;
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(R, C));
  float* x = probe_random(&type);
  void* threaded[1];
  float* alone = program_memory(sizeof(float) * R * C);
  vtpu_exec_t exec = {.temp = program_memory(vtpu_program_temp_size(program))};
  if (CHECK_OK(program_run(program, (const void*[]){x}, threaded, false)) &&
      CHECK_OK(vtpu_program_run(program, &exec, (void*[]){x}, (void*[]){alone}))) {
    CHECK(memcmp(threaded[0], alone, sizeof(float) * R * C) == 0);
    free(threaded[0]);
  }
  free(exec.temp);
  free(alone);
  free(x);
  vtpu_program_release(program);
}

int main(void) {
  RUN(test_lanes_have_their_own_scratch);
  RUN(test_threads_change_no_bit);
  return TEST_RESULT;
}
