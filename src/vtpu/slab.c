// Slabs: chunks of objects of one size with a list of the free ones. Invariant: the list holds each
// free object once, newest first, linked through its bytes 8 to 15.
#include "vtpu/slab.h"

#include <string.h>

#include "base/allocator.h"

enum { CHUNK_OBJECTS = 64, LINK_OFFSET = 8, CHUNK_HEAD = 16 };

void vtpu_slab_init(vtpu_slab_t* slab, size_t object_size) {
  *slab = (vtpu_slab_t){.object_size = object_size};
}

void vtpu_slab_deinit(vtpu_slab_t* slab) {
  while (slab->chunks) {
    void* chunk = slab->chunks;
    memcpy(&slab->chunks, chunk, sizeof(void*));
    tpt_free(chunk);
  }
  slab->free_list = NULL;
}

void* vtpu_slab_take(vtpu_slab_t* slab) {
  if (!slab->free_list) {
    char* chunk = tpt_calloc(1, CHUNK_HEAD + CHUNK_OBJECTS * slab->object_size);
    if (!chunk) return NULL;
    memcpy(chunk, &slab->chunks, sizeof(void*));
    slab->chunks = chunk;
    for (int i = CHUNK_OBJECTS - 1; i >= 0; i--)
      vtpu_slab_give(slab, chunk + CHUNK_HEAD + (size_t)i * slab->object_size);
  }
  char* object = slab->free_list;
  memcpy(&slab->free_list, object + LINK_OFFSET, sizeof(void*));
  return object;
}

void vtpu_slab_give(vtpu_slab_t* slab, void* object) {
  memcpy((char*)object + LINK_OFFSET, &slab->free_list, sizeof(void*));
  slab->free_list = object;
}
