// Transfers. Invariants: the host writes a block only when no queued work can touch it, and reads one
// only while it holds it; a copy into a busy block is a task of the queue.
#include "vtpu/transfer.h"

#include <string.h>

#include "base/allocator.h"
#include "vtpu/strided.h"

enum {
  SMALL_COPY = 4096,       // bytes that are copied under the lock, rather than taking it twice
  COPY_GRAIN = 256 << 10,  // bytes that are worth a thread
};

typedef struct span {
  char* out;
  const char* in;
} span_t;

static void copy_part(void* arg, int64_t begin, int64_t end, int thread) {
  const span_t* span = arg;
  (void)thread;
  memcpy(span->out + begin, span->in + begin, (size_t)(end - begin));
}

// On the device's threads, unless a program has them.
static void copy_bytes(const vtpu_device_t* device, void* out, const void* in, size_t size) {
  span_t span = {out, in};
  if (size <= COPY_GRAIN) {
    if (size > 0) memcpy(out, in, size);
    return;
  }
  tpt_pool_for_if_free(device->params.pool, (int64_t)size, COPY_GRAIN, copy_part, &span);
}

// --- upload -----------------------------------------------------------------------------------------------

static void normalise_pred(uint8_t* data, size_t size) {
  for (size_t i = 0; i < size; i++)
    data[i] = data[i] != 0;
}

// Host values into dense device form.
static void pack(const vtpu_device_t* device, const vtpu_upload_t* upload, void* out) {
  size_t size = (size_t)tpt_type_size(&upload->type);
  if (size == 0) return;
  if (!upload->strides || vtpu_strides_are_dense(&upload->type, upload->strides)) {
    copy_bytes(device, out, upload->data, size);
  } else {
    int64_t dense[TPT_RANK_MAX];
    vtpu_strides_dense(&upload->type, dense);
    vtpu_strided_copy(&upload->type, out, dense, upload->data, upload->strides);
  }
  if (upload->type.dtype == TPT_PRED) normalise_pred(out, size);
}

typedef struct upload_task {
  vtpu_task_t task;
  const vtpu_device_t* device;
  vtpu_upload_t upload;
  int64_t strides[TPT_RANK_MAX];
  void* staging;  // (optional) packed values, if the host's memory may not be read later
  void* out;
} upload_task_t;

static tpt_status_t run_upload(vtpu_task_t* task) {
  upload_task_t* t = (upload_task_t*)task;
  if (t->staging)
    copy_bytes(t->device, t->out, t->staging, (size_t)tpt_type_size(&t->upload.type));
  else
    pack(t->device, &t->upload, t->out);
  return NULL;
}

static void release_upload(vtpu_task_t* task) {
  tpt_free(((upload_task_t*)task)->staging);
  tpt_free(task);
}

static tpt_status_t create_upload_task(const vtpu_device_t* device, const vtpu_upload_t* upload,
                                       upload_task_t** out_task) {
  upload_task_t* t = tpt_calloc(1, sizeof(*t));
  size_t size = (size_t)tpt_type_size(&upload->type);
  void* staging = upload->is_call_only ? tpt_malloc(size ? size : 1) : NULL;
  tpt_status_t status = NULL;
  if (!t || (upload->is_call_only && !staging))
    status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                             "no host memory to stage a transfer of %zu bytes", size);
  if (!status) status = vtpu_event_create(&t->task.done);
  if (status) {
    tpt_free(staging);
    tpt_free(t);
    return status;
  }
  t->task.run = run_upload;
  t->task.release = release_upload;
  t->device = device;
  t->upload = *upload;
  t->staging = staging;
  if (staging) {
    pack(device, upload, staging);
  } else if (upload->strides) {
    memcpy(t->strides, upload->strides, (size_t)upload->type.rank * sizeof(int64_t));
    t->upload.strides = t->strides;
  }
  *out_task = t;
  return NULL;
}

// The buffer's memory may still be in use by queued work: fill it in the queue.
static tpt_status_t upload_later(vtpu_buffer_t* buffer, const vtpu_upload_t* upload,
                                 vtpu_event_t** out_done) {
  vtpu_device_t* device = buffer->device;
  upload_task_t* t = NULL;
  TPT_TRY(create_upload_task(device, upload, &t));
  vtpu_event_t* done = vtpu_event_retain(t->task.done);
  vtpu_device_lock(device);
  t->out = buffer->block->data;
  buffer->block->last_use = vtpu_device_next_ticket(device);
  tpt_status_t status = vtpu_device_submit(device, &t->task);
  vtpu_device_unlock(device);
  if (status) {
    vtpu_event_release(t->task.done);
    release_upload(&t->task);
    vtpu_event_release(done);
    return status;
  }
  buffer->ready = done;
  *out_done = upload->is_call_only ? vtpu_event_ready() : vtpu_event_retain(done);
  return NULL;
}

