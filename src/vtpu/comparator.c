// Recognises a region that is a single compare of its arguments.
#include "vtpu/comparator.h"

bool vtpu_comparator_find(const tpt_graph_t* graph, uint32_t block_index, vtpu_comparator_t* out) {
  tpt_block_t block = tpt_graph_block(graph, block_index);
  if (block.result_count != 1) return false;
  const tpt_node_t* node = tpt_graph_producer(graph, block.results[0]);
  if (!node || node->op != TPT_HLO_COMPARE || node->block != block_index) return false;
  uint32_t numbers[2];
  for (int i = 0; i < 2; i++) {
    tpt_origin_t origin = tpt_graph_origin(graph, node->operands[i]);
    if (origin.node != UINT32_MAX || origin.block != block_index) return false;
    numbers[i] = origin.number;
  }
  out->a = numbers[0];
  out->b = numbers[1];
  out->direction = (tpt_compare_t)tpt_node_int(node, 0);
  out->kind = (tpt_compare_type_t)tpt_node_int(node, 1);
  return true;
}
