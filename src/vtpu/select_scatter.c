// select_and_scatter: every window of the operand selects one element, to which its source is added.
// The scan runs row-major and keeps the selected element while select(selected, candidate) holds, so
// with GE the first maximum wins and a NaN gives way to the element after it, as in XLA. Padding is
// never selected. Planes (outer places) are the parallel work; 16-bit floats are summed in f32.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/comparator.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/panel.h"
#include "vtpu/window.h"

enum { CHUNK = 128 };  // source places selected before they are scattered

// The window of one source place inside the plane, clipped.
typedef struct span {
  int rank;
  int64_t low[TPT_RANK_MAX], size[TPT_RANK_MAX],
      stride[TPT_RANK_MAX];  // stride: elements of the plane
} span_t;

typedef struct select select_t;
typedef int64_t (*select_fn_t)(const select_t* select, const void* plane, const span_t* span);

struct select {
  vtpu_window_t window;
  tpt_dtype_t dtype;
  size_t size;                  // bytes of an element
  int64_t in_plane, out_plane;  // elements of one outer place
  select_fn_t scan;
  vtpu_body_t* select_body;        // with scan == select_by_body
  vtpu_convert_fn_t widen_values;  // (optional) plane to the type that `scan` compares
  size_t value_size;
  const vtpu_monoid_t* monoid;  // of the scatter; NULL: body
  vtpu_body_t* scatter_body;
  vtpu_convert_fn_t widen, narrow;  // (optional) sums kept in f32
  size_t sum_size;
  int lane_count;
  size_t lane_size, sum_offset;
};

// --- selection --------------------------------------------------------------------------------------

// Advances to the next element of the span; false after the last. `at` counts within the span.
static bool span_next(const span_t* span, int64_t* at, int64_t* inout_offset) {
  for (int d = span->rank - 1; d >= 0; d--) {
    *inout_offset += span->stride[d];
    if (++at[d] < span->size[d]) return true;
    *inout_offset -= at[d] * span->stride[d];
    at[d] = 0;
  }
  return false;
}

static int64_t span_start(const span_t* span) {
  int64_t offset = 0;
  for (int d = 0; d < span->rank; d++)
    offset += span->low[d] * span->stride[d];
  return offset;
}

#define SCAN(name, type, op)                                                                       \
  static int64_t name(const select_t* select, const void* plane, const span_t* span) {             \
    (void)select;                                                                                  \
    const type* values = plane;                                                                    \
    int64_t at[TPT_RANK_MAX] = {0}, offset = span_start(span), best = offset;                      \
    type selected = values[offset];                                                                \
    while (span_next(span, at, &offset)) {                                                         \
      type candidate = values[offset];                                                             \
      if (selected op candidate) continue;                                                         \
      selected = candidate;                                                                        \
      best = offset;                                                                               \
    }                                                                                              \
    return best;                                                                                   \
  }

