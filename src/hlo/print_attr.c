// Owns the text of types, constant data and attributes, in the spellings that StableHLO 0.9 and
// later read. Must not know graphs' structure. Invariant: data reads back bit for bit.
#include "hlo/print_attr.h"

#include <math.h>
#include <stdio.h>

#include "hlo/enum.h"

// Constants of more elements are one hexadecimal string; pred is never (its packing differs between
// MLIR versions).
enum { LIST_COUNT_MAX = 16 };

#define LITERAL(out, text) tpt_str_append((out), (text), sizeof(text) - 1)

void tpt__print_type(tpt_str_t* out, const tpt_type_t* type) {
  char text[24 * TPT_RANK_MAX + 32];
  size_t used = 0;
  memcpy(text, "tensor<", 7);
  used = 7;
  for (int i = 0; i < type->rank; i++) {
    char digits[20];
    int count = 0;
    for (int64_t rest = type->dims[i]; rest || count == 0; rest /= 10)
      digits[count++] = (char)('0' + rest % 10);
    while (count)
      text[used++] = digits[--count];
    text[used++] = 'x';
  }
  for (const char* mlir = tpt_dtype_row(type->dtype)->mlir; *mlir; mlir++)
    text[used++] = *mlir;
  text[used++] = '>';
  tpt_str_append(out, text, used);
}

// --- constant data
// ------------------------------------------------------------------------------------

static void print_hex(tpt_str_t* out, const void* data, size_t size, bool is_number) {
  static const char digits[] = "0123456789ABCDEF";
  const unsigned char* bytes = data;
  char chunk[256];
  size_t used = 0;
  LITERAL(out, "0x");
  for (size_t i = 0; i < size; i++) {
    unsigned char byte = bytes[is_number ? size - 1 - i : i];  // numbers: most significant first
    chunk[used++] = digits[byte >> 4];
    chunk[used++] = digits[byte & 15];
    if (used == sizeof(chunk)) {
      tpt_str_append(out, chunk, used);
      used = 0;
    }
  }
  tpt_str_append(out, chunk, used);
}

// One float whose bits are at `element`.
static void print_float(tpt_str_t* out, tpt_dtype_t dtype, const void* element) {
  double value = tpt_number_load(dtype, element).f;
  if (!isfinite(value)) {
    print_hex(out, element, tpt_dtype_size(dtype), true);
    return;
  }
  if (fabs(value) < 1e9 && value == (double)(int64_t)value) {
    if (signbit(value) && value == 0) tpt_str_append_char(out, '-');
    tpt_str_append_i64(out, (int64_t)value);
    LITERAL(out, ".0");
    return;
  }
  char text[40];
  snprintf(text, sizeof(text), "%.*e", dtype == TPT_F64 ? 16 : 8, value);
  text[value < 0 ? 2 : 1] = '.';  // whatever the locale's point is
  tpt_str_append_cstr(out, text);
}

static void print_element(tpt_str_t* out, tpt_dtype_t dtype, const char* element) {
  switch (tpt_dtype_row(dtype)->kind) {
  case TPT_CLASS_BOOL:
    tpt_str_append_cstr(out, *element ? "true" : "false");
    break;
  case TPT_CLASS_FLOAT:
    print_float(out, dtype, element);
    break;
  case TPT_CLASS_COMPLEX: {
    tpt_dtype_t real = tpt_dtype_real(dtype);
    tpt_str_append_char(out, '(');
    print_float(out, real, element);
    tpt_str_append_char(out, ',');
    print_float(out, real, element + tpt_dtype_size(real));
    tpt_str_append_char(out, ')');
    break;
  }
  default: {
    int64_t value = tpt_number_load(dtype, element).i;
    if (dtype == TPT_U64 && value < 0)
      tpt_str_printf(out, "%llu", (unsigned long long)value);
    else
      tpt_str_append_i64(out, value);
    break;
  }
  }
}

// Nested lists of dimension `dim` and inner ones; returns the data behind them.
static const char* print_list(tpt_str_t* out, const tpt_type_t* type, int dim, const char* data) {
  if (dim == type->rank) {
    print_element(out, type->dtype, data);
    return data + tpt_dtype_size(type->dtype);
  }
  tpt_str_append_char(out, '[');
  for (int64_t i = 0; i < type->dims[dim]; i++) {
    if (i) LITERAL(out, ", ");
    data = print_list(out, type, dim + 1, data);
  }
  tpt_str_append_char(out, ']');
  return data;
}

