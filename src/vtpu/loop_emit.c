// Turns members into instructions, users after operands; dense outputs into stores or into the
// instruction that computes them; reductions into accumulators. Knows nothing of registers' places.
#include <string.h>

#include "hlo/builder.h"
#include "vtpu/loop_build.h"

static bool op_is_exact(tpt_hlo_t op) {
  return op == TPT_HLO_ABS || op == TPT_HLO_NEGATE || op == TPT_HLO_MAXIMUM ||
         op == TPT_HLO_MINIMUM || op == TPT_HLO_SELECT || op == TPT_HLO_CLAMP ||
         op == TPT_HLO_SIGN || op == TPT_HLO_FLOOR || op == TPT_HLO_CEIL ||
         op == TPT_HLO_ROUND_AFZ || op == TPT_HLO_ROUND_EVEN || op == TPT_HLO_BITCAST_CONVERT;
}

static bool is_narrow(tpt_dtype_t dtype) {
  return dtype == TPT_BF16 || dtype == TPT_F16;
}

static uint16_t vreg_make(vtpu_build_t* b, size_t size, bool fixed) {
  b->vreg_size[b->vreg_count] = (uint8_t)(size | (b->by_row ? VTPU_VREG_ROW : 0));
  b->vreg_fixed[b->vreg_count] = fixed;
  return (uint16_t)b->vreg_count++;
}

static vtpu_instr_t* instr_add(vtpu_build_t* b, vtpu_instr_kind_t kind, bool hoisted) {
  vtpu_instr_t* instr = &b->instrs[b->instr_count];
  memset(instr, 0, sizeof(*instr));
  instr->kind = (uint8_t)kind;
  instr->by_row = b->by_row;
  instr->dst = instr->a = instr->b = instr->c = VTPU_PLACE_NONE;
  b->hoisted[b->instr_count++] = hoisted;
  return instr;
}

static uint16_t stream_add(vtpu_build_t* b, uint32_t buffer, const vtpu_map_t* map, int64_t size) {
  vtpu_stream_t* stream = &b->loop->streams[b->loop->stream_count];
  stream->buffer = buffer;
  stream->offset = map->offset * size;
  int64_t* step = vtpu_tile_steps(b->spec, b->tile, map, size, b->arena);
  // A local array holds a block: the levels of rows, the first ones, do not move in it, but for the
  // innermost one when the block is of several tiles.
  for (int d = 0, level = 0; step && vtpu_buffer_is_local(buffer) && d < b->spec->row_rank; d++)
    if (b->tile->box[d] < b->spec->dims[d]) {
      bool spans = b->spec->row_spans && d == b->spec->row_rank - 1;
      if (!spans) step[level] = 0;
      level++;
    }
  stream->step = step;
  return (uint16_t)(VTPU_PLACE_STREAM | b->loop->stream_count++);
}

static const vtpu_pattern_t* pattern_make(vtpu_build_t* b, const vtpu_map_t* map, int64_t size) {
  vtpu_pattern_t* pattern = tpt_arena_alloc(b->arena, sizeof(*pattern));
  if (pattern) vtpu_tile_pattern(b->spec, b->tile, b->loop, map, size, pattern);
  return pattern;
}

static bool pattern_is_dense(const vtpu_build_t* b, const vtpu_pattern_t* pattern, int64_t size) {
  if (b->loop->lanes_max == 1) return true;
  return pattern->rank == 1 && pattern->runs[0].stride == size;
}

// True if a map gives every tile the same lanes.
static bool map_is_fixed(const vtpu_build_t* b, uint16_t stream, const vtpu_pattern_t* pattern) {
  const vtpu_loop_t* loop = b->loop;
  if (loop->level_count == 0) return false;  // a single tile: nothing would repeat
  const int64_t* steps = loop->streams[stream & ~VTPU_PLACE_STREAM].step;
  if (vtpu_buffer_is_local(loop->streams[stream & ~VTPU_PLACE_STREAM].buffer)) return false;
  for (int level = 0; level < loop->level_count; level++)
    if (steps[level]) return false;
  // Lanes of a ragged tile are the first of a full one unless the columns are cut.
  bool prefix = loop->partial[1].level < 0 || (loop->row_lanes == 1 && loop->partial[0].level < 0);
  return pattern->rank == 0 || prefix;
}

// --- members ---------------------------------------------------------------------------------------------

