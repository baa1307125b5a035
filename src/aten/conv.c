// Convolutions, forward and backward. All are one of three products of a "wide" array (the input of a
// plain convolution, the output of a transposed one), a "narrow" one (the other side) and a weight
// [narrow channels, wide channels / groups, window...]: wide -> narrow (correlate), narrow -> wide
// (spread), and both -> weight (weigh).
#include "aten/array.h"
#include "aten/memory_format.h"
#include "aten/rows.h"

typedef struct window {
  int count;  // spatial dimensions
  int64_t stride[TPT_SPATIAL_MAX], pad[TPT_SPATIAL_MAX], dilation[TPT_SPATIAL_MAX];
  int64_t output_pad[TPT_SPATIAL_MAX];
  int64_t groups;
  bool transposed;
} window_t;

// A list of one number stands for all spatial dimensions.
static tpt_status_t read_list(const tpt_lower_t* l, int arg, int count, int64_t* out) {
  const tpt_arg_t* a = &l->args[arg];
  if (a->count != 1 && a->count != (uint32_t)count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "expected %s to be a list of %d values, but got %u",
             tpt_op_schema(l->op)->args[arg].name, count, a->count);
  for (int i = 0; i < count; i++)
    out[i] = a->ints[a->count == 1 ? 0 : i];
  return tpt_lower_check_i32(l, arg);
}

static tpt_status_t read_window(const tpt_lower_t* l, const tpt_type_t* x, const tpt_type_t* w,
                                window_t* out) {
  int arg = (int)l->op->params.mode;
  out->count = x->rank - 2;
  if (out->count < 1 || out->count > TPT_SPATIAL_MAX || w->rank != x->rank)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Expected %d-dimensional input for %d-dimensional weight, but got %d dimensions",
             w->rank, w->rank, x->rank);
  if (x->dtype != w->dtype)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Input type (%s) and weight type (%s) should be the same",
             tpt_dtype_row(x->dtype)->name, tpt_dtype_row(w->dtype)->name);
  TPT_TRY(read_list(l, arg, out->count, out->stride));
  TPT_TRY(read_list(l, arg + 1, out->count, out->pad));
  TPT_TRY(read_list(l, arg + 2, out->count, out->dilation));
  out->transposed = tpt_lower_bool(l, arg + 3);
  TPT_TRY(read_list(l, arg + 4, out->count, out->output_pad));
  out->groups = tpt_lower_int(l, arg + 5);
  for (int i = 0; i < out->count; i++) {
    if (out->stride[i] <= 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "non-positive stride is not supported");
    if (out->pad[i] < 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "negative padding is not supported");
    if (out->dilation[i] <= 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "dilation should be greater than zero");
    if (out->output_pad[i] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "negative output_padding is not supported");
  }
  if (out->groups <= 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "non-positive groups is not supported");
  return NULL;
}

static tpt_status_t check_channels(const window_t* win, const tpt_type_t* x, const tpt_type_t* w) {
  long long in = (long long)x->dims[1], groups = (long long)win->groups;
  if (w->dims[0] % win->groups)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Given groups=%lld, expected weight to be divisible by %lld at dimension 0, but got "
             "weight of size %lld instead",
             groups, groups, (long long)w->dims[0]);
  int64_t wanted = win->transposed ? w->dims[0] : w->dims[1] * win->groups;
  if (x->dims[1] != wanted)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Given groups=%lld, weight of size [%lld, %lld, ...], expected input to have %lld "
             "channels, but got %lld channels instead",
             groups, (long long)w->dims[0], (long long)w->dims[1], (long long)wanted, in);
  return NULL;
}

// Sizes of the result of the forward convolution.
static tpt_status_t output_type(const window_t* win, const tpt_type_t* x, const tpt_type_t* w,
                                tpt_type_t* out) {
  *out = *x;
  out->dims[1] = win->transposed ? w->dims[1] * win->groups : w->dims[0];
  for (int i = 0; i < win->count; i++) {
    int64_t in = x->dims[2 + i], reach = win->dilation[i] * (w->dims[2 + i] - 1);
    if (win->transposed) {
      if (win->output_pad[i] >= win->stride[i] && win->output_pad[i] >= win->dilation[i])
        TPT_FAIL(TPT_INVALID_ARGUMENT,
                 "output padding must be smaller than either stride or dilation, but got "
                 "output_padding %lld, stride %lld, dilation %lld",
                 (long long)win->output_pad[i], (long long)win->stride[i],
                 (long long)win->dilation[i]);
      out->dims[2 + i] =
          (in - 1) * win->stride[i] - 2 * win->pad[i] + reach + win->output_pad[i] + 1;
    } else {
      int64_t padded = in + 2 * win->pad[i];
      if (padded < reach + 1)
        TPT_FAIL(TPT_INVALID_ARGUMENT,
                 "Calculated padded input size per channel: %lld. Kernel size: %lld. Kernel size "
                 "can't be greater than actual input size",
                 (long long)padded, (long long)(reach + 1));
      out->dims[2 + i] = (padded - reach - 1) / win->stride[i] + 1;
    }
    if (out->dims[2 + i] < 0 || (out->dims[2 + i] == 0 && win->transposed))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "Calculated output size is too small");
  }
  return NULL;
}

