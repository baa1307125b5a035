// Copies between arrays of equal dimensions whose elements lie apart by given byte strides: host
// arrays as clients hand them in, against the dense row-major arrays of the device. Pure functions.
#ifndef TPUTORCH_VTPU_STRIDED_H_
#define TPUTORCH_VTPU_STRIDED_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"
#include "tputorch/type.h"

// Byte strides of a dense row-major array.
void vtpu_strides_dense(const tpt_type_t* type, int64_t* out_strides);
// Byte strides of a dense array whose dimensions from fastest to slowest are minor_to_major;
// INVALID_ARGUMENT unless that is a permutation.
TPT_MUST_USE tpt_status_t vtpu_strides_permuted(const tpt_type_t* type,
                                                const int64_t* minor_to_major, size_t count,
                                                int64_t* out_strides);
// True if walking the array with these strides is walking it densely (dimensions of size 1 and empty
// arrays do not matter).
bool vtpu_strides_are_dense(const tpt_type_t* type, const int64_t* strides);
// First and past-the-last byte that such an array touches, relative to element 0; false on overflow.
bool vtpu_strides_extent(const tpt_type_t* type, const int64_t* strides, int64_t* out_low,
                         int64_t* out_high);

// dst and src point at element 0 of each; strides may be negative, 0 (src), anything. No overlap.
void vtpu_strided_copy(const tpt_type_t* type, void* dst, const int64_t* dst_strides,
                       const void* src, const int64_t* src_strides);

#endif  // TPUTORCH_VTPU_STRIDED_H_
