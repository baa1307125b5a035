// Turns a block into steps: drives the fuse pass from the last node to the first, prepares kernels,
// plans the blocks of control flow, and puts everything in order of position.
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"
#include "hlo/builder.h"
#include "vtpu/plan_fuse.h"

enum {
  DEPTH_MAX = 64,
  SMALL_CONSTANT = 1 << 16,  // bytes
  FOLD_SIZE = 1 << 12,
  FOLD_ELEMENTS = 1 << 14,
};

// --- buffers -----------------------------------------------------------------------------------------------

uint32_t plan_buffer_add(plan_t* plan, vtpu_space_t space, size_t size) {
  if (plan->buffer_count == plan->buffer_capacity) {
    size_t capacity = plan->buffer_capacity ? plan->buffer_capacity * 2 : 32;
    vtpu_plan_buffer_t* buffers = tpt_arena_alloc(plan->temp, capacity * sizeof(*buffers));
    if (!buffers) return 0;  // a valid number; the arena remembers
    if (plan->buffer_count) memcpy(buffers, plan->buffers, plan->buffer_count * sizeof(*buffers));
    plan->buffers = buffers;
    plan->buffer_capacity = capacity;
  }
  vtpu_plan_buffer_t* buffer = &plan->buffers[plan->buffer_count];
  memset(buffer, 0, sizeof(*buffer));
  buffer->space = space;
  buffer->size = size;
  return (uint32_t)plan->buffer_count++;
}

// Constant data at an alignment that kernels may rely on.
static const void* constant_data(plan_t* plan, const tpt_node_t* node, const tpt_type_t* type) {
  size_t size = (size_t)tpt_type_size(type), element = tpt_dtype_size(type->dtype);
  const tpt_attr_t* attr = &node->attrs[0];
  bool splat = attr->count == 1 && tpt_type_count(type) > 1;
  if (!splat && ((uintptr_t)attr->bytes & (size < 64 ? 15 : 63)) == 0) return attr->bytes;
  char* data = tpt_arena_alloc(plan->arena, size + 64);
  if (!data) return NULL;
  data = (char*)(((uintptr_t)data + 63) & ~(uintptr_t)63);
  for (size_t i = 0; splat && i < size; i += element)
    memcpy(data + i, attr->bytes, element);
  if (!splat && size) memcpy(data, attr->bytes, size);
  return data;
}

bool plan_is_stored_constant(const plan_t* plan, uint32_t root) {
  const tpt_node_t* node = plan_producer(plan, root);
  if (!node || node->op != TPT_HLO_CONSTANT) return false;
  return node->attrs[0].count != 1 || tpt_type_size(plan_type(plan, root)) <= SMALL_CONSTANT;
}

uint32_t plan_buffer_of(plan_t* plan, uint32_t root) {
  plan_value_t* value = &plan->values[root];
  if (value->buffer != VTPU_NONE) return value->buffer;
  const tpt_node_t* node = plan_producer(plan, root);
  const tpt_type_t* type = plan_type(plan, root);
  tpt_origin_t origin = tpt_graph_origin(plan->graph, (tpt_value_t){root});
  uint32_t buffer;
  if (!node && origin.block == 0) {
    buffer = plan_buffer_add(plan, VTPU_SPACE_PARAM, (size_t)tpt_type_size(type));
    plan->buffers[buffer].number = origin.number;
  } else if (plan_is_stored_constant(plan, root)) {
    buffer = plan_buffer_add(plan, VTPU_SPACE_CONST, (size_t)tpt_type_size(type));
    plan->buffers[buffer].data = constant_data(plan, node, type);
  } else if (node && plan_class(plan, node) == PLAN_BITS) {
    buffer = plan_buffer_of(plan, plan_root(plan, node->operands[0]));
  } else {
    buffer = plan_buffer_add(plan, VTPU_SPACE_TEMP, (size_t)tpt_type_size(type));
  }
  value->buffer = buffer;
  return buffer;
}

// --- steps -------------------------------------------------------------------------------------------------

typedef struct steps {
  vtpu_step_t* data;
  uint32_t count, capacity;
} steps_t;

