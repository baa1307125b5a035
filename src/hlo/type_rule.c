// Owns what all type rules share: failing, appending results, checking attributes and regions.
// Must not know any op. Invariant: a result type that passes here has rank and byte count that all
// later code can compute with.
#include "hlo/type_rule.h"

#include <stdarg.h>
#include <stdio.h>

tpt_status_t tpt__rule_fail(const tpt_rule_t* r, const char* format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  TPT_FAIL(TPT_INVALID_ARGUMENT, "stablehlo.%s: %s", r->row->mnemonic, text);
}

tpt_status_t tpt__rule_mismatch(const tpt_rule_t* r, const char* what, const tpt_type_t* a,
                                const tpt_type_t* b) {
  char a_text[160], b_text[160];
  return tpt__rule_fail(r, "%s: %s against %s", what, tpt_type_print(a, a_text, sizeof(a_text)),
                        tpt_type_print(b, b_text, sizeof(b_text)));
}

tpt_status_t tpt__rule_share(tpt_rule_t* r, const tpt_type_t* type) {
  if (r->result_count == r->result_capacity) {
    uint32_t capacity = r->result_capacity * 2;
    const tpt_type_t** results =
        tpt_arena_alloc(tpt_graph_arena(r->graph), capacity * sizeof(*results));
    if (!results) return tpt_arena_status(tpt_graph_arena(r->graph));
    memcpy(results, r->results, r->result_count * sizeof(*results));
    r->results = results;
    r->result_capacity = capacity;
  }
  r->results[r->result_count++] = type;
  return NULL;
}

tpt_status_t tpt__rule_result(tpt_rule_t* r, const tpt_type_t* type) {
  TPT_TRY_NOTE(tpt__type_check(type), "while appending stablehlo.%s", r->row->mnemonic);
  for (uint32_t i = 0; i < r->operand_count && i < 2; i++) {
    if (tpt_type_equal(r->types[i], type)) return tpt__rule_share(r, r->types[i]);
  }
  // A fresh copy whose unused dimensions are zero, so that types can be compared as bytes.
  tpt_type_t* copy = tpt_arena_calloc(tpt_graph_arena(r->graph), 1, sizeof(*copy));
  if (!copy) return tpt_arena_status(tpt_graph_arena(r->graph));
  copy->dtype = type->dtype;
  copy->rank = type->rank;
  for (int i = 0; i < type->rank; i++)
    copy->dims[i] = type->dims[i];
  return tpt__rule_share(r, copy);
}

tpt_status_t tpt__type_check(const tpt_type_t* type) {
  if (!tpt_dtype_size(type->dtype))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "dtype number %d is not an element type", (int)type->dtype);
  if (type->rank < 0 || type->rank > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a tensor of rank %d: at most %d dimensions are supported",
             (int)type->rank, TPT_RANK_MAX);
  int64_t size = 16;  // of the widest element, so that a convert cannot overflow later
  for (int i = 0; i < type->rank; i++) {
    if (type->dims[i] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "dimension %d is %lld: sizes are not negative", i,
               (long long)type->dims[i]);
    if (type->dims[i] && __builtin_mul_overflow(size, type->dims[i], &size))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "a tensor has more bytes than 63 bits can count");
  }
  return NULL;
}

tpt_status_t tpt__rule_need(const tpt_rule_t* r, int slot) {
  if (r->attrs[slot].is_set) return NULL;
  return tpt__rule_fail(r, "attribute %s is missing", r->row->attrs[slot].name);
}

tpt_status_t tpt__rule_need_ints(const tpt_rule_t* r, int slot, int count) {
  TPT_TRY(tpt__rule_need(r, slot));
  if (count >= 0 && r->attrs[slot].count != (size_t)count)
    return tpt__rule_fail(r, "%s has %zu numbers, not %d", r->row->attrs[slot].name,
                          r->attrs[slot].count, count);
  return NULL;
}

tpt_status_t tpt__rule_default_ints(tpt_rule_t* r, int slot, int count, int64_t value) {
  tpt_attr_t* attr = &r->attrs[slot];
  if (!attr->is_set) {
    int64_t* ints = tpt_arena_alloc(tpt_graph_arena(r->graph), (size_t)count * sizeof(*ints));
    if (!ints) return tpt_arena_status(tpt_graph_arena(r->graph));
    for (int i = 0; i < count; i++)
      ints[i] = value;
    *attr = (tpt_attr_t){.is_set = true, .ints = ints, .count = (size_t)count};
  }
  return tpt__rule_need_ints(r, slot, count);
}

