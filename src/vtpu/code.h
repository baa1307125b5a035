// Code: a compiled program with what launches and queries need of it. Reference-counted, because
// queued launches outlive the executable; constant after creation but for lazily made texts.
#ifndef TPUTORCH_VTPU_CODE_H_
#define TPUTORCH_VTPU_CODE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/str.h"
#include "vtpu/program.h"

typedef struct vtpu_code {
  _Atomic uint32_t ref_count;
  vtpu_program_t* program;
  char* text;  // as the client gave it
  size_t text_size;
  int param_count, result_count;
  const tpt_type_t** params;  // borrowed from the program
  const tpt_type_t** results;
  int* result_aliases;  // per result: the parameter whose memory it may take, or -1
  int* param_aliases;   // per parameter: the result that takes its memory, or -1
  int alias_count;
  bool* param_keeps;  // per parameter: packed copies of it are worth keeping
  size_t temp_size;
  int64_t cost;                                // nanoseconds
  size_t param_size, result_size, alias_size;  // bytes, sums
  // --- made on first use, under `mutex`
  pthread_mutex_t mutex;
  tpt_str_t canonical;  // the program as the printer writes it
} vtpu_code_t;

// Compiles StableHLO text. Errors of reader and planner carry on.
TPT_MUST_USE tpt_status_t vtpu_code_create(const char* text, size_t text_size,
                                           vtpu_code_t** out_code);
vtpu_code_t* vtpu_code_retain(vtpu_code_t* code);
void vtpu_code_release(vtpu_code_t* take_code);  // NULL is legal

// Canonical text: equal programs print alike. Borrowed as long as the code.
TPT_MUST_USE tpt_status_t vtpu_code_canonical(vtpu_code_t* code, const tpt_str_t** out_text);
// The plan with what was measured up to now, appended.
TPT_MUST_USE tpt_status_t vtpu_code_plan(const vtpu_code_t* code, tpt_str_t* out_text);

#endif  // TPUTORCH_VTPU_CODE_H_
