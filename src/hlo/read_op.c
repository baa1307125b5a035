// Owns the reading of statements: result names, operations in generic form, regions, terminators. Must
// not know any op beyond its row. Invariant: recursion (regions, calls) is counted in r->depth and
// bounded.
#include "hlo/reader.h"

// Mnemonics with their lengths, so that a search compares few bytes.
static const struct mnemonic {
  const char* text;
  size_t size;
} mnemonics[TPT_HLO_COUNT] = {
#define HLO(id, mnemonic, operands, regions, rule, ...) {mnemonic, sizeof(mnemonic) - 1},
#include "hlo/hlo.def"
#undef HLO
};

tpt_hlo_t tpt__read_find_op(tpt_text_t mnemonic) {
  for (int i = 0; i < TPT_HLO_COUNT; i++) {
    if (mnemonics[i].size == mnemonic.size &&
        memcmp(mnemonics[i].text, mnemonic.data, mnemonic.size) == 0)
      return (tpt_hlo_t)i;
  }
  return TPT_HLO_COUNT;
}

// Arena arrays that double: capacity 0 means none yet.
static void* grow(tpt_reader_t* r, const void* data, uint32_t count, uint32_t* inout_capacity,
                  size_t element_size) {
  uint32_t capacity = *inout_capacity ? *inout_capacity * 2 : 8;
  void* larger = tpt_arena_alloc(&r->temp, capacity * element_size);
  if (larger && count) memcpy(larger, data, count * element_size);
  if (larger) *inout_capacity = capacity;
  return larger;
}

tpt_status_t tpt__read_add_operand(tpt_reader_t* r, tpt_read_op_t* op, tpt_value_t value) {
  if (op->operand_count == op->operand_capacity) {
    op->operands = grow(r, op->operands, op->operand_count, &op->operand_capacity, sizeof(value));
    if (!op->operands) return tpt__read_no_memory();
  }
  op->operands[op->operand_count++] = value;
  return NULL;
}

tpt_status_t tpt__read_add_region(tpt_reader_t* r, tpt_read_op_t* op, uint32_t block) {
  if (op->region_count == op->region_capacity) {
    op->regions = grow(r, op->regions, op->region_count, &op->region_capacity, sizeof(block));
    if (!op->regions) return tpt__read_no_memory();
  }
  op->regions[op->region_count++] = block;
  return NULL;
}

// Operands up to `close`, behind the bracket that opens them; close 0: as many as there are.
static tpt_status_t read_operands(tpt_reader_t* r, tpt_read_op_t* op, char close) {
  if (close && tpt__read_take(r, close)) return NULL;
  if (!close && !tpt__read_peek(r, '%')) return NULL;
  do {
    tpt_value_t value;
    TPT_TRY(tpt__read_value(r, &value));
    TPT_TRY(tpt__read_add_operand(r, op, value));
  } while (tpt__read_take(r, ','));
  return close ? tpt__read_expect(r, close) : NULL;
}

// --- signatures ---------------------------------------------------------------------------------------

static tpt_status_t check_operand_types(const tpt_reader_t* r, const tpt_read_op_t* op,
                                        const char* at, const tpt_type_t* types, uint32_t count) {
  if (count != op->operand_count)
    return tpt__read_fail(r, at, "%u operand types for %u operands", count, op->operand_count);
  for (uint32_t i = 0; i < count; i++) {
    const tpt_type_t* type = tpt_graph_type(r->graph, op->operands[i]);
    char named[160], actual[160];
    if (!tpt_type_equal(type, &types[i]))
      return tpt__read_fail(r, at, "operand %u is %s here, but was defined as %s", i,
                            tpt_type_print(&types[i], named, sizeof(named)),
                            tpt_type_print(type, actual, sizeof(actual)));
  }
  return NULL;
}

// (types) -> type or (types)
static tpt_status_t read_function_type(tpt_reader_t* r, tpt_read_op_t* op) {
  tpt__read_space(r);
  const char* at = r->p;
  tpt_type_t* types;
  uint32_t count;
  TPT_TRY(tpt__read_types(r, true, &types, &count));
  TPT_TRY(check_operand_types(r, op, at, types, count));
  TPT_TRY(tpt__read_expect_word(r, "->"));
  if (tpt__read_peek(r, '(')) return tpt__read_types(r, true, &op->results, &op->result_count);
  op->results = tpt_arena_alloc(&r->temp, sizeof(*op->results));
  if (!op->results) return tpt__read_no_memory();
  op->result_count = 1;
  return tpt__read_type(r, op->results);
}

