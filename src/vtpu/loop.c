// Compiles a spec into a loop: members become instructions in dependency order, registers are shared
// by last use, what every tile would repeat goes into the prologue. The result depends on the spec only.
#include "vtpu/loop.h"

#include <string.h>

#include "hlo/builder.h"

enum { SLOT_NONE = 0xFFFF, LEVEL_TRIES = 8 };

// Values of the program under construction. A place is a virtual register or a stream.
typedef struct build {
  vtpu_loop_spec_t* spec;
  tpt_arena_t* arena;
  vtpu_loop_t* loop;
  const vtpu_tile_t* tile;
  // virtual registers: element size, hoisted into the prologue
  int vreg_count, vreg_capacity;
  uint8_t* vreg_size;
  bool* vreg_fixed;
  vtpu_instr_t* instrs;  // operands are places: vregs, or STREAM_BIT | stream
  bool* hoisted;
  int instr_count, instr_capacity;
  int stream_capacity;
  uint16_t* member_place;  // per member
  bool* member_fixed;      // the same for every tile
  bool* member_shared;     // used by a member or a reduction, not only by a dense output
  int32_t* store_at;
  int32_t* last_read;
  int64_t cost;  // picoseconds per element
  tpt_status_t status;
} build_t;

enum { STREAM_BIT = 0x8000 };

static bool op_is_exact(tpt_hlo_t op) {
  return op == TPT_HLO_ABS || op == TPT_HLO_NEGATE || op == TPT_HLO_MAXIMUM ||
         op == TPT_HLO_MINIMUM || op == TPT_HLO_SELECT || op == TPT_HLO_CLAMP ||
         op == TPT_HLO_SIGN || op == TPT_HLO_FLOOR || op == TPT_HLO_CEIL ||
         op == TPT_HLO_ROUND_AFZ || op == TPT_HLO_ROUND_EVEN || op == TPT_HLO_BITCAST_CONVERT;
}

static bool is_narrow(tpt_dtype_t dtype) {
  return dtype == TPT_BF16 || dtype == TPT_F16;
}

static uint16_t vreg_make(build_t* b, size_t size, bool fixed) {
  b->vreg_size[b->vreg_count] = (uint8_t)size;
  b->vreg_fixed[b->vreg_count] = fixed;
  return (uint16_t)b->vreg_count++;
}

static vtpu_instr_t* instr_add(build_t* b, vtpu_instr_kind_t kind, bool hoisted) {
  vtpu_instr_t* instr = &b->instrs[b->instr_count];
  memset(instr, 0, sizeof(*instr));
  instr->kind = (uint8_t)kind;
  instr->dst = instr->a = instr->b = instr->c = SLOT_NONE;
  b->hoisted[b->instr_count++] = hoisted;
  return instr;
}

static uint16_t stream_add(build_t* b, uint32_t buffer, const vtpu_map_t* map, int64_t size) {
  vtpu_stream_t* stream = &b->loop->streams[b->loop->stream_count];
  stream->buffer = buffer;
  stream->offset = map->offset * size;
  stream->step = vtpu_tile_steps(b->spec, b->tile, map, size, b->arena);
  return (uint16_t)(STREAM_BIT | b->loop->stream_count++);
}

static const vtpu_pattern_t* pattern_make(build_t* b, const vtpu_map_t* map, int64_t size) {
  vtpu_pattern_t* pattern = tpt_arena_alloc(b->arena, sizeof(*pattern));
  if (pattern) vtpu_tile_pattern(b->spec, b->tile, b->loop, map, size, pattern);
  return pattern;
}

static bool pattern_is_dense(const build_t* b, const vtpu_pattern_t* pattern, int64_t size) {
  if (b->loop->lanes_max == 1) return true;
  return pattern->rank == 1 && pattern->runs[0].stride == size;
}

// True if a map gives every tile the same lanes.
static bool map_is_fixed(const build_t* b, uint16_t stream, const vtpu_pattern_t* pattern) {
  const vtpu_loop_t* loop = b->loop;
  if (loop->level_count == 0) return false;  // a single tile: nothing would repeat
  const int64_t* steps = loop->streams[stream & ~STREAM_BIT].step;
  for (int level = 0; level < loop->level_count; level++)
    if (steps[level]) return false;
  // Lanes of a ragged tile are the first of a full one unless the columns are cut.
  bool prefix = loop->partial[1].level < 0 || (loop->row_lanes == 1 && loop->partial[0].level < 0);
  return pattern->rank == 0 || prefix;
}

