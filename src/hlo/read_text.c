// Owns the reader's cursor: spaces, words, numbers, strings, skipping, and where an error is. Must not
// know StableHLO. Invariant: r->p never passes r->end; nothing here recurses.
#include <stdarg.h>
#include <stdio.h>

#include "hlo/reader.h"

static tpt_status_t fail_at(const tpt_reader_t* r, tpt_code_t code, const char* at,
                            const char* format, va_list args) {
  char text[400];
  vsnprintf(text, sizeof(text), format, args);
  size_t line = 1, column = 1;
  for (const char* p = r->begin; p < at && p < r->end; p++) {
    column++;
    if (*p == '\n') line++, column = 1;
  }
  TPT_FAIL(code, "%zu:%zu: %s", line, column, text);
}

tpt_status_t tpt__read_fail(const tpt_reader_t* r, const char* at, const char* format, ...) {
  va_list args;
  va_start(args, format);
  tpt_status_t status = fail_at(r, TPT_INVALID_ARGUMENT, at, format, args);
  va_end(args);
  return status;
}

tpt_status_t tpt__read_unimplemented(const tpt_reader_t* r, const char* at, const char* format,
                                     ...) {
  va_list args;
  va_start(args, format);
  tpt_status_t status = fail_at(r, TPT_UNIMPLEMENTED, at, format, args);
  va_end(args);
  return status;
}

// fail_at with another status's code and message.
static tpt_status_t place_status(const tpt_reader_t* r, tpt_code_t code, const char* at,
                                 const char* format, ...) {
  va_list args;
  va_start(args, format);
  tpt_status_t status = fail_at(r, code, at, format, args);
  va_end(args);
  return status;
}

tpt_status_t tpt__read_graph_status(const tpt_reader_t* r, const char* at) {
  tpt_status_t error = tpt_graph_error(r->graph);
  if (!error) return NULL;
  return place_status(r, tpt_status_code(error), at, "%s", tpt_status_message(error));
}

tpt_status_t tpt__read_no_memory(void) {
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "out of host memory (reading a program)");
}

void tpt__read_space(tpt_reader_t* r) {
  const char* p = r->p;
  for (;;) {
    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
      p++;
    if (r->end - p < 2 || p[0] != '/' || p[1] != '/') break;
    const char* newline = memchr(p, '\n', (size_t)(r->end - p));
    p = newline ? newline : r->end;
  }
  r->p = p;
}

bool tpt__read_peek(tpt_reader_t* r, char c) {
  tpt__read_space(r);
  return r->p < r->end && *r->p == c;
}

bool tpt__read_take(tpt_reader_t* r, char c) {
  if (!tpt__read_peek(r, c)) return false;
  r->p++;
  return true;
}

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

bool tpt__read_take_symbol(tpt_reader_t* r, const char* symbol) {
  tpt__read_space(r);
  size_t size = strlen(symbol);
  if ((size_t)(r->end - r->p) < size || memcmp(r->p, symbol, size) != 0) return false;
  r->p += size;
  return true;
}

bool tpt__read_take_word(tpt_reader_t* r, const char* word) {
  const char* before = r->p;
  if (!tpt__read_take_symbol(r, word)) return false;
  if (r->p == r->end || !is_word_char(*r->p)) return true;
  r->p = before;
  return false;
}

// What stands at the cursor, for messages.
static int shown_size(const tpt_reader_t* r) {
  int size = 0;
  while (size < 20 && r->p + size < r->end && r->p[size] >= ' ' && r->p[size] <= '~')
    size++;
  return size;
}

tpt_status_t tpt__read_expect(tpt_reader_t* r, char c) {
  if (tpt__read_take(r, c)) return NULL;
  if (r->p == r->end) return tpt__read_fail(r, r->p, "the text ends where '%c' was expected", c);
  return tpt__read_fail(r, r->p, "expected '%c', found '%.*s'", c, shown_size(r), r->p);
}

tpt_status_t tpt__read_expect_word(tpt_reader_t* r, const char* word) {
  if (tpt__read_take_symbol(r, word)) return NULL;
  return tpt__read_fail(r, r->p, "expected '%s', found '%.*s'", word, shown_size(r), r->p);
}

tpt_text_t tpt__read_word(tpt_reader_t* r) {
  tpt__read_space(r);
  tpt_text_t word = {r->p, 0};
  while (r->p < r->end && is_word_char(*r->p))
    r->p++;
  word.size = (size_t)(r->p - word.data);
  return word;
}

bool tpt__text_is(tpt_text_t text, const char* word) {
  return strlen(word) == text.size && memcmp(text.data, word, text.size) == 0;
}

