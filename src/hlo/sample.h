// Test data: one or more small graphs for every op of hlo.def, for tests of printing, reading and
// identity. Included by tests only.
#ifndef TPUTORCH_HLO_SAMPLE_H_
#define TPUTORCH_HLO_SAMPLE_H_

#include "hlo/builder.h"

static inline tpt_value_t sample_parameter(tpt_graph_t* g, tpt_dtype_t dtype, int rank,
                                           const int64_t* dims) {
  tpt_type_t type = tpt_type_make(dtype, rank, dims);
  return tpt_graph_parameter(g, &type);
}
#define SAMPLE_DIMS(...) ((const int64_t[]){__VA_ARGS__})

// Operands of the dtype an elementwise op likes best.
static inline tpt_value_t sample_elementwise(tpt_graph_t* g, tpt_hlo_t op) {
  tpt_dtype_t dtype = TPT_F32;
  switch (op) {
  case TPT_HLO_CLZ:
  case TPT_HLO_POPCNT:
  case TPT_HLO_NOT:
  case TPT_HLO_AND:
  case TPT_HLO_OR:
  case TPT_HLO_XOR:
  case TPT_HLO_SHL:
  case TPT_HLO_SHRA:
  case TPT_HLO_SHRL:
    dtype = TPT_S32;
    break;
  case TPT_HLO_REAL:
  case TPT_HLO_IMAG:
    dtype = TPT_C64;
    break;
  default:
    break;
  }
  tpt_value_t a = sample_parameter(g, dtype, 2, SAMPLE_DIMS(2, 3));
  if (tpt_hlo_row(op)->operand_count == 1) return tpt_hlo_unary(g, op, a);
  return tpt_hlo_binary(g, op, a, sample_parameter(g, dtype, 2, SAMPLE_DIMS(2, 3)));
}

static inline tpt_value_t sample_constant(tpt_graph_t* g) {
  float big[33];
  for (int i = 0; i < 33; i++)
    big[i] = (float)i / 7;
  const float floats[4] = {-0.0f, 0.1f, 3e38f, 1.0f / 0.0f};
  const double doubles[2] = {0.1, -1e300};
  const unsigned char preds[6] = {1, 0, 1, 0, 0, 1};
  const uint64_t words[2] = {UINT64_MAX, 1};
  const int8_t bytes[3] = {-128, 127, 0};
  const uint16_t halves[2] = {0x3C01, 0xFE00};
  const float pairs[4] = {1, 0.5f, -2, 0};
  tpt_type_t type = tpt_type_make(TPT_F32, 1, SAMPLE_DIMS(33));
  tpt_hlo_constant(g, &type, big);
  type = tpt_type_make(TPT_F32, 2, SAMPLE_DIMS(2, 2));
  tpt_hlo_constant(g, &type, floats);
  type = tpt_type_make(TPT_F64, 1, SAMPLE_DIMS(2));
  tpt_hlo_constant(g, &type, doubles);
  type = tpt_type_make(TPT_PRED, 2, SAMPLE_DIMS(2, 3));
  tpt_hlo_constant(g, &type, preds);
  type = tpt_type_make(TPT_U64, 1, SAMPLE_DIMS(2));
  tpt_hlo_constant(g, &type, words);
  type = tpt_type_make(TPT_S8, 1, SAMPLE_DIMS(3));
  tpt_hlo_constant(g, &type, bytes);
  type = tpt_type_make(TPT_F16, 1, SAMPLE_DIMS(2));
  tpt_hlo_constant(g, &type, halves);
  type = tpt_type_make(TPT_C64, 1, SAMPLE_DIMS(2));
  tpt_hlo_constant(g, &type, pairs);
  type = tpt_type_make(TPT_F32, 2, SAMPLE_DIMS(3, 0));
  tpt_hlo_constant(g, &type, floats);
  type = tpt_type_make(TPT_BF16, 1, SAMPLE_DIMS(5));
  tpt_hlo_splat_f64(g, &type, 1.0 / 3);
  tpt_hlo_scalar_f64(g, TPT_C64, 0.1);
  tpt_hlo_scalar_i64(g, TPT_U64, -1);
  tpt_hlo_scalar_i64(g, TPT_PRED, 1);
  return tpt_hlo_scalar_f64(g, TPT_F32, 0.0 / 0.0);
}