// --- members ---------------------------------------------------------------------------------------------

static uint16_t convert_add(build_t* b, uint16_t from_place, tpt_dtype_t from, tpt_dtype_t to,
                            bool fixed, uint16_t dst) {
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_OP, fixed);
  instr->fn = vtpu_vm_convert(from, to);
  instr->a = from_place;
  instr->dst = dst != SLOT_NONE ? dst : vreg_make(b, tpt_dtype_size(to), fixed);
  if (!instr->fn && !b->status)
    b->status = tpt_status_make(TPT_UNIMPLEMENTED, __FILE__, __LINE__,
                                "stablehlo.convert from %s to %s is not supported by vtpu",
                                tpt_dtype_row(from)->name, tpt_dtype_row(to)->name);
  return instr->dst;
}

static int dense_output_of(const build_t* b, int m) {
  for (int i = 0; i < b->spec->output_count; i++) {
    const vtpu_output_t* output = &b->spec->outputs[i];
    if (output->member == m && output->monoid == TPT_HLO_COUNT && !output->body) return i;
  }
  return -1;
}

static void load_emit(build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  const vtpu_map_t* map = &b->spec->maps[member->map];
  int64_t size = (int64_t)tpt_dtype_size(member->dtype);
  uint16_t place = stream_add(b, member->buffer, map, size);
  const vtpu_pattern_t* pattern = pattern_make(b, map, size);
  if (!pattern || !b->loop->streams[place & ~STREAM_BIT].step) return;
  bool fixed = map_is_fixed(b, place, pattern);
  bool kept = b->spec->stores_last && dense_output_of(b, m) >= 0;
  if (kept || !pattern_is_dense(b, pattern, size)) {
    vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_LOAD, fixed);
    instr->a = place;
    instr->extra = pattern;
    instr->size = (uint8_t)size;
    instr->move = vtpu_vm_move((size_t)size);
    if (pattern->rank == 2 && pattern->runs[0].stride == size) {
      instr->kind = VTPU_INSTR_TRANSPOSE;
      instr->transpose = vtpu_vm_transpose((size_t)size);
    }
    place = instr->dst = vreg_make(b, (size_t)size, fixed);
    b->cost +=
        pattern->rank == 0 ? 30 : (pattern->runs[pattern->rank - 1].stride == size ? 80 : 400);
  }
  if (is_narrow(member->dtype)) {
    place = convert_add(b, place, member->dtype, TPT_F32, fixed, SLOT_NONE);
    b->cost += 60;
  }
  b->member_place[m] = place;
  b->member_fixed[m] = fixed;
}

static void number_emit(build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  size_t size = tpt_dtype_size(member->dtype);
  bool fixed = b->loop->level_count > 0;
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_FILL, fixed);
  instr->size = (uint8_t)size;
  instr->move = vtpu_vm_move(size);
  instr->extra = member->number;
  uint16_t place = instr->dst = vreg_make(b, size, fixed);
  if (is_narrow(member->dtype))
    place = convert_add(b, place, member->dtype, TPT_F32, fixed, SLOT_NONE);
  b->member_place[m] = place;
  b->member_fixed[m] = fixed;
}

static void iota_emit(build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  const vtpu_map_t* map = &b->spec->maps[member->map];
  uint16_t stream = stream_add(b, UINT32_MAX, map, 1);
  const vtpu_pattern_t* pattern = pattern_make(b, map, 1);
  if (!pattern || !b->loop->streams[stream & ~STREAM_BIT].step) return;
  bool fixed = map_is_fixed(b, stream, pattern);
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_IOTA, fixed);
  instr->a = stream;
  instr->extra = pattern;
  instr->size = sizeof(int64_t);
  uint16_t place = instr->dst = vreg_make(b, sizeof(int64_t), fixed);
  tpt_dtype_t type = vtpu_vm_register(member->dtype);
  if (type == TPT_C64) place = convert_add(b, place, TPT_S64, TPT_F32, fixed, SLOT_NONE);
  if (type == TPT_C128) place = convert_add(b, place, TPT_S64, TPT_F64, fixed, SLOT_NONE);
  tpt_dtype_t from = type == TPT_C64 ? TPT_F32 : (type == TPT_C128 ? TPT_F64 : TPT_S64);
  if (type != from) place = convert_add(b, place, from, type, fixed, SLOT_NONE);
  if (is_narrow(member->dtype)) {
    vtpu_instr_t* round = instr_add(b, VTPU_INSTR_OP, fixed);
    round->fn = vtpu_vm_round(member->dtype);
    round->a = round->dst = place;
  }
  b->member_place[m] = place;
  b->member_fixed[m] = fixed;
  b->cost += 500;
}

