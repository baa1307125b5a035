// Owns the type rules of elementwise ops and of the sources (constant, iota).
#include "hlo/type_rule.h"

enum { KIND_BOOL = 1, KIND_SINT = 2, KIND_UINT = 4, KIND_FLOAT = 8, KIND_COMPLEX = 16 };

static unsigned kind_bit(const tpt_type_t* type) {
  static const unsigned char bits[] = {
      [TPT_CLASS_NONE] = 0,           [TPT_CLASS_BOOL] = KIND_BOOL,
      [TPT_CLASS_SINT] = KIND_SINT,   [TPT_CLASS_UINT] = KIND_UINT,
      [TPT_CLASS_FLOAT] = KIND_FLOAT, [TPT_CLASS_COMPLEX] = KIND_COMPLEX};
  return bits[tpt_dtype_row(type->dtype)->kind];
}

// All operands of one type whose kind is among `kinds`, named by `words` in the error.
static tpt_status_t same(tpt_rule_t* r, unsigned kinds, const char* words) {
  const tpt_type_t* type = r->types[0];
  for (uint32_t i = 1; i < r->operand_count; i++) {
    if (r->types[i] != type && !tpt_type_equal(r->types[i], type))
      return tpt__rule_mismatch(r, "operands must have one type", type, r->types[i]);
  }
  if (!(kind_bit(type) & kinds))
    return tpt__rule_fail(r, "operands must be %s, not %s", words,
                          tpt_dtype_row(type->dtype)->name);
  return tpt__rule_share(r, type);
}

tpt_status_t tpt__rule_same(tpt_rule_t* r) {
  return same(r, ~0u, "tensors");
}

tpt_status_t tpt__rule_float_same(tpt_rule_t* r) {
  return same(r, KIND_FLOAT | KIND_COMPLEX, "floats or complex numbers");
}

tpt_status_t tpt__rule_real_same(tpt_rule_t* r) {
  TPT_TRY(same(r, KIND_FLOAT, "floats"));
  if (r->row->attr_count == 0) return NULL;
  // reduce_precision
  TPT_TRY(tpt__rule_need(r, 0));
  TPT_TRY(tpt__rule_need(r, 1));
  if (r->attrs[0].i < 1 || r->attrs[0].i > 11)
    return tpt__rule_fail(r, "exponent_bits is %lld, not 1 to 11", (long long)r->attrs[0].i);
  if (r->attrs[1].i < 0 || r->attrs[1].i > 52)
    return tpt__rule_fail(r, "mantissa_bits is %lld, not 0 to 52", (long long)r->attrs[1].i);
  return NULL;
}

tpt_status_t tpt__rule_int_same(tpt_rule_t* r) {
  return same(r, KIND_SINT | KIND_UINT, "integers");
}

tpt_status_t tpt__rule_bits_same(tpt_rule_t* r) {
  return same(r, KIND_BOOL | KIND_SINT | KIND_UINT, "integers or pred");
}

tpt_status_t tpt__rule_number_same(tpt_rule_t* r) {
  return same(r, KIND_SINT | KIND_UINT | KIND_FLOAT | KIND_COMPLEX, "numbers");
}

tpt_status_t tpt__rule_signed_same(tpt_rule_t* r) {
  return same(r, KIND_SINT | KIND_FLOAT | KIND_COMPLEX, "signed numbers");
}

// A result with operand 0's dimensions and another element type.
static tpt_status_t with_dtype(tpt_rule_t* r, tpt_dtype_t dtype) {
  tpt_type_t type = *r->types[0];
  type.dtype = dtype;
  return tpt__rule_result(r, &type);
}

tpt_status_t tpt__rule_abs(tpt_rule_t* r) {
  if (!(kind_bit(r->types[0]) & (KIND_SINT | KIND_FLOAT | KIND_COMPLEX)))
    return tpt__rule_fail(r, "the operand must be signed, not %s",
                          tpt_dtype_row(r->types[0]->dtype)->name);
  return with_dtype(r, tpt_dtype_real(r->types[0]->dtype));
}

tpt_status_t tpt__rule_real_part(tpt_rule_t* r) {
  if (!(kind_bit(r->types[0]) & (KIND_FLOAT | KIND_COMPLEX)))
    return tpt__rule_fail(r, "the operand must be complex or float, not %s",
                          tpt_dtype_row(r->types[0]->dtype)->name);
  return with_dtype(r, tpt_dtype_real(r->types[0]->dtype));
}

tpt_status_t tpt__rule_is_finite(tpt_rule_t* r) {
  if (!tpt_dtype_is_float(r->types[0]->dtype))
    return tpt__rule_fail(r, "the operand must be float, not %s",
                          tpt_dtype_row(r->types[0]->dtype)->name);
  return with_dtype(r, TPT_PRED);
}

tpt_status_t tpt__rule_complex(tpt_rule_t* r) {
  if (!tpt_type_equal(r->types[0], r->types[1]))
    return tpt__rule_mismatch(r, "operands must have one type", r->types[0], r->types[1]);
  tpt_dtype_t dtype = r->types[0]->dtype;
  if (dtype != TPT_F32 && dtype != TPT_F64)
    return tpt__rule_fail(r, "operands must be f32 or f64, not %s", tpt_dtype_row(dtype)->name);
  return with_dtype(r, dtype == TPT_F32 ? TPT_C64 : TPT_C128);
}