static uint16_t convert_add(vtpu_build_t* b, uint16_t from_place, tpt_dtype_t from, tpt_dtype_t to,
                            bool fixed, uint16_t dst) {
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_OP, fixed);
  instr->fn = vtpu_vm_convert(from, to);
  instr->a = from_place;
  instr->dst = dst != VTPU_PLACE_NONE ? dst : vreg_make(b, tpt_dtype_size(to), fixed);
  if (!instr->fn && !b->status)
    b->status = tpt_status_make(TPT_UNIMPLEMENTED, __FILE__, __LINE__,
                                "stablehlo.convert from %s to %s is not supported by vtpu",
                                tpt_dtype_row(from)->name, tpt_dtype_row(to)->name);
  return instr->dst;
}

static int dense_output_of(const vtpu_build_t* b, int m) {
  for (int i = 0; i < b->spec->output_count; i++) {
    const vtpu_output_t* output = &b->spec->outputs[i];
    if (output->member == m && output->monoid == TPT_HLO_COUNT && !output->body) return i;
  }
  return -1;
}

// A faster form of a load, where there is one.
static void instr_specialise(vtpu_build_t* b, vtpu_instr_t* instr, const vtpu_pattern_t* pattern,
                             int64_t size) {
  enum { SHORT_RUN = 16 };
  if (pattern->rank < 2) return;
  const vtpu_span_t* inner = &pattern->runs[pattern->rank - 1];
  if (pattern->rank == 2 && pattern->runs[0].stride == size && inner->stride != 0) {
    instr->kind = VTPU_INSTR_TRANSPOSE;
    instr->transpose = vtpu_vm_transpose((size_t)size);
    return;
  }
  if (inner->partial >= 0 || inner->count >= SHORT_RUN) return;
  const int32_t* offsets = vtpu_tile_offsets(b->loop, pattern, size, b->arena);
  if (!offsets) return;
  instr->kind = VTPU_INSTR_GATHER;
  instr->gather = vtpu_vm_gather((size_t)size);
  instr->extra = offsets;
}

// True if the elements of a tile are one per row, side by side, and rows are long enough to be worth
// walking one by one.
static bool pattern_is_by_row(const vtpu_build_t* b, const vtpu_pattern_t* pattern, int64_t size) {
  enum { ROW_LEAST = 48 };
  const vtpu_loop_t* loop = b->loop;
  if (loop->column_lanes * loop->partial[1].box < ROW_LEAST) return false;
  if (b->tile->row_count == 0) return pattern->rank == 0;
  if (pattern->rank != 2) return false;
  const vtpu_span_t *rows = &pattern->runs[0], *columns = &pattern->runs[1];
  return columns->stride == 0 && columns->count == loop->column_lanes &&
         columns->partial == (loop->partial[1].level < 0 ? -1 : 1) && rows->stride == size &&
         rows->count == loop->row_lanes && rows->partial == (loop->partial[0].level < 0 ? -1 : 0);
}

// A member's value in all lanes.
static uint16_t member_spread(vtpu_build_t* b, int m) {
  if (b->member_lanes[m] != VTPU_LANES_ROW) return b->member_place[m];
  if (b->member_spread[m] != VTPU_PLACE_NONE) return b->member_spread[m];
  size_t size = tpt_dtype_size(vtpu_vm_register(b->spec->members[m].dtype));
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_SPREAD, false);
  instr->a = b->member_place[m];
  instr->size = (uint8_t)size;
  instr->move = vtpu_vm_move(size);
  b->cost += 40;
  return b->member_spread[m] = instr->dst = vreg_make(b, size, false);
}

static void load_emit(vtpu_build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  const vtpu_map_t* map = &b->spec->maps[member->map];
  int64_t size = (int64_t)tpt_dtype_size(member->dtype);
  uint16_t place = stream_add(b, member->buffer, map, size);
  const vtpu_pattern_t* pattern = pattern_make(b, map, size);
  if (!pattern || !b->loop->streams[place & ~VTPU_PLACE_STREAM].step) return;
  bool fixed = map_is_fixed(b, place, pattern);
  bool kept = b->spec->stores_last && dense_output_of(b, m) >= 0;
  bool is_dense = pattern_is_dense(b, pattern, size);
  b->by_row = !fixed && !kept && !is_dense && pattern_is_by_row(b, pattern, size);
  b->member_lanes[m] = VTPU_LANES_ALL;
  if (b->by_row) b->member_lanes[m] = VTPU_LANES_ROW;
  if (fixed && pattern->rank == 0) b->member_lanes[m] = VTPU_LANES_SAME;
  if (!b->by_row && (kept || !is_dense)) {
    vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_LOAD, fixed);
    instr->a = place;
    instr->extra = pattern;
    instr->size = (uint8_t)size;
    instr->move = vtpu_vm_move((size_t)size);
    instr_specialise(b, instr, pattern, size);
    place = instr->dst = vreg_make(b, (size_t)size, fixed);
    b->cost +=
        pattern->rank == 0 ? 30 : (pattern->runs[pattern->rank - 1].stride == size ? 80 : 400);
  }
  if (is_narrow(member->dtype)) {
    place = convert_add(b, place, member->dtype, TPT_F32, fixed, VTPU_PLACE_NONE);
    b->cost += 60;
  }
  b->by_row = false;
  b->member_place[m] = place;
  b->member_fixed[m] = fixed;
}

