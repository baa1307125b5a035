// HBM: a chip's device memory as one reserved mapping with a caching allocator. Pages are committed
// at first touch and never handed back, so a steady state faults no page. Thread-compatible: the
// device's lock guards it. What a block means (references, last use) is its owner's business.
#ifndef TPUTORCH_VTPU_HBM_H_
#define TPUTORCH_VTPU_HBM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

enum { VTPU_HBM_ALIGNMENT = 64 };

typedef struct vtpu_hbm vtpu_hbm_t;
typedef struct vtpu_block vtpu_block_t;

// A piece of HBM. `data` is aligned to 64; `size` is the request rounded up to a multiple of 64.
struct vtpu_block {
  // --- the owner's; last_use survives a free and is the newest of what was merged
  uint64_t last_use;       // ticket of the last submitted work that touches the memory
  uint32_t ref_count;      // buffers that own it
  uint32_t hold_count;     // readers outside the device's order; no in-place reuse while above 0
  uint32_t use_count;      // launches that asked for a keep of the present content
  bool is_exposed;         // its address was given out: the content may change unseen
  struct vtpu_keep* keep;  // (optional) of the present content
  // --- the allocator's
  char* data;
  size_t size;
  bool is_free;
  vtpu_block_t *before, *after;  // neighbours by address
  vtpu_block_t *newer, *older;   // its free list
};

typedef struct vtpu_hbm_stats {  // bytes, after rounding
  size_t limit, in_use, peak, largest_free, largest_alloc;
  uint64_t alloc_count;  // ever made
  uint64_t live_count;
  size_t reserved;  // address space behind it: less than `limit` if the system refused more
} vtpu_hbm_stats_t;

// Reserves address space for `size` bytes, or for as much as the system grants.
TPT_MUST_USE tpt_status_t vtpu_hbm_create(size_t size, vtpu_hbm_t** out_hbm);
void vtpu_hbm_release(vtpu_hbm_t* take_hbm);  // NULL is legal; all blocks die

// A block of at least max(size, 1) bytes, contents meaningless, owner's counts zero. RESOURCE_EXHAUSTED
// says how much was asked for, how much is free, the largest free block and the peak.
TPT_MUST_USE tpt_status_t vtpu_hbm_alloc(vtpu_hbm_t* hbm, size_t size, vtpu_block_t** out_block);
void vtpu_hbm_free(vtpu_hbm_t* hbm, vtpu_block_t* take_block);

void vtpu_hbm_get_stats(vtpu_hbm_t* hbm, vtpu_hbm_stats_t* out_stats);
// Peak and largest allocation start again from what is in use now.
void vtpu_hbm_reset_peak(vtpu_hbm_t* hbm);
// True if [data, data + size) lies in the mapping.
bool vtpu_hbm_contains(const vtpu_hbm_t* hbm, const void* data, size_t size);

#endif  // TPUTORCH_VTPU_HBM_H_
