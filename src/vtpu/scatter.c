// scatter: windows of the updates combined into the operand in the order of their positions, so
// that duplicate indices give the same result on every run. Windows that do not fit are dropped
// whole, as XLA does; with an index check they fail the run before anything is written.
//
// Two ways: windows whose rows are contiguous in both arrays go row by row; everything else goes
// through lists of single elements. Work is split by columns of long rows or by places of the
// operand, never by positions. A sum of 16-bit floats is kept in f32 and rounded once.
#include <string.h>

#include "vtpu/box.h"
#include "vtpu/kernel_rows.h"
#include "vtpu/lane.h"
#include "vtpu/monoid.h"
#include "vtpu/panel.h"
#include "vtpu/scatter_list.h"
#include "vtpu/starts.h"

typedef enum split { SPLIT_NONE, SPLIT_COLUMNS, SPLIT_PLACES } split_t;

enum {
  COLUMNS_MIN = 512,  // row elements from which a row is worth splitting
  WIDEN_COUNT = 256,  // elements widened at a time
};

typedef struct scatter {
  vtpu_starts_t starts;
  vtpu_scatter_rule_t rule;
  vtpu_box_t window;  // in elements, updates to operand, simplified
  bool is_rowwise;
  split_t split;
  int part_count;
  int64_t element_count;  // of the operand
} scatter_t;

// --- prepare
// ----------------------------------------------------------------------------------------

static tpt_status_t rule_make(vtpu_kernel_t* kernel, bool is_unique, vtpu_scatter_rule_t* rule) {
  uint32_t block = kernel->node->regions[0];
  rule->count = (kernel->operand_count - 1) / 2;
  if (rule->count > VTPU_SCATTER_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "scatter of %d operands; vtpu takes at most %d", rule->count,
             VTPU_SCATTER_MAX);
  for (int i = 0; i < rule->count; i++)
    rule->size[i] = tpt_dtype_size(kernel->operand_types[i].dtype);
  if (rule->count == 1) {
    tpt_dtype_t dtype = kernel->operand_types[0].dtype;
    tpt_hlo_t op = tpt_region_monoid(kernel->graph, block, &rule->replaces);
    if (rule->replaces) return NULL;
    rule->monoid = op == TPT_HLO_COUNT ? NULL : vtpu_monoid(op, dtype);
    if (rule->monoid && op == TPT_HLO_ADD && vtpu_dtype_is_half(dtype) && !is_unique) {
      rule->monoid = vtpu_monoid(op, TPT_F32);
      rule->widen = vtpu_widen_fn(dtype, VTPU_COMPUTE_F32, VTPU_PART_EXACT);
      rule->narrow = vtpu_narrow_fn(VTPU_COMPUTE_F32, dtype);
    }
    if (rule->monoid) return NULL;
  }
  return vtpu_body_compile(kernel->graph, block, kernel->arena, &rule->body);
}

static void window_make(scatter_t* scatter) {
  const vtpu_starts_t* starts = &scatter->starts;
  vtpu_box_t* window = &scatter->window;
  window->rank = starts->window_rank;
  for (int d = 0; d < starts->window_rank; d++) {
    window->size[d] = starts->window_size[d];
    window->in_stride[d] = starts->window_other_stride[d];
    window->out_stride[d] = starts->window_stride[d];
  }
  vtpu_box_simplify(window);
  int last = window->rank - 1;
  scatter->is_rowwise = !scatter->rule.body && window->rank > 0 && window->in_stride[last] == 1 &&
                        window->out_stride[last] == 1 && window->size[last] >= 4;
}

