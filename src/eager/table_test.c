#include <stdint.h>

#include "base/check.h"
#include "eager/table.h"

static bool is_same(const void* item, const void* key) {
  return item == key;
}

static void test_items_are_found_after_growth(void) {
  tpt_table_t table = {0};
  static int items[1000];
  for (int i = 0; i < 1000; i++)
    CHECK_OK(tpt_table_add(&table, (uint64_t)i % 37, &items[i]));  // many collisions
  for (int i = 0; i < 1000; i++)
    CHECK(tpt_table_find(&table, (uint64_t)i % 37, is_same, &items[i]) == &items[i]);
  CHECK(tpt_table_find(&table, 5, is_same, &table) == NULL);
  CHECK_EQ(table.count, 1000);
  tpt_table_deinit(&table);
}

static void test_equal_hashes_are_confirmed(void) {
  tpt_table_t table = {0};
  int a, b;
  CHECK(tpt_table_find(&table, 1, is_same, &a) == NULL);
  CHECK_OK(tpt_table_add(&table, 1, &a));
  CHECK(tpt_table_find(&table, 1, is_same, &b) == NULL);
  CHECK_OK(tpt_table_add(&table, 1, &b));
  CHECK(tpt_table_find(&table, 1, is_same, &a) == &a);
  CHECK(tpt_table_find(&table, 1, is_same, &b) == &b);
  tpt_table_deinit(&table);
}

static int release_count;
static void count_release(void* item) {
  (void)item;
  release_count++;
}

static void test_items_are_released_with_the_table(void) {
  tpt_table_t table = {0};
  int items[3];
  for (int i = 0; i < 3; i++)
    CHECK_OK(tpt_table_add(&table, 7, &items[i]));
  tpt_table_deinit_items(&table, count_release);
  CHECK_EQ(release_count, 3);
  CHECK(!table.items && table.count == 0);
}

int main(void) {
  RUN(test_items_are_found_after_growth);
  RUN(test_equal_hashes_are_confirmed);
  RUN(test_items_are_released_with_the_table);
  return TEST_RESULT;
}
