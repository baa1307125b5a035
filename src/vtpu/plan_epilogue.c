// Finds loops that only finish the result of a product or a convolution (bias, activation, residual) and
// hands them to its kernel as an epilogue (epilogue.h). The kernel's step moves to the loop's place: all
// that the loop reads exists there, and nobody but the loop reads the result.
#include <string.h>

#include "vtpu/epilogue.h"
#include "vtpu/plan_fuse.h"

// The loop that alone reads a value, and reads it in memory; NULL: there is none.
static fuse_loop_t* only_reader(const plan_t* plan, uint32_t root) {
  const plan_value_t* value = &plan->values[root];
  fuse_loop_t* loop = NULL;
  if (value->hard_q != VTPU_NONE) return NULL;
  for (const fuse_demand_t* d = value->demands; d; d = d->next) {
    if (loop && d->loop != loop) return NULL;
    if (d->loop->members[d->member].kind != FUSE_LOAD) return NULL;
    loop = d->loop;
  }
  return loop;
}

// True if the loop visits the elements of the value in their order, and does nothing but store.
static bool loop_follows(const plan_t* plan, const fuse_loop_t* loop, uint32_t root) {
  if (loop->reduces || loop->group || loop->product || loop->host || loop->output_count == 0)
    return false;
  if (loop->count == 0 || loop->count != tpt_type_count(plan_type(plan, root))) return false;
  vtpu_map_t identity = fuse_map_identity(loop);
  for (int m = 0; m < loop->member_count; m++)
    if (loop->members[m].value == root && loop->members[m].kind == FUSE_LOAD &&
        memcmp(&identity, &loop->maps[loop->members[m].map],
               sizeof(int64_t) * (size_t)(loop->rank + 1)) != 0)
      return false;
  return true;
}

// True if the loop may write over an operand of the kernel that was donated for its result: then it
// must wait until the kernel has read all of it.
static bool updates_operand(const plan_t* plan, const tpt_node_t* node, const fuse_loop_t* loop) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    uint32_t root = plan_root(plan, node->operands[i]);
    tpt_origin_t origin = tpt_graph_origin(plan->graph, (tpt_value_t){root});
    bool is_parameter = origin.node == UINT32_MAX && origin.block == 0;
    if (!is_parameter || tpt_graph_alias_of(plan->graph, origin.number) < 0) continue;
    for (int m = 0; m < loop->member_count; m++)
      if (loop->members[m].value == root) return true;
  }
  return false;
}

void plan_epilogues(plan_t* plan, vtpu_step_t* steps, uint32_t count) {
  for (uint32_t i = count; i-- > 0;) {
    const tpt_node_t* node = steps[i].node;
    if (!steps[i].run || !node ||
        (node->op != TPT_HLO_DOT_GENERAL && node->op != TPT_HLO_CONVOLUTION))
      continue;
    fuse_loop_t* loop = only_reader(plan, node->first_result);
    if (!loop || !loop_follows(plan, loop, node->first_result)) continue;
    if (updates_operand(plan, node, loop)) continue;
    loop->host = node;
    steps[i].finish = loop;
  }
}

// --- the step ----------------------------------------------------------------------------------------------

// The loads of the result get a map of their own: rows of a block lie `ld` apart.
static void result_remap(const vtpu_epilogue_t* e, uint32_t buffer, vtpu_loop_spec_t* spec) {
  vtpu_map_t* map = NULL;
  for (int m = 0; m < spec->member_count; m++) {
    vtpu_member_t* member = &spec->members[m];
    if (member->kind != VTPU_MEMBER_LOAD || member->buffer != buffer) continue;
    if (!map) {
      map = &spec->maps[spec->map_count++];  // fuse_loop_spec leaves room for one
      *map = spec->maps[member->map];
      for (int d = 0; d < spec->row_rank; d++)
        map->stride[d] = map->stride[d] / e->cols * e->ld;
    }
    member->map = (uint16_t)(map - spec->maps);
  }
}

typedef struct arrays {
  uint32_t *reads,
      *writes;  // buffers of the program; the first two reads are the kernel's operands
  uint32_t read_count, write_count;
} arrays_t;

