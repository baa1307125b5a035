// Rows and lowerings: the one door from ATen calls to the graph.
//
// A row (aten/<family>.def) names a functional ATen overload and its lowering. The lowering *is*
// the type rule: result dtypes and shapes are read off the values it returns. A lowering must not
// know device, options or clock; scalars are opaque: tpt_lower_scalar gives a 0-d graph parameter,
// so the number never enters the program; tpt_lower_number reads the value and makes it part of the
// key.
//
// Row:  ATEN(ID, "schema", lowering, STRIDES, .field = value ...)
//   lowering: lower_<lowering> in the family's .c;  STRIDES: ITERATOR WRAPPED CONTIGUOUS LIKE_INPUT OWN
//   fields of tpt_op_params_t, e.g. .hlo = TPT_HLO_COSINE, .promote = TPT_PROMOTE_INT_TO_FLOAT
// Short forms (pointwise.c computes them in f32 for f16 and bf16, rounding once):
//   UNARY_HLO(ID, "schema", COSINE, INT_TO_FLOAT, ...)   BINARY_HLO likewise
//   POINTWISE(ID, "schema", gelu, KEEP, ...): formula_gelu of the operands
// src/aten/family.def lists the families; table.c includes them all, rows.h declares every function
// that a row names (lower_*, formula_*); check.def lists the checks.
#ifndef TPUTORCH_ATEN_LOWER_H_
#define TPUTORCH_ATEN_LOWER_H_

#include "tputorch/op.h"

#include "hlo/builder.h"

typedef enum tpt_stride_rule {
  TPT_STRIDES_ITERATOR,  // TensorIterator's rule over all tensor arguments (device ones)
  TPT_STRIDES_WRAPPED,   // the same, Scalar arguments taking part as 0-d operands
  TPT_STRIDES_CONTIGUOUS,
  TPT_STRIDES_LIKE_INPUT,  // of the first tensor argument when non-overlapping and dense, else its
                           // dimensions in the same order, dense
  TPT_STRIDES_OWN,         // the lowering calls tpt_lower_result_strides
} tpt_stride_rule_t;

typedef enum tpt_promote {
  TPT_PROMOTE_NONE,          // operands must agree already
  TPT_PROMOTE_KEEP,          // torch.result_type
  TPT_PROMOTE_INT_TO_FLOAT,  // result_type; integers and bool become the default dtype
  TPT_PROMOTE_COMPARE,       // operands by result_type, result bool
} tpt_promote_t;

enum {
  TPT_REFUSES_BOOL = 1 << TPT_CLASS_BOOL,
  TPT_REFUSES_INT = 1 << TPT_CLASS_SINT | 1 << TPT_CLASS_UINT,
  TPT_REFUSES_FLOAT = 1 << TPT_CLASS_FLOAT,
  TPT_REFUSES_COMPLEX = 1 << TPT_CLASS_COMPLEX,
  TPT_FLOAT_ONLY = TPT_REFUSES_BOOL | TPT_REFUSES_INT | TPT_REFUSES_COMPLEX,
};
// tpt_op_params_t.mode of `pointwise` rows.
enum {
  TPT_POINTWISE_SCALARS = 1,  // Scalar arguments take part in promotion (as wrapped numbers)
  TPT_POINTWISE_PRED = 2,     // the result is bool, whatever the operands
  TPT_POINTWISE_ROUNDED = 4,  // numbers of the host are rounded to the promoted dtype first
  TPT_POINTWISE_WIDE = 8,     // f16 and bf16 are left to the CPU
  TPT_POINTWISE_OTHER = 16,   // of the Scalars only argument 1 takes part in promotion
};

typedef struct tpt_lower tpt_lower_t;
typedef tpt_status_t (*tpt_lower_fn_t)(tpt_lower_t* l);
// Reads arguments only (l->graph may be NULL); called after `check`, on every call.
typedef int64_t (*tpt_kind_fn_t)(const tpt_lower_t* l);

// x: the operands in argument order (tensors, Scalars, floats), of one dtype, numbers 0-d.
typedef tpt_value_t (*tpt_formula_t)(tpt_graph_t* g, const tpt_value_t* x);

