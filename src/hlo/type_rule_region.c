// Owns the type rules of ops with regions: reductions, windows, sort, map and control flow.
#include "hlo/type_rule.h"

enum { WINDOW_DIMS, WINDOW_STRIDES, WINDOW_BASE_DILATION, WINDOW_DILATION, WINDOW_PADDING };
enum { SELECT_PADDING = 2 };

// `count` 0-d types: those of operands first, first + 1 ..., repeated so that `copies` lists follow
// each other. NULL when memory is out.
static tpt_type_t* scalars_of(const tpt_rule_t* r, uint32_t first, int count, int copies) {
  tpt_type_t* types =
      tpt_arena_alloc(tpt_graph_arena(r->graph), (size_t)count * (size_t)copies * sizeof(*types));
  for (int i = 0; types && i < count * copies; i++)
    types[i] = tpt_type_scalar(r->types[first + (uint32_t)(i % count)]->dtype);
  return types;
}

static tpt_status_t no_memory(const tpt_rule_t* r) {
  return tpt_arena_status(tpt_graph_arena(r->graph));
}

// Operands are n inputs of one shape and n 0-d initial values of their dtypes; the region combines.
static tpt_status_t check_reduction(const tpt_rule_t* r, int* out_count) {
  if (r->operand_count == 0 || r->operand_count % 2)
    return tpt__rule_fail(r, "takes inputs and as many initial values, not %u operands",
                          r->operand_count);
  int count = (int)r->operand_count / 2;
  for (int i = 0; i < count; i++) {
    const tpt_type_t* init = r->types[count + i];
    if (!tpt_dims_equal(r->types[i], r->types[0]))
      return tpt__rule_mismatch(r, "inputs must have one shape", r->types[0], r->types[i]);
    if (init->rank != 0 || init->dtype != r->types[i]->dtype)
      return tpt__rule_mismatch(r, "an initial value must be 0-d of its input's element type", init,
                                r->types[i]);
  }
  tpt_type_t* scalars = scalars_of(r, 0, count, 2);
  if (!scalars) return no_memory(r);
  *out_count = count;
  TPT_TRY(tpt__rule_closed(r, 0));
  return tpt__rule_block(r, 0, scalars, 2 * count, scalars, count);
}

tpt_status_t tpt__rule_reduce(tpt_rule_t* r) {
  int count = 0;
  TPT_TRY(check_reduction(r, &count));
  TPT_TRY(tpt__rule_need(r, 0));
  TPT_TRY(tpt__rule_dims(r, 0, r->types[0]->rank, false));
  for (int i = 0; i < count; i++) {
    tpt_type_t type = tpt_type_scalar(r->types[i]->dtype);
    for (int d = 0; d < r->types[i]->rank; d++) {
      if (!tpt__list_has(tpt__rule_ints(r, 0), tpt__rule_count(r, 0), d))
        type.dims[type.rank++] = r->types[i]->dims[d];
    }
    TPT_TRY(tpt__rule_result(r, &type));
  }
  return NULL;
}

// One dimension of a window and what it slides over.
typedef struct slide {
  int64_t extent, base_dilation;
  const int64_t* padding;  // low, high
  int64_t size, dilation, stride;
} slide_t;

// (size - 1) * dilation + 1 for a size above zero; false on overflow.
static bool dilate(int64_t dilation, int64_t* inout_size) {
  if (*inout_size == 0) return true;
  return !__builtin_mul_overflow(*inout_size - 1, dilation, inout_size) &&
         !__builtin_add_overflow(*inout_size, 1, inout_size);
}

// Number of positions of the window; false when no legal size is left.
static bool count_positions(slide_t slide, int64_t* out_count) {
  if (!dilate(slide.base_dilation, &slide.extent) || !dilate(slide.dilation, &slide.size) ||
      __builtin_add_overflow(slide.extent, slide.padding[0], &slide.extent) ||
      __builtin_add_overflow(slide.extent, slide.padding[1], &slide.extent) || slide.extent < 0)
    return false;
  bool is_empty = slide.extent == 0 || slide.size > slide.extent;
  *out_count = is_empty ? 0 : (slide.extent - slide.size) / slide.stride + 1;
  return true;
}

