// Interpolation: one table of taps per dimension, made on the host with the CPU's formulas (in f32, or
// f64 for f64 tensors), applied dimension by dimension; backward applies the adjoint tables. The scale
// factors decide the tables, so their values are part of a call's key.
#include <math.h>

#include "aten/memory_format.h"
#include "aten/rows.h"
#include "aten/taps.h"

typedef enum method { NEAREST, NEAREST_EXACT, LINEAR, CUBIC, LINEAR_AA, CUBIC_AA } method_t;

typedef struct axis {
  int64_t in, out;
  bool align_corners, is_double;
  double factor;  // what the caller says about out / in; 0: nothing
} axis_t;

// Rounds as the CPU's arithmetic does: f32 unless the tensor is f64.
static double rounded(const axis_t* a, double x) {
  return a->is_double ? x : (double)(float)x;
}

// Input elements per output element.
static double step(const axis_t* a) {
  if (a->align_corners)
    return a->out > 1 ? rounded(a, (double)(a->in - 1) / (double)(a->out - 1)) : 0;
  if (a->factor > 0) return rounded(a, 1.0 / a->factor);
  return rounded(a, (double)a->in / (double)a->out);
}

static int64_t clamp_index(int64_t i, int64_t size) {
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}

// --- tables ------------------------------------------------------------------------------------------------

static bool nearest_taps(tpt_graph_t* g, const axis_t* a, bool exact, tpt_taps_t* out) {
  if (!tpt_taps_init(g, a->out, 1, false, out)) return false;
  for (int64_t i = 0; i < a->out; i++) {
    double at = rounded(a, ((double)i + (exact ? 0.5 : 0)) * step(a));
    out->index[i] = clamp_index((int64_t)floor(at), a->in);
  }
  return true;
}

// Where output i lies among the input's elements.
static double source(const axis_t* a, int64_t i, bool may_be_negative) {
  if (a->align_corners) return rounded(a, step(a) * (double)i);
  double at = rounded(a, rounded(a, step(a) * ((double)i + 0.5)) - 0.5);
  return at < 0 && !may_be_negative ? 0 : at;
}

static double unit(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

static bool linear_taps(tpt_graph_t* g, const axis_t* a, tpt_taps_t* out) {
  if (!tpt_taps_init(g, a->out, 2, true, out)) return false;
  for (int64_t i = 0; i < a->out; i++) {
    double at = a->in == a->out ? (double)i : source(a, i, false);
    int64_t low = clamp_index((int64_t)floor(at), a->in);
    double share = unit(at - (double)low);
    out->index[2 * i] = low;
    out->index[2 * i + 1] = low + (low < a->in - 1);
    out->weight[2 * i] = rounded(a, 1 - share);
    out->weight[2 * i + 1] = share;
  }
  return true;
}

// Cubic convolution at distance x from the centre, with its free parameter.
static double cubic(double x, double p) {
  x = fabs(x);
  if (x <= 1) return ((p + 2) * x - (p + 3)) * x * x + 1;
  return x < 2 ? ((p * x - 5 * p) * x + 8 * p) * x - 4 * p : 0;
}

static bool cubic_taps(tpt_graph_t* g, const axis_t* a, tpt_taps_t* out) {
  if (!tpt_taps_init(g, a->out, 4, true, out)) return false;
  for (int64_t i = 0; i < a->out; i++) {
    double at = source(a, i, true);
    int64_t low = (int64_t)floor(at);
    if (low > a->in - 1) low = a->in - 1;
    double share = unit(at - (double)low);
    for (int k = 0; k < 4; k++) {
      out->index[4 * i + k] = clamp_index(low - 1 + k, a->in);
      out->weight[4 * i + k] = cubic(share + 1 - k, -0.75);
    }
  }
  return true;
}

// Antialiasing: the filter grows with the step, so that every input element counts.
static bool antialias_taps(tpt_graph_t* g, const axis_t* a, bool is_cubic, tpt_taps_t* out) {
  double scale = step(a), wide = scale >= 1 ? scale : 1;
  double support = rounded(a, (is_cubic ? 2.0 : 1.0) * wide);
  int64_t most = (int64_t)ceil(support) * 2 + 1;
  if (!tpt_taps_init(g, a->out, most, true, out)) return false;
  for (int64_t i = 0; i < a->out; i++) {
    double centre = rounded(a, scale * ((double)i + 0.5)), total = 0;
    int64_t first = (int64_t)(centre - support + 0.5), last = (int64_t)(centre + support + 0.5);
    if (first < 0) first = 0;
    if (last > a->in) last = a->in;
    for (int64_t k = 0; k < last - first && k < most; k++) {
      double x = ((double)(k + first) - centre + 0.5) / wide;
      double weight = is_cubic ? cubic(x, -0.5) : fabs(x) < 1 ? 1 - fabs(x) : 0;
      out->index[i * most + k] = first + k;
      out->weight[i * most + k] = weight;
      total += weight;
    }
    for (int64_t k = 0; total != 0 && k < most; k++)
      out->weight[i * most + k] /= total;
  }
  return true;
}

static bool make_taps(tpt_graph_t* g, const axis_t* a, method_t method, tpt_taps_t* out) {
  switch (method) {
  case NEAREST:
  case NEAREST_EXACT:
    return nearest_taps(g, a, method == NEAREST_EXACT, out);
  case LINEAR:
    return linear_taps(g, a, out);
  case CUBIC:
    return cubic_taps(g, a, out);
  default:
    return antialias_taps(g, a, method == CUBIC_AA, out);
  }
}

// --- rows --------------------------------------------------------------------------------------------------

static bool is_nearest(method_t method) {
  return method == NEAREST || method == NEAREST_EXACT;
}

// Axes of a call whose sizes are lists at `out_arg` and, for backward, `in_arg` (else `input`'s).
static tpt_status_t read_axes(tpt_lower_t* l, method_t method, const tpt_type_t* input, int in_arg,
                              axis_t* axes) {
  int count = (int)l->op->params.mode, at = in_arg < 0 ? 2 : 3;
  const tpt_arg_t* out = &l->args[1];
  if (input->rank != count + 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "It is expected input_size equals to %d, but got size %d",
             count + 2, input->rank);
  if (out->count != (uint32_t)count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "It is expected output_size equals to %d, but got size %u",
             count, out->count);
  if (in_arg >= 0 && l->args[in_arg].count != (uint32_t)count + 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "It is expected input_size equals to %d, but got size %u",
             count + 2, l->args[in_arg].count);
  TPT_TRY(tpt_lower_check_i32(l, 1));
  if (in_arg >= 0) TPT_TRY(tpt_lower_check_i32(l, in_arg));
  bool align_corners = !is_nearest(method) && tpt_lower_bool(l, at);
  int scale = is_nearest(method) ? at : at + 1;
  for (int i = 0; i < count; i++) {
    axes[i] = (axis_t){.in = in_arg < 0 ? input->dims[2 + i] : l->args[in_arg].ints[2 + i],
                       .out = out->ints[i],
                       .align_corners = align_corners,
                       .is_double = input->dtype == TPT_F64};
    if (tpt_lower_has(l, scale + i)) axes[i].factor = tpt_lower_number(l, scale + i).f;
    if (axes[i].in <= 0 || axes[i].out <= 0)
      TPT_FAIL(
          TPT_INVALID_ARGUMENT,
          "Input and output sizes should be greater than 0, but got input %lld and output %lld",
          (long long)axes[i].in, (long long)axes[i].out);
  }
  return NULL;
}

static tpt_status_t resize(tpt_lower_t* l, method_t method) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t type = *tpt_graph_type(g, x);
  axis_t axes[3];
  TPT_TRY(read_axes(l, method, &type, -1, axes));
  bool is_byte = type.dtype == TPT_U8 && is_nearest(method);
  if (!tpt_dtype_is_float(type.dtype) && !is_byte)
    TPT_FAIL(TPT_UNIMPLEMENTED, "\"%s\" not implemented for '%s'", tpt_op_schema(l->op)->base,
             tpt_dtype_row(type.dtype)->name);
  int count = (int)l->op->params.mode;
  if (!is_nearest(method)) x = tpt_hlo_convert(g, x, tpt_dtype_compute(type.dtype));
  x = tpt_rotate(g, x, 2);  // a tap then reads whole runs of batch and channels
  for (int i = count - 1; i >= 0; i--) {
    tpt_taps_t taps;
    if (!make_taps(g, &axes[i], method, &taps)) return tpt_graph_status(g);
    x = is_nearest(method) ? tpt_take(g, x, i, taps.index, taps.size)
                           : tpt_taps_sum(g, x, i, &taps);
  }
  x = tpt_rotate(g, x, count);
  return tpt_lower_result_format(l, tpt_hlo_convert(g, x, type.dtype),
                                 tpt_lower_is_channels_last(l, 0));
}

