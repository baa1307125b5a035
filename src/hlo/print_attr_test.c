// Tests of the text of types, data and attributes.
#include <locale.h>

#include "hlo/graph_check.h"
#include "hlo/print_attr.h"

static void check_type(const tpt_type_t* type, const char* text) {
  tpt_str_t out;
  tpt_str_init(&out);
  tpt__print_type(&out, type);
  CHECK_STR(out.data, text);
  tpt_str_deinit(&out);
}

// The attributes of the node that makes `value`, without the leading " {".
static void check_attrs(const tpt_graph_t* g, tpt_value_t value, const char* text) {
  tpt_str_t out;
  tpt_str_init(&out);
  tpt_str_append_cstr(&out, "");
  CHECK_OK(tpt_graph_status(g));
  tpt__print_attrs(&out, g, tpt_graph_producer(g, value));
  CHECK_STR(out.data, text);
  tpt_str_deinit(&out);
}

static void test_types(void) {
  tpt_type_t type = tpt_type_scalar(TPT_PRED);
  check_type(&type, "tensor<i1>");
  type = tpt_type_make(TPT_C128, 3, I64S(0, 10, 4611686018427387904));
  check_type(&type, "tensor<0x10x4611686018427387904xcomplex<f64>>");
  for (int i = 0; i < TPT_RANK_MAX; i++)
    type.dims[i] = INT64_MAX;
  type.rank = TPT_RANK_MAX;
  type.dtype = TPT_BF16;
  tpt_str_t out;
  tpt_str_init(&out);
  tpt__print_type(&out, &type);
  CHECK_EQ(out.size, 7 + 20 * TPT_RANK_MAX + 5);
  tpt_str_deinit(&out);
}

static void check_scalar(tpt_dtype_t dtype, double value, const char* text) {
  tpt_graph_t* g = check_graph();
  check_attrs(g, tpt_hlo_scalar_f64(g, dtype, value), text);
  tpt_graph_release(g);
}

static void test_numbers(void) {
  check_scalar(TPT_F32, 1, " {value = dense<1.0> : tensor<f32>}");
  check_scalar(TPT_F32, -0.0, " {value = dense<-0.0> : tensor<f32>}");
  check_scalar(TPT_F32, 0.1, " {value = dense<1.00000001e-01> : tensor<f32>}");
  check_scalar(TPT_F64, 0.1, " {value = dense<1.0000000000000001e-01> : tensor<f64>}");
  check_scalar(TPT_F32, INFINITY, " {value = dense<0x7F800000> : tensor<f32>}");
  check_scalar(TPT_BF16, -INFINITY, " {value = dense<0xFF80> : tensor<bf16>}");
  check_scalar(TPT_F16, NAN, " {value = dense<0x7E00> : tensor<f16>}");
  check_scalar(TPT_C64, 2, " {value = dense<(2.0,0.0)> : tensor<complex<f32>>}");
  check_scalar(TPT_PRED, 2, " {value = dense<true> : tensor<i1>}");
  check_scalar(TPT_S8, -128, " {value = dense<-128> : tensor<i8>}");
}

static void test_data(void) {
  tpt_graph_t* g = check_graph();
  const int16_t few[4] = {1, -2, 3, 4};
  tpt_type_t type = tpt_type_make(TPT_S16, 2, I64S(2, 2));
  check_attrs(g, tpt_hlo_constant(g, &type, few),
              " {value = dense<[[1, -2], [3, 4]]> : tensor<2x2xi16>}");
  uint8_t many[20] = {0xAB, 1, 2};
  type = tpt_type_make(TPT_U8, 1, I64S(20));
  check_attrs(g, tpt_hlo_constant(g, &type, many),
              " {value = dense<\"0xAB01020000000000000000000000000000000000\"> : tensor<20xui8>}");
  type = tpt_type_make(TPT_F32, 2, I64S(3, 0));
  check_attrs(g, tpt_hlo_splat_f64(g, &type, 1), " {value = dense<> : tensor<3x0xf32>}");
  tpt_graph_release(g);
}

static void test_the_point_is_a_point_everywhere(void) {
  // Skipped where the system has no such locale: the number is then printed under "C".
  setlocale(LC_NUMERIC, "de_DE.UTF-8");
  check_scalar(TPT_F32, 0.1, " {value = dense<1.00000001e-01> : tensor<f32>}");
  setlocale(LC_NUMERIC, "C");
}

static void test_groups_leave_out_empty_lists(void) {
  tpt_graph_t* g = check_graph();
  tpt_dot_t dot = {.contract_count = 1, .lhs_contract = {1}, .rhs_contract = {0}};
  check_attrs(g, tpt_hlo_dot_general(g, P(g, F32, 2, 3), P(g, F32, 3, 2), &dot),
              " {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
              "rhs_contracting_dimensions = [0]>, precision_config = "
              "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}");
  tpt_gather_t gather = sample_gather_dims();
  check_attrs(
      g, tpt_hlo_gather(g, P(g, F32, 5, 3), P(g, S64, 4), &gather),
      " {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
      "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, "
      "indices_are_sorted = false, tputorch.check = \"aten::index_select \\22x\\22\\5C\"}");
  tpt_graph_release(g);
}

static void test_convolution_names_positions(void) {
  tpt_graph_t* g = check_graph();
  check_attrs(
      g, sample_convolution(g),
      " {window_strides = array<i64: 2, 1>, padding = dense<[[1, 1], [0, -1]]> : "
      "tensor<2x2xi64>, lhs_dilation = array<i64: 1, 2>, rhs_dilation = array<i64: 1, 1>, "
      "window_reversal = array<i1: false, true>, dimension_numbers = "
      "#stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[f, 0, 1, b]>, feature_group_count = 2 : "
      "i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, "
      "#stablehlo<precision DEFAULT>]}");
  tpt_graph_release(g);
}

static void test_nodes_without_attributes_print_nothing(void) {
  tpt_graph_t* g = check_graph();
  check_attrs(g, tpt_hlo_unary(g, TPT_HLO_EXP, P(g, F32, 2)), "");
  check_attrs(g, tpt_hlo_reduce_precision(g, P(g, F32, 2), 5, 10),
              " {exponent_bits = 5 : i32, mantissa_bits = 10 : i32}");
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_types);
  RUN(test_numbers);
  RUN(test_data);
  RUN(test_the_point_is_a_point_everywhere);
  RUN(test_groups_leave_out_empty_lists);
  RUN(test_convolution_names_positions);
  RUN(test_nodes_without_attributes_print_nothing);
  return TEST_RESULT;
}