// The function of an op's single instruction; NULL if the machine has none.
static vtpu_vm_fn_t op_function(const vtpu_member_t* member, tpt_dtype_t operand,
                                tpt_dtype_t result) {
  if (member->op == TPT_HLO_COMPARE) return vtpu_vm_compare(member->attrs[0].i, operand);
  if (member->op == TPT_HLO_CONVERT) {
    if (operand == result) return vtpu_vm_op(TPT_HLO_REAL, TPT_F32);
    return vtpu_vm_convert(operand, result);
  }
  if (member->op == TPT_HLO_SELECT || member->op == TPT_HLO_CLAMP)
    return vtpu_vm_op(member->op, result);
  return vtpu_vm_op(member->op, operand);
}

// A bitcast of equal widths only moves bits; narrow floats leave and enter their f32 registers.
static uint16_t bitcast_emit(build_t* b, const vtpu_member_t* member, const vtpu_member_t* from,
                             uint16_t place, bool fixed) {
  if (is_narrow(from->dtype)) place = convert_add(b, place, TPT_F32, from->dtype, fixed, SLOT_NONE);
  if (is_narrow(member->dtype))
    place = convert_add(b, place, member->dtype, TPT_F32, fixed, SLOT_NONE);
  return place;
}

// Total-order comparison: both operands as ordered integers.
static tpt_dtype_t keys_emit(build_t* b, tpt_dtype_t type, bool fixed, uint16_t places[3]) {
  for (int i = 0; i < 2; i++) {
    vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_OP, fixed);
    instr->fn = vtpu_vm_order_key(type);
    instr->a = places[i];
    places[i] = instr->dst = vreg_make(b, tpt_dtype_size(type), fixed);
  }
  return type == TPT_F32 ? TPT_S32 : TPT_S64;
}

static bool number_is(const vtpu_member_t* member, double value) {
  if (member->kind != VTPU_MEMBER_NUMBER || !tpt_dtype_is_float(member->dtype)) return false;
  return tpt_number_load(member->dtype, member->number).f == value;
}

// x^2 and x^3 are products, as in PyTorch; the last factor stays in `places`.
static tpt_hlo_t power_simplify(build_t* b, const vtpu_member_t* exponent, tpt_dtype_t type,
                                bool fixed, uint16_t places[3]) {
  if (number_is(exponent, 2)) {
    places[1] = places[0];
    return TPT_HLO_MULTIPLY;
  }
  if (!number_is(exponent, 3)) return TPT_HLO_POWER;
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_OP, fixed);
  instr->fn = vtpu_vm_op(TPT_HLO_MULTIPLY, type);
  instr->a = instr->b = places[0];
  places[1] = instr->dst = vreg_make(b, tpt_dtype_size(type), fixed);
  return TPT_HLO_MULTIPLY;
}

static void fail_op(build_t* b, const vtpu_member_t* member, tpt_dtype_t operand) {
  if (b->status) return;
  b->status = tpt_status_make(TPT_UNIMPLEMENTED, __FILE__, __LINE__,
                              "stablehlo.%s is not supported by vtpu for %s",
                              tpt_hlo_row(member->op)->mnemonic, tpt_dtype_row(operand)->name);
}

// The stream of a dense output if a tile of it is contiguous, else SLOT_NONE.
static uint16_t output_stream(build_t* b, const vtpu_output_t* output, tpt_dtype_t dtype,
                              const vtpu_pattern_t** out_pattern) {
  int64_t size = (int64_t)tpt_dtype_size(dtype);
  const vtpu_map_t* map = &b->spec->maps[output->map];
  *out_pattern = pattern_make(b, map, size);
  return stream_add(b, output->buffer, map, size);
}

