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

static void test_writes_are_refused(void) {
  test_tensor_t x = scalar_f32(1);
  tpt_program_t* programs[2] = {capture_less(&x, 100), NULL};
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t a = test_capture_input(&x);
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  programs[1] = end_with(&a);
  tpt_result_t* results;
  int count;
  CHECK_FAILS(tpt_control_run(TPT_CONTROL_WHILE, programs, test_ref(&x), 1, &results, &count),
              TPT_UNIMPLEMENTED, "in place");
  test_release(&a);
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  test_release(&x);
}

// x + scale * (a draw from 0 to 1)
static tpt_program_t* capture_noise(test_tensor_t* like, double scale) {
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(like), drawn = {0}, y = {0};
  CHECK_OK(test_uniform(&x, &drawn));
  CHECK_OK(test_add(&x, &drawn, scale, false, &y));
  tpt_program_t* program = end_with(&y);
  test_release(&x);
  test_release(&drawn);
  test_release(&y);
  return program;
}

static uint64_t offset_now(void) {
  uint64_t seed, offset;
  tpt_generator_get(tpt_generator_default(0), &seed, &offset);
  return offset;
}

// Only the branch that is taken moves the stream.
static void test_a_branch_draws_as_its_calls_would(void) {
  test_tensor_t x = test_f32(6, (float[]){1, 2, 3, 4, 5, 6});
  tpt_program_t* programs[2] = {capture_noise(&x, 1), capture_scale(&x, 1)};
  float drawn[6], wanted[6], next[6], later[6];
  for (int truth = 0; truth < 2; truth++) {
    tpt_generator_set(tpt_generator_default(0), 7, 5);
    unsigned char byte = (unsigned char)truth;
    test_tensor_t pred = test_upload(TPT_PRED, 0, NULL, &byte);
    tpt_tensor_t operands[2] = {*test_ref(&pred), *test_ref(&x)};
    tpt_result_t* results;
    int count;
    CHECK_OK(tpt_control_run(TPT_CONTROL_IF, programs, operands, 2, &results, &count));
    CHECK_EQ(count, 1);
    test_tensor_t out = test_result(&results[0]), after;
    CHECK_OK(test_uniform(&x, &after));
    CHECK_OK(tpt_tensor_download(test_ref(&out), drawn));
    CHECK_OK(tpt_tensor_download(test_ref(&after), later));
    CHECK_EQ(offset_now(), (uint64_t)(truth ? 5 + 2 + 2 : 5 + 2));
    test_release(&after);
    tpt_generator_set(tpt_generator_default(0), 7, 5);
    CHECK_OK(test_uniform(&x, &after));
    CHECK_OK(tpt_tensor_download(test_ref(&after), wanted));
    test_release(&after);
    CHECK_OK(test_uniform(&x, &after));
    CHECK_OK(tpt_tensor_download(test_ref(&after), next));
    for (int i = 0; i < 6; i++) {
      CHECK(drawn[i] == (truth ? (float)(i + 1) + wanted[i] : (float)(2 * (i + 1))));
      CHECK(later[i] == (truth ? next[i] : wanted[i]));
    }
    test_release(&after);
    test_release(&out);
    test_release(&pred);
  }
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  test_release(&x);
}

