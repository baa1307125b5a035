// Tests of the plan's text: a line per step, nested blocks indented, totals first.
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

static void test_text_shows_steps_and_blocks(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t s = tpt_type_scalar(TPT_S32), types[1] = {s};
  tpt_value_t n = tpt_graph_parameter(g, &s), a[1], r;
  tpt_region_begin(g, types, 1, a);
  r = tpt_hlo_compare(g, TPT_LT, a[0], n);
  uint32_t condition = tpt_region_end(g, &r, 1);
  tpt_region_begin(g, types, 1, a);
  r = tpt_hlo_binary(g, TPT_HLO_ADD, a[0], n);
  uint32_t body = tpt_region_end(g, &r, 1);
  tpt_value_t zero = tpt_hlo_scalar_i64(g, TPT_S32, 0);
  tpt_value_t y = tpt_hlo_while(g, &zero, 1, condition, body);
  tpt_graph_return(g, &y, 1);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  tpt_str_t first, second;
  tpt_str_init(&first);
  tpt_str_init(&second);
  CHECK_OK(vtpu_program_explain(program, &first));
  CHECK_OK(vtpu_program_explain(program, &second));
  CHECK(strncmp(first.data, "vtpu-plan\t1\t1\t", 14) == 0);
  CHECK(strstr(first.data, "\n0\twhile\ttensor<i32> -> tensor<i32>\t") != NULL);
  CHECK(strstr(first.data, "\n1\tloop\t1: compare") != NULL);
  CHECK(strstr(first.data, "\n1\tloop\t1: add") != NULL);
  CHECK_STR(first.data, second.data);
  tpt_str_deinit(&first);
  tpt_str_deinit(&second);
  vtpu_program_release(program);
}

int main(void) {
  RUN(test_text_shows_steps_and_blocks);
  return TEST_RESULT;
}
