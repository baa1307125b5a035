// Multi-head attention and a whole encoder layer as single rows: what PyTorch's modules call in
// inference. Activations stay in the compute type between products, whose operands are the tensors' own
// dtype. In a mask, true (or not zero) hides.
#include <math.h>

#include "aten/array.h"
#include "aten/rows.h"
#include "aten/special.h"

enum { MASK_PLANE, MASK_KEYS, MASK_FULL };  // [L, L], [batch, L], [batch, heads, L, L]

// Where the arguments of an attention stand.
typedef struct places {
  int heads, qkv_weight, mask, mask_type;
} places_t;

typedef struct mha {
  tpt_dtype_t dtype, compute;
  int64_t batch, length, width, heads;
} mha_t;

// x w' + bias over the last dimension of x [batch, length, in]; w is [out, in].
static tpt_v linear(tpt_lower_t* l, const mha_t* m, tpt_v x, tpt_v weight, tpt_v bias) {
  tpt_graph_t* g = l->graph;
  tpt_dot_t dot;
  memset(&dot, 0, sizeof(dot));
  dot.contract_count = 1;
  dot.lhs_contract[0] = 2;
  dot.rhs_contract[0] = 1;
  dot.precision = l->precision;
  dot.result = m->compute;
  tpt_v y = tpt_hlo_dot_general(g, tpt_hlo_convert(g, x, m->dtype),
                                tpt_hlo_convert(g, weight, m->dtype), &dot);
  return tpt_add(g, y, tpt_hlo_convert(g, bias, m->compute));
}

// Product over batch and heads of [batch, heads, ...] arrays.
static tpt_v head_product(tpt_lower_t* l, const mha_t* m, tpt_v a, tpt_v b, int b_contract) {
  tpt_dot_t dot;
  memset(&dot, 0, sizeof(dot));
  dot.batch_count = 2;
  dot.lhs_batch[1] = dot.rhs_batch[1] = 1;
  dot.contract_count = 1;
  dot.lhs_contract[0] = 3;
  dot.rhs_contract[0] = b_contract;
  dot.precision = l->precision;
  dot.result = m->compute;
  return tpt_hlo_dot_general(l->graph, tpt_hlo_convert(l->graph, a, m->dtype),
                             tpt_hlo_convert(l->graph, b, m->dtype), &dot);
}

static tpt_status_t read_mha(tpt_lower_t* l, const places_t* at, mha_t* m) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 0));
  const tpt_type_t* weight = tpt_graph_type(g, tpt_lower_value(l, at->qkv_weight));
  m->heads = tpt_lower_int(l, at->heads);
  if (type.rank != 3)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected 3-D `query`, got %d-D tensor", type.rank);
  if (!tpt_dtype_is_float(type.dtype) || weight->dtype != type.dtype)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected query and weights of one floating point dtype");
  m->dtype = type.dtype;
  m->compute = tpt_dtype_compute(type.dtype);
  m->batch = type.dims[0];
  m->length = type.dims[1];
  m->width = type.dims[2];
  if (m->heads <= 0 || m->width % m->heads)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "`embed_dim` must divide evenly by `num_heads`");
  if (weight->rank != 2 || weight->dims[0] != 3 * m->width || weight->dims[1] != m->width)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected `qkv_weight` of sizes [%lld, %lld]",
             (long long)(3 * m->width), (long long)m->width);
  return NULL;
}

// --- masked softmax ------------------------------------------------------------------------------------

static tpt_v softmax_last(tpt_graph_t* g, tpt_v x, int dim) {
  int rank = tpt_graph_type(g, x)->rank;
  int64_t over = dim;
  tpt_v most = tpt_keep_dims(g, tpt_reduce_max(g, x, &over, 1), rank, &over, 1);
  tpt_v e = tpt_exp(g, tpt_sub(g, x, most));
  return tpt_div(g, e, tpt_keep_dims(g, tpt_reduce_sum(g, e, &over, 1), rank, &over, 1));
}