static tpt_status_t resize_backward(tpt_lower_t* l, method_t method) {
  tpt_graph_t* g = l->graph;
  tpt_v grad = tpt_lower_value(l, 0);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t type = *tpt_graph_type(g, grad);
  axis_t axes[3];
  int count = (int)l->op->params.mode;
  if (l->args[2].count != (uint32_t)count + 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "It is expected input_size equals to %d, but got size %u",
             count + 2, l->args[2].count);
  TPT_TRY(read_axes(l, method, &type, 2, axes));
  for (int d = 0; d < count + 2; d++) {
    if (type.dims[d] != (d < 2 ? l->args[2].ints[d] : axes[d - 2].out))
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "Expected grad_output to have the same shape as output; got %lld at dimension %d",
               (long long)type.dims[d], d);
  }
  grad = tpt_rotate(g, tpt_hlo_convert(g, grad, tpt_dtype_compute(type.dtype)), 2);
  for (int i = 0; i < count; i++) {
    tpt_taps_t taps, back;
    if (!make_taps(g, &axes[i], method, &taps) || !tpt_taps_transpose(g, &taps, axes[i].in, &back))
      return tpt_graph_status(g);
    grad = tpt_taps_sum(g, grad, i, &back);
  }
  grad = tpt_rotate(g, grad, count);
  bool channels_last = method != CUBIC && tpt_lower_is_channels_last(l, 0);
  return tpt_lower_result_format(l, tpt_hlo_convert(g, grad, type.dtype), channels_last);
}

#define RESIZE_ROWS(name, method)                                                                  \
  tpt_status_t lower_upsample_##name(tpt_lower_t* l) {                                             \
    return resize(l, method);                                                                      \
  }                                                                                                \
  tpt_status_t lower_upsample_##name##_backward(tpt_lower_t* l) {                                  \
    return resize_backward(l, method);                                                             \
  }
RESIZE_ROWS(nearest, NEAREST)
RESIZE_ROWS(nearest_exact, NEAREST_EXACT)
RESIZE_ROWS(linear, LINEAR)
RESIZE_ROWS(cubic, CUBIC)
RESIZE_ROWS(linear_aa, LINEAR_AA)
RESIZE_ROWS(cubic_aa, CUBIC_AA)
#undef RESIZE_ROWS
