// Lowerings of padding: constant, reflected, replicated, and the gradients of the last two. Padding
// lists run from the last dimension to the first, (before, after) for each, as PyTorch's do.
#include "aten/array.h"
#include "aten/memory_format.h"
#include "aten/promote.h"
#include "aten/rows.h"
#include "aten/stride.h"

tpt_status_t lower_constant_pad(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  const tpt_arg_t* pad = &l->args[1];
  if (pad->count % 2 != 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Length of pad must be even but instead it equals %u",
             pad->count);
  if ((int)pad->count / 2 > t->rank)
    TPT_FAIL(
        TPT_INVALID_ARGUMENT,
        "Length of pad should be no more than twice the number of dimensions of the input. Pad "
        "length is %u while the input has %d dimensions.",
        pad->count, (int)t->rank);
  TPT_TRY(tpt_lower_check_i32(l, 1));
  int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX] = {0};
  bool grows = false;
  for (int i = 0; i < (int)pad->count / 2; i++) {
    int d = t->rank - 1 - i;
    low[d] = pad->ints[2 * i];
    high[d] = pad->ints[2 * i + 1];
    grows |= low[d] > 0 || high[d] > 0;
    if (t->sizes[d] + low[d] + high[d] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "The input size %lld, plus negative padding %lld and %lld resulted in a negative "
               "output size, which is invalid. Check dimension %d of your input.",
               (long long)t->sizes[d], (long long)low[d], (long long)high[d], d);
  }
  tpt_v value = tpt_lower_scalar(l, 2, t->dtype);
  tpt_v y = tpt_hlo_pad(g, tpt_lower_value(l, 0), value, low, high, interior);
  if (grows) return tpt_lower_result_format(l, y, tpt_tensor_is_channels_last(t));
  tpt_type_t type = *tpt_graph_type(g, y);  // PyTorch clones the part that is left
  tpt_tensor_t cropped = *t;
  int64_t strides[TPT_RANK_MAX];
  cropped.sizes = type.dims;
  tpt_strides_like(&cropped, strides);
  return tpt_lower_result_strides(l, y, strides);
}

enum { PAD_REPLICATE, PAD_REFLECT };  // params.mode

typedef struct edges {
  int dim;
  int64_t before, after;
  bool is_reflected;
} edges_t;

static tpt_v part(tpt_graph_t* g, tpt_v x, int dim, int64_t start, int64_t limit) {
  return tpt_hlo_slice_dim(g, x, dim, start, limit, 1);
}

static tpt_v flipped(tpt_graph_t* g, tpt_v x, int dim) {
  int64_t where = dim;
  return tpt_hlo_reverse(g, x, &where, 1);
}

// One edge element repeated `count` times.
static tpt_v stretched(tpt_graph_t* g, tpt_v x, int dim, int64_t count) {
  tpt_type_t type = *tpt_graph_type(g, x);
  type.dims[dim] = count;
  return tpt_hlo_broadcast_to(g, x, type.rank, type.dims);
}

// Pads (crops, where negative) one dimension.
static tpt_v pad_edges(tpt_graph_t* g, tpt_v x, const edges_t* e) {
  int64_t size = tpt_graph_type(g, x)->dims[e->dim];
  tpt_v pieces[3];
  int count = 0;
  if (e->before > 0)
    pieces[count++] = e->is_reflected ? flipped(g, part(g, x, e->dim, 1, e->before + 1), e->dim)
                                      : stretched(g, part(g, x, e->dim, 0, 1), e->dim, e->before);
  int64_t start = e->before < 0 ? -e->before : 0, limit = e->after < 0 ? size + e->after : size;
  pieces[count++] = part(g, x, e->dim, start, limit);
  if (e->after > 0)
    pieces[count++] = e->is_reflected
                          ? flipped(g, part(g, x, e->dim, size - 1 - e->after, size - 1), e->dim)
                          : stretched(g, part(g, x, e->dim, size - 1, size), e->dim, e->after);
  return count == 1 ? pieces[0] : tpt_hlo_concatenate(g, pieces, count, e->dim);
}