// Stretches the mask to scores of these sizes.
static tpt_status_t lay_mask(tpt_lower_t* l, int arg, int type_arg, const tpt_type_t* scores,
                             tpt_v* out) {
  tpt_graph_t* g = l->graph;
  tpt_v mask = tpt_truth(g, tpt_lower_value(l, arg));
  tpt_type_t type = *tpt_graph_type(g, mask);
  int64_t kind = tpt_lower_int_or(l, type_arg, MASK_FULL);
  int64_t length = scores->rank == 4 ? scores->dims[3] : 0;
  bool fits = false;
  if (kind == MASK_PLANE)
    fits = scores->rank == 4 && type.rank == 2 && type.dims[0] == scores->dims[2] &&
           type.dims[1] == length;
  else if (kind == MASK_KEYS)
    fits = scores->rank == 4 && type.rank == 2 && type.dims[0] == scores->dims[0] &&
           type.dims[1] == length;
  else
    fits = tpt_dims_equal(&type, scores);
  if (!fits)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "For mask_type == %lld mask shape should be %s", (long long)kind,
             kind == MASK_PLANE  ? "(L, L)"
             : kind == MASK_KEYS ? "(B, L)"
                                 : "the input's");
  int64_t keys[2] = {0, 3}, plane[2] = {2, 3};
  *out = kind == MASK_FULL ? mask
                           : tpt_hlo_broadcast_in_dim(g, mask, scores->rank, scores->dims,
                                                      kind == MASK_KEYS ? keys : plane);
  return NULL;
}

// self, mask, dim, mask_type.
tpt_status_t lower_masked_softmax(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 0));
  tpt_v x = tpt_lower_value_as(l, 0, tpt_dtype_compute(type.dtype)), mask;
  int dim = 0;
  if (type.rank == 0 || !tpt_dtype_is_float(type.dtype))
    TPT_FAIL(TPT_UNIMPLEMENTED, "masked softmax of %s with %d dimensions",
             tpt_dtype_row(type.dtype)->name, type.rank);
  TPT_TRY(tpt_wrap_dim(tpt_lower_int_or(l, 2, type.rank - 1), type.rank, &dim));
  TPT_TRY(lay_mask(l, 1, 3, &type, &mask));
  x = tpt_select(g, mask, tpt_lowest(g, tpt_dtype_of(g, x)), x);
  return tpt_lower_result(l, tpt_hlo_convert(g, softmax_last(g, x, dim), type.dtype));
}

// grad_output, output, mask, dim.
tpt_status_t lower_masked_softmax_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 1));
  tpt_dtype_t compute = tpt_dtype_compute(type.dtype);
  tpt_v grad = tpt_lower_value_as(l, 0, compute), y = tpt_lower_value_as(l, 1, compute);
  tpt_v mask = tpt_truth(g, tpt_lower_value(l, 2));
  int dim = 0;
  if (type.rank == 0 || !tpt_dims_equal(tpt_graph_type(g, mask), &type))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Mask shape should match grad shape");
  TPT_TRY(tpt_wrap_dim(tpt_lower_int_or(l, 3, type.rank - 1), type.rank, &dim));
  int64_t over = dim;
  tpt_v zero = tpt_like(g, grad, 0);
  tpt_v part = tpt_select(g, mask, zero, tpt_mul(g, grad, y));
  tpt_v dot = tpt_keep_dims(g, tpt_reduce_sum(g, part, &over, 1), type.rank, &over, 1);
  tpt_v dx = tpt_select(g, mask, zero, tpt_mul(g, y, tpt_sub(g, grad, dot)));
  return tpt_lower_result(l, tpt_hlo_convert(g, dx, type.dtype));
}

// --- attention -----------------------------------------------------------------------------------------

// Part `number` of the joint projection of x, as [batch, heads, length, depth].
static tpt_v project(tpt_lower_t* l, const mha_t* m, const places_t* at, tpt_v x, int number) {
  tpt_graph_t* g = l->graph;
  int64_t start = number * m->width, end = start + m->width;
  tpt_v weight = tpt_hlo_slice_dim(g, tpt_lower_value(l, at->qkv_weight), 0, start, end, 1);
  tpt_v bias = tpt_hlo_slice_dim(g, tpt_lower_value(l, at->qkv_weight + 1), 0, start, end, 1);
  int64_t split[4] = {m->batch, m->length, m->heads, m->width / m->heads};
  tpt_v y = tpt_hlo_reshape(g, linear(l, m, x, weight, bias), 4, split);
  return tpt_hlo_transpose(g, y, (int64_t[]){0, 2, 1, 3});
}

