// Growing string. Thread-compatible. Out of memory is remembered and read once at the end.
#ifndef TPUTORCH_BASE_STR_H_
#define TPUTORCH_BASE_STR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct tpt_str {
  char* data;  // NUL-terminated once anything was appended
  size_t size;
  size_t capacity;
  bool failed;
} tpt_str_t;

void tpt_str_init(tpt_str_t* str);
void tpt_str_deinit(tpt_str_t* str);
void tpt_str_clear(tpt_str_t* str);
void tpt_str_append(tpt_str_t* str, const char* text, size_t size);
void tpt_str_append_cstr(tpt_str_t* str, const char* text);
void tpt_str_append_char(tpt_str_t* str, char c);
void tpt_str_append_i64(tpt_str_t* str, int64_t value);
void tpt_str_printf(tpt_str_t* str, const char* format, ...) TPT_PRINTF(2, 3);
TPT_MUST_USE tpt_status_t tpt_str_status(const tpt_str_t* str);

#endif  // TPUTORCH_BASE_STR_H_
