// Tests of growing text.
#include "base/allocator.h"
#include "base/check.h"
#include "base/str.h"

static void test_pieces_are_joined(void) {
  tpt_str_t str;
  tpt_str_init(&str);
  tpt_str_append_cstr(&str, "a");
  tpt_str_append(&str, "bcd", 2);
  tpt_str_append_char(&str, '-');
  tpt_str_append_i64(&str, INT64_MIN);
  tpt_str_append_char(&str, ' ');
  tpt_str_append_i64(&str, 0);
  tpt_str_append_i64(&str, 907);
  tpt_str_printf(&str, "[%s|%d]", "x", 5);
  CHECK_STR(str.data, "abc--9223372036854775808 0907[x|5]");
  CHECK_EQ(str.size, strlen(str.data));
  tpt_str_clear(&str);
  CHECK_STR(str.data, "");
  CHECK_OK(tpt_str_status(&str));
  tpt_str_deinit(&str);
}

static void test_long_text_grows(void) {
  tpt_str_t str;
  tpt_str_init(&str);
  for (int i = 0; i < 10000; i++)
    tpt_str_printf(&str, "%04d", i);
  CHECK_EQ(str.size, 40000);
  CHECK(memcmp(str.data + 39996, "9999", 5) == 0);
  tpt_str_deinit(&str);
}

static void test_out_of_memory_is_remembered(void) {
  tpt_str_t str;
  tpt_str_init(&str);
  tpt_allocator_fail_after(1);
  tpt_str_append_cstr(&str, "lost");
  tpt_allocator_fail_after(0);
  tpt_str_append_cstr(&str, "also lost");
  CHECK_EQ(str.size, 0);
  CHECK_FAILS(tpt_str_status(&str), TPT_RESOURCE_EXHAUSTED, "memory");
  tpt_str_clear(&str);
  tpt_str_append_cstr(&str, "again");
  CHECK_STR(str.data, "again");
  tpt_str_deinit(&str);
}

int main(void) {
  RUN(test_pieces_are_joined);
  RUN(test_long_text_grows);
  RUN(test_out_of_memory_is_remembered);
  return TEST_RESULT;
}
