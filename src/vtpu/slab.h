// Slab: objects of one size, taken and given back in constant time, never returned to the system
// before the slab dies. Thread-compatible.
//
// The link of a free object lies in bytes 8 to 15; bytes 0 to 7 stay as the owner left them. So an
// object may start with a mark that its owner changes on giving it back, and a stale pointer shows.
#ifndef TPUTORCH_VTPU_SLAB_H_
#define TPUTORCH_VTPU_SLAB_H_

#include <stddef.h>

typedef struct vtpu_slab {
  size_t object_size;
  void* free_list;
  void* chunks;
} vtpu_slab_t;

// object_size is at least 16 and a multiple of 8.
void vtpu_slab_init(vtpu_slab_t* slab, size_t object_size);
void vtpu_slab_deinit(vtpu_slab_t* slab);
// NULL when the system has no memory. Contents: zeros at first, later what the last owner left.
void* vtpu_slab_take(vtpu_slab_t* slab);
void vtpu_slab_give(vtpu_slab_t* slab, void* object);

#endif  // TPUTORCH_VTPU_SLAB_H_