tpt_status_t tpt__rule_reduce_window(tpt_rule_t* r) {
  int count = 0;
  TPT_TRY(check_reduction(r, &count));
  int rank = r->types[0]->rank;
  TPT_TRY(tpt__rule_need_ints(r, WINDOW_DIMS, rank));
  for (int slot = WINDOW_STRIDES; slot <= WINDOW_DILATION; slot++)
    TPT_TRY(tpt__rule_default_ints(r, slot, rank, 1));
  TPT_TRY(tpt__rule_default_ints(r, WINDOW_PADDING, 2 * rank, 0));
  for (int slot = WINDOW_DIMS; slot <= WINDOW_DILATION; slot++)
    TPT_TRY(tpt__rule_at_least(r, slot, 1));
  tpt_type_t type = *r->types[0];
  for (int i = 0; i < rank; i++) {
    slide_t slide = {.extent = type.dims[i],
                     .base_dilation = tpt__rule_ints(r, WINDOW_BASE_DILATION)[i],
                     .padding = tpt__rule_ints(r, WINDOW_PADDING) + 2 * i,
                     .size = tpt__rule_ints(r, WINDOW_DIMS)[i],
                     .dilation = tpt__rule_ints(r, WINDOW_DILATION)[i],
                     .stride = tpt__rule_ints(r, WINDOW_STRIDES)[i]};
    if (!count_positions(slide, &type.dims[i]))
      return tpt__rule_fail(r, "dimension %d has no legal size after dilation and padding", i);
  }
  for (int i = 0; i < count; i++) {
    type.dtype = r->types[i]->dtype;
    TPT_TRY(tpt__rule_result(r, &type));
  }
  return NULL;
}

tpt_status_t tpt__rule_select_and_scatter(tpt_rule_t* r) {
  const tpt_type_t* operand = r->types[0];
  const tpt_type_t* source = r->types[1];
  const tpt_type_t* init = r->types[2];
  int rank = operand->rank;
  if (source->dtype != operand->dtype || source->rank != rank)
    return tpt__rule_mismatch(r, "the source must have the operand's element type and rank", source,
                              operand);
  if (init->rank != 0 || init->dtype != operand->dtype)
    return tpt__rule_mismatch(r, "the initial value must be 0-d of the operand's element type",
                              init, operand);
  TPT_TRY(tpt__rule_default_ints(r, WINDOW_DIMS, rank, 1));
  TPT_TRY(tpt__rule_default_ints(r, WINDOW_STRIDES, rank, 1));
  TPT_TRY(tpt__rule_default_ints(r, SELECT_PADDING, 2 * rank, 0));
  TPT_TRY(tpt__rule_at_least(r, WINDOW_DIMS, 1));
  TPT_TRY(tpt__rule_at_least(r, WINDOW_STRIDES, 1));
  for (int i = 0; i < rank; i++) {
    int64_t count;
    slide_t slide = {.extent = operand->dims[i],
                     .base_dilation = 1,
                     .padding = tpt__rule_ints(r, SELECT_PADDING) + 2 * i,
                     .size = tpt__rule_ints(r, WINDOW_DIMS)[i],
                     .dilation = 1,
                     .stride = tpt__rule_ints(r, WINDOW_STRIDES)[i]};
    if (!count_positions(slide, &count) || count != source->dims[i])
      return tpt__rule_fail(r, "dimension %d of the source is %lld, not the number of windows", i,
                            (long long)source->dims[i]);
  }
  tpt_type_t scalars[2] = {tpt_type_scalar(operand->dtype), tpt_type_scalar(operand->dtype)};
  tpt_type_t pred = tpt_type_scalar(TPT_PRED);
  for (int i = 0; i < 2; i++)
    TPT_TRY(tpt__rule_closed(r, i));
  TPT_TRY(tpt__rule_block(r, 0, scalars, 2, &pred, 1));
  TPT_TRY(tpt__rule_block(r, 1, scalars, 2, scalars, 1));
  return tpt__rule_share(r, operand);
}

tpt_status_t tpt__rule_sort(tpt_rule_t* r) {
  if (r->operand_count == 0) return tpt__rule_fail(r, "at least one operand is needed");
  int rank = r->types[0]->rank;
  tpt__rule_default_i64(r, 0, -1);
  tpt__rule_default_i64(r, 1, 0);
  // The specification counts from the end too; one form is kept.
  if (r->attrs[0].i < 0) r->attrs[0].i += rank;
  if (r->attrs[0].i < 0 || r->attrs[0].i >= rank)
    return tpt__rule_fail(r, "dimension %lld is no dimension of rank %d", (long long)r->attrs[0].i,
                          rank);
  int count = (int)r->operand_count;
  tpt_type_t* scalars =
      tpt_arena_alloc(tpt_graph_arena(r->graph), 2 * (size_t)count * sizeof(*scalars));
  if (!scalars) return no_memory(r);
  for (int i = 0; i < count; i++) {
    if (!tpt_dims_equal(r->types[i], r->types[0]))
      return tpt__rule_mismatch(r, "operands must have one shape", r->types[0], r->types[i]);
    scalars[2 * i] = scalars[2 * i + 1] = tpt_type_scalar(r->types[i]->dtype);
    TPT_TRY(tpt__rule_share(r, r->types[i]));
  }
  tpt_type_t pred = tpt_type_scalar(TPT_PRED);
  TPT_TRY(tpt__rule_closed(r, 0));
  return tpt__rule_block(r, 0, scalars, 2 * count, &pred, 1);
}

