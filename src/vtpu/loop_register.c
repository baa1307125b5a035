// Order and registers of a loop: what every tile would repeat goes first, registers are shared by last
// use, places become slots.
#include "vtpu/loop_build.h"

// --- order and registers -----------------------------------------------------------------------------

static void prologue_split(vtpu_build_t* b) {
  vtpu_loop_t* loop = b->loop;
  loop->instrs = tpt_arena_alloc(b->arena, sizeof(*loop->instrs) * (size_t)(b->instr_count + 1));
  int32_t* new_index = tpt_arena_alloc(b->arena, sizeof(*new_index) * (size_t)(b->instr_count + 1));
  if (!loop->instrs || !new_index) return;
  loop->instr_count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < b->instr_count; i++) {
      if (b->hoisted[i] != (pass == 0) || b->instrs[i].kind == VTPU_INSTR_NONE) continue;
      new_index[i] = loop->instr_count;
      loop->instrs[loop->instr_count++] = b->instrs[i];
    }
    if (pass == 0) loop->prologue_count = loop->instr_count;
  }
  for (int o = 0; o < b->spec->output_count; o++)
    if (b->store_at[o] >= 0) b->store_at[o] = new_index[b->store_at[o]];
}

typedef struct registers {
  int32_t* last_use;  // per vreg: instruction
  int32_t* physical;  // per vreg
  uint8_t sizes[VTPU_LOOP_SLOTS_MAX];
  bool free[VTPU_LOOP_SLOTS_MAX];
  int count;
} registers_t;

static void last_use_note(registers_t* r, uint16_t place, int32_t at) {
  if (place != VTPU_PLACE_NONE && !(place & VTPU_PLACE_STREAM) && r->last_use[place] < at)
    r->last_use[place] = at;
}

static void register_take(vtpu_build_t* b, registers_t* r, uint16_t vreg) {
  if (r->physical[vreg] >= 0) return;
  int found = -1;
  for (int i = 0; i < r->count && found < 0; i++)
    if (r->free[i] && r->sizes[i] == b->vreg_size[vreg]) found = i;
  if (found < 0) {
    found = r->count++;
    r->sizes[found] = b->vreg_size[vreg];
  }
  r->free[found] = false;
  r->physical[vreg] = found;
}

static void register_drop(vtpu_build_t* b, registers_t* r, uint16_t place, int32_t at) {
  if (place == VTPU_PLACE_NONE || (place & VTPU_PLACE_STREAM) || b->vreg_fixed[place]) return;
  if (r->last_use[place] == at && r->physical[place] >= 0) r->free[r->physical[place]] = true;
}

static void operands_drop(vtpu_build_t* b, registers_t* r, const vtpu_instr_t* instr, int32_t at) {
  register_drop(b, r, instr->a, at);
  if (instr->b != instr->a) register_drop(b, r, instr->b, at);
  if (instr->c != instr->a && instr->c != instr->b) register_drop(b, r, instr->c, at);
}

static void registers_assign(vtpu_build_t* b, registers_t* r) {
  vtpu_loop_t* loop = b->loop;
  for (int v = 0; v < b->vreg_count; v++)
    r->last_use[v] = r->physical[v] = -1;
  for (int i = 0; i < loop->instr_count; i++) {
    const vtpu_instr_t* instr = &loop->instrs[i];
    last_use_note(r, instr->dst, i);
    last_use_note(r, instr->a, i);
    last_use_note(r, instr->b, i);
    last_use_note(r, instr->c, i);
  }
  for (int i = 0; i < loop->reduction_count; i++)
    for (int k = 0; k < loop->reductions[i].count; k++)
      last_use_note(r, loop->reductions[i].slots[k], loop->instr_count);
  for (int i = 0; i < loop->instr_count; i++) {
    const vtpu_instr_t* instr = &loop->instrs[i];
    // An element that serves several rows must outlive the first row's result.
    bool is_late = instr->kind == VTPU_INSTR_ROWS;
    if (!is_late) operands_drop(b, r, instr, i);
    if (instr->dst != VTPU_PLACE_NONE && !(instr->dst & VTPU_PLACE_STREAM)) {
      register_take(b, r, instr->dst);
      register_drop(b, r, instr->dst, i);  // never read again
    }
    if (is_late) operands_drop(b, r, instr, i);
  }
  loop->register_count = r->count;
  uint32_t* offsets = tpt_arena_alloc(b->arena, sizeof(*offsets) * (size_t)(r->count + 1));
  if (!offsets) return;
  size_t offset = 0;
  int64_t rows = loop->row_lanes * loop->partial[0].box;
  for (int i = 0; i < r->count; i++) {
    offsets[i] = (uint32_t)offset;
    size_t lanes = (size_t)(r->sizes[i] & VTPU_VREG_ROW ? rows : loop->lanes_max);
    offset += vtpu_align64(lanes * (r->sizes[i] & (VTPU_VREG_ROW - 1)));
  }
  loop->register_offsets = offsets;
  loop->register_size = offset;
}

