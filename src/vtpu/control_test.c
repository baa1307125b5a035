// Tests of control flow: loops with carried values that swap, pass through and are captured; branches;
// nesting; map.
#include "vtpu/plan.h"
#include "vtpu/program_probe.h"

// Fibonacci by swapping carried values: (i, a, b, x) -> (i + 1, b, a + b, x + a).
static void test_while_carries_and_swaps(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t vector = type_of(TPT_F32, 1, DIMS(3)), scalar = tpt_type_scalar(TPT_S64);
  tpt_value_t x = tpt_graph_parameter(g, &vector), n = tpt_graph_parameter(g, &scalar);
  tpt_type_t types[4] = {scalar, vector, vector, vector};
  tpt_value_t zero = tpt_hlo_splat_f64(g, &vector, 0), one = tpt_hlo_splat_f64(g, &vector, 1);
  tpt_value_t inits[4] = {tpt_hlo_scalar_i64(g, TPT_S64, 0), zero, one, x}, a[4], r[4];
  tpt_region_begin(g, types, 4, a);
  r[0] = tpt_hlo_compare(g, TPT_LT, a[0], n);
  uint32_t condition = tpt_region_end(g, r, 1);
  tpt_region_begin(g, types, 4, a);
  r[0] = tpt_hlo_binary(g, TPT_HLO_ADD, a[0], tpt_hlo_scalar_i64(g, TPT_S64, 1));
  r[1] = a[2];
  r[2] = tpt_hlo_binary(g, TPT_HLO_ADD, a[1], a[2]);
  r[3] = tpt_hlo_binary(g, TPT_HLO_ADD, a[3], a[1]);
  uint32_t body = tpt_region_end(g, r, 4);
  tpt_value_t first = tpt_hlo_while(g, inits, 4, condition, body);
  tpt_value_t results[4];
  for (uint32_t i = 0; i < 4; i++)
    results[i] = (tpt_value_t){first.index + i};
  tpt_graph_return(g, results, 4);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  for (int64_t count = 0; count < 12; count++) {
    float data[3] = {100, 200, 300};
    void* out[4];
    if (!CHECK_OK(program_run(program, (const void*[]){data, &count}, out, false))) break;
    float p = 0, q = 1, sum = 0;
    for (int i = 0; i < count; i++) {
      float next = p + q;
      sum += p;
      p = q;
      q = next;
    }
    CHECK_EQ(*(int64_t*)out[0], count);
    CHECK(((float*)out[1])[2] == p && ((float*)out[2])[0] == q && ((float*)out[3])[1] == 200 + sum);
    for (int i = 0; i < 4; i++)
      free(out[i]);
  }
  vtpu_program_release(program);
}

// Rotation of three carried values, each also transformed: moves must not lose one.
static void test_while_rotates_three(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t v = type_of(TPT_S32, 1, DIMS(5)), scalar = tpt_type_scalar(TPT_S32);
  tpt_value_t x = tpt_graph_parameter(g, &v), y = tpt_graph_parameter(g, &v),
              z = tpt_graph_parameter(g, &v);
  tpt_type_t types[4] = {scalar, v, v, v};
  tpt_value_t inits[4] = {tpt_hlo_scalar_i64(g, TPT_S32, 0), x, y, z}, a[4], r[4];
  tpt_region_begin(g, types, 4, a);
  r[0] = tpt_hlo_compare(g, TPT_LT, a[0], tpt_hlo_scalar_i64(g, TPT_S32, 4));
  uint32_t condition = tpt_region_end(g, r, 1);
  tpt_region_begin(g, types, 4, a);
  r[0] = tpt_hlo_binary(g, TPT_HLO_ADD, a[0], tpt_hlo_scalar_i64(g, TPT_S32, 1));
  r[1] = tpt_hlo_unary(g, TPT_HLO_NEGATE, a[2]);
  r[2] = a[3];
  r[3] = a[1];
  uint32_t body = tpt_region_end(g, r, 4);
  tpt_value_t first = tpt_hlo_while(g, inits, 4, condition, body);
  tpt_value_t results[3];
  for (uint32_t i = 0; i < 3; i++)
    results[i] = (tpt_value_t){first.index + 1 + i};
  tpt_graph_return(g, results, 3);
  tpt_graph_alias(g, 0, 0);
  tpt_graph_alias(g, 2, 1);
  int32_t dx[5] = {1, 2, 3, 4, 5}, dy[5] = {10, 20, 30, 40, 50}, dz[5] = {100, 200, 300, 400, 500};
  void* out[3];
  if (!program_eval(g, (const void*[]){dx, dy, dz}, out, true)) return;
  int32_t p = 1, q = 10, s = 100;
  for (int i = 0; i < 4; i++) {
    int32_t t = p;
    p = -q;
    q = s;
    s = t;
  }
  CHECK_EQ(((int32_t*)out[0])[0], p);
  CHECK_EQ(((int32_t*)out[1])[0], q);
  CHECK_EQ(((int32_t*)out[2])[0], s);
  for (int i = 0; i < 3; i++)
    free(out[i]);
}

