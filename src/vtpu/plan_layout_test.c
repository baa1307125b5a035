// Tests of where buffers lie: memory is shared by lifetime, chains run in place, aliases are reported
// only where they are safe.
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

enum { SIDE = 64, BYTES = SIDE * SIDE * 4 };

static tpt_type_t square(void) {
  return type_of(TPT_F32, 2, DIMS(SIDE, SIDE));
}

static tpt_value_t product(tpt_graph_t* g, tpt_value_t a, tpt_value_t b) {
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  return tpt_hlo_dot_general(g, a, b, &dot);
}

static vtpu_program_t* compile(tpt_graph_t* g) {
  vtpu_program_t* program = NULL;
  (void)!CHECK_OK(vtpu_program_compile(g, &program));
  return program;
}

static void test_a_chain_of_products_needs_two_buffers(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = square();
  tpt_value_t x = tpt_graph_parameter(g, &type), y = x;
  for (int i = 0; i < 20; i++)
    y = tpt_hlo_unary(g, TPT_HLO_TANH, product(g, y, x));
  tpt_graph_return(g, &y, 1);
  vtpu_program_t* program = compile(g);
  if (!program) return;
  size_t scratch = 0;
  for (uint32_t s = 0; s < program->main->step_count; s++)
    if (program->main->steps[s].scratch_size > scratch)
      scratch = program->main->steps[s].scratch_size;
  CHECK(vtpu_program_temp_size(program) <= 2 * BYTES + scratch + program->table_size + 256);
  vtpu_program_release(program);
}

static void test_elementwise_steps_run_in_place(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = square();
  tpt_type_t tall = type_of(TPT_F32, 2, DIMS(2 * SIDE, SIDE)), place = type_of(TPT_S32, 0, NULL);
  tpt_value_t x = tpt_graph_parameter(g, &type), w = tpt_graph_parameter(g, &tall);
  tpt_value_t at[2] = {tpt_graph_parameter(g, &place), tpt_hlo_scalar_i64(g, TPT_S32, 0)};
  tpt_value_t y = tpt_hlo_unary(g, TPT_HLO_TANH, tpt_hlo_dynamic_slice(g, w, at, DIMS(SIDE, SIDE)));
  tpt_value_t z = product(g, y, x);
  tpt_graph_return(g, &z, 1);
  vtpu_program_t* program = compile(g);
  if (!program) return;
  const vtpu_block_plan_t* plan = program->main;
  CHECK_EQ(plan->step_count, 3);
  const vtpu_plan_buffer_t* in = &program->buffers[plan->steps[0].writes[0]];
  const vtpu_plan_buffer_t* out = &program->buffers[plan->steps[1].writes[0]];
  CHECK(in->space == VTPU_SPACE_TEMP && out->space == VTPU_SPACE_TEMP && in->offset == out->offset);
  vtpu_program_release(program);
}

static int alias_of_first(tpt_graph_t* g) {
  vtpu_program_t* program = compile(g);
  if (!program) return -2;
  int alias = vtpu_program_alias(program, 0);
  vtpu_program_release(program);
  return alias;
}

static void test_alias_of_an_update_is_reported(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = square();
  tpt_value_t p = tpt_graph_parameter(g, &type), d = tpt_graph_parameter(g, &type);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_SUBTRACT, p, product(g, p, d));
  tpt_graph_return(g, &y, 1);
  tpt_graph_alias(g, 0, 0);
  CHECK_EQ(alias_of_first(g), 0);
}

static void test_alias_is_refused_when_the_parameter_is_read_later(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = square();
  tpt_value_t p = tpt_graph_parameter(g, &type);
  tpt_value_t y = tpt_hlo_unary(g, TPT_HLO_TANH, p);
  tpt_value_t r[2] = {y, product(g, p, y)};
  tpt_graph_return(g, r, 2);
  tpt_graph_alias(g, 0, 0);
  CHECK_EQ(alias_of_first(g), -1);
}

static void test_alias_is_refused_for_a_transposed_read(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = square();
  tpt_value_t p = tpt_graph_parameter(g, &type);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_ADD, p, tpt_hlo_transpose(g, p, DIMS(1, 0)));
  tpt_graph_return(g, &y, 1);
  tpt_graph_alias(g, 0, 0);
  CHECK_EQ(alias_of_first(g), -1);
}

static void test_alias_to_itself_copies_nothing(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = square();
  tpt_value_t p = tpt_graph_parameter(g, &type);
  tpt_graph_return(g, &p, 1);
  tpt_graph_alias(g, 0, 0);
  CHECK_EQ(alias_of_first(g), 0);
}

// Swapped parameters: each result copies the other's memory.
static void test_alias_of_swapped_parameters_is_refused_for_one(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = square();
  tpt_value_t a = tpt_graph_parameter(g, &type), b = tpt_graph_parameter(g, &type);
  tpt_value_t r[2] = {b, a};
  tpt_graph_return(g, r, 2);
  tpt_graph_alias(g, 0, 0);
  tpt_graph_alias(g, 1, 1);
  float *x = probe_random(&type), *y = probe_random(&type);
  void* out[2];
  if (program_eval(g, (const void*[]){x, y}, out, true)) {
    CHECK(memcmp(out[0], y, BYTES) == 0 && memcmp(out[1], x, BYTES) == 0);
    free(out[0]);
    free(out[1]);
  }
  free(x);
  free(y);
}

int main(void) {
  RUN(test_a_chain_of_products_needs_two_buffers);
  RUN(test_elementwise_steps_run_in_place);
  RUN(test_alias_of_an_update_is_reported);
  RUN(test_alias_is_refused_when_the_parameter_is_read_later);
  RUN(test_alias_is_refused_for_a_transposed_read);
  RUN(test_alias_to_itself_copies_nothing);
  RUN(test_alias_of_swapped_parameters_is_refused_for_one);
  return TEST_RESULT;
}
