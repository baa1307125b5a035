// Owns the reading of modules and functions: finds all functions, reads main, reads a callee's text in
// place at each call. Must not know operations. Invariant: the work that calls cause is bounded by a
// budget, so a short text cannot make a long program.
#include "hlo/read.h"

#include "base/allocator.h"
#include "hlo/reader.h"

enum { CALL_BUDGET = 64 << 20, CALL_BUDGET_FACTOR = 16, NO_ALIAS = -1, DONATED = -2 };

// --- finding functions --------------------------------------------------------------------------------

// "#name = value" lines: aliases of locations and attributes.
static tpt_status_t skip_alias(tpt_reader_t* r) {
  tpt__read_word(r);
  TPT_TRY(tpt__read_expect(r, '='));
  tpt__read_take(r, '#');
  tpt__read_word(r);
  if (tpt__read_take(r, '(') || tpt__read_take(r, '<') || tpt__read_take(r, '[') ||
      tpt__read_take(r, '{'))
    return tpt__read_skip_closed(r);
  return NULL;
}

static tpt_status_t add_function(tpt_reader_t* r, const tpt_read_function_t* function) {
  for (size_t i = 0; i < r->function_count; i++) {
    tpt_text_t name = r->functions[i].name;
    if (name.size == function->name.size && memcmp(name.data, function->name.data, name.size) == 0)
      return tpt__read_fail(r, r->p, "function @%.*s is defined twice", (int)name.size, name.data);
  }
  if (!tpt_grow((void**)&r->functions, &r->function_capacity, r->function_count + 1,
                sizeof(*r->functions)))
    return tpt__read_no_memory();
  r->functions[r->function_count++] = *function;
  return NULL;
}

// func.func [public] @name(args) [-> types] [attributes {...}] {body}, behind "func.func"
static tpt_status_t find_pretty_function(tpt_reader_t* r) {
  tpt_read_function_t function = {.is_generic = false};
  if (!tpt__read_take_word(r, "public") && !tpt__read_take_word(r, "private"))
    tpt__read_take_word(r, "nested");
  TPT_TRY(tpt__read_symbol_name(r, &function.name));
  TPT_TRY(tpt__read_expect(r, '('));
  function.args = r->p;
  TPT_TRY(tpt__read_skip_closed(r));
  if (tpt__read_take_symbol(r, "->")) {
    tpt_type_t type;
    function.results = r->p;
    if (tpt__read_take(r, '('))
      TPT_TRY(tpt__read_skip_closed(r));
    else
      TPT_TRY(tpt__read_type(r, &type));
  }
  if (tpt__read_take_word(r, "attributes")) {
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(tpt__read_skip_closed(r));
  }
  if (!tpt__read_take(r, '{')) return tpt__read_skip_location(r);  // a declaration
  function.body = r->p;
  TPT_TRY(tpt__read_skip_closed(r));
  function.body_end = r->p;
  TPT_TRY(tpt__read_skip_location(r));
  return add_function(r, &function);
}

// The attributes of a generic function, behind "{".
static tpt_status_t read_function_attrs(tpt_reader_t* r, tpt_read_function_t* function) {
  if (tpt__read_take(r, '}')) return NULL;
  do {
    tpt_text_t name = tpt__read_word(r);
    if (!tpt__read_take(r, '=')) continue;
    if (tpt__text_is(name, "sym_name")) {
      TPT_TRY(tpt__read_string(r, &function->name));
      continue;
    }
    if (tpt__text_is(name, "function_type") && tpt__read_take(r, '(')) {
      TPT_TRY(tpt__read_skip_closed(r));
      TPT_TRY(tpt__read_expect_word(r, "->"));
      function->results = r->p;
    }
    if (tpt__text_is(name, "arg_attrs") && tpt__read_peek(r, '[')) function->arg_attrs = r->p + 1;
    TPT_TRY(tpt__read_skip_to(r, ",}"));
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, '}');
}

