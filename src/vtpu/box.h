// Boxes: copies between two strided arrays of one shape, the work horse of data movement.
#ifndef TPUTORCH_VTPU_BOX_H_
#define TPUTORCH_VTPU_BOX_H_

#include "tputorch/type.h"

#include "vtpu/program.h"

// Strides in bytes; they may be negative. The arrays must not overlap.
typedef struct vtpu_box {
  int rank;
  int64_t size[TPT_RANK_MAX];
  int64_t in_stride[TPT_RANK_MAX], out_stride[TPT_RANK_MAX];
} vtpu_box_t;

// Drops dimensions of size one and merges those that are contiguous in both arrays.
void vtpu_box_simplify(vtpu_box_t* box);
// Copies elements of 1, 2, 4, 8 or 16 bytes; large boxes over the pool. The box must be simplified.
void vtpu_box_copy(const vtpu_box_t* box, size_t element_size, const vtpu_exec_t* exec,
                   const void* in, void* out);
// memcpy over the pool; does nothing when the pointers are equal.
void vtpu_copy(const vtpu_exec_t* exec, const void* in, void* out, int64_t size);
// Fills `count` elements with one element over the pool.
void vtpu_fill(const vtpu_exec_t* exec, const void* element, size_t element_size, void* out,
               int64_t count);

// Byte strides of a dense row-major array.
void vtpu_type_strides(const tpt_type_t* type, int64_t* out_strides);

// Element i of an array of integers of any width; unsigned values beyond int64 become INT64_MAX.
int64_t vtpu_index_load(tpt_dtype_t dtype, const void* data, int64_t i);

// Nanoseconds, rough, that moving so many bytes takes.
static inline int64_t vtpu_move_cost(int64_t size) {
  return 50 + size / 8;
}

#endif  // TPUTORCH_VTPU_BOX_H_
