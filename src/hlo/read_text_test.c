// Tests of the reader's cursor.
#include "base/check.h"
#include "hlo/reader.h"

static tpt_reader_t open_text(const char* text) {
  tpt_reader_t r = {.begin = text, .p = text, .end = text + strlen(text)};
  tpt_arena_init(&r.temp);
  return r;
}

static void test_spaces_and_comments_are_skipped(void) {
  tpt_reader_t r = open_text(" \n\t// all of this\n  // and this\nword/x");
  CHECK(tpt__text_is(tpt__read_word(&r), "word"));
  CHECK(tpt__read_take(&r, '/'));
  r = open_text("  // to the end");
  tpt__read_space(&r);
  CHECK(r.p == r.end);
  r = open_text("/");
  CHECK(tpt__read_take(&r, '/') && r.p == r.end);
}

static void test_words_are_whole(void) {
  tpt_reader_t r = open_text("falsehood false-x");
  CHECK(!tpt__read_take_word(&r, "false"));
  CHECK(tpt__read_take_word(&r, "falsehood"));
  CHECK(tpt__read_take_word(&r, "false"));
  CHECK(tpt__read_take(&r, '-'));
  CHECK_EQ(tpt__read_word(&r).size, 1);
  CHECK_EQ(tpt__read_word(&r).size, 0);
}

static void test_numbers_have_63_bits(void) {
  int64_t n;
  tpt_reader_t r = open_text("-9223372036854775808 9223372036854775807 0 9223372036854775808");
  CHECK_OK(tpt__read_i64(&r, &n));
  CHECK_EQ(n, INT64_MIN);
  CHECK_OK(tpt__read_i64(&r, &n));
  CHECK_EQ(n, INT64_MAX);
  CHECK_OK(tpt__read_i64(&r, &n));
  CHECK_FAILS(tpt__read_i64(&r, &n), TPT_INVALID_ARGUMENT, "1:44: a number has more than 63 bits");
  r = open_text("-");
  CHECK_FAILS(tpt__read_i64(&r, &n), TPT_INVALID_ARGUMENT, "expected a whole number");
}

static void test_strings_are_unescaped(void) {
  tpt_text_t text;
  tpt_reader_t r = open_text("\"plain\" \"a\\\"b\\\\c\\n\\t\\41\" \"open");
  CHECK_OK(tpt__read_string(&r, &text));
  CHECK(tpt__text_is(text, "plain"));
  CHECK_OK(tpt__read_string(&r, &text));
  CHECK(tpt__text_is(text, "a\"b\\c\n\tA"));
  CHECK_FAILS(tpt__read_string(&r, &text), TPT_INVALID_ARGUMENT, "not closed");
  tpt_arena_deinit(&r.temp);
  r = open_text("\"\\q\"");
  CHECK_FAILS(tpt__read_string(&r, &text), TPT_INVALID_ARGUMENT, "unknown escape");
  tpt_arena_deinit(&r.temp);
  r = open_text("\"\\");
  CHECK_FAILS(tpt__read_string(&r, &text), TPT_INVALID_ARGUMENT, "not closed");
  r = open_text("@a.b-c @\"q r\" @");
  CHECK_OK(tpt__read_symbol_name(&r, &text));
  CHECK(tpt__text_is(text, "a.b-c"));
  CHECK_OK(tpt__read_symbol_name(&r, &text));
  CHECK(tpt__text_is(text, "q r"));
  CHECK_FAILS(tpt__read_symbol_name(&r, &text), TPT_INVALID_ARGUMENT, "expected a name");
}

static void test_skipping_respects_brackets(void) {
  tpt_reader_t r = open_text("(a, b) -> <x, \"}\">, rest}");
  CHECK_OK(tpt__read_skip_to(&r, ",}"));
  CHECK(strcmp(r.p, ", rest}") == 0);
  r = open_text("a (b) // )\n {\")\"} ) tail");
  CHECK_OK(tpt__read_skip_closed(&r));
  CHECK(strcmp(r.p, " tail") == 0);
  r = open_text("a ( b");
  CHECK_FAILS(tpt__read_skip_closed(&r), TPT_INVALID_ARGUMENT, "not closed");
  r = open_text("a ) b,");
  CHECK_FAILS(tpt__read_skip_to(&r, ","), TPT_INVALID_ARGUMENT, "no end");
  r = open_text(" loc(\"f\"(#loc1)) x");
  CHECK_OK(tpt__read_skip_location(&r));
  CHECK(tpt__read_take(&r, 'x'));
  r = open_text("location");
  CHECK_OK(tpt__read_skip_location(&r));
  CHECK(tpt__text_is(tpt__read_word(&r), "location"));
}

static void test_errors_count_lines_and_columns(void) {
  tpt_reader_t r = open_text("one\n  two");
  tpt__read_word(&r);
  CHECK_FAILS(tpt__read_expect(&r, '('), TPT_INVALID_ARGUMENT, "2:3: expected '(', found 'two'");
  CHECK_FAILS(tpt__read_expect_word(&r, "three"), TPT_INVALID_ARGUMENT, "2:3: expected 'three'");
  CHECK_FAILS(tpt__read_unimplemented(&r, r.end, "no %s", "more"), TPT_UNIMPLEMENTED,
              "2:6: no more");
  tpt__read_word(&r);
  CHECK_FAILS(tpt__read_expect(&r, '('), TPT_INVALID_ARGUMENT, "the text ends where '('");
}

int main(void) {
  RUN(test_spaces_and_comments_are_skipped);
  RUN(test_words_are_whole);
  RUN(test_numbers_have_63_bits);
  RUN(test_strings_are_unescaped);
  RUN(test_skipping_respects_brackets);
  RUN(test_errors_count_lines_and_columns);
  return TEST_RESULT;
}
