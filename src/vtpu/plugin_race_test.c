// Threads on two devices mix launches, donations, copies between devices, reads in flight, external
// references and early ends of handles, inline and queued: values stay right and no memory is left.
#include <stdlib.h>

#include "vtpu/plugin_probe.h"

enum { THREADS = 4, ROUNDS = 60, STEPS = 20 };

typedef struct shared {
  PJRT_Client* client;
  PJRT_LoadedExecutable *add, *bump;  // bump takes the first argument's memory
} shared_t;

typedef struct racer {
  const shared_t* shared;
  unsigned seed;
  int wrong;
  // --- the state of a round: every element of `current` must be `value`
  int device;
  float value;
  PJRT_Buffer *current, *one;
  PJRT_Buffer* spent[STEPS];  // handles kept beyond their donation
  int spent_count;
} racer_t;

static int choose(racer_t* r, int count) {
  return rand_r(&r->seed) % count;
}

static PJRT_Buffer* upload(racer_t* r, float value) {
  const float data[] = {value, value, value, value};
  const int64_t four = 4;
  return probe_upload(r->shared->client, probe_device(r->shared->client, r->device),
                      PJRT_Buffer_Type_F32, data, &four, 1);
}

static void check(racer_t* r, const float* got, float value) {
  for (int i = 0; i < 4; i++)
    r->wrong += got[i] != value;
}

static PJRT_Buffer* increment(racer_t* r, PJRT_LoadedExecutable* executable, PJRT_Event** event) {
  PJRT_Buffer* const args[] = {r->current, r->one};
  PJRT_Buffer* result = NULL;
  PJRT_Buffer* const* argument_lists[] = {args};
  PJRT_Buffer** const output_lists[] = {&result};
  ARGS(LoadedExecutable_Execute, execute, .executable = executable,
       .argument_lists = argument_lists, .num_devices = 1, .num_args = 2,
       .output_lists = output_lists, .device_complete_events = event,
       .execute_device = probe_device(r->shared->client, r->device));
  PASSES(LoadedExecutable_Execute, execute);
  r->value += 1;
  return result;
}

static void step_launch(racer_t* r) {
  PJRT_Event* event = NULL;
  bool is_donated = choose(r, 2);
  PJRT_Buffer* next =
      increment(r, is_donated ? r->shared->bump : r->shared->add, choose(r, 2) ? &event : NULL);
  if (event && choose(r, 2))
    CHECK_OK(probe_await(event));
  else if (event)
    probe_destroy_event(event);
  if (choose(r, 2))
    probe_destroy(r->current);
  else
    r->spent[r->spent_count++] = r->current;
  r->current = next;
}

static PJRT_Buffer* move(PJRT_Buffer* buffer, PJRT_Device* device) {
  ARGS(Buffer_CopyToDevice, copy, .buffer = buffer, .dst_device = device);
  PASSES(Buffer_CopyToDevice, copy);
  probe_destroy(buffer);
  return copy.dst_buffer;
}

static void step_move(racer_t* r) {
  r->device = !r->device;
  PJRT_Device* device = probe_device(r->shared->client, r->device);
  r->current = move(r->current, device);
  r->one = move(r->one, device);
}

static void step_read(racer_t* r) {
  float got[4] = {0};
  CHECK_OK(probe_read(r->current, got, sizeof(got)));
  check(r, got, r->value);
}

// A donation while somebody outside holds the memory: it must be copied.
static void step_held(racer_t* r) {
  PJRT_Buffer* held = r->current;
  ARGS(Buffer_IncreaseExternalReferenceCount, up, .buffer = held);
  PASSES(Buffer_IncreaseExternalReferenceCount, up);
  r->current = increment(r, r->shared->bump, NULL);
  ARGS(Buffer_DecreaseExternalReferenceCount, down, .buffer = held);
  PASSES(Buffer_DecreaseExternalReferenceCount, down);
  probe_destroy(held);
}

// A read that is in flight while its buffer is donated and destroyed.
static void step_late_read(racer_t* r) {
  float got[4] = {0}, value = r->value;
  ARGS(Buffer_ToHostBuffer, read, .src = r->current, .dst = got, .dst_size = sizeof(got));
  PASSES(Buffer_ToHostBuffer, read);
  PJRT_Buffer* next = increment(r, r->shared->bump, NULL);
  probe_destroy(r->current);
  r->current = next;
  CHECK_OK(probe_await(read.event));
  check(r, got, value);
}

static void* race(void* arg) {
  static void (*const steps[])(racer_t*) = {step_launch, step_launch, step_move,
                                            step_read,   step_held,   step_late_read};
  racer_t* r = arg;
  for (int round = 0; round < ROUNDS; round++) {
    r->device = choose(r, 2);
    r->value = (float)choose(r, 100);
    r->current = upload(r, r->value);
    r->one = upload(r, 1);
    r->spent_count = 0;
    for (int i = 0; i < STEPS; i++)
      steps[choose(r, 6)](r);
    step_read(r);
    for (int i = 0; i < r->spent_count; i++)
      probe_destroy(r->spent[i]);
    probe_destroy(r->current);
    probe_destroy(r->one);
  }
  return NULL;
}

static void run_racers(int64_t inline_limit) {
  PJRT_Client* client = probe_client(2, inline_limit);
  shared_t shared = {client, probe_compile(client, probe_add), probe_compile(client, probe_bump)};
  racer_t racers[THREADS] = {0};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    racers[i].shared = &shared;
    racers[i].seed = (unsigned)i + 1;
    pthread_create(&threads[i], NULL, race, &racers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    CHECK_EQ(racers[i].wrong, 0);
  }
  for (int i = 0; i < 2; i++) {
    PJRT_Device* device = probe_device(client, i);
    vtpu_device_drain(device->device);
    ARGS(Device_MemoryStats, stats, .device = device);
    PASSES(Device_MemoryStats, stats);
    CHECK_EQ(stats.bytes_in_use, 0);
  }
  probe_destroy_loaded(shared.add);
  probe_destroy_loaded(shared.bump);
  probe_close(client);
}

static void test_races_in_the_queue(void) {
  run_racers(-1);
}

static void test_races_on_the_calling_threads(void) {
  run_racers(1000000);
}

int main(void) {
  RUN(test_races_in_the_queue);
  RUN(test_races_on_the_calling_threads);
  return TEST_RESULT;
}
