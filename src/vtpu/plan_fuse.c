// Decides, from the last node of a block to the first, what becomes a loop of its own, what is computed
// inside the loops that use it, and what stands in memory. Invariant: every step that reads a value in
// memory has a later position than the step that writes it; a loop's position is that of its last root.
#include "vtpu/plan_fuse.h"

#include <string.h>

#include "hlo/builder.h"

enum {
  CHEAP_COST = 130,      // picoseconds per element that may be spent again rather than stored
  STEP_COST = 100000,    // picoseconds that a step of its own costs
  SIBLINGS_MAX = 16,     // readers of an operand that are looked at for company
  HOISTED_LANES = 2048,  // evaluations of a value that is the same for all tiles
};

static bool in_this_block(const fuse_t* f, uint32_t value) {
  return tpt_graph_origin(f->plan->graph, (tpt_value_t){value}).block == f->block;
}

static bool is_constant(const plan_t* plan, uint32_t value, bool* out_splat) {
  const tpt_node_t* node = plan_producer(plan, value);
  if (!node || node->op != TPT_HLO_CONSTANT) return false;
  *out_splat = node->attrs[0].count == 1 || tpt_type_count(plan_type(plan, value)) == 1;
  return true;
}

static tpt_status_t capture(fuse_t* f, uint32_t value) {
  for (uint32_t i = 0; i < f->capture_count; i++)
    if (f->captures[i] == value) return NULL;
  if (f->capture_count == f->capture_capacity) {
    uint32_t capacity = f->capture_capacity ? 2 * f->capture_capacity : 16;
    uint32_t* captures = tpt_arena_alloc(f->plan->temp, sizeof(*captures) * capacity);
    if (!captures) return tpt_arena_status(f->plan->temp);
    if (f->capture_count) memcpy(captures, f->captures, sizeof(*captures) * f->capture_count);
    f->captures = captures;
    f->capture_capacity = capacity;
  }
  f->captures[f->capture_count++] = value;
  return NULL;
}

tpt_status_t fuse_need(fuse_t* f, uint32_t root, uint32_t position) {
  plan_value_t* value = &f->plan->values[root];
  const tpt_node_t* producer = plan_producer(f->plan, root);
  if (plan_is_stored_constant(f->plan, root)) {
    value->materialised = true;
    return NULL;
  }
  if (!in_this_block(f, root)) return capture(f, root);
  if (!producer) value->materialised = true;
  if (position < value->hard_q) value->hard_q = position;
  plan_reader_t* reader = tpt_arena_alloc(f->plan->temp, sizeof(*reader));
  if (!reader) return tpt_arena_status(f->plan->temp);
  *reader = (plan_reader_t){position, value->readers};
  value->readers = reader;
  return NULL;
}

// --- demands ---------------------------------------------------------------------------------------------

// Asks for a value inside a loop; sets *out_member.
static tpt_status_t demand(fuse_t* f, fuse_loop_t* loop, uint32_t root, int map, int* out_member) {
  plan_t* plan = f->plan;
  bool is_new, splat = false;
  *out_member = map < 0 ? -1 : fuse_member_add(plan, loop, root, map, &is_new);
  if (*out_member < 0) return tpt_arena_status(plan->temp);
  if (!is_new) return NULL;
  fuse_member_t* member = &loop->members[*out_member];
  if (is_constant(plan, root, &splat)) {
    member->node = plan_producer(plan, root);
    member->kind = splat ? FUSE_NUMBER : FUSE_LOAD;
    return splat ? NULL : fuse_need(f, root, loop->position);
  }
  bool local = in_this_block(f, root);
  if (!local || !plan_producer(plan, root)) {
    member->kind = FUSE_LOAD;
    TPT_TRY(fuse_need(f, root, loop->position));
    if (!local) return NULL;
  }
  fuse_demand_t* entry = tpt_arena_alloc(plan->temp, sizeof(*entry));
  if (!entry) return tpt_arena_status(plan->temp);
  *entry = (fuse_demand_t){loop, *out_member, plan->values[root].demands};
  plan->values[root].demands = entry;
  return NULL;
}

// Map of an operand of an elementwise op: the result's, or all zero for a 0-d operand among larger ones.
static int operand_map(fuse_t* f, fuse_loop_t* loop, const tpt_node_t* node, uint32_t i, int map) {
  const tpt_type_t* operand = tpt_graph_type(f->plan->graph, node->operands[i]);
  if (operand->rank != 0 || plan_type(f->plan, node->first_result)->rank == 0) return map;
  vtpu_map_t zero;
  memset(&zero, 0, sizeof(zero));
  return fuse_map_add(f->plan, loop, &zero);
}

