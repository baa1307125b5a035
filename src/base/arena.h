// Arena: a bump allocator whose objects all die together. Thread-compatible.
//
// Allocation never fails by returning: when the system has no memory, the arena turns "failed",
// hands out NULL, and the owner reads tpt_arena_status at the end of a step.
#ifndef TPUTORCH_BASE_ARENA_H_
#define TPUTORCH_BASE_ARENA_H_

#include <stdbool.h>
#include <stddef.h>

#include "tputorch/status.h"

typedef struct tpt_arena_block tpt_arena_block_t;

typedef struct tpt_arena {
  tpt_arena_block_t* blocks;  // newest first
  char* next;                 // next free byte of the newest block
  char* end;
  size_t used_size;  // bytes handed out
  bool failed;       // an allocation returned NULL
} tpt_arena_t;

void tpt_arena_init(tpt_arena_t* arena);
void tpt_arena_deinit(tpt_arena_t* arena);
// Forgets all objects but keeps the newest block for reuse.
void tpt_arena_reset(tpt_arena_t* arena);

// `size` bytes aligned to 16, uninitialised; NULL when out of memory. Lives as long as the arena.
void* tpt_arena_alloc(tpt_arena_t* arena, size_t size);
// The same, zeroed; `count * size` is checked for overflow.
void* tpt_arena_calloc(tpt_arena_t* arena, size_t count, size_t size);
// A copy of `size` bytes (NULL if `data` is NULL or memory is out).
void* tpt_arena_copy(tpt_arena_t* arena, const void* data, size_t size);
// A NUL-terminated copy of `size` characters.
char* tpt_arena_strndup(tpt_arena_t* arena, const char* text, size_t size);
// A formatted, NUL-terminated string.
char* tpt_arena_printf(tpt_arena_t* arena, const char* format, ...) TPT_PRINTF(2, 3);
// RESOURCE_EXHAUSTED if any allocation failed, else NULL.
TPT_MUST_USE tpt_status_t tpt_arena_status(const tpt_arena_t* arena);

#endif  // TPUTORCH_BASE_ARENA_H_
