// Tests of names in scope.
#include <stdlib.h>

#include "base/allocator.h"
#include "base/check.h"
#include "hlo/reader.h"

static tpt_reader_t reader;

static tpt_text_t text_of(const char* text) {
  return (tpt_text_t){text, strlen(text)};
}
static tpt_status_t bind(const char* name, uint32_t index) {
  return tpt__read_bind(&reader, text_of(name), (tpt_value_t){index}, NULL, 1);
}
static tpt_status_t look_up(const char* text, uint32_t* out_index) {
  tpt_value_t value = TPT_VALUE_NONE;
  reader.begin = reader.p = text;
  reader.end = text + strlen(text);
  tpt_status_t status = tpt__read_value(&reader, &value);
  *out_index = value.index;
  return status;
}
static void close_reader(void) {
  tpt_free(reader.names);
  tpt_free(reader.heads);
  memset(&reader, 0, sizeof(reader));
}

static void test_names_are_found_until_unbound(void) {
  uint32_t index;
  CHECK_OK(bind("a", 1));
  size_t mark = reader.name_count;
  CHECK_OK(bind("b", 2));
  CHECK_OK(look_up("%b)", &index));
  CHECK_EQ(index, 2);
  CHECK_FAILS(bind("a", 3), TPT_INVALID_ARGUMENT, "%a is defined twice");
  tpt__read_unbind(&reader, mark);
  CHECK_FAILS(look_up("%b", &index), TPT_INVALID_ARGUMENT, "%b is not defined here");
  CHECK_OK(bind("b", 4));
  CHECK_OK(look_up("%b", &index));
  CHECK_EQ(index, 4);
  CHECK_OK(look_up("%a", &index));
  CHECK_EQ(index, 1);
  close_reader();
}

static void test_callers_names_are_hidden(void) {
  uint32_t index;
  CHECK_OK(bind("a", 1));
  reader.barrier = reader.name_count;
  CHECK_FAILS(look_up("%a", &index), TPT_INVALID_ARGUMENT, "not defined");
  CHECK_OK(bind("a", 2));
  CHECK_OK(look_up("%a", &index));
  CHECK_EQ(index, 2);
  tpt__read_unbind(&reader, reader.barrier);
  reader.barrier = 0;
  CHECK_OK(look_up("%a", &index));
  CHECK_EQ(index, 1);
  close_reader();
}

static void test_results_are_numbered(void) {
  uint32_t index;
  const tpt_value_t scattered[2] = {{7}, {3}};
  CHECK_OK(tpt__read_bind(&reader, text_of("x"), (tpt_value_t){10}, NULL, 3));
  CHECK_OK(tpt__read_bind(&reader, text_of("y"), TPT_VALUE_NONE, scattered, 2));
  CHECK_OK(look_up("%x#2", &index));
  CHECK_EQ(index, 12);
  CHECK_OK(look_up("%y#1", &index));
  CHECK_EQ(index, 3);
  CHECK_OK(look_up("%y", &index));
  CHECK_EQ(index, 7);
  CHECK_FAILS(look_up("%x#3", &index), TPT_INVALID_ARGUMENT, "%x has 3 results");
  CHECK_FAILS(look_up("%x#-1", &index), TPT_INVALID_ARGUMENT, "there is no number");
  CHECK_FAILS(look_up("% x", &index), TPT_INVALID_ARGUMENT, "expected a name");
  close_reader();
}

static void test_many_names(void) {
  enum { COUNT = 20000 };
  char (*names)[8] = malloc(COUNT * sizeof(*names));
  for (uint32_t i = 0; i < COUNT; i++) {
    snprintf(names[i], sizeof(names[i]), "%u", i);
    CHECK_OK(bind(names[i], i));
  }
  for (uint32_t i = 0; i < COUNT; i += 7) {
    char text[9];
    uint32_t index;
    snprintf(text, sizeof(text), "%%%u", i);
    CHECK_OK(look_up(text, &index));
    CHECK_EQ(index, i);
  }
  tpt__read_unbind(&reader, 0);
  CHECK_OK(bind("1", 5));
  close_reader();
  free(names);
}

int main(void) {
  RUN(test_names_are_found_until_unbound);
  RUN(test_callers_names_are_hidden);
  RUN(test_results_are_numbered);
  RUN(test_many_names);
  return TEST_RESULT;
}