static vtpu_step_t* step_add(plan_t* plan, steps_t* steps) {
  if (steps->count == steps->capacity) {
    uint32_t capacity = steps->capacity ? steps->capacity * 2 : 8;
    vtpu_step_t* data = tpt_arena_alloc(plan->temp, sizeof(*data) * capacity);
    if (!data) return NULL;
    if (steps->count) memcpy(data, steps->data, sizeof(*data) * steps->count);
    steps->data = data;
    steps->capacity = capacity;
  }
  vtpu_step_t* step = &steps->data[steps->count++];
  memset(step, 0, sizeof(*step));
  return step;
}

static tpt_status_t step_buffers(plan_t* plan, const tpt_node_t* node, vtpu_step_t* step) {
  uint32_t captures = 0;
  for (uint32_t i = 0; i < step->block_count; i++)
    captures += step->blocks[i]->capture_count;
  uint32_t* reads =
      tpt_arena_alloc(plan->arena, sizeof(*reads) * (node->operand_count + captures + 1));
  uint32_t* writes = tpt_arena_alloc(plan->arena, sizeof(*writes) * (node->result_count + 1));
  if (!reads || !writes) return tpt_arena_status(plan->arena);
  for (uint32_t i = 0; i < node->operand_count; i++)
    reads[i] = plan_buffer_of(plan, plan_root(plan, node->operands[i]));
  for (uint32_t r = 0; r < node->result_count; r++)
    writes[r] = plan_buffer_of(plan, node->first_result + r);
  step->node = node;
  step->reads = reads;
  step->writes = writes;
  step->read_count = node->operand_count;
  for (uint32_t i = 0; i < step->block_count; i++)
    for (uint32_t k = 0; k < step->blocks[i]->capture_count; k++)
      reads[step->read_count++] = plan_buffer_of(plan, step->blocks[i]->captures[k]);
  step->write_count = node->result_count;
  return NULL;
}

static double node_bytes(const plan_t* plan, const tpt_node_t* node) {
  double bytes = 0;
  for (uint32_t i = 0; i < node->operand_count; i++)
    bytes += (double)tpt_type_size(tpt_graph_type(plan->graph, node->operands[i]));
  for (uint32_t r = 0; r < node->result_count; r++)
    bytes += (double)tpt_type_size(tpt_graph_type(plan->graph, tpt_node_result(node, r)));
  return bytes;
}

tpt_status_t plan_kernel_make(plan_t* plan, const tpt_node_t* node, struct vtpu_epilogue* epilogue,
                              vtpu_step_t* step) {
  vtpu_kernel_t* kernel = tpt_arena_calloc(plan->arena, 1, sizeof(*kernel));
  tpt_type_t* operands =
      tpt_arena_alloc(plan->arena, sizeof(*operands) * (size_t)(node->operand_count + 1));
  tpt_type_t* results =
      tpt_arena_alloc(plan->arena, sizeof(*results) * (size_t)(node->result_count + 1));
  if (!kernel || !operands || !results) return tpt_arena_status(plan->arena);
  for (uint32_t i = 0; i < node->operand_count; i++)
    operands[i] = *tpt_graph_type(plan->graph, node->operands[i]);
  for (uint32_t r = 0; r < node->result_count; r++)
    results[r] = *tpt_graph_type(plan->graph, tpt_node_result(node, r));
  *kernel = (vtpu_kernel_t){.graph = plan->graph,
                            .node = node,
                            .operand_count = (int)node->operand_count,
                            .result_count = (int)node->result_count,
                            .operand_types = operands,
                            .result_types = results,
                            .arena = plan->arena,
                            .epilogue = epilogue};
  if (step->row->prepare)
    TPT_TRY_NOTE(step->row->prepare(kernel), "planning stablehlo.%s",
                 tpt_hlo_row(node->op)->mnemonic);
  step->kernel = kernel;
  step->scratch_size = kernel->scratch_size;
  step->bytes = node_bytes(plan, node);
  step->flops = kernel->flops;
  step->cost = kernel->cost ? kernel->cost : (int64_t)(100 + step->bytes * 0.3);
  return NULL;
}

