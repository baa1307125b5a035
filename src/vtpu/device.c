// A device's queue and its worker thread. Knows tasks, not programs. Invariants: tasks complete in
// ticket order; `completed` moves, and `finish` runs, under the lock before `done` is set, so whoever
// saw the event sees an idle queue; the worker starts with the first task and is joined at release.
#include "vtpu/device.h"

#include <unistd.h>

#include "base/allocator.h"
#include "vtpu/buffer.h"

enum { SPIN_COUNT = 400 };  // pauses before the worker sleeps: roughly 10-20 us

// Devices of this process; those copied by a fork have no worker and are none of the child's.
static pthread_mutex_t alive_mutex = PTHREAD_MUTEX_INITIALIZER;
static vtpu_device_t* alive;
static _Atomic pid_t alive_process;

static void register_device(vtpu_device_t* device) {
  pthread_mutex_lock(&alive_mutex);
  if (alive_process != getpid()) alive = NULL;
  alive_process = getpid();
  device->next_alive = alive;
  alive = device;
  pthread_mutex_unlock(&alive_mutex);
}

static void unregister_device(vtpu_device_t* device) {
  pthread_mutex_lock(&alive_mutex);
  vtpu_device_t** link = &alive;
  while (*link && *link != device)
    link = &(*link)->next_alive;
  if (*link) *link = device->next_alive;
  pthread_mutex_unlock(&alive_mutex);
}

__attribute__((destructor)) void vtpu_devices_abandon(void) {
  if (alive_process != getpid()) return;
  pthread_mutex_lock(&alive_mutex);
  for (vtpu_device_t* device = alive; device; device = device->next_alive) {
    vtpu_device_lock(device);
    device->is_abandoned = true;
    device->waiter_count++;
    while (device->is_running)
      pthread_cond_wait(&device->progress, &device->mutex);
    device->waiter_count--;
    vtpu_device_unlock(device);
  }
  pthread_mutex_unlock(&alive_mutex);
}

tpt_status_t vtpu_device_create(const vtpu_device_params_t* params, vtpu_device_t** out_device) {
  *out_device = NULL;
  vtpu_device_t* device = tpt_calloc(1, sizeof(*device));
  if (!device) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a device");
  device->params = *params;
  tpt_status_t status = vtpu_hbm_create(params->hbm_size, &device->hbm);
  if (!status) status = vtpu_keeper_create(params->keep, &device->keeper);
  if (status) {
    vtpu_hbm_release(device->hbm);
    tpt_free(device);
    return status;
  }
  vtpu_slab_init(&device->buffers, sizeof(vtpu_buffer_t));
  pthread_mutex_init(&device->mutex, NULL);
  pthread_cond_init(&device->work, NULL);
  pthread_cond_init(&device->progress, NULL);
  register_device(device);
  *out_device = device;
  return NULL;
}

void vtpu_device_stop(vtpu_device_t* device) {
  if (!device || !device->is_started) return;
  vtpu_device_lock(device);
  bool is_abandoned = device->is_abandoned;
  device->is_closed = true;
  atomic_fetch_add(&device->queued, 1);  // ends a spin
  pthread_cond_broadcast(&device->work);
  vtpu_device_unlock(device);
  if (is_abandoned)
    pthread_detach(device->worker);  // it may wait for inputs that nobody will make
  else
    pthread_join(device->worker, NULL);
  device->is_started = false;
}

void vtpu_device_release(vtpu_device_t* device) {
  if (!device) return;
  vtpu_device_stop(device);
  if (device->is_abandoned) return;
  unregister_device(device);
  pthread_cond_destroy(&device->progress);
  pthread_cond_destroy(&device->work);
  pthread_mutex_destroy(&device->mutex);
  vtpu_slab_deinit(&device->buffers);
  vtpu_hbm_release(device->hbm);
  vtpu_keeper_release(device->keeper);
  tpt_free(device->scratch);
  tpt_free(device);
}

// --- worker -------------------------------------------------------------------------------------------

// Waits for the task's inputs; a copy of the first error, or NULL.
static tpt_status_t await_inputs(vtpu_task_t* task) {
  tpt_status_t error = NULL;
  for (int i = 0; i < task->wait_count; i++) {
    tpt_status_t status = vtpu_event_await(task->waits[i]);
    if (status && !error) error = tpt_status_clone(status);
  }
  return error;
}

// False if the process exits: then the task must not run.
static bool begin_running(vtpu_device_t* device) {
  vtpu_device_lock(device);
  device->is_running = !device->is_abandoned;
  vtpu_device_unlock(device);
  return device->is_running;
}

