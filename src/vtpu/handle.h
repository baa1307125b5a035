// Handles: the small objects behind the ABI's opaque pointers. They come from one slab that lives as
// long as the process, so a stale or foreign pointer is told by its mark and answered with an error.
// Thread-safe.
#ifndef TPUTORCH_VTPU_HANDLE_H_
#define TPUTORCH_VTPU_HANDLE_H_

#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

enum { VTPU_HANDLE_SIZE = 96 };

// Every handle struct starts with this; `slab_link` belongs to the slab while the handle is free.
typedef struct vtpu_handle {
  uint32_t mark;
  void* slab_link;
} vtpu_handle_t;

typedef enum vtpu_handle_kind {
  VTPU_HANDLE_DEAD = 0x64656164,
  VTPU_HANDLE_CLIENT = 0x56430001,
  VTPU_HANDLE_TOPOLOGY,
  VTPU_HANDLE_DEVICE,
  VTPU_HANDLE_DESCRIPTION,
  VTPU_HANDLE_MEMORY,
  VTPU_HANDLE_EXECUTABLE,
  VTPU_HANDLE_LOADED,
  VTPU_HANDLE_CONTEXT,
  VTPU_HANDLE_TRANSFER,
  VTPU_HANDLE_TRACKING,
} vtpu_handle_kind_t;

// VTPU_HANDLE_SIZE bytes, zeroed but for the mark; NULL when no memory is left.
void* vtpu_handle_take(vtpu_handle_kind_t kind);
void vtpu_handle_give(void* take_handle);  // NULL is legal
// INVALID_ARGUMENT names the kind that was wanted, and whether it was NULL or stale.
TPT_MUST_USE tpt_status_t vtpu_handle_check_failed(const void* handle, vtpu_handle_kind_t kind);
TPT_MUST_USE static inline tpt_status_t vtpu_handle_check(const void* handle,
                                                          vtpu_handle_kind_t kind) {
  if (__builtin_expect(handle && ((const vtpu_handle_t*)handle)->mark == (uint32_t)kind, 1))
    return NULL;
  return vtpu_handle_check_failed(handle, kind);
}

#endif  // TPUTORCH_VTPU_HANDLE_H_
