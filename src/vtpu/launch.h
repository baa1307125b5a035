// Launch: one run of a compiled program on a device, on the calling thread or in the queue.
#ifndef TPUTORCH_VTPU_LAUNCH_H_
#define TPUTORCH_VTPU_LAUNCH_H_

#include "vtpu/buffer.h"
#include "vtpu/code.h"

typedef struct vtpu_launch {
  vtpu_device_t* device;
  vtpu_code_t* code;
  vtpu_buffer_t* const* args;
  size_t arg_count;
  const int64_t* keep;  // arguments that are not donated even where the program would
  size_t keep_count;
  vtpu_buffer_t** results;  // receives code->result_count buffers
  vtpu_event_t** out_done;  // (optional) receives a reference
} vtpu_launch_t;

// Donation: an argument whose memory a result takes is deleted when the launch succeeds, at return or
// at completion; a failed launch leaves it alive. The same buffer may not be donated and passed again.
//
// Errors at once (INVALID_ARGUMENT: count, type, shape, deleted, other device; RESOURCE_EXHAUSTED;
// what a run on the calling thread answers): no results exist and nothing was donated. An argument
// that failed makes the launch succeed with results that failed alike.
TPT_MUST_USE tpt_status_t vtpu_launch_run(const vtpu_launch_t* launch);

#endif  // TPUTORCH_VTPU_LAUNCH_H_
