// Where buffers lie: results in the caller's memory, temporaries packed by lifetime into one block, a
// step's result on top of an operand that dies there. Invariant: at any step, live buffers do not
// overlap; arguments are never written unless they are the same memory as a result by `alias`.
#include <string.h>

#include "vtpu/epilogue.h"
#include "vtpu/plan.h"

typedef struct life {
  uint32_t def_block;  // block in which it is written (or whose argument it is); VTPU_NONE: outside
  uint32_t def_step;   // VTPU_NONE: argument
  uint32_t last_use;   // step of def_block
  bool placed;
  bool given_away;  // its memory went on to another buffer
  bool pinned;      // may not be written over
} life_t;

typedef struct gap {
  size_t offset, size;
} gap_t;

typedef struct layout {
  plan_t* plan;
  life_t* lives;
  gap_t* gaps;  // free memory below `top`, by offset
  size_t gap_count, gap_capacity;
  size_t top, peak;
} layout_t;

// --- memory ------------------------------------------------------------------------------------------------

static size_t align64(size_t size) {
  return (size + 63) & ~(size_t)63;
}

static size_t memory_take(layout_t* l, size_t size) {
  size = align64(size);
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < l->gap_count; i++)
    if (l->gaps[i].size >= size && (best == SIZE_MAX || l->gaps[i].size < l->gaps[best].size))
      best = i;
  if (best != SIZE_MAX) {
    size_t offset = l->gaps[best].offset;
    l->gaps[best].offset += size;
    l->gaps[best].size -= size;
    if (l->gaps[best].size == 0) {
      memmove(&l->gaps[best], &l->gaps[best + 1], (l->gap_count - best - 1) * sizeof(gap_t));
      l->gap_count--;
    }
    return offset;
  }
  size_t offset = l->top;
  if (l->gap_count && l->gaps[l->gap_count - 1].offset + l->gaps[l->gap_count - 1].size == l->top)
    offset = l->gaps[--l->gap_count].offset;
  l->top = offset + size;
  if (l->top > l->peak) l->peak = l->top;
  return offset;
}

static void memory_give(layout_t* l, size_t offset, size_t size) {
  size = align64(size);
  if (size == 0) return;
  size_t at = 0;
  while (at < l->gap_count && l->gaps[at].offset < offset)
    at++;
  bool joins_before = at > 0 && l->gaps[at - 1].offset + l->gaps[at - 1].size == offset;
  bool joins_after = at < l->gap_count && offset + size == l->gaps[at].offset;
  if (joins_before && joins_after) {
    l->gaps[at - 1].size += size + l->gaps[at].size;
    memmove(&l->gaps[at], &l->gaps[at + 1], (l->gap_count - at - 1) * sizeof(gap_t));
    l->gap_count--;
  } else if (joins_before) {
    l->gaps[at - 1].size += size;
  } else if (joins_after) {
    l->gaps[at].offset = offset;
    l->gaps[at].size += size;
  } else if (l->gap_count < l->gap_capacity) {  // else: lost, never wrong
    memmove(&l->gaps[at + 1], &l->gaps[at], (l->gap_count - at) * sizeof(gap_t));
    l->gaps[at] = (gap_t){offset, size};
    l->gap_count++;
  }
}

// --- lifetimes -----------------------------------------------------------------------------------------------

static void lives_find(layout_t* l, const vtpu_block_plan_t* block) {
  for (uint32_t i = 0; i < block->arg_count; i++) {
    life_t* life = &l->lives[block->args[i]];
    life->def_block = block->block;
    life->def_step = VTPU_NONE;
    life->last_use = VTPU_NONE;  // never
  }
  for (uint32_t s = 0; s < block->step_count; s++) {
    const vtpu_step_t* step = &block->steps[s];
    for (uint32_t i = 0; i < step->write_count; i++) {
      life_t* life = &l->lives[step->writes[i]];
      life->def_block = block->block;
      life->def_step = life->last_use = s;
    }
    for (uint32_t i = 0; i < step->read_count; i++)
      if (l->lives[step->reads[i]].def_block == block->block) l->lives[step->reads[i]].last_use = s;
    for (uint32_t i = 0; i < step->block_count; i++)
      lives_find(l, step->blocks[i]);
  }
  for (uint32_t r = 0; r < block->result_count; r++)
    if (l->lives[block->results[r]].def_block == block->block)
      l->lives[block->results[r]].last_use = block->step_count;
}

