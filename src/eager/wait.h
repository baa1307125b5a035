// Waiting for values outside the device's lock, so that a signal can end it.
#ifndef TPUTORCH_EAGER_WAIT_H_
#define TPUTORCH_EAGER_WAIT_H_

#include "pjrt/client.h"

// Waits until the buffer is ready, whatever it turns out to be; fails only if the caller's poll
// (tpt_wait_poll_set) says so.
TPT_MUST_USE tpt_status_t tpt_wait_ready(tpt_buffer_t* buffer);

#endif  // TPUTORCH_EAGER_WAIT_H_
