// The allocator of a chip's HBM. Two ways: blocks of up to SMALL_SIZE bytes go through one list per
// size and are not merged; all others live in lists by size class (a power of two cut in 16) with a
// bitmap of the non-empty ones, are split on allocation and merged with their free neighbours.
// Invariants: blocks tile [base, base + used) and a tail; no two free, listed neighbours exist; free
// blocks in `small` look allocated to their neighbours. Knows nothing of devices or queues.
#include "vtpu/hbm.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/allocator.h"
#include "vtpu/slab.h"

enum {
  UNIT = VTPU_HBM_ALIGNMENT,
  SMALL_UNITS = 32,  // blocks of 1..32 units have a list each
  SMALL_KEPT = 512,  // free blocks that such a list keeps
  CUT_BITS = 4,      // classes per power of two: 16
  CUTS = 1 << CUT_BITS,
  POWERS = 40,
};
static const size_t huge_page = (size_t)2 << 20;
static const size_t host_margin = (size_t)128 << 20;  // memory of the host that HBM leaves alone

struct vtpu_hbm {
  void* mapping;
  size_t mapping_size;
  char* base;
  size_t limit;
  size_t reserved;
  size_t vetted;  // bytes from base that the host was seen to have memory for
  size_t in_use, peak, largest_alloc;
  uint64_t alloc_count, live_count;
  vtpu_slab_t slab;
  vtpu_block_t* small[SMALL_UNITS + 1];
  uint32_t small_count[SMALL_UNITS + 1];
  uint64_t powers;        // powers of two that have a non-empty list
  uint32_t cuts[POWERS];  // per power: its non-empty lists
  vtpu_block_t* lists[POWERS][CUTS];
};

// --- classes ----------------------------------------------------------------------------------------

typedef struct class {
  int power, cut;
} class_t;

// The list of blocks whose size in units starts with the same five bits.
static class_t class_of(size_t units) {
  int power = 63 - __builtin_clzll(units);
  if (power < CUT_BITS) return (class_t){0, (int)units};
  return (class_t){power - CUT_BITS + 1, (int)(units >> (power - CUT_BITS)) & (CUTS - 1)};
}

// The first class all of whose blocks have at least `units`.
static class_t class_holding(size_t units) {
  int power = 63 - __builtin_clzll(units);
  if (power > CUT_BITS) units += ((size_t)1 << (power - CUT_BITS)) - 1;
  return class_of(units);
}

static void list_add(vtpu_hbm_t* hbm, vtpu_block_t* block) {
  class_t c = class_of(block->size / UNIT);
  vtpu_block_t* head = hbm->lists[c.power][c.cut];
  block->newer = NULL;
  block->older = head;
  if (head) head->newer = block;
  hbm->lists[c.power][c.cut] = block;
  hbm->cuts[c.power] |= 1u << c.cut;
  hbm->powers |= (uint64_t)1 << c.power;
  block->is_free = true;
}

static void list_remove(vtpu_hbm_t* hbm, vtpu_block_t* block) {
  class_t c = class_of(block->size / UNIT);
  if (block->older) block->older->newer = block->newer;
  if (block->newer)
    block->newer->older = block->older;
  else
    hbm->lists[c.power][c.cut] = block->older;
  if (!hbm->lists[c.power][c.cut]) {
    hbm->cuts[c.power] &= ~(1u << c.cut);
    if (!hbm->cuts[c.power]) hbm->powers &= ~((uint64_t)1 << c.power);
  }
  block->is_free = false;
}

// A free block of at least `size`: any of the first class that surely fits, else one that happens
// to fit in the class of `size` itself.
static vtpu_block_t* list_find(vtpu_hbm_t* hbm, size_t size) {
  class_t c = class_holding(size / UNIT);
  if (c.power < POWERS) {
    uint32_t cuts = hbm->cuts[c.power] & (~0u << c.cut);
    if (cuts) return hbm->lists[c.power][__builtin_ctz(cuts)];
    uint64_t powers = c.power + 1 < POWERS ? hbm->powers & (~(uint64_t)0 << (c.power + 1)) : 0;
    if (powers) {
      int power = __builtin_ctzll(powers);
      return hbm->lists[power][__builtin_ctz(hbm->cuts[power])];
    }
  }
  c = class_of(size / UNIT);
  vtpu_block_t* block = c.power < POWERS ? hbm->lists[c.power][c.cut] : NULL;
  while (block && block->size < size)
    block = block->older;
  return block;
}

// --- life --------------------------------------------------------------------------------------------

