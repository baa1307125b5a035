// A shared library on disk: opened only after its file has been found whole.
#ifndef TPUTORCH_PJRT_LIBRARY_H_
#define TPUTORCH_PJRT_LIBRARY_H_

#include "tputorch/status.h"

// dlopen(RTLD_NOW | RTLD_LOCAL). The loader maps a cut-off file and then dies of SIGBUS on the
// missing pages, so the ELF headers are checked against the file's size first. NOT_FOUND when there
// is no such file; FAILED_PRECONDITION (the loader's own words) when it cannot be loaded.
TPT_MUST_USE tpt_status_t tpt__library_open(const char* path, void** out_library);

#endif  // TPUTORCH_PJRT_LIBRARY_H_
