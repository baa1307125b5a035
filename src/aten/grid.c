// grid_sample in two dimensions, bilinear or nearest: places from the grid, clipped or reflected at the
// border, then up to four gathers. Backward scatters into the input and differentiates the places.
// Bicubic sampling has no lowering.
#include "aten/array.h"
#include "aten/rows.h"

enum { BILINEAR, NEAREST };
enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };

typedef struct axis {
  int64_t size;
  tpt_v at;     // place in elements, after padding, [batch, places]
  tpt_v slope;  // its derivative by the grid's number
  tpt_v low;    // floor of the place, or the nearest element
  tpt_v share;  // how far towards low + 1
} axis_t;

typedef struct grid {
  tpt_type_t input, places;  // [N, C, H, W], [N, OH, OW, 2]
  tpt_dtype_t compute;
  int64_t flat[2];  // batch, places
  int64_t mode, padding;
  bool align_corners;
  axis_t axis[2];  // height, width
} grid_t;

static tpt_status_t read_grid(tpt_lower_t* l, int input, grid_t* s) {
  tpt_graph_t* g = l->graph;
  s->input = *tpt_graph_type(g, tpt_lower_value(l, input));
  s->places = *tpt_graph_type(g, tpt_lower_value(l, input + 1));
  s->compute = tpt_dtype_compute(s->input.dtype);
  s->mode = tpt_lower_int(l, input + 2);
  s->padding = tpt_lower_int(l, input + 3);
  s->align_corners = tpt_lower_bool(l, input + 4);
  if (s->input.rank != 4 || s->places.rank != 4 || s->places.dims[3] != 2 ||
      s->places.dims[0] != s->input.dims[0])
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "grid_sampler(): expected input [N, C, H, W] and grid [N, H', W', 2]");
  if (s->input.dtype != s->places.dtype || !tpt_dtype_is_float(s->input.dtype))
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "grid_sampler(): expected input and grid to have the same floating point dtype");
  if (s->input.dims[2] == 0 || s->input.dims[3] == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "grid_sampler(): expected input to have non-empty spatial dimensions");
  if (s->mode != BILINEAR && s->mode != NEAREST)
    TPT_FAIL(TPT_UNIMPLEMENTED, "grid_sampler() with bicubic interpolation");
  s->flat[0] = s->places.dims[0];
  s->flat[1] = s->places.dims[1] * s->places.dims[2];
  return NULL;
}

// --- places --------------------------------------------------------------------------------------------

// Folds x into [0, span] from `low` on, and turns the slope where it was mirrored.
static void reflect(tpt_graph_t* g, double low, double span, axis_t* a) {
  if (span == 0) {
    a->at = a->slope = tpt_like(g, a->at, 0);
    return;
  }
  tpt_v x = tpt_add_f64(g, a->at, -low), zero = tpt_like(g, x, 0);
  a->slope = tpt_select(g, tpt_lt(g, x, zero), tpt_neg(g, a->slope), a->slope);
  x = tpt_abs(g, x);
  tpt_v width = tpt_like(g, x, span);
  tpt_v rest = tpt_binary(g, TPT_HLO_REMAINDER, x, width);
  tpt_v turns = tpt_floor(g, tpt_div(g, x, width));
  tpt_v is_even = tpt_eq(g, tpt_binary(g, TPT_HLO_REMAINDER, turns, tpt_like(g, x, 2)), zero);
  a->at = tpt_add_f64(g, tpt_select(g, is_even, rest, tpt_sub(g, width, rest)), low);
  a->slope = tpt_select(g, is_even, a->slope, tpt_neg(g, a->slope));
}

// Clips into the image; the slope vanishes where it was clipped. NaN goes to the first element.
static void clip(tpt_graph_t* g, axis_t* a) {
  tpt_v zero = tpt_like(g, a->at, 0), last = tpt_like(g, a->at, (double)(a->size - 1));
  tpt_v is_low = tpt_not(g, tpt_gt(g, a->at, zero)), is_high = tpt_ge(g, a->at, last);
  a->slope = tpt_select(g, tpt_or(g, is_low, is_high), zero, a->slope);
  a->at = tpt_select(g, is_low, zero, tpt_min(g, a->at, last));
}