// x laid at `start` in a row of `size` zeros.
static tpt_v placed(tpt_graph_t* g, tpt_v x, int dim, int64_t start, int64_t size) {
  int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX] = {0};
  low[dim] = start;
  high[dim] = size - start - tpt_graph_type(g, x)->dims[dim];
  return tpt_hlo_pad(g, x, tpt_hlo_scalar_i64(g, tpt_dtype_of(g, x), 0), low, high, interior);
}

static tpt_v summed(tpt_graph_t* g, tpt_v x, int dim) {
  int64_t where = dim;
  int rank = tpt_graph_type(g, x)->rank;
  return tpt_keep_dims(g, tpt_reduce_sum(g, x, &where, 1), rank, &where, 1);
}

// The adjoint of pad_edges on a dimension that had `size` elements.
static tpt_v unpad_edges(tpt_graph_t* g, tpt_v grad, const edges_t* e, int64_t size) {
  int dim = e->dim;
  int64_t before = e->before > 0 ? e->before : 0, after = e->after > 0 ? e->after : 0;
  int64_t padded = tpt_graph_type(g, grad)->dims[dim];
  tpt_v middle = part(g, grad, dim, before, padded - after);
  tpt_v sum = placed(g, middle, dim, e->before < 0 ? -e->before : 0, size);
  if (before) {
    tpt_v head = part(g, grad, dim, 0, before);
    head = e->is_reflected ? placed(g, flipped(g, head, dim), dim, 1, size)
                           : placed(g, summed(g, head, dim), dim, 0, size);
    sum = tpt_add(g, sum, head);
  }
  if (after) {
    tpt_v tail = part(g, grad, dim, padded - after, padded);
    tail = e->is_reflected ? placed(g, flipped(g, tail, dim), dim, size - 1 - after, size)
                           : placed(g, summed(g, tail, dim), dim, size - 1, size);
    sum = tpt_add(g, sum, tail);
  }
  return sum;
}

// Checks that the operand suits; what does not is left to the CPU, which has PyTorch's words for it.
static tpt_status_t check_padding(tpt_lower_t* l, const tpt_tensor_t* t, int arg) {
  const tpt_arg_t* pad = &l->args[arg];
  TPT_TRY(tpt_lower_check_i32(l, arg));
  bool is_reflected = l->op->params.mode == PAD_REFLECT;
  int spatial = (int)pad->count / 2;
  bool fits = t->rank == spatial + 1 || t->rank == spatial + 2;
  for (int i = 0; i < spatial && fits; i++) {
    int64_t size = t->sizes[t->rank - 1 - i], before = pad->ints[2 * i],
            after = pad->ints[2 * i + 1];
    fits = size > 0 && size + before + after > 0;
    if (is_reflected) fits = fits && before < size && after < size;
    fits = fits && (before >= 0 || -before <= size) && (after >= 0 || -after <= size);
  }
  for (int d = t->rank == spatial + 2; d < t->rank - spatial && fits; d++)
    fits = t->sizes[d] > 0;
  return fits ? NULL : tpt_refuse_dtype(l, t->dtype);
}

tpt_status_t lower_edge_pad(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  const tpt_arg_t* pad = &l->args[1];
  TPT_TRY(check_padding(l, t, 1));
  tpt_v x = tpt_lower_value(l, 0);
  for (int i = 0; i < (int)pad->count / 2; i++) {
    edges_t e = {t->rank - 1 - i, pad->ints[2 * i], pad->ints[2 * i + 1],
                 l->op->params.mode == PAD_REFLECT};
    x = pad_edges(g, x, &e);
  }
  return tpt_lower_result_format(l, x, tpt_tensor_is_channels_last(t));
}

tpt_status_t lower_edge_pad_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 1);
  const tpt_arg_t* pad = &l->args[2];
  TPT_TRY(check_padding(l, t, 2));
  tpt_v grad = tpt_operand(l, 0, t->dtype);
  for (int i = 0; i < (int)pad->count / 2; i++) {
    int dim = t->rank - 1 - i;
    edges_t e = {dim, pad->ints[2 * i], pad->ints[2 * i + 1], l->op->params.mode == PAD_REFLECT};
    grad = unpad_edges(g, grad, &e, t->sizes[dim]);
  }
  tpt_v y = tpt_hlo_convert(g, grad, t->dtype);
  return tpt_lower_result_format(l, y, tpt_tensor_is_channels_last(t));
}
