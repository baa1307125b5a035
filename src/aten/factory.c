// Lowerings that make tensors from numbers: ranges, identity, fills, copies. Numbers are run-time
// inputs; of a range's the program knows the size only.
#include <math.h>

#include "aten/array.h"
#include "aten/promote.h"
#include "aten/rows.h"
#include "aten/stride.h"

static double number_value(const tpt_number_t* n) {
  return tpt_dtype_is_float(n->dtype) || tpt_dtype_is_complex(n->dtype) ? n->f : (double)n->i;
}

static bool is_whole_number(const tpt_number_t* n) {
  return n->dtype == TPT_PRED || tpt_dtype_is_int(n->dtype);
}

// --- ranges --------------------------------------------------------------------------------------------

typedef struct range {
  tpt_number_t start, end, step;
  tpt_dtype_t dtype;
  int64_t size;
} range_t;

// An int64 range works on whole numbers, whatever was given; the others on doubles.
static void make_whole(tpt_number_t* n) {
  if (is_whole_number(n)) return;
  bool fits = n->f > -0x1p63 && n->f < 0x1p63;
  *n = (tpt_number_t){.dtype = TPT_S64, .i = fits ? (int64_t)n->f : 0};
}

static int64_t range_size(const range_t* r) {
  if (r->dtype == TPT_S64) {
    __int128 span = (__int128)r->end.i - r->start.i, step = r->step.i;
    __int128 size = (span + step - (step > 0 ? 1 : -1)) / step;
    return size > INT64_MAX ? INT64_MAX : (int64_t)size;
  }
  double size = ceil((number_value(&r->end) - number_value(&r->start)) / number_value(&r->step));
  return size < 0x1p62 ? (int64_t)size : INT64_MAX;
}

// True when f32 counts the range exactly: small whole numbers.
static bool is_small(const range_t* r) {
  double start = number_value(&r->start), step = number_value(&r->step);
  double most = fmax(fabs(start), fabs(start + step * (double)r->size));
  return start == floor(start) && step == floor(step) && most < 0x1p24;
}

// `numbers`: how many Scalars come first: end; start, end; start, end, step.
static void read_range(const tpt_lower_t* l, int numbers, range_t* r) {
  *r = (range_t){.start = {.dtype = TPT_S64}, .step = {.dtype = TPT_S64, .i = 1}};
  r->end = l->args[numbers == 1 ? 0 : 1].number;
  if (numbers > 1) r->start = l->args[0].number;
  if (numbers > 2) r->step = l->args[2].number;
  bool is_whole =
      is_whole_number(&r->start) && is_whole_number(&r->end) && is_whole_number(&r->step);
  r->dtype = tpt_lower_dtype_or(l, numbers, is_whole ? TPT_S64 : l->default_dtype);
}

static tpt_status_t check_range(const tpt_lower_t* l, int numbers) {
  range_t r;
  read_range(l, numbers, &r);
  double start = number_value(&r.start), end = number_value(&r.end);
  double step = number_value(&r.step);
  if (!(step > 0 || step < 0)) TPT_FAIL(TPT_INVALID_ARGUMENT, "step must be nonzero");
  if (!isfinite(start) || !isfinite(end))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "unsupported range: %g -> %g", start, end);
  if ((step > 0 && end < start) || (step < 0 && end > start))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "upper bound and lower bound inconsistent with step sign");
  if (r.dtype != TPT_S64) return NULL;
  make_whole(&r.step);
  if (r.step.i == 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "step must be nonzero");
  return NULL;
}

// The size, doubled; odd when is_small.
static int64_t range_kind(const tpt_lower_t* l, int numbers) {
  range_t r;
  read_range(l, numbers, &r);
  if (r.dtype == TPT_S64) {
    make_whole(&r.start);
    make_whole(&r.end);
    make_whole(&r.step);
  }
  r.size = range_size(&r);
  if (r.size > INT64_MAX / 2) r.size = INT64_MAX / 2;
  return 2 * r.size + is_small(&r);
}

// start + i * step, in f32 where that is exact; other floats are worked out in f64 and rounded.
static tpt_status_t lower_range(tpt_lower_t* l, int numbers) {
  tpt_graph_t* g = l->graph;
  range_t r;
  read_range(l, numbers, &r);
  if (r.dtype == TPT_PRED || tpt_dtype_is_complex(r.dtype)) return tpt_refuse_dtype(l, r.dtype);
  int64_t kind = tpt_lower_kind(l), size = kind / 2;
  tpt_dtype_t dtype = r.dtype;
  if (tpt_dtype_is_float(dtype)) dtype = kind % 2 ? tpt_dtype_compute(dtype) : TPT_F64;
  tpt_type_t type = tpt_type_make(dtype, 1, &size);
  tpt_v x = tpt_hlo_iota(g, &type, 0);
  if (numbers > 2) x = tpt_mul(g, x, tpt_lower_scalar(l, 2, dtype));
  if (numbers > 1) x = tpt_add(g, x, tpt_lower_scalar(l, 0, dtype));
  return tpt_lower_result(l, tpt_hlo_convert(g, x, r.dtype));
}

