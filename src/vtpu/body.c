// Region bodies: a block of 0-d values compiled into a one-dimensional loop over vectors of arguments.
// Values of outer blocks are refused, constants excepted.
#include <string.h>

#include "vtpu/kernel.h"
#include "vtpu/loop.h"

enum { BODY_ARGS_MAX = 64 };

struct vtpu_body {
  const vtpu_loop_t* loop;
  int arg_count, result_count;
};

// Members in the making. `member_of` maps values of the graph to members.
typedef struct gather {
  const tpt_graph_t* graph;
  uint32_t block;
  vtpu_loop_spec_t spec;
  uint32_t* values;  // per member
  int capacity;
} gather_t;

// 0-d shape ops forward their operand.
static tpt_value_t value_resolve(const tpt_graph_t* graph, tpt_value_t value) {
  for (;;) {
    const tpt_node_t* node = tpt_graph_producer(graph, value);
    if (!node || (node->op != TPT_HLO_RESHAPE && node->op != TPT_HLO_BROADCAST_IN_DIM &&
                  node->op != TPT_HLO_TRANSPOSE && node->op != TPT_HLO_OPTIMIZATION_BARRIER))
      return value;
    value = node->operands[value.index - node->first_result];
  }
}

static int member_find(const gather_t* g, tpt_value_t value) {
  for (int i = 0; i < g->spec.member_count; i++)
    if (g->values[i] == value.index) return i;
  return -1;
}

static tpt_status_t member_add(gather_t* g, tpt_value_t value) {
  if (g->spec.member_count == g->capacity)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a region of more than %d values is not supported by vtpu",
             g->capacity);
  const tpt_type_t* type = tpt_graph_type(g->graph, value);
  tpt_origin_t origin = tpt_graph_origin(g->graph, value);
  vtpu_member_t* member = &g->spec.members[g->spec.member_count];
  memset(member, 0, sizeof(*member));
  member->dtype = type->dtype;
  member->operands[0] = member->operands[1] = member->operands[2] = -1;
  if (origin.node == UINT32_MAX) {
    if (origin.block != g->block)
      TPT_FAIL(TPT_UNIMPLEMENTED,
               "a region uses an argument of an outer block, which vtpu does not support here");
    member->kind = VTPU_MEMBER_LOAD;
    member->buffer = origin.number;
  } else {
    const tpt_node_t* node = tpt_graph_node(g->graph, origin.node);
    if (node->op == TPT_HLO_CONSTANT && node->attrs[0].count >= 1) {
      member->kind = VTPU_MEMBER_NUMBER;
      member->number = node->attrs[0].bytes;
    } else if (origin.block != g->block) {
      TPT_FAIL(
          TPT_UNIMPLEMENTED,
          "a region uses a value of an outer block (stablehlo.%s), which vtpu does not support "
          "here",
          tpt_hlo_row(node->op)->mnemonic);
    } else if (!vtpu_loop_has_op(node->op) || type->rank != 0) {
      TPT_FAIL(TPT_UNIMPLEMENTED, "stablehlo.%s is not supported by vtpu inside this region",
               tpt_hlo_row(node->op)->mnemonic);
    } else {
      member->kind = VTPU_MEMBER_OP;
      member->op = node->op;
      member->attrs = node->attrs;
    }
  }
  g->values[g->spec.member_count++] = value.index;
  return NULL;
}

