// Owns the reading of attributes: dictionaries of the generic form and values of the pretty form, into
// the slots of an op's row. Must not know what an op does. Attributes without a slot are skipped, but
// those that would change a result's numbers are refused.
#include "hlo/enum.h"
#include "hlo/reader.h"

// Adds a number to a list in the arena; capacities are powers of two from 8 on.
static tpt_status_t add_int(tpt_reader_t* r, tpt_attr_t* list, int64_t number) {
  size_t count = list->count;
  if (count == 0 || (count >= 8 && (count & (count - 1)) == 0)) {
    size_t capacity = count ? 2 * count : 8;
    int64_t* larger = tpt_arena_alloc(&r->temp, capacity * sizeof(*larger));
    if (!larger) return tpt__read_no_memory();
    if (count) memcpy(larger, list->ints, count * sizeof(*larger));
    list->ints = larger;
  }
  ((int64_t*)list->ints)[list->count++] = number;
  return NULL;
}

static tpt_status_t read_bool(tpt_reader_t* r, int64_t* out) {
  *out = tpt__read_take_word(r, "true");
  if (*out || tpt__read_take_word(r, "false")) return NULL;
  return tpt__read_i64(r, out);
}

// One element of a list, with its own type behind (1 : i64) allowed.
static tpt_status_t read_list_number(tpt_reader_t* r, tpt_attr_t* out) {
  int64_t number;
  TPT_TRY(read_bool(r, &number));
  if (tpt__read_take(r, ':')) tpt__read_word(r);
  return add_int(r, out, number);
}

static tpt_status_t read_numbers_until(tpt_reader_t* r, char close, tpt_attr_t* out) {
  *out = (tpt_attr_t){.is_set = true};
  if (tpt__read_take(r, close)) return NULL;
  do {
    TPT_TRY(read_list_number(r, out));
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, close);
}

tpt_status_t tpt__read_int_list(tpt_reader_t* r, tpt_attr_t* out) {
  TPT_TRY(tpt__read_expect(r, '['));
  return read_numbers_until(r, ']', out);
}

tpt_status_t tpt__read_pair_list(tpt_reader_t* r, tpt_attr_t* out) {
  *out = (tpt_attr_t){.is_set = true};
  TPT_TRY(tpt__read_expect(r, '['));
  if (tpt__read_take(r, ']')) return NULL;
  do {
    TPT_TRY(tpt__read_expect(r, '['));
    TPT_TRY(read_list_number(r, out));
    TPT_TRY(tpt__read_expect(r, ','));
    TPT_TRY(read_list_number(r, out));
    TPT_TRY(tpt__read_expect(r, ']'));
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, ']');
}

// dense<...> of integers or booleans as a list of numbers.
static tpt_status_t read_dense_ints(tpt_reader_t* r, tpt_attr_t* out) {
  const char* at = r->p;
  tpt_type_t type;
  tpt_attr_t data;
  TPT_TRY(tpt__read_dense(r, &type, &data));
  if (!tpt_dtype_is_int(type.dtype) && type.dtype != TPT_PRED)
    return tpt__read_fail(r, at, "expected integers here");
  int64_t count = tpt_type_count(&type);
  if (count > 4 * TPT_RANK_MAX) return tpt__read_fail(r, at, "too many numbers for this attribute");
  *out = (tpt_attr_t){.is_set = true};
  size_t size = tpt_dtype_size(type.dtype);
  for (int64_t i = 0; i < count; i++) {
    const char* element = (const char*)data.bytes + (data.count == 1 ? 0 : (size_t)i * size);
    TPT_TRY(add_int(r, out, tpt_number_load(type.dtype, element).i));
  }
  return NULL;
}

// array<i64: 1, 2>, dense<[1, 2]> : tensor<2xi64>, [1, 2]
static tpt_status_t read_ints(tpt_reader_t* r, tpt_attr_t* out) {
  if (tpt__read_peek(r, '[')) return tpt__read_int_list(r, out);
  if (tpt__read_take_word(r, "array")) {
    TPT_TRY(tpt__read_expect(r, '<'));
    tpt__read_word(r);
    if (tpt__read_take(r, ':')) return read_numbers_until(r, '>', out);
    *out = (tpt_attr_t){.is_set = true};
    return tpt__read_expect(r, '>');
  }
  return read_dense_ints(r, out);
}

static tpt_status_t read_enum_word(tpt_reader_t* r, const struct tpt_enum* values, int64_t* out) {
  tpt_text_t word = tpt__read_word(r);
  *out = tpt_enum_find(values, word.data, word.size);
  if (*out >= 0) return NULL;
  return tpt__read_fail(r, word.data, "'%.*s' is no %s", (int)word.size, word.data, values->word);
}

