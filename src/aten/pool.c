// Geometry of pools: sizes, windows and their checks. Knows no operator; max_pool.c and avg_pool.c do.
#include "aten/pool.h"

static tpt_status_t read_list(const tpt_lower_t* l, int arg, int count, int64_t* out) {
  const tpt_arg_t* a = &l->args[arg];
  if (a->count != 1 && a->count != (uint32_t)count)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%s must either be a single int, or a tuple of %d ints",
             tpt_op_schema(l->op)->args[arg].name, count);
  for (int i = 0; i < count; i++)
    out[i] = a->ints[a->count == 1 ? 0 : i];
  return tpt_lower_check_i32(l, arg);
}

static tpt_status_t init_pool(const tpt_lower_t* l, const tpt_type_t* input, tpt_pool_t* out) {
  memset(out, 0, sizeof(*out));
  out->count = (int)l->op->params.mode;
  if (input->rank != out->count + 1 && input->rank != out->count + 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%dD or %dD (batch mode) tensor expected for input",
             out->count + 1, out->count + 2);
  out->first = input->rank - out->count;
  for (int i = 0; i < out->count; i++)
    out->in[i] = input->dims[out->first + i];
  // Only the batch may be empty.
  for (int d = input->rank == out->count + 2 ? 1 : 0; d < input->rank; d++) {
    if (input->dims[d] == 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "Expected input to have non-zero size for non-batch dimensions, but dimension %d is "
               "empty",
               d);
  }
  return NULL;
}

static tpt_status_t check_numbers(const tpt_pool_t* p, int i) {
  if (p->kernel[i] <= 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "kernel size should be greater than zero, but got %lld",
             (long long)p->kernel[i]);
  if (p->stride[i] <= 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "stride should be greater than zero, but got %lld",
             (long long)p->stride[i]);
  if (p->dilation[i] <= 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "dilation should be greater than zero, but got %lld",
             (long long)p->dilation[i]);
  if (p->pad[i] < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "pad must be non-negative, but got pad: %lld",
             (long long)p->pad[i]);
  if (p->pad[i] > ((p->kernel[i] - 1) * p->dilation[i] + 1) / 2)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "pad should be at most half of effective kernel size, but got pad=%lld, "
             "kernel_size=%lld and dilation=%lld",
             (long long)p->pad[i], (long long)p->kernel[i], (long long)p->dilation[i]);
  return NULL;
}

tpt_status_t tpt_pool_read(const tpt_lower_t* l, const tpt_type_t* input,
                           const tpt_pool_args_t* args, tpt_pool_t* out_pool) {
  tpt_pool_t* p = out_pool;
  TPT_TRY(init_pool(l, input, p));
  TPT_TRY(read_list(l, args->kernel, p->count, p->kernel));
  bool has_stride = l->args[args->kernel + 1].count > 0;
  TPT_TRY(read_list(l, has_stride ? args->kernel + 1 : args->kernel, p->count, p->stride));
  TPT_TRY(read_list(l, args->kernel + 2, p->count, p->pad));
  for (int i = 0; i < p->count; i++)
    p->dilation[i] = 1;
  if (args->dilation >= 0) TPT_TRY(read_list(l, args->dilation, p->count, p->dilation));
  bool ceil_mode = tpt_lower_bool(l, args->ceil_mode);
  for (int i = 0; i < p->count; i++) {
    TPT_TRY(check_numbers(p, i));
    int64_t room = p->in[i] + 2 * p->pad[i] - p->dilation[i] * (p->kernel[i] - 1) - 1;
    if (ceil_mode) room += p->stride[i] - 1;
    p->out[i] = (room < 0 ? -1 : room / p->stride[i]) + 1;
    // A window must begin inside the input or its left padding.
    if (ceil_mode && (p->out[i] - 1) * p->stride[i] >= p->in[i] + p->pad[i]) p->out[i]--;
    if (p->out[i] < 1)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "Given input size: (...x%lld). Calculated output size: (...x%lld). Output size is "
               "too small",
               (long long)p->in[i], (long long)p->out[i]);
  }
  return NULL;
}

