// Owns the hash of bytes: 16 bytes a step through a widening multiply. Must not know what is
// hashed.
#include "base/hash.h"

#include <string.h>

static uint64_t load(const unsigned char* data, size_t size) {
  uint64_t word = 0;
  memcpy(&word, data, size);
  return word;
}

uint64_t tpt_hash_bytes(const void* data, size_t size, uint64_t seed) {
  const unsigned char* p = data;
  uint64_t hash = tpt_hash_mix(seed, size);
  for (; size >= 16; size -= 16, p += 16)
    hash = tpt_hash_mix(load(p, 8) ^ hash, load(p + 8, 8) ^ (hash >> 32));
  if (size >= 8) {
    hash = tpt_hash_mix(load(p, 8) ^ hash, hash >> 32);
    p += 8;
    size -= 8;
  }
  if (size) hash = tpt_hash_mix(load(p, size) ^ hash, ~hash);
  return tpt_hash_mix(hash, hash >> 29);
}
