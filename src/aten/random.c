// Random draws: distributions over the stream of 32-bit words. Formulas are the textbook inversions
// (uniform to target distribution) and Box-Muller for the normal one.
#include <math.h>

#include "aten/array.h"
#include "aten/assert.h"
#include "aten/dropout.h"
#include "aten/order.h"
#include "aten/rows.h"

// u64 words of shape dims, from two draws each.
static tpt_v random_words(tpt_lower_t* l, int rank, const int64_t* dims) {
  tpt_graph_t* g = l->graph;
  tpt_v high = tpt_hlo_convert(g, tpt_lower_random_bits(l, rank, dims), TPT_U64);
  tpt_v low = tpt_hlo_convert(g, tpt_lower_random_bits(l, rank, dims), TPT_U64);
  high = tpt_hlo_binary(g, TPT_HLO_SHL, high, tpt_like_i64(g, high, 32));
  return tpt_or(g, high, low);
}

// Numbers k * 2^-24 in [0, 1) (f64: k * 2^-53) of the compute type.
static tpt_v unit(tpt_lower_t* l, tpt_dtype_t dtype, int rank, const int64_t* dims) {
  tpt_graph_t* g = l->graph;
  bool is_wide = dtype == TPT_F64;
  tpt_v bits = is_wide ? random_words(l, rank, dims) : tpt_lower_random_bits(l, rank, dims);
  bits = tpt_hlo_binary(g, TPT_HLO_SHRL, bits, tpt_like_i64(g, bits, is_wide ? 11 : 8));
  tpt_v x = tpt_hlo_convert(g, bits, is_wide ? TPT_F64 : TPT_F32);
  return tpt_mul_f64(g, x, is_wide ? ldexp(1, -53) : ldexp(1, -24));
}

// Numbers in (0, 1], as fine as the draw is near zero: what logarithms are taken of.
static tpt_v unit_above_zero(tpt_lower_t* l, tpt_dtype_t dtype, int rank, const int64_t* dims) {
  tpt_graph_t* g = l->graph;
  if (dtype == TPT_F64) {
    tpt_v x = unit(l, dtype, rank, dims);
    return tpt_sub(g, tpt_like(g, x, 1), x);
  }
  tpt_v x = tpt_hlo_convert(g, tpt_lower_random_bits(l, rank, dims), TPT_F32);
  return tpt_mul_f64(g, tpt_add_f64(g, x, 1), ldexp(1, -32));
}

// Standard normal numbers, two from each pair of uniform ones (Box and Muller).
static tpt_v standard_normal(tpt_lower_t* l, tpt_dtype_t dtype, int rank, const int64_t* dims) {
  tpt_graph_t* g = l->graph;
  int64_t count = 1;
  for (int d = 0; d < rank; d++)
    count *= dims[d];
  int64_t pairs[1] = {(count + 1) / 2};
  tpt_v u = unit_above_zero(l, dtype, 1, pairs), v = unit(l, dtype, 1, pairs);
  tpt_v radius = tpt_sqrt(g, tpt_mul_f64(g, tpt_log(g, u), -2));
  tpt_v angle = tpt_mul_f64(g, v, 6.283185307179586);
  tpt_v both[2] = {tpt_mul(g, radius, tpt_cos(g, angle)), tpt_mul(g, radius, tpt_sin(g, angle))};
  tpt_v all = tpt_hlo_concatenate(g, both, 2, 0);
  all = tpt_hlo_slice_dim(g, all, 0, 0, count, 1);
  return tpt_hlo_reshape(g, all, rank, dims);
}

// The tensor to fill: its shape, and the type that draws are computed in.
static tpt_status_t read_target(tpt_lower_t* l, tpt_type_t* out_type, tpt_dtype_t* out_compute) {
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  *out_type = tpt_type_make(self->dtype, self->rank, self->sizes);
  *out_compute = tpt_dtype_compute(self->dtype);
  if (tpt_dtype_is_float(self->dtype)) return NULL;
  return tpt_refuse_dtype(l, self->dtype);
}

static tpt_status_t give(tpt_lower_t* l, tpt_v x, const tpt_type_t* type) {
  return tpt_lower_result(l, tpt_hlo_convert(l->graph, x, type->dtype));
}

// --- value checks ------------------------------------------------------------------------------------------

static double number_of(const tpt_lower_t* l, int arg) {
  return l->args[arg].number.f;
}

