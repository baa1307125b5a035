// Tests of the HBM allocator: alignment, no overlap, merging, statistics, out of memory, speed of
// reuse.
#include <stdlib.h>
#include <sys/resource.h>

#include "base/allocator.h"
#include "base/check.h"
#include "vtpu/hbm.h"

static const size_t mib = 1 << 20;

static void test_blocks_are_aligned_and_apart(void) {
  enum { COUNT = 400 };
  static vtpu_block_t* blocks[COUNT];
  vtpu_hbm_t* hbm = NULL;
  CHECK_OK(vtpu_hbm_create(64 * mib, &hbm));
  int wrong = 0;
  for (int i = 0; i < COUNT; i++) {
    size_t size = (size_t)(i * 37) % 9000;
    CHECK_OK(vtpu_hbm_alloc(hbm, size, &blocks[i]));
    wrong += (uintptr_t)blocks[i]->data % 64 != 0 || blocks[i]->size < size;
    wrong += !vtpu_hbm_contains(hbm, blocks[i]->data, blocks[i]->size);
    memset(blocks[i]->data, i, blocks[i]->size);
  }
  for (int i = 0; i < COUNT; i++) {
    wrong += (unsigned char)blocks[i]->data[0] != i % 256;
    wrong += (unsigned char)blocks[i]->data[blocks[i]->size - 1] != i % 256;
    vtpu_hbm_free(hbm, blocks[i]);
  }
  CHECK_EQ(wrong, 0);
  vtpu_hbm_release(hbm);
}

// Random traffic against a model: nothing overlaps, sums agree, and all of it merges back.
static void test_random_traffic_merges_back(void) {
  enum { COUNT = 200 };
  static vtpu_block_t* blocks[COUNT];
  vtpu_hbm_t* hbm = NULL;
  vtpu_hbm_stats_t stats;
  CHECK_OK(vtpu_hbm_create(32 * mib, &hbm));
  srand(1);
  size_t in_use = 0;
  int wrong = 0;
  for (int step = 0; step < 40000; step++) {
    int i = rand() % COUNT;
    if (blocks[i]) {
      wrong += *(int*)blocks[i]->data != i;
      in_use -= blocks[i]->size;
      vtpu_hbm_free(hbm, blocks[i]);
      blocks[i] = NULL;
    } else {
      size_t size = (size_t)rand() % (rand() % 4 ? 3000 : 150000);
      CHECK_OK(vtpu_hbm_alloc(hbm, size, &blocks[i]));
      in_use += blocks[i]->size;
      *(int*)blocks[i]->data = i;
    }
    if (step % 5000 == 0) {
      vtpu_hbm_get_stats(hbm, &stats);
      wrong += stats.in_use != in_use;
    }
  }
  for (int i = 0; i < COUNT; i++) {
    if (blocks[i]) vtpu_hbm_free(hbm, blocks[i]);
    blocks[i] = NULL;
  }
  CHECK_EQ(wrong, 0);
  vtpu_hbm_get_stats(hbm, &stats);
  CHECK_EQ(stats.in_use, 0);
  CHECK_EQ(stats.live_count, 0);
  CHECK_EQ(stats.largest_free, 32 * mib);
  CHECK(stats.peak > 0 && stats.largest_alloc > 100000 && stats.alloc_count > 10000);
  vtpu_hbm_reset_peak(hbm);
  vtpu_hbm_get_stats(hbm, &stats);
  CHECK_EQ(stats.peak, 0);
  vtpu_hbm_release(hbm);
}

