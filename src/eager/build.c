// Owns a miss: from a call in the frame to a compiled entry. Must not know the hot path. Invariant: an
// entry is added to the device only when everything about it succeeded.
#include "eager/build.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"
#include "base/hash.h"
#include "eager/compile.h"
#include "eager/compile_log.h"
#include "eager/internal_op.h"
#include "eager/program.h"
#include "hlo/print.h"

// Writes the program's text to <dump>/<number>-<op>.mlir, a name that a shell takes as one word.
static tpt_status_t dump_text(const tpt_device_t* device, const char* label) {
  char path[1280];
  int size = snprintf(path, sizeof(path), "%s/tpu%d-%06llu-", device->dump, device->index,
                      (unsigned long long)device->counters.compiles);
  char* name = path + (size < (int)sizeof(path) ? size : (int)sizeof(path) - 1);
  snprintf(name, sizeof(path) - (size_t)(name - path), "%s.mlir", label);
  for (; *name; name++) {
    if (!isalnum((unsigned char)*name) && !strchr("._-", *name)) *name = '_';
  }
  FILE* file = fopen(path, "we");
  if (!file) TPT_FAIL(TPT_NOT_FOUND, "option dump: cannot write %s: %s", path, strerror(errno));
  bool is_written = fwrite(device->text.data, 1, device->text.size, file) == device->text.size;
  is_written &= fclose(file) == 0;
  if (!is_written) TPT_FAIL(TPT_DATA_LOSS, "option dump: %s was not written in full", path);
  return NULL;
}

static tpt_status_t compile(tpt_build_t* b, const char* label, tpt_executable_t** out_executable) {
  tpt_device_t* device = b->device;
  tpt_str_clear(&device->text);
  TPT_TRY(tpt_graph_print(b->graph, &device->text));
  TPT_TRY(tpt_str_status(&device->text));
  if (device->dump) TPT_TRY(dump_text(device, label));
  tpt_status_t refusal = tpt_compile_log_begin(device, b->call, b->lower.static_args);
  bool is_loaded, is_refused = refusal != NULL;
  double spent = device->counters.compile_seconds;
  tpt_status_t status = tpt_device_compile(device, device->text.data, device->text.size, refusal,
                                           out_executable, &is_loaded);
  if (is_refused && status) return status;
  const tpt_compile_cost_t cost = {.seconds = device->counters.compile_seconds - spent,
                                   .program_size = device->text.size,
                                   .is_loaded = is_loaded};
  if (!status) tpt_compile_log_end(device, label, &cost);
  return tpt_status_note(status, "while compiling %s%s", tpt_label_prefix(label), label);
}

static bool has_checks(const tpt_graph_t* graph) {
  for (uint32_t i = 0; i < tpt_graph_node_count(graph); i++) {
    const tpt_node_t* node = tpt_graph_node(graph, i);
    if (node->op == TPT_HLO_GATHER) {
      tpt_gather_t gather;
      tpt_node_gather(node, &gather);
      if (gather.check) return true;
    } else if (node->op == TPT_HLO_SCATTER) {
      tpt_scatter_t scatter;
      tpt_node_scatter(node, &scatter);
      if (scatter.check) return true;
    }
  }
  return false;
}

static void* copied(const void* data, size_t size) {
  void* copy = tpt_malloc(size ? size : 1);
  if (copy && size) memcpy(copy, data, size);
  return copy;
}

// Parameters that a result may take the place of, in the order of the parameters.
static uint32_t list_donations(const tpt_build_t* b, tpt_donation_t* out_donations) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < b->operand_count; i++) {
    if (b->operands[i].kind == TPT_OPERAND_HOME && tpt_graph_alias_of(b->graph, i) >= 0)
      out_donations[count++] = (tpt_donation_t){i, b->operands[i].index};
  }
  return count;
}

