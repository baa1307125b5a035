// Tests of data on its way in and out: semantics, strides, layouts, ranges, devices.
#include "vtpu/plugin_probe.h"

static void test_every_dtype_and_semantics_round_trips(void) {
  PJRT_Client* client = probe_client(1, 0);
  const int64_t dims[] = {3, 2};
  unsigned char data[96], got[96];
  for (int i = 0; i < 96; i++)
    data[i] = (unsigned char)(i * 7);
  for (int dtype = 1; dtype < TPT_DTYPE_COUNT; dtype++) {
    for (int semantics = 0; semantics < 4; semantics++) {
      size_t size = 6 * tpt_dtype_size((tpt_dtype_t)dtype);
      ARGS(Client_BufferFromHostBuffer, upload, .client = client, .data = data,
           .type = (PJRT_Buffer_Type)dtype, .dims = dims, .num_dims = 2,
           .host_buffer_semantics = (PJRT_HostBufferSemantics)semantics);
      PASSES(Client_BufferFromHostBuffer, upload);
      CHECK_OK(probe_await(upload.done_with_host_buffer));
      memset(got, 0, sizeof(got));
      CHECK_OK(probe_read(upload.buffer, got, size));
      for (size_t i = 0; i < size; i++)
        CHECK_EQ(got[i], dtype == TPT_PRED ? data[i] != 0 : data[i]);
      probe_destroy(upload.buffer);
    }
  }
  probe_close(client);
}

static void test_host_strides(void) {
  PJRT_Client* client = probe_client(1, 0);
  const float data[] = {0, 1, 2, 3, 4, 5};
  const int64_t dims[] = {2, 2}, strides[] = {4, -8};
  ARGS(Client_BufferFromHostBuffer, upload, .client = client, .data = data + 2,
       .type = PJRT_Buffer_Type_F32, .dims = dims, .num_dims = 2, .byte_strides = strides,
       .num_byte_strides = 2);
  PASSES(Client_BufferFromHostBuffer, upload);
  CHECK_OK(probe_await(upload.done_with_host_buffer));
  probe_check_floats(upload.buffer, 2, 0, 3, 1);
  probe_destroy(upload.buffer);
  upload.num_byte_strides = 1;
  REFUSES(Client_BufferFromHostBuffer, upload, TPT_INVALID_ARGUMENT, "1 byte strides");
  upload.num_byte_strides = 0;
  upload.data = NULL;
  REFUSES(Client_BufferFromHostBuffer, upload, TPT_INVALID_ARGUMENT, "data is NULL");
  probe_close(client);
}

static PJRT_Buffer_MemoryLayout tiled(const int64_t* order, size_t count) {
  PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
                                     .type = PJRT_Buffer_MemoryLayout_Type_Tiled};
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = count;
  return layout;
}

static PJRT_Buffer_MemoryLayout strided(const int64_t* strides, size_t count) {
  PJRT_Buffer_MemoryLayout layout = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
                                     .type = PJRT_Buffer_MemoryLayout_Type_Strides};
  layout.strides.byte_strides = strides;
  layout.strides.num_byte_strides = count;
  return layout;
}

static void test_host_layouts(void) {
  PJRT_Client* client = probe_client(1, 0);
  const float data[] = {0, 1, 2, 3, 4, 5};
  const int64_t dims[] = {2, 3}, column[] = {0, 1}, row[] = {1, 0}, bad[] = {1, 1};
  const int64_t padded[] = {16, 4}, backward[] = {12, -4};
  PJRT_Buffer* buffer = probe_upload(client, NULL, PJRT_Buffer_Type_F32, data, dims, 2);
  float got[8] = {0};
  PJRT_Buffer_MemoryLayout layout = tiled(column, 2);
  ARGS(Buffer_ToHostBuffer, read, .src = buffer, .host_layout = &layout);
  PASSES(Buffer_ToHostBuffer, read);
  CHECK_EQ(read.dst_size, 24);
  CHECK(read.event == NULL);
  read.dst = got;
  PASSES(Buffer_ToHostBuffer, read);
  CHECK_OK(probe_await(read.event));
  CHECK(got[0] == 0 && got[1] == 3 && got[2] == 1 && got[5] == 5);
  layout = tiled(row, 2);
  PASSES(Buffer_ToHostBuffer, read);
  CHECK_OK(probe_await(read.event));
  CHECK(memcmp(got, data, sizeof(data)) == 0);
  layout = strided(padded, 2);
  REFUSES(Buffer_ToHostBuffer, read, TPT_INVALID_ARGUMENT, "room for 24 bytes, the array takes 28");
  read.dst_size = 28;
  PASSES(Buffer_ToHostBuffer, read);
  CHECK_OK(probe_await(read.event));
  CHECK(got[2] == 2 && got[4] == 3 && got[6] == 5);
  layout = strided(backward, 2);
  REFUSES(Buffer_ToHostBuffer, read, TPT_INVALID_ARGUMENT, "before dst");
  layout = tiled(bad, 2);
  REFUSES(Buffer_ToHostBuffer, read, TPT_INVALID_ARGUMENT, "permutation");
  layout = tiled(row, 2);
  layout.tiled.num_tiles = 1;
  REFUSES(Buffer_ToHostBuffer, read, TPT_UNIMPLEMENTED, "tiles");
  layout.struct_size = 8;
  REFUSES(Buffer_ToHostBuffer, read, TPT_INVALID_ARGUMENT, "PJRT_Buffer_MemoryLayout size");
  probe_destroy(buffer);
  probe_close(client);
}