tpt_status_t check_uniform(tpt_lower_t* l) {
  double from = number_of(l, 1), to = number_of(l, 2);
  if (from <= to) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT,
           "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from, to);
}

static tpt_status_t check_above(const tpt_lower_t* l, int arg, const char* name,
                                bool zero_is_fine) {
  double value = number_of(l, arg);
  if (value > 0 || (zero_is_fine && value == 0)) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "%s_ expects %s %s 0.0, but found %s=%g",
           tpt_op_schema(l->op)->base, name, zero_is_fine ? ">=" : ">", name, value);
}

static tpt_status_t check_std(const tpt_lower_t* l, int arg) {
  double std = number_of(l, arg);
  if (std >= 0) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "normal expects std >= 0.0, but found std %g", std);
}
tpt_status_t check_normal(tpt_lower_t* l) {
  return check_std(l, 2);
}
tpt_status_t check_normal_like(tpt_lower_t* l) {
  return l->args[1].kind == TPT_ARG_TENSOR ? NULL : check_std(l, 1);
}
tpt_status_t check_log_normal(tpt_lower_t* l) {
  return check_above(l, 2, "std", false);
}
tpt_status_t check_exponential(tpt_lower_t* l) {
  return check_above(l, 1, "lambda", false);
}
tpt_status_t check_cauchy(tpt_lower_t* l) {
  return check_above(l, 2, "sigma", false);
}

tpt_status_t check_geometric(tpt_lower_t* l) {
  double p = number_of(l, 1);
  if (p > 0 && p < 1) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "geometric_ expects p to be in (0, 1), but got p=%g", p);
}

tpt_status_t check_bernoulli(tpt_lower_t* l) {
  double p = number_of(l, 1);
  if (p >= 0 && p <= 1) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "bernoulli_ expects p to be in [0, 1], but got p=%g", p);
}

// --- continuous --------------------------------------------------------------------------------------------

// [from, to): a product that rounds up to `to` becomes `from`.
tpt_status_t lower_uniform(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type;
  tpt_dtype_t compute;
  TPT_TRY(read_target(l, &type, &compute));
  tpt_v from = tpt_lower_scalar(l, 1, compute), to = tpt_lower_scalar(l, 2, compute);
  tpt_v x = tpt_mul(g, unit(l, compute, type.rank, type.dims), tpt_sub(g, to, from));
  x = tpt_hlo_convert(g, tpt_add(g, x, from), type.dtype);
  tpt_v first = tpt_hlo_convert(g, from, type.dtype), last = tpt_hlo_convert(g, to, type.dtype);
  return tpt_lower_result(l, tpt_select(g, tpt_ge(g, x, last), first, x));
}

static tpt_v scaled_normal(tpt_lower_t* l, const tpt_type_t* type, tpt_dtype_t compute) {
  tpt_v x = standard_normal(l, compute, type->rank, type->dims);
  x = tpt_mul(l->graph, x, tpt_lower_scalar(l, 2, compute));
  return tpt_add(l->graph, x, tpt_lower_scalar(l, 1, compute));
}

tpt_status_t lower_normal(tpt_lower_t* l) {
  tpt_type_t type;
  tpt_dtype_t compute;
  TPT_TRY(read_target(l, &type, &compute));
  return give(l, scaled_normal(l, &type, compute), &type);
}

tpt_status_t lower_log_normal(tpt_lower_t* l) {
  tpt_type_t type;
  tpt_dtype_t compute;
  TPT_TRY(read_target(l, &type, &compute));
  return give(l, tpt_exp(l->graph, scaled_normal(l, &type, compute)), &type);
}

// Mean and deviation, tensors or numbers, broadcast together.
tpt_status_t lower_normal_like(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x[2];
  tpt_dtype_t dtype = TPT_DTYPE_INVALID;
  for (int i = 0; i < 2 && dtype == TPT_DTYPE_INVALID; i++)
    if (l->args[i].kind == TPT_ARG_TENSOR) dtype = tpt_lower_tensor(l, i)->dtype;
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_dtype_t compute = tpt_dtype_compute(dtype);
  for (int i = 0; i < 2; i++) {
    if (l->args[i].kind == TPT_ARG_TENSOR) {
      if (tpt_lower_tensor(l, i)->dtype != dtype) return tpt_refuse_dtype(l, dtype);
      x[i] = tpt_lower_value_as(l, i, compute);
      if (i == 1)
        x[1] = tpt_assert(g, tpt_ge(g, x[1], tpt_like(g, x[1], 0)),
                          "normal expects all elements of std >= 0.0", x[1]);
    } else {
      x[i] = tpt_lower_scalar(l, i, compute);
    }
  }
  tpt_meet(g, &x[0], &x[1]);
  tpt_type_t type = *tpt_graph_type(g, x[0]);
  type.dtype = dtype;
  tpt_v normal = standard_normal(l, compute, type.rank, type.dims);
  return give(l, tpt_add(g, tpt_mul(g, normal, x[1]), x[0]), &type);
}