// Evaluates a member inside its loop by asking for its operands. *out_ok false: its map cannot be
// followed to the operand, nothing was changed.
static tpt_status_t expand(fuse_t* f, fuse_loop_t* loop, int m, const tpt_node_t* node,
                           bool* out_ok) {
  plan_class_t class = plan_class(f->plan, node);
  int map = loop->members[m].map;
  *out_ok = true;
  if (class == PLAN_VIEW || class == PLAN_IOTA) {
    vtpu_map_t composed;
    *out_ok = fuse_map_compose(f->plan, loop, node, map, &composed);
    if (!*out_ok) return NULL;
    int number = fuse_map_add(f->plan, loop, &composed);
    loop->members[m].kind = class == PLAN_IOTA ? FUSE_IOTA : FUSE_FORWARD;
    loop->members[m].iota_map = number;
    if (class == PLAN_IOTA) return NULL;
    int operand;
    TPT_TRY(demand(f, loop, plan_root(f->plan, node->operands[0]), number, &operand));
    loop->members[m].operands[0] = operand;
    return NULL;
  }
  loop->members[m].node = node;
  loop->members[m].kind = class == PLAN_CONSTANT ? FUSE_NUMBER : FUSE_OP;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    int operand;
    TPT_TRY(demand(f, loop, plan_root(f->plan, node->operands[i]),
                   operand_map(f, loop, node, i, map), &operand));
    loop->members[m].operands[i] = operand;
  }
  return NULL;
}

// --- decisions ---------------------------------------------------------------------------------------------

// True if evaluating the value for this member costs more than storing it once.
static bool repeats_too_much(const fuse_t* f, const plan_value_t* value, uint32_t root,
                             const fuse_demand_t* d) {
  const fuse_loop_t* loop = d->loop;
  int64_t own = tpt_type_count(plan_type(f->plan, root)), times = loop->count;
  bool fixed = true;
  for (int k = 0; k < loop->rank; k++)
    fixed &= loop->maps[loop->members[d->member].map].stride[k] == 0 || loop->dims[k] == 1;
  if (fixed && times > HOISTED_LANES) times = HOISTED_LANES;
  if (times <= own) return false;
  return (double)(times - own) * (double)value->cost > 1.5 * STEP_COST;
}

static bool wants_memory(const fuse_t* f, uint32_t root) {
  const plan_value_t* value = &f->plan->values[root];
  if (value->hard_q != VTPU_NONE) return true;
  const fuse_loop_t* first = NULL;
  bool cheap = value->cost <= CHEAP_COST && value->loads <= 1;
  for (const fuse_demand_t* d = value->demands; d; d = d->next) {
    if (first && d->loop != first && !cheap) return true;
    if (first && d->loop == first && value->cost > 4 * CHEAP_COST) return true;  // two maps
    first = d->loop;
    if (d->loop->member_count + 3 > VTPU_LOOP_MEMBERS_MAX - 20) return true;
    if (repeats_too_much(f, value, root, d)) return true;
  }
  return false;
}

// Least position among the steps that read a value.
static uint32_t first_reader(const fuse_t* f, uint32_t root) {
  uint32_t position = f->plan->values[root].hard_q;
  for (const fuse_demand_t* d = f->plan->values[root].demands; d; d = d->next)
    if (d->loop->position < position) position = d->loop->position;
  return position;
}

// The demand whose loop may compute the value and store it on the side: all other readers come later,
// and the loop visits each element once.
static const fuse_demand_t* joinable(const fuse_t* f, uint32_t root) {
  const plan_value_t* value = &f->plan->values[root];
  uint32_t position = first_reader(f, root);
  int64_t count = tpt_type_count(plan_type(f->plan, root));
  if (value->hard_q <= position) return NULL;
  for (const fuse_demand_t* d = value->demands; d; d = d->next) {
    const fuse_loop_t* loop = d->loop;
    if (loop->position != position || loop->output_count == VTPU_LOOP_OUTPUTS_MAX) continue;
    if (loop->member_count + 3 > VTPU_LOOP_MEMBERS_MAX - 20) continue;
    if (fuse_map_is_bijection(loop, &loop->maps[loop->members[d->member].map], count)) return d;
  }
  return NULL;
}

static void output_add(fuse_loop_t* loop, uint32_t value, int member) {
  loop->outputs[loop->output_count++] =
      (fuse_output_t){.value = value, .member = member, .reduce = NULL, .number = 0};
}

// A loop whose only business is to compute the value; other nodes may join it later.
static tpt_status_t loop_make(fuse_t* f, const tpt_node_t* node, uint32_t root, uint32_t position,
                              const tpt_type_t* space, fuse_loop_t** out_loop) {
  (void)node, (void)root;
  fuse_loop_t* loop = fuse_loop_create(f->plan, position, space);
  if (!loop) return tpt_arena_status(f->plan->temp);
  loop->next = f->loops;
  f->loops = loop;
  f->loop_count++;
  *out_loop = loop;
  return NULL;
}