static void number_emit(vtpu_build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  size_t size = tpt_dtype_size(member->dtype);
  bool fixed = b->loop->level_count > 0;
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_FILL, fixed);
  instr->size = (uint8_t)size;
  instr->move = vtpu_vm_move(size);
  instr->extra = member->number;
  uint16_t place = instr->dst = vreg_make(b, size, fixed);
  if (is_narrow(member->dtype))
    place = convert_add(b, place, member->dtype, TPT_F32, fixed, VTPU_PLACE_NONE);
  b->member_place[m] = place;
  b->member_fixed[m] = fixed;
}

static void iota_emit(vtpu_build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  const vtpu_map_t* map = &b->spec->maps[member->map];
  uint16_t stream = stream_add(b, UINT32_MAX, map, 1);
  const vtpu_pattern_t* pattern = pattern_make(b, map, 1);
  if (!pattern || !b->loop->streams[stream & ~VTPU_PLACE_STREAM].step) return;
  bool fixed = map_is_fixed(b, stream, pattern);
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_IOTA, fixed);
  instr->a = stream;
  instr->extra = pattern;
  instr->size = sizeof(int64_t);
  uint16_t place = instr->dst = vreg_make(b, sizeof(int64_t), fixed);
  tpt_dtype_t type = vtpu_vm_register(member->dtype);
  if (type == TPT_C64) place = convert_add(b, place, TPT_S64, TPT_F32, fixed, VTPU_PLACE_NONE);
  if (type == TPT_C128) place = convert_add(b, place, TPT_S64, TPT_F64, fixed, VTPU_PLACE_NONE);
  tpt_dtype_t from = type == TPT_C64 ? TPT_F32 : (type == TPT_C128 ? TPT_F64 : TPT_S64);
  if (type != from) place = convert_add(b, place, from, type, fixed, VTPU_PLACE_NONE);
  if (is_narrow(member->dtype)) {
    vtpu_instr_t* round = instr_add(b, VTPU_INSTR_OP, fixed);
    round->fn = vtpu_vm_round(member->dtype);
    round->a = round->dst = place;
  }
  b->member_place[m] = place;
  b->member_fixed[m] = fixed;
  b->member_lanes[m] = VTPU_LANES_ALL;
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
static uint16_t bitcast_emit(vtpu_build_t* b, const vtpu_member_t* member,
                             const vtpu_member_t* from, uint16_t place, bool fixed) {
  if (is_narrow(from->dtype))
    place = convert_add(b, place, TPT_F32, from->dtype, fixed, VTPU_PLACE_NONE);
  if (is_narrow(member->dtype))
    place = convert_add(b, place, member->dtype, TPT_F32, fixed, VTPU_PLACE_NONE);
  return place;
}

