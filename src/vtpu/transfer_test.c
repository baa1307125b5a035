// Tests of transfers: idle and busy queues, memory that queued work still uses, readers during reuse,
// devices to devices.
#include <stdlib.h>

#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/transfer.h"

static vtpu_device_t* open_device(int id) {
  vtpu_device_params_t params = {.id = id, .hbm_size = 8 << 20};
  vtpu_device_t* device = NULL;
  CHECK_OK(vtpu_device_create(&params, &device));
  return device;
}

// A task that waits for an event and then fills memory.
typedef struct filler {
  vtpu_task_t task;
  vtpu_event_t* gate;
  int32_t* out;
  int64_t count;
  int32_t value;
} filler_t;

static tpt_status_t run_filler(vtpu_task_t* task) {
  filler_t* filler = (filler_t*)task;
  for (int64_t i = 0; i < filler->count; i++)
    filler->out[i] = filler->value;
  return NULL;
}

static void release_filler(vtpu_task_t* task) {
  tpt_free(task);
}

// Queues work that fills the buffer once `gate` is set, and makes the buffer pending on it.
static void fill_later(vtpu_buffer_t* buffer, int32_t value, vtpu_event_t* gate) {
  filler_t* filler = tpt_calloc(1, sizeof(*filler));
  filler->task.run = run_filler;
  filler->task.release = release_filler;
  filler->gate = vtpu_event_retain(gate);
  filler->task.waits = &filler->gate;
  filler->task.wait_count = 1;
  filler->out = (int32_t*)buffer->block->data;
  filler->count = tpt_type_count(&buffer->type);
  filler->value = value;
  CHECK_OK(vtpu_event_create(&filler->task.done));
  buffer->ready = vtpu_event_retain(filler->task.done);
  vtpu_device_lock(buffer->device);
  buffer->block->last_use = vtpu_device_next_ticket(buffer->device);
  CHECK_OK(vtpu_device_submit(buffer->device, &filler->task));
  vtpu_device_unlock(buffer->device);
}

static vtpu_upload_t ints(const int32_t* data, int64_t count) {
  return (vtpu_upload_t){.type = tpt_type_make(TPT_S32, 1, &count), .data = data};
}

static void check_values(vtpu_buffer_t* buffer, const int32_t* wanted) {
  static int32_t got[1 << 16];
  vtpu_event_t* done = NULL;
  vtpu_download_t download = {.data = got};
  size_t size = vtpu_buffer_size(buffer);
  memset(got, 0xee, size);
  if (!CHECK_OK(vtpu_buffer_download(buffer, &download, &done))) return;
  CHECK(vtpu_event_await(done) == NULL);
  CHECK(memcmp(got, wanted, size) == 0);
  vtpu_event_release(done);
}

static int32_t numbers[1 << 16];

static void test_upload_and_download_agree(void) {
  vtpu_device_t* device = open_device(0);
  const int64_t counts[] = {0, 1, 7, 1000, 1024, 1025, 1 << 16};
  for (int i = 0; i < 7; i++) {
    vtpu_buffer_t* buffer = NULL;
    vtpu_event_t* done = NULL;
    vtpu_upload_t upload = ints(numbers, counts[i]);
    CHECK_OK(vtpu_buffer_upload(device, &upload, &buffer, &done));
    CHECK_EQ(vtpu_event_get_state(done), VTPU_EVENT_READY);
    vtpu_event_release(done);
    check_values(buffer, numbers);
    vtpu_buffer_destroy(buffer);
  }
  vtpu_device_release(device);
}

static void test_strides_and_bools(void) {
  vtpu_device_t* device = open_device(0);
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* done = NULL;
  const int64_t dims[] = {2, 3}, strides[] = {-12, 4};
  const int32_t wanted[] = {3, 4, 5, 0, 1, 2};
  vtpu_upload_t upload = {.type = tpt_type_make(TPT_S32, 2, dims), .data = wanted, .strides = NULL};
  upload.data = (const int32_t[]){0, 1, 2, 3, 4, 5} + 3;
  upload.strides = strides;
  CHECK_OK(vtpu_buffer_upload(device, &upload, &buffer, &done));
  vtpu_event_release(done);
  check_values(buffer, wanted);
  int32_t columns[6];
  const int64_t host[] = {4, 8};
  vtpu_download_t download = {.data = columns, .strides = host};
  CHECK_OK(vtpu_buffer_download(buffer, &download, &done));
  vtpu_event_release(done);
  CHECK(columns[0] == 3 && columns[1] == 0 && columns[2] == 4 && columns[5] == 2);
  vtpu_buffer_destroy(buffer);
  const uint8_t bools[] = {0, 1, 2, 255};
  const int64_t four = 4;
  upload = (vtpu_upload_t){.type = tpt_type_make(TPT_PRED, 1, &four), .data = bools};
  CHECK_OK(vtpu_buffer_upload(device, &upload, &buffer, &done));
  vtpu_event_release(done);
  CHECK(memcmp(buffer->block->data, (const uint8_t[]){0, 1, 1, 1}, 4) == 0);
  vtpu_buffer_destroy(buffer);
  vtpu_device_release(device);
}