static void make_axis(tpt_lower_t* l, const grid_t* s, int grid_arg, int number, axis_t* a) {
  tpt_graph_t* g = l->graph;
  int64_t dims[3] = {s->flat[0], s->flat[1], 2};
  tpt_v places = tpt_hlo_reshape(g, tpt_lower_value_as(l, grid_arg, s->compute), 3, dims);
  int part = 1 - number;  // the grid holds x before y
  tpt_v x = tpt_hlo_reshape(g, tpt_hlo_slice_dim(g, places, 2, part, part + 1, 1), 2, s->flat);
  a->size = s->input.dims[2 + number];
  double size = (double)a->size;
  double scale = (s->align_corners ? size - 1 : size) / 2;
  x = tpt_mul_f64(g, tpt_add_f64(g, x, 1), scale);
  a->at = s->align_corners ? x : tpt_add_f64(g, x, -0.5);
  a->slope = tpt_like(g, a->at, scale);
  if (s->padding == PAD_REFLECTION)
    reflect(g, s->align_corners ? 0 : -0.5, s->align_corners ? size - 1 : size, a);
  if (s->padding != PAD_ZEROS) clip(g, a);
  bool is_nearest = s->mode == NEAREST;
  a->low = is_nearest ? tpt_hlo_unary(g, TPT_HLO_ROUND_EVEN, a->at) : tpt_floor(g, a->at);
  a->share = tpt_sub(g, a->at, a->low);
}

// One of the four elements around a place.
typedef struct corner {
  tpt_v index;      // s32 [batch, places], clipped into the plane
  tpt_v is_inside;  // pred
  tpt_v weight[2];  // by height, by width
} corner_t;

static corner_t make_corner(tpt_graph_t* g, const grid_t* s, int number) {
  corner_t c;
  tpt_v index[2], inside[2];
  for (int i = 0; i < 2; i++) {
    const axis_t* a = &s->axis[i];
    int far = i == 0 ? number / 2 : number % 2;
    tpt_v at = far ? tpt_add_f64(g, a->low, 1) : a->low;
    tpt_v zero = tpt_like(g, at, 0), last = tpt_like(g, at, (double)(a->size - 1));
    inside[i] = tpt_and(g, tpt_ge(g, at, zero), tpt_le(g, at, last));
    at = tpt_select(g, inside[i], at, zero);
    index[i] = tpt_hlo_convert(g, at, TPT_S32);
    c.weight[i] = far ? a->share : tpt_sub(g, tpt_like(g, at, 1), a->share);
  }
  c.is_inside = tpt_and(g, inside[0], inside[1]);
  c.index = tpt_add(g, tpt_mul_f64(g, index[0], (double)s->axis[1].size), index[1]);
  return c;
}

// x[b, :, index[b, p]] as [batch, channels, places] of x [batch, channels, plane].
static tpt_v gather_places(tpt_graph_t* g, tpt_v x, tpt_v index) {
  tpt_gather_t gather;
  memset(&gather, 0, sizeof(gather));
  gather.offset_count = gather.collapsed_count = gather.map_count = gather.batching_count = 1;
  gather.offset_dims[0] = 1;
  gather.collapsed_dims[0] = gather.start_index_map[0] = 2;
  gather.index_vector_dim = 2;
  gather.slice_sizes[0] = gather.slice_sizes[2] = 1;
  gather.slice_sizes[1] = tpt_graph_type(g, x)->dims[1];
  return tpt_hlo_gather(g, x, index, &gather);
}

// A [batch, places] value laid over channels.
static tpt_v over_channels(tpt_graph_t* g, const grid_t* s, tpt_v x) {
  int64_t dims[3] = {s->flat[0], s->input.dims[1], s->flat[1]};
  return tpt_hlo_broadcast_in_dim(g, x, 3, dims, (int64_t[]){0, 2});
}

static tpt_v corner_values(tpt_graph_t* g, const grid_t* s, tpt_v x, const corner_t* c) {
  tpt_v taken = gather_places(g, x, c->index);
  return tpt_select(g, over_channels(g, s, c->is_inside), taken, tpt_like(g, taken, 0));
}

static tpt_v read_planes(tpt_lower_t* l, int arg, const grid_t* s) {
  int64_t dims[3] = {s->input.dims[0], s->input.dims[1], s->input.dims[2] * s->input.dims[3]};
  return tpt_hlo_reshape(l->graph, tpt_lower_value_as(l, arg, s->compute), 3, dims);
}

static int corner_count(const grid_t* s) {
  return s->mode == NEAREST ? 1 : 4;
}

static tpt_type_t output_type(const grid_t* s) {
  tpt_type_t type = s->input;
  type.dims[2] = s->places.dims[1];
  type.dims[3] = s->places.dims[2];
  return type;
}

// --- rows ----------------------------------------------------------------------------------------------

tpt_status_t lower_grid_sampler(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  grid_t s;
  TPT_TRY(read_grid(l, 0, &s));
  tpt_type_t out = output_type(&s);
  if (tpt_type_count(&out) == 0)
    return tpt_lower_result(l, tpt_fill(g, out.dtype, out.rank, out.dims, 0));
  for (int i = 0; i < 2; i++)
    make_axis(l, &s, 1, i, &s.axis[i]);
  tpt_v x = read_planes(l, 0, &s), sum = TPT_VALUE_NONE;
  for (int k = 0; k < corner_count(&s); k++) {
    corner_t c = make_corner(g, &s, k);
    tpt_v value = corner_values(g, &s, x, &c);
    if (s.mode == BILINEAR)
      value = tpt_mul(g, value, over_channels(g, &s, tpt_mul(g, c.weight[0], c.weight[1])));
    sum = k ? tpt_add(g, sum, value) : value;
  }
  sum = tpt_hlo_reshape(g, tpt_hlo_convert(g, sum, out.dtype), 4, out.dims);
  return tpt_lower_result(l, sum);
}

