#include "eager/program.h"
#include "eager/test_device.h"

static test_tensor_t run_one(tpt_program_t* program, const tpt_tensor_t* inputs, int count) {
  tpt_result_t* results;
  int result_count = 0;
  test_tensor_t out = {0};
  CHECK_OK(tpt_program_run(program, inputs, count, NULL, &results, &result_count));
  CHECK_EQ(result_count, 1);
  if (result_count == 1) out = test_result(&results[0]);
  return out;
}

// x + 2 y, then in place: z += x.
static tpt_program_t* capture_sum(test_tensor_t* like) {
  tpt_program_t* program = NULL;
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(like), y = test_capture_input(like), z;
  CHECK_OK(test_add(&x, &y, 2, false, &z));
  CHECK_OK(test_add(&z, &x, 1, true, NULL));
  CHECK_OK(tpt_capture_end(0, test_ref(&z), 1, &program));
  test_release(&x);
  test_release(&y);
  test_release(&z);
  return program;
}

static void test_a_program_computes_what_its_calls_would(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3}), b = test_f32(3, (float[]){10, 20, 30});
  uint64_t before = test_counters().launches;
  tpt_program_t* program = capture_sum(&a);
  CHECK_EQ(test_counters().launches, before);
  tpt_tensor_t inputs[2] = {*test_ref(&a), *test_ref(&b)};
  test_tensor_t sum = run_one(program, inputs, 2);
  TEST_F32(sum, 22, 44, 66);
  CHECK_EQ(test_counters().launches, before + 1);
  tpt_tensor_t other[2] = {*test_ref(&b), *test_ref(&b)};
  uint64_t compiles = test_counters().compiles;
  test_tensor_t again = run_one(program, other, 2);
  TEST_F32(again, 40, 80, 120);
  CHECK_EQ(test_counters().compiles, compiles + 1);  // one storage twice is another program
  test_tensor_t third = run_one(program, inputs, 2);
  TEST_F32(third, 22, 44, 66);
  CHECK_EQ(test_counters().compiles, compiles + 1);
  test_release(&sum);
  test_release(&again);
  test_release(&third);
  tpt_program_release(program);
  test_release(&a);
  test_release(&b);
}

static void test_a_written_input_is_written_back_in_place(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b = test_f32(2, (float[]){5, 6});
  tpt_program_t* program = NULL;
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(&a), y = test_capture_input(&b);
  CHECK_OK(test_add(&x, &y, 1, true, NULL));
  CHECK_OK(tpt_capture_end(0, NULL, 0, &program));
  TEST_F32(a, 1, 2);  // recording changes nothing
  tpt_tensor_t inputs[2] = {*test_ref(&a), *test_ref(&b)};
  tpt_result_t* results;
  int count;
  uint64_t donations = test_counters().donations;
  CHECK_OK(tpt_program_run(program, inputs, 2, NULL, &results, &count));
  CHECK_EQ(count, 0);
  CHECK_OK(tpt_program_run(program, inputs, 2, NULL, &results, &count));
  TEST_F32(a, 11, 14);
  TEST_F32(b, 5, 6);
  CHECK_EQ(test_counters().donations, donations + 2);
  test_release(&x);
  test_release(&y);
  tpt_program_release(program);
  test_release(&a);
  test_release(&b);
}

// The place of an input in its storage is no part of the program.
static void test_a_moving_window_compiles_once(void) {
  test_tensor_t a = test_f32(6, (float[]){1, 2, 3, 4, 5, 6}), two = test_f32(2, (float[]){0, 0});
  tpt_program_t* program = capture_sum(&two);
  uint64_t compiles = test_counters().compiles;
  for (int i = 0; i < 4; i++) {
    test_tensor_t part = a;
    part.sizes[0] = 2;
    part.t.offset = i;
    tpt_tensor_t inputs[2] = {*test_ref(&part), *test_ref(&two)};
    test_tensor_t sum = run_one(program, inputs, 2);
    TEST_F32(sum, (float)(2 * (i + 1)), (float)(2 * (i + 2)));
    test_release(&sum);
  }
  CHECK_EQ(test_counters().compiles, compiles + 1);
  tpt_program_release(program);
  test_release(&a);
  test_release(&two);
}