// Writes the value at `place` (register type) to a dense output.
static void store_emit(build_t* b, int o, uint16_t place) {
  const vtpu_output_t* output = &b->spec->outputs[o];
  tpt_dtype_t dtype = b->spec->members[output->member].dtype;
  int64_t size = (int64_t)tpt_dtype_size(dtype);
  const vtpu_pattern_t* pattern;
  uint16_t stream = output_stream(b, output, dtype, &pattern);
  if (!pattern) return;
  bool dense = pattern_is_dense(b, pattern, size);
  if (is_narrow(dtype)) {
    place = convert_add(b, place, TPT_F32, dtype, false, dense ? stream : SLOT_NONE);
    b->store_at[o] = b->instr_count - 1;
    if (dense) return;
  }
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_STORE, false);
  instr->dst = stream;
  instr->a = place;
  instr->size = (uint8_t)size;
  instr->move = vtpu_vm_move((size_t)size);
  instr->extra = pattern;
  b->store_at[o] = b->instr_count - 1;
  b->cost += 60;
}

// Retargets the instruction just made to write an output's memory itself. Later readers read there.
static bool store_direct(build_t* b, int o, uint16_t* inout_place) {
  const vtpu_output_t* output = &b->spec->outputs[o];
  tpt_dtype_t dtype = b->spec->members[output->member].dtype;
  vtpu_instr_t* last = &b->instrs[b->instr_count - 1];
  if (is_narrow(dtype) || b->hoisted[b->instr_count - 1] || last->kind != VTPU_INSTR_OP ||
      last->dst != *inout_place || (last->dst & STREAM_BIT) || last->a == last->dst ||
      last->b == last->dst || last->c == last->dst)
    return false;
  int64_t size = (int64_t)tpt_dtype_size(dtype);
  const vtpu_map_t* map = &b->spec->maps[output->map];
  vtpu_pattern_t pattern;
  vtpu_tile_pattern(b->spec, b->tile, b->loop, map, size, &pattern);
  if (!pattern_is_dense(b, &pattern, size)) return false;
  last->dst = *inout_place = stream_add(b, output->buffer, map, size);
  b->store_at[o] = b->instr_count - 1;
  return true;
}

static void op_emit(build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  uint16_t places[3] = {SLOT_NONE, SLOT_NONE, SLOT_NONE};
  bool fixed = b->loop->level_count > 0;
  for (int i = 0; i < 3; i++)
    if (member->operands[i] >= 0) {
      places[i] = b->member_place[member->operands[i]];
      fixed &= b->member_fixed[member->operands[i]];
    }
  const vtpu_member_t* first = &b->spec->members[member->operands[0]];
  tpt_dtype_t operand = vtpu_vm_register(first->dtype), result = vtpu_vm_register(member->dtype);
  b->member_fixed[m] = fixed;
  b->cost += vtpu_vm_cost(member->op, operand);
  vtpu_member_t as = *member;
  if (member->op == TPT_HLO_BITCAST_CONVERT) {
    b->member_place[m] = bitcast_emit(b, member, first, places[0], fixed);
    return;
  }
  if (member->op == TPT_HLO_CONVERT && operand == result &&
      (!is_narrow(member->dtype) || !b->member_shared[m])) {
    b->member_place[m] = places[0];  // held in that type already; a store rounds
    return;
  }
  if (member->op == TPT_HLO_COMPARE && member->attrs[1].i == TPT_COMPARE_TOTALORDER &&
      tpt_dtype_is_float(operand))
    operand = keys_emit(b, operand, fixed, places);
  if (member->op == TPT_HLO_POWER && tpt_dtype_is_float(operand))
    as.op = power_simplify(b, &b->spec->members[member->operands[1]], operand, fixed, places);
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_OP, fixed);
  instr->fn = op_function(&as, operand, result);
  if (!instr->fn) fail_op(b, member, first->dtype);
  instr->a = places[0];
  instr->b = places[1];
  instr->c = places[2];
  if (member->op == TPT_HLO_REDUCE_PRECISION) {
    int32_t* bits = tpt_arena_alloc(b->arena, 2 * sizeof(*bits));
    if (!bits) return;
    bits[0] = (int32_t)member->attrs[0].i;
    bits[1] = (int32_t)member->attrs[1].i;
    instr->extra = bits;
  }
  b->member_place[m] = instr->dst = vreg_make(b, tpt_dtype_size(result), fixed);
  if (is_narrow(member->dtype) && !op_is_exact(member->op) && b->member_shared[m]) {
    vtpu_instr_t* round = instr_add(b, VTPU_INSTR_OP, fixed);
    round->fn = vtpu_vm_round(member->dtype);
    round->a = round->dst = b->member_place[m];
    b->cost += 150;
  }
}

