// Compiles a spec into a loop: chooses a tile, has the instructions made, and tries a smaller tile when
// the registers do not fit. The result depends on the spec only.
#include "vtpu/loop.h"

#include "vtpu/loop_build.h"

enum { LEVEL_TRIES = 8 };

static bool build_alloc(vtpu_build_t* b) {
  size_t members = (size_t)b->spec->member_count, outputs = (size_t)b->spec->output_count;
  size_t instrs = members * 7 + outputs * 3 + 1;
  size_t streams = members + outputs + 1;
  b->vreg_size = tpt_arena_alloc(b->arena, instrs);
  b->vreg_fixed = tpt_arena_alloc(b->arena, instrs * sizeof(bool));
  b->instrs = tpt_arena_alloc(b->arena, instrs * sizeof(*b->instrs));
  b->hoisted = tpt_arena_alloc(b->arena, instrs * sizeof(bool));
  b->member_place = tpt_arena_calloc(b->arena, members + 1, sizeof(*b->member_place));
  b->member_fixed = tpt_arena_calloc(b->arena, members + 1, sizeof(bool));
  b->member_lanes = tpt_arena_calloc(b->arena, members + 1, sizeof(*b->member_lanes));
  b->member_spread = tpt_arena_alloc(b->arena, (members + 1) * sizeof(*b->member_spread));
  b->member_uses = tpt_arena_calloc(b->arena, members + 1, sizeof(*b->member_uses));
  b->member_instr = tpt_arena_alloc(b->arena, (members + 1) * sizeof(*b->member_instr));
  b->member_shared = tpt_arena_calloc(b->arena, members + 1, sizeof(bool));
  b->store_at = tpt_arena_alloc(b->arena, (outputs + 1) * sizeof(*b->store_at));
  b->last_read = tpt_arena_alloc(b->arena, (members + 1) * sizeof(*b->last_read));
  b->loop->streams = tpt_arena_calloc(b->arena, streams, sizeof(*b->loop->streams));
  b->loop->reductions = tpt_arena_alloc(b->arena, (outputs + 1) * sizeof(*b->loop->reductions));
  return b->loop->reductions && b->loop->streams && b->last_read && b->store_at &&
         b->member_shared && b->member_lanes && b->member_spread && b->member_uses &&
         b->member_instr && b->member_fixed && b->member_place && b->hoisted && b->instrs &&
         b->vreg_fixed && b->vreg_size;
}

// Cuts a long reduction with few results, so that several threads share it. Depends on shapes only.
static void chunks_set(vtpu_loop_t* loop, bool is_row_part) {
  loop->chunks = 1;
  if (is_row_part || loop->kept_tiles == 0 || loop->kept_tiles >= 8) return;
  int64_t tiles_least = 32768 / (loop->lanes_max + 1) + 1;
  int64_t most = loop->reduced_tiles / tiles_least, wanted = 16 / loop->kept_tiles;
  loop->chunks = most < wanted ? most : wanted;
  if (loop->chunks < 1) loop->chunks = 1;
  if (loop->chunks > 1)
    loop->scratch_size = loop->acc_size * (size_t)(loop->chunks * loop->kept_tiles);
}