// --- the three products --------------------------------------------------------------------------------

static void init_conv(const tpt_lower_t* l, const window_t* win, tpt_dtype_t dtype,
                      tpt_conv_t* out) {
  memset(out, 0, sizeof(*out));
  out->spatial_count = win->count;
  out->input_feature = out->kernel_input = out->output_feature = 1;
  for (int i = 0; i < win->count; i++) {
    out->stride[i] = out->lhs_dilation[i] = out->rhs_dilation[i] = 1;
    out->input_spatial[i] = out->kernel_spatial[i] = out->output_spatial[i] = 2 + i;
  }
  out->feature_groups = out->batch_groups = 1;
  out->precision = l->precision;
  if (tpt_dtype_compute(dtype) != dtype) out->result = tpt_dtype_compute(dtype);
}

static bool is_empty(const tpt_graph_t* g, tpt_v x) {
  return tpt_type_count(tpt_graph_type(g, x)) == 0;
}

static tpt_v zeros(tpt_graph_t* g, const tpt_type_t* type) {
  return tpt_fill(g, tpt_dtype_compute(type->dtype), type->rank, type->dims, 0);
}

// narrow[o] = sum over window k: wide[o * stride + k * dilation - pad] * weight[k].
static tpt_v correlate(tpt_lower_t* l, const window_t* win, tpt_v wide, tpt_v weight,
                       const tpt_type_t* narrow) {
  if (is_empty(l->graph, wide) || is_empty(l->graph, weight) || tpt_type_count(narrow) == 0)
    return zeros(l->graph, narrow);
  const tpt_type_t* x = tpt_graph_type(l->graph, wide);
  const tpt_type_t* w = tpt_graph_type(l->graph, weight);
  tpt_conv_t conv;
  init_conv(l, win, narrow->dtype, &conv);
  conv.feature_groups = win->groups;
  for (int i = 0; i < win->count; i++) {
    conv.stride[i] = win->stride[i];
    conv.rhs_dilation[i] = win->dilation[i];
    conv.pad_low[i] = conv.pad_high[i] = win->pad[i];
    int64_t reach = win->dilation[i] * (w->dims[2 + i] - 1) + 1;
    int64_t room = x->dims[2 + i] + 2 * win->pad[i] - reach;
    if (room < 0 || room / win->stride[i] + 1 != narrow->dims[2 + i])
      conv.pad_high[i] =
          (narrow->dims[2 + i] - 1) * win->stride[i] + reach - x->dims[2 + i] - win->pad[i];
  }
  return tpt_hlo_convolution(l->graph, wide, weight, &conv);
}

// [narrow, wide / groups, ...] -> [narrow / groups, wide, ...]: a grouped kernel with the roles of its
// channels exchanged.
static tpt_v exchange_groups(tpt_graph_t* g, tpt_v weight, int64_t groups) {
  if (groups == 1) return weight;
  tpt_type_t w = *tpt_graph_type(g, weight);
  int64_t split[TPT_RANK_MAX], order[TPT_RANK_MAX], joined[TPT_RANK_MAX];
  split[0] = groups;
  split[1] = w.dims[0] / groups;
  joined[0] = split[1];
  joined[1] = groups * w.dims[1];
  for (int d = 1; d < w.rank; d++) {
    split[d + 1] = w.dims[d];
    order[d + 1] = d + 1;
    if (d > 1) joined[d] = w.dims[d];
  }
  order[0] = 1;
  order[1] = 0;
  tpt_v parts = tpt_hlo_reshape(g, weight, w.rank + 1, split);
  return tpt_hlo_reshape(g, tpt_hlo_transpose(g, parts, order), w.rank, joined);
}

// wide[o * stride + k * dilation - pad] += narrow[o] * weight[k]: the adjoint of correlate.
static tpt_v spread(tpt_lower_t* l, const window_t* win, tpt_v narrow, tpt_v weight,
                    const tpt_type_t* wide) {
  if (is_empty(l->graph, narrow) || is_empty(l->graph, weight) || tpt_type_count(wide) == 0)
    return zeros(l->graph, wide);
  tpt_type_t x = *tpt_graph_type(l->graph, narrow);
  tpt_type_t w = *tpt_graph_type(l->graph, weight);
  tpt_conv_t conv;
  init_conv(l, win, wide->dtype, &conv);
  conv.feature_groups = win->groups;
  conv.kernel_input = 0;
  conv.kernel_output = 1;
  for (int i = 0; i < win->count; i++) {
    int64_t reach = win->dilation[i] * (w.dims[2 + i] - 1);
    conv.lhs_dilation[i] = win->stride[i];
    conv.rhs_dilation[i] = win->dilation[i];
    conv.reversal[i] = true;
    conv.pad_low[i] = reach - win->pad[i];
    conv.pad_high[i] = wide->dims[2 + i] - (x.dims[2 + i] - 1) * win->stride[i] - 1 + win->pad[i];
  }
  return tpt_hlo_convolution(l->graph, narrow, exchange_groups(l->graph, weight, win->groups),
                             &conv);
}

