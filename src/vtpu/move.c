// Data movement: concatenate, pad, dynamic_slice, dynamic_update_slice, reverse. Each is a fill and
// a few box copies whose shape is settled when the kernel is prepared. Run-time starts are clamped
// as StableHLO demands.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/kernel_rows.h"

// --- concatenate
// ------------------------------------------------------------------------------------

typedef struct piece {
  vtpu_box_t box;
  int64_t out_offset;  // bytes
  bool is_empty;
} piece_t;

tpt_status_t vtpu_concatenate_prepare(vtpu_kernel_t* kernel) {
  piece_t* pieces = tpt_arena_calloc(kernel->arena, (size_t)kernel->operand_count, sizeof(*pieces));
  if (!pieces) return tpt_arena_status(kernel->arena);
  kernel->state = pieces;
  const tpt_type_t* result = &kernel->result_types[0];
  int64_t dim = tpt_node_int(kernel->node, 0), offset = 0;
  int64_t out_strides[TPT_RANK_MAX];
  vtpu_type_strides(result, out_strides);
  for (int i = 0; i < kernel->operand_count; i++) {
    const tpt_type_t* type = &kernel->operand_types[i];
    piece_t* piece = &pieces[i];
    piece->box.rank = type->rank;
    memcpy(piece->box.size, type->dims, sizeof(piece->box.size));
    memcpy(piece->box.out_stride, out_strides, sizeof(out_strides));
    vtpu_type_strides(type, piece->box.in_stride);
    vtpu_box_simplify(&piece->box);
    piece->is_empty = tpt_type_count(type) == 0;
    piece->out_offset = offset * out_strides[dim];
    offset += type->dims[dim];
  }
  kernel->cost = vtpu_move_cost(2 * tpt_type_size(result)) + 30 * kernel->operand_count;
  return NULL;
}

tpt_status_t vtpu_concatenate_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                  void* scratch, const void* const* in, void* const* out) {
  (void)scratch;
  const piece_t* pieces = kernel->state;
  size_t size = tpt_dtype_size(kernel->result_types[0].dtype);
  for (int i = 0; i < kernel->operand_count; i++) {
    if (pieces[i].is_empty) continue;
    vtpu_box_copy(&pieces[i].box, size, exec, in[i], (char*)out[0] + pieces[i].out_offset);
  }
  return NULL;
}

// --- pad
// --------------------------------------------------------------------------------------------

typedef struct pad {
  vtpu_box_t box;  // the elements of the operand that land inside the result
  int64_t in_offset, out_offset;
  bool is_empty, covers_all;
} pad_t;

tpt_status_t vtpu_pad_prepare(vtpu_kernel_t* kernel) {
  pad_t* pad = tpt_arena_calloc(kernel->arena, 1, sizeof(*pad));
  if (!pad) return tpt_arena_status(kernel->arena);
  kernel->state = pad;
  const tpt_type_t *type = &kernel->operand_types[0], *result = &kernel->result_types[0];
  const int64_t* low = tpt_node_ints(kernel->node, 0, NULL);
  const int64_t* interior = tpt_node_ints(kernel->node, 2, NULL);
  int64_t in_strides[TPT_RANK_MAX], out_strides[TPT_RANK_MAX], count = 1;
  vtpu_type_strides(type, in_strides);
  vtpu_type_strides(result, out_strides);
  pad->box.rank = type->rank;
  for (int d = 0; d < type->rank; d++) {
    int64_t step = interior[d] + 1;
    // The first and the last element whose place low + i * step lies in [0, dims).
    int64_t first = low[d] < 0 ? (-low[d] + step - 1) / step : 0;
    int64_t room = result->dims[d] - 1 - low[d];
    int64_t end = room < 0 ? 0 : room / step + 1;
    if (end > type->dims[d]) end = type->dims[d];
    pad->box.size[d] = end > first ? end - first : 0;
    pad->box.in_stride[d] = in_strides[d];
    pad->box.out_stride[d] = out_strides[d] * step;
    pad->in_offset += first * in_strides[d];
    pad->out_offset += (low[d] + first * step) * out_strides[d];
    count *= pad->box.size[d];
  }
  pad->is_empty = count == 0;
  pad->covers_all = count == tpt_type_count(result);
  vtpu_box_simplify(&pad->box);
  kernel->cost = vtpu_move_cost(tpt_type_size(type) + 2 * tpt_type_size(result));
  return NULL;
}

tpt_status_t vtpu_pad_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                          const void* const* in, void* const* out) {
  (void)scratch;
  const pad_t* pad = kernel->state;
  const tpt_type_t* result = &kernel->result_types[0];
  size_t size = tpt_dtype_size(result->dtype);
  if (!pad->covers_all) vtpu_fill(exec, in[1], size, out[0], tpt_type_count(result));
  if (!pad->is_empty)
    vtpu_box_copy(&pad->box, size, exec, (const char*)in[0] + pad->in_offset,
                  (char*)out[0] + pad->out_offset);
  return NULL;
}

// --- slices at run-time starts
// ----------------------------------------------------------------------

