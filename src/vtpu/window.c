// reduce_window. A monoid over one operand is folded one axis after the other, plane by plane; anything
// else goes through the region's body. 16-bit floats are folded in f32 and rounded once.
#include "vtpu/window.h"

#include <math.h>
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/panel.h"

enum { INNER_BLOCK_SIZE = 4096 };  // elements of the inner axes that one item takes

typedef struct reduce {
  vtpu_window_t window;
  int count;  // operands
  size_t sizes[VTPU_WINDOW_OPERANDS_MAX];
  const vtpu_monoid_t* monoid;  // NULL: the body
  vtpu_body_t* body;
  // --- monoid
  size_t size;  // of an element while folding
  vtpu_convert_fn_t widen, narrow;
  char identity[16];
  int64_t inner;  // elements of the axes after the last windowed one
  int64_t inner_block, inner_blocks;
  int64_t item_count;
  int64_t in_plane, out_plane;  // elements of one outer place, all of the inner ones
  int lane_count;
  size_t lane_size, buffer_size, temp_offset;
} reduce_t;

static void monoid_identity(tpt_hlo_t op, tpt_dtype_t dtype, void* out) {
  tpt_number_t number = {.dtype = TPT_S64};
  bool is_float = tpt_dtype_is_float(dtype);
  tpt_dtype_class_t kind = tpt_dtype_row(dtype)->kind;
  int bits = 8 * (int)tpt_dtype_size(dtype);
  if (op == TPT_HLO_MULTIPLY) number.i = 1;
  if (op == TPT_HLO_AND) number.i = -1;
  if (op == TPT_HLO_MAXIMUM || op == TPT_HLO_MINIMUM) {
    bool is_max = op == TPT_HLO_MAXIMUM;
    if (is_float) {
      number = (tpt_number_t){.dtype = TPT_F64, .f = is_max ? -INFINITY : INFINITY};
    } else if (kind == TPT_CLASS_SINT) {
      number.i = is_max ? (int64_t)(UINT64_MAX << (bits - 1)) : INT64_MAX >> (64 - bits);
    } else {
      number.i = is_max ? 0 : -1;
    }
  }
  if (kind == TPT_CLASS_BOOL) {
    *(uint8_t*)out = number.i != 0;
    return;
  }
  tpt_number_store(&number, dtype, out);
}

// The largest array that lies between two passes over one outer place and inner block.
static int64_t between_max(const reduce_t* r) {
  const vtpu_window_t* w = &r->window;
  int64_t most = 1;
  for (int pass = w->first; pass <= w->last + 1; pass++) {
    int64_t count = r->inner_block;
    for (int d = w->first; d <= w->last; d++)
      count *= d < pass ? w->axis[d].out : w->axis[d].in;
    if (count > most) most = count;
  }
  return most;
}

static void monoid_cut(vtpu_kernel_t* kernel, reduce_t* r) {
  const vtpu_window_t* w = &r->window;
  r->inner = r->in_plane = r->out_plane = 1;
  for (int d = w->first; d < w->rank; d++) {
    if (d > w->last) r->inner *= w->axis[d].in;
    r->in_plane *= w->axis[d].in;
    r->out_plane *= w->axis[d].out;
  }
  r->inner_block = r->inner < INNER_BLOCK_SIZE ? r->inner : INNER_BLOCK_SIZE;
  if (r->inner_block < 1) r->inner_block = 1;
  r->inner_blocks = vtpu_ceil_div(r->inner, r->inner_block);
  r->item_count = w->outer * r->inner_blocks;
  double work = 0, rows = (double)(w->outer * r->inner);
  for (int d = w->last; d >= w->first; d--) {
    double size = rows;
    for (int e = w->first; e <= w->last; e++)
      size *= (double)(e <= d ? w->axis[e].out : w->axis[e].in);
    bool is_running = w->axis[d].taps >= w->axis[d].in && w->axis[d].out == w->axis[d].in;
    work += size * (is_running ? 1 : (double)w->axis[d].taps);
  }
  kernel->flops = work;
  kernel->cost = 100 + (int64_t)(work * (r->inner >= 8 ? 0.3 : 1)) + r->item_count * 60;
  r->lane_count = vtpu_lane_count(r->item_count, kernel->cost);
  // Two buffers to go to and fro, one more for a pass's own use.
  r->buffer_size = vtpu_scratch_align((size_t)between_max(r) * r->size);
  r->temp_offset = 2 * r->buffer_size;
  r->lane_size = 4 * r->buffer_size;
  kernel->scratch_size = r->lane_size * (size_t)r->lane_count;
}

