// Owns the type rules of ops that move elements without computing: reshape, slice, pad and kin.
#include "hlo/type_rule.h"

static tpt_status_t need_given(const tpt_rule_t* r) {
  if (r->given_count != 1 || !r->given)
    return tpt__rule_fail(r, "one result type must be given, not %u", r->given_count);
  return tpt__type_check(r->given);
}

static tpt_status_t need_dtype(const tpt_rule_t* r, const tpt_type_t* given) {
  if (given->dtype == r->types[0]->dtype) return NULL;
  return tpt__rule_mismatch(r, "the element type must stay", r->types[0], given);
}

tpt_status_t tpt__rule_bitcast_convert(tpt_rule_t* r) {
  TPT_TRY(need_given(r));
  const tpt_type_t* from = r->types[0];
  const tpt_type_t* to = r->given;
  if (from->dtype != to->dtype &&
      (tpt_dtype_is_complex(from->dtype) || tpt_dtype_is_complex(to->dtype) ||
       from->dtype == TPT_PRED || to->dtype == TPT_PRED))
    return tpt__rule_mismatch(r, "pred and complex have no bit cast", from, to);
  int64_t from_size = (int64_t)tpt_dtype_size(from->dtype);
  int64_t to_size = (int64_t)tpt_dtype_size(to->dtype);
  const tpt_type_t* wide = from_size < to_size ? to : from;
  const tpt_type_t* narrow = from_size < to_size ? from : to;
  int64_t ratio = from_size < to_size ? to_size / from_size : from_size / to_size;
  bool is_legal = narrow->rank == wide->rank + (ratio != 1);
  for (int i = 0; is_legal && i < wide->rank; i++)
    is_legal = narrow->dims[i] == wide->dims[i];
  if (is_legal && ratio != 1) is_legal = narrow->dims[narrow->rank - 1] == ratio;
  if (!is_legal)
    return tpt__rule_mismatch(r, "the narrower type must have one more dimension, of the ratio",
                              from, to);
  return tpt__rule_result(r, to);
}

tpt_status_t tpt__rule_broadcast_in_dim(tpt_rule_t* r) {
  TPT_TRY(need_given(r));
  TPT_TRY(need_dtype(r, r->given));
  const tpt_type_t* type = r->types[0];
  TPT_TRY(tpt__rule_need_ints(r, 0, type->rank));
  TPT_TRY(tpt__rule_dims(r, 0, r->given->rank, false));
  const int64_t* dims = tpt__rule_ints(r, 0);
  for (int i = 0; i < type->rank; i++) {
    if (type->dims[i] != 1 && type->dims[i] != r->given->dims[dims[i]])
      return tpt__rule_mismatch(r, "a dimension other than 1 must stay", type, r->given);
  }
  return tpt__rule_result(r, r->given);
}

tpt_status_t tpt__rule_reshape(tpt_rule_t* r) {
  TPT_TRY(need_given(r));
  TPT_TRY(need_dtype(r, r->given));
  if (tpt_type_count(r->types[0]) != tpt_type_count(r->given))
    return tpt__rule_mismatch(r, "the number of elements must stay", r->types[0], r->given);
  return tpt__rule_result(r, r->given);
}

tpt_status_t tpt__rule_concatenate(tpt_rule_t* r) {
  if (r->operand_count == 0) return tpt__rule_fail(r, "at least one operand is needed");
  TPT_TRY(tpt__rule_need(r, 0));
  tpt_type_t type = *r->types[0];
  int64_t dim = r->attrs[0].i;
  if (dim < 0 || dim >= type.rank)
    return tpt__rule_fail(r, "dimension %lld is no dimension of rank %d", (long long)dim,
                          type.rank);
  for (uint32_t i = 1; i < r->operand_count; i++) {
    tpt_type_t other = *r->types[i];
    bool is_legal = other.rank == type.rank && other.dtype == type.dtype;
    for (int d = 0; is_legal && d < type.rank; d++)
      is_legal = d == dim || other.dims[d] == type.dims[d];
    if (!is_legal)
      return tpt__rule_mismatch(r, "operands may differ in one dimension only", r->types[0],
                                r->types[i]);
    if (__builtin_add_overflow(type.dims[dim], other.dims[dim], &type.dims[dim]))
      return tpt__rule_fail(r, "the result is too large");
  }
  return tpt__rule_result(r, &type);
}

// Operands from `first` on: one 0-d integer per dimension, all of one type.
static tpt_status_t check_starts(const tpt_rule_t* r, uint32_t first, int rank) {
  if (r->operand_count != first + (uint32_t)rank)
    return tpt__rule_fail(r, "%d start indices are needed, not %d", rank,
                          (int)r->operand_count - (int)first);
  for (uint32_t i = first; i < r->operand_count; i++) {
    if (r->types[i]->rank != 0 || !tpt_dtype_is_int(r->types[i]->dtype) ||
        r->types[i]->dtype != r->types[first]->dtype)
      return tpt__rule_mismatch(r, "start indices must be 0-d integers of one type",
                                r->types[first], r->types[i]);
  }
  return NULL;
}

