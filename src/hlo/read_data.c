// Owns the reading of types and of constant data. Must not know operations. Invariant: memory for data
// is never larger than the text that spells it.
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "hlo/reader.h"
#include "hlo/type_rule.h"

// --- types --------------------------------------------------------------------------------------------

static tpt_dtype_t find_dtype(const char* text, size_t size) {
  for (int i = 1; i < TPT_DTYPE_COUNT; i++) {
    const char* mlir = tpt_dtype_row((tpt_dtype_t)i)->mlir;
    if (strlen(mlir) == size && memcmp(mlir, text, size) == 0) return (tpt_dtype_t)i;
  }
  return TPT_DTYPE_INVALID;
}

static tpt_status_t read_element_type(tpt_reader_t* r, tpt_dtype_t* out) {
  const char* at = r->p;
  tpt_text_t word = tpt__read_word(r);
  size_t size = word.size;
  if (tpt__text_is(word, "complex") && tpt__read_take(r, '<')) {
    tpt__read_word(r);
    TPT_TRY(tpt__read_expect(r, '>'));
    size = (size_t)(r->p - at);
  }
  *out = find_dtype(at, size);
  if (*out == TPT_DTYPE_INVALID)
    return tpt__read_unimplemented(r, at, "element type '%.*s' is not supported",
                                   size < 40 ? (int)size : 40, at);
  return NULL;
}

tpt_status_t tpt__read_type(tpt_reader_t* r, tpt_type_t* out) {
  tpt__read_space(r);
  const char* at = r->p;
  if (!tpt__read_take_symbol(r, "tensor<"))
    return tpt__read_unimplemented(r, at, "only tensor types are supported here");
  memset(out, 0, sizeof(*out));
  while (r->p < r->end && ((*r->p >= '0' && *r->p <= '9') || *r->p == '?')) {
    if (*r->p == '?') return tpt__read_unimplemented(r, at, "dynamic dimensions are not supported");
    int64_t dim;
    TPT_TRY(tpt__read_i64(r, &dim));
    if (r->p == r->end || *r->p != 'x')
      return tpt__read_fail(r, at, "a dimension must be followed by 'x'");
    r->p++;
    if (out->rank == TPT_RANK_MAX)
      return tpt__read_unimplemented(r, at, "a tensor of more than %d dimensions", TPT_RANK_MAX);
    out->dims[out->rank++] = dim;
  }
  TPT_TRY(read_element_type(r, &out->dtype));
  if (tpt__read_peek(r, ','))
    return tpt__read_unimplemented(r, at, "tensor encodings are not supported");
  TPT_TRY(tpt__read_expect(r, '>'));
  tpt_status_t status = tpt__type_check(out);
  if (!status) return NULL;
  tpt_status_t placed = tpt__read_fail(r, at, "%s", tpt_status_message(status));
  tpt_status_release(status);
  return placed;
}

static tpt_status_t add_type(tpt_reader_t* r, tpt_type_t** inout_types, uint32_t count) {
  // Capacities are powers of two from 4 on.
  bool is_full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
  if (is_full) {
    size_t capacity = count ? 2 * (size_t)count : 4;
    tpt_type_t* larger = tpt_arena_alloc(&r->temp, capacity * sizeof(*larger));
    if (!larger) return tpt__read_no_memory();
    if (count) memcpy(larger, *inout_types, count * sizeof(*larger));
    *inout_types = larger;
  }
  return tpt__read_type(r, &(*inout_types)[count]);
}

tpt_status_t tpt__read_types(tpt_reader_t* r, bool in_parens, tpt_type_t** out,
                             uint32_t* out_count) {
  *out = NULL;
  *out_count = 0;
  if (in_parens) {
    TPT_TRY(tpt__read_expect(r, '('));
    if (tpt__read_take(r, ')')) return NULL;
  }
  do {
    TPT_TRY(add_type(r, out, *out_count));
    ++*out_count;
  } while (tpt__read_take(r, ','));
  return in_parens ? tpt__read_expect(r, ')') : NULL;
}

