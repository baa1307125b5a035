// Keepers, keeps and their copies. One mutex a keeper guards all of them. Invariant: a copy is in the
// keeper's list of uses if and only if it has memory and belongs to a living keep.
#include "vtpu/keep.h"

#include <pthread.h>
#include <string.h>

#include "base/allocator.h"

enum { FORMS_MAX = 16 };  // of a keep; further ones are not kept

struct vtpu_kept {
  vtpu_keep_t* keep;  // alive as long as the copy is pinned or listed
  vtpu_kept_t* next;  // of the keep
  vtpu_kept_t *newer, *older;
  char* data;  // NULL: only asked for, or dropped
  char* memory;
  size_t size;
  int pin_count;
  bool is_filled;
  size_t form_count;
  int64_t form[];
};

struct vtpu_keep {
  vtpu_keeper_t* keeper;
  uint32_t ref_count;
  int form_count;
  vtpu_kept_t* first;
};

struct vtpu_keeper {
  pthread_mutex_t mutex;
  uint32_t ref_count;  // the owner's, and one a keep
  size_t limit, in_use;
  vtpu_kept_t *newest, *oldest;
};

// --- keepers --------------------------------------------------------------------------------------------

tpt_status_t vtpu_keeper_create(size_t limit, vtpu_keeper_t** out_keeper) {
  vtpu_keeper_t* keeper = tpt_calloc(1, sizeof(*keeper));
  *out_keeper = keeper;
  if (!keeper) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a keeper of packed operands");
  pthread_mutex_init(&keeper->mutex, NULL);
  keeper->ref_count = 1;
  keeper->limit = limit;
  return NULL;
}

// Locked; unlocks. Frees the keeper with the last reference.
static void keeper_unref(vtpu_keeper_t* keeper) {
  bool is_last = --keeper->ref_count == 0;
  pthread_mutex_unlock(&keeper->mutex);
  if (!is_last) return;
  pthread_mutex_destroy(&keeper->mutex);
  tpt_free(keeper);
}

void vtpu_keeper_release(vtpu_keeper_t* keeper) {
  if (!keeper) return;
  pthread_mutex_lock(&keeper->mutex);
  keeper_unref(keeper);
}

size_t vtpu_keeper_in_use(vtpu_keeper_t* keeper) {
  pthread_mutex_lock(&keeper->mutex);
  size_t in_use = keeper->in_use;
  pthread_mutex_unlock(&keeper->mutex);
  return in_use;
}

// --- the list of uses, newest first -----------------------------------------------------------------------

static void list_remove(vtpu_keeper_t* keeper, vtpu_kept_t* kept) {
  if (kept->newer)
    kept->newer->older = kept->older;
  else
    keeper->newest = kept->older;
  if (kept->older)
    kept->older->newer = kept->newer;
  else
    keeper->oldest = kept->newer;
  kept->newer = kept->older = NULL;
}

static void list_add(vtpu_keeper_t* keeper, vtpu_kept_t* kept) {
  kept->older = keeper->newest;
  if (keeper->newest)
    keeper->newest->newer = kept;
  else
    keeper->oldest = kept;
  keeper->newest = kept;
}

static void kept_drop(vtpu_keeper_t* keeper, vtpu_kept_t* kept) {
  if (!kept->data) return;
  list_remove(keeper, kept);
  keeper->in_use -= kept->size;
  tpt_free(kept->memory);
  kept->data = kept->memory = NULL;
  kept->is_filled = false;
}

// Drops old copies until `size` bytes fit; false if they do not.
static bool room_make(vtpu_keeper_t* keeper, size_t size) {
  if (size > keeper->limit) return false;
  for (vtpu_kept_t* kept = keeper->oldest; kept && keeper->in_use + size > keeper->limit;) {
    vtpu_kept_t* newer = kept->newer;
    if (kept->pin_count == 0) kept_drop(keeper, kept);
    kept = newer;
  }
  return keeper->in_use + size <= keeper->limit;
}

// --- keeps ------------------------------------------------------------------------------------------------

