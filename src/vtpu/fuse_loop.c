// Fused loops in the making: members and outputs are collected by the fuse pass, then put in order and
// compiled. Knows nothing of which values should be fused.
#include <stdlib.h>
#include <string.h>

#include "hlo/builder.h"
#include "vtpu/plan.h"

fuse_loop_t* fuse_loop_create(plan_t* plan, uint32_t position, const tpt_type_t* space) {
  fuse_loop_t* loop = tpt_arena_calloc(plan->temp, 1, sizeof(*loop));
  if (!loop) return NULL;
  loop->position = position;
  loop->rank = space->rank;
  loop->count = 1;
  for (int d = 0; d < space->rank; d++) {
    loop->dims[d] = space->dims[d];
    loop->count *= space->dims[d];
  }
  return loop;
}

int fuse_member_add(plan_t* plan, fuse_loop_t* loop, uint32_t value, int map, bool* out_new) {
  *out_new = false;
  for (int i = 0; i < loop->member_count; i++)
    if (loop->members[i].value == value && loop->members[i].map == map) return i;
  if (loop->member_count == loop->member_capacity) {
    int capacity = loop->member_capacity ? loop->member_capacity * 2 : 8;
    fuse_member_t* members = tpt_arena_alloc(plan->temp, sizeof(*members) * (size_t)capacity);
    if (!members) return -1;
    if (loop->member_count)
      memcpy(members, loop->members, sizeof(*members) * (size_t)loop->member_count);
    loop->members = members;
    loop->member_capacity = capacity;
  }
  fuse_member_t* member = &loop->members[loop->member_count];
  memset(member, 0, sizeof(*member));
  member->value = value;
  member->map = map;
  member->operands[0] = member->operands[1] = member->operands[2] = -1;
  *out_new = true;
  return loop->member_count++;
}

// --- compiling -----------------------------------------------------------------------------------------

static int member_resolve(const fuse_loop_t* loop, int member) {
  while (member >= 0 && loop->members[member].kind == FUSE_FORWARD)
    member = loop->members[member].operands[0];
  return member;
}

// Sorts by the producing node's place, last first: users come before operands. What has no operands
// follows.
typedef struct place {
  int member;
  uint32_t node;  // + 1; 0: no operands
} place_t;

static int place_compare(const void* a, const void* b) {
  const place_t *x = a, *y = b;
  if (x->node != y->node) return x->node < y->node ? 1 : -1;
  return x->member - y->member;
}

static int members_order(const plan_t* plan, const fuse_loop_t* loop, place_t* places) {
  int count = 0;
  for (int i = 0; i < loop->member_count; i++) {
    const fuse_member_t* member = &loop->members[i];
    if (member->kind == FUSE_FORWARD) continue;
    tpt_origin_t origin = tpt_graph_origin(plan->graph, (tpt_value_t){member->value});
    places[count++] = (place_t){i, member->kind == FUSE_OP ? origin.node + 1 : 0};
  }
  qsort(places, (size_t)count, sizeof(*places), place_compare);
  return count;
}

static uint32_t value_buffer(plan_t* plan, const fuse_loop_t* loop, uint32_t value) {
  if (loop->group && plan->values[value].local != VTPU_NONE) return plan->values[value].local;
  return plan_buffer_of(plan, value);
}

static void member_fill(plan_t* plan, const fuse_loop_t* loop, const fuse_member_t* from,
                        const int16_t* new_number, vtpu_member_t* to) {
  memset(to, 0, sizeof(*to));
  to->dtype = plan_type(plan, from->value)->dtype;
  to->map = (uint16_t)from->map;
  for (int i = 0; i < 3; i++)
    to->operands[i] = -1;
  if (from->kind == FUSE_OP) {
    to->kind = VTPU_MEMBER_OP;
    to->op = from->node->op;
    to->attrs = from->node->attrs;
    for (int i = 0; i < 3; i++) {
      int operand = member_resolve(loop, from->operands[i]);
      if (operand >= 0) to->operands[i] = new_number[operand];
    }
  } else if (from->kind == FUSE_IOTA) {
    to->kind = VTPU_MEMBER_IOTA;
    to->map = (uint16_t)from->iota_map;
  } else if (from->kind == FUSE_NUMBER) {
    to->kind = VTPU_MEMBER_NUMBER;
    to->number = from->node->attrs[0].bytes;
  } else {
    to->kind = VTPU_MEMBER_LOAD;
    to->buffer = value_buffer(plan, loop, from->value);
  }
}

// The initial value of a reduction: an immediate if it is constant, else a 0-d buffer.
static void init_fill(plan_t* plan, tpt_value_t init, vtpu_output_t* output) {
  uint32_t root = plan_root(plan, init);
  const tpt_node_t* producer = plan_producer(plan, root);
  output->init_buffer = VTPU_NONE;
  if (producer && producer->op == TPT_HLO_CONSTANT)
    output->init = producer->attrs[0].bytes;
  else
    output->init_buffer = plan_buffer_of(plan, root);
}

