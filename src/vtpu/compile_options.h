// CompileOptionsProto, as far as vtpu heeds it. The bytes are protocol-buffer wire format.
#ifndef TPUTORCH_VTPU_COMPILE_OPTIONS_H_
#define TPUTORCH_VTPU_COMPILE_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct vtpu_compile_options {
  int64_t replica_count, partition_count;
  int64_t device_id;  // of the assignment; -1: none given
  bool is_portable;   // may run on any device
} vtpu_compile_options_t;

// INVALID_ARGUMENT: empty or damaged bytes, zero replicas or partitions. UNIMPLEMENTED: several of
// them, a precision for the whole program. Flags (env_option_overrides) named xla_* are of a compiler
// that vtpu is not, and have no effect; others are refused by name.
TPT_MUST_USE tpt_status_t vtpu_compile_options_parse(const char* data, size_t size,
                                                     vtpu_compile_options_t* out_options);

#endif  // TPUTORCH_VTPU_COMPILE_OPTIONS_H_
