// Keys order as the elements do; short and long rows keep equal elements in order.
#include <stdlib.h>

#include "base/check.h"
#include "vtpu/sort.h"

static void sort_floats(const float* values, int64_t count, bool is_total, bool descends,
                        uint32_t* order, bool* out_is_done) {
  vtpu_sort_key_t key = {.dtype = TPT_F32, .is_total = is_total, .descends = descends};
  vtpu_sort_row_t row = {(const char*)values, sizeof(float), count};
  void* scratch = malloc(vtpu_sort_key_scratch(&key, count) + 1);
  *out_is_done = vtpu_sort_by_key(&key, &row, scratch, order);
  free(scratch);
}

static void test_float_keys_follow_the_comparison(void) {
  float values[7] = {3, -0.0f, -INFINITY, 0.0f, INFINITY, -3, 1e-40f};
  uint32_t order[7];
  bool is_done = false;
  sort_floats(values, 7, false, false, order, &is_done);
  uint32_t want[7] = {2, 5, 1, 3, 6, 0, 4};  // the zeros are equal and keep their order
  CHECK(is_done && memcmp(order, want, sizeof(want)) == 0);
  sort_floats(values, 7, false, true, order, &is_done);
  uint32_t down[7] = {4, 0, 6, 1, 3, 5, 2};
  CHECK(is_done && memcmp(order, down, sizeof(down)) == 0);
}

static void test_nan_has_a_place_in_the_total_order_only(void) {
  float values[4] = {NAN, 0.0f, -NAN, -0.0f};
  uint32_t order[4];
  bool is_done = true;
  sort_floats(values, 4, false, false, order, &is_done);
  CHECK(!is_done);
  sort_floats(values, 4, true, false, order, &is_done);
  uint32_t want[4] = {2, 3, 1, 0};
  CHECK(is_done && memcmp(order, want, sizeof(want)) == 0);
}

static void test_long_rows_are_stable(void) {
  enum { COUNT = 5000 };
  int64_t* values = malloc(COUNT * sizeof(*values));
  uint32_t* order = malloc(COUNT * sizeof(*order));
  for (int i = 0; i < COUNT; i++)
    values[i] = (int64_t)(i * 7919 % 97 - 48) * (1ll << 33);
  vtpu_sort_key_t key = {.dtype = TPT_S64};
  vtpu_sort_row_t row = {(const char*)values, sizeof(int64_t), COUNT};
  void* scratch = malloc(vtpu_sort_key_scratch(&key, COUNT));
  CHECK(vtpu_sort_by_key(&key, &row, scratch, order));
  int wrong = 0;
  for (int i = 1; i < COUNT; i++) {
    int64_t a = values[order[i - 1]], b = values[order[i]];
    wrong += a > b || (a == b && order[i - 1] >= order[i]);
  }
  CHECK_EQ(wrong, 0);
  free(values);
  free(order);
  free(scratch);
}

static void test_only_strict_compares_of_one_operand_have_keys(void) {
  vtpu_sort_key_t key;
  vtpu_comparator_t c = {.a = 2, .b = 3, .direction = TPT_LT};
  CHECK(vtpu_sort_key_find(&c, TPT_S32, &key) && !key.descends);
  c = (vtpu_comparator_t){.a = 3, .b = 2, .direction = TPT_LT};
  CHECK(vtpu_sort_key_find(&c, TPT_S32, &key) && key.descends);
  c = (vtpu_comparator_t){.a = 0, .b = 1, .direction = TPT_LE};
  CHECK(!vtpu_sort_key_find(&c, TPT_S32, &key));
  c = (vtpu_comparator_t){.a = 1, .b = 2, .direction = TPT_LT};
  CHECK(!vtpu_sort_key_find(&c, TPT_S32, &key));
}

int main(void) {
  RUN(test_float_keys_follow_the_comparison);
  RUN(test_nan_has_a_place_in_the_total_order_only);
  RUN(test_long_rows_are_stable);
  RUN(test_only_strict_compares_of_one_operand_have_keys);
  return TEST_RESULT;
}
