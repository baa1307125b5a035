// Owns the typed doors of dot_general, convolution, gather and scatter, and the way back from their
// nodes to the structs of builder.h. Must not know type rules. Invariant: reading what was built
// gives the same struct.
#include "hlo/builder.h"
#include "hlo/region.h"

enum {
  CONV_INPUT = 5,
  CONV_KERNEL,
  CONV_OUTPUT,
  CONV_FEATURE_GROUPS,
  CONV_BATCH_GROUPS,
  CONV_PRECISION
};

static tpt_attr_t ints(const int64_t* data, int count) {
  return (tpt_attr_t){.is_set = true, .ints = data, .count = (size_t)count};
}
static tpt_attr_t number(int64_t value) {
  return (tpt_attr_t){.is_set = true, .i = value};
}
static tpt_attr_t text(const char* string) {
  return (tpt_attr_t){
      .is_set = string != NULL, .bytes = string, .count = string ? strlen(string) : 0};
}

// Copies a list attribute of at most `capacity` numbers; returns its length.
static int take(const tpt_attr_t* attr, int64_t* out, size_t capacity) {
  size_t count = attr->count < capacity ? attr->count : capacity;
  for (size_t i = 0; i < count; i++)
    out[i] = attr->ints[i];
  return (int)count;
}

// Operands may differ in precision in text; the struct has one: the higher.
static tpt_precision_t take_precision(const tpt_attr_t* attr) {
  int64_t precision = TPT_PRECISION_DEFAULT;
  for (size_t i = 0; i < attr->count; i++)
    if (attr->ints[i] > precision) precision = attr->ints[i];
  return (tpt_precision_t)precision;
}

static bool fits(tpt_graph_t* g, const char* op, int count, int limit) {
  if (count >= 0 && count <= limit) return true;
  tpt_graph_fail(g, tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                                    "stablehlo.%s: a list of %d dimensions, more than %d", op,
                                    count, limit));
  return false;
}

// Appends a product whose result has the operands' element type or, if valid, `dtype`.
static tpt_value_t append_product(tpt_graph_t* g, tpt_hlo_t op, const tpt_value_t operands[2],
                                  const tpt_attr_t* attrs, tpt_dtype_t dtype) {
  tpt_type_t type = {.dtype = dtype, .rank = -1};
  bool is_given = dtype != TPT_DTYPE_INVALID;
  return tpt_graph_append(g, &(tpt_node_params_t){.op = op,
                                                  .operands = operands,
                                                  .operand_count = 2,
                                                  .attrs = attrs,
                                                  .result_types = is_given ? &type : NULL,
                                                  .result_type_count = is_given});
}

tpt_value_t tpt_hlo_dot_general(tpt_graph_t* g, tpt_value_t lhs, tpt_value_t rhs,
                                const tpt_dot_t* dot) {
  if (!fits(g, "dot_general", dot->batch_count, TPT_RANK_MAX) ||
      !fits(g, "dot_general", dot->contract_count, TPT_RANK_MAX))
    return TPT_VALUE_NONE;
  int64_t precision[2] = {dot->precision, dot->precision};
  tpt_attr_t attrs[5] = {ints(dot->lhs_batch, dot->batch_count),
                         ints(dot->rhs_batch, dot->batch_count),
                         ints(dot->lhs_contract, dot->contract_count),
                         ints(dot->rhs_contract, dot->contract_count), ints(precision, 2)};
  return append_product(g, TPT_HLO_DOT_GENERAL, (tpt_value_t[2]){lhs, rhs}, attrs, dot->result);
}

void tpt_node_dot(const tpt_node_t* node, tpt_dot_t* out) {
  memset(out, 0, sizeof(*out));
  out->batch_count = take(&node->attrs[0], out->lhs_batch, TPT_RANK_MAX);
  take(&node->attrs[1], out->rhs_batch, TPT_RANK_MAX);
  out->contract_count = take(&node->attrs[2], out->lhs_contract, TPT_RANK_MAX);
  take(&node->attrs[3], out->rhs_contract, TPT_RANK_MAX);
  out->precision = take_precision(&node->attrs[4]);
}

