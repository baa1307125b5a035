// Average pools: window sums divided by counts that the host knows. Sums are in f32 for f16 and bf16
// and rounded once.
#include "aten/memory_format.h"
#include "aten/pool.h"
#include "aten/rows.h"

// Divides x by the product over dimensions of count[i][o].
static tpt_v divide_counts(tpt_graph_t* g, const tpt_pool_t* p, int64_t* const* count, tpt_v x) {
  tpt_type_t type = *tpt_graph_type(g, x);
  double number = 1;
  tpt_v product = TPT_VALUE_NONE;
  for (int i = 0; i < p->count; i++) {
    bool is_uniform = true;
    for (int64_t o = 1; o < p->out[i]; o++)
      is_uniform &= count[i][o] == count[i][0];
    if (is_uniform) {
      number *= p->out[i] ? (double)count[i][0] : 1;
      continue;
    }
    tpt_v table = tpt_hlo_convert(g, tpt_constant_ints(g, count[i], p->out[i]), type.dtype);
    tpt_v laid = tpt_along(g, table, type.rank, type.dims, p->first + i);
    product = tpt_value_is_none(product) ? laid : tpt_mul(g, product, laid);
  }
  if (tpt_value_is_none(product)) return tpt_div(g, x, tpt_like(g, x, number));
  if (number != 1) product = tpt_mul_f64(g, product, number);
  return tpt_div(g, x, product);
}

static int64_t* alloc_counts(tpt_graph_t* g, int64_t size) {
  int64_t* counts = tpt_arena_calloc(tpt_graph_arena(g), (size_t)size + 1, sizeof(*counts));
  if (!counts) tpt_graph_fail(g, tpt_arena_status(tpt_graph_arena(g)));
  return counts;
}

// Elements that each window counts; include_pad counts the padding too, but not what ceil mode adds.
static bool count_windows(tpt_graph_t* g, const tpt_pool_t* p, bool include_pad, int64_t** out) {
  for (int i = 0; i < p->count; i++) {
    out[i] = alloc_counts(g, p->out[i]);
    if (!out[i]) return false;
    for (int64_t o = 0; o < p->out[i]; o++) {
      int64_t start = o * p->stride[i] - p->pad[i], end = start + p->kernel[i];
      int64_t limit = p->in[i] + (include_pad ? p->pad[i] : 0);
      if (!include_pad && start < 0) start = 0;
      if (end > limit) end = limit;
      out[i][o] = end > start ? end - start : 1;
    }
  }
  return true;
}

static tpt_status_t check_divisor(const tpt_lower_t* l, int arg) {
  if (!tpt_lower_has(l, arg) || l->args[arg].number.i != 0) return NULL;
  TPT_FAIL(TPT_INVALID_ARGUMENT, "divisor must be not zero");
}
tpt_status_t check_avg_pool(tpt_lower_t* l) {
  return check_divisor(l, 6);
}
tpt_status_t check_avg_pool_backward(tpt_lower_t* l) {
  return check_divisor(l, 7);
}

// Divides by what the row's count_include_pad and divisor_override (arguments `arg` and arg + 1) say.
static tpt_status_t divide(tpt_lower_t* l, const tpt_pool_t* p, int arg, tpt_v* inout_x) {
  tpt_graph_t* g = l->graph;
  if (tpt_lower_has(l, arg + 1)) {
    *inout_x = tpt_div(g, *inout_x, tpt_lower_scalar(l, arg + 1, tpt_dtype_of(g, *inout_x)));
    return NULL;
  }
  int64_t* counts[TPT_POOL_MAX];
  if (!count_windows(g, p, tpt_lower_bool(l, arg), counts)) return tpt_graph_status(g);
  *inout_x = divide_counts(g, p, counts, *inout_x);
  return NULL;
}