// Each run of a body goes on where the last one ended; and in a program draws that follow do, too.
static void test_a_body_draws_on(void) {
  test_tensor_t x = scalar_f32(0), start = scalar_f32(0), next = {0}, wanted = {0};
  tpt_program_t* programs[2] = {capture_less(&x, 2), capture_noise(&x, 1)};
  tpt_program_t* program = NULL;
  tpt_generator_set(tpt_generator_default(0), 11, 0);
  float sum = 0, last, one;
  uint64_t runs = 0;
  while (sum < 2 && runs < 100) {
    CHECK_OK(test_uniform(&x, &next));
    CHECK_OK(tpt_tensor_download(test_ref(&next), &one));
    test_release(&next);
    sum += one;
    runs++;
  }
  CHECK_OK(test_uniform(&x, &next));
  CHECK_OK(tpt_tensor_download(test_ref(&next), &last));
  test_release(&next);
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t a = test_capture_input(&start), looped = {0};
  tpt_result_t* results;
  int count;
  CHECK_OK(tpt_control_run(TPT_CONTROL_WHILE, programs, test_ref(&a), 1, &results, &count));
  looped = test_result(&results[0]);
  CHECK_OK(test_uniform(&a, &wanted));
  tpt_tensor_t outputs[2] = {*test_ref(&looped), *test_ref(&wanted)};
  CHECK_OK(tpt_capture_end(0, outputs, 2, &program));
  test_release(&a);
  test_release(&looped);
  test_release(&wanted);
  for (int pass = 0; pass < 2; pass++) {
    tpt_generator_set(tpt_generator_default(0), 11, 0);
    CHECK_OK(tpt_program_run(program, test_ref(&start), 1, NULL, &results, &count));
    CHECK_EQ(count, 2);
    looped = test_result(&results[0]);
    wanted = test_result(&results[1]);
    TEST_F32(looped, sum);
    TEST_F32(wanted, last);
    CHECK_EQ(offset_now(), runs + 1);
    test_release(&looped);
    test_release(&wanted);
  }
  tpt_program_t* drawing[2] = {programs[1], programs[1]};
  CHECK_FAILS(tpt_control_run(TPT_CONTROL_WHILE, drawing, test_ref(&x), 1, &results, &count),
              TPT_UNIMPLEMENTED, "condition that draws");
  tpt_program_release(program);
  tpt_program_release(programs[0]);
  tpt_program_release(programs[1]);
  test_release(&start);
  test_release(&x);
}

static void test_a_barrier_passes_values_and_strides(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b = test_f32(3, (float[]){5, 6, 7});
  tpt_tensor_t both[2] = {*test_ref(&a), *test_ref(&b)};
  tpt_result_t* results;
  int count;
  CHECK_OK(tpt_barrier(both, 2, &results, &count));
  CHECK_EQ(count, 2);
  test_tensor_t x = test_result(&results[0]), y = test_result(&results[1]);
  TEST_F32(x, 1, 2);
  TEST_F32(y, 5, 6, 7);
  test_release(&x);
  test_release(&y);
  tpt_program_t* program = NULL;
  CHECK_OK(tpt_capture_begin(0));
  x = test_capture_input(&a);
  CHECK_OK(tpt_barrier(test_ref(&x), 1, &results, &count));
  y = test_result(&results[0]);
  test_tensor_t sum;
  CHECK_OK(test_add(&x, &y, 2, false, &sum));
  CHECK_OK(tpt_capture_end(0, test_ref(&sum), 1, &program));
  test_release(&x);
  test_release(&y);
  test_release(&sum);
  CHECK_OK(tpt_program_run(program, test_ref(&a), 1, NULL, &results, &count));
  sum = test_result(&results[0]);
  TEST_F32(sum, 3, 6);
  test_release(&sum);
  both[1].storage = NULL;
  CHECK_FAILS(tpt_barrier(both, 2, &results, &count), TPT_INVALID_ARGUMENT, "operand 1");
  tpt_program_release(program);
  test_release(&a);
  test_release(&b);
}

int main(void) {
  if (!test_open("1")) return 0;
  RUN(test_if_takes_the_branch_of_its_predicate);
  RUN(test_while_runs_to_its_condition);
  RUN(test_a_while_is_recorded_like_any_call);
  RUN(test_wrong_types_are_refused);
  RUN(test_writes_are_refused);
  RUN(test_a_branch_draws_as_its_calls_would);
  RUN(test_a_body_draws_on);
  RUN(test_a_barrier_passes_values_and_strides);
  return TEST_RESULT;
}