tpt_status_t vtpu_reduce_window_prepare(vtpu_kernel_t* kernel) {
  reduce_t* r = tpt_arena_calloc(kernel->arena, 1, sizeof(*r));
  if (!r) return tpt_arena_status(kernel->arena);
  kernel->state = r;
  const tpt_type_t *in = &kernel->operand_types[0], *out = &kernel->result_types[0];
  vtpu_window_make(kernel->node, in, out, &r->window);
  r->count = kernel->operand_count / 2;
  if (r->count > VTPU_WINDOW_OPERANDS_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "reduce_window of %d operands; vtpu takes at most %d", r->count,
             VTPU_WINDOW_OPERANDS_MAX);
  for (int i = 0; i < r->count; i++)
    r->sizes[i] = tpt_dtype_size(kernel->operand_types[i].dtype);
  bool replaces = false;
  uint32_t block = kernel->node->regions[0];
  tpt_hlo_t op = tpt_region_monoid(kernel->graph, block, &replaces);
  if (r->count == 1 && !replaces && op != TPT_HLO_COUNT) r->monoid = vtpu_monoid(op, in->dtype);
  int64_t places = tpt_type_count(out), taps = 1;
  for (int d = 0; d < in->rank; d++)
    taps *= r->window.axis[d].taps;
  if (!r->monoid) {
    kernel->cost = 200 + places * taps * r->count * 30;
    return vtpu_body_compile(kernel->graph, block, kernel->arena, &r->body);
  }
  r->size = r->sizes[0];
  tpt_dtype_t dtype = in->dtype;
  if (vtpu_dtype_is_half(dtype)) {
    r->widen = vtpu_widen_fn(dtype, VTPU_COMPUTE_F32, VTPU_PART_EXACT);
    r->narrow = vtpu_narrow_fn(VTPU_COMPUTE_F32, dtype);
    r->monoid = vtpu_monoid(op, TPT_F32);
    r->size = sizeof(float);
    dtype = TPT_F32;
  }
  monoid_identity(op, dtype, r->identity);
  monoid_cut(kernel, r);
  return tpt_arena_status(kernel->arena);
}

typedef struct run {
  const reduce_t* reduce;
  const void* const* in;
  void* const* out;
  char* scratch;
  char start[16];    // the initial value, in the type of the folds
  bool starts_late;  // it must be combined only once, at the end
} run_t;

// Copies an inner block of a plane between the array and a dense buffer, converting.
typedef struct transfer {
  const reduce_t* reduce;
  int64_t rows;          // of the plane's windowed axes
  int64_t first, count;  // inner elements
} transfer_t;

static void plane_load(const transfer_t* t, const char* in, char* to) {
  const reduce_t* r = t->reduce;
  for (int64_t row = 0; row < t->rows; row++) {
    const char* from = in + (row * r->inner + t->first) * (int64_t)r->sizes[0];
    char* target = to + (size_t)(row * t->count) * r->size;
    if (r->widen) {
      r->widen(from, target, t->count);
    } else {
      memcpy(target, from, (size_t)t->count * r->size);
    }
  }
}

static void plane_store(const transfer_t* t, const char* from, char* out) {
  const reduce_t* r = t->reduce;
  for (int64_t row = 0; row < t->rows; row++) {
    char* to = out + (row * r->inner + t->first) * (int64_t)r->sizes[0];
    const char* source = from + (size_t)(row * t->count) * r->size;
    if (r->narrow) {
      r->narrow(source, to, t->count);
    } else {
      memcpy(to, source, (size_t)t->count * r->size);
    }
  }
}

