// Owns the typed doors of ops with regions, and what readers want to know of a region. Must not
// know type rules.
#include "hlo/builder.h"
#include "hlo/region.h"

static tpt_attr_t ints(const int64_t* data, int count) {
  return (tpt_attr_t){.is_set = true, .ints = data, .count = (size_t)count};
}

static const tpt_hlo_t monoids[] = {TPT_HLO_ADD, TPT_HLO_MULTIPLY, TPT_HLO_MAXIMUM, TPT_HLO_MINIMUM,
                                    TPT_HLO_AND, TPT_HLO_OR,       TPT_HLO_XOR};

static bool is_monoid(tpt_hlo_t op) {
  for (size_t i = 0; i < sizeof(monoids) / sizeof(monoids[0]); i++) {
    if (monoids[i] == op) return true;
  }
  return false;
}

uint32_t tpt__region_binary(tpt_graph_t* g, tpt_hlo_t combine, tpt_dtype_t dtype) {
  if (combine != TPT_HLO_COUNT && !is_monoid(combine)) {
    const tpt_hlo_row_t* row = tpt_hlo_row(combine);
    tpt_graph_fail(g, tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                                      "stablehlo.%s cannot combine elements: use add, multiply, "
                                      "maximum, minimum, and, or, xor",
                                      row ? row->mnemonic : "?"));
    return UINT32_MAX;
  }
  tpt_type_t scalar = tpt_type_scalar(dtype);
  tpt_type_t types[2] = {scalar, scalar};
  tpt_value_t args[2];
  tpt_region_begin(g, types, 2, args);
  tpt_value_t result =
      combine == TPT_HLO_COUNT ? args[1] : tpt_hlo_binary(g, combine, args[0], args[1]);
  return tpt_region_end(g, &result, 1);
}

tpt_hlo_t tpt_region_monoid(const tpt_graph_t* g, uint32_t block_index, bool* out_replace) {
  tpt_block_t block = tpt_graph_block(g, block_index);
  if (out_replace) *out_replace = false;
  if (block.arg_count != 2 || block.result_count != 1) return TPT_HLO_COUNT;
  uint32_t a = block.args[0].index, b = block.args[1].index, result = block.results[0].index;
  if (result == b && block.node_count == 0) {
    if (out_replace) *out_replace = true;
    return TPT_HLO_COUNT;
  }
  if (block.node_count != 1) return TPT_HLO_COUNT;
  const tpt_node_t* node = tpt_graph_node(g, block.nodes[0]);
  if (!is_monoid(node->op) || result != node->first_result) return TPT_HLO_COUNT;
  uint32_t x = node->operands[0].index, y = node->operands[1].index;
  bool is_whole = (x == a && y == b) || (x == b && y == a);
  return is_whole ? node->op : TPT_HLO_COUNT;
}

tpt_value_t tpt_hlo_reduce(tpt_graph_t* g, tpt_value_t x, tpt_value_t init, tpt_hlo_t combine,
                           const int64_t* dims, int count) {
  if (tpt_graph_error(g)) return TPT_VALUE_NONE;
  uint32_t body = tpt__region_binary(g, combine, tpt_graph_type(g, x)->dtype);
  return tpt_hlo_reduce_n(
      g, &(tpt_reduction_t){
             .xs = &x, .inits = &init, .count = 1, .dims = dims, .dim_count = count, .body = body});
}

// Operands are xs, then inits. A list too long for the stack goes through the arena.
static tpt_value_t append_reduction(tpt_graph_t* g, tpt_node_params_t* params,
                                    const tpt_value_t* xs, const tpt_value_t* inits, int count) {
  tpt_value_t small[16];
  tpt_value_t* operands = small;
  if (count > 8)
    operands = tpt_arena_alloc(tpt_graph_arena(g), 2 * (size_t)count * sizeof(*operands));
  if (!operands) {
    tpt_graph_fail(g, tpt_arena_status(tpt_graph_arena(g)));
    return TPT_VALUE_NONE;
  }
  for (int i = 0; i < count; i++) {
    operands[i] = xs[i];
    operands[count + i] = inits[i];
  }
  params->operands = operands;
  params->operand_count = 2 * (uint32_t)count;
  return tpt_graph_append(g, params);
}

tpt_value_t tpt_hlo_reduce_n(tpt_graph_t* g, const tpt_reduction_t* reduction) {
  tpt_attr_t attr = ints(reduction->dims, reduction->dim_count);
  tpt_node_params_t params = {
      .op = TPT_HLO_REDUCE, .attrs = &attr, .regions = &reduction->body, .region_count = 1};
  return append_reduction(g, &params, reduction->xs, reduction->inits, reduction->count);
}

void tpt_pool_window_init(tpt_pool_window_t* window) {
  memset(window, 0, sizeof(*window));
  for (int i = 0; i < TPT_RANK_MAX; i++)
    window->dims[i] = window->stride[i] = window->base_dilation[i] = window->dilation[i] = 1;
}

static void pack_padding(const tpt_pool_window_t* window, int rank, int64_t* out_pairs) {
  for (int i = 0; i < rank; i++) {
    out_pairs[2 * i] = window->pad_low[i];
    out_pairs[2 * i + 1] = window->pad_high[i];
  }
}

