// Barrier: a trivial program sent after all others. Devices run programs in the order in which they
// were sent, so its end is the end of all that came before, values that nobody holds any more included.
#ifndef TPUTORCH_EAGER_BARRIER_H_
#define TPUTORCH_EAGER_BARRIER_H_

#include "pjrt/client.h"

typedef struct tpt_barrier {
  tpt_executable_t* executable;  // compiled at first use
  tpt_buffer_t* number;
} tpt_barrier_t;

// Sends the barrier on `device` (its lock held) and gives its result, to be awaited without the lock.
TPT_MUST_USE tpt_status_t tpt_barrier_send(tpt_barrier_t* barrier, tpt_client_t* client, int device,
                                           tpt_buffer_t** out_result);
void tpt_barrier_deinit(tpt_barrier_t* barrier);

#endif  // TPUTORCH_EAGER_BARRIER_H_
