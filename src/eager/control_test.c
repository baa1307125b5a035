#include "eager/control.h"
#include "eager/test_device.h"

static tpt_program_t* end_with(test_tensor_t* output) {
  tpt_program_t* program = NULL;
  CHECK_OK(tpt_capture_end(0, test_ref(output), 1, &program));
  return program;
}

// x + alpha x
static tpt_program_t* capture_scale(test_tensor_t* like, double alpha) {
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(like), y = {0};
  CHECK_OK(test_add(&x, &x, alpha, false, &y));
  tpt_program_t* program = end_with(&y);
  test_release(&x);
  test_release(&y);
  return program;
}

// x < limit, of a 0-d x.
static tpt_program_t* capture_less(test_tensor_t* like, double limit) {
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(like), less = {0};
  tpt_arg_t args[2] = {test_arg(test_ref(&x)), test_scalar(limit)};
  CHECK_OK(test_call("lt.Scalar", false, args, 2, &less));
  tpt_program_t* program = end_with(&less);
  test_release(&x);
  test_release(&less);
  return program;
}

static test_tensor_t scalar_f32(float value) {
  return test_upload(TPT_F32, 0, NULL, &value);
}

static void test_if_takes_the_branch_of_its_predicate(void) {
  test_tensor_t x = test_f32(2, (float[]){1, 2});
  tpt_program_t* programs[2] = {capture_scale(&x, 1), capture_scale(&x, 9)};
  uint64_t compiles = test_counters().compiles;
  for (int i = 0; i < 4; i++) {
    unsigned char truth = (unsigned char)(i % 2);
    test_tensor_t pred = test_upload(TPT_PRED, 0, NULL, &truth);
    tpt_tensor_t operands[2] = {*test_ref(&pred), *test_ref(&x)};
    tpt_result_t* results;
    int count;
    CHECK_OK(tpt_control_run(TPT_CONTROL_IF, programs, operands, 2, &results, &count));
    CHECK_EQ(count, 1);
    test_tensor_t out = test_result(&results[0]);
    if (truth) {
      TEST_F32(out, 2, 4);
    } else {
      TEST_F32(out, 10, 20);
    }
    test_release(&out);
    test_release(&pred);
  }
  CHECK_EQ(test_counters().compiles, compiles + 1);
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  test_release(&x);
}

static void test_while_runs_to_its_condition(void) {
  test_tensor_t x = scalar_f32(1);
  tpt_program_t* programs[2] = {capture_less(&x, 100), capture_scale(&x, 1)};
  tpt_result_t* results;
  int count;
  CHECK_OK(tpt_control_run(TPT_CONTROL_WHILE, programs, test_ref(&x), 1, &results, &count));
  CHECK_EQ(count, 1);
  test_tensor_t out = test_result(&results[0]);
  TEST_F32(out, 128);
  test_release(&out);
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  test_release(&x);
}

// A while among the calls of a program that outlives its own programs' handles.
static void test_a_while_is_recorded_like_any_call(void) {
  test_tensor_t like = scalar_f32(0), start = scalar_f32(3);
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(&like), doubled = {0};
  CHECK_OK(test_add(&x, &x, 1, false, &doubled));
  tpt_program_t* programs[2] = {capture_less(&like, 50), capture_scale(&like, 1)};
  tpt_result_t* results;
  int count;
  CHECK_OK(tpt_control_run(TPT_CONTROL_WHILE, programs, test_ref(&doubled), 1, &results, &count));
  CHECK_EQ(count, 1);
  test_tensor_t looped = test_result(&results[0]), sum = {0};
  CHECK_OK(test_add(&looped, &x, 1, false, &sum));
  tpt_program_t* program = end_with(&sum);
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  uint64_t launches = test_counters().launches;
  CHECK_OK(tpt_program_run(program, test_ref(&start), 1, NULL, &results, &count));
  CHECK_EQ(count, 1);
  test_tensor_t out = test_result(&results[0]);
  TEST_F32(out, 99);  // 6, 12, 24, 48, 96; + 3
  CHECK_EQ(test_counters().launches, launches + 1);
  test_release(&out);
  tpt_program_release(program);
  test_release(&x);
  test_release(&doubled);
  test_release(&looped);
  test_release(&sum);
  test_release(&like);
  test_release(&start);
}

static void test_wrong_types_are_refused(void) {
  test_tensor_t x = test_f32(2, (float[]){1, 2}), y = scalar_f32(1);
  tpt_program_t* programs[2] = {capture_scale(&x, 1), capture_scale(&x, 2)};
  tpt_tensor_t operands[2] = {*test_ref(&x), *test_ref(&x)};
  tpt_result_t* results;
  int count;
  CHECK_FAILS(tpt_control_run(TPT_CONTROL_IF, programs, operands, 2, &results, &count),
              TPT_INVALID_ARGUMENT, "cond: operand 0");
  CHECK_FAILS(tpt_control_run(TPT_CONTROL_WHILE, programs, test_ref(&x), 1, &results, &count),
              TPT_INVALID_ARGUMENT, "condition's result");
  CHECK_FAILS(tpt_control_run(TPT_CONTROL_WHILE, programs, test_ref(&y), 1, &results, &count),
              TPT_INVALID_ARGUMENT, "operand 0");
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  test_release(&x);
  test_release(&y);
}

static void test_writes_and_random_numbers_are_refused(void) {
  test_tensor_t x = scalar_f32(1);
  tpt_program_t *programs[2] = {capture_less(&x, 100), NULL}, *random = NULL;
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t a = test_capture_input(&x);
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  programs[1] = end_with(&a);
  tpt_result_t* results;
  int count;
  CHECK_FAILS(tpt_control_run(TPT_CONTROL_WHILE, programs, test_ref(&x), 1, &results, &count),
              TPT_UNIMPLEMENTED, "in place");
  test_release(&a);
  CHECK_OK(tpt_capture_begin(0));
  a = test_capture_input(&x);
  test_tensor_t drawn = {0};
  CHECK_OK(test_uniform(&a, &drawn));
  random = end_with(&drawn);
  tpt_program_t* drawing[2] = {programs[0], random};
  CHECK_FAILS(tpt_control_run(TPT_CONTROL_WHILE, drawing, test_ref(&x), 1, &results, &count),
              TPT_UNIMPLEMENTED, "random numbers");
  test_release(&a);
  test_release(&drawn);
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  tpt_program_release(random);
  test_release(&x);
}

int main(void) {
  if (!test_open("1")) return 0;
  RUN(test_if_takes_the_branch_of_its_predicate);
  RUN(test_while_runs_to_its_condition);
  RUN(test_a_while_is_recorded_like_any_call);
  RUN(test_wrong_types_are_refused);
  RUN(test_writes_and_random_numbers_are_refused);
  return TEST_RESULT;
}