// Members in reverse program order, so that users come before operands; then everything else.
static tpt_status_t members_gather(gather_t* g, const tpt_block_t* block, bool* needed) {
  for (uint32_t r = 0; r < block->result_count; r++)
    needed[value_resolve(g->graph, block->results[r]).index] = true;
  for (uint32_t i = block->node_count; i-- > 0;) {
    const tpt_node_t* node = tpt_graph_node(g->graph, block->nodes[i]);
    if (node->result_count != 1 || !needed[node->first_result] || node->op == TPT_HLO_CONSTANT)
      continue;
    TPT_TRY(member_add(g, tpt_node_result(node, 0)));
    for (uint32_t k = 0; k < node->operand_count; k++)
      needed[value_resolve(g->graph, node->operands[k]).index] = true;
  }
  uint32_t count = tpt_graph_value_count(g->graph);
  for (uint32_t v = 0; v < count; v++)
    if (needed[v] && member_find(g, (tpt_value_t){v}) < 0) TPT_TRY(member_add(g, (tpt_value_t){v}));
  for (int m = 0; m < g->spec.member_count; m++) {
    vtpu_member_t* member = &g->spec.members[m];
    if (member->kind != VTPU_MEMBER_OP) continue;
    const tpt_node_t* node = tpt_graph_producer(g->graph, (tpt_value_t){g->values[m]});
    for (uint32_t k = 0; k < node->operand_count; k++)
      member->operands[k] = (int16_t)member_find(g, value_resolve(g->graph, node->operands[k]));
  }
  return NULL;
}

static tpt_status_t body_build(gather_t* g, const tpt_block_t* block, tpt_arena_t* arena,
                               vtpu_body_t* body) {
  uint32_t count = tpt_graph_value_count(g->graph);
  bool* needed = tpt_arena_calloc(arena, count + 1, sizeof(bool));
  vtpu_map_t* map = tpt_arena_calloc(arena, 1, sizeof(*map));
  g->capacity = VTPU_LOOP_MEMBERS_MAX;
  g->values = tpt_arena_alloc(arena, sizeof(*g->values) * (size_t)g->capacity);
  g->spec.members = tpt_arena_alloc(arena, sizeof(*g->spec.members) * (size_t)g->capacity);
  TPT_TRY(tpt_arena_status(arena));
  map->stride[0] = 1;
  g->spec.rank = 1;
  g->spec.dims[0] = (int64_t)1 << 40;
  g->spec.maps = map;
  g->spec.map_count = 1;
  g->spec.stores_last = true;
  TPT_TRY(members_gather(g, block, needed));
  for (uint32_t r = 0; r < block->result_count; r++) {
    vtpu_output_t* output = &g->spec.outputs[g->spec.output_count++];
    memset(output, 0, sizeof(*output));
    output->member = (int16_t)member_find(g, value_resolve(g->graph, block->results[r]));
    output->monoid = TPT_HLO_COUNT;
    output->buffer = block->arg_count + r;
  }
  vtpu_loop_t* loop;
  TPT_TRY(vtpu_loop_compile(&g->spec, arena, &loop));
  body->loop = loop;
  body->arg_count = (int)block->arg_count;
  body->result_count = (int)block->result_count;
  return NULL;
}

tpt_status_t vtpu_body_compile(const tpt_graph_t* graph, uint32_t block_index, tpt_arena_t* arena,
                               vtpu_body_t** out_body) {
  *out_body = NULL;
  tpt_block_t block = tpt_graph_block(graph, block_index);
  if (block.result_count > VTPU_LOOP_OUTPUTS_MAX ||
      block.arg_count + block.result_count > BODY_ARGS_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "a region of %u arguments and %u results is not supported by vtpu",
             block.arg_count, block.result_count);
  gather_t* g = tpt_arena_calloc(arena, 1, sizeof(*g));
  vtpu_body_t* body = tpt_arena_calloc(arena, 1, sizeof(*body));
  if (!g || !body) return tpt_arena_status(arena);
  g->graph = graph;
  g->block = block_index;
  TPT_TRY(body_build(g, &block, arena, body));
  *out_body = body;
  return NULL;
}

void vtpu_body_run(const vtpu_body_t* body, int64_t count, const void* const* in,
                   void* const* out) {
  void* pointers[BODY_ARGS_MAX];
  for (int i = 0; i < body->arg_count; i++)
    pointers[i] = (void*)(uintptr_t)in[i];
  for (int i = 0; i < body->result_count; i++)
    pointers[body->arg_count + i] = out[i];
  vtpu_loop_run_vector(body->loop, count, pointers);
}
