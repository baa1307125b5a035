// Keeps: packed copies of arrays that do not change, kept from call to call. A keep belongs to one
// content of a block of device memory: who changes the content (a donation, a free) drops the keep, and
// whoever still computes with the old content holds a reference. So a copy can never be stale.
//
// Only what is asked for twice in the same form is copied. Copies of all keeps of a keeper share a
// bound; the one unused for longest goes first. Thread-safe.
#ifndef TPUTORCH_VTPU_KEEP_H_
#define TPUTORCH_VTPU_KEEP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct vtpu_keeper vtpu_keeper_t;
typedef struct vtpu_keep vtpu_keep_t;
typedef struct vtpu_kept vtpu_kept_t;

// `limit`: bytes of all copies; 0 keeps none.
TPT_MUST_USE tpt_status_t vtpu_keeper_create(size_t limit, vtpu_keeper_t** out_keeper);
void vtpu_keeper_release(vtpu_keeper_t* take_keeper);  // NULL is legal; keeps may outlive it
// Bytes of copies at present.
size_t vtpu_keeper_in_use(vtpu_keeper_t* keeper);

// NULL when memory is out or nothing may be kept.
vtpu_keep_t* vtpu_keep_create(vtpu_keeper_t* keeper);
vtpu_keep_t* vtpu_keep_retain(vtpu_keep_t* keep);  // NULL is legal
void vtpu_keep_release(vtpu_keep_t* take_keep);    // NULL is legal

// The copy in a form (numbers that say everything about it), pinned until it is given back. NULL: there
// is none, the caller goes without. *out_is_fresh: the caller fills its `size` bytes before giving it back.
// `keep` NULL is legal.
vtpu_kept_t* vtpu_keep_take(vtpu_keep_t* keep, const int64_t* form, size_t form_count, size_t size,
                            bool* out_is_fresh);
// 64-aligned.
void* vtpu_kept_data(vtpu_kept_t* kept);
void vtpu_kept_give(vtpu_kept_t* take_kept);  // NULL is legal

#endif  // TPUTORCH_VTPU_KEEP_H_
