#include "base/allocator.h"
#include "base/check.h"
#include "eager/home.h"

static tpt_homes_t homes;

static const tpt_home_t* adopt(size_t size, tpt_dtype_t dtype, int rank, const int64_t* sizes,
                               const int64_t* strides) {
  tpt_tensor_t window = {.sizes = sizes, .strides = strides, .rank = rank, .dtype = dtype};
  const tpt_home_t* home = NULL;
  CHECK_OK(tpt_home_adopt(&homes, size, &window, &home));
  return home;
}

static void check_home(const tpt_home_t* home, const char* wanted) {
  char text[128];
  CHECK_STR(tpt_type_print(&home->type, text, sizeof(text)), wanted);
}

static void test_equal_homes_are_one_pointer(void) {
  const tpt_home_t *a, *b, *c;
  tpt_type_t type = tpt_type_make(TPT_F32, 2, (int64_t[]){2, 3});
  CHECK_OK(tpt_home_typed(&homes, &type, &a));
  CHECK_OK(tpt_home_typed(&homes, &type, &b));
  CHECK(a == b);
  type.dtype = TPT_S32;
  CHECK_OK(tpt_home_typed(&homes, &type, &c));
  CHECK(a != c && a->id != c->id);
  CHECK_OK(tpt_home_untyped(&homes, 24, &b));
  CHECK(!tpt_home_is_typed(b));
  CHECK_EQ(b->size, 24);
}

static void test_whole_window_gives_its_memory_order(void) {
  check_home(adopt(480, TPT_F32, 4, (int64_t[]){2, 3, 4, 5}, (int64_t[]){60, 1, 15, 3}),
             "tensor<2x4x5x3xf32>");
  check_home(adopt(24, TPT_F32, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3}), "tensor<2x3xf32>");
  check_home(adopt(4, TPT_F32, 0, NULL, NULL), "tensor<f32>");
}

static void test_part_gives_a_grid_it_is_a_box_of(void) {
  // cache[:, i] of a [4, 6, 8] cache
  check_home(adopt(768, TPT_F32, 2, (int64_t[]){4, 8}, (int64_t[]){48, 1}), "tensor<4x48xf32>");
  check_home(adopt(40, TPT_F32, 1, (int64_t[]){3}, (int64_t[]){1}), "tensor<10xf32>");
  check_home(adopt(40, TPT_F32, 1, (int64_t[]){3}, (int64_t[]){4}), "tensor<10xf32>");
}

static void test_bytes_that_do_not_divide_stay_bytes(void) {
  check_home(adopt(10, TPT_F32, 1, (int64_t[]){2}, (int64_t[]){1}), "tensor<10xui8>");
}

int main(void) {
  RUN(test_equal_homes_are_one_pointer);
  RUN(test_whole_window_gives_its_memory_order);
  RUN(test_part_gives_a_grid_it_is_a_box_of);
  RUN(test_bytes_that_do_not_divide_stay_bytes);
  tpt_table_deinit_items(&homes.table, tpt_free);
  return TEST_RESULT;
}
