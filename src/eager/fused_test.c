#include "eager/program.h"
#include "eager/test_device.h"

static void set_mode(tpt_eager_mode_t mode) {
  CHECK_OK(tpt_eager_mode_set(mode));
}

static void add_to(test_tensor_t* self, test_tensor_t* other, double alpha) {
  CHECK_OK(test_add(self, other, alpha, true, NULL));
}

static void test_nothing_runs_until_a_value_is_needed(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b, c;
  set_mode(TPT_EAGER_FUSED);
  uint64_t launches = test_counters().launches;
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  CHECK_OK(test_add(&b, &a, 10, false, &c));
  add_to(&c, &b, -1);
  CHECK_EQ(test_counters().launches, launches);
  TEST_F32(c, 10, 20);
  CHECK_EQ(test_counters().launches, launches + 1);
  TEST_F32(b, 2, 4);
  TEST_F32(a, 1, 2);
  CHECK_EQ(test_counters().launches, launches + 1);
  test_release(&b);
  test_release(&c);
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  set_mode(TPT_EAGER_STRICT);  // runs what waits
  CHECK_EQ(test_counters().launches, launches + 2);
  TEST_F32(b, 2, 4);
  test_release(&b);
  test_release(&a);
}

static void test_dead_values_are_never_computed(void) {
  test_tensor_t a = test_f32(2, (float[]){1, 2}), b;
  set_mode(TPT_EAGER_FUSED);
  uint64_t launches = test_counters().launches;
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  test_release(&b);
  set_mode(TPT_EAGER_STRICT);
  CHECK_EQ(test_counters().launches, launches);
  test_release(&a);
}

// A loop without reads: its windows end where the loop begins again, numbers are operands.
static void test_a_loop_compiles_a_constant_number_of_programs(void) {
  test_tensor_t a = test_f32(2, (float[]){0, 0}), b = test_f32(2, (float[]){1, 2}), c;
  set_mode(TPT_EAGER_FUSED);
  uint64_t compiles = 0;
  float sum = 0;
  for (int i = 0; i < 200; i++) {
    if (i == 60) compiles = test_counters().compiles;
    for (int k = 0; k < 5; k++)
      add_to(&a, &b, i + k);
    CHECK_OK(test_add(&a, &b, 0.5, false, &c));
    test_release(&c);
    for (int k = 0; k < 5; k++)
      sum += (float)(i + k);
  }
  CHECK_EQ(test_counters().compiles, compiles);
  TEST_F32(a, sum, 2 * sum);
  set_mode(TPT_EAGER_STRICT);
  test_release(&a);
  test_release(&b);
}

static void test_inplace_takes_the_old_memory(void) {
  test_tensor_t a = test_f32(4, (float[]){1, 2, 3, 4});
  set_mode(TPT_EAGER_FUSED);
  uint64_t donations = test_counters().donations;
  add_to(&a, &a, 1);
  add_to(&a, &a, 1);
  TEST_F32(a, 4, 8, 12, 16);
  CHECK_EQ(test_counters().donations, donations + 1);
  set_mode(TPT_EAGER_STRICT);
  test_release(&a);
}

// The failing call is named; what came before it and what does not depend on it is there.
static void test_a_failing_call_is_found(void) {
  if (!test_is_vtpu()) return;
  test_tensor_t a = test_f32(2, (float[]){1, 2}), before, row, after, other;
  test_tensor_t weight = test_upload(TPT_F32, 2, (int64_t[]){2, 2}, (float[]){1, 2, 3, 4});
  set_mode(TPT_EAGER_FUSED);
  CHECK_OK(test_add(&a, &a, 1, false, &before));
  CHECK_OK(test_look_up(&weight, 9, &row));
  CHECK_OK(test_add(&row, &a, 1, false, &after));
  CHECK_OK(test_add(&a, &a, 2, false, &other));
  float data[2];
  CHECK_FAILS(tpt_tensor_download(test_ref(&after), data), TPT_OUT_OF_RANGE, "model.py:12");
  CHECK_FAILS(tpt_tensor_download(test_ref(&after), data), TPT_OUT_OF_RANGE, "embedding");
  TEST_F32(before, 2, 4);
  TEST_F32(other, 3, 6);
  // one that nobody reads is told, too
  test_release(&row);
  CHECK_OK(test_look_up(&weight, -7, &row));
  test_release(&row);
  CHECK_FAILS(tpt_device_synchronize(0), TPT_OUT_OF_RANGE, "embedding");
  CHECK_OK(tpt_device_synchronize(0));
  set_mode(TPT_EAGER_STRICT);
  test_release(&a);
  test_release(&before);
  test_release(&after);
  test_release(&other);
  test_release(&weight);
}

