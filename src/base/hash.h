// 64-bit hash of bytes, for tables. Not stable across versions, not cryptographic.
#ifndef TPUTORCH_BASE_HASH_H_
#define TPUTORCH_BASE_HASH_H_

#include <stddef.h>
#include <stdint.h>

uint64_t tpt_hash_bytes(const void* data, size_t size, uint64_t seed);

static inline uint64_t tpt_hash_mix(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif  // TPUTORCH_BASE_HASH_H_
