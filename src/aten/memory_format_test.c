// Channels last read off strides.
#include "aten/memory_format.h"
#include "base/check.h"

#define NUMBERS(...) ((const int64_t[]){__VA_ARGS__})

static bool is_channels_last(int rank, const int64_t* sizes, const int64_t* strides) {
  tpt_tensor_t tensor = {.rank = rank, .sizes = sizes, .strides = strides, .dtype = TPT_F32};
  return tpt_tensor_is_channels_last(&tensor);
}

static void test_channels_last_is_seen_in_two_and_three_dimensions(void) {
  CHECK(is_channels_last(4, NUMBERS(2, 3, 4, 5), NUMBERS(60, 1, 15, 3)));
  CHECK(is_channels_last(5, NUMBERS(2, 3, 2, 4, 5), NUMBERS(120, 1, 60, 15, 3)));
}

static void test_contiguous_and_other_orders_are_not_channels_last(void) {
  CHECK(!is_channels_last(4, NUMBERS(2, 3, 4, 5), NUMBERS(60, 20, 5, 1)));
  CHECK(!is_channels_last(4, NUMBERS(2, 3, 4, 5), NUMBERS(60, 20, 1, 4)));
  CHECK(!is_channels_last(3, NUMBERS(3, 4, 5), NUMBERS(1, 15, 3)));
}

static void test_ambiguous_and_degenerate_strides_are_contiguous(void) {
  CHECK(!is_channels_last(4, NUMBERS(4, 1, 1, 1), NUMBERS(1, 1, 1, 1)));
  CHECK(!is_channels_last(4, NUMBERS(2, 0, 4, 5), NUMBERS(60, 1, 15, 3)));
  CHECK(!is_channels_last(4, NUMBERS(2, 3, 4, 5), NUMBERS(0, 0, 0, 0)));
  CHECK(!is_channels_last(4, NUMBERS(2, 1, 4, 5), NUMBERS(20, 20, 5, 1)));
}

static void test_absent_and_host_tensors_are_contiguous(void) {
  tpt_tensor_t none = {.flags = TPT_TENSOR_NONE, .rank = 4};
  tpt_tensor_t host = {.flags = TPT_TENSOR_HOST, .rank = 0};
  CHECK(!tpt_tensor_is_channels_last(&none));
  CHECK(!tpt_tensor_is_channels_last(&host));
}

int main(void) {
  RUN(test_channels_last_is_seen_in_two_and_three_dimensions);
  RUN(test_contiguous_and_other_orders_are_not_channels_last);
  RUN(test_ambiguous_and_degenerate_strides_are_contiguous);
  RUN(test_absent_and_host_tensors_are_contiguous);
  return TEST_RESULT;
}
