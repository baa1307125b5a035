// Owns the options: rows of options.def as a table, parsing, printing, and the only reads of the
// environment. Must not know what an option does. Invariant: a struct's strings are its own heap
// copies, and a failed parse leaves the struct as it was.
#include "base/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"

typedef enum option_type { TYPE_STRING, TYPE_BOOL, TYPE_I64 } option_type_t;

static const tpt_option_row_t rows[] = {
#define OPTION(name, type, initial, scope, legal, sentence)                                        \
  {#name, #type, #initial, #scope, legal, sentence},
#include "base/options.def"
#undef OPTION
};
static const struct option_place {
  option_type_t type;
  size_t offset;
  const char* initial;  // as a value would be written
} places[] = {
#define OPTION(name, type, initial, scope, legal, sentence)                                        \
  {TYPE_##type, offsetof(tpt_options_t, name), #initial},
#include "base/options.def"
#undef OPTION
};
enum { OPTION_COUNT = (int)(sizeof(rows) / sizeof(rows[0])), NAME_SIZE_MAX = 63 };

const tpt_option_row_t* tpt_option_row(int index) {
  return index >= 0 && index < OPTION_COUNT ? &rows[index] : NULL;
}

const char* tpt_environment(const char* name) {
  return getenv(name);
}

static void* field(const tpt_options_t* options, int index) {
  return (char*)options + places[index].offset;
}

// Number of single-character edits that turn a into b; both at most NAME_SIZE_MAX long.
static int edit_distance(const char* a, size_t a_size, const char* b) {
  int row[NAME_SIZE_MAX + 1];
  int b_size = (int)strlen(b);
  for (int j = 0; j <= b_size; j++)
    row[j] = j;
  for (int i = 1; i <= (int)a_size; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= b_size; j++) {
      int above = row[j];
      int best = diagonal + (a[i - 1] != b[j - 1]);
      if (above + 1 < best) best = above + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[b_size];
}

static int find_row(const char* name, size_t size) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0) return i;
  }
  return -1;
}

static tpt_status_t unknown_name(tpt_code_t code, const char* name, size_t size) {
  if (size > NAME_SIZE_MAX) size = NAME_SIZE_MAX;
  int best = 0, best_distance = NAME_SIZE_MAX;
  char known[512] = "";
  for (int i = 0; i < OPTION_COUNT; i++) {
    int distance = edit_distance(name, size, rows[i].name);
    if (distance < best_distance) best = i, best_distance = distance;
    size_t used = strlen(known);
    snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", rows[i].name);
  }
  if (best_distance * 2 <= (int)size + 1)
    TPT_FAIL(code, "unknown option '%.*s': did you mean '%s'? (known: %s)", (int)size, name,
             rows[best].name, known);
  TPT_FAIL(code, "unknown option '%.*s' (known: %s)", (int)size, name, known);
}

static bool is_listed(const char* legal, const char* value) {
  size_t size = strlen(value);
  for (const char* p = legal; *p;) {
    size_t part = strcspn(p, "|");
    if (part == size && memcmp(p, value, size) == 0) return true;
    p += part + (p[part] == '|');
  }
  return false;
}

static tpt_status_t set_string(char** field, const tpt_option_row_t* row, const char* value) {
  if (row->legal[0] && !is_listed(row->legal, value))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "option %s: '%s' is not one of %s", row->name, value,
             row->legal);
  size_t size = strlen(value) + 1;
  char* copy = tpt_malloc(size);
  if (!copy) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "out of host memory for option %s", row->name);
  memcpy(copy, value, size);
  tpt_free(*field);
  *field = copy;
  return NULL;
}

static tpt_status_t set_bool(bool* field, const tpt_option_row_t* row, const char* value) {
  if (is_listed("1|true|on|yes", value))
    *field = true;
  else if (is_listed("0|false|off|no", value))
    *field = false;
  else
    TPT_FAIL(TPT_INVALID_ARGUMENT, "option %s: '%s' is not a switch (1, true, on, 0, false, off)",
             row->name, value);
  return NULL;
}

static tpt_status_t set_i64(int64_t* field, const tpt_option_row_t* row, const char* value) {
  char* end;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  bool is_good = end != value && errno == 0;
  static const char suffixes[] = "KMG";
  const char* suffix = *end ? strchr(suffixes, *end) : NULL;
  if (is_good && suffix) {
    is_good = !__builtin_mul_overflow(number, 1LL << (10 * (suffix - suffixes + 1)), &number);
    end++;
  }
  long long smallest = strtoll(row->legal, NULL, 10);
  if (!is_good || *end || number < smallest)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "option %s: '%s' is not a whole number of at least %lld",
             row->name, value, smallest);
  *field = number;
  return NULL;
}

static tpt_status_t set_row(tpt_options_t* options, int index, const char* value) {
  void* place = field(options, index);
  switch (places[index].type) {
  case TYPE_STRING:
    return set_string(place, &rows[index], value);
  case TYPE_BOOL:
    return set_bool(place, &rows[index], value);
  case TYPE_I64:
    return set_i64(place, &rows[index], value);
  }
  return NULL;
}