static bool is_owned_temp(const layout_t* l, const vtpu_block_plan_t* block, uint32_t buffer) {
  return l->plan->buffers[buffer].space == VTPU_SPACE_TEMP &&
         l->lives[buffer].def_block == block->block;
}

// --- in place ------------------------------------------------------------------------------------------------

// True if a loop may write output o over the buffer it reads: same elements in the same order, and no
// read after the write within a tile.
static bool loop_in_place(const vtpu_step_t* step, const vtpu_loop_t* loop, uint32_t o,
                          uint32_t buffer) {
  const vtpu_loop_spec_t* spec = step->spec;
  const vtpu_output_t* output = &spec->outputs[o];
  if (output->monoid != TPT_HLO_COUNT || output->body) return false;
  size_t size = tpt_dtype_size(spec->members[output->member].dtype);
  bool found = false;
  for (int m = 0; m < spec->member_count; m++) {
    const vtpu_member_t* member = &spec->members[m];
    if (member->kind != VTPU_MEMBER_LOAD || member->buffer != buffer) continue;
    if (member->map != output->map || tpt_dtype_size(member->dtype) != size) return false;
    if (loop->last_read[m] > loop->store_at[o]) return false;
    found = true;
  }
  for (int k = 0; k < spec->output_count; k++)
    if (spec->outputs[k].init_buffer == buffer && k != (int)o &&
        (spec->outputs[k].monoid != TPT_HLO_COUNT || spec->outputs[k].body))
      return false;
  return found;
}

static uint32_t reads_of(const vtpu_step_t* step, uint32_t buffer) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < step->read_count; i++)
    count += step->reads[i] == buffer;
  return count;
}

// True if result w of a step may share the memory of a buffer that the step reads.
static bool step_in_place(const vtpu_step_t* step, uint32_t w, uint32_t buffer) {
  if (step->loop) return loop_in_place(step, step->loop, w, buffer);
  if (step->epilogue)  // what the kernel itself reads stays whole until the end
    return step->reads[0] != buffer && step->reads[1] != buffer &&
           loop_in_place(step, step->epilogue->loop, w, buffer);
  if (step->run == vtpu_step_copy) return true;
  if (reads_of(step, buffer) != 1) return false;
  if (step->run == vtpu_step_while)
    return w < step->node->operand_count && step->reads[w] == buffer;
  return step->row && w == 0 && step->row->in_place_operand >= 0 &&
         step->reads[step->row->in_place_operand] == buffer;
}

// --- placing -------------------------------------------------------------------------------------------------

static void place_like(layout_t* l, uint32_t buffer, uint32_t other) {
  vtpu_plan_buffer_t* to = &l->plan->buffers[buffer];
  const vtpu_plan_buffer_t* from = &l->plan->buffers[other];
  to->space = from->space;
  to->number = from->number;
  to->offset = from->offset;
  l->lives[buffer].placed = true;
}

// The owner's memory for a result of this block, if the result may lie there from the start.
static bool place_at_target(layout_t* l, const vtpu_block_plan_t* block, const uint32_t* targets,
                            uint32_t s, uint32_t w) {
  const vtpu_step_t* step = &block->steps[s];
  uint32_t buffer = step->writes[w];
  for (uint32_t r = 0; targets && r < block->result_count; r++) {
    if (block->results[r] != buffer) continue;
    uint32_t target = targets[r];
    bool is_arg = false;
    for (uint32_t i = 0; i < block->arg_count; i++)
      is_arg |= block->args[i] == target;
    if (is_arg) {  // the carried value of a while: free once the old one has been read
      const life_t* old = &l->lives[target];
      bool dead = old->last_use == VTPU_NONE || old->last_use < s ||
                  (old->last_use == s && step_in_place(step, w, target));
      if (!dead || old->given_away) continue;
      l->lives[target].given_away = true;
    }
    place_like(l, buffer, target);
    l->lives[buffer].pinned = true;  // not ours to give back
    return true;
  }
  return false;
}

