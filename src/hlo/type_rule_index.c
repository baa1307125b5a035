// Owns the type rules of gather and scatter.
#include "hlo/type_rule.h"

// Slots of both ops: the five lists and index_vector_dim stand in the same order.
enum { WINDOW_DIMS, DROPPED_DIMS, BATCHING_DIMS, INDICES_BATCHING_DIMS, INDEX_MAP, VECTOR_DIM };
enum { GATHER_SLICE_SIZES = 6, GATHER_SORTED };
enum { SCATTER_SORTED = 6, SCATTER_UNIQUE };

// Lists left out are empty; each names distinct dimensions of what it is about.
static tpt_status_t check_lists(tpt_rule_t* r, const tpt_type_t* operand,
                                const tpt_type_t* indices) {
  for (int slot = WINDOW_DIMS; slot <= INDEX_MAP; slot++)
    if (!r->attrs[slot].is_set) TPT_TRY(tpt__rule_default_ints(r, slot, 0, 0));
  tpt__rule_default_i64(r, VECTOR_DIM, 0);  // MLIR leaves a zero out
  if (!tpt_dtype_is_int(indices->dtype))
    return tpt__rule_fail(r, "indices must be integers, not %s",
                          tpt_dtype_row(indices->dtype)->name);
  int64_t vector_dim = r->attrs[VECTOR_DIM].i;
  if (vector_dim < 0 || vector_dim > indices->rank)
    return tpt__rule_fail(r, "index_vector_dim %lld is not in 0..%d", (long long)vector_dim,
                          indices->rank);
  TPT_TRY(tpt__rule_dims(r, DROPPED_DIMS, operand->rank, true));
  TPT_TRY(tpt__rule_dims(r, BATCHING_DIMS, operand->rank, true));
  TPT_TRY(tpt__rule_dims(r, INDICES_BATCHING_DIMS, indices->rank, false));
  TPT_TRY(tpt__rule_dims(r, INDEX_MAP, operand->rank, false));
  TPT_TRY(tpt__rule_need_ints(r, INDICES_BATCHING_DIMS, tpt__rule_count(r, BATCHING_DIMS)));
  int64_t vector_size = vector_dim == indices->rank ? 1 : indices->dims[vector_dim];
  if (tpt__rule_count(r, INDEX_MAP) != vector_size)
    return tpt__rule_fail(r, "%s has %d entries for index vectors of %lld",
                          r->row->attrs[INDEX_MAP].name, tpt__rule_count(r, INDEX_MAP),
                          (long long)vector_size);
  return NULL;
}

static tpt_status_t check_batching(const tpt_rule_t* r, const tpt_type_t* operand,
                                   const tpt_type_t* indices) {
  for (int i = 0; i < tpt__rule_count(r, BATCHING_DIMS); i++) {
    int64_t dim = tpt__rule_ints(r, BATCHING_DIMS)[i];
    int64_t index_dim = tpt__rule_ints(r, INDICES_BATCHING_DIMS)[i];
    if (tpt__list_has(tpt__rule_ints(r, DROPPED_DIMS), tpt__rule_count(r, DROPPED_DIMS), dim) ||
        tpt__list_has(tpt__rule_ints(r, INDEX_MAP), tpt__rule_count(r, INDEX_MAP), dim))
      return tpt__rule_fail(r, "batching dimension %lld is also dropped or indexed",
                            (long long)dim);
    if (index_dim == r->attrs[VECTOR_DIM].i)
      return tpt__rule_fail(r, "dimension %lld of the indices is both batching and index vector",
                            (long long)index_dim);
    if (operand->dims[dim] != indices->dims[index_dim])
      return tpt__rule_fail(r, "batching dimension %lld has size %lld, that of the indices %lld",
                            (long long)dim, (long long)operand->dims[dim],
                            (long long)indices->dims[index_dim]);
  }
  return NULL;
}

static bool is_window_dim(const tpt_rule_t* r, int64_t operand_dim) {
  return !tpt__list_has(tpt__rule_ints(r, DROPPED_DIMS), tpt__rule_count(r, DROPPED_DIMS),
                        operand_dim) &&
         !tpt__list_has(tpt__rule_ints(r, BATCHING_DIMS), tpt__rule_count(r, BATCHING_DIMS),
                        operand_dim);
}

// Dimensions of the indices without the index vector, in order.
static int index_batch(const tpt_rule_t* r, const tpt_type_t* indices, int64_t* out_dims) {
  int count = 0;
  for (int i = 0; i < indices->rank; i++) {
    if (i != r->attrs[VECTOR_DIM].i) out_dims[count++] = indices->dims[i];
  }
  return count;
}

static tpt_status_t check_slice_sizes(const tpt_rule_t* r) {
  const tpt_type_t* operand = r->types[0];
  TPT_TRY(tpt__rule_need_ints(r, GATHER_SLICE_SIZES, operand->rank));
  const int64_t* sizes = tpt__rule_ints(r, GATHER_SLICE_SIZES);
  for (int i = 0; i < operand->rank; i++) {
    if (sizes[i] < 0 || sizes[i] > operand->dims[i])
      return tpt__rule_fail(r, "slice size %lld does not fit dimension %d of size %lld",
                            (long long)sizes[i], i, (long long)operand->dims[i]);
    if (!is_window_dim(r, i) && sizes[i] > 1)
      return tpt__rule_fail(r,
                            "dimension %d is dropped, so its slice size must be 0 or 1, not %lld",
                            i, (long long)sizes[i]);
  }
  return NULL;
}

