// Recursive-descent reader of ATen schema text. Owns the grammar only; knows no row. Invariant: a
// failed parse leaves the pool's earlier contents valid.
#include "aten/schema.h"

#include <ctype.h>
#include <string.h>

typedef struct parser {
  const char* text;
  const char* next;
  tpt_schema_pool_t* pool;
} parser_t;

static tpt_status_t fail_at(const parser_t* p, const char* what) {
  return tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__, "schema \"%s\":%d: %s", p->text,
                         (int)(p->next - p->text) + 1, what);
}

static void skip_spaces(parser_t* p) {
  while (*p->next == ' ')
    p->next++;
}

static bool take_text(parser_t* p, const char* text) {
  skip_spaces(p);
  size_t size = strlen(text);
  if (strncmp(p->next, text, size) != 0) return false;
  p->next += size;
  return true;
}

static tpt_status_t expect(parser_t* p, const char* text) {
  if (take_text(p, text)) return NULL;
  return tpt_status_make(TPT_INVALID_ARGUMENT, __FILE__, __LINE__,
                         "schema \"%s\":%d: wanted \"%s\"", p->text, (int)(p->next - p->text) + 1,
                         text);
}

static tpt_status_t keep_text(parser_t* p, const char* text, size_t size, const char** out) {
  tpt_schema_pool_t* pool = p->pool;
  if (size + 1 > pool->text_capacity - pool->text_count) return fail_at(p, "the text pool is full");
  char* copy = pool->text + pool->text_count;
  memcpy(copy, text, size);
  copy[size] = 0;
  pool->text_count += size + 1;
  *out = copy;
  return NULL;
}

static size_t word_size(const char* text) {
  size_t size = 0;
  while (isalnum((unsigned char)text[size]) || text[size] == '_')
    size++;
  return size;
}

typedef struct type_word {
  const char* word;
  tpt_arg_kind_t one, many;  // NONE: no such form
} type_word_t;

static const type_word_t kTypeWords[] = {
    {"Tensor", TPT_ARG_TENSOR, TPT_ARG_TENSORS}, {"Scalar", TPT_ARG_SCALAR, TPT_ARG_SCALARS},
    {"float", TPT_ARG_FLOAT, TPT_ARG_FLOATS},    {"SymInt", TPT_ARG_INT, TPT_ARG_INTS},
    {"int", TPT_ARG_INT, TPT_ARG_INTS},          {"bool", TPT_ARG_BOOL, TPT_ARG_BOOLS},
    {"ScalarType", TPT_ARG_DTYPE, TPT_ARG_NONE}, {"str", TPT_ARG_STRING, TPT_ARG_NONE},
    {"Device", TPT_ARG_DEVICE, TPT_ARG_NONE},    {"Generator", TPT_ARG_GENERATOR, TPT_ARG_NONE},
    {"Layout", TPT_ARG_INT, TPT_ARG_NONE},       {"MemoryFormat", TPT_ARG_INT, TPT_ARG_NONE},
};

typedef struct type_text {
  tpt_arg_kind_t kind;
  bool is_optional, is_written;
} type_text_t;

// "(a!)" or "(a)": tells whether the mark says "written".
static tpt_status_t parse_alias(parser_t* p, bool* out_written) {
  while (*p->next && *p->next != ')') {
    if (*p->next == '!') *out_written = true;
    p->next++;
  }
  return expect(p, ")");
}

static tpt_status_t parse_type(parser_t* p, type_text_t* out) {
  memset(out, 0, sizeof(*out));
  skip_spaces(p);
  size_t size = word_size(p->next);
  const type_word_t* found = NULL;
  for (size_t i = 0; i < sizeof(kTypeWords) / sizeof(*kTypeWords); i++) {
    if (strlen(kTypeWords[i].word) == size && !memcmp(kTypeWords[i].word, p->next, size))
      found = &kTypeWords[i];
  }
  if (!found) return fail_at(p, "unknown type");
  p->next += size;
  out->kind = found->one;
  for (;;) {
    if (*p->next == '(') {
      p->next++;
      TPT_TRY(parse_alias(p, &out->is_written));
    } else if (*p->next == '?') {
      p->next++;
      out->is_optional = true;
    } else if (*p->next == '[') {
      if (out->kind != found->one || found->many == TPT_ARG_NONE) return fail_at(p, "no such list");
      p->next++;
      while (isdigit((unsigned char)*p->next))
        p->next++;
      TPT_TRY(expect(p, "]"));
      out->kind = found->many;
      out->is_optional = false;  // "Tensor?[]": the items may be None, the list may not
    } else {
      return NULL;
    }
  }
}

