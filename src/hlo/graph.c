// Owns the arena of nodes, values and blocks, and the one door by which nodes enter. Must not know
// any op: what an op demands is its type rule. Invariants: every value stands before its uses, in
// the same block or an enclosing one; every closed block has at most one owner; after the first
// error nothing is appended any more.
#include "hlo/graph.h"

#include <string.h>

#include "base/allocator.h"
#include "hlo/enum.h"
#include "hlo/type_rule.h"

enum { NO_INDEX = UINT32_MAX, MAIN = 0, MAX_DEPTH = 64 };

typedef struct value_record {
  const tpt_type_t* type;  // in the arena
  tpt_origin_t origin;
} value_record_t;

typedef struct block_record {
  tpt_block_t block;
  uint32_t* nodes;  // block.nodes, growable; in the arena
  uint32_t node_capacity;
  tpt_value_t* args;  // block.args, growable for main; in the arena
  uint32_t arg_capacity;
  uint32_t parent;
  uint32_t depth;
  bool is_open;
  bool is_owned;
} block_record_t;

struct tpt_graph {
  tpt_arena_t arena;
  tpt_status_t error;
  value_record_t* values;
  size_t value_count, value_capacity;
  const tpt_node_t** nodes;
  size_t node_count, node_capacity;
  block_record_t* blocks;
  size_t block_count, block_capacity;
  int32_t* aliases;  // by parameter: result number or -1
  size_t alias_capacity;
  uint32_t current;  // innermost open block
  bool has_returned;
};

static const tpt_rule_fn_t rules[TPT_HLO_COUNT] = {
#define HLO(id, mnemonic, operands, regions, rule, ...) tpt__rule_##rule,
#include "hlo/hlo.def"
#undef HLO
};

static const tpt_type_t failed_type = {.dtype = TPT_F32};

// --- life
// -------------------------------------------------------------------------------------------

static tpt_status_t no_memory(void) {
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "out of host memory (graph)");
}

static tpt_status_t open_block(tpt_graph_t* graph, uint32_t parent, uint32_t* out_block) {
  if (!tpt_grow((void**)&graph->blocks, &graph->block_capacity, graph->block_count + 1,
                sizeof(*graph->blocks)))
    return no_memory();
  block_record_t* record = &graph->blocks[graph->block_count];
  memset(record, 0, sizeof(*record));
  record->parent = parent;
  record->depth = parent == NO_INDEX ? 0 : graph->blocks[parent].depth + 1;
  record->is_open = true;
  record->block.first_arg = (uint32_t)graph->value_count;
  *out_block = (uint32_t)graph->block_count++;
  return NULL;
}

tpt_status_t tpt_graph_create(tpt_graph_t** out_graph) {
  *out_graph = NULL;
  tpt_graph_t* graph = tpt_calloc(1, sizeof(*graph));
  if (!graph) return no_memory();
  tpt_arena_init(&graph->arena);
  tpt_status_t status = open_block(graph, NO_INDEX, &graph->current);
  if (status) {
    tpt_graph_release(graph);
    return status;
  }
  *out_graph = graph;
  return NULL;
}

void tpt_graph_release(tpt_graph_t* take_graph) {
  if (!take_graph) return;
  tpt_status_release(take_graph->error);
  tpt_arena_deinit(&take_graph->arena);
  tpt_free(take_graph->values);
  tpt_free(take_graph->nodes);
  tpt_free(take_graph->blocks);
  tpt_free(take_graph->aliases);
  tpt_free(take_graph);
}

void tpt_graph_reset(tpt_graph_t* graph) {
  tpt_status_release(graph->error);
  graph->error = NULL;
  tpt_arena_reset(&graph->arena);
  graph->value_count = graph->node_count = graph->block_count = 0;
  graph->has_returned = false;
  // Cannot fail: the array of blocks has held main before.
  tpt_status_release(open_block(graph, NO_INDEX, &graph->current));
}

tpt_status_t tpt_graph_error(const tpt_graph_t* graph) {
  return graph->error;
}

