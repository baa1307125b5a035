// Tests of the list of steps: what is fused, folded, dropped, shared.
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

static tpt_type_t matrix(int64_t rows, int64_t columns) {
  return type_of(TPT_F32, 2, DIMS(rows, columns));
}

// Number of steps of the program that returns these values.
static uint32_t steps_of(tpt_graph_t* g, const tpt_value_t* values, uint32_t count) {
  vtpu_program_t* program;
  tpt_graph_return(g, values, count);
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return 0;
  uint32_t steps = program->main->step_count;
  vtpu_program_release(program);
  return steps;
}

static tpt_value_t rows_wide(tpt_graph_t* g, tpt_value_t x, const tpt_type_t* type) {
  return tpt_hlo_broadcast_in_dim(g, x, 2, type->dims, DIMS(0));
}

static void test_elementwise_ops_become_one_loop(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(30, 40), flipped = matrix(40, 30);
  tpt_value_t x = tpt_graph_parameter(g, &type), y = tpt_graph_parameter(g, &flipped);
  tpt_value_t z = tpt_hlo_binary(g, TPT_HLO_ADD, x, tpt_hlo_transpose(g, y, DIMS(1, 0)));
  z = tpt_hlo_unary(g, TPT_HLO_TANH, tpt_hlo_reshape(g, z, 1, DIMS(1200)));
  z = tpt_hlo_convert(g, tpt_hlo_reverse(g, z, DIMS(0), 1), TPT_BF16);
  CHECK_EQ(steps_of(g, &z, 1), 1);
}

static void test_softmax_is_one_step(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(1000, 50);
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t m =
      tpt_hlo_reduce(g, x, tpt_hlo_scalar_f64(g, TPT_F32, -INFINITY), TPT_HLO_MAXIMUM, DIMS(1), 1);
  tpt_value_t e =
      tpt_hlo_unary(g, TPT_HLO_EXP, tpt_hlo_binary(g, TPT_HLO_SUBTRACT, x, rows_wide(g, m, &type)));
  tpt_value_t s = tpt_hlo_reduce(g, e, tpt_hlo_scalar_f64(g, TPT_F32, 0), TPT_HLO_ADD, DIMS(1), 1);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_DIVIDE, e, rows_wide(g, s, &type));
  CHECK_EQ(steps_of(g, &y, 1), 1);
}

static void test_an_optimizer_update_is_one_loop_of_three_outputs(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(100, 100);
  tpt_value_t p = tpt_graph_parameter(g, &type), m = tpt_graph_parameter(g, &type);
  tpt_value_t v = tpt_graph_parameter(g, &type), d = tpt_graph_parameter(g, &type);
  tpt_value_t half = tpt_hlo_splat_f64(g, &type, 0.5);
  tpt_value_t m2 = tpt_hlo_binary(g, TPT_HLO_ADD, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, m, half), d);
  tpt_value_t v2 = tpt_hlo_binary(g, TPT_HLO_ADD, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, v, half),
                                  tpt_hlo_binary(g, TPT_HLO_MULTIPLY, d, d));
  tpt_value_t step = tpt_hlo_binary(g, TPT_HLO_DIVIDE, m2, tpt_hlo_unary(g, TPT_HLO_SQRT, v2));
  tpt_value_t r[3] = {tpt_hlo_binary(g, TPT_HLO_SUBTRACT, p, step), m2, v2};
  CHECK_EQ(steps_of(g, r, 3), 1);
}

static void test_two_reductions_of_one_array_share_a_loop(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(100, 300);
  tpt_value_t x = tpt_graph_parameter(g, &type), y = tpt_graph_parameter(g, &type);
  tpt_value_t zero = tpt_hlo_scalar_f64(g, TPT_F32, 0);
  tpt_value_t r[2] = {
      tpt_hlo_reduce(g, x, zero, TPT_HLO_ADD, DIMS(0), 1),
      tpt_hlo_reduce(g, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, x, y), zero, TPT_HLO_ADD, DIMS(0), 1)};
  CHECK_EQ(steps_of(g, r, 2), 1);
}

// Without the barrier the second product would be the first.
static void test_nothing_is_merged_across_a_barrier(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(8, 8);
  tpt_value_t x = tpt_graph_parameter(g, &type), z = tpt_graph_parameter(g, &type);
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  tpt_value_t a = tpt_hlo_dot_general(g, x, x, &dot);
  tpt_value_t behind = tpt_hlo_optimization_barrier(g, (tpt_value_t[]){x, z}, 2);
  tpt_value_t both[2] = {a, tpt_hlo_dot_general(g, behind, behind, &dot)};
  CHECK_EQ(steps_of(g, both, 2), 2);
}

static void test_equal_and_dead_nodes_vanish(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(8, 8);
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  tpt_value_t a = tpt_hlo_dot_general(g, x, x, &dot), b = tpt_hlo_dot_general(g, x, x, &dot);
  (void)tpt_hlo_dot_general(g, a, b, &dot);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_ADD, a, b);
  CHECK_EQ(steps_of(g, &y, 1), 1);  // one product, finished by one loop
}