static void test_nested_loops_capture_outer_values(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t s = tpt_type_scalar(TPT_S32), v = type_of(TPT_S32, 1, DIMS(4));
  tpt_value_t x = tpt_graph_parameter(g, &v);
  tpt_value_t twice = tpt_hlo_binary(g, TPT_HLO_ADD, x, x);  // computed outside, used inside only
  tpt_type_t types[2] = {s, v};
  tpt_value_t a[2], b[2], r[2];
  tpt_value_t inits[2] = {tpt_hlo_scalar_i64(g, TPT_S32, 0), tpt_hlo_splat_i64(g, &v, 0)};
  tpt_region_begin(g, types, 2, a);
  r[0] = tpt_hlo_compare(g, TPT_LT, a[0], tpt_hlo_scalar_i64(g, TPT_S32, 3));
  uint32_t condition = tpt_region_end(g, r, 1);
  tpt_region_begin(g, types, 2, a);
  {
    tpt_value_t inner[2] = {tpt_hlo_scalar_i64(g, TPT_S32, 0), a[1]};
    tpt_region_begin(g, types, 2, b);
    r[0] = tpt_hlo_compare(g, TPT_LT, b[0], a[0]);  // as often as the outer index says
    uint32_t inner_condition = tpt_region_end(g, r, 1);
    tpt_region_begin(g, types, 2, b);
    r[0] = tpt_hlo_binary(g, TPT_HLO_ADD, b[0], tpt_hlo_scalar_i64(g, TPT_S32, 1));
    r[1] = tpt_hlo_binary(g, TPT_HLO_ADD, b[1], twice);
    uint32_t inner_body = tpt_region_end(g, r, 2);
    tpt_value_t first = tpt_hlo_while(g, inner, 2, inner_condition, inner_body);
    r[0] = tpt_hlo_binary(g, TPT_HLO_ADD, a[0], tpt_hlo_scalar_i64(g, TPT_S32, 1));
    r[1] = (tpt_value_t){first.index + 1};
  }
  uint32_t body = tpt_region_end(g, r, 2);
  tpt_value_t first = tpt_hlo_while(g, inits, 2, condition, body);
  tpt_value_t result = {first.index + 1};
  tpt_graph_return(g, &result, 1);
  int32_t data[4] = {1, 2, 3, 4};
  void* out[1];
  if (!program_eval(g, (const void*[]){data}, out, false)) return;
  for (int i = 0; i < 4; i++)
    CHECK_EQ(((int32_t*)out[0])[i], 3 * 2 * data[i]);
  free(out[0]);
}

// A loop's body and what follows the loop read the same outer value: each keeps to its own steps.
static void test_a_body_and_a_later_reader_stay_apart(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t v = type_of(TPT_F32, 1, DIMS(3)), scalar = tpt_type_scalar(TPT_S32);
  tpt_value_t q = tpt_hlo_unary(g, TPT_HLO_NEGATE, tpt_graph_parameter(g, &v));
  tpt_type_t types[2] = {scalar, v};
  tpt_value_t inits[2] = {tpt_hlo_scalar_i64(g, TPT_S32, 0), tpt_hlo_splat_f64(g, &v, 1)};
  tpt_value_t a[2], r[2];
  tpt_region_begin(g, types, 2, a);
  r[0] = tpt_hlo_compare(g, TPT_LT, a[0], tpt_hlo_scalar_i64(g, TPT_S32, 3));
  uint32_t condition = tpt_region_end(g, r, 1);
  tpt_region_begin(g, types, 2, a);
  r[0] = tpt_hlo_binary(g, TPT_HLO_ADD, a[0], tpt_hlo_scalar_i64(g, TPT_S32, 1));
  r[1] = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, q, a[1]);
  uint32_t body = tpt_region_end(g, r, 2);
  tpt_value_t first = tpt_hlo_while(g, inits, 2, condition, body);
  tpt_value_t power = {first.index + 1};
  tpt_value_t sum = tpt_hlo_binary(g, TPT_HLO_ADD, power, q);
  tpt_graph_return(g, &sum, 1);
  float data[3] = {1, -2, 3};
  void* out[1];
  if (!program_eval(g, (const void*[]){data}, out, false)) return;
  CHECK(((float*)out[0])[0] == -2 && ((float*)out[0])[1] == 10 && ((float*)out[0])[2] == -30);
  free(out[0]);
}

