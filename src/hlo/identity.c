// Owns structural hash and equality of graphs. Must not know any op. Invariant: values are named by
// the order of a walk (parameters, then each block's arguments and results), so graphs whose
// parameters were added at different times still compare equal; hash and equality look at the same
// things.
#include <string.h>

#include "base/allocator.h"
#include "base/hash.h"
#include "hlo/graph.h"

// Names of a graph's values in walk order. NULL when memory is out.
static void name_block(const tpt_graph_t* graph, uint32_t index, uint32_t* names, uint32_t* next) {
  tpt_block_t block = tpt_graph_block(graph, index);
  for (uint32_t i = 0; i < block.arg_count; i++)
    names[block.args[i].index] = (*next)++;
  for (uint32_t i = 0; i < block.node_count; i++) {
    const tpt_node_t* node = tpt_graph_node(graph, block.nodes[i]);
    // Bounded: regions nest at most as deep as graph.c allows.
    for (uint32_t j = 0; j < node->region_count; j++)
      name_block(graph, node->regions[j], names, next);
    for (uint32_t j = 0; j < node->result_count; j++)
      names[node->first_result + j] = (*next)++;
  }
}

static uint32_t* name_values(const tpt_graph_t* graph) {
  uint32_t* names = tpt_calloc((size_t)tpt_graph_value_count(graph) + 1, sizeof(*names));
  uint32_t next = 0;
  if (names) name_block(graph, 0, names, &next);
  return names;
}

static uint64_t hash_type(const tpt_type_t* type, uint64_t hash) {
  hash = tpt_hash_mix(hash ^ (uint64_t)type->dtype, (uint64_t)type->rank);
  return tpt_hash_bytes(type->dims, (size_t)type->rank * sizeof(type->dims[0]), hash);
}

static size_t attr_size(const tpt_node_t* node, int slot, tpt_dtype_t dtype) {
  const tpt_attr_t* attr = &node->attrs[slot];
  if (!attr->bytes) return attr->count * sizeof(int64_t);
  bool is_data = tpt_hlo_row(node->op)->attrs[slot].kind == TPT_ATTR_BYTES;
  return is_data ? attr->count * tpt_dtype_size(dtype) : attr->count;
}

// Element type of a constant's data.
static tpt_dtype_t data_dtype(const tpt_graph_t* graph, const tpt_node_t* node) {
  return node->result_count ? tpt_graph_type(graph, tpt_node_result(node, 0))->dtype
                            : TPT_DTYPE_INVALID;
}

static uint64_t hash_attrs(const tpt_graph_t* graph, const tpt_node_t* node, uint64_t hash) {
  int count = tpt_hlo_row(node->op)->attr_count;
  for (int i = 0; i < count; i++) {
    const tpt_attr_t* attr = &node->attrs[i];
    hash = tpt_hash_mix(hash ^ (uint64_t)attr->i, (uint64_t)attr->is_set + 2 * attr->count);
    const void* data = attr->bytes ? attr->bytes : (const void*)attr->ints;
    if (data) hash = tpt_hash_bytes(data, attr_size(node, i, data_dtype(graph, node)), hash);
  }
  return hash;
}

static uint64_t hash_values(const uint32_t* names, const tpt_value_t* values, uint32_t count,
                            uint64_t hash) {
  for (uint32_t i = 0; i < count; i++)
    hash = tpt_hash_mix(hash ^ names[values[i].index], count);
  return hash;
}

static uint64_t hash_block(const tpt_graph_t* graph, uint32_t index, const uint32_t* names,
                           uint64_t hash) {
  tpt_block_t block = tpt_graph_block(graph, index);
  hash = tpt_hash_mix(hash ^ block.arg_count, block.node_count);
  for (uint32_t i = 0; i < block.arg_count; i++)
    hash = hash_type(tpt_graph_type(graph, block.args[i]), hash);
  for (uint32_t i = 0; i < block.node_count; i++) {
    const tpt_node_t* node = tpt_graph_node(graph, block.nodes[i]);
    hash = tpt_hash_mix(hash ^ (uint64_t)node->op, node->operand_count);
    hash = hash_values(names, node->operands, node->operand_count, hash);
    hash = hash_attrs(graph, node, hash);
    for (uint32_t j = 0; j < node->region_count; j++)
      hash = hash_block(graph, node->regions[j], names, hash);
    for (uint32_t j = 0; j < node->result_count; j++)
      hash = hash_type(tpt_graph_type(graph, tpt_node_result(node, j)), hash);
  }
  return hash_values(names, block.results, block.result_count, hash);
}