static void test_other_tensors_are_constants(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), c = test_f32(2, (float[]){100, 200});
  tpt_program_t* program = NULL;
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(&a), sum;
  CHECK_OK(test_add(&x, &c, 1, false, &sum));
  CHECK_OK(tpt_capture_end(0, test_ref(&sum), 1, &program));
  test_release(&x);
  test_release(&sum);
  test_release(&c);
  test_tensor_t out = run_one(program, test_ref(&a), 1);
  TEST_F32(out, 101, 202);
  test_release(&out);
  tpt_program_release(program);
  test_release(&a);
}

// Draws from a state begin where it was taken, take nothing from the stream, and follow each other.
static void test_draws_from_a_state_are_made_again(void) {
  int64_t six = 6;
  test_tensor_t like = test_empty(0, TPT_F32, 1, &six), made[5] = {0};
  tpt_result_t* results;
  tpt_result_t state;
  int count;
  tpt_program_t* program = NULL;
  CHECK_FAILS(tpt_capture_draw_from(0, NULL), TPT_FAILED_PRECONDITION, "no capture");
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(&like);
  CHECK_FAILS(tpt_capture_draw_from(0, test_ref(&x)), TPT_INVALID_ARGUMENT, "4 int64");
  CHECK_OK(test_uniform(&x, &made[0]));
  CHECK_OK(tpt_random_state(0, &state));
  test_tensor_t from = test_result(&state);
  CHECK_OK(test_uniform(&x, &made[1]));
  for (int i = 2; i < 4; i++) {
    CHECK_OK(tpt_capture_draw_from(0, test_ref(&from)));
    CHECK_OK(test_uniform(&x, &made[i]));
    CHECK_OK(tpt_capture_draw_from(0, NULL));
  }
  CHECK_OK(test_uniform(&x, &made[4]));
  tpt_tensor_t outputs[5];
  for (int i = 0; i < 5; i++)
    outputs[i] = *test_ref(&made[i]);
  CHECK_OK(tpt_capture_end(0, outputs, 5, &program));
  for (int i = 0; i < 5; i++)
    test_release(&made[i]);
  for (uint64_t seed = 0xFFFFFFFFFFFFFFF0u; seed; seed = seed == 3 ? 0 : 3) {
    float data[5][6], eager[3][6];
    tpt_generator_set(tpt_generator_default(0), seed, 0xFFFFFFFE);
    CHECK_OK(tpt_program_run(program, test_ref(&like), 1, NULL, &results, &count));
    for (int i = 0; i < count; i++) {
      test_tensor_t out = test_result(&results[i]);
      CHECK_OK(tpt_tensor_download(test_ref(&out), data[i]));
      test_release(&out);
    }
    tpt_generator_set(tpt_generator_default(0), seed, 0xFFFFFFFE);
    for (int i = 0; i < 3; i++) {
      test_tensor_t out;
      CHECK_OK(test_uniform(&like, &out));
      CHECK_OK(tpt_tensor_download(test_ref(&out), eager[i]));
      test_release(&out);
    }
    CHECK(memcmp(data[0], eager[0], sizeof(data[0])) == 0);
    CHECK(memcmp(data[1], eager[1], sizeof(data[0])) == 0);
    CHECK(memcmp(data[2], eager[1], sizeof(data[0])) == 0);
    CHECK(memcmp(data[3], eager[2], sizeof(data[0])) == 0);
    CHECK(memcmp(data[4], eager[2], sizeof(data[0])) == 0);
  }
  test_release(&from);
  test_release(&x);
  tpt_program_release(program);
  test_release(&like);
}

static void test_random_numbers_continue_the_stream(void) {
  float eager[8], compiled[8];
  int64_t four = 4;
  test_tensor_t a = test_empty(0, TPT_F32, 1, &four);
  tpt_program_t* program = NULL;
  tpt_generator_t* generator = tpt_generator_default(0);
  for (int pass = 0; pass < 2; pass++) {
    tpt_generator_set(generator, 7, 0);
    test_tensor_t x = a, results[2];
    if (pass) {
      CHECK_OK(tpt_capture_begin(0));
      x = test_capture_input(&a);
    }
    for (int i = 0; i < 2; i++) {
      CHECK_OK(test_uniform(&x, &results[i]));
    }
    if (!pass) {
      for (int i = 0; i < 2; i++)
        CHECK_OK(tpt_tensor_download(test_ref(&results[i]), eager + 4 * i));
    } else {
      tpt_tensor_t outputs[2] = {*test_ref(&results[0]), *test_ref(&results[1])};
      tpt_result_t* out;
      int count;
      CHECK_OK(tpt_capture_end(0, outputs, 2, &program));
      uint64_t seed, offset;
      tpt_generator_get(generator, &seed, &offset);
      CHECK_EQ(offset, 0);
      CHECK_OK(tpt_program_run(program, test_ref(&a), 1, NULL, &out, &count));
      CHECK_EQ(count, 2);
      for (int i = 0; i < count; i++) {
        test_tensor_t made = test_result(&out[i]);
        CHECK_OK(tpt_tensor_download(test_ref(&made), compiled + 4 * i));
        test_release(&made);
      }
      tpt_generator_get(generator, &seed, &offset);
      CHECK_EQ(offset, 2);
      test_release(&x);
    }
    test_release(&results[0]);
    test_release(&results[1]);
  }
  CHECK(memcmp(eager, compiled, sizeof(eager)) == 0);
  tpt_program_release(program);
  test_release(&a);
}

