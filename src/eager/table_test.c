#include <stdint.h>

#include "base/allocator.h"
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

static bool is_odd(const void* item, const void* arg) {
  (void)arg;
  return *(const int*)item % 2 == 1;
}
static void sum_up(void* item, void* arg) {
  *(int*)arg += *(int*)item;
}

static void test_a_filter_takes_out_what_does_not_stay(void) {
  tpt_table_t table = {0};
  int items[200], sum = 0;
  for (int i = 0; i < 200; i++) {
    items[i] = i;
    CHECK_OK(tpt_table_add(&table, (uint64_t)i % 13, &items[i]));
  }
  const tpt_table_filter_t filter = {is_odd, sum_up, &sum};
  (void)tpt_allocator_fail_after(1);
  tpt_status_t status = tpt_table_filter(&table, &filter);
  (void)tpt_allocator_fail_after(0);
  CHECK_EQ(tpt_status_code(status), TPT_RESOURCE_EXHAUSTED);
  tpt_status_release(status);
  CHECK_EQ(table.count, 200);
  CHECK_EQ(sum, 0);
  CHECK_OK(tpt_table_filter(&table, &filter));
  CHECK_EQ(table.count, 100);
  CHECK_EQ(sum, 99 * 100);
  for (int i = 0; i < 200; i++)
    CHECK((tpt_table_find(&table, (uint64_t)i % 13, is_same, &items[i]) != NULL) == (i % 2 == 1));
  void** before = table.items;
  CHECK_OK(tpt_table_filter(&table, &filter));  // nothing to take out
  CHECK(table.items == before);
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
  RUN(test_a_filter_takes_out_what_does_not_stay);
  RUN(test_items_are_released_with_the_table);
  return TEST_RESULT;
}
