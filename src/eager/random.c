// Owns random state: a seed and how many counters of its stream were taken. Must not know how bits
// are made (aten/lower_random.c). Invariant: state changes under the device's lock once it is open.
#include "base/allocator.h"
#include "eager/device.h"

static const uint64_t kDefaultSeed =
    67280421310721u;  // PyTorch's c10::detail::default_rng_seed_val

void tpt_generator_init(tpt_generator_t* generator, int device) {
  generator->device = device;
  generator->seed = kDefaultSeed;
  generator->offset = 0;
}

tpt_status_t tpt_generator_create(int device, tpt_generator_t** out_generator) {
  *out_generator = tpt_calloc(1, sizeof(**out_generator));
  if (!*out_generator) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a random generator");
  tpt_generator_init(*out_generator, device);
  return NULL;
}

void tpt_generator_release(tpt_generator_t* take_generator) {
  tpt_free(take_generator);
}

void tpt_generator_set(tpt_generator_t* generator, uint64_t seed, uint64_t offset) {
  tpt_device_t* device = tpt_device_peek(generator->device);
  if (device) tpt_device_lock(device);
  generator->seed = seed;
  generator->offset = offset;
  if (device) tpt_device_unlock(device);
}

void tpt_generator_get(const tpt_generator_t* generator, uint64_t* out_seed, uint64_t* out_offset) {
  tpt_device_t* device = tpt_device_peek(generator->device);
  if (device) tpt_device_lock(device);
  *out_seed = generator->seed;
  *out_offset = generator->offset;
  if (device) tpt_device_unlock(device);
}