static bool place_in_operand(layout_t* l, const vtpu_block_plan_t* block, uint32_t s, uint32_t w) {
  const vtpu_step_t* step = &block->steps[s];
  uint32_t buffer = step->writes[w];
  size_t size = l->plan->buffers[buffer].size;
  for (uint32_t i = 0; i < step->read_count; i++) {
    uint32_t read = step->reads[i];
    life_t* life = &l->lives[read];
    if (!is_owned_temp(l, block, read) || life->last_use != s || life->given_away || life->pinned)
      continue;
    if (align64(l->plan->buffers[read].size) != align64(size) || !step_in_place(step, w, read))
      continue;
    l->plan->buffers[buffer].offset = l->plan->buffers[read].offset;
    life->given_away = true;
    l->lives[buffer].placed = true;
    return true;
  }
  return false;
}

static tpt_status_t place_block(layout_t* l, vtpu_block_plan_t* block, const uint32_t* targets);

static tpt_status_t place_nested(layout_t* l, vtpu_step_t* step) {
  for (uint32_t b = 0; b < step->block_count; b++) {
    vtpu_block_plan_t* nested = step->blocks[b];
    bool condition = step->run == vtpu_step_while && b == 0;
    for (uint32_t i = 0; i < nested->arg_count; i++) {
      place_like(l, nested->args[i], step->writes[i]);
      l->lives[nested->args[i]].pinned = true;
    }
    const uint32_t* targets = step->writes;
    if (condition) targets = NULL;
    if (step->run == vtpu_step_while && b == 1) targets = nested->args;
    TPT_TRY(place_block(l, nested, targets));
  }
  return NULL;
}

static void step_free(layout_t* l, const vtpu_block_plan_t* block, uint32_t s) {
  const vtpu_step_t* step = &block->steps[s];
  for (uint32_t i = 0; i < step->read_count + step->write_count; i++) {
    uint32_t buffer = i < step->read_count ? step->reads[i] : step->writes[i - step->read_count];
    life_t* life = &l->lives[buffer];
    if (!is_owned_temp(l, block, buffer) || life->last_use != s || life->given_away || life->pinned)
      continue;
    life->given_away = true;
    memory_give(l, l->plan->buffers[buffer].offset, l->plan->buffers[buffer].size);
  }
}

static bool overlap(const layout_t* l, uint32_t a, uint32_t b) {
  const vtpu_plan_buffer_t *x = &l->plan->buffers[a], *y = &l->plan->buffers[b];
  if (x->space != y->space) return false;
  if (x->space != VTPU_SPACE_TEMP) return x->number == y->number && x->data == y->data;
  return x->offset < y->offset + y->size && y->offset < x->offset + x->size;
}

static bool same_place(const layout_t* l, uint32_t a, uint32_t b) {
  const vtpu_plan_buffer_t *x = &l->plan->buffers[a], *y = &l->plan->buffers[b];
  return a == b || (overlap(l, a, b) && (x->space != VTPU_SPACE_TEMP || x->offset == y->offset));
}

static vtpu_step_t move_make(layout_t* l, uint32_t from, uint32_t to) {
  vtpu_step_t step;
  memset(&step, 0, sizeof(step));
  step.run = vtpu_step_copy;
  step.reads = tpt_arena_copy(l->plan->arena, &from, sizeof(from));
  step.writes = tpt_arena_copy(l->plan->arena, &to, sizeof(to));
  step.read_count = step.write_count = 1;
  step.size = l->plan->buffers[to].size;
  step.bytes = 2.0 * (double)step.size;
  step.cost = (int64_t)(10 + step.bytes * 0.08);
  return step;
}

