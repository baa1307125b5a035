// The reader's parts as they see each other: a cursor over the text, names in scope, functions that
// can be called. Private to hlo/read*.c.
//
// All functions move r->p; those that return a status leave it where reading failed. An error says
// "line:column: what". Lists live in r->temp, the graph copies what it keeps.
#ifndef TPUTORCH_HLO_READER_H_
#define TPUTORCH_HLO_READER_H_

#include "hlo/builder.h"

typedef struct tpt_text {
  const char* data;
  size_t size;
} tpt_text_t;

// A name in scope: one value, or several (%0:2) addressed as %0#1.
typedef struct tpt_read_name {
  tpt_text_t text;
  uint32_t hash;
  uint32_t next;  // in its chain, UINT32_MAX at the end
  uint32_t count;
  tpt_value_t first;
  const tpt_value_t* values;  // NULL: first, first + 1 ...
} tpt_read_name_t;

// A function of the module; its text is read anew at every call.
typedef struct tpt_read_function {
  tpt_text_t name;
  const char* args;  // behind "(" of the argument list; NULL: a generic body without label
  const char* body;  // first operation (pretty form); generic form: behind the argument list
  const char* body_end;
  const char* results;    // (optional) declared result types, behind "->"
  const char* arg_attrs;  // (optional) generic form: behind "[" of arg_attrs
  bool is_generic;
} tpt_read_function_t;

typedef struct tpt_reader {
  const char *begin, *p, *end;
  tpt_graph_t* graph;
  tpt_arena_t temp;
  tpt_read_name_t* names;
  size_t name_count, name_capacity;
  uint32_t* heads;  // chains of names, by hash
  size_t head_count, head_capacity;
  size_t barrier;  // names below belong to the caller and are not visible
  tpt_read_function_t* functions;
  size_t function_count, function_capacity;
  int depth;      // of regions and calls
  size_t budget;  // bytes of text that calls may still make us read
} tpt_reader_t;

enum { TPT__READ_DEPTH_MAX = 96, TPT__READ_ATTRS_MAX = 16 };

// One operation being put together.
typedef struct tpt_read_op {
  tpt_hlo_t op;
  const char* at;  // where it began, for errors
  tpt_value_t* operands;
  uint32_t operand_count, operand_capacity;
  uint32_t* regions;
  uint32_t region_count, region_capacity;
  tpt_type_t* results;
  uint32_t result_count;
  tpt_attr_t attrs[TPT__READ_ATTRS_MAX];
  tpt_type_t data_type;  // of a constant's data
  tpt_text_t callee;     // func.call
} tpt_read_op_t;

// --- cursor (read_text.c) ------------------------------------------------------------------------------
TPT_MUST_USE tpt_status_t tpt__read_fail(const tpt_reader_t* r, const char* at, const char* format,
                                         ...) TPT_PRINTF(3, 4);
TPT_MUST_USE tpt_status_t tpt__read_unimplemented(const tpt_reader_t* r, const char* at,
                                                  const char* format, ...) TPT_PRINTF(3, 4);
// The graph's error, if any, with the place of the operation before it.
TPT_MUST_USE tpt_status_t tpt__read_graph_status(const tpt_reader_t* r, const char* at);
TPT_MUST_USE tpt_status_t tpt__read_no_memory(void);
// Skips spaces and comments.
void tpt__read_space(tpt_reader_t* r);
// True, and behind it, if `c` (a whole word, a symbol like "->") comes next.
bool tpt__read_take(tpt_reader_t* r, char c);
bool tpt__read_take_word(tpt_reader_t* r, const char* word);
bool tpt__read_take_symbol(tpt_reader_t* r, const char* symbol);
bool tpt__read_peek(tpt_reader_t* r, char c);
TPT_MUST_USE tpt_status_t tpt__read_expect(tpt_reader_t* r, char c);
TPT_MUST_USE tpt_status_t tpt__read_expect_word(tpt_reader_t* r, const char* word);
// A bare identifier (letters, digits, _ . $); empty if there is none.
tpt_text_t tpt__read_word(tpt_reader_t* r);
bool tpt__text_is(tpt_text_t text, const char* word);
TPT_MUST_USE tpt_status_t tpt__read_i64(tpt_reader_t* r, int64_t* out);
// A quoted string, unescaped.
TPT_MUST_USE tpt_status_t tpt__read_string(tpt_reader_t* r, tpt_text_t* out);
// @name or @"name".
TPT_MUST_USE tpt_status_t tpt__read_symbol_name(tpt_reader_t* r, tpt_text_t* out);
// Skips to the first of `stops` outside of brackets and strings (not over it).
TPT_MUST_USE tpt_status_t tpt__read_skip_to(tpt_reader_t* r, const char* stops);
// Behind "{" (or "(" ...): skips until behind the bracket that closes it.
TPT_MUST_USE tpt_status_t tpt__read_skip_closed(tpt_reader_t* r);
// loc(...) if there.
TPT_MUST_USE tpt_status_t tpt__read_skip_location(tpt_reader_t* r);