// () <{...}> ({ ^bb0(args): body }) {...} : () -> (), behind "func.func"
static tpt_status_t find_generic_function(tpt_reader_t* r) {
  tpt_read_function_t function = {.is_generic = true};
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(tpt__read_expect(r, ')'));
  if (tpt__read_take(r, '<')) {
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(read_function_attrs(r, &function));
    TPT_TRY(tpt__read_expect(r, '>'));
  }
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(tpt__read_expect(r, '{'));
  const char* inside = r->p;
  TPT_TRY(tpt__read_skip_closed(r));
  function.body_end = r->p;
  TPT_TRY(tpt__read_expect(r, ')'));
  if (tpt__read_take(r, '{')) TPT_TRY(read_function_attrs(r, &function));
  TPT_TRY(tpt__read_expect(r, ':'));
  TPT_TRY(tpt__read_skip_to(r, "-"));
  TPT_TRY(tpt__read_expect_word(r, "->"));
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(tpt__read_expect(r, ')'));
  TPT_TRY(tpt__read_skip_location(r));
  const char* behind = r->p;
  r->p = inside;
  function.body = inside;
  if (tpt__read_take(r, '^')) {
    tpt__read_word(r);
    if (tpt__read_take(r, '(')) function.args = r->p;
    if (function.args) TPT_TRY(tpt__read_skip_closed(r));
    TPT_TRY(tpt__read_expect(r, ':'));
    function.body = r->p;
  }
  r->p = behind;
  if (function.name.size == 0) return tpt__read_fail(r, inside, "a function has no sym_name");
  return add_function(r, &function);
}

// What a module holds, up to its "}" or the end of the text.
static tpt_status_t find_functions(tpt_reader_t* r) {
  for (;;) {
    tpt__read_space(r);
    if (r->p == r->end || *r->p == '}') return NULL;
    const char* at = r->p;
    if (tpt__read_take(r, '#')) {
      TPT_TRY(skip_alias(r));
    } else if (tpt__read_take_symbol(r, "\"func.func\"")) {
      TPT_TRY(find_generic_function(r));
    } else if (tpt__read_take_word(r, "func.func")) {
      TPT_TRY(find_pretty_function(r));
    } else if (tpt__read_take_word(r, "sdy.mesh")) {
      tpt_text_t name;
      TPT_TRY(tpt__read_symbol_name(r, &name));
      TPT_TRY(tpt__read_expect(r, '='));
      TPT_TRY(tpt__read_expect(r, '<'));
      TPT_TRY(tpt__read_skip_closed(r));
    } else {
      return tpt__read_unimplemented(r, at, "only functions are supported at module level");
    }
  }
}

static tpt_status_t find_in_generic_module(tpt_reader_t* r) {
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(tpt__read_expect(r, ')'));
  if (tpt__read_take(r, '<')) TPT_TRY(tpt__read_skip_closed(r));
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(tpt__read_expect(r, '{'));
  if (tpt__read_take(r, '^')) {
    tpt__read_word(r);
    TPT_TRY(tpt__read_expect(r, ':'));
  }
  TPT_TRY(find_functions(r));
  TPT_TRY(tpt__read_expect(r, '}'));
  TPT_TRY(tpt__read_expect(r, ')'));
  if (tpt__read_take(r, '{')) TPT_TRY(tpt__read_skip_closed(r));
  TPT_TRY(tpt__read_expect(r, ':'));
  TPT_TRY(tpt__read_expect(r, '('));
  TPT_TRY(tpt__read_expect(r, ')'));
  TPT_TRY(tpt__read_expect_word(r, "->"));
  TPT_TRY(tpt__read_expect(r, '('));
  return tpt__read_expect(r, ')');
}

static tpt_status_t find_in_pretty_module(tpt_reader_t* r) {
  tpt_text_t name;
  if (tpt__read_peek(r, '@')) TPT_TRY(tpt__read_symbol_name(r, &name));
  if (tpt__read_take_word(r, "attributes")) {
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(tpt__read_skip_closed(r));
  }
  TPT_TRY(tpt__read_expect(r, '{'));
  TPT_TRY(find_functions(r));
  return tpt__read_expect(r, '}');
}

