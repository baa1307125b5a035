// Main of a fuzz program (src/*/*_fuzz.c) where libFuzzer is not linked: seeds of the program's own,
// changed at random. `foo_fuzz SECONDS [NUMBER]`, or `foo_fuzz n4000 [NUMBER]` for 4000 inputs, is
// reproducible: the same number makes the same inputs in the same order. The index of the input that the
// program dies of is printed.
//
// The including file defines LLVMFuzzerTestOneInput and
//   size_t fuzz_seed(size_t number, char* out, size_t room);
// which writes seed `number` and returns its size, 0 past the last.
#ifndef TPUTORCH_BASE_FUZZ_H_
#define TPUTORCH_BASE_FUZZ_H_

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

size_t fuzz_seed(size_t number, char* out, size_t room);

#ifndef TPUTORCH_LIBFUZZER

enum { FUZZ_SIZE_MAX = 16384, FUZZ_SEEDS_MAX = 512 };

static struct {
  uint64_t state;  // of the generator
  char* seeds[FUZZ_SEEDS_MAX];
  size_t sizes[FUZZ_SEEDS_MAX], count;
  char text[FUZZ_SIZE_MAX];
  size_t size;
  unsigned long long runs;
} fuzz;

// splitmix64
static inline uint64_t fuzz_random(void) {
  uint64_t z = fuzz.state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}
static inline size_t fuzz_below(size_t count) {
  return count ? (size_t)(fuzz_random() % count) : 0;
}

// A word (letters, digits, "_.%@#") or one other character around a random place of a text.
static inline size_t fuzz_token(const char* text, size_t size, size_t* out_start) {
  size_t start = fuzz_below(size), end = start;
#define FUZZ_IS_WORD(c) (isalnum((unsigned char)(c)) || ((c) && strchr("_.%@#", (c))))
  while (end < size && FUZZ_IS_WORD(text[end]))
    end++;
  while (start > 0 && FUZZ_IS_WORD(text[start]) && FUZZ_IS_WORD(text[start - 1]))
    start--;
#undef FUZZ_IS_WORD
  *out_start = start;
  return end > start ? end - start : size > 0;
}

// Replaces `cut` bytes at `at` by others; too long a result is left as it was.
static inline void fuzz_splice(size_t at, size_t cut, const char* data, size_t size) {
  if (fuzz.size - cut + size > FUZZ_SIZE_MAX || at + cut > fuzz.size) return;
  memmove(fuzz.text + at + size, fuzz.text + at + cut, fuzz.size - at - cut);
  memcpy(fuzz.text + at, data, size);
  fuzz.size += size - cut;
}

static inline void fuzz_mutate(void) {
  static const char* const kNumbers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "7",
                                         "-0",
                                         "255",
                                         "4294967295",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "99999999999999999999",
                                         "1e999",
                                         "0x7FC00000",
                                         "0x",
                                         "1.5",
                                         "1073741824"};
  char copy[256];
  size_t other = fuzz_below(fuzz.count), at, from, size = fuzz_token(fuzz.text, fuzz.size, &at);
  switch (fuzz_below(9)) {
  case 0:  // a byte of any kind
    if (fuzz.size) fuzz.text[fuzz_below(fuzz.size)] = (char)fuzz_random();
    break;
  case 1:  // a bit
    if (fuzz.size) fuzz.text[fuzz_below(fuzz.size)] ^= (char)(1 << fuzz_below(8));
    break;
  case 2:  // a word gone
    fuzz_splice(at, size, "", 0);
    break;
  case 3: {  // a number
    const char* number = kNumbers[fuzz_below(sizeof(kNumbers) / sizeof(*kNumbers))];
    fuzz_splice(at, size, number, strlen(number));
    break;
  }
  case 4:  // a word from elsewhere, instead of one or before it
  case 5: {
    size_t word = fuzz_token(fuzz.seeds[other], fuzz.sizes[other], &from);
    fuzz_splice(at, fuzz_below(2) ? size : 0, fuzz.seeds[other] + from, word);
    break;
  }
  case 6:  // a piece again
    size = fuzz_below(sizeof(copy));
    from = fuzz_below(fuzz.size);
    if (from + size > fuzz.size) size = fuzz.size - from;
    memcpy(copy, fuzz.text + from, size);
    fuzz_splice(at, 0, copy, size);
    break;
  case 7:  // the end gone
    if (fuzz_below(4) == 0) fuzz.size = fuzz_below(fuzz.size + 1);
    break;
  default:  // a piece of another seed
    size = fuzz_below(sizeof(copy));
    from = fuzz_below(fuzz.sizes[other]);
    if (from + size > fuzz.sizes[other]) size = fuzz.sizes[other] - from;
    fuzz_splice(at, 0, fuzz.seeds[other] + from, size);
  }
}

static inline void fuzz_report(void) {
  char text[64];
  int size = snprintf(text, sizeof(text), "fuzz: died on input %llu\n", fuzz.runs);
  if (write(2, text, (size_t)size) != size) return;
}
#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_set_death_callback(void (*callback)(void));
#endif
static inline void fuzz_on_signal(int number) {
  fuzz_report();
  signal(number, SIG_DFL);
  raise(number);
}

static inline void fuzz_collect_seeds(void) {
  for (size_t size; fuzz.count < FUZZ_SEEDS_MAX; fuzz.count++) {
    size = fuzz_seed(fuzz.count, fuzz.text, FUZZ_SIZE_MAX);
    if (!size) return;
    fuzz.seeds[fuzz.count] = memcpy(malloc(size), fuzz.text, size);
    fuzz.sizes[fuzz.count] = size;
  }
}

int main(int argc, char** argv) {
  bool is_counted = argc > 1 && *argv[1] == 'n';
  double seconds = argc > 1 && !is_counted ? atof(argv[1]) : 1;
  unsigned long long limit = is_counted ? strtoull(argv[1] + 1, NULL, 10) : 0;
  fuzz.state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  unsigned long long first =
      argc > 3 ? strtoull(argv[3], NULL, 10) : 0;  // inputs before are not run
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(fuzz_report);
#else
  signal(SIGSEGV, fuzz_on_signal);
#endif
  signal(SIGILL, fuzz_on_signal);  // __builtin_trap
  signal(SIGABRT, fuzz_on_signal);
  fuzz_collect_seeds();
  time_t start = time(NULL);
  for (; is_counted ? fuzz.runs < limit : difftime(time(NULL), start) < seconds; fuzz.runs++) {
    size_t seed = fuzz.runs < fuzz.count ? (size_t)fuzz.runs : fuzz_below(fuzz.count);
    memcpy(fuzz.text, fuzz.seeds[seed], fuzz.size = fuzz.sizes[seed]);
    size_t changes = fuzz.runs < fuzz.count ? 0 : 1 + fuzz_below(6);
    for (size_t i = 0; i < changes; i++)
      fuzz_mutate();
    if (fuzz.runs < first) continue;
    char* exact = malloc(fuzz.size ? fuzz.size : 1);  // so that a sanitizer sees reads past the end
    memcpy(exact, fuzz.text, fuzz.size);
    (void)LLVMFuzzerTestOneInput((const uint8_t*)exact, fuzz.size);
    free(exact);
  }
  printf("ok   %llu inputs from %zu seeds\n", fuzz.runs, fuzz.count);
  for (size_t i = 0; i < fuzz.count; i++)
    free(fuzz.seeds[i]);
  return 0;
}

#endif  // TPUTORCH_LIBFUZZER
#endif  // TPUTORCH_BASE_FUZZ_H_
