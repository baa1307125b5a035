// Compile log: why the programs of a device were compiled; and the guard that refuses to compile.
#ifndef TPUTORCH_EAGER_COMPILE_LOG_H_
#define TPUTORCH_EAGER_COMPILE_LOG_H_

#include "eager/device.h"

typedef struct tpt_compile_log tpt_compile_log_t;  // one per device, made at its first compile

// Before a call is compiled (it is in the device's frame; device locked): finds the reason. static_args:
// the arguments whose values its lowering read. While a guard is held: the refusal to compile,
// FAILED_PRECONDITION; a program that the disk has may be loaded all the same.
TPT_MUST_USE tpt_status_t tpt_compile_log_begin(tpt_device_t* device, const tpt_call_t* call,
                                                uint64_t static_args);
typedef struct tpt_compile_cost {
  double seconds;
  size_t program_size;  // characters of StableHLO
  bool is_loaded;       // from the disk
} tpt_compile_cost_t;
// After it was compiled or loaded: the entry of the log.
void tpt_compile_log_end(tpt_device_t* device, const char* label, const tpt_compile_cost_t* cost);
// True for a failure of that kind.
bool tpt_compile_guard_refused(tpt_status_t status);
void tpt_compile_log_release(tpt_compile_log_t* take_log);  // NULL is legal

#endif  // TPUTORCH_EAGER_COMPILE_LOG_H_