// Moves results to their targets. A source that another move overwrites is saved first.
static tpt_status_t moves_make(layout_t* l, vtpu_block_plan_t* block, const uint32_t* targets) {
  block->moves =
      tpt_arena_alloc(l->plan->arena, sizeof(*block->moves) * (2 * block->result_count + 1));
  uint32_t* sources = tpt_arena_alloc(l->plan->temp, sizeof(*sources) * (block->result_count + 1));
  if (!block->moves || !sources) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a plan");
  for (uint32_t r = 0; r < block->result_count; r++) {
    sources[r] = block->results[r];
    if (same_place(l, sources[r], targets[r])) continue;
    bool lost = false;
    for (uint32_t k = 0; k < block->result_count; k++)
      lost |= k != r && overlap(l, sources[r], targets[k]) &&
              !same_place(l, block->results[k], targets[k]);
    if (!lost) continue;
    uint32_t saved = plan_buffer_add(l->plan, VTPU_SPACE_TEMP, l->plan->buffers[sources[r]].size);
    l->plan->buffers[saved].offset = memory_take(l, l->plan->buffers[saved].size);
    block->moves[block->move_count++] = move_make(l, sources[r], saved);
    sources[r] = saved;
  }
  for (uint32_t r = 0; r < block->result_count; r++)
    if (!same_place(l, sources[r], targets[r]))
      block->moves[block->move_count++] = move_make(l, sources[r], targets[r]);
  for (uint32_t r = 0; r < block->result_count; r++)
    if (sources[r] != block->results[r])
      memory_give(l, l->plan->buffers[sources[r]].offset, l->plan->buffers[sources[r]].size);
  return NULL;
}

static tpt_status_t place_block(layout_t* l, vtpu_block_plan_t* block, const uint32_t* targets) {
  for (uint32_t s = 0; s < block->step_count; s++) {
    vtpu_step_t* step = &block->steps[s];
    for (uint32_t w = 0; w < step->write_count; w++) {
      uint32_t buffer = step->writes[w];
      vtpu_plan_buffer_t* at = &l->plan->buffers[buffer];
      if (at->space != VTPU_SPACE_TEMP || l->lives[buffer].placed) continue;
      if (place_at_target(l, block, targets, s, w) || place_in_operand(l, block, s, w)) continue;
      at->offset = memory_take(l, at->size);
      l->lives[buffer].placed = true;
    }
    if (step->scratch_size) {
      step->scratch_offset = memory_take(l, step->scratch_size);
      memory_give(l, step->scratch_offset, step->scratch_size);
    }
    TPT_TRY(place_nested(l, step));
    step_free(l, block, s);
  }
  if (targets) TPT_TRY(moves_make(l, block, targets));
  for (uint32_t r = 0; r < block->result_count; r++) {
    uint32_t buffer = block->results[r];
    life_t* life = &l->lives[buffer];
    if (!is_owned_temp(l, block, buffer) || life->given_away || life->pinned) continue;
    life->given_away = true;
    memory_give(l, l->plan->buffers[buffer].offset, l->plan->buffers[buffer].size);
  }
  return NULL;
}

// --- results and aliases ---------------------------------------------------------------------------------------

