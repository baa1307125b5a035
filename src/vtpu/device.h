// Device: a chip's memory and one queue of work that runs in the order of submission.
//
// Memory is ordered like the work: what the host frees may be handed to later submissions at once,
// because they run after all that went before. Whoever touches memory outside the queue (a copy by
// the host) holds the block, and writes it only when its last_use has completed.
//
// One lock guards the queue, the memory and the buffers of the device. Small work runs on the
// submitting thread under the lock while the queue is empty; all else runs on the worker, without it.
// Two devices' locks are never held together.
#ifndef TPUTORCH_VTPU_DEVICE_H_
#define TPUTORCH_VTPU_DEVICE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/thread.h"
#include "vtpu/event.h"
#include "vtpu/hbm.h"
#include "vtpu/keep.h"
#include "vtpu/slab.h"

typedef struct vtpu_task vtpu_task_t;

struct vtpu_task {
  // --- the submitter's
  // Worker thread, no lock. Not called when an event in `waits` failed: its status is the task's then.
  tpt_status_t (*run)(vtpu_task_t* task);
  // Device locked; status borrowed. Before `done` is set. Must not wait. (optional)
  void (*finish)(vtpu_task_t* task, tpt_status_t status);
  // Worker thread, no lock; after `done` was set. Frees the task and what it owns.
  void (*release)(vtpu_task_t* task);
  vtpu_event_t** waits;  // references that the device drops
  int wait_count;
  vtpu_event_t* done;  // a reference that the device drops
  // --- the device's
  vtpu_task_t* next;
  uint64_t ticket;
};

typedef struct vtpu_device_params {
  int id;
  size_t hbm_size;
  tpt_pool_t* pool;      // borrowed; shared by all devices of a client
  tpt_pool_t* serial;    // borrowed; a pool of one thread, for work that is too small to share
  int64_t inline_limit;  // nanoseconds of estimated work that may run on the submitting thread
  bool flush_subnormals;
  bool profile;  // programs measure their steps
  size_t keep;   // bytes of packed operands that are kept from call to call
  void* owner;   // whatever the creator wants to find again
} vtpu_device_params_t;

typedef struct vtpu_device {
  pthread_mutex_t mutex;
  vtpu_device_params_t params;
  vtpu_hbm_t* hbm;
  vtpu_keeper_t* keeper;
  uint64_t submitted, completed;  // tickets
  // --- buffers
  vtpu_slab_t buffers;
  uint64_t buffer_count;  // alive
  uint64_t launch_count;
  void** scratch;  // pointer arrays of the launch at hand
  size_t scratch_capacity;
  // --- worker
  vtpu_task_t *first, *last;
  pthread_t worker;
  bool is_started, is_closed, is_worker_asleep;
  bool is_running;    // the worker is inside a task
  bool is_abandoned;  // the process exits: no task starts any more
  int waiter_count;
  pthread_cond_t work, progress;
  _Atomic uint64_t queued;  // mirrors `submitted` of queued tasks for the spinning worker
  struct vtpu_device* next_alive;
} vtpu_device_t;

TPT_MUST_USE tpt_status_t vtpu_device_create(const vtpu_device_params_t* params,
                                             vtpu_device_t** out_device);
// Runs what is queued and joins the worker; nothing may be submitted afterwards. NULL is legal. Devices
// that copy from one another are all stopped before the first is released.
void vtpu_device_stop(vtpu_device_t* device);
// Stops, then frees. Buffers must be gone. NULL is legal. An abandoned device is left as it is.
void vtpu_device_release(vtpu_device_t* take_device);

static inline void vtpu_device_lock(vtpu_device_t* device) {
  pthread_mutex_lock(&device->mutex);
}
static inline void vtpu_device_unlock(vtpu_device_t* device) {
  pthread_mutex_unlock(&device->mutex);
}

// --- with the lock held --------------------------------------------------------------------------
static inline bool vtpu_device_is_idle(const vtpu_device_t* device) {
  return device->submitted == device->completed;
}
// True if no queued work can touch the block.
static inline bool vtpu_block_is_quiet(const vtpu_device_t* device, const vtpu_block_t* block) {
  return block->last_use <= device->completed;
}
// The ticket that the next submission will get.
static inline uint64_t vtpu_device_next_ticket(const vtpu_device_t* device) {
  return device->submitted + 1;
}
// Appends a task. On failure (no thread) nothing has changed and the caller keeps the task.
TPT_MUST_USE tpt_status_t vtpu_device_submit(vtpu_device_t* device, vtpu_task_t* take_task);
// An array of `count` pointers, valid while the lock is held; NULL when no memory is left.
void** vtpu_device_scratch(vtpu_device_t* device, size_t count);
// Gives up one owner's, or one reader's, claim on a block; frees it with the last.
// The content is about to change, or to end: nothing kept of it is of use any more.
void vtpu_block_forget(vtpu_block_t* block);
// The keep of the block's present content for a launch that reads it; NULL when it is used for the
// first time, or may change unseen.
vtpu_keep_t* vtpu_block_keep(vtpu_device_t* device, vtpu_block_t* block);
void vtpu_block_unref(vtpu_device_t* device, vtpu_block_t* block);
void vtpu_block_unhold(vtpu_device_t* device, vtpu_block_t* block);

// --- without the lock ----------------------------------------------------------------------------
// At the exit of a process that has not closed its clients: waits for tasks that are running and starts
// no more, because the libraries that they call are about to end. The library's destructor calls it.
void vtpu_devices_abandon(void);
// True on a thread that runs some device's queue: it must not wait for a queue or end a device.
bool vtpu_device_is_worker_thread(void);
// Waits until everything submitted up to now is done.
void vtpu_device_drain(vtpu_device_t* device);
// The same up to a ticket; call with the lock held, which is dropped while waiting.
void vtpu_device_await_locked(vtpu_device_t* device, uint64_t ticket);

#endif  // TPUTORCH_VTPU_DEVICE_H_