static void test_transposes_fold_into_products(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t x_type = matrix(5, 7), w_type = matrix(3, 7);
  tpt_value_t x = tpt_graph_parameter(g, &x_type), w = tpt_graph_parameter(g, &w_type);
  tpt_dot_t dot = {.contract_count = 1,
                   .lhs_contract = {1},
                   .rhs_contract = {0},
                   .precision = TPT_PRECISION_HIGHEST};
  tpt_value_t y = tpt_hlo_dot_general(g, x, tpt_hlo_transpose(g, w, DIMS(1, 0)), &dot);
  tpt_graph_return(g, &y, 1);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  CHECK_EQ(program->main->step_count, 1);
  float *dx = probe_random(&x_type), *dw = probe_random(&w_type);
  void* out[1];
  if (CHECK_OK(program_run(program, (const void*[]){dx, dw}, out, false))) {
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int k = 0; k < 7; k++)
          sum += dx[i * 7 + k] * dw[j * 7 + k];
        CHECK_NEAR(((float*)out[0])[i * 3 + j], sum, 1e-6);
      }
    free(out[0]);
  }
  free(dx);
  free(dw);
  vtpu_program_release(program);
}

// Batched attention scores: transposes keep the order of batch and free dimensions or stay.
static void test_batched_transposes_fold_rightly(void) {
  enum { B = 2, T = 3, H = 4, D = 5 };
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 4, DIMS(B, T, H, D));
  tpt_value_t q = tpt_graph_parameter(g, &type), k = tpt_graph_parameter(g, &type);
  tpt_value_t qt = tpt_hlo_transpose(g, q, DIMS(0, 2, 1, 3)),
              kt = tpt_hlo_transpose(g, k, DIMS(0, 2, 3, 1));
  tpt_dot_t dot = {.batch_count = 2,
                   .lhs_batch = {0, 1},
                   .rhs_batch = {0, 1},
                   .contract_count = 1,
                   .lhs_contract = {3},
                   .rhs_contract = {2},
                   .precision = TPT_PRECISION_HIGHEST};
  tpt_value_t y = tpt_hlo_dot_general(g, qt, kt, &dot);
  tpt_graph_return(g, &y, 1);
  float *dq = probe_random(&type), *dk = probe_random(&type);
  void* out[1];
  if (program_eval(g, (const void*[]){dq, dk}, out, false)) {
    for (int b = 0; b < B; b++)
      for (int h = 0; h < H; h++)
        for (int i = 0; i < T; i++)
          for (int j = 0; j < T; j++) {
            double sum = 0;
            for (int d = 0; d < D; d++)
              sum += dq[((b * T + i) * H + h) * D + d] * dk[((b * T + j) * H + h) * D + d];
            CHECK_NEAR(((float*)out[0])[((b * H + h) * T + i) * T + j], sum, 1e-6);
          }
    free(out[0]);
  }
  free(dq);
  free(dk);
}

static void test_constant_expressions_are_folded(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(4, 4), vector = type_of(TPT_F32, 1, DIMS(4));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t ramp = tpt_hlo_unary(g, TPT_HLO_EXP, tpt_hlo_iota(g, &vector, 0));
  tpt_value_t sum =
      tpt_hlo_reduce(g, ramp, tpt_hlo_scalar_f64(g, TPT_F32, 0), TPT_HLO_ADD, DIMS(0), 1);
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  tpt_value_t y = tpt_hlo_dot_general(g, x, ramp, &dot);
  tpt_value_t r[2] = {y, sum};
  CHECK_EQ(steps_of(g, r, 2), 2);  // the product; the sum is copied
}

static void test_a_dear_value_is_not_evaluated_per_row(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = matrix(4000, 256), vector = type_of(TPT_F32, 1, DIMS(256));
  tpt_value_t x = tpt_graph_parameter(g, &type), w = tpt_graph_parameter(g, &vector);
  tpt_value_t e = tpt_hlo_unary(g, TPT_HLO_TANH, w);
  tpt_value_t y =
      tpt_hlo_binary(g, TPT_HLO_ADD, x, tpt_hlo_broadcast_in_dim(g, e, 2, type.dims, DIMS(1)));
  CHECK_EQ(steps_of(g, &y, 1), 2);
}

static void test_missing_ops_are_named(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_C64, 1, DIMS(3));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_MAXIMUM, x, x);
  tpt_graph_return(g, &y, 1);
  vtpu_program_t* program;
  CHECK_FAILS(vtpu_program_compile(g, &program), TPT_UNIMPLEMENTED, "stablehlo.maximum");
}

int main(void) {
  RUN(test_elementwise_ops_become_one_loop);
  RUN(test_softmax_is_one_step);
  RUN(test_an_optimizer_update_is_one_loop_of_three_outputs);
  RUN(test_two_reductions_of_one_array_share_a_loop);
  RUN(test_equal_and_dead_nodes_vanish);
  RUN(test_nothing_is_merged_across_a_barrier);
  RUN(test_transposes_fold_into_products);
  RUN(test_batched_transposes_fold_rightly);
  RUN(test_constant_expressions_are_folded);
  RUN(test_a_dear_value_is_not_evaluated_per_row);
  RUN(test_missing_ops_are_named);
  return TEST_RESULT;
}
