// Owns random state: a seed and how many counters of its stream were taken. Must not know how bits
// are made (aten/lower_random.c). Invariant: state changes under the device's lock once it is open.
#include <string.h>

#include "base/allocator.h"
#include "eager/device.h"
#include "eager/internal_op.h"

static const uint64_t kDefaultSeed =
    67280421310721u;  // PyTorch's c10::detail::default_rng_seed_val

void tpt_generator_init(tpt_generator_t* generator, int device) {
  generator->device = device;
  generator->seed = kDefaultSeed;
  generator->offset = 0;
  generator->pending = NULL;
}

tpt_status_t tpt_generator_settle(tpt_generator_t* generator) {
  tpt_buffer_t* pending = generator->pending;
  if (__builtin_expect(!pending, 1)) return NULL;
  uint64_t taken = 0;
  generator->pending = NULL;
  tpt_status_t status = tpt_buffer_to_host(pending, &taken, sizeof(taken));
  tpt_buffer_release(pending);
  if (!status) generator->offset += taken;
  return tpt_status_note(status, "while counting the random numbers that an earlier program took");
}

void tpt_generator_move(tpt_generator_t* generator, uint64_t seed, uint64_t offset) {
  tpt_buffer_release(generator->pending);
  generator->pending = NULL;
  generator->seed = seed;
  generator->offset = offset;
}

tpt_status_t tpt_generator_create(int device, tpt_generator_t** out_generator) {
  *out_generator = tpt_calloc(1, sizeof(**out_generator));
  if (!*out_generator) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a random generator");
  tpt_generator_init(*out_generator, device);
  return NULL;
}

void tpt_generator_release(tpt_generator_t* take_generator) {
  if (!take_generator) return;
  tpt_buffer_release(take_generator->pending);
  tpt_free(take_generator);
}

void tpt_generator_set(tpt_generator_t* generator, uint64_t seed, uint64_t offset) {
  tpt_device_t* device = tpt_device_peek(generator->device);
  if (device) tpt_device_lock(device);
  tpt_generator_move(generator, seed, offset);
  if (device) tpt_device_unlock(device);
}

void tpt_generator_get(tpt_generator_t* generator, uint64_t* out_seed, uint64_t* out_offset) {
  tpt_device_t* device = tpt_device_peek(generator->device);
  if (device) tpt_device_lock(device);
  // A failure belongs to the program that was to count, and shows where its results are read.
  tpt_status_release(tpt_generator_settle(generator));
  *out_seed = generator->seed;
  *out_offset = generator->offset;
  if (device) tpt_device_unlock(device);
}

tpt_status_t tpt_random_state(int device, tpt_result_t* out_result) {
  const tpt_call_t call = {
      .op = tpt_internal_op(TPT_INTERNAL_RANDOM_STATE), .device = device, .default_dtype = TPT_F32};
  tpt_result_t* results;
  int count = 0;
  memset(out_result, 0, sizeof(*out_result));
  TPT_TRY(tpt_call_run(&call, &results, &count));
  *out_result = results[0];
  return NULL;
}
