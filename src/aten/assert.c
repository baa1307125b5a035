// Conditions on values as checked gathers: element 0 of a one-element array is read, at place 1 where the
// condition fails. What is read is 0, and x is made to depend on it in a way that changes no bit.
#include "aten/assert.h"

#include "aten/array.h"

// 0-d: 0 where all elements of `is_fine` are true.
static tpt_v place_of(tpt_graph_t* g, tpt_v is_fine) {
  int rank = tpt_graph_type(g, is_fine)->rank;
  int64_t dims[TPT_RANK_MAX];
  for (int d = 0; d < rank; d++)
    dims[d] = d;
  tpt_v yes = tpt_hlo_scalar_i64(g, TPT_PRED, 1);
  if (rank) is_fine = tpt_hlo_reduce(g, is_fine, yes, TPT_HLO_AND, dims, rank);
  return tpt_hlo_convert(g, tpt_not(g, is_fine), TPT_S32);
}

tpt_v tpt_assert(tpt_graph_t* g, tpt_v is_fine, const char* message, tpt_v x) {
  static const int64_t kOne[1] = {1};
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  gather.collapsed_count = gather.map_count = 1;
  gather.slice_sizes[0] = 1;
  gather.check = tpt_arena_printf(tpt_graph_arena(g), "!=%s", message);
  if (!gather.check) {
    tpt_graph_fail(g, tpt_arena_status(tpt_graph_arena(g)));
    return TPT_VALUE_NONE;
  }
  tpt_v place = tpt_hlo_reshape(g, place_of(g, is_fine), 1, kOne);
  tpt_v nothing = tpt_hlo_gather(g, tpt_fill(g, TPT_PRED, 1, kOne, 0), place, &gather);
  return tpt_select(g, nothing, tpt_like_i64(g, x, 0), x);
}

void tpt_assert_result(tpt_lower_t* l, uint32_t number, tpt_v is_fine, const char* message) {
  if (number >= l->result_count || tpt_value_is_none(l->results[number].value)) return;
  tpt_v* value = &l->results[number].value;
  *value = tpt_assert(l->graph, is_fine, message, *value);
}
