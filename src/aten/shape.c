// Lowerings that move elements: concatenation, flips, rolls, repeats, shuffles, and slices written back.
#include "aten/array.h"
#include "aten/memory_format.h"
#include "aten/promote.h"
#include "aten/rows.h"
#include "aten/stride.h"

// --- cat -------------------------------------------------------------------------------------------------

// PyTorch skips one-dimensional tensors without elements, whatever the others' shape.
static bool is_skipped(const tpt_tensor_t* t) {
  return t->rank == 1 && t->sizes[0] == 0;
}

static const tpt_tensor_t* first_counted(const tpt_arg_t* list) {
  for (uint32_t i = 0; i < list->count; i++)
    if (!is_skipped(&list->tensors[i])) return &list->tensors[i];
  return NULL;
}

static tpt_status_t check_cat_item(const tpt_arg_t* list, const tpt_tensor_t* first, uint32_t i,
                                   int dim) {
  const tpt_tensor_t* t = &list->tensors[i];
  if (t->rank == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "zero-dimensional tensor (at position %u) cannot be concatenated", i);
  if (is_skipped(t)) return NULL;
  if (t->rank != first->rank)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Tensors must have same number of dimensions: got %d and %d",
             (int)first->rank, (int)t->rank);
  for (int d = 0; d < t->rank; d++) {
    if (d != dim && t->sizes[d] != first->sizes[d])
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "Sizes of tensors must match except in dimension %d. Expected size %lld but got "
               "size %lld for tensor number %u in the list.",
               dim, (long long)first->sizes[d], (long long)t->sizes[d], i);
  }
  return NULL;
}

// Channels last when every tensor suggests it, else contiguous.
static void cat_strides(const tpt_arg_t* list, const tpt_type_t* type, int64_t* out_strides) {
  bool is_last = type->rank == 4 || type->rank == 5;
  for (uint32_t i = 0; i < list->count && is_last; i++)
    is_last = list->tensors[i].rank == type->rank && tpt_tensor_is_channels_last(&list->tensors[i]);
  if (is_last)
    tpt_strides_channels_last(type->rank, type->dims, out_strides);
  else
    tpt_strides_contiguous(type->rank, type->dims, out_strides);
}

tpt_status_t lower_cat(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_arg_t* list = &l->args[0];
  if (list->count == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "torch.cat(): expected a non-empty list of Tensors");
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0}, 1, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(g));
  const tpt_tensor_t* first = first_counted(list);
  int dim;
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, 1), first ? first->rank : 1, &dim));
  tpt_v* parts = tpt_arena_calloc(tpt_graph_arena(g), list->count, sizeof(*parts));
  if (!parts) return tpt_arena_status(tpt_graph_arena(g));
  int count = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    TPT_TRY(check_cat_item(list, first, i, dim));
    if (!is_skipped(&list->tensors[i])) parts[count++] = tpt_lower_item_as(l, 0, (int)i, dtype);
  }
  if (count == 0) parts[count++] = tpt_lower_item_as(l, 0, 0, dtype);
  tpt_v y = count == 1 ? parts[0] : tpt_hlo_concatenate(g, parts, count, dim);
  tpt_type_t type = *tpt_graph_type(g, y);
  int64_t strides[TPT_RANK_MAX];
  cat_strides(list, &type, strides);
  return tpt_lower_result_strides(l, y, strides);
}

// --- flip, roll, repeat ------------------------------------------------------------------------------------

tpt_status_t lower_flip(tpt_lower_t* l) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  const tpt_arg_t* list = &l->args[1];
  int64_t dims[TPT_RANK_MAX];
  bool marks[TPT_RANK_MAX] = {false};
  int count = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    int dim;
    TPT_TRY(tpt_wrap_dim(list->ints[i], t->rank, &dim));
    if (marks[dim])
      TPT_FAIL(TPT_INVALID_ARGUMENT, "dim %d appears multiple times in the list of dims", dim);
    marks[dim] = true;
    if (t->rank) dims[count++] = dim;
  }
  tpt_v x = tpt_lower_value(l, 0);
  return tpt_lower_result(l, count ? tpt_hlo_reverse(l->graph, x, dims, count) : x);
}

static tpt_v roll(tpt_graph_t* g, tpt_v x, int dim, int64_t shift) {
  int64_t size = tpt_graph_type(g, x)->dims[dim];
  if (size == 0) return x;
  int64_t start = (size - shift % size) % size;
  if (start == 0) return x;
  tpt_v parts[2] = {tpt_hlo_slice_dim(g, x, dim, start, size, 1),
                    tpt_hlo_slice_dim(g, x, dim, 0, start, 1)};
  return tpt_hlo_concatenate(g, parts, 2, dim);
}