// Total-order comparison: both operands as ordered integers.
static tpt_dtype_t keys_emit(vtpu_build_t* b, tpt_dtype_t type, bool fixed, uint16_t places[3]) {
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
static tpt_hlo_t power_simplify(vtpu_build_t* b, const vtpu_member_t* exponent, tpt_dtype_t type,
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

static void fail_op(vtpu_build_t* b, const vtpu_member_t* member, tpt_dtype_t operand) {
  if (b->status) return;
  b->status = tpt_status_make(TPT_UNIMPLEMENTED, __FILE__, __LINE__,
                              "stablehlo.%s is not supported by vtpu for %s",
                              tpt_hlo_row(member->op)->mnemonic, tpt_dtype_row(operand)->name);
}

// The stream of a dense output if a tile of it is contiguous, else VTPU_PLACE_NONE.
static uint16_t output_stream(vtpu_build_t* b, const vtpu_output_t* output, tpt_dtype_t dtype,
                              const vtpu_pattern_t** out_pattern) {
  int64_t size = (int64_t)tpt_dtype_size(dtype);
  const vtpu_map_t* map = &b->spec->maps[output->map];
  *out_pattern = pattern_make(b, map, size);
  return stream_add(b, output->buffer, map, size);
}

// Writes the value at `place` (register type) to a dense output.
static void store_emit(vtpu_build_t* b, int o, uint16_t place) {
  const vtpu_output_t* output = &b->spec->outputs[o];
  tpt_dtype_t dtype = b->spec->members[output->member].dtype;
  int64_t size = (int64_t)tpt_dtype_size(dtype);
  const vtpu_pattern_t* pattern;
  uint16_t stream = output_stream(b, output, dtype, &pattern);
  if (!pattern) return;
  bool dense = pattern_is_dense(b, pattern, size);
  if (is_narrow(dtype)) {
    place = convert_add(b, place, TPT_F32, dtype, false, dense ? stream : VTPU_PLACE_NONE);
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
static bool store_direct(vtpu_build_t* b, int o, uint16_t* inout_place) {
  const vtpu_output_t* output = &b->spec->outputs[o];
  tpt_dtype_t dtype = b->spec->members[output->member].dtype;
  vtpu_instr_t* last = &b->instrs[b->instr_count - 1];
  if (is_narrow(dtype) || b->hoisted[b->instr_count - 1] ||
      (last->kind != VTPU_INSTR_OP && last->kind != VTPU_INSTR_ROWS) || last->dst != *inout_place ||
      (last->dst & VTPU_PLACE_STREAM) || last->a == last->dst || last->b == last->dst ||
      last->c == last->dst)
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

// True if operand i is the result of `op` that nothing else wants, made by one instruction of a tile.
static bool is_chained(const vtpu_build_t* b, const vtpu_member_t* member, int i, tpt_hlo_t op) {
  int product = member->operands[i];
  const vtpu_member_t* operand = &b->spec->members[product];
  return operand->kind == VTPU_MEMBER_OP && operand->op == op &&
         b->by_row == (b->member_lanes[product] == VTPU_LANES_ROW) &&
         b->member_uses[product] == 1 && dense_output_of(b, product) < 0 &&
         b->member_instr[product] >= 0 && !b->hoisted[b->member_instr[product]];
}

// Makes an OP work row by row with operands that are one element for a row.
static void instr_spread(vtpu_instr_t* instr, vtpu_vm_fn_t fn, int spread, int step) {
  instr->kind = VTPU_INSTR_ROWS;
  instr->fn = fn;
  instr->spread = (uint8_t)spread;
  instr->step = (uint8_t)step;
}

// Takes the product of a sum or difference into one instruction with it; false: there is none. left_as_is:
// bits of the operands that are one element for a row.
static bool chain_emit(vtpu_build_t* b, int m, tpt_dtype_t type, const uint16_t places[3],
                       int left_as_is) {
  const vtpu_member_t* member = &b->spec->members[m];
  if (member->op != TPT_HLO_ADD && member->op != TPT_HLO_SUBTRACT) return false;
  if (member->dtype != TPT_F32 && member->dtype != TPT_F64) return false;
  int side = is_chained(b, member, 0, TPT_HLO_MULTIPLY)
                 ? 0
                 : (is_chained(b, member, 1, TPT_HLO_MULTIPLY) ? 1 : -1);
  if (side < 0) return false;
  vtpu_chain_t chain = VTPU_CHAIN_MUL_ADD;
  if (member->op == TPT_HLO_SUBTRACT) chain = side == 0 ? VTPU_CHAIN_MUL_SUB : VTPU_CHAIN_SUB_MUL;
  vtpu_instr_t* product = &b->instrs[b->member_instr[member->operands[side]]];
  vtpu_instr_t was = *product;
  bool swap = (was.spread & VTPU_OPERAND_A) != 0;
  product->kind = VTPU_INSTR_NONE;
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_OP, false);
  instr->fn = vtpu_vm_chain(chain, type);
  instr->a = swap ? was.b : was.a;
  instr->b = swap ? was.a : was.b;
  instr->c = places[1 - side];
  int spread = was.spread ? VTPU_OPERAND_B : 0, step = was.step ? VTPU_OPERAND_B : 0;
  if (left_as_is >> (1 - side) & 1) {
    spread |= VTPU_OPERAND_C;
    if (b->member_lanes[member->operands[1 - side]] == VTPU_LANES_ROW) step |= VTPU_OPERAND_C;
  }
  if (spread) instr_spread(instr, vtpu_vm_chain_spread(chain, type, spread), spread, step);
  b->member_place[m] = instr->dst = vreg_make(b, tpt_dtype_size(type), false);
  return true;
}

// Takes the difference from a row's number into the exponential of it.
static bool exp_emit(vtpu_build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  if (member->op != TPT_HLO_EXP || b->spec->members[member->operands[0]].dtype != TPT_F32 ||
      !is_chained(b, member, 0, TPT_HLO_SUBTRACT))
    return false;
  vtpu_instr_t* less = &b->instrs[b->member_instr[member->operands[0]]];
  vtpu_instr_t was = *less;
  if (was.kind != VTPU_INSTR_ROWS || was.spread != VTPU_OPERAND_B) return false;
  less->kind = VTPU_INSTR_NONE;
  vtpu_instr_t* instr = instr_add(b, VTPU_INSTR_OP, false);
  instr->a = was.a;
  instr->b = was.b;
  instr->is_slow = true;
  instr_spread(instr, vtpu_vm_exp_less(), was.spread, was.step);
  b->member_place[m] = instr->dst = vreg_make(b, sizeof(float), false);
  return true;
}

// Integers and complex numbers convert through a real type.
static bool convert_through_real(vtpu_build_t* b, int m, tpt_dtype_t from, tpt_dtype_t to,
                                 uint16_t place) {
  if (b->spec->members[m].op != TPT_HLO_CONVERT || from == to || vtpu_vm_convert(from, to))
    return false;
  if (!tpt_dtype_is_complex(from) && !tpt_dtype_is_complex(to)) return false;
  tpt_dtype_t real = tpt_dtype_real(tpt_dtype_is_complex(from) ? from : to);
  bool fixed = b->member_fixed[m];
  place = convert_add(b, place, from, real, fixed, VTPU_PLACE_NONE);
  b->member_place[m] = convert_add(b, place, real, to, fixed, VTPU_PLACE_NONE);
  return true;
}

// Finds what lanes an op needs and where its operands lie: elements of rows are spread over lanes unless
// the op has a form that takes them as they are. Returns the bits of operands left so.
static int operands_place(vtpu_build_t* b, int m, tpt_dtype_t type, uint16_t places[3]) {
  const vtpu_member_t* member = &b->spec->members[m];
  int lanes = VTPU_LANES_SAME, spread = 0;
  for (int i = 0; i < 3; i++) {
    places[i] = VTPU_PLACE_NONE;
    if (member->operands[i] >= 0 && b->member_lanes[member->operands[i]] > lanes)
      lanes = b->member_lanes[member->operands[i]];
  }
  b->member_lanes[m] = (uint8_t)lanes;
  bool takes = lanes == VTPU_LANES_ALL && member->operands[1] >= 0 && member->operands[2] < 0 &&
               vtpu_vm_spread(member->op, type, VTPU_OPERAND_B);
  for (int i = 0; i < 3; i++) {
    int operand = member->operands[i];
    if (operand < 0) continue;
    if (takes && b->member_lanes[operand] != VTPU_LANES_ALL) spread |= 1 << i;
    bool is_whole = lanes == VTPU_LANES_ALL && !takes;
    places[i] = is_whole ? member_spread(b, operand) : b->member_place[operand];
  }
  b->by_row = lanes == VTPU_LANES_ROW;
  return spread;
}

static void op_emit(vtpu_build_t* b, int m) {
  const vtpu_member_t* member = &b->spec->members[m];
  uint16_t places[3];
  bool fixed = b->loop->level_count > 0;
  for (int i = 0; i < 3; i++)
    if (member->operands[i] >= 0) fixed &= b->member_fixed[member->operands[i]];
  const vtpu_member_t* first = &b->spec->members[member->operands[0]];
  tpt_dtype_t operand = vtpu_vm_register(first->dtype), result = vtpu_vm_register(member->dtype);
  int spread = operands_place(b, m, operand, places);
  b->member_fixed[m] = fixed;
  if (!b->by_row) b->cost += vtpu_vm_cost(member->op, operand);
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
  if (convert_through_real(b, m, operand, result, places[0])) return;
  if (chain_emit(b, m, operand, places, spread) || exp_emit(b, m)) return;
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
  instr->is_slow = operand == TPT_F32 && result == TPT_F32 && vtpu_vm_cost(as.op, operand) >= 100;
  if (spread) {
    int first_by_row = b->member_lanes[member->operands[0]] == VTPU_LANES_ROW ? VTPU_OPERAND_A : 0;
    int second_by_row = b->member_lanes[member->operands[1]] == VTPU_LANES_ROW ? VTPU_OPERAND_B : 0;
    instr_spread(instr, vtpu_vm_spread(member->op, operand, spread), spread,
                 spread & (first_by_row | second_by_row));
  }
  if (member->op == TPT_HLO_MULTIPLY || member->op == TPT_HLO_SUBTRACT)
    b->member_instr[m] = b->instr_count - 1;
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

static void member_emit(vtpu_build_t* b, int m) {
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
    b->by_row = false;
    break;
  }
  int direct = dense_output_of(b, m);
  const vtpu_member_t* member = &b->spec->members[m];
  if (b->spec->stores_last && b->spec->output_count > 1) return;
  // An op that is held by its operand's register made no instruction of its own to retarget.
  if (direct >= 0 && (b->member_lanes[m] == VTPU_LANES_ROW || member->kind != VTPU_MEMBER_OP ||
                      member->op == TPT_HLO_BITCAST_CONVERT || b->instr_count == first_instr ||
                      !store_direct(b, direct, &b->member_place[m])))
    direct = -1;
  for (int o = 0; o < b->spec->output_count; o++) {
    const vtpu_output_t* output = &b->spec->outputs[o];
    if (o != direct && output->member == m && output->monoid == TPT_HLO_COUNT && !output->body)
      store_emit(b, o, member_spread(b, m));
  }
}

static void stores_emit_last(vtpu_build_t* b) {
  if (!b->spec->stores_last || b->spec->output_count < 2) return;
  for (int o = 0; o < b->spec->output_count; o++)
    (void)member_spread(b, b->spec->outputs[o].member);
  for (int o = 0; o < b->spec->output_count; o++)
    store_emit(b, o, member_spread(b, b->spec->outputs[o].member));
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

// Elements handed to a body are in the memory type.
static uint16_t reduction_element(vtpu_build_t* b, const vtpu_output_t* output) {
  uint16_t place = member_spread(b, output->member);
  tpt_dtype_t dtype = b->spec->members[output->member].dtype;
  if (!output->body || !is_narrow(dtype)) return place;
  return convert_add(b, place, TPT_F32, dtype, b->member_fixed[output->member], VTPU_PLACE_NONE);
}

static void reduction_emit(vtpu_build_t* b, int first) {
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
        (uint16_t)(stream_add(b, output->buffer, &map, (int64_t)size) & ~VTPU_PLACE_STREAM);
    reduction->dtypes[i] = dtype;
    reduction->init_buffers[i] = output->init_buffer;
    reduction->inits[i] = output->init;
    reduction->acc_offsets[i] = loop->acc_size;
    loop->acc_size += vtpu_align64((size_t)loop->lanes_max * lane_size);
    // Room to convert results, or for the halves of a tree of body calls.
    loop->work_size += vtpu_align64((size_t)loop->lanes_max * (head->body ? 3 * size : 4)) +
                       (head->body ? 3 * 64 : 0);
    b->cost += head->body ? 2000 : 60;
  }
}

static void uses_find(vtpu_build_t* b) {
  for (int m = 0; m < b->spec->member_count; m++) {
    b->member_instr[m] = -1;
    b->member_spread[m] = VTPU_PLACE_NONE;
    for (int i = 0; i < 3; i++)
      if (b->spec->members[m].kind == VTPU_MEMBER_OP && b->spec->members[m].operands[i] >= 0)
        b->member_uses[b->spec->members[m].operands[i]]++;
  }
  for (int o = 0; o < b->spec->output_count; o++)
    if (b->spec->outputs[o].monoid != TPT_HLO_COUNT || b->spec->outputs[o].body)
      b->member_uses[b->spec->outputs[o].member]++;
  for (int m = 0; m < b->spec->member_count; m++)
    b->member_shared[m] = b->member_uses[m] > 0;
}

void vtpu_build_emit(vtpu_build_t* b) {
  for (int o = 0; o < b->spec->output_count; o++)
    b->store_at[o] = -1;
  uses_find(b);
  for (int m = b->spec->member_count - 1; m >= 0; m--)
    member_emit(b, m);
  stores_emit_last(b);
  for (int o = 0; o < b->spec->output_count; o++) {
    const vtpu_output_t* output = &b->spec->outputs[o];
    if (output->monoid != TPT_HLO_COUNT || (output->body && output->body_first == o))
      reduction_emit(b, o);
  }
}
