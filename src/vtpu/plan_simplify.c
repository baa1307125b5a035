// First pass over the whole graph, in program order: equal nodes are found, reshapes and barriers
// vanish into the memory they alias, transposes move into the dimension numbers of products, and
// every value gets a rough price of evaluating it again. Changes no semantics; the graph is not touched.
#include <string.h>

#include "base/hash.h"
#include "hlo/builder.h"
#include "vtpu/plan.h"

plan_class_t plan_class(const plan_t* plan, const tpt_node_t* node) {
  switch (node->op) {
  case TPT_HLO_BROADCAST_IN_DIM:
  case TPT_HLO_TRANSPOSE:
  case TPT_HLO_SLICE:
  case TPT_HLO_REVERSE:
    return PLAN_VIEW;
  case TPT_HLO_IOTA:
    return PLAN_IOTA;
  case TPT_HLO_CONSTANT:
    return PLAN_CONSTANT;
  case TPT_HLO_RESHAPE:
  case TPT_HLO_OPTIMIZATION_BARRIER:
    return PLAN_ALIAS;
  case TPT_HLO_REDUCE:
    return PLAN_REDUCE;
  case TPT_HLO_WHILE:
  case TPT_HLO_CASE:
  case TPT_HLO_IF:
    return PLAN_CONTROL;
  case TPT_HLO_BITCAST_CONVERT: {
    size_t from = tpt_dtype_size(tpt_graph_type(plan->graph, node->operands[0])->dtype);
    size_t to = tpt_dtype_size(plan_type(plan, node->first_result)->dtype);
    return from == to ? PLAN_ELEMENTWISE : PLAN_BITS;
  }
  default:
    return vtpu_loop_has_op(node->op) ? PLAN_ELEMENTWISE : PLAN_KERNEL;
  }
}

// --- equal nodes ---------------------------------------------------------------------------------------

typedef struct table {
  uint32_t* nodes;  // node numbers + 1
  size_t mask;
} table_t;

static bool attrs_equal(const tpt_graph_t* graph, const tpt_node_t* a, const tpt_node_t* b) {
  const tpt_hlo_row_t* row = tpt_hlo_row(a->op);
  size_t element = tpt_dtype_size(tpt_graph_type(graph, tpt_node_result(a, 0))->dtype);
  for (int i = 0; i < row->attr_count; i++) {
    const tpt_attr_t *x = &a->attrs[i], *y = &b->attrs[i];
    if (x->is_set != y->is_set || x->i != y->i || x->count != y->count) return false;
    if (x->ints && memcmp(x->ints, y->ints, x->count * sizeof(*x->ints)) != 0) return false;
    size_t size = x->count * (row->attrs[i].kind == TPT_ATTR_BYTES ? element : 1);
    if (x->bytes && memcmp(x->bytes, y->bytes, size) != 0) return false;
  }
  return true;
}

static bool nodes_equal(const plan_t* plan, const tpt_node_t* a, const tpt_node_t* b) {
  if (a->op != b->op || a->block != b->block || a->operand_count != b->operand_count) return false;
  for (uint32_t i = 0; i < a->operand_count; i++)
    if (plan_value(plan, a->operands[i])->rep != plan_value(plan, b->operands[i])->rep)
      return false;
  return tpt_type_equal(plan_type(plan, a->first_result), plan_type(plan, b->first_result)) &&
         attrs_equal(plan->graph, a, b);
}

static uint64_t node_hash(const plan_t* plan, const tpt_node_t* node) {
  uint64_t hash = tpt_hash_mix(node->op, node->block);
  for (uint32_t i = 0; i < node->operand_count; i++)
    hash = tpt_hash_mix(hash, plan_value(plan, node->operands[i])->rep);
  const tpt_hlo_row_t* row = tpt_hlo_row(node->op);
  size_t element = tpt_dtype_size(plan_type(plan, node->first_result)->dtype);
  for (int i = 0; i < row->attr_count; i++) {
    const tpt_attr_t* attr = &node->attrs[i];
    hash = tpt_hash_mix(hash, (uint64_t)attr->i + attr->count);
    for (size_t k = 0; attr->ints && k < attr->count; k++)
      hash = tpt_hash_mix(hash, (uint64_t)attr->ints[k]);
    size_t size = attr->count * (row->attrs[i].kind == TPT_ATTR_BYTES ? element : 1);
    if (attr->bytes) hash = tpt_hash_bytes(attr->bytes, size < 256 ? size : 256, hash);
  }
  return hash;
}

