// Owns the typed doors of elementwise ops and of the sources. Must not know type rules: it only
// packs parts for tpt_graph_append.
#include "hlo/builder.h"

tpt_value_t tpt_hlo_unary(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t x) {
  return tpt_graph_append(g, &(tpt_node_params_t){.op = op, .operands = &x, .operand_count = 1});
}

tpt_value_t tpt_hlo_binary(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t a, tpt_value_t b) {
  tpt_value_t operands[2] = {a, b};
  return tpt_graph_append(g,
                          &(tpt_node_params_t){.op = op, .operands = operands, .operand_count = 2});
}

tpt_value_t tpt_hlo_compare(tpt_graph_t* g, tpt_compare_t direction, tpt_value_t a, tpt_value_t b) {
  tpt_value_t operands[2] = {a, b};
  tpt_attr_t attrs[2] = {{.is_set = true, .i = direction}};
  return tpt_graph_append(
      g, &(tpt_node_params_t){
             .op = TPT_HLO_COMPARE, .operands = operands, .operand_count = 2, .attrs = attrs});
}

static tpt_value_t ternary(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t a, tpt_value_t b,
                           tpt_value_t c) {
  tpt_value_t operands[3] = {a, b, c};
  return tpt_graph_append(g,
                          &(tpt_node_params_t){.op = op, .operands = operands, .operand_count = 3});
}

tpt_value_t tpt_hlo_select(tpt_graph_t* g, tpt_value_t predicate, tpt_value_t on_true,
                           tpt_value_t on_false) {
  return ternary(g, TPT_HLO_SELECT, predicate, on_true, on_false);
}

tpt_value_t tpt_hlo_clamp(tpt_graph_t* g, tpt_value_t low, tpt_value_t x, tpt_value_t high) {
  return ternary(g, TPT_HLO_CLAMP, low, x, high);
}

static tpt_value_t unary_to(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t x, const tpt_type_t* type) {
  return tpt_graph_append(g, &(tpt_node_params_t){.op = op,
                                                  .operands = &x,
                                                  .operand_count = 1,
                                                  .result_types = type,
                                                  .result_type_count = 1});
}

tpt_value_t tpt_hlo_convert(tpt_graph_t* g, tpt_value_t x, tpt_dtype_t dtype) {
  tpt_type_t type = *tpt_graph_type(g, x);
  if (type.dtype == dtype && !tpt_value_is_none(x)) return x;
  bool from_complex = tpt_dtype_is_complex(type.dtype), to_complex = tpt_dtype_is_complex(dtype);
  if (from_complex && dtype == TPT_PRED)  // true when either part is
    return tpt_hlo_compare(g, TPT_NE, x, tpt_hlo_splat_i64(g, &type, 0));
  if (from_complex && !to_complex)
    return tpt_hlo_convert(g, tpt_hlo_unary(g, TPT_HLO_REAL, x), dtype);
  if (to_complex && !from_complex) {
    type.dtype = tpt_dtype_real(dtype);
    tpt_value_t re = tpt_hlo_convert(g, x, type.dtype);
    return tpt_hlo_complex(g, re, tpt_hlo_splat_i64(g, &type, 0));
  }
  type.dtype = dtype;
  return unary_to(g, TPT_HLO_CONVERT, x, &type);
}

tpt_value_t tpt_hlo_bitcast_convert(tpt_graph_t* g, tpt_value_t x, const tpt_type_t* type) {
  if (!tpt_value_is_none(x) && tpt_type_equal(tpt_graph_type(g, x), type)) return x;
  return unary_to(g, TPT_HLO_BITCAST_CONVERT, x, type);
}

tpt_value_t tpt_hlo_complex(tpt_graph_t* g, tpt_value_t re, tpt_value_t im) {
  return tpt_hlo_binary(g, TPT_HLO_COMPLEX, re, im);
}

tpt_value_t tpt_hlo_reduce_precision(tpt_graph_t* g, tpt_value_t x, int exponent_bits,
                                     int mantissa_bits) {
  tpt_attr_t attrs[2] = {{.is_set = true, .i = exponent_bits},
                         {.is_set = true, .i = mantissa_bits}};
  return tpt_graph_append(
      g, &(tpt_node_params_t){
             .op = TPT_HLO_REDUCE_PRECISION, .operands = &x, .operand_count = 1, .attrs = attrs});
}

static tpt_value_t constant(tpt_graph_t* g, const tpt_type_t* type, const void* data,
                            size_t count) {
  tpt_attr_t attr = {.is_set = true, .bytes = data, .count = count};
  return tpt_graph_append(
      g, &(tpt_node_params_t){
             .op = TPT_HLO_CONSTANT, .attrs = &attr, .result_types = type, .result_type_count = 1});
}

tpt_value_t tpt_hlo_constant(tpt_graph_t* g, const tpt_type_t* type, const void* data) {
  return constant(g, type, data, (size_t)tpt_type_count(type));
}

tpt_value_t tpt_hlo_splat(tpt_graph_t* g, const tpt_type_t* type, tpt_number_t number) {
  unsigned char element[16];
  tpt_number_store(&number, type->dtype, element);
  return constant(g, type, element, 1);
}

tpt_value_t tpt_hlo_splat_f64(tpt_graph_t* g, const tpt_type_t* type, double value) {
  return tpt_hlo_splat(g, type, (tpt_number_t){.dtype = TPT_F64, .f = value});
}

tpt_value_t tpt_hlo_splat_i64(tpt_graph_t* g, const tpt_type_t* type, int64_t value) {
  return tpt_hlo_splat(g, type, (tpt_number_t){.dtype = TPT_S64, .i = value});
}

tpt_value_t tpt_hlo_scalar_f64(tpt_graph_t* g, tpt_dtype_t dtype, double value) {
  tpt_type_t type = tpt_type_scalar(dtype);
  return tpt_hlo_splat_f64(g, &type, value);
}

tpt_value_t tpt_hlo_scalar_i64(tpt_graph_t* g, tpt_dtype_t dtype, int64_t value) {
  tpt_type_t type = tpt_type_scalar(dtype);
  return tpt_hlo_splat_i64(g, &type, value);
}

tpt_value_t tpt_hlo_iota(tpt_graph_t* g, const tpt_type_t* type, int dim) {
  tpt_attr_t attr = {.is_set = true, .i = dim};
  return tpt_graph_append(
      g, &(tpt_node_params_t){
             .op = TPT_HLO_IOTA, .attrs = &attr, .result_types = type, .result_type_count = 1});
}

tpt_value_t tpt_hlo_optimization_barrier(tpt_graph_t* g, const tpt_value_t* xs, int count) {
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_OPTIMIZATION_BARRIER,
                                                  .operands = xs,
                                                  .operand_count = (uint32_t)count});
}

bool tpt_graph_splat(const tpt_graph_t* graph, tpt_value_t value, tpt_number_t* out) {
  const tpt_node_t* node = tpt_graph_producer(graph, value);
  if (tpt_type_count(tpt_graph_type(graph, value)) == 0) return false;
  // Ops that only move elements keep a splat a splat.
  while (node && (node->op == TPT_HLO_BROADCAST_IN_DIM || node->op == TPT_HLO_RESHAPE ||
                  node->op == TPT_HLO_TRANSPOSE))
    node = tpt_graph_producer(graph, node->operands[0]);
  if (!node || node->op != TPT_HLO_CONSTANT || node->attrs[0].count != 1) return false;
  const tpt_type_t* type = tpt_graph_type(graph, tpt_node_result(node, 0));
  *out = tpt_number_load(type->dtype, node->attrs[0].bytes);
  return true;
}
