// Waiting for values outside the device's lock, so that a signal can end it.
#ifndef TPUTORCH_EAGER_WAIT_H_
#define TPUTORCH_EAGER_WAIT_H_

#include <pthread.h>

#include "pjrt/client.h"

// Waits until the buffer is ready, whatever it turns out to be; fails only if the caller's poll
// (tpt_wait_poll_set) says so.
TPT_MUST_USE tpt_status_t tpt_wait_ready(tpt_buffer_t* buffer);
// Takes the lock, however long another thread keeps it (a compile); fails only as above, without it.
TPT_MUST_USE tpt_status_t tpt_wait_lock(pthread_mutex_t* lock);

#endif  // TPUTORCH_EAGER_WAIT_H_
