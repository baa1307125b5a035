// Distributions drawn by rejection: poisson, binomial, gamma, dirichlet. All elements try at once until each
// has accepted; try t of a call reads its draws from lane t of the stream, so that a call takes the same
// part of the stream whatever the values. Methods: Knuth and PTRS (Hormann 1993), sums of geometric
// numbers and BTRS (Hormann 1993), Marsaglia and Tsang (2000). In f64: counts may be large.
#include <float.h>
#include <math.h>

#include "aten/array.h"
#include "aten/assert.h"
#include "aten/rows.h"
#include "aten/special.h"

enum { TRIES_MAX = 100000, STATE_MAX = 4, DRAWS_MAX = 3 };

static tpt_v number(tpt_graph_t* g, tpt_v like, double value) {
  return tpt_like(g, like, value);
}
static tpt_v plus(tpt_graph_t* g, tpt_v x, double c) {
  return tpt_add_f64(g, x, c);
}
static tpt_v lgamma_after(tpt_graph_t* g, tpt_v x) {
  tpt_v next = plus(g, x, 1);
  return formula_lgamma(g, &next);
}

// One try. params: f64 [n] each, what the draws depend on. u: f64 [n] each, in (0, 1]. state: [0] pred, done;
// [1] the result; more as the method likes. Writes the next state of elements that are not done.
typedef struct method {
  int params, states, draws;
  void (*attempt)(tpt_graph_t* g, const tpt_v* params, const tpt_v* u, tpt_v* inout_state);
} method_t;

typedef struct stream {
  tpt_v seed, offset;
  int64_t dims[2];  // draws of a try, elements
} stream_t;

static void draw_units(tpt_graph_t* g, const stream_t* s, tpt_v lane, tpt_v* out) {
  tpt_v bits = tpt_random_bits_lane(g, s->seed, s->offset, lane, 2, s->dims);
  tpt_v u = tpt_mul_f64(g, plus(g, tpt_hlo_convert(g, bits, TPT_F64), 1), ldexp(1, -32));
  for (int64_t i = 0; i < s->dims[0]; i++)
    out[i] = tpt_flatten(g, tpt_hlo_slice_dim(g, u, 0, i, i + 1, 1));
}

// Tries until all are done; state as in method_t, its final result is returned.
static tpt_v repeat_tries(tpt_lower_t* l, const method_t* m, const tpt_v* params, tpt_v* state) {
  tpt_graph_t* g = l->graph;
  stream_t s = {.dims = {m->draws, tpt_graph_type(g, state[1])->dims[0]}};
  tpt_lower_random_reserve(l, s.dims[0] * s.dims[1], &s.seed, &s.offset);
  tpt_v all[STATE_MAX + 1], args[STATE_MAX + 1], u[DRAWS_MAX];
  tpt_type_t types[STATE_MAX + 1];
  int count = m->states + 1;
  memcpy(all, state, (size_t)m->states * sizeof(*all));
  all[m->states] = tpt_hlo_scalar_i64(g, TPT_U32, 1);  // lane 0 is everyone's
  for (int i = 0; i < count; i++)
    types[i] = *tpt_graph_type(g, all[i]);
  tpt_region_begin(g, types, (uint32_t)count, args);
  int64_t every[1] = {0};
  tpt_v none = tpt_hlo_scalar_i64(g, TPT_PRED, 0);
  tpt_v is_open = tpt_hlo_reduce(g, tpt_not(g, args[0]), none, TPT_HLO_OR, every, 1);
  is_open = tpt_and(g, is_open, tpt_lt(g, args[m->states], number(g, args[m->states], TRIES_MAX)));
  uint32_t condition = tpt_region_end(g, &is_open, 1);
  tpt_region_begin(g, types, (uint32_t)count, args);
  tpt_v next[STATE_MAX + 1];
  memcpy(next, args, sizeof(next));
  draw_units(g, &s, args[m->states], u);
  m->attempt(g, params, u, next);
  for (int i = 1; i < m->states; i++)
    next[i] = tpt_select(g, args[0], args[i], next[i]);
  next[0] = tpt_or(g, args[0], next[0]);
  next[m->states] = tpt_add(g, args[m->states], tpt_like_i64(g, args[m->states], 1));
  uint32_t body = tpt_region_end(g, next, (uint32_t)count);
  tpt_v first = tpt_hlo_while(g, all, count, condition, body);
  return tpt_value_is_none(first) ? first : (tpt_v){first.index + 1};
}