// --- numbers ------------------------------------------------------------------------------------------

// "0x..." as at most 64 bits.
static tpt_status_t read_bits(tpt_reader_t* r, uint64_t* out) {
  const char* at = r->p;
  *out = 0;
  int digits = 0;
  for (r->p += 2; r->p < r->end; r->p++, digits++) {
    char c = *r->p;
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) break;
    if (*out >> 60) return tpt__read_fail(r, at, "a hexadecimal number has more than 64 bits");
    *out = *out << 4 | (uint64_t)digit;
  }
  if (digits == 0) return tpt__read_fail(r, at, "no digits behind 0x");
  return NULL;
}

static bool is_hex(const tpt_reader_t* r) {
  return r->end - r->p > 2 && r->p[0] == '0' && r->p[1] == 'x';
}

static tpt_status_t read_integer(tpt_reader_t* r, tpt_dtype_t dtype, void* out) {
  const char* at = r->p;
  bool is_negative = *r->p == '-';
  if (is_negative) r->p++;
  uint64_t magnitude = 0;
  if (is_hex(r)) {
    TPT_TRY(read_bits(r, &magnitude));
  } else {
    const char* first = r->p;
    for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
      if (__builtin_mul_overflow(magnitude, 10, &magnitude) ||
          __builtin_add_overflow(magnitude, (uint64_t)(*r->p - '0'), &magnitude))
        return tpt__read_fail(r, at, "a number has more than 64 bits");
    }
    if (r->p == first) return tpt__read_fail(r, at, "expected a number");
  }
  int bits = dtype == TPT_PRED ? 1 : 8 * (int)tpt_dtype_size(dtype);
  uint64_t limit = is_negative ? (uint64_t)1 << (bits - 1) : UINT64_MAX >> (64 - bits);
  bool is_unsigned = tpt_dtype_row(dtype)->kind == TPT_CLASS_UINT;
  if (magnitude > limit || (is_negative && is_unsigned && magnitude))
    return tpt__read_fail(r, at, "this number does not fit %s", tpt_dtype_row(dtype)->mlir);
  uint64_t value = is_negative ? 0 - magnitude : magnitude;
  tpt_number_t number = {.dtype = TPT_S64, .i = (int64_t)value};
  tpt_number_store(&number, dtype, out);
  return NULL;
}

// The general way for decimal numbers; a copy, because the text has no end mark and the point is the
// locale's.
static tpt_status_t read_long_decimal(const tpt_reader_t* r, const char* begin, double* out) {
  char text[400];
  size_t size = (size_t)(r->p - begin);
  if (size >= sizeof(text)) return tpt__read_fail(r, begin, "a number has too many digits");
  for (size_t i = 0; i < size; i++)
    text[i] = begin[i] == '.' ? localeconv()->decimal_point[0] : begin[i];
  text[size] = 0;
  char* end;
  *out = strtod(text, &end);
  return end == text + size ? NULL : tpt__read_fail(r, begin, "this is no number");
}

// Digits with an optional point and exponent. Up to 2^53 and 10^22 one exact operation suffices.
static tpt_status_t read_decimal(tpt_reader_t* r, double* out) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* begin = r->p;
  bool is_negative = *r->p == '-';
  if (is_negative) r->p++;
  uint64_t digits = 0;
  int digit_count = 0, scale = 0;
  bool has_point = false;
  for (; r->p < r->end; r->p++) {
    if (*r->p == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (*r->p < '0' || *r->p > '9') break;
    if (digit_count < 19) digits = digits * 10 + (uint64_t)(*r->p - '0');
    digit_count++;
    scale -= has_point;
    if (digit_count > 1000) return tpt__read_fail(r, begin, "a number has too many digits");
  }
  if (digit_count == 0) return tpt__read_fail(r, begin, "expected a number");
  if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
    r->p++;
    if (r->p < r->end && *r->p == '+') r->p++;
    int64_t exponent;
    if (r->p == r->end || !((*r->p >= '0' && *r->p <= '9') || *r->p == '-'))
      return tpt__read_fail(r, begin, "an exponent has no digits");
    TPT_TRY(tpt__read_i64(r, &exponent));
    if (exponent < -100000 || exponent > 100000)
      return tpt__read_fail(r, begin, "an exponent is too large");
    scale += (int)exponent;
  }
  if (digit_count > 19 || digits > (1ull << 53) || scale < -22 || scale > 22)
    return read_long_decimal(r, begin, out);
  double value = scale < 0 ? (double)digits / powers[-scale] : (double)digits * powers[scale];
  *out = is_negative ? -value : value;
  return NULL;
}