tpt_status_t tpt__rule_compare(tpt_rule_t* r) {
  const tpt_type_t* type = r->types[0];
  if (!tpt_type_equal(type, r->types[1]))
    return tpt__rule_mismatch(r, "operands must have one type", type, r->types[1]);
  TPT_TRY(tpt__rule_need(r, 0));
  unsigned kind = kind_bit(type);
  int64_t natural = TPT_COMPARE_UNSIGNED;
  if (kind & (KIND_FLOAT | KIND_COMPLEX)) natural = TPT_COMPARE_FLOAT;
  if (kind & KIND_SINT) natural = TPT_COMPARE_SIGNED;
  tpt__rule_default_i64(r, 1, natural);
  if (kind & KIND_COMPLEX && r->attrs[0].i != TPT_EQ && r->attrs[0].i != TPT_NE)
    return tpt__rule_fail(r, "complex numbers have no order: only EQ and NE");
  if (r->attrs[1].i != natural && !(kind & KIND_FLOAT && r->attrs[1].i == TPT_COMPARE_TOTALORDER))
    return tpt__rule_fail(r, "this compare_type does not fit operands of %s",
                          tpt_dtype_row(type->dtype)->name);
  return with_dtype(r, TPT_PRED);
}

tpt_status_t tpt__rule_select(tpt_rule_t* r) {
  const tpt_type_t* predicate = r->types[0];
  if (predicate->dtype != TPT_PRED)
    return tpt__rule_fail(r, "the predicate must be pred, not %s",
                          tpt_dtype_row(predicate->dtype)->name);
  if (!tpt_type_equal(r->types[1], r->types[2]))
    return tpt__rule_mismatch(r, "both choices must have one type", r->types[1], r->types[2]);
  if (predicate->rank != 0 && !tpt_dims_equal(predicate, r->types[1]))
    return tpt__rule_mismatch(r, "the predicate must be 0-d or shaped like the choices", predicate,
                              r->types[1]);
  return tpt__rule_share(r, r->types[1]);
}

tpt_status_t tpt__rule_clamp(tpt_rule_t* r) {
  const tpt_type_t* type = r->types[1];
  if (tpt_dtype_is_complex(type->dtype)) return tpt__rule_fail(r, "complex numbers have no order");
  for (int i = 0; i < 3; i += 2) {
    const tpt_type_t* bound = r->types[i];
    if (bound->dtype != type->dtype || (bound->rank != 0 && !tpt_dims_equal(bound, type)))
      return tpt__rule_mismatch(r, "a bound must be 0-d or of the operand's type", bound, type);
  }
  return tpt__rule_share(r, type);
}

// The one result type that the caller must name.
static tpt_status_t need_given(const tpt_rule_t* r) {
  if (r->given_count != 1 || !r->given)
    return tpt__rule_fail(r, "one result type must be given, not %u", r->given_count);
  return tpt__type_check(r->given);
}

tpt_status_t tpt__rule_convert(tpt_rule_t* r) {
  TPT_TRY(need_given(r));
  if (!tpt_dims_equal(r->types[0], r->given))
    return tpt__rule_mismatch(r, "dimensions must stay", r->types[0], r->given);
  return tpt__rule_result(r, r->given);
}

// One element repeated `count` times.
static bool is_uniform(const char* data, size_t count, size_t size) {
  if (count < 2) return true;
  return memcmp(data, data + size, (count - 1) * size) == 0;
}

tpt_status_t tpt__rule_constant(tpt_rule_t* r) {
  TPT_TRY(need_given(r));
  TPT_TRY(tpt__rule_need(r, 0));
  tpt_attr_t* value = &r->attrs[0];
  size_t count = (size_t)tpt_type_count(r->given);
  size_t size = tpt_dtype_size(r->given->dtype);
  if (value->count != count && value->count != 1)
    return tpt__rule_fail(r, "%zu elements of data for %zu elements", value->count, count);
  // One form per constant: empty, one element, or all of them.
  if (count == 0) value->count = 0;
  if (value->count > 1 && is_uniform(value->bytes, value->count, size)) value->count = 1;
  if (r->given->dtype == TPT_PRED) {
    // The bytes are the node's own copy (graph.c): normalising them in place is safe.
    unsigned char* bytes = (unsigned char*)value->bytes;
    for (size_t i = 0; i < value->count; i++)
      bytes[i] = bytes[i] != 0;
  }
  return tpt__rule_result(r, r->given);
}

tpt_status_t tpt__rule_iota(tpt_rule_t* r) {
  TPT_TRY(need_given(r));
  TPT_TRY(tpt__rule_need(r, 0));
  int64_t dim = r->attrs[0].i;
  if (dim < 0 || dim >= r->given->rank)
    return tpt__rule_fail(r, "iota_dimension %lld is no dimension of rank %d", (long long)dim,
                          r->given->rank);
  if (kind_bit(r->given) & KIND_BOOL) return tpt__rule_fail(r, "pred cannot count");
  return tpt__rule_result(r, r->given);
}