// Pure ops of one result without regions may stand for each other.
static bool may_merge(const plan_t* plan, const tpt_node_t* node) {
  plan_class_t class = plan_class(plan, node);
  if (node->result_count != 1 || node->region_count != 0) return false;
  if (node->op == TPT_HLO_OPTIMIZATION_BARRIER || node->op == TPT_HLO_CUSTOM_CALL) return false;
  return class != PLAN_CONTROL && class != PLAN_REDUCE;
}

static void node_merge(plan_t* plan, table_t* table, uint32_t number) {
  const tpt_node_t* node = plan->nodes[number];
  size_t at = node_hash(plan, node) & table->mask;
  for (; table->nodes[at]; at = (at + 1) & table->mask) {
    const tpt_node_t* other = plan->nodes[table->nodes[at] - 1];
    if (!nodes_equal(plan, node, other)) continue;
    plan->values[node->first_result].rep = plan->values[other->first_result].rep;
    plan->values[node->first_result].root = plan->values[other->first_result].root;
    return;
  }
  table->nodes[at] = number + 1;
}

// --- transposes into products ----------------------------------------------------------------------------

// A transpose feeding a product becomes a change of the product's dimension numbers. Free dimensions
// must keep their order, because the result's dimensions follow it.
static bool dot_side_fold(const tpt_node_t* transpose, int64_t* batch, int batch_count,
                          int64_t* contract, int contract_count, int rank) {
  const int64_t* permutation = tpt_node_ints(transpose, 0, NULL);
  bool is_free[TPT_RANK_MAX];
  for (int d = 0; d < rank; d++)
    is_free[d] = true;
  for (int i = 0; i < batch_count; i++)
    is_free[batch[i]] = false;
  for (int i = 0; i < contract_count; i++)
    is_free[contract[i]] = false;
  int64_t last = -1;
  for (int d = 0; d < rank; d++) {
    if (!is_free[d]) continue;
    if (permutation[d] < last) return false;
    last = permutation[d];
  }
  for (int i = 0; i < batch_count; i++)
    batch[i] = permutation[batch[i]];
  for (int i = 0; i < contract_count; i++)
    contract[i] = permutation[contract[i]];
  return true;
}

static void attr_set_ints(plan_t* plan, tpt_attr_t* attr, const int64_t* ints, int count) {
  attr->ints = tpt_arena_copy(plan->arena, ints, sizeof(*ints) * (size_t)(count ? count : 1));
  attr->count = (size_t)count;
}

static void dot_fold(plan_t* plan, uint32_t number) {
  const tpt_node_t* node = plan->nodes[number];
  tpt_dot_t dot;
  tpt_node_dot(node, &dot);
  tpt_value_t operands[2];
  bool changed = false;
  for (int side = 0; side < 2; side++) {
    operands[side] = node->operands[side];
    for (;;) {
      uint32_t value = plan->values[operands[side].index].rep;
      const tpt_node_t* producer = plan_producer(plan, value);
      if (!producer || producer->op != TPT_HLO_TRANSPOSE || producer->block != node->block) break;
      if (!dot_side_fold(producer, side ? dot.rhs_batch : dot.lhs_batch, dot.batch_count,
                         side ? dot.rhs_contract : dot.lhs_contract, dot.contract_count,
                         plan_type(plan, value)->rank))
        break;
      operands[side] = producer->operands[0];
      changed = true;
    }
  }
  if (!changed) return;
  tpt_node_t* folded = tpt_arena_copy(plan->arena, node, sizeof(*node));
  const tpt_hlo_row_t* row = tpt_hlo_row(node->op);
  tpt_attr_t* attrs =
      tpt_arena_copy(plan->arena, node->attrs, sizeof(*attrs) * (size_t)row->attr_count);
  tpt_value_t* kept = tpt_arena_copy(plan->arena, operands, sizeof(operands));
  if (!folded || !attrs || !kept) return;
  attr_set_ints(plan, &attrs[0], dot.lhs_batch, dot.batch_count);
  attr_set_ints(plan, &attrs[1], dot.rhs_batch, dot.batch_count);
  attr_set_ints(plan, &attrs[2], dot.lhs_contract, dot.contract_count);
  attr_set_ints(plan, &attrs[3], dot.rhs_contract, dot.contract_count);
  folded->operands = kept;
  folded->attrs = attrs;
  plan->nodes[number] = folded;
}

