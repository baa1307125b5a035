// The slab of handles. Invariant: a free handle's mark is VTPU_HANDLE_DEAD; its memory is never
// returned, so reading the mark of any pointer that was a handle once is defined.
#include "vtpu/handle.h"

#include <pthread.h>
#include <string.h>

#include "vtpu/slab.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static vtpu_slab_t slab = {.object_size = VTPU_HANDLE_SIZE};

void* vtpu_handle_take(vtpu_handle_kind_t kind) {
  pthread_mutex_lock(&mutex);
  void* handle = vtpu_slab_take(&slab);
  pthread_mutex_unlock(&mutex);
  if (!handle) return NULL;
  memset(handle, 0, VTPU_HANDLE_SIZE);
  ((vtpu_handle_t*)handle)->mark = (uint32_t)kind;
  return handle;
}

void vtpu_handle_give(void* handle) {
  if (!handle) return;
  pthread_mutex_lock(&mutex);
  ((vtpu_handle_t*)handle)->mark = VTPU_HANDLE_DEAD;
  vtpu_slab_give(&slab, handle);
  pthread_mutex_unlock(&mutex);
}

static const char* noun(vtpu_handle_kind_t kind) {
  static const char* const nouns[] = {
      "client",     "topology",          "device",          "device description", "memory",
      "executable", "loaded executable", "execute context", "transfer manager",   "tracking event"};
  return nouns[kind - VTPU_HANDLE_CLIENT];
}

tpt_status_t vtpu_handle_check_failed(const void* handle, vtpu_handle_kind_t kind) {
  if (!handle) TPT_FAIL(TPT_INVALID_ARGUMENT, "%s is NULL", noun(kind));
  TPT_FAIL(TPT_INVALID_ARGUMENT, "%p is not a live %s: destroyed before, or not of vtpu", handle,
           noun(kind));
}