static tpt_status_t map_make(plan_t* plan, const tpt_node_t* node, vtpu_step_t* step) {
  vtpu_body_t* body;
  if (node->operand_count > VTPU_MAP_OPERANDS_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED,
             "stablehlo.map of %u operands is not supported by vtpu (at most %d)",
             node->operand_count, VTPU_MAP_OPERANDS_MAX);
  size_t* sizes = tpt_arena_alloc(plan->arena, sizeof(*sizes) * (size_t)(node->operand_count + 1));
  if (!sizes) return tpt_arena_status(plan->arena);
  for (uint32_t i = 0; i < node->operand_count; i++)
    sizes[i] = tpt_dtype_size(tpt_graph_type(plan->graph, node->operands[i])->dtype);
  sizes[node->operand_count] = tpt_dtype_size(plan_type(plan, node->first_result)->dtype);
  step->sizes = sizes;
  TPT_TRY_NOTE(vtpu_body_compile(plan->graph, node->regions[0], plan->arena, &body),
               "planning stablehlo.map");
  vtpu_kernel_t* kernel = tpt_arena_calloc(plan->arena, 1, sizeof(*kernel));
  if (!kernel) return tpt_arena_status(plan->arena);
  kernel->state = body;
  step->kernel = kernel;
  step->run = vtpu_step_map;
  step->size = (size_t)tpt_type_count(plan_type(plan, node->first_result));
  step->bytes = node_bytes(plan, node);
  step->cost = (int64_t)(100 + step->bytes);
  return NULL;
}

static tpt_status_t while_make(plan_t* plan, const tpt_node_t* node, vtpu_step_t* step) {
  size_t* sizes = tpt_arena_alloc(plan->arena, sizeof(*sizes) * (size_t)(node->operand_count + 1));
  if (!sizes) return tpt_arena_status(plan->arena);
  for (uint32_t i = 0; i < node->operand_count; i++)
    sizes[i] = (size_t)tpt_type_size(tpt_graph_type(plan->graph, node->operands[i]));
  step->sizes = sizes;
  return NULL;
}

static bool any_read(const plan_t* plan, const tpt_node_t* node) {
  for (uint32_t r = 0; r < node->result_count; r++) {
    const plan_value_t* value = &plan->values[node->first_result + r];
    if (value->demands || value->hard_q != VTPU_NONE) return true;
  }
  return false;
}

static void results_stored(plan_t* plan, const tpt_node_t* node) {
  for (uint32_t r = 0; r < node->result_count; r++) {
    plan_value_t* value = &plan->values[node->first_result + r];
    value->materialised = true;
    for (fuse_demand_t* d = value->demands; d; d = d->next)
      d->loop->members[d->member].kind = FUSE_LOAD;
  }
}

static tpt_status_t kernel_node(fuse_t* f, const tpt_node_t* node, uint32_t position,
                                steps_t* steps) {
  plan_t* plan = f->plan;
  if (!any_read(plan, node)) return NULL;
  const vtpu_kernel_row_t* row = vtpu_kernel_row(node->op);
  if (node->op == TPT_HLO_CUSTOM_CALL)
    TPT_FAIL(TPT_UNIMPLEMENTED, "stablehlo.custom_call @%.*s is not supported by vtpu",
             (int)node->attrs[0].count,
             node->attrs[0].bytes ? (const char*)node->attrs[0].bytes : "");
  if (!row && node->op != TPT_HLO_MAP)
    TPT_FAIL(TPT_UNIMPLEMENTED, "stablehlo.%s is not supported by vtpu",
             tpt_hlo_row(node->op)->mnemonic);
  results_stored(plan, node);
  for (uint32_t i = 0; i < node->operand_count; i++)
    TPT_TRY(fuse_need(f, plan_root(plan, node->operands[i]), position));
  vtpu_step_t* step = step_add(plan, steps);
  if (!step) return tpt_arena_status(plan->temp);
  step->position = position;
  step->row = row;
  step->node = node;
  step->run = vtpu_step_kernel;
  return NULL;
}

