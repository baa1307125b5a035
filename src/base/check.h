// Checks for C tests. A failed check prints where and what and makes the test program exit with 1
// once all its tests have run.
#ifndef TPUTORCH_BASE_CHECK_H_
#define TPUTORCH_BASE_CHECK_H_

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tputorch/status.h"

static int tpt_check_failures;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                      \
      tpt_check_failures++;                                                                        \
    }                                                                                              \
  } while (0)
#define CHECK_EQ(a, b)                                                                             \
  do {                                                                                             \
    long long tpt_check_a = (long long)(a), tpt_check_b = (long long)(b);                          \
    if (tpt_check_a != tpt_check_b) {                                                              \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #a, tpt_check_a,        \
              tpt_check_b);                                                                        \
      tpt_check_failures++;                                                                        \
    }                                                                                              \
  } while (0)
#define CHECK_STR(a, b)                                                                            \
  do {                                                                                             \
    const char *tpt_check_a = (a), *tpt_check_b = (b);                                             \
    if (strcmp(tpt_check_a, tpt_check_b) != 0) {                                                   \
      fprintf(stderr, "%s:%d: %s is\n%s\nnot\n%s\n", __FILE__, __LINE__, #a, tpt_check_a,          \
              tpt_check_b);                                                                        \
      tpt_check_failures++;                                                                        \
    }                                                                                              \
  } while (0)
#define CHECK_NEAR(a, b, tolerance)                                                                \
  do {                                                                                             \
    double tpt_check_a = (a), tpt_check_b = (b);                                                   \
    if (!(fabs(tpt_check_a - tpt_check_b) <= (tolerance))) {                                       \
      fprintf(stderr, "%s:%d: %s is %.9g, not %.9g\n", __FILE__, __LINE__, #a, tpt_check_a,        \
              tpt_check_b);                                                                        \
      tpt_check_failures++;                                                                        \
    }                                                                                              \
  } while (0)
// Consumes a status that must be NULL; evaluates to true when it is.
#define CHECK_OK(expression) tpt_check_ok((expression), __FILE__, __LINE__, #expression)
// Consumes a status that must have this code and contain this text.
#define CHECK_FAILS(expression, code, text)                                                        \
  tpt_check_fails((expression), (code), (text), __FILE__, __LINE__, #expression)
#define RUN(test)                                                                                  \
  do {                                                                                             \
    int tpt_check_before = tpt_check_failures;                                                     \
    test();                                                                                        \
    printf("%s %s\n", tpt_check_failures == tpt_check_before ? "ok  " : "FAIL", #test);            \
  } while (0)
#define TEST_RESULT (tpt_check_failures == 0 ? 0 : 1)

static inline int tpt_check_ok(tpt_status_t take_status, const char* file, int line,
                               const char* text) {
  if (!take_status) return 1;
  fprintf(stderr, "%s:%d: %s: %s [%s]\n", file, line, text, tpt_status_message(take_status),
          tpt_status_where(take_status));
  tpt_check_failures++;
  tpt_status_release(take_status);
  return 0;
}

static inline void tpt_check_fails(tpt_status_t take_status, tpt_code_t code, const char* part,
                                   const char* file, int line, const char* text) {
  if (tpt_status_code(take_status) != code || !strstr(tpt_status_message(take_status), part)) {
    fprintf(stderr, "%s:%d: %s: code %d, \"%s\"; wanted code %d with \"%s\"\n", file, line, text,
            (int)tpt_status_code(take_status), tpt_status_message(take_status), (int)code, part);
    tpt_check_failures++;
  }
  tpt_status_release(take_status);
}

#endif  // TPUTORCH_BASE_CHECK_H_