static inline tpt_value_t sample_dot(tpt_graph_t* g) {
  tpt_value_t a = sample_parameter(g, TPT_BF16, 3, SAMPLE_DIMS(2, 3, 4));
  tpt_value_t b = sample_parameter(g, TPT_BF16, 3, SAMPLE_DIMS(2, 4, 5));
  tpt_dot_t dot = {.batch_count = 1,
                   .contract_count = 1,
                   .lhs_contract = {2},
                   .rhs_contract = {1},
                   .precision = TPT_PRECISION_HIGHEST,
                   .result = TPT_F32};
  tpt_hlo_dot_general(g, a, a, &(tpt_dot_t){.batch_count = 0});
  return tpt_hlo_dot_general(g, a, b, &dot);
}

static inline tpt_value_t sample_convolution(tpt_graph_t* g) {
  tpt_value_t x = sample_parameter(g, TPT_F32, 4, SAMPLE_DIMS(2, 6, 8, 9));
  tpt_value_t w = sample_parameter(g, TPT_F32, 4, SAMPLE_DIMS(4, 3, 3, 2));
  tpt_conv_t conv = {.spatial_count = 2,
                     .stride = {2, 1},
                     .pad_low = {1, 0},
                     .pad_high = {1, -1},
                     .lhs_dilation = {1, 2},
                     .rhs_dilation = {1, 1},
                     .reversal = {false, true},
                     .input_batch = 0,
                     .input_feature = 1,
                     .input_spatial = {2, 3},
                     .kernel_input = 1,
                     .kernel_output = 0,
                     .kernel_spatial = {2, 3},
                     .output_batch = 3,
                     .output_feature = 0,
                     .output_spatial = {1, 2},
                     .feature_groups = 2,
                     .batch_groups = 1};
  return tpt_hlo_convolution(g, x, w, &conv);
}

static inline tpt_gather_t sample_gather_dims(void) {
  return (tpt_gather_t){.offset_count = 1,
                        .offset_dims = {1},
                        .collapsed_count = 1,
                        .collapsed_dims = {0},
                        .map_count = 1,
                        .start_index_map = {0},
                        .index_vector_dim = 1,
                        .slice_sizes = {1, 3},
                        .check = "aten::index_select \"x\"\\"};
}

static inline tpt_value_t sample_gather(tpt_graph_t* g) {
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(5, 3));
  tpt_value_t indices = sample_parameter(g, TPT_S64, 1, SAMPLE_DIMS(4));
  tpt_gather_t dims = sample_gather_dims();
  return tpt_hlo_gather(g, x, indices, &dims);
}

static inline tpt_value_t sample_scatter(tpt_graph_t* g) {
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(5, 3));
  tpt_value_t indices = sample_parameter(g, TPT_S32, 1, SAMPLE_DIMS(4));
  tpt_value_t updates = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(4, 3));
  tpt_scatter_t dims = {.update_window_count = 1,
                        .update_window_dims = {1},
                        .inserted_count = 1,
                        .inserted_dims = {0},
                        .map_count = 1,
                        .dims_to_operand = {0},
                        .index_vector_dim = 1,
                        .unique = true};
  x = tpt_hlo_scatter(g, x, indices, updates, &dims, TPT_HLO_ADD);
  dims.check = "aten::scatter";
  return tpt_hlo_scatter(g, x, indices, updates, &dims, TPT_HLO_COUNT);
}