tpt_status_t tpt__rule_map(tpt_rule_t* r) {
  if (r->operand_count == 0) return tpt__rule_fail(r, "at least one operand is needed");
  int rank = r->types[0]->rank;
  TPT_TRY(tpt__rule_need_ints(r, 0, rank));
  for (int i = 0; i < rank; i++) {
    if (tpt__rule_ints(r, 0)[i] != i)
      return tpt__rule_fail(r, "dimensions must be 0, 1, ... up to the rank");
  }
  for (uint32_t i = 1; i < r->operand_count; i++) {
    if (!tpt_dims_equal(r->types[i], r->types[0]))
      return tpt__rule_mismatch(r, "operands must have one shape", r->types[0], r->types[i]);
  }
  tpt_type_t* scalars = scalars_of(r, 0, (int)r->operand_count, 1);
  if (!scalars) return no_memory(r);
  TPT_TRY(tpt__rule_closed(r, 0));
  TPT_TRY(tpt__rule_block(r, 0, scalars, (int)r->operand_count, NULL, 1));
  tpt_block_t block = tpt_graph_block(r->graph, r->regions[0]);
  const tpt_type_t* element = tpt_graph_type(r->graph, block.results[0]);
  if (element->rank != 0) return tpt__rule_fail(r, "the region must return a 0-d value");
  tpt_type_t type = *r->types[0];
  type.dtype = element->dtype;
  return tpt__rule_result(r, &type);
}

tpt_status_t tpt__rule_branches(tpt_rule_t* r) {
  bool is_if = r->row == tpt_hlo_row(TPT_HLO_IF);
  const tpt_type_t* selector = r->types[0];
  if (selector->rank != 0 || selector->dtype != (is_if ? TPT_PRED : TPT_S32))
    return tpt__rule_fail(r, "the selector must be a 0-d %s", is_if ? "pred" : "s32");
  if (r->region_count == 0) return tpt__rule_fail(r, "at least one branch is needed");
  tpt_block_t first = tpt_graph_block(r->graph, r->regions[0]);
  tpt_type_t* types =
      tpt_arena_alloc(tpt_graph_arena(r->graph), first.result_count * sizeof(*types));
  if (!types) return no_memory(r);
  for (uint32_t i = 0; i < first.result_count; i++) {
    const tpt_type_t* type = tpt_graph_type(r->graph, first.results[i]);
    types[i] = *type;
    TPT_TRY(tpt__rule_share(r, type));
  }
  for (uint32_t i = 0; i < r->region_count; i++)
    TPT_TRY(tpt__rule_block(r, (int)i, NULL, 0, types, (int)first.result_count));
  return NULL;
}

tpt_status_t tpt__rule_loop(tpt_rule_t* r) {
  int count = (int)r->operand_count;
  tpt_type_t* types = tpt_arena_alloc(tpt_graph_arena(r->graph), (size_t)count * sizeof(*types));
  if (!types) return no_memory(r);
  for (int i = 0; i < count; i++) {
    types[i] = *r->types[i];
    TPT_TRY(tpt__rule_share(r, r->types[i]));
  }
  tpt_type_t pred = tpt_type_scalar(TPT_PRED);
  TPT_TRY(tpt__rule_block(r, 0, types, count, &pred, 1));
  return tpt__rule_block(r, 1, types, count, types, count);
}

tpt_status_t tpt__rule_barrier(tpt_rule_t* r) {
  for (uint32_t i = 0; i < r->operand_count; i++)
    TPT_TRY(tpt__rule_share(r, r->types[i]));
  return NULL;
}

tpt_status_t tpt__rule_custom_call(tpt_rule_t* r) {
  TPT_TRY(tpt__rule_need(r, 0));
  tpt__rule_default_i64(r, 1, 0);
  if (!r->attrs[2].is_set) r->attrs[2] = (tpt_attr_t){.is_set = true, .bytes = ""};
  for (uint32_t i = 0; i < r->given_count; i++)
    TPT_TRY(tpt__rule_result(r, &r->given[i]));
  return NULL;
}