// --- types and data (read_data.c) -----------------------------------------------------------------------
TPT_MUST_USE tpt_status_t tpt__read_type(tpt_reader_t* r, tpt_type_t* out);
// t, t, t (at least one) or, with `in_parens`, (t, t) or ().
TPT_MUST_USE tpt_status_t tpt__read_types(tpt_reader_t* r, bool in_parens, tpt_type_t** out,
                                          uint32_t* out_count);
// dense<...> : tensor<...>; data is one element (a splat) or all.
TPT_MUST_USE tpt_status_t tpt__read_dense(tpt_reader_t* r, tpt_type_t* out_type,
                                          tpt_attr_t* out_data);

// --- attributes (read_attr.c) ---------------------------------------------------------------------------
// Behind "{": name = value, ... }; knows the op's slots, skips what it does not know.
TPT_MUST_USE tpt_status_t tpt__read_attrs(tpt_reader_t* r, tpt_read_op_t* op);
// [1, 2]: the numbers of a slot.
TPT_MUST_USE tpt_status_t tpt__read_int_list(tpt_reader_t* r, tpt_attr_t* out);
// The value of a slot in pretty form: 1, [1, 2], true, WORD, [WORD, WORD].
TPT_MUST_USE tpt_status_t tpt__read_pretty_value(tpt_reader_t* r, tpt_read_op_t* op, int slot);
// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] into three slots.
TPT_MUST_USE tpt_status_t tpt__read_conv_dims(tpt_reader_t* r, tpt_attr_t* out);
// [[1, 2], [3, 4]] as pairs.
TPT_MUST_USE tpt_status_t tpt__read_pair_list(tpt_reader_t* r, tpt_attr_t* out);

// --- names (read_scope.c) -------------------------------------------------------------------------------
TPT_MUST_USE tpt_status_t tpt__read_bind(tpt_reader_t* r, tpt_text_t name, tpt_value_t first,
                                         const tpt_value_t* values, uint32_t count);
// Forgets the names bound since `mark` (an earlier name_count).
void tpt__read_unbind(tpt_reader_t* r, size_t mark);
// "%name" as text without "%".
TPT_MUST_USE tpt_status_t tpt__read_value_name(tpt_reader_t* r, tpt_text_t* out);
// %name or %name#1, looked up.
TPT_MUST_USE tpt_status_t tpt__read_value(tpt_reader_t* r, tpt_value_t* out);

// --- operations (read_op.c, read_pretty.c) ---------------------------------------------------------------
TPT_MUST_USE tpt_status_t tpt__read_add_operand(tpt_reader_t* r, tpt_read_op_t* op,
                                                tpt_value_t value);
TPT_MUST_USE tpt_status_t tpt__read_add_region(tpt_reader_t* r, tpt_read_op_t* op, uint32_t block);
// ": type", ": type, type" or ": (types) -> types": sets op's result types and checks its operands'.
TPT_MUST_USE tpt_status_t tpt__read_signature(tpt_reader_t* r, tpt_read_op_t* op);
// Operations up to and with the terminator; what it returns.
TPT_MUST_USE tpt_status_t tpt__read_body(tpt_reader_t* r, tpt_value_t** out_results,
                                         uint32_t* out_count);
// Behind "{": operations and "}" in a new block whose arguments have these names and types.
TPT_MUST_USE tpt_status_t tpt__read_block(tpt_reader_t* r, const tpt_text_t* names,
                                          const tpt_type_t* types, uint32_t count,
                                          uint32_t* out_block);
// An operation in pretty form, behind its mnemonic.
TPT_MUST_USE tpt_status_t tpt__read_pretty(tpt_reader_t* r, tpt_read_op_t* op);
// Op with this mnemonic (without "stablehlo."), TPT_HLO_COUNT if unknown.
tpt_hlo_t tpt__read_find_op(tpt_text_t mnemonic);

// --- functions (read.c) -----------------------------------------------------------------------------------
// Reads the callee's body in place; its results.
TPT_MUST_USE tpt_status_t tpt__read_call(tpt_reader_t* r, tpt_read_op_t* op,
                                         tpt_value_t** out_results, uint32_t* out_count);

#endif  // TPUTORCH_HLO_READER_H_
