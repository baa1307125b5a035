// Owns the way to the C heap and the failure that tests inject into it. Must not know its users.
// Invariant: while no test has asked, the fast path reads one flag that nobody writes.
#include "base/allocator.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool is_counting;
static atomic_uint_fast64_t allocation_count;
static atomic_uint_fast64_t failing_number;  // 0: none

static bool must_fail(void) {
  if (!atomic_load_explicit(&is_counting, memory_order_relaxed)) return false;
  uint64_t number = atomic_fetch_add(&allocation_count, 1) + 1;
  return number == atomic_load(&failing_number);
}

void* tpt_malloc(size_t size) {
  if (must_fail()) return NULL;
  return malloc(size ? size : 1);
}

void* tpt_calloc(size_t count, size_t size) {
  size_t total;
  if (!tpt_size_mul(count, size, &total) || must_fail()) return NULL;
  return calloc(total ? total : 1, 1);
}

void* tpt_realloc(void* data, size_t size) {
  if (must_fail()) return NULL;
  return realloc(data, size ? size : 1);
}

void tpt_free(void* take_data) {
  free(take_data);
}

bool tpt_grow(void** inout_data, size_t* inout_capacity, size_t count, size_t element_size) {
  if (count <= *inout_capacity) return true;
  size_t capacity = *inout_capacity < 8 ? 8 : *inout_capacity;
  while (capacity < count) {
    if (!tpt_size_mul(capacity, 2, &capacity)) return false;
  }
  size_t size;
  if (!tpt_size_mul(capacity, element_size, &size)) return false;
  void* data = tpt_realloc(*inout_data, size);
  if (!data) return false;
  *inout_data = data;
  *inout_capacity = capacity;
  return true;
}

uint64_t tpt_allocator_fail_after(uint64_t countdown) {
  uint64_t count = atomic_exchange(&allocation_count, 0);
  atomic_store(&failing_number, countdown);
  atomic_store(&is_counting, true);
  return count;
}
