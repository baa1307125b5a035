// Tests of whole programs: results that are parameters or constants, odd shapes and ranks, types of the
// machine, memory faults, size and speed of planning.
#include <time.h>

#include "vtpu/program.h"
#include "vtpu/program_probe.h"

static void test_program_adds_two_matrices(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(4, 4));
  tpt_value_t a = tpt_graph_parameter(g, &type), b = tpt_graph_parameter(g, &type);
  tpt_value_t sum = tpt_hlo_binary(g, TPT_HLO_ADD, a, b);
  tpt_graph_return(g, &sum, 1);
  float x[16], y[16];
  for (int i = 0; i < 16; i++) {
    x[i] = (float)i;
    y[i] = (float)(100 * i);
  }
  void* out[1];
  if (!program_eval(g, (const void*[]){x, y}, out, false)) return;
  for (int i = 0; i < 16; i++)
    CHECK(((float*)out[0])[i] == (float)(101 * i));
  free(out[0]);
}

static void test_softmax_rows_sum_to_one(void) {
  enum { ROWS = 37, COLUMNS = 300 };
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(ROWS, COLUMNS));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t low = tpt_hlo_scalar_f64(g, TPT_F32, -INFINITY);
  tpt_value_t most = tpt_hlo_reduce(g, x, low, TPT_HLO_MAXIMUM, DIMS(1), 1);
  tpt_value_t wide = tpt_hlo_broadcast_in_dim(g, most, 2, type.dims, DIMS(0));
  tpt_value_t e = tpt_hlo_unary(g, TPT_HLO_EXP, tpt_hlo_binary(g, TPT_HLO_SUBTRACT, x, wide));
  tpt_value_t zero = tpt_hlo_scalar_f64(g, TPT_F32, 0);
  tpt_value_t sum = tpt_hlo_reduce(g, e, zero, TPT_HLO_ADD, DIMS(1), 1);
  tpt_value_t y =
      tpt_hlo_binary(g, TPT_HLO_DIVIDE, e, tpt_hlo_broadcast_in_dim(g, sum, 2, type.dims, DIMS(0)));
  tpt_graph_return(g, &y, 1);
  float* data = probe_random(&type);
  void* out[1];
  if (program_eval(g, (const void*[]){data}, out, false)) {
    for (int r = 0; r < ROWS; r++) {
      double total = 0, largest = -1e30;
      for (int c = 0; c < COLUMNS; c++)
        largest = fmax(largest, data[r * COLUMNS + c]);
      for (int c = 0; c < COLUMNS; c++)
        total += exp(data[r * COLUMNS + c] - largest);
      for (int c = 0; c < COLUMNS; c++)
        CHECK_NEAR(((float*)out[0])[r * COLUMNS + c], exp(data[r * COLUMNS + c] - largest) / total,
                   1e-8);
    }
    free(out[0]);
  }
  free(data);
}

static void test_results_may_be_anything(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 1, DIMS(3)), large = type_of(TPT_S64, 1, DIMS(20000));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  float numbers[3] = {7, 8, 9};
  tpt_value_t c = tpt_hlo_constant(g, &type, numbers);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_ADD, x, c);
  tpt_value_t r[9] = {x,
                      x,
                      c,
                      y,
                      y,
                      tpt_hlo_reshape(g, y, 2, DIMS(1, 3)),
                      tpt_hlo_reshape(g, x, 2, DIMS(3, 1)),
                      tpt_hlo_splat_i64(g, &large, -5),
                      tpt_hlo_iota(g, &large, 0)};
  tpt_graph_return(g, r, 9);
  float data[3] = {1, 2, 3};
  void* out[9];
  if (!program_eval(g, (const void*[]){data}, out, false)) return;
  for (int i = 0; i < 3; i++) {
    CHECK(((float*)out[0])[i] == data[i] && ((float*)out[1])[i] == data[i]);
    CHECK(((float*)out[2])[i] == numbers[i] && ((float*)out[6])[i] == data[i]);
    for (int k = 3; k < 6; k++)
      CHECK(((float*)out[k])[i] == data[i] + numbers[i]);
  }
  CHECK(((int64_t*)out[7])[19999] == -5 && ((int64_t*)out[8])[19999] == 19999);
  for (int i = 0; i < 9; i++)
    free(out[i]);
}