static tpt_status_t find_in_text(tpt_reader_t* r) {
  while (tpt__read_take(r, '#'))
    TPT_TRY(skip_alias(r));
  if (tpt__read_take_symbol(r, "\"builtin.module\""))
    TPT_TRY(find_in_generic_module(r));
  else if (tpt__read_take_word(r, "module") || tpt__read_take_word(r, "builtin.module"))
    TPT_TRY(find_in_pretty_module(r));
  else
    TPT_TRY(find_functions(r));
  TPT_TRY(tpt__read_skip_location(r));
  while (tpt__read_take(r, '#'))
    TPT_TRY(skip_alias(r));
  tpt__read_space(r);
  if (r->p != r->end) return tpt__read_fail(r, r->p, "text behind the module");
  return NULL;
}

// --- reading functions --------------------------------------------------------------------------------

typedef struct function_args {
  tpt_text_t* names;
  tpt_type_t* types;
  int32_t* aliases;  // result number, NO_ALIAS or DONATED
  uint32_t count;
} function_args_t;

// The attributes of one argument, behind "{".
static tpt_status_t read_arg_attrs(tpt_reader_t* r, int32_t* out_alias) {
  if (tpt__read_take(r, '}')) return NULL;
  do {
    tpt_text_t name;
    if (tpt__read_peek(r, '"'))
      TPT_TRY(tpt__read_string(r, &name));
    else
      name = tpt__read_word(r);
    if (!tpt__read_take(r, '=')) continue;
    if (tpt__text_is(name, "tf.aliasing_output")) {
      const char* at = r->p;
      int64_t result;
      TPT_TRY(tpt__read_i64(r, &result));
      if (result < 0 || result > INT32_MAX)
        return tpt__read_fail(r, at, "tf.aliasing_output %lld is no result", (long long)result);
      *out_alias = (int32_t)result;
    } else if (tpt__text_is(name, "jax.buffer_donor") && tpt__read_take_word(r, "true")) {
      if (*out_alias == NO_ALIAS) *out_alias = DONATED;
    }
    TPT_TRY(tpt__read_skip_to(r, ",}"));
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, '}');
}

static tpt_status_t grow_args(tpt_reader_t* r, function_args_t* args) {
  uint32_t count = args->count;
  if (count && (count < 8 || (count & (count - 1)))) return NULL;
  size_t capacity = count ? 2 * (size_t)count : 8;
  tpt_text_t* names = tpt_arena_alloc(&r->temp, capacity * sizeof(*names));
  tpt_type_t* types = tpt_arena_alloc(&r->temp, capacity * sizeof(*types));
  int32_t* aliases = tpt_arena_alloc(&r->temp, capacity * sizeof(*aliases));
  if (!names || !types || !aliases) return tpt__read_no_memory();
  if (count) {
    memcpy(names, args->names, count * sizeof(*names));
    memcpy(types, args->types, count * sizeof(*types));
    memcpy(aliases, args->aliases, count * sizeof(*aliases));
  }
  *args = (function_args_t){names, types, aliases, count};
  return NULL;
}

// "%a: tensor<f32> {...} loc(...), ...)"
static tpt_status_t read_args(tpt_reader_t* r, const tpt_read_function_t* function,
                              function_args_t* out) {
  memset(out, 0, sizeof(*out));
  if (!function->args) return NULL;
  r->p = function->args;
  if (tpt__read_take(r, ')')) return NULL;
  do {
    TPT_TRY(grow_args(r, out));
    uint32_t i = out->count;
    out->aliases[i] = NO_ALIAS;
    TPT_TRY(tpt__read_value_name(r, &out->names[i]));
    TPT_TRY(tpt__read_expect(r, ':'));
    TPT_TRY(tpt__read_type(r, &out->types[i]));
    if (tpt__read_take(r, '{')) TPT_TRY(read_arg_attrs(r, &out->aliases[i]));
    TPT_TRY(tpt__read_skip_location(r));
    out->count = i + 1;
  } while (tpt__read_take(r, ','));
  return tpt__read_expect(r, ')');
}