static tpt_v window_sum(tpt_graph_t* g, const tpt_pool_t* p, tpt_v x) {
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  for (int i = 0; i < p->count; i++) {
    int d = p->first + i;
    window.dims[d] = p->kernel[i];
    window.stride[d] = p->stride[i];
    window.pad_low[d] = p->pad[i];
    window.pad_high[d] = (p->out[i] - 1) * p->stride[i] + p->kernel[i] - p->in[i] - p->pad[i];
    if (window.pad_high[d] < 0) window.pad_high[d] = 0;  // the remainder is never reached
  }
  tpt_dtype_t dtype = tpt_graph_type(g, x)->dtype;
  return tpt_hlo_reduce_window(g, x, tpt_hlo_scalar_i64(g, dtype, 0), TPT_HLO_ADD, &window);
}

// The CPU keeps channels last in two dimensions only.
static tpt_status_t give(tpt_lower_t* l, tpt_v x, tpt_dtype_t dtype, int like) {
  bool channels_last = l->op->params.mode == 2 && tpt_lower_is_channels_last(l, like);
  return tpt_lower_result_format(l, tpt_hlo_convert(l->graph, x, dtype), channels_last);
}

tpt_status_t lower_avg_pool(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_pool_t p;
  TPT_TRY(tpt_pool_read(l, &type, &(tpt_pool_args_t){1, -1, 4}, &p));
  tpt_type_t out = tpt_pool_output(&p, &type);
  if (tpt_type_count(&out) == 0)
    return give(l, tpt_fill(g, out.dtype, out.rank, out.dims, 0), type.dtype, 0);
  x = window_sum(g, &p, tpt_hlo_convert(g, x, tpt_dtype_compute(type.dtype)));
  TPT_TRY(divide(l, &p, 5, &x));
  return give(l, x, type.dtype, 0);
}

// Sums into each input element of dimension i the outputs whose windows hold it.
static tpt_v spread_windows(tpt_graph_t* g, const tpt_pool_t* p, int i, tpt_v x) {
  if (tpt_pool_tiles(p, i)) return tpt_pool_repeat(g, x, p, i);
  tpt_pool_window_t window;
  tpt_pool_window_init(&window);
  int d = p->first + i;
  int64_t length = (p->out[i] - 1) * p->stride[i] + 1;
  window.dims[d] = p->kernel[i];
  window.base_dilation[d] = p->stride[i];
  window.pad_low[d] = p->kernel[i] - 1 - p->pad[i];
  window.pad_high[d] = p->in[i] - length + p->pad[i];
  tpt_dtype_t dtype = tpt_graph_type(g, x)->dtype;
  return tpt_hlo_reduce_window(g, x, tpt_hlo_scalar_i64(g, dtype, 0), TPT_HLO_ADD, &window);
}

tpt_status_t lower_avg_pool_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 1));
  tpt_v grad = tpt_lower_value_as(l, 0, tpt_dtype_compute(type.dtype));
  TPT_TRY(tpt_graph_status(g));
  tpt_pool_t p;
  TPT_TRY(tpt_pool_read(l, &type, &(tpt_pool_args_t){2, -1, 5}, &p));
  tpt_type_t out = tpt_pool_output(&p, &type);
  if (!tpt_dims_equal(tpt_graph_type(g, grad), &out))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "grad_output must have the pool's output sizes");
  if (tpt_type_count(&type) == 0)
    return give(l, tpt_fill(g, type.dtype, type.rank, type.dims, 0), type.dtype, 1);
  TPT_TRY(divide(l, &p, 6, &grad));
  for (int i = p.count - 1; i >= 0; i--)
    grad = spread_windows(g, &p, i, grad);
  return give(l, grad, type.dtype, 1);
}

// --- adaptive ---------------------------------------------------------------------------------------------

static bool count_adaptive(tpt_graph_t* g, const tpt_pool_t* p, int64_t** out) {
  for (int i = 0; i < p->count; i++) {
    out[i] = alloc_counts(g, p->out[i]);
    if (!out[i]) return false;
    for (int64_t o = 0; o < p->out[i]; o++)
      out[i][o] = tpt_pool_end(p, i, o) - tpt_pool_start(p, i, o);
  }
  return true;
}

