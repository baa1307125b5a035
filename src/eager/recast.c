// Owns the reinterpretation of values inside a program: the same bits under another dtype. Must not
// know windows. Invariant: widths change by shifts, strided slices and interior padding, so that no
// dimension of 2, 4 or 8 elements ever becomes the minor one (a chip pads it to 128).
#include "eager/window.h"
#include "hlo/builder.h"

static tpt_dtype_t unsigned_of(size_t size) {
  return size == 1 ? TPT_U8 : size == 2 ? TPT_U16 : size == 4 ? TPT_U32 : TPT_U64;
}

static tpt_type_t type_with(tpt_graph_t* g, tpt_value_t value, tpt_dtype_t dtype) {
  tpt_type_t type = *tpt_graph_type(g, value);
  type.dtype = dtype;
  return type;
}

static tpt_value_t bitcast(tpt_graph_t* g, tpt_value_t value, tpt_dtype_t dtype) {
  if (tpt_graph_type(g, value)->dtype == dtype) return value;
  tpt_type_t type = type_with(g, value, dtype);
  return tpt_hlo_bitcast_convert(g, value, &type);
}

static tpt_value_t shift(tpt_graph_t* g, tpt_hlo_t op, tpt_value_t value, int64_t bits) {
  if (bits == 0) return value;
  tpt_type_t type = *tpt_graph_type(g, value);
  return tpt_hlo_binary(g, op, value, tpt_hlo_splat_i64(g, &type, bits));
}

static tpt_value_t complex_from_bits(tpt_graph_t* g, tpt_value_t re, tpt_value_t im,
                                     tpt_dtype_t part) {
  return tpt_hlo_complex(g, bitcast(g, re, part), bitcast(g, im, part));
}

// The low `to` bits of an unsigned value; masked first, because converting an integer that does not
// fit is not StableHLO's to define.
static tpt_value_t truncate_bits(tpt_graph_t* g, tpt_value_t value, tpt_dtype_t to) {
  tpt_type_t type = *tpt_graph_type(g, value);
  if (tpt_dtype_size(type.dtype) == tpt_dtype_size(to)) return value;
  int64_t mask = (int64_t)(((uint64_t)1 << 8 * tpt_dtype_size(to)) - 1);
  value = tpt_hlo_binary(g, TPT_HLO_AND, value, tpt_hlo_splat_i64(g, &type, mask));
  return tpt_hlo_convert(g, value, to);
}

static tpt_value_t u64_from_complex(tpt_graph_t* g, tpt_value_t value) {
  tpt_value_t re = bitcast(g, tpt_hlo_unary(g, TPT_HLO_REAL, value), TPT_U32);
  tpt_value_t im = bitcast(g, tpt_hlo_unary(g, TPT_HLO_IMAG, value), TPT_U32);
  tpt_value_t high = shift(g, TPT_HLO_SHL, tpt_hlo_convert(g, im, TPT_U64), 32);
  return tpt_hlo_binary(g, TPT_HLO_OR, tpt_hlo_convert(g, re, TPT_U64), high);
}

tpt_value_t tpt_recast_element(tpt_graph_t* g, tpt_value_t value, tpt_dtype_t dtype) {
  tpt_dtype_t from = tpt_graph_type(g, value)->dtype;
  if (from == dtype) return value;
  if (from == TPT_PRED) return bitcast(g, tpt_hlo_convert(g, value, TPT_U8), dtype);
  if (dtype == TPT_PRED) {
    tpt_type_t type = *tpt_graph_type(g, value);
    return tpt_hlo_compare(g, TPT_NE, value, tpt_hlo_splat_i64(g, &type, 0));
  }
  if (from == TPT_C64) return bitcast(g, u64_from_complex(g, value), dtype);
  if (dtype == TPT_C64) {
    tpt_value_t bits = bitcast(g, value, TPT_U64);
    tpt_value_t high = shift(g, TPT_HLO_SHRL, bits, 32);
    return complex_from_bits(g, truncate_bits(g, bits, TPT_U32), truncate_bits(g, high, TPT_U32),
                             TPT_F32);
  }
  return bitcast(g, value, dtype);
}

// Element i of part k becomes element i * count + k of the last dimension. Unsigned parts.
static tpt_value_t interleave(tpt_graph_t* g, const tpt_value_t* parts, int count) {
  tpt_type_t type = *tpt_graph_type(g, parts[0]);
  tpt_value_t zero = tpt_hlo_scalar_i64(g, type.dtype, 0);
  tpt_value_t all = TPT_VALUE_NONE;
  for (int k = 0; k < count; k++) {
    int64_t low[TPT_RANK_MAX] = {0}, high[TPT_RANK_MAX] = {0}, interior[TPT_RANK_MAX] = {0};
    low[type.rank - 1] = k;
    high[type.rank - 1] = count - 1 - k;
    interior[type.rank - 1] = count - 1;
    tpt_value_t spread = tpt_hlo_pad(g, parts[k], zero, low, high, interior);
    all = k ? tpt_hlo_binary(g, TPT_HLO_OR, all, spread) : spread;
  }
  return all;
}

