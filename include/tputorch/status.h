// Status: how every fallible function of the core reports failure.
//
// NULL is success; anything else is an owned object that the caller passes on or releases. The code
// numbers equal PJRT_Error_Code (and absl::StatusCode), so no mapping table exists. Nothing in the
// core prints, exits or aborts on bad input: it returns one of these.
#ifndef TPUTORCH_STATUS_H_
#define TPUTORCH_STATUS_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tpt_code {
  TPT_OK = 0,
  TPT_CANCELLED = 1,
  TPT_UNKNOWN = 2,
  TPT_INVALID_ARGUMENT = 3,
  TPT_DEADLINE_EXCEEDED = 4,
  TPT_NOT_FOUND = 5,
  TPT_ALREADY_EXISTS = 6,
  TPT_PERMISSION_DENIED = 7,
  TPT_RESOURCE_EXHAUSTED = 8,
  TPT_FAILED_PRECONDITION = 9,
  TPT_ABORTED = 10,
  TPT_OUT_OF_RANGE = 11,
  TPT_UNIMPLEMENTED = 12,
  TPT_INTERNAL = 13,
  TPT_UNAVAILABLE = 14,
  TPT_DATA_LOSS = 15,
  TPT_UNAUTHENTICATED = 16,
} tpt_code_t;

typedef struct tpt_status* tpt_status_t;

#define TPT_MUST_USE                       __attribute__((warn_unused_result))
#define TPT_PRINTF(fmt_index, first_index) __attribute__((format(printf, fmt_index, first_index)))

// Makes a status with a formatted message and the place it was made. When no memory is left it
// returns a static RESOURCE_EXHAUSTED status, so reporting an error never needs memory. Thread-safe.
TPT_MUST_USE tpt_status_t tpt_status_make(tpt_code_t code, const char* file, int line,
                                          const char* format, ...) TPT_PRINTF(4, 5);

// Adds a "; while ..." note to a failed status and returns it; NULL stays NULL. Consumes `take_status`.
TPT_MUST_USE tpt_status_t tpt_status_note(tpt_status_t take_status, const char* format, ...)
    TPT_PRINTF(2, 3);

// The code; TPT_OK for NULL.
tpt_code_t tpt_status_code(tpt_status_t status);

// What is wrong, then the notes, in one line. Borrowed until the status is released; "OK" for NULL.
const char* tpt_status_message(tpt_status_t status);

// "file:line" where the status was made; "" for NULL. Borrowed until the status is released.
const char* tpt_status_where(tpt_status_t status);

// An independent copy (NULL for NULL).
TPT_MUST_USE tpt_status_t tpt_status_clone(tpt_status_t status);

// The first of two that is no success; the other one is released. Both consumed.
TPT_MUST_USE tpt_status_t tpt_status_first(tpt_status_t take_a, tpt_status_t take_b);

// Frees a status; NULL is legal.
void tpt_status_release(tpt_status_t take_status);

// The three macros of the project. Fail with a code and a text; try; try with a note.
#define TPT_FAIL(code, ...) return tpt_status_make((code), __FILE__, __LINE__, __VA_ARGS__)
#define TPT_TRY(expression)                                                                        \
  do {                                                                                             \
    tpt_status_t tpt_try_status = (expression);                                                    \
    if (__builtin_expect(tpt_try_status != NULL, 0)) return tpt_try_status;                        \
  } while (0)
#define TPT_TRY_NOTE(expression, ...)                                                              \
  do {                                                                                             \
    tpt_status_t tpt_try_status = (expression);                                                    \
    if (__builtin_expect(tpt_try_status != NULL, 0))                                               \
      return tpt_status_note(tpt_try_status, __VA_ARGS__);                                         \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif  // TPUTORCH_STATUS_H_