static void test_raw_ranges(void) {
  vtpu_device_t* device = open_device(0);
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t* done = NULL;
  vtpu_upload_t upload = ints(numbers, 5000);
  int32_t got[3] = {0};
  CHECK_OK(vtpu_buffer_upload(device, &upload, &buffer, &done));
  vtpu_event_release(done);
  vtpu_download_t download = {.data = got, .offset = 4000 * 4, .size = 12, .is_raw = true};
  CHECK_OK(vtpu_buffer_download(buffer, &download, &done));
  vtpu_event_release(done);
  CHECK(memcmp(got, numbers + 4000, 12) == 0);
  vtpu_buffer_destroy(buffer);
  vtpu_device_release(device);
}

// A buffer dies while queued work still writes its memory; the next upload gets that memory.
static void test_upload_into_memory_that_queued_work_uses(void) {
  for (int is_call_only = 0; is_call_only < 2; is_call_only++) {
    vtpu_device_t* device = open_device(0);
    vtpu_buffer_t *first = NULL, *second = NULL;
    vtpu_event_t *gate = NULL, *done = NULL;
    static int32_t host[5000];
    memcpy(host, numbers, sizeof(host));
    vtpu_upload_t upload = ints(host, 5000);
    upload.is_call_only = is_call_only;
    CHECK_OK(vtpu_event_create(&gate));
    CHECK_OK(vtpu_buffer_create(device, &upload.type, &first));
    char* memory = first->block->data;
    fill_later(first, -1, gate);
    vtpu_buffer_destroy(first);
    CHECK_OK(vtpu_buffer_upload(device, &upload, &second, &done));
    CHECK(second->block->data == memory);
    CHECK_EQ(vtpu_buffer_state(second), VTPU_EVENT_PENDING);
    CHECK_EQ(vtpu_event_get_state(done), is_call_only ? VTPU_EVENT_READY : VTPU_EVENT_PENDING);
    if (is_call_only) memset(host, 0, sizeof(host));
    vtpu_event_set(gate, NULL);
    CHECK(vtpu_event_await(done) == NULL);
    check_values(second, numbers);
    vtpu_event_release(done);
    vtpu_event_release(gate);
    vtpu_buffer_destroy(second);
    vtpu_device_release(device);
  }
}

static void test_download_waits_for_its_value_only(void) {
  vtpu_device_t* device = open_device(0);
  vtpu_buffer_t *ready = NULL, *pending = NULL;
  vtpu_event_t *gate = NULL, *done = NULL;
  vtpu_upload_t upload = ints(numbers, 3000);
  static int32_t got[3000];
  CHECK_OK(vtpu_event_create(&gate));
  CHECK_OK(vtpu_buffer_upload(device, &upload, &ready, &done));
  vtpu_event_release(done);
  CHECK_OK(vtpu_buffer_create(device, &upload.type, &pending));
  fill_later(pending, 42, gate);
  check_values(ready, numbers);  // although the queue is stuck
  vtpu_download_t download = {.data = got};
  CHECK_OK(vtpu_buffer_download(pending, &download, &done));
  CHECK_EQ(vtpu_event_get_state(done), VTPU_EVENT_PENDING);
  vtpu_buffer_destroy(pending);  // the read holds the memory
  vtpu_event_set(gate, NULL);
  CHECK(vtpu_event_await(done) == NULL);
  CHECK(got[0] == 42 && got[2999] == 42);
  vtpu_event_release(done);
  vtpu_event_release(gate);
  vtpu_buffer_destroy(ready);
  vtpu_hbm_stats_t stats;
  vtpu_device_drain(device);
  vtpu_hbm_get_stats(device->hbm, &stats);
  CHECK_EQ(stats.in_use, 0);
  vtpu_device_release(device);
}

static void test_download_of_a_failure(void) {
  vtpu_device_t* device = open_device(0);
  vtpu_buffer_t* buffer = NULL;
  vtpu_event_t *gate = NULL, *done = NULL;
  int32_t got[10];
  vtpu_upload_t upload = ints(numbers, 10);
  vtpu_download_t download = {.data = got};
  CHECK_OK(vtpu_event_create(&gate));
  CHECK_OK(vtpu_buffer_create(device, &upload.type, &buffer));
  fill_later(buffer, 1, gate);
  CHECK_OK(vtpu_buffer_download(buffer, &download, &done));
  vtpu_event_set(gate, tpt_status_make(TPT_DATA_LOSS, "f", 1, "lost"));
  CHECK_STR(tpt_status_message(vtpu_event_await(done)), "lost");
  vtpu_event_release(done);
  vtpu_device_drain(device);
  CHECK_FAILS(vtpu_buffer_download(buffer, &download, &done), TPT_DATA_LOSS, "lost");
  vtpu_buffer_delete(buffer);
  CHECK_FAILS(vtpu_buffer_download(buffer, &download, &done), TPT_INVALID_ARGUMENT, "deleted");
  vtpu_buffer_destroy(buffer);
  vtpu_event_release(gate);
  vtpu_device_release(device);
}

