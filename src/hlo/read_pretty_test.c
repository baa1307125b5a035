// Tests of the pretty forms: each reads as the node that the builder makes.
#include "hlo/graph_check.h"
#include "hlo/print.h"
#include "hlo/read.h"

// Wraps one statement "%r = ..." of result type `type` over %x: f32[4,6], %w: f32[6,4], %i: s32.
static tpt_status_t read_one(const char* statement, const char* type, tpt_graph_t** out) {
  char text[2048];
  snprintf(text, sizeof(text),
           "func.func @main(%%x: tensor<4x6xf32>, %%w: tensor<6x4xf32>, %%i: tensor<i32>) -> %s {\n"
           "%%z = stablehlo.constant dense<0.0> : tensor<f32>\n%s\nreturn %%r : %s\n}",
           type, statement, type);
  return tpt_graph_read(text, strlen(text), out);
}

static tpt_graph_t* g;
static tpt_value_t x, w, i, z;

static void begin(void) {
  tpt_graph_reset(g);
  x = P(g, F32, 4, 6);
  w = P(g, F32, 6, 4);
  i = P0(g, S32);
  z = tpt_hlo_scalar_f64(g, TPT_F32, 0);
}

// The statement means `value`, built after begin().
static void same(const char* statement, const char* type, tpt_value_t value) {
  tpt_graph_t* read = NULL;
  tpt_graph_return(g, &value, 1);
  CHECK_OK(tpt_graph_status(g));
  if (!CHECK_OK(tpt_status_note(read_one(statement, type, &read), "reading %s", statement))) return;
  if (!tpt_graph_equal(g, read)) {
    tpt_str_t a, b;
    tpt_str_init(&a);
    tpt_str_init(&b);
    CHECK_OK(tpt_graph_print(g, &a));
    CHECK_OK(tpt_graph_print(read, &b));
    CHECK_STR(b.data, a.data);
    tpt_str_deinit(&a);
    tpt_str_deinit(&b);
  }
  CHECK(tpt_graph_equal(g, read));
  tpt_graph_release(read);
  begin();
}

static void test_movement(void) {
  begin();
  same("%r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>",
       "tensor<6x4xf32>", tpt_hlo_transpose(g, x, I64S(1, 0)));
  same("%r = stablehlo.reverse %x, dims = [1] : tensor<4x6xf32>", "tensor<4x6xf32>",
       tpt_hlo_reverse(g, x, I64S(1), 1));
  same("%r = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>", "tensor<24xf32>",
       tpt_hlo_reshape(g, x, 1, I64S(24)));
  same("%r = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<3xf32>",
       "tensor<3xf32>", tpt_hlo_broadcast_to(g, z, 1, I64S(3)));
  same("%r = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> "
       "tensor<8x6xf32>",
       "tensor<8x6xf32>", tpt_hlo_concatenate(g, (tpt_value_t[]){x, x}, 2, 0));
  same("%r = stablehlo.slice %x [0:4:2, 1:5] : (tensor<4x6xf32>) -> tensor<2x4xf32>",
       "tensor<2x4xf32>", tpt_hlo_slice(g, x, I64S(0, 1), I64S(4, 5), I64S(2, 1)));
  same("%r = stablehlo.pad %x, %z, low = [1, -1], high = [0, 0], interior = [0, 2] : "
       "(tensor<4x6xf32>, tensor<f32>) -> tensor<5x15xf32>",
       "tensor<5x15xf32>", tpt_hlo_pad(g, x, z, I64S(1, -1), I64S(0, 0), I64S(0, 2)));
  same("%r = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, "
       "tensor<i32>) -> tensor<2x3xf32>",
       "tensor<2x3xf32>", tpt_hlo_dynamic_slice(g, x, (tpt_value_t[]){i, i}, I64S(2, 3)));
  same("%r = stablehlo.dynamic_update_slice %x, %x, %i, %i : (tensor<4x6xf32>, tensor<4x6xf32>, "
       "tensor<i32>, tensor<i32>) -> tensor<4x6xf32>",
       "tensor<4x6xf32>", tpt_hlo_dynamic_update_slice(g, x, x, (tpt_value_t[]){i, i}));
}