// Attention of x[0] over x[1] with values x[2], projected; out_weights [batch, heads, length, length].
static tpt_status_t attend(tpt_lower_t* l, const mha_t* m, const places_t* at, const tpt_v* x,
                           tpt_v out[2]) {
  tpt_graph_t* g = l->graph;
  tpt_v part[3];
  for (int i = 0; i < 3; i++)
    part[i] = project(l, m, at, x[i], i);
  double scale = 1 / sqrt((double)(m->width / m->heads));
  tpt_v scores = head_product(l, m, tpt_mul_f64(g, part[0], scale), part[1], 3);
  if (tpt_lower_has(l, at->mask)) {
    tpt_type_t type = *tpt_graph_type(g, scores);
    tpt_v mask;
    TPT_TRY(lay_mask(l, at->mask, at->mask_type, &type, &mask));
    scores = tpt_select(g, mask, tpt_lowest(g, m->compute), scores);
  }
  out[1] = softmax_last(g, scores, 3);
  tpt_v y = tpt_hlo_transpose(g, head_product(l, m, out[1], part[2], 2), (int64_t[]){0, 2, 1, 3});
  y = tpt_hlo_reshape(g, y, 3, (int64_t[]){m->batch, m->length, m->width});
  out[0] = linear(l, m, y, tpt_lower_value(l, at->qkv_weight + 2),
                  tpt_lower_value(l, at->qkv_weight + 3));
  return NULL;
}

// query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask,
// need_weights, average_attn_weights, mask_type.
tpt_status_t lower_multi_head_attention(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  places_t at = {.heads = 4, .qkv_weight = 5, .mask = 9, .mask_type = 12};
  mha_t m;
  TPT_TRY(read_mha(l, &at, &m));
  tpt_v x[3], out[2];
  for (int i = 0; i < 3; i++) {
    x[i] = tpt_lower_value(l, i);
    if (!tpt_type_equal(tpt_graph_type(g, x[i]), tpt_graph_type(g, x[0])))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "expected `query`/`key`/`value` shapes to match");
  }
  TPT_TRY(attend(l, &m, &at, x, out));
  TPT_TRY(tpt_lower_result(l, tpt_hlo_convert(g, out[0], m.dtype)));
  if (!tpt_lower_bool(l, 10)) return tpt_lower_result_none(l);
  if (tpt_lower_bool(l, 11)) out[1] = tpt_reduce_mean(g, out[1], (int64_t[]){1}, 1);
  return tpt_lower_result(l, tpt_hlo_convert(g, out[1], m.dtype));
}

// --- encoder layer -------------------------------------------------------------------------------------

// Layer normalisation of x [batch, length, width]; weight and bias at `arg` and arg + 1.
static tpt_v layer_norm(tpt_lower_t* l, const mha_t* m, tpt_v x, int arg) {
  tpt_graph_t* g = l->graph;
  int64_t over = 2;
  tpt_v mean = tpt_keep_dims(g, tpt_reduce_mean(g, x, &over, 1), 3, &over, 1);
  tpt_v centred = tpt_sub(g, x, mean);
  tpt_v variance = tpt_reduce_mean(g, tpt_mul(g, centred, centred), &over, 1);
  variance =
      tpt_add(g, tpt_keep_dims(g, variance, 3, &over, 1), tpt_lower_scalar(l, 9, m->compute));
  tpt_v y = tpt_mul(g, centred, tpt_rsqrt(g, variance));
  y = tpt_mul(g, y, tpt_lower_value_as(l, arg, m->compute));
  return tpt_add(g, y, tpt_lower_value_as(l, arg + 1, m->compute));
}

static tpt_v feed_forward(tpt_lower_t* l, const mha_t* m, tpt_v x) {
  tpt_graph_t* g = l->graph;
  tpt_v y = linear(l, m, x, tpt_lower_value(l, 14), tpt_lower_value(l, 15));
  y = tpt_lower_bool(l, 7) ? formula_gelu(g, &y) : tpt_max(g, y, tpt_like(g, y, 0));
  return linear(l, m, y, tpt_lower_value(l, 16), tpt_lower_value(l, 17));
}

// src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps,
// norm 1, norm 2, ffn 1, ffn 2 (weight and bias each), mask, mask_type.
tpt_status_t lower_transformer_encoder_layer(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  places_t at = {.heads = 2, .qkv_weight = 3, .mask = 18, .mask_type = 19};
  mha_t m;
  TPT_TRY(read_mha(l, &at, &m));
  bool norm_first = tpt_lower_bool(l, 8);
  tpt_v x = tpt_lower_value_as(l, 0, m.compute), attended[2];
  tpt_v in = norm_first ? layer_norm(l, &m, x, 10) : x;
  TPT_TRY(attend(l, &m, &at, (tpt_v[]){in, in, in}, attended));
  x = tpt_add(g, x, attended[0]);
  if (!norm_first) x = layer_norm(l, &m, x, 10);
  x = tpt_add(g, x, feed_forward(l, &m, norm_first ? layer_norm(l, &m, x, 12) : x));
  if (!norm_first) x = layer_norm(l, &m, x, 12);
  return tpt_lower_result(l, tpt_hlo_convert(g, x, m.dtype));
}