static void test_a_program_may_have_no_results_and_no_parameters(void) {
  tpt_graph_t* g = program_graph();
  tpt_graph_return(g, NULL, 0);
  void* out[1];
  CHECK(program_eval(g, NULL, out, false));
  g = program_graph();
  tpt_value_t c = tpt_hlo_scalar_f64(g, TPT_F64, 2.5);
  tpt_graph_return(g, &c, 1);
  if (!program_eval(g, NULL, out, false)) return;
  CHECK(*(double*)out[0] == 2.5);
  free(out[0]);
}

static void test_empty_and_rank_sixteen_arrays(void) {
  tpt_graph_t* g = program_graph();
  int64_t dims[16] = {2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3}, reversed[16],
          permutation[16];
  for (int d = 0; d < 16; d++) {
    permutation[d] = 15 - d;
    reversed[d] = dims[15 - d];
  }
  tpt_type_t type = type_of(TPT_F32, 16, dims), none = type_of(TPT_F32, 3, DIMS(4, 0, 2));
  tpt_value_t x = tpt_graph_parameter(g, &type), n = tpt_graph_parameter(g, &none);
  tpt_value_t y = tpt_hlo_transpose(g, x, permutation);
  tpt_value_t r[3] = {tpt_hlo_unary(g, TPT_HLO_NEGATE, y), tpt_hlo_unary(g, TPT_HLO_EXP, n),
                      tpt_hlo_reshape(g, tpt_hlo_binary(g, TPT_HLO_ADD, n, n), 2, DIMS(0, 9))};
  tpt_graph_return(g, r, 3);
  float* data = probe_random(&type);
  void* out[3];
  if (program_eval(g, (const void*[]){data, &dims}, out, false)) {
    int64_t at[16] = {0};
    for (int64_t i = 0; i < tpt_type_count(&type); i++) {
      int64_t place = 0;
      for (int d = 0; d < 16; d++)
        place = place * reversed[d] + at[15 - d];
      CHECK(((float*)out[0])[place] == -data[i]);
      for (int d = 15; d >= 0 && ++at[d] == dims[d]; d--)
        at[d] = 0;
    }
    for (int i = 0; i < 3; i++)
      free(out[i]);
  }
  free(data);
}

// bf16 rounds after each operation, as separate programs would.
static void test_narrow_floats_round_after_each_op(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_BF16, 1, DIMS(2));
  tpt_value_t x = tpt_graph_parameter(g, &type), one = tpt_hlo_splat_f64(g, &type, 1);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_ADD, tpt_hlo_binary(g, TPT_HLO_ADD, x, one), one);
  tpt_graph_return(g, &y, 1);
  float data[2] = {256, 1};  // 257 rounds back to 256
  uint16_t in[2];
  vtpu_bf16_from_f32(data, in, 2);
  void* out[1];
  if (!program_eval(g, (const void*[]){in}, out, false)) return;
  vtpu_f32_from_bf16(out[0], data, 2);
  CHECK(data[0] == 256 && data[1] == 3);
  free(out[0]);
}

static void test_bits_are_reinterpreted(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t f32 = type_of(TPT_F32, 1, DIMS(2)), u32 = type_of(TPT_U32, 1, DIMS(2));
  tpt_type_t u8 = type_of(TPT_U8, 2, DIMS(2, 4)), bf16 = type_of(TPT_BF16, 2, DIMS(2, 2));
  tpt_value_t x = tpt_graph_parameter(g, &f32);
  tpt_value_t y = tpt_hlo_unary(g, TPT_HLO_NEGATE, x);
  tpt_value_t r[3] = {tpt_hlo_bitcast_convert(g, y, &u32),
                      tpt_hlo_unary(g, TPT_HLO_NOT, tpt_hlo_bitcast_convert(g, y, &u8)),
                      tpt_hlo_bitcast_convert(g, y, &bf16)};
  tpt_graph_return(g, r, 3);
  float data[2] = {1, -2.5f};
  void* out[3];
  if (!program_eval(g, (const void*[]){data}, out, false)) return;
  CHECK(((uint32_t*)out[0])[0] == 0xBF800000u && ((uint32_t*)out[0])[1] == 0x40200000u);
  CHECK(((uint8_t*)out[1])[3] == (uint8_t)~0xBF && ((uint8_t*)out[1])[6] == (uint8_t)~0x20);
  CHECK(((uint16_t*)out[2])[1] == 0xBF80 && ((uint16_t*)out[2])[3] == 0x4020);
  for (int i = 0; i < 3; i++)
    free(out[i]);
}

