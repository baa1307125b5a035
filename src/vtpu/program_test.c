// Tests of whole programs: simple steps, results that are parameters or constants, aliasing.
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

int main(void) {
  RUN(test_program_adds_two_matrices);
  RUN(test_softmax_rows_sum_to_one);
  return TEST_RESULT;
}
