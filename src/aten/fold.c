// im2col and its adjoint col2im: F.unfold and F.fold. Each spatial dimension is a table of taps, one tap
// per place of the window.
#include "aten/rows.h"
#include "aten/taps.h"

typedef struct fold {
  int64_t size[2], kernel[2], dilation[2], pad[2], stride[2];
  int64_t out[2];  // windows
} fold_t;

static tpt_status_t read_pair(const tpt_lower_t* l, int arg, int64_t* out) {
  const tpt_arg_t* a = &l->args[arg];
  if (a->count != 1 && a->count != 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "It is expected %s equals to 2, but got size %u",
             tpt_op_schema(l->op)->args[arg].name, a->count);
  for (int i = 0; i < 2; i++)
    out[i] = a->ints[a->count == 1 ? 0 : i];
  return tpt_lower_check_i32(l, arg);
}

// Window numbers from argument `mode` on; `size` is set.
static tpt_status_t read_fold(const tpt_lower_t* l, fold_t* f) {
  int arg = (int)l->op->params.mode;
  TPT_TRY(read_pair(l, arg, f->kernel));
  TPT_TRY(read_pair(l, arg + 1, f->dilation));
  TPT_TRY(read_pair(l, arg + 2, f->pad));
  TPT_TRY(read_pair(l, arg + 3, f->stride));
  for (int i = 0; i < 2; i++) {
    if (f->kernel[i] <= 0 || f->dilation[i] <= 0 || f->stride[i] <= 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "kernel size, dilation and stride should be greater than zero, but got %lld, %lld "
               "and %lld",
               (long long)f->kernel[i], (long long)f->dilation[i], (long long)f->stride[i]);
    if (f->pad[i] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "padding should be non-negative, but got %lld",
               (long long)f->pad[i]);
    int64_t room = f->size[i] + 2 * f->pad[i] - f->dilation[i] * (f->kernel[i] - 1) - 1;
    f->out[i] = room < 0 ? 0 : room / f->stride[i] + 1;
    if (f->out[i] < 1)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "calculated shape of the array of sliding blocks is too small: size %lld, kernel "
               "%lld, dilation %lld, padding %lld",
               (long long)f->size[i], (long long)f->kernel[i], (long long)f->dilation[i],
               (long long)f->pad[i]);
  }
  return NULL;
}

// As on the CPU, integers are not folded.
static tpt_status_t check_dtype(const tpt_lower_t* l, tpt_dtype_t dtype) {
  if (!tpt_dtype_is_int(dtype)) return NULL;
  TPT_FAIL(TPT_UNIMPLEMENTED, "\"%s\" not implemented for '%s'", tpt_op_schema(l->op)->base,
           tpt_dtype_row(dtype)->name);
}

// Places of all windows along dimension i, window by window; -1 in the padding.
static bool window_taps(tpt_graph_t* g, const fold_t* f, int i, tpt_taps_t* out) {
  if (!tpt_taps_init(g, f->out[i] * f->kernel[i], 1, false, out)) return false;
  for (int64_t o = 0; o < f->out[i]; o++) {
    for (int64_t k = 0; k < f->kernel[i]; k++) {
      int64_t at = o * f->stride[i] + k * f->dilation[i] - f->pad[i];
      out->index[o * f->kernel[i] + k] = at >= 0 && at < f->size[i] ? at : -1;
    }
  }
  return true;
}

tpt_status_t lower_im2col(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  tpt_type_t type = *tpt_graph_type(g, x);
  if ((type.rank != 3 && type.rank != 4) ||
      type.dims[type.rank - 1] * type.dims[type.rank - 2] == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input");
  TPT_TRY(check_dtype(l, type.dtype));
  int lead = type.rank - 2;
  fold_t f = {.size = {type.dims[lead], type.dims[lead + 1]}};
  TPT_TRY(read_fold(l, &f));
  int64_t batch = lead == 2 ? type.dims[0] : 1, channels = type.dims[lead - 1];
  int64_t dims[3] = {batch, channels * f.kernel[0] * f.kernel[1], f.out[0] * f.out[1]};
  int rank = lead + 1, skip = 3 - rank;
  if (tpt_type_count(&type) == 0)
    return tpt_lower_result(l, tpt_fill(g, type.dtype, rank, dims + skip, 0));
  for (int i = 1; i >= 0; i--) {
    tpt_taps_t taps;
    if (!window_taps(g, &f, i, &taps)) return tpt_graph_status(g);
    x = tpt_taps_gather(g, x, lead + i, &taps, 0);
  }
  int64_t split[6] = {batch, channels, f.out[0], f.kernel[0], f.out[1], f.kernel[1]};
  x = tpt_hlo_transpose(g, tpt_hlo_reshape(g, x, 6, split), (int64_t[]){0, 1, 3, 5, 2, 4});
  return tpt_lower_result(l, tpt_hlo_reshape(g, x, rank, dims + skip));
}

tpt_status_t lower_col2im(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 0));
  tpt_v x = tpt_lower_value_as(l, 0, tpt_dtype_compute(type.dtype));
  fold_t f;
  TPT_TRY(check_dtype(l, type.dtype));
  TPT_TRY(read_pair(l, 1, f.size));
  if (type.rank != 2 && type.rank != 3)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size");
  TPT_TRY(read_fold(l, &f));
  int lead = type.rank - 2;
  int64_t batch = lead ? type.dims[0] : 1, places = f.kernel[0] * f.kernel[1];
  if (type.dims[lead] % places || type.dims[lead + 1] != f.out[0] * f.out[1])
    TPT_FAIL(
        TPT_INVALID_ARGUMENT,
        "Given output_size and window, expected input's dimension 1 to be divisible by %lld and "
        "dimension 2 to be %lld, but got %lld and %lld",
        (long long)places, (long long)(f.out[0] * f.out[1]), (long long)type.dims[lead],
        (long long)type.dims[lead + 1]);
  int64_t channels = type.dims[lead] / places;
  int64_t dims[4] = {batch, channels, f.size[0], f.size[1]};
  if (tpt_type_count(&type) == 0)
    return tpt_lower_result(l, tpt_fill(g, type.dtype, lead + 3, dims + 1 - lead, 0));
  int64_t split[6] = {batch, channels, f.kernel[0], f.kernel[1], f.out[0], f.out[1]};
  x = tpt_hlo_transpose(g, tpt_hlo_reshape(g, x, 6, split), (int64_t[]){0, 1, 4, 2, 5, 3});
  int64_t joined[4] = {batch, channels, f.out[0] * f.kernel[0], f.out[1] * f.kernel[1]};
  x = tpt_hlo_reshape(g, x, 4, joined);
  for (int i = 0; i < 2; i++) {
    tpt_taps_t taps, back;
    if (!window_taps(g, &f, i, &taps) || !tpt_taps_transpose(g, &taps, f.size[i], &back))
      return tpt_graph_status(g);
    x = tpt_taps_sum(g, x, 2 + i, &back);
  }
  x = tpt_hlo_reshape(g, x, lead + 3, dims + 1 - lead);
  return tpt_lower_result(l, tpt_hlo_convert(g, x, type.dtype));
}