static void member_emit(build_t* b, int m) {
  int first_instr = b->instr_count;
  switch (b->spec->members[m].kind) {
  case VTPU_MEMBER_LOAD:
    load_emit(b, m);
    break;
  case VTPU_MEMBER_IOTA:
    iota_emit(b, m);
    break;
  case VTPU_MEMBER_NUMBER:
    number_emit(b, m);
    break;
  case VTPU_MEMBER_OP:
    op_emit(b, m);
    break;
  }
  int direct = dense_output_of(b, m);
  const vtpu_member_t* member = &b->spec->members[m];
  if (b->spec->stores_last && b->spec->output_count > 1) return;
  // An op that is held by its operand's register made no instruction of its own to retarget.
  if (direct >= 0 && (member->kind != VTPU_MEMBER_OP || member->op == TPT_HLO_BITCAST_CONVERT ||
                      b->instr_count == first_instr ||
                      !store_direct(b, direct, &b->member_place[m])))
    direct = -1;
  for (int o = 0; o < b->spec->output_count; o++) {
    const vtpu_output_t* output = &b->spec->outputs[o];
    if (o != direct && output->member == m && output->monoid == TPT_HLO_COUNT && !output->body)
      store_emit(b, o, b->member_place[m]);
  }
}

static void stores_emit_last(build_t* b) {
  if (!b->spec->stores_last || b->spec->output_count < 2) return;
  for (int o = 0; o < b->spec->output_count; o++)
    store_emit(b, o, b->member_place[b->spec->outputs[o].member]);
}

// --- reductions --------------------------------------------------------------------------------------

// The result is dense over the kept dimensions, in order.
static vtpu_map_t kept_map(const vtpu_loop_spec_t* spec) {
  vtpu_map_t map;
  memset(&map, 0, sizeof(map));
  int64_t stride = 1;
  for (int d = spec->rank - 1; d >= 0; d--) {
    if (spec->reduced[d]) continue;
    map.stride[d] = stride;
    stride *= spec->dims[d];
  }
  return map;
}

static size_t align64(size_t size) {
  return (size + 63) & ~(size_t)63;
}

// Elements handed to a body are in the memory type.
static uint16_t reduction_element(build_t* b, const vtpu_output_t* output) {
  uint16_t place = b->member_place[output->member];
  tpt_dtype_t dtype = b->spec->members[output->member].dtype;
  if (!output->body || !is_narrow(dtype)) return place;
  return convert_add(b, place, TPT_F32, dtype, b->member_fixed[output->member], SLOT_NONE);
}

static void reduction_emit(build_t* b, int first) {
  const vtpu_loop_spec_t* spec = b->spec;
  vtpu_loop_t* loop = b->loop;
  const vtpu_output_t* head = &spec->outputs[first];
  vtpu_reduction_t* reduction = &loop->reductions[loop->reduction_count++];
  memset(reduction, 0, sizeof(*reduction));
  reduction->body = head->body;
  reduction->count = head->body ? head->body_count : 1;
  vtpu_map_t map = kept_map(spec);
  for (int i = 0; i < reduction->count; i++) {
    const vtpu_output_t* output = &spec->outputs[first + i];
    tpt_dtype_t dtype = spec->members[output->member].dtype;
    size_t size = tpt_dtype_size(dtype), lane_size = size;
    if (!head->body) {
      reduction->fns = vtpu_vm_reduce(output->monoid, vtpu_vm_register(dtype));
      if (!reduction->fns) {
        vtpu_member_t as = {.op = output->monoid};
        fail_op(b, &as, dtype);
        return;
      }
      lane_size = reduction->fns->lane_size;
    }
    reduction->slots[i] = reduction_element(b, output);
    reduction->streams[i] =
        (uint16_t)(stream_add(b, output->buffer, &map, (int64_t)size) & ~STREAM_BIT);
    reduction->dtypes[i] = dtype;
    reduction->init_buffers[i] = output->init_buffer;
    reduction->inits[i] = output->init;
    reduction->acc_offsets[i] = loop->acc_size;
    loop->acc_size += align64((size_t)loop->lanes_max * lane_size);
    // Room to convert results, or for the halves of a tree of body calls.
    loop->work_size +=
        align64((size_t)loop->lanes_max * (head->body ? 3 * size : 4)) + (head->body ? 3 * 64 : 0);
    b->cost += head->body ? 2000 : 60;
  }
}

