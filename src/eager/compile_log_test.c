// Tests of the compile log and its guard: entries in order, reasons, refusal without harm.
#include <string.h>

#include "eager/test_device.h"

static tpt_compile_info_t entries[1024];

static bool last_reason_has(const char* text) {
  int count = tpt_compile_log_get(entries, 1024);
  bool has = count > 0 && strstr(entries[count - 1].reason, text);
  if (!has) fprintf(stderr, "no \"%s\" in: %s\n", text, count ? entries[count - 1].reason : "-");
  return has;
}

static void test_reasons_compare_with_the_nearest_call(void) {
  test_tensor_t a = test_f32(3, (float[]){1, 2, 3}), b = test_f32(5, (float[]){1, 2, 3, 4, 5}), c;
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  CHECK(last_reason_has("first call, in model.py:12"));
  CHECK_OK(test_add(&b, &b, 1, true, NULL));
  CHECK(last_reason_has("new sizes (5,), was (3,), of argument self, in model.py:12"));
  if (CHECK_OK(test_add(&b, &b, 1, false, &c))) test_release(&c);
  CHECK(last_reason_has("new form functional, was in-place"));
  if (CHECK_OK(test_add(&b, &b, 1, false, &c))) test_release(&c);
  int count = tpt_compile_log_get(entries, 1024);
  CHECK_EQ(count, 3);
  for (int i = 0; i < count; i++) {
    CHECK(strcmp(entries[i].op, "add.Tensor") == 0);
    CHECK(entries[i].program_size > 100);
    CHECK(entries[i].seconds > 0);
    CHECK(i == 0 || entries[i].number > entries[i - 1].number);
  }
  CHECK_EQ(tpt_compile_log_get(entries, 2), 2);
  tpt_compile_log_clear();
  CHECK_EQ(tpt_compile_log_get(entries, 1024), 0);
  test_release(&a);
  test_release(&b);
}

static void test_guard_refuses_and_changes_nothing(void) {
  test_tensor_t a = test_f32(7, (float[]){1, 2, 3, 4, 5, 6, 7});
  tpt_compile_guard_hold();
  uint64_t compiles = test_counters().compiles;
  for (int i = 0; i < 2; i++) {
    tpt_status_t status = test_add(&a, &a, 1, true, NULL);
    CHECK_EQ(tpt_status_code(status), TPT_FAILED_PRECONDITION);
    CHECK(strstr(tpt_status_message(status), "new sizes (7,)"));
    tpt_status_release(status);
  }
  tpt_compile_guard_drop();
  CHECK_EQ(test_counters().compiles, compiles);
  TEST_F32(a, 1, 2, 3, 4, 5, 6, 7);
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  tpt_compile_guard_hold();
  CHECK_OK(test_add(&a, &a, 1, true, NULL));
  tpt_compile_guard_drop();
  TEST_F32(a, 4, 8, 12, 16, 20, 24, 28);
  test_release(&a);
}

static void test_only_the_last_entries_stay(void) {
  int capacity = tpt_compile_log_capacity();
  CHECK(capacity >= 256);
  tpt_compile_log_clear();
  for (int64_t i = 0; i < capacity + 10; i++) {
    test_tensor_t a = test_empty(0, TPT_F32, 1, (int64_t[]){100 + i});
    CHECK_OK(test_call("zero", true, (const tpt_arg_t[]){test_arg(test_ref(&a))}, 1, NULL));
    test_release(&a);
  }
  int count = tpt_compile_log_get(entries, 1024);
  CHECK_EQ(count, 256);
  char sizes[64];
  snprintf(sizes, sizeof(sizes), "new sizes (%d,)", 100 + capacity + 9);
  CHECK(last_reason_has(sizes));
}

int main(void) {
  if (!test_open("1")) return TEST_RESULT;
  RUN(test_reasons_compare_with_the_nearest_call);
  RUN(test_guard_refuses_and_changes_nothing);
  RUN(test_only_the_last_entries_stay);
  return TEST_RESULT;
}