tpt_status_t tpt_graph_status(const tpt_graph_t* graph) {
  return tpt_status_clone(graph->error);
}

void tpt_graph_fail(tpt_graph_t* graph, tpt_status_t take_status) {
  if (graph->error)
    tpt_status_release(take_status);
  else
    graph->error = take_status;
}

tpt_arena_t* tpt_graph_arena(tpt_graph_t* graph) {
  return &graph->arena;
}

// --- reading
// ------------------------------------------------------------------------------------------

const tpt_type_t* tpt_graph_type(const tpt_graph_t* graph, tpt_value_t value) {
  return value.index < graph->value_count ? graph->values[value.index].type : &failed_type;
}

tpt_origin_t tpt_graph_origin(const tpt_graph_t* graph, tpt_value_t value) {
  if (value.index < graph->value_count) return graph->values[value.index].origin;
  return (tpt_origin_t){NO_INDEX, NO_INDEX, NO_INDEX};
}

uint32_t tpt_graph_value_count(const tpt_graph_t* graph) {
  return (uint32_t)graph->value_count;
}
uint32_t tpt_graph_node_count(const tpt_graph_t* graph) {
  return (uint32_t)graph->node_count;
}
uint32_t tpt_graph_block_count(const tpt_graph_t* graph) {
  return (uint32_t)graph->block_count;
}

const tpt_node_t* tpt_graph_node(const tpt_graph_t* graph, uint32_t node) {
  return node < graph->node_count ? graph->nodes[node] : NULL;
}

tpt_block_t tpt_graph_block(const tpt_graph_t* graph, uint32_t block) {
  if (block < graph->block_count) return graph->blocks[block].block;
  return (tpt_block_t){.first_arg = NO_INDEX};
}

const tpt_node_t* tpt_graph_producer(const tpt_graph_t* graph, tpt_value_t value) {
  return tpt_graph_node(graph, tpt_graph_origin(graph, value).node);
}

// --- values
// --------------------------------------------------------------------------------------------

static bool is_visible(const tpt_graph_t* graph, tpt_value_t value, uint32_t from_block) {
  if (value.index >= graph->value_count) return false;
  uint32_t home = graph->values[value.index].origin.block;
  for (uint32_t block = from_block; block != NO_INDEX; block = graph->blocks[block].parent) {
    if (block == home) return true;
  }
  return false;
}

static tpt_status_t append_value(tpt_graph_t* graph, const tpt_type_t* type, tpt_origin_t origin) {
  if (graph->value_count >= NO_INDEX - 1)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "a graph holds at most 2^32 - 2 values");
  if (!tpt_grow((void**)&graph->values, &graph->value_capacity, graph->value_count + 1,
                sizeof(*graph->values)))
    return no_memory();
  graph->values[graph->value_count++] = (value_record_t){type, origin};
  return NULL;
}

static const tpt_type_t* copy_type(tpt_graph_t* graph, const tpt_type_t* type) {
  tpt_type_t* copy = tpt_arena_calloc(&graph->arena, 1, sizeof(*copy));
  if (!copy) return NULL;
  copy->dtype = type->dtype;
  copy->rank = type->rank;
  for (int i = 0; i < type->rank; i++)
    copy->dims[i] = type->dims[i];
  return copy;
}

// Makes room for one more element of an arena array; the old one stays behind in the arena.
static void* grow_in_arena(tpt_graph_t* graph, void* data, uint32_t* inout_capacity, uint32_t count,
                           size_t element_size) {
  if (count < *inout_capacity) return data;
  uint32_t capacity = *inout_capacity ? *inout_capacity * 2 : 8;
  void* larger = tpt_arena_alloc(&graph->arena, capacity * element_size);
  if (!larger) return NULL;
  if (count) memcpy(larger, data, count * element_size);
  *inout_capacity = capacity;
  return larger;
}

