// Compile options: what PJRT_Client_Compile takes as a serialized CompileOptionsProto.
#ifndef TPUTORCH_PJRT_COMPILE_OPTIONS_H_
#define TPUTORCH_PJRT_COMPILE_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

#include "base/str.h"

typedef struct tpt_compile_options {
  int replicas;            // at least 1: XLA:CPU kills the process on 0
  int partitions;          // at least 1; more than 1 turns SPMD partitioning on
  bool is_portable;        // one executable for every device, named at each run; needs 1 and 1
  bool keeps_nan;          // XLA:CPU's maximum and minimum otherwise lose the NaN they are given
  const int64_t* devices;  // (optional) replicas * partitions device ids, replica-major
} tpt_compile_options_t;

// Appends the serialized options. INVALID_ARGUMENT on what a plugin could die of.
TPT_MUST_USE tpt_status_t tpt_compile_options_print(const tpt_compile_options_t* options,
                                                    tpt_str_t* out);

#endif  // TPUTORCH_PJRT_COMPILE_OPTIONS_H_
