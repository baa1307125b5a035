// Row steps: several loops that are run one after the other on a block of rows while it is in the
// cache, instead of each on the whole array; between them there may be products whose rows these are
// (attention). What one part leaves for the next and nobody else wants is a local array of a lane: a
// block's rows, in scratch. Knows nothing of graphs; plan_rows.c decides.
//
// Invariant: a part reads of arrays that the step itself writes only the rows of its own block, so that
// blocks are independent and results do not depend on how they are dealt to threads.
#ifndef TPUTORCH_VTPU_ROWS_H_
#define TPUTORCH_VTPU_ROWS_H_

#include "vtpu/dot_part.h"
#include "vtpu/loop.h"

typedef struct vtpu_rows_part {
  vtpu_loop_t* loop;  // row_rank and row_block set in its spec; NULL: a product
  vtpu_dot_part_t* product;
  const tpt_node_t* node;  // of the product
  uint32_t in[2], out;     // its buffers; the rhs is never local
} vtpu_rows_part_t;

// An array of which the next block's rows are asked for while this one's are worked on.
typedef struct vtpu_rows_ahead {
  int part;
  uint16_t slot;
  int64_t size;  // bytes of a block
} vtpu_rows_ahead_t;

typedef struct vtpu_rows {
  int part_count;
  vtpu_rows_part_t* parts;  // in order
  // The innermost row dimension has inner_rows indexes in tiles of tile_rows; a block is span_tiles of
  // these (or what is left of them), for one index of the outer row dimensions.
  int64_t rows, inner_rows, tile_rows, span_tiles;
  size_t local_size;  // bytes of a lane's local arrays
  // --- set by vtpu_rows_finish
  int64_t blocks;
  int ahead_count, ahead_burst;
  vtpu_rows_ahead_t ahead[VTPU_AHEAD_MAX];
  int lane_count;
  size_t product_size;  // bytes of scratch of the product that wants most
  size_t lane_size;     // bytes of scratch of a lane
  size_t scratch_size;  // of all lanes
  int64_t cost;         // nanoseconds on one thread
  double flops, bytes;
} vtpu_rows_t;

static inline int64_t vtpu_rows_inner_blocks(const vtpu_rows_t* rows) {
  int64_t tiles = (rows->inner_rows + rows->tile_rows - 1) / rows->tile_rows;
  return (tiles + rows->span_tiles - 1) / rows->span_tiles;
}

// Adds up what the parts need; products bring their own cost and bytes.
void vtpu_rows_finish(vtpu_rows_t* rows, int64_t product_cost, double product_flops,
                      double product_bytes);

// pointers: by buffer number. scratch: scratch_size bytes, 64-aligned. The first error of a product.
TPT_MUST_USE tpt_status_t vtpu_rows_run(const vtpu_rows_t* rows, const vtpu_exec_t* exec,
                                        void* const* pointers, void* scratch);

#endif  // TPUTORCH_VTPU_ROWS_H_