static tpt_status_t append_arg(tpt_graph_t* graph, uint32_t block, const tpt_type_t* type,
                               tpt_value_t* out_value) {
  TPT_TRY(tpt__type_check(type));
  const tpt_type_t* copy = copy_type(graph, type);
  block_record_t* record = &graph->blocks[block];
  uint32_t number = record->block.arg_count;
  tpt_value_t* args =
      grow_in_arena(graph, record->args, &record->arg_capacity, number, sizeof(*args));
  if (!copy || !args) return no_memory();
  record->args = args;
  record->block.args = args;
  tpt_value_t value = {(uint32_t)graph->value_count};
  TPT_TRY(append_value(graph, copy, (tpt_origin_t){NO_INDEX, block, number}));
  if (number == 0)
    record->block.first_arg = value.index;
  else if (record->block.first_arg != NO_INDEX && record->block.first_arg + number != value.index)
    record->block.first_arg = NO_INDEX;
  args[number] = value;
  record->block.arg_count = number + 1;
  *out_value = value;
  return NULL;
}

// --- the function main
// --------------------------------------------------------------------------------

tpt_value_t tpt_graph_parameter(tpt_graph_t* graph, const tpt_type_t* type) {
  if (graph->error) return TPT_VALUE_NONE;
  uint32_t number = graph->blocks[MAIN].block.arg_count;
  tpt_value_t value = TPT_VALUE_NONE;
  tpt_status_t status = NULL;
  if (!tpt_grow((void**)&graph->aliases, &graph->alias_capacity, (size_t)number + 1,
                sizeof(*graph->aliases)))
    status = no_memory();
  else
    graph->aliases[number] = -1;
  if (!status) status = append_arg(graph, MAIN, type, &value);
  if (!status) return value;
  tpt_graph_fail(graph, tpt_status_note(status, "while adding parameter %u", number));
  return TPT_VALUE_NONE;
}

static tpt_status_t check_aliases(const tpt_graph_t* graph) {
  const tpt_block_t* main = &graph->blocks[MAIN].block;
  if (!graph->has_returned) return NULL;
  for (uint32_t i = 0; i < main->arg_count; i++) {
    int32_t result = graph->aliases[i];
    if (result < 0) continue;
    if ((uint32_t)result >= main->result_count)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "parameter %u is aliased to result %d of %u", i, result,
               main->result_count);
    const tpt_type_t* from = tpt_graph_type(graph, main->args[i]);
    const tpt_type_t* to = tpt_graph_type(graph, main->results[result]);
    char from_text[160], to_text[160];
    if (!tpt_type_equal(from, to))
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "parameter %u is %s and cannot be aliased to result %d, which is %s", i,
               tpt_type_print(from, from_text, sizeof(from_text)), result,
               tpt_type_print(to, to_text, sizeof(to_text)));
  }
  return NULL;
}

static tpt_status_t set_alias(tpt_graph_t* graph, uint32_t parameter, uint32_t result) {
  uint32_t count = graph->blocks[MAIN].block.arg_count;
  if (parameter >= count || result > INT32_MAX)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "no alias from parameter %u of %u to result %u", parameter,
             count, result);
  for (uint32_t i = 0; i < count; i++) {
    if (i != parameter && graph->aliases[i] == (int32_t)result)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "result %u is aliased to parameters %u and %u", result, i,
               parameter);
  }
  graph->aliases[parameter] = (int32_t)result;
  return check_aliases(graph);
}

void tpt_graph_alias(tpt_graph_t* graph, uint32_t parameter, uint32_t result) {
  if (graph->error) return;
  tpt_status_t status = set_alias(graph, parameter, result);
  if (status) tpt_graph_fail(graph, status);
}

int32_t tpt_graph_alias_of(const tpt_graph_t* graph, uint32_t parameter) {
  return parameter < graph->blocks[MAIN].block.arg_count ? graph->aliases[parameter] : -1;
}

static tpt_status_t set_results(tpt_graph_t* graph, uint32_t block, const tpt_value_t* values,
                                uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!is_visible(graph, values[i], block))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "result %u is not a value of this block or one around it", i);
  }
  tpt_value_t* copy = tpt_arena_alloc(&graph->arena, count * sizeof(*copy));
  if (!copy) return no_memory();
  if (count) memcpy(copy, values, count * sizeof(*copy));
  graph->blocks[block].block.results = copy;
  graph->blocks[block].block.result_count = count;
  return NULL;
}

