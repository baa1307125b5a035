// Index arithmetic of gather and scatter. Windows are dropped whole, as XLA does on every back end,
// when any part of them lies outside the operand. Bounds are compared before anything is
// multiplied, so no index, however wild, overflows.
#include "vtpu/starts.h"

#include <string.h>

#include "vtpu/box.h"

static bool has(const int64_t* list, int count, int64_t x) {
  for (int i = 0; i < count; i++)
    if (list[i] == x) return true;
  return false;
}

static void element_strides(const tpt_type_t* type, int64_t* strides) {
  int64_t stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= type->dims[d];
  }
}

// What gather and scatter call by different names.
typedef struct form {
  const int64_t *window_dims, *gone_dims, *operand_batching, *indices_batching, *map;
  int window_count, gone_count, batching_count, map_count;
  int64_t index_vector_dim;
} form_t;

static void set_components(const form_t* form, const tpt_type_t* operand, const tpt_type_t* indices,
                           const int64_t* strides, const int64_t* extent, vtpu_starts_t* out) {
  out->index_dtype = indices->dtype;
  out->component_count = form->map_count;
  out->inner = 1;
  for (int d = (int)form->index_vector_dim + 1; d < indices->rank; d++)
    out->inner *= indices->dims[d];
  out->is_disjoint = true;
  for (int c = 0; c < form->map_count; c++) {
    int64_t dim = form->map[c];
    out->dim[c] = dim;
    out->dim_size[c] = operand->dims[dim];
    out->room[c] = operand->dims[dim] - extent[dim];
    out->stride[c] = strides[dim];
    if (extent[dim] > 1) out->is_disjoint = false;
  }
}

static void set_positions(const form_t* form, const tpt_type_t* indices, const tpt_type_t* other,
                          const int64_t* strides, const int64_t* other_strides,
                          vtpu_starts_t* out) {
  out->position_count = 1;
  int next = 0;  // the other array's next dimension that is not of the window
  for (int d = 0; d < indices->rank; d++) {
    if (d == form->index_vector_dim) continue;
    int b = out->batch_rank++;
    out->batch_size[b] = indices->dims[d];
    out->position_count *= indices->dims[d];
    while (next < other->rank && has(form->window_dims, form->window_count, next))
      next++;
    out->other_stride[b] = other_strides[next++];
    for (int i = 0; i < form->batching_count; i++) {
      if (form->indices_batching[i] != d) continue;
      out->batch_stride[b] = strides[form->operand_batching[i]];
      out->has_batching = true;
    }
  }
  out->other_is_dense = true;
  out->other_step = out->batch_rank > 0 ? out->other_stride[out->batch_rank - 1] : 0;
  for (int b = 0; b + 1 < out->batch_rank; b++)
    out->other_is_dense &=
        out->other_stride[b] == out->batch_size[b + 1] * out->other_stride[b + 1];
}

static void starts_make(const form_t* form, const tpt_type_t* operand, const tpt_type_t* indices,
                        const tpt_type_t* other, vtpu_starts_t* out) {
  memset(out, 0, sizeof(*out));
  int64_t strides[TPT_RANK_MAX], other_strides[TPT_RANK_MAX], extent[TPT_RANK_MAX];
  element_strides(operand, strides);
  element_strides(other, other_strides);
  out->window_count = 1;
  int next = 0;
  for (int d = 0; d < operand->rank; d++) {
    extent[d] = 1;
    if (has(form->gone_dims, form->gone_count, d) ||
        has(form->operand_batching, form->batching_count, d))
      continue;
    int64_t dim = form->window_dims[next++];
    extent[d] = other->dims[dim];
    out->window_count *= extent[d];
    int w = out->window_rank++;
    out->window_size[w] = extent[d];
    out->window_stride[w] = strides[d];
    out->window_other_stride[w] = other_strides[dim];
  }
  set_components(form, operand, indices, strides, extent, out);
  set_positions(form, indices, other, strides, other_strides, out);
}

