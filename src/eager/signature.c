// Owns the telling of what a program depends on. Must not know keys or graphs. Invariant: calls of one op
// whose arguments are of the same kinds and counts have the same traits in the same order.
#include "eager/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aten/lower.h"
#include "base/allocator.h"

enum { UNLIKE = 1000 };  // traits that differ when even their kinds do

// --- reading -------------------------------------------------------------------------------------------

typedef struct reader {
  const tpt_device_t* device;
  const tpt_call_t* call;
  tpt_signature_t* out;
  size_t use;  // next device tensor in the frame
  int32_t arg, item;
  bool is_static;
  bool is_failed;
} reader_t;

static void add(reader_t* r, tpt_trait_kind_t kind, const int64_t* words, size_t count) {
  tpt_signature_t* s = r->out;
  if (r->is_failed ||
      !tpt_grow((void**)&s->traits, &s->trait_capacity, s->trait_count + 1, sizeof(*s->traits)) ||
      !tpt_grow((void**)&s->words, &s->word_capacity, s->word_count + count, sizeof(*s->words))) {
    r->is_failed = true;
    return;
  }
  s->traits[s->trait_count++] = (tpt_trait_t){.kind = kind,
                                              .is_static = r->is_static,
                                              .arg = r->arg,
                                              .item = r->item,
                                              .first = (uint32_t)s->word_count,
                                              .count = (uint32_t)count};
  if (count > 0) memcpy(s->words + s->word_count, words, count * sizeof(*words));
  s->word_count += count;
}

static void add_one(reader_t* r, tpt_trait_kind_t kind, int64_t word) {
  add(r, kind, &word, 1);
}

