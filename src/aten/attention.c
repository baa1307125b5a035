// Scaled dot product attention, forward and backward: softmax(scale * q k' + bias) v, with a causal mask
// and dropout. Leading dimensions broadcast; when query has a multiple of key's or value's heads, each
// of theirs serves a run of the query's (grouped queries). Rows that are masked throughout give zeros.
#include <math.h>
#include <string.h>

#include "aten/array.h"
#include "aten/dropout.h"
#include "aten/rows.h"
#include "aten/stride.h"

typedef struct attention {
  tpt_dtype_t dtype, compute;
  int rank;                     // of all arrays once they are spread out
  int64_t batch[TPT_RANK_MAX];  // rank - 2 leading sizes
  int64_t rows, columns;        // queries, keys
  int64_t depth, width;         // of a key, of a value
  tpt_v q, k, v;                // spread out, in the argument's dtype
  tpt_v scale;                  // 0-d, compute type
  bool is_causal;
} attention_t;

static void full_dims(const attention_t* a, int64_t rows, int64_t columns, int64_t* out) {
  memcpy(out, a->batch, (size_t)(a->rank - 2) * sizeof(*out));
  out[a->rank - 2] = rows;
  out[a->rank - 1] = columns;
}

// Size of leading dimension d of a type aligned to the right of `rank` dimensions.
static int64_t leading(const tpt_type_t* type, int rank, int d) {
  int own = d - (rank - type->rank);
  return own < 0 ? 1 : type->dims[own];
}

static tpt_status_t read_batch(const tpt_lower_t* l, attention_t* a) {
  tpt_type_t types[3] = {*tpt_graph_type(l->graph, a->q), *tpt_graph_type(l->graph, a->k),
                         *tpt_graph_type(l->graph, a->v)};
  a->rank = 2;
  for (int i = 0; i < 3; i++) {
    if (types[i].rank < 2)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "Expected query, key, and value to all be at least 2 dimensional, but got %d",
               types[i].rank);
    if (types[i].dtype != types[0].dtype || !tpt_dtype_is_float(types[0].dtype))
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "Expected query, key, and value to have the same floating point dtype");
    if (types[i].rank > a->rank) a->rank = types[i].rank;
  }
  for (int d = 0; d < a->rank - 2; d++) {
    a->batch[d] = 1;
    for (int i = 0; i < 3; i++) {
      int64_t size = leading(&types[i], a->rank, d);
      bool groups = d == a->rank - 3 && i > 0 && size > 0 && a->batch[d] % size == 0;
      if (size == a->batch[d] || size == 1 || groups) continue;
      if (a->batch[d] != 1)
        TPT_FAIL(TPT_INVALID_ARGUMENT,
                 "query, key and value have sizes %lld and %lld at leading dimension %d",
                 (long long)a->batch[d], (long long)size, d);
      a->batch[d] = size;
    }
  }
  a->dtype = types[0].dtype;
  a->compute = tpt_dtype_compute(a->dtype);
  a->rows = types[0].dims[types[0].rank - 2];
  a->depth = types[0].dims[types[0].rank - 1];
  a->columns = types[1].dims[types[1].rank - 2];
  a->width = types[2].dims[types[2].rank - 1];
  if (types[1].dims[types[1].rank - 1] != a->depth ||
      types[2].dims[types[2].rank - 2] != a->columns)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "query, key and value have sizes that do not fit together");
  return NULL;
}

// An argument with all leading sizes; heads that serve several of the query's are repeated.
static tpt_v spread(tpt_graph_t* g, const attention_t* a, tpt_v x) {
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t dims[TPT_RANK_MAX];
  full_dims(a, type.dims[type.rank - 2], type.dims[type.rank - 1], dims);
  int at = a->rank - 3;
  int64_t heads = at < 0 ? 1 : leading(&type, a->rank, at);
  if (at >= 0 && heads != 1 && heads != dims[at] && heads != 0) {
    int own = type.rank - 3;
    int64_t repeated[TPT_RANK_MAX + 1], where[TPT_RANK_MAX];
    for (int d = 0; d < type.rank; d++) {
      where[d] = d <= own ? d : d + 1;
      repeated[where[d]] = type.dims[d];
    }
    repeated[own + 1] = dims[at] / heads;
    x = tpt_hlo_broadcast_in_dim(g, x, type.rank + 1, repeated, where);
    type.dims[own] = dims[at];
    x = tpt_hlo_reshape(g, x, type.rank, type.dims);
  }
  return tpt_hlo_broadcast_to(g, x, a->rank, dims);
}