// Rolled by the run-time number `item` of argument 1: a window of the dimension laid twice.
static tpt_v roll_by(tpt_lower_t* l, tpt_v x, int dim, int item) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, x);
  int64_t size = type.dims[dim];
  if (tpt_type_count(&type) == 0) return x;
  tpt_v shift = tpt_lower_scalar_item(l, 1, item, TPT_S64), length = tpt_like_i64(g, shift, size);
  shift = tpt_binary(g, TPT_HLO_REMAINDER, shift, length);  // of the shift's sign
  tpt_v starts[TPT_RANK_MAX];
  for (int d = 0; d < type.rank; d++)
    starts[d] = d == dim ? tpt_select(g, tpt_gt(g, shift, tpt_like_i64(g, shift, 0)),
                                      tpt_sub(g, length, shift), tpt_neg(g, shift))
                         : tpt_hlo_scalar_i64(g, TPT_S64, 0);
  tpt_v twice[2] = {x, x};
  return tpt_hlo_dynamic_slice(g, tpt_hlo_concatenate(g, twice, 2, dim), starts, type.dims);
}

tpt_status_t check_roll(tpt_lower_t* l) {
  const tpt_arg_t *shifts = &l->args[1], *dims = &l->args[2];
  if (shifts->count == 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "`shifts` required");
  if (dims->count != shifts->count && !(dims->count == 0 && shifts->count == 1))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "shifts and dimensions must align. shifts: %u, dims:%u",
             shifts->count, dims->count);
  return NULL;
}

tpt_status_t lower_roll(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  const tpt_arg_t* dims = &l->args[2];
  tpt_v x = tpt_lower_value(l, 0);
  if (dims->count == 0) {
    if (t->rank == 0) return tpt_lower_result(l, x);
    x = roll_by(l, tpt_flatten(g, x), 0, 0);
    return tpt_lower_result(l, tpt_hlo_reshape(g, x, t->rank, t->sizes));
  }
  for (uint32_t i = 0; i < dims->count; i++) {
    int dim;
    TPT_TRY(tpt_wrap_dim(dims->ints[i], t->rank, &dim));
    if (t->rank) x = roll_by(l, x, dim, (int)i);
  }
  return tpt_lower_result(l, x);
}

tpt_status_t lower_repeat(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  const tpt_arg_t* repeats = &l->args[1];
  int rank = (int)repeats->count, lead = rank - t->rank;
  if (lead < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Number of dimensions of repeat dims can not be smaller than "
                                   "number of dimensions of tensor");
  int64_t wide[2 * TPT_RANK_MAX], where[TPT_RANK_MAX], dims[TPT_RANK_MAX];
  int wide_rank = 0;
  if (rank > TPT_RANK_MAX / 2) return tpt_refuse_dtype(l, t->dtype);
  for (int d = 0; d < rank; d++) {
    int64_t size = d < lead ? 1 : t->sizes[d - lead];
    if (repeats->ints[d] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "Trying to create tensor with negative dimension %lld",
               (long long)repeats->ints[d]);
    if (__builtin_mul_overflow(size, repeats->ints[d], &dims[d]))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "repeat: dimension %d would have more than 2^63 elements", d);
    wide[wide_rank++] = repeats->ints[d];
    if (d >= lead) {
      where[d - lead] = wide_rank;
      wide[wide_rank++] = size;
    }
  }
  tpt_v x = tpt_hlo_broadcast_in_dim(g, tpt_lower_value(l, 0), wide_rank, wide, where);
  return tpt_lower_result(l, tpt_hlo_reshape(g, x, rank, dims));
}

// --- shuffles ------------------------------------------------------------------------------------------------

tpt_status_t lower_channel_shuffle(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  int64_t groups = tpt_lower_int(l, 1);
  if (t->rank < 3)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "channel_shuffle expects input with > 2 dims, but got input with "
             "sizes of rank %d",
             (int)t->rank);
  if (groups <= 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Number of groups to divide channels in must be positive. Value "
             "of groups:%lld",
             (long long)groups);
  if (t->sizes[1] % groups != 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Number of channels must be divisible by groups. Got %lld "
             "channels and %lld groups.",
             (long long)t->sizes[1], (long long)groups);
  int64_t split[TPT_RANK_MAX + 1] = {t->sizes[0], groups, t->sizes[1] / groups};
  int64_t permutation[TPT_RANK_MAX + 1] = {0, 2, 1};
  for (int d = 2; d < t->rank; d++) {
    split[d + 1] = t->sizes[d];
    permutation[d + 1] = d + 1;
  }
  tpt_v x = tpt_hlo_reshape(g, tpt_lower_value(l, 0), t->rank + 1, split);
  x = tpt_hlo_transpose(g, x, permutation);
  x = tpt_hlo_reshape(g, x, t->rank, t->sizes);
  return tpt_lower_result_format(l, x, tpt_lower_is_channels_last(l, 0));
}

