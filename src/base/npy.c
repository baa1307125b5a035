// Reader and writer of .npy files. The header is a Python dictionary literal; only the part of that
// syntax that NumPy writes is accepted. Every size is checked before memory is taken for it.
#include "base/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "base/str.h"

typedef struct descr_row {
  tpt_dtype_t dtype;
  const char* code;  // as in a file: kind and bytes
  size_t size;       // bytes of an element
  size_t word;       // bytes that a byte swap reverses: half a complex number
} descr_row_t;

static const descr_row_t descr_rows[] = {
    {TPT_PRED, "b1", 1, 1}, {TPT_S8, "i1", 1, 1},  {TPT_S16, "i2", 2, 2},    {TPT_S32, "i4", 4, 4},
    {TPT_S64, "i8", 8, 8},  {TPT_U8, "u1", 1, 1},  {TPT_U16, "u2", 2, 2},    {TPT_U32, "u4", 4, 4},
    {TPT_U64, "u8", 8, 8},  {TPT_F16, "f2", 2, 2}, {TPT_F32, "f4", 4, 4},    {TPT_F64, "f8", 8, 8},
    {TPT_BF16, "V2", 2, 2}, {TPT_C64, "c8", 8, 4}, {TPT_C128, "c16", 16, 8},
};
enum { DESCR_COUNT = sizeof(descr_rows) / sizeof(*descr_rows) };

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { HEADER_ALIGN = 64, DESCR_MAX = 32 };

static bool is_big_endian(void) {
  const uint16_t one = 1;
  return *(const unsigned char*)&one == 0;
}

// --- header --------------------------------------------------------------------------------------
typedef struct header {
  char descr[DESCR_MAX];
  bool is_fortran;
  int rank;
  int64_t dims[TPT_RANK_MAX];
} header_t;

typedef struct cursor {
  const char* next;
  const char* end;
} cursor_t;

static void skip_spaces(cursor_t* c) {
  while (c->next < c->end && (*c->next == ' ' || *c->next == '\n' || *c->next == '\t'))
    c->next++;
}

static bool accept(cursor_t* c, char wanted) {
  skip_spaces(c);
  if (c->next == c->end || *c->next != wanted) return false;
  c->next++;
  return true;
}

static bool accept_word(cursor_t* c, const char* word) {
  size_t size = strlen(word);
  skip_spaces(c);
  if ((size_t)(c->end - c->next) < size || memcmp(c->next, word, size) != 0) return false;
  c->next += size;
  return true;
}

static bool read_string(cursor_t* c, char* text, size_t text_size) {
  skip_spaces(c);
  if (c->next == c->end || (*c->next != '\'' && *c->next != '"')) return false;
  char quote = *c->next++;
  const char* start = c->next;
  while (c->next < c->end && *c->next != quote)
    c->next++;
  size_t size = (size_t)(c->next - start);
  if (c->next == c->end || size >= text_size) return false;
  c->next++;
  memcpy(text, start, size);
  text[size] = 0;
  return true;
}

static bool read_dim(cursor_t* c, int64_t* out) {
  int64_t value = 0;
  skip_spaces(c);
  const char* start = c->next;
  for (; c->next < c->end && *c->next >= '0' && *c->next <= '9'; c->next++) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *c->next - '0', &value)) {
      return false;
    }
  }
  if (c->next == start) return false;
  if (c->next < c->end && *c->next == 'L') c->next++;  // Python 2 wrote 3L
  *out = value;
  return true;
}

// "()", "(3,)", "(3, 4)". A rank above the limit is left in header->rank for the caller.
static bool read_shape(cursor_t* c, header_t* header) {
  if (!accept(c, '(')) return false;
  header->rank = 0;
  while (!accept(c, ')')) {
    int64_t dim;
    if (!read_dim(c, &dim)) return false;
    if (header->rank < TPT_RANK_MAX) header->dims[header->rank] = dim;
    header->rank++;
    if (!accept(c, ',')) return header->rank > 1 && accept(c, ')');
  }
  return true;
}

static bool read_header(cursor_t c, header_t* header) {
  bool has_descr = false, has_order = false, has_shape = false;
  if (!accept(&c, '{')) return false;
  while (!accept(&c, '}')) {
    char key[16];
    if (!read_string(&c, key, sizeof(key)) || !accept(&c, ':')) return false;
    if (!has_descr && strcmp(key, "descr") == 0) {
      has_descr = read_string(&c, header->descr, sizeof(header->descr));
      if (!has_descr) return false;
    } else if (!has_order && strcmp(key, "fortran_order") == 0) {
      header->is_fortran = accept_word(&c, "True");
      has_order = header->is_fortran || accept_word(&c, "False");
      if (!has_order) return false;
    } else if (!has_shape && strcmp(key, "shape") == 0) {
      has_shape = read_shape(&c, header);
      if (!has_shape) return false;
    } else {
      return false;
    }
    if (!accept(&c, ',')) {
      if (!accept(&c, '}')) return false;
      break;
    }
  }
  skip_spaces(&c);
  return has_descr && has_order && has_shape && c.next == c.end;
}

