// Tests of the option table, its parser and the environment.
#include <stdlib.h>

#include "base/allocator.h"
#include "base/check.h"
#include "base/options.h"

static void test_defaults_are_the_table(void) {
  tpt_options_t options;
  if (!CHECK_OK(tpt_options_init(&options))) return;
  CHECK_STR(options.plugin, "auto");
  CHECK_STR(options.dump, "");
  CHECK_EQ(options.inline_limit, 20000);
  CHECK(!options.blocking);
  tpt_options_deinit(&options);
}

static void test_parse_sets_several(void) {
  tpt_options_t options;
  if (!CHECK_OK(tpt_options_init(&options))) return;
  CHECK_OK(
      tpt_options_parse(&options, " chip=v6e,threads=3  blocking=true dump=\"/a b/c,d\" hbm=16G"));
  CHECK_STR(options.chip, "v6e");
  CHECK_STR(options.dump, "/a b/c,d");
  CHECK_EQ(options.threads, 3);
  CHECK_EQ(options.hbm, 16LL << 30);
  CHECK(options.blocking);
  CHECK_OK(tpt_options_parse(&options, "dump= blocking=0"));
  CHECK_STR(options.dump, "");
  CHECK(!options.blocking);
  CHECK_OK(tpt_options_parse(&options, ""));
  CHECK_OK(tpt_options_set(&options, "plugin", "/x y/z.so"));
  CHECK_STR(options.plugin, "/x y/z.so");
  tpt_options_deinit(&options);
}

static void test_bad_text_changes_nothing(void) {
  tpt_options_t options;
  if (!CHECK_OK(tpt_options_init(&options))) return;
  CHECK_FAILS(tpt_options_parse(&options, "threads=4 thread=5"), TPT_INVALID_ARGUMENT,
              "did you mean 'threads'");
  CHECK_FAILS(tpt_options_parse(&options, "qqqqqqqqqq=5"), TPT_INVALID_ARGUMENT, "known: plugin");
  CHECK_FAILS(tpt_options_parse(&options, "chip=v9"), TPT_INVALID_ARGUMENT, "v4|v5e|v5p");
  CHECK_FAILS(tpt_options_parse(&options, "threads=-1"), TPT_INVALID_ARGUMENT, "at least 0");
  CHECK_FAILS(tpt_options_parse(&options, "devices=0"), TPT_INVALID_ARGUMENT, "at least 1");
  CHECK_FAILS(tpt_options_parse(&options, "threads=4x"), TPT_INVALID_ARGUMENT, "threads");
  CHECK_FAILS(tpt_options_parse(&options, "hbm=99999999999G"), TPT_INVALID_ARGUMENT, "hbm");
  CHECK_FAILS(tpt_options_parse(&options, "threads="), TPT_INVALID_ARGUMENT, "threads");
  CHECK_FAILS(tpt_options_parse(&options, "quiet=perhaps"), TPT_INVALID_ARGUMENT, "switch");
  CHECK_FAILS(tpt_options_parse(&options, "quiet"), TPT_INVALID_ARGUMENT, "no value");
  CHECK_FAILS(tpt_options_parse(&options, "dump=\"abc"), TPT_INVALID_ARGUMENT, "closing quote");
  CHECK_FAILS(tpt_options_set(&options, "chips", "v4"), TPT_INVALID_ARGUMENT,
              "did you mean 'chip'");
  CHECK_EQ(options.threads, 0);
  CHECK_STR(options.chip, "v5e");
  tpt_options_deinit(&options);
}

static void test_environment_is_read(void) {
  tpt_options_t options;
  setenv("TPUTORCH_OPTIONS", "threads=2", 1);
  setenv("TPU_LAUNCH_BLOCKING", "1", 1);
  if (CHECK_OK(tpt_options_from_environment(&options))) {
    CHECK_EQ(options.threads, 2);
    CHECK(options.blocking);
    tpt_options_deinit(&options);
  }
  setenv("TPUTORCH_OPTIONS", "nonsense=2", 1);
  CHECK_FAILS(tpt_options_from_environment(&options), TPT_INVALID_ARGUMENT, "TPUTORCH_OPTIONS");
  unsetenv("TPUTORCH_OPTIONS");
  unsetenv("TPU_LAUNCH_BLOCKING");
  CHECK(tpt_environment("TPUTORCH_OPTIONS") == NULL);
}

static void test_options_print_as_text(void) {
  tpt_options_t options;
  char text[8];
  if (!CHECK_OK(tpt_options_init(&options))) return;
  CHECK_OK(tpt_options_print(&options, "inline_limit", text, sizeof(text)));
  CHECK_STR(text, "20000");
  CHECK_OK(tpt_options_print(&options, "precision", text, 4));
  CHECK_STR(text, "def");
  CHECK_FAILS(tpt_options_print(&options, "treads", text, 4), TPT_NOT_FOUND,
              "did you mean 'threads'");
  tpt_options_deinit(&options);
}

static void test_table_is_listed(void) {
  int count = 0;
  while (tpt_option_row(count))
    count++;
  CHECK(count >= 12);
  CHECK_STR(tpt_option_row(0)->name, "plugin");
  CHECK_STR(tpt_option_row(0)->initial, "\"auto\"");
  CHECK(tpt_option_row(-1) == NULL);
}

static void test_every_failed_allocation_is_reported(void) {
  for (uint64_t n = 1;; n++) {
    tpt_options_t options;
    tpt_allocator_fail_after(n);
    tpt_status_t status = tpt_options_init(&options);
    if (!status) {
      status = tpt_options_parse(&options, "chip=v4 plugin=vtpu");
      tpt_options_deinit(&options);
    }
    tpt_allocator_fail_after(0);
    if (!status) break;
    CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
    tpt_status_release(status);
    CHECK(n < 100);
  }
}

int main(void) {
  RUN(test_defaults_are_the_table);
  RUN(test_parse_sets_several);
  RUN(test_bad_text_changes_nothing);
  RUN(test_environment_is_read);
  RUN(test_options_print_as_text);
  RUN(test_table_is_listed);
  RUN(test_every_failed_allocation_is_reported);
  return TEST_RESULT;
}
