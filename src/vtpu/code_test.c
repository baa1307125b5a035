// Tests of compiled programs as the plugin keeps them.
#include "base/check.h"
#include "vtpu/code.h"
#include "vtpu/plugin_probe.h"

static void test_tables_follow_the_program(void) {
  vtpu_code_t* code = NULL;
  CHECK_OK(vtpu_code_create(probe_pick, strlen(probe_pick), &code));
  CHECK_EQ(code->param_count, 2);
  CHECK_EQ(code->result_count, 2);
  CHECK_EQ(code->params[0]->dims[0], 4);
  CHECK_EQ(code->params[1]->dtype, TPT_S32);
  CHECK_EQ(code->results[1]->rank, 0);
  CHECK(code->result_aliases[0] == 0 && code->result_aliases[1] == -1);
  CHECK(code->param_aliases[0] == 0 && code->param_aliases[1] == -1);
  CHECK_EQ(code->alias_count, 1);
  CHECK_EQ(code->alias_size, 16);
  CHECK_EQ(code->param_size, 20);
  CHECK_EQ(code->result_size, 20);
  vtpu_code_release(code);
}

static void test_canonical_text_is_the_same_for_equal_programs(void) {
  static const char other[] =
      "func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %sum = \"stablehlo.add\"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
      "  func.return %sum : tensor<4xf32>\n"
      "}\n";
  vtpu_code_t *a = NULL, *b = NULL;
  const tpt_str_t *first = NULL, *second = NULL, *again = NULL;
  CHECK_OK(vtpu_code_create(probe_add, strlen(probe_add), &a));
  CHECK_OK(vtpu_code_create(other, strlen(other), &b));
  CHECK_OK(vtpu_code_canonical(a, &first));
  CHECK_OK(vtpu_code_canonical(b, &second));
  CHECK_STR(first->data, second->data);
  CHECK_OK(vtpu_code_canonical(a, &again));
  CHECK(again->data == first->data);
  vtpu_code_release(a);
  a = NULL;
  CHECK_OK(vtpu_code_create(second->data, second->size, &a));
  CHECK_OK(vtpu_code_canonical(a, &first));
  CHECK_STR(first->data, second->data);
  vtpu_code_release(a);
  vtpu_code_release(b);
}

static void test_plan_is_text(void) {
  vtpu_code_t* code = NULL;
  tpt_str_t plan;
  tpt_str_init(&plan);
  CHECK_OK(vtpu_code_create(probe_add, strlen(probe_add), &code));
  CHECK_OK(vtpu_code_plan(code, &plan));
  CHECK(plan.size > 0 && plan.data[plan.size] == 0);
  tpt_str_deinit(&plan);
  vtpu_code_release(vtpu_code_retain(code));
  vtpu_code_release(code);
}

static void test_bad_programs_carry_the_readers_error(void) {
  vtpu_code_t* code = NULL;
  CHECK_FAILS(vtpu_code_create("func.func @main(", 16, &code), TPT_INVALID_ARGUMENT, "1:");
  CHECK_FAILS(vtpu_code_create("", 0, &code), TPT_INVALID_ARGUMENT, "");
  CHECK(code == NULL);
  vtpu_code_release(NULL);
}

int main(void) {
  RUN(test_tables_follow_the_program);
  RUN(test_canonical_text_is_the_same_for_equal_programs);
  RUN(test_plan_is_text);
  RUN(test_bad_programs_carry_the_readers_error);
  return TEST_RESULT;
}
