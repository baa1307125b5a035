// Why a fused window needs a program of its own: the first call in which it differs from the window most
// like it that has one. For reports only: without host memory reasons are not told.
#ifndef TPUTORCH_EAGER_FUSED_REASON_H_
#define TPUTORCH_EAGER_FUSED_REASON_H_

#include "eager/program.h"

// Notes what the entry of a recorded call depends on; its call is in the frame (device locked).
void tpt_fused_note_signature(const tpt_device_t* device, const tpt_call_t* call,
                              tpt_entry_t* entry);
// Appends "new sizes (3, 5), was (3, 4), of argument self, in call 2 of 7, aten::add.Tensor, in model.py:12".
// programs: of windows that ran before, as program->calls has them.
void tpt_fused_append_reason(tpt_str_t* text, const tpt_trace_t* trace,
                             const tpt_table_t* programs);
// The trace's entries, for later windows to compare with. False: no host memory.
bool tpt_fused_keep_calls(const tpt_trace_t* trace, tpt_program_t* program);

#endif  // TPUTORCH_EAGER_FUSED_REASON_H_
