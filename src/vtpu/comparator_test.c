// Which regions are single compares.
#include "base/check.h"
#include "vtpu/comparator.h"

static uint32_t region(tpt_graph_t* graph, int kind) {
  tpt_type_t scalar = tpt_type_scalar(TPT_F32), types[4] = {scalar, scalar, scalar, scalar};
  tpt_value_t a[4];
  tpt_region_begin(graph, types, 4, a);
  tpt_value_t less = tpt_hlo_compare(graph, TPT_GT, a[3], a[2]);
  if (kind == 1) less = tpt_hlo_unary(graph, TPT_HLO_NOT, less);
  if (kind == 2)
    less = tpt_hlo_compare(graph, TPT_LT, tpt_hlo_unary(graph, TPT_HLO_NEGATE, a[0]), a[1]);
  return tpt_region_end(graph, &less, 1);
}

static void test_single_compares_are_found(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  vtpu_comparator_t comparator;
  CHECK(vtpu_comparator_find(graph, region(graph, 0), &comparator));
  CHECK(comparator.a == 3 && comparator.b == 2);
  CHECK(comparator.direction == TPT_GT && comparator.kind == TPT_COMPARE_FLOAT);
  tpt_graph_release(graph);
}

static void test_everything_else_is_not(void) {
  tpt_graph_t* graph = NULL;
  if (!CHECK_OK(tpt_graph_create(&graph))) return;
  vtpu_comparator_t comparator;
  CHECK(!vtpu_comparator_find(graph, region(graph, 1), &comparator));
  CHECK(!vtpu_comparator_find(graph, region(graph, 2), &comparator));
  tpt_graph_release(graph);
}

int main(void) {
  RUN(test_single_compares_are_found);
  RUN(test_everything_else_is_not);
  return TEST_RESULT;
}
