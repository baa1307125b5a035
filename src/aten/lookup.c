// Lowerings that look values up in other values: searchsorted, bucketize, isin. Each compares every
// value with every boundary and counts: no loop, no gather, nothing written in between. Long lists of
// boundaries, where a binary search is better, are left to the CPU.
#include <string.h>

#include "aten/array.h"
#include "aten/promote.h"
#include "aten/rows.h"

enum { BOUNDARIES_MAX = 4096 };

typedef struct lookup {
  tpt_v values;      // [..., n]
  tpt_v boundaries;  // [..., m], ascending
  bool is_right, is_int32;
} lookup_t;

// Per value, how many boundaries stand before it. A NaN stands after everything.
static tpt_v count_before(tpt_graph_t* g, const lookup_t* k) {
  tpt_type_t type = *tpt_graph_type(g, k->values), list = *tpt_graph_type(g, k->boundaries);
  tpt_v values = tpt_unsqueeze(g, k->values, type.rank);
  tpt_v boundaries = list.rank > 1 ? tpt_unsqueeze(g, k->boundaries, list.rank - 1) : k->boundaries;
  tpt_v is_after = tpt_compare(g, k->is_right ? TPT_GT : TPT_GE, boundaries, values);
  tpt_v is_before = tpt_hlo_convert(g, tpt_not(g, is_after), TPT_S32);
  int64_t last = tpt_graph_type(g, is_before)->rank - 1;
  tpt_v count = tpt_reduce_sum(g, is_before, &last, 1);
  return tpt_hlo_convert(g, count, k->is_int32 ? TPT_S32 : TPT_S64);
}

static bool text_is(const tpt_lower_t* l, int arg, const char* text) {
  const tpt_arg_t* a = &l->args[arg];
  return a->kind == TPT_ARG_STRING && a->count == strlen(text) &&
         !memcmp(a->string, text, a->count);
}

static tpt_status_t check_boundaries(tpt_lower_t* l, int arg) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, arg);
  if (t->rank == 0 || t->sizes[t->rank - 1] > BOUNDARIES_MAX || tpt_dtype_is_complex(t->dtype))
    return tpt_refuse_dtype(l, t->dtype);
  return NULL;
}

// self (tensor or Scalar), boundaries
tpt_status_t lower_bucketize(tpt_lower_t* l) {
  TPT_TRY(check_boundaries(l, 1));
  if (tpt_lower_tensor(l, 1)->rank != 1) return tpt_refuse_dtype(l, tpt_lower_tensor(l, 1)->dtype);
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1}, 2, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(l->graph));
  lookup_t k = {.values = tpt_operand_rounded(l, 0, dtype),
                .boundaries = tpt_lower_value_as(l, 1, dtype),
                .is_int32 = tpt_lower_bool(l, 2),
                .is_right = tpt_lower_bool(l, 3)};
  return tpt_lower_result(l, count_before(l->graph, &k));
}

// sorted_sequence, self (tensor or Scalar), out_int32, right, side, sorter
tpt_status_t lower_searchsorted(tpt_lower_t* l) {
  TPT_TRY(check_boundaries(l, 0));
  const tpt_tensor_t* sequence = tpt_lower_tensor(l, 0);
  bool has_side = tpt_lower_has(l, 4);
  bool is_right = has_side ? text_is(l, 4, "right") : tpt_lower_bool(l, 3);
  bool is_odd = (has_side && !is_right && (tpt_lower_bool(l, 3) || !text_is(l, 4, "left"))) ||
                tpt_lower_has(l, 5);
  if (is_odd) return tpt_refuse_dtype(l, sequence->dtype);
  lookup_t k = {.values = tpt_operand_rounded(l, 1, sequence->dtype),
                .boundaries = tpt_lower_value(l, 0),
                .is_int32 = tpt_lower_bool(l, 2),
                .is_right = is_right};
  if (l->args[1].kind == TPT_ARG_TENSOR) {
    const tpt_tensor_t* self = tpt_lower_tensor(l, 1);
    bool fits = self->dtype == sequence->dtype;
    if (sequence->rank > 1) {
      fits = fits && self->rank == sequence->rank &&
             !memcmp(self->sizes, sequence->sizes, (size_t)(self->rank - 1) * sizeof(int64_t));
    }
    if (!fits) return tpt_refuse_dtype(l, self->dtype);
  } else if (sequence->rank != 1) {
    return tpt_refuse_dtype(l, sequence->dtype);
  }
  return tpt_lower_result(l, count_before(l->graph, &k));
}

// elements, test_elements (each a tensor or a Scalar), assume_unique, invert
tpt_status_t lower_isin(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1}, 2, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(g));
  tpt_v x = tpt_operand_rounded(l, 0, dtype);
  tpt_v list = tpt_flatten(g, tpt_operand_rounded(l, 1, dtype));
  if (tpt_graph_type(g, list)->dims[0] > BOUNDARIES_MAX) return tpt_refuse_dtype(l, dtype);
  int64_t rank = tpt_graph_type(g, x)->rank;
  tpt_v is_equal = tpt_eq(g, tpt_unsqueeze(g, x, (int)rank), list);
  tpt_v no = tpt_hlo_scalar_i64(g, TPT_PRED, 0);
  tpt_v is_in = tpt_hlo_reduce(g, is_equal, no, TPT_HLO_OR, &rank, 1);
  return tpt_lower_result(l, tpt_lower_bool(l, 3) ? tpt_not(g, is_in) : is_in);
}
