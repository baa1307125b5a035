// Owns SHA-256, by the letter of FIPS 180-4. Must not know what is named by it. Invariant: `block` holds
// the size % 64 bytes that no round has taken yet.
#include "base/digest.h"

#include <string.h>

// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, int count) {
  return x >> count | x << (32 - count);
}

static void take_block(uint32_t state[8], const unsigned char* block) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[i - 7] +
           (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  memcpy(s, state, sizeof(s));
  for (int i = 0; i < 64; i++) {
    uint32_t a = s[0], e = s[4];
    uint32_t t = s[7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                 ((e & s[5]) ^ (~e & s[6])) + round_constants[i] + w[i];
    uint32_t u = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
                 ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof(*s));
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; i++)
    state[i] += s[i];
}

void tpt_digest_init(tpt_digest_t* digest) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(digest->state, start, sizeof(start));
  digest->size = 0;
}

void tpt_digest_append(tpt_digest_t* digest, const void* data, size_t size) {
  const unsigned char* p = data;
  size_t held = digest->size % 64;
  digest->size += size;
  while (size > 0) {
    if (held == 0 && size >= 64) {
      take_block(digest->state, p);
      p += 64;
      size -= 64;
      continue;
    }
    size_t part = 64 - held < size ? 64 - held : size;
    memcpy(digest->block + held, p, part);
    p += part;
    size -= part;
    held = (held + part) % 64;
    if (held == 0) take_block(digest->state, digest->block);
  }
}

void tpt_digest_finish(tpt_digest_t* digest, unsigned char out_bytes[TPT_DIGEST_SIZE]) {
  static const unsigned char padding[64] = {0x80};
  unsigned char length[8];
  for (int i = 0; i < 8; i++)
    length[i] = (unsigned char)(digest->size * 8 >> (56 - 8 * i));
  size_t held = digest->size % 64;
  tpt_digest_append(digest, padding, held < 56 ? 56 - held : 120 - held);
  tpt_digest_append(digest, length, sizeof(length));
  for (int i = 0; i < TPT_DIGEST_SIZE; i++)
    out_bytes[i] = (unsigned char)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}

void tpt_digest_print(const unsigned char* bytes, size_t size, char* out_text) {
  for (size_t i = 0; i < size; i++) {
    out_text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    out_text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  out_text[2 * size] = 0;
}
