// For tests: work that must survive the failure of any one of its allocations.
//
//   static const fault_case_t add = {"add", begin_add, run_add, end_add};
//   fault_run(&add, &state, 100);
//
// The work runs once undisturbed, then with the first, the second, ... allocation failing (spread out
// when there are more than `points`). A failure must be RESOURCE_EXHAUSTED and speak of memory; success
// is legal, too: caches and notes do without. Sanitizers look for leaks and misuse.
#ifndef TPUTORCH_BASE_FAULT_H_
#define TPUTORCH_BASE_FAULT_H_

#include <stdbool.h>

#include "base/allocator.h"
#include "base/check.h"

typedef struct fault_case {
  const char* name;
  void (*begin)(void* arg);  // (optional) before each run, undisturbed
  tpt_status_t (*work)(void* arg);
  void (*end)(void* arg,
              bool has_failed);  // (optional) after each run, undisturbed: checks and frees
} fault_case_t;

// One run with the n-th allocation failing (0: none). Returns how many there were.
static inline uint64_t fault_once(const fault_case_t* c, void* arg, uint64_t number) {
  if (c->begin) c->begin(arg);
  (void)tpt_allocator_fail_after(number);
  tpt_status_t status = c->work(arg);
  uint64_t count = tpt_allocator_fail_after(0);
  bool has_failed = status != NULL;
  bool is_good = !status || (number > 0 && tpt_status_code(status) == TPT_RESOURCE_EXHAUSTED &&
                             strstr(tpt_status_message(status), "memory"));
  if (!is_good) {
    fprintf(stderr, "%s, allocation %llu: code %d, \"%s\" [%s]\n", c->name,
            (unsigned long long)number, (int)tpt_status_code(status), tpt_status_message(status),
            tpt_status_where(status));
    tpt_check_failures++;
  }
  tpt_status_release(status);
  int before = tpt_check_failures;
  if (c->end) c->end(arg, has_failed);
  if (before != tpt_check_failures)
    fprintf(stderr, "  %s, after allocation %llu failed\n", c->name, (unsigned long long)number);
  return count;
}

// Returns the number of allocations of an undisturbed run.
static inline uint64_t fault_run(const fault_case_t* c, void* arg, uint64_t points) {
  uint64_t count = fault_once(c, arg, 0);
  uint64_t step = count > points ? count / points : 1;
  // Other works with as many allocations begin elsewhere.
  uint64_t number = step > 1 ? 1 + (count + strlen(c->name) + (unsigned char)*c->name) % step : 1;
  for (; number <= count && tpt_check_failures < 20; number += step)
    (void)fault_once(c, arg, number);
  return count;
}

#endif  // TPUTORCH_BASE_FAULT_H_
