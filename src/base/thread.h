// Threads: a pool for data-parallel loops. Mutexes and conditions are pthread's own.
#ifndef TPUTORCH_BASE_THREAD_H_
#define TPUTORCH_BASE_THREAD_H_

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct tpt_pool tpt_pool_t;

// Cores that this process may run on (affinity and cgroup quota respected), at least 1.
int tpt_thread_cores(void);

// A pool that runs loops on `thread_count` threads, the caller included (1 = no worker at all).
// Workers start at first use and sleep between loops. Owned by the caller.
TPT_MUST_USE tpt_status_t tpt_pool_create(int thread_count, tpt_pool_t** out_pool);
void tpt_pool_release(tpt_pool_t* take_pool);
int tpt_pool_thread_count(const tpt_pool_t* pool);

// Calls fn(arg, begin, end, thread) over disjoint ranges covering [0, count), each of at least
// `grain` items but the last; `thread` < thread_count is unique among concurrent calls. Returns when
// all are done. Runs inline when count <= grain. Not reentrant: a nested call runs inline.
typedef void (*tpt_pool_fn_t)(void* arg, int64_t begin, int64_t end, int thread);
void tpt_pool_for(tpt_pool_t* pool, int64_t count, int64_t grain, tpt_pool_fn_t fn, void* arg);
// The same, but inline on the calling thread, as thread 0, while another loop has the workers: for work
// that must not wait behind a long loop.
void tpt_pool_for_if_free(tpt_pool_t* pool, int64_t count, int64_t grain, tpt_pool_fn_t fn,
                          void* arg);

#endif  // TPUTORCH_BASE_THREAD_H_
