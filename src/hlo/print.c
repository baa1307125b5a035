// Owns the text of a graph: MLIR's generic form. Must not know any op beyond its row. Invariant:
// one graph has one text; values are named by the order of printing.
#include "hlo/print.h"

#include "base/allocator.h"
#include "hlo/print_attr.h"

typedef struct name {
  uint32_t number;
  uint32_t result;  // which result of an op with several
  bool is_one_of_many;
} name_t;

typedef struct printer {
  const tpt_graph_t* graph;
  tpt_str_t* out;
  name_t* names;  // by value
  uint32_t next;
} printer_t;

#define LITERAL(out, text) tpt_str_append((out), (text), sizeof(text) - 1)

static void print_value(const printer_t* p, tpt_value_t value) {
  const name_t* name = &p->names[value.index];
  tpt_str_append_char(p->out, '%');
  tpt_str_append_i64(p->out, name->number);
  if (!name->is_one_of_many) return;
  tpt_str_append_char(p->out, '#');
  tpt_str_append_i64(p->out, name->result);
}

static void print_values(const printer_t* p, const tpt_value_t* values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (i) LITERAL(p->out, ", ");
    print_value(p, values[i]);
  }
}

// "(tensor<f32>, tensor<2xf32>)"
static void print_types(const printer_t* p, const tpt_value_t* values, uint32_t count) {
  tpt_str_append_char(p->out, '(');
  for (uint32_t i = 0; i < count; i++) {
    if (i) LITERAL(p->out, ", ");
    tpt__print_type(p->out, tpt_graph_type(p->graph, values[i]));
  }
  tpt_str_append_char(p->out, ')');
}

static void print_result_types(const printer_t* p, const tpt_node_t* node) {
  if (node->result_count == 1) {
    tpt__print_type(p->out, tpt_graph_type(p->graph, tpt_node_result(node, 0)));
    return;
  }
  tpt_str_append_char(p->out, '(');
  for (uint32_t i = 0; i < node->result_count; i++) {
    if (i) LITERAL(p->out, ", ");
    tpt__print_type(p->out, tpt_graph_type(p->graph, tpt_node_result(node, i)));
  }
  tpt_str_append_char(p->out, ')');
}

static void name_args(printer_t* p, const tpt_block_t* block) {
  for (uint32_t i = 0; i < block->arg_count; i++)
    p->names[block->args[i].index] = (name_t){.number = p->next++};
}

static void print_args(const printer_t* p, const tpt_block_t* block) {
  if (block->arg_count == 0) return;
  LITERAL(p->out, "^bb0(");
  for (uint32_t i = 0; i < block->arg_count; i++) {
    if (i) LITERAL(p->out, ", ");
    print_value(p, block->args[i]);
    LITERAL(p->out, ": ");
    tpt__print_type(p->out, tpt_graph_type(p->graph, block->args[i]));
  }
  LITERAL(p->out, "):\n");
}

// `terminator`: "func.return" or "stablehlo.return".
static void print_block(printer_t* p, uint32_t index, const char* terminator);

static void print_node(printer_t* p, const tpt_node_t* node) {
  const tpt_hlo_row_t* row = tpt_hlo_row(node->op);
  tpt_str_t* out = p->out;
  if (node->result_count) {
    uint32_t number = p->next++;
    tpt_str_append_char(out, '%');
    tpt_str_append_i64(out, number);
    if (node->result_count > 1) {
      tpt_str_append_char(out, ':');
      tpt_str_append_i64(out, node->result_count);
    }
    LITERAL(out, " = ");
    for (uint32_t i = 0; i < node->result_count; i++)
      p->names[node->first_result + i] = (name_t){number, i, node->result_count > 1};
  }
  LITERAL(out, "\"stablehlo.");
  tpt_str_append_cstr(out, row->mnemonic);
  LITERAL(out, "\"(");
  print_values(p, node->operands, node->operand_count);
  tpt_str_append_char(out, ')');
  for (uint32_t i = 0; i < node->region_count; i++) {
    tpt_str_append_cstr(out, i ? ", {\n" : " ({\n");
    print_block(p, node->regions[i], "stablehlo.return");
    tpt_str_append_cstr(out, i + 1 == node->region_count ? "})" : "}");
  }
  tpt__print_attrs(out, p->graph, node);
  LITERAL(out, " : ");
  print_types(p, node->operands, node->operand_count);
  LITERAL(out, " -> ");
  print_result_types(p, node);
  tpt_str_append_char(out, '\n');
}

static void print_block(printer_t* p, uint32_t index, const char* terminator) {
  tpt_block_t block = tpt_graph_block(p->graph, index);
  name_args(p, &block);
  print_args(p, &block);
  for (uint32_t i = 0; i < block.node_count; i++)
    print_node(p, tpt_graph_node(p->graph, block.nodes[i]));
  tpt_str_append_char(p->out, '"');
  tpt_str_append_cstr(p->out, terminator);
  LITERAL(p->out, "\"(");
  print_values(p, block.results, block.result_count);
  LITERAL(p->out, ") : ");
  print_types(p, block.results, block.result_count);
  LITERAL(p->out, " -> ()\n");
}

static void print_arg_attrs(const printer_t* p, uint32_t count) {
  bool has_alias = false;
  for (uint32_t i = 0; i < count; i++)
    has_alias |= tpt_graph_alias_of(p->graph, i) >= 0;
  if (!has_alias) return;
  LITERAL(p->out, "arg_attrs = [");
  for (uint32_t i = 0; i < count; i++) {
    int32_t result = tpt_graph_alias_of(p->graph, i);
    tpt_str_append_cstr(p->out, i ? ", {" : "{");
    if (result >= 0) {
      LITERAL(p->out, "tf.aliasing_output = ");
      tpt_str_append_i64(p->out, result);
      LITERAL(p->out, " : i32");
    }
    tpt_str_append_char(p->out, '}');
  }
  LITERAL(p->out, "], ");
}

static void print_module(printer_t* p) {
  tpt_block_t block = tpt_graph_block(p->graph, 0);
  LITERAL(p->out, "\"builtin.module\"() ({\n\"func.func\"() ({\n");
  print_block(p, 0, "func.return");
  LITERAL(p->out, "}) {");
  print_arg_attrs(p, block.arg_count);
  LITERAL(p->out, "function_type = ");
  print_types(p, block.args, block.arg_count);
  LITERAL(p->out, " -> ");
  print_types(p, block.results, block.result_count);
  LITERAL(p->out, ", sym_name = \"main\"} : () -> ()\n}) : () -> ()\n");
}

tpt_status_t tpt_graph_print(const tpt_graph_t* graph, tpt_str_t* out) {
  TPT_TRY(tpt_graph_status(graph));
  name_t* names = tpt_malloc((size_t)tpt_graph_value_count(graph) * sizeof(*names));
  if (!names) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "out of host memory (printing a graph)");
  printer_t printer = {.graph = graph, .out = out, .names = names};
  print_module(&printer);
  tpt_free(names);
  return tpt_str_status(out);
}
