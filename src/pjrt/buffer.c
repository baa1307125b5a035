// Buffers: uploads, downloads, copies between devices, and the failure that a buffer may carry.
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/allocator.h"
#include "pjrt/handle.h"

static void buffer_destroy(const tpt_plugin_t* plugin, PJRT_Buffer* take_buffer) {
  PJRT_Buffer_Destroy_Args args = {.buffer = take_buffer};
  tpt_status_release(TPT_PJRT_CALL(plugin, Buffer_Destroy, &args));
}

tpt_status_t tpt__buffer_wrap(tpt_client_t* client, PJRT_Buffer* take_buffer,
                              tpt_buffer_t** out_buffer) {
  tpt_buffer_t* buffer = tpt_malloc(sizeof(*buffer));
  if (!buffer) {
    buffer_destroy(client->plugin, take_buffer);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a PJRT buffer");
  }
  atomic_init(&buffer->references, 1);
  buffer->client = tpt__client_retain(client);
  buffer->buffer = take_buffer;
  *out_buffer = buffer;
  return NULL;
}

tpt_buffer_t* tpt_buffer_retain(tpt_buffer_t* buffer) {
  if (buffer) atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
  return buffer;
}

bool tpt_buffer_is_shared(const tpt_buffer_t* buffer) {
  return atomic_load_explicit(&buffer->references, memory_order_relaxed) > 1;
}

void tpt_buffer_release(tpt_buffer_t* take_buffer) {
  if (!take_buffer || !tpt__reference_drop(&take_buffer->references)) return;
  buffer_destroy(take_buffer->client->plugin, take_buffer->buffer);
  tpt_client_release(take_buffer->client);
  tpt_free(take_buffer);
}

tpt_status_t tpt_buffer_from_host(tpt_client_t* client, int device, const tpt_type_t* type,
                                  const void* data, tpt_buffer_t** out_buffer) {
  *out_buffer = NULL;
  TPT_TRY(tpt__client_check_device(client, device));
  static const char nothing[1];
  if (!data && tpt_type_size(type) != 0) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "an upload of %lld bytes has no data",
             (long long)tpt_type_size(type));
  }
  PJRT_Client_BufferFromHostBuffer_Args args = {
      .client = client->client,
      .data = data ? data : nothing,
      .type = (PJRT_Buffer_Type)type->dtype,
      .dims = type->dims,
      .num_dims = (size_t)type->rank,
      .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
      .device = client->devices[device].device,
  };
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Client_BufferFromHostBuffer, &args));
  tpt_status_t status = tpt__event_drop(client->plugin, PJRT_SLOT_Client_BufferFromHostBuffer,
                                        args.done_with_host_buffer);
  if (status) {
    buffer_destroy(client->plugin, args.buffer);
    return status;
  }
  return tpt__buffer_wrap(client, args.buffer, out_buffer);
}

// --- waiting -------------------------------------------------------------------------------------
static tpt_status_t ready_event(tpt_buffer_t* buffer, PJRT_Event** out_event) {
  PJRT_Buffer_ReadyEvent_Args args = {.buffer = buffer->buffer};
  TPT_TRY(TPT_PJRT_CALL(buffer->client->plugin, Buffer_ReadyEvent, &args));
  *out_event = args.event;
  return NULL;
}

tpt_status_t tpt_buffer_await(tpt_buffer_t* buffer) {
  PJRT_Event* event = NULL;
  TPT_TRY(ready_event(buffer, &event));
  return tpt__event_finish(buffer->client->plugin, PJRT_SLOT_Buffer_ReadyEvent, event);
}

bool tpt_buffer_is_ready(tpt_buffer_t* buffer) {
  const tpt_plugin_t* plugin = buffer->client->plugin;
  PJRT_Event* event = NULL;
  tpt_status_t status = ready_event(buffer, &event);
  PJRT_Event_IsReady_Args args = {.event = event};
  if (!status) status = TPT_PJRT_CALL(plugin, Event_IsReady, &args);
  // A buffer that cannot say is ready: waiting for it then tells why.
  bool is_ready = status || args.is_ready;
  tpt_status_release(status);
  PJRT_Event_Destroy_Args destroy = {.event = event};
  if (event) tpt_status_release(TPT_PJRT_CALL(plugin, Event_Destroy, &destroy));
  return is_ready;
}

