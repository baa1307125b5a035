// The core's heap: malloc behind one door, so that tests can make the n-th allocation fail.
#ifndef TPUTORCH_BASE_ALLOCATOR_H_
#define TPUTORCH_BASE_ALLOCATOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Uninitialised memory, NULL when none is left. Thread-safe. Free with tpt_free.
void* tpt_malloc(size_t size);
// Zeroed; NULL on overflow of count * size.
void* tpt_calloc(size_t count, size_t size);
// Like realloc: on failure returns NULL and leaves the old block alone.
void* tpt_realloc(void* data, size_t size);
void tpt_free(void* take_data);

// Grows an array so that it holds at least `count` elements; doubles. On failure returns false and
// leaves everything as it was.
bool tpt_grow(void** inout_data, size_t* inout_capacity, size_t count, size_t element_size);

// Checked size arithmetic: false on overflow.
static inline bool tpt_size_mul(size_t a, size_t b, size_t* out) {
  return !__builtin_mul_overflow(a, b, out);
}
static inline bool tpt_size_add(size_t a, size_t b, size_t* out) {
  return !__builtin_add_overflow(a, b, out);
}

// Tests only: the `countdown`-th allocation from now on fails (0 = never). Returns how many
// allocations were made since the last call.
uint64_t tpt_allocator_fail_after(uint64_t countdown);

#endif  // TPUTORCH_BASE_ALLOCATOR_H_
