// Tests of the byte hash: equal input, equal hash; every bit of the input and the size count.
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"

static int compare(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

static void test_every_bit_counts(void) {
  unsigned char data[64] = {0};
  for (size_t size = 0; size <= sizeof(data); size++) {
    uint64_t base = tpt_hash_bytes(data, size, 1);
    CHECK(base == tpt_hash_bytes(data, size, 1));
    CHECK(base != tpt_hash_bytes(data, size, 2));
    if (size) CHECK(base != tpt_hash_bytes(data, size - 1, 1));
    for (size_t bit = 0; bit < size * 8; bit++) {
      data[bit / 8] ^= (unsigned char)(1 << bit % 8);
      CHECK(base != tpt_hash_bytes(data, size, 1));
      data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
  }
}

static void test_small_numbers_do_not_collide(void) {
  enum { COUNT = 50000 };
  uint64_t* hashes = malloc(COUNT * sizeof(*hashes));
  for (int64_t i = 0; i < COUNT; i++) {
    int64_t key[3] = {i % 50, i / 50 % 50, i / 2500};
    hashes[i] = tpt_hash_bytes(key, sizeof(key), 0);
  }
  qsort(hashes, COUNT, sizeof(*hashes), compare);
  int equal = 0, equal_halves = 0;
  for (int i = 1; i < COUNT; i++) {
    equal += hashes[i] == hashes[i - 1];
    equal_halves += hashes[i] >> 32 == hashes[i - 1] >> 32;
  }
  CHECK_EQ(equal, 0);
  CHECK(equal_halves < 10);
  free(hashes);
}

int main(void) {
  RUN(test_every_bit_counts);
  RUN(test_small_numbers_do_not_collide);
  return TEST_RESULT;
}