// {first, second, spatial...} as convolution's dimension attributes are laid out.
static void pack_dims(int64_t* out, int64_t first, int64_t second, const int64_t* spatial,
                      int count) {
  out[0] = first;
  out[1] = second;
  for (int i = 0; i < count; i++)
    out[2 + i] = spatial[i];
}

tpt_value_t tpt_hlo_convolution(tpt_graph_t* g, tpt_value_t x, tpt_value_t kernel,
                                const tpt_conv_t* conv) {
  int count = conv->spatial_count;
  if (!fits(g, "convolution", count, TPT_SPATIAL_MAX)) return TPT_VALUE_NONE;
  int64_t input[2 + TPT_SPATIAL_MAX], weight[2 + TPT_SPATIAL_MAX], output[2 + TPT_SPATIAL_MAX];
  pack_dims(input, conv->input_batch, conv->input_feature, conv->input_spatial, count);
  pack_dims(weight, conv->kernel_input, conv->kernel_output, conv->kernel_spatial, count);
  pack_dims(output, conv->output_batch, conv->output_feature, conv->output_spatial, count);
  int64_t padding[2 * TPT_SPATIAL_MAX], reversal[TPT_SPATIAL_MAX];
  for (int i = 0; i < count; i++) {
    padding[2 * i] = conv->pad_low[i];
    padding[2 * i + 1] = conv->pad_high[i];
    reversal[i] = conv->reversal[i];
  }
  int64_t precision[2] = {conv->precision, conv->precision};
  tpt_attr_t attrs[11] = {
      ints(conv->stride, count),       ints(padding, 2 * count), ints(conv->lhs_dilation, count),
      ints(conv->rhs_dilation, count), ints(reversal, count),    ints(input, 2 + count),
      ints(weight, 2 + count),         ints(output, 2 + count),  number(conv->feature_groups),
      number(conv->batch_groups),      ints(precision, 2)};
  return append_product(g, TPT_HLO_CONVOLUTION, (tpt_value_t[2]){x, kernel}, attrs, conv->result);
}

static void unpack_dims(const tpt_attr_t* attr, int64_t* out_first, int64_t* out_second,
                        int64_t* out_spatial, int count) {
  *out_first = attr->ints[0];
  *out_second = attr->ints[1];
  for (int i = 0; i < count; i++)
    out_spatial[i] = attr->ints[2 + i];
}

void tpt_node_conv(const tpt_node_t* node, tpt_conv_t* out) {
  memset(out, 0, sizeof(*out));
  const tpt_attr_t* attrs = node->attrs;
  int count = take(&attrs[0], out->stride, TPT_SPATIAL_MAX);
  out->spatial_count = count;
  take(&attrs[2], out->lhs_dilation, TPT_SPATIAL_MAX);
  take(&attrs[3], out->rhs_dilation, TPT_SPATIAL_MAX);
  for (int i = 0; i < count; i++) {
    out->pad_low[i] = attrs[1].ints[2 * i];
    out->pad_high[i] = attrs[1].ints[2 * i + 1];
    out->reversal[i] = attrs[4].ints[i] != 0;
  }
  unpack_dims(&attrs[CONV_INPUT], &out->input_batch, &out->input_feature, out->input_spatial,
              count);
  unpack_dims(&attrs[CONV_KERNEL], &out->kernel_input, &out->kernel_output, out->kernel_spatial,
              count);
  unpack_dims(&attrs[CONV_OUTPUT], &out->output_batch, &out->output_feature, out->output_spatial,
              count);
  out->feature_groups = attrs[CONV_FEATURE_GROUPS].i;
  out->batch_groups = attrs[CONV_BATCH_GROUPS].i;
  out->precision = take_precision(&attrs[CONV_PRECISION]);
}

