#include "base/check.h"
#include "base/digest.h"

static const char* digest_of(const void* data, size_t size, size_t piece) {
  static char text[2 * TPT_DIGEST_SIZE + 1];
  unsigned char bytes[TPT_DIGEST_SIZE];
  tpt_digest_t digest;
  tpt_digest_init(&digest);
  for (size_t at = 0; at < size; at += piece)
    tpt_digest_append(&digest, (const char*)data + at, size - at < piece ? size - at : piece);
  tpt_digest_finish(&digest, bytes);
  tpt_digest_print(bytes, sizeof(bytes), text);
  return text;
}

// The messages of NIST's example values for FIPS 180-4.
static void test_known_messages(void) {
  CHECK_STR(digest_of("", 0, 1),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK_STR(digest_of("abc", 3, 3),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_STR(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 56),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  static char million[1000000];
  memset(million, 'a', sizeof(million));
  CHECK_STR(digest_of(million, sizeof(million), 4096),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_pieces_do_not_matter(void) {
  unsigned char data[200];
  for (int i = 0; i < 200; i++)
    data[i] = (unsigned char)(i * 7);
  for (size_t size = 0; size <= sizeof(data); size++) {
    char whole[2 * TPT_DIGEST_SIZE + 1];
    snprintf(whole, sizeof(whole), "%s", digest_of(data, size, 200));
    for (size_t piece = 1; piece < 70; piece += 17)
      CHECK_STR(digest_of(data, size, piece), whole);
  }
}

int main(void) {
  RUN(test_known_messages);
  RUN(test_pieces_do_not_matter);
  return TEST_RESULT;
}
