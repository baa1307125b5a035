// A block of rows of one batch element of a product, for row steps: the same arithmetic as the whole
// product, run by one thread on the rows that it has at hand.
#ifndef TPUTORCH_VTPU_DOT_PART_H_
#define TPUTORCH_VTPU_DOT_PART_H_

#include "vtpu/kernel.h"

typedef struct vtpu_dot_part {
  int64_t batch_count, m, n, k;  // of the whole product; rows of the result: batch_count * m
  int batch_rank;
  int64_t batch_dims[TPT_RANK_MAX];
  int64_t batch_strides[2][TPT_RANK_MAX];  // bytes
  int64_t row_stride;                      // bytes from a row of the lhs to the next
  int64_t result_stride;                   // bytes of a row of the result
  bool lhs_is_rows;                        // the lhs is [batch][m][k], dense
  const vtpu_kernel_t* kernels[2];         // for a block of full size, for the last one
  size_t scratch_size;
} vtpu_dot_part_t;

// Fills the sizes; *out_ok false: rows of the lhs are not a constant distance apart.
TPT_MUST_USE tpt_status_t vtpu_dot_part_make(const vtpu_kernel_t* whole, vtpu_dot_part_t* out,
                                             bool* out_ok);
// Prepares blocks of `rows` and (if not 0) `last_rows` rows.
TPT_MUST_USE tpt_status_t vtpu_dot_part_prepare(const vtpu_kernel_t* whole, int64_t rows,
                                                int64_t last_rows, vtpu_dot_part_t* part);
// Rows [row, row + rows of kernels[which]) of the result, all of one batch element.
typedef struct vtpu_dot_piece {
  int which;
  int64_t row;
  const void* lhs;       // whole
  const void* lhs_rows;  // (optional) these rows of the lhs, dense, instead of `lhs`
  const void* rhs;       // whole
  void* out_rows;
  void* scratch;
  bool flush_subnormals;
} vtpu_dot_piece_t;
TPT_MUST_USE tpt_status_t vtpu_dot_part_run(const vtpu_dot_part_t* part,
                                            const vtpu_dot_piece_t* piece);

#endif  // TPUTORCH_VTPU_DOT_PART_H_