// Above zero, as PyTorch's CUDA generator has it: the logarithm of a draw is always a number. Uniform
// numbers within half a unit of the last place of one give that half unit.
static tpt_v standard_exponential(tpt_lower_t* l, tpt_dtype_t dtype, int rank,
                                  const int64_t* dims) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_neg(g, tpt_log(g, unit_above_zero(l, dtype, rank, dims)));
  return tpt_max(g, x, tpt_like(g, x, ldexp(1, dtype == TPT_F64 ? -53 : -24)));
}

tpt_status_t lower_exponential(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type;
  tpt_dtype_t compute;
  TPT_TRY(read_target(l, &type, &compute));
  tpt_v x = standard_exponential(l, compute, type.rank, type.dims);
  return give(l, tpt_div(g, x, tpt_lower_scalar(l, 1, compute)), &type);
}

tpt_status_t lower_cauchy(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type;
  tpt_dtype_t compute;
  TPT_TRY(read_target(l, &type, &compute));
  tpt_v x = tpt_add_f64(g, unit(l, compute, type.rank, type.dims), -0.5);
  x = tpt_hlo_unary(g, TPT_HLO_TAN, tpt_mul_f64(g, x, 3.141592653589793));
  x = tpt_mul(g, x, tpt_lower_scalar(l, 2, compute));
  return give(l, tpt_add(g, x, tpt_lower_scalar(l, 1, compute)), &type);
}

tpt_status_t check_rrelu(tpt_lower_t* l) {
  double lower = tpt_lower_double(l, 2), upper = tpt_lower_double(l, 3);
  if (lower <= upper) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "Lower bound should be less than or equal to the upper bound");
}

// In training each negative element is scaled by a draw of its own, which `noise` keeps (1 elsewhere).
tpt_status_t lower_rrelu_with_noise(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type;
  tpt_dtype_t compute;
  TPT_TRY(read_target(l, &type, &compute));
  tpt_v x = tpt_lower_value_as(l, 0, compute), one = tpt_like(g, x, 1);
  tpt_v lower = tpt_lower_scalar(l, 2, compute), upper = tpt_lower_scalar(l, 3, compute);
  tpt_v is_negative = tpt_le(g, x, tpt_like(g, x, 0)), slope;
  if (tpt_lower_bool(l, 4)) {
    slope = tpt_mul(g, unit(l, compute, type.rank, type.dims), tpt_sub(g, upper, lower));
    slope = tpt_select(g, is_negative, tpt_add(g, slope, lower), one);
    slope = tpt_hlo_convert(g, slope, type.dtype);
    TPT_TRY(tpt_lower_write(l, 1, 0, slope));
    slope = tpt_hlo_convert(g, slope, compute);
  } else {
    slope = tpt_select(g, is_negative, tpt_mul_f64(g, tpt_add(g, lower, upper), 0.5), one);
  }
  return give(l, tpt_mul(g, x, slope), &type);
}

// --- discrete ----------------------------------------------------------------------------------------------

// The number of trials up to the first success: ceil(log(u) / log(1 - p)), at least 1. Integers too.
tpt_status_t lower_geometric(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  tpt_type_t type = tpt_type_make(self->dtype, self->rank, self->sizes);
  if (type.dtype == TPT_PRED || tpt_dtype_is_complex(type.dtype))
    return tpt_refuse_dtype(l, type.dtype);
  tpt_dtype_t compute = type.dtype == TPT_F64 ? TPT_F64 : TPT_F32;
  tpt_v u = unit_above_zero(l, compute, type.rank, type.dims);
  tpt_v rest = tpt_log1p(g, tpt_neg(g, tpt_lower_scalar(l, 1, compute)));
  tpt_v x = tpt_ceil(g, tpt_div(g, tpt_log(g, u), rest));
  return give(l, tpt_max(g, x, tpt_like(g, x, 1)), &type);
}

