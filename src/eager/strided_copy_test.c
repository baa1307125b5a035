#include "base/check.h"
#include "eager/strided_copy.h"

static void test_transposed_window_is_packed_in_row_order(void) {
  const float flat[] = {9, 1, 2, 3, 4, 5, 6};
  float dense[6], back[7] = {9};
  tpt_tensor_t window = {.sizes = (int64_t[]){3, 2},
                         .strides = (int64_t[]){1, 3},
                         .rank = 2,
                         .dtype = TPT_F32,
                         .offset = 1};
  tpt_strided_pack(&window, flat, dense);
  const float wanted[] = {1, 4, 2, 5, 3, 6};
  for (int i = 0; i < 6; i++)
    CHECK_EQ(dense[i], wanted[i]);
  tpt_strided_unpack(&window, dense, back);
  CHECK(memcmp(back, flat, sizeof(flat)) == 0);
}

static void test_expanded_and_empty_windows(void) {
  const int16_t flat[] = {7, 8};
  int16_t dense[4] = {0};
  tpt_tensor_t window = {
      .sizes = (int64_t[]){2, 2}, .strides = (int64_t[]){0, 1}, .rank = 2, .dtype = TPT_S16};
  tpt_strided_pack(&window, flat, dense);
  CHECK_EQ(dense[2], 7);
  CHECK_EQ(dense[3], 8);
  window.sizes = (int64_t[]){2, 0};
  tpt_strided_pack(&window, NULL, NULL);
  tpt_tensor_t scalar = {.rank = 0, .dtype = TPT_S16, .offset = 1};
  tpt_strided_pack(&scalar, flat, dense);
  CHECK_EQ(dense[0], 8);
}

int main(void) {
  RUN(test_transposed_window_is_packed_in_row_order);
  RUN(test_expanded_and_empty_windows);
  return TEST_RESULT;
}
