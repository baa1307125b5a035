// Tests of buffers: life of handles and memory, donations that succeed and fail, outside holders.
#include "base/check.h"
#include "vtpu/buffer.h"

static vtpu_device_t* open_device(void) {
  vtpu_device_params_t params = {.hbm_size = 1 << 20};
  vtpu_device_t* device = NULL;
  CHECK_OK(vtpu_device_create(&params, &device));
  return device;
}

static size_t in_use(vtpu_device_t* device) {
  vtpu_hbm_stats_t stats;
  vtpu_hbm_get_stats(device->hbm, &stats);
  return stats.in_use;
}

static vtpu_buffer_t* create(vtpu_device_t* device, int64_t count) {
  tpt_type_t type = tpt_type_make(TPT_F32, 1, &count);
  vtpu_buffer_t* buffer = NULL;
  CHECK_OK(vtpu_buffer_create(device, &type, &buffer));
  return buffer;
}

static void test_destroy_frees_memory_and_marks_the_handle(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = create(device, 100);
  CHECK_EQ(in_use(device), 448);
  CHECK_EQ(vtpu_buffer_size(buffer), 400);
  CHECK_OK(vtpu_buffer_check(buffer));
  CHECK_EQ(vtpu_buffer_state(buffer), VTPU_EVENT_READY);
  vtpu_buffer_destroy(buffer);
  CHECK_EQ(in_use(device), 0);
  CHECK_EQ(device->buffer_count, 0);
  CHECK_FAILS(vtpu_buffer_check(buffer), TPT_INVALID_ARGUMENT, "destroyed before");
  CHECK_FAILS(vtpu_buffer_check(NULL), TPT_INVALID_ARGUMENT, "NULL");
  vtpu_device_release(device);
}

static void test_delete_frees_memory_and_keeps_the_handle(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = create(device, 100);
  void* address = NULL;
  CHECK(!vtpu_buffer_is_deleted(buffer));
  vtpu_buffer_delete(buffer);
  vtpu_buffer_delete(buffer);
  CHECK(vtpu_buffer_is_deleted(buffer));
  CHECK_EQ(in_use(device), 0);
  CHECK_FAILS(vtpu_buffer_check_alive(buffer), TPT_INVALID_ARGUMENT,
              "deleted or donated (tensor<100xf32>)");
  CHECK_FAILS(vtpu_buffer_address(buffer, &address), TPT_INVALID_ARGUMENT, "deleted");
  vtpu_buffer_destroy(buffer);
  vtpu_device_release(device);
}

static void test_empty_and_scalar_arrays_have_memory(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* empty = create(device, 0);
  tpt_type_t type = tpt_type_scalar(TPT_C128);
  vtpu_buffer_t* scalar = NULL;
  void* address = NULL;
  CHECK_OK(vtpu_buffer_create(device, &type, &scalar));
  CHECK_OK(vtpu_buffer_address(empty, &address));
  CHECK(address != NULL);
  CHECK_EQ(vtpu_buffer_size(empty), 0);
  CHECK_EQ(vtpu_buffer_size(scalar), 16);
  vtpu_buffer_destroy(empty);
  vtpu_buffer_destroy(scalar);
  vtpu_device_release(device);
}

// What a queued launch does to an argument that it would take.
static vtpu_event_t* begin_donation(vtpu_buffer_t* buffer) {
  vtpu_event_t* outcome = NULL;
  CHECK_OK(vtpu_event_create(&outcome));
  buffer->donation = vtpu_event_retain(outcome);
  buffer->ref_count++;
  return outcome;
}

static void test_donation_that_succeeds_deletes(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = create(device, 100);
  vtpu_event_t* outcome = begin_donation(buffer);
  CHECK(vtpu_buffer_is_deleted(buffer));
  CHECK_FAILS(vtpu_buffer_check_alive(buffer), TPT_INVALID_ARGUMENT, "donated");
  CHECK_EQ(in_use(device), 448);
  vtpu_buffer_end_donation(buffer, true);
  CHECK_EQ(in_use(device), 0);
  CHECK(vtpu_buffer_is_deleted(buffer));
  vtpu_buffer_destroy(buffer);
  CHECK_EQ(device->buffer_count, 0);
  vtpu_event_release(outcome);
  vtpu_device_release(device);
}

static void test_donation_that_fails_gives_the_buffer_back(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = create(device, 100);
  vtpu_event_t* outcome = begin_donation(buffer);
  vtpu_buffer_end_donation(buffer, false);
  CHECK(!vtpu_buffer_is_deleted(buffer));
  CHECK_OK(vtpu_buffer_check_alive(buffer));
  CHECK_EQ(in_use(device), 448);
  vtpu_buffer_destroy(buffer);
  vtpu_event_release(outcome);
  vtpu_device_release(device);
}

static void test_handle_destroyed_during_a_donation(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = create(device, 100);
  vtpu_event_t* outcome = begin_donation(buffer);
  vtpu_buffer_destroy(buffer);
  CHECK_EQ(in_use(device), 0);
  CHECK_EQ(device->buffer_count, 1);
  CHECK_FAILS(vtpu_buffer_check(buffer), TPT_INVALID_ARGUMENT, "destroyed");
  vtpu_buffer_end_donation(buffer, false);
  CHECK_EQ(device->buffer_count, 0);
  vtpu_event_release(outcome);
  vtpu_device_release(device);
}