static void test_elementwise(void) {
  begin();
  tpt_type_t bits = tpt_type_make(TPT_S32, 2, I64S(4, 6)),
             counts = tpt_type_make(TPT_S32, 1, I64S(5));
  same("%r = stablehlo.add %x, %x {mhlo.x = 1 : i64} : tensor<4x6xf32>", "tensor<4x6xf32>",
       tpt_hlo_binary(g, TPT_HLO_ADD, x, x));
  same("%r = stablehlo.atan2 %x, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>",
       "tensor<4x6xf32>", tpt_hlo_binary(g, TPT_HLO_ATAN2, x, x));
  same("%r = stablehlo.convert %x : (tensor<4x6xf32>) -> tensor<4x6xbf16>", "tensor<4x6xbf16>",
       tpt_hlo_convert(g, x, TPT_BF16));
  same("%r = stablehlo.bitcast_convert %x : (tensor<4x6xf32>) -> tensor<4x6xi32>",
       "tensor<4x6xi32>", tpt_hlo_bitcast_convert(g, x, &bits));
  same("%r = stablehlo.compare  LE, %x, %x,  FLOAT : (tensor<4x6xf32>, tensor<4x6xf32>) -> "
       "tensor<4x6xi1>",
       "tensor<4x6xi1>", tpt_hlo_compare(g, TPT_LE, x, x));
  same("%r = stablehlo.clamp %z, %x, %z : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> "
       "tensor<4x6xf32>",
       "tensor<4x6xf32>", tpt_hlo_clamp(g, z, x, z));
  same("%r = stablehlo.complex %z, %z : tensor<complex<f32>>", "tensor<complex<f32>>",
       tpt_hlo_complex(g, z, z));
  same("%r = stablehlo.reduce_precision %x, format = e5m10 : tensor<4x6xf32>", "tensor<4x6xf32>",
       tpt_hlo_reduce_precision(g, x, 5, 10));
  same("%r = stablehlo.iota dim = 0 : tensor<5xi32>", "tensor<5xi32>", tpt_hlo_iota(g, &counts, 0));
  same("%r = stablehlo.optimization_barrier %x : tensor<4x6xf32>", "tensor<4x6xf32>",
       tpt_hlo_optimization_barrier(g, &x, 1));
}

static void test_products(void) {
  begin();
  tpt_dot_t dot = {.contract_count = 1,
                   .lhs_contract = {1},
                   .rhs_contract = {0},
                   .precision = TPT_PRECISION_HIGHEST};
  same("%r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], precision = [HIGHEST, "
       "HIGHEST] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>",
       "tensor<4x4xf32>", tpt_hlo_dot_general(g, x, w, &dot));
  dot = (tpt_dot_t){.batch_count = 1, .lhs_batch = {0}, .rhs_batch = {1}};
  same("%r = stablehlo.dot_general %x, %w, batching_dims = [0] x [1], contracting_dims = [] x [] : "
       "(tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x6x6xf32>",
       "tensor<4x6x6xf32>", tpt_hlo_dot_general(g, x, w, &dot));
  tpt_conv_t conv = {.input_feature = 1,
                     .kernel_output = 1,
                     .output_feature = 1,
                     .feature_groups = 1,
                     .batch_groups = 1};
  same("%r = stablehlo.convolution(%x, %w) dim_numbers = [b, f]x[i, o]->[b, f], window = {} "
       "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6xf32>, "
       "tensor<6x4xf32>) -> tensor<4x4xf32>",
       "tensor<4x4xf32>", tpt_hlo_convolution(g, x, w, &conv));
}

static void test_reductions(void) {
  begin();
  tpt_value_t sum = tpt_hlo_reduce(g, x, z, TPT_HLO_ADD, I64S(1), 1);
  same("%r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : "
       "(tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
       "tensor<4xf32>", sum);
  sum = tpt_hlo_reduce(g, x, z, TPT_HLO_MAXIMUM, I64S(0, 1), 2);
  same("%r = stablehlo.reduce(%x init: %z) across dimensions = [0, 1] : (tensor<4x6xf32>, "
       "tensor<f32>) -> tensor<f32>\n reducer(%a: tensor<f32>, %b: tensor<f32>)  {\n"
       "%m = stablehlo.maximum %a, %b : tensor<f32>\nstablehlo.return %m : tensor<f32>\n}",
       "tensor<f32>", sum);
}