static uint16_t slot_of(const vtpu_loop_t* loop, const registers_t* r, uint16_t place) {
  if (place == VTPU_PLACE_NONE) return 0;
  if (place & VTPU_PLACE_STREAM)
    return (uint16_t)(loop->register_count + (place & ~VTPU_PLACE_STREAM));
  return (uint16_t)r->physical[place];
}

static void slots_set(vtpu_build_t* b, const registers_t* r) {
  vtpu_loop_t* loop = b->loop;
  for (int i = 0; i < loop->instr_count; i++) {
    vtpu_instr_t* instr = &loop->instrs[i];
    instr->dst = slot_of(loop, r, instr->dst);
    instr->a = slot_of(loop, r, instr->a);
    instr->b = slot_of(loop, r, instr->b);
    instr->c = slot_of(loop, r, instr->c);
  }
  for (int i = 0; i < loop->reduction_count; i++)
    for (int k = 0; k < loop->reductions[i].count; k++)
      loop->reductions[i].slots[k] = slot_of(loop, r, loop->reductions[i].slots[k]);
  for (int i = 0; i < loop->stream_count; i++)
    loop->streams[i].slot = (uint16_t)(loop->register_count + i);
}

// The instruction that last reads each member's memory.
static void last_reads_find(vtpu_build_t* b) {
  vtpu_loop_t* loop = b->loop;
  for (int m = 0; m < b->spec->member_count; m++) {
    b->last_read[m] = -1;
    if (b->spec->members[m].kind != VTPU_MEMBER_LOAD) continue;
    // Streams are made in the order of emission; a load's own is found by its buffer and map.
    for (int i = loop->prologue_count; i < loop->instr_count; i++) {
      const vtpu_instr_t* instr = &loop->instrs[i];
      const uint16_t reads[3] = {instr->a, instr->b, instr->c};
      for (int k = 0; k < 3; k++)
        if (reads[k] >= loop->register_count &&
            loop->streams[reads[k] - loop->register_count].buffer == b->spec->members[m].buffer)
          b->last_read[m] = i;
    }
    for (int r = 0; r < loop->reduction_count; r++)
      for (int k = 0; k < loop->reductions[r].count; k++) {
        uint16_t slot = loop->reductions[r].slots[k];
        if (slot >= loop->register_count &&
            loop->streams[slot - loop->register_count].buffer == b->spec->members[m].buffer)
          b->last_read[m] = loop->instr_count;
      }
  }
}

static void deltas_set(vtpu_loop_t* loop, tpt_arena_t* arena) {
  for (int s = 0; s < loop->stream_count; s++) {
    vtpu_stream_t* stream = &loop->streams[s];
    int64_t* delta = tpt_arena_alloc(arena, sizeof(*delta) * VTPU_LOOP_RANK_MAX);
    if (!delta || !stream->step) return;
    int64_t back = 0;
    for (int level = loop->level_count - 1; level >= 0; level--) {
      delta[level] = stream->step[level] - back;
      back += stream->step[level] * (loop->tiles[level] - 1);
    }
    stream->delta = delta;
  }
}

tpt_status_t vtpu_build_finish(vtpu_build_t* b) {
  vtpu_loop_t* loop = b->loop;
  prologue_split(b);
  registers_t* registers = tpt_arena_alloc(b->arena, sizeof(*registers));
  if (registers) {
    registers->count = 0;
    registers->last_use = tpt_arena_alloc(b->arena, sizeof(int32_t) * (size_t)(b->vreg_count + 1));
    registers->physical = tpt_arena_alloc(b->arena, sizeof(int32_t) * (size_t)(b->vreg_count + 1));
  }
  TPT_TRY(tpt_arena_status(b->arena));
  registers_assign(b, registers);
  TPT_TRY(tpt_arena_status(b->arena));
  slots_set(b, registers);
  last_reads_find(b);
  deltas_set(loop, b->arena);
  return tpt_arena_status(b->arena);
}