void vtpu_starts_from_gather(const tpt_gather_t* gather, const tpt_type_t* operand,
                             const tpt_type_t* indices, const tpt_type_t* result,
                             vtpu_starts_t* out) {
  form_t form = {.window_dims = gather->offset_dims,
                 .window_count = gather->offset_count,
                 .gone_dims = gather->collapsed_dims,
                 .gone_count = gather->collapsed_count,
                 .operand_batching = gather->operand_batching,
                 .indices_batching = gather->indices_batching,
                 .batching_count = gather->batching_count,
                 .map = gather->start_index_map,
                 .map_count = gather->map_count,
                 .index_vector_dim = gather->index_vector_dim};
  starts_make(&form, operand, indices, result, out);
  out->check = gather->check;
  // A collapsed dimension may have a slice of size 0 (an empty result): then any start fits.
  for (int c = 0; c < form.map_count; c++)
    out->room[c] = operand->dims[form.map[c]] - gather->slice_sizes[form.map[c]];
}

void vtpu_starts_from_scatter(const tpt_scatter_t* scatter, const tpt_type_t* operand,
                              const tpt_type_t* indices, const tpt_type_t* updates,
                              vtpu_starts_t* out) {
  form_t form = {.window_dims = scatter->update_window_dims,
                 .window_count = scatter->update_window_count,
                 .gone_dims = scatter->inserted_dims,
                 .gone_count = scatter->inserted_count,
                 .operand_batching = scatter->input_batching,
                 .indices_batching = scatter->indices_batching,
                 .batching_count = scatter->batching_count,
                 .map = scatter->dims_to_operand,
                 .map_count = scatter->map_count,
                 .index_vector_dim = scatter->index_vector_dim};
  starts_make(&form, operand, indices, updates, out);
  out->check = scatter->check;
}

static int64_t component_at(const vtpu_starts_t* starts, int64_t position, int component) {
  return (position / starts->inner * starts->component_count + component) * starts->inner +
         position % starts->inner;
}

// What a failed check says (hlo/builder.h has the form of its text).
static tpt_status_t fail_check(const vtpu_starts_t* starts, int component, int64_t index) {
  const char* text = starts->check;
  if (text[0] == '!' && text[1] == '=') TPT_FAIL(TPT_INVALID_ARGUMENT, "%s", text + 2);
  bool is_value = text[0] == '!';
  return tpt_status_make(is_value ? TPT_INVALID_ARGUMENT : TPT_OUT_OF_RANGE, __FILE__, __LINE__,
                         "%s: index %lld is out of bounds for dimension %lld with size %lld",
                         text + is_value, (long long)index, (long long)starts->dim[component],
                         (long long)starts->dim_size[component]);
}

tpt_status_t vtpu_starts_check(const vtpu_starts_t* starts, const void* indices) {
  if (!starts->check) return NULL;
  for (int64_t p = 0; p < starts->position_count; p++) {
    for (int c = 0; c < starts->component_count; c++) {
      int64_t element = component_at(starts, p, c);
      int64_t index = vtpu_index_load(starts->index_dtype, indices, element);
      if (__builtin_expect(index < 0 || index > starts->room[c], 0))
        return fail_check(starts, c, index);
    }
  }
  return NULL;
}

// One component of consecutive positions, `step` elements apart.
typedef struct component {
  int64_t step, room, stride;
  bool drop;
  int count;
} component_t;

#define PLAIN(x)     ((int64_t)(x))
#define SATURATED(x) ((x) > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)(x))

#define COMPONENT(type, load)                                                                      \
  static void component_##type(const component_t* c, const type* in, int64_t* at) {                \
    for (int i = 0; i < c->count; i++) {                                                           \
      int64_t index = load(in[i * c->step]);                                                       \
      bool fits = index >= 0 && index <= c->room;                                                  \
      index = index > c->room ? c->room : index;                                                   \
      index = index < 0 ? 0 : index;                                                               \
      at[i] = at[i] < 0 || (c->drop && !fits) ? -1 : at[i] + index * c->stride;                    \
    }                                                                                              \
  }