static void test_copy_between_devices(void) {
  vtpu_device_t *a = open_device(0), *b = open_device(1);
  vtpu_buffer_t *source = NULL, *copy = NULL, *late = NULL, *local = NULL;
  vtpu_event_t *gate = NULL, *done = NULL;
  vtpu_upload_t upload = ints(numbers, 3000);
  static int32_t sevens[3000];
  for (int i = 0; i < 3000; i++)
    sevens[i] = 7;
  CHECK_OK(vtpu_event_create(&gate));
  CHECK_OK(vtpu_buffer_upload(a, &upload, &source, &done));
  vtpu_event_release(done);
  CHECK_OK(vtpu_buffer_copy(source, b, &copy));
  CHECK(copy->device == b && copy->block->data != source->block->data);
  check_values(copy, numbers);
  CHECK_OK(vtpu_buffer_copy(source, a, &local));
  check_values(local, numbers);
  fill_later(source, 7, gate);
  vtpu_buffer_destroy(copy);
  CHECK_OK(vtpu_buffer_copy(source, b, &late));
  CHECK_EQ(vtpu_buffer_state(late), VTPU_EVENT_PENDING);
  vtpu_buffer_destroy(source);
  vtpu_event_set(gate, NULL);
  check_values(late, sevens);
  vtpu_buffer_destroy(late);
  vtpu_buffer_destroy(local);
  vtpu_event_release(gate);
  vtpu_device_drain(a);
  vtpu_device_drain(b);
  CHECK_EQ(a->buffer_count + b->buffer_count, 0);
  vtpu_device_release(b);
  vtpu_device_release(a);
}

static void test_copy_of_a_failure_fails(void) {
  vtpu_device_t *a = open_device(0), *b = open_device(1);
  vtpu_buffer_t *source = NULL, *copy = NULL;
  vtpu_event_t* event = NULL;
  tpt_type_t type = tpt_type_scalar(TPT_F32);
  CHECK_OK(vtpu_event_create(&event));
  vtpu_event_set(event, tpt_status_make(TPT_ABORTED, "f", 1, "broken"));
  CHECK_OK(vtpu_buffer_create_failed(a, &type, event, &source));
  CHECK_OK(vtpu_buffer_copy(source, b, &copy));
  CHECK_EQ(vtpu_buffer_state(copy), VTPU_EVENT_FAILED);
  vtpu_buffer_destroy(source);
  vtpu_buffer_destroy(copy);
  vtpu_event_release(event);
  vtpu_device_release(a);
  vtpu_device_release(b);
}

typedef struct reader {
  vtpu_buffer_t* buffer;
  int wrong;
} reader_t;

static void* read_many(void* arg) {
  reader_t* reader = arg;
  int32_t* got = malloc(40000);
  for (int i = 0; i < 300; i++) {
    vtpu_event_t* done = NULL;
    vtpu_download_t download = {.data = got};
    CHECK_OK(vtpu_buffer_download(reader->buffer, &download, &done));
    vtpu_event_await(done);
    vtpu_event_release(done);
    reader->wrong += memcmp(got, numbers, 40000) != 0;
  }
  free(got);
  return NULL;
}

static void test_readers_and_writers_at_once(void) {
  vtpu_device_t* device = open_device(0);
  vtpu_upload_t upload = ints(numbers, 10000);
  vtpu_event_t* done = NULL;
  pthread_t threads[2];
  reader_t readers[2] = {{NULL, 0}, {NULL, 0}};
  for (int i = 0; i < 2; i++) {
    CHECK_OK(vtpu_buffer_upload(device, &upload, &readers[i].buffer, &done));
    vtpu_event_release(done);
    pthread_create(&threads[i], NULL, read_many, &readers[i]);
  }
  for (int i = 0; i < 300; i++) {
    vtpu_buffer_t* buffer = NULL;
    CHECK_OK(vtpu_buffer_upload(device, &upload, &buffer, &done));
    vtpu_event_release(done);
    vtpu_buffer_destroy(buffer);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    CHECK_EQ(readers[i].wrong, 0);
    vtpu_buffer_destroy(readers[i].buffer);
  }
  vtpu_device_release(device);
}

int main(void) {
  for (int i = 0; i < 1 << 16; i++)
    numbers[i] = i * 2654435761u >> 3;
  RUN(test_upload_and_download_agree);
  RUN(test_strides_and_bools);
  RUN(test_raw_ranges);
  RUN(test_upload_into_memory_that_queued_work_uses);
  RUN(test_download_waits_for_its_value_only);
  RUN(test_download_of_a_failure);
  RUN(test_copy_between_devices);
  RUN(test_copy_of_a_failure_fails);
  RUN(test_readers_and_writers_at_once);
  return TEST_RESULT;
}