uint64_t tpt_graph_hash(const tpt_graph_t* graph) {
  uint32_t* names = name_values(graph);
  // Without memory all graphs hash alike, which is slow but right.
  if (!names) return 0;
  uint64_t hash = hash_block(graph, 0, names, 0);
  uint32_t count = tpt_graph_block(graph, 0).arg_count;
  for (uint32_t i = 0; i < count; i++)
    hash = tpt_hash_mix(hash ^ (uint32_t)tpt_graph_alias_of(graph, i), i);
  tpt_free(names);
  return hash;
}

typedef struct pair {
  const tpt_graph_t *a, *b;
  const uint32_t *a_names, *b_names;
} pair_t;

static bool equal_values(const pair_t* pair, const tpt_value_t* a, const tpt_value_t* b,
                         uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (pair->a_names[a[i].index] != pair->b_names[b[i].index]) return false;
  }
  return true;
}

static bool equal_types(const pair_t* pair, tpt_value_t a, tpt_value_t b) {
  return tpt_type_equal(tpt_graph_type(pair->a, a), tpt_graph_type(pair->b, b));
}

// Called once result types are known to be equal.
static bool equal_attrs(const pair_t* pair, const tpt_node_t* a, const tpt_node_t* b) {
  int count = tpt_hlo_row(a->op)->attr_count;
  for (int i = 0; i < count; i++) {
    const tpt_attr_t *x = &a->attrs[i], *y = &b->attrs[i];
    if (x->is_set != y->is_set || x->i != y->i || x->count != y->count) return false;
    const void* x_data = x->bytes ? x->bytes : (const void*)x->ints;
    const void* y_data = y->bytes ? y->bytes : (const void*)y->ints;
    size_t size = attr_size(a, i, data_dtype(pair->a, a));
    if (x_data && y_data && size && memcmp(x_data, y_data, size) != 0) return false;
  }
  return true;
}

static bool equal_blocks(const pair_t* pair, uint32_t a_index, uint32_t b_index);

static bool equal_nodes(const pair_t* pair, const tpt_node_t* a, const tpt_node_t* b) {
  if (a->op != b->op || a->operand_count != b->operand_count ||
      a->result_count != b->result_count || a->region_count != b->region_count ||
      !equal_values(pair, a->operands, b->operands, a->operand_count))
    return false;
  for (uint32_t i = 0; i < a->result_count; i++) {
    if (!equal_types(pair, tpt_node_result(a, i), tpt_node_result(b, i))) return false;
  }
  if (!equal_attrs(pair, a, b)) return false;
  for (uint32_t i = 0; i < a->region_count; i++) {
    if (!equal_blocks(pair, a->regions[i], b->regions[i])) return false;
  }
  return true;
}

static bool equal_blocks(const pair_t* pair, uint32_t a_index, uint32_t b_index) {
  tpt_block_t a = tpt_graph_block(pair->a, a_index), b = tpt_graph_block(pair->b, b_index);
  if (a.arg_count != b.arg_count || a.node_count != b.node_count ||
      a.result_count != b.result_count)
    return false;
  for (uint32_t i = 0; i < a.arg_count; i++) {
    if (!equal_types(pair, a.args[i], b.args[i])) return false;
  }
  for (uint32_t i = 0; i < a.node_count; i++) {
    if (!equal_nodes(pair, tpt_graph_node(pair->a, a.nodes[i]),
                     tpt_graph_node(pair->b, b.nodes[i])))
      return false;
  }
  return equal_values(pair, a.results, b.results, a.result_count);
}

bool tpt_graph_equal(const tpt_graph_t* a, const tpt_graph_t* b) {
  if (a == b) return true;
  uint32_t count = tpt_graph_block(a, 0).arg_count;
  if (count != tpt_graph_block(b, 0).arg_count) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (tpt_graph_alias_of(a, i) != tpt_graph_alias_of(b, i)) return false;
  }
  pair_t pair = {.a = a, .b = b};
  uint32_t* a_names = name_values(a);
  uint32_t* b_names = name_values(b);
  pair.a_names = a_names;
  pair.b_names = b_names;
  // Without memory: "different", which costs a compile but never mixes programs up.
  bool is_equal = a_names && b_names && equal_blocks(&pair, 0, 0);
  tpt_free(a_names);
  tpt_free(b_names);
  return is_equal;
}