typedef struct window {
  vtpu_box_t box;
  int rank, first_index;         // operand that holds the first start
  int64_t room[TPT_RANK_MAX];    // largest legal start
  int64_t stride[TPT_RANK_MAX];  // bytes, of the array that starts move in
  bool is_empty;
} window_t;

static tpt_status_t window_prepare(vtpu_kernel_t* kernel, const tpt_type_t* whole,
                                   const tpt_type_t* part, bool is_update) {
  window_t* window = tpt_arena_calloc(kernel->arena, 1, sizeof(*window));
  if (!window) return tpt_arena_status(kernel->arena);
  kernel->state = window;
  window->rank = whole->rank;
  window->first_index = is_update ? 2 : 1;
  vtpu_type_strides(whole, window->stride);
  window->box.rank = part->rank;
  memcpy(window->box.size, part->dims, sizeof(part->dims));
  int64_t* moving = is_update ? window->box.out_stride : window->box.in_stride;
  memcpy(moving, window->stride, sizeof(window->stride));
  vtpu_type_strides(part, is_update ? window->box.in_stride : window->box.out_stride);
  for (int d = 0; d < whole->rank; d++)
    window->room[d] = whole->dims[d] - part->dims[d];
  window->is_empty = tpt_type_count(part) == 0;
  vtpu_box_simplify(&window->box);
  kernel->cost = vtpu_move_cost(2 * tpt_type_size(part)) + 5 * whole->rank;
  return NULL;
}

static int64_t window_offset(const window_t* window, const vtpu_kernel_t* kernel,
                             const void* const* in) {
  int64_t offset = 0;
  for (int d = 0; d < window->rank; d++) {
    int operand = window->first_index + d;
    int64_t start = vtpu_index_load(kernel->operand_types[operand].dtype, in[operand], 0);
    if (start > window->room[d]) start = window->room[d];
    if (start < 0) start = 0;
    offset += start * window->stride[d];
  }
  return offset;
}

tpt_status_t vtpu_dynamic_slice_prepare(vtpu_kernel_t* kernel) {
  return window_prepare(kernel, &kernel->operand_types[0], &kernel->result_types[0], false);
}

tpt_status_t vtpu_dynamic_slice_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                    void* scratch, const void* const* in, void* const* out) {
  (void)scratch;
  const window_t* window = kernel->state;
  if (window->is_empty) return NULL;
  vtpu_box_copy(&window->box, tpt_dtype_size(kernel->result_types[0].dtype), exec,
                (const char*)in[0] + window_offset(window, kernel, in), out[0]);
  return NULL;
}

tpt_status_t vtpu_dynamic_update_slice_prepare(vtpu_kernel_t* kernel) {
  return window_prepare(kernel, &kernel->operand_types[0], &kernel->operand_types[1], true);
}

tpt_status_t vtpu_dynamic_update_slice_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec,
                                           void* scratch, const void* const* in, void* const* out) {
  (void)scratch;
  const window_t* window = kernel->state;
  // The starts are read before the copy: an in-place result may not overwrite them, but reading
  // first costs nothing and needs no such promise.
  int64_t offset = window_offset(window, kernel, in);
  vtpu_copy(exec, in[0], out[0], tpt_type_size(&kernel->result_types[0]));
  if (window->is_empty) return NULL;
  vtpu_box_copy(&window->box, tpt_dtype_size(kernel->result_types[0].dtype), exec, in[1],
                (char*)out[0] + offset);
  return NULL;
}

// --- reverse
// ----------------------------------------------------------------------------------------

typedef struct reverse {
  vtpu_box_t box;
  int64_t in_offset;
  bool is_empty;
} reverse_t;

tpt_status_t vtpu_reverse_prepare(vtpu_kernel_t* kernel) {
  reverse_t* reverse = tpt_arena_calloc(kernel->arena, 1, sizeof(*reverse));
  if (!reverse) return tpt_arena_status(kernel->arena);
  kernel->state = reverse;
  const tpt_type_t* type = &kernel->operand_types[0];
  int count = 0;
  const int64_t* dims = tpt_node_ints(kernel->node, 0, &count);
  reverse->box.rank = type->rank;
  memcpy(reverse->box.size, type->dims, sizeof(type->dims));
  vtpu_type_strides(type, reverse->box.in_stride);
  vtpu_type_strides(type, reverse->box.out_stride);
  reverse->is_empty = tpt_type_count(type) == 0;
  for (int i = 0; i < count && !reverse->is_empty; i++) {
    int64_t* stride = &reverse->box.in_stride[dims[i]];
    reverse->in_offset += (type->dims[dims[i]] - 1) * *stride;
    *stride = -*stride;
  }
  vtpu_box_simplify(&reverse->box);
  kernel->cost = vtpu_move_cost(2 * tpt_type_size(type));
  return NULL;
}

tpt_status_t vtpu_reverse_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                              const void* const* in, void* const* out) {
  (void)scratch;
  const reverse_t* reverse = kernel->state;
  if (reverse->is_empty) return NULL;
  vtpu_box_copy(&reverse->box, tpt_dtype_size(kernel->result_types[0].dtype), exec,
                (const char*)in[0] + reverse->in_offset, out[0]);
  return NULL;
}
