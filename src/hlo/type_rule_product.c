// Owns the type rules of dot_general and convolution.
#include "hlo/type_rule.h"

enum { DOT_LHS_BATCH, DOT_RHS_BATCH, DOT_LHS_CONTRACT, DOT_RHS_CONTRACT, DOT_PRECISION };
enum {
  CONV_STRIDES,
  CONV_PADDING,
  CONV_LHS_DILATION,
  CONV_RHS_DILATION,
  CONV_REVERSAL,
  CONV_INPUT,
  CONV_KERNEL,
  CONV_OUTPUT,
  CONV_FEATURE_GROUPS,
  CONV_BATCH_GROUPS,
  CONV_PRECISION,
};

// precision_config: one entry per operand, DEFAULT when left out (or empty, as old texts have it).
static tpt_status_t complete_precision(tpt_rule_t* r, int slot) {
  if (r->attrs[slot].count == 0) r->attrs[slot].is_set = false;
  return tpt__rule_default_ints(r, slot, 2, TPT_PRECISION_DEFAULT);
}

// Element type of a product: the operands' own, or a named one of the same kind.
static tpt_status_t product_dtype(const tpt_rule_t* r, tpt_dtype_t* out_dtype) {
  tpt_dtype_t dtype = r->types[0]->dtype;
  if (r->types[1]->dtype != dtype)
    return tpt__rule_mismatch(r, "operands must have one element type", r->types[0], r->types[1]);
  *out_dtype = dtype;
  if (!r->given || r->given_count != 1) return NULL;
  const tpt_dtype_row_t* from = tpt_dtype_row(dtype);
  const tpt_dtype_row_t* to = tpt_dtype_row(r->given->dtype);
  bool are_ints = tpt_dtype_is_int(dtype) && tpt_dtype_is_int(r->given->dtype);
  if (from->kind != to->kind && !are_ints)
    return tpt__rule_mismatch(r, "the result must be of the operands' kind", r->types[0], r->given);
  *out_dtype = r->given->dtype;
  return NULL;
}

// Two lists of dimensions, one per operand, that pair up with equal sizes.
static tpt_status_t check_pairs(tpt_rule_t* r, int lhs_slot, int rhs_slot) {
  for (int slot = lhs_slot; slot <= rhs_slot; slot += rhs_slot - lhs_slot)
    if (!r->attrs[slot].is_set) TPT_TRY(tpt__rule_default_ints(r, slot, 0, 0));
  TPT_TRY(tpt__rule_need_ints(r, rhs_slot, tpt__rule_count(r, lhs_slot)));
  TPT_TRY(tpt__rule_dims(r, lhs_slot, r->types[0]->rank, false));
  TPT_TRY(tpt__rule_dims(r, rhs_slot, r->types[1]->rank, false));
  for (int i = 0; i < tpt__rule_count(r, lhs_slot); i++) {
    int64_t lhs = tpt__rule_ints(r, lhs_slot)[i], rhs = tpt__rule_ints(r, rhs_slot)[i];
    if (r->types[0]->dims[lhs] != r->types[1]->dims[rhs])
      return tpt__rule_fail(
          r, "%s pairs dimension %lld of size %lld with dimension %lld of size %lld",
          r->row->attrs[lhs_slot].name, (long long)lhs, (long long)r->types[0]->dims[lhs],
          (long long)rhs, (long long)r->types[1]->dims[rhs]);
  }
  return NULL;
}

// Appends the dimensions of operand `side` that are neither batched nor contracted.
static tpt_status_t append_free(const tpt_rule_t* r, int side, tpt_type_t* result) {
  const tpt_type_t* type = r->types[side];
  const tpt_attr_t* batch = &r->attrs[DOT_LHS_BATCH + side];
  const tpt_attr_t* contract = &r->attrs[DOT_LHS_CONTRACT + side];
  for (int i = 0; i < type->rank; i++) {
    bool is_batch = tpt__list_has(batch->ints, (int)batch->count, i);
    bool is_contract = tpt__list_has(contract->ints, (int)contract->count, i);
    if (is_batch && is_contract)
      return tpt__rule_fail(r, "dimension %d of operand %d is both batched and contracted", i,
                            side);
    if (is_batch || is_contract) continue;
    if (result->rank == TPT_RANK_MAX)
      TPT_FAIL(TPT_UNIMPLEMENTED, "stablehlo.dot_general: the result has more than %d dimensions",
               TPT_RANK_MAX);
    result->dims[result->rank++] = type->dims[i];
  }
  return NULL;
}

tpt_status_t tpt__rule_dot_general(tpt_rule_t* r) {
  tpt_dtype_t dtype;
  TPT_TRY(product_dtype(r, &dtype));
  TPT_TRY(check_pairs(r, DOT_LHS_BATCH, DOT_RHS_BATCH));
  TPT_TRY(check_pairs(r, DOT_LHS_CONTRACT, DOT_RHS_CONTRACT));
  TPT_TRY(complete_precision(r, DOT_PRECISION));
  tpt_type_t result = tpt_type_scalar(dtype);
  for (int i = 0; i < tpt__rule_count(r, DOT_LHS_BATCH); i++)
    result.dims[result.rank++] = r->types[0]->dims[tpt__rule_ints(r, DOT_LHS_BATCH)[i]];
  TPT_TRY(append_free(r, 0, &result));
  TPT_TRY(append_free(r, 1, &result));
  return tpt__rule_result(r, &result);
}