// Adds rows [batch, channels, places] into planes at index [batch, places].
static tpt_v scatter_places(tpt_graph_t* g, tpt_v planes, tpt_v index, tpt_v rows) {
  tpt_scatter_t scatter;
  memset(&scatter, 0, sizeof(scatter));
  scatter.update_window_count = scatter.inserted_count = scatter.map_count =
      scatter.batching_count = 1;
  scatter.update_window_dims[0] = 1;
  scatter.inserted_dims[0] = scatter.dims_to_operand[0] = 2;
  scatter.index_vector_dim = 2;
  return tpt_hlo_scatter(g, planes, index, rows, &scatter, TPT_HLO_ADD);
}

static tpt_status_t give_input_grad(tpt_lower_t* l, const grid_t* s, tpt_v grad) {
  tpt_graph_t* g = l->graph;
  int64_t dims[3] = {s->input.dims[0], s->input.dims[1], s->input.dims[2] * s->input.dims[3]};
  tpt_v sum = tpt_fill(g, s->compute, 3, dims, 0);
  for (int k = 0; k < corner_count(s); k++) {
    corner_t c = make_corner(g, s, k);
    tpt_v part = grad;
    if (s->mode == BILINEAR)
      part = tpt_mul(g, part, over_channels(g, s, tpt_mul(g, c.weight[0], c.weight[1])));
    part = tpt_select(g, over_channels(g, s, c.is_inside), part, tpt_like(g, part, 0));
    sum = scatter_places(g, sum, c.index, part);
  }
  sum = tpt_hlo_reshape(g, tpt_hlo_convert(g, sum, s->input.dtype), 4, s->input.dims);
  return tpt_lower_result(l, sum);
}

static tpt_status_t give_grid_grad(tpt_lower_t* l, const grid_t* s, tpt_v grad) {
  tpt_graph_t* g = l->graph;
  if (s->mode == NEAREST)
    return tpt_lower_result(l, tpt_fill(g, s->places.dtype, 4, s->places.dims, 0));
  tpt_v x = read_planes(l, 1, s), by_axis[2];
  for (int k = 0; k < 4; k++) {
    corner_t c = make_corner(g, s, k);
    tpt_v dot = tpt_mul(g, corner_values(g, s, x, &c), grad);
    dot = tpt_reduce_sum(g, dot, (int64_t[]){1}, 1);  // over channels
    for (int i = 0; i < 2; i++) {
      bool is_far = (i == 0 ? k / 2 : k % 2) != 0;
      tpt_v part = tpt_mul(g, dot, c.weight[1 - i]);
      if (!is_far) part = tpt_neg(g, part);
      by_axis[i] = k ? tpt_add(g, by_axis[i], part) : part;
    }
  }
  int64_t dims[3] = {s->flat[0], s->flat[1], 1};
  tpt_v parts[2];  // x before y
  for (int i = 0; i < 2; i++) {
    tpt_v slope = tpt_mul(g, by_axis[1 - i], s->axis[1 - i].slope);
    parts[i] = tpt_hlo_reshape(g, slope, 3, dims);
  }
  tpt_v joined = tpt_hlo_reshape(g, tpt_hlo_concatenate(g, parts, 2, 2), 4, s->places.dims);
  return tpt_lower_result(l, tpt_hlo_convert(g, joined, s->places.dtype));
}

// grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask.
tpt_status_t lower_grid_sampler_backward(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  grid_t s;
  TPT_TRY(read_grid(l, 1, &s));
  tpt_type_t out = output_type(&s);
  if (!tpt_dims_equal(tpt_graph_type(g, tpt_lower_value(l, 0)), &out))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "grad_output must have the output's sizes");
  const int64_t* mask = l->args[6].ints;
  if (tpt_type_count(&out) == 0) {
    TPT_TRY(mask[0] ? tpt_lower_result(l, tpt_fill(g, s.input.dtype, 4, s.input.dims, 0))
                    : tpt_lower_result_none(l));
    return tpt_lower_result(l, tpt_fill(g, s.places.dtype, 4, s.places.dims, 0));
  }
  for (int i = 0; i < 2; i++)
    make_axis(l, &s, 2, i, &s.axis[i]);
  int64_t dims[3] = {s.flat[0], s.input.dims[1], s.flat[1]};
  tpt_v grad = tpt_hlo_reshape(g, tpt_lower_value_as(l, 0, s.compute), 3, dims);
  TPT_TRY(mask[0] ? give_input_grad(l, &s, grad) : tpt_lower_result_none(l));
  return give_grid_grad(l, &s, grad);
}