tpt_status_t tpt__rule_gather(tpt_rule_t* r) {
  const tpt_type_t* operand = r->types[0];
  const tpt_type_t* indices = r->types[1];
  TPT_TRY(check_lists(r, operand, indices));
  TPT_TRY(check_batching(r, operand, indices));
  TPT_TRY(check_slice_sizes(r));
  tpt__rule_default_i64(r, GATHER_SORTED, 0);
  int64_t batch[TPT_RANK_MAX];
  int batch_count = index_batch(r, indices, batch);
  int offset_count = tpt__rule_count(r, WINDOW_DIMS);
  int window_count =
      operand->rank - tpt__rule_count(r, DROPPED_DIMS) - tpt__rule_count(r, BATCHING_DIMS);
  if (offset_count != window_count)
    return tpt__rule_fail(r, "offset_dims has %d entries, but the slice keeps %d dimensions",
                          offset_count, window_count);
  if (batch_count + offset_count > TPT_RANK_MAX)
    TPT_FAIL(TPT_UNIMPLEMENTED, "stablehlo.gather: the result has more than %d dimensions",
             TPT_RANK_MAX);
  tpt_type_t result = tpt_type_scalar(operand->dtype);
  result.rank = batch_count + offset_count;
  TPT_TRY(tpt__rule_dims(r, WINDOW_DIMS, result.rank, true));
  int next_batch = 0, next_window = 0;
  for (int i = 0; i < result.rank; i++) {
    if (!tpt__list_has(tpt__rule_ints(r, WINDOW_DIMS), offset_count, i)) {
      result.dims[i] = batch[next_batch++];
      continue;
    }
    while (!is_window_dim(r, next_window))
      next_window++;
    result.dims[i] = tpt__rule_ints(r, GATHER_SLICE_SIZES)[next_window++];
  }
  return tpt__rule_result(r, &result);
}

// The updates' dimensions: those of the window fit the operand's, the others are the indices'.
static tpt_status_t check_updates(const tpt_rule_t* r, const tpt_type_t* operand,
                                  const tpt_type_t* indices, const tpt_type_t* updates) {
  int64_t batch[TPT_RANK_MAX];
  int batch_count = index_batch(r, indices, batch);
  int window_count = tpt__rule_count(r, WINDOW_DIMS);
  if (updates->rank != batch_count + window_count)
    return tpt__rule_mismatch(
        r, "the updates' rank must be window dimensions plus index dimensions", updates, indices);
  TPT_TRY(tpt__rule_dims(r, WINDOW_DIMS, updates->rank, true));
  int next_batch = 0, next_window = 0;
  for (int i = 0; i < updates->rank; i++) {
    if (!tpt__list_has(tpt__rule_ints(r, WINDOW_DIMS), window_count, i)) {
      if (updates->dims[i] != batch[next_batch++])
        return tpt__rule_mismatch(r, "the updates' other dimensions must be the indices'", updates,
                                  indices);
      continue;
    }
    while (!is_window_dim(r, next_window))
      next_window++;
    if (updates->dims[i] > operand->dims[next_window++])
      return tpt__rule_mismatch(r, "a window of the updates must fit the operand", updates,
                                operand);
  }
  return NULL;
}

tpt_status_t tpt__rule_scatter(tpt_rule_t* r) {
  if (r->operand_count < 3 || r->operand_count % 2 == 0)
    return tpt__rule_fail(r, "takes inputs, indices, and as many updates, not %u operands",
                          r->operand_count);
  int count = (int)r->operand_count / 2;
  const tpt_type_t* operand = r->types[0];
  const tpt_type_t* indices = r->types[count];
  TPT_TRY(check_lists(r, operand, indices));
  TPT_TRY(check_batching(r, operand, indices));
  tpt__rule_default_i64(r, SCATTER_SORTED, 0);
  tpt__rule_default_i64(r, SCATTER_UNIQUE, 0);
  int window_count =
      operand->rank - tpt__rule_count(r, DROPPED_DIMS) - tpt__rule_count(r, BATCHING_DIMS);
  TPT_TRY(tpt__rule_need_ints(r, WINDOW_DIMS, window_count));
  tpt_type_t* scalars =
      tpt_arena_alloc(tpt_graph_arena(r->graph), 2 * (size_t)count * sizeof(*scalars));
  if (!scalars) return tpt_arena_status(tpt_graph_arena(r->graph));
  for (int i = 0; i < count; i++) {
    const tpt_type_t* updates = r->types[count + 1 + i];
    if (!tpt_dims_equal(r->types[i], operand))
      return tpt__rule_mismatch(r, "inputs must have one shape", operand, r->types[i]);
    if (updates->dtype != r->types[i]->dtype)
      return tpt__rule_mismatch(r, "updates must have their input's element type", r->types[i],
                                updates);
    TPT_TRY(check_updates(r, operand, indices, updates));
    scalars[i] = scalars[count + i] = tpt_type_scalar(updates->dtype);
    TPT_TRY(tpt__rule_share(r, r->types[i]));
  }
  TPT_TRY(tpt__rule_closed(r, 0));
  return tpt__rule_block(r, 0, scalars, 2 * count, scalars, count);
}