static void test_external_references_keep_memory(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = create(device, 100);
  CHECK_FAILS(vtpu_buffer_remove_external(buffer), TPT_INVALID_ARGUMENT, "0 already");
  CHECK_OK(vtpu_buffer_add_external(buffer));
  CHECK_OK(vtpu_buffer_add_external(buffer));
  CHECK_EQ(buffer->block->hold_count, 1);
  vtpu_buffer_delete(buffer);
  CHECK_EQ(in_use(device), 448);
  CHECK_OK(vtpu_buffer_remove_external(buffer));
  CHECK_EQ(in_use(device), 448);
  CHECK_OK(vtpu_buffer_remove_external(buffer));
  CHECK_EQ(in_use(device), 0);
  CHECK_FAILS(vtpu_buffer_add_external(buffer), TPT_INVALID_ARGUMENT, "deleted");
  vtpu_buffer_destroy(buffer);
  buffer = create(device, 100);
  CHECK_OK(vtpu_buffer_add_external(buffer));
  vtpu_buffer_destroy(buffer);
  CHECK_EQ(in_use(device), 0);
  vtpu_device_release(device);
}

static void test_failed_buffers_have_a_type_and_an_error(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* event = NULL;
  void* address = NULL;
  const int64_t dims[] = {2, 3};
  tpt_type_t type = tpt_type_make(TPT_S8, 2, dims);
  CHECK_OK(vtpu_event_create(&event));
  vtpu_event_set(event, tpt_status_make(TPT_ABORTED, "f", 1, "broken"));
  CHECK_OK(vtpu_buffer_create_failed(device, &type, event, &buffer));
  vtpu_event_release(event);
  CHECK_EQ(vtpu_buffer_state(buffer), VTPU_EVENT_FAILED);
  CHECK_FAILS(vtpu_buffer_address(buffer, &address), TPT_ABORTED, "broken");
  CHECK_EQ(buffer->type.dims[1], 3);
  vtpu_buffer_destroy(buffer);
  vtpu_device_release(device);
}

static void test_out_of_memory_is_an_error_and_leaves_no_trace(void) {
  vtpu_device_t* device = open_device();
  vtpu_buffer_t* buffer = NULL;
  const int64_t count = 1 << 20;
  tpt_type_t type = tpt_type_make(TPT_F32, 1, &count);
  CHECK_FAILS(vtpu_buffer_create(device, &type, &buffer), TPT_RESOURCE_EXHAUSTED, "out of HBM");
  CHECK_EQ(device->buffer_count, 0);
  buffer = create(device, 1000);
  vtpu_buffer_destroy(buffer);
  vtpu_device_release(device);
}

static void test_types_are_checked(void) {
  tpt_type_t type;
  const int64_t dims[] = {2, 3}, negative[] = {2, -1}, wide[] = {INT64_MAX, 2};
  const int64_t empty[] = {0, INT64_MAX}, many[20] = {1};
  CHECK_OK(vtpu_type_parse(TPT_F32, dims, 2, &type));
  CHECK_EQ(tpt_type_size(&type), 24);
  CHECK_OK(vtpu_type_parse(TPT_PRED, NULL, 0, &type));
  CHECK_FAILS(vtpu_type_parse(TPT_F32, negative, 2, &type), TPT_INVALID_ARGUMENT, "size -1");
  CHECK_FAILS(vtpu_type_parse(TPT_F32, wide, 2, &type), TPT_INVALID_ARGUMENT, "overflows");
  CHECK_FAILS(vtpu_type_parse(TPT_F32, empty, 2, &type), TPT_INVALID_ARGUMENT, "overflows");
  CHECK_FAILS(vtpu_type_parse(TPT_F32, many, 20, &type), TPT_UNIMPLEMENTED, "20 dimensions");
  CHECK_FAILS(vtpu_type_parse(TPT_F32, NULL, 1, &type), TPT_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(vtpu_type_parse(17, dims, 2, &type), TPT_UNIMPLEMENTED, "element type 17");
  CHECK_FAILS(vtpu_type_parse(0, dims, 2, &type), TPT_INVALID_ARGUMENT, "element type 0");
}

int main(void) {
  RUN(test_destroy_frees_memory_and_marks_the_handle);
  RUN(test_delete_frees_memory_and_keeps_the_handle);
  RUN(test_empty_and_scalar_arrays_have_memory);
  RUN(test_donation_that_succeeds_deletes);
  RUN(test_donation_that_fails_gives_the_buffer_back);
  RUN(test_handle_destroyed_during_a_donation);
  RUN(test_external_references_keep_memory);
  RUN(test_failed_buffers_have_a_type_and_an_error);
  RUN(test_out_of_memory_is_an_error_and_leaves_no_trace);
  RUN(test_types_are_checked);
  return TEST_RESULT;
}
