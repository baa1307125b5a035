// Events. One lock and one condition serve all of them: setting one is rare beside its work, and a
// waiter looks at its own event only. Invariant: `status` is written before `state` leaves PENDING
// and never again; callbacks are taken off under the lock and run without it, each once.
#include "vtpu/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/allocator.h"
#include "vtpu/slab.h"

enum { MARK_LIVE = 0x45564E54, MARK_DEAD = 0x64656164, SPIN_COUNT = 1000 };

typedef struct callback {
  struct callback* next;
  vtpu_event_fn_t fn;
  void* arg;
} callback_t;

struct vtpu_event {
  _Atomic uint32_t mark;
  bool is_settable;
  callback_t* callbacks;  // newest first; the slab's link while the event is free
  _Atomic uint32_t ref_count;
  _Atomic uint32_t lent_count;
  _Atomic int state;
  tpt_status_t status;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t happened = PTHREAD_COND_INITIALIZER;
static int waiter_count;
static vtpu_slab_t slab = {.object_size = sizeof(struct vtpu_event)};
static struct vtpu_event always_ready = {.mark = MARK_LIVE, .state = VTPU_EVENT_READY};

tpt_status_t vtpu_event_create(vtpu_event_t** out_event) {
  pthread_mutex_lock(&mutex);
  vtpu_event_t* event = vtpu_slab_take(&slab);
  pthread_mutex_unlock(&mutex);
  *out_event = event;
  if (!event) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an event");
  event->is_settable = false;
  event->callbacks = NULL;
  event->status = NULL;
  atomic_store_explicit(&event->ref_count, 1, memory_order_relaxed);
  atomic_store_explicit(&event->lent_count, 0, memory_order_relaxed);
  atomic_store_explicit(&event->state, VTPU_EVENT_PENDING, memory_order_relaxed);
  atomic_store_explicit(&event->mark, MARK_LIVE, memory_order_release);
  return NULL;
}

vtpu_event_t* vtpu_event_ready(void) {
  return &always_ready;
}

vtpu_event_t* vtpu_event_retain(vtpu_event_t* event) {
  if (event != &always_ready) atomic_fetch_add_explicit(&event->ref_count, 1, memory_order_relaxed);
  return event;
}

// Runs and frees a list of callbacks, oldest first.
static void run_callbacks(callback_t* newest, tpt_status_t status) {
  callback_t* callback = NULL;
  while (newest) {
    callback_t* next = newest->next;
    newest->next = callback;
    callback = newest;
    newest = next;
  }
  while (callback) {
    callback_t* next = callback->next;
    callback->fn(status, callback->arg);
    tpt_free(callback);
    callback = next;
  }
}

void vtpu_event_release(vtpu_event_t* event) {
  if (!event || event == &always_ready) return;
  if (atomic_fetch_sub_explicit(&event->ref_count, 1, memory_order_acq_rel) != 1) return;
  if (event->callbacks) {  // it never happened and now never will
    tpt_status_t status = tpt_status_make(TPT_CANCELLED, __FILE__, __LINE__,
                                          "the event was destroyed before it was set");
    run_callbacks(event->callbacks, status);
    tpt_status_release(status);
  }
  tpt_status_release(event->status);
  atomic_store_explicit(&event->mark, MARK_DEAD, memory_order_relaxed);
  pthread_mutex_lock(&mutex);
  vtpu_slab_give(&slab, event);
  pthread_mutex_unlock(&mutex);
}

vtpu_event_state_t vtpu_event_get_state(const vtpu_event_t* event) {
  return (vtpu_event_state_t)atomic_load_explicit(&event->state, memory_order_acquire);
}

tpt_status_t vtpu_event_error(const vtpu_event_t* event) {
  return vtpu_event_get_state(event) == VTPU_EVENT_FAILED ? event->status : NULL;
}

bool vtpu_event_set(vtpu_event_t* event, tpt_status_t take_status) {
  pthread_mutex_lock(&mutex);
  if (vtpu_event_get_state(event) != VTPU_EVENT_PENDING) {
    pthread_mutex_unlock(&mutex);
    tpt_status_release(take_status);
    return false;
  }
  callback_t* callbacks = event->callbacks;
  event->callbacks = NULL;
  event->status = take_status;
  // A waiter may drop the last reference as soon as it sees the state, so hold one while in use.
  vtpu_event_retain(event);
  atomic_store_explicit(&event->state, take_status ? VTPU_EVENT_FAILED : VTPU_EVENT_READY,
                        memory_order_release);
  if (waiter_count > 0) pthread_cond_broadcast(&happened);
  pthread_mutex_unlock(&mutex);
  run_callbacks(callbacks, take_status);
  vtpu_event_release(event);
  return true;
}

tpt_status_t vtpu_event_await(vtpu_event_t* event) {
  for (int i = 0; i < SPIN_COUNT && vtpu_event_get_state(event) == VTPU_EVENT_PENDING; i++) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  if (vtpu_event_get_state(event) == VTPU_EVENT_PENDING) {
    pthread_mutex_lock(&mutex);
    waiter_count++;
    while (vtpu_event_get_state(event) == VTPU_EVENT_PENDING)
      pthread_cond_wait(&happened, &mutex);
    waiter_count--;
    pthread_mutex_unlock(&mutex);
  }
  return vtpu_event_error(event);
}

tpt_status_t vtpu_event_on_set(vtpu_event_t* event, vtpu_event_fn_t fn, void* arg) {
  if (vtpu_event_get_state(event) == VTPU_EVENT_PENDING) {
    callback_t* callback = tpt_malloc(sizeof(*callback));
    if (!callback) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a callback");
    *callback = (callback_t){NULL, fn, arg};
    pthread_mutex_lock(&mutex);
    bool is_pending = vtpu_event_get_state(event) == VTPU_EVENT_PENDING;
    if (is_pending) {
      callback->next = event->callbacks;
      event->callbacks = callback;
    }
    pthread_mutex_unlock(&mutex);
    if (is_pending) return NULL;
    tpt_free(callback);
  }
  fn(vtpu_event_error(event), arg);
  return NULL;
}

vtpu_event_t* vtpu_event_lend(vtpu_event_t* event) {
  if (event != &always_ready)
    atomic_fetch_add_explicit(&event->lent_count, 1, memory_order_relaxed);
  return vtpu_event_retain(event);
}

tpt_status_t vtpu_event_check(const vtpu_event_t* event) {
  if (!event) TPT_FAIL(TPT_INVALID_ARGUMENT, "event is NULL");
  if (event == &always_ready) return NULL;
  if (atomic_load_explicit(&event->mark, memory_order_acquire) != MARK_LIVE ||
      atomic_load_explicit(&event->lent_count, memory_order_relaxed) == 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%p is not a live event: destroyed before, or not of vtpu",
             (const void*)event);
  return NULL;
}

tpt_status_t vtpu_event_give_back(vtpu_event_t* event) {
  if (!event || event == &always_ready) return NULL;
  TPT_TRY(vtpu_event_check(event));
  if (atomic_fetch_sub_explicit(&event->lent_count, 1, memory_order_relaxed) == 0) {
    atomic_fetch_add_explicit(&event->lent_count, 1, memory_order_relaxed);
    TPT_FAIL(TPT_INVALID_ARGUMENT, "event destroyed twice");
  }
  vtpu_event_release(event);
  return NULL;
}

void vtpu_event_allow_set(vtpu_event_t* event) {
  event->is_settable = true;
}

bool vtpu_event_is_settable(const vtpu_event_t* event) {
  return event->is_settable;
}
