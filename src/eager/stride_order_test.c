#include "base/check.h"
#include "eager/stride_order.h"

static void test_contiguous_is_the_identity(void) {
  tpt_order_t order;
  tpt_order_init(&order, 3, (int64_t[]){2, 3, 4}, (int64_t[]){12, 4, 1});
  CHECK(order.is_dense && !order.is_expanded);
  CHECK_EQ(order.count, 24);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(order.all[i], i);
}

static void test_channels_last_puts_channels_behind(void) {
  tpt_order_t order;
  tpt_order_init(&order, 4, (int64_t[]){2, 3, 4, 5}, (int64_t[]){60, 1, 15, 3});
  CHECK(order.is_dense);
  const int wanted[] = {0, 2, 3, 1};
  for (int i = 0; i < 4; i++)
    CHECK_EQ(order.all[i], wanted[i]);
}

static void test_gaps_and_repeats_are_not_dense(void) {
  tpt_order_t order;
  tpt_order_init(&order, 2, (int64_t[]){2, 3}, (int64_t[]){4, 1});
  CHECK(!order.is_dense && !order.is_expanded);
  tpt_order_init(&order, 2, (int64_t[]){2, 3}, (int64_t[]){0, 1});
  CHECK(!order.is_dense && order.is_expanded);
  CHECK_EQ(order.core_count, 1);
}

static void test_one_element_dimensions_do_not_move(void) {
  tpt_order_t order;
  tpt_order_init(&order, 3, (int64_t[]){1, 3, 1}, (int64_t[]){7, 1, 99});
  CHECK(order.is_dense);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(order.all[i], i);
  tpt_order_init(&order, 0, NULL, NULL);
  CHECK(order.is_dense);
  CHECK_EQ(order.count, 1);
}

static void test_normalised_strides_forget_what_nobody_can_see(void) {
  int64_t a[3], b[3];
  tpt_strides_normalise(3, (int64_t[]){4, 1, 5}, (int64_t[]){5, 77, 1}, false, a);
  tpt_strides_normalise(3, (int64_t[]){4, 1, 5}, (int64_t[]){5, 0, 1}, false, b);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(a[i], b[i]);
  CHECK_EQ(a[1], 5);
  tpt_strides_normalise(2, (int64_t[]){0, 3}, (int64_t[]){9, 9}, false, a);
  CHECK_EQ(a[0], 3);
  CHECK_EQ(a[1], 1);
}

static void test_normalised_strides_keep_channels_last(void) {
  int64_t a[4], b[4];
  tpt_strides_normalise(4, (int64_t[]){1, 6, 2, 1}, (int64_t[]){7, 1, 6, 9}, true, a);
  for (int i = 0; i < 4; i++)
    CHECK_EQ(a[i], ((int64_t[]){12, 1, 6, 6})[i]);
  tpt_strides_normalise(4, (int64_t[]){3, 1, 2, 5}, (int64_t[]){10, 1, 5, 1}, true, a);
  tpt_strides_normalise(4, (int64_t[]){3, 1, 2, 5}, (int64_t[]){10, 10, 5, 1}, false, b);
  CHECK_EQ(a[1], 1);
  CHECK_EQ(b[1], 10);
  int64_t c[5];
  tpt_strides_normalise(5, (int64_t[]){1, 2, 3, 4, 5}, (int64_t[]){0, 1, 40, 10, 2}, true, c);
  for (int i = 0; i < 5; i++)
    CHECK_EQ(c[i], ((int64_t[]){120, 1, 40, 10, 2})[i]);
}

int main(void) {
  RUN(test_contiguous_is_the_identity);
  RUN(test_channels_last_puts_channels_behind);
  RUN(test_gaps_and_repeats_are_not_dense);
  RUN(test_one_element_dimensions_do_not_move);
  RUN(test_normalised_strides_forget_what_nobody_can_see);
  RUN(test_normalised_strides_keep_channels_last);
  return TEST_RESULT;
}
