// Typed doors to the graph: one function per kind of StableHLO op. Names and meanings are the
// StableHLO specification's (https://openxla.org/stablehlo/spec). All errors are sticky (graph.h).
// Arrays are copied. Elementwise ops want operands of equal type: there is no implicit broadcast
// and no promotion here (aten/lower.h has both).
#ifndef TPUTORCH_HLO_BUILDER_H_
#define TPUTORCH_HLO_BUILDER_H_

#include "hlo/graph.h"

typedef enum tpt_compare { TPT_EQ, TPT_NE, TPT_GE, TPT_GT, TPT_LE, TPT_LT } tpt_compare_t;
typedef enum tpt_compare_type {
  TPT_COMPARE_FLOAT,
  TPT_COMPARE_TOTALORDER,
  TPT_COMPARE_SIGNED,
  TPT_COMPARE_UNSIGNED
} tpt_compare_type_t;
typedef enum tpt_precision {
  TPT_PRECISION_DEFAULT,
  TPT_PRECISION_HIGH,
  TPT_PRECISION_HIGHEST
} tpt_precision_t;
typedef enum tpt_transpose {
  TPT_TRANSPOSE_INVALID,
  TPT_NO_TRANSPOSE,
  TPT_TRANSPOSE_A,
  TPT_ADJOINT_A
} tpt_transpose_t;
typedef enum tpt_fft { TPT_FFT, TPT_IFFT, TPT_RFFT, TPT_IRFFT } tpt_fft_t;
typedef enum tpt_rng { TPT_RNG_DEFAULT, TPT_RNG_THREE_FRY, TPT_RNG_PHILOX } tpt_rng_t;

// elementwise
tpt_value_t tpt_hlo_unary(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t x);
tpt_value_t tpt_hlo_binary(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t a, tpt_value_t b);
tpt_value_t tpt_hlo_compare(tpt_graph_t* g, tpt_compare_t direction, tpt_value_t a, tpt_value_t b);
// `predicate` and the bounds of clamp may be 0-d.
tpt_value_t tpt_hlo_select(tpt_graph_t* g, tpt_value_t predicate, tpt_value_t on_true,
                           tpt_value_t on_false);
tpt_value_t tpt_hlo_clamp(tpt_graph_t* g, tpt_value_t low, tpt_value_t x, tpt_value_t high);
// Returns x itself when it has the dtype already. Between real and complex it is written with real and
// complex: not every plugin converts those.
tpt_value_t tpt_hlo_convert(tpt_graph_t* g, tpt_value_t x, tpt_dtype_t dtype);
tpt_value_t tpt_hlo_bitcast_convert(tpt_graph_t* g, tpt_value_t x, const tpt_type_t* type);
tpt_value_t tpt_hlo_complex(tpt_graph_t* g, tpt_value_t re, tpt_value_t im);
tpt_value_t tpt_hlo_reduce_precision(tpt_graph_t* g, tpt_value_t x, int exponent_bits,
                                     int mantissa_bits);

// sources
// `data`: row-major elements of `type`, size bytes = tpt_type_size.
tpt_value_t tpt_hlo_constant(tpt_graph_t* g, const tpt_type_t* type, const void* data);
// Every element equals the number (converted to the dtype).
tpt_value_t tpt_hlo_splat(tpt_graph_t* g, const tpt_type_t* type, tpt_number_t number);
tpt_value_t tpt_hlo_splat_f64(tpt_graph_t* g, const tpt_type_t* type, double value);
tpt_value_t tpt_hlo_splat_i64(tpt_graph_t* g, const tpt_type_t* type, int64_t value);
tpt_value_t tpt_hlo_scalar_f64(tpt_graph_t* g, tpt_dtype_t dtype, double value);   // 0-d
tpt_value_t tpt_hlo_scalar_i64(tpt_graph_t* g, tpt_dtype_t dtype, int64_t value);  // 0-d
tpt_value_t tpt_hlo_iota(tpt_graph_t* g, const tpt_type_t* type, int dim);

// shape
tpt_value_t tpt_hlo_broadcast_in_dim(tpt_graph_t* g, tpt_value_t x, int rank, const int64_t* dims,
                                     const int64_t* broadcast_dims);
// numpy rule: aligns trailing dimensions, stretches ones; x itself when the shape is equal.
tpt_value_t tpt_hlo_broadcast_to(tpt_graph_t* g, tpt_value_t x, int rank, const int64_t* dims);
tpt_value_t tpt_hlo_reshape(tpt_graph_t* g, tpt_value_t x, int rank, const int64_t* dims);
tpt_value_t tpt_hlo_transpose(tpt_graph_t* g, tpt_value_t x, const int64_t* permutation);
tpt_value_t tpt_hlo_slice(tpt_graph_t* g, tpt_value_t x, const int64_t* start, const int64_t* limit,
                          const int64_t* stride);