tpt_status_t tpt__rule_dynamic_slice(tpt_rule_t* r) {
  if (r->operand_count == 0) return tpt__rule_fail(r, "an operand is needed");
  tpt_type_t type = *r->types[0];
  TPT_TRY(check_starts(r, 1, type.rank));
  TPT_TRY(tpt__rule_need_ints(r, 0, type.rank));
  TPT_TRY(tpt__rule_at_least(r, 0, 0));
  for (int i = 0; i < type.rank; i++) {
    int64_t size = tpt__rule_ints(r, 0)[i];
    if (size > type.dims[i])
      return tpt__rule_fail(r, "slice size %lld of dimension %d is more than its %lld",
                            (long long)size, i, (long long)type.dims[i]);
    type.dims[i] = size;
  }
  return tpt__rule_result(r, &type);
}

tpt_status_t tpt__rule_dynamic_update_slice(tpt_rule_t* r) {
  if (r->operand_count < 2) return tpt__rule_fail(r, "an operand and an update are needed");
  const tpt_type_t* type = r->types[0];
  const tpt_type_t* update = r->types[1];
  TPT_TRY(check_starts(r, 2, type->rank));
  bool is_legal = update->dtype == type->dtype && update->rank == type->rank;
  for (int i = 0; is_legal && i < type->rank; i++)
    is_legal = update->dims[i] <= type->dims[i];
  if (!is_legal) return tpt__rule_mismatch(r, "the update must fit the operand", type, update);
  return tpt__rule_share(r, type);
}

tpt_status_t tpt__rule_pad(tpt_rule_t* r) {
  tpt_type_t type = *r->types[0];
  if (r->types[1]->rank != 0 || r->types[1]->dtype != type.dtype)
    return tpt__rule_mismatch(r, "the padding value must be 0-d of the operand's element type",
                              r->types[0], r->types[1]);
  TPT_TRY(tpt__rule_default_ints(r, 2, type.rank, 0));
  for (int slot = 0; slot < 2; slot++)
    TPT_TRY(tpt__rule_need_ints(r, slot, type.rank));
  TPT_TRY(tpt__rule_at_least(r, 2, 0));
  for (int i = 0; i < type.rank; i++) {
    int64_t size = type.dims[i], between = size > 1 ? size - 1 : 0;
    if (__builtin_mul_overflow(between, tpt__rule_ints(r, 2)[i], &between) ||
        __builtin_add_overflow(size, between, &size) ||
        __builtin_add_overflow(size, tpt__rule_ints(r, 0)[i], &size) ||
        __builtin_add_overflow(size, tpt__rule_ints(r, 1)[i], &size) || size < 0)
      return tpt__rule_fail(r, "padding leaves dimension %d without a legal size", i);
    type.dims[i] = size;
  }
  return tpt__rule_result(r, &type);
}

tpt_status_t tpt__rule_reverse(tpt_rule_t* r) {
  TPT_TRY(tpt__rule_need(r, 0));
  TPT_TRY(tpt__rule_dims(r, 0, r->types[0]->rank, false));
  return tpt__rule_share(r, r->types[0]);
}

tpt_status_t tpt__rule_slice(tpt_rule_t* r) {
  tpt_type_t type = *r->types[0];
  TPT_TRY(tpt__rule_default_ints(r, 2, type.rank, 1));
  for (int slot = 0; slot < 2; slot++)
    TPT_TRY(tpt__rule_need_ints(r, slot, type.rank));
  for (int i = 0; i < type.rank; i++) {
    int64_t start = tpt__rule_ints(r, 0)[i], limit = tpt__rule_ints(r, 1)[i];
    int64_t stride = tpt__rule_ints(r, 2)[i];
    if (start < 0 || limit < start || limit > type.dims[i] || stride < 1)
      return tpt__rule_fail(r, "[%lld:%lld:%lld] does not fit dimension %d of size %lld",
                            (long long)start, (long long)limit, (long long)stride, i,
                            (long long)type.dims[i]);
    int64_t size = limit - start;
    type.dims[i] = size / stride + (size % stride != 0);
  }
  return tpt__rule_result(r, &type);
}

tpt_status_t tpt__rule_transpose(tpt_rule_t* r) {
  const tpt_type_t* from = r->types[0];
  TPT_TRY(tpt__rule_need_ints(r, 0, from->rank));
  TPT_TRY(tpt__rule_dims(r, 0, from->rank, false));
  tpt_type_t type = *from;
  for (int i = 0; i < type.rank; i++)
    type.dims[i] = from->dims[tpt__rule_ints(r, 0)[i]];
  return tpt__rule_result(r, &type);
}