// The adjoint of spread: a gradient summed down to the argument's own sizes.
static tpt_v gather_up(tpt_graph_t* g, const attention_t* a, tpt_v grad, const tpt_type_t* to) {
  int at = a->rank - 3;
  int64_t heads = at < 0 ? 1 : leading(to, a->rank, at);
  if (at >= 0 && heads != 1 && heads != a->batch[at] && heads != 0) {
    tpt_type_t type = *tpt_graph_type(g, grad);
    int64_t dims[TPT_RANK_MAX + 1];
    for (int d = 0; d < type.rank; d++)
      dims[d <= at ? d : d + 1] = type.dims[d];
    dims[at] = heads;
    dims[at + 1] = a->batch[at] / heads;
    grad = tpt_hlo_reshape(g, grad, type.rank + 1, dims);
    grad = tpt_reduce_sum(g, grad, (int64_t[]){at + 1}, 1);
  }
  return tpt_sum_to(g, grad, to->rank, to->dims);
}

// Arguments query, key, value from `first` on.
static tpt_status_t read_attention(tpt_lower_t* l, int first, int causal, int scale,
                                   attention_t* a) {
  tpt_graph_t* g = l->graph;
  a->q = tpt_lower_value(l, first);
  a->k = tpt_lower_value(l, first + 1);
  a->v = tpt_lower_value(l, first + 2);
  TPT_TRY(tpt_graph_status(g));
  TPT_TRY(read_batch(l, a));
  a->q = spread(g, a, a->q);
  a->k = spread(g, a, a->k);
  a->v = spread(g, a, a->v);
  a->is_causal = tpt_lower_bool(l, causal);
  a->scale = tpt_lower_has(l, scale)
                 ? tpt_lower_scalar(l, scale, a->compute)
                 : tpt_hlo_scalar_f64(g, a->compute, 1 / sqrt((double)a->depth));
  return NULL;
}

// Batched product that contracts one of the last two dimensions of each side; in the compute type.
static tpt_v product(tpt_lower_t* l, const attention_t* a, tpt_v x, int x_contract, tpt_v y,
                     int y_contract) {
  tpt_dot_t dot;
  memset(&dot, 0, sizeof(dot));
  dot.batch_count = a->rank - 2;
  for (int d = 0; d < dot.batch_count; d++)
    dot.lhs_batch[d] = dot.rhs_batch[d] = d;
  dot.contract_count = 1;
  dot.lhs_contract[0] = a->rank - 2 + x_contract;
  dot.rhs_contract[0] = a->rank - 2 + y_contract;
  dot.precision = l->precision;
  dot.result = a->compute;
  return tpt_hlo_dot_general(l->graph, tpt_hlo_convert(l->graph, x, a->dtype),
                             tpt_hlo_convert(l->graph, y, a->dtype), &dot);
}

// Masked and biased scores [batch..., rows, columns].
static tpt_status_t make_scores(tpt_lower_t* l, const attention_t* a, int bias_arg, tpt_v* out) {
  tpt_graph_t* g = l->graph;
  int64_t dims[TPT_RANK_MAX];
  full_dims(a, a->rows, a->columns, dims);
  tpt_v scores = tpt_mul(g, product(l, a, a->q, 1, a->k, 1), a->scale);
  tpt_v hidden = tpt_lowest(g, a->compute);
  if (tpt_lower_has(l, bias_arg)) {
    tpt_v bias = tpt_lower_value(l, bias_arg);
    bool is_mask = tpt_dtype_of(g, bias) == TPT_PRED;
    tpt_v pair[2] = {scores, is_mask ? bias : tpt_hlo_convert(g, bias, a->compute)};
    TPT_TRY(tpt_lower_broadcast(l, pair, 2));
    if (tpt_graph_type(g, pair[0])->rank != a->rank ||
        !tpt_dims_equal(tpt_graph_type(g, pair[0]), tpt_graph_type(g, scores)))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "attn_bias does not broadcast to the sizes of the scores");
    scores = is_mask ? tpt_select(g, pair[1], scores, hidden) : tpt_add(g, scores, pair[1]);
  }
  if (a->is_causal) {
    int64_t plane[2] = {a->rows, a->columns}, where[2] = {a->rank - 2, a->rank - 1};
    tpt_type_t type = tpt_type_make(TPT_S32, 2, plane);
    tpt_v seen = tpt_ge(g, tpt_hlo_iota(g, &type, 0), tpt_hlo_iota(g, &type, 1));
    seen = tpt_hlo_broadcast_in_dim(g, seen, a->rank, dims, where);
    scores = tpt_select(g, seen, scores, hidden);
  }
  *out = scores;
  return NULL;
}

