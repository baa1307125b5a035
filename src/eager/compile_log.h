// Compile log: why the programs of a device were compiled; and the guard that refuses to compile.
#ifndef TPUTORCH_EAGER_COMPILE_LOG_H_
#define TPUTORCH_EAGER_COMPILE_LOG_H_

#include "eager/device.h"

typedef struct tpt_compile_log tpt_compile_log_t;  // one per device, made at its first compile

// Before a call is compiled (it is in the device's frame; device locked): finds the reason. static_args:
// the arguments whose values its lowering read. FAILED_PRECONDITION while a guard is held.
TPT_MUST_USE tpt_status_t tpt_compile_log_begin(tpt_device_t* device, const tpt_call_t* call,
                                                uint64_t static_args);
// After it was compiled: the entry of the log. program_size: characters of StableHLO.
void tpt_compile_log_end(tpt_device_t* device, const char* label, double seconds,
                         size_t program_size);
// True for a failure of that kind.
bool tpt_compile_guard_refused(tpt_status_t status);
void tpt_compile_log_release(tpt_compile_log_t* take_log);  // NULL is legal

#endif  // TPUTORCH_EAGER_COMPILE_LOG_H_
