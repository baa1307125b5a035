// Direct sums through tables of every shape: flat rows, strided rows, long K.
#include "vtpu/conv.h"
#include "vtpu/kernel_probe.h"

enum { STAGE = 400, OUTPUTS = 2 };

typedef struct shape {
  int64_t rows, cols, row_step, col_step;
} shape_t;

static vtpu_axis_t axis_make(const shape_t* s, int64_t* table, int32_t* run) {
  int64_t count = s->rows * s->cols;
  for (int64_t i = 0; i < count; i++)
    table[i] = i / s->cols * s->row_step + i % s->cols * s->col_step;
  vtpu_axis_runs(table, count, run);
  return (vtpu_axis_t){.count = count, .table = table, .run = run};
}

static void direct_case(const shape_t* k, const shape_t* position) {
  static int64_t k_table[STAGE], position_table[STAGE];
  static int32_t k_run[STAGE], position_run[STAGE];
  static float stage[STAGE], weight[OUTPUTS * STAGE], result[OUTPUTS * STAGE], temp[4 * STAGE];
  vtpu_conv_tables_t tables = {.k = axis_make(k, k_table, k_run),
                               .position = axis_make(position, position_table, position_run)};
  tables.k_count = tables.k.count, tables.position_count = tables.position.count;
  for (int i = 0; i < STAGE; i++)
    stage[i] = (float)probe_int(-9, 9);
  for (int i = 0; i < OUTPUTS * STAGE; i++)
    weight[i] = (float)probe_int(-9, 9), result[i] = 1;
  vtpu_conv_direct_t direct = {.weight = weight,
                               .weight_ld = STAGE,
                               .stage = stage,
                               .tables = &tables,
                               .outputs = OUTPUTS,
                               .accumulate = probe_int(0, 1),
                               .temp = temp,
                               .result = result,
                               .result_ld = tables.position_count};
  vtpu_conv_direct(&direct);
  int wrong = 0;
  for (int64_t i = 0; i < OUTPUTS * tables.position_count; i++) {
    float want = direct.accumulate ? 1 : 0;
    int64_t p = i % tables.position_count, o = i / tables.position_count;
    for (int64_t j = 0; j < tables.k_count; j++)
      want += weight[o * STAGE + j] * stage[k_table[j] + position_table[p]];
    wrong += result[i] != want;  // small integers: every order of summation is exact
  }
  CHECK_EQ(wrong, 0);
}

static void test_direct_sums_match_in_every_shape(void) {
  direct_case(&(shape_t){3, 3, 10, 1}, &(shape_t){8, 8, 10, 1});  // rows with margins
  direct_case(&(shape_t){3, 3, 17, 1}, &(shape_t){7, 7, 34, 2});  // strided
  direct_case(&(shape_t){8, 8, 10, 1}, &(shape_t){3, 3, 10, 1});  // weight gradient
  direct_case(&(shape_t){1, 1, 0, 1}, &(shape_t){5, 40, 40, 1});
  direct_case(&(shape_t){6, 33, 40, 1}, &(shape_t){1, 1, 0, 1});
  direct_case(&(shape_t){2, 2, 60, 2}, &(shape_t){6, 1, 1, 1});
}

int main(void) {
  RUN(test_direct_sums_match_in_every_shape);
  return TEST_RESULT;
}
