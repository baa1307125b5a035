// Owns chains of memory blocks from which objects are cut one after another. Must not know the
// objects. Invariant: next and end bound the free part of the newest block; every pointer handed
// out is 16-aligned and lives until reset or deinit.
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/allocator.h"

// In sanitized builds every object is a block of its own: an overrun is seen, and tests of failing
// allocations reach each one.
#ifdef __SANITIZE_ADDRESS__
enum { ALIGNMENT = 16, BLOCK_SIZE_MIN = 0, BLOCK_SIZE_MAX = 0 };
#else
enum { ALIGNMENT = 16, BLOCK_SIZE_MIN = 4096, BLOCK_SIZE_MAX = 1 << 20 };
#endif

struct tpt_arena_block {
  tpt_arena_block_t* previous;
  size_t size;  // of the whole block
  _Alignas(ALIGNMENT) char data[];
};

// In sanitized builds stale readers see a pattern instead of plausible data.
static void spoil(tpt_arena_block_t* block) {
#ifdef __SANITIZE_ADDRESS__
  memset(block->data, 0xA5, block->size - sizeof(*block));
#else
  (void)block;
#endif
}

void tpt_arena_init(tpt_arena_t* arena) {
  memset(arena, 0, sizeof(*arena));
}

void tpt_arena_deinit(tpt_arena_t* arena) {
  for (tpt_arena_block_t* block = arena->blocks; block;) {
    tpt_arena_block_t* previous = block->previous;
    tpt_free(block);
    block = previous;
  }
  tpt_arena_init(arena);
}

void tpt_arena_reset(tpt_arena_t* arena) {
  tpt_arena_block_t* kept = arena->blocks;
  if (kept) {
    arena->blocks = kept->previous;
    tpt_arena_deinit(arena);
    kept->previous = NULL;
    spoil(kept);
    arena->blocks = kept;
    arena->next = kept->data;
    arena->end = (char*)kept + kept->size;
  }
  arena->used_size = 0;
  arena->failed = false;
}

static bool add_block(tpt_arena_t* arena, size_t size) {
  size_t block_size = arena->blocks ? arena->blocks->size * 2 : BLOCK_SIZE_MIN;
  if (block_size > BLOCK_SIZE_MAX) block_size = BLOCK_SIZE_MAX;
  size_t needed_size;
  if (!tpt_size_add(size, sizeof(tpt_arena_block_t), &needed_size)) return false;
  if (block_size < needed_size) block_size = needed_size;
  tpt_arena_block_t* block = tpt_malloc(block_size);
  if (!block) return false;
  block->previous = arena->blocks;
  block->size = block_size;
  arena->blocks = block;
  arena->next = block->data;
  arena->end = (char*)block + block_size;
  return true;
}

void* tpt_arena_alloc(tpt_arena_t* arena, size_t size) {
  size_t rounded_size;
  if (!tpt_size_add(size, ALIGNMENT - 1, &rounded_size)) {
    arena->failed = true;
    return NULL;
  }
  rounded_size &= ~(size_t)(ALIGNMENT - 1);
  if (rounded_size > (size_t)(arena->end - arena->next) || !arena->blocks) {
    if (!add_block(arena, rounded_size)) {
      arena->failed = true;
      return NULL;
    }
  }
  void* data = arena->next;
  arena->next += rounded_size;
  arena->used_size += rounded_size;
  return data;
}

void* tpt_arena_calloc(tpt_arena_t* arena, size_t count, size_t size) {
  size_t total;
  if (!tpt_size_mul(count, size, &total)) {
    arena->failed = true;
    return NULL;
  }
  void* data = tpt_arena_alloc(arena, total);
  if (data) memset(data, 0, total);
  return data;
}

void* tpt_arena_copy(tpt_arena_t* arena, const void* data, size_t size) {
  if (!data) return NULL;
  void* copy = tpt_arena_alloc(arena, size);
  if (copy && size) memcpy(copy, data, size);
  return copy;
}

char* tpt_arena_strndup(tpt_arena_t* arena, const char* text, size_t size) {
  size_t total;
  char* copy = tpt_size_add(size, 1, &total) ? tpt_arena_alloc(arena, total) : NULL;
  if (!copy) {
    arena->failed = true;
    return NULL;
  }
  if (size) memcpy(copy, text, size);
  copy[size] = 0;
  return copy;
}

char* tpt_arena_printf(tpt_arena_t* arena, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, format, args);
  char* text = size < 0 ? NULL : tpt_arena_alloc(arena, (size_t)size + 1);
  if (text) vsnprintf(text, (size_t)size + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}

tpt_status_t tpt_arena_status(const tpt_arena_t* arena) {
  if (arena->failed) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "out of host memory (arena)");
  return NULL;
}