static tpt_status_t output_fill(plan_t* plan, const fuse_loop_t* loop, int o,
                                const int16_t* new_number, vtpu_loop_spec_t* spec) {
  const fuse_output_t* from = &loop->outputs[o];
  vtpu_output_t* to = &spec->outputs[o];
  memset(to, 0, sizeof(*to));
  to->member = new_number[member_resolve(loop, from->member)];
  to->map = (uint16_t)loop->members[from->member].map;
  to->buffer = value_buffer(plan, loop, from->value);
  to->monoid = TPT_HLO_COUNT;
  if (!from->reduce) return NULL;
  uint32_t operands = from->reduce->operand_count / 2;
  init_fill(plan, from->reduce->operands[operands + (uint32_t)from->number], to);
  if (operands == 1) to->monoid = tpt_region_monoid(plan->graph, from->reduce->regions[0], NULL);
  if (to->monoid != TPT_HLO_COUNT) return NULL;
  to->body_first = (int16_t)(o - from->number);
  to->body_count = (int16_t)operands;
  if (from->number > 0) {
    to->body = spec->outputs[o - from->number].body;
    return NULL;
  }
  vtpu_body_t* body;
  TPT_TRY_NOTE(vtpu_body_compile(plan->graph, from->reduce->regions[0], plan->arena, &body),
               "planning stablehlo.reduce");
  to->body = body;
  return NULL;
}

tpt_status_t fuse_loop_spec(plan_t* plan, const fuse_loop_t* loop, vtpu_loop_spec_t* spec) {
  size_t members = (size_t)loop->member_count + 1;
  place_t* places = tpt_arena_alloc(plan->temp, sizeof(*places) * members);
  int16_t* new_number = tpt_arena_alloc(plan->temp, sizeof(*new_number) * members);
  spec->members = tpt_arena_alloc(plan->temp, sizeof(*spec->members) * members);
  spec->maps = tpt_arena_alloc(plan->temp, sizeof(*spec->maps) * (size_t)(loop->map_count + 1));
  TPT_TRY(tpt_arena_status(plan->temp));
  spec->rank = loop->rank;
  memcpy(spec->dims, loop->dims, sizeof(spec->dims));
  memcpy(spec->reduced, loop->reduced, sizeof(spec->reduced));
  spec->map_count = loop->map_count;
  if (loop->map_count)
    memcpy(spec->maps, loop->maps, sizeof(*spec->maps) * (size_t)loop->map_count);
  spec->member_count = members_order(plan, loop, places);
  for (int i = 0; i < spec->member_count; i++)
    new_number[places[i].member] = (int16_t)i;
  for (int i = 0; i < spec->member_count; i++)
    member_fill(plan, loop, &loop->members[places[i].member], new_number, &spec->members[i]);
  spec->output_count = loop->output_count;
  for (int o = 0; o < loop->output_count; o++)
    TPT_TRY(output_fill(plan, loop, o, new_number, spec));
  return NULL;
}

static void step_lists(plan_t* plan, const vtpu_loop_spec_t* spec, vtpu_step_t* step) {
  uint32_t* reads = tpt_arena_alloc(
      plan->arena, sizeof(*reads) * (size_t)(spec->member_count + spec->output_count + 1));
  uint32_t* writes =
      tpt_arena_alloc(plan->arena, sizeof(*writes) * (size_t)(spec->output_count + 1));
  if (!reads || !writes) return;
  for (int i = 0; i < spec->member_count; i++)
    if (spec->members[i].kind == VTPU_MEMBER_LOAD)
      reads[step->read_count++] = spec->members[i].buffer;
  for (int o = 0; o < spec->output_count; o++) {
    const vtpu_output_t* output = &spec->outputs[o];
    bool reduces = output->monoid != TPT_HLO_COUNT || output->body;
    if (reduces && output->init_buffer != VTPU_NONE)
      reads[step->read_count++] = output->init_buffer;
    writes[step->write_count++] = output->buffer;
  }
  step->reads = reads;
  step->writes = writes;
}

tpt_status_t fuse_loop_step(plan_t* plan, const fuse_loop_t* loop, vtpu_step_t* out_step) {
  vtpu_loop_spec_t* spec = tpt_arena_calloc(plan->temp, 1, sizeof(*spec));
  if (!spec) return tpt_arena_status(plan->temp);
  TPT_TRY(fuse_loop_spec(plan, loop, spec));
  TPT_TRY(tpt_arena_status(plan->arena));
  vtpu_loop_t* compiled;
  TPT_TRY(vtpu_loop_compile(spec, plan->arena, &compiled));
  memset(out_step, 0, sizeof(*out_step));
  out_step->run = vtpu_step_loop;
  out_step->loop = compiled;
  out_step->spec = spec;
  out_step->position = loop->position;
  out_step->scratch_size = compiled->scratch_size;
  out_step->cost = compiled->cost;
  out_step->flops = compiled->flops;
  out_step->bytes = compiled->bytes;
  step_lists(plan, spec, out_step);
  return tpt_arena_status(plan->arena);
}