tpt_status_t vtpu_buffer_upload(vtpu_device_t* device, const vtpu_upload_t* upload,
                                vtpu_buffer_t** out_buffer, vtpu_event_t** out_done) {
  vtpu_buffer_t* buffer = NULL;
  bool is_small = tpt_type_size(&upload->type) <= SMALL_COPY;
  *out_buffer = NULL;
  *out_done = vtpu_event_ready();
  vtpu_device_lock(device);
  tpt_status_t status = vtpu_buffer_new_block(device, &upload->type, &buffer);
  bool is_quiet = !status && vtpu_block_is_quiet(device, buffer->block);
  if (is_quiet && is_small) pack(device, upload, buffer->block->data);
  vtpu_device_unlock(device);
  if (status) {
    tpt_status_release(status);
    TPT_TRY(vtpu_buffer_create(device, &upload->type, &buffer));
  }
  if (!is_quiet)
    status = upload_later(buffer, upload, out_done);
  else if (!is_small)
    pack(device, upload, buffer->block->data);
  if (status) {
    vtpu_buffer_destroy(buffer);
    return status;
  }
  *out_buffer = buffer;
  return NULL;
}

void vtpu_buffer_settle(vtpu_buffer_t* buffer) {
  vtpu_device_lock(buffer->device);
  vtpu_device_await_locked(buffer->device, buffer->block->last_use);
  vtpu_device_unlock(buffer->device);
}

void vtpu_block_write(vtpu_block_t* block, const tpt_type_t* type, size_t offset, const void* data,
                      size_t size) {
  memcpy(block->data + offset, data, size);
  if (type->dtype == TPT_PRED) normalise_pred((uint8_t*)block->data + offset, size);
}

// --- download ---------------------------------------------------------------------------------------------

static void unpack(const vtpu_device_t* device, const tpt_type_t* type, const char* from,
                   const vtpu_download_t* download) {
  size_t size = (size_t)tpt_type_size(type);
  if (download->is_raw) {
    copy_bytes(device, download->data, from + download->offset, download->size);
  } else if (size == 0) {
    return;
  } else if (!download->strides || vtpu_strides_are_dense(type, download->strides)) {
    copy_bytes(device, download->data, from, size);
  } else {
    int64_t dense[TPT_RANK_MAX];
    vtpu_strides_dense(type, dense);
    vtpu_strided_copy(type, download->data, download->strides, from, dense);
  }
}

typedef struct pending_download {
  vtpu_device_t* device;
  vtpu_block_t* block;  // held
  vtpu_event_t* done;
  tpt_type_t type;
  vtpu_download_t download;
  int64_t strides[TPT_RANK_MAX];
} pending_download_t;

static void end_download(tpt_status_t status, void* arg) {
  pending_download_t* pending = arg;
  if (!status) unpack(pending->device, &pending->type, pending->block->data, &pending->download);
  vtpu_device_lock(pending->device);
  vtpu_block_unhold(pending->device, pending->block);
  vtpu_device_unlock(pending->device);
  vtpu_event_set(pending->done, tpt_status_clone(status));
  vtpu_event_release(pending->done);
  tpt_free(pending);
}

// Takes over the caller's hold on the block, also on failure.
static tpt_status_t download_later(vtpu_buffer_t* buffer, vtpu_block_t* block,
                                   const vtpu_download_t* download, vtpu_event_t** out_done) {
  pending_download_t* pending = tpt_malloc(sizeof(*pending));
  vtpu_event_t* done = NULL;
  tpt_status_t status = NULL;
  if (!pending)
    status = tpt_status_make(TPT_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "no memory for a read");
  if (!status) status = vtpu_event_create(&done);
  if (!status) {
    *pending = (pending_download_t){.device = buffer->device,
                                    .block = block,
                                    .done = vtpu_event_retain(done),
                                    .type = buffer->type,
                                    .download = *download};
    if (download->strides) {
      memcpy(pending->strides, download->strides, (size_t)buffer->type.rank * sizeof(int64_t));
      pending->download.strides = pending->strides;
    }
    status = vtpu_event_on_set(buffer->ready, end_download, pending);
    if (status) vtpu_event_release(done);
  }
  if (!status) {
    *out_done = done;
    return NULL;
  }
  vtpu_event_release(done);
  tpt_free(pending);
  vtpu_device_lock(buffer->device);
  vtpu_block_unhold(buffer->device, block);
  vtpu_device_unlock(buffer->device);
  return status;
}

