// Owns the typed doors of ops that move elements, and of linear algebra. A door returns its operand
// when the op would change nothing. Must not know type rules.
#include "hlo/builder.h"

static tpt_attr_t ints(const int64_t* data, int count) {
  return (tpt_attr_t){.is_set = true, .ints = data, .count = (size_t)count};
}

static tpt_value_t fail(tpt_graph_t* g, tpt_status_t take_status) {
  tpt_graph_fail(g, take_status);
  return TPT_VALUE_NONE;
}

static bool has_dims(const tpt_type_t* type, int rank, const int64_t* dims) {
  if (type->rank != rank) return false;
  for (int i = 0; i < rank; i++) {
    if (type->dims[i] != dims[i]) return false;
  }
  return true;
}

// A new shape for x's element type; false (and a failed graph) when the rank is too high.
static bool make_type(tpt_graph_t* g, const char* op, tpt_value_t x, int rank, const int64_t* dims,
                      tpt_type_t* out_type) {
  if (rank < 0 || rank > TPT_RANK_MAX) {
    fail(g, tpt_status_make(TPT_UNIMPLEMENTED, __FILE__, __LINE__,
                            "stablehlo.%s: rank %d; at most %d dimensions are supported", op, rank,
                            TPT_RANK_MAX));
    return false;
  }
  *out_type = tpt_type_make(tpt_graph_type(g, x)->dtype, rank, dims);
  return true;
}

static tpt_value_t unary(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t x, const tpt_attr_t* attrs,
                         const tpt_type_t* type) {
  return tpt_graph_append(g, &(tpt_node_params_t){.op = op,
                                                  .operands = &x,
                                                  .operand_count = 1,
                                                  .attrs = attrs,
                                                  .result_types = type,
                                                  .result_type_count = type != NULL});
}

tpt_value_t tpt_hlo_broadcast_in_dim(tpt_graph_t* g, tpt_value_t x, int rank, const int64_t* dims,
                                     const int64_t* broadcast_dims) {
  const tpt_type_t* from = tpt_graph_type(g, x);
  tpt_type_t type;
  if (!make_type(g, "broadcast_in_dim", x, rank, dims, &type)) return TPT_VALUE_NONE;
  bool is_identity = !tpt_value_is_none(x) && tpt_dims_equal(from, &type);
  for (int i = 0; i < from->rank && is_identity; i++)
    is_identity = broadcast_dims[i] == i;
  if (is_identity) return x;
  tpt_attr_t attr = ints(broadcast_dims, from->rank);
  return unary(g, TPT_HLO_BROADCAST_IN_DIM, x, &attr, &type);
}

tpt_value_t tpt_hlo_broadcast_to(tpt_graph_t* g, tpt_value_t x, int rank, const int64_t* dims) {
  if (tpt_graph_error(g)) return TPT_VALUE_NONE;
  const tpt_type_t* from = tpt_graph_type(g, x);
  if (rank < from->rank)
    return fail(g, tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                                   "a tensor of rank %d cannot be broadcast to rank %d", from->rank,
                                   rank));
  int64_t broadcast_dims[TPT_RANK_MAX];
  for (int i = 0; i < from->rank; i++)
    broadcast_dims[i] = rank - from->rank + i;
  return tpt_hlo_broadcast_in_dim(g, x, rank, dims, broadcast_dims);
}

tpt_value_t tpt_hlo_reshape(tpt_graph_t* g, tpt_value_t x, int rank, const int64_t* dims) {
  if (!tpt_value_is_none(x) && has_dims(tpt_graph_type(g, x), rank, dims)) return x;
  tpt_type_t type;
  if (!make_type(g, "reshape", x, rank, dims, &type)) return TPT_VALUE_NONE;
  return unary(g, TPT_HLO_RESHAPE, x, NULL, &type);
}