static void print_data(tpt_str_t* out, const tpt_type_t* type, const tpt_attr_t* attr) {
  LITERAL(out, "dense<");
  if (attr->count == 1)
    print_element(out, type->dtype, attr->bytes);
  else if (attr->count && (attr->count <= LIST_COUNT_MAX || type->dtype == TPT_PRED))
    print_list(out, type, 0, attr->bytes);
  else if (attr->count) {
    tpt_str_append_char(out, '"');
    print_hex(out, attr->bytes, attr->count * tpt_dtype_size(type->dtype), false);
    tpt_str_append_char(out, '"');
  }
  LITERAL(out, "> : ");
  tpt__print_type(out, type);
}

// --- attributes
// ---------------------------------------------------------------------------------------

static void print_ints(tpt_str_t* out, const int64_t* ints, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (i) LITERAL(out, ", ");
    tpt_str_append_i64(out, ints[i]);
  }
}

static void print_pairs(tpt_str_t* out, const tpt_attr_t* attr) {
  size_t rows = attr->count / 2;
  LITERAL(out, "dense<");
  for (size_t i = 0; i < rows; i++) {
    tpt_str_append_cstr(out, i ? ", [" : "[[");
    print_ints(out, attr->ints + 2 * i, 2);
    tpt_str_append_char(out, ']');
  }
  tpt_str_append_cstr(out, rows ? "]> : tensor<" : "> : tensor<");
  tpt_str_append_i64(out, (int64_t)rows);
  LITERAL(out, "x2xi64>");
}

static void print_enum(tpt_str_t* out, const struct tpt_enum* values, int64_t number) {
  LITERAL(out, "#stablehlo<");
  tpt_str_append_cstr(out, values->word);
  tpt_str_append_char(out, ' ');
  tpt_str_append_cstr(out, tpt_enum_text(values, number));
  tpt_str_append_char(out, '>');
}

static void print_string(tpt_str_t* out, const char* text, size_t size) {
  tpt_str_append_char(out, '"');
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < ' ' || c > '~' || c == '"' || c == '\\')
      tpt_str_printf(out, "\\%02X", c);
    else
      tpt_str_append_char(out, (char)c);
  }
  tpt_str_append_char(out, '"');
}

static void print_attr(tpt_str_t* out, const tpt_attr_row_t* row, const tpt_attr_t* attr,
                       const tpt_type_t* type) {
  switch (row->kind) {
  case TPT_ATTR_I64:
  case TPT_ATTR_I32:
    tpt_str_append_i64(out, attr->i);
    tpt_str_append_cstr(out, row->kind == TPT_ATTR_I64 ? " : i64" : " : i32");
    break;
  case TPT_ATTR_I64S:
    tpt_str_append_cstr(out, attr->count ? "array<i64: " : "array<i64");
    print_ints(out, attr->ints, attr->count);
    tpt_str_append_char(out, '>');
    break;
  case TPT_ATTR_I64PAIRS:
    print_pairs(out, attr);
    break;
  case TPT_ATTR_BOOL:
    tpt_str_append_cstr(out, attr->i ? "true" : "false");
    break;
  case TPT_ATTR_BOOLS:
    tpt_str_append_cstr(out, attr->count ? "array<i1: " : "array<i1");
    for (size_t i = 0; i < attr->count; i++) {
      if (i) LITERAL(out, ", ");
      tpt_str_append_cstr(out, attr->ints[i] ? "true" : "false");
    }
    tpt_str_append_char(out, '>');
    break;
  case TPT_ATTR_ENUM:
    print_enum(out, row->values, attr->i);
    break;
  case TPT_ATTR_ENUMS:
    tpt_str_append_char(out, '[');
    for (size_t i = 0; i < attr->count; i++) {
      if (i) LITERAL(out, ", ");
      print_enum(out, row->values, attr->ints[i]);
    }
    tpt_str_append_char(out, ']');
    break;
  case TPT_ATTR_BYTES:
    print_data(out, type, attr);
    break;
  case TPT_ATTR_STRING:
    print_string(out, attr->bytes, attr->count);
    break;
  }
}