static inline tpt_value_t sample_reduce(tpt_graph_t* g) {
  tpt_value_t xs[2] = {sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(4, 5)),
                       sample_parameter(g, TPT_S32, 2, SAMPLE_DIMS(4, 5))};
  tpt_value_t inits[2] = {tpt_hlo_scalar_f64(g, TPT_F32, -1.0 / 0.0),
                          tpt_hlo_scalar_i64(g, TPT_S32, 0)};
  tpt_hlo_reduce(g, xs[0], inits[0], TPT_HLO_MAXIMUM, SAMPLE_DIMS(0), 1);
  tpt_type_t f = tpt_type_scalar(TPT_F32), i = tpt_type_scalar(TPT_S32);
  tpt_value_t args[4], results[2];
  tpt_region_begin(g, (tpt_type_t[]){f, i, f, i}, 4, args);
  tpt_value_t first = tpt_hlo_compare(g, TPT_GE, args[0], args[2]);
  results[0] = tpt_hlo_select(g, first, args[0], args[2]);
  results[1] = tpt_hlo_select(g, first, args[1], args[3]);
  uint32_t body = tpt_region_end(g, results, 2);
  return tpt_hlo_reduce_n(g, &(tpt_reduction_t){.xs = xs,
                                                .inits = inits,
                                                .count = 2,
                                                .dims = SAMPLE_DIMS(1),
                                                .dim_count = 1,
                                                .body = body});
}

static inline tpt_value_t sample_window(tpt_graph_t* g, bool is_select) {
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(6, 6));
  tpt_value_t zero = tpt_hlo_scalar_f64(g, TPT_F32, 0);
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[0] = window.dims[1] = 2;
  window.stride[1] = 2;
  window.pad_low[0] = 1;
  tpt_value_t sums = tpt_hlo_reduce_window(g, x, zero, TPT_HLO_ADD, &window);
  if (!is_select) return sums;
  return tpt_hlo_select_and_scatter(g, x, sums, zero, TPT_GE, &window);
}

static inline tpt_value_t sample_sort(tpt_graph_t* g) {
  tpt_value_t xs[2] = {sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(4, 5)),
                       sample_parameter(g, TPT_S32, 2, SAMPLE_DIMS(4, 5))};
  tpt_type_t f = tpt_type_scalar(TPT_F32), i = tpt_type_scalar(TPT_S32);
  tpt_value_t args[4];
  tpt_region_begin(g, (tpt_type_t[]){f, f, i, i}, 4, args);
  tpt_attr_t attrs[2] = {{.is_set = true, .i = TPT_LT},
                         {.is_set = true, .i = TPT_COMPARE_TOTALORDER}};
  tpt_value_t less = tpt_graph_append(
      g, &(tpt_node_params_t){
             .op = TPT_HLO_COMPARE, .operands = args, .operand_count = 2, .attrs = attrs});
  return tpt_hlo_sort(g, xs, 2, 1, true, tpt_region_end(g, &less, 1));
}

static inline tpt_value_t sample_map(tpt_graph_t* g) {
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(2, 3));
  tpt_type_t f = tpt_type_scalar(TPT_F32);
  tpt_value_t arg;
  tpt_region_begin(g, &f, 1, &arg);
  tpt_value_t sine = tpt_hlo_unary(g, TPT_HLO_SINE, arg);
  uint32_t body = tpt_region_end(g, &sine, 1);
  tpt_attr_t attr = {.is_set = true, .ints = SAMPLE_DIMS(0, 1), .count = 2};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_MAP,
                                                  .operands = &x,
                                                  .operand_count = 1,
                                                  .attrs = &attr,
                                                  .regions = &body,
                                                  .region_count = 1});
}

static inline tpt_value_t sample_branches(tpt_graph_t* g, bool is_if) {
  tpt_value_t selector = sample_parameter(g, is_if ? TPT_PRED : TPT_S32, 0, NULL);
  tpt_value_t x = sample_parameter(g, TPT_F32, 1, SAMPLE_DIMS(3));
  uint32_t branches[2];
  for (int i = 0; i < 2; i++) {
    tpt_region_begin(g, NULL, 0, NULL);
    tpt_value_t results[2] = {tpt_hlo_unary(g, i ? TPT_HLO_SINE : TPT_HLO_COSINE, x), x};
    branches[i] = tpt_region_end(g, results, 2);
  }
  return is_if ? tpt_hlo_if(g, selector, branches[0], branches[1])
               : tpt_hlo_case(g, selector, branches, 2);
}

