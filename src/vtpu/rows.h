// Row steps: several loops that are run one after the other on a block of rows while it is in the
// cache, instead of each on the whole array. What one loop leaves for the next and nobody else wants is
// a local array of a lane: a block's rows, in scratch. Knows nothing of graphs; plan_rows.c decides.
//
// Invariant: a loop reads of arrays that the step itself writes only the rows of its own block, so that
// blocks are independent and results do not depend on how they are dealt to threads.
#ifndef TPUTORCH_VTPU_ROWS_H_
#define TPUTORCH_VTPU_ROWS_H_

#include "vtpu/loop.h"

typedef struct vtpu_rows {
  int loop_count;
  vtpu_loop_t** loops;  // in order; each has row_rank and row_block set in its spec
  int64_t blocks;
  size_t local_size;  // bytes of a lane's local arrays
  // --- set by vtpu_rows_finish
  int lane_count;
  size_t lane_size;     // bytes of scratch of a lane
  size_t scratch_size;  // of all lanes
  int64_t cost;         // nanoseconds on one thread
  double flops, bytes;
} vtpu_rows_t;

// Adds up what the loops need.
void vtpu_rows_finish(vtpu_rows_t* rows);

// pointers: by buffer number. scratch: scratch_size bytes, 64-aligned.
void vtpu_rows_run(const vtpu_rows_t* rows, const vtpu_exec_t* exec, void* const* pointers,
                   void* scratch);

#endif  // TPUTORCH_VTPU_ROWS_H_