static void test_complex_arithmetic(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 1, DIMS(2));
  tpt_value_t a = tpt_graph_parameter(g, &type), b = tpt_graph_parameter(g, &type);
  tpt_value_t z = tpt_hlo_complex(g, a, b);
  tpt_value_t w = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, z, z);
  tpt_value_t r[4] = {tpt_hlo_unary(g, TPT_HLO_REAL, w), tpt_hlo_unary(g, TPT_HLO_IMAG, w),
                      tpt_hlo_unary(g, TPT_HLO_ABS, z),
                      tpt_hlo_unary(g, TPT_HLO_REAL, tpt_hlo_unary(g, TPT_HLO_EXP, z))};
  tpt_graph_return(g, r, 4);
  float x[2] = {3, 0}, y[2] = {4, 1};
  void* out[4];
  if (!program_eval(g, (const void*[]){x, y}, out, false)) return;
  CHECK(((float*)out[0])[0] == -7 && ((float*)out[1])[0] == 24 && ((float*)out[2])[0] == 5);
  CHECK_NEAR(((float*)out[3])[1], cos(1), 1e-6);
  for (int i = 0; i < 4; i++)
    free(out[i]);
}

static void test_integers_and_complex_numbers_convert(void) {
  static const tpt_dtype_t dtypes[] = {TPT_PRED, TPT_S8,   TPT_S32, TPT_S64, TPT_U8,
                                       TPT_U64,  TPT_BF16, TPT_F16, TPT_F64};
  for (size_t i = 0; i < sizeof(dtypes) / sizeof(*dtypes); i++)
    for (int wide = 0; wide < 2; wide++) {
      tpt_graph_t* g = program_graph();
      tpt_type_t type = type_of(dtypes[i], 1, DIMS(3));
      tpt_value_t x = tpt_graph_parameter(g, &type);
      tpt_value_t z = tpt_hlo_convert(g, x, wide ? TPT_C128 : TPT_C64);
      tpt_value_t r[2] = {z, tpt_hlo_convert(g, tpt_hlo_binary(g, TPT_HLO_ADD, z, z), dtypes[i])};
      tpt_graph_return(g, r, 2);
      double data[3];
      for (int k = 0; k < 3; k++)
        probe_set(dtypes[i], data, k, k % 2);
      void* out[2];
      if (!program_eval(g, (const void*[]){data}, out, false)) continue;
      for (int k = 0; k < 3; k++) {
        tpt_number_t number =
            tpt_number_load(wide ? TPT_C128 : TPT_C64, (char*)out[0] + k * (wide ? 16 : 8));
        CHECK(number.f == k % 2 && number.im == 0);
        CHECK(probe_get(dtypes[i], out[1], k) == (dtypes[i] == TPT_PRED ? 1 : 2) * (k % 2));
      }
      free(out[0]);
      free(out[1]);
    }
}

static void test_scalars_select_and_clamp_arrays(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t p = tpt_type_scalar(TPT_PRED), type = type_of(TPT_S16, 2, DIMS(20, 30));
  tpt_value_t flag = tpt_graph_parameter(g, &p), x = tpt_graph_parameter(g, &type);
  tpt_value_t low = tpt_hlo_scalar_i64(g, TPT_S16, -3), high = tpt_hlo_scalar_i64(g, TPT_S16, 5);
  tpt_value_t y = tpt_hlo_select(g, flag, tpt_hlo_clamp(g, low, x, high), x);
  tpt_graph_return(g, &y, 1);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  int16_t data[600];
  for (int i = 0; i < 600; i++)
    data[i] = (int16_t)(i - 300);
  for (uint8_t f = 0; f < 2; f++) {
    void* out[1];
    if (!CHECK_OK(program_run(program, (const void*[]){&f, data}, out, false))) break;
    for (int i = 0; i < 600; i++) {
      int clamped = data[i] < -3 ? -3 : (data[i] > 5 ? 5 : data[i]);
      CHECK_EQ(((int16_t*)out[0])[i], f ? clamped : data[i]);
    }
    free(out[0]);
  }
  vtpu_program_release(program);
}

static void test_subnormals_flush_on_request(void) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 1, DIMS(1));
  tpt_value_t x = tpt_graph_parameter(g, &type);
  tpt_value_t y = tpt_hlo_binary(g, TPT_HLO_MULTIPLY, x, tpt_hlo_splat_f64(g, &type, 0.5));
  tpt_graph_return(g, &y, 1);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  float in = 0x1p-126f, out;
  _Alignas(64) char temp[4096];
  CHECK(vtpu_program_temp_size(program) <= sizeof(temp));
  for (int flush = 0; flush < 2; flush++) {
    vtpu_exec_t exec = {.pool = probe_pool(), .temp = temp, .flush_subnormals = flush};
    CHECK_OK(vtpu_program_run(program, &exec, (void*[]){&in}, (void*[]){&out}));
    CHECK(out == (flush ? 0 : 0x1p-127f));
  }
  vtpu_program_release(program);
}