// [..., C, H, W] with blocks of factor x factor pixels moved between C and H, W.
tpt_status_t lower_pixel_shuffle(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  bool is_forward = l->op->params.mode != 0;
  int64_t f = tpt_lower_int(l, 1);
  int lead = t->rank - 3;
  if (lead < 0 || f <= 0 || f > 1 << 16 || lead + 6 > TPT_RANK_MAX)
    return tpt_refuse_dtype(l, t->dtype);
  int64_t c = t->sizes[lead], h = t->sizes[lead + 1], w = t->sizes[lead + 2];
  if (is_forward ? c % (f * f) != 0 : h % f != 0 || w % f != 0)
    return tpt_refuse_dtype(l, t->dtype);
  int64_t split[TPT_RANK_MAX], permutation[TPT_RANK_MAX], dims[TPT_RANK_MAX];
  for (int d = 0; d < lead; d++) {
    split[d] = dims[d] = t->sizes[d];
    permutation[d] = d;
  }
  const int64_t up[5] = {c / (f * f), f, f, h, w}, down[5] = {c, h / f, f, w / f, f};
  const int up_order[5] = {0, 3, 1, 4, 2}, down_order[5] = {0, 2, 4, 1, 3};
  for (int i = 0; i < 5; i++) {
    split[lead + i] = is_forward ? up[i] : down[i];
    permutation[lead + i] = lead + (is_forward ? up_order[i] : down_order[i]);
  }
  dims[lead] = is_forward ? c / (f * f) : c * f * f;
  dims[lead + 1] = is_forward ? h * f : h / f;
  dims[lead + 2] = is_forward ? w * f : w / f;
  tpt_v x = tpt_hlo_reshape(g, tpt_lower_value(l, 0), lead + 5, split);
  x = tpt_hlo_transpose(g, x, permutation);
  x = tpt_hlo_reshape(g, x, t->rank, dims);
  return tpt_lower_result_format(l, x, tpt_lower_is_channels_last(l, 0));
}

// --- slices written back -----------------------------------------------------------------------------------

// A slice of one dimension. The program knows the count and the step; where it starts is a run-time
// number, checked on every call.
typedef struct span {
  int dim;
  int64_t size, start, step, count;
} span_t;

// Python's slice: negative bounds count from the end, all are clamped.
static tpt_status_t make_span(const tpt_type_t* type, int64_t dim, const int64_t bounds[3],
                              span_t* out) {
  if (type->rank == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "slice() cannot be applied to a 0-dim tensor.");
  TPT_TRY(tpt_wrap_dim(dim, type->rank, &out->dim));
  if (bounds[2] <= 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "slice step must be positive");
  out->size = type->dims[out->dim];
  int64_t ends[2];
  for (int i = 0; i < 2; i++) {
    int64_t at = bounds[i] < 0 ? bounds[i] + out->size : bounds[i];
    ends[i] = at < 0 ? 0 : at > out->size ? out->size : at;
  }
  out->start = ends[0];
  out->step = bounds[2];
  int64_t length = ends[1] < ends[0] ? 0 : ends[1] - ends[0];
  out->count = length / out->step + (length % out->step != 0);
  return NULL;
}

static tpt_status_t make_point(const tpt_type_t* type, int64_t dim, int64_t index, span_t* out) {
  if (type->rank == 0) TPT_FAIL(TPT_OUT_OF_RANGE, "select() cannot be applied to a 0-dim tensor.");
  TPT_TRY(tpt_wrap_dim(dim, type->rank, &out->dim));
  out->size = type->dims[out->dim];
  if (index < -out->size || index >= out->size)
    TPT_FAIL(TPT_OUT_OF_RANGE,
             "select(): index %lld out of range for tensor of size %lld at dimension %lld",
             (long long)index, (long long)out->size, (long long)dim);
  out->start = index < 0 ? index + out->size : index;
  out->step = out->count = 1;
  return NULL;
}

// x spread over its span in a row of `size` elements, `fill` (0-d) elsewhere.
static tpt_v spread(tpt_graph_t* g, tpt_v x, tpt_v fill, const span_t* s) {
  int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX] = {0};
  int64_t width = s->count ? (s->count - 1) * s->step + 1 : 0;
  low[s->dim] = s->start;
  high[s->dim] = s->size - s->start - width;
  interior[s->dim] = s->step - 1;
  return tpt_hlo_pad(g, x, fill, low, high, interior);
}

