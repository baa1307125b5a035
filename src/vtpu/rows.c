// Runs row steps: lanes take blocks of rows as they get free and run all loops on each. A lane's scratch
// holds one frame and its registers per loop, then the local arrays.
#include "vtpu/rows.h"

#include <stdatomic.h>

#include "vtpu/lane.h"
#include "vtpu/subnormal.h"

enum { GRAIN_NS = 20000 };

void vtpu_rows_finish(vtpu_rows_t* rows) {
  rows->cost = 0;
  rows->flops = rows->bytes = 0;
  rows->lane_size = vtpu_scratch_align(rows->local_size) +
                    vtpu_scratch_align(sizeof(vtpu_frame_t) * (size_t)rows->loop_count);
  for (int i = 0; i < rows->loop_count; i++) {
    const vtpu_loop_t* loop = rows->loops[i];
    rows->lane_size += vtpu_scratch_align(loop->frame_size);
    rows->cost += loop->cost;
    rows->flops += loop->flops;
    rows->bytes += loop->bytes;
  }
  rows->lane_count = vtpu_lane_count(rows->blocks, rows->cost);
  rows->scratch_size = rows->lane_size * (size_t)rows->lane_count;
}

typedef struct launch {
  const vtpu_rows_t* rows;
  void* const* pointers;
  char* scratch;
  int64_t grain;
  bool flush_subnormals;
  atomic_llong next;
} launch_t;

static void lane_run(launch_t* launch, char* memory) {
  const vtpu_rows_t* rows = launch->rows;
  vtpu_frame_t* frames = (vtpu_frame_t*)memory;
  char* local = memory + vtpu_scratch_align(sizeof(*frames) * (size_t)rows->loop_count);
  char* registers = local + vtpu_scratch_align(rows->local_size);
  bool is_begun = false;
  for (;;) {
    int64_t first = atomic_fetch_add_explicit(&launch->next, launch->grain, memory_order_relaxed);
    if (first >= rows->blocks) return;
    int64_t end = first + launch->grain < rows->blocks ? first + launch->grain : rows->blocks;
    for (int i = 0; i < rows->loop_count; i++) {
      if (!is_begun) {
        vtpu_frame_begin(&frames[i], rows->loops[i], launch->pointers, registers);
        frames[i].local = local;
        registers += vtpu_scratch_align(rows->loops[i]->frame_size);
      }
      vtpu_frame_seek(&frames[i], first * (rows->loops[i]->kept_tiles / rows->blocks), 0);
      if (!is_begun) vtpu_frame_prologue(&frames[i]);
    }
    is_begun = true;
    for (int64_t block = first; block < end; block++)
      for (int i = 0; i < rows->loop_count; i++)
        vtpu_frame_run(&frames[i], rows->loops[i]->kept_tiles / rows->blocks);
  }
}

static void lanes_run(void* arg, int64_t begin, int64_t end, int thread) {
  launch_t* launch = arg;
  (void)thread;
  vtpu_subnormal_t mode = vtpu_subnormal_begin(launch->flush_subnormals);
  for (int64_t lane = begin; lane < end; lane++)
    lane_run(launch, launch->scratch + (size_t)lane * launch->rows->lane_size);
  vtpu_subnormal_end(mode);
}

void vtpu_rows_run(const vtpu_rows_t* rows, const vtpu_exec_t* exec, void* const* pointers,
                   void* scratch) {
  launch_t launch = {.rows = rows,
                     .pointers = pointers,
                     .scratch = scratch,
                     .grain = rows->blocks * GRAIN_NS / (rows->cost + 1) + 1,
                     .flush_subnormals = exec->flush_subnormals};
  atomic_init(&launch.next, 0);
  vtpu_range_for(exec, rows->lane_count, 1, lanes_run, &launch);
}