// --- reading -------------------------------------------------------------------------------------
static const descr_row_t* find_descr(const char* descr, bool* out_swap) {
  char order = *descr;
  if (order && strchr("<>|=", order)) {
    descr++;
  } else {
    order = '=';
  }
  *out_swap = order == (is_big_endian() ? '<' : '>');
  for (int i = 0; i < DESCR_COUNT; i++) {
    if (strcmp(descr, descr_rows[i].code) == 0) return &descr_rows[i];
  }
  return NULL;
}

static void swap_words(unsigned char* data, size_t size, size_t word) {
  for (size_t at = 0; at + word <= size; at += word) {
    for (size_t i = 0; i < word / 2; i++) {
      unsigned char byte = data[at + i];
      data[at + i] = data[at + word - 1 - i];
      data[at + word - 1 - i] = byte;
    }
  }
}

// Fortran order to row-major: walks the target, counting its indexes up.
static void copy_fortran(const tpt_type_t* type, size_t element, const unsigned char* in,
                         unsigned char* out, size_t count) {
  size_t strides[TPT_RANK_MAX], stride = element;
  int64_t index[TPT_RANK_MAX] = {0};
  for (int i = 0; i < type->rank; i++) {
    strides[i] = stride;
    stride *= (size_t)type->dims[i];
  }
  size_t at = 0;
  for (size_t n = 0; n < count; n++) {
    memcpy(out + n * element, in + at, element);
    for (int i = type->rank - 1; i >= 0; i--) {
      at += strides[i];
      if (++index[i] < type->dims[i]) break;
      at -= strides[i] * (size_t)type->dims[i];
      index[i] = 0;
    }
  }
}

static bool count_elements(const header_t* header, size_t element, size_t* out_count,
                           size_t* out_size) {
  size_t count = 1;
  bool has_zero = false;
  for (int i = 0; i < header->rank; i++)
    has_zero |= header->dims[i] == 0;
  for (int i = 0; i < header->rank && !has_zero; i++) {
    if (!tpt_size_mul(count, (size_t)header->dims[i], &count)) return false;
  }
  *out_count = has_zero ? 0 : count;
  return tpt_size_mul(*out_count, element, out_size);
}

static tpt_status_t read_array(const header_t* header, const unsigned char* data, size_t size,
                               const char* name, tpt_npy_t* out) {
  bool swap = false;
  const descr_row_t* row = find_descr(header->descr, &swap);
  if (!row) {
    TPT_FAIL(TPT_UNIMPLEMENTED, "%s: dtype \"%s\" has no counterpart among tensors", name,
             header->descr);
  }
  if (header->rank > TPT_RANK_MAX) {
    TPT_FAIL(TPT_UNIMPLEMENTED, "%s: rank %d; at most %d is supported", name, header->rank,
             TPT_RANK_MAX);
  }
  size_t count, wanted;
  if (!count_elements(header, row->size, &count, &wanted) || wanted != size) {
    TPT_FAIL(TPT_DATA_LOSS, "%s: the header's shape does not fit the %zu bytes of data that follow",
             name, size);
  }
  unsigned char* copy = tpt_malloc(size > 0 ? size : 1);
  if (!copy) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "%s: no memory for %zu bytes", name, size);
  out->type = tpt_type_make(row->dtype, header->rank, header->dims);
  out->data = copy;
  out->size = size;
  if (header->is_fortran && header->rank > 1) {
    copy_fortran(&out->type, row->size, data, copy, count);
  } else if (size > 0) {
    memcpy(copy, data, size);
  }
  if (swap) swap_words(copy, size, row->word);
  for (size_t i = 0; row->dtype == TPT_PRED && i < size; i++)
    copy[i] = copy[i] != 0;
  return NULL;
}

tpt_status_t tpt_npy_parse(const void* bytes, size_t size, const char* name, tpt_npy_t* out) {
  memset(out, 0, sizeof(*out));
  const unsigned char* data = bytes;
  if (size < 10 || memcmp(data, magic, sizeof(magic)) != 0) {
    TPT_FAIL(TPT_DATA_LOSS, "%s is not a .npy file", name);
  }
  int version = data[6];
  size_t start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) {
    TPT_FAIL(TPT_UNIMPLEMENTED, "%s has .npy version %d; 1 to 3 are known", name, version);
  }
  size_t header_size = data[8] | (size_t)data[9] << 8;
  if (version > 1 && size >= start) header_size |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
  if (size < start || header_size > size - start) {
    TPT_FAIL(TPT_DATA_LOSS, "%s is cut off inside its header", name);
  }
  header_t header;
  memset(&header, 0, sizeof(header));
  cursor_t cursor = {(const char*)data + start, (const char*)data + start + header_size};
  if (!read_header(cursor, &header)) {
    TPT_FAIL(TPT_DATA_LOSS,
             "%s has a header that is not a plain array's (descr, fortran_order, shape)", name);
  }
  return read_array(&header, data + start + header_size, size - start - header_size, name, out);
}

