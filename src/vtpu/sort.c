// sort: rows along one dimension, any number of operands reordered together, always stable. The rows of
// an item are ordered by keys or by merging, then every operand is moved through a row of scratch (the
// first result may lie where the first operand does).
#include "vtpu/sort.h"

#include <string.h>

#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"

enum { ITEM_ELEMENTS = 4096 };  // rows are taken together up to this many elements

typedef struct sort {
  int count;       // operands
  int64_t length;  // of a row
  int64_t inner;   // elements between the elements of a row
  int64_t row_count, item_rows, item_count;
  size_t sizes[VTPU_SORT_OPERANDS_MAX];
  bool has_key;
  int key_operand;
  vtpu_sort_key_t key;
  vtpu_sort_merge_t merge;  // less is NULL when keys always do
  int lane_count;
  size_t lane_size, other_offset, rows_offset, row_offset, key_offset;
} sort_t;

// Which operands the comparator reads.
static void uses_find(const tpt_graph_t* graph, uint32_t block_index, vtpu_sort_merge_t* merge) {
  tpt_block_t block = tpt_graph_block(graph, block_index);
  for (uint32_t n = 0; n <= block.node_count; n++) {
    bool is_return = n == block.node_count;
    const tpt_node_t* node = is_return ? NULL : tpt_graph_node(graph, block.nodes[n]);
    uint32_t count = is_return ? block.result_count : node->operand_count;
    const tpt_value_t* values = is_return ? block.results : node->operands;
    for (uint32_t i = 0; i < count; i++) {
      tpt_origin_t origin = tpt_graph_origin(graph, values[i]);
      if (origin.node == UINT32_MAX && origin.block == block_index)
        merge->is_used[origin.number / 2] = true;
    }
  }
}

static tpt_status_t order_prepare(vtpu_kernel_t* kernel, sort_t* s) {
  uint32_t block = kernel->node->regions[0];
  vtpu_comparator_t comparator;
  if (vtpu_comparator_find(kernel->graph, block, &comparator)) {
    s->key_operand = (int)comparator.a / 2;
    s->has_key =
        vtpu_sort_key_find(&comparator, kernel->operand_types[s->key_operand].dtype, &s->key);
  }
  bool is_always = s->has_key && (s->key.is_total || !tpt_dtype_is_float(s->key.dtype));
  if (is_always) return NULL;
  s->merge.operand_count = s->count;
  memcpy(s->merge.sizes, s->sizes, sizeof(s->sizes));
  uses_find(kernel->graph, block, &s->merge);
  vtpu_body_t* body = NULL;
  TPT_TRY(vtpu_body_compile(kernel->graph, block, kernel->arena, &body));
  s->merge.less = body;
  return NULL;
}

tpt_status_t vtpu_sort_prepare(vtpu_kernel_t* kernel) {
  sort_t* s = tpt_arena_calloc(kernel->arena, 1, sizeof(*s));
  if (!s) return tpt_arena_status(kernel->arena);
  kernel->state = s;
  const tpt_type_t* type = &kernel->operand_types[0];
  int64_t dim = tpt_node_int(kernel->node, 0);
  s->count = kernel->operand_count;
  if (s->count > VTPU_SORT_OPERANDS_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "sort of %d operands; vtpu takes at most %d", s->count,
             VTPU_SORT_OPERANDS_MAX);
  if (dim < 0) dim += type->rank;
  s->length = s->inner = 1;
  if (type->rank > 0) s->length = type->dims[dim];
  for (int d = (int)dim + 1; d < type->rank; d++)
    s->inner *= type->dims[d];
  if (s->length > UINT32_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "sort along a dimension of more than %u elements", UINT32_MAX);
  size_t widest = 0;
  for (int i = 0; i < s->count; i++) {
    s->sizes[i] = tpt_dtype_size(kernel->operand_types[i].dtype);
    if (s->sizes[i] > widest) widest = s->sizes[i];
  }
  TPT_TRY(order_prepare(kernel, s));
  int64_t total = tpt_type_count(type);
  s->row_count = s->length > 0 ? total / s->length : 0;
  s->item_rows = s->length > 0 ? ITEM_ELEMENTS / s->length : 1;
  if (s->item_rows < 1) s->item_rows = 1;
  if (s->item_rows > s->row_count) s->item_rows = s->row_count;
  s->item_count = s->item_rows > 0 ? (s->row_count + s->item_rows - 1) / s->item_rows : 0;
  int levels = 1;
  while (levels < 40 && (1ll << levels) < s->length)
    levels++;
  kernel->cost = 100 + total * (s->count * 2 + (s->has_key ? 15 : 30 * levels));
  s->lane_count = vtpu_lane_count(s->item_count, kernel->cost);
  size_t elements = (size_t)(s->item_rows * s->length);
  s->other_offset = vtpu_scratch_align(elements * sizeof(uint32_t));
  s->rows_offset = 2 * s->other_offset;
  s->row_offset = s->rows_offset +
                  vtpu_scratch_align((size_t)(s->item_rows * s->count) * sizeof(vtpu_sort_row_t));
  s->key_offset = s->row_offset + vtpu_scratch_align((size_t)s->length * widest);
  s->lane_size = s->key_offset;
  if (s->has_key) s->lane_size += vtpu_scratch_align(vtpu_sort_key_scratch(&s->key, s->length));
  kernel->scratch_size = s->lane_size * (size_t)s->lane_count;
  return tpt_arena_status(kernel->arena);
}

