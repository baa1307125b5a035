// For tests: random gather shapes (a scatter has the same ones, updates in the place of the result)
// and the specification's own walk from a result index to an operand element.
#ifndef TPUTORCH_VTPU_STARTS_PROBE_H_
#define TPUTORCH_VTPU_STARTS_PROBE_H_

#include "vtpu/kernel_probe.h"

typedef struct starts_case {
  tpt_gather_t form;
  tpt_type_t operand, indices, result;
} starts_case_t;

static inline bool probe_has(const int64_t* list, int count, int64_t x) {
  for (int i = 0; i < count; i++)
    if (list[i] == x) return true;
  return false;
}

static inline void probe_shuffle(int64_t* list, int count) {
  for (int i = count - 1; i > 0; i--) {
    int j = (int)probe_int(0, i);
    int64_t x = list[i];
    list[i] = list[j], list[j] = x;
  }
}

static inline starts_case_t probe_starts_case(tpt_dtype_t dtype, tpt_dtype_t index_dtype) {
  starts_case_t c = {.operand = {.dtype = dtype}, .indices = {.dtype = index_dtype}};
  tpt_gather_t* form = &c.form;
  c.operand.rank = (int)probe_int(1, 4);
  int64_t candidates[TPT_RANK_MAX], batch[TPT_RANK_MAX], batch_of[TPT_RANK_MAX];
  int candidate_count = 0, window_count = 0, batch_count = 0;
  for (int d = 0; d < c.operand.rank; d++) {
    c.operand.dims[d] = probe_int(1, 6);
    int role = (int)probe_int(0, 5);
    form->slice_sizes[d] = 1;
    if (role == 0 && form->batching_count < 2) {
      batch_of[batch_count] = form->batching_count;
      batch[batch_count++] = c.operand.dims[d];
      form->operand_batching[form->batching_count++] = d;
      continue;
    }
    if (role <= 2) {
      form->collapsed_dims[form->collapsed_count++] = d;
    } else {
      form->slice_sizes[d] = probe_int(probe_int(0, 9) == 0 ? 0 : 1, c.operand.dims[d]);
      if (probe_int(0, 1)) form->slice_sizes[d] = c.operand.dims[d];
      window_count++;
    }
    candidates[candidate_count++] = d;
  }
  probe_shuffle(candidates, candidate_count);
  form->map_count = (int)probe_int(0, candidate_count);
  memcpy(form->start_index_map, candidates, sizeof(candidates));
  for (int extra = (int)probe_int(0, 2); extra > 0; extra--) {
    batch_of[batch_count] = -1;
    batch[batch_count++] = probe_int(0, 15) == 0 ? 0 : probe_int(1, 6);
  }
  // Deal the batch dimensions and the index vector to positions of the indices.
  int64_t order[TPT_RANK_MAX];
  for (int i = 0; i < batch_count; i++)
    order[i] = i;
  probe_shuffle(order, batch_count);
  bool is_implicit = form->map_count == 1 && probe_int(0, 1);
  form->index_vector_dim = is_implicit ? batch_count : probe_int(0, batch_count);
  int64_t batch_dims[TPT_RANK_MAX];
  for (int i = 0, d = 0; i < batch_count; i++, d++) {
    if (!is_implicit && d == form->index_vector_dim) d++;
    batch_dims[i] = c.indices.dims[d] = batch[order[i]];
    if (batch_of[order[i]] >= 0) form->indices_batching[batch_of[order[i]]] = d;
  }
  c.indices.rank = batch_count + !is_implicit;
  if (!is_implicit) c.indices.dims[form->index_vector_dim] = form->map_count;
  // Offset dimensions at random places of the result.
  c.result.dtype = dtype;
  c.result.rank = batch_count + window_count;
  form->offset_count = window_count;
  int next_window = 0, next_batch = 0, next_dim = 0;
  for (int d = 0; d < c.result.rank; d++) {
    bool is_window = next_batch == batch_count || (next_window < window_count && probe_int(0, 1));
    if (!is_window) {
      c.result.dims[d] = batch_dims[next_batch++];
      continue;
    }
    while (probe_has(form->collapsed_dims, form->collapsed_count, next_dim) ||
           probe_has(form->operand_batching, form->batching_count, next_dim))
      next_dim++;
    form->offset_dims[next_window++] = d;
    c.result.dims[d] = form->slice_sizes[next_dim++];
  }
  return c;
}

// Random indices, some out of range on both sides unless `in_range`.
static inline void* probe_indices(const starts_case_t* c, bool in_range) {
  char* data = malloc((size_t)tpt_type_size(&c->indices) + 1);
  int64_t count = tpt_type_count(&c->indices), inner = 1;
  for (int d = (int)c->form.index_vector_dim + 1; d < c->indices.rank; d++)
    inner *= c->indices.dims[d];
  bool is_signed = tpt_dtype_row(c->indices.dtype)->kind == TPT_CLASS_SINT;
  for (int64_t i = 0; i < count; i++) {
    int64_t component =
        c->form.index_vector_dim < c->indices.rank ? i / inner % c->form.map_count : 0;
    int64_t dim = c->form.start_index_map[component];
    int64_t room = c->operand.dims[dim] - c->form.slice_sizes[dim];
    int64_t low = in_range || !is_signed ? 0 : -2, high = in_range ? room : room + 2;
    probe_set(c->indices.dtype, data, i, (double)probe_int(low, high));
  }
  return data;
}

// Linear element of the operand that result index `at` belongs to; -1 if `drop` and its window does
// not fit. Straight from the specification.
static inline int64_t probe_locate(const starts_case_t* c, const void* indices, const int64_t* at,
                                   bool drop) {
  const tpt_gather_t* form = &c->form;
  int64_t batch[TPT_RANK_MAX], offset[TPT_RANK_MAX], full[TPT_RANK_MAX] = {0};
  int batch_count = 0, offset_count = 0;
  for (int d = 0; d < c->result.rank; d++) {
    if (probe_has(form->offset_dims, form->offset_count, d)) {
      offset[offset_count++] = at[d];
    } else {
      batch[batch_count++] = at[d];
    }
  }
  for (int k = 0; k < form->map_count; k++) {
    int64_t linear = 0;
    for (int d = 0, b = 0; d < c->indices.rank; d++)
      linear = linear * c->indices.dims[d] + (d == form->index_vector_dim ? k : batch[b++]);
    int64_t dim = form->start_index_map[k];
    int64_t start = (int64_t)probe_get(c->indices.dtype, indices, linear);
    int64_t room = c->operand.dims[dim] - form->slice_sizes[dim];
    if (drop && (start < 0 || start > room)) return -1;
    full[dim] = start < 0 ? 0 : start > room ? room : start;
  }
  for (int i = 0; i < form->batching_count; i++) {
    int64_t d = form->indices_batching[i];
    full[form->operand_batching[i]] = batch[d - (form->index_vector_dim < d)];
  }
  int64_t linear = 0;
  for (int d = 0, w = 0; d < c->operand.rank; d++) {
    if (!probe_has(form->collapsed_dims, form->collapsed_count, d) &&
        !probe_has(form->operand_batching, form->batching_count, d))
      full[d] += offset[w++];
    linear = linear * c->operand.dims[d] + full[d];
  }
  return linear;
}

static inline bool probe_advance(int count, const int64_t* dims, int64_t* at) {
  for (int d = count - 1; d >= 0; d--) {
    if (++at[d] < dims[d]) return true;
    at[d] = 0;
  }
  return false;
}

#endif  // TPUTORCH_VTPU_STARTS_PROBE_H_