static tpt_status_t map_memory(vtpu_hbm_t* hbm, size_t size) {
  for (size_t wanted = size;; wanted = wanted / 2 & ~(huge_page - 1)) {
    if (wanted < huge_page) break;
    void* data = mmap(NULL, wanted + huge_page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) continue;
    hbm->mapping = data;
    hbm->mapping_size = wanted + huge_page;
    hbm->base = (char*)(((uintptr_t)data + huge_page - 1) & ~(uintptr_t)(huge_page - 1));
    hbm->reserved = wanted < size ? wanted : size;
    madvise(hbm->base, wanted, MADV_HUGEPAGE);
    madvise(hbm->base, wanted, MADV_DONTDUMP);
    return NULL;
  }
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "cannot reserve address space for %zu bytes of HBM", size);
}

tpt_status_t vtpu_hbm_create(size_t size, vtpu_hbm_t** out_hbm) {
  *out_hbm = NULL;
  size = size / UNIT * UNIT;
  if (size == 0 || size / UNIT >> (POWERS - 2) != 0)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "option hbm: a device cannot have %zu bytes of memory", size);
  vtpu_hbm_t* hbm = tpt_calloc(1, sizeof(*hbm));
  if (!hbm) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an HBM allocator");
  hbm->limit = size;
  vtpu_slab_init(&hbm->slab, sizeof(vtpu_block_t));
  tpt_status_t status = map_memory(hbm, size < huge_page ? huge_page : size);
  vtpu_block_t* all = status ? NULL : vtpu_slab_take(&hbm->slab);
  if (!all) {
    vtpu_hbm_release(hbm);
    if (status) return status;
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for an HBM allocator");
  }
  if (hbm->reserved > size) hbm->reserved = size;
  *all = (vtpu_block_t){.data = hbm->base, .size = hbm->reserved};
  list_add(hbm, all);
  *out_hbm = hbm;
  return NULL;
}

void vtpu_hbm_release(vtpu_hbm_t* hbm) {
  if (!hbm) return;
  if (hbm->mapping) munmap(hbm->mapping, hbm->mapping_size);
  vtpu_slab_deinit(&hbm->slab);
  tpt_free(hbm);
}

// --- free --------------------------------------------------------------------------------------------

// Takes the right one of two neighbours into the left one.
static void merge(vtpu_hbm_t* hbm, vtpu_block_t* left, vtpu_block_t* right) {
  left->size += right->size;
  left->after = right->after;
  if (right->after) right->after->before = left;
  if (right->last_use > left->last_use) left->last_use = right->last_use;
  vtpu_slab_give(&hbm->slab, right);
}

static void free_merged(vtpu_hbm_t* hbm, vtpu_block_t* block) {
  vtpu_block_t *before = block->before, *after = block->after;
  if (after && after->is_free) {
    list_remove(hbm, after);
    merge(hbm, block, after);
  }
  if (before && before->is_free) {
    list_remove(hbm, before);
    merge(hbm, before, block);
    block = before;
  }
  list_add(hbm, block);
}

void vtpu_hbm_free(vtpu_hbm_t* hbm, vtpu_block_t* block) {
  hbm->in_use -= block->size;
  hbm->live_count--;
  size_t units = block->size / UNIT;
  if (units > SMALL_UNITS || hbm->small_count[units] >= SMALL_KEPT) {
    free_merged(hbm, block);
    return;
  }
  block->older = hbm->small[units];
  hbm->small[units] = block;
  hbm->small_count[units]++;
}

// Merges the small free blocks back, so that a large request may use them.
static void drop_small(vtpu_hbm_t* hbm) {
  for (int units = 1; units <= SMALL_UNITS; units++) {
    while (hbm->small[units]) {
      vtpu_block_t* block = hbm->small[units];
      hbm->small[units] = block->older;
      free_merged(hbm, block);
    }
    hbm->small_count[units] = 0;
  }
}

// --- alloc --------------------------------------------------------------------------------------------

// Memory that the host can still give, by its kernel's estimate; SIZE_MAX if unknown.
static size_t host_available(void) {
  FILE* file = fopen("/proc/meminfo", "re");
  char line[128];
  size_t available = SIZE_MAX, kib;
  while (file && fgets(line, sizeof(line), file))
    if (sscanf(line, "MemAvailable: %zu", &kib) == 1) available = kib << 10;
  if (file) fclose(file);
  return available;
}

