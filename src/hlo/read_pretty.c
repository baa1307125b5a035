// Owns the reading of StableHLO's pretty form: one general way (operands, enumeration words and
// "key = value" parts in any order) and a few ops that look different. Must not know type rules.
#include "hlo/reader.h"
#include "hlo/region.h"

// Keys of the general way and the slots they set.
static const struct key {
  tpt_hlo_t op;
  const char* text;
  int slot;
} keys[] = {
    {TPT_HLO_BROADCAST_IN_DIM, "dims", 0},
    {TPT_HLO_TRANSPOSE, "dims", 0},
    {TPT_HLO_REVERSE, "dims", 0},
    {TPT_HLO_CONCATENATE, "dim", 0},
    {TPT_HLO_IOTA, "dim", 0},
    {TPT_HLO_DYNAMIC_SLICE, "sizes", 0},
    {TPT_HLO_PAD, "low", 0},
    {TPT_HLO_PAD, "high", 1},
    {TPT_HLO_PAD, "interior", 2},
    {TPT_HLO_DOT_GENERAL, "batching_dims", 0},
    {TPT_HLO_DOT_GENERAL, "contracting_dims", 2},
    {TPT_HLO_DOT_GENERAL, "precision", 4},
    {TPT_HLO_CHOLESKY, "lower", 0},
    {TPT_HLO_FFT, "type", 0},
    {TPT_HLO_FFT, "length", 1},
    {TPT_HLO_RNG_BIT_GENERATOR, "algorithm", 0},
};

static int find_key(tpt_hlo_t op, tpt_text_t word) {
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
    if (keys[i].op == op && tpt__text_is(word, keys[i].text)) return keys[i].slot;
  }
  return -1;
}

static tpt_status_t read_operand(tpt_reader_t* r, tpt_read_op_t* op) {
  tpt_value_t value;
  TPT_TRY(tpt__read_value(r, &value));
  return tpt__read_add_operand(r, op, value);
}

// e5m10
static tpt_status_t read_format(tpt_reader_t* r, tpt_read_op_t* op) {
  TPT_TRY(tpt__read_expect(r, 'e'));
  op->attrs[0].is_set = op->attrs[1].is_set = true;
  TPT_TRY(tpt__read_i64(r, &op->attrs[0].i));
  TPT_TRY(tpt__read_expect(r, 'm'));
  return tpt__read_i64(r, &op->attrs[1].i);
}

static tpt_status_t read_keyed(tpt_reader_t* r, tpt_read_op_t* op, tpt_text_t word) {
  if (op->op == TPT_HLO_REDUCE_PRECISION && tpt__text_is(word, "format")) return read_format(r, op);
  int slot = find_key(op->op, word);
  if (slot < 0)
    return tpt__read_unimplemented(r, word.data,
                                   "parameter '%.*s' of stablehlo.%s is not supported",
                                   (int)word.size, word.data, tpt_hlo_row(op->op)->mnemonic);
  TPT_TRY(tpt__read_pretty_value(r, op, slot));
  // dot_general: [0] x [1] fills two slots.
  if (op->op == TPT_HLO_DOT_GENERAL && slot < 4) {
    TPT_TRY(tpt__read_expect_word(r, "x"));
    return tpt__read_pretty_value(r, op, slot + 1);
  }
  return NULL;
}

static tpt_status_t read_part(tpt_reader_t* r, tpt_read_op_t* op, int* inout_position) {
  if (tpt__read_peek(r, '%')) return read_operand(r, op);
  const char* at = r->p;
  tpt_text_t word = tpt__read_word(r);
  if (word.size == 0)
    return tpt__read_fail(r, at, "expected an operand of stablehlo.%s",
                          tpt_hlo_row(op->op)->mnemonic);
  if (tpt__read_take(r, '=')) return read_keyed(r, op, word);
  // A word of its own is the next enumeration: compare LT, %a, %b, FLOAT.
  const tpt_hlo_row_t* row = tpt_hlo_row(op->op);
  if (*inout_position >= row->attr_count || row->attrs[*inout_position].kind != TPT_ATTR_ENUM)
    return tpt__read_fail(r, at, "stablehlo.%s has no parameter '%.*s'", row->mnemonic,
                          (int)word.size, word.data);
  r->p = at;
  return tpt__read_pretty_value(r, op, (*inout_position)++);
}

