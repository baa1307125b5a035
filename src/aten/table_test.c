// The op table: every row is well formed and found by its name.
#include "aten/lower.h"
#include "base/check.h"

static void test_every_row_parses_and_is_found(void) {
  CHECK(tpt_op_count() > 300);
  for (int i = 0; i < tpt_op_count(); i++) {
    const tpt_op_t* op = tpt_op_row(i);
    const tpt_schema_t* schema = tpt_op_schema(op);
    if (!*schema->name) fprintf(stderr, "bad schema: %s\n", op->schema_text);
    CHECK(*schema->name != 0);
    CHECK(tpt_op_find(schema->name) == op);  // a name that two rows share finds only one
    CHECK_EQ(tpt_op_index(op), i);
    CHECK(schema->return_count > 0 || op->params.written != 0);
    CHECK(op->lower != NULL && *tpt_op_family(op) != 0);
    CHECK(!strncmp(op->schema_text, schema->name, strlen(schema->name)));
  }
}

static void test_rows_are_found_with_and_without_namespace(void) {
  const tpt_op_t* op = tpt_op_find("aten::add.Tensor");
  CHECK(op != NULL && op == tpt_op_find("add.Tensor"));
  CHECK_STR(op->id, "ADD_TENSOR");
  CHECK_STR(tpt_op_family(op), "elementwise");
  CHECK(tpt_op_find("add") == NULL);
  CHECK(tpt_op_find("") == NULL);
  CHECK(tpt_op_row(-1) == NULL && tpt_op_row(tpt_op_count()) == NULL);
}

static void test_flags_reach_the_callers(void) {
  CHECK(tpt_op_is_composite_implicit(tpt_op_find("silu_backward")));
  CHECK(!tpt_op_is_composite_implicit(tpt_op_find("silu")));
  CHECK(!tpt_op_is_functional_only(tpt_op_find("relu")));
  CHECK_STR(tpt_op_schema_text(tpt_op_find("relu")), "relu(Tensor self) -> Tensor");
}

int main(void) {
  RUN(test_every_row_parses_and_is_found);
  RUN(test_rows_are_found_with_and_without_namespace);
  RUN(test_flags_reach_the_callers);
  return TEST_RESULT;
}
