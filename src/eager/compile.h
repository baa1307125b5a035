// From a program's text to an executable, from disk where that is faster: every compile of the runtime
// goes through here.
#ifndef TPUTORCH_EAGER_COMPILE_H_
#define TPUTORCH_EAGER_COMPILE_H_

#include "base/options.h"
#include "eager/device.h"

// Sets up the disk cache that the devices share, as the options say; without one when that fails
// (nothing that a user must be told). vtpu gets none unless cache=on: its executables are plans that
// loading makes anew from the text, so that a hit costs a compile.
void tpt_device_use_disk(tpt_device_t* devices, int count, const tpt_options_t* options);

// Loads or compiles, and counts. The device is locked. What the disk does is never an error.
// take_refusal: (optional) what is returned, and nothing compiled, when the disk has no entry.
// out_is_loaded: (optional) it came from the disk.
TPT_MUST_USE tpt_status_t tpt_device_compile(tpt_device_t* device, const char* text,
                                             size_t text_size, tpt_status_t take_refusal,
                                             tpt_executable_t** out_executable,
                                             bool* out_is_loaded);

#endif  // TPUTORCH_EAGER_COMPILE_H_
