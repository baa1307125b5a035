// Device: what the runtime keeps for one device. One lock covers everything here, from a call's key
// to its launch; only waiting for values happens outside it.
#ifndef TPUTORCH_EAGER_DEVICE_H_
#define TPUTORCH_EAGER_DEVICE_H_

#include <pthread.h>

#include "tputorch/runtime.h"

#include "base/str.h"
#include "eager/barrier.h"
#include "eager/disk_cache.h"
#include "eager/frame.h"
#include "eager/scalar_cache.h"
#include "eager/storage.h"
#include "eager/wait.h"

struct tpt_generator {
  int device;
  uint64_t seed;
  uint64_t offset;  // Philox counters taken
  tpt_buffer_t*
      pending;  // (optional) owned: how many more, u64[], when the device has counted them
};

// The state PyTorch's generators start with.
void tpt_generator_init(tpt_generator_t* generator, int device);
// Waits for what is pending; its failure leaves the offset as it was. Device locked.
TPT_MUST_USE tpt_status_t tpt_generator_settle(tpt_generator_t* generator);
// The state moves to others; what was pending is forgotten. Device locked.
void tpt_generator_move(tpt_generator_t* generator, uint64_t seed, uint64_t offset);

struct tpt_device {
  int index;
  tpt_client_t* client;  // shared by all devices of the process
  // vtpu only: a failed launch gives its donated buffers back; programs with index checks can fail.
  bool returns_donations, checks_indices;
  pthread_mutex_t lock;
  uint64_t call;  // number of the call or copy in progress
  // recording
  int capture_count;        // captures of any thread
  bool is_strict;           // the call in progress is not to be recorded
  struct tpt_fused* fused;  // (optional) calls that wait in fused mode
  // interned things, for ever, and compiled calls
  tpt_homes_t homes;
  tpt_table_t windows;
  tpt_table_t entries;
  size_t entry_max;            // compiled calls that are kept
  struct tpt_entry** dropped;  // no longer found, not freed yet
  size_t dropped_count, dropped_capacity;
  uint64_t* static_args;  // per row of the op table, then internal ops: numbers that are keys
  // values
  tpt_scalar_cache_t* scalars;
  tpt_storage_t* storages;  // all live ones
  tpt_cell_t* suspects;     // cells whose failure nobody has looked for, newest first
  tpt_cell_t* oldest_suspect;
  tpt_barrier_t barrier;
  tpt_generator_t* generator;  // the default one
  // reports
  tpt_device_memory_t memory;
  tpt_counters_t counters;
  tpt_refused_donation_t refusals[TPT_REFUSED_DONATION_MAX];  // ring by counters.refused_donations
  struct tpt_compile_log* compile_log;  // (optional) NULL: nothing was compiled yet
  // memory of the call in progress
  tpt_frame_t frame;
  tpt_graph_t* graph;
  tpt_arena_t arena;
  tpt_str_t text;
  tpt_disk_cache_t* disk;  // (optional) shared by all devices; borrowed
  double disk_seconds;     // a program that compiles faster is not worth a file
  const char* dump;        // (optional) folder for program texts; the options' own
};

// The device, the runtime open. Errors: no plugin, a forked child, no such device.
TPT_MUST_USE tpt_status_t tpt_device_get(int index, tpt_device_t** out_device);
// The same without opening: NULL when that has not happened.
tpt_device_t* tpt_device_peek(int index);
int tpt_device_count_open(void);

TPT_MUST_USE tpt_status_t tpt_device_init(tpt_device_t* device, tpt_client_t* client, int index);
void tpt_device_deinit(tpt_device_t* device);
// Waits for every live value; the first failure that nobody has been told. Device not locked.
TPT_MUST_USE tpt_status_t tpt_device_wait(tpt_device_t* device);
// False: every call runs at once.
static inline bool tpt_device_may_record(const tpt_device_t* device) {
  return device->capture_count | (device->fused != NULL) |
         (tpt_eager_mode_get() == TPT_EAGER_FUSED);
}
static inline void tpt_device_lock(tpt_device_t* device) {
  pthread_mutex_lock(&device->lock);
}
// The same for doors that a user waits at: while another thread has the lock, the caller's poll is asked.
TPT_MUST_USE static inline tpt_status_t tpt_device_enter(tpt_device_t* device) {
  if (__builtin_expect(pthread_mutex_trylock(&device->lock) == 0, 1)) return NULL;
  return tpt_wait_lock(&device->lock);
}
static inline void tpt_device_unlock(tpt_device_t* device) {
  pthread_mutex_unlock(&device->lock);
}

// Accounting (memory.c): a buffer of a storage came, went.
void tpt_memory_add(tpt_device_t* device, size_t size);
void tpt_memory_remove(tpt_device_t* device, size_t size);
// RESOURCE_EXHAUSTED with what PyTorch's users look for: requested (0: unknown), free, peak, largest
// live tensors. Consumes the plugin's status; other codes pass through.
TPT_MUST_USE tpt_status_t tpt_memory_explain(tpt_device_t* device, size_t requested,
                                             tpt_status_t take_status);
// Refuses a storage of `size` bytes that cannot fit beside the values and the large storages that wait
// for theirs; RESOURCE_EXHAUSTED as above.
TPT_MUST_USE tpt_status_t tpt_memory_promise(tpt_device_t* device, size_t size);
// Gives back what is kept only for speed; false when that is nothing.
bool tpt_memory_trim(tpt_device_t* device);

#endif  // TPUTORCH_EAGER_DEVICE_H_
