// Owns the question to the caller, now and then during a wait, whether to go on. Must not know who asks.
// Invariant: no lock is held while the caller is asked.
#include "eager/wait.h"

#include <stdatomic.h>
#include <time.h>

#include "tputorch/runtime.h"

static const double slice_seconds = 0.1;
static const long slice_nanoseconds = 100000000;

static _Atomic(tpt_wait_poll_fn_t) wait_poll;

void tpt_wait_poll_set(tpt_wait_poll_fn_t poll) {
  atomic_store(&wait_poll, poll);
}

tpt_status_t tpt_wait_ready(tpt_buffer_t* buffer) {
  tpt_wait_poll_fn_t poll = atomic_load_explicit(&wait_poll, memory_order_relaxed);
  if (!poll || tpt_buffer_is_ready(buffer)) return NULL;
  bool is_ready = false;
  for (;;) {
    TPT_TRY(tpt_buffer_wait_for(buffer, slice_seconds, &is_ready));
    if (is_ready) return NULL;
    TPT_TRY(poll());
  }
}

tpt_status_t tpt_wait_lock(pthread_mutex_t* lock) {
  tpt_wait_poll_fn_t poll = atomic_load_explicit(&wait_poll, memory_order_relaxed);
  while (poll) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += slice_nanoseconds;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(lock, &end) == 0) return NULL;
    TPT_TRY(poll());
  }
  pthread_mutex_lock(lock);
  return NULL;
}