static tpt_value_t at_least_rank_1(tpt_graph_t* g, tpt_value_t value) {
  if (tpt_graph_type(g, value)->rank > 0) return value;
  return tpt_hlo_reshape(g, value, 1, (int64_t[]){1});
}

tpt_value_t tpt_recast_narrow(tpt_graph_t* g, tpt_value_t value, tpt_dtype_t dtype) {
  value = at_least_rank_1(g, value);
  tpt_dtype_t from = tpt_graph_type(g, value)->dtype;
  size_t from_size = tpt_dtype_size(from), size = tpt_dtype_size(dtype);
  tpt_value_t parts[16];
  if (tpt_dtype_is_complex(from)) {
    tpt_dtype_t half = unsigned_of(from_size / 2);
    parts[0] = bitcast(g, tpt_hlo_unary(g, TPT_HLO_REAL, value), half);
    parts[1] = bitcast(g, tpt_hlo_unary(g, TPT_HLO_IMAG, value), half);
    tpt_value_t halves = interleave(g, parts, 2);
    return from_size / 2 > size ? tpt_recast_narrow(g, halves, dtype)
                                : tpt_recast_element(g, halves, dtype);
  }
  tpt_value_t bits = tpt_recast_element(g, value, unsigned_of(from_size));
  int count = (int)(from_size / size);
  for (int k = 0; k < count; k++) {
    tpt_value_t moved = shift(g, TPT_HLO_SHRL, bits, (int64_t)(8 * size) * k);
    parts[k] = truncate_bits(g, moved, unsigned_of(size));
  }
  return tpt_recast_element(g, interleave(g, parts, count), dtype);
}

// Every `count`-th element of the last dimension, from element k.
static tpt_value_t lane(tpt_graph_t* g, tpt_value_t value, int k, int count) {
  const tpt_type_t* type = tpt_graph_type(g, value);
  return tpt_hlo_slice_dim(g, value, type->rank - 1, k, type->dims[type->rank - 1], count);
}

static tpt_value_t widen_bits(tpt_graph_t* g, tpt_value_t bits, tpt_dtype_t to) {
  size_t from_size = tpt_dtype_size(tpt_graph_type(g, bits)->dtype);
  int count = (int)(tpt_dtype_size(to) / from_size);
  tpt_value_t all = TPT_VALUE_NONE;
  for (int k = 0; k < count; k++) {
    tpt_value_t part = tpt_hlo_convert(g, lane(g, bits, k, count), to);
    part = shift(g, TPT_HLO_SHL, part, (int64_t)(8 * from_size) * k);
    all = k ? tpt_hlo_binary(g, TPT_HLO_OR, all, part) : part;
  }
  return all;
}

// Makes the last dimension a multiple of `count`, flat and zero-padded where it is not.
static tpt_value_t pad_to_multiple(tpt_graph_t* g, tpt_value_t value, int64_t count) {
  value = at_least_rank_1(g, value);
  tpt_type_t type = *tpt_graph_type(g, value);
  if (type.dims[type.rank - 1] % count == 0) return value;
  int64_t elements = tpt_type_count(&type), low = 0, interior = 0;
  int64_t high = (count - elements % count) % count;
  value = tpt_hlo_reshape(g, value, 1, &elements);
  return tpt_hlo_pad(g, value, tpt_hlo_scalar_i64(g, type.dtype, 0), &low, &high, &interior);
}

tpt_value_t tpt_recast_wide(tpt_graph_t* g, tpt_value_t value, tpt_dtype_t dtype) {
  size_t from_size = tpt_dtype_size(tpt_graph_type(g, value)->dtype);
  size_t size = tpt_dtype_size(dtype);
  tpt_value_t bits = tpt_recast_element(g, value, unsigned_of(from_size));
  bits = pad_to_multiple(g, bits, (int64_t)(size / from_size));
  if (!tpt_dtype_is_complex(dtype))
    return tpt_recast_element(g, widen_bits(g, bits, unsigned_of(size)), dtype);
  if (from_size < size / 2) bits = widen_bits(g, bits, unsigned_of(size / 2));
  return complex_from_bits(g, lane(g, bits, 0, 2), lane(g, bits, 1, 2), tpt_dtype_real(dtype));
}