static tpt_status_t read_rest(tpt_reader_t* r, tpt_read_op_t* op) {
  if (tpt__read_take(r, '{')) TPT_TRY(tpt__read_attrs(r, op));
  return tpt__read_signature(r, op);
}

static tpt_status_t read_general(tpt_reader_t* r, tpt_read_op_t* op) {
  int position = 0;
  bool is_empty = tpt__read_peek(r, ':') || tpt__read_peek(r, '{');
  if (!is_empty) {
    do {
      TPT_TRY(read_part(r, op, &position));
    } while (tpt__read_take(r, ','));
  }
  return read_rest(r, op);
}

// constant [{...}] dense<...> : tensor<...>
static tpt_status_t read_constant(tpt_reader_t* r, tpt_read_op_t* op) {
  if (tpt__read_take(r, '{')) TPT_TRY(tpt__read_attrs(r, op));
  TPT_TRY(tpt__read_dense(r, &op->data_type, &op->attrs[0]));
  op->results = &op->data_type;
  op->result_count = 1;
  return NULL;
}

// slice %a [0:4, 1:3:2] : ...
static tpt_status_t read_slice(tpt_reader_t* r, tpt_read_op_t* op) {
  int64_t* numbers = tpt_arena_alloc(&r->temp, 3 * TPT_RANK_MAX * sizeof(*numbers));
  if (!numbers) return tpt__read_no_memory();
  TPT_TRY(read_operand(r, op));
  TPT_TRY(tpt__read_expect(r, '['));
  size_t count = 0;
  if (!tpt__read_take(r, ']')) {
    do {
      if (count == TPT_RANK_MAX) return tpt__read_fail(r, r->p, "too many dimensions");
      int64_t* one = numbers + count++;
      TPT_TRY(tpt__read_i64(r, &one[0]));
      TPT_TRY(tpt__read_expect(r, ':'));
      TPT_TRY(tpt__read_i64(r, &one[TPT_RANK_MAX]));
      one[2 * TPT_RANK_MAX] = 1;
      if (tpt__read_take(r, ':')) TPT_TRY(tpt__read_i64(r, &one[2 * TPT_RANK_MAX]));
    } while (tpt__read_take(r, ','));
    TPT_TRY(tpt__read_expect(r, ']'));
  }
  for (int slot = 0; slot < 3; slot++)
    op->attrs[slot] =
        (tpt_attr_t){.is_set = true, .ints = numbers + slot * TPT_RANK_MAX, .count = count};
  return read_rest(r, op);
}