static tpt_v keep_last(tpt_graph_t* g, const attention_t* a, tpt_v reduced) {
  return tpt_keep_dims(g, reduced, a->rank, (int64_t[]){a->rank - 1}, 1);
}
static tpt_v sum_last(tpt_graph_t* g, const attention_t* a, tpt_v x) {
  return keep_last(g, a, tpt_reduce_sum(g, x, (int64_t[]){a->rank - 1}, 1));
}

static tpt_v zero_where(tpt_graph_t* g, tpt_v predicate, tpt_v x) {
  return tpt_select(g, predicate, tpt_like(g, x, 0), x);
}

// Dropped elements become 0, the others grow.
static tpt_v apply_dropout(tpt_lower_t* l, const attention_t* a, int p_arg, tpt_v bits, tpt_v x) {
  tpt_graph_t* g = l->graph;
  tpt_v keep = tpt_dropout_keep(g, bits, tpt_lower_scalar(l, p_arg, TPT_F32));
  tpt_v scale = tpt_dropout_scale(g, tpt_lower_scalar(l, p_arg, a->compute));
  return tpt_select(g, keep, tpt_mul(g, x, scale), tpt_like(g, x, 0));
}

// Seed and offset as PyTorch carries them: s64 numbers with the same bits.
static tpt_v signed_number(tpt_graph_t* g, tpt_v x) {
  tpt_type_t type = tpt_type_scalar(TPT_S64);
  return tpt_hlo_bitcast_convert(g, x, &type);
}
static tpt_v unsigned_number(tpt_lower_t* l, int arg) {
  tpt_type_t type = tpt_type_scalar(TPT_U64);
  tpt_v x = tpt_hlo_reshape(l->graph, tpt_lower_value_as(l, arg, TPT_S64), 0, NULL);
  return tpt_hlo_bitcast_convert(l->graph, x, &type);
}

// The results after output and logsumexp.
static tpt_status_t give_rest(tpt_lower_t* l, const attention_t* a, tpt_v seed, tpt_v offset) {
  tpt_graph_t* g = l->graph;
  int64_t none = 0;
  TPT_TRY(tpt_lower_result(l, tpt_fill(g, TPT_S64, 1, &none, 0)));  // cum_seq_q
  TPT_TRY(tpt_lower_result(l, tpt_fill(g, TPT_S64, 1, &none, 0)));  // cum_seq_k
  TPT_TRY(tpt_lower_result_none(l));                                // max_q
  TPT_TRY(tpt_lower_result_none(l));                                // max_k
  TPT_TRY(tpt_lower_result(l, seed));
  TPT_TRY(tpt_lower_result(l, offset));
  return tpt_lower_result(l, tpt_fill(g, a->dtype, 1, &none, 0));  // debug_attn_mask
}

// Is anything dropped?
int64_t kind_attention(const tpt_lower_t* l) {
  return l->args[4].number.f > 0;
}
int64_t kind_attention_backward(const tpt_lower_t* l) {
  return l->args[12].number.f > 0;
}

// A result in the memory order of an argument of its sizes, so that what undoes the caller's transpose is
// a view again, as PyTorch's shape function says.
static tpt_status_t give_like(tpt_lower_t* l, int arg, tpt_v value) {
  TPT_TRY(tpt_graph_status(l->graph));
  const tpt_tensor_t* like = l->args[arg].tensors;
  const tpt_type_t* type = tpt_graph_type(l->graph, value);
  if (type->rank != like->rank ||
      memcmp(type->dims, like->sizes, (size_t)like->rank * sizeof(int64_t)) != 0)
    return tpt_lower_result(l, value);
  int64_t strides[TPT_RANK_MAX];
  tpt_strides_like(like, strides);
  return tpt_lower_result_strides(l, value, strides);
}