static void cost_set(vtpu_build_t* b) {
  vtpu_loop_t* loop = b->loop;
  double count = (double)loop->element_count, bytes = 0;
  for (int m = 0; m < b->spec->member_count; m++) {
    const vtpu_member_t* member = &b->spec->members[m];
    if (member->kind == VTPU_MEMBER_OP) loop->flops += count;
    if (member->kind != VTPU_MEMBER_LOAD || vtpu_buffer_is_local(member->buffer)) continue;
    double touched = 1;
    for (int d = 0; d < b->spec->rank; d++)
      if (b->spec->maps[member->map].stride[d]) touched *= (double)b->spec->dims[d];
    bytes += touched * (double)tpt_dtype_size(member->dtype);
  }
  for (int o = 0; o < b->spec->output_count; o++) {
    const vtpu_output_t* output = &b->spec->outputs[o];
    bool dense = output->monoid == TPT_HLO_COUNT && !output->body;
    double size = (double)tpt_dtype_size(b->spec->members[output->member].dtype);
    double kept = 1;
    for (int d = 0; d < b->spec->rank; d++)
      if (!b->spec->reduced[d]) kept *= (double)b->spec->dims[d];
    if (!vtpu_buffer_is_local(output->buffer)) bytes += (dense ? count : kept) * size;
    if (!dense) loop->flops += count;
  }
  loop->bytes = bytes;
  double tiles =
      (double)loop->kept_tiles * (double)(loop->reduced_tiles > 0 ? loop->reduced_tiles : 1);
  double overhead = tiles * (double)(loop->instr_count + 2) * 3;
  double memory = bytes < 1e6 ? bytes * 0.02 : bytes * 0.06;
  loop->cost = (int64_t)(20 + overhead + count * (double)b->cost / 1000 + memory);
}

// What the loop is about, for people.
static void labels_set(vtpu_build_t* b) {
  vtpu_loop_t* loop = b->loop;
  uint8_t* ops = tpt_arena_alloc(b->arena, (size_t)b->spec->member_count + 1);
  bool seen[TPT_HLO_COUNT] = {false};
  for (int m = b->spec->member_count - 1; ops && m >= 0; m--) {
    tpt_hlo_t op = b->spec->members[m].op;
    if (b->spec->members[m].kind != VTPU_MEMBER_OP || seen[op]) continue;
    seen[op] = true;
    ops[loop->op_count++] = (uint8_t)op;
  }
  loop->ops = ops;
  loop->rank = b->spec->rank;
  loop->dims = tpt_arena_copy(b->arena, b->spec->dims, sizeof(int64_t) * (size_t)(loop->rank + 1));
}

static int64_t lanes_start(const vtpu_loop_spec_t* spec) {
  return spec->member_count <= 8 ? 2048 : (spec->member_count <= 24 ? 1024 : 512);
}

tpt_status_t vtpu_loop_compile(vtpu_loop_spec_t* spec, tpt_arena_t* arena, vtpu_loop_t** out_loop) {
  *out_loop = NULL;
  vtpu_spec_merge(spec);
  int64_t lanes = lanes_start(spec);
  for (int attempt = 0; attempt < LEVEL_TRIES; attempt++, lanes /= 2) {
    vtpu_tile_t tile;
    vtpu_tile_choose(spec, lanes, &tile);
    vtpu_loop_t* loop = tpt_arena_calloc(arena, 1, sizeof(*loop));
    vtpu_build_t b = {.spec = spec, .arena = arena, .loop = loop, .tile = &tile};
    if (!loop) return tpt_arena_status(arena);
    vtpu_tile_apply(spec, &tile, loop);
    if (!build_alloc(&b)) return tpt_arena_status(arena);
    vtpu_build_emit(&b);
    if (b.status) return b.status;
    TPT_TRY(tpt_arena_status(arena));
    TPT_TRY(vtpu_build_finish(&b));
    if (loop->register_count + loop->stream_count > VTPU_LOOP_SLOTS_MAX) break;
    loop->frame_size =
        loop->register_size + vtpu_align64(loop->acc_size) + vtpu_align64(loop->work_size);
    bool is_on_stack = spec->row_rank == 0 && spec->col_block == 0;
    if (is_on_stack && loop->frame_size + 128 > VTPU_LOOP_STACK) continue;
    loop->store_at = b.store_at;
    loop->last_read = b.last_read;
    if (loop->reduction_count)
      chunks_set(loop, spec->row_rank > 0);
    else
      loop->chunks = 1;
    cost_set(&b);
    labels_set(&b);
    *out_loop = loop;
    return NULL;
  }
  TPT_FAIL(TPT_INTERNAL, "a fused loop of %d values does not fit the vector machine",
           spec->member_count);
}

bool vtpu_loop_has_op(tpt_hlo_t op) {
  return (op >= TPT_HLO_ABS && op <= TPT_HLO_SELECT) || op == TPT_HLO_BITCAST_CONVERT;
}
