// Merging by a body: rows of every length, several at once; a comparator that always says yes.
#include "vtpu/kernel_probe.h"
#include "vtpu/sort.h"

static vtpu_body_t* body_make(tpt_graph_t* graph, tpt_arena_t* arena, tpt_compare_t direction) {
  tpt_type_t scalar = tpt_type_scalar(TPT_S32), types[2] = {scalar, scalar};
  tpt_value_t a[2];
  tpt_region_begin(graph, types, 2, a);
  tpt_value_t low =
      tpt_hlo_binary(graph, TPT_HLO_AND, a[0], tpt_hlo_scalar_i64(graph, TPT_S32, 63));
  tpt_value_t high =
      tpt_hlo_binary(graph, TPT_HLO_AND, a[1], tpt_hlo_scalar_i64(graph, TPT_S32, 63));
  tpt_value_t less = tpt_hlo_compare(graph, direction, low, high);
  uint32_t block = tpt_region_end(graph, &less, 1);
  vtpu_body_t* body = NULL;
  (void)CHECK_OK(vtpu_body_compile(graph, block, arena, &body));
  return body;
}

static void rows_case(const vtpu_body_t* body, int64_t rows, int64_t n, bool is_order) {
  int32_t* data = malloc((size_t)(rows * n + 1) * sizeof(*data));
  uint32_t* order = malloc((size_t)(rows * n + 1) * sizeof(*order));
  uint32_t* other = malloc((size_t)(rows * n + 1) * sizeof(*other));
  vtpu_sort_row_t* row = calloc((size_t)rows, sizeof(*row));
  for (int64_t i = 0; i < rows * n; i++)
    data[i] = (int32_t)probe_int(0, 1 << 20);
  for (int64_t r = 0; r < rows; r++)
    row[r] = (vtpu_sort_row_t){(char*)(data + r * n), 4, n};
  vtpu_sort_merge_t merge = {.less = body, .operand_count = 1, .sizes = {4}, .is_used = {true}};
  const uint32_t* sorted = vtpu_sort_by_merging(&merge, row, rows, order, other);
  int wrong = 0;
  char* seen = calloc((size_t)n + 1, 1);
  for (int64_t r = 0; r < rows; r++) {
    memset(seen, 0, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
      uint32_t at = sorted[r * n + i];
      wrong += at >= n || seen[at]++;
      if (i == 0 || !is_order) continue;
      uint32_t before = sorted[r * n + i - 1];
      int32_t a = data[r * n + before] & 63, b = data[r * n + at] & 63;
      wrong += a > b || (a == b && before > at);
    }
  }
  CHECK_EQ(wrong, 0);
  free(seen);
  free(data);
  free(order);
  free(other);
  free(row);
}

static void test_merging_sorts_stably(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  tpt_arena_t arena;
  tpt_arena_init(&arena);
  const vtpu_body_t* less = body_make(graph, &arena, TPT_LT);
  const vtpu_body_t* not_more = body_make(graph, &arena, TPT_LE);
  for (int64_t n = 1; n < 70; n++)
    rows_case(less, probe_int(1, 9), n, true);
  rows_case(less, 1, 4000, true);
  rows_case(less, 300, 3, true);
  rows_case(not_more, 1, 4000, false);
  rows_case(not_more, 5, 333, false);
  tpt_arena_deinit(&arena);
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_merging_sorts_stably);
  return TEST_RESULT;
}