tpt_value_t tpt_hlo_reduce_window(tpt_graph_t* g, tpt_value_t x, tpt_value_t init,
                                  tpt_hlo_t combine, const tpt_pool_window_t* window) {
  if (tpt_graph_error(g)) return TPT_VALUE_NONE;
  uint32_t body = tpt__region_binary(g, combine, tpt_graph_type(g, x)->dtype);
  return tpt_hlo_reduce_window_n(g, &x, &init, 1, window, body);
}

tpt_value_t tpt_hlo_reduce_window_n(tpt_graph_t* g, const tpt_value_t* xs, const tpt_value_t* inits,
                                    int count, const tpt_pool_window_t* window, uint32_t body) {
  int rank = count > 0 ? tpt_graph_type(g, xs[0])->rank : 0;
  int64_t padding[2 * TPT_RANK_MAX];
  pack_padding(window, rank, padding);
  tpt_attr_t attrs[5] = {ints(window->dims, rank), ints(window->stride, rank),
                         ints(window->base_dilation, rank), ints(window->dilation, rank),
                         ints(padding, 2 * rank)};
  tpt_node_params_t params = {
      .op = TPT_HLO_REDUCE_WINDOW, .attrs = attrs, .regions = &body, .region_count = 1};
  return append_reduction(g, &params, xs, inits, count);
}

void tpt_node_window(const tpt_node_t* node, int rank, tpt_pool_window_t* out) {
  tpt_pool_window_init(out);
  bool is_select = node->op == TPT_HLO_SELECT_AND_SCATTER;
  const tpt_attr_t* padding = &node->attrs[is_select ? 2 : 4];
  for (int i = 0; i < rank && i < TPT_RANK_MAX; i++) {
    out->dims[i] = node->attrs[0].ints[i];
    out->stride[i] = node->attrs[1].ints[i];
    if (!is_select) out->base_dilation[i] = node->attrs[2].ints[i];
    if (!is_select) out->dilation[i] = node->attrs[3].ints[i];
    out->pad_low[i] = padding->ints[2 * i];
    out->pad_high[i] = padding->ints[2 * i + 1];
  }
}

static uint32_t compare_region(tpt_graph_t* g, tpt_compare_t direction, tpt_dtype_t dtype) {
  tpt_type_t types[2] = {tpt_type_scalar(dtype), tpt_type_scalar(dtype)};
  tpt_value_t args[2];
  tpt_region_begin(g, types, 2, args);
  tpt_value_t result = tpt_hlo_compare(g, direction, args[0], args[1]);
  return tpt_region_end(g, &result, 1);
}

tpt_value_t tpt_hlo_select_and_scatter(tpt_graph_t* g, tpt_value_t x, tpt_value_t source,
                                       tpt_value_t init, tpt_compare_t select,
                                       const tpt_pool_window_t* window) {
  const tpt_type_t* type = tpt_graph_type(g, x);
  int64_t padding[2 * TPT_RANK_MAX];
  pack_padding(window, type->rank, padding);
  tpt_attr_t attrs[3] = {ints(window->dims, type->rank), ints(window->stride, type->rank),
                         ints(padding, 2 * type->rank)};
  uint32_t regions[2] = {compare_region(g, select, type->dtype),
                         tpt__region_binary(g, TPT_HLO_ADD, type->dtype)};
  tpt_value_t operands[3] = {x, source, init};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_SELECT_AND_SCATTER,
                                                  .operands = operands,
                                                  .operand_count = 3,
                                                  .attrs = attrs,
                                                  .regions = regions,
                                                  .region_count = 2});
}

tpt_value_t tpt_hlo_sort(tpt_graph_t* g, const tpt_value_t* xs, int count, int dim, bool stable,
                         uint32_t less) {
  tpt_attr_t attrs[2] = {{.is_set = true, .i = dim}, {.is_set = true, .i = stable}};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_SORT,
                                                  .operands = xs,
                                                  .operand_count = (uint32_t)count,
                                                  .attrs = attrs,
                                                  .regions = &less,
                                                  .region_count = 1});
}

tpt_value_t tpt_hlo_while(tpt_graph_t* g, const tpt_value_t* inits, int count, uint32_t condition,
                          uint32_t body) {
  uint32_t regions[2] = {condition, body};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_WHILE,
                                                  .operands = inits,
                                                  .operand_count = (uint32_t)count,
                                                  .regions = regions,
                                                  .region_count = 2});
}

tpt_value_t tpt_hlo_case(tpt_graph_t* g, tpt_value_t index, const uint32_t* branches, int count) {
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_CASE,
                                                  .operands = &index,
                                                  .operand_count = 1,
                                                  .regions = branches,
                                                  .region_count = (uint32_t)count});
}

tpt_value_t tpt_hlo_if(tpt_graph_t* g, tpt_value_t predicate, uint32_t then_block,
                       uint32_t else_block) {
  uint32_t regions[2] = {then_block, else_block};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_IF,
                                                  .operands = &predicate,
                                                  .operand_count = 1,
                                                  .regions = regions,
                                                  .region_count = 2});
}