typedef struct tpt_op_params {
  tpt_hlo_t hlo;  // family lowerings: the StableHLO op
  tpt_promote_t promote;
  int64_t mode;           // family lowerings: meaning is the family's
  tpt_formula_t formula;  // lowering `pointwise`: what to compute; NULL: the StableHLO op `hlo`
  uint32_t refuses;       // lowering `pointwise`: bit 1 << TPT_CLASS_x for each class of operands
  // (after promotion) that PyTorch refuses or that the row leaves to the CPU
  tpt_lower_fn_t check;  // (optional) value rules in ATen's words; runs on every call, hit or miss,
                         // with l->graph NULL
  bool functional_only;  // derive no in-place or out= form
  bool composite_implicit;  // allowed to be registered though composite-implicit (its backward has
                            // a row)
  uint64_t written;         // bit i: the lowering may call tpt_lower_write for argument i
  uint64_t undefined;       // bit i: argument i may be undefined though the schema wants a Tensor
  uint64_t operands;        // bit i: the numbers of the INT or INTS argument i are run-time inputs
                            // (tpt_lower_scalar, tpt_lower_scalar_item) and stay out of the key
  tpt_kind_fn_t kind;  // (optional) what the program depends on of numbers that stay out of the
                       // key: a size, a special case; itself part of the key (tpt_lower_kind)
  bool uses_rng;
  bool is_step;  // no ATen op but a step of some: the adapter's own code calls it
  bool fills;    // one value goes everywhere: what is written may repeat an address
} tpt_op_params_t;

struct tpt_op {
  const char* id;  // "ADD_TENSOR"
  const char* schema_text;
  const char* family;
  tpt_lower_fn_t lower;
  tpt_stride_rule_t strides;
  tpt_op_params_t params;
};

enum { TPT_RESULT_MAX = 4096, TPT_REQUEST_MAX = 16384 };

// A number that the compiled program takes at run time.
typedef enum tpt_request_kind {
  TPT_REQUEST_SCALAR,  // argument `arg` (item `item` of a list), converted to `dtype`
  TPT_REQUEST_SEED,    // u64[]: the generator's seed
  TPT_REQUEST_OFFSET,  // u64[]: the generator's offset before this call
} tpt_request_kind_t;
typedef struct tpt_request {
  tpt_request_kind_t kind;
  int16_t arg;
  int16_t is_tensor;  // the number is a host tensor argument, not a Scalar
  int32_t item;
  tpt_dtype_t dtype;
  tpt_value_t value;  // the 0-d parameter
} tpt_request_t;

// Where random numbers come from when that is a value and not the generator: u64[] each.
typedef struct tpt_stream {
  tpt_value_t seed, offset;
} tpt_stream_t;

typedef struct tpt_lowered {  // one result, or one written argument
  tpt_value_t value;          // NONE: an undefined tensor
  int32_t arg, item;          // written argument (-1: a plain result), list item
  bool has_strides;
  int64_t strides[TPT_RANK_MAX];
} tpt_lowered_t;

// Context of one lowering. Owner thread only. Fields above the line are set by the caller.
struct tpt_lower {
  tpt_graph_t* graph;
  const tpt_op_t* op;
  const tpt_arg_t* args;  // tensors carry .value unless TPT_TENSOR_HOST
  int arg_count;
  tpt_dtype_t default_dtype;  // torch.get_default_dtype()
  tpt_precision_t precision;  // of f32 products
  // (optional) Makes the 0-d value of a run-time number; NULL: a graph parameter. A call that is part of
  // a larger program takes its numbers from there.
  tpt_value_t (*make_number)(void* context, const tpt_request_t* wanted);
  void* number_context;
  const tpt_stream_t* stream;  // (optional) for SEED and OFFSET
  // --- set by the lowering through the functions below; arrays grow in `arena`
  tpt_arena_t* arena;
  tpt_request_t* requests;
  uint32_t request_count, request_capacity;
  tpt_lowered_t* results;  // plain results in order; list results flattened
  uint32_t result_count, result_capacity;
  tpt_lowered_t* writes;
  uint32_t write_count, write_capacity;
  uint64_t static_args;   // arguments whose number was read
  uint64_t rng_draws;     // 32-bit draws taken, a multiple of 4: the offset counts Philox
                          // counters of four draws, so the caller adds (rng_draws + 3) / 4
  tpt_value_t rng_taken;  // u64[]: counters taken beside those, as only the device knows; NONE: 0
};

