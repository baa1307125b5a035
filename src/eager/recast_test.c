// Tests of reinterpretation: types and dimensions of the values, and that no minor dimension of 2, 4 or
// 8 is made. Bits are checked on a device in window_read_test.c.
#include "base/check.h"
#include "eager/window.h"
#include "hlo/builder.h"

static tpt_graph_t* graph;

static tpt_value_t parameter(tpt_dtype_t dtype, int rank, const int64_t* dims) {
  tpt_type_t type = tpt_type_make(dtype, rank, dims);
  return tpt_graph_parameter(graph, &type);
}

static void check_type(tpt_value_t value, const char* wanted) {
  char text[128];
  CHECK_OK(tpt_graph_status(graph));
  CHECK_STR(tpt_type_print(tpt_graph_type(graph, value), text, sizeof(text)), wanted);
}

static void check_minor_dimensions(int64_t smallest) {
  for (uint32_t i = 0; i < tpt_graph_node_count(graph); i++) {
    const tpt_type_t* type = tpt_graph_type(graph, tpt_node_result(tpt_graph_node(graph, i), 0));
    CHECK(type->rank == 0 || type->dims[type->rank - 1] >= smallest);
  }
}

static void test_same_width_keeps_dimensions(void) {
  tpt_graph_reset(graph);
  const int64_t dims[] = {3, 100};
  check_type(tpt_recast_element(graph, parameter(TPT_F32, 2, dims), TPT_S32), "tensor<3x100xi32>");
  check_type(tpt_recast_element(graph, parameter(TPT_PRED, 2, dims), TPT_S8), "tensor<3x100xi8>");
  check_type(tpt_recast_element(graph, parameter(TPT_U8, 2, dims), TPT_PRED), "tensor<3x100xi1>");
  check_type(tpt_recast_element(graph, parameter(TPT_C64, 2, dims), TPT_F64), "tensor<3x100xf64>");
  check_type(tpt_recast_element(graph, parameter(TPT_S64, 2, dims), TPT_C64),
             "tensor<3x100xcomplex<f32>>");
  check_minor_dimensions(100);
}

static void test_narrowing_multiplies_the_last_dimension(void) {
  tpt_graph_reset(graph);
  const int64_t dims[] = {3, 100};
  check_type(tpt_recast_narrow(graph, parameter(TPT_F32, 2, dims), TPT_U8), "tensor<3x400xui8>");
  check_type(tpt_recast_narrow(graph, parameter(TPT_C64, 2, dims), TPT_F32), "tensor<3x200xf32>");
  check_type(tpt_recast_narrow(graph, parameter(TPT_C128, 2, dims), TPT_C64),
             "tensor<3x200xcomplex<f32>>");
  check_minor_dimensions(100);
  check_type(tpt_recast_narrow(graph, parameter(TPT_S64, 0, NULL), TPT_BF16), "tensor<4xbf16>");
}

static void test_widening_divides_it_or_pads(void) {
  tpt_graph_reset(graph);
  const int64_t dims[] = {3, 400}, odd[] = {3, 401};
  check_type(tpt_recast_wide(graph, parameter(TPT_U8, 2, dims), TPT_F32), "tensor<3x100xf32>");
  check_type(tpt_recast_wide(graph, parameter(TPT_PRED, 2, dims), TPT_S16), "tensor<3x200xi16>");
  check_type(tpt_recast_wide(graph, parameter(TPT_S16, 2, dims), TPT_C64),
             "tensor<3x100xcomplex<f32>>");
  check_type(tpt_recast_wide(graph, parameter(TPT_U8, 2, odd), TPT_F32), "tensor<301xf32>");
  check_minor_dimensions(100);
}

int main(void) {
  if (!CHECK_OK(tpt_graph_create(&graph))) return TEST_RESULT;
  RUN(test_same_width_keeps_dimensions);
  RUN(test_narrowing_multiplies_the_last_dimension);
  RUN(test_widening_divides_it_or_pads);
  tpt_graph_release(graph);
  return TEST_RESULT;
}