static tpt_status_t read_float(tpt_reader_t* r, tpt_dtype_t dtype, void* out) {
  const char* at = r->p;
  size_t size = tpt_dtype_size(dtype);
  if (is_hex(r)) {
    uint64_t bits;
    TPT_TRY(read_bits(r, &bits));
    if (size < 8 && bits >> (8 * size))
      return tpt__read_fail(r, at, "these bits do not fit %s", tpt_dtype_row(dtype)->mlir);
    memcpy(out, &bits, size);  // little-endian, as elements are
    return NULL;
  }
  tpt_number_t number = {.dtype = TPT_F64};
  TPT_TRY(read_decimal(r, &number.f));
  tpt_number_store(&number, dtype, out);
  return NULL;
}

static tpt_status_t read_element(tpt_reader_t* r, tpt_dtype_t dtype, char* out) {
  tpt__read_space(r);
  if (r->p == r->end) return tpt__read_fail(r, r->p, "the text ends inside data");
  switch (tpt_dtype_row(dtype)->kind) {
  case TPT_CLASS_BOOL:
    if (tpt__read_take_word(r, "true") || tpt__read_take_word(r, "false")) {
      *out = r->p[-2] == 'u';
      return NULL;
    }
    return read_integer(r, dtype, out);
  case TPT_CLASS_FLOAT:
    return read_float(r, dtype, out);
  case TPT_CLASS_COMPLEX: {
    tpt_dtype_t real = tpt_dtype_real(dtype);
    TPT_TRY(tpt__read_expect(r, '('));
    TPT_TRY(read_element(r, real, out));
    TPT_TRY(tpt__read_expect(r, ','));
    TPT_TRY(read_element(r, real, out + tpt_dtype_size(real)));
    return tpt__read_expect(r, ')');
  }
  default:
    return read_integer(r, dtype, out);
  }
}

// --- dense<...> ----------------------------------------------------------------------------------------

// The list of dimension `dim`; recursion is bounded by the rank.
static tpt_status_t read_list(tpt_reader_t* r, const tpt_type_t* type, int dim, char** inout_out) {
  if (dim == type->rank) {
    TPT_TRY(read_element(r, type->dtype, *inout_out));
    *inout_out += tpt_dtype_size(type->dtype);
    return NULL;
  }
  TPT_TRY(tpt__read_expect(r, '['));
  for (int64_t i = 0; i < type->dims[dim]; i++) {
    if (i) TPT_TRY(tpt__read_expect(r, ','));
    TPT_TRY(read_list(r, type, dim + 1, inout_out));
  }
  return tpt__read_expect(r, ']');
}

static int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static void unpack_bits(const char* packed, size_t count, char* out) {
  for (size_t i = 0; i < count; i++)
    out[i] = (char)(packed[i / 8] >> (i % 8) & 1);
}

// pred comes packed eight to a byte, one to a byte, or as one byte for all.
static tpt_status_t accept_pred(tpt_reader_t* r, const char* at, char* bytes, size_t size,
                                size_t count, tpt_attr_t* out) {
  if (size == (count + 7) / 8 && size != count) {
    char* unpacked = tpt_arena_alloc(&r->temp, count);
    if (!unpacked) return tpt__read_no_memory();
    unpack_bits(bytes, count, unpacked);
    *out = (tpt_attr_t){.is_set = true, .bytes = unpacked, .count = count};
    return NULL;
  }
  if (size != count && size != 1)
    return tpt__read_fail(r, at, "%zu bytes of data for %zu elements", size, count);
  for (size_t i = 0; i < size; i++)
    bytes[i] = bytes[i] != 0;
  *out = (tpt_attr_t){.is_set = true, .bytes = bytes, .count = size};
  return NULL;
}