// --- order and registers -----------------------------------------------------------------------------

static void prologue_split(build_t* b) {
  vtpu_loop_t* loop = b->loop;
  loop->instrs = tpt_arena_alloc(b->arena, sizeof(*loop->instrs) * (size_t)(b->instr_count + 1));
  int32_t* new_index = tpt_arena_alloc(b->arena, sizeof(*new_index) * (size_t)(b->instr_count + 1));
  if (!loop->instrs || !new_index) return;
  loop->instr_count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < b->instr_count; i++) {
      if (b->hoisted[i] != (pass == 0)) continue;
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
  if (place != SLOT_NONE && !(place & STREAM_BIT) && r->last_use[place] < at)
    r->last_use[place] = at;
}

static void register_take(build_t* b, registers_t* r, uint16_t vreg) {
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

static void register_drop(build_t* b, registers_t* r, uint16_t place, int32_t at) {
  if (place == SLOT_NONE || (place & STREAM_BIT) || b->vreg_fixed[place]) return;
  if (r->last_use[place] == at && r->physical[place] >= 0) r->free[r->physical[place]] = true;
}

static void registers_assign(build_t* b, registers_t* r) {
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
    register_drop(b, r, instr->a, i);
    if (instr->b != instr->a) register_drop(b, r, instr->b, i);
    if (instr->c != instr->a && instr->c != instr->b) register_drop(b, r, instr->c, i);
    if (instr->dst != SLOT_NONE && !(instr->dst & STREAM_BIT)) {
      register_take(b, r, instr->dst);
      register_drop(b, r, instr->dst, i);  // never read again
    }
  }
  loop->register_count = r->count;
  uint32_t* offsets = tpt_arena_alloc(b->arena, sizeof(*offsets) * (size_t)(r->count + 1));
  if (!offsets) return;
  size_t offset = 0;
  for (int i = 0; i < r->count; i++) {
    offsets[i] = (uint32_t)offset;
    offset += align64((size_t)loop->lanes_max * r->sizes[i]);
  }
  loop->register_offsets = offsets;
  loop->register_size = offset;
}

static uint16_t slot_of(const vtpu_loop_t* loop, const registers_t* r, uint16_t place) {
  if (place == SLOT_NONE) return 0;
  if (place & STREAM_BIT) return (uint16_t)(loop->register_count + (place & ~STREAM_BIT));
  return (uint16_t)r->physical[place];
}

