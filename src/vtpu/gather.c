// gather: one window of the operand per index vector, its start clamped so that it fits, copied to
// its place in the result. With an index check nothing is clamped: a start that does not fit fails
// the run before anything is written. Single elements and contiguous rows have loops of their own.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/starts.h"

typedef struct gather {
  vtpu_starts_t starts;
  vtpu_box_t window;  // simplified, strides in bytes
  size_t element_size;
  bool is_row;  // the window is contiguous in both arrays
  bool is_empty;
  int64_t grain;  // positions that justify a hand-off
} gather_t;

tpt_status_t vtpu_gather_prepare(vtpu_kernel_t* kernel) {
  gather_t* gather = tpt_arena_calloc(kernel->arena, 1, sizeof(*gather));
  if (!gather) return tpt_arena_status(kernel->arena);
  kernel->state = gather;
  tpt_gather_t form;
  tpt_node_gather(kernel->node, &form);
  const tpt_type_t* result = &kernel->result_types[0];
  vtpu_starts_t* starts = &gather->starts;
  vtpu_starts_from_gather(&form, &kernel->operand_types[0], &kernel->operand_types[1], result,
                          starts);
  gather->element_size = tpt_dtype_size(result->dtype);
  gather->is_empty = tpt_type_count(result) == 0;
  int64_t size = (int64_t)gather->element_size;
  gather->window.rank = starts->window_rank;
  for (int d = 0; d < starts->window_rank; d++) {
    gather->window.size[d] = starts->window_size[d];
    gather->window.in_stride[d] = starts->window_stride[d] * size;
    gather->window.out_stride[d] = starts->window_other_stride[d] * size;
  }
  vtpu_box_simplify(&gather->window);
  gather->is_row = gather->window.rank == 0 ||
                   (gather->window.rank == 1 && gather->window.in_stride[0] == size &&
                    gather->window.out_stride[0] == size);
  int64_t per_position = 8 + starts->window_count * size / (gather->is_row ? 8 : 2);
  gather->grain = 20000 / per_position + 1;
  kernel->cost = 60 + starts->position_count * per_position;
  return NULL;
}

typedef struct run {
  const gather_t* gather;
  const char* in;
  const void* indices;
  char* out;
} run_t;

typedef struct wide {
  uint64_t half[2];
} wide_t;

#define ELEMENTS(type)                                                                             \
  static void elements_##type(const vtpu_starts_chunk_t* chunk, const void* from, void* to) {      \
    const type* in = from;                                                                         \
    type* out = to;                                                                                \
    for (int i = 0; i < chunk->count; i++)                                                         \
      out[chunk->other[i]] = in[chunk->at[i]];                                                     \
  }

ELEMENTS(uint8_t)
ELEMENTS(uint16_t)
ELEMENTS(uint32_t)
ELEMENTS(uint64_t)
ELEMENTS(wide_t)

static void elements_copy(const vtpu_starts_chunk_t* chunk, size_t size, const void* in,
                          void* out) {
  switch (size) {
  case 1:
    elements_uint8_t(chunk, in, out);
    break;
  case 2:
    elements_uint16_t(chunk, in, out);
    break;
  case 4:
    elements_uint32_t(chunk, in, out);
    break;
  case 8:
    elements_uint64_t(chunk, in, out);
    break;
  default:
    elements_wide_t(chunk, in, out);
    break;
  }
}

static void positions_copy(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  const run_t* run = arg;
  const gather_t* gather = run->gather;
  const vtpu_exec_t inline_exec = {0};
  int64_t size = (int64_t)gather->element_size;
  vtpu_starts_chunk_t chunk;
  for (int64_t first = begin; first < end; first += VTPU_STARTS_CHUNK) {
    int64_t count = end - first < VTPU_STARTS_CHUNK ? end - first : VTPU_STARTS_CHUNK;
    vtpu_starts_resolve(&gather->starts, run->indices, first, (int)count, false, &chunk);
    if (gather->window.rank == 0) {
      elements_copy(&chunk, gather->element_size, run->in, run->out);
      continue;
    }
    for (int i = 0; i < chunk.count; i++) {
      const char* from = run->in + chunk.at[i] * size;
      char* to = run->out + chunk.other[i] * size;
      if (gather->is_row) {
        memcpy(to, from, (size_t)(gather->window.size[0] * size));
      } else {
        vtpu_box_copy(&gather->window, gather->element_size, &inline_exec, from, to);
      }
    }
  }
}

tpt_status_t vtpu_gather_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                             const void* const* in, void* const* out) {
  (void)scratch;
  const gather_t* gather = kernel->state;
  TPT_TRY(vtpu_starts_check(&gather->starts, in[1]));
  if (gather->is_empty) return NULL;
  run_t run = {.gather = gather, .in = in[0], .indices = in[1], .out = out[0]};
  // A single window is a box copy, which finds its own parallelism.
  if (gather->starts.position_count == 1) {
    vtpu_starts_chunk_t chunk;
    vtpu_starts_resolve(&gather->starts, in[1], 0, 1, false, &chunk);
    vtpu_box_copy(&gather->window, gather->element_size, exec,
                  run.in + chunk.at[0] * (int64_t)gather->element_size, run.out);
    return NULL;
  }
  vtpu_range_for(exec, gather->starts.position_count, gather->grain, positions_copy, &run);
  return NULL;
}
