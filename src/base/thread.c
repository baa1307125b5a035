// The pool of worker threads for data-parallel loops, and the count of cores this process may use.
//
// A loop is cut into chunks; a ticket word holds (loop number, chunks left) and is claimed by
// compare-and-swap, so a worker that wakes late can never take a chunk of a loop it has not seen.
// Invariant: the fields of `loop` change only while no chunk is claimed or claimable, that is
// between the last `pending` decrement of one loop and the ticket store of the next.
#include "base/thread.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/allocator.h"

enum {
  THREAD_COUNT_MAX = 1024,
  CHUNKS_PER_THREAD = 4,  // slack that evens out threads of unequal speed
  SPIN_COUNT = 400,       // pauses before a thread sleeps: roughly 10-20 us
};

typedef struct worker {
  tpt_pool_t* pool;
  pthread_t thread;
  int number;  // 1 .. thread_count - 1
} worker_t;

typedef struct loop {
  tpt_pool_fn_t fn;
  void* arg;
  int64_t count;
  int64_t chunk;
  uint32_t chunk_count;
} loop_t;

struct tpt_pool {
  int thread_count;
  // --- callers
  pthread_mutex_t turn;  // held by the thread whose loop runs
  // --- the loop at hand
  loop_t loop;
  _Atomic uint64_t ticket;   // loop number << 32 | chunks that nobody has claimed
  _Atomic uint32_t pending;  // chunks that are not finished
  // --- sleep
  pthread_mutex_t mutex;
  pthread_cond_t work, finished;
  _Atomic int sleeper_count;
  _Atomic bool is_caller_asleep;
  _Atomic bool is_closed;
  // --- workers, started at first use under `turn`
  bool is_started;
  int worker_count;
  worker_t* workers;
};

// Number of this thread within the loop that it runs a part of; -1 outside.
static _Thread_local int loop_thread = -1;

static inline void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

// --- cores ----------------------------------------------------------------------------------------

// Cores that a "quota period" pair allows, rounded up; `cores` when there is no limit.
static int quota_cores(long long quota, long long period, int cores) {
  if (quota <= 0 || period <= 0) return cores;
  long long allowed = (quota + period - 1) / period;
  return allowed < cores ? (int)(allowed < 1 ? 1 : allowed) : cores;
}

static bool read_line(const char* path, char* line, int line_size) {
  FILE* file = fopen(path, "re");
  if (!file) return false;
  bool ok = fgets(line, line_size, file) != NULL;
  fclose(file);
  return ok;
}

// cgroup v2: cpu.max of the process's group and of each group above it.
static int unified_cores(char* group, int cores) {
  for (;;) {
    char path[600], line[100];
    long long quota = 0, period = 0;
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
    if (read_line(path, line, sizeof(line)) && sscanf(line, "%lld %lld", &quota, &period) == 2)
      cores = quota_cores(quota, period, cores);
    char* slash = strrchr(group, '/');
    if (!slash) return cores;
    *slash = 0;
  }
}

// cgroup v1: two files in the folder of the cpu controller.
static int split_cores(const char* group, int cores) {
  char path[600], quota[100], period[100];
  snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", group);
  if (!read_line(path, quota, sizeof(quota))) return cores;
  snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group);
  if (!read_line(path, period, sizeof(period))) return cores;
  return quota_cores(atoll(quota), atoll(period), cores);
}

int tpt_thread_cores(void) {
  cpu_set_t set;
  int cores = 1;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    cores = CPU_COUNT(&set);
  } else {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online > 0) cores = (int)online;
  }
  FILE* file = fopen("/proc/self/cgroup", "re");
  char line[512];
  while (file && fgets(line, sizeof(line), file)) {
    line[strcspn(line, "\n")] = 0;
    char* controllers = strchr(line, ':');
    char* group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    if (strcmp(controllers, ":") == 0)
      cores = unified_cores(group, cores);
    else if (strstr(controllers, "cpu") && !strstr(controllers, "cpuset"))
      cores = split_cores(strcmp(group, "/") == 0 ? "" : group, cores);
  }
  if (file) fclose(file);
  // Inside a container the group's own files often stand at the root whatever the path says.
  char root[1] = "";
  cores = split_cores("", unified_cores(root, cores));
  return cores < 1 ? 1 : cores;
}

// --- chunks ----------------------------------------------------------------------------------------

// Claims and runs chunks until none is left. Any thread.
static void run_chunks(tpt_pool_t* pool, int thread) {
  uint64_t ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
  while ((uint32_t)ticket != 0) {
    if (!atomic_compare_exchange_weak_explicit(&pool->ticket, &ticket, ticket - 1,
                                               memory_order_acq_rel, memory_order_acquire))
      continue;
    const loop_t* loop = &pool->loop;
    int64_t begin = (int64_t)(loop->chunk_count - (uint32_t)ticket) * loop->chunk;
    int64_t end = loop->count - begin < loop->chunk ? loop->count : begin + loop->chunk;
    loop->fn(loop->arg, begin, end, thread);
    if (atomic_fetch_sub(&pool->pending, 1) == 1 && atomic_load(&pool->is_caller_asleep)) {
      pthread_mutex_lock(&pool->mutex);
      pthread_cond_signal(&pool->finished);
      pthread_mutex_unlock(&pool->mutex);
    }
    ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
  }
}