#define SCANS(name, type)                                                                          \
  SCAN(name##_ge, type, >=)                                                                        \
  SCAN(name##_gt, type, >)                                                                         \
  SCAN(name##_le, type, <=)                                                                        \
  SCAN(name##_lt, type, <)

SCANS(scan_f32, float)
SCANS(scan_f64, double)
SCANS(scan_s64, int64_t)
SCANS(scan_u64, uint64_t)

static int64_t select_by_body(const select_t* select, const void* plane, const span_t* span) {
  int64_t at[TPT_RANK_MAX] = {0}, offset = span_start(span), best = offset;
  const char* values = plane;
  int64_t size = (int64_t)select->size;
  while (span_next(span, at, &offset)) {
    uint8_t keeps = 0;
    const void* in[2] = {values + best * size, values + offset * size};
    void* out[1] = {&keeps};
    vtpu_body_run(select->select_body, 1, in, out);
    if (!keeps) best = offset;
  }
  return best;
}

static select_fn_t scan_find(const vtpu_comparator_t* c, vtpu_compute_t values, bool is_signed) {
  static const select_fn_t table[4][4] = {{scan_f32_ge, scan_f32_gt, scan_f32_le, scan_f32_lt},
                                          {scan_f64_ge, scan_f64_gt, scan_f64_le, scan_f64_lt},
                                          {scan_s64_ge, scan_s64_gt, scan_s64_le, scan_s64_lt},
                                          {scan_u64_ge, scan_u64_gt, scan_u64_le, scan_u64_lt}};
  int row = values == VTPU_COMPUTE_F32 ? 0 : values == VTPU_COMPUTE_F64 ? 1 : is_signed ? 2 : 3;
  bool is_swapped = c->a == 1;
  switch (c->direction) {
  case TPT_GE:
    return table[row][is_swapped ? 2 : 0];
  case TPT_GT:
    return table[row][is_swapped ? 3 : 1];
  case TPT_LE:
    return table[row][is_swapped ? 0 : 2];
  case TPT_LT:
    return table[row][is_swapped ? 1 : 3];
  default:
    return NULL;
  }
}

// --- prepare ----------------------------------------------------------------------------------------

static tpt_status_t selection_make(vtpu_kernel_t* kernel, select_t* s) {
  uint32_t block = kernel->node->regions[0];
  vtpu_comparator_t comparator;
  tpt_dtype_class_t kind = tpt_dtype_row(s->dtype)->kind;
  vtpu_compute_t values = VTPU_COMPUTE_U64;
  if (kind == TPT_CLASS_FLOAT) values = s->dtype == TPT_F64 ? VTPU_COMPUTE_F64 : VTPU_COMPUTE_F32;
  s->value_size = s->size;
  if (kind != TPT_CLASS_COMPLEX && vtpu_comparator_find(kernel->graph, block, &comparator) &&
      comparator.kind != TPT_COMPARE_TOTALORDER && comparator.a != comparator.b)
    s->scan = scan_find(&comparator, values, kind == TPT_CLASS_SINT);
  if (!s->scan) {
    s->scan = select_by_body;
    return vtpu_body_compile(kernel->graph, block, kernel->arena, &s->select_body);
  }
  s->value_size = vtpu_compute_row(values)->size;
  if (!vtpu_widen_is_copy(s->dtype, values, VTPU_PART_EXACT))
    s->widen_values = vtpu_widen_fn(s->dtype, values, VTPU_PART_EXACT);
  return NULL;
}

static tpt_status_t scatter_make(vtpu_kernel_t* kernel, select_t* s) {
  bool replaces = false;
  tpt_hlo_t op = tpt_region_monoid(kernel->graph, kernel->node->regions[1], &replaces);
  s->sum_size = s->size;
  if (!replaces && op != TPT_HLO_COUNT) s->monoid = vtpu_monoid(op, s->dtype);
  if (!s->monoid)
    return vtpu_body_compile(kernel->graph, kernel->node->regions[1], kernel->arena,
                             &s->scatter_body);
  if (vtpu_dtype_is_half(s->dtype)) {
    s->monoid = vtpu_monoid(op, TPT_F32);
    s->widen = vtpu_widen_fn(s->dtype, VTPU_COMPUTE_F32, VTPU_PART_EXACT);
    s->narrow = vtpu_narrow_fn(VTPU_COMPUTE_F32, s->dtype);
    s->sum_size = sizeof(float);
  }
  return NULL;
}

tpt_status_t vtpu_select_and_scatter_prepare(vtpu_kernel_t* kernel) {
  select_t* s = tpt_arena_calloc(kernel->arena, 1, sizeof(*s));
  if (!s) return tpt_arena_status(kernel->arena);
  kernel->state = s;
  const tpt_type_t *in = &kernel->operand_types[0], *source = &kernel->operand_types[1];
  vtpu_window_make(kernel->node, in, source, &s->window);
  s->dtype = in->dtype;
  s->size = tpt_dtype_size(in->dtype);
  TPT_TRY(selection_make(kernel, s));
  TPT_TRY(scatter_make(kernel, s));
  s->in_plane = s->out_plane = 1;
  int64_t taps = 1;
  for (int d = s->window.first; d < s->window.rank; d++) {
    s->in_plane *= s->window.axis[d].in;
    s->out_plane *= s->window.axis[d].out;
    taps *= s->window.axis[d].taps;
  }
  int64_t per_window = 20 + taps * (s->select_body ? 100 : 3);
  kernel->cost = 100 + tpt_type_size(in) / 4 + tpt_type_count(source) * per_window;
  s->lane_count = vtpu_lane_count(s->window.outer, kernel->cost);
  if (s->widen_values) s->lane_size += vtpu_scratch_align((size_t)s->in_plane * s->value_size);
  s->sum_offset = s->lane_size;
  if (s->widen) s->lane_size += vtpu_scratch_align((size_t)s->in_plane * s->sum_size);
  kernel->scratch_size = s->lane_size * (size_t)s->lane_count;
  return tpt_arena_status(kernel->arena);
}

// --- run --------------------------------------------------------------------------------------------

typedef struct run {
  const select_t* select;
  const char* in;
  const char* source;
  const void* start;
  char* out;
  char* scratch;
} run_t;

// The window of source place `at`; false when it lies outside altogether.
static bool span_make(const vtpu_window_t* w, const int64_t* at, span_t* span) {
  int64_t stride = 1;
  span->rank = w->rank - w->first;
  for (int d = w->rank - 1; d >= w->first; d--) {
    const vtpu_window_axis_t* a = &w->axis[d];
    int i = d - w->first;
    int64_t low = at[i] * a->stride - a->low, high = low + a->taps;
    if (low < 0) low = 0;
    if (high > a->in) high = a->in;
    if (low >= high) return false;
    span->low[i] = low;
    span->size[i] = high - low;
    span->stride[i] = stride;
    stride *= a->in;
  }
  return true;
}

static void chunk_scatter(const select_t* s, char* sums, const int64_t* at, const char* source,
                          int count) {
  if (s->widen) {
    float wide[CHUNK];
    s->widen(source, wide, count);
    s->monoid->combine_at(sums, at, wide, count);
    return;
  }
  if (s->monoid) {
    s->monoid->combine_at(sums, at, source, count);
    return;
  }
  for (int i = 0; i < count; i++) {
    if (at[i] < 0) continue;
    char* sum = sums + at[i] * (int64_t)s->size;
    const void* in[2] = {sum, source + (size_t)i * s->size};
    void* out[1] = {sum};
    vtpu_body_run(s->scatter_body, 1, in, out);
  }
}

static void plane_item(void* arg, int64_t item, int lane_number) {
  const run_t* run = arg;
  const select_t* s = run->select;
  const vtpu_window_t* w = &s->window;
  const vtpu_exec_t inline_exec = {0};
  char* lane = run->scratch + s->lane_size * (size_t)lane_number;
  const char* values = run->in + item * s->in_plane * (int64_t)s->size;
  char* out = run->out + item * s->in_plane * (int64_t)s->size;
  char* sums = s->widen ? lane + s->sum_offset : out;
  if (s->widen_values) {
    s->widen_values(values, lane, s->in_plane);
    values = lane;
  }
  char start[16];
  memcpy(start, run->start, s->size);
  if (s->widen) s->widen(run->start, start, 1);
  vtpu_fill(&inline_exec, start, s->sum_size, sums, s->in_plane);
  int64_t place[TPT_RANK_MAX] = {0}, at[CHUNK];
  const char* source = run->source + item * s->out_plane * (int64_t)s->size;
  int count = 0;
  span_t span;
  for (int64_t i = 0; i < s->out_plane; i++) {
    at[count++] = span_make(w, place, &span) ? s->scan(s, values, &span) : -1;
    if (count == CHUNK || i + 1 == s->out_plane) {
      chunk_scatter(s, sums, at, source + (i + 1 - count) * (int64_t)s->size, count);
      count = 0;
    }
    for (int d = w->rank - 1; d >= w->first; d--) {
      if (++place[d - w->first] < w->axis[d].out) break;
      place[d - w->first] = 0;
    }
  }
  if (s->narrow) s->narrow(sums, out, s->in_plane);
}

tpt_status_t vtpu_select_and_scatter_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                         void* scratch, const void* const* in, void* const* out) {
  const select_t* s = kernel->state;
  run_t run = {
      .select = s, .in = in[0], .source = in[1], .start = in[2], .out = out[0], .scratch = scratch};
  if (s->in_plane > 0) vtpu_lane_for(exec, s->lane_count, s->window.outer, plane_item, &run);
  return NULL;
}