tpt_value_t tpt_hlo_gather(tpt_graph_t* g, tpt_value_t x, tpt_value_t indices,
                           const tpt_gather_t* gather) {
  if (!fits(g, "gather", gather->offset_count, TPT_RANK_MAX) ||
      !fits(g, "gather", gather->collapsed_count, TPT_RANK_MAX) ||
      !fits(g, "gather", gather->batching_count, TPT_RANK_MAX) ||
      !fits(g, "gather", gather->map_count, TPT_RANK_MAX))
    return TPT_VALUE_NONE;
  tpt_value_t operands[2] = {x, indices};
  tpt_attr_t attrs[9] = {ints(gather->offset_dims, gather->offset_count),
                         ints(gather->collapsed_dims, gather->collapsed_count),
                         ints(gather->operand_batching, gather->batching_count),
                         ints(gather->indices_batching, gather->batching_count),
                         ints(gather->start_index_map, gather->map_count),
                         number(gather->index_vector_dim),
                         ints(gather->slice_sizes, tpt_graph_type(g, x)->rank),
                         number(gather->sorted),
                         text(gather->check)};
  return tpt_graph_append(
      g, &(tpt_node_params_t){
             .op = TPT_HLO_GATHER, .operands = operands, .operand_count = 2, .attrs = attrs});
}

void tpt_node_gather(const tpt_node_t* node, tpt_gather_t* out) {
  memset(out, 0, sizeof(*out));
  const tpt_attr_t* attrs = node->attrs;
  out->offset_count = take(&attrs[0], out->offset_dims, TPT_RANK_MAX);
  out->collapsed_count = take(&attrs[1], out->collapsed_dims, TPT_RANK_MAX);
  out->batching_count = take(&attrs[2], out->operand_batching, TPT_RANK_MAX);
  take(&attrs[3], out->indices_batching, TPT_RANK_MAX);
  out->map_count = take(&attrs[4], out->start_index_map, TPT_RANK_MAX);
  out->index_vector_dim = attrs[5].i;
  take(&attrs[6], out->slice_sizes, TPT_RANK_MAX);
  out->sorted = attrs[7].i != 0;
  out->check = attrs[8].is_set ? attrs[8].bytes : NULL;
}

tpt_value_t tpt_hlo_scatter(tpt_graph_t* g, tpt_value_t x, tpt_value_t indices, tpt_value_t updates,
                            const tpt_scatter_t* scatter, tpt_hlo_t combine) {
  if (!fits(g, "scatter", scatter->update_window_count, TPT_RANK_MAX) ||
      !fits(g, "scatter", scatter->inserted_count, TPT_RANK_MAX) ||
      !fits(g, "scatter", scatter->batching_count, TPT_RANK_MAX) ||
      !fits(g, "scatter", scatter->map_count, TPT_RANK_MAX))
    return TPT_VALUE_NONE;
  uint32_t body = tpt__region_binary(g, combine, tpt_graph_type(g, x)->dtype);
  tpt_value_t operands[3] = {x, indices, updates};
  tpt_attr_t attrs[9] = {ints(scatter->update_window_dims, scatter->update_window_count),
                         ints(scatter->inserted_dims, scatter->inserted_count),
                         ints(scatter->input_batching, scatter->batching_count),
                         ints(scatter->indices_batching, scatter->batching_count),
                         ints(scatter->dims_to_operand, scatter->map_count),
                         number(scatter->index_vector_dim),
                         number(scatter->sorted),
                         number(scatter->unique),
                         text(scatter->check)};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_SCATTER,
                                                  .operands = operands,
                                                  .operand_count = 3,
                                                  .attrs = attrs,
                                                  .regions = &body,
                                                  .region_count = 1});
}

void tpt_node_scatter(const tpt_node_t* node, tpt_scatter_t* out) {
  memset(out, 0, sizeof(*out));
  const tpt_attr_t* attrs = node->attrs;
  out->update_window_count = take(&attrs[0], out->update_window_dims, TPT_RANK_MAX);
  out->inserted_count = take(&attrs[1], out->inserted_dims, TPT_RANK_MAX);
  out->batching_count = take(&attrs[2], out->input_batching, TPT_RANK_MAX);
  take(&attrs[3], out->indices_batching, TPT_RANK_MAX);
  out->map_count = take(&attrs[4], out->dims_to_operand, TPT_RANK_MAX);
  out->index_vector_dim = attrs[5].i;
  out->sorted = attrs[6].i != 0;
  out->unique = attrs[7].i != 0;
  out->check = attrs[8].is_set ? attrs[8].bytes : NULL;
}