#define RANGE_ROW(name, numbers)                                                                   \
  tpt_status_t lower_##name(tpt_lower_t* l) {                                                      \
    return lower_range(l, numbers);                                                                \
  }                                                                                                \
  tpt_status_t check_##name(tpt_lower_t* l) {                                                      \
    return check_range(l, numbers);                                                                \
  }                                                                                                \
  int64_t kind_##name(const tpt_lower_t* l) {                                                      \
    return range_kind(l, numbers);                                                                 \
  }
RANGE_ROW(arange, 1)
RANGE_ROW(arange_start, 2)
RANGE_ROW(arange_step, 3)
#undef RANGE_ROW

// Counts from both ends, so that the last element is `end` itself. logspace raises its
// base to the numbers.
static tpt_status_t lower_space(tpt_lower_t* l, int dtype_arg) {
  tpt_graph_t* g = l->graph;
  int64_t steps = tpt_lower_int(l, 2);
  if (steps < 0) TPT_FAIL(TPT_INVALID_ARGUMENT, "number of steps must be non-negative");
  tpt_dtype_t dtype = tpt_lower_dtype_or(l, dtype_arg, l->default_dtype);
  bool is_complex = tpt_dtype_is_complex(l->args[0].number.dtype) ||
                    tpt_dtype_is_complex(l->args[1].number.dtype);
  if (is_complex || dtype == TPT_PRED || tpt_dtype_is_complex(dtype))
    return tpt_refuse_dtype(l, dtype);
  bool is_int = tpt_dtype_is_int(dtype);
  tpt_dtype_t compute = is_int ? TPT_F64 : tpt_dtype_compute(dtype);
  tpt_v start = tpt_hlo_convert(g, tpt_lower_scalar(l, 0, dtype), compute);
  tpt_v end = tpt_hlo_convert(g, tpt_lower_scalar(l, 1, dtype), compute);
  tpt_type_t type = tpt_type_make(compute, 1, &steps);
  tpt_v y = tpt_hlo_broadcast_to(g, start, 1, &steps);
  if (steps >= 2) {
    tpt_v step = tpt_div(g, tpt_sub(g, end, start), tpt_like(g, end, (double)(steps - 1)));
    tpt_v index = tpt_hlo_iota(g, &type, 0);
    tpt_v rest = tpt_sub(g, tpt_like(g, index, (double)(steps - 1)), index);
    tpt_v rising = tpt_add(g, start, tpt_mul(g, step, index));
    tpt_v falling = tpt_sub(g, end, tpt_mul(g, step, rest));
    tpt_v is_first_half = tpt_lt(g, index, tpt_like(g, index, (double)(steps / 2)));
    y = tpt_select(g, is_first_half, rising, falling);
  }
  if (dtype_arg > 3) y = tpt_pow(g, tpt_lower_scalar(l, 3, compute), y);
  return tpt_lower_result(l, tpt_hlo_convert(g, y, dtype));
}

tpt_status_t lower_linspace(tpt_lower_t* l) {
  return lower_space(l, 3);
}
// start, end, steps, base.
tpt_status_t lower_logspace(tpt_lower_t* l) {
  return lower_space(l, 4);
}

static tpt_status_t lower_identity(tpt_lower_t* l, int64_t rows, int64_t columns, int dtype_arg) {
  tpt_graph_t* g = l->graph;
  if (rows < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "n must be greater or equal to 0, got %lld", (long long)rows);
  if (columns < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "m must be greater or equal to 0, got %lld", (long long)columns);
  tpt_type_t type = tpt_type_make(TPT_S32, 2, (int64_t[]){rows, columns});
  tpt_v is_one = tpt_eq(g, tpt_hlo_iota(g, &type, 0), tpt_hlo_iota(g, &type, 1));
  tpt_dtype_t dtype = tpt_lower_dtype_or(l, dtype_arg, l->default_dtype);
  return tpt_lower_result(l, tpt_hlo_convert(g, is_one, dtype));
}

tpt_status_t lower_eye(tpt_lower_t* l) {
  return lower_identity(l, tpt_lower_int(l, 0), tpt_lower_int(l, 0), 1);
}

tpt_status_t lower_eye_m(tpt_lower_t* l) {
  return lower_identity(l, tpt_lower_int(l, 0), tpt_lower_int(l, 1), 2);
}

