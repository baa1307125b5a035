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
  tpt_strides_normalise(3, (int64_t[]){4, 1, 5}, (int64_t[]){5, 77, 1}, a);
  tpt_strides_normalise(3, (int64_t[]){4, 1, 5}, (int64_t[]){5, 0, 1}, b);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(a[i], b[i]);
  CHECK_EQ(a[1], 5);
  tpt_strides_normalise(2, (int64_t[]){0, 3}, (int64_t[]){9, 9}, a);
  CHECK_EQ(a[0], 3);
  CHECK_EQ(a[1], 1);
}

int main(void) {
  RUN(test_contiguous_is_the_identity);
  RUN(test_channels_last_puts_channels_behind);
  RUN(test_gaps_and_repeats_are_not_dense);
  RUN(test_one_element_dimensions_do_not_move);
  RUN(test_normalised_strides_forget_what_nobody_can_see);
  return TEST_RESULT;
}