static void test_device_layouts_other_than_row_major(void) {
  PJRT_Client* client = probe_client(1, 0);
  const float data[4] = {0};
  const int64_t dims[] = {2, 2}, column[] = {0, 1}, row[] = {1, 0};
  PJRT_Buffer_MemoryLayout layout = tiled(column, 2);
  ARGS(Client_BufferFromHostBuffer, upload, .client = client, .data = data,
       .type = PJRT_Buffer_Type_F32, .dims = dims, .num_dims = 2, .device_layout = &layout);
  REFUSES(Client_BufferFromHostBuffer, upload, TPT_UNIMPLEMENTED, "row-major");
  layout = tiled(row, 2);
  PASSES(Client_BufferFromHostBuffer, upload);
  CHECK_OK(probe_await(upload.done_with_host_buffer));
  probe_destroy(upload.buffer);
  probe_close(client);
}

static void test_raw_ranges(void) {
  PJRT_Client* client = probe_client(1, 0);
  PJRT_Buffer* buffer = probe_floats(client, 1, 2, 3, 4);
  float got[2] = {0};
  ARGS(Buffer_CopyRawToHost, copy, .buffer = buffer, .dst = got, .offset = 8, .transfer_size = 8);
  PASSES(Buffer_CopyRawToHost, copy);
  CHECK_OK(probe_await(copy.event));
  CHECK(got[0] == 3 && got[1] == 4);
  copy.offset = 12;
  REFUSES(Buffer_CopyRawToHost, copy, TPT_INVALID_ARGUMENT, "8 bytes from offset 12");
  copy.offset = -1;
  REFUSES(Buffer_CopyRawToHost, copy, TPT_INVALID_ARGUMENT, "outside");
  copy.offset = 16;
  copy.transfer_size = 0;
  PASSES(Buffer_CopyRawToHost, copy);
  CHECK_OK(probe_await(copy.event));
  probe_destroy(buffer);
  probe_close(client);
}

static void test_copies_between_devices(void) {
  PJRT_Client *client = probe_client(2, -1), *other = probe_client(1, 0);
  PJRT_Buffer* pending = NULL;
  PJRT_AsyncHostToDeviceTransferManager* manager = probe_pending(client, &pending);
  ARGS(Buffer_CopyToDevice, copy, .buffer = pending, .dst_device = probe_device(client, 1));
  PASSES(Buffer_CopyToDevice, copy);
  ARGS(Buffer_Device, where, .buffer = copy.dst_buffer);
  PASSES(Buffer_Device, where);
  CHECK(where.device == copy.dst_device);
  ARGS(Device_DefaultMemory, memory, .device = copy.dst_device);
  PASSES(Device_DefaultMemory, memory);
  ARGS(Buffer_CopyToMemory, second, .buffer = pending, .dst_memory = memory.memory);
  PASSES(Buffer_CopyToMemory, second);
  probe_fill(manager, 5, 6, 7, 8);
  probe_check_floats(copy.dst_buffer, 5, 6, 7, 8);
  probe_check_floats(second.dst_buffer, 5, 6, 7, 8);
  ARGS(Buffer_CopyToDevice, far, .buffer = pending, .dst_device = probe_device(other, 0));
  REFUSES(Buffer_CopyToDevice, far, TPT_INVALID_ARGUMENT, "another client");
  far.dst_device = NULL;
  REFUSES(Buffer_CopyToDevice, far, TPT_INVALID_ARGUMENT, "dst_device is NULL");
  probe_destroy(copy.dst_buffer);
  probe_destroy(second.dst_buffer);
  probe_destroy(pending);
  probe_close(client);
  probe_close(other);
}

static void test_empty_arrays(void) {
  PJRT_Client* client = probe_client(1, 0);
  const int64_t dims[] = {0, 3};
  PJRT_Buffer* buffer = probe_upload(client, NULL, PJRT_Buffer_Type_F32, NULL, dims, 2);
  char nothing = 7;
  CHECK_OK(probe_read(buffer, &nothing, 0));
  CHECK_EQ(nothing, 7);
  probe_destroy(buffer);
  probe_close(client);
}

int main(void) {
  RUN(test_every_dtype_and_semantics_round_trips);
  RUN(test_host_strides);
  RUN(test_host_layouts);
  RUN(test_device_layouts_other_than_row_major);
  RUN(test_raw_ranges);
  RUN(test_copies_between_devices);
  RUN(test_empty_arrays);
  return TEST_RESULT;
}
