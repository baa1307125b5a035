// Event: something that happens once, well or badly: the end of queued work, of a transfer, or what a
// client sets by hand. Reference-counted, thread-safe.
#ifndef TPUTORCH_VTPU_EVENT_H_
#define TPUTORCH_VTPU_EVENT_H_

#include <stdbool.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct vtpu_event vtpu_event_t;

typedef enum vtpu_event_state {
  VTPU_EVENT_PENDING,
  VTPU_EVENT_READY,
  VTPU_EVENT_FAILED,
} vtpu_event_state_t;

// Runs once, on the thread that sets the event or, when it is set already, on the caller's; no lock
// of vtpu is held. `status` is borrowed: NULL when all went well, CANCELLED when the event died
// before it happened.
typedef void (*vtpu_event_fn_t)(tpt_status_t status, void* arg);

TPT_MUST_USE tpt_status_t vtpu_event_create(vtpu_event_t** out_event);
// The event that has always been ready. Immortal: retain and release do nothing.
vtpu_event_t* vtpu_event_ready(void);
vtpu_event_t* vtpu_event_retain(vtpu_event_t* event);
void vtpu_event_release(vtpu_event_t* take_event);  // NULL is legal

vtpu_event_state_t vtpu_event_get_state(const vtpu_event_t* event);
// Why it failed, borrowed from the event; NULL unless FAILED.
tpt_status_t vtpu_event_error(const vtpu_event_t* event);
// Makes it happen; NULL status: well. False, and nothing changes, if it has happened before.
bool vtpu_event_set(vtpu_event_t* event, tpt_status_t take_status);
// Waits; spins briefly, then sleeps. The error, borrowed from the event, or NULL.
tpt_status_t vtpu_event_await(vtpu_event_t* event);
// RESOURCE_EXHAUSTED: `fn` will not run.
TPT_MUST_USE tpt_status_t vtpu_event_on_set(vtpu_event_t* event, vtpu_event_fn_t fn, void* arg);

// --- handles that clients hold ---------------------------------------------------------------------
// A client's hold on an event, beside the references inside vtpu, so that giving it back twice is an
// error and not a crash. lend adds a hold and a reference; give_back is INVALID_ARGUMENT when no hold
// is out or the pointer is none of our events.
vtpu_event_t* vtpu_event_lend(vtpu_event_t* event);
TPT_MUST_USE tpt_status_t vtpu_event_give_back(vtpu_event_t* event);
// INVALID_ARGUMENT for NULL and for pointers that are not events that a client holds.
TPT_MUST_USE tpt_status_t vtpu_event_check(const vtpu_event_t* event);
// May a client set it? Off at first.
void vtpu_event_allow_set(vtpu_event_t* event);
bool vtpu_event_is_settable(const vtpu_event_t* event);

#endif  // TPUTORCH_VTPU_EVENT_H_