// Sums tiles of dimension i: [.., out, kernel, ..] over the kernel.
static tpt_v sum_tiles(tpt_graph_t* g, const tpt_pool_t* p, int i, tpt_v x) {
  tpt_type_t type = *tpt_graph_type(g, x);
  int dim = p->first + i;
  int64_t dims[TPT_RANK_MAX + 1];
  for (int d = 0; d < type.rank; d++)
    dims[d <= dim ? d : d + 1] = type.dims[d];
  dims[dim] = p->out[i];
  dims[dim + 1] = p->kernel[i];
  x = tpt_hlo_reshape(g, x, type.rank + 1, dims);
  return tpt_reduce_sum(g, x, (int64_t[]){dim + 1}, 1);
}

// Uneven windows read whole runs of the leading dimensions when those stand last. Returns how many
// dimensions were moved.
static int lead_last(tpt_graph_t* g, tpt_pool_t* p, tpt_v* inout_x) {
  bool is_even = true;
  for (int i = 0; i < p->count; i++)
    is_even &= tpt_pool_is_even(p, i);
  int moved = is_even ? 0 : p->first;
  if (moved) *inout_x = tpt_rotate(g, *inout_x, moved);
  p->first -= moved;
  return moved;
}
static tpt_v lead_back(tpt_graph_t* g, const tpt_pool_t* p, int moved, tpt_v x) {
  return moved ? tpt_rotate(g, x, p->count) : x;
}

tpt_status_t lower_adaptive_avg_pool(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x = tpt_lower_value(l, 0);
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t type = *tpt_graph_type(g, x);
  tpt_pool_t p;
  TPT_TRY(tpt_pool_read_adaptive(l, &type, 1, NULL, &p));
  tpt_type_t out = tpt_pool_output(&p, &type);
  if (tpt_type_count(&out) == 0)
    return give(l, tpt_fill(g, out.dtype, out.rank, out.dims, 0), type.dtype, 0);
  x = tpt_hlo_convert(g, x, tpt_dtype_compute(type.dtype));
  int moved = lead_last(g, &p, &x);
  for (int i = p.count - 1; i >= 0; i--) {
    tpt_taps_t taps;
    if (tpt_pool_is_even(&p, i))
      x = sum_tiles(g, &p, i, x);
    else if (tpt_pool_taps(g, &p, i, &taps))
      x = tpt_taps_sum(g, x, p.first + i, &taps);
  }
  int64_t* counts[TPT_POOL_MAX];
  if (!count_adaptive(g, &p, counts)) return tpt_graph_status(g);
  x = lead_back(g, &p, moved, divide_counts(g, &p, counts, x));
  return give(l, x, type.dtype, 0);
}

tpt_status_t lower_adaptive_avg_pool_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_type_t type = *tpt_graph_type(g, tpt_lower_value(l, 1));
  tpt_v x = tpt_lower_value_as(l, 0, tpt_dtype_compute(type.dtype));
  TPT_TRY(tpt_graph_status(g));
  tpt_type_t out = *tpt_graph_type(g, x);
  tpt_pool_t p;
  TPT_TRY(tpt_pool_read_adaptive(l, &type, -1, &out, &p));
  if (tpt_type_count(&type) == 0 || tpt_type_count(&out) == 0)
    return give(l, tpt_fill(g, type.dtype, type.rank, type.dims, 0), type.dtype, 1);
  int64_t* counts[TPT_POOL_MAX];
  if (!count_adaptive(g, &p, counts)) return tpt_graph_status(g);
  int moved = lead_last(g, &p, &x);
  x = divide_counts(g, &p, counts, x);
  for (int i = p.count - 1; i >= 0; i--) {
    tpt_taps_t taps, back;
    if (tpt_pool_is_even(&p, i))
      x = tpt_pool_repeat(g, x, &p, i);
    else if (tpt_pool_taps(g, &p, i, &taps) && tpt_taps_transpose(g, &taps, p.in[i], &back))
      x = tpt_taps_sum(g, x, p.first + i, &back);
  }
  return give(l, lead_back(g, &p, moved, x), type.dtype, 1);
}