// Argument `arg` flat, in f64; its type tells shape and dtype.
static tpt_status_t read_flat(tpt_lower_t* l, int arg, tpt_type_t* out_type, tpt_v* out) {
  tpt_v x = tpt_lower_value(l, arg);
  *out_type = *tpt_graph_type(l->graph, x);
  if (!tpt_dtype_is_float(out_type->dtype)) return tpt_refuse_dtype(l, out_type->dtype);
  *out = tpt_flatten(l->graph, tpt_hlo_convert(l->graph, x, TPT_F64));
  return NULL;
}

static tpt_status_t give(tpt_lower_t* l, tpt_v x, const tpt_type_t* type) {
  x = tpt_hlo_reshape(l->graph, tpt_hlo_convert(l->graph, x, type->dtype), type->rank, type->dims);
  return tpt_lower_result(l, x);
}

// u - 1/2, 1/2 - |u - 1/2|, and the candidate floor((2 a / us + b) (u - 1/2) + c) of both transformed
// rejections.
static tpt_v candidate(tpt_graph_t* g, tpt_v u, tpt_v a, tpt_v b, tpt_v c, tpt_v* out_us) {
  tpt_v centred = plus(g, u, -0.5);
  *out_us = tpt_sub(g, number(g, u, 0.5), tpt_abs(g, centred));
  tpt_v slope = tpt_add(g, tpt_div(g, tpt_mul_f64(g, a, 2), *out_us), b);
  return tpt_floor(g, tpt_add(g, tpt_mul(g, slope, centred), c));
}

// --- poisson ---------------------------------------------------------------------------------------------

// state: done, result, product of the draws so far (small rates).
static void try_poisson(tpt_graph_t* g, const tpt_v* params, const tpt_v* u, tpt_v* state) {
  tpt_v rate = params[0], is_small = tpt_lt(g, rate, number(g, rate, 10));
  tpt_v product = tpt_mul(g, state[2], u[0]);
  tpt_v goes_on = tpt_gt(g, product, tpt_exp(g, tpt_neg(g, rate)));
  tpt_v counted = plus(g, state[1], 1);
  tpt_v b = plus(g, tpt_mul_f64(g, tpt_sqrt(g, rate), 2.53), 0.931);
  tpt_v a = plus(g, tpt_mul_f64(g, b, 0.02483), -0.059), us;
  tpt_v k = candidate(g, u[0], a, b, plus(g, rate, 0.43), &us);
  tpt_v inverse = plus(g, tpt_div(g, number(g, b, 1.1328), plus(g, b, -3.4)), 1.1239);
  tpt_v bound = tpt_sub(g, number(g, b, 0.9277), tpt_div(g, number(g, b, 3.6224), plus(g, b, -2)));
  tpt_v fast = tpt_and(g, tpt_ge(g, us, number(g, us, 0.07)), tpt_le(g, u[1], bound));
  tpt_v is_out = tpt_and(g, tpt_lt(g, us, number(g, us, 0.013)), tpt_gt(g, u[1], us));
  is_out = tpt_or(g, is_out, tpt_lt(g, k, number(g, k, 0)));
  tpt_v spread = tpt_add(g, tpt_div(g, a, tpt_mul(g, us, us)), b);
  tpt_v left = tpt_log(g, tpt_div(g, tpt_mul(g, u[1], inverse), spread));
  tpt_v whole = tpt_max(g, k, number(g, k, 0));
  tpt_v right =
      tpt_sub(g, tpt_sub(g, tpt_mul(g, whole, tpt_log(g, rate)), rate), lgamma_after(g, whole));
  tpt_v slow = tpt_and(g, tpt_not(g, is_out), tpt_le(g, left, right));
  tpt_v accepts = tpt_or(g, fast, slow);
  state[0] = tpt_select(g, is_small, tpt_not(g, goes_on), accepts);
  state[1] = tpt_select(g, is_small, tpt_select(g, goes_on, counted, state[1]), k);
  state[2] = product;
}

tpt_status_t lower_poisson(tpt_lower_t* l) {
  static const method_t kMethod = {1, 3, 2, try_poisson};
  tpt_graph_t* g = l->graph;
  tpt_type_t type;
  tpt_v rate;
  TPT_TRY(read_flat(l, 0, &type, &rate));
  tpt_v is_fine = tpt_ge(g, rate, number(g, rate, 0));
  rate = tpt_assert(g, is_fine, "invalid Poisson rate, expected rate to be non-negative", rate);
  tpt_v zero = number(g, rate, 0), is_finite = tpt_hlo_unary(g, TPT_HLO_IS_FINITE, rate);
  tpt_v is_trivial = tpt_not(g, tpt_and(g, tpt_gt(g, rate, zero), is_finite));
  tpt_v state[3] = {is_trivial, zero, number(g, rate, 1)};
  return give(l, repeat_tries(l, &kMethod, &rate, state), &type);
}