static inline tpt_value_t sample_while(tpt_graph_t* g) {
  tpt_value_t limit = sample_parameter(g, TPT_S32, 0, NULL);
  tpt_value_t inits[2] = {tpt_hlo_scalar_i64(g, TPT_S32, 0),
                          sample_parameter(g, TPT_F32, 1, SAMPLE_DIMS(3))};
  tpt_type_t types[2] = {tpt_type_scalar(TPT_S32), tpt_type_make(TPT_F32, 1, SAMPLE_DIMS(3))};
  tpt_value_t args[2], results[2];
  tpt_region_begin(g, types, 2, args);
  tpt_value_t more = tpt_hlo_compare(g, TPT_LT, args[0], limit);
  uint32_t condition = tpt_region_end(g, &more, 1);
  tpt_region_begin(g, types, 2, args);
  results[0] = tpt_hlo_binary(g, TPT_HLO_ADD, args[0], tpt_hlo_scalar_i64(g, TPT_S32, 1));
  results[1] = tpt_hlo_unary(g, TPT_HLO_SINE, args[1]);
  uint32_t body = tpt_region_end(g, results, 2);
  tpt_value_t first = tpt_hlo_while(g, inits, 2, condition, body);
  return (tpt_value_t){first.index + 1};
}

static inline tpt_value_t sample_custom_call(tpt_graph_t* g) {
  tpt_value_t x = sample_parameter(g, TPT_F32, 1, SAMPLE_DIMS(3));
  tpt_type_t types[2] = {tpt_type_scalar(TPT_S32), tpt_type_make(TPT_F32, 1, SAMPLE_DIMS(3))};
  tpt_attr_t attrs[3] = {{.is_set = true, .bytes = "target", .count = 6},
                         {.is_set = true, .i = 1},
                         {.is_set = true, .bytes = "{a = \"b\"\n}", .count = 10}};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_CUSTOM_CALL,
                                                  .operands = &x,
                                                  .operand_count = 1,
                                                  .attrs = attrs,
                                                  .result_types = types,
                                                  .result_type_count = 2});
}

static inline tpt_value_t sample_moved(tpt_graph_t* g, tpt_hlo_t op) {
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(4, 6));
  tpt_value_t i = sample_parameter(g, TPT_S32, 0, NULL);
  tpt_value_t starts[2] = {i, i};
  tpt_type_t bits = tpt_type_make(TPT_S8, 3, SAMPLE_DIMS(4, 6, 4));
  tpt_value_t zero = tpt_hlo_scalar_f64(g, TPT_F32, 0);
  switch (op) {
  case TPT_HLO_BITCAST_CONVERT:
    return tpt_hlo_bitcast_convert(g, x, &bits);
  case TPT_HLO_BROADCAST_IN_DIM:
    return tpt_hlo_broadcast_in_dim(g, x, 3, SAMPLE_DIMS(4, 2, 6), SAMPLE_DIMS(0, 2));
  case TPT_HLO_CONCATENATE:
    return tpt_hlo_concatenate(g, (tpt_value_t[]){x, x, x}, 3, 1);
  case TPT_HLO_DYNAMIC_SLICE:
    return tpt_hlo_dynamic_slice(g, x, starts, SAMPLE_DIMS(2, 2));
  case TPT_HLO_DYNAMIC_UPDATE_SLICE:
    return tpt_hlo_dynamic_update_slice(
        g, x, tpt_hlo_slice(g, x, SAMPLE_DIMS(0, 0), SAMPLE_DIMS(2, 2), NULL), starts);
  case TPT_HLO_PAD:
    return tpt_hlo_pad(g, x, zero, SAMPLE_DIMS(1, -1), SAMPLE_DIMS(0, 2), SAMPLE_DIMS(0, 1));
  case TPT_HLO_RESHAPE:
    return tpt_hlo_reshape(g, x, 3, SAMPLE_DIMS(2, 6, 2));
  case TPT_HLO_REVERSE:
    return tpt_hlo_reverse(g, x, SAMPLE_DIMS(1), 1);
  case TPT_HLO_SLICE:
    return tpt_hlo_slice(g, x, SAMPLE_DIMS(1, 0), SAMPLE_DIMS(4, 6), SAMPLE_DIMS(2, 1));
  default:
    return tpt_hlo_transpose(g, x, SAMPLE_DIMS(1, 0));
  }
}