static tpt_status_t read_blob(tpt_reader_t* r, const tpt_type_t* type, size_t count,
                              tpt_attr_t* out) {
  const char* at = r->p;
  tpt_text_t text;
  TPT_TRY(tpt__read_string(r, &text));
  if (text.size < 2 || text.size % 2 || text.data[0] != '0' || text.data[1] != 'x')
    return tpt__read_fail(r, at, "a string of data must be \"0x\" and pairs of digits");
  size_t size = text.size / 2 - 1;
  char* bytes = tpt_arena_alloc(&r->temp, size);
  if (!bytes) return tpt__read_no_memory();
  for (size_t i = 0; i < size; i++) {
    int high = nibble(text.data[2 + 2 * i]), low = nibble(text.data[3 + 2 * i]);
    if (high < 0 || low < 0) return tpt__read_fail(r, at, "a string of data has other characters");
    bytes[i] = (char)(high * 16 + low);
  }
  if (type->dtype == TPT_PRED) return accept_pred(r, at, bytes, size, count, out);
  size_t element_size = tpt_dtype_size(type->dtype);
  bool is_splat = size == element_size;
  if (!is_splat && (size % element_size || size / element_size != count))
    return tpt__read_fail(r, at, "%zu bytes of data for %zu elements of %zu", size, count,
                          element_size);
  *out = (tpt_attr_t){.is_set = true, .bytes = bytes, .count = is_splat ? 1 : count};
  return NULL;
}

static tpt_status_t read_content(tpt_reader_t* r, const tpt_type_t* type, size_t text_size,
                                 tpt_attr_t* out) {
  const char* at = r->p;
  size_t count = (size_t)tpt_type_count(type);
  size_t element_size = tpt_dtype_size(type->dtype);
  if (tpt__read_peek(r, '"')) return read_blob(r, type, count, out);
  bool is_list = tpt__read_peek(r, '[');
  if (!is_list && *r->p == '>') {
    if (count) return tpt__read_fail(r, at, "no data for %zu elements", count);
    *out = (tpt_attr_t){.is_set = true};
    return NULL;
  }
  if (is_list && count > text_size) return tpt__read_fail(r, at, "too few elements of data");
  size_t stored = is_list ? count : 1;
  char* bytes = tpt_arena_alloc(&r->temp, stored * element_size);
  if (!bytes) return tpt__read_no_memory();
  *out = (tpt_attr_t){.is_set = true, .bytes = bytes, .count = stored};
  // A list of a 0-d type is not legal; one element of any type is a splat.
  if (is_list && type->rank == 0) return tpt__read_fail(r, at, "a list for a 0-d tensor");
  return is_list ? read_list(r, type, 0, &bytes) : read_element(r, type->dtype, bytes);
}

tpt_status_t tpt__read_dense(tpt_reader_t* r, tpt_type_t* out_type, tpt_attr_t* out_data) {
  TPT_TRY(tpt__read_expect_word(r, "dense"));
  TPT_TRY(tpt__read_expect(r, '<'));
  const char* content = r->p;
  // The type behind says how to read the data.
  TPT_TRY(tpt__read_skip_closed(r));
  const char* content_end = r->p;
  TPT_TRY(tpt__read_expect(r, ':'));
  TPT_TRY(tpt__read_type(r, out_type));
  const char* behind = r->p;
  r->p = content;
  TPT_TRY(read_content(r, out_type, (size_t)(content_end - content), out_data));
  TPT_TRY(tpt__read_expect(r, '>'));
  if (r->p != content_end) return tpt__read_fail(r, r->p, "data that does not fit its type");
  r->p = behind;
  return NULL;
}