static void test_random_numbers_are_those_of_strict_mode(void) {
  float data[2][6];
  int64_t three = 3;
  test_tensor_t a = test_empty(0, TPT_F32, 1, &three);
  for (int mode = 0; mode < 2; mode++) {
    test_tensor_t results[2];
    tpt_generator_set(tpt_generator_default(0), 3, 5);
    set_mode(mode ? TPT_EAGER_FUSED : TPT_EAGER_STRICT);
    for (int i = 0; i < 2; i++) {
      CHECK_OK(test_uniform(&a, &results[i]));
    }
    for (int i = 0; i < 2; i++) {
      CHECK_OK(tpt_tensor_download(test_ref(&results[i]), data[mode] + 3 * i));
      test_release(&results[i]);
    }
  }
  set_mode(TPT_EAGER_STRICT);
  CHECK(memcmp(data[0], data[1], sizeof(data[0])) == 0);
  test_release(&a);
}

// Calls that never repeat and are never read: each of another size.
static void test_a_long_window_ends_by_itself(void) {
  enum { CALLS = 1500 };
  static test_tensor_t results[CALLS];
  const float data[1] = {2};
  test_tensor_t one = test_f32(1, data);
  set_mode(TPT_EAGER_FUSED);
  uint64_t windows = test_counters().fused_windows;
  for (int64_t i = 0; i < CALLS; i++) {
    test_tensor_t a = one;
    a.sizes[0] = i + 1;
    a.strides[0] = 0;
    CHECK_OK(test_add(&a, &one, (double)i, false, &results[i]));
  }
  CHECK_EQ(test_counters().fused_windows, windows + 1);
  TEST_F32(results[2], 6, 6, 6);  // of the window that ran
  CHECK_EQ(test_counters().fused_windows, windows + 1);
  set_mode(TPT_EAGER_STRICT);
  CHECK_EQ(test_counters().fused_windows, windows + 2);
  for (int i = 0; i < CALLS; i++)
    test_release(&results[i]);
  test_release(&one);
}

static void test_many_windows_stay_bounded(void) {
  set_mode(TPT_EAGER_FUSED);
  for (int64_t size = 1; size < 600; size++) {
    test_tensor_t a = test_empty(0, TPT_F32, 1, &size), b;
    CHECK_OK(test_add(&a, &a, 1, false, &b));
    float first;
    b.sizes[0] = 1;
    CHECK_OK(tpt_tensor_download(test_ref(&b), &first));
    CHECK_EQ(first, 0);
    test_release(&a);
    test_release(&b);
  }
  set_mode(TPT_EAGER_STRICT);
}

// x + x, then x * 2 of three elements, then of five.
static void run_pair(int64_t count, double factor) {
  const float data[5] = {1, 2, 3, 4, 5};
  test_tensor_t a = test_f32(count, data), b, c;
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  CHECK_OK(test_add(&b, &a, factor, false, &c));
  float out[5];
  CHECK_OK(tpt_tensor_download(test_ref(&c), out));
  CHECK_EQ(out[1], (float)(4 + 2 * factor));
  test_release(&c);
  test_release(&b);
  test_release(&a);
}

static bool last_reason_has(const char* text) {
  static tpt_compile_info_t infos[256];
  int count = tpt_compile_log_get(infos, 256);
  bool has = count > 0 && strstr(infos[count - 1].reason, text);
  if (!has) fprintf(stderr, "no \"%s\" in: %s\n", text, count ? infos[count - 1].reason : "-");
  return has;
}

static void test_a_window_tells_what_is_new_about_it(void) {
  set_mode(TPT_EAGER_FUSED);
  run_pair(3, 2);
  uint64_t compiles = test_counters().compiles;
  run_pair(3, 7);  // numbers are operands
  CHECK_EQ(test_counters().compiles, compiles);
  run_pair(5, 2);
  CHECK(last_reason_has("new sizes (5,), was (3,), of argument self, in call 1 of 2, "
                        "aten::add.Tensor, in model.py:12"));
  test_tensor_t a = test_f32(5, (float[]){1, 2, 3, 4, 5}), b, c;
  const tpt_arg_t args[1] = {test_arg(test_ref(&a))};
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  CHECK_OK(test_call("neg", false, args, 1, &c));
  TEST_F32(c, -1, -2, -3, -4, -5);
  CHECK(last_reason_has("new call 2 of 2, aten::neg, in model.py:12, was aten::add.Tensor"));
  test_release(&b);
  test_release(&c);
  CHECK_OK(test_add(&a, &a, 1, false, &b));
  TEST_F32(b, 2, 4, 6, 8, 10);
  CHECK(last_reason_has("new length 1, was 2: the window ends with call 1 of 1, aten::add.Tensor"));
  test_release(&b);
  set_mode(TPT_EAGER_STRICT);
  test_release(&a);
}

int main(void) {
  if (!test_open("1")) return 0;
  RUN(test_nothing_runs_until_a_value_is_needed);
  RUN(test_dead_values_are_never_computed);
  RUN(test_a_loop_compiles_a_constant_number_of_programs);
  RUN(test_inplace_takes_the_old_memory);
  RUN(test_a_failing_call_is_found);
  RUN(test_random_numbers_are_those_of_strict_mode);
  RUN(test_a_long_window_ends_by_itself);
  RUN(test_many_windows_stay_bounded);
  RUN(test_a_window_tells_what_is_new_about_it);
  return TEST_RESULT;
}