// Makes sure that the host has memory for the bytes up to `end` before they are first touched.
static tpt_status_t vet_host(vtpu_hbm_t* hbm, size_t end) {
  size_t grown = end - hbm->vetted, available = host_available();
  if (grown >= huge_page && (available < host_margin || available - host_margin < grown))
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED,
             "the host has no memory behind the virtual TPU's HBM: %zu more bytes wanted, %zu "
             "available on this machine; free host memory or use a smaller model",
             grown, available);
  hbm->vetted = end + (available == SIZE_MAX ? hbm->reserved : available / 16);
  return NULL;
}

static size_t largest_free(vtpu_hbm_t* hbm) {
  if (!hbm->powers) return 0;
  int power = 63 - __builtin_clzll(hbm->powers);
  int cut = 31 - __builtin_clz(hbm->cuts[power]);
  size_t largest = 0;
  for (vtpu_block_t* block = hbm->lists[power][cut]; block; block = block->older)
    if (block->size > largest) largest = block->size;
  return largest;
}

static tpt_status_t out_of_memory(vtpu_hbm_t* hbm, size_t size) {
  const char* cut = hbm->reserved < hbm->limit
                        ? "; this process was refused address space for the whole HBM (ulimit -v?)"
                        : "";
  TPT_FAIL(TPT_RESOURCE_EXHAUSTED,
           "out of HBM: %zu bytes requested, %zu free of %zu, largest free block %zu, peak in use "
           "%zu%s",
           size, hbm->reserved - hbm->in_use, hbm->reserved, largest_free(hbm), hbm->peak, cut);
}

// Cuts what `block` has beyond `size` off as a free block; keeps it whole if no memory is left to
// describe the rest.
static void split(vtpu_hbm_t* hbm, vtpu_block_t* block, size_t size) {
  vtpu_block_t* rest = block->size > size ? vtpu_slab_take(&hbm->slab) : NULL;
  if (!rest) return;
  *rest = (vtpu_block_t){.last_use = block->last_use,
                         .data = block->data + size,
                         .size = block->size - size,
                         .before = block,
                         .after = block->after};
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->size = size;
  list_add(hbm, rest);
}

static tpt_status_t alloc_merged(vtpu_hbm_t* hbm, size_t size, vtpu_block_t** out_block) {
  vtpu_block_t* block = list_find(hbm, size);
  if (!block) {
    drop_small(hbm);
    block = list_find(hbm, size);
    if (!block) return out_of_memory(hbm, size);
  }
  size_t end = (size_t)(block->data - hbm->base) + size;
  if (end > hbm->vetted) TPT_TRY(vet_host(hbm, end));
  list_remove(hbm, block);
  split(hbm, block, size);
  *out_block = block;
  return NULL;
}

tpt_status_t vtpu_hbm_alloc(vtpu_hbm_t* hbm, size_t size, vtpu_block_t** out_block) {
  *out_block = NULL;
  if (size > hbm->reserved) return out_of_memory(hbm, size);
  size_t units = size == 0 ? 1 : (size + UNIT - 1) / UNIT;
  vtpu_block_t* block = units <= SMALL_UNITS ? hbm->small[units] : NULL;
  if (block) {
    hbm->small[units] = block->older;
    hbm->small_count[units]--;
  } else {
    TPT_TRY(alloc_merged(hbm, units * UNIT, &block));
  }
  block->ref_count = block->hold_count = block->use_count = 0;
  block->is_exposed = false;
  block->keep = NULL;
  hbm->in_use += block->size;
  if (hbm->in_use > hbm->peak) hbm->peak = hbm->in_use;
  if (block->size > hbm->largest_alloc) hbm->largest_alloc = block->size;
  hbm->alloc_count++;
  hbm->live_count++;
  *out_block = block;
  return NULL;
}

// --- reports ------------------------------------------------------------------------------------------

void vtpu_hbm_get_stats(vtpu_hbm_t* hbm, vtpu_hbm_stats_t* stats) {
  drop_small(hbm);
  *stats = (vtpu_hbm_stats_t){
      .limit = hbm->limit,
      .in_use = hbm->in_use,
      .peak = hbm->peak,
      .largest_free = largest_free(hbm),
      .largest_alloc = hbm->largest_alloc,
      .alloc_count = hbm->alloc_count,
      .live_count = hbm->live_count,
      .reserved = hbm->reserved,
  };
}

void vtpu_hbm_reset_peak(vtpu_hbm_t* hbm) {
  hbm->peak = hbm->in_use;
  hbm->largest_alloc = 0;
}

bool vtpu_hbm_contains(const vtpu_hbm_t* hbm, const void* data, size_t size) {
  uintptr_t base = (uintptr_t)hbm->base, at = (uintptr_t)data;
  return at >= base && size <= hbm->reserved && at - base <= hbm->reserved - size;
}