static void* worker_main(void* arg) {
  worker_t* worker = arg;
  tpt_pool_t* pool = worker->pool;
  loop_thread = worker->number;
  while (!atomic_load(&pool->is_closed)) {
    run_chunks(pool, worker->number);
    bool has_work = false;
    for (int i = 0; i < SPIN_COUNT && !has_work; i++) {
      pause_cpu();
      has_work = (uint32_t)atomic_load_explicit(&pool->ticket, memory_order_relaxed) != 0;
    }
    if (has_work) continue;
    // The count goes up before the ticket is read again and the caller does the reverse, so one of
    // the two sees the other.
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleeper_count, 1);
    while ((uint32_t)atomic_load(&pool->ticket) == 0 && !atomic_load(&pool->is_closed))
      pthread_cond_wait(&pool->work, &pool->mutex);
    atomic_fetch_sub(&pool->sleeper_count, 1);
    pthread_mutex_unlock(&pool->mutex);
  }
  return NULL;
}

// Starts the workers; those that the system refuses are simply missing.
static void start_workers(tpt_pool_t* pool) {
  pool->is_started = true;
  for (int i = 0; i < pool->thread_count - 1; i++) {
    worker_t* worker = &pool->workers[pool->worker_count];
    *worker = (worker_t){.pool = pool, .number = pool->worker_count + 1};
    if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) return;
    pool->worker_count++;
  }
}

static void await_chunks(tpt_pool_t* pool) {
  for (int i = 0; i < SPIN_COUNT; i++) {
    if (atomic_load_explicit(&pool->pending, memory_order_acquire) == 0) return;
    pause_cpu();
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->is_caller_asleep, true);
  while (atomic_load(&pool->pending) != 0)
    pthread_cond_wait(&pool->finished, &pool->mutex);
  atomic_store(&pool->is_caller_asleep, false);
  pthread_mutex_unlock(&pool->mutex);
}

// --- pool -------------------------------------------------------------------------------------------

tpt_status_t tpt_pool_create(int thread_count, tpt_pool_t** out_pool) {
  *out_pool = NULL;
  if (thread_count < 1 || thread_count > THREAD_COUNT_MAX)
    TPT_FAIL(TPT_INVALID_ARGUMENT, "a pool has 1 to %d threads, not %d", THREAD_COUNT_MAX,
             thread_count);
  tpt_pool_t* pool = tpt_calloc(1, sizeof(*pool));
  worker_t* workers = tpt_calloc((size_t)thread_count, sizeof(*workers));
  if (!pool || !workers) {
    tpt_free(pool);
    tpt_free(workers);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a pool of %d threads", thread_count);
  }
  pool->thread_count = thread_count;
  pool->workers = workers;
  pthread_mutex_init(&pool->turn, NULL);
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->finished, NULL);
  *out_pool = pool;
  return NULL;
}

void tpt_pool_release(tpt_pool_t* pool) {
  if (!pool) return;
  pthread_mutex_lock(&pool->mutex);
  atomic_store(&pool->is_closed, true);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->worker_count; i++)
    pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->finished);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  pthread_mutex_destroy(&pool->turn);
  tpt_free(pool->workers);
  tpt_free(pool);
}

int tpt_pool_thread_count(const tpt_pool_t* pool) {
  return pool->thread_count;
}

// Hands a loop to the workers and takes part. The caller's turn.
static void run_loop(tpt_pool_t* pool, const loop_t* loop) {
  if (!pool->is_started) start_workers(pool);
  pool->loop = *loop;
  atomic_store_explicit(&pool->pending, loop->chunk_count, memory_order_relaxed);
  uint64_t number = (atomic_load_explicit(&pool->ticket, memory_order_relaxed) >> 32) + 1;
  atomic_store(&pool->ticket, number << 32 | loop->chunk_count);
  if (atomic_load(&pool->sleeper_count) > 0) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
  }
  loop_thread = 0;
  run_chunks(pool, 0);
  loop_thread = -1;
  await_chunks(pool);
}

// True when the calling thread does all of it.
static bool run_inline(const tpt_pool_t* pool, int64_t count, int64_t grain, tpt_pool_fn_t fn,
                       void* arg) {
  if (count <= 0) return true;
  if (loop_thread < 0 && count > grain && pool->thread_count > 1) return false;
  fn(arg, 0, count, loop_thread > 0 && loop_thread < pool->thread_count ? loop_thread : 0);
  return true;
}

static loop_t loop_of(const tpt_pool_t* pool, int64_t count, int64_t grain, tpt_pool_fn_t fn,
                      void* arg) {
  int64_t chunk = count / ((int64_t)pool->thread_count * CHUNKS_PER_THREAD);
  if (chunk < grain) chunk = grain;
  return (loop_t){fn, arg, count, chunk, (uint32_t)((count - 1) / chunk + 1)};
}

void tpt_pool_for(tpt_pool_t* pool, int64_t count, int64_t grain, tpt_pool_fn_t fn, void* arg) {
  if (grain < 1) grain = 1;
  if (run_inline(pool, count, grain, fn, arg)) return;
  loop_t loop = loop_of(pool, count, grain, fn, arg);
  pthread_mutex_lock(&pool->turn);
  run_loop(pool, &loop);
  pthread_mutex_unlock(&pool->turn);
}

void tpt_pool_for_if_free(tpt_pool_t* pool, int64_t count, int64_t grain, tpt_pool_fn_t fn,
                          void* arg) {
  if (grain < 1) grain = 1;
  if (run_inline(pool, count, grain, fn, arg)) return;
  loop_t loop = loop_of(pool, count, grain, fn, arg);
  if (pthread_mutex_trylock(&pool->turn) != 0) {
    fn(arg, 0, count, 0);
    return;
  }
  run_loop(pool, &loop);
  pthread_mutex_unlock(&pool->turn);
}
