// NumPy's .npy files: one array of one dtype, read and written whole. Knows the format (versions 1
// to 3) and nothing of programs. Thread-compatible.
//
// NumPy has no bf16: such an array is written as f32, which holds it exactly; files that ml_dtypes
// wrote ("V2") are read as bf16.
#ifndef TPUTORCH_BASE_NPY_H_
#define TPUTORCH_BASE_NPY_H_

#include "tputorch/status.h"
#include "tputorch/type.h"

typedef struct tpt_npy {
  tpt_type_t type;
  void* data;   // owned; dense row-major, this machine's byte order; not NULL even when empty
  size_t size;  // bytes
} tpt_npy_t;

// NOT_FOUND without a file; DATA_LOSS when it is damaged or holds more than one array;
// UNIMPLEMENTED for dtypes and ranks that tensors do not have. Each names the file. *out is empty
// on failure.
TPT_MUST_USE tpt_status_t tpt_npy_read(const char* path, tpt_npy_t* out);
// The same from memory; `name` stands for the file in messages.
TPT_MUST_USE tpt_status_t tpt_npy_parse(const void* bytes, size_t size, const char* name,
                                        tpt_npy_t* out);
void tpt_npy_deinit(tpt_npy_t* npy);  // an empty one is legal

// Writes dense row-major data of `type`; replaces the file.
TPT_MUST_USE tpt_status_t tpt_npy_write(const char* path, const tpt_type_t* type, const void* data);

#endif  // TPUTORCH_BASE_NPY_H_