bool tpt_pool_is_even(const tpt_pool_t* p, int i) {
  return p->out[i] > 0 && p->in[i] % p->out[i] == 0;
}

int64_t tpt_pool_start(const tpt_pool_t* p, int i, int64_t o) {
  return o / p->out[i] * p->in[i] + o % p->out[i] * p->in[i] / p->out[i];
}

int64_t tpt_pool_end(const tpt_pool_t* p, int i, int64_t o) {
  return ((o + 1) * p->in[i] + p->out[i] - 1) / p->out[i];
}

tpt_status_t tpt_pool_read_adaptive(const tpt_lower_t* l, const tpt_type_t* input, int sizes,
                                    const tpt_type_t* output, tpt_pool_t* out_pool) {
  tpt_pool_t* p = out_pool;
  TPT_TRY(init_pool(l, input, p));
  if (sizes >= 0) {
    TPT_TRY(read_list(l, sizes, p->count, p->out));
  } else {
    if (output->rank != input->rank)
      TPT_FAIL(TPT_INVALID_ARGUMENT,
               "grad_output and input must have the same number of dimensions");
    for (int i = 0; i < p->count; i++)
      p->out[i] = output->dims[p->first + i];
  }
  for (int i = 0; i < p->count; i++) {
    if (p->out[i] < 0)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "elements of output_size must be greater than or equal to 0");
    p->dilation[i] = 1;
    for (int64_t o = 0; o < p->out[i]; o++) {
      int64_t size = tpt_pool_end(p, i, o) - tpt_pool_start(p, i, o);
      if (size > p->kernel[i]) p->kernel[i] = size;
    }
    p->stride[i] = p->kernel[i];
  }
  return NULL;
}

bool tpt_pool_taps(tpt_graph_t* g, const tpt_pool_t* p, int i, tpt_taps_t* out_taps) {
  if (!tpt_taps_init(g, p->out[i], p->kernel[i], false, out_taps)) return false;
  for (int64_t o = 0; o < p->out[i]; o++) {
    int64_t start = tpt_pool_start(p, i, o), size = tpt_pool_end(p, i, o) - start;
    for (int64_t k = 0; k < size; k++)
      out_taps->index[o * p->kernel[i] + k] = start + k;
  }
  return true;
}

tpt_type_t tpt_pool_output(const tpt_pool_t* p, const tpt_type_t* input) {
  tpt_type_t type = *input;
  for (int i = 0; i < p->count; i++)
    type.dims[p->first + i] = p->out[i];
  return type;
}

bool tpt_pool_tiles(const tpt_pool_t* p, int i) {
  return p->stride[i] == p->kernel[i] && p->pad[i] == 0 && p->dilation[i] == 1;
}

tpt_v tpt_pool_repeat(tpt_graph_t* g, tpt_v x, const tpt_pool_t* p, int i) {
  tpt_type_t type = *tpt_graph_type(g, x);
  int dim = p->first + i;
  int64_t dims[TPT_RANK_MAX + 1], where[TPT_RANK_MAX];
  for (int d = 0; d < type.rank; d++) {
    where[d] = d <= dim ? d : d + 1;
    dims[where[d]] = type.dims[d];
  }
  dims[dim + 1] = p->kernel[i];
  x = tpt_hlo_broadcast_in_dim(g, x, type.rank + 1, dims, where);
  int64_t covered = type.dims[dim] * p->kernel[i];
  type.dims[dim] = covered;
  x = tpt_hlo_reshape(g, x, type.rank, type.dims);
  if (covered > p->in[i]) return tpt_hlo_slice_dim(g, x, dim, 0, p->in[i], 1);
  if (covered == p->in[i]) return x;
  int64_t zero[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0};
  high[dim] = p->in[i] - covered;
  return tpt_hlo_pad(g, x, tpt_hlo_scalar_i64(g, type.dtype, 0), zero, high, zero);
}