tpt_status_t tpt__read_i64(tpt_reader_t* r, int64_t* out) {
  tpt__read_space(r);
  const char* at = r->p;
  bool is_negative = r->p < r->end && *r->p == '-';
  if (is_negative) r->p++;
  int64_t value = 0;
  const char* first = r->p;
  for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
    // Counts down, so that the smallest number fits.
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_sub_overflow(value, *r->p - '0', &value))
      return tpt__read_fail(r, at, "a number has more than 63 bits");
  }
  if (r->p == first)
    return tpt__read_fail(r, at, "expected a whole number, found '%.*s'", shown_size(r), r->p);
  if (!is_negative && __builtin_sub_overflow((int64_t)0, value, &value))
    return tpt__read_fail(r, at, "a number has more than 63 bits");
  *out = value;
  return NULL;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The character that an escape at p (behind "\") stands for; sets *out_size to what it takes.
static int unescape(const char* p, const char* end, size_t* out_size) {
  *out_size = 1;
  switch (*p) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case '"':
  case '\\':
    return *p;
  default:
    break;
  }
  *out_size = 2;
  if (end - p < 2 || hex_digit(p[0]) < 0 || hex_digit(p[1]) < 0) return -1;
  return hex_digit(p[0]) * 16 + hex_digit(p[1]);
}

tpt_status_t tpt__read_string(tpt_reader_t* r, tpt_text_t* out) {
  TPT_TRY(tpt__read_expect(r, '"'));
  const char* begin = r->p;
  bool is_plain = true;
  while (r->p < r->end && *r->p != '"' && *r->p != '\n') {
    bool is_escape = *r->p == '\\';
    is_plain &= !is_escape;
    r->p += is_escape && r->end - r->p > 1 ? 2 : 1;
  }
  if (r->p >= r->end || *r->p != '"') return tpt__read_fail(r, begin, "a string is not closed");
  const char* end = r->p++;
  *out = (tpt_text_t){begin, (size_t)(end - begin)};
  if (is_plain) return NULL;
  char* copy = tpt_arena_alloc(&r->temp, out->size);
  if (!copy) return tpt__read_no_memory();
  size_t used = 0;
  for (const char* p = begin; p < end;) {
    if (*p != '\\') {
      copy[used++] = *p++;
      continue;
    }
    size_t size;
    int c = unescape(p + 1, end, &size);
    if (c < 0) return tpt__read_fail(r, p, "unknown escape in a string");
    copy[used++] = (char)c;
    p += 1 + size;
  }
  *out = (tpt_text_t){copy, used};
  return NULL;
}

tpt_status_t tpt__read_symbol_name(tpt_reader_t* r, tpt_text_t* out) {
  TPT_TRY(tpt__read_expect(r, '@'));
  if (r->p < r->end && *r->p == '"') return tpt__read_string(r, out);
  const char* begin = r->p;
  while (r->p < r->end && (is_word_char(*r->p) || *r->p == '-'))
    r->p++;
  *out = (tpt_text_t){begin, (size_t)(r->p - begin)};
  if (out->size == 0) return tpt__read_fail(r, begin, "expected a name behind '@'");
  return NULL;
}

// Moves over one token as far as brackets go: +1 opened, -1 closed, 0 else.
static int skip_piece(tpt_reader_t* r) {
  char c = *r->p;
  if (c == '"') {
    r->p++;
    while (r->p < r->end && *r->p != '"')
      r->p += *r->p == '\\' && r->end - r->p > 1 ? 2 : 1;
    if (r->p < r->end) r->p++;
    return 0;
  }
  if (c == '/' && r->end - r->p > 1 && r->p[1] == '/') {
    tpt__read_space(r);
    return 0;
  }
  if (c == '-' && r->end - r->p > 1 && r->p[1] == '>') {
    r->p += 2;
    return 0;
  }
  r->p++;
  if (c == '(' || c == '[' || c == '{' || c == '<') return 1;
  return c == ')' || c == ']' || c == '}' || c == '>' ? -1 : 0;
}

tpt_status_t tpt__read_skip_to(tpt_reader_t* r, const char* stops) {
  const char* at = r->p;
  for (int depth = 0; r->p < r->end;) {
    if (depth == 0 && strchr(stops, *r->p) && *r->p) return NULL;
    if (depth == 0 && (*r->p == '}' || *r->p == ')' || *r->p == ']')) break;
    depth += skip_piece(r);
    if (depth < 0) break;
  }
  return tpt__read_fail(r, at, "no end of this was found");
}

tpt_status_t tpt__read_skip_closed(tpt_reader_t* r) {
  const char* at = r->p;
  for (int depth = 1; r->p < r->end;) {
    depth += skip_piece(r);
    if (depth == 0) return NULL;
  }
  return tpt__read_fail(r, at, "the bracket that opens here is not closed");
}

tpt_status_t tpt__read_skip_location(tpt_reader_t* r) {
  const char* before = r->p;
  if (!tpt__read_take_word(r, "loc")) return NULL;
  if (!tpt__read_take(r, '(')) {
    r->p = before;
    return NULL;
  }
  return tpt__read_skip_closed(r);
}