// --- groups: several slots that print as one attribute
// ------------------------------------------------

static const struct group_text {
  const char* name;
  const char* word;
} group_texts[] = {
    [TPT_GROUP_DOT] = {"dot_dimension_numbers", "dot"},
    [TPT_GROUP_CONV] = {"dimension_numbers", "conv"},
    [TPT_GROUP_GATHER] = {"dimension_numbers", "gather"},
    [TPT_GROUP_SCATTER] = {"scatter_dimension_numbers", "scatter"},
};

// "[b, 0, 1, f]" of one convolution operand: {first, second, spatial...} by position.
static void print_conv_dims(tpt_str_t* out, const tpt_attr_t* attr, char first, char second) {
  tpt_str_append_char(out, '[');
  for (size_t position = 0; position < attr->count; position++) {
    size_t which = 0;
    while (attr->ints[which] != (int64_t)position)
      which++;
    if (position) LITERAL(out, ", ");
    if (which < 2)
      tpt_str_append_char(out, which ? second : first);
    else
      tpt_str_append_i64(out, (int64_t)which - 2);
  }
  tpt_str_append_char(out, ']');
}

static void print_conv_group(tpt_str_t* out, const tpt_attr_t* attrs) {
  print_conv_dims(out, &attrs[0], 'b', 'f');
  tpt_str_append_char(out, 'x');
  print_conv_dims(out, &attrs[1], 'i', 'o');
  LITERAL(out, "->");
  print_conv_dims(out, &attrs[2], 'b', 'f');
}

static void print_list_group(tpt_str_t* out, const tpt_attr_row_t* rows, const tpt_attr_t* attrs,
                             int count) {
  bool is_first = true;
  for (int i = 0; i < count; i++) {
    bool is_list = rows[i].kind == TPT_ATTR_I64S;
    if (is_list && attrs[i].count == 0) continue;
    if (!is_first) LITERAL(out, ", ");
    is_first = false;
    tpt_str_append_cstr(out, rows[i].name);
    tpt_str_append_cstr(out, is_list ? " = [" : " = ");
    if (is_list)
      print_ints(out, attrs[i].ints, attrs[i].count);
    else
      tpt_str_append_i64(out, attrs[i].i);
    if (is_list) tpt_str_append_char(out, ']');
  }
}

// Prints the group that starts at `slot`; returns the slot behind it.
static int print_group(tpt_str_t* out, const tpt_hlo_row_t* row, const tpt_node_t* node, int slot) {
  tpt_attr_group_t group = row->attrs[slot].group;
  int end = slot;
  while (end < row->attr_count && row->attrs[end].group == group)
    end++;
  tpt_str_append_cstr(out, group_texts[group].name);
  LITERAL(out, " = #stablehlo.");
  tpt_str_append_cstr(out, group_texts[group].word);
  tpt_str_append_char(out, '<');
  if (group == TPT_GROUP_CONV)
    print_conv_group(out, &node->attrs[slot]);
  else
    print_list_group(out, &row->attrs[slot], &node->attrs[slot], end - slot);
  tpt_str_append_char(out, '>');
  return end;
}

void tpt__print_attrs(tpt_str_t* out, const tpt_graph_t* graph, const tpt_node_t* node) {
  const tpt_hlo_row_t* row = tpt_hlo_row(node->op);
  const tpt_type_t* type =
      node->result_count ? tpt_graph_type(graph, tpt_node_result(node, 0)) : NULL;
  bool is_first = true;
  for (int slot = 0; slot < row->attr_count;) {
    const tpt_attr_row_t* attr = &row->attrs[slot];
    if (!node->attrs[slot].is_set) {
      slot++;
      continue;
    }
    tpt_str_append_cstr(out, is_first ? " {" : ", ");
    is_first = false;
    if (attr->group != TPT_GROUP_NONE) {
      slot = print_group(out, row, node, slot);
      continue;
    }
    tpt_str_append_cstr(out, attr->name);
    LITERAL(out, " = ");
    print_attr(out, attr, &node->attrs[slot], type);
    slot++;
  }
  if (!is_first) tpt_str_append_char(out, '}');
}