tpt_status_t vtpu_scatter_prepare(vtpu_kernel_t* kernel) {
  scatter_t* scatter = tpt_arena_calloc(kernel->arena, 1, sizeof(*scatter));
  if (!scatter) return tpt_arena_status(kernel->arena);
  kernel->state = scatter;
  tpt_scatter_t form;
  tpt_node_scatter(kernel->node, &form);
  TPT_TRY(rule_make(kernel, form.unique, &scatter->rule));
  int count = scatter->rule.count;
  const tpt_type_t *operand = &kernel->operand_types[0],
                   *updates = &kernel->operand_types[count + 1];
  vtpu_starts_from_scatter(&form, operand, &kernel->operand_types[count], updates,
                           &scatter->starts);
  window_make(scatter);
  scatter->element_count = tpt_type_count(operand);
  if (scatter->rule.widen) kernel->scratch_size = (size_t)scatter->element_count * sizeof(float);
  int64_t elements = tpt_type_count(updates);
  int64_t per_element = scatter->rule.body ? 20 : scatter->is_rowwise ? 1 : 4;
  int64_t work = elements * per_element * count + scatter->starts.position_count * 8;
  int64_t row = scatter->is_rowwise ? scatter->window.size[scatter->window.rank - 1] : 0;
  scatter->part_count = vtpu_lane_count(INT64_MAX, work);
  if (scatter->part_count > 1) {
    if (row >= COLUMNS_MIN) {
      scatter->split = SPLIT_COLUMNS;
    } else if (scatter->starts.is_disjoint) {
      scatter->split = SPLIT_PLACES;
    }
  }
  if (scatter->split == SPLIT_NONE) scatter->part_count = 1;
  kernel->cost = 80 + work;
  return tpt_arena_status(kernel->arena);
}

// --- run
// --------------------------------------------------------------------------------------------

typedef struct run {
  const scatter_t* scatter;
  const void* indices;
  char* acc[VTPU_SCATTER_MAX];
  const char* updates[VTPU_SCATTER_MAX];
} run_t;

typedef struct part {  // what one part of the split may touch
  int64_t column_begin, column_end;
  int64_t place_begin, place_end;
} part_t;

static void row_combine(const vtpu_scatter_rule_t* rule, char* acc, const char* updates,
                        int64_t acc_at, int64_t update_at, int64_t count) {
  int64_t size = (int64_t)rule->size[0];
  const char* from = updates + update_at * size;
  if (rule->replaces) {
    memcpy(acc + acc_at * size, from, (size_t)(count * size));
  } else if (!rule->widen) {
    rule->monoid->combine(acc + acc_at * size, from, count);
  } else {
    float wide[WIDEN_COUNT];
    for (int64_t done = 0; done < count; done += WIDEN_COUNT) {
      int64_t some = count - done < WIDEN_COUNT ? count - done : WIDEN_COUNT;
      rule->widen(from + done * size, wide, some);
      rule->monoid->combine(acc + (acc_at + done) * 4, wide, some);
    }
  }
}

// The rows of one window, restricted to the part's columns.
static void window_combine(const run_t* run, const part_t* part, int64_t acc_at,
                           int64_t update_at) {
  const vtpu_box_t* window = &run->scatter->window;
  int last = window->rank - 1;
  int64_t rows = 1, at[TPT_RANK_MAX] = {0};
  for (int d = 0; d < last; d++)
    rows *= window->size[d];
  acc_at += part->column_begin;
  update_at += part->column_begin;
  for (int64_t row = 0; row < rows; row++) {
    row_combine(&run->scatter->rule, run->acc[0], run->updates[0], acc_at, update_at,
                part->column_end - part->column_begin);
    for (int d = last - 1; d >= 0; d--) {
      acc_at += window->out_stride[d];
      update_at += window->in_stride[d];
      if (++at[d] < window->size[d]) break;
      acc_at -= at[d] * window->out_stride[d];
      update_at -= at[d] * window->in_stride[d];
      at[d] = 0;
    }
  }
}

// A chunk of single elements that lie one after another in the updates; places outside the part are
// skipped.
static void elements_combine(const run_t* run, const part_t* part, vtpu_starts_chunk_t* chunk) {
  const vtpu_scatter_rule_t* rule = &run->scatter->rule;
  const char* from = run->updates[0] + chunk->other[0] * (int64_t)rule->size[0];
  float wide[VTPU_STARTS_CHUNK];
  for (int i = 0; i < chunk->count; i++)
    if (chunk->at[i] < part->place_begin || chunk->at[i] >= part->place_end) chunk->at[i] = -1;
  if (rule->widen) {
    rule->widen(from, wide, chunk->count);
    rule->monoid->combine_at(run->acc[0], chunk->at, wide, chunk->count);
  } else {
    rule->monoid->combine_at(run->acc[0], chunk->at, from, chunk->count);
  }
}