// --- binomial --------------------------------------------------------------------------------------------

// params: n, q <= 1/2, both positive. state: done, result, sum of geometric numbers (small n q).
static void try_binomial(tpt_graph_t* g, const tpt_v* params, const tpt_v* u, tpt_v* state) {
  tpt_v n = params[0], q = params[1], one = number(g, q, 1), zero = number(g, q, 0);
  tpt_v mean = tpt_mul(g, n, q), rest = tpt_sub(g, one, q);
  tpt_v is_small = tpt_lt(g, mean, number(g, mean, 10));
  tpt_v step = tpt_ceil(g, tpt_div(g, tpt_log(g, u[0]), tpt_log1p(g, tpt_neg(g, q))));
  tpt_v sum = tpt_add(g, state[2], tpt_max(g, step, one));
  tpt_v is_over = tpt_gt(g, sum, n), counted = plus(g, state[1], 1);
  tpt_v deviation = tpt_sqrt(g, tpt_mul(g, mean, rest));
  tpt_v b = plus(g, tpt_mul_f64(g, deviation, 2.53), 1.15), us;
  tpt_v a = plus(g, tpt_add(g, tpt_mul_f64(g, b, 0.0248), tpt_mul_f64(g, q, 0.01)), -0.0873);
  tpt_v k = candidate(g, u[0], a, b, plus(g, mean, 0.5), &us);
  tpt_v bound = tpt_sub(g, number(g, b, 0.92), tpt_div(g, number(g, b, 4.2), b));
  tpt_v is_in = tpt_and(g, tpt_ge(g, k, zero), tpt_le(g, k, n));
  tpt_v fast = tpt_and(g, tpt_ge(g, us, number(g, us, 0.07)), tpt_le(g, u[1], bound));
  k = tpt_min(g, tpt_max(g, k, zero), n);
  tpt_v mode = tpt_floor(g, tpt_mul(g, plus(g, n, 1), q));
  tpt_v alpha = tpt_mul(g, plus(g, tpt_div(g, number(g, b, 5.1), b), 2.83), deviation);
  tpt_v spread = tpt_add(g, tpt_div(g, a, tpt_mul(g, us, us)), b);
  tpt_v left = tpt_log(g, tpt_div(g, tpt_mul(g, u[1], alpha), spread));
  tpt_v right = tpt_mul(g, tpt_sub(g, k, mode), tpt_log(g, tpt_div(g, q, rest)));
  right =
      tpt_add(g, right, tpt_add(g, lgamma_after(g, mode), lgamma_after(g, tpt_sub(g, n, mode))));
  right = tpt_sub(g, right, tpt_add(g, lgamma_after(g, k), lgamma_after(g, tpt_sub(g, n, k))));
  tpt_v accepts = tpt_and(g, is_in, tpt_or(g, fast, tpt_le(g, left, right)));
  state[0] = tpt_select(g, is_small, is_over, accepts);
  state[1] = tpt_select(g, is_small, tpt_select(g, is_over, state[1], counted), k);
  state[2] = sum;
}

tpt_status_t lower_binomial(tpt_lower_t* l) {
  static const method_t kMethod = {2, 3, 2, try_binomial};
  tpt_graph_t* g = l->graph;
  tpt_v x[2] = {tpt_lower_value(l, 0), tpt_lower_value(l, 1)};
  TPT_TRY(tpt_lower_broadcast(l, x, 2));
  tpt_type_t type = *tpt_graph_type(g, x[0]);
  if (!tpt_dtype_is_float(type.dtype) || tpt_dtype_of(g, x[1]) != type.dtype)
    return tpt_refuse_dtype(l, tpt_dtype_of(g, x[1]));
  tpt_v n = tpt_flatten(g, tpt_hlo_convert(g, x[0], TPT_F64));
  tpt_v p = tpt_flatten(g, tpt_hlo_convert(g, x[1], TPT_F64)), zero = number(g, p, 0);
  tpt_v flips = tpt_gt(g, p, number(g, p, 0.5));
  tpt_v q = tpt_select(g, flips, tpt_sub(g, number(g, p, 1), p), p);
  tpt_v is_open = tpt_and(g, tpt_and(g, tpt_gt(g, q, zero), tpt_ge(g, n, number(g, n, 1))),
                          tpt_hlo_unary(g, TPT_HLO_IS_FINITE, n));
  n = tpt_max(g, tpt_select(g, is_open, n, tpt_max(g, n, zero)), zero);
  tpt_v state[3] = {tpt_not(g, is_open), tpt_select(g, tpt_isnan(g, p), p, zero), zero};
  tpt_v params[2] = {n, q};
  tpt_v y = repeat_tries(l, &kMethod, params, state);
  return give(l, tpt_select(g, flips, tpt_sub(g, n, y), y), &type);
}