vtpu_keep_t* vtpu_keep_create(vtpu_keeper_t* keeper) {
  if (keeper->limit == 0) return NULL;
  vtpu_keep_t* keep = tpt_calloc(1, sizeof(*keep));
  if (!keep) return NULL;
  keep->keeper = keeper;
  keep->ref_count = 1;
  pthread_mutex_lock(&keeper->mutex);
  keeper->ref_count++;
  pthread_mutex_unlock(&keeper->mutex);
  return keep;
}

vtpu_keep_t* vtpu_keep_retain(vtpu_keep_t* keep) {
  if (!keep) return NULL;
  pthread_mutex_lock(&keep->keeper->mutex);
  keep->ref_count++;
  pthread_mutex_unlock(&keep->keeper->mutex);
  return keep;
}

// Locked; unlocks.
static void keep_unref(vtpu_keep_t* keep) {
  vtpu_keeper_t* keeper = keep->keeper;
  if (--keep->ref_count > 0) {
    pthread_mutex_unlock(&keeper->mutex);
    return;
  }
  while (keep->first) {
    vtpu_kept_t* kept = keep->first;
    keep->first = kept->next;
    kept_drop(keeper, kept);
    tpt_free(kept);
  }
  tpt_free(keep);
  keeper_unref(keeper);
}

void vtpu_keep_release(vtpu_keep_t* keep) {
  if (!keep) return;
  pthread_mutex_lock(&keep->keeper->mutex);
  keep_unref(keep);
}

// --- copies -----------------------------------------------------------------------------------------------

static vtpu_kept_t* form_find(vtpu_keep_t* keep, const int64_t* form, size_t count) {
  for (vtpu_kept_t* kept = keep->first; kept; kept = kept->next)
    if (kept->form_count == count && memcmp(kept->form, form, count * sizeof(*form)) == 0)
      return kept;
  return NULL;
}

static void form_add(vtpu_keep_t* keep, const int64_t* form, size_t count, size_t size) {
  if (keep->form_count == FORMS_MAX) return;
  vtpu_kept_t* kept = tpt_calloc(1, sizeof(*kept) + count * sizeof(*form));
  if (!kept) return;
  kept->keep = keep;
  kept->next = keep->first;
  kept->size = size;
  kept->form_count = count;
  memcpy(kept->form, form, count * sizeof(*form));
  keep->first = kept;
  keep->form_count++;
}

// Locked. Pins the copy if there is one, or memory for one.
static vtpu_kept_t* kept_pin(vtpu_kept_t* kept, bool* out_is_fresh) {
  vtpu_keeper_t* keeper = kept->keep->keeper;
  if (kept->data) {
    if (!kept->is_filled) return NULL;  // somebody is at it
    list_remove(keeper, kept);
  } else {
    if (!room_make(keeper, kept->size)) return NULL;
    kept->memory = tpt_malloc(kept->size + 64);
    if (!kept->memory) return NULL;
    kept->data = (char*)(((uintptr_t)kept->memory + 63) & ~(uintptr_t)63);
    keeper->in_use += kept->size;
    *out_is_fresh = true;
  }
  list_add(keeper, kept);
  kept->pin_count++;
  kept->keep->ref_count++;
  return kept;
}

vtpu_kept_t* vtpu_keep_take(vtpu_keep_t* keep, const int64_t* form, size_t form_count, size_t size,
                            bool* out_is_fresh) {
  *out_is_fresh = false;
  if (!keep) return NULL;
  pthread_mutex_lock(&keep->keeper->mutex);
  vtpu_kept_t* kept = form_find(keep, form, form_count);
  if (kept)
    kept = kept_pin(kept, out_is_fresh);
  else
    form_add(keep, form, form_count, size);
  pthread_mutex_unlock(&keep->keeper->mutex);
  return kept;
}

void* vtpu_kept_data(vtpu_kept_t* kept) {
  return kept->data;
}

void vtpu_kept_give(vtpu_kept_t* kept) {
  if (!kept) return;
  pthread_mutex_lock(&kept->keep->keeper->mutex);
  kept->is_filled = true;
  kept->pin_count--;
  keep_unref(kept->keep);
}
