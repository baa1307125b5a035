// Fourier transforms over any dimensions, one at a time: each is moved last, transformed, moved back.
// normalization: 0 none, 1 by the root of the number of elements, 2 by the number. StableHLO's inverse
// divides by the length, PyTorch's does not: one factor settles both.
#include <math.h>

#include "aten/array.h"
#include "aten/rows.h"

typedef struct transform {
  int dims[TPT_RANK_MAX];  // in the order of the argument
  int count;
  double scale;  // so far
} transform_t;

static tpt_status_t read_dims(const tpt_lower_t* l, const tpt_type_t* type, transform_t* out) {
  const tpt_arg_t* dims = &l->args[1];
  *out = (transform_t){.count = (int)dims->count, .scale = 1};
  if (out->count > TPT_RANK_MAX || type->rank == 0) return tpt_refuse_dtype(l, type->dtype);
  for (int i = 0; i < out->count; i++)
    TPT_TRY(tpt_wrap_dim(dims->ints[i], type->rank, &out->dims[i]));
  if (tpt_type_count(type) == 0) return tpt_refuse_dtype(l, type->dtype);
  return NULL;
}

static void normalise(transform_t* t, int64_t normalization, int64_t size) {
  if (normalization == 1) t->scale /= sqrt((double)size);
  if (normalization == 2) t->scale /= (double)size;
}

static tpt_v swapped(tpt_graph_t* g, tpt_v x, int dim) {
  if (tpt_value_is_none(x)) return x;  // the graph has failed
  int rank = tpt_graph_type(g, x)->rank;
  int64_t order[TPT_RANK_MAX];
  for (int d = 0; d < rank; d++)
    order[d] = d;
  order[dim] = rank - 1;
  order[rank - 1] = dim;
  return dim == rank - 1 ? x : tpt_hlo_transpose(g, x, order);
}

// `length` elements along `dim` after (inverse real) or before (all else) the transform.
static tpt_v along(tpt_graph_t* g, tpt_v x, int dim, tpt_fft_t kind, int64_t length) {
  x = tpt_hlo_fft(g, swapped(g, x, dim), kind, &length, 1);
  return swapped(g, x, dim);
}

static tpt_v complex_along(tpt_graph_t* g, tpt_v x, int dim, bool is_forward, transform_t* t) {
  int64_t size = tpt_graph_type(g, x)->dims[dim];
  if (!is_forward) t->scale *= (double)size;
  return along(g, x, dim, is_forward ? TPT_FFT : TPT_IFFT, size);
}

// Memory order of results, as MKL leaves it: dimensions that are not transformed, by falling stride of
// self, then the transformed ones likewise, `last` (-1: none) behind all.
static tpt_status_t give(tpt_lower_t* l, tpt_v x, const transform_t* t, int last) {
  tpt_graph_t* g = l->graph;
  if (t->scale != 1) x = tpt_mul_f64(g, x, t->scale);
  tpt_type_t type = *tpt_graph_type(g, x);
  const tpt_tensor_t* self = tpt_lower_tensor(l, 0);
  int order[TPT_RANK_MAX], class[TPT_RANK_MAX] = {0};
  for (int i = 0; i < t->count; i++)
    class[t->dims[i]] = t->dims[i] == last ? 2 : 1;
  for (int d = 0; d < type.rank; d++) {  // insertion, stable
    int at = d;
    while (at > 0) {
      int other = order[at - 1];
      bool is_before = class[d] < class[other] ||
                       (class[d] == class[other] && self->strides[d] > self->strides[other]);
      if (!is_before) break;
      order[at--] = other;
    }
    order[at] = d;
  }
  int64_t strides[TPT_RANK_MAX], step = 1;
  for (int i = type.rank - 1; i >= 0; i--) {
    strides[order[i]] = step;
    step *= type.dims[order[i]];
  }
  return tpt_lower_result_strides(l, x, strides);
}

// self, dim, normalization, forward
tpt_status_t lower_fft_c2c(tpt_lower_t* l) {
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(l->graph, x);
  transform_t t;
  TPT_TRY(read_dims(l, &type, &t));
  if (!tpt_dtype_is_complex(type.dtype)) return tpt_refuse_dtype(l, type.dtype);
  for (int i = 0; i < t.count; i++) {
    normalise(&t, tpt_lower_int(l, 2), type.dims[t.dims[i]]);
    x = complex_along(l->graph, x, t.dims[i], tpt_lower_bool(l, 3), &t);
  }
  return give(l, x, &t, -1);
}

// self, dim, normalization, onesided: the last of dim is the one that may keep its first half only.
tpt_status_t lower_fft_r2c(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  transform_t t;
  TPT_TRY(read_dims(l, &type, &t));
  if ((type.dtype != TPT_F32 && type.dtype != TPT_F64) || t.count == 0)
    return tpt_refuse_dtype(l, type.dtype);
  for (int i = 0; i < t.count; i++)
    normalise(&t, tpt_lower_int(l, 2), type.dims[t.dims[i]]);
  int last = t.dims[t.count - 1];
  if (tpt_lower_bool(l, 3)) {
    x = along(g, x, last, TPT_RFFT, type.dims[last]);
  } else {
    x = tpt_hlo_convert(g, x, type.dtype == TPT_F32 ? TPT_C64 : TPT_C128);
    x = complex_along(g, x, last, true, &t);
  }
  for (int i = 0; i < t.count - 1; i++)
    x = complex_along(g, x, t.dims[i], true, &t);
  return give(l, x, &t, last);
}

// self, dim, normalization, last_dim_size: the last of dim holds the first half of a real signal's spectrum.
tpt_status_t lower_fft_c2r(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  transform_t t;
  int64_t length = tpt_lower_int(l, 3);
  TPT_TRY(read_dims(l, &type, &t));
  if (!tpt_dtype_is_complex(type.dtype) || t.count == 0 || length < 1)
    return tpt_refuse_dtype(l, type.dtype);
  int last = t.dims[t.count - 1];
  if (type.dims[last] != length / 2 + 1) return tpt_refuse_dtype(l, type.dtype);
  for (int i = 0; i < t.count - 1; i++) {
    normalise(&t, tpt_lower_int(l, 2), type.dims[t.dims[i]]);
    x = complex_along(g, x, t.dims[i], false, &t);
  }
  normalise(&t, tpt_lower_int(l, 2), length);
  t.scale *= (double)length;
  x = along(g, x, last, TPT_IRFFT, length);
  t = (transform_t){.dims = {last}, .count = 1, .scale = t.scale};
  return give(l, x, &t, last);
}