// Appends the elements of one window to the list.
static void window_list(const run_t* run, vtpu_scatter_list_t* list, int64_t acc_at,
                        int64_t update_at) {
  const vtpu_box_t* window = &run->scatter->window;
  int64_t at[TPT_RANK_MAX] = {0};
  for (int64_t i = 0; i < run->scatter->starts.window_count; i++) {
    vtpu_scatter_list_add(list, acc_at, update_at);
    for (int d = window->rank - 1; d >= 0; d--) {
      acc_at += window->out_stride[d];
      update_at += window->in_stride[d];
      if (++at[d] < window->size[d]) break;
      acc_at -= at[d] * window->out_stride[d];
      update_at -= at[d] * window->in_stride[d];
      at[d] = 0;
    }
  }
}

static void part_item(void* arg, int64_t item, int lane) {
  (void)lane;
  const run_t* run = arg;
  const scatter_t* scatter = run->scatter;
  const vtpu_starts_t* starts = &scatter->starts;
  int64_t row = scatter->is_rowwise ? scatter->window.size[scatter->window.rank - 1] : 0;
  part_t part = {0, row, 0, scatter->element_count};
  int64_t parts = scatter->part_count;
  if (scatter->split == SPLIT_COLUMNS) {
    part.column_begin = row * item / parts;
    part.column_end = row * (item + 1) / parts;
  } else if (scatter->split == SPLIT_PLACES) {
    part.place_begin = scatter->element_count / parts * item;
    if (item + 1 < parts) part.place_end = scatter->element_count / parts * (item + 1);
  }
  vtpu_scatter_list_t list;
  vtpu_scatter_list_init(&list, &scatter->rule, (void* const*)run->acc,
                         (const void* const*)run->updates);
  vtpu_starts_chunk_t chunk;
  bool is_elements = scatter->window.rank == 0 && scatter->rule.monoid && starts->other_is_dense &&
                     starts->other_step == 1;
  for (int64_t first = 0; first < starts->position_count; first += VTPU_STARTS_CHUNK) {
    int64_t count = starts->position_count - first;
    if (count > VTPU_STARTS_CHUNK) count = VTPU_STARTS_CHUNK;
    vtpu_starts_resolve(starts, run->indices, first, (int)count, true, &chunk);
    if (is_elements) {
      elements_combine(run, &part, &chunk);
      continue;
    }
    for (int i = 0; i < chunk.count; i++) {
      if (chunk.at[i] < part.place_begin || chunk.at[i] >= part.place_end) continue;
      if (scatter->is_rowwise) {
        window_combine(run, &part, chunk.at[i], chunk.other[i]);
      } else {
        window_list(run, &list, chunk.at[i], chunk.other[i]);
      }
    }
  }
  vtpu_scatter_list_flush(&list);
}

typedef struct convert {
  vtpu_convert_fn_t fn;
  const char* in;
  char* out;
  size_t in_size, out_size;
} convert_t;

static void convert_stretch(void* arg, int64_t begin, int64_t end, int thread) {
  (void)thread;
  const convert_t* convert = arg;
  convert->fn(convert->in + (size_t)begin * convert->in_size,
              convert->out + (size_t)begin * convert->out_size, end - begin);
}

tpt_status_t vtpu_scatter_run(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                              const void* const* in, void* const* out) {
  const scatter_t* scatter = kernel->state;
  const vtpu_scatter_rule_t* rule = &scatter->rule;
  int count = rule->count;
  TPT_TRY(vtpu_starts_check(&scatter->starts, in[count]));
  run_t run = {.scatter = scatter, .indices = in[count]};
  for (int i = 0; i < count; i++) {
    run.acc[i] = out[i];
    run.updates[i] = in[count + 1 + i];
    if (!rule->widen) vtpu_copy(exec, in[i], out[i], tpt_type_size(&kernel->operand_types[i]));
  }
  if (rule->widen) {
    run.acc[0] = scratch;
    convert_t widen = {rule->widen, in[0], scratch, rule->size[0], 4};
    vtpu_range_for(exec, scatter->element_count, 1 << 15, convert_stretch, &widen);
  }
  if (scatter->starts.position_count > 0 && scatter->starts.window_count > 0)
    vtpu_lane_for(exec, scatter->part_count, scatter->part_count, part_item, &run);
  if (rule->widen) {
    convert_t narrow = {rule->narrow, scratch, out[0], 4, rule->size[0]};
    vtpu_range_for(exec, scatter->element_count, 1 << 15, convert_stretch, &narrow);
  }
  return NULL;
}