// A loop that already reads an operand over the same number of elements, runs before every reader of
// the value, and does not reduce. Operands from outside have readers outside, which are no company.
static fuse_loop_t* sibling(const fuse_t* f, const tpt_node_t* node, uint32_t root) {
  uint32_t position = first_reader(f, root);
  int64_t count = tpt_type_count(plan_type(f->plan, root));
  if (plan_class(f->plan, node) != PLAN_ELEMENTWISE) return NULL;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    uint32_t source = plan_root(f->plan, node->operands[i]);
    if (!in_this_block(f, source)) continue;
    const plan_value_t* operand = &f->plan->values[source];
    int seen = 0;
    for (const fuse_demand_t* d = operand->demands; d && seen++ < SIBLINGS_MAX; d = d->next) {
      fuse_loop_t* loop = d->loop;
      if (loop->reduces || loop->count != count || loop->position >= position) continue;
      if (loop->output_count == VTPU_LOOP_OUTPUTS_MAX ||
          loop->member_count > VTPU_LOOP_MEMBERS_MAX / 2)
        continue;
      vtpu_map_t identity = fuse_map_identity(loop);
      const vtpu_map_t* map = &loop->maps[loop->members[d->member].map];
      if (memcmp(&identity, map, sizeof(int64_t) * (size_t)(loop->rank + 1)) == 0) return loop;
    }
  }
  return NULL;
}

static void demands_load(plan_value_t* value, const fuse_loop_t* except) {
  for (fuse_demand_t* d = value->demands; d; d = d->next)
    if (d->loop != except && d->loop->members[d->member].kind == FUSE_OPEN)
      d->loop->members[d->member].kind = FUSE_LOAD;
}

// Computes the value in `loop` and stores it; all its members there are evaluated in place.
static tpt_status_t store_in(fuse_t* f, fuse_loop_t* loop, const tpt_node_t* node, uint32_t root,
                             int member, bool* out_ok) {
  plan_value_t* value = &f->plan->values[root];
  TPT_TRY(expand(f, loop, member, node, out_ok));
  if (!*out_ok) return NULL;
  output_add(loop, root, member);
  for (fuse_demand_t* d = value->demands; d; d = d->next) {
    if (d->loop != loop || d->loop->members[d->member].kind != FUSE_OPEN) continue;
    bool ok;
    TPT_TRY(expand(f, loop, d->member, node, &ok));
    if (!ok)
      TPT_FAIL(TPT_INTERNAL, "a value stored by a loop is read there in a way that is not affine");
  }
  value->materialised = true;
  demands_load(value, loop);
  return NULL;
}

static bool members_compose(fuse_t* f, const fuse_loop_t* loop, const tpt_node_t* node,
                            uint32_t root) {
  plan_class_t class = plan_class(f->plan, node);
  if (class != PLAN_VIEW && class != PLAN_IOTA) return true;
  for (fuse_demand_t* d = f->plan->values[root].demands; d; d = d->next) {
    if (loop && d->loop != loop) continue;
    vtpu_map_t composed;
    if (!fuse_map_compose(f->plan, d->loop, node, d->loop->members[d->member].map, &composed))
      return false;
  }
  return true;
}

static tpt_status_t materialise(fuse_t* f, const tpt_node_t* node, uint32_t root,
                                uint32_t position) {
  bool ok, is_new;
  const fuse_demand_t* join = joinable(f, root);
  if (join && members_compose(f, join->loop, node, root))
    return store_in(f, join->loop, node, root, join->member, &ok);
  fuse_loop_t* loop = sibling(f, node, root);
  if (!loop) TPT_TRY(loop_make(f, node, root, position, plan_type(f->plan, root), &loop));
  vtpu_map_t identity = fuse_map_identity(loop);
  int map = fuse_map_add(f->plan, loop, &identity);
  int member = map < 0 ? -1 : fuse_member_add(f->plan, loop, root, map, &is_new);
  if (member < 0) return tpt_arena_status(f->plan->temp);
  TPT_TRY(store_in(f, loop, node, root, member, &ok));
  if (!ok)
    TPT_FAIL(TPT_INTERNAL, "a loop over stablehlo.%s's own result is not affine",
             tpt_hlo_row(node->op)->mnemonic);
  return NULL;
}

tpt_status_t fuse_value(fuse_t* f, const tpt_node_t* node, uint32_t position) {
  uint32_t root = node->first_result;
  plan_value_t* value = &f->plan->values[root];
  if (!value->demands && value->hard_q == VTPU_NONE) return NULL;
  if (wants_memory(f, root) || !members_compose(f, NULL, node, root))
    return materialise(f, node, root, position);
  for (fuse_demand_t* d = value->demands; d; d = d->next) {
    bool ok;
    TPT_TRY(expand(f, d->loop, d->member, node, &ok));
    if (!ok) TPT_FAIL(TPT_INTERNAL, "an index map changed while it was followed");
  }
  return NULL;
}