// 1 with probability p, which stands for itself between 0 and 1 inclusive.
static tpt_status_t draw_bernoulli(tpt_lower_t* l, tpt_v p) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  tpt_type_t type = tpt_type_make(self->dtype, self->rank, self->sizes);
  if (tpt_dtype_of(g, p) == TPT_F64)
    return give(l, tpt_lt(g, unit(l, TPT_F64, type.rank, type.dims), p), &type);
  tpt_v bits = tpt_lower_random_bits(l, type.rank, type.dims);
  return give(l, tpt_not(g, tpt_dropout_keep(g, bits, p)), &type);
}

static tpt_status_t bernoulli_of(tpt_lower_t* l, int arg) {
  tpt_dtype_t dtype = tpt_lower_tensor(l, arg)->dtype;
  tpt_graph_t* g = l->graph;
  if (!tpt_dtype_is_float(dtype)) return tpt_refuse_dtype(l, dtype);
  tpt_v p = tpt_lower_value_as(l, arg, tpt_dtype_compute(dtype));
  tpt_v is_fine = tpt_and(g, tpt_ge(g, p, tpt_like(g, p, 0)), tpt_le(g, p, tpt_like(g, p, 1)));
  p = tpt_assert(g, is_fine, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.", p);
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  return draw_bernoulli(l, tpt_hlo_broadcast_to(l->graph, p, self->rank, self->sizes));
}

tpt_status_t lower_bernoulli(tpt_lower_t* l) {
  return bernoulli_of(l, 0);
}
tpt_status_t lower_bernoulli_tensor(tpt_lower_t* l) {
  return bernoulli_of(l, 1);
}
tpt_status_t lower_bernoulli_p(tpt_lower_t* l) {
  return draw_bernoulli(l, tpt_lower_scalar(l, 1, TPT_F32));
}

// Integers that a dtype counts without gaps, from 0: what random_() draws from.
static uint64_t whole_range(tpt_dtype_t dtype) {
  switch (dtype) {
  case TPT_F16:
    return (1u << 11) + 1;
  case TPT_BF16:
    return (1u << 8) + 1;
  case TPT_F32:
    return (1u << 24) + 1;
  case TPT_F64:
    return ((uint64_t)1 << 53) + 1;
  case TPT_PRED:
    return 2;
  default:
    break;
  }
  int bits = (int)tpt_dtype_size(dtype) * 8;
  if (tpt_dtype_row(dtype)->kind == TPT_CLASS_SINT) bits--;
  return bits >= 64 ? 0 : (uint64_t)1 << bits;  // 0: all 2^64
}

// What random_ draws from: `range` numbers from `from` on; range 0 means 2^64.
typedef struct draws {
  int64_t from;
  uint64_t range;
} draws_t;

// mode 0: the dtype's whole range; 1: [0, to); 2: [from, to), to may be None.
static draws_t read_draws(const tpt_lower_t* l) {
  int64_t mode = l->op->params.mode;
  int to_arg = mode == 1 ? 1 : 2;
  draws_t d = {mode == 2 ? l->args[1].number.i : 0, whole_range(tpt_lower_tensor(l, 0)->dtype)};
  if (mode && tpt_lower_has(l, to_arg)) {
    d.range = (uint64_t)l->args[to_arg].number.i - (uint64_t)d.from;
  } else if (mode == 2) {
    d.range = d.range ? d.range - (uint64_t)d.from : 0;
  }
  return d;
}

// The bound `to` or from must be a value of the dtype (a float's too: all its whole numbers are).
static tpt_status_t check_bound(const tpt_tensor_t* self, int64_t bound, const char* name) {
  tpt_dtype_class_t kind = tpt_dtype_row(self->dtype)->kind;
  int bits = (int)tpt_dtype_size(self->dtype) * 8 - (kind == TPT_CLASS_SINT);
  bool is_int = kind == TPT_CLASS_SINT || kind == TPT_CLASS_UINT;
  int64_t most = kind == TPT_CLASS_BOOL ? 1
                 : !is_int || bits > 62 ? INT64_MAX
                                        : ((int64_t)1 << bits) - 1;
  int64_t least = kind == TPT_CLASS_SINT || !is_int ? -most - 1 : 0;
  if (kind == TPT_CLASS_BOOL) least = 0;
  if (bound >= least && bound <= most) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "%s is out of bounds for %s", name,
           tpt_dtype_row(self->dtype)->name);
}