// Runs a row's lowering: the only door. On success every result is well typed and the graph is
// sound. Notes "while lowering aten::add.Tensor". arena outlives the use of l's arrays.
TPT_MUST_USE tpt_status_t tpt_op_lower(tpt_lower_t* l);
// Runs the row's value checks (check) only; cheap, no graph.
TPT_MUST_USE tpt_status_t tpt_op_check(tpt_lower_t* l);

// --- arguments ----------------------------------------------------------------------------------
static inline bool tpt_lower_has(const tpt_lower_t* l, int arg) {
  const tpt_arg_t* a = &l->args[arg];
  return a->kind != TPT_ARG_NONE &&
         !(a->kind == TPT_ARG_TENSOR && (a->tensors->flags & TPT_TENSOR_NONE));
}
// Of an argument that the row declares an operand, only checks and kinds may read the value.
int64_t tpt_lower_int(const tpt_lower_t* l, int arg);
// INVALID_ARGUMENT unless every int of an INTS argument has at most 31 bits, so that a product of two and
// sums of a few of those need no care: sizes of windows, padding, steps.
TPT_MUST_USE tpt_status_t tpt_lower_check_i32(const tpt_lower_t* l, int arg);
// A type of the sizes that an INTS argument lists. INVALID_ARGUMENT unless they are sizes of an array.
TPT_MUST_USE tpt_status_t tpt_lower_listed_type(const tpt_lower_t* l, int arg, tpt_dtype_t dtype,
                                                tpt_type_t* out_type);
static inline bool tpt_lower_bool(const tpt_lower_t* l, int arg) {
  return l->args[arg].number.i != 0;
}
// `otherwise` when the argument is None.
tpt_dtype_t tpt_lower_dtype_or(const tpt_lower_t* l, int arg, tpt_dtype_t otherwise);
int64_t tpt_lower_int_or(const tpt_lower_t* l, int arg, int64_t otherwise);
static inline const tpt_tensor_t* tpt_lower_tensor(const tpt_lower_t* l, int arg) {
  return l->args[arg].tensors;
}
// The value of a tensor argument, in its own dtype (a host number becomes a 0-d run-time
// parameter).
tpt_value_t tpt_lower_value(tpt_lower_t* l, int arg);
// Converted to `dtype`; a host number becomes a parameter of that dtype directly.
tpt_value_t tpt_lower_value_as(tpt_lower_t* l, int arg, tpt_dtype_t dtype);
// The same for item i of a Tensor[].
tpt_value_t tpt_lower_item(tpt_lower_t* l, int arg, int item);
tpt_value_t tpt_lower_item_as(tpt_lower_t* l, int arg, int item, tpt_dtype_t dtype);
// A Scalar or float argument, or an int that the row declares an operand, as a 0-d run-time parameter
// of `dtype`; its value is not part of the key.
tpt_value_t tpt_lower_scalar(tpt_lower_t* l, int arg, tpt_dtype_t dtype);
tpt_value_t tpt_lower_scalar_item(tpt_lower_t* l, int arg, int item,
                                  tpt_dtype_t dtype);  // Scalar[], int[]
