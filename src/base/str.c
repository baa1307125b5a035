// Owns growing text. Must not know what is written. Invariant: data[size] is NUL whenever data is
// set; after a failed allocation nothing is appended any more and tpt_str_status says so.
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"

void tpt_str_init(tpt_str_t* str) {
  memset(str, 0, sizeof(*str));
}

void tpt_str_deinit(tpt_str_t* str) {
  tpt_free(str->data);
  tpt_str_init(str);
}

void tpt_str_clear(tpt_str_t* str) {
  str->size = 0;
  str->failed = false;
  if (str->data) str->data[0] = 0;
}

// Room for `size` more characters and the NUL.
static bool reserve(tpt_str_t* str, size_t size) {
  if (str->failed) return false;
  size_t needed;
  if (tpt_size_add(str->size, size, &needed) && tpt_size_add(needed, 1, &needed) &&
      (needed <= str->capacity || tpt_grow((void**)&str->data, &str->capacity, needed, 1)))
    return true;
  str->failed = true;
  return false;
}

void tpt_str_append(tpt_str_t* str, const char* text, size_t size) {
  if (!reserve(str, size)) return;
  if (size) memcpy(str->data + str->size, text, size);
  str->size += size;
  str->data[str->size] = 0;
}

void tpt_str_append_cstr(tpt_str_t* str, const char* text) {
  tpt_str_append(str, text, strlen(text));
}

void tpt_str_append_char(tpt_str_t* str, char c) {
  tpt_str_append(str, &c, 1);
}

void tpt_str_append_i64(tpt_str_t* str, int64_t value) {
  char digits[24];
  char* p = digits + sizeof(digits);
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    *--p = (char)('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude);
  if (value < 0) *--p = '-';
  tpt_str_append(str, p, (size_t)(digits + sizeof(digits) - p));
}

void tpt_str_printf(tpt_str_t* str, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, format, args);
  if (size < 0)
    str->failed = true;
  else if (reserve(str, (size_t)size)) {
    vsnprintf(str->data + str->size, (size_t)size + 1, format, again);
    str->size += (size_t)size;
  }
  va_end(again);
  va_end(args);
}

tpt_status_t tpt_str_status(const tpt_str_t* str) {
  if (str->failed)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "out of host memory (text of %zu bytes)", str->size);
  return NULL;
}