// x written over `base` from the run-time number at argument `start_arg` on (None: 0), a step apart.
static tpt_v overwrite(tpt_lower_t* l, tpt_v base, tpt_v x, const span_t* s, int start_arg) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, base);
  if (tpt_type_count(tpt_graph_type(g, x)) == 0) return base;
  tpt_v zero = tpt_hlo_scalar_i64(g, TPT_S64, 0), start = zero, starts[TPT_RANK_MAX];
  if (tpt_lower_has(l, start_arg)) start = tpt_lower_scalar(l, start_arg, TPT_S64);
  tpt_v from_end = tpt_add(g, start, tpt_like_i64(g, start, s->size));
  start = tpt_select(g, tpt_lt(g, start, zero), from_end, start);
  start = tpt_max(g, start, zero);
  for (int d = 0; d < type.rank; d++)
    starts[d] = d == s->dim ? start : zero;
  if (s->step > 1) {
    span_t packed = {s->dim, (s->count - 1) * s->step + 1, 0, s->step, s->count};
    tpt_v ones = tpt_fill(g, TPT_PRED, type.rank, tpt_graph_type(g, x)->dims, 1);
    tpt_v is_there = spread(g, ones, tpt_hlo_scalar_i64(g, TPT_PRED, 0), &packed);
    tpt_type_t old = type;
    old.dims[s->dim] = packed.size;
    tpt_v below = tpt_hlo_dynamic_slice(g, base, starts, old.dims);
    x = spread(g, x, tpt_hlo_scalar_i64(g, type.dtype, 0), &packed);
    x = tpt_select(g, is_there, x, below);
  }
  return tpt_hlo_dynamic_update_slice(g, base, x, starts);
}

static bool has_slice_shape(const tpt_tensor_t* source, const tpt_type_t* base, const span_t* s,
                            bool is_point) {
  if (source->rank != base->rank - is_point) return false;
  for (int d = 0; d < base->rank; d++) {
    if (is_point && d == s->dim) continue;
    int64_t size = d == s->dim ? s->count : base->dims[d];
    if (source->sizes[is_point && d > s->dim ? d - 1 : d] != size) return false;
  }
  return true;
}

// What is written (argument `x_arg`) over what (argument 0, or zeros of the sizes in argument 1), and
// where: dim and start, end, step, or dim and index, from argument 2 on.
typedef struct slicing {
  tpt_type_t base;
  int x_arg;
  bool is_point, is_backward;
  span_t span;
} slicing_t;

static tpt_status_t read_slicing(const tpt_lower_t* l, bool is_point, bool is_backward,
                                 slicing_t* out) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  const tpt_arg_t* a = l->args;
  *out = (slicing_t){.x_arg = !is_backward, .is_point = is_point, .is_backward = is_backward};
  out->base = tpt_type_make(t->dtype, t->rank, t->sizes);
  if (is_backward) TPT_TRY(tpt_lower_listed_type(l, 1, t->dtype, &out->base));
  if (is_point) {
    TPT_TRY(make_point(&out->base, a[2].number.i, a[3].number.i, &out->span));
  } else {
    int64_t bounds[3] = {tpt_lower_has(l, 3) ? a[3].number.i : 0,
                         tpt_lower_has(l, 4) ? a[4].number.i : INT64_MAX, a[5].number.i};
    TPT_TRY(make_span(&out->base, a[2].number.i, bounds, &out->span));
  }
  if (!has_slice_shape(tpt_lower_tensor(l, out->x_arg), &out->base, &out->span, is_point))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected src to have a size equal to the slice of self");
  return NULL;
}

static tpt_status_t lower_slicing(tpt_lower_t* l, bool is_point, bool is_backward) {
  tpt_graph_t* g = l->graph;
  slicing_t s;
  TPT_TRY(read_slicing(l, is_point, is_backward, &s));
  tpt_v base = is_backward ? tpt_hlo_splat_i64(g, &s.base, 0) : tpt_lower_value(l, 0);
  tpt_v x = tpt_lower_value_as(l, s.x_arg, s.base.dtype);
  if (is_point) x = tpt_unsqueeze(g, x, s.span.dim);
  return tpt_lower_result(l, overwrite(l, base, x, &s.span, 3));
}