void tpt_graph_return(tpt_graph_t* graph, const tpt_value_t* values, uint32_t count) {
  if (graph->error) return;
  tpt_status_t status = NULL;
  if (graph->current != MAIN)
    status = tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                             "main cannot return while a region is open");
  if (!status) status = set_results(graph, MAIN, values, count);
  if (!status) {
    graph->has_returned = true;
    status = check_aliases(graph);
  }
  if (status) tpt_graph_fail(graph, tpt_status_note(status, "while returning from main"));
}

// --- regions
// ---------------------------------------------------------------------------------------------

void tpt_region_begin(tpt_graph_t* graph, const tpt_type_t* arg_types, uint32_t count,
                      tpt_value_t* out_args) {
  for (uint32_t i = 0; i < count; i++)
    out_args[i] = TPT_VALUE_NONE;
  if (graph->error) return;
  uint32_t block = NO_INDEX;
  tpt_status_t status = NULL;
  if (graph->blocks[graph->current].depth >= MAX_DEPTH)
    status = tpt_status_make(TPT_UNIMPLEMENTED, __FILE__, __LINE__, "regions nest deeper than %d",
                             MAX_DEPTH);
  if (!status) status = open_block(graph, graph->current, &block);
  if (!status) graph->current = block;
  for (uint32_t i = 0; i < count && !status; i++)
    status = append_arg(graph, block, &arg_types[i], &out_args[i]);
  if (status) tpt_graph_fail(graph, tpt_status_note(status, "while opening a region"));
}

uint32_t tpt_region_end(tpt_graph_t* graph, const tpt_value_t* results, uint32_t count) {
  if (graph->error) return NO_INDEX;
  uint32_t block = graph->current;
  tpt_status_t status =
      block == MAIN ? tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__, "no region is open")
                    : set_results(graph, block, results, count);
  if (status) {
    tpt_graph_fail(graph, tpt_status_note(status, "while closing a region"));
    return NO_INDEX;
  }
  graph->blocks[block].is_open = false;
  graph->current = graph->blocks[block].parent;
  return block;
}

// --- appending
// -------------------------------------------------------------------------------------------

static tpt_status_t check_parts(const tpt_graph_t* graph, const tpt_node_params_t* params,
                                const tpt_hlo_row_t* row) {
  if (row->operand_count >= 0 && params->operand_count != (uint32_t)row->operand_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "stablehlo.%s takes %d operands, not %u", row->mnemonic,
             row->operand_count, params->operand_count);
  if (row->region_count >= 0 && params->region_count != (uint32_t)row->region_count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "stablehlo.%s takes %d regions, not %u", row->mnemonic,
             row->region_count, params->region_count);
  for (uint32_t i = 0; i < params->operand_count; i++) {
    if (!is_visible(graph, params->operands[i], graph->current))
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "stablehlo.%s: operand %u is not a value of this block or one around it",
               row->mnemonic, i);
  }
  for (uint32_t i = 0; i < params->region_count; i++) {
    uint32_t block = params->regions[i];
    if (block == MAIN || block >= graph->block_count || graph->blocks[block].is_open ||
        graph->blocks[block].is_owned || graph->blocks[block].parent != graph->current)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "stablehlo.%s: region %u is not a closed, unused block made right here",
               row->mnemonic, i);
    for (uint32_t j = 0; j < i; j++) {
      if (params->regions[j] == block)
        TPT_FAIL(TPT_INVALID_ARGUMENT, "stablehlo.%s: region %u is used twice", row->mnemonic, i);
    }
  }
  return NULL;
}

static tpt_status_t check_enums(const tpt_hlo_row_t* row, int slot, const tpt_attr_t* attr) {
  const tpt_attr_row_t* attr_row = &row->attrs[slot];
  bool is_list = attr_row->kind == TPT_ATTR_ENUMS;
  for (size_t i = 0; i < (is_list ? attr->count : 1); i++) {
    int64_t number = is_list ? attr->ints[i] : attr->i;
    if (number < 0 || number >= attr_row->values->count)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "stablehlo.%s: %s has no number %lld", row->mnemonic,
               attr_row->name, (long long)number);
  }
  return NULL;
}

