// Owns the reserved range. It is cut into one stripe per power-of-two size; a stripe is an array of
// slots. Must not know what a storage is. Invariant: a slot is either free (its entry links to the
// next free one) or owned; the range itself is PROT_NONE for ever and costs address space only.
#include "eager/address.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/allocator.h"

enum {
  SIZE_BITS_MIN = 6,
  SIZE_BITS_MAX = 42,
  STRIPE_COUNT = SIZE_BITS_MAX - SIZE_BITS_MIN + 1,
  STRIPE_BITS_MAX = 41,
  STRIPE_BITS_MIN = 24,
};

typedef union slot {
  tpt_storage_t* storage;
  uintptr_t next_free;  // number of the next free slot * 2 + 1; low bit tells the two apart
} slot_t;

typedef struct stripe {
  slot_t* slots;
  size_t capacity;
  size_t used;     // slots ever handed out
  uintptr_t free;  // as next_free; 0: none
} stripe_t;

static struct {
  pthread_mutex_t lock;
  char* base;       // NULL: not reserved yet
  int stripe_bits;  // log2 of a stripe's bytes
  stripe_t stripes[STRIPE_COUNT];
} range = {.lock = PTHREAD_MUTEX_INITIALIZER};

// Takes the largest range the system grants (containers and 39-bit machines grant less).
static tpt_status_t reserve(void) {
  if (range.base) return NULL;
  for (int bits = STRIPE_BITS_MAX; bits >= STRIPE_BITS_MIN; bits--) {
    size_t size = (size_t)STRIPE_COUNT << bits;
    void* base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    range.base = base;
    range.stripe_bits = bits;
    return NULL;
  }
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED,
           "the system refuses to reserve address space for device storages (%s); raise the "
           "limit on virtual memory (ulimit -v)",
           strerror(errno));
}

static int size_bits(size_t size) {
  if (size <= (size_t)1 << SIZE_BITS_MIN) return SIZE_BITS_MIN;
  int bits = 64 - __builtin_clzll(size - 1);
  return bits < SIZE_BITS_MAX ? bits : SIZE_BITS_MAX;
}

// A slot of a stripe, or false when the stripe is full.
static bool take_slot(int bits, tpt_storage_t* storage, void** out_address) {
  stripe_t* stripe = &range.stripes[bits - SIZE_BITS_MIN];
  size_t number;
  if (stripe->free) {
    number = stripe->free >> 1;
    stripe->free = stripe->slots[number].next_free;
  } else {
    if (bits > range.stripe_bits || stripe->used >= (size_t)1 << (range.stripe_bits - bits))
      return false;
    if (!tpt_grow((void**)&stripe->slots, &stripe->capacity, stripe->used + 1,
                  sizeof(*stripe->slots)))
      return false;
    number = stripe->used++;
  }
  stripe->slots[number].storage = storage;
  *out_address =
      range.base + ((size_t)(bits - SIZE_BITS_MIN) << range.stripe_bits) + (number << bits);
  return true;
}

tpt_status_t tpt_address_take(tpt_storage_t* storage, size_t size, void** out_address) {
  pthread_mutex_lock(&range.lock);
  tpt_status_t status = reserve();
  bool is_taken = false;
  int bits = size_bits(size);
  if (!status && ((size_t)1 << bits) >= size) {
    for (; bits <= SIZE_BITS_MAX && !is_taken; bits++)
      is_taken = take_slot(bits, storage, out_address);
  }
  pthread_mutex_unlock(&range.lock);
  TPT_TRY(status);
  if (!is_taken)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED,
             "TPU out of memory: no address is left for a storage of %zu bytes", size);
  return NULL;
}

// Slot of an address inside the range; false outside.
static bool locate(const void* address, stripe_t** out_stripe, size_t* out_number, int* out_bits) {
  uintptr_t base = (uintptr_t)range.base, at = (uintptr_t)address;
  if (!base || at < base || at - base >= (uintptr_t)STRIPE_COUNT << range.stripe_bits) return false;
  size_t offset = at - base;
  int index = (int)(offset >> range.stripe_bits);
  *out_bits = index + SIZE_BITS_MIN;
  *out_stripe = &range.stripes[index];
  *out_number = (offset & (((size_t)1 << range.stripe_bits) - 1)) >> *out_bits;
  return *out_number < (*out_stripe)->used;
}

void tpt_address_release(void* address) {
  stripe_t* stripe;
  size_t number;
  int bits;
  pthread_mutex_lock(&range.lock);
  if (locate(address, &stripe, &number, &bits)) {
    stripe->slots[number].next_free = stripe->free;
    stripe->free = number << 1 | 1;
  }
  pthread_mutex_unlock(&range.lock);
}

size_t tpt_address_room(const void* address) {
  stripe_t* stripe;
  size_t number;
  int bits;
  pthread_mutex_lock(&range.lock);
  size_t room = locate(address, &stripe, &number, &bits) ? (size_t)1 << bits : 0;
  pthread_mutex_unlock(&range.lock);
  return room;
}

tpt_storage_t* tpt_address_find(const void* address, size_t* out_offset) {
  stripe_t* stripe;
  size_t number;
  int bits;
  tpt_storage_t* storage = NULL;
  pthread_mutex_lock(&range.lock);
  if (locate(address, &stripe, &number, &bits)) {
    uintptr_t word = stripe->slots[number].next_free;
    // A free slot holds 0 (the end of the list) or an odd number; storages are aligned.
    if (word && !(word & 1)) storage = stripe->slots[number].storage;
    if (storage && out_offset)
      *out_offset = ((uintptr_t)address - (uintptr_t)range.base) & (((size_t)1 << bits) - 1);
  }
  pthread_mutex_unlock(&range.lock);
  return storage;
}