// Numbers the loop's buffers as epilogue.h says.
static void buffers_number(uint32_t result, vtpu_loop_spec_t* spec, arrays_t* a) {
  for (int m = 0; m < spec->member_count; m++) {
    vtpu_member_t* member = &spec->members[m];
    if (member->kind != VTPU_MEMBER_LOAD) continue;
    if (member->buffer == result) {
      member->buffer = 0;
      continue;
    }
    uint32_t at = 2;
    while (at < a->read_count && a->reads[at] != member->buffer)
      at++;
    if (at == a->read_count) a->reads[a->read_count++] = member->buffer;
    member->buffer = at - 1;
  }
  for (int o = 0; o < spec->output_count; o++) {
    a->writes[a->write_count++] = spec->outputs[o].buffer;
    spec->outputs[o].buffer = a->read_count - 1 + (uint32_t)o;
  }
}

static vtpu_loop_spec_t* spec_copy(plan_t* plan, const vtpu_loop_spec_t* spec) {
  vtpu_loop_spec_t* copy = tpt_arena_copy(plan->temp, spec, sizeof(*spec));
  if (copy)
    copy->members = tpt_arena_copy(plan->temp, spec->members,
                                   sizeof(*spec->members) * (size_t)(spec->member_count + 1));
  return copy;
}

// Compiles the loop for a kernel that is prepared to be finished by it.
static tpt_status_t loop_finish(plan_t* plan, vtpu_step_t* step, arrays_t* a, bool* out_ok) {
  fuse_loop_t* loop = step->finish;
  vtpu_epilogue_t* e = step->kernel->epilogue;
  vtpu_loop_spec_t* spec = tpt_arena_calloc(plan->temp, 1, sizeof(*spec));
  *out_ok = false;
  if (!spec) return tpt_arena_status(plan->temp);
  if (e->rows * e->cols != loop->count || !plan_rows_cut(loop, e->rows)) return NULL;
  TPT_TRY(fuse_loop_spec(plan, loop, spec));
  spec->row_rank = loop->row_rank;
  uint32_t result = plan_buffer_of(plan, step->node->first_result);
  for (int i = 0; i < 2; i++)
    a->reads[i] = plan_buffer_of(plan, plan_root(plan, step->node->operands[i]));
  a->read_count = 2;
  result_remap(e, result, spec);
  vtpu_loop_spec_t* named = spec_copy(plan, spec);  // by the program's buffers
  if (!named || !named->members) return tpt_arena_status(plan->temp);
  buffers_number(result, spec, a);
  e->read_count = a->read_count - 2;
  e->write_count = a->write_count;
  TPT_TRY(vtpu_epilogue_compile(e, spec, plan->arena, out_ok));
  step->spec = named;
  return NULL;
}

tpt_status_t plan_epilogue_step(plan_t* plan, vtpu_step_t* step, bool* out_ok) {
  fuse_loop_t* loop = step->finish;
  arrays_t a = {0};
  *out_ok = false;
  a.reads = tpt_arena_alloc(plan->arena, sizeof(*a.reads) * (size_t)(loop->member_count + 3));
  a.writes = tpt_arena_alloc(plan->arena, sizeof(*a.writes) * (size_t)(loop->output_count + 1));
  vtpu_epilogue_t* e = tpt_arena_calloc(plan->arena, 1, sizeof(*e));
  if (!a.reads || !a.writes || !e) return tpt_arena_status(plan->arena);
  TPT_TRY(plan_kernel_make(plan, step->node, e, step));
  vtpu_kernel_t* kernel = step->kernel;
  if (e->is_taken) TPT_TRY(loop_finish(plan, step, &a, out_ok));
  if (!*out_ok) {
    step->spec = NULL;
    loop->host = NULL;
    return NULL;
  }
  e->scratch_offset = (kernel->scratch_size + 63) & ~(size_t)63;
  kernel->scratch_size = e->scratch_offset + e->lane_size * (size_t)e->lane_count;
  double result = (double)tpt_type_size(plan_type(plan, step->node->first_result));
  step->epilogue = e;
  step->position = loop->position;
  step->scratch_size = kernel->scratch_size;
  step->reads = a.reads;
  step->read_count = a.read_count;
  step->writes = a.writes;
  step->write_count = a.write_count;
  step->bytes += e->loop->bytes - 2 * result;
  step->flops += e->loop->flops;
  step->cost += e->loop->cost / 2;  // the passes over memory are saved
  return tpt_arena_status(plan->arena);
}
