// SHA-256 (FIPS 180-4) of bytes given in any number of pieces: names for content. Thread-compatible.
#ifndef TPUTORCH_BASE_DIGEST_H_
#define TPUTORCH_BASE_DIGEST_H_

#include <stddef.h>
#include <stdint.h>

enum { TPT_DIGEST_SIZE = 32 };

typedef struct tpt_digest {
  uint32_t state[8];
  uint64_t size;            // bytes taken so far
  unsigned char block[64];  // the last, incomplete one
} tpt_digest_t;

void tpt_digest_init(tpt_digest_t* digest);
void tpt_digest_append(tpt_digest_t* digest, const void* data, size_t size);
// Ends the message; the digest must be initialised again before it takes more.
void tpt_digest_finish(tpt_digest_t* digest, unsigned char out_bytes[TPT_DIGEST_SIZE]);
// Bytes as lower-case hexadecimal digits; out_text has 2 * size + 1 places.
void tpt_digest_print(const unsigned char* bytes, size_t size, char* out_text);

#endif  // TPUTORCH_BASE_DIGEST_H_