static void test_linear_algebra(void) {
  begin();
  tpt_value_t square = tpt_hlo_slice(g, x, I64S(0, 0), I64S(3, 3), NULL);
  same("%s = stablehlo.slice %x [0:3, 0:3] : (tensor<4x6xf32>) -> tensor<3x3xf32>\n"
       "%r = stablehlo.cholesky %s, lower = true : tensor<3x3xf32>",
       "tensor<3x3xf32>", tpt_hlo_cholesky(g, square, true));
  same("%r = stablehlo.fft %x, type = RFFT, length = [4, 6] : (tensor<4x6xf32>) -> "
       "tensor<4x4xcomplex<f32>>",
       "tensor<4x4xcomplex<f32>>", tpt_hlo_fft(g, x, TPT_RFFT, I64S(4, 6), 2));
}

static void test_loops(void) {
  begin();
  tpt_type_t type = tpt_type_scalar(TPT_S32);
  tpt_value_t arg, again;
  tpt_region_begin(g, &type, 1, &arg);
  again = tpt_hlo_compare(g, TPT_LT, arg, i);
  uint32_t condition = tpt_region_end(g, &again, 1);
  tpt_region_begin(g, &type, 1, &arg);
  again = tpt_hlo_binary(g, TPT_HLO_ADD, arg, i);
  uint32_t body = tpt_region_end(g, &again, 1);
  same("%r = stablehlo.while(%it = %i) : tensor<i32> attributes {a = 1}\n cond {\n"
       "%c = stablehlo.compare LT, %it, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
       "stablehlo.return %c : tensor<i1>\n} do {\n%n = stablehlo.add %it, %i : tensor<i32>\n"
       "stablehlo.return %n : tensor<i32>\n}",
       "tensor<i32>", tpt_hlo_while(g, &i, 1, condition, body));
}

static void refused(const char* statement, tpt_code_t code, const char* part) {
  tpt_graph_t* read;
  CHECK_FAILS(read_one(statement, "tensor<4x6xf32>", &read), code, part);
}

static void test_unknown_parameters_are_refused(void) {
  refused("%r = stablehlo.transpose %x, axes = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>",
          TPT_UNIMPLEMENTED, "parameter 'axes' of stablehlo.transpose");
  refused("%r = stablehlo.compare LT, %x, %x, FLOAT, FLOAT : (tensor<4x6xf32>, tensor<4x6xf32>) -> "
          "tensor<4x6xi1>",
          TPT_INVALID_ARGUMENT, "has no parameter 'FLOAT'");
  refused(
      "%r = stablehlo.compare XX, %x, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>",
      TPT_INVALID_ARGUMENT, "'XX' is no comparison_direction");
  refused("%r = stablehlo.add , : tensor<4x6xf32>", TPT_INVALID_ARGUMENT, "expected an operand");
  refused("%r = stablehlo.add %x : tensor<4x6xf32>", TPT_INVALID_ARGUMENT,
          "takes 2 operands, not 1");
  refused("%r = stablehlo.reduce(%x init: %z) applies stablehlo.subtract across dimensions = [1] : "
          "(tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>",
          TPT_INVALID_ARGUMENT, "stablehlo.subtract cannot combine");
  refused("%r = stablehlo.while(%a = %i) : tensor<i32>, tensor<i32> cond {} do {}",
          TPT_INVALID_ARGUMENT, "2 types for 1 values");
}

int main(void) {
  g = check_graph();
  RUN(test_movement);
  RUN(test_elementwise);
  RUN(test_products);
  RUN(test_reductions);
  RUN(test_linear_algebra);
  RUN(test_loops);
  RUN(test_unknown_parameters_are_refused);
  tpt_graph_release(g);
  return TEST_RESULT;
}