tpt_status_t tpt__read_signature(tpt_reader_t* r, tpt_read_op_t* op) {
  TPT_TRY(tpt__read_expect(r, ':'));
  if (tpt__read_peek(r, '(')) return read_function_type(r, op);
  TPT_TRY(tpt__read_types(r, false, &op->results, &op->result_count));
  // Of several types the last is the result's (select), except where results mirror operands.
  if (op->op != TPT_HLO_OPTIMIZATION_BARRIER) {
    op->results += op->result_count - 1;
    op->result_count = 1;
  }
  return NULL;
}

// --- blocks -------------------------------------------------------------------------------------------

tpt_status_t tpt__read_block(tpt_reader_t* r, const tpt_text_t* names, const tpt_type_t* types,
                             uint32_t count, uint32_t* out_block) {
  const char* at = r->p;
  if (r->depth >= TPT__READ_DEPTH_MAX)
    return tpt__read_unimplemented(r, at, "regions and calls nest deeper than %d",
                                   TPT__READ_DEPTH_MAX);
  tpt_value_t* args = tpt_arena_alloc(&r->temp, count * sizeof(*args));
  if (!args) return tpt__read_no_memory();
  size_t mark = r->name_count;
  tpt_region_begin(r->graph, types, count, args);
  TPT_TRY(tpt__read_graph_status(r, at));
  for (uint32_t i = 0; i < count; i++)
    TPT_TRY(tpt__read_bind(r, names[i], args[i], NULL, 1));
  r->depth++;
  tpt_value_t* results;
  uint32_t result_count;
  TPT_TRY(tpt__read_body(r, &results, &result_count));
  r->depth--;
  tpt__read_unbind(r, mark);
  *out_block = tpt_region_end(r->graph, results, result_count);
  TPT_TRY(tpt__read_graph_status(r, at));
  return tpt__read_expect(r, '}');
}

// "^bb0(%a: tensor<f32>, ...):" if there is a label.
static tpt_status_t read_label(tpt_reader_t* r, tpt_text_t** out_names, tpt_type_t** out_types,
                               uint32_t* out_count) {
  *out_names = NULL;
  *out_types = NULL;
  *out_count = 0;
  if (!tpt__read_take(r, '^')) return NULL;
  tpt__read_word(r);
  if (!tpt__read_take(r, '(')) return tpt__read_expect(r, ':');
  uint32_t name_capacity = 0, type_capacity = 0;
  if (!tpt__read_take(r, ')')) {
    do {
      uint32_t count = *out_count;
      if (count == name_capacity) {
        *out_names = grow(r, *out_names, count, &name_capacity, sizeof(**out_names));
        *out_types = grow(r, *out_types, count, &type_capacity, sizeof(**out_types));
        if (!*out_names || !*out_types) return tpt__read_no_memory();
      }
      TPT_TRY(tpt__read_value_name(r, &(*out_names)[count]));
      TPT_TRY(tpt__read_expect(r, ':'));
      TPT_TRY(tpt__read_type(r, &(*out_types)[count]));
      TPT_TRY(tpt__read_skip_location(r));
      *out_count = count + 1;
    } while (tpt__read_take(r, ','));
    TPT_TRY(tpt__read_expect(r, ')'));
  }
  return tpt__read_expect(r, ':');
}

// "({...}, {...})" behind the "(".
static tpt_status_t read_regions(tpt_reader_t* r, tpt_read_op_t* op) {
  do {
    tpt_text_t* names;
    tpt_type_t* types;
    uint32_t count, block;
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(read_label(r, &names, &types, &count));
    TPT_TRY(tpt__read_block(r, names, types, count, &block));
    TPT_TRY(tpt__read_add_region(r, op, block));
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, ')');
}

// --- statements ---------------------------------------------------------------------------------------

// "%a, %b:2 =" in front of an operation.
typedef struct result_names {
  tpt_text_t* texts;
  uint32_t* counts;
  uint32_t count, total;
} result_names_t;