tpt_status_t tpt_options_init(tpt_options_t* options) {
  memset(options, 0, sizeof(*options));
  for (int i = 0; i < OPTION_COUNT; i++) {
    char value[128];
    snprintf(value, sizeof(value), "%s", places[i].initial);
    char* text = value;
    size_t size = strlen(value);
    if (value[0] == '"') {  // the literal as written in options.def, with its quotes
      value[size - 1] = 0;
      text++;
    }
    tpt_status_t status;
    if (places[i].type == TYPE_STRING && !text[0]) {
      // An empty default is no choice of a list, so it bypasses the check.
      char** place = field(options, i);
      *place = tpt_calloc(1, 1);
      status = *place ? NULL
                      : tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                                        "out of host memory");
    } else {
      status = set_row(options, i, text);
    }
    if (status) {
      tpt_options_deinit(options);
      return status;
    }
  }
  return NULL;
}

void tpt_options_deinit(tpt_options_t* options) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (places[i].type == TYPE_STRING) tpt_free(*(char**)field(options, i));
  }
  memset(options, 0, sizeof(*options));
}

tpt_status_t tpt_options_set(tpt_options_t* options, const char* name, const char* value) {
  int index = find_row(name, strlen(name));
  if (index < 0) return unknown_name(TPT_INVALID_ARGUMENT, name, strlen(name));
  return set_row(options, index, value);
}

// Copies the value at `p` without its quotes into value; sets *inout_text behind it.
static tpt_status_t take_value(const char** inout_text, char* value, size_t value_size) {
  const char* p = *inout_text;
  bool is_quoted = *p == '"';
  if (is_quoted) p++;
  size_t size = strcspn(p, is_quoted ? "\"" : " ,\t\n");
  if (is_quoted && !p[size])
    TPT_FAIL(TPT_INVALID_ARGUMENT, "options: a quoted value has no closing quote");
  if (size >= value_size)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "options: a value is longer than %zu characters",
             value_size - 1);
  memcpy(value, p, size);
  value[size] = 0;
  *inout_text = p + size + is_quoted;
  return NULL;
}

static tpt_status_t parse_into(tpt_options_t* options, const char* text) {
  char value[4096];
  for (const char* p = text + strspn(text, " ,\t\n"); *p; p += strspn(p, " ,\t\n")) {
    size_t size = strcspn(p, "= ,\t\n");
    int index = find_row(p, size);
    if (index < 0) return unknown_name(TPT_INVALID_ARGUMENT, p, size);
    if (p[size] != '=')
      TPT_FAIL(TPT_INVALID_ARGUMENT, "option %s has no value: write %s=value", rows[index].name,
               rows[index].name);
    p += size + 1;
    TPT_TRY(take_value(&p, value, sizeof(value)));
    TPT_TRY(set_row(options, index, value));
  }
  return NULL;
}

tpt_status_t tpt_options_parse(tpt_options_t* options, const char* text) {
  tpt_options_t changed = *options;
  tpt_status_t status = NULL;
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (places[i].type != TYPE_STRING) continue;
    char** copy = field(&changed, i);
    const char* original = *copy;
    *copy = NULL;
    size_t size = strlen(original) + 1;
    if (!status && !(*copy = tpt_malloc(size)))
      status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "out of host memory");
    if (*copy) memcpy(*copy, original, size);
  }
  if (!status) status = parse_into(&changed, text);
  tpt_options_t* dropped = status ? &changed : options;
  tpt_options_t kept = status ? *options : changed;
  tpt_options_deinit(dropped);
  *options = kept;
  return status;
}

tpt_status_t tpt_options_from_environment(tpt_options_t* options) {
  TPT_TRY(tpt_options_init(options));
  const char* text = getenv("TPUTORCH_OPTIONS");
  tpt_status_t status = text ? tpt_options_parse(options, text) : NULL;
  if (status) {
    tpt_options_deinit(options);
    return tpt_status_note(status, "while reading TPUTORCH_OPTIONS");
  }
  static const char* const kBlocking[] = {"TPU_LAUNCH_BLOCKING", "TORCH_TPU_LAUNCH_BLOCKING"};
  for (size_t i = 0; i < sizeof(kBlocking) / sizeof(*kBlocking); i++) {
    const char* blocking = getenv(kBlocking[i]);
    if (blocking && strcmp(blocking, "1") == 0) options->blocking = true;
  }
  const char* fused = getenv("TORCH_TPU_DEFER_AND_FUSE");
  if (fused && strcmp(fused, "1") == 0) return tpt_options_set(options, "eager_mode", "fused");
  return NULL;
}

tpt_status_t tpt_options_print(const tpt_options_t* options, const char* name, char* text,
                               int text_size) {
  int index = find_row(name, strlen(name));
  if (index < 0) return unknown_name(TPT_NOT_FOUND, name, strlen(name));
  const void* place = field(options, index);
  switch (places[index].type) {
  case TYPE_STRING:
    snprintf(text, (size_t)text_size, "%s", *(char* const*)place);
    break;
  case TYPE_BOOL:
    snprintf(text, (size_t)text_size, "%d", *(const bool*)place);
    break;
  case TYPE_I64:
    snprintf(text, (size_t)text_size, "%lld", (long long)*(const int64_t*)place);
    break;
  }
  return NULL;
}
