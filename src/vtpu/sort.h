// Sorting of rows into an order of positions: by integer keys where the comparator is a single compare
// of one operand, by merging with the comparator's body otherwise. Both are stable.
#ifndef TPUTORCH_VTPU_SORT_H_
#define TPUTORCH_VTPU_SORT_H_

#include "vtpu/comparator.h"
#include "vtpu/kernel.h"

enum {
  VTPU_SORT_OPERANDS_MAX = 16,
  VTPU_SORT_STEPS = 256,  // merges that advance together
};

// Elements i of a row lie `stride` bytes apart.
typedef struct vtpu_sort_row {
  const char* data;
  int64_t stride;
  int64_t count;
} vtpu_sort_row_t;

// --- keys (sort_key.c) ------------------------------------------------------------------------------
// An order-preserving map of elements to unsigned integers.
typedef struct vtpu_sort_key {
  tpt_dtype_t dtype;
  bool descends;
  bool
      is_total;  // floats: -0 before +0, NaN by sign at the ends; else zeros are equal, NaN unordered
} vtpu_sort_key_t;

// False when the comparator does not boil down to keys.
bool vtpu_sort_key_find(const vtpu_comparator_t* comparator, tpt_dtype_t dtype,
                        vtpu_sort_key_t* out);
// Bytes of scratch for a row of `count` elements.
size_t vtpu_sort_key_scratch(const vtpu_sort_key_t* key, int64_t count);
// Writes the sorted order of the row's positions. False, with nothing written, when the row holds a NaN
// that the comparator leaves unordered. `scratch` is 16-aligned.
bool vtpu_sort_by_key(const vtpu_sort_key_t* key, const vtpu_sort_row_t* row, void* scratch,
                      uint32_t* order);

// --- merging (sort_merge.c) -------------------------------------------------------------------------
typedef struct vtpu_sort_merge {
  const vtpu_body_t* less;
  int operand_count;
  size_t sizes[VTPU_SORT_OPERANDS_MAX];
  bool is_used[VTPU_SORT_OPERANDS_MAX];  // the comparator reads the operand
} vtpu_sort_merge_t;

// Sorts `row_count` rows of equal length at once; rows[r * operand_count + o] is operand o of row r.
// `order`: row_count * count positions, row after row; `other`: as much again. Works (and yields a
// permutation) for comparators that are no strict weak order, too. Returns order or other, whichever
// holds the result.
uint32_t* vtpu_sort_by_merging(const vtpu_sort_merge_t* merge, const vtpu_sort_row_t* rows,
                               int64_t row_count, uint32_t* order, uint32_t* other);

#endif  // TPUTORCH_VTPU_SORT_H_