static inline tpt_value_t sample_linalg(tpt_graph_t* g, tpt_hlo_t op) {
  tpt_value_t a = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(3, 3));
  tpt_type_t bits = tpt_type_make(TPT_U32, 2, SAMPLE_DIMS(2, 3));
  switch (op) {
  case TPT_HLO_CHOLESKY:
    return tpt_hlo_cholesky(g, a, true);
  case TPT_HLO_TRIANGULAR_SOLVE:
    return tpt_hlo_triangular_solve(
        g, a, a, &(tpt_triangular_t){.left = true, .transpose = TPT_TRANSPOSE_A});
  case TPT_HLO_FFT:
    return tpt_hlo_fft(g, a, TPT_RFFT, SAMPLE_DIMS(3), 1);
  default:
    return tpt_hlo_rng_bit_generator(g, sample_parameter(g, TPT_U64, 1, SAMPLE_DIMS(2)),
                                     TPT_RNG_THREE_FRY, &bits);
  }
}

static inline tpt_value_t sample_mixed(tpt_graph_t* g, tpt_hlo_t op) {
  tpt_type_t counts = tpt_type_make(TPT_S32, 2, SAMPLE_DIMS(2, 3));
  if (op == TPT_HLO_IOTA) return tpt_hlo_iota(g, &counts, 1);
  tpt_value_t x = sample_parameter(g, TPT_F32, 2, SAMPLE_DIMS(2, 3));
  tpt_value_t p = sample_parameter(g, TPT_PRED, 0, NULL);
  switch (op) {
  case TPT_HLO_CONVERT:
    return tpt_hlo_convert(g, x, TPT_U8);
  case TPT_HLO_COMPARE:
    return tpt_hlo_compare(g, TPT_GE, x, x);
  case TPT_HLO_SELECT:
    return tpt_hlo_select(g, p, x, x);
  case TPT_HLO_CLAMP:
    return tpt_hlo_clamp(g, tpt_hlo_scalar_f64(g, TPT_F32, 0.25), x, x);
  case TPT_HLO_REDUCE_PRECISION:
    return tpt_hlo_reduce_precision(g, x, 5, 10);
  default:
    return tpt_hlo_optimization_barrier(g, (tpt_value_t[]){x, p}, 2);
  }
}

// Builds the sample of an op into an empty graph, returning from main all results of its last node.
static inline void sample_build(tpt_graph_t* g, tpt_hlo_t op) {
  tpt_value_t value;
  if (op == TPT_HLO_CONSTANT)
    value = sample_constant(g);
  else if (op == TPT_HLO_DOT_GENERAL)
    value = sample_dot(g);
  else if (op == TPT_HLO_CONVOLUTION)
    value = sample_convolution(g);
  else if (op == TPT_HLO_GATHER)
    value = sample_gather(g);
  else if (op == TPT_HLO_SCATTER)
    value = sample_scatter(g);
  else if (op == TPT_HLO_REDUCE)
    value = sample_reduce(g);
  else if (op == TPT_HLO_REDUCE_WINDOW)
    value = sample_window(g, false);
  else if (op == TPT_HLO_SELECT_AND_SCATTER)
    value = sample_window(g, true);
  else if (op == TPT_HLO_SORT)
    value = sample_sort(g);
  else if (op == TPT_HLO_MAP)
    value = sample_map(g);
  else if (op == TPT_HLO_CASE || op == TPT_HLO_IF)
    value = sample_branches(g, op == TPT_HLO_IF);
  else if (op == TPT_HLO_WHILE)
    value = sample_while(g);
  else if (op == TPT_HLO_CUSTOM_CALL)
    value = sample_custom_call(g);
  else if (op >= TPT_HLO_BITCAST_CONVERT && op <= TPT_HLO_TRANSPOSE)
    value = sample_moved(g, op);
  else if (op >= TPT_HLO_CHOLESKY)
    value = sample_linalg(g, op);
  else if (op == TPT_HLO_IOTA || op == TPT_HLO_CONVERT || op == TPT_HLO_COMPARE ||
           op == TPT_HLO_SELECT || op == TPT_HLO_CLAMP || op == TPT_HLO_REDUCE_PRECISION ||
           op == TPT_HLO_OPTIMIZATION_BARRIER)
    value = sample_mixed(g, op);
  else
    value = sample_elementwise(g, op);
  tpt_graph_return(g, &value, 1);
}

#endif  // TPUTORCH_HLO_SAMPLE_H_
