// Lists of updates keep their order, also across a full list.
#include "base/check.h"
#include "vtpu/scatter_list.h"

static void test_list_applies_duplicates_in_order(void) {
  enum { COUNT = 1000 };
  int32_t acc[3] = {0, 0, 0}, updates[COUNT];
  for (int i = 0; i < COUNT; i++)
    updates[i] = i;
  void* accs[1] = {acc};
  const void* from[1] = {updates};
  vtpu_scatter_rule_t rule = {.count = 1, .size = {4}, .replaces = true};
  vtpu_scatter_list_t list;
  vtpu_scatter_list_init(&list, &rule, accs, from);
  for (int i = 0; i < COUNT; i++)
    vtpu_scatter_list_add(&list, i % 3, i);
  vtpu_scatter_list_flush(&list);
  CHECK(acc[0] == 999 && acc[1] == 997 && acc[2] == 998);
}

static void test_list_sums_every_update(void) {
  uint8_t acc[2] = {250, 1}, updates[300];
  memset(updates, 1, sizeof(updates));
  void* accs[1] = {acc};
  const void* from[1] = {updates};
  vtpu_scatter_rule_t rule = {.count = 1, .size = {1}, .monoid = vtpu_monoid(TPT_HLO_ADD, TPT_U8)};
  vtpu_scatter_list_t list;
  vtpu_scatter_list_init(&list, &rule, accs, from);
  for (int i = 0; i < 300; i++)
    vtpu_scatter_list_add(&list, 0, i);
  vtpu_scatter_list_flush(&list);
  vtpu_scatter_list_flush(&list);
  CHECK(acc[0] == (uint8_t)(250 + 300) && acc[1] == 1);
}

int main(void) {
  RUN(test_list_applies_duplicates_in_order);
  RUN(test_list_sums_every_update);
  return TEST_RESULT;
}