// window = {stride = [1, 1], pad = [[0, 1], [0, 1]], ...}, behind "{"
static tpt_status_t read_conv_window(tpt_reader_t* r, tpt_read_op_t* op) {
  static const char* const names[] = {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"};
  if (tpt__read_take(r, '}')) return NULL;
  do {
    tpt_text_t word = tpt__read_word(r);
    int slot = 0;
    while (slot < 5 && !tpt__text_is(word, names[slot]))
      slot++;
    if (slot == 5)
      return tpt__read_fail(r, word.data, "a window has no '%.*s'", (int)word.size, word.data);
    TPT_TRY(tpt__read_expect(r, '='));
    TPT_TRY(slot == 1 ? tpt__read_pair_list(r, &op->attrs[slot])
                      : tpt__read_int_list(r, &op->attrs[slot]));
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, '}');
}

// convolution(%a, %b) dim_numbers = [...]x[...]->[...], window = {...} {...} : ...
static tpt_status_t read_convolution(tpt_reader_t* r, tpt_read_op_t* op) {
  enum { FIRST_DIMS_SLOT = 5 };
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(read_operand(r, op));
  TPT_TRY(tpt__read_expect(r, ','));
  TPT_TRY(read_operand(r, op));
  TPT_TRY(tpt__read_expect(r, ')'));
  TPT_TRY(tpt__read_expect_word(r, "dim_numbers"));
  TPT_TRY(tpt__read_expect(r, '='));
  TPT_TRY(tpt__read_conv_dims(r, &op->attrs[FIRST_DIMS_SLOT]));
  TPT_TRY(tpt__read_expect(r, ','));
  TPT_TRY(tpt__read_expect_word(r, "window"));
  TPT_TRY(tpt__read_expect(r, '='));
  TPT_TRY(tpt__read_expect(r, '{'));
  TPT_TRY(read_conv_window(r, op));
  return read_rest(r, op);
}

// The names and types of a reducer's arguments: one pair in brackets per input, laid out as
// accumulators, then elements.
static tpt_status_t read_reducer(tpt_reader_t* r, tpt_read_op_t* op, uint32_t input_count) {
  tpt_text_t* names = tpt_arena_calloc(&r->temp, 2 * (size_t)input_count, sizeof(*names));
  tpt_type_t* types = tpt_arena_calloc(&r->temp, 2 * (size_t)input_count, sizeof(*types));
  if (!names || !types) return tpt__read_no_memory();
  for (uint32_t i = 0; i < input_count; i++) {
    TPT_TRY(tpt__read_expect(r, '('));
    for (uint32_t half = 0; half < 2; half++) {
      uint32_t place = half * input_count + i;
      TPT_TRY(tpt__read_value_name(r, &names[place]));
      TPT_TRY(tpt__read_expect(r, ':'));
      TPT_TRY(tpt__read_type(r, &types[place]));
      TPT_TRY(tpt__read_skip_location(r));
      TPT_TRY(tpt__read_expect(r, half ? ')' : ','));
    }
  }
  uint32_t block;
  TPT_TRY(tpt__read_expect(r, '{'));
  TPT_TRY(tpt__read_block(r, names, types, 2 * input_count, &block));
  return tpt__read_add_region(r, op, block);
}

// "(%x init: %c), (%y init: %d)": inputs, then initial values.
static tpt_status_t read_reduce_inputs(tpt_reader_t* r, tpt_read_op_t* op) {
  tpt_read_op_t inits = {.op = op->op};
  do {
    TPT_TRY(tpt__read_expect(r, '('));
    TPT_TRY(read_operand(r, op));
    TPT_TRY(tpt__read_expect_word(r, "init"));
    TPT_TRY(tpt__read_expect(r, ':'));
    TPT_TRY(read_operand(r, &inits));
    TPT_TRY(tpt__read_expect(r, ')'));
  } while (tpt__read_take(r, ','));
  for (uint32_t i = 0; i < inits.operand_count; i++)
    TPT_TRY(tpt__read_add_operand(r, op, inits.operands[i]));
  return NULL;
}

// reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : ...
// reduce(%x init: %c), ... across dimensions = [0] : ... reducer(%a: t, %b: t) ... {...}
static tpt_status_t read_reduce(tpt_reader_t* r, tpt_read_op_t* op) {
  TPT_TRY(read_reduce_inputs(r, op));
  uint32_t input_count = op->operand_count / 2;
  bool is_short = tpt__read_take_word(r, "applies");
  tpt_hlo_t combine = TPT_HLO_COUNT;
  const char* at = r->p;
  if (is_short) {
    TPT_TRY(tpt__read_expect_word(r, "stablehlo."));
    combine = tpt__read_find_op(tpt__read_word(r));
    if (combine == TPT_HLO_COUNT || input_count != 1)
      return tpt__read_unimplemented(r, at, "a reduction by this operation is not supported");
  }
  TPT_TRY(tpt__read_expect_word(r, "across"));
  TPT_TRY(tpt__read_expect_word(r, "dimensions"));
  TPT_TRY(tpt__read_expect(r, '='));
  TPT_TRY(tpt__read_int_list(r, &op->attrs[0]));
  TPT_TRY(read_rest(r, op));
  if (!is_short) {
    TPT_TRY(tpt__read_expect_word(r, "reducer"));
    return read_reducer(r, op, input_count);
  }
  tpt_dtype_t dtype = tpt_graph_type(r->graph, op->operands[0])->dtype;
  uint32_t block = tpt__region_binary(r->graph, combine, dtype);
  TPT_TRY(tpt__read_graph_status(r, at));
  return tpt__read_add_region(r, op, block);
}

// while(%i = %a, %j = %b) : t, t [attributes {...}] cond {...} do {...}
static tpt_status_t read_while(tpt_reader_t* r, tpt_read_op_t* op) {
  uint32_t capacity = 0;
  tpt_text_t* names = NULL;
  TPT_TRY(tpt__read_expect(r, '('));
  while (!tpt__read_peek(r, ')')) {
    if (op->operand_count == capacity) {
      uint32_t larger_capacity = capacity ? 2 * capacity : 8;
      tpt_text_t* larger = tpt_arena_calloc(&r->temp, larger_capacity, sizeof(*larger));
      if (!larger) return tpt__read_no_memory();
      if (capacity) memcpy(larger, names, capacity * sizeof(*larger));
      names = larger;
      capacity = larger_capacity;
    }
    TPT_TRY(tpt__read_value_name(r, &names[op->operand_count]));
    TPT_TRY(tpt__read_expect(r, '='));
    TPT_TRY(read_operand(r, op));
    if (!tpt__read_take(r, ',')) break;
  }
  TPT_TRY(tpt__read_expect(r, ')'));
  if (tpt__read_take(r, ':')) TPT_TRY(tpt__read_types(r, false, &op->results, &op->result_count));
  if (op->result_count != op->operand_count)
    return tpt__read_fail(r, r->p, "%u types for %u values of a loop", op->result_count,
                          op->operand_count);
  if (tpt__read_take_word(r, "attributes")) {
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(tpt__read_skip_closed(r));
  }
  for (int i = 0; i < 2; i++) {
    uint32_t block;
    TPT_TRY(tpt__read_expect_word(r, i ? "do" : "cond"));
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(tpt__read_block(r, names, op->results, op->operand_count, &block));
    TPT_TRY(tpt__read_add_region(r, op, block));
  }
  return NULL;
}

// custom_call @target(%a, %b) {...} : ...
static tpt_status_t read_custom_call(tpt_reader_t* r, tpt_read_op_t* op) {
  tpt_text_t target;
  TPT_TRY(tpt__read_symbol_name(r, &target));
  op->attrs[0] = (tpt_attr_t){.is_set = true, .bytes = target.data, .count = target.size};
  TPT_TRY(tpt__read_expect(r, '('));
  if (!tpt__read_take(r, ')')) {
    do {
      TPT_TRY(read_operand(r, op));
    } while (tpt__read_take(r, ','));
    TPT_TRY(tpt__read_expect(r, ')'));
  }
  return read_rest(r, op);
}

static const struct form {
  tpt_hlo_t op;
  tpt_status_t (*read)(tpt_reader_t* r, tpt_read_op_t* op);
} forms[] = {
    {TPT_HLO_CONSTANT, read_constant}, {TPT_HLO_SLICE, read_slice},
    {TPT_HLO_REDUCE, read_reduce},     {TPT_HLO_CONVOLUTION, read_convolution},
    {TPT_HLO_WHILE, read_while},       {TPT_HLO_CUSTOM_CALL, read_custom_call},
};

tpt_status_t tpt__read_pretty(tpt_reader_t* r, tpt_read_op_t* op) {
  for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
    if (forms[i].op == op->op) return forms[i].read(r, op);
  }
  return read_general(r, op);
}