// --- gamma -----------------------------------------------------------------------------------------------

// params: d = alpha - 1/3. state: done, result.
static void try_gamma(tpt_graph_t* g, const tpt_v* params, const tpt_v* u, tpt_v* state) {
  tpt_v d = params[0], one = number(g, d, 1);
  tpt_v radius = tpt_sqrt(g, tpt_mul_f64(g, tpt_log(g, u[0]), -2));
  tpt_v x = tpt_mul(g, radius, tpt_cos(g, tpt_mul_f64(g, u[1], 6.283185307179586)));
  tpt_v y = tpt_add(g, tpt_div(g, x, tpt_sqrt(g, tpt_mul_f64(g, d, 9))), one);
  tpt_v is_positive = tpt_gt(g, y, number(g, y, 0));
  y = tpt_select(g, is_positive, y, one);
  tpt_v v = tpt_mul(g, tpt_mul(g, y, y), y), square = tpt_mul(g, x, x);
  tpt_v bound = tpt_add(g, tpt_sub(g, one, v), tpt_log(g, v));
  bound = tpt_add(g, tpt_mul_f64(g, square, 0.5), tpt_mul(g, d, bound));
  state[0] = tpt_and(g, is_positive, tpt_lt(g, tpt_log(g, u[2]), bound));
  state[1] = tpt_mul(g, d, v);
}

// Below 1 a number of alpha + 1 is scaled by u^(1 / alpha).
static tpt_v draw_gamma(tpt_lower_t* l, tpt_v alpha, tpt_dtype_t dtype) {
  static const method_t kMethod = {1, 2, 3, try_gamma};
  tpt_graph_t* g = l->graph;
  tpt_v zero = number(g, alpha, 0), one = number(g, alpha, 1);
  tpt_v is_small = tpt_lt(g, alpha, one);
  stream_t s = {.dims = {1, tpt_graph_type(g, alpha)->dims[0]}};
  tpt_lower_random_reserve(l, s.dims[1], &s.seed, &s.offset);
  tpt_v u;
  draw_units(g, &s, tpt_hlo_scalar_i64(g, TPT_U32, 0), &u);
  tpt_v scale = tpt_select(g, is_small, tpt_pow(g, u, tpt_div(g, one, alpha)), one);
  tpt_v d = plus(g, tpt_select(g, is_small, tpt_add(g, alpha, one), alpha), -1.0 / 3);
  tpt_v is_open = tpt_and(g, tpt_gt(g, alpha, zero), tpt_hlo_unary(g, TPT_HLO_IS_FINITE, alpha));
  d = tpt_select(g, is_open, d, one);
  tpt_v state[2] = {tpt_not(g, is_open), zero};
  tpt_v x = tpt_mul(g, repeat_tries(l, &kMethod, &d, state), scale);
  x = tpt_max(g, x, number(g, x, dtype == TPT_F64 ? DBL_MIN : (double)FLT_MIN));
  return tpt_select(g, tpt_isnan(g, alpha), alpha, x);
}

tpt_status_t lower_standard_gamma(tpt_lower_t* l) {
  tpt_type_t type;
  tpt_v alpha;
  TPT_TRY(read_flat(l, 0, &type, &alpha));
  return give(l, draw_gamma(l, alpha, type.dtype), &type);
}

tpt_status_t lower_sample_dirichlet(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type;
  tpt_v alpha;
  TPT_TRY(read_flat(l, 0, &type, &alpha));
  if (type.rank == 0) return tpt_refuse_dtype(l, type.dtype);
  int64_t last[1] = {type.rank - 1};
  tpt_v x = tpt_hlo_reshape(g, draw_gamma(l, alpha, type.dtype), type.rank, type.dims);
  tpt_v sum = tpt_keep_dims(g, tpt_reduce_sum(g, x, last, 1), type.rank, last, 1);
  return give(l, tpt_div(g, x, sum), &type);
}