// #stablehlo<comparison_direction LT>
static tpt_status_t read_enum(tpt_reader_t* r, const struct tpt_enum* values, int64_t* out) {
  TPT_TRY(tpt__read_expect(r, '#'));
  TPT_TRY(tpt__read_expect_word(r, "stablehlo"));
  TPT_TRY(tpt__read_expect(r, '<'));
  TPT_TRY(tpt__read_expect_word(r, values->word));
  TPT_TRY(read_enum_word(r, values, out));
  return tpt__read_expect(r, '>');
}

static tpt_status_t read_enums(tpt_reader_t* r, const struct tpt_enum* values, bool is_pretty,
                               tpt_attr_t* out) {
  *out = (tpt_attr_t){.is_set = true};
  TPT_TRY(tpt__read_expect(r, '['));
  if (tpt__read_take(r, ']')) return NULL;
  do {
    int64_t number;
    TPT_TRY(is_pretty ? read_enum_word(r, values, &number) : read_enum(r, values, &number));
    TPT_TRY(add_int(r, out, number));
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, ']');
}

static tpt_status_t read_value(tpt_reader_t* r, const tpt_attr_row_t* row, tpt_read_op_t* op,
                               tpt_attr_t* out) {
  tpt__read_space(r);
  switch (row->kind) {
  case TPT_ATTR_I64:
  case TPT_ATTR_I32:
    out->is_set = true;
    TPT_TRY(tpt__read_i64(r, &out->i));
    if (tpt__read_take(r, ':')) tpt__read_word(r);
    return NULL;
  case TPT_ATTR_BOOL:
    out->is_set = true;
    return read_bool(r, &out->i);
  case TPT_ATTR_I64S:
  case TPT_ATTR_I64PAIRS:
  case TPT_ATTR_BOOLS:
    return read_ints(r, out);
  case TPT_ATTR_ENUM:
    out->is_set = true;
    return read_enum(r, row->values, &out->i);
  case TPT_ATTR_ENUMS:
    return read_enums(r, row->values, false, out);
  case TPT_ATTR_BYTES:
    return tpt__read_dense(r, &op->data_type, out);
  case TPT_ATTR_STRING: {
    if (!tpt__read_peek(r, '"')) return tpt__read_skip_to(r, ",}");  // a dictionary: not ours
    tpt_text_t text;
    TPT_TRY(tpt__read_string(r, &text));
    *out = (tpt_attr_t){.is_set = true, .bytes = text.data, .count = text.size};
    return NULL;
  }
  }
  return NULL;
}

tpt_status_t tpt__read_pretty_value(tpt_reader_t* r, tpt_read_op_t* op, int slot) {
  const tpt_attr_row_t* row = &tpt_hlo_row(op->op)->attrs[slot];
  tpt_attr_t* out = &op->attrs[slot];
  if (row->kind == TPT_ATTR_ENUMS) return read_enums(r, row->values, true, out);
  if (row->kind == TPT_ATTR_I64S) return tpt__read_int_list(r, out);
  out->is_set = true;
  if (row->kind == TPT_ATTR_ENUM) return read_enum_word(r, row->values, &out->i);
  if (row->kind == TPT_ATTR_BOOL) return read_bool(r, &out->i);
  return tpt__read_i64(r, &out->i);
}

// --- groups -------------------------------------------------------------------------------------------

// "[b, 0, 1, f]": the position of each letter and spatial number, as {first, second, spatial...}.
static tpt_status_t read_conv_operand(tpt_reader_t* r, char first, char second, tpt_attr_t* out) {
  int64_t positions[2 + TPT_RANK_MAX];
  const char* at = r->p;
  int count = 0;
  for (int i = 0; i < 2 + TPT_RANK_MAX; i++)
    positions[i] = -1;
  TPT_TRY(tpt__read_expect(r, '['));
  do {
    int64_t which;
    if (count == 2 + TPT_RANK_MAX) return tpt__read_fail(r, at, "too many dimensions");
    if (tpt__read_take(r, first)) {
      which = 0;
    } else if (tpt__read_take(r, second)) {
      which = 1;
    } else {
      TPT_TRY(tpt__read_i64(r, &which));
      if (which < 0 || which >= TPT_RANK_MAX) return tpt__read_fail(r, at, "too many dimensions");
      which += 2;
    }
    if (positions[which] >= 0)
      return tpt__read_fail(r, at, "dimension numbers name a dimension twice");
    positions[which] = count++;
  } while (tpt__read_take(r, ','));
  TPT_TRY(tpt__read_expect(r, ']'));
  *out = (tpt_attr_t){.is_set = true};
  for (int i = 0; i < count; i++) {
    if (positions[i] < 0)
      return tpt__read_fail(r, at, "dimension numbers need %c, %c and spatial dimensions 0, 1, ...",
                            first, second);
    TPT_TRY(add_int(r, out, positions[i]));
  }
  return NULL;
}