// Results of main that a step computes lie in the caller's memory; the rest is copied at the end.
static tpt_status_t results_bind(plan_t* plan, vtpu_block_plan_t* block, life_t* lives) {
  vtpu_step_t* steps = tpt_arena_alloc(
      plan->arena, sizeof(*steps) * (size_t)(block->step_count + block->result_count + 1));
  if (!steps) return tpt_arena_status(plan->arena);
  if (block->step_count) memcpy(steps, block->steps, sizeof(*steps) * block->step_count);
  block->steps = steps;
  layout_t l = {.plan = plan};
  uint32_t computed = block->step_count;
  for (uint32_t r = 0; r < block->result_count; r++) {
    uint32_t buffer = block->results[r];
    const life_t* life = &lives[buffer];
    if (plan->buffers[buffer].space == VTPU_SPACE_TEMP && life->def_block == 0 &&
        life->def_step != VTPU_NONE && life->def_step < computed) {
      plan->buffers[buffer].space = VTPU_SPACE_RESULT;
      plan->buffers[buffer].number = r;
      continue;
    }
    size_t size = plan->buffers[buffer].size;
    uint32_t target = plan_buffer_add(plan, VTPU_SPACE_RESULT, size);
    plan->buffers[target].number = r;
    vtpu_step_t move = move_make(&l, buffer, target);
    move.position = computed;
    steps[block->step_count++] = move;
  }
  return tpt_arena_status(plan->arena);
}

// May result r be the memory of parameter p? Only if nothing reads p after r is first written.
static bool alias_is_safe(const plan_t* plan, const vtpu_block_plan_t* block, uint32_t result,
                          uint32_t parameter) {
  uint32_t param_buffer = block->args[parameter];
  bool written = false;
  for (uint32_t s = 0; s < block->step_count; s++) {
    const vtpu_step_t* step = &block->steps[s];
    bool reads = reads_of(step, param_buffer) > 0;
    if (written && reads) return false;
    for (uint32_t w = 0; w < step->write_count; w++) {
      const vtpu_plan_buffer_t* buffer = &plan->buffers[step->writes[w]];
      if (buffer->space != VTPU_SPACE_RESULT || buffer->number != result) continue;
      written = true;
      if (reads && !step_in_place(step, w, param_buffer)) return false;
    }
  }
  return written;
}

static tpt_status_t aliases_set(plan_t* plan, const vtpu_block_plan_t* block) {
  vtpu_program_t* program = plan->program;
  program->aliases =
      tpt_arena_alloc(plan->arena, sizeof(*program->aliases) * (size_t)(program->result_count + 1));
  if (!program->aliases) return tpt_arena_status(plan->arena);
  for (uint32_t r = 0; r < program->result_count; r++)
    program->aliases[r] = -1;
  for (uint32_t p = 0; p < program->parameter_count; p++) {
    int32_t result = tpt_graph_alias_of(plan->graph, p);
    if (result < 0 || (uint32_t)result >= program->result_count) continue;
    if (program->aliases[result] < 0 && alias_is_safe(plan, block, (uint32_t)result, p))
      program->aliases[result] = (int32_t)p;
  }
  return NULL;
}

static life_t* lives_make(plan_t* plan, const vtpu_block_plan_t* block) {
  // Moves that save results may add a buffer per result of every block.
  size_t room = 2 * plan->buffer_count + 64;
  life_t* lives = tpt_arena_calloc(plan->temp, room, sizeof(*lives));
  if (!lives) return NULL;
  for (size_t i = 0; i < room; i++)
    lives[i].def_block = VTPU_NONE;
  layout_t l = {.plan = plan, .lives = lives};
  lives_find(&l, block);
  return lives;
}

tpt_status_t plan_layout(plan_t* plan) {
  vtpu_block_plan_t* block = plan->program->main;
  life_t* lives = lives_make(plan, block);
  if (!lives) return tpt_arena_status(plan->temp);
  TPT_TRY(results_bind(plan, block, lives));
  lives = lives_make(plan, block);
  if (!lives) return tpt_arena_status(plan->temp);
  layout_t l = {.plan = plan, .lives = lives};
  l.gap_capacity = plan->buffer_count + 64;
  l.gaps = tpt_arena_alloc(plan->temp, sizeof(gap_t) * (l.gap_capacity + 1));
  if (!l.gaps) return tpt_arena_status(plan->temp);
  TPT_TRY(place_block(&l, block, NULL));
  TPT_TRY(aliases_set(plan, block));
  plan->program->temp_size = l.peak;
  return tpt_arena_status(plan->temp);
}