// arg_attrs = [{...}, {...}] of a generic function.
static tpt_status_t read_generic_arg_attrs(tpt_reader_t* r, const tpt_read_function_t* function,
                                           function_args_t* args) {
  if (!function->arg_attrs) return NULL;
  r->p = function->arg_attrs;
  for (uint32_t i = 0; i < args->count; i++) {
    if (i) TPT_TRY(tpt__read_expect(r, ','));
    TPT_TRY(tpt__read_expect(r, '{'));
    TPT_TRY(read_arg_attrs(r, &args->aliases[i]));
  }
  return NULL;
}

// Whether the values returned have the declared types: "tensor<f32>" or "(tensor<f32> {...}, ...)".
static tpt_status_t check_results(tpt_reader_t* r, const tpt_read_function_t* function,
                                  const tpt_value_t* values, uint32_t count) {
  if (!function->results) return NULL;
  r->p = function->results;
  bool is_list = tpt__read_take(r, '(');
  uint32_t declared = 0;
  while (!is_list || !tpt__read_take(r, ')')) {
    tpt_type_t type;
    char text[160], actual[160];
    const char* at = r->p;
    TPT_TRY(tpt__read_type(r, &type));
    if (is_list && tpt__read_take(r, '{')) TPT_TRY(tpt__read_skip_closed(r));
    if (declared < count && !tpt_type_equal(&type, tpt_graph_type(r->graph, values[declared])))
      return tpt__read_fail(
          r, at, "result %u is declared as %s, but %s is returned", declared,
          tpt_type_print(&type, text, sizeof(text)),
          tpt_type_print(tpt_graph_type(r->graph, values[declared]), actual, sizeof(actual)));
    declared++;
    if (!is_list) break;
    if (!tpt__read_take(r, ',') && !tpt__read_peek(r, ')')) return tpt__read_expect(r, ')');
  }
  if (declared == count) return NULL;
  return tpt__read_fail(r, function->results, "%u results are declared, but %u are returned",
                        declared, count);
}

// The body of a function whose arguments are `values`.
static tpt_status_t read_function_body(tpt_reader_t* r, const tpt_read_function_t* function,
                                       const function_args_t* args, const tpt_value_t* values,
                                       tpt_value_t** out_results, uint32_t* out_count) {
  size_t mark = r->name_count, barrier = r->barrier;
  r->barrier = mark;
  for (uint32_t i = 0; i < args->count; i++)
    TPT_TRY(tpt__read_bind(r, args->names[i], values[i], NULL, 1));
  r->p = function->body;
  TPT_TRY(tpt__read_body(r, out_results, out_count));
  if (!tpt__read_peek(r, '}') || r->p + 1 != function->body_end)
    return tpt__read_unimplemented(r, r->p, "a function of several blocks is not supported");
  tpt__read_unbind(r, mark);
  r->barrier = barrier;
  return check_results(r, function, *out_results, *out_count);
}

static const tpt_read_function_t* find_function(const tpt_reader_t* r, tpt_text_t name) {
  for (size_t i = 0; i < r->function_count; i++) {
    tpt_text_t other = r->functions[i].name;
    if (other.size == name.size && memcmp(other.data, name.data, name.size) == 0)
      return &r->functions[i];
  }
  return NULL;
}