COMPONENT(int8_t, PLAIN)
COMPONENT(uint8_t, PLAIN)
COMPONENT(int16_t, PLAIN)
COMPONENT(uint16_t, PLAIN)
COMPONENT(int32_t, PLAIN)
COMPONENT(uint32_t, PLAIN)
COMPONENT(int64_t, PLAIN)
COMPONENT(uint64_t, SATURATED)

#define COMPONENT_CASE(dtype, type)                                                                \
  case dtype:                                                                                      \
    component_##type(c, (const type*)indices + first, at);                                         \
    break;

static void component_add(tpt_dtype_t dtype, const component_t* c, const void* indices,
                          int64_t first, int64_t* at) {
  switch (dtype) {
    COMPONENT_CASE(TPT_S8, int8_t)
    COMPONENT_CASE(TPT_U8, uint8_t)
    COMPONENT_CASE(TPT_PRED, uint8_t)
    COMPONENT_CASE(TPT_S16, int16_t)
    COMPONENT_CASE(TPT_U16, uint16_t)
    COMPONENT_CASE(TPT_S32, int32_t)
    COMPONENT_CASE(TPT_U32, uint32_t)
    COMPONENT_CASE(TPT_U64, uint64_t)
  default:
    component_int64_t(c, (const int64_t*)indices + first, at);
    break;
  }
}

// Offsets that follow from the coordinates of the positions: batching dimensions and the other
// array.
static void add_coordinates(const vtpu_starts_t* starts, int64_t first, int count,
                            vtpu_starts_chunk_t* out) {
  int64_t coordinate[TPT_RANK_MAX], rest = first, at = 0, other = 0;
  for (int d = starts->batch_rank - 1; d >= 0; d--) {
    coordinate[d] = rest % starts->batch_size[d];
    rest /= starts->batch_size[d];
    at += coordinate[d] * starts->batch_stride[d];
    other += coordinate[d] * starts->other_stride[d];
  }
  for (int i = 0; i < count; i++) {
    out->at[i] = at;
    out->other[i] = other;
    for (int d = starts->batch_rank - 1; d >= 0; d--) {
      at += starts->batch_stride[d];
      other += starts->other_stride[d];
      if (++coordinate[d] < starts->batch_size[d]) break;
      at -= coordinate[d] * starts->batch_stride[d];
      other -= coordinate[d] * starts->other_stride[d];
      coordinate[d] = 0;
    }
  }
}

void vtpu_starts_resolve(const vtpu_starts_t* starts, const void* indices, int64_t first, int count,
                         bool drop, vtpu_starts_chunk_t* out) {
  out->count = count;
  if (count == 0) return;  // sizes may be 0 then
  if (starts->has_batching || !starts->other_is_dense) {
    add_coordinates(starts, first, count, out);
  } else {
    for (int i = 0; i < count; i++) {
      out->at[i] = 0;
      out->other[i] = (first + i) * starts->other_step;
    }
  }
  for (int c = 0; c < starts->component_count; c++) {
    component_t component = {.step = starts->inner == 1 ? starts->component_count : 1,
                             .room = starts->room[c],
                             .stride = starts->stride[c],
                             .drop = drop};
    // Consecutive positions are consecutive elements only within a stretch of `inner`.
    for (int done = 0; done < count;) {
      int64_t position = first + done, left = count - done;
      if (starts->inner > 1 && left > starts->inner - position % starts->inner)
        left = starts->inner - position % starts->inner;
      component.count = (int)left;
      component_add(starts->index_dtype, &component, indices, component_at(starts, position, c),
                    out->at + done);
      done += (int)left;
    }
  }
}
