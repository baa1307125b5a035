// Tests of solving: which way of reading a window is found, and with which starts.
#include "base/check.h"
#include "eager/window.h"

static tpt_homes_t homes;
static tpt_table_t windows;

static const tpt_home_t* make_home(tpt_dtype_t dtype, int rank, const int64_t* dims) {
  tpt_type_t type = tpt_type_make(dtype, rank, dims);
  const tpt_home_t* home = NULL;
  CHECK_OK(tpt_home_typed(&homes, &type, &home));
  return home;
}

typedef struct solved {
  const tpt_window_t* window;
  tpt_solution_t solution;
  int start_count;
  int64_t starts[TPT_START_MAX];
} solved_t;

static solved_t solve(const tpt_home_t* home, tpt_dtype_t dtype, int rank, const int64_t* sizes,
                      const int64_t* strides, int64_t offset) {
  solved_t s = {0};
  tpt_tensor_t tensor = {.sizes = sizes, .strides = strides, .rank = rank, .dtype = dtype};
  if (CHECK_OK(tpt_window_get(&windows, home, &tensor, &s.window))) {
    CHECK_OK(tpt_window_solve(s.window, offset, s.starts, &s.start_count, &s.solution));
    CHECK_EQ(s.start_count, tpt_window_start_count(s.window, s.solution));
    CHECK(tpt_window_is(s.window, home, &tensor));
  }
  return s;
}

static void test_whole_windows_take_no_starts(void) {
  const tpt_home_t* home = make_home(TPT_F32, 2, (int64_t[]){4, 6});
  solved_t s = solve(home, TPT_F32, 2, (int64_t[]){4, 6}, (int64_t[]){6, 1}, 0);
  CHECK_EQ(s.solution, TPT_SOLUTION_WHOLE);
  CHECK(s.window->is_contiguous);
  s = solve(home, TPT_F32, 2, (int64_t[]){6, 4}, (int64_t[]){1, 6}, 0);
  CHECK_EQ(s.solution, TPT_SOLUTION_WHOLE);
  CHECK(!s.window->is_contiguous);
  s = solve(home, TPT_F32, 3, (int64_t[]){2, 2, 6}, (int64_t[]){12, 6, 1}, 0);
  CHECK_EQ(s.solution, TPT_SOLUTION_WHOLE);
  s = solve(home, TPT_S32, 1, (int64_t[]){24}, (int64_t[]){1}, 0);
  CHECK_EQ(s.solution, TPT_SOLUTION_WHOLE);
}

static void test_slices_are_boxes_with_a_start_per_dimension(void) {
  const tpt_home_t* home = make_home(TPT_F32, 3, (int64_t[]){4, 6, 8});
  // x[2, :, 3:5]
  solved_t s = solve(home, TPT_F32, 2, (int64_t[]){6, 2}, (int64_t[]){8, 1}, 2 * 48 + 3);
  CHECK_EQ(s.solution, TPT_SOLUTION_BOX);
  CHECK_EQ(s.start_count, 2);
  CHECK_EQ(s.starts[0], 2);
  CHECK_EQ(s.starts[1], 3);
  // x[1:3, ::2, 1]
  s = solve(home, TPT_F32, 2, (int64_t[]){2, 3}, (int64_t[]){48, 16}, 48 + 1);
  CHECK_EQ(s.solution, TPT_SOLUTION_BOX);
  CHECK_EQ(s.starts[0], 1);
  // x[3]: all of it as one dimension
  s = solve(home, TPT_F32, 1, (int64_t[]){48}, (int64_t[]){1}, 3 * 48);
  CHECK_EQ(s.solution, TPT_SOLUTION_BOX);
  CHECK_EQ(s.start_count, 1);
  CHECK_EQ(s.starts[0], 3);
}

static void test_starts_change_without_a_new_solution(void) {
  const tpt_home_t* home = make_home(TPT_F32, 2, (int64_t[]){10, 8});
  solved_t first = solve(home, TPT_F32, 1, (int64_t[]){8}, (int64_t[]){1}, 0);
  for (int row = 0; row < 10; row++) {
    solved_t s = solve(home, TPT_F32, 1, (int64_t[]){8}, (int64_t[]){1}, 8 * row);
    CHECK(s.window == first.window);
    CHECK_EQ(s.solution, TPT_SOLUTION_BOX);
    CHECK_EQ(s.starts[0], row);
  }
}

