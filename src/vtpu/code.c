// Compiled programs as the plugin keeps them. Knows the reader, the printer and the planner, not
// devices. Invariant: everything but the lazy text is set before the code is handed out.
#include "vtpu/code.h"

#include <string.h>

#include "base/allocator.h"
#include "hlo/print.h"
#include "hlo/read.h"

// Tables of parameters and results, as launches walk them.
static tpt_status_t fill_tables(vtpu_code_t* code) {
  const vtpu_program_t* program = code->program;
  size_t params = (size_t)code->param_count, results = (size_t)code->result_count;
  code->params = tpt_calloc(params + 1, sizeof(*code->params));
  code->results = tpt_calloc(results + 1, sizeof(*code->results));
  code->param_aliases = tpt_calloc(params + 1, sizeof(int));
  code->result_aliases = tpt_calloc(results + 1, sizeof(int));
  code->param_keeps = tpt_calloc(params + 1, sizeof(bool));
  if (!code->params || !code->results || !code->param_aliases || !code->result_aliases ||
      !code->param_keeps)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a program's tables");
  for (int i = 0; i < code->param_count; i++) {
    code->params[i] = vtpu_program_parameter_type(program, i);
    code->param_size += (size_t)tpt_type_size(code->params[i]);
    code->param_aliases[i] = -1;
    code->param_keeps[i] = vtpu_program_keeps(program, i);
  }
  for (int i = 0; i < code->result_count; i++) {
    int param = vtpu_program_alias(program, i);
    code->results[i] = vtpu_program_result_type(program, i);
    code->result_size += (size_t)tpt_type_size(code->results[i]);
    code->result_aliases[i] = param;
    if (param < 0) continue;
    code->param_aliases[param] = i;
    code->alias_count++;
    code->alias_size += (size_t)tpt_type_size(code->results[i]);
  }
  return NULL;
}

static tpt_status_t compile(vtpu_code_t* code, const char* text, size_t text_size) {
  tpt_graph_t* graph = NULL;
  code->text = tpt_malloc(text_size + 1);
  if (!code->text)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for %zu bytes of program", text_size);
  memcpy(code->text, text, text_size);
  code->text[text_size] = 0;
  code->text_size = text_size;
  TPT_TRY(tpt_graph_read(code->text, text_size, &graph));
  TPT_TRY(vtpu_program_compile(graph, &code->program));
  code->param_count = vtpu_program_parameter_count(code->program);
  code->result_count = vtpu_program_result_count(code->program);
  code->temp_size = vtpu_program_temp_size(code->program);
  code->cost = vtpu_program_cost(code->program);
  return fill_tables(code);
}

tpt_status_t vtpu_code_create(const char* text, size_t text_size, vtpu_code_t** out_code) {
  *out_code = NULL;
  vtpu_code_t* code = tpt_calloc(1, sizeof(*code));
  if (!code) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a program");
  atomic_init(&code->ref_count, 1);
  pthread_mutex_init(&code->mutex, NULL);
  tpt_str_init(&code->canonical);
  tpt_status_t status = compile(code, text, text_size);
  if (status) {
    vtpu_code_release(code);
    return status;
  }
  *out_code = code;
  return NULL;
}

vtpu_code_t* vtpu_code_retain(vtpu_code_t* code) {
  atomic_fetch_add_explicit(&code->ref_count, 1, memory_order_relaxed);
  return code;
}

void vtpu_code_release(vtpu_code_t* code) {
  if (!code || atomic_fetch_sub_explicit(&code->ref_count, 1, memory_order_acq_rel) != 1) return;
  vtpu_program_release(code->program);
  tpt_str_deinit(&code->canonical);
  pthread_mutex_destroy(&code->mutex);
  tpt_free(code->params);
  tpt_free(code->results);
  tpt_free(code->param_aliases);
  tpt_free(code->result_aliases);
  tpt_free(code->param_keeps);
  tpt_free(code->text);
  tpt_free(code);
}

static tpt_status_t print_canonical(vtpu_code_t* code) {
  tpt_graph_t* graph = NULL;
  TPT_TRY(tpt_graph_read(code->text, code->text_size, &graph));
  tpt_status_t status = tpt_graph_print(graph, &code->canonical);
  tpt_graph_release(graph);
  return status ? status : tpt_str_status(&code->canonical);
}

tpt_status_t vtpu_code_canonical(vtpu_code_t* code, const tpt_str_t** out_text) {
  tpt_status_t status = NULL;
  pthread_mutex_lock(&code->mutex);
  if (!code->canonical.data) {
    status = print_canonical(code);
    if (status) {
      tpt_str_deinit(&code->canonical);
      tpt_str_init(&code->canonical);
    }
  }
  pthread_mutex_unlock(&code->mutex);
  *out_text = &code->canonical;
  return status;
}

tpt_status_t vtpu_code_plan(const vtpu_code_t* code, tpt_str_t* out_text) {
  return vtpu_program_explain(code->program, out_text);
}