// query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask, scale.
tpt_status_t lower_attention(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  attention_t a;
  tpt_v scores;
  TPT_TRY(read_attention(l, 0, 5, 7, &a));
  TPT_TRY(make_scores(l, &a, 3, &scores));
  tpt_v most = keep_last(g, &a, tpt_reduce_max(g, scores, (int64_t[]){a.rank - 1}, 1));
  tpt_v is_void = tpt_eq(g, most, tpt_lowest(g, a.compute));
  most = zero_where(g, is_void, most);
  tpt_v e = tpt_exp(g, tpt_sub(g, scores, most));
  tpt_v sum = sum_last(g, &a, e);
  tpt_v logsumexp = tpt_add(g, most, tpt_log(g, sum));
  tpt_v weights = tpt_div(g, e, tpt_select(g, is_void, tpt_like(g, sum, 1), sum));
  tpt_v seed = tpt_hlo_scalar_i64(g, TPT_S64, 0), offset = seed;
  if (tpt_lower_kind(l)) {
    seed = signed_number(g, tpt_lower_request(l, TPT_REQUEST_SEED));
    offset = signed_number(g, tpt_lower_request(l, TPT_REQUEST_OFFSET));
    int64_t dims[TPT_RANK_MAX];
    full_dims(&a, a.rows, a.columns, dims);
    weights = apply_dropout(l, &a, 4, tpt_lower_random_bits(l, a.rank, dims), weights);
  }
  tpt_v out = product(l, &a, weights, 1, a.v, 0);
  TPT_TRY(give_like(l, 0, tpt_hlo_convert(g, out, a.dtype)));
  int64_t lines[TPT_RANK_MAX];
  full_dims(&a, a.rows, 1, lines);
  TPT_TRY(tpt_lower_result(l, tpt_hlo_reshape(g, logsumexp, a.rank - 1, lines)));
  return give_rest(l, &a, seed, offset);
}

static tpt_status_t give_grad(tpt_lower_t* l, const attention_t* a, int number, int arg,
                              tpt_v grad) {
  if (!l->args[5].ints[number]) return tpt_lower_result_none(l);
  tpt_type_t type = *tpt_graph_type(l->graph, tpt_lower_value(l, arg));
  grad = gather_up(l->graph, a, grad, &type);
  return give_like(l, arg, tpt_hlo_convert(l->graph, grad, type.dtype));
}

// grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k, max_q,
// max_k, dropout_p, is_causal, philox_seed, philox_offset, scale.
tpt_status_t lower_attention_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  attention_t a;
  tpt_v scores;
  TPT_TRY(read_attention(l, 1, 13, 16, &a));
  TPT_TRY(make_scores(l, &a, 4, &scores));
  int64_t lines[TPT_RANK_MAX];
  full_dims(&a, a.rows, 1, lines);
  tpt_v logsumexp = tpt_hlo_reshape(g, tpt_lower_value_as(l, 7, a.compute), a.rank, lines);
  logsumexp = zero_where(g, tpt_eq(g, logsumexp, tpt_lowest(g, a.compute)), logsumexp);
  tpt_v weights = tpt_exp(g, tpt_sub(g, scores, logsumexp));
  tpt_v grad = tpt_lower_value(l, 0), dropped = weights;
  tpt_v grad_weights = product(l, &a, grad, 1, a.v, 1);
  if (tpt_lower_kind(l)) {
    int64_t dims[TPT_RANK_MAX];
    full_dims(&a, a.rows, a.columns, dims);
    tpt_v bits =
        tpt_random_bits_at(g, unsigned_number(l, 14), unsigned_number(l, 15), a.rank, dims);
    dropped = apply_dropout(l, &a, 12, bits, weights);
    grad_weights = apply_dropout(l, &a, 12, bits, grad_weights);
  }
  tpt_v dot = tpt_mul(g, tpt_hlo_convert(g, grad, a.compute), tpt_lower_value_as(l, 6, a.compute));
  tpt_v grad_scores = tpt_mul(g, weights, tpt_sub(g, grad_weights, sum_last(g, &a, dot)));
  tpt_v grad_q = tpt_mul(g, product(l, &a, grad_scores, 1, a.k, 0), a.scale);
  tpt_v grad_k = tpt_mul(g, product(l, &a, grad_scores, 0, a.q, 0), a.scale);
  TPT_TRY(give_grad(l, &a, 0, 1, grad_q));
  TPT_TRY(give_grad(l, &a, 1, 2, grad_k));
  TPT_TRY(give_grad(l, &a, 2, 3, product(l, &a, dropped, 0, grad, 0)));
  bool wants_bias = l->args[5].ints[3] && tpt_lower_has(l, 4);
  return wants_bias ? give_grad(l, &a, 3, 4, grad_scores) : tpt_lower_result_none(l);
}