// --- prices ------------------------------------------------------------------------------------------------

static void price_set(plan_t* plan, const tpt_node_t* node) {
  plan_value_t* value = &plan->values[node->first_result];
  value->cost = 0;
  value->loads = 1;
  plan_class_t class = plan_class(plan, node);
  if (class == PLAN_CONSTANT || class == PLAN_IOTA) {
    value->loads = class == PLAN_CONSTANT && node->attrs[0].count > 1;
    value->cost = class == PLAN_IOTA ? 500 : 0;
    return;
  }
  if (class != PLAN_ELEMENTWISE && class != PLAN_VIEW) return;
  tpt_dtype_t type = tpt_graph_type(plan->graph, node->operands[0])->dtype;
  uint64_t cost = class == PLAN_VIEW ? 0 : (uint64_t)vtpu_vm_cost(node->op, vtpu_vm_register(type));
  uint64_t loads = 0;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const plan_value_t* operand = &plan->values[plan_root(plan, node->operands[i])];
    // A dear value with several uses will be in memory.
    bool stored = operand->use_count > 1 && operand->cost > 130;
    cost += stored ? 0 : operand->cost;
    loads += stored ? 1 : operand->loads;
  }
  // What a broadcast repeats is small beside the result.
  if (node->op == TPT_HLO_BROADCAST_IN_DIM &&
      tpt_type_count(tpt_graph_type(plan->graph, node->operands[0])) * 4 <=
          tpt_type_count(plan_type(plan, node->first_result)))
    loads = 0;
  value->cost = cost > 1000000 ? 1000000 : (uint32_t)cost;
  value->loads = loads > 1000 ? 1000 : (uint16_t)loads;
}

static void uses_count(plan_t* plan, const tpt_node_t* node) {
  for (uint32_t i = 0; i < node->operand_count; i++)
    plan->values[plan_root(plan, node->operands[i])].use_count++;
}

tpt_status_t plan_simplify(plan_t* plan) {
  uint32_t value_count = tpt_graph_value_count(plan->graph);
  uint32_t node_count = tpt_graph_node_count(plan->graph);
  table_t table;
  size_t size = 16;
  while (size < (size_t)node_count * 2)
    size *= 2;
  table.mask = size - 1;
  table.nodes = tpt_arena_calloc(plan->temp, size, sizeof(*table.nodes));
  TPT_TRY(tpt_arena_status(plan->temp));
  for (uint32_t v = 0; v < value_count; v++) {
    plan_value_t* value = &plan->values[v];
    value->rep = value->root = v;
    value->loads = 1;
    value->buffer = value->hard_q = value->local = VTPU_NONE;
  }
  for (uint32_t n = 0; n < node_count; n++) {
    const tpt_node_t* node = plan->nodes[n];
    if (node->result_count == 0) continue;
    if (plan_class(plan, node) == PLAN_ALIAS)
      for (uint32_t r = 0; r < node->result_count; r++)
        plan->values[node->first_result + r].root = plan_root(plan, node->operands[r]);
    if (node->op == TPT_HLO_DOT_GENERAL) dot_fold(plan, n);
    if (may_merge(plan, node)) node_merge(plan, &table, n);
    if (plan->values[node->first_result].rep == node->first_result)
      uses_count(plan, plan->nodes[n]);
    if (node->result_count == 1) price_set(plan, node);
  }
  return tpt_arena_status(plan->arena);
}