// --- reductions ------------------------------------------------------------------------------------------

static bool value_is_read(const plan_t* plan, uint32_t value) {
  return plan->values[value].demands || plan->values[value].hard_q != VTPU_NONE;
}

static uint32_t results_first_reader(const fuse_t* f, const tpt_node_t* node) {
  uint32_t position = VTPU_NONE;
  for (uint32_t r = 0; r < node->result_count; r++) {
    uint32_t first = first_reader(f, node->first_result + r);
    if (first < position) position = first;
  }
  return position;
}

static bool pattern_equal(const fuse_loop_t* loop, const tpt_type_t* space, const bool* reduced) {
  if (loop->rank != space->rank || !loop->reduces) return false;
  for (int d = 0; d < space->rank; d++)
    if (loop->dims[d] != space->dims[d] || loop->reduced[d] != reduced[d]) return false;
  return true;
}

// A loop that reduces the same dimensions of the same space, reads an operand, and may take another
// output.
static fuse_loop_t* reduce_sibling(const fuse_t* f, const tpt_node_t* node, const bool* reduced) {
  const tpt_type_t* space = tpt_graph_type(f->plan->graph, node->operands[0]);
  uint32_t position = results_first_reader(f, node);
  const tpt_node_t* producer = plan_producer(f->plan, plan_root(f->plan, node->operands[0]));
  uint32_t values[4] = {plan_root(f->plan, node->operands[0])};
  int count = 1;
  for (uint32_t i = 0; producer && i < producer->operand_count && i < 3; i++)
    values[count++] = plan_root(f->plan, producer->operands[i]);
  for (int i = 0; i < count; i++) {
    int seen = 0;
    if (!in_this_block(f, values[i])) continue;
    for (const fuse_demand_t* d = f->plan->values[values[i]].demands; d && seen++ < SIBLINGS_MAX;
         d = d->next)
      if (pattern_equal(d->loop, space, reduced) && d->loop->position < position &&
          d->loop->output_count < VTPU_LOOP_OUTPUTS_MAX &&
          d->loop->member_count < VTPU_LOOP_MEMBERS_MAX / 2)
        return d->loop;
  }
  return NULL;
}

tpt_status_t fuse_reduce(fuse_t* f, const tpt_node_t* node, uint32_t position) {
  plan_t* plan = f->plan;
  uint32_t operands = node->operand_count / 2;
  bool read = false;
  for (uint32_t r = 0; r < node->result_count; r++)
    read |= value_is_read(plan, node->first_result + r);
  if (!read) return NULL;
  if (operands > VTPU_LOOP_OUTPUTS_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED,
             "stablehlo.reduce of %u operands is not supported by vtpu (at most %d)", operands,
             VTPU_LOOP_OUTPUTS_MAX);
  const tpt_type_t* space = tpt_graph_type(plan->graph, node->operands[0]);
  bool reduced[TPT_RANK_MAX] = {false};
  int dim_count;
  const int64_t* dims = tpt_node_ints(node, 0, &dim_count);
  for (int i = 0; i < dim_count; i++)
    reduced[dims[i]] = true;
  fuse_loop_t* loop = operands == 1 ? reduce_sibling(f, node, reduced) : NULL;
  if (!loop) {
    TPT_TRY(loop_make(f, node, node->first_result, position, space, &loop));
    loop->reduces = true;
    memcpy(loop->reduced, reduced, sizeof(reduced));
  }
  for (uint32_t i = 0; i < operands; i++) {
    vtpu_map_t identity = fuse_map_identity(loop);
    int member;
    TPT_TRY(demand(f, loop, plan_root(plan, node->operands[i]), fuse_map_add(plan, loop, &identity),
                   &member));
    bool splat;
    uint32_t init = plan_root(plan, node->operands[operands + i]);
    if (!is_constant(plan, init, &splat)) TPT_TRY(fuse_need(f, init, loop->position));
    loop->outputs[loop->output_count++] = (fuse_output_t){
        .value = node->first_result + i, .member = member, .reduce = node, .number = (int)i};
    plan->values[node->first_result + i].materialised = true;
    demands_load(&plan->values[node->first_result + i], NULL);
  }
  return NULL;
}

// Other memory, same bits: the result lies where the operand lies.
tpt_status_t fuse_bits(fuse_t* f, const tpt_node_t* node) {
  uint32_t root = node->first_result;
  plan_value_t* value = &f->plan->values[root];
  if (!value_is_read(f->plan, root)) return NULL;
  value->materialised = true;
  demands_load(value, NULL);
  return fuse_need(f, plan_root(f->plan, node->operands[0]), first_reader(f, root));
}