static void run_task(vtpu_device_t* device, vtpu_task_t* task) {
  tpt_status_t status = await_inputs(task);
  if (!begin_running(device)) {
    tpt_status_release(status);
    return;
  }
  if (!status) status = task->run(task);
  vtpu_device_lock(device);
  device->is_running = false;
  if (task->finish) task->finish(task, status);
  device->completed = task->ticket;
  if (device->waiter_count > 0) pthread_cond_broadcast(&device->progress);
  vtpu_device_unlock(device);
  vtpu_event_set(task->done, status);
  for (int i = 0; i < task->wait_count; i++)
    vtpu_event_release(task->waits[i]);
  vtpu_event_release(task->done);
  task->release(task);
}

static void await_work(vtpu_device_t* device) {
  uint64_t seen = atomic_load_explicit(&device->queued, memory_order_relaxed);
  vtpu_device_unlock(device);
  for (int i = 0; i < SPIN_COUNT; i++) {
    if (atomic_load_explicit(&device->queued, memory_order_relaxed) != seen) break;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  vtpu_device_lock(device);
  while (!device->first && !device->is_closed && !device->is_abandoned) {
    device->is_worker_asleep = true;
    pthread_cond_wait(&device->work, &device->mutex);
    device->is_worker_asleep = false;
  }
}

static _Thread_local bool is_worker_thread;

bool vtpu_device_is_worker_thread(void) {
  return is_worker_thread;
}

static void* worker_main(void* arg) {
  vtpu_device_t* device = arg;
  is_worker_thread = true;
  vtpu_device_lock(device);
  for (;;) {
    if (!device->first) await_work(device);
    vtpu_task_t* task = device->first;
    if (!task || device->is_abandoned) break;
    device->first = task->next;
    if (!device->first) device->last = NULL;
    vtpu_device_unlock(device);
    run_task(device, task);
    vtpu_device_lock(device);
  }
  vtpu_device_unlock(device);
  return NULL;
}

// --- submission -----------------------------------------------------------------------------------------

tpt_status_t vtpu_device_submit(vtpu_device_t* device, vtpu_task_t* task) {
  if (device->is_abandoned) TPT_FAIL(TPT_UNAVAILABLE, "the process is exiting");
  if (!device->is_started) {
    int error = pthread_create(&device->worker, NULL, worker_main, device);
    if (error)
      TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "cannot start the worker thread of device %d (error %d)",
               device->params.id, error);
    device->is_started = true;
  }
  task->ticket = ++device->submitted;
  task->next = NULL;
  if (device->last)
    device->last->next = task;
  else
    device->first = task;
  device->last = task;
  atomic_fetch_add_explicit(&device->queued, 1, memory_order_relaxed);
  if (device->is_worker_asleep) pthread_cond_signal(&device->work);
  return NULL;
}

void** vtpu_device_scratch(vtpu_device_t* device, size_t count) {
  void* scratch = device->scratch;
  if (!tpt_grow(&scratch, &device->scratch_capacity, count ? count : 1, sizeof(void*))) return NULL;
  device->scratch = scratch;
  return device->scratch;
}

// --- blocks -----------------------------------------------------------------------------------------------

void vtpu_block_forget(vtpu_block_t* block) {
  vtpu_keep_release(block->keep);
  block->keep = NULL;
  block->use_count = 0;
}

vtpu_keep_t* vtpu_block_keep(vtpu_device_t* device, vtpu_block_t* block) {
  if (!block || block->is_exposed || block->use_count++ == 0) return NULL;
  if (!block->keep) block->keep = vtpu_keep_create(device->keeper);
  return block->keep;
}

static void free_if_unused(vtpu_device_t* device, vtpu_block_t* block) {
  if (block->ref_count > 0 || block->hold_count > 0) return;
  vtpu_block_forget(block);
  vtpu_hbm_free(device->hbm, block);
}

void vtpu_block_unref(vtpu_device_t* device, vtpu_block_t* block) {
  block->ref_count--;
  free_if_unused(device, block);
}

void vtpu_block_unhold(vtpu_device_t* device, vtpu_block_t* block) {
  block->hold_count--;
  free_if_unused(device, block);
}

// --- waiting ----------------------------------------------------------------------------------------------

void vtpu_device_await_locked(vtpu_device_t* device, uint64_t ticket) {
  device->waiter_count++;
  while (device->completed < ticket && !device->is_abandoned)
    pthread_cond_wait(&device->progress, &device->mutex);
  device->waiter_count--;
}

void vtpu_device_drain(vtpu_device_t* device) {
  vtpu_device_lock(device);
  vtpu_device_await_locked(device, device->submitted);
  vtpu_device_unlock(device);
}