// --- size and faults -------------------------------------------------------------------------------------

// A long chain with transposes, reductions and products.
static tpt_graph_t* long_graph(int count) {
  tpt_graph_t* g = program_graph();
  tpt_type_t type = type_of(TPT_F32, 2, DIMS(8, 8));
  tpt_value_t v[16];
  for (int i = 0; i < 16; i++)
    v[i] = tpt_graph_parameter(g, &type);
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  for (int i = 0; i < count; i++) {
    tpt_value_t a = v[i * 7 % 16], b = v[(i * 5 + 3) % 16], r;
    if (i % 6 == 0)
      r = tpt_hlo_binary(g, TPT_HLO_ADD, a, b);
    else if (i % 6 == 1)
      r = tpt_hlo_unary(g, TPT_HLO_TANH, a);
    else if (i % 6 == 2)
      r = tpt_hlo_transpose(g, a, DIMS(1, 0));
    else if (i % 6 == 3)
      r = tpt_hlo_dot_general(g, a, b, &dot);
    else if (i % 6 == 4)
      r = tpt_hlo_broadcast_in_dim(
          g, tpt_hlo_reduce(g, a, tpt_hlo_scalar_f64(g, TPT_F32, 0), TPT_HLO_MAXIMUM, DIMS(1), 1),
          2, type.dims, DIMS(0));
    else
      r = tpt_hlo_select(g, tpt_hlo_compare(g, TPT_LT, a, b), a, b);
    v[i % 16] = r;
  }
  tpt_graph_return(g, v, 16);
  return g;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_five_thousand_ops_compile_in_a_second(void) {
  tpt_graph_t* g = long_graph(5000);
  vtpu_program_t* program;
  double start = seconds();
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  CHECK(seconds() - start < 1.0);
  CHECK(vtpu_program_cost(program) > 0 && vtpu_program_flops(program) > 0 &&
        vtpu_program_bytes(program) > 0);
  vtpu_program_release(program);
}

// Every allocation of a compilation fails once; nothing leaks, nothing crashes.
static void test_compilation_survives_memory_faults(void) {
  for (uint64_t n = 1; n < 2000; n++) {
    tpt_graph_t* g = long_graph(60);
    vtpu_program_t* program = NULL;
    (void)tpt_allocator_fail_after(n);
    tpt_status_t status = vtpu_program_compile(g, &program);
    (void)tpt_allocator_fail_after(0);
    if (!status) {
      CHECK(n > 3);
      vtpu_program_release(program);
      return;
    }
    CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
  }
  CHECK(!"a compilation makes fewer allocations than this");
}

static void test_explain_names_steps(void) {
  tpt_graph_t* g = long_graph(12);
  vtpu_program_t* program;
  if (!CHECK_OK(vtpu_program_compile(g, &program))) return;
  tpt_str_t text;
  tpt_str_init(&text);
  CHECK_OK(vtpu_program_explain(program, &text));
  CHECK(strstr(text.data, "dot_general\ttensor<8x8xf32>") && strstr(text.data, "loop\t64: ") &&
        strstr(text.data, "rows\t1 blocks, 1 threads: 8x8: "));
  tpt_str_deinit(&text);
  vtpu_program_release(program);
}

int main(void) {
  RUN(test_program_adds_two_matrices);
  RUN(test_softmax_rows_sum_to_one);
  RUN(test_results_may_be_anything);
  RUN(test_a_program_may_have_no_results_and_no_parameters);
  RUN(test_empty_and_rank_sixteen_arrays);
  RUN(test_narrow_floats_round_after_each_op);
  RUN(test_bits_are_reinterpreted);
  RUN(test_complex_arithmetic);
  RUN(test_integers_and_complex_numbers_convert);
  RUN(test_scalars_select_and_clamp_arrays);
  RUN(test_subnormals_flush_on_request);
  RUN(test_five_thousand_ops_compile_in_a_second);
  RUN(test_compilation_survives_memory_faults);
  RUN(test_explain_names_steps);
  return TEST_RESULT;
}