tpt_status_t tpt__read_call(tpt_reader_t* r, tpt_read_op_t* op, tpt_value_t** out_results,
                            uint32_t* out_count) {
  const tpt_read_function_t* function = find_function(r, op->callee);
  if (!function)
    return tpt__read_fail(r, op->at, "function @%.*s is not defined", (int)op->callee.size,
                          op->callee.data);
  size_t work = (size_t)(function->body_end - function->body) + 16;
  if (r->depth >= TPT__READ_DEPTH_MAX)
    return tpt__read_unimplemented(r, op->at, "calls nest deeper than %d (recursion?)",
                                   TPT__READ_DEPTH_MAX);
  if (work > r->budget)
    return tpt__read_unimplemented(r, op->at, "calls make this program too large");
  r->budget -= work;
  const char* behind = r->p;
  function_args_t args;
  TPT_TRY(read_args(r, function, &args));
  bool is_same = args.count == op->operand_count;
  for (uint32_t i = 0; is_same && i < args.count; i++)
    is_same = tpt_type_equal(&args.types[i], tpt_graph_type(r->graph, op->operands[i]));
  if (!is_same)
    return tpt__read_fail(r, op->at, "the operands do not fit the arguments of @%.*s",
                          (int)op->callee.size, op->callee.data);
  r->depth++;
  TPT_TRY(read_function_body(r, function, &args, op->operands, out_results, out_count));
  r->depth--;
  r->p = behind;
  return NULL;
}

// A donated parameter without a named result may back the first result of its type that is free.
static int32_t find_result_for(const tpt_reader_t* r, const function_args_t* args,
                               uint32_t parameter, const tpt_value_t* results, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    bool is_free = tpt_type_equal(tpt_graph_type(r->graph, results[i]), &args->types[parameter]);
    for (uint32_t j = 0; is_free && j < args->count; j++)
      is_free = args->aliases[j] != (int32_t)i;
    if (is_free) return (int32_t)i;
  }
  return NO_ALIAS;
}

static tpt_status_t read_main(tpt_reader_t* r) {
  const tpt_read_function_t* function = find_function(r, (tpt_text_t){"main", 4});
  if (!function) return tpt__read_fail(r, r->end, "there is no function @main");
  function_args_t args;
  TPT_TRY(read_args(r, function, &args));
  TPT_TRY(read_generic_arg_attrs(r, function, &args));
  tpt_value_t* values = tpt_arena_alloc(&r->temp, args.count * sizeof(*values));
  if (!values) return tpt__read_no_memory();
  for (uint32_t i = 0; i < args.count; i++)
    values[i] = tpt_graph_parameter(r->graph, &args.types[i]);
  TPT_TRY(tpt__read_graph_status(r, function->body));
  tpt_value_t* results;
  uint32_t count;
  TPT_TRY(read_function_body(r, function, &args, values, &results, &count));
  tpt_graph_return(r->graph, results, count);
  for (uint32_t i = 0; i < args.count; i++) {
    if (args.aliases[i] == DONATED) args.aliases[i] = find_result_for(r, &args, i, results, count);
    if (args.aliases[i] >= 0) tpt_graph_alias(r->graph, i, (uint32_t)args.aliases[i]);
  }
  return tpt__read_graph_status(r, function->body);
}

tpt_status_t tpt_graph_read(const char* text, size_t size, tpt_graph_t** out_graph) {
  tpt_reader_t reader = {.begin = text, .p = text, .end = text + size};
  *out_graph = NULL;
  if (__builtin_mul_overflow(size, (size_t)CALL_BUDGET_FACTOR, &reader.budget) ||
      __builtin_add_overflow(reader.budget, (size_t)CALL_BUDGET, &reader.budget))
    reader.budget = SIZE_MAX;
  TPT_TRY(tpt_graph_create(&reader.graph));
  tpt_arena_init(&reader.temp);
  tpt_status_t status = find_in_text(&reader);
  if (!status) status = read_main(&reader);
  tpt_arena_deinit(&reader.temp);
  tpt_free(reader.names);
  tpt_free(reader.heads);
  tpt_free(reader.functions);
  if (status)
    tpt_graph_release(reader.graph);
  else
    *out_graph = reader.graph;
  return status;
}