tpt_status_t check_random(tpt_lower_t* l) {
  int64_t mode = l->op->params.mode;
  int to_arg = mode == 1 ? 1 : 2;
  if (mode == 0) return NULL;
  int64_t from = mode == 2 ? tpt_lower_int(l, 1) : 0;
  TPT_TRY(check_bound(tpt_lower_tensor(l, 0), from, "from"));
  if (!tpt_lower_has(l, to_arg)) return NULL;
  int64_t to = tpt_lower_int(l, to_arg);
  if (from >= to)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
             (long long)from, (long long)to);
  return check_bound(tpt_lower_tensor(l, 0), to - 1, "to - 1");
}

enum { DRAW_ALL, DRAW_SHORT, DRAW_LONG };  // all 2^64; at most 2^32; more

int64_t kind_random(const tpt_lower_t* l) {
  uint64_t range = read_draws(l).range;
  return range == 0 ? DRAW_ALL : range <= (uint64_t)1 << 32 ? DRAW_SHORT : DRAW_LONG;
}

// The range as a u64 run-time number.
static tpt_v range_value(tpt_lower_t* l, tpt_v from) {
  tpt_graph_t* g = l->graph;
  int64_t mode = l->op->params.mode;
  int to_arg = mode == 1 ? 1 : 2;
  tpt_type_t word = tpt_type_scalar(TPT_U64);
  bool has_end = mode && tpt_lower_has(l, to_arg);
  tpt_v end =
      has_end ? tpt_lower_scalar(l, to_arg, TPT_S64)
              : tpt_hlo_scalar_i64(g, TPT_S64, (int64_t)whole_range(tpt_lower_tensor(l, 0)->dtype));
  return tpt_hlo_bitcast_convert(g, tpt_sub(g, end, from), &word);
}

// Numbers below the range: the high half of draw * range, so that the cost is one product; above 2^32
// the remainder of 64 bits.
tpt_status_t lower_random(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  tpt_type_t type = tpt_type_make(self->dtype, self->rank, self->sizes);
  if (tpt_dtype_is_complex(type.dtype)) return tpt_refuse_dtype(l, type.dtype);
  int64_t kind = tpt_lower_kind(l);
  bool has_from = l->op->params.mode == 2;
  tpt_v from = has_from ? tpt_lower_scalar(l, 1, TPT_S64) : tpt_hlo_scalar_i64(g, TPT_S64, 0);
  tpt_v x;
  if (kind == DRAW_SHORT) {
    x = tpt_hlo_convert(g, tpt_lower_random_bits(l, type.rank, type.dims), TPT_U64);
    x = tpt_mul(g, x, range_value(l, from));
    x = tpt_hlo_binary(g, TPT_HLO_SHRL, x, tpt_like_i64(g, x, 32));
  } else {
    x = random_words(l, type.rank, type.dims);
    if (kind == DRAW_LONG) x = tpt_binary(g, TPT_HLO_REMAINDER, x, range_value(l, from));
  }
  if (type.dtype == TPT_PRED) {
    x = tpt_add(g, x, tpt_hlo_convert(g, from, TPT_U64));
    return tpt_lower_result(l, tpt_ne(g, x, tpt_like_i64(g, x, 0)));
  }
  tpt_type_t wide = type;
  wide.dtype = TPT_S64;
  x = tpt_add(g, tpt_hlo_bitcast_convert(g, x, &wide), from);
  return give(l, x, &type);
}

// Positions in the order of random 64-bit keys. mode: the argument number of dtype.
tpt_status_t lower_randperm(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  int64_t dims[1] = {tpt_lower_int(l, 0)};
  if (dims[0] < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "n must be non-negative, got %lld", (long long)dims[0]);
  tpt_dtype_t dtype = tpt_lower_dtype_or(l, (int)l->op->params.mode, TPT_S64);
  if (dims[0] == 0) return tpt_lower_result(l, tpt_fill(g, dtype, 1, dims, 0));
  tpt_type_t type = tpt_type_make(TPT_S64, 1, dims);
  tpt_v order = tpt_sort_by(g, random_words(l, 1, dims), tpt_hlo_iota(g, &type, 0), 0);
  return tpt_lower_result(l, tpt_hlo_convert(g, order, dtype));
}

