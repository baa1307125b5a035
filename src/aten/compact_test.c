// Running counts and places of flags, over one block and over many.
#include "aten/compact.h"
#include "base/check.h"
#include "vtpu/program_probe.h"

// Flags of a pattern, their counts and places against a plain loop.
static void check_size(int64_t size, int64_t room) {
  tpt_graph_t* g = NULL;
  if (!CHECK_OK(tpt_graph_create(&g))) return;
  tpt_type_t type = tpt_type_make(TPT_PRED, 1, &size);
  tpt_v flags = tpt_graph_parameter(g, &type), fill = tpt_hlo_scalar_i64(g, TPT_S32, -5);
  tpt_v counts = tpt_running_count(g, flags);
  tpt_v results[2] = {counts, tpt_set_places(g, flags, counts, room, fill)};
  tpt_graph_return(g, results, 2);
  CHECK_OK(tpt_graph_status(g));
  uint8_t* set = calloc((size_t)size, 1);
  for (int64_t i = 0; i < size; i++)
    set[i] = (i * i + i / 3) % 7 < 3;
  const void* in[1] = {set};
  void* out[2] = {NULL, NULL};
  vtpu_program_t* program = NULL;
  if (CHECK_OK(vtpu_program_compile(g, &program)) &&
      CHECK_OK(program_run(program, in, out, false))) {
    int32_t count = 0;
    for (int64_t i = 0; i < size; i++) {
      count += set[i];
      if (((int32_t*)out[0])[i] != count) CHECK_EQ(((int32_t*)out[0])[i], count);
      if (set[i] && count <= room) CHECK_EQ(((int32_t*)out[1])[count - 1], i);
    }
    for (int64_t i = count; i < room; i++)
      CHECK_EQ(((int32_t*)out[1])[i], -5);
  }
  vtpu_program_release(program);
  free(out[0]);
  free(out[1]);
  free(set);
}

static void test_counts_and_places_of_one_block(void) {
  check_size(1, 3);
  check_size(100, 100);
  check_size(512, 40);
}

static void test_counts_and_places_of_many_blocks(void) {
  check_size(513, 600);
  check_size(128 * 513, 20000);
  check_size(128 * 600 + 1, 100000);
}

int main(void) {
  RUN(test_counts_and_places_of_one_block);
  RUN(test_counts_and_places_of_many_blocks);
  return TEST_RESULT;
}