typedef struct run {
  const sort_t* sort;
  const void* const* in;
  void* const* out;
  char* scratch;
} run_t;

static vtpu_sort_row_t row_of(const run_t* run, int64_t row, int operand) {
  const sort_t* s = run->sort;
  int64_t size = (int64_t)s->sizes[operand];
  int64_t offset = row / s->inner * s->inner * s->length + row % s->inner;
  return (vtpu_sort_row_t){.data = (const char*)run->in[operand] + offset * size,
                           .stride = s->inner * size,
                           .count = s->length};
}

#define MOVE(size)                                                                                 \
  case size:                                                                                       \
    for (int64_t i = 0; i < count; i++)                                                            \
      memcpy(temp + i * size, row->data + (int64_t)order[i] * row->stride, size);                  \
    for (int64_t i = 0; i < count; i++)                                                            \
      memcpy(to + i * row->stride, temp + i * size, size);                                         \
    break;

// Reorders one row of one operand through `temp`.
static void row_move(const vtpu_sort_row_t* row, const uint32_t* order, size_t size, char* temp,
                     char* to) {
  int64_t count = row->count;
  switch (size) {
    MOVE(1)
    MOVE(2)
    MOVE(4)
    MOVE(8)
    MOVE(16)
  }
}

// Orders the rows [first, first + count) of an item; returns where the order is.
static const uint32_t* rows_order(const run_t* run, int64_t first, int64_t count, char* lane) {
  const sort_t* s = run->sort;
  uint32_t* order = (uint32_t*)lane;
  if (s->has_key) {
    bool is_done = true;
    for (int64_t r = 0; r < count && is_done; r++) {
      vtpu_sort_row_t row = row_of(run, first + r, s->key_operand);
      is_done = vtpu_sort_by_key(&s->key, &row, lane + s->key_offset, order + r * s->length);
    }
    if (is_done) return order;
  }
  vtpu_sort_row_t* rows = (vtpu_sort_row_t*)(lane + s->rows_offset);
  for (int64_t r = 0; r < count; r++)
    for (int o = 0; o < s->count; o++)
      rows[r * s->count + o] = row_of(run, first + r, o);
  return vtpu_sort_by_merging(&s->merge, rows, count, order, (uint32_t*)(lane + s->other_offset));
}

static void rows_item(void* arg, int64_t item, int lane_number) {
  const run_t* run = arg;
  const sort_t* s = run->sort;
  char* lane = run->scratch + s->lane_size * (size_t)lane_number;
  int64_t first = item * s->item_rows, left = s->row_count - first;
  int64_t count = left < s->item_rows ? left : s->item_rows;
  const uint32_t* order = rows_order(run, first, count, lane);
  for (int64_t r = 0; r < count; r++) {
    for (int o = 0; o < s->count; o++) {
      vtpu_sort_row_t row = row_of(run, first + r, o);
      char* to = (char*)run->out[o] + (row.data - (const char*)run->in[o]);
      row_move(&row, order + r * s->length, s->sizes[o], lane + s->row_offset, to);
    }
  }
}

tpt_status_t vtpu_sort_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                           const void* const* in, void* const* out) {
  const sort_t* s = kernel->state;
  run_t run = {.sort = s, .in = in, .out = out, .scratch = scratch};
  if (s->length > 0) vtpu_lane_for(exec, s->lane_count, s->item_count, rows_item, &run);
  return NULL;
}