// All bytes of a file, owned by the caller.
static tpt_status_t read_file(const char* path, void** out_bytes, size_t* out_size) {
  *out_bytes = NULL;
  *out_size = 0;
  FILE* file = fopen(path, "rb");
  if (!file) TPT_FAIL(TPT_NOT_FOUND, "cannot open %s: %s", path, strerror(errno));
  size_t capacity = 0, size = 0, count = 0;
  tpt_status_t status = NULL;
  do {
    if (!tpt_grow(out_bytes, &capacity, size + 65536, 1)) {
      status =
          tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "no memory to read %s", path);
      break;
    }
    count = fread((char*)*out_bytes + size, 1, capacity - size, file);
    size += count;
  } while (count > 0);
  if (!status && ferror(file)) {
    status = tpt_status_make(TPT_DATA_LOSS, __FILE__, __LINE__, "cannot read %s: %s", path,
                             strerror(errno));
  }
  fclose(file);
  *out_size = size;
  return status;
}

tpt_status_t tpt_npy_read(const char* path, tpt_npy_t* out) {
  memset(out, 0, sizeof(*out));
  void* bytes = NULL;
  size_t size = 0;
  tpt_status_t status = read_file(path, &bytes, &size);
  if (!status) status = tpt_npy_parse(bytes, size, path, out);
  tpt_free(bytes);
  return status;
}

void tpt_npy_deinit(tpt_npy_t* npy) {
  tpt_free(npy->data);
  memset(npy, 0, sizeof(*npy));
}

// --- writing -------------------------------------------------------------------------------------
static void print_header(tpt_str_t* out, const tpt_type_t* type, const descr_row_t* row) {
  const char order = row->size == 1 ? '|' : is_big_endian() ? '>' : '<';
  tpt_str_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, row->code);
  for (int i = 0; i < type->rank; i++) {
    tpt_str_printf(out, "%s%" PRId64, i ? ", " : "", type->dims[i]);
  }
  tpt_str_append_cstr(out, type->rank == 1 ? ",), }" : "), }");
  // The data starts at a multiple of 64: magic and version take 8 bytes, the length 2, a newline 1.
  while ((out->size + 11) % HEADER_ALIGN != 0 && !out->failed)
    tpt_str_append_char(out, ' ');
  tpt_str_append_char(out, '\n');
}

static bool write_bf16(FILE* file, const uint16_t* data, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t wide = (uint32_t)data[i] << 16;
    if (fwrite(&wide, sizeof(wide), 1, file) != 1) return false;
  }
  return true;
}

tpt_status_t tpt_npy_write(const char* path, const tpt_type_t* type, const void* data) {
  const descr_row_t *row = NULL, *written = NULL;
  for (int i = 0; i < DESCR_COUNT; i++) {
    if (descr_rows[i].dtype == type->dtype) row = &descr_rows[i];
    if (descr_rows[i].dtype == (type->dtype == TPT_BF16 ? TPT_F32 : type->dtype)) {
      written = &descr_rows[i];
    }
  }
  if (!row) TPT_FAIL(TPT_INVALID_ARGUMENT, "%s: dtype %d cannot be saved", path, (int)type->dtype);
  tpt_str_t header;
  tpt_str_init(&header);
  print_header(&header, type, written);
  tpt_status_t status = tpt_str_status(&header);
  FILE* file = status ? NULL : fopen(path, "wb");
  if (!status && !file) {
    status = tpt_status_make(TPT_NOT_FOUND, __FILE__, __LINE__, "cannot write %s: %s", path,
                             strerror(errno));
  }
  if (!status) {
    size_t count = 1;
    for (int i = 0; i < type->rank; i++)
      count *= (size_t)type->dims[i];
    const unsigned char lead[4] = {1, 0, (unsigned char)header.size,
                                   (unsigned char)(header.size >> 8)};
    bool is_written = fwrite(magic, sizeof(magic), 1, file) == 1 &&
                      fwrite(lead, sizeof(lead), 1, file) == 1 &&
                      fwrite(header.data, header.size, 1, file) == 1;
    if (is_written && type->dtype == TPT_BF16) {
      is_written = write_bf16(file, data, count);
    } else if (is_written) {
      is_written = count == 0 || fwrite(data, row->size, count, file) == count;
    }
    is_written = fclose(file) == 0 && is_written;
    if (!is_written) {
      status = tpt_status_make(TPT_DATA_LOSS, __FILE__, __LINE__, "cannot write all of %s: %s",
                               path, strerror(errno));
    }
  }
  tpt_str_deinit(&header);
  return status;
}