static void test_whole_memory_can_be_one_block(void) {
  vtpu_hbm_t* hbm = NULL;
  vtpu_block_t *block = NULL, *small[3];
  const size_t size = 10 * mib + 192;  // of no size class's edge
  CHECK_OK(vtpu_hbm_create(size, &hbm));
  for (int i = 0; i < 3; i++)
    CHECK_OK(vtpu_hbm_alloc(hbm, 64, &small[i]));
  for (int i = 0; i < 3; i++)
    vtpu_hbm_free(hbm, small[i]);
  CHECK_OK(vtpu_hbm_alloc(hbm, size, &block));  // the small ones merge first
  CHECK_FAILS(vtpu_hbm_alloc(hbm, 1, &small[0]), TPT_RESOURCE_EXHAUSTED, "0 free of");
  vtpu_hbm_free(hbm, block);
  CHECK_OK(vtpu_hbm_alloc(hbm, 1, &block));
  vtpu_hbm_release(hbm);
}

static void test_out_of_memory_tells_the_figures(void) {
  vtpu_hbm_t* hbm = NULL;
  vtpu_block_t *a = NULL, *b = NULL;
  CHECK_OK(vtpu_hbm_create(8 * mib, &hbm));
  CHECK_OK(vtpu_hbm_alloc(hbm, 5 * mib, &a));
  CHECK_FAILS(vtpu_hbm_alloc(hbm, 4 * mib, &b), TPT_RESOURCE_EXHAUSTED,
              "4194304 bytes requested, 3145728 free of 8388608, largest free block 3145728, peak "
              "in use 5242880");
  CHECK_FAILS(vtpu_hbm_alloc(hbm, SIZE_MAX, &b), TPT_RESOURCE_EXHAUSTED, "out of HBM");
  CHECK(b == NULL);
  CHECK_OK(vtpu_hbm_alloc(hbm, 3 * mib, &b));
  vtpu_hbm_release(hbm);
}

static void test_reuse_takes_the_newest_of_a_size(void) {
  vtpu_hbm_t* hbm = NULL;
  CHECK_OK(vtpu_hbm_create(64 * mib, &hbm));
  const size_t sizes[] = {64, 1000, 2048, 5000, 3 * mib};
  for (int i = 0; i < 5; i++) {
    vtpu_block_t *a = NULL, *b = NULL;
    CHECK_OK(vtpu_hbm_alloc(hbm, sizes[i], &a));
    char* data = a->data;
    a->last_use = 77;
    vtpu_hbm_free(hbm, a);
    CHECK_OK(vtpu_hbm_alloc(hbm, sizes[i], &b));
    CHECK(b->data == data);
    CHECK_EQ(b->last_use, 77);
    vtpu_hbm_free(hbm, b);
  }
  vtpu_hbm_release(hbm);
}

static void test_merged_blocks_remember_the_newest_use(void) {
  vtpu_hbm_t* hbm = NULL;
  vtpu_block_t *a = NULL, *b = NULL, *c = NULL;
  CHECK_OK(vtpu_hbm_create(16 * mib, &hbm));
  CHECK_OK(vtpu_hbm_alloc(hbm, 4 * mib, &a));
  CHECK_OK(vtpu_hbm_alloc(hbm, 4 * mib, &b));
  a->last_use = 5;
  b->last_use = 9;
  vtpu_hbm_free(hbm, b);
  vtpu_hbm_free(hbm, a);
  CHECK_OK(vtpu_hbm_alloc(hbm, 6 * mib, &c));
  CHECK_EQ(c->last_use, 9);
  vtpu_hbm_release(hbm);
}

static void test_large_hbm_costs_no_memory(void) {
  vtpu_hbm_t* hbm = NULL;
  vtpu_block_t* block = NULL;
  vtpu_hbm_stats_t stats;
  CHECK_OK(vtpu_hbm_create((size_t)95 << 30, &hbm));
  vtpu_hbm_get_stats(hbm, &stats);
  CHECK_EQ(stats.limit, (size_t)95 << 30);
  CHECK_OK(vtpu_hbm_alloc(hbm, 100, &block));
  memset(block->data, 1, 100);
  vtpu_hbm_release(hbm);
}