tpt_value_t tpt_hlo_transpose(tpt_graph_t* g, tpt_value_t x, const int64_t* permutation) {
  int rank = tpt_graph_type(g, x)->rank;
  bool is_identity = !tpt_value_is_none(x);
  for (int i = 0; i < rank && is_identity; i++)
    is_identity = permutation[i] == i;
  if (is_identity) return x;
  tpt_attr_t attr = ints(permutation, rank);
  return unary(g, TPT_HLO_TRANSPOSE, x, &attr, NULL);
}

tpt_value_t tpt_hlo_slice(tpt_graph_t* g, tpt_value_t x, const int64_t* start, const int64_t* limit,
                          const int64_t* stride) {
  const tpt_type_t* type = tpt_graph_type(g, x);
  bool is_whole = !tpt_value_is_none(x);
  for (int i = 0; i < type->rank && is_whole; i++)
    is_whole = start[i] == 0 && limit[i] == type->dims[i] && (!stride || stride[i] == 1);
  if (is_whole) return x;
  tpt_attr_t attrs[3] = {ints(start, type->rank), ints(limit, type->rank), {.is_set = false}};
  if (stride) attrs[2] = ints(stride, type->rank);
  return unary(g, TPT_HLO_SLICE, x, attrs, NULL);
}

tpt_value_t tpt_hlo_slice_dim(tpt_graph_t* g, tpt_value_t x, int dim, int64_t start, int64_t limit,
                              int64_t stride) {
  if (tpt_graph_error(g)) return TPT_VALUE_NONE;
  const tpt_type_t* type = tpt_graph_type(g, x);
  if (dim < 0 || dim >= type->rank)
    return fail(g,
                tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                                "stablehlo.slice: %d is no dimension of rank %d", dim, type->rank));
  int64_t starts[TPT_RANK_MAX], limits[TPT_RANK_MAX], strides[TPT_RANK_MAX];
  for (int i = 0; i < type->rank; i++) {
    starts[i] = i == dim ? start : 0;
    limits[i] = i == dim ? limit : type->dims[i];
    strides[i] = i == dim ? stride : 1;
  }
  return tpt_hlo_slice(g, x, starts, limits, strides);
}

// True when every start is a constant; then the range it means, clamped as the operation clamps.
static bool are_known_starts(const tpt_graph_t* g, tpt_value_t x, const tpt_value_t* starts,
                             const int64_t* sizes, int64_t* out_from, int64_t* out_to) {
  if (tpt_value_is_none(x) || tpt_graph_type(g, x)->rank == 0) return false;
  const tpt_type_t* type = tpt_graph_type(g, x);
  for (int i = 0; i < type->rank; i++) {
    tpt_number_t number;
    if (sizes[i] < 0 || sizes[i] > type->dims[i]) return false;
    if (tpt_value_is_none(starts[i]) || !tpt_graph_splat(g, starts[i], &number)) return false;
    int64_t last = type->dims[i] - sizes[i];
    if (number.i < 0 && number.dtype == TPT_U64) number.i = last;
    out_from[i] = number.i < 0 ? 0 : number.i > last ? last : number.i;
    out_to[i] = out_from[i] + sizes[i];
  }
  return true;
}

tpt_value_t tpt_hlo_dynamic_slice(tpt_graph_t* g, tpt_value_t x, const tpt_value_t* starts,
                                  const int64_t* sizes) {
  int rank = tpt_graph_type(g, x)->rank;
  int64_t from[TPT_RANK_MAX], to[TPT_RANK_MAX];
  if (are_known_starts(g, x, starts, sizes, from, to)) return tpt_hlo_slice(g, x, from, to, NULL);
  tpt_value_t operands[1 + TPT_RANK_MAX] = {x};
  for (int i = 0; i < rank; i++)
    operands[1 + i] = starts[i];
  tpt_attr_t attr = ints(sizes, rank);
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_DYNAMIC_SLICE,
                                                  .operands = operands,
                                                  .operand_count = 1 + (uint32_t)rank,
                                                  .attrs = &attr});
}