// One dimension only: [start, limit) step stride.
tpt_value_t tpt_hlo_slice_dim(tpt_graph_t* g, tpt_value_t x, int dim, int64_t start, int64_t limit,
                              int64_t stride);
// starts: rank 0-d integer values.
tpt_value_t tpt_hlo_dynamic_slice(tpt_graph_t* g, tpt_value_t x, const tpt_value_t* starts,
                                  const int64_t* sizes);
tpt_value_t tpt_hlo_dynamic_update_slice(tpt_graph_t* g, tpt_value_t x, tpt_value_t update,
                                         const tpt_value_t* starts);
tpt_value_t tpt_hlo_pad(tpt_graph_t* g, tpt_value_t x, tpt_value_t value, const int64_t* low,
                        const int64_t* high, const int64_t* interior);
tpt_value_t tpt_hlo_concatenate(tpt_graph_t* g, const tpt_value_t* xs, int count, int dim);
tpt_value_t tpt_hlo_reverse(tpt_graph_t* g, tpt_value_t x, const int64_t* dims, int count);

// products
typedef struct tpt_dot {
  int batch_count;
  int64_t lhs_batch[TPT_RANK_MAX], rhs_batch[TPT_RANK_MAX];
  int contract_count;
  int64_t lhs_contract[TPT_RANK_MAX], rhs_contract[TPT_RANK_MAX];
  tpt_precision_t precision;  // of both operands
  tpt_dtype_t result;         // element type of the result; INVALID: the operands'
} tpt_dot_t;
tpt_value_t tpt_hlo_dot_general(tpt_graph_t* g, tpt_value_t lhs, tpt_value_t rhs,
                                const tpt_dot_t* dot);
void tpt_node_dot(const tpt_node_t* node, tpt_dot_t* out);

enum { TPT_SPATIAL_MAX = 4 };
typedef struct tpt_conv {
  int spatial_count;
  int64_t stride[TPT_SPATIAL_MAX];
  int64_t pad_low[TPT_SPATIAL_MAX], pad_high[TPT_SPATIAL_MAX];  // may be negative
  int64_t lhs_dilation[TPT_SPATIAL_MAX], rhs_dilation[TPT_SPATIAL_MAX];
  bool reversal[TPT_SPATIAL_MAX];
  int64_t input_batch, input_feature, input_spatial[TPT_SPATIAL_MAX];
  int64_t kernel_input, kernel_output, kernel_spatial[TPT_SPATIAL_MAX];
  int64_t output_batch, output_feature, output_spatial[TPT_SPATIAL_MAX];
  int64_t feature_groups, batch_groups;
  tpt_precision_t precision;
  tpt_dtype_t result;  // INVALID: the operands'
} tpt_conv_t;
tpt_value_t tpt_hlo_convolution(tpt_graph_t* g, tpt_value_t x, tpt_value_t kernel,
                                const tpt_conv_t* conv);
void tpt_node_conv(const tpt_node_t* node, tpt_conv_t* out);

// gather and scatter
typedef struct tpt_gather {
  int offset_count, collapsed_count, batching_count, map_count;
  int64_t offset_dims[TPT_RANK_MAX], collapsed_dims[TPT_RANK_MAX];
  int64_t operand_batching[TPT_RANK_MAX], indices_batching[TPT_RANK_MAX];
  int64_t start_index_map[TPT_RANK_MAX];
  int64_t index_vector_dim;
  int64_t slice_sizes[TPT_RANK_MAX];
  bool sorted;
  // (optional) Fail the launch when an index is out of range. The text names the op and is followed by
  // index and bound; it begins with "!" when the error is RuntimeError, not IndexError, with "!=" when
  // the rest is the whole message.
  const char* check;
} tpt_gather_t;
tpt_value_t tpt_hlo_gather(tpt_graph_t* g, tpt_value_t x, tpt_value_t indices,
                           const tpt_gather_t* gather);
void tpt_node_gather(const tpt_node_t* node, tpt_gather_t* out);

typedef struct tpt_scatter {
  int update_window_count, inserted_count, batching_count, map_count;
  int64_t update_window_dims[TPT_RANK_MAX], inserted_dims[TPT_RANK_MAX];
  int64_t input_batching[TPT_RANK_MAX], indices_batching[TPT_RANK_MAX];
  int64_t dims_to_operand[TPT_RANK_MAX];
  int64_t index_vector_dim;
  bool sorted, unique;
  const char* check;  // (optional) as in tpt_gather_t
} tpt_scatter_t;
// combine: ADD MULTIPLY MAXIMUM MINIMUM AND OR, or TPT_HLO_COUNT: the update replaces the element.
tpt_value_t tpt_hlo_scatter(tpt_graph_t* g, tpt_value_t x, tpt_value_t indices, tpt_value_t updates,
                            const tpt_scatter_t* scatter, tpt_hlo_t combine);
void tpt_node_scatter(const tpt_node_t* node, tpt_scatter_t* out);