// Copies one attribute into the arena. `element_size` is that of BYTES.
static tpt_status_t copy_attr(tpt_graph_t* graph, const tpt_hlo_row_t* row, int slot,
                              size_t element_size, tpt_attr_t* inout_attr) {
  tpt_attr_kind_t kind = row->attrs[slot].kind;
  size_t size = 0;
  switch (kind) {
  case TPT_ATTR_ENUM:
    inout_attr->ints = NULL, inout_attr->bytes = NULL, inout_attr->count = 0;
    return check_enums(row, slot, inout_attr);
  case TPT_ATTR_BOOL:
    inout_attr->i = inout_attr->i != 0;  // fall through
  case TPT_ATTR_I32:
  case TPT_ATTR_I64:
    inout_attr->ints = NULL, inout_attr->bytes = NULL, inout_attr->count = 0;
    return NULL;
  case TPT_ATTR_STRING:
    size = inout_attr->count;
    break;
  case TPT_ATTR_BYTES:
    if (!tpt_size_mul(inout_attr->count, element_size, &size)) return no_memory();
    break;
  default:
    if (!tpt_size_mul(inout_attr->count, sizeof(int64_t), &size)) return no_memory();
    break;
  }
  bool is_bytes = kind == TPT_ATTR_STRING || kind == TPT_ATTR_BYTES;
  const void* source = is_bytes ? inout_attr->bytes : (const void*)inout_attr->ints;
  if (size && !source)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "stablehlo.%s: %s has no data", row->mnemonic,
             row->attrs[slot].name);
  char* copy = tpt_arena_alloc(&graph->arena, size + 1);
  if (!copy) return no_memory();
  if (size) memcpy(copy, source, size);
  copy[size] = 0;  // strings can be read as C strings
  inout_attr->i = 0;
  inout_attr->ints = is_bytes ? NULL : (const int64_t*)copy;
  inout_attr->bytes = is_bytes ? copy : NULL;
  for (size_t i = 0; kind == TPT_ATTR_BOOLS && i < inout_attr->count; i++)
    ((int64_t*)(void*)copy)[i] = inout_attr->ints[i] != 0;
  return kind == TPT_ATTR_ENUMS ? check_enums(row, slot, inout_attr) : NULL;
}

static tpt_status_t copy_attrs(tpt_graph_t* graph, const tpt_node_params_t* params,
                               const tpt_hlo_row_t* row, tpt_attr_t** out_attrs) {
  *out_attrs = NULL;
  if (row->attr_count == 0) return NULL;
  size_t size = (size_t)row->attr_count * sizeof(tpt_attr_t);
  tpt_attr_t* attrs = tpt_arena_alloc(&graph->arena, size);
  if (!attrs) return no_memory();
  if (params->attrs)
    memcpy(attrs, params->attrs, size);
  else
    memset(attrs, 0, size);
  size_t element_size =
      params->result_type_count ? tpt_dtype_size(params->result_types[0].dtype) : 0;
  for (int i = 0; i < row->attr_count; i++) {
    if (attrs[i].is_set)
      TPT_TRY(copy_attr(graph, row, i, element_size, &attrs[i]));
    else
      memset(&attrs[i], 0, sizeof(attrs[i]));
  }
  *out_attrs = attrs;
  return NULL;
}

static tpt_status_t check_given(const tpt_rule_t* r) {
  if (!r->given) return NULL;
  if (r->given_count != r->result_count)
    return tpt__rule_fail(r, "%u results are named, but there are %u", r->given_count,
                          r->result_count);
  for (uint32_t i = 0; i < r->result_count; i++) {
    bool is_equal = r->given[i].rank < 0 ? r->given[i].dtype == r->results[i]->dtype
                                         : tpt_type_equal(&r->given[i], r->results[i]);
    if (!is_equal)
      return tpt__rule_mismatch(r, "the named result type is not the op's", &r->given[i],
                                r->results[i]);
  }
  return NULL;
}

