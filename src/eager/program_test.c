#include "eager/internal_op.h"
#include "eager/program.h"
#include "eager/test_device.h"

static void test_programs_are_told_apart_for_ever(void) {
  tpt_device_t* device = NULL;
  tpt_program_t* program;
  CHECK_OK(tpt_device_get(0, &device));
  CHECK_OK(tpt_program_create(device, "first", &program));
  uint64_t first = tpt_op_identity(&program->op);
  CHECK(tpt_op_program(&program->op) == program);
  CHECK_EQ(first & 1, 1);  // no address of an op is odd
  CHECK_STR(tpt_op_label(&program->op), "first");
  tpt_program_unref(program);
  CHECK_OK(tpt_program_create(device, "second", &program));
  CHECK(tpt_op_identity(&program->op) != first);
  CHECK_EQ(tpt_op_number(&program->op), tpt_op_count() + TPT_INTERNAL_PROGRAM);
  tpt_program_unref(program);
  CHECK(tpt_op_program(tpt_op_find("add.Tensor")) == NULL);
  CHECK_EQ(tpt_op_identity(tpt_op_find("add.Tensor")) & 1, 0);
}

static void test_labels_are_kept_once(void) {
  const char *a, *b, *c;
  char text[8] = "graph";
  CHECK_OK(tpt_label_intern(text, &a));
  text[0] = 'G';
  CHECK_OK(tpt_label_intern("graph", &b));
  CHECK_OK(tpt_label_intern(text, &c));
  CHECK(a == b);
  CHECK(a != c);
  CHECK_STR(a, "graph");
}

// What a program compiled goes with it; the table then finds the rest as before.
static void test_a_programs_entries_go_with_it(void) {
  tpt_device_t* device = NULL;
  CHECK_OK(tpt_device_get(0, &device));
  test_tensor_t a = test_f32(2, (float[]){1, 2}), sum;
  tpt_program_t* program = NULL;
  tpt_result_t result, *results;
  int count;
  CHECK_OK(test_add(&a, &a, 1, false, &sum));
  test_release(&sum);
  size_t before = device->entries.count;
  CHECK_OK(tpt_capture_begin(0));
  CHECK_OK(tpt_capture_input(0, test_ref(&a), &result));
  test_tensor_t x = test_result(&result);
  CHECK_OK(test_add(&x, &x, 1, false, &sum));
  CHECK_OK(tpt_capture_end(0, test_ref(&sum), 1, &program));
  test_release(&x);
  test_release(&sum);
  CHECK_OK(tpt_program_run(program, test_ref(&a), 1, NULL, &results, &count));
  CHECK_EQ(count, 1);
  sum = test_result(&results[0]);
  TEST_F32(sum, 2, 4);
  test_release(&sum);
  CHECK_EQ(device->entries.count, before + 1);
  tpt_program_release(program);
  CHECK_EQ(device->entries.count, before);
  uint64_t compiles = test_counters().compiles;
  CHECK_OK(test_add(&a, &a, 1, false, &sum));
  CHECK_EQ(test_counters().compiles, compiles);
  TEST_F32(sum, 2, 4);
  test_release(&sum);
  test_release(&a);
}

int main(void) {
  if (!test_open("1")) return 0;
  RUN(test_programs_are_told_apart_for_ever);
  RUN(test_labels_are_kept_once);
  RUN(test_a_programs_entries_go_with_it);
  return TEST_RESULT;
}