static void test_refused_address_space_shrinks_the_mapping(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct rlimit before, tight;
  CHECK_EQ(getrlimit(RLIMIT_AS, &before), 0);
  tight = before;
  tight.rlim_cur = (rlim_t)2 << 30;
  if (setrlimit(RLIMIT_AS, &tight) != 0) return;
  vtpu_hbm_t* hbm = NULL;
  vtpu_block_t* block = NULL;
  vtpu_hbm_stats_t stats;
  CHECK_OK(vtpu_hbm_create((size_t)16 << 30, &hbm));
  vtpu_hbm_get_stats(hbm, &stats);
  CHECK_EQ(stats.limit, (size_t)16 << 30);
  CHECK(stats.reserved < (size_t)2 << 30 && stats.reserved >= (size_t)512 << 20);
  CHECK_FAILS(vtpu_hbm_alloc(hbm, (size_t)3 << 30, &block), TPT_RESOURCE_EXHAUSTED, "ulimit -v");
  CHECK_OK(vtpu_hbm_alloc(hbm, 1000, &block));
  vtpu_hbm_release(hbm);
  CHECK_EQ(setrlimit(RLIMIT_AS, &before), 0);
#endif
}

static void test_no_host_memory_is_an_error_before_the_first_touch(void) {
  vtpu_hbm_t* hbm = NULL;
  vtpu_block_t* block = NULL;
  vtpu_hbm_stats_t stats;
  CHECK_OK(vtpu_hbm_create((size_t)4 << 40, &hbm));
  vtpu_hbm_get_stats(hbm, &stats);
  if (stats.reserved == stats.limit)  // ThreadSanitizer's address space is smaller
    CHECK_FAILS(vtpu_hbm_alloc(hbm, (size_t)3 << 40, &block), TPT_RESOURCE_EXHAUSTED,
                "no memory behind the virtual TPU's HBM");
  CHECK_OK(vtpu_hbm_alloc(hbm, 1000, &block));
  vtpu_hbm_release(hbm);
}

static void test_create_refuses_bad_sizes_and_survives_lack_of_memory(void) {
  vtpu_hbm_t* hbm = NULL;
  CHECK_FAILS(vtpu_hbm_create(0, &hbm), TPT_INVALID_ARGUMENT, "option hbm");
  CHECK_FAILS(vtpu_hbm_create(SIZE_MAX, &hbm), TPT_INVALID_ARGUMENT, "option hbm");
  for (uint64_t n = 1; n <= 2; n++) {
    tpt_allocator_fail_after(n);
    CHECK_FAILS(vtpu_hbm_create(mib, &hbm), TPT_RESOURCE_EXHAUSTED, "");
    tpt_allocator_fail_after(0);
  }
  CHECK(hbm == NULL);
  vtpu_hbm_release(NULL);
}

static void test_split_without_memory_keeps_the_block_whole(void) {
  vtpu_hbm_t* hbm = NULL;
  vtpu_block_t* block = NULL;
  CHECK_OK(vtpu_hbm_create(mib, &hbm));
  for (int i = 0; i < 63; i++)
    CHECK_OK(vtpu_hbm_alloc(hbm, 64, &block));
  tpt_allocator_fail_after(1);  // the slab's second chunk
  CHECK_OK(vtpu_hbm_alloc(hbm, 64, &block));
  tpt_allocator_fail_after(0);
  CHECK_EQ(block->size, mib - 63 * 64);
  vtpu_hbm_release(hbm);
}

int main(void) {
  RUN(test_blocks_are_aligned_and_apart);
  RUN(test_random_traffic_merges_back);
  RUN(test_whole_memory_can_be_one_block);
  RUN(test_out_of_memory_tells_the_figures);
  RUN(test_reuse_takes_the_newest_of_a_size);
  RUN(test_merged_blocks_remember_the_newest_use);
  RUN(test_large_hbm_costs_no_memory);
  RUN(test_refused_address_space_shrinks_the_mapping);
  RUN(test_no_host_memory_is_an_error_before_the_first_touch);
  RUN(test_create_refuses_bad_sizes_and_survives_lack_of_memory);
  RUN(test_split_without_memory_keeps_the_block_whole);
  return TEST_RESULT;
}