tpt_value_t tpt_hlo_dynamic_update_slice(tpt_graph_t* g, tpt_value_t x, tpt_value_t update,
                                         const tpt_value_t* starts) {
  int rank = tpt_graph_type(g, x)->rank;
  tpt_value_t operands[2 + TPT_RANK_MAX] = {x, update};
  for (int i = 0; i < rank; i++)
    operands[2 + i] = starts[i];
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_DYNAMIC_UPDATE_SLICE,
                                                  .operands = operands,
                                                  .operand_count = 2 + (uint32_t)rank});
}

tpt_value_t tpt_hlo_pad(tpt_graph_t* g, tpt_value_t x, tpt_value_t value, const int64_t* low,
                        const int64_t* high, const int64_t* interior) {
  int rank = tpt_graph_type(g, x)->rank;
  bool is_identity = !tpt_value_is_none(x);
  for (int i = 0; i < rank && is_identity; i++)
    is_identity = low[i] == 0 && high[i] == 0 && (!interior || interior[i] == 0);
  if (is_identity) return x;
  tpt_value_t operands[2] = {x, value};
  tpt_attr_t attrs[3] = {ints(low, rank), ints(high, rank), {.is_set = false}};
  if (interior) attrs[2] = ints(interior, rank);
  return tpt_graph_append(
      g, &(tpt_node_params_t){
             .op = TPT_HLO_PAD, .operands = operands, .operand_count = 2, .attrs = attrs});
}

tpt_value_t tpt_hlo_concatenate(tpt_graph_t* g, const tpt_value_t* xs, int count, int dim) {
  if (count == 1 && dim >= 0 && dim < tpt_graph_type(g, xs[0])->rank) return xs[0];
  tpt_attr_t attr = {.is_set = true, .i = dim};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_CONCATENATE,
                                                  .operands = xs,
                                                  .operand_count = (uint32_t)count,
                                                  .attrs = &attr});
}

tpt_value_t tpt_hlo_reverse(tpt_graph_t* g, tpt_value_t x, const int64_t* dims, int count) {
  if (count == 0) return x;
  tpt_attr_t attr = ints(dims, count);
  return unary(g, TPT_HLO_REVERSE, x, &attr, NULL);
}

tpt_value_t tpt_hlo_cholesky(tpt_graph_t* g, tpt_value_t x, bool lower) {
  tpt_attr_t attr = {.is_set = true, .i = lower};
  return unary(g, TPT_HLO_CHOLESKY, x, &attr, NULL);
}

tpt_value_t tpt_hlo_triangular_solve(tpt_graph_t* g, tpt_value_t a, tpt_value_t b,
                                     const tpt_triangular_t* how) {
  tpt_value_t operands[2] = {a, b};
  tpt_attr_t attrs[4] = {{.is_set = true, .i = how->left},
                         {.is_set = true, .i = how->lower},
                         {.is_set = true, .i = how->unit_diagonal},
                         {.is_set = true, .i = how->transpose}};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_TRIANGULAR_SOLVE,
                                                  .operands = operands,
                                                  .operand_count = 2,
                                                  .attrs = attrs});
}

tpt_value_t tpt_hlo_fft(tpt_graph_t* g, tpt_value_t x, tpt_fft_t kind, const int64_t* length,
                        int count) {
  tpt_attr_t attrs[2] = {{.is_set = true, .i = kind}, ints(length, count)};
  return unary(g, TPT_HLO_FFT, x, attrs, NULL);
}

tpt_value_t tpt_hlo_rng_bit_generator(tpt_graph_t* g, tpt_value_t state, tpt_rng_t algorithm,
                                      const tpt_type_t* type) {
  tpt_attr_t attr = {.is_set = true, .i = algorithm};
  tpt_type_t types[2] = {*tpt_graph_type(g, state), *type};
  return tpt_graph_append(g, &(tpt_node_params_t){.op = TPT_HLO_RNG_BIT_GENERATOR,
                                                  .operands = &state,
                                                  .operand_count = 1,
                                                  .attrs = &attr,
                                                  .result_types = types,
                                                  .result_type_count = 2});
}