static int64_t bits_of(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// A number's value, which matters only if the row reads it.
static void add_number(reader_t* r, const tpt_number_t* number) {
  const int64_t words[] = {number->dtype, number->i, bits_of(number->f), bits_of(number->im)};
  r->is_static = true;
  add(r, TPT_TRAIT_NUMBER, words, 4);
  r->is_static = false;
}

static void add_tensor(reader_t* r, const tpt_tensor_t* tensor) {
  if (tensor->flags & (TPT_TENSOR_NONE | TPT_TENSOR_HOST)) {
    bool is_none = tensor->flags & TPT_TENSOR_NONE;
    add_one(r, TPT_TRAIT_KIND, is_none ? TPT_ARG_NONE : TPT_ARG_SCALAR);
    if (is_none) return;
    add_one(r, TPT_TRAIT_DTYPE, tensor->dtype);
    add_number(r, &tensor->number);
    return;
  }
  const tpt_frame_t* frame = &r->device->frame;
  if (r->use >= frame->use_count) return;
  const tpt_use_t* use = &frame->uses[r->use++];
  const tpt_type_t* home = &use->window->home->type;
  const int64_t place[] = {use->solution, tensor->storage->cell != NULL};
  add_one(r, TPT_TRAIT_KIND, TPT_ARG_TENSOR);
  add_one(r, TPT_TRAIT_DTYPE, tensor->dtype);
  add(r, TPT_TRAIT_SIZES, tensor->sizes, (size_t)tensor->rank);
  add(r, TPT_TRAIT_STRIDES, use->window->strides, (size_t)tensor->rank);
  add_one(r, TPT_TRAIT_HOME_DTYPE, home->dtype);
  add(r, TPT_TRAIT_HOME, home->dims, (size_t)home->rank);
  add(r, TPT_TRAIT_PLACE, place, 2);
  add_one(r, TPT_TRAIT_SHARING, use->group);
}

static void add_list(reader_t* r, const tpt_arg_t* arg, bool is_operand) {
  add_one(r, TPT_TRAIT_COUNT, arg->count);
  if (arg->kind == TPT_ARG_INTS || arg->kind == TPT_ARG_BOOLS) {
    if (!is_operand) add(r, TPT_TRAIT_INTS, arg->ints, arg->count);
    return;
  }
  for (uint32_t i = 0; i < arg->count; i++) {
    r->item = (int32_t)i;
    const tpt_number_t number = {.dtype = TPT_F64, .f = arg->floats[i]};
    add(r, TPT_TRAIT_NUMBER, (const int64_t[]){number.dtype, 0, bits_of(number.f), 0}, 4);
  }
}

static void add_text(reader_t* r, const tpt_arg_t* arg) {
  int64_t words[16] = {0};  // enough to tell; longer texts are cut
  size_t size = arg->count < sizeof(words) - 1 ? arg->count : sizeof(words) - 1;
  memcpy(words, arg->string, size);
  add(r, TPT_TRAIT_TEXT, words, (size + 8) / 8);
}

static void add_arg(reader_t* r, const tpt_arg_t* arg) {
  bool is_operand = r->arg < 64 && r->call->op->params.operands >> r->arg & 1;
  r->item = 0;
  if (arg->kind != TPT_ARG_TENSOR) add_one(r, TPT_TRAIT_KIND, arg->kind);
  switch (arg->kind) {
  case TPT_ARG_TENSOR:
    add_tensor(r, arg->tensors);
    return;
  case TPT_ARG_TENSORS:
    add_one(r, TPT_TRAIT_COUNT, arg->count);
    for (uint32_t i = 0; i < arg->count; i++) {
      r->item = (int32_t)i;
      add_tensor(r, &arg->tensors[i]);
    }
    return;
  case TPT_ARG_SCALAR:
  case TPT_ARG_FLOAT:
    add_one(r, TPT_TRAIT_DTYPE, arg->number.dtype);
    add_number(r, &arg->number);
    return;
  case TPT_ARG_SCALARS:
    add_one(r, TPT_TRAIT_COUNT, arg->count);
    for (uint32_t i = 0; i < arg->count; i++) {
      r->item = (int32_t)i;
      add_one(r, TPT_TRAIT_DTYPE, arg->numbers[i].dtype);
      add_number(r, &arg->numbers[i]);
    }
    return;
  case TPT_ARG_INT:
  case TPT_ARG_BOOL:
    if (!is_operand) add(r, TPT_TRAIT_NUMBER, (const int64_t[]){TPT_S64, arg->number.i, 0, 0}, 4);
    return;
  case TPT_ARG_DTYPE:
    add_one(r, TPT_TRAIT_DTYPE, arg->number.i);
    return;
  case TPT_ARG_INTS:
  case TPT_ARG_BOOLS:
  case TPT_ARG_FLOATS:
    add_list(r, arg, is_operand);
    return;
  case TPT_ARG_STRING:
    add_text(r, arg);
    return;
  case TPT_ARG_NONE:
  case TPT_ARG_DEVICE:
  case TPT_ARG_GENERATOR:
    return;
  }
}

bool tpt_signature_read(const tpt_device_t* device, const tpt_call_t* call, tpt_signature_t* out) {
  memset(out, 0, sizeof(*out));
  reader_t r = {.device = device, .call = call, .out = out, .arg = -1};
  out->op = call->op;
  add_one(&r, TPT_TRAIT_FORM, call->variant);
  add_one(&r, TPT_TRAIT_PRECISION, tpt_precision_get());
  add_one(&r, TPT_TRAIT_DEFAULT_DTYPE, call->default_dtype);
  for (r.arg = 0; r.arg < call->arg_count; r.arg++)
    add_arg(&r, &call->args[r.arg]);
  if (r.is_failed) tpt_signature_deinit(out);
  return !r.is_failed;
}

void tpt_signature_deinit(tpt_signature_t* signature) {
  tpt_free(signature->traits);
  tpt_free(signature->words);
  memset(signature, 0, sizeof(*signature));
}

// --- comparing -----------------------------------------------------------------------------------------

static bool is_same_trait(const tpt_trait_t* a, const tpt_trait_t* b) {
  return a->kind == b->kind && a->arg == b->arg && a->item == b->item;
}

size_t tpt_signature_distance(const tpt_signature_t* a, const tpt_signature_t* b,
                              uint64_t static_args, size_t* out_first) {
  size_t distance = 0, common = a->trait_count < b->trait_count ? a->trait_count : b->trait_count;
  *out_first = a->trait_count;
  for (size_t i = 0; i < common; i++) {
    const tpt_trait_t *x = &a->traits[i], *y = &b->traits[i];
    bool is_same = is_same_trait(x, y);
    if (is_same && x->is_static && (x->arg >= 64 || !(static_args >> x->arg & 1))) continue;
    if (is_same && x->count == y->count &&
        memcmp(a->words + x->first, b->words + y->first, x->count * sizeof(*a->words)) == 0)
      continue;
    if (distance++ == 0) *out_first = i;
    // What follows is of other arguments: it cannot be compared.
    if (!is_same || x->kind == TPT_TRAIT_KIND || x->kind == TPT_TRAIT_COUNT)
      return distance + UNLIKE;
  }
  return distance;
}

// --- telling -------------------------------------------------------------------------------------------

static void append_list(tpt_str_t* text, const int64_t* items, size_t count) {
  tpt_str_append_char(text, '(');
  for (size_t i = 0; i < count; i++)
    tpt_str_printf(text, i ? ", %lld" : "%lld", (long long)items[i]);
  tpt_str_append_cstr(text, count == 1 ? ",)" : ")");
}

// With as few digits as tell it from its neighbours.
static void append_double(tpt_str_t* text, double value) {
  char digits[40];
  for (int precision = 6; precision <= 17; precision++) {
    snprintf(digits, sizeof(digits), "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  tpt_str_append_cstr(text, digits);
}

static void append_number(tpt_str_t* text, const int64_t* words) {
  tpt_dtype_t dtype = (tpt_dtype_t)words[0];
  double real, imaginary;
  memcpy(&real, &words[2], sizeof(real));
  memcpy(&imaginary, &words[3], sizeof(imaginary));
  if (tpt_dtype_is_complex(dtype)) {
    append_double(text, real);
    tpt_str_append_cstr(text, " + ");
    append_double(text, imaginary);
    tpt_str_append_cstr(text, "j");
  } else if (tpt_dtype_is_float(dtype)) {
    append_double(text, real);
  } else {
    tpt_str_append_i64(text, words[1]);
  }
}

static const char* name_of_kind(int64_t kind) {
  static const char* const kNames[] = {
      [TPT_ARG_NONE] = "none",     [TPT_ARG_TENSOR] = "a tensor", [TPT_ARG_TENSORS] = "tensors",
      [TPT_ARG_SCALAR] = "number", [TPT_ARG_SCALARS] = "numbers", [TPT_ARG_FLOAT] = "float",
      [TPT_ARG_INT] = "int",       [TPT_ARG_BOOL] = "bool",       [TPT_ARG_DTYPE] = "dtype",
      [TPT_ARG_INTS] = "ints",     [TPT_ARG_FLOATS] = "floats",   [TPT_ARG_BOOLS] = "bools",
      [TPT_ARG_STRING] = "text",   [TPT_ARG_DEVICE] = "device",   [TPT_ARG_GENERATOR] = "generator",
  };
  return kNames[kind];
}

static void append_value(tpt_str_t* text, const tpt_trait_t* trait, const int64_t* words) {
  static const char* const kForms[] = {"functional", "in-place"};
  static const char* const kPrecisions[] = {"default", "high", "highest"};
  static const char* const kPlaces[] = {"the whole", "a box", "a range", "scattered"};
  switch (trait->kind) {
  case TPT_TRAIT_FORM:
    tpt_str_append_cstr(text, kForms[words[0] != TPT_FUNCTIONAL]);
    return;
  case TPT_TRAIT_PRECISION:
    tpt_str_append_cstr(text, kPrecisions[words[0]]);
    return;
  case TPT_TRAIT_KIND:
    tpt_str_append_cstr(text, name_of_kind(words[0]));
    return;
  case TPT_TRAIT_DEFAULT_DTYPE:
  case TPT_TRAIT_DTYPE:
  case TPT_TRAIT_HOME_DTYPE: {
    const char* name = tpt_dtype_row((tpt_dtype_t)words[0])->name;
    tpt_str_append_cstr(text, name ? name : "none");
    return;
  }
  case TPT_TRAIT_COUNT:
  case TPT_TRAIT_SHARING:
    tpt_str_append_i64(text, words[0]);
    return;
  case TPT_TRAIT_SIZES:
  case TPT_TRAIT_STRIDES:
  case TPT_TRAIT_HOME:
  case TPT_TRAIT_INTS:
    append_list(text, words, trait->count);
    return;
  case TPT_TRAIT_PLACE:
    tpt_str_printf(text, "%s%s", kPlaces[words[0] & 3], words[1] ? "" : " without a value");
    return;
  case TPT_TRAIT_NUMBER:
    append_number(text, words);
    return;
  case TPT_TRAIT_TEXT:
    tpt_str_printf(text, "\"%s\"", (const char*)words);
    return;
  }
}

static const char* name_of_trait(tpt_trait_kind_t kind) {
  static const char* const kNames[] = {
      [TPT_TRAIT_FORM] = "form",
      [TPT_TRAIT_PRECISION] = "precision",
      [TPT_TRAIT_DEFAULT_DTYPE] = "default dtype",
      [TPT_TRAIT_KIND] = "kind",
      [TPT_TRAIT_COUNT] = "length",
      [TPT_TRAIT_DTYPE] = "dtype",
      [TPT_TRAIT_SIZES] = "sizes",
      [TPT_TRAIT_STRIDES] = "strides",
      [TPT_TRAIT_HOME_DTYPE] = "dtype of the storage",
      [TPT_TRAIT_HOME] = "memory order of the storage",
      [TPT_TRAIT_PLACE] = "place in the storage",
      [TPT_TRAIT_SHARING] = "storage among those of the call",
      [TPT_TRAIT_NUMBER] = "value",
      [TPT_TRAIT_INTS] = "values",
      [TPT_TRAIT_TEXT] = "text",
  };
  return kNames[kind];
}

static void append_argument(tpt_str_t* text, const tpt_op_t* op, const tpt_trait_t* trait) {
  if (trait->arg < 0) return;
  tpt_str_append_cstr(text, ", of argument ");
  if (op->schema_text) {
    tpt_str_append_cstr(text, tpt_op_schema(op)->args[trait->arg].name);
  } else {
    tpt_str_append_i64(text, trait->arg);
  }
  if (trait->item) tpt_str_printf(text, "[%d]", (int)trait->item);
}

void tpt_signature_append_change(tpt_str_t* text, const tpt_op_t* op, const tpt_signature_t* now,
                                 const tpt_signature_t* before, size_t number) {
  const tpt_trait_t *x = &now->traits[number], *y = &before->traits[number];
  if (!is_same_trait(x, y)) {
    tpt_str_append_cstr(text, "other kinds of arguments");
    return;
  }
  tpt_str_printf(text, "new %s ", name_of_trait(x->kind));
  append_value(text, x, now->words + x->first);
  tpt_str_append_cstr(text, ", was ");
  append_value(text, y, before->words + y->first);
  append_argument(text, op, x);
}