// Enters a checked node: its record, its values, its place in the block.
static tpt_status_t enter_node(tpt_graph_t* graph, const tpt_node_params_t* params,
                               const tpt_rule_t* r, tpt_value_t* out_first) {
  block_record_t* record = &graph->blocks[graph->current];
  tpt_node_t* node = tpt_arena_alloc(&graph->arena, sizeof(*node));
  tpt_value_t* operands = NULL;
  uint32_t* regions = NULL;
  if (params->operand_count)
    operands =
        tpt_arena_copy(&graph->arena, params->operands, params->operand_count * sizeof(*operands));
  if (params->region_count)
    regions =
        tpt_arena_copy(&graph->arena, params->regions, params->region_count * sizeof(*regions));
  uint32_t* nodes = grow_in_arena(graph, record->nodes, &record->node_capacity,
                                  record->block.node_count, sizeof(*nodes));
  if (!node || !nodes || graph->arena.failed ||
      !tpt_grow((void**)&graph->nodes, &graph->node_capacity, graph->node_count + 1,
                sizeof(*graph->nodes)))
    return no_memory();
  record->nodes = nodes;
  record->block.nodes = nodes;
  uint32_t index = (uint32_t)graph->node_count;
  *node = (tpt_node_t){.op = params->op,
                       .operand_count = params->operand_count,
                       .result_count = r->result_count,
                       .region_count = params->region_count,
                       .block = graph->current,
                       .first_result = (uint32_t)graph->value_count,
                       .operands = operands,
                       .attrs = r->attrs,
                       .regions = regions};
  for (uint32_t i = 0; i < r->result_count; i++)
    TPT_TRY(append_value(graph, r->results[i], (tpt_origin_t){index, graph->current, i}));
  for (uint32_t i = 0; i < params->region_count; i++)
    graph->blocks[regions[i]].is_owned = true;
  graph->nodes[graph->node_count++] = node;
  nodes[record->block.node_count++] = index;
  *out_first = (tpt_value_t){node->first_result};
  return NULL;
}

static tpt_status_t append(tpt_graph_t* graph, const tpt_node_params_t* params,
                           tpt_value_t* out_first) {
  const tpt_hlo_row_t* row = tpt_hlo_row(params->op);
  if (!row) TPT_FAIL(TPT_INVALID_ARGUMENT, "op number %d is not in the table", (int)params->op);
  TPT_TRY(check_parts(graph, params, row));
  const tpt_type_t* inline_types[TPT__RULE_INLINE];
  const tpt_type_t** types = inline_types;
  const tpt_type_t* inline_results[TPT__RULE_INLINE];
  if (params->operand_count > TPT__RULE_INLINE) {
    types = tpt_arena_alloc(&graph->arena, params->operand_count * sizeof(*types));
    if (!types) return no_memory();
  }
  for (uint32_t i = 0; i < params->operand_count; i++)
    types[i] = graph->values[params->operands[i].index].type;
  tpt_rule_t r = {.graph = graph,
                  .row = row,
                  .types = types,
                  .operand_count = params->operand_count,
                  .regions = params->regions,
                  .region_count = params->region_count,
                  .given = params->result_types,
                  .given_count = params->result_types ? params->result_type_count : 0,
                  .results = inline_results,
                  .result_capacity = TPT__RULE_INLINE};
  TPT_TRY(copy_attrs(graph, params, row, &r.attrs));
  TPT_TRY(rules[params->op](&r));
  TPT_TRY(check_given(&r));
  return enter_node(graph, params, &r, out_first);
}

tpt_value_t tpt_graph_append(tpt_graph_t* graph, const tpt_node_params_t* params) {
  if (graph->error) return TPT_VALUE_NONE;
  tpt_value_t first = TPT_VALUE_NONE;
  tpt_status_t status = append(graph, params, &first);
  if (!status) return first;
  tpt_graph_fail(graph, status);
  return TPT_VALUE_NONE;
}