static tpt_status_t fill_entry(const tpt_build_t* b, tpt_entry_t* entry) {
  const tpt_frame_t* frame = &b->device->frame;
  entry->words = copied(frame->words, frame->word_count * sizeof(*frame->words));
  entry->word_count = frame->word_count;
  entry->operands = copied(b->operands, b->operand_count * sizeof(*b->operands));
  entry->operand_count = (uint32_t)b->operand_count;
  entry->outputs = copied(b->outputs, b->output_count * sizeof(*b->outputs));
  entry->output_count = b->output_count;
  entry->donations = tpt_malloc((b->operand_count + 1) * sizeof(*entry->donations));
  if (!entry->words || !entry->operands || !entry->outputs || !entry->donations)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a compiled call");
  entry->donation_count = list_donations(b, entry->donations);
  for (uint32_t i = 0; i < b->output_count; i++) {
    const tpt_output_t* output = &b->outputs[i];
    entry->plain_count += output->group < 0;
    entry->has_writes |= output->group >= 0;
    if (output->result >= 0) entry->result_size += output->home->size;
  }
  entry->rng_counters = (b->lower.rng_draws + 3) / 4;
  entry->rng_result = b->rng_result;
  entry->has_draws = entry->rng_counters || b->rng_result >= 0;
  entry->is_checked = has_checks(b->graph);
  entry->is_confirmed = tpt_op_program(b->call->op) && !tpt_op_program(b->call->op)->is_captured;
  return NULL;
}

tpt_status_t tpt_build_lower(tpt_build_t* b, int precision) {
  const tpt_call_t* call = b->call;
  b->lower.graph = b->graph;
  b->lower.arena = b->arena;
  b->lower.op = call->op;
  b->lower.default_dtype = call->default_dtype;
  b->lower.precision = (tpt_precision_t)precision;
  if (b->replay) {
    b->lower.make_number = b->replay->make_number;
    b->lower.number_context = b->replay->context;
  }
  TPT_TRY(tpt_build_operands(b));
  TPT_TRY(tpt_any_op_lower(&b->lower));
  TPT_TRY(tpt_build_requests(b));
  return tpt_build_outputs(b);
}

static tpt_status_t build(tpt_build_t* b, bool is_run, tpt_entry_t* entry) {
  TPT_TRY(tpt_build_from_frame(b));
  TPT_TRY(tpt_build_lower(b, tpt_precision_get()));
  entry->label = tpt_op_label(b->call->op);
  entry->is_lowered_only = !is_run && b->result_count > 0;
  if (is_run && b->result_count > 0) TPT_TRY(compile(b, entry->label, &entry->executable));
  uint64_t* mask = &b->device->static_args[tpt_op_number(b->call->op)];
  if (b->lower.static_args & ~*mask) {  // the key grows by the numbers that the row reads
    *mask |= b->lower.static_args;
    TPT_TRY(tpt_key_build(b->device, b->call, &entry->hash));
  }
  TPT_TRY(fill_entry(b, entry));
  return tpt_entry_add(b->device, entry);
}

static void begin_build(tpt_build_t* b, tpt_device_t* device, const tpt_call_t* call) {
  memset(b, 0, sizeof(*b));
  b->device = device;
  b->call = call;
  b->graph = device->graph;
  b->arena = &device->arena;
  tpt_graph_reset(b->graph);
  tpt_arena_reset(b->arena);
}

tpt_status_t tpt_entry_compile(tpt_device_t* device, const tpt_call_t* call, tpt_entry_t* entry) {
  tpt_build_t b;
  begin_build(&b, device, call);
  TPT_TRY(tpt_build_from_frame(&b));
  TPT_TRY(tpt_build_lower(&b, tpt_precision_get()));
  TPT_TRY(compile(&b, entry->label, &entry->executable));
  entry->is_lowered_only = false;
  entry->rng_result = b.rng_result;
  return NULL;
}

tpt_status_t tpt_entry_build(tpt_device_t* device, const tpt_call_t* call, bool is_run,
                             tpt_entry_t** out_entry) {
  tpt_entry_t* entry = tpt_calloc(1, sizeof(*entry));
  if (!entry) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a compiled call");
  entry->refs = 1;
  tpt_build_t b;
  begin_build(&b, device, call);
  entry->hash = tpt_frame_hash(&device->frame);
  tpt_status_t status = build(&b, is_run, entry);
  if (status) {
    tpt_entry_release(entry);
    return status;
  }
  *out_entry = entry;
  return NULL;
}