static void test_windows_across_rows_are_flat(void) {
  const tpt_home_t* home = make_home(TPT_F32, 1, (int64_t[]){24});
  solved_t s = solve(home, TPT_F32, 2, (int64_t[]){2, 3}, (int64_t[]){6, 1}, 13);
  CHECK_EQ(s.solution, TPT_SOLUTION_BOX);
  s = solve(home, TPT_F32, 2, (int64_t[]){2, 3}, (int64_t[]){6, 1}, 14);
  CHECK_EQ(s.solution, TPT_SOLUTION_BOX);
  s = solve(home, TPT_F32, 2, (int64_t[]){2, 3}, (int64_t[]){6, 1}, 10);
  CHECK_EQ(s.solution, TPT_SOLUTION_FLAT);
  CHECK_EQ(s.starts[0], 10);
}

static void test_overlap_and_odd_strides_gather(void) {
  const tpt_home_t* home = make_home(TPT_F32, 1, (int64_t[]){25});
  solved_t s = solve(home, TPT_F32, 2, (int64_t[]){5, 3}, (int64_t[]){1, 1}, 4);  // unfold
  CHECK_EQ(s.solution, TPT_SOLUTION_GATHER);
  s = solve(home, TPT_F32, 2, (int64_t[]){3, 3}, (int64_t[]){5, 3}, 0);
  CHECK_EQ(s.solution, TPT_SOLUTION_GATHER);
}

static void test_edges_of_the_storage_are_errors(void) {
  const tpt_home_t* home = make_home(TPT_F32, 1, (int64_t[]){10});
  const tpt_window_t* window = NULL;
  int64_t sizes[] = {4}, strides[] = {3}, starts[TPT_START_MAX];
  int count;
  tpt_solution_t solution;
  tpt_tensor_t tensor = {.sizes = sizes, .strides = strides, .rank = 1, .dtype = TPT_F32};
  CHECK_OK(tpt_window_get(&windows, home, &tensor, &window));
  CHECK_OK(tpt_window_solve(window, 0, starts, &count, &solution));
  CHECK_FAILS(tpt_window_solve(window, 1, starts, &count, &solution), TPT_INVALID_ARGUMENT,
              "its storage of 40 bytes holds 10");
  CHECK_FAILS(tpt_window_solve(window, INT64_MAX, starts, &count, &solution), TPT_INVALID_ARGUMENT,
              "reaches over");
  sizes[0] = INT64_MAX;
  CHECK_FAILS(tpt_window_get(&windows, home, &tensor, &window), TPT_INVALID_ARGUMENT, "overflow");
  sizes[0] = 2;
  strides[0] = -1;
  CHECK_FAILS(tpt_window_get(&windows, home, &tensor, &window), TPT_INVALID_ARGUMENT, "stride -1");
}

static void test_empty_windows_fit_anywhere(void) {
  const tpt_home_t* home = make_home(TPT_F32, 1, (int64_t[]){0});
  solved_t s = solve(home, TPT_F32, 2, (int64_t[]){3, 0}, (int64_t[]){1, 1}, 0);
  CHECK_EQ(s.window->span, 0);
  CHECK_EQ(s.start_count, 0);
}

static void test_other_widths_see_other_cells(void) {
  const tpt_home_t* home = make_home(TPT_C64, 2, (int64_t[]){3, 5});
  solved_t s = solve(home, TPT_F32, 2, (int64_t[]){3, 5}, (int64_t[]){10, 2}, 1);  // x.imag
  CHECK_EQ(s.window->recast, TPT_RECAST_NARROW);
  CHECK_EQ(s.window->limit, 30);
  CHECK_EQ(s.solution, TPT_SOLUTION_BOX);
  home = make_home(TPT_U8, 1, (int64_t[]){10});
  s = solve(home, TPT_F32, 1, (int64_t[]){2}, (int64_t[]){1}, 0);
  CHECK_EQ(s.window->recast, TPT_RECAST_WIDE);
  CHECK_EQ(s.window->limit, 2);
}

int main(void) {
  RUN(test_whole_windows_take_no_starts);
  RUN(test_slices_are_boxes_with_a_start_per_dimension);
  RUN(test_starts_change_without_a_new_solution);
  RUN(test_windows_across_rows_are_flat);
  RUN(test_overlap_and_odd_strides_gather);
  RUN(test_edges_of_the_storage_are_errors);
  RUN(test_empty_windows_fit_anywhere);
  RUN(test_other_widths_see_other_cells);
  return TEST_RESULT;
}