static void test_values_of_a_capture_cannot_be_read(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2});
  float data[2];
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(&a), sum;
  CHECK_OK(test_add(&x, &x, 1, false, &sum));
  CHECK_FAILS(tpt_tensor_download(test_ref(&sum), data), TPT_FAILED_PRECONDITION, "add.Tensor");
  tpt_capture_cancel(0);
  CHECK(!tpt_capture_is_active());
  CHECK_FAILS(test_add(&sum, &a, 1, false, &x), TPT_FAILED_PRECONDITION, "captured");
  test_release(&x);
  test_release(&sum);
  TEST_F32(a, 1, 2);
  test_release(&a);
}

static void test_other_sizes_are_refused(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3}), b = test_f32(2, (float[]){1, 2});
  tpt_program_t* program = capture_sum(&a);
  tpt_tensor_t inputs[2] = {*test_ref(&a), *test_ref(&b)};
  tpt_result_t* results;
  int count;
  CHECK_FAILS(tpt_program_run(program, inputs, 2, NULL, &results, &count), TPT_INVALID_ARGUMENT,
              "input 1");
  CHECK_FAILS(tpt_program_run(program, inputs, 1, NULL, &results, &count), TPT_INVALID_ARGUMENT,
              "takes 2 inputs");
  tpt_program_release(program);
  test_release(&a);
  test_release(&b);
}

static void test_outputs_may_be_inputs_zeros_and_parts(void) {
  test_tensor_t a = test_f32(4, (float[]){1, 2, 3, 4});
  tpt_program_t* program = NULL;
  CHECK_OK(tpt_capture_begin(0));
  test_tensor_t x = test_capture_input(&a), sum;
  CHECK_OK(test_add(&x, &x, 1, false, &sum));
  int64_t two = 2;
  test_tensor_t zeros = test_empty(0, TPT_F32, 1, &two), part = sum;
  part.sizes[0] = 2;
  part.t.offset = 1;
  tpt_tensor_t outputs[4] = {
      *test_ref(&x), *test_ref(&zeros), *test_ref(&part), {.flags = TPT_TENSOR_NONE}};
  CHECK_OK(tpt_capture_end(0, outputs, 4, &program));
  tpt_result_t* results;
  int count;
  CHECK_OK(tpt_program_run(program, test_ref(&a), 1, NULL, &results, &count));
  CHECK_EQ(count, 4);
  if (count == 4) {
    test_tensor_t same = test_result(&results[0]), none = test_result(&results[1]),
                  cut = test_result(&results[2]);
    CHECK(results[3].storage == NULL);
    TEST_F32(same, 1, 2, 3, 4);
    TEST_F32(none, 0, 0);
    TEST_F32(cut, 4, 6);
    test_release(&same);
    test_release(&none);
    test_release(&cut);
  }
  tpt_program_release(program);
  test_release(&x);
  test_release(&sum);
  test_release(&zeros);
  test_release(&a);
}

int main(void) {
  if (!test_open("1")) return 0;
  RUN(test_a_program_computes_what_its_calls_would);
  RUN(test_a_written_input_is_written_back_in_place);
  RUN(test_a_moving_window_compiles_once);
  RUN(test_other_tensors_are_constants);
  RUN(test_random_numbers_continue_the_stream);
  RUN(test_draws_from_a_state_are_made_again);
  RUN(test_values_of_a_capture_cannot_be_read);
  RUN(test_other_sizes_are_refused);
  RUN(test_outputs_may_be_inputs_zeros_and_parts);
  return TEST_RESULT;
}