// reductions, windows, sorting. Regions of these and of scatter may use no value from outside but
// constants (XLA accepts no more); those of while, case and if may use any.
// Simple form: `init` is 0-d, combine one of ADD MULTIPLY MAXIMUM MINIMUM AND OR XOR.
tpt_value_t tpt_hlo_reduce(tpt_graph_t* g, tpt_value_t x, tpt_value_t init, tpt_hlo_t combine,
                           const int64_t* dims, int count);
// General form: `body` is a block of 2 * count 0-d arguments (accumulators, elements) and count results.
typedef struct tpt_reduction {
  const tpt_value_t* xs;     // count operands of one shape
  const tpt_value_t* inits;  // as many 0-d values
  int count;
  const int64_t* dims;
  int dim_count;
  uint32_t body;
} tpt_reduction_t;
// First result; the others follow.
tpt_value_t tpt_hlo_reduce_n(tpt_graph_t* g, const tpt_reduction_t* reduction);

typedef struct tpt_pool_window {  // arrays have the operand's rank
  int64_t dims[TPT_RANK_MAX], stride[TPT_RANK_MAX], base_dilation[TPT_RANK_MAX],
      dilation[TPT_RANK_MAX];
  int64_t pad_low[TPT_RANK_MAX], pad_high[TPT_RANK_MAX];
} tpt_pool_window_t;
// All ones, no padding.
void tpt_pool_window_init(tpt_pool_window_t* window);
tpt_value_t tpt_hlo_reduce_window(tpt_graph_t* g, tpt_value_t x, tpt_value_t init,
                                  tpt_hlo_t combine, const tpt_pool_window_t* window);
tpt_value_t tpt_hlo_reduce_window_n(tpt_graph_t* g, const tpt_value_t* xs, const tpt_value_t* inits,
                                    int count, const tpt_pool_window_t* window, uint32_t body);
// Reads the window of a reduce_window or select_and_scatter node.
void tpt_node_window(const tpt_node_t* node, int rank, tpt_pool_window_t* out);
// select: GE (max pooling) or LE; scatter: ADD.
tpt_value_t tpt_hlo_select_and_scatter(tpt_graph_t* g, tpt_value_t x, tpt_value_t source,
                                       tpt_value_t init, tpt_compare_t select,
                                       const tpt_pool_window_t* window);
// `less` is a block of 2 * count 0-d arguments (a0 b0 a1 b1 ...) that returns a pred.
tpt_value_t tpt_hlo_sort(tpt_graph_t* g, const tpt_value_t* xs, int count, int dim, bool stable,
                         uint32_t less);

// control. Regions take and return as StableHLO says; while: args of both blocks = the operands' types.
tpt_value_t tpt_hlo_while(tpt_graph_t* g, const tpt_value_t* inits, int count, uint32_t condition,
                          uint32_t body);
tpt_value_t tpt_hlo_case(tpt_graph_t* g, tpt_value_t index, const uint32_t* branches, int count);
tpt_value_t tpt_hlo_if(tpt_graph_t* g, tpt_value_t predicate, uint32_t then_block,
                       uint32_t else_block);
// First result; the others follow.
tpt_value_t tpt_hlo_optimization_barrier(tpt_graph_t* g, const tpt_value_t* xs, int count);

// linear algebra
tpt_value_t tpt_hlo_cholesky(tpt_graph_t* g, tpt_value_t x, bool lower);
typedef struct tpt_triangular {
  bool left;  // op(a) x = b, else x op(a) = b
  bool lower;
  bool unit_diagonal;
  tpt_transpose_t transpose;
} tpt_triangular_t;
tpt_value_t tpt_hlo_triangular_solve(tpt_graph_t* g, tpt_value_t a, tpt_value_t b,
                                     const tpt_triangular_t* how);
tpt_value_t tpt_hlo_fft(tpt_graph_t* g, tpt_value_t x, tpt_fft_t kind, const int64_t* length,
                        int count);

// state: u64[2] (or u64[3] for Philox). First result: the next state; the second: bits of `type`.
tpt_value_t tpt_hlo_rng_bit_generator(tpt_graph_t* g, tpt_value_t state, tpt_rng_t algorithm,
                                      const tpt_type_t* type);

// Reading attributes of simple nodes by slot (order of hlo.def).
static inline int64_t tpt_node_int(const tpt_node_t* node, int slot) {
  return node->attrs[slot].i;
}
static inline const int64_t* tpt_node_ints(const tpt_node_t* node, int slot, int* out_count) {
  if (out_count) *out_count = (int)node->attrs[slot].count;
  return node->attrs[slot].ints;
}
// The monoid op of a region that is a single binary op on its two arguments; TPT_HLO_COUNT otherwise
// (replace: the region returns its second argument -> *out_replace = true).
tpt_hlo_t tpt_region_monoid(const tpt_graph_t* g, uint32_t block, bool* out_replace);

#endif  // TPUTORCH_HLO_BUILDER_H_