static tpt_status_t read_result_names(tpt_reader_t* r, result_names_t* out) {
  uint32_t text_capacity = 0, count_capacity = 0;
  memset(out, 0, sizeof(*out));
  do {
    if (out->count == text_capacity) {
      out->texts = grow(r, out->texts, out->count, &text_capacity, sizeof(*out->texts));
      out->counts = grow(r, out->counts, out->count, &count_capacity, sizeof(*out->counts));
      if (!out->texts || !out->counts) return tpt__read_no_memory();
    }
    int64_t count = 1;
    TPT_TRY(tpt__read_value_name(r, &out->texts[out->count]));
    if (tpt__read_take(r, ':')) TPT_TRY(tpt__read_i64(r, &count));
    if (count < 1 || count > INT32_MAX - (int64_t)out->total)
      return tpt__read_fail(r, r->p, "an operation cannot have so many results");
    out->counts[out->count++] = (uint32_t)count;
    out->total += (uint32_t)count;
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, '=');
}

// `values` NULL: consecutive from `first`.
static tpt_status_t bind_results(tpt_reader_t* r, const char* at, const result_names_t* names,
                                 tpt_value_t first, const tpt_value_t* values, uint32_t count) {
  if (names->total && names->total != count)
    return tpt__read_fail(r, at, "%u results are named, but there are %u", names->total, count);
  uint32_t next = 0;
  for (uint32_t i = 0; i < names->count; i++) {
    tpt_value_t value = {first.index + next};
    TPT_TRY(
        tpt__read_bind(r, names->texts[i], value, values ? values + next : NULL, names->counts[i]));
    next += names->counts[i];
  }
  return NULL;
}

static bool is_return(tpt_text_t name) {
  return tpt__text_is(name, "stablehlo.return") || tpt__text_is(name, "func.return") ||
         tpt__text_is(name, "return");
}

static tpt_status_t read_return(tpt_reader_t* r, bool is_generic, tpt_read_op_t* op) {
  if (is_generic) TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(read_operands(r, op, is_generic ? ')' : 0));
  if (is_generic && tpt__read_take(r, '{')) TPT_TRY(tpt__read_attrs(r, op));
  tpt__read_space(r);
  const char* at = r->p;
  if (is_generic) {
    TPT_TRY(tpt__read_expect(r, ':'));
    TPT_TRY(read_function_type(r, op));
  } else if (tpt__read_take(r, ':')) {
    tpt_type_t* types;
    uint32_t count;
    TPT_TRY(tpt__read_types(r, false, &types, &count));
    TPT_TRY(check_operand_types(r, op, at, types, count));
  } else if (op->operand_count) {
    return tpt__read_fail(r, at, "expected ':' and the types of what is returned");
  }
  return tpt__read_skip_location(r);
}

// Sets op->op; TPT_HLO_COUNT with *out_is_call for a call.
static tpt_status_t resolve(tpt_reader_t* r, tpt_text_t name, tpt_read_op_t* op,
                            bool* out_is_call) {
  *out_is_call = tpt__text_is(name, "func.call") || tpt__text_is(name, "call") ||
                 tpt__text_is(name, "stablehlo.composite");
  op->op = TPT_HLO_COUNT;
  if (*out_is_call) return NULL;
  static const char prefix[] = "stablehlo.";
  size_t prefix_size = sizeof(prefix) - 1;
  if (name.size > prefix_size && memcmp(name.data, prefix, prefix_size) == 0)
    op->op = tpt__read_find_op((tpt_text_t){name.data + prefix_size, name.size - prefix_size});
  if (op->op != TPT_HLO_COUNT) return NULL;
  if (name.size == 0) return tpt__read_fail(r, op->at, "expected an operation");
  return tpt__read_unimplemented(r, op->at, "operation '%.*s' is not supported",
                                 name.size < 80 ? (int)name.size : 80, name.data);
}

// Behind the quoted name.
static tpt_status_t read_generic(tpt_reader_t* r, tpt_read_op_t* op) {
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(read_operands(r, op, ')'));
  if (tpt__read_peek(r, '['))
    return tpt__read_unimplemented(r, r->p, "successor blocks are not supported");
  if (tpt__read_take(r, '<')) {
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(tpt__read_attrs(r, op));
    TPT_TRY(tpt__read_expect(r, '>'));
  }
  if (tpt__read_take(r, '(')) TPT_TRY(read_regions(r, op));
  if (tpt__read_take(r, '{')) TPT_TRY(tpt__read_attrs(r, op));
  TPT_TRY(tpt__read_expect(r, ':'));
  return read_function_type(r, op);
}