// The generator's seed or offset, u64[].
tpt_value_t tpt_lower_request(tpt_lower_t* l, tpt_request_kind_t kind);
// What the row's `kind` makes of the arguments.
static inline int64_t tpt_lower_kind(const tpt_lower_t* l) {
  return l->op->params.kind(l);
}
// The value of a Scalar or float as a double (of the real part), for checks and kinds.
double tpt_lower_double(const tpt_lower_t* l, int arg);
// Reads the number: from now on its value is part of the row's key (a change recompiles).
tpt_number_t tpt_lower_number(tpt_lower_t* l, int arg);
// PyTorch's result type over arguments (tensors and scalars; lists count all items), with
// dimension, zero-dimension and wrapped-number categories. Returns INVALID and fails the graph on
// no legal type.
tpt_dtype_t tpt_lower_promote(tpt_lower_t* l, const int* args, int count, tpt_promote_t rule);
// f32 for f16 and bf16 (compute type of an elementwise or reduction op), else the dtype.
tpt_dtype_t tpt_dtype_compute(tpt_dtype_t dtype);
// Wraps a dimension: -1 -> rank - 1 (rank 0 counts as 1). IndexError's code OUT_OF_RANGE with
// "Dimension out of range (expected to be in range of [-2, 1], but got 5)".
TPT_MUST_USE tpt_status_t tpt_wrap_dim(int64_t dim, int rank, int* out_dim);

// --- shapes -------------------------------------------------------------------------------------
// Broadcasts values to their common shape (numpy rule). Error in PyTorch's words ("The size of
// tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1").
TPT_MUST_USE tpt_status_t tpt_lower_broadcast(tpt_lower_t* l, tpt_value_t* inout_values, int count);

// --- random bits --------------------------------------------------------------------------------
// u32 values of shape `dims`: Philox4x32-10 over the generator's seed and offset, counted in
// row-major order; takes count(dims) draws from the stream (rounded up to 4). Same bits on every
// plugin. lower_random.c states the mapping.
tpt_value_t tpt_lower_random_bits(tpt_lower_t* l, int rank, const int64_t* dims);
// Takes `count` draws from the stream without making them: for tpt_random_bits_lane.
void tpt_lower_random_reserve(tpt_lower_t* l, int64_t count, tpt_value_t* out_seed,
                              tpt_value_t* out_offset);
// The bits that a first draw from seed and offset gives in a lane (0-d u32, 0: tpt_random_bits_at): as
// many independent streams beside each other as there are lanes.
tpt_value_t tpt_random_bits_lane(tpt_graph_t* g, tpt_value_t seed, tpt_value_t offset,
                                 tpt_value_t lane, int rank, const int64_t* dims);
// The bits that a first draw from this seed and offset (u64[]) gives; takes nothing from the stream.
tpt_value_t tpt_random_bits_at(tpt_graph_t* g, tpt_value_t seed, tpt_value_t offset, int rank,
                               const int64_t* dims);

// The state of a stream as a tensor, s64[4]: low and high word of the seed, of the offset.
enum { TPT_RANDOM_STATE_SIZE = 4 };
tpt_value_t tpt_random_state_pack(tpt_graph_t* g, tpt_stream_t stream);
tpt_stream_t tpt_random_state_unpack(tpt_graph_t* g, tpt_value_t state);
// u64[]: the counters taken so far.
tpt_value_t tpt_lower_random_taken(tpt_lower_t* l);

// --- results ------------------------------------------------------------------------------------
TPT_MUST_USE tpt_status_t tpt_lower_result(tpt_lower_t* l, tpt_value_t value);
// An undefined tensor, or a result that the schema calls SymInt (the caller gives 0).
TPT_MUST_USE tpt_status_t tpt_lower_result_none(tpt_lower_t* l);
// strides in elements for the result's rank; rows of rule OWN only.
TPT_MUST_USE tpt_status_t tpt_lower_result_strides(tpt_lower_t* l, tpt_value_t value,
                                                   const int64_t* strides);
// Argument `arg` (item of a list, else 0) is mutated to `value` (running statistics and the like).
TPT_MUST_USE tpt_status_t tpt_lower_write(tpt_lower_t* l, int arg, int item, tpt_value_t value);

// --- strides of results (stride.c), for eager ---------------------------------------------------
// Strides of result `number` of a
// lowered call into out_strides (rank of the result), by the row's rule.
void tpt_lower_strides(const tpt_lower_t* l, uint32_t number, int64_t* out_strides);

#endif  // TPUTORCH_ATEN_LOWER_H_
