// Type rules: one function per rule name of hlo.def. A rule infers the result types of a node about
// to be appended, checks everything about it, and fills in attributes that were left out.
// Private to hlo/graph.c and hlo/type_rule*.c.
#ifndef TPUTORCH_HLO_TYPE_RULE_H_
#define TPUTORCH_HLO_TYPE_RULE_H_

#include "hlo/builder.h"

enum { TPT__RULE_INLINE = 8 };

typedef struct tpt_rule {
  tpt_graph_t* graph;
  const tpt_hlo_row_t* row;
  const tpt_type_t* const* types;  // of the operands
  uint32_t operand_count;
  tpt_attr_t* attrs;  // the node's own copy, in the arena
  const uint32_t* regions;
  uint32_t region_count;
  const tpt_type_t* given;  // result types the caller named
  uint32_t given_count;
  const tpt_type_t** results;  // set by the rule
  uint32_t result_count, result_capacity;
} tpt_rule_t;

typedef tpt_status_t (*tpt_rule_fn_t)(tpt_rule_t* r);

#define HLO(id, mnemonic, operands, regions, rule, ...)                                            \
  TPT_MUST_USE tpt_status_t tpt__rule_##rule(tpt_rule_t* r);
#include "hlo/hlo.def"
#undef HLO

// Dtype known, rank at most TPT_RANK_MAX, sizes not negative, byte count below 2^63.
TPT_MUST_USE tpt_status_t tpt__type_check(const tpt_type_t* type);
// INVALID_ARGUMENT "stablehlo.<mnemonic>: ...".
TPT_MUST_USE tpt_status_t tpt__rule_fail(const tpt_rule_t* r, const char* format, ...)
    TPT_PRINTF(2, 3);
// "stablehlo.<mnemonic>: <what> a is <type>, b is <type>".
TPT_MUST_USE tpt_status_t tpt__rule_mismatch(const tpt_rule_t* r, const char* what,
                                             const tpt_type_t* a, const tpt_type_t* b);
// Appends a result type that lives in the graph already.
TPT_MUST_USE tpt_status_t tpt__rule_share(tpt_rule_t* r, const tpt_type_t* type);
// Appends a new result type (copied) after checking it: rank, sizes, no overflow of its byte count.
TPT_MUST_USE tpt_status_t tpt__rule_result(tpt_rule_t* r, const tpt_type_t* type);
// The attribute of the slot must be set; ints: exactly `count` of them (-1: any).
TPT_MUST_USE tpt_status_t tpt__rule_need(const tpt_rule_t* r, int slot);
TPT_MUST_USE tpt_status_t tpt__rule_need_ints(const tpt_rule_t* r, int slot, int count);
// Fills in a missing attribute; then as need_ints.
TPT_MUST_USE tpt_status_t tpt__rule_default_ints(tpt_rule_t* r, int slot, int count, int64_t value);
void tpt__rule_default_i64(tpt_rule_t* r, int slot, int64_t value);
// Ints of the slot are distinct dimensions of a rank; `is_sorted`: strictly increasing.
TPT_MUST_USE tpt_status_t tpt__rule_dims(const tpt_rule_t* r, int slot, int rank, bool is_sorted);
// Every int of the slot is at least `smallest`.
TPT_MUST_USE tpt_status_t tpt__rule_at_least(const tpt_rule_t* r, int slot, int64_t smallest);
// Region `region` takes 0-d (or any, if types is NULL) arguments of these types and gives these.
TPT_MUST_USE tpt_status_t tpt__rule_block(const tpt_rule_t* r, int region,
                                          const tpt_type_t* arg_types, int arg_count,
                                          const tpt_type_t* result_types, int result_count);
// Region `region` uses no value from outside but constants: it is applied element by element, and XLA
// accepts no more.
TPT_MUST_USE tpt_status_t tpt__rule_closed(const tpt_rule_t* r, int region);
static inline const int64_t* tpt__rule_ints(const tpt_rule_t* r, int slot) {
  return r->attrs[slot].ints;
}
static inline int tpt__rule_count(const tpt_rule_t* r, int slot) {
  return (int)r->attrs[slot].count;
}
// True if `value` is among the first `count` numbers of `list`.
static inline bool tpt__list_has(const int64_t* list, int count, int64_t value) {
  for (int i = 0; i < count; i++) {
    if (list[i] == value) return true;
  }
  return false;
}

#endif  // TPUTORCH_HLO_TYPE_RULE_H_