static tpt_status_t control_node(fuse_t* f, const tpt_node_t* node, uint32_t position,
                                 steps_t* steps) {
  plan_t* plan = f->plan;
  if (!any_read(plan, node)) return NULL;
  results_stored(plan, node);
  for (uint32_t i = 0; i < node->operand_count; i++)
    TPT_TRY(fuse_need(f, plan_root(plan, node->operands[i]), position));
  vtpu_step_t* step = step_add(plan, steps);
  if (!step) return tpt_arena_status(plan->temp);
  step->position = position;
  step->node = node;
  step->run = node->op == TPT_HLO_WHILE ? vtpu_step_while : vtpu_step_case;
  step->block_count = node->region_count;
  step->blocks = tpt_arena_alloc(plan->arena, sizeof(*step->blocks) * (node->region_count + 1));
  if (!step->blocks) return tpt_arena_status(plan->arena);
  vtpu_block_plan_t** blocks = step->blocks;
  for (uint32_t i = 0; i < node->region_count; i++) {
    TPT_TRY(plan_block(plan, node->regions[i], &blocks[i]));
    for (uint32_t k = 0; k < blocks[i]->capture_count; k++)
      TPT_TRY(fuse_need(f, blocks[i]->captures[k], position));
  }
  return NULL;
}

static tpt_status_t node_visit(fuse_t* f, uint32_t number, uint32_t position, steps_t* steps) {
  const tpt_node_t* node = f->plan->nodes[number];
  if (node->result_count == 0) return NULL;
  if (node->result_count == 1 && f->plan->values[node->first_result].rep != node->first_result)
    return NULL;
  switch (plan_class(f->plan, node)) {
  case PLAN_ELEMENTWISE:
  case PLAN_VIEW:
  case PLAN_IOTA:
  case PLAN_CONSTANT:
    return fuse_value(f, node, position);
  case PLAN_ALIAS:
    return NULL;
  case PLAN_BITS:
    return fuse_bits(f, node);
  case PLAN_REDUCE:
    return fuse_reduce(f, node, position);
  case PLAN_CONTROL:
    return control_node(f, node, position, steps);
  case PLAN_KERNEL:
    return kernel_node(f, node, position, steps);
  }
  return NULL;
}

// --- folding -----------------------------------------------------------------------------------------------

static bool is_constant_buffer(const plan_t* plan, uint32_t buffer) {
  return plan->buffers[buffer].space == VTPU_SPACE_CONST;
}

// True for a small loop that reads constants only.
static bool is_foldable(const plan_t* plan, const vtpu_step_t* step) {
  size_t size = 0;
  for (uint32_t i = 0; i < step->read_count; i++)
    if (!is_constant_buffer(plan, step->reads[i])) return false;
  for (uint32_t i = 0; i < step->write_count; i++)
    size += plan->buffers[step->writes[i]].size;
  return size <= FOLD_SIZE && step->loop->element_count <= FOLD_ELEMENTS;
}

// Runs a loop now; its outputs become constants.
static tpt_status_t step_fold(plan_t* plan, const vtpu_step_t* step) {
  const void** pointers = tpt_arena_calloc(plan->temp, plan->buffer_count + 1, sizeof(*pointers));
  void* scratch = tpt_arena_alloc(plan->temp, step->scratch_size + 1);
  if (!pointers || !scratch) return tpt_arena_status(plan->temp);
  for (uint32_t i = 0; i < step->read_count; i++)
    pointers[step->reads[i]] = plan->buffers[step->reads[i]].data;
  for (uint32_t i = 0; i < step->write_count; i++) {
    vtpu_plan_buffer_t* buffer = &plan->buffers[step->writes[i]];
    char* data = tpt_arena_alloc(plan->arena, buffer->size + 64);
    if (!data) return tpt_arena_status(plan->arena);
    buffer->space = VTPU_SPACE_CONST;
    buffer->data = pointers[step->writes[i]] = (char*)(((uintptr_t)data + 63) & ~(uintptr_t)63);
  }
  vtpu_exec_t exec = {.pool = NULL};
  vtpu_loop_run(step->loop, &exec, (void* const*)(uintptr_t)pointers, scratch);
  return NULL;
}

