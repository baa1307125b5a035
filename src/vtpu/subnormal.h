// The CPU's subnormal mode, per thread: f32 and f64 subnormals flushed to zero, as chips do.
#ifndef TPUTORCH_VTPU_SUBNORMAL_H_
#define TPUTORCH_VTPU_SUBNORMAL_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct vtpu_subnormal {
  bool changed;
  uint64_t saved;
} vtpu_subnormal_t;

// Begins flushing on this thread if asked; `end` restores what was before. Pairs nest.
vtpu_subnormal_t vtpu_subnormal_begin(bool flush);
void vtpu_subnormal_end(vtpu_subnormal_t mode);

#endif  // TPUTORCH_VTPU_SUBNORMAL_H_