// weight[k] = sum over o: wide[o * stride + k * dilation - pad] * narrow[o]; batches are contracted.
static tpt_v weigh(tpt_lower_t* l, const window_t* win, tpt_v wide, tpt_v narrow,
                   const tpt_type_t* weight) {
  if (is_empty(l->graph, wide) || is_empty(l->graph, narrow) || tpt_type_count(weight) == 0)
    return zeros(l->graph, weight);
  const tpt_type_t* x = tpt_graph_type(l->graph, wide);
  const tpt_type_t* y = tpt_graph_type(l->graph, narrow);
  tpt_conv_t conv;
  init_conv(l, win, weight->dtype, &conv);
  conv.batch_groups = win->groups;
  conv.input_batch = conv.kernel_output = conv.output_batch = 1;
  conv.input_feature = conv.kernel_input = conv.output_feature = 0;
  for (int i = 0; i < win->count; i++) {
    conv.stride[i] = win->dilation[i];
    conv.rhs_dilation[i] = win->stride[i];
    conv.pad_low[i] = win->pad[i];
    conv.pad_high[i] = (weight->dims[2 + i] - 1) * win->dilation[i] +
                       (y->dims[2 + i] - 1) * win->stride[i] + 1 - x->dims[2 + i] - win->pad[i];
  }
  return tpt_hlo_convolution(l->graph, wide, narrow, &conv);
}

// --- rows ------------------------------------------------------------------------------------------------

tpt_status_t lower_convolution(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0), w = tpt_lower_value(l, 1);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t x_type = *tpt_graph_type(g, x), w_type = *tpt_graph_type(g, w), y_type;
  window_t win;
  TPT_TRY(read_window(l, &x_type, &w_type, &win));
  TPT_TRY(check_channels(&win, &x_type, &w_type));
  TPT_TRY(output_type(&win, &x_type, &w_type, &y_type));
  tpt_v y = win.transposed ? spread(l, &win, x, w, &y_type) : correlate(l, &win, x, w, &y_type);
  if (tpt_lower_has(l, 2)) {
    tpt_v bias = tpt_lower_value_as(l, 2, tpt_dtype_compute(x_type.dtype));
    const tpt_type_t* b = tpt_graph_type(g, bias);
    if (b->rank != 1 || b->dims[0] != y_type.dims[1])
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "expected bias to be 1-dimensional with %lld elements, but got rank %d and %lld "
               "elements",
               (long long)y_type.dims[1], b->rank, (long long)tpt_type_count(b));
    y = tpt_add(g, y, tpt_along(g, bias, y_type.rank, y_type.dims, 1));
  }
  bool channels_last = tpt_lower_is_channels_last(l, 0) || tpt_lower_is_channels_last(l, 1);
  return tpt_lower_result_format(l, tpt_hlo_convert(g, y, x_type.dtype), channels_last);
}

static tpt_v bias_grad(tpt_graph_t* g, tpt_v grad) {
  tpt_type_t type = *tpt_graph_type(g, grad);
  int64_t dims[TPT_RANK_MAX];
  int count = 0;
  for (int d = 0; d < type.rank; d++)
    if (d != 1) dims[count++] = d;
  tpt_v sum =
      tpt_reduce_sum(g, tpt_hlo_convert(g, grad, tpt_dtype_compute(type.dtype)), dims, count);
  return tpt_hlo_convert(g, sum, type.dtype);
}

tpt_status_t lower_convolution_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v grad = tpt_lower_value(l, 0), x = tpt_lower_value(l, 1), w = tpt_lower_value(l, 2);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t x_type = *tpt_graph_type(g, x), w_type = *tpt_graph_type(g, w), y_type;
  window_t win;
  TPT_TRY(read_window(l, &x_type, &w_type, &win));
  TPT_TRY(check_channels(&win, &x_type, &w_type));
  TPT_TRY(output_type(&win, &x_type, &w_type, &y_type));
  if (!tpt_type_equal(tpt_graph_type(g, grad), &y_type))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "grad_output's sizes or dtype are not those of the output");
  const int64_t* mask = l->args[l->op->params.mode + 6].ints;
  bool channels_last = tpt_lower_is_channels_last(l, 1) || tpt_lower_is_channels_last(l, 2);
  if (mask[0]) {
    tpt_v dx =
        win.transposed ? correlate(l, &win, grad, w, &x_type) : spread(l, &win, grad, w, &x_type);
    TPT_TRY(tpt_lower_result_format(l, tpt_hlo_convert(g, dx, x_type.dtype), channels_last));
  } else {
    TPT_TRY(tpt_lower_result_none(l));
  }
  if (mask[1]) {
    tpt_v dw = win.transposed ? weigh(l, &win, grad, x, &w_type) : weigh(l, &win, x, grad, &w_type);
    TPT_TRY(tpt_lower_result_format(l, tpt_hlo_convert(g, dw, w_type.dtype), channels_last));
  } else {
    TPT_TRY(tpt_lower_result_none(l));
  }
  if (!mask[2]) return tpt_lower_result_none(l);
  return tpt_lower_result_format(l, bias_grad(g, grad), false);
}