// Completes and checks the attributes that have one entry per spatial dimension.
static tpt_status_t check_conv_window(tpt_rule_t* r, int spatial) {
  TPT_TRY(tpt__rule_default_ints(r, CONV_STRIDES, spatial, 1));
  TPT_TRY(tpt__rule_default_ints(r, CONV_PADDING, 2 * spatial, 0));
  TPT_TRY(tpt__rule_default_ints(r, CONV_LHS_DILATION, spatial, 1));
  TPT_TRY(tpt__rule_default_ints(r, CONV_RHS_DILATION, spatial, 1));
  TPT_TRY(tpt__rule_default_ints(r, CONV_REVERSAL, spatial, 0));
  TPT_TRY(tpt__rule_at_least(r, CONV_STRIDES, 1));
  TPT_TRY(tpt__rule_at_least(r, CONV_LHS_DILATION, 1));
  TPT_TRY(tpt__rule_at_least(r, CONV_RHS_DILATION, 1));
  for (int slot = CONV_INPUT; slot <= CONV_OUTPUT; slot++) {
    TPT_TRY(tpt__rule_need_ints(r, slot, spatial + 2));
    TPT_TRY(tpt__rule_dims(r, slot, spatial + 2, false));
  }
  tpt__rule_default_i64(r, CONV_FEATURE_GROUPS, 1);
  tpt__rule_default_i64(r, CONV_BATCH_GROUPS, 1);
  return complete_precision(r, CONV_PRECISION);
}

static tpt_status_t check_conv_groups(const tpt_rule_t* r) {
  const int64_t* input = tpt__rule_ints(r, CONV_INPUT);
  const int64_t* kernel = tpt__rule_ints(r, CONV_KERNEL);
  int64_t feature_groups = r->attrs[CONV_FEATURE_GROUPS].i;
  int64_t batch_groups = r->attrs[CONV_BATCH_GROUPS].i;
  int64_t batch = r->types[0]->dims[input[0]], features = r->types[0]->dims[input[1]];
  int64_t kernel_inputs = r->types[1]->dims[kernel[0]];
  int64_t kernel_outputs = r->types[1]->dims[kernel[1]];
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1))
    return tpt__rule_fail(r,
                          "feature_group_count %lld and batch_group_count %lld: both at least 1, "
                          "one of them 1",
                          (long long)feature_groups, (long long)batch_groups);
  if (features % feature_groups || features / feature_groups != kernel_inputs)
    return tpt__rule_fail(r, "%lld input features in %lld groups do not fit a kernel of %lld",
                          (long long)features, (long long)feature_groups, (long long)kernel_inputs);
  if (kernel_outputs % feature_groups || kernel_outputs % batch_groups || batch % batch_groups)
    return tpt__rule_fail(r,
                          "the kernel's %lld output features or the batch of %lld do not divide "
                          "into the groups",
                          (long long)kernel_outputs, (long long)batch);
  return NULL;
}

// (size - 1) * dilation + 1 for a size above zero; false on overflow.
static bool dilate(int64_t size, int64_t dilation, int64_t* out) {
  if (size == 0) {
    *out = 0;
    return true;
  }
  return !__builtin_mul_overflow(size - 1, dilation, out) && !__builtin_add_overflow(*out, 1, out);
}

static tpt_status_t conv_output_size(const tpt_rule_t* r, int i, int64_t* out_size) {
  int64_t input = r->types[0]->dims[tpt__rule_ints(r, CONV_INPUT)[2 + i]];
  int64_t kernel = r->types[1]->dims[tpt__rule_ints(r, CONV_KERNEL)[2 + i]];
  if (kernel == 0) return tpt__rule_fail(r, "spatial dimension %d of the kernel is empty", i);
  const int64_t* padding = tpt__rule_ints(r, CONV_PADDING) + 2 * i;
  if (!dilate(input, tpt__rule_ints(r, CONV_LHS_DILATION)[i], &input) ||
      !dilate(kernel, tpt__rule_ints(r, CONV_RHS_DILATION)[i], &kernel) ||
      __builtin_add_overflow(input, padding[0], &input) ||
      __builtin_add_overflow(input, padding[1], &input) || input < 0)
    return tpt__rule_fail(r, "spatial dimension %d has no legal size after dilation and padding",
                          i);
  int64_t stride = tpt__rule_ints(r, CONV_STRIDES)[i];
  *out_size = input == 0 || kernel > input ? 0 : (input - kernel) / stride + 1;
  return NULL;
}

tpt_status_t tpt__rule_convolution(tpt_rule_t* r) {
  tpt_dtype_t dtype;
  TPT_TRY(product_dtype(r, &dtype));
  int rank = r->types[0]->rank;
  if (rank < 2 || rank != r->types[1]->rank)
    return tpt__rule_mismatch(r, "operands must have one rank of at least 2", r->types[0],
                              r->types[1]);
  int spatial = rank - 2;
  if (spatial > TPT_SPATIAL_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED,
             "stablehlo.convolution: %d spatial dimensions, at most %d are supported", spatial,
             TPT_SPATIAL_MAX);
  TPT_TRY(check_conv_window(r, spatial));
  TPT_TRY(check_conv_groups(r));
  const int64_t* output = tpt__rule_ints(r, CONV_OUTPUT);
  tpt_type_t result = tpt_type_scalar(dtype);
  result.rank = rank;
  result.dims[output[0]] =
      r->types[0]->dims[tpt__rule_ints(r, CONV_INPUT)[0]] / r->attrs[CONV_BATCH_GROUPS].i;
  result.dims[output[1]] = r->types[1]->dims[tpt__rule_ints(r, CONV_KERNEL)[1]];
  for (int i = 0; i < spatial; i++)
    TPT_TRY(conv_output_size(r, i, &result.dims[output[2 + i]]));
  return tpt__rule_result(r, &result);
}