#define SLICE_ROW(name, is_point, is_backward)                                                     \
  tpt_status_t lower_##name(tpt_lower_t* l) {                                                      \
    return lower_slicing(l, is_point, is_backward);                                                \
  }                                                                                                \
  tpt_status_t check_##name(tpt_lower_t* l) {                                                      \
    slicing_t s;                                                                                   \
    return read_slicing(l, is_point, is_backward, &s);                                             \
  }
SLICE_ROW(slice_scatter, false, false)
SLICE_ROW(slice_backward, false, true)
SLICE_ROW(select_scatter, true, false)
SLICE_ROW(select_backward, true, true)
#undef SLICE_ROW

// The gradient has the shape that unfold gives tensors of `type`.
static tpt_status_t check_unfolded(const tpt_type_t* grad, const tpt_type_t* type, int dim,
                                   int64_t size, int64_t step) {
  int64_t whole = type->rank ? type->dims[dim] : 1;
  bool is_fine = step > 0 && size >= 0 && size <= whole && grad->rank == type->rank + 1;
  for (int d = 0; is_fine && d < type->rank; d++)
    is_fine = grad->dims[d] == (d == dim ? (whole - size) / step + 1 : type->dims[d]);
  if (is_fine && grad->dims[type->rank] == size) return NULL;
  char text[2][160];
  TPT_FAIL(
      TPT_INVALID_ARGUMENT,
      "unfold_backward: a gradient %s does not come of unfolding dimension %d of %s into parts "
      "of %lld, %lld apart",
      tpt_type_print(grad, text[0], sizeof(text[0])), dim,
      tpt_type_print(type, text[1], sizeof(text[1])), (long long)size, (long long)step);
}

// grad [..., windows, ..., size], input_sizes, dim, size, step: windows added back where they came from.
tpt_status_t lower_unfold_backward(tpt_lower_t* l) {
  enum { SIZE_MAX_UNROLLED = 64 };
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  tpt_v grad = tpt_operand(l, 0, dtype);
  tpt_type_t type;
  TPT_TRY(tpt_lower_listed_type(l, 1, tpt_dtype_of(g, grad), &type));
  int64_t size = tpt_lower_int(l, 3), step = tpt_lower_int(l, 4);
  int dim;
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, 2), type.rank, &dim));
  TPT_TRY(tpt_graph_status(g));
  TPT_TRY(check_unfolded(tpt_graph_type(g, grad), &type, dim, size, step));
  if (size > SIZE_MAX_UNROLLED) return tpt_refuse_dtype(l, dtype);
  if (type.rank == 0)
    return tpt_lower_result(l, tpt_hlo_convert(g, tpt_reduce_sum(g, grad, NULL, 0), dtype));
  int last = tpt_graph_type(g, grad)->rank - 1;
  int64_t windows = tpt_graph_type(g, grad)->dims[dim];
  tpt_v zero = tpt_hlo_scalar_i64(g, type.dtype, 0);
  tpt_v sum = tpt_hlo_splat_i64(g, &type, 0);
  for (int64_t k = 0; k < size; k++) {
    tpt_type_t part = type;
    part.dims[dim] = windows;
    tpt_v x = tpt_hlo_slice_dim(g, grad, last, k, k + 1, 1);
    x = tpt_hlo_reshape(g, x, part.rank, part.dims);
    span_t s = {dim, type.dims[dim], k, step, windows};
    sum = tpt_add(g, sum, spread(g, x, zero, &s));
  }
  return tpt_lower_result(l, tpt_hlo_convert(g, sum, dtype));
}

tpt_status_t lower_cross(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_dtype_t dtype = tpt_lower_promote(l, (int[]){0, 1}, 2, TPT_PROMOTE_KEEP);
  TPT_TRY(tpt_graph_status(g));
  if (dtype == TPT_PRED) return tpt_refuse_dtype(l, dtype);
  tpt_v x[2] = {tpt_operand(l, 0, dtype), tpt_operand(l, 1, dtype)};
  TPT_TRY(tpt_lower_broadcast(l, x, 2));
  tpt_type_t type = *tpt_graph_type(g, x[0]);
  int dim;
  TPT_TRY(tpt_wrap_dim(tpt_lower_int(l, 2), type.rank, &dim));
  if (type.rank == 0 || type.dims[dim] != 3) return tpt_refuse_dtype(l, dtype);
  tpt_v forward[2], backward[2];
  for (int i = 0; i < 2; i++) {
    forward[i] = roll(g, x[i], dim, -1);
    backward[i] = roll(g, x[i], dim, -2);
  }
  tpt_v y = tpt_sub(g, tpt_mul(g, forward[0], backward[1]), tpt_mul(g, backward[0], forward[1]));
  return tpt_lower_result(l, tpt_hlo_convert(g, y, dtype));
}