// Who waits for an event, and the callback that ends it: the last of the two frees.
typedef struct waiter {
  const tpt_plugin_t* plugin;
  PJRT_Event* event;
  pthread_mutex_t lock;
  pthread_cond_t is_changed;
  bool is_ready;
  int references;
} waiter_t;

static void waiter_release(waiter_t* waiter) {
  pthread_mutex_lock(&waiter->lock);
  bool is_last = --waiter->references == 0;
  pthread_mutex_unlock(&waiter->lock);
  if (!is_last) return;
  PJRT_Event_Destroy_Args args = {.event = waiter->event};
  tpt_status_release(TPT_PJRT_CALL(waiter->plugin, Event_Destroy, &args));
  pthread_cond_destroy(&waiter->is_changed);
  pthread_mutex_destroy(&waiter->lock);
  tpt_free(waiter);
}

static void note_ready(PJRT_Error* take_error, void* arg) {
  waiter_t* waiter = arg;
  PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                  .error = take_error};
  if (take_error) waiter->plugin->api.PJRT_Error_Destroy(&args);
  pthread_mutex_lock(&waiter->lock);
  waiter->is_ready = true;
  pthread_cond_signal(&waiter->is_changed);
  pthread_mutex_unlock(&waiter->lock);
  waiter_release(waiter);
}

static waiter_t* waiter_create(const tpt_plugin_t* plugin) {
  waiter_t* waiter = tpt_calloc(1, sizeof(*waiter));
  if (!waiter) return NULL;
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_mutex_init(&waiter->lock, NULL);
  pthread_cond_init(&waiter->is_changed, &clock);
  pthread_condattr_destroy(&clock);
  waiter->plugin = plugin;
  waiter->references = 2;
  return waiter;
}

static bool wait_until(waiter_t* waiter, double seconds) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  double nanoseconds = (double)end.tv_nsec + seconds * 1e9;
  end.tv_sec += (time_t)(nanoseconds / 1e9);
  end.tv_nsec = (long)(nanoseconds - 1e9 * (double)(time_t)(nanoseconds / 1e9));
  pthread_mutex_lock(&waiter->lock);
  int error = 0;
  while (!waiter->is_ready && error == 0)
    error = pthread_cond_timedwait(&waiter->is_changed, &waiter->lock, &end);
  bool is_ready = waiter->is_ready;
  pthread_mutex_unlock(&waiter->lock);
  return is_ready;
}

tpt_status_t tpt_buffer_wait_for(tpt_buffer_t* buffer, double seconds, bool* out_is_ready) {
  const tpt_plugin_t* plugin = buffer->client->plugin;
  *out_is_ready = true;
  if (!plugin->api.PJRT_Event_OnReady || !plugin->api.PJRT_Error_Destroy) {
    tpt_status_release(tpt_buffer_await(buffer));
    return NULL;
  }
  waiter_t* waiter = waiter_create(plugin);
  if (!waiter) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory to wait for a buffer");
  tpt_status_t status = ready_event(buffer, &waiter->event);
  PJRT_Event_OnReady_Args args = {
      .event = waiter->event, .callback = note_ready, .user_arg = waiter};
  if (!status) status = TPT_PJRT_CALL(plugin, Event_OnReady, &args);
  if (status) {  // it will tell when it is awaited
    tpt_status_release(status);
    waiter->references = 1;
    waiter_release(waiter);
    return NULL;
  }
  *out_is_ready = wait_until(waiter, seconds);
  waiter_release(waiter);
  return NULL;
}