static void slots_set(build_t* b, const registers_t* r) {
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

// --- whole ---------------------------------------------------------------------------------------------

static bool build_alloc(build_t* b) {
  size_t members = (size_t)b->spec->member_count, outputs = (size_t)b->spec->output_count;
  size_t instrs = members * 6 + outputs * 3 + 1;
  size_t streams = members + outputs + 1;
  b->vreg_size = tpt_arena_alloc(b->arena, instrs);
  b->vreg_fixed = tpt_arena_alloc(b->arena, instrs * sizeof(bool));
  b->instrs = tpt_arena_alloc(b->arena, instrs * sizeof(*b->instrs));
  b->hoisted = tpt_arena_alloc(b->arena, instrs * sizeof(bool));
  b->member_place = tpt_arena_calloc(b->arena, members + 1, sizeof(*b->member_place));
  b->member_fixed = tpt_arena_calloc(b->arena, members + 1, sizeof(bool));
  b->member_shared = tpt_arena_calloc(b->arena, members + 1, sizeof(bool));
  b->store_at = tpt_arena_alloc(b->arena, (outputs + 1) * sizeof(*b->store_at));
  b->last_read = tpt_arena_alloc(b->arena, (members + 1) * sizeof(*b->last_read));
  b->loop->streams = tpt_arena_calloc(b->arena, streams, sizeof(*b->loop->streams));
  b->loop->reductions = tpt_arena_alloc(b->arena, (outputs + 1) * sizeof(*b->loop->reductions));
  return b->loop->reductions && b->loop->streams && b->last_read && b->store_at &&
         b->member_shared && b->member_fixed && b->member_place && b->hoisted && b->instrs &&
         b->vreg_fixed && b->vreg_size;
}

static void shared_find(build_t* b) {
  for (int m = 0; m < b->spec->member_count; m++)
    for (int i = 0; i < 3; i++)
      if (b->spec->members[m].kind == VTPU_MEMBER_OP && b->spec->members[m].operands[i] >= 0)
        b->member_shared[b->spec->members[m].operands[i]] = true;
  for (int o = 0; o < b->spec->output_count; o++)
    if (b->spec->outputs[o].monoid != TPT_HLO_COUNT || b->spec->outputs[o].body)
      b->member_shared[b->spec->outputs[o].member] = true;
}

// The instruction that last reads each member's memory.
static void last_reads_find(build_t* b) {
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

// Cuts a long reduction with few results, so that several threads share it. Depends on shapes only.
static void chunks_set(vtpu_loop_t* loop) {
  loop->chunks = 1;
  if (loop->kept_tiles == 0 || loop->kept_tiles >= 8) return;
  int64_t tiles_least = 32768 / (loop->lanes_max + 1) + 1;
  int64_t most = loop->reduced_tiles / tiles_least, wanted = 16 / loop->kept_tiles;
  loop->chunks = most < wanted ? most : wanted;
  if (loop->chunks < 1) loop->chunks = 1;
  if (loop->chunks > 1)
    loop->scratch_size = loop->acc_size * (size_t)(loop->chunks * loop->kept_tiles);
}

static void cost_set(build_t* b) {
  vtpu_loop_t* loop = b->loop;
  double count = (double)loop->element_count, bytes = 0;
  for (int m = 0; m < b->spec->member_count; m++) {
    const vtpu_member_t* member = &b->spec->members[m];
    if (member->kind == VTPU_MEMBER_OP) loop->flops += count;
    if (member->kind != VTPU_MEMBER_LOAD) continue;
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
    bytes += (dense ? count : kept) * size;
    if (!dense) loop->flops += count;
  }
  loop->bytes = bytes;
  double tiles =
      (double)loop->kept_tiles * (double)(loop->reduced_tiles > 0 ? loop->reduced_tiles : 1);
  double overhead = tiles * (double)(loop->instr_count + 2) * 3;
  double memory = bytes < 1e6 ? bytes * 0.02 : bytes * 0.06;
  loop->cost = (int64_t)(20 + overhead + count * (double)b->cost / 1000 + memory);
}

static tpt_status_t loop_build(build_t* b) {
  vtpu_loop_t* loop = b->loop;
  for (int o = 0; o < b->spec->output_count; o++)
    b->store_at[o] = -1;
  shared_find(b);
  for (int m = b->spec->member_count - 1; m >= 0; m--)
    member_emit(b, m);
  stores_emit_last(b);
  for (int o = 0; o < b->spec->output_count; o++) {
    const vtpu_output_t* output = &b->spec->outputs[o];
    if (output->monoid != TPT_HLO_COUNT || (output->body && output->body_first == o))
      reduction_emit(b, o);
  }
  if (b->status) return b->status;
  TPT_TRY(tpt_arena_status(b->arena));
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
    build_t b = {.spec = spec, .arena = arena, .loop = loop, .tile = &tile};
    if (!loop) return tpt_arena_status(arena);
    vtpu_tile_apply(spec, &tile, loop);
    if (!build_alloc(&b)) return tpt_arena_status(arena);
    TPT_TRY(loop_build(&b));
    if (loop->register_count + loop->stream_count > VTPU_LOOP_SLOTS_MAX) break;
    if (loop->register_size + align64(loop->acc_size) + loop->work_size + 128 > VTPU_LOOP_STACK)
      continue;
    loop->store_at = b.store_at;
    loop->last_read = b.last_read;
    if (loop->reduction_count)
      chunks_set(loop);
    else
      loop->chunks = 1;
    cost_set(&b);
    *out_loop = loop;
    return NULL;
  }
  TPT_FAIL(TPT_INTERNAL, "a fused loop of %d values does not fit the vector machine",
           spec->member_count);
}

bool vtpu_loop_has_op(tpt_hlo_t op) {
  return (op >= TPT_HLO_ABS && op <= TPT_HLO_SELECT) || op == TPT_HLO_BITCAST_CONVERT;
}