// Folds a plane axis after axis, from buffer to buffer. Returns where the result is: `out` if given.
static char* plane_fold(const run_t* run, int64_t inner, const char* in, char* out, char* lane) {
  const reduce_t* r = run->reduce;
  const vtpu_window_t* w = &r->window;
  vtpu_window_pass_t pass = {.rows = 1,
                             .inner = inner,
                             .size = r->size,
                             .monoid = r->monoid,
                             .start = run->starts_late ? r->identity : run->start};
  int next = in == lane ? 1 : 0;
  char* to = NULL;
  for (int d = w->first; d <= w->last; d++) {
    bool is_final = true;
    for (int e = d + 1; e <= w->last; e++)
      is_final &= !vtpu_window_axis_moves(&w->axis[e]);
    pass.axis = w->axis[d];
    pass.inner = inner;
    for (int e = d + 1; e <= w->last; e++)
      pass.inner *= w->axis[e].in;
    // A lone axis that does not move still combines every element with the initial value.
    if (vtpu_window_axis_moves(&pass.axis) || w->first == w->last) {
      to = is_final && out ? out : lane + r->buffer_size * (size_t)next;
      vtpu_window_pass_run(&pass, in, to, lane + r->temp_offset);
      in = to;
      next = 1 - next;
    }
    pass.rows *= w->axis[d].out;
  }
  return to;
}

static void plane_item(void* arg, int64_t item, int lane_number) {
  const run_t* run = arg;
  const reduce_t* r = run->reduce;
  const vtpu_window_t* w = &r->window;
  char* lane = run->scratch + r->lane_size * (size_t)lane_number;
  int64_t outer = item / r->inner_blocks, first = item % r->inner_blocks * r->inner_block;
  int64_t left = r->inner - first, in_rows = 1, out_rows = 1;
  for (int d = w->first; d <= w->last; d++)
    in_rows *= w->axis[d].in, out_rows *= w->axis[d].out;
  transfer_t transfer = {r, in_rows, first, left < r->inner_block ? left : r->inner_block};
  const char* in = (const char*)run->in[0] + outer * r->in_plane * (int64_t)r->sizes[0];
  char* out = (char*)run->out[0] + outer * r->out_plane * (int64_t)r->sizes[0];
  bool is_dense = transfer.count == r->inner && !r->widen;
  if (!is_dense) plane_load(&transfer, in, lane);
  char* result = plane_fold(run, transfer.count, is_dense ? in : lane, is_dense ? out : NULL, lane);
  for (int64_t i = 0; i < out_rows * transfer.count && run->starts_late; i++)
    r->monoid->combine(result + (size_t)i * r->size, run->start, 1);
  transfer.rows = out_rows;
  if (!is_dense) plane_store(&transfer, result, out);
}

static void body_range(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  vtpu_window_body_run(arg, begin, end);
}

tpt_status_t vtpu_reduce_window_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                    void* scratch, const void* const* in, void* const* out) {
  const reduce_t* r = kernel->state;
  int64_t places = tpt_type_count(&kernel->result_types[0]);
  if (places == 0) return NULL;
  if (r->body) {
    vtpu_window_body_t body = {.window = &r->window,
                               .count = r->count,
                               .sizes = r->sizes,
                               .body = r->body,
                               .in = in,
                               .start = in + r->count,
                               .out = out};
    vtpu_range_for(exec, places, 1024, body_range, &body);
    return NULL;
  }
  run_t run = {.reduce = r, .in = in, .out = out, .scratch = scratch};
  if (r->widen) {
    r->widen(in[1], run.start, 1);
  } else {
    memcpy(run.start, in[1], r->size);
  }
  // Several passes each start with the initial value; that is sound only if it absorbs itself.
  int moving = 0;
  for (int d = r->window.first; d <= r->window.last; d++)
    moving += vtpu_window_axis_moves(&r->window.axis[d]);
  char twice[16];
  memcpy(twice, run.start, sizeof(twice));
  r->monoid->combine(twice, run.start, 1);
  run.starts_late = moving > 1 && memcmp(twice, run.start, r->size) != 0;
  vtpu_lane_for(exec, r->lane_count, r->item_count, plane_item, &run);
  return NULL;
}