// --- facts ---------------------------------------------------------------------------------------
tpt_status_t tpt_buffer_type(tpt_buffer_t* buffer, tpt_type_t* out_type) {
  const tpt_plugin_t* plugin = buffer->client->plugin;
  PJRT_Buffer_ElementType_Args element = {.buffer = buffer->buffer};
  TPT_TRY(TPT_PJRT_CALL(plugin, Buffer_ElementType, &element));
  PJRT_Buffer_Dimensions_Args dims = {.buffer = buffer->buffer};
  TPT_TRY(TPT_PJRT_CALL(plugin, Buffer_Dimensions, &dims));
  if (tpt_dtype_size((tpt_dtype_t)element.type) == 0 || dims.num_dims > TPT_RANK_MAX) {
    TPT_FAIL(TPT_UNIMPLEMENTED,
             "a buffer has PJRT element type %d and rank %zu; neither unknown "
             "element types nor ranks above %d are supported",
             (int)element.type, dims.num_dims, TPT_RANK_MAX);
  }
  *out_type = tpt_type_make((tpt_dtype_t)element.type, (int)dims.num_dims, dims.dims);
  return NULL;
}

tpt_status_t tpt_buffer_size(tpt_buffer_t* buffer, size_t* out_size) {
  PJRT_Buffer_OnDeviceSizeInBytes_Args args = {.buffer = buffer->buffer};
  TPT_TRY(TPT_PJRT_CALL(buffer->client->plugin, Buffer_OnDeviceSizeInBytes, &args));
  *out_size = args.on_device_size_in_bytes;
  return NULL;
}

// --- download ------------------------------------------------------------------------------------
typedef enum layout {
  LAYOUT_UNKNOWN,  // the plugin does not say
  LAYOUT_PLAIN,    // dense row-major
  LAYOUT_OTHER,
} layout_t;

static bool is_row_major(const PJRT_Buffer_MemoryLayout_Tiled* tiled, int rank) {
  bool is_plain = tiled->num_tiles == 0 && tiled->minor_to_major_size == (size_t)rank;
  for (int i = 0; is_plain && i < rank; i++) {
    is_plain = tiled->minor_to_major[i] == rank - 1 - i;
  }
  return is_plain;
}

static bool is_dense(const PJRT_Buffer_MemoryLayout_Strides* strides, const tpt_type_t* type) {
  bool is_plain = strides->num_byte_strides == (size_t)type->rank;
  int64_t stride = (int64_t)tpt_dtype_size(type->dtype);
  for (int i = type->rank - 1; is_plain && i >= 0; i--) {
    is_plain = type->dims[i] == 1 || strides->byte_strides[i] == stride;
    stride *= type->dims[i];
  }
  return is_plain;
}

static layout_t buffer_layout(tpt_buffer_t* buffer, const tpt_type_t* type) {
  const tpt_plugin_t* plugin = buffer->client->plugin;
  if (!plugin->api.PJRT_Buffer_GetMemoryLayout) return LAYOUT_UNKNOWN;
  PJRT_Buffer_GetMemoryLayout_Args args = {.buffer = buffer->buffer};
  args.layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
  tpt_status_t status = TPT_PJRT_CALL(plugin, Buffer_GetMemoryLayout, &args);
  if (status) {
    tpt_status_release(status);
    return LAYOUT_UNKNOWN;
  }
  bool is_plain = args.layout.type == PJRT_Buffer_MemoryLayout_Type_Tiled
                      ? is_row_major(&args.layout.tiled, type->rank)
                      : is_dense(&args.layout.strides, type);
  return is_plain ? LAYOUT_PLAIN : LAYOUT_OTHER;
}

// True when the device's memory is the CPU's, and may be read while its count is held. On XLA:CPU
// that is ten times cheaper than a transfer, which it hands to a thread.
static bool is_on_cpu(tpt_buffer_t* buffer) {
  const tpt_plugin_t* plugin = buffer->client->plugin;
  const PJRT_Api* api = &plugin->api;
  if (!api->PJRT_Buffer_OpaqueDeviceMemoryDataPointer || !api->PJRT_Buffer_IsOnCpu ||
      !api->PJRT_Buffer_IncreaseExternalReferenceCount ||
      !api->PJRT_Buffer_DecreaseExternalReferenceCount) {
    return false;
  }
  PJRT_Buffer_IsOnCpu_Args args = {.buffer = buffer->buffer};
  tpt_status_t status = TPT_PJRT_CALL(plugin, Buffer_IsOnCpu, &args);
  bool is_cpu = !status && args.is_on_cpu;
  tpt_status_release(status);
  return is_cpu;
}