// composite "name" %a, %b {decomposition = @f} : (types) -> types: a call of the decomposition
static tpt_status_t read_composite(tpt_reader_t* r, tpt_read_op_t* op) {
  tpt_text_t name;
  TPT_TRY(tpt__read_string(r, &name));
  TPT_TRY(read_operands(r, op, 0));
  TPT_TRY(tpt__read_expect(r, '{'));
  TPT_TRY(tpt__read_attrs(r, op));
  TPT_TRY(tpt__read_expect(r, ':'));
  return read_function_type(r, op);
}

// call @f(%a, %b) : (types) -> types, behind "call"
static tpt_status_t read_pretty_call(tpt_reader_t* r, tpt_read_op_t* op) {
  if (tpt__read_peek(r, '"')) return read_composite(r, op);
  TPT_TRY(tpt__read_symbol_name(r, &op->callee));
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(read_operands(r, op, ')'));
  if (tpt__read_take(r, '{')) TPT_TRY(tpt__read_attrs(r, op));
  TPT_TRY(tpt__read_expect(r, ':'));
  return read_function_type(r, op);
}

static tpt_status_t append(tpt_reader_t* r, const tpt_read_op_t* op, tpt_value_t* out_first,
                           uint32_t* out_count) {
  if (op->op == TPT_HLO_CONSTANT) {
    if (!op->attrs[0].is_set) return tpt__read_fail(r, op->at, "a constant has no value");
    if (op->result_count != 1 || !tpt_type_equal(op->results, &op->data_type))
      return tpt__read_fail(r, op->at, "a constant's data and its result must have one type");
  }
  *out_first =
      tpt_graph_append(r->graph, &(tpt_node_params_t){.op = op->op,
                                                      .operands = op->operands,
                                                      .operand_count = op->operand_count,
                                                      .attrs = op->attrs,
                                                      .regions = op->regions,
                                                      .region_count = op->region_count,
                                                      .result_types = op->results,
                                                      .result_type_count = op->result_count});
  TPT_TRY(tpt__read_graph_status(r, op->at));
  *out_count = tpt_graph_node(r->graph, tpt_graph_node_count(r->graph) - 1)->result_count;
  return NULL;
}

// The text's promise about what a call gives.
static tpt_status_t check_call_results(const tpt_reader_t* r, const tpt_read_op_t* op,
                                       const tpt_value_t* values, uint32_t count) {
  bool is_same = count == op->result_count;
  for (uint32_t i = 0; is_same && i < count; i++)
    is_same = tpt_type_equal(tpt_graph_type(r->graph, values[i]), &op->results[i]);
  if (is_same) return NULL;
  return tpt__read_fail(r, op->at, "the result types of this call are not those of @%.*s",
                        (int)op->callee.size, op->callee.data);
}

// Reads one operation; *out_is_return tells that it was the terminator, whose operands are op's.
static tpt_status_t read_statement(tpt_reader_t* r, tpt_read_op_t* op, bool* out_is_return) {
  result_names_t names = {.count = 0};
  memset(op, 0, sizeof(*op));
  tpt__read_space(r);
  op->at = r->p;
  if (tpt__read_peek(r, '%')) TPT_TRY(read_result_names(r, &names));
  bool is_generic = tpt__read_peek(r, '"');
  tpt_text_t name;
  if (is_generic)
    TPT_TRY(tpt__read_string(r, &name));
  else
    name = tpt__read_word(r);
  *out_is_return = is_return(name);
  if (*out_is_return) {
    op->op = TPT_HLO_COUNT;
    return read_return(r, is_generic, op);
  }
  bool is_call;
  TPT_TRY(resolve(r, name, op, &is_call));
  if (is_generic)
    TPT_TRY(read_generic(r, op));
  else
    TPT_TRY(is_call ? read_pretty_call(r, op) : tpt__read_pretty(r, op));
  TPT_TRY(tpt__read_skip_location(r));
  tpt_value_t first = TPT_VALUE_NONE;
  tpt_value_t* values = NULL;
  uint32_t count;
  if (is_call) {
    TPT_TRY(tpt__read_call(r, op, &values, &count));
    TPT_TRY(check_call_results(r, op, values, count));
  } else {
    TPT_TRY(append(r, op, &first, &count));
  }
  return bind_results(r, op->at, &names, first, values, count);
}

tpt_status_t tpt__read_body(tpt_reader_t* r, tpt_value_t** out_results, uint32_t* out_count) {
  for (;;) {
    tpt_read_op_t op;
    bool is_end;
    TPT_TRY(read_statement(r, &op, &is_end));
    if (!is_end) continue;
    *out_results = op.operands;
    *out_count = op.operand_count;
    return NULL;
  }
}
