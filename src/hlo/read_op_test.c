// Tests of reading statements: generic operations, regions, calls, terminators.
#include "hlo/graph_check.h"
#include "hlo/read.h"

// A main of one f32[2] argument %a whose body is given; NULL when it must fail with this text.
static tpt_graph_t* read_body(const char* body, tpt_code_t code, const char* part) {
  char text[4096];
  tpt_graph_t* g = NULL;
  snprintf(text, sizeof(text), "func.func @main(%%a: tensor<2xf32>, %%p: tensor<i1>) {\n%s\n}",
           body);
  tpt_status_t status = tpt_graph_read(text, strlen(text), &g);
  if (part)
    CHECK_FAILS(status, code, part);
  else
    CHECK_OK(status);
  return g;
}
static void check_fails(const char* body, tpt_code_t code, const char* part) {
  tpt_graph_release(read_body(body, code, part));
}

static void test_generic_operations_read(void) {
  tpt_graph_t* g = read_body(
      "%0 = \"stablehlo.add\"(%a, %a) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> "
      "loc(unknown)\n"
      "\"stablehlo.negate\"(%0) : (tensor<2xf32>) -> (tensor<2xf32>)\n"
      "%1:2 = \"stablehlo.optimization_barrier\"(%0, %p) : (tensor<2xf32>, tensor<i1>) -> "
      "(tensor<2xf32>, tensor<i1>)\n"
      "%2, %3 = \"stablehlo.optimization_barrier\"(%1#0, %1#1) : (tensor<2xf32>, tensor<i1>) -> "
      "(tensor<2xf32>, tensor<i1>)\n"
      "\"func.return\"(%3, %2) : (tensor<i1>, tensor<2xf32>) -> ()",
      TPT_OK, NULL);
  if (!g) return;
  CHECK_EQ(tpt_graph_node_count(g), 4);
  CHECK_TYPE(g, tpt_graph_block(g, 0).results[0], "tensor<i1>");
  tpt_graph_release(g);
}

static void test_regions_see_outer_names(void) {
  tpt_graph_t* g = read_body(
      "%0 = \"stablehlo.if\"(%p) ({\n"
      "  %1 = stablehlo.negate %a : tensor<2xf32>\n  stablehlo.return %1 : tensor<2xf32>\n"
      "}, {\n^bb0:\n"
      "  %1 = stablehlo.sine %a : tensor<2xf32>\n  \"stablehlo.return\"(%1) : (tensor<2xf32>) -> "
      "()\n"
      "}) : (tensor<i1>) -> tensor<2xf32>\n"
      "%1 = stablehlo.exponential %0 : tensor<2xf32>\nreturn %1 : tensor<2xf32>",
      TPT_OK, NULL);
  CHECK(g && tpt_graph_node_count(g) == 4);
  tpt_graph_release(g);
  check_fails("%0 = \"stablehlo.if\"(%p) ({\n  %1 = stablehlo.negate %a : tensor<2xf32>\n"
              "  stablehlo.return %1 : tensor<2xf32>\n}, {\n  stablehlo.return %1 : tensor<2xf32>\n"
              "}) : (tensor<i1>) -> tensor<2xf32>\nreturn",
              TPT_INVALID_ARGUMENT, "6:21: %1 is not defined here");
}

static void test_counts_and_types_must_agree(void) {
  check_fails("%0:2 = stablehlo.negate %a : tensor<2xf32>\nreturn", TPT_INVALID_ARGUMENT,
              "2 results are named, but there are 1");
  check_fails("%0 = \"stablehlo.negate\"(%a) : (tensor<3xf32>) -> tensor<3xf32>\nreturn",
              TPT_INVALID_ARGUMENT,
              "operand 0 is tensor<3xf32> here, but was defined as tensor<2xf32>");
  check_fails("%0 = \"stablehlo.negate\"(%a) : () -> tensor<2xf32>\nreturn", TPT_INVALID_ARGUMENT,
              "0 operand types for 1 operands");
  check_fails("return %a : tensor<3xf32>", TPT_INVALID_ARGUMENT, "was defined as tensor<2xf32>");
  check_fails("return %a", TPT_INVALID_ARGUMENT, "expected ':'");
  check_fails("%0:99999999999 = stablehlo.negate %a : tensor<2xf32>\nreturn", TPT_INVALID_ARGUMENT,
              "so many results");
}

static void test_other_things_are_refused(void) {
  check_fails("\"cf.br\"()[^bb1] : () -> ()\nreturn", TPT_UNIMPLEMENTED,
              "'cf.br' is not supported");
  check_fails("\"stablehlo.negate\"(%a)[^bb1] : (tensor<2xf32>) -> tensor<2xf32>\nreturn",
              TPT_UNIMPLEMENTED, "successor");
  check_fails("return\n^bb1:\nreturn", TPT_UNIMPLEMENTED, "several blocks");
  check_fails("%0 = \"stablehlo.constant\"() : () -> tensor<f32>\nreturn", TPT_INVALID_ARGUMENT,
              "a constant has no value");
  check_fails(
      "%0 = \"stablehlo.constant\"() {value = dense<1> : tensor<i8>} : () -> tensor<1000xi64>\n"
      "return",
      TPT_INVALID_ARGUMENT, "must have one type");
  check_fails("= stablehlo.negate %a : tensor<2xf32>\nreturn", TPT_INVALID_ARGUMENT,
              "expected an operation");
}

static void test_calls_are_inlined(void) {
  static const char text[] =
      "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
      "  %0:2 = func.call @swap(%a, %a) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, "
      "tensor<f32>)\n"
      "  %1 = \"func.call\"(%0#1) {callee = @twice} : (tensor<f32>) -> tensor<f32>\n"
      "  %2 = stablehlo.composite \"x.y\" %1 {composite_attributes = {n = 1 : i64}, decomposition "
      "= "
      "@twice} : (tensor<f32>) -> tensor<f32>\n"
      "  return %2 : tensor<f32>\n}\n"
      "func.func private @swap(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n"
      "  %0 = stablehlo.negate %y : tensor<f32>\n  return %x, %0 : tensor<f32>, tensor<f32>\n}\n"
      "func.func private @twice(%x: tensor<f32>) -> tensor<f32> {\n"
      "  %0 = stablehlo.add %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n}\n";
  tpt_graph_t* g = NULL;
  if (!CHECK_OK(tpt_graph_read(text, strlen(text), &g))) return;
  CHECK_EQ(tpt_graph_node_count(g), 3);
  CHECK_EQ(tpt_graph_producer(g, tpt_graph_block(g, 0).results[0])->op, TPT_HLO_ADD);
  tpt_graph_release(g);
  check_fails("call @nowhere() : () -> ()\nreturn", TPT_INVALID_ARGUMENT,
              "@nowhere is not defined");
  check_fails("call @main(%a) : (tensor<2xf32>) -> ()\nreturn", TPT_INVALID_ARGUMENT,
              "do not fit the arguments of @main");
}

int main(void) {
  RUN(test_generic_operations_read);
  RUN(test_regions_see_outer_names);
  RUN(test_counts_and_types_must_agree);
  RUN(test_other_things_are_refused);
  RUN(test_calls_are_inlined);
  return TEST_RESULT;
}
