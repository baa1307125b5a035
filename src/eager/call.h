// Calls with the device's lock held, for the runtime's own copies.
#ifndef TPUTORCH_EAGER_CALL_H_
#define TPUTORCH_EAGER_CALL_H_

#include "eager/entry.h"

TPT_MUST_USE tpt_status_t tpt_call_run_locked(tpt_device_t* device, const tpt_call_t* call,
                                              tpt_result_t** out_results, int* out_count);

#endif  // TPUTORCH_EAGER_CALL_H_