// --- multinomial -------------------------------------------------------------------------------------------

// Without replacement: the num_samples greatest of p / e, e exponential (Efraimidis and Spirakis).
static tpt_v sample_distinct(tpt_lower_t* l, tpt_v p, int64_t count) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, p);
  tpt_v e = standard_exponential(l, type.dtype, type.rank, type.dims);
  tpt_v score = tpt_div(g, p, e);
  tpt_sorted_t sorted = tpt_sort(g, score, 1, true);
  return tpt_hlo_slice_dim(g, sorted.positions, 1, 0, count, 1);
}

// With replacement: how many cumulative weights lie at or below u * total. u < 1 - 2^-23, so that the
// product stays below the total and never names a category of weight zero at the end.
static tpt_v sample_again(tpt_lower_t* l, tpt_v p, int64_t count) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, p);
  int64_t rows = type.dims[0], size = type.dims[1];
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  window.dims[1] = size;
  window.pad_low[1] = size - 1;
  tpt_v zero = tpt_hlo_scalar_i64(g, type.dtype, 0);
  tpt_v sums = tpt_hlo_reduce_window(g, p, zero, TPT_HLO_ADD, &window);
  tpt_v total = tpt_hlo_slice_dim(g, sums, 1, size - 1, size, 1);
  int64_t draws[2] = {rows, count};
  tpt_v u = tpt_mul_f64(g, unit(l, type.dtype, 2, draws), 1 - ldexp(1, -23));
  tpt_v point = tpt_unsqueeze(g, tpt_mul(g, u, total), 2);
  tpt_v at_or_below = tpt_le(g, tpt_unsqueeze(g, sums, 1), point);
  int64_t last[1] = {2};
  return tpt_reduce_sum(g, tpt_hlo_convert(g, at_or_below, TPT_S64), last, 1);
}

// Weights must be numbers from 0 up, not all zero in a row. `is_table`: with CPU's words for drawing from
// a table of sums.
static tpt_v checked_weights(tpt_graph_t* g, tpt_v p, bool is_table) {
  tpt_v zero = tpt_like(g, p, 0);
  tpt_v is_number = tpt_lt(g, p, tpt_like(g, p, INFINITY)), is_positive = tpt_ge(g, p, zero);
  int64_t last[1] = {1};
  tpt_v total = tpt_reduce_sum(g, p, last, 1);
  tpt_v has_weight = tpt_or(g, tpt_ne(g, total, tpt_like(g, total, 0)), tpt_isnan(g, total));
  if (is_table) {
    p = tpt_assert(g, is_positive,
                   "invalid multinomial distribution (encountering probability entry < 0)", p);
    p = tpt_assert(g, is_number,
                   "invalid multinomial distribution (encountering probability entry = infinity or "
                   "NaN)",
                   p);
  } else {
    p = tpt_assert(g, tpt_and(g, is_number, is_positive),
                   "probability tensor contains either `inf`, `nan` or element < 0", p);
  }
  return tpt_assert(g, has_weight, "invalid multinomial distribution (sum of probabilities <= 0)",
                    p);
}

tpt_status_t lower_multinomial(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v p = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, p);
  int64_t count = tpt_lower_int(l, 1);
  bool again = tpt_lower_bool(l, 2);
  if (!tpt_dtype_is_float(type.dtype))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "multinomial only supports floating-point dtypes for input, got: %s",
             tpt_dtype_row(type.dtype)->name);
  if (type.rank != 1 && type.rank != 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "prob_dist must be 1 or 2 dim");
  if (count <= 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "cannot sample n_sample <= 0 samples");
  int64_t size = type.dims[type.rank - 1];
  if (!again && count > size)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  int64_t dims[2] = {type.rank == 2 ? type.dims[0] : 1, size};
  p = tpt_hlo_reshape(g, tpt_hlo_convert(g, p, tpt_dtype_compute(type.dtype)), 2, dims);
  p = checked_weights(g, p, again && count > 1);
  tpt_v samples = again ? sample_again(l, p, count) : sample_distinct(l, p, count);
  int64_t out[2] = {dims[0], count};
  return tpt_lower_result(l,
                          tpt_hlo_reshape(g, samples, type.rank, type.rank == 2 ? out : out + 1));
}