tpt_status_t tpt__read_conv_dims(tpt_reader_t* r, tpt_attr_t* out) {
  TPT_TRY(read_conv_operand(r, 'b', 'f', &out[0]));
  TPT_TRY(tpt__read_expect(r, 'x'));
  TPT_TRY(read_conv_operand(r, 'i', 'o', &out[1]));
  TPT_TRY(tpt__read_expect_word(r, "->"));
  return read_conv_operand(r, 'b', 'f', &out[2]);
}

static int find_slot(const tpt_hlo_row_t* row, tpt_text_t name) {
  for (int i = 0; i < row->attr_count; i++) {
    if (tpt__text_is(name, row->attrs[i].name)) return i;
  }
  return -1;
}

// #stablehlo.gather<a = [0], b = 1>, behind its name.
static tpt_status_t read_group(tpt_reader_t* r, tpt_read_op_t* op, int first_slot) {
  const tpt_hlo_row_t* row = tpt_hlo_row(op->op);
  TPT_TRY(tpt__read_expect(r, '#'));
  tpt__read_word(r);
  TPT_TRY(tpt__read_expect(r, '<'));
  if (row->attrs[first_slot].group == TPT_GROUP_CONV) {
    if (!tpt__read_peek(r, '['))
      return tpt__read_unimplemented(r, r->p,
                                     "only the form [b, 0, f]x[0, i, o]->[b, 0, f] is read");
    TPT_TRY(tpt__read_conv_dims(r, &op->attrs[first_slot]));
    return tpt__read_expect(r, '>');
  }
  while (!tpt__read_peek(r, '>')) {
    tpt_text_t name = tpt__read_word(r);
    int slot = find_slot(row, name);
    if (slot < 0 || row->attrs[slot].group == TPT_GROUP_NONE)
      return tpt__read_fail(r, name.data, "unknown dimension number '%.*s'", (int)name.size,
                            name.data);
    TPT_TRY(tpt__read_expect(r, '='));
    TPT_TRY(read_value(r, &row->attrs[slot], op, &op->attrs[slot]));
    if (!tpt__read_take(r, ',')) break;
  }
  return tpt__read_expect(r, '>');
}

// The first slot of the group that `name` means, or -1.
static int find_group(const tpt_hlo_row_t* row, tpt_text_t name) {
  if (!tpt__text_is(name, "dimension_numbers") && !tpt__text_is(name, "dot_dimension_numbers") &&
      !tpt__text_is(name, "scatter_dimension_numbers"))
    return -1;
  for (int i = 0; i < row->attr_count; i++) {
    if (row->attrs[i].group != TPT_GROUP_NONE) return i;
  }
  return -1;
}

// --- dictionaries -------------------------------------------------------------------------------------

static tpt_status_t read_attr(tpt_reader_t* r, tpt_read_op_t* op, tpt_text_t name) {
  const tpt_hlo_row_t* row = op->op < TPT_HLO_COUNT ? tpt_hlo_row(op->op) : NULL;
  if (!row) {
    if (tpt__text_is(name, "callee") || tpt__text_is(name, "decomposition"))
      return tpt__read_symbol_name(r, &op->callee);
    return tpt__read_skip_to(r, ",}");
  }
  int slot = find_group(row, name);
  if (slot >= 0) return read_group(r, op, slot);
  slot = find_slot(row, name);
  if (slot >= 0 && row->attrs[slot].group == TPT_GROUP_NONE)
    return read_value(r, &row->attrs[slot], op, &op->attrs[slot]);
  if (tpt__text_is(name, "algorithm"))
    return tpt__read_unimplemented(r, name.data,
                                   "dot algorithms are not supported: use precision_config");
  return tpt__read_skip_to(r, ",}");
}

tpt_status_t tpt__read_attrs(tpt_reader_t* r, tpt_read_op_t* op) {
  if (tpt__read_take(r, '}')) return NULL;
  do {
    tpt_text_t name;
    if (tpt__read_peek(r, '"'))
      TPT_TRY(tpt__read_string(r, &name));
    else
      name = tpt__read_word(r);
    if (name.size == 0) return tpt__read_fail(r, r->p, "expected the name of an attribute");
    if (tpt__read_take(r, '=')) TPT_TRY(read_attr(r, op, name));  // else a unit attribute
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, '}');
}