tpt_status_t vtpu_buffer_download(vtpu_buffer_t* buffer, const vtpu_download_t* download,
                                  vtpu_event_t** out_done) {
  vtpu_device_t* device = buffer->device;
  size_t size = download->is_raw ? download->size : vtpu_buffer_size(buffer);
  *out_done = vtpu_event_ready();
  vtpu_device_lock(device);
  tpt_status_t status = vtpu_buffer_check_alive(buffer);
  vtpu_event_state_t state = vtpu_buffer_state(buffer);
  if (!status && state == VTPU_EVENT_FAILED)
    status = tpt_status_clone(vtpu_event_error(buffer->ready));
  vtpu_block_t* block = status ? NULL : buffer->block;
  if (block && state == VTPU_EVENT_READY && size <= SMALL_COPY) {
    unpack(device, &buffer->type, block->data, download);
    block = NULL;
  }
  if (block) block->hold_count++;
  vtpu_device_unlock(device);
  if (!block) return status;
  if (state == VTPU_EVENT_PENDING) return download_later(buffer, block, download, out_done);
  unpack(device, &buffer->type, block->data, download);
  vtpu_device_lock(device);
  vtpu_block_unhold(device, block);
  vtpu_device_unlock(device);
  return NULL;
}

// --- device to device ---------------------------------------------------------------------------------------

typedef struct copy_task {
  vtpu_task_t task;
  vtpu_event_t* wait;
  vtpu_device_t* source_device;
  vtpu_block_t* source;  // held
  void* out;
  size_t size;
} copy_task_t;

static tpt_status_t run_copy(vtpu_task_t* task) {
  copy_task_t* t = (copy_task_t*)task;
  copy_bytes(t->source_device, t->out, t->source->data, t->size);
  return NULL;
}

static void unhold(vtpu_device_t* device, vtpu_block_t* block) {
  vtpu_device_lock(device);
  vtpu_block_unhold(device, block);
  vtpu_device_unlock(device);
}

static void release_copy(vtpu_task_t* task) {
  copy_task_t* t = (copy_task_t*)task;
  unhold(t->source_device, t->source);
  tpt_free(t);
}

static tpt_status_t submit_copy(vtpu_buffer_t* buffer, vtpu_block_t* source, vtpu_buffer_t* copy) {
  copy_task_t* t = tpt_calloc(1, sizeof(*t));
  if (!t) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a copy between devices");
  tpt_status_t status = vtpu_event_create(&t->task.done);
  if (status) {
    tpt_free(t);
    return status;
  }
  t->task.run = run_copy;
  t->task.release = release_copy;
  t->source_device = buffer->device;
  t->source = source;
  t->size = vtpu_buffer_size(buffer);
  t->out = copy->block->data;
  if (buffer->ready) {
    t->wait = vtpu_event_retain(buffer->ready);
    t->task.waits = &t->wait;
    t->task.wait_count = 1;
  }
  vtpu_event_t* done = vtpu_event_retain(t->task.done);
  vtpu_device_lock(copy->device);
  copy->block->last_use = vtpu_device_next_ticket(copy->device);
  status = vtpu_device_submit(copy->device, &t->task);
  vtpu_device_unlock(copy->device);
  if (!status) {
    copy->ready = done;
    return NULL;
  }
  vtpu_event_release(done);
  vtpu_event_release(t->task.done);
  vtpu_event_release(t->wait);
  tpt_free(t);
  return status;
}

static tpt_status_t copy_held(vtpu_buffer_t* buffer, vtpu_block_t* source, vtpu_device_t* device,
                              vtpu_buffer_t** out_buffer) {
  vtpu_buffer_t* copy = NULL;
  tpt_status_t status = vtpu_buffer_create(device, &buffer->type, &copy);
  bool is_quiet = false;
  if (!status) {
    vtpu_device_lock(device);
    is_quiet = vtpu_block_is_quiet(device, copy->block);
    vtpu_device_unlock(device);
  }
  if (!status && is_quiet && vtpu_buffer_state(buffer) == VTPU_EVENT_READY) {
    size_t size = vtpu_buffer_size(buffer);
    copy_bytes(device, copy->block->data, source->data, size);
    unhold(buffer->device, source);
  } else {
    if (!status) status = submit_copy(buffer, source, copy);
    if (status) unhold(buffer->device, source);
  }
  if (status && copy) vtpu_buffer_destroy(copy);
  if (!status) *out_buffer = copy;
  return status;
}

tpt_status_t vtpu_buffer_copy(vtpu_buffer_t* buffer, vtpu_device_t* device,
                              vtpu_buffer_t** out_buffer) {
  *out_buffer = NULL;
  vtpu_device_lock(buffer->device);
  tpt_status_t status = vtpu_buffer_check_alive(buffer);
  vtpu_block_t* source = status ? NULL : buffer->block;
  if (source) source->hold_count++;
  vtpu_device_unlock(buffer->device);
  if (status) return status;
  if (!source) return vtpu_buffer_create_failed(device, &buffer->type, buffer->ready, out_buffer);
  return copy_held(buffer, source, device, out_buffer);
}