// Buffers exist from here on: kernels are prepared, loops compiled.
static tpt_status_t steps_complete(fuse_t* f, steps_t* steps) {
  TPT_TRY(tpt_arena_status(f->plan->temp));
  TPT_TRY(plan_rows(f, steps->data, steps->count));
  uint32_t kept = 0;
  for (uint32_t i = 0; i < steps->count; i++)
    if (steps->data[i].run) steps->data[kept++] = steps->data[i];
  steps->count = kept;
  plan_epilogues(f->plan, steps->data, steps->count);
  for (uint32_t i = 0; i < steps->count; i++) {
    vtpu_step_t* step = &steps->data[i];
    bool is_finished = false;
    if (step->finish) TPT_TRY(plan_epilogue_step(f->plan, step, &is_finished));
    if (is_finished) continue;
    TPT_TRY(step_buffers(f->plan, step->node, step));
    if (step->node->op == TPT_HLO_MAP)
      TPT_TRY(map_make(f->plan, step->node, step));
    else if (step->node->op == TPT_HLO_WHILE)
      TPT_TRY(while_make(f->plan, step->node, step));
    else if (step->row)
      TPT_TRY(plan_kernel_make(f->plan, step->node, NULL, step));
  }
  for (fuse_loop_t* loop = f->loops; loop; loop = loop->next) {
    if (loop->output_count == 0 || loop->host || (loop->product && !loop->group)) continue;
    vtpu_step_t* step = NULL;
    if (loop->group) {
      if (!plan_rows_is_last(loop)) continue;
      step = step_add(f->plan, steps);
      if (!step) return tpt_arena_status(f->plan->temp);
      TPT_TRY(plan_rows_step(f->plan, loop, step));
      continue;
    }
    step = step_add(f->plan, steps);
    if (!step) return tpt_arena_status(f->plan->temp);
    TPT_TRY(fuse_loop_step(f->plan, loop, step));
    if (is_foldable(f->plan, step)) {
      TPT_TRY(step_fold(f->plan, step));
      steps->count--;
    }
  }
  return tpt_arena_status(f->plan->temp);
}

static int step_compare(const void* a, const void* b) {
  const vtpu_step_t *x = a, *y = b;
  return x->position < y->position ? -1 : x->position > y->position;
}

static tpt_status_t block_finish(fuse_t* f, const tpt_block_t* block, steps_t* steps,
                                 vtpu_block_plan_t* out) {
  plan_t* plan = f->plan;
  TPT_TRY(steps_complete(f, steps));
  if (steps->count > 1) qsort(steps->data, steps->count, sizeof(*steps->data), step_compare);
  out->block = f->block;
  out->step_count = steps->count;
  out->steps = steps->data;
  out->arg_count = block->arg_count;
  out->result_count = block->result_count;
  out->captures = f->captures;
  out->capture_count = f->capture_count;
  out->args = tpt_arena_alloc(plan->arena, sizeof(uint32_t) * (block->arg_count + 1));
  out->results = tpt_arena_alloc(plan->arena, sizeof(uint32_t) * (block->result_count + 1));
  if (!out->args || !out->results) return tpt_arena_status(plan->arena);
  for (uint32_t i = 0; i < block->arg_count; i++)
    out->args[i] = plan_buffer_of(plan, block->args[i].index);
  for (uint32_t r = 0; r < block->result_count; r++)
    out->results[r] = plan_buffer_of(plan, plan_root(plan, block->results[r]));
  return tpt_arena_status(plan->temp);
}

tpt_status_t plan_block(plan_t* plan, uint32_t block_number, vtpu_block_plan_t** out_plan) {
  tpt_block_t block = tpt_graph_block(plan->graph, block_number);
  steps_t steps = {NULL, 0, 0};
  vtpu_block_plan_t* out = tpt_arena_calloc(plan->arena, 1, sizeof(*out));
  fuse_t* f = tpt_arena_calloc(plan->temp, 1, sizeof(*f));
  if (!out || !f) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a plan");
  if (plan->depth == DEPTH_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "control flow nested deeper than %d is not supported by vtpu",
             DEPTH_MAX);
  plan->depth++;
  f->plan = plan;
  f->block = block_number;
  for (uint32_t r = 0; r < block.result_count; r++)
    TPT_TRY(fuse_need(f, plan_root(plan, block.results[r]), block.node_count));
  for (uint32_t i = block.node_count; i-- > 0;)
    TPT_TRY(node_visit(f, block.nodes[i], i, &steps));
  TPT_TRY(block_finish(f, &block, &steps, out));
  plan->depth--;
  *out_plan = out;
  return NULL;
}