// Skips "=value"; the value may hold brackets and quoted text.
static tpt_status_t skip_default(parser_t* p) {
  if (*p->next != '=') return NULL;
  int depth = 0;
  bool is_quoted = false;
  for (; *p->next; p->next++) {
    char c = *p->next;
    if (c == '"' || c == '\'') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (depth == 0 && (c == ',' || c == ')')) return NULL;
    if (c == '[' || c == '(') depth++;
    if (c == ']' || c == ')') depth--;
  }
  return fail_at(p, "unterminated default value");
}

static tpt_status_t parse_args(parser_t* p, tpt_schema_t* out) {
  tpt_schema_pool_t* pool = p->pool;
  out->args = pool->args + pool->arg_count;
  bool is_keyword_only = false;
  if (take_text(p, ")")) return NULL;
  do {
    if (take_text(p, "*")) {
      is_keyword_only = true;
      continue;
    }
    type_text_t type;
    TPT_TRY(parse_type(p, &type));
    skip_spaces(p);
    size_t size = word_size(p->next);
    if (!size) return fail_at(p, "wanted an argument name");
    if (pool->arg_count == pool->arg_capacity) return fail_at(p, "the argument pool is full");
    tpt_schema_arg_t* arg = &pool->args[pool->arg_count];
    memset(arg, 0, sizeof(*arg));
    TPT_TRY(keep_text(p, p->next, size, &arg->name));
    p->next += size;
    arg->kind = type.kind;
    arg->is_optional = type.is_optional;
    arg->is_written = type.is_written;
    arg->is_keyword_only = is_keyword_only;
    TPT_TRY(skip_default(p));
    pool->arg_count++;
    out->arg_count++;
  } while (take_text(p, ","));
  return expect(p, ")");
}

static tpt_status_t parse_return(parser_t* p, tpt_schema_t* out) {
  tpt_schema_pool_t* pool = p->pool;
  type_text_t type;
  TPT_TRY(parse_type(p, &type));
  if (type.kind != TPT_ARG_TENSOR && type.kind != TPT_ARG_TENSORS && type.kind != TPT_ARG_INT)
    return fail_at(p, "a result must be Tensor, Tensor[] or SymInt");
  skip_spaces(p);
  p->next += word_size(p->next);  // names of results carry no meaning here
  if (pool->return_count == pool->return_capacity) return fail_at(p, "the result pool is full");
  pool->returns[pool->return_count++] = type.kind;
  out->return_count++;
  return NULL;
}

static tpt_status_t parse_returns(parser_t* p, tpt_schema_t* out) {
  out->returns = p->pool->returns + p->pool->return_count;
  if (!take_text(p, "(")) return parse_return(p, out);
  if (take_text(p, ")")) return NULL;
  do {
    TPT_TRY(parse_return(p, out));
  } while (take_text(p, ","));
  return expect(p, ")");
}

static tpt_status_t parse_name(parser_t* p, tpt_schema_t* out) {
  size_t base = word_size(p->next);
  if (!base) return fail_at(p, "wanted an operator name");
  size_t overload = 0;
  if (p->next[base] == '.') {
    overload = word_size(p->next + base + 1);
    if (!overload) return fail_at(p, "wanted an overload name after \".\"");
  }
  TPT_TRY(keep_text(p, p->next, base, &out->base));
  out->name = out->base;
  out->overload = "";
  if (overload) {
    TPT_TRY(keep_text(p, p->next, base + 1 + overload, &out->name));
    TPT_TRY(keep_text(p, p->next + base + 1, overload, &out->overload));
  }
  p->next += base + (overload ? overload + 1 : 0);
  return NULL;
}

tpt_status_t tpt_schema_parse(const char* text, tpt_schema_pool_t* pool, tpt_schema_t* out_schema) {
  parser_t p = {text, text, pool};
  memset(out_schema, 0, sizeof(*out_schema));
  TPT_TRY(parse_name(&p, out_schema));
  TPT_TRY(expect(&p, "("));
  TPT_TRY(parse_args(&p, out_schema));
  TPT_TRY(expect(&p, "->"));
  TPT_TRY(parse_returns(&p, out_schema));
  skip_spaces(&p);
  if (*p.next) return fail_at(&p, "text after the results");
  return NULL;
}