// The coordinates below (above) a diagonal, as a constant: small ones only.
static tpt_status_t lower_triangle_indices(tpt_lower_t* l, bool is_lower) {
  enum { COUNT_MAX = 1 << 16 };
  int64_t rows = tpt_lower_int(l, 0), columns = tpt_lower_int(l, 1);
  int64_t offset = tpt_lower_int(l, 2);
  tpt_dtype_t dtype = tpt_lower_dtype_or(l, 3, TPT_S64);
  if (rows < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "row must be non-negative, got%lld", (long long)rows);
  if (columns < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "col must be non-negative, got%lld", (long long)columns);
  if (dtype != TPT_S64 || (columns && rows > COUNT_MAX / columns))
    return tpt_refuse_dtype(l, dtype);
  int64_t* data =
      tpt_arena_calloc(tpt_graph_arena(l->graph), (size_t)(2 * rows * columns + 1), sizeof(*data));
  if (!data) return tpt_arena_status(tpt_graph_arena(l->graph));
  int64_t count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t j = 0; j < columns; j++)
        if (is_lower ? j - i <= offset : j - i >= offset) data[count++] = pass ? j : i;
    }
  }
  tpt_type_t type = tpt_type_make(TPT_S64, 2, (int64_t[]){2, count / 2});
  return tpt_lower_result(l, tpt_hlo_constant(l->graph, &type, data));
}

tpt_status_t lower_tril_indices(tpt_lower_t* l) {
  return lower_triangle_indices(l, true);
}
tpt_status_t lower_triu_indices(tpt_lower_t* l) {
  return lower_triangle_indices(l, false);
}

// --- fills and copies ------------------------------------------------------------------------------------

tpt_status_t check_fill(tpt_lower_t* l) {
  const tpt_arg_t* value = &l->args[1];
  tpt_dtype_t dtype = tpt_lower_tensor(l, 0)->dtype;
  if (value->kind == TPT_ARG_SCALAR) return tpt_check_number_fits(&value->number, dtype);
  if (value->tensors->rank != 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT,
             "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
             (int)value->tensors->rank);
  if (value->tensors->flags & TPT_TENSOR_HOST)
    return tpt_check_number_fits(&value->tensors->number, dtype);
  return NULL;
}

tpt_status_t lower_fill(tpt_lower_t* l) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  tpt_v value = tpt_operand_rounded(l, 1, t->dtype);
  return tpt_lower_result(l, tpt_hlo_broadcast_to(l->graph, value, t->rank, t->sizes));
}

tpt_status_t lower_zero(tpt_lower_t* l) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  return tpt_lower_result(l, tpt_fill(l->graph, t->dtype, t->rank, t->sizes, 0.0));
}

// c10::MemoryFormat
enum { FORMAT_CONTIGUOUS, FORMAT_PRESERVE, FORMAT_CHANNELS_LAST, FORMAT_CHANNELS_LAST_3D };

tpt_status_t lower_clone(tpt_lower_t* l) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  int64_t strides[TPT_RANK_MAX];
  int64_t format = tpt_lower_int_or(l, 1, FORMAT_PRESERVE);
  bool is_last = format == FORMAT_CHANNELS_LAST || format == FORMAT_CHANNELS_LAST_3D;
  if (is_last && t->rank != (format == FORMAT_CHANNELS_LAST ? 4 : 5))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "required rank %d tensor to use %s format",
             format == FORMAT_CHANNELS_LAST ? 4 : 5,
             format == FORMAT_CHANNELS_LAST ? "channels_last" : "channels_last_3d");
  if (is_last)
    tpt_strides_channels_last(t->rank, t->sizes, strides);
  else if (format == FORMAT_PRESERVE)
    tpt_strides_like(t, strides);
  else
    tpt_strides_contiguous(t->rank, t->sizes, strides);
  return tpt_lower_result_strides(l, tpt_lower_value(l, 0), strides);
}

static bool expands_to(const tpt_type_t* type, const tpt_tensor_t* t) {
  if (type->rank > t->rank) return false;
  for (int d = 0; d < type->rank; d++) {
    if (type->dims[d] != 1 && type->dims[d] != t->sizes[t->rank - type->rank + d]) return false;
  }
  return true;
}

tpt_status_t lower_copy(tpt_lower_t* l) {
  const tpt_tensor_t* t = tpt_lower_tensor(l, 0);
  tpt_v source = tpt_lower_value_as(l, 1, t->dtype);
  if (!expands_to(tpt_graph_type(l->graph, source), t))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "the source of a copy does not expand to its destination");
  return tpt_lower_result(l, tpt_hlo_broadcast_to(l->graph, source, t->rank, t->sizes));
}

tpt_status_t lower_complex(tpt_lower_t* l) {
  tpt_graph_t* g = l->graph;
  tpt_v x[2] = {tpt_lower_value(l, 0), tpt_lower_value(l, 1)};
  tpt_dtype_t dtype = tpt_dtype_of(g, x[0]);
  if (dtype != tpt_dtype_of(g, x[1]) || (dtype != TPT_F32 && dtype != TPT_F64))
    return tpt_refuse_dtype(l, tpt_dtype_of(g, x[1]));
  TPT_TRY(tpt_lower_broadcast(l, x, 2));
  if (l->op->params.mode) {  // polar: magnitude and angle
    tpt_v re = tpt_mul(g, x[0], tpt_cos(g, x[1])), im = tpt_mul(g, x[0], tpt_sin(g, x[1]));
    x[0] = re;
    x[1] = im;
  }
  return tpt_lower_result(l, tpt_hlo_complex(g, x[0], x[1]));
}