void tpt__rule_default_i64(tpt_rule_t* r, int slot, int64_t value) {
  if (!r->attrs[slot].is_set) r->attrs[slot] = (tpt_attr_t){.is_set = true, .i = value};
}

tpt_status_t tpt__rule_dims(const tpt_rule_t* r, int slot, int rank, bool is_sorted) {
  const char* name = r->row->attrs[slot].name;
  const int64_t* dims = tpt__rule_ints(r, slot);
  for (int i = 0; i < tpt__rule_count(r, slot); i++) {
    if (dims[i] < 0 || dims[i] >= rank)
      return tpt__rule_fail(r, "%s has %lld, which is no dimension of rank %d", name,
                            (long long)dims[i], rank);
    if (tpt__list_has(dims, i, dims[i]))
      return tpt__rule_fail(r, "%s names dimension %lld twice", name, (long long)dims[i]);
    if (is_sorted && i && dims[i] < dims[i - 1])
      return tpt__rule_fail(r, "%s must be in increasing order", name);
  }
  return NULL;
}

tpt_status_t tpt__rule_at_least(const tpt_rule_t* r, int slot, int64_t smallest) {
  const int64_t* ints = tpt__rule_ints(r, slot);
  for (int i = 0; i < tpt__rule_count(r, slot); i++) {
    if (ints[i] < smallest)
      return tpt__rule_fail(r, "%s has %lld, less than %lld", r->row->attrs[slot].name,
                            (long long)ints[i], (long long)smallest);
  }
  return NULL;
}

// Blocks around a region were opened before it, those inside after it.
static bool is_foreign(const tpt_graph_t* graph, tpt_value_t value, uint32_t region) {
  if (tpt_graph_origin(graph, value).block >= region) return false;
  const tpt_node_t* node = tpt_graph_producer(graph, value);
  return !node || node->op != TPT_HLO_CONSTANT;
}

static bool uses_foreign(const tpt_graph_t* graph, uint32_t block_index, uint32_t region) {
  tpt_block_t block = tpt_graph_block(graph, block_index);
  for (uint32_t i = 0; i < block.result_count; i++) {
    if (is_foreign(graph, block.results[i], region)) return true;
  }
  for (uint32_t i = 0; i < block.node_count; i++) {
    const tpt_node_t* node = tpt_graph_node(graph, block.nodes[i]);
    for (uint32_t j = 0; j < node->operand_count; j++) {
      if (is_foreign(graph, node->operands[j], region)) return true;
    }
    for (uint32_t j = 0; j < node->region_count; j++) {
      if (uses_foreign(graph, node->regions[j], region)) return true;
    }
  }
  return false;
}

tpt_status_t tpt__rule_closed(const tpt_rule_t* r, int region) {
  if (!uses_foreign(r->graph, r->regions[region], r->regions[region])) return NULL;
  return tpt__rule_fail(r, "region %d uses a value from outside that is no constant", region);
}

tpt_status_t tpt__rule_block(const tpt_rule_t* r, int region, const tpt_type_t* arg_types,
                             int arg_count, const tpt_type_t* result_types, int result_count) {
  tpt_block_t block = tpt_graph_block(r->graph, r->regions[region]);
  if (block.arg_count != (uint32_t)arg_count)
    return tpt__rule_fail(r, "region %d takes %u arguments, not %d", region, block.arg_count,
                          arg_count);
  if (block.result_count != (uint32_t)result_count)
    return tpt__rule_fail(r, "region %d returns %u values, not %d", region, block.result_count,
                          result_count);
  for (int i = 0; arg_types && i < arg_count; i++) {
    const tpt_type_t* type = tpt_graph_type(r->graph, block.args[i]);
    if (!tpt_type_equal(type, &arg_types[i]))
      return tpt__rule_mismatch(r, "argument of a region", type, &arg_types[i]);
  }
  for (int i = 0; result_types && i < result_count; i++) {
    const tpt_type_t* type = tpt_graph_type(r->graph, block.results[i]);
    if (!tpt_type_equal(type, &result_types[i]))
      return tpt__rule_mismatch(r, "result of a region", type, &result_types[i]);
  }
  return NULL;
}
