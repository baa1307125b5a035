// Tests of the status object.
#include "tputorch/status.h"

#include "base/allocator.h"
#include "base/check.h"

static tpt_status_t fail(int number) {
  TPT_FAIL(TPT_NOT_FOUND, "no item %d", number);
}
static tpt_status_t pass_on(int number) {
  TPT_TRY(number ? fail(number) : NULL);
  TPT_TRY_NOTE(number ? NULL : fail(7), "while looking for %s", "it");
  return NULL;
}

static void test_message_carries_code_and_place(void) {
  tpt_status_t status = pass_on(3);
  CHECK_EQ(tpt_status_code(status), TPT_NOT_FOUND);
  CHECK_STR(tpt_status_message(status), "no item 3");
  CHECK(strstr(tpt_status_where(status), "base/status_test.c:") != NULL);
  tpt_status_release(status);
}

static void test_note_is_appended(void) {
  tpt_status_t status = tpt_status_note(pass_on(0), "while testing");
  CHECK_STR(tpt_status_message(status), "no item 7; while looking for it; while testing");
  tpt_status_t copy = tpt_status_clone(status);
  tpt_status_release(status);
  CHECK_STR(tpt_status_message(copy), "no item 7; while looking for it; while testing");
  CHECK(strstr(tpt_status_where(copy), "status_test.c") != NULL);
  tpt_status_release(copy);
}

static void test_null_is_success(void) {
  CHECK_EQ(tpt_status_code(NULL), TPT_OK);
  CHECK_STR(tpt_status_message(NULL), "OK");
  CHECK_STR(tpt_status_where(NULL), "");
  CHECK(tpt_status_clone(NULL) == NULL);
  CHECK(tpt_status_note(NULL, "note") == NULL);
  tpt_status_release(NULL);
}

static void test_long_message_is_whole(void) {
  char text[3000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  tpt_status_t status = tpt_status_make(TPT_INTERNAL, "a/b/c/file.c", 12, "<%s>", text);
  CHECK_EQ(strlen(tpt_status_message(status)), sizeof(text) + 1);
  CHECK_STR(tpt_status_where(status), "c/file.c:12");
  tpt_status_release(status);
}

static void test_failing_without_memory_still_reports(void) {
  tpt_allocator_fail_after(1);
  tpt_status_t status = fail(1);
  CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
  CHECK(strstr(tpt_status_message(status), "memory") != NULL);
  status = tpt_status_note(status, "more");
  tpt_status_release(tpt_status_clone(status));
  tpt_status_release(status);
  status = fail(2);
  tpt_allocator_fail_after(1);
  status = tpt_status_note(status, "dropped");
  CHECK_STR(tpt_status_message(status), "no item 2");
  tpt_status_release(status);
  tpt_allocator_fail_after(0);
}

int main(void) {
  RUN(test_message_carries_code_and_place);
  RUN(test_note_is_appended);
  RUN(test_null_is_success);
  RUN(test_long_message_is_whole);
  RUN(test_failing_without_memory_still_reports);
  return TEST_RESULT;
}