static void test_case_clamps_its_index(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t s = tpt_type_scalar(TPT_S32), v = type_of(TPT_F32, 1, DIMS(6));
  tpt_value_t index = tpt_graph_parameter(g, &s), x = tpt_graph_parameter(g, &v);
  uint32_t branches[3];
  for (int b = 0; b < 3; b++) {
    tpt_region_begin(g, NULL, 0, NULL);
    tpt_value_t y =
        b == 1 ? x : tpt_hlo_binary(g, TPT_HLO_MULTIPLY, x, tpt_hlo_splat_f64(g, &v, b + 2));
    branches[b] = tpt_region_end(g, &y, 1);
  }
  tpt_value_t y = tpt_hlo_case(g, index, branches, 3);
  tpt_value_t results[2] = {y, y};
  tpt_graph_return(g, results, 2);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  static const struct {
    int32_t index;
    float factor;
  } cases[] = {{0, 2}, {1, 1}, {2, 4}, {3, 4}, {-1, 4}, {1000, 4}};
  for (int c = 0; c < 6; c++) {
    float data[6] = {1, 2, 3, 4, 5, 6};
    void* out[2];
    if (!CHECK_OK(program_run(program, (const void*[]){&cases[c].index, data}, out, false))) break;
    CHECK(((float*)out[0])[5] == 6 * cases[c].factor && ((float*)out[1])[4] == 5 * cases[c].factor);
    free(out[0]);
    free(out[1]);
  }
  vtpu_program_release(program);
}

static void test_if_returns_several_values(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t p = tpt_type_scalar(TPT_PRED), v = type_of(TPT_F32, 1, DIMS(2));
  tpt_value_t flag = tpt_graph_parameter(g, &p), x = tpt_graph_parameter(g, &v),
              y = tpt_graph_parameter(g, &v);
  tpt_value_t sum = tpt_hlo_binary(g, TPT_HLO_ADD, x, y), r[2];
  tpt_region_begin(g, NULL, 0, NULL);
  r[0] = sum, r[1] = sum;
  uint32_t yes = tpt_region_end(g, r, 2);
  tpt_region_begin(g, NULL, 0, NULL);
  r[0] = y, r[1] = tpt_hlo_binary(g, TPT_HLO_SUBTRACT, sum, x);
  uint32_t no = tpt_region_end(g, r, 2);
  tpt_value_t first = tpt_hlo_if(g, flag, yes, no);
  tpt_value_t results[2] = {first, {first.index + 1}};
  tpt_graph_return(g, results, 2);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  for (uint8_t f = 0; f < 2; f++) {
    float dx[2] = {1, 2}, dy[2] = {10, 20};
    void* out[2];
    if (!CHECK_OK(program_run(program, (const void*[]){&f, dx, dy}, out, false))) break;
    CHECK(((float*)out[0])[1] == (f ? 22 : 20) && ((float*)out[1])[1] == (f ? 22 : 20));
    free(out[0]);
    free(out[1]);
  }
  vtpu_program_release(program);
}

static void test_map_applies_its_body(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t v = type_of(TPT_F32, 2, DIMS(100, 333)),
             s[2] = {tpt_type_scalar(TPT_F32), tpt_type_scalar(TPT_F32)};
  tpt_value_t in[2] = {tpt_graph_parameter(g, &v), tpt_graph_parameter(g, &v)}, a[2];
  tpt_region_begin(g, s, 2, a);
  tpt_value_t r =
      tpt_hlo_binary(g, TPT_HLO_SUBTRACT, tpt_hlo_binary(g, TPT_HLO_MULTIPLY, a[0], a[1]), a[0]);
  uint32_t body = tpt_region_end(g, &r, 1);
  int64_t dims[2] = {0, 1};
  tpt_attr_t attr = {.is_set = true, .ints = dims, .count = 2};
  tpt_node_params_t params = {.op = TPT_HLO_MAP,
                              .operands = in,
                              .operand_count = 2,
                              .attrs = &attr,
                              .regions = &body,
                              .region_count = 1};
  tpt_value_t y = tpt_graph_append(g, &params);
  tpt_graph_return(g, &y, 1);
  float *dx = probe_random(&v), *dy = probe_random(&v);
  void* out[1];
  if (program_eval(g, (const void*[]){dx, dy}, out, false)) {
    for (int i = 0; i < 33300; i++)
      if (((float*)out[0])[i] != dx[i] * dy[i] - dx[i]) {
        CHECK(!"map");
        break;
      }
    free(out[0]);
  }
  free(dx);
  free(dy);
}

int main(void) {
  RUN(test_while_carries_and_swaps);
  RUN(test_while_rotates_three);
  RUN(test_nested_loops_capture_outer_values);
  RUN(test_a_body_and_a_later_reader_stay_apart);
  RUN(test_case_clamps_its_index);
  RUN(test_if_returns_several_values);
  RUN(test_map_applies_its_body);
  return TEST_RESULT;
}
