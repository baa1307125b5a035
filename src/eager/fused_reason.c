// Owns the telling of what is new about a window of recorded calls. Must not know how windows run.
// Invariant: reads what programs keep, changes nothing about them.
#include "eager/fused_reason.h"

#include "base/allocator.h"
#include "eager/internal_op.h"
#include "eager/signature.h"

void tpt_fused_note_signature(const tpt_device_t* device, const tpt_call_t* call,
                              tpt_entry_t* entry) {
  if (entry->signature) return;
  tpt_signature_t* signature = tpt_calloc(1, sizeof(*signature));
  if (!signature) return;
  if (tpt_signature_read(device, call, signature)) {
    entry->signature = signature;
  } else {
    tpt_free(signature);
  }
}

bool tpt_fused_keep_calls(const tpt_trace_t* trace, tpt_program_t* program) {
  program->calls = tpt_malloc(trace->record_count * sizeof(*program->calls));
  if (!program->calls) return false;
  for (size_t i = 0; i < trace->record_count; i++)
    program->calls[i] = tpt_entry_retain(trace->records[i].entry);
  program->call_count = trace->record_count;
  return true;
}

// How many calls from the first on are the same.
static size_t common_calls(const tpt_trace_t* trace, const tpt_program_t* program) {
  size_t i = 0;
  while (i < trace->record_count && i < program->call_count &&
         trace->records[i].entry == program->calls[i])
    i++;
  return i;
}

// The longest common beginning; of equals, the one that ran last.
static const tpt_program_t* find_nearest(const tpt_trace_t* trace, const tpt_table_t* programs,
                                         size_t* out_common) {
  const tpt_program_t* nearest = NULL;
  *out_common = 0;
  for (size_t i = 0; i < programs->capacity; i++) {
    const tpt_program_t* program = programs->items[i];
    if (!program) continue;
    size_t common = common_calls(trace, program);
    if (nearest && common < *out_common) continue;
    if (nearest && common == *out_common && program->last_run < nearest->last_run) continue;
    nearest = program;
    *out_common = common;
  }
  return nearest;
}

static void append_call(tpt_str_t* text, const tpt_trace_t* trace, size_t number) {
  char place[512];
  const tpt_record_t* record = &trace->records[number];
  const tpt_site_t site = tpt_site_of(record->entry->label, record->call.file, record->call.line);
  const char* label = record->entry->label;
  tpt_str_printf(text, "call %zu of %zu, %s%s", number + 1, trace->record_count,
                 tpt_label_prefix(label), label);
  if (*tpt_site_print(&site, place, sizeof(place))) tpt_str_printf(text, ", in %s", place);
}

// The calls differ at `number`, which both windows have.
static void append_difference(tpt_str_t* text, const tpt_trace_t* trace, size_t number,
                              const tpt_entry_t* before) {
  const tpt_record_t* record = &trace->records[number];
  const tpt_signature_t *now = record->entry->signature, *was = before->signature;
  size_t first = 0;
  if (!now || !was || now->op != was->op) {
    tpt_str_append_cstr(text, "new ");
    append_call(text, trace, number);
    tpt_str_printf(text, ", was %s%s", tpt_label_prefix(before->label), before->label);
    return;
  }
  uint64_t static_args = trace->device->static_args[tpt_op_number(record->call.op)];
  size_t distance = tpt_signature_distance(now, was, static_args, &first);
  if (distance > 0 && first < now->trait_count && first < was->trait_count) {
    tpt_signature_append_change(text, record->call.op, now, was, first);
  } else {
    tpt_str_append_cstr(text, "another case of its numbers");
  }
  tpt_str_append_cstr(text, ", in ");
  append_call(text, trace, number);
}

void tpt_fused_append_reason(tpt_str_t* text, const tpt_trace_t* trace,
                             const tpt_table_t* programs) {
  size_t common;
  const tpt_program_t* nearest = find_nearest(trace, programs, &common);
  size_t last = trace->record_count - 1;
  if (!nearest) {
    tpt_str_append_cstr(text, "first window of calls, up to ");
    append_call(text, trace, last);
  } else if (common < trace->record_count && common < nearest->call_count) {
    append_difference(text, trace, common, nearest->calls[common]);
  } else if (trace->record_count != nearest->call_count) {
    tpt_str_printf(text, "new length %zu, was %zu: the window ends with ", trace->record_count,
                   nearest->call_count);
    append_call(text, trace, last);
  } else {
    tpt_str_printf(text,
                   "the same %zu calls with other values that are still needed, or shared, up to ",
                   trace->record_count);
    append_call(text, trace, last);
  }
}
