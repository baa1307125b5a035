// Entries that move data: host to buffer, buffer to host in any layout, raw ranges, buffer to buffer;
// and the reading of layouts. Every event handed out is the caller's.
#include <string.h>

#include "vtpu/plugin.h"
#include "vtpu/strided.h"
#include "vtpu/transfer.h"

static tpt_status_t check(const PJRT_Buffer* buffer) {
  return vtpu_buffer_check((const vtpu_buffer_t*)buffer);
}

// --- layouts ------------------------------------------------------------------------------------------

// Byte strides of an array laid out so; NULL layout: dense row-major.
static tpt_status_t read_layout(const tpt_type_t* type, const PJRT_Buffer_MemoryLayout* layout,
                                int64_t* out_strides) {
  if (!layout) {
    vtpu_strides_dense(type, out_strides);
    return NULL;
  }
  if (layout->struct_size < PJRT_Buffer_MemoryLayout_STRUCT_SIZE)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "Unexpected PJRT_Buffer_MemoryLayout size: expected %d, got %zu",
             PJRT_Buffer_MemoryLayout_STRUCT_SIZE, layout->struct_size);
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
    if (layout->tiled.num_tiles > 0)
      TPT_FAIL(TPT_UNIMPLEMENTED, "a layout with tiles: vtpu keeps arrays untiled");
    return vtpu_strides_permuted(type, layout->tiled.minor_to_major,
                                 layout->tiled.minor_to_major_size, out_strides);
  }
  if (layout->type != PJRT_Buffer_MemoryLayout_Type_Strides)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "layout type %d is neither tiled nor strides",
             (int)layout->type);
  if (layout->strides.num_byte_strides != (size_t)type->rank ||
      (type->rank > 0 && !layout->strides.byte_strides))
    TPT_FAIL(TPT_INVALID_ARGUMENT, "layout: %zu byte strides for an array of %d dimensions",
             layout->strides.num_byte_strides, type->rank);
  for (int i = 0; i < type->rank; i++)
    out_strides[i] = layout->strides.byte_strides[i];
  return NULL;
}

tpt_status_t vtpu_layout_check(const tpt_type_t* type, const PJRT_Buffer_MemoryLayout* layout) {
  int64_t strides[TPT_RANK_MAX];
  TPT_TRY(read_layout(type, layout, strides));
  if (!vtpu_strides_are_dense(type, strides))
    TPT_FAIL(TPT_UNIMPLEMENTED, "a device layout other than dense row-major");
  return NULL;
}

// --- host to buffer -----------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  vtpu_device_t* device = NULL;
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* done = NULL;
  vtpu_upload_t upload = {.data = args->data};
  int64_t low, high;
  args->buffer = NULL;
  args->done_with_host_buffer = NULL;
  TPT_TRY(vtpu_client_check(args->client));
  TPT_TRY(vtpu_client_place(args->client->client, args->device, args->memory, &device));
  TPT_TRY(vtpu_type_parse((int)args->type, args->dims, args->num_dims, &upload.type));
  TPT_TRY(vtpu_layout_check(&upload.type, args->device_layout));
  if (tpt_type_size(&upload.type) > 0) TPT_TRY(vtpu_need(args->data, "data"));
  if (args->byte_strides && args->num_byte_strides > 0) {
    if (args->num_byte_strides != args->num_dims)
      TPT_FAIL(TPT_INVALID_ARGUMENT, "%zu byte strides for an array of %zu dimensions",
               args->num_byte_strides, args->num_dims);
    upload.strides = args->byte_strides;
    if (!vtpu_strides_extent(&upload.type, upload.strides, &low, &high))
      TPT_FAIL(TPT_INVALID_ARGUMENT, "byte strides reach beyond the address space");
  }
  // Zero-copy semantics (2, 3) act like 1: the device's memory is not the host's.
  upload.is_call_only =
      args->host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
  TPT_TRY(vtpu_buffer_upload(device, &upload, &buffer, &done));
  args->buffer = vtpu_buffer_handle(buffer);
  args->done_with_host_buffer = vtpu_event_hand_out(done);
  return NULL;
}

// --- buffer to host -----------------------------------------------------------------------------------

tpt_status_t vtpu_slot_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  int64_t strides[TPT_RANK_MAX], low, high;
  vtpu_event_t* done = NULL;
  args->event = NULL;
  TPT_TRY(check(args->src));
  vtpu_buffer_t* buffer = vtpu_buffer_of(args->src);
  TPT_TRY(read_layout(&buffer->type, args->host_layout, strides));
  if (!vtpu_strides_extent(&buffer->type, strides, &low, &high) || low < 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "host_layout: strides reach before dst or too far");
  if (!args->dst) {
    args->dst_size = (size_t)high;
    return NULL;
  }
  if (args->dst_size < (size_t)high)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "dst has room for %zu bytes, the array takes %lld",
             args->dst_size, (long long)high);
  vtpu_download_t download = {.data = args->dst, .strides = args->host_layout ? strides : NULL};
  TPT_TRY(vtpu_buffer_download(buffer, &download, &done));
  args->event = vtpu_event_hand_out(done);
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args* args) {
  vtpu_event_t* done = NULL;
  args->event = NULL;
  TPT_TRY(check(args->buffer));
  vtpu_buffer_t* buffer = vtpu_buffer_of(args->buffer);
  int64_t size = (int64_t)vtpu_buffer_size(buffer);
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > size ||
      args->transfer_size > size - args->offset)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "%lld bytes from offset %lld lie outside a buffer of %lld bytes",
             (long long)args->transfer_size, (long long)args->offset, (long long)size);
  if (args->transfer_size > 0) TPT_TRY(vtpu_need(args->dst, "dst"));
  vtpu_download_t download = {.data = args->dst,
                              .offset = (size_t)args->offset,
                              .size = (size_t)args->transfer_size,
                              .is_raw = true};
  TPT_TRY(vtpu_buffer_download(buffer, &download, &done));
  args->event = vtpu_event_hand_out(done);
  return NULL;
}

// --- buffer to buffer -----------------------------------------------------------------------------------

static tpt_status_t copy_to(PJRT_Buffer* handle, PJRT_Device* device, PJRT_Memory* memory,
                            PJRT_Buffer** out_buffer) {
  vtpu_device_t* target = NULL;
  vtpu_buffer_t* copy = NULL;
  *out_buffer = NULL;
  TPT_TRY(check(handle));
  vtpu_buffer_t* buffer = vtpu_buffer_of(handle);
  TPT_TRY(vtpu_client_place(vtpu_device_owner(buffer->device)->client, device, memory, &target));
  TPT_TRY(vtpu_buffer_copy(buffer, target, &copy));
  *out_buffer = vtpu_buffer_handle(copy);
  return NULL;
}

tpt_status_t vtpu_slot_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args* args) {
  TPT_TRY(vtpu_need(args->dst_device, "dst_device"));
  return copy_to(args->buffer, args->dst_device, NULL, &args->dst_buffer);
}

tpt_status_t vtpu_slot_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  TPT_TRY(vtpu_need(args->dst_memory, "dst_memory"));
  return copy_to(args->buffer, NULL, args->dst_memory, &args->dst_buffer);
}
