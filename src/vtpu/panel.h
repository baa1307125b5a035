// Panels: dense blocks of a matrix in the type that a product computes in, staged from an array
// that is seen as a matrix through strides or offset tables. Staging widens (bf16 to f32), rounds
// (f32 to bf16 values) or splits, and makes scattered elements contiguous for BLAS. Thread-safe.
#ifndef TPUTORCH_VTPU_PANEL_H_
#define TPUTORCH_VTPU_PANEL_H_

#include "tputorch/status.h"
#include "tputorch/type.h"

#include "vtpu/blas.h"

// The type in which a product is computed.
typedef enum vtpu_compute {
  VTPU_COMPUTE_F32,
  VTPU_COMPUTE_F64,
  VTPU_COMPUTE_C64,
  VTPU_COMPUTE_C128,
  VTPU_COMPUTE_U32,  // all integers whose result has at most 32 bits, modulo 2^32
  VTPU_COMPUTE_U64,  // wider integers, and pred (a sum of products is true unless it is zero)
  VTPU_COMPUTE_S16,  // bytes as 16-bit integers, summed as U32; products of rows along k only (gemm_s16.h)
  VTPU_COMPUTE_COUNT,
} vtpu_compute_t;

typedef struct vtpu_compute_row {
  size_t size;      // of an operand's element
  size_t sum_size;  // of a sum
  vtpu_gemm_fn_t gemm;
} vtpu_compute_row_t;
const vtpu_compute_row_t* vtpu_compute_row(vtpu_compute_t compute);

// The compute type of a product of these element types; UNIMPLEMENTED when they do not go together.
TPT_MUST_USE tpt_status_t vtpu_compute_find(tpt_dtype_t lhs, tpt_dtype_t rhs, tpt_dtype_t result,
                                            vtpu_compute_t* out_compute);

// Which part of an f32 operand a pass multiplies; other types have only the exact part.
typedef enum vtpu_part {
  VTPU_PART_EXACT,
  VTPU_PART_HIGH,  // the nearest bf16
  VTPU_PART_LOW,   // the nearest bf16 of the rest; 0 where the high part is not finite
} vtpu_part_t;

typedef void (*vtpu_convert_fn_t)(const void* in, void* out, int64_t count);
// Elements of `dtype` to the compute type. NULL: no such conversion.
vtpu_convert_fn_t vtpu_widen_fn(tpt_dtype_t dtype, vtpu_compute_t compute, vtpu_part_t part);
// True if that conversion only copies.
bool vtpu_widen_is_copy(tpt_dtype_t dtype, vtpu_compute_t compute, vtpu_part_t part);
bool vtpu_convert_is_copy(vtpu_convert_fn_t fn);
// Results in the compute type to `dtype`, rounded once (integers wrap, pred: not zero).
vtpu_convert_fn_t vtpu_narrow_fn(vtpu_compute_t compute, tpt_dtype_t dtype);

// One axis of the matrix: the offset of position i is table[i] if there is a table, else i *
// stride. Offsets are in elements. run[i] (with a table): how many positions from i on have
// consecutive offsets.
typedef struct vtpu_axis {
  int64_t count;
  int64_t stride;
  const int64_t* table;  // borrowed
  const int32_t* run;    // borrowed
  int32_t even_run;      // with a table: the length of every maximal run, 0 if they differ
} vtpu_axis_t;

// Fills run[] for a table; returns even_run.
int32_t vtpu_axis_runs(const int64_t* table, int64_t count, int32_t* out_run);

static inline int64_t vtpu_axis_offset(const vtpu_axis_t* axis, int64_t i) {
  return axis->table ? axis->table[i] : i * axis->stride;
}

typedef struct vtpu_panel {
  const void* data;     // element (0, 0) of the matrix lies at offset row(0) + col(0)
  size_t element_size;  // of the stored elements: 1, 2, 4, 8 or 16
  vtpu_axis_t row, col;
  vtpu_convert_fn_t widen;  // (optional) NULL: elements are copied
  size_t out_size;          // bytes of an element of the output
} vtpu_panel_t;

typedef struct vtpu_block {
  int64_t row, col;  // first
  int row_count, col_count;
} vtpu_block_t;

// Writes a block densely, row by row. `temp`: col_count * element_size bytes.
void vtpu_panel_pack(const vtpu_panel_t* panel, const vtpu_block_t* block, void* temp, void* out);

// Ends a three-pass product: c (rows x cols, rows ldc apart) += low (dense), the sum of the products
// with a low part, leaving out what is not finite: there c already is what IEEE arithmetic on the
// whole operands gives.
void vtpu_low_add(float* c, int64_t ldc, const float* low, int64_t rows, int64_t cols);

#endif  // TPUTORCH_VTPU_PANEL_H_