static tpt_status_t copy_from_memory(tpt_buffer_t* buffer, void* data, size_t size) {
  const tpt_plugin_t* plugin = buffer->client->plugin;
  TPT_TRY(tpt_buffer_await(buffer));
  PJRT_Buffer_IncreaseExternalReferenceCount_Args hold = {.buffer = buffer->buffer};
  TPT_TRY(TPT_PJRT_CALL(plugin, Buffer_IncreaseExternalReferenceCount, &hold));
  PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args pointer = {.buffer = buffer->buffer};
  tpt_status_t status = TPT_PJRT_CALL(plugin, Buffer_OpaqueDeviceMemoryDataPointer, &pointer);
  if (!status && size > 0) memcpy(data, pointer.device_memory_ptr, size);
  PJRT_Buffer_DecreaseExternalReferenceCount_Args drop = {.buffer = buffer->buffer};
  tpt_status_t second = TPT_PJRT_CALL(plugin, Buffer_DecreaseExternalReferenceCount, &drop);
  if (!status) return second;
  tpt_status_release(second);
  return status;
}

// `wants_layout`: ask for row-major; without it a plugin gives what the device has.
static tpt_status_t transfer(tpt_buffer_t* buffer, int rank, bool wants_layout, void* data,
                             size_t size) {
  const tpt_plugin_t* plugin = buffer->client->plugin;
  int64_t minor_to_major[TPT_RANK_MAX];
  for (int i = 0; i < rank; i++)
    minor_to_major[i] = rank - 1 - i;
  PJRT_Buffer_MemoryLayout layout = {
      .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
      .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                .minor_to_major = minor_to_major,
                .minor_to_major_size = (size_t)rank},
      .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
  };
  PJRT_Buffer_ToHostBuffer_Args args = {
      .src = buffer->buffer,
      .host_layout = wants_layout ? &layout : NULL,
      .dst = data,
      .dst_size = size,
  };
  TPT_TRY(TPT_PJRT_CALL(plugin, Buffer_ToHostBuffer, &args));
  return tpt__event_finish(plugin, PJRT_SLOT_Buffer_ToHostBuffer, args.event);
}

tpt_status_t tpt_buffer_to_host(tpt_buffer_t* buffer, void* data, size_t size) {
  tpt_type_t type;
  TPT_TRY(tpt_buffer_type(buffer, &type));
  if ((size_t)tpt_type_size(&type) != size) {
    char text[128];
    TPT_FAIL(TPT_INVALID_ARGUMENT, "a download of %zu bytes from a buffer of %lld (%s)", size,
             (long long)tpt_type_size(&type), tpt_type_print(&type, text, sizeof(text)));
  }
  if (size == 0) return tpt_buffer_await(buffer);  // a NULL target would ask for the size
  layout_t layout = buffer_layout(buffer, &type);
  if (layout == LAYOUT_PLAIN && is_on_cpu(buffer)) return copy_from_memory(buffer, data, size);
  bool wants_layout = layout == LAYOUT_OTHER || buffer->client->wants_host_layout;
  return transfer(buffer, type.rank, wants_layout, data, size);
}

// --- between devices -----------------------------------------------------------------------------
tpt_status_t tpt_buffer_copy_to_device(tpt_buffer_t* buffer, int device,
                                       tpt_buffer_t** out_buffer) {
  *out_buffer = NULL;
  tpt_client_t* client = buffer->client;
  TPT_TRY(tpt__client_check_device(client, device));
  PJRT_Buffer_Device_Args at = {.buffer = buffer->buffer};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Buffer_Device, &at));
  if (at.device == client->devices[device].device) {
    TPT_FAIL(TPT_INVALID_ARGUMENT, "the buffer is on device %d already", device);
  }
  PJRT_Buffer_CopyToDevice_Args args = {.buffer = buffer->buffer,
                                        .dst_device = client->devices[device].device};
  TPT_TRY(TPT_PJRT_CALL(client->plugin, Buffer_CopyToDevice, &args));
  return tpt__buffer_wrap(client, args.dst_buffer, out_buffer);
}
