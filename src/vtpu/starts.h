// Starts: the index side that gather and scatter share. Every batch position (an element of the
// indices without the index vector) names a window of the operand; this turns positions into
// element offsets of the window in the operand and of its counterpart in the other array (gather's
// result, scatter's updates), clamping or dropping windows that do not fit.
#ifndef TPUTORCH_VTPU_STARTS_H_
#define TPUTORCH_VTPU_STARTS_H_

#include "hlo/builder.h"
#include "vtpu/program.h"

enum { VTPU_STARTS_CHUNK = 256 };  // positions handled at a time, on the stack

typedef struct vtpu_starts {
  tpt_dtype_t index_dtype;
  int64_t position_count;
  // --- index vectors: component c of position p is element (p / inner * components + c) * inner +
  // p % inner
  int component_count;
  int64_t inner;
  int64_t room[TPT_RANK_MAX];    // largest legal start (negative: no window fits at all)
  int64_t stride[TPT_RANK_MAX];  // elements of the operand
  int64_t dim[TPT_RANK_MAX];     // operand dimension, and its size, for messages
  int64_t dim_size[TPT_RANK_MAX];
  // --- coordinates of a position, one per batch dimension of the indices, row-major
  int batch_rank;
  int64_t batch_size[TPT_RANK_MAX];
  int64_t batch_stride[TPT_RANK_MAX];  // elements of the operand; 0 unless a batching dimension
  int64_t other_stride[TPT_RANK_MAX];  // elements of the other array
  bool has_batching;
  bool other_is_dense;  // the other array's offset is position * other_step
  int64_t other_step;
  // --- the window: sizes and element strides in both arrays, for the dimensions that have an
  // extent
  int window_rank;
  int64_t window_size[TPT_RANK_MAX];
  int64_t window_stride[TPT_RANK_MAX];
  int64_t window_other_stride[TPT_RANK_MAX];
  int64_t window_count;  // elements
  bool is_disjoint;      // windows at different offsets share no element
  const char* check;     // (optional) borrowed from the graph
} vtpu_starts_t;

// Describes a gather (other = its result) or a scatter (other = updates).
void vtpu_starts_from_gather(const tpt_gather_t* gather, const tpt_type_t* operand,
                             const tpt_type_t* indices, const tpt_type_t* result,
                             vtpu_starts_t* out);
void vtpu_starts_from_scatter(const tpt_scatter_t* scatter, const tpt_type_t* operand,
                              const tpt_type_t* indices, const tpt_type_t* updates,
                              vtpu_starts_t* out);

// If the node carries an index check: OUT_OF_RANGE (or what its text asks for) naming the first index (in row-major order of
// the indices) that does not fit. NULL without a check.
TPT_MUST_USE tpt_status_t vtpu_starts_check(const vtpu_starts_t* starts, const void* indices);

typedef struct vtpu_starts_chunk {
  int count;
  int64_t at[VTPU_STARTS_CHUNK];     // in the operand; -1: dropped
  int64_t other[VTPU_STARTS_CHUNK];  // in the other array
} vtpu_starts_chunk_t;

// Offsets of the positions first .. first + count - 1 (count <= VTPU_STARTS_CHUNK). With `drop`,
// windows that do not fit get -1, otherwise their starts are clamped.
void vtpu_starts_resolve(const vtpu_starts_t* starts, const void* indices, int64_t first, int count,
                         bool drop, vtpu_starts_chunk_t* out);

#endif  // TPUTORCH_VTPU_STARTS_H_
