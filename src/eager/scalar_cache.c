// Owns the device copies of run-time numbers: sets of eight, least recently used goes. Must not know
// calls. Invariant: an entry handed out since the last begin is never dropped; when a whole set is
// that young, the newcomer lives in an overflow list until the next begin.
#include "eager/scalar_cache.h"

#include <string.h>

#include "base/allocator.h"
#include "base/hash.h"

enum { SET_COUNT = 512, WAY_COUNT = 8 };

typedef struct scalar {
  uint64_t bits[2];
  uint64_t last_call;
  tpt_buffer_t* buffer;  // NULL: free
  tpt_dtype_t dtype;
} scalar_t;

struct tpt_scalar_cache {
  tpt_client_t* client;
  int device;
  uint64_t call;
  uint64_t upload_count;
  tpt_buffer_t** overflow;
  size_t overflow_count, overflow_capacity;
  scalar_t scalars[SET_COUNT][WAY_COUNT];
};

tpt_status_t tpt_scalar_cache_create(tpt_client_t* client, int device,
                                     tpt_scalar_cache_t** out_cache) {
  tpt_scalar_cache_t* cache = tpt_calloc(1, sizeof(*cache));
  if (!cache) TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for the scalar cache");
  cache->client = client;
  cache->device = device;
  cache->call = 1;
  *out_cache = cache;
  return NULL;
}

void tpt_scalar_cache_release(tpt_scalar_cache_t* cache) {
  if (!cache) return;
  tpt_scalar_cache_clear(cache);
  tpt_free(cache->overflow);
  tpt_free(cache);
}

void tpt_scalar_cache_begin(tpt_scalar_cache_t* cache) {
  cache->call++;
  while (__builtin_expect(cache->overflow_count > 0, 0))
    tpt_buffer_release(cache->overflow[--cache->overflow_count]);
}

bool tpt_scalar_cache_clear(tpt_scalar_cache_t* cache) {
  bool had_any = false;
  for (int i = 0; i < SET_COUNT; i++) {
    for (int j = 0; j < WAY_COUNT; j++) {
      scalar_t* scalar = &cache->scalars[i][j];
      if (!scalar->buffer) continue;
      tpt_buffer_release(scalar->buffer);
      memset(scalar, 0, sizeof(*scalar));
      had_any = true;
    }
  }
  tpt_scalar_cache_begin(cache);
  return had_any;
}

uint64_t tpt_scalar_cache_upload_count(const tpt_scalar_cache_t* cache) {
  return cache->upload_count;
}

static tpt_status_t keep_overflow(tpt_scalar_cache_t* cache, tpt_buffer_t* take_buffer) {
  if (!tpt_grow((void**)&cache->overflow, &cache->overflow_capacity, cache->overflow_count + 1,
                sizeof(*cache->overflow))) {
    tpt_buffer_release(take_buffer);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for run-time numbers");
  }
  cache->overflow[cache->overflow_count++] = take_buffer;
  return NULL;
}

static tpt_status_t upload(tpt_scalar_cache_t* cache, const scalar_t* wanted, scalar_t* place,
                           tpt_buffer_t** out_buffer) {
  tpt_type_t type = tpt_type_scalar(wanted->dtype);
  TPT_TRY(tpt_buffer_from_host(cache->client, cache->device, &type, wanted->bits, out_buffer));
  cache->upload_count++;
  if (place->buffer && place->last_call == cache->call) return keep_overflow(cache, *out_buffer);
  tpt_buffer_release(place->buffer);
  *place = *wanted;
  place->buffer = *out_buffer;
  place->last_call = cache->call;
  return NULL;
}

tpt_status_t tpt_scalar_cache_get(tpt_scalar_cache_t* cache, tpt_dtype_t dtype, const void* element,
                                  tpt_buffer_t** out_buffer) {
  scalar_t wanted = {.dtype = dtype};
  memcpy(wanted.bits, element, tpt_dtype_size(dtype));
  uint64_t hash = tpt_hash_mix(wanted.bits[0] ^ (uint64_t)dtype << 56, wanted.bits[1]);
  scalar_t* set = cache->scalars[hash % SET_COUNT];
  scalar_t* oldest = set;
  for (int i = 0; i < WAY_COUNT; i++) {
    scalar_t* scalar = &set[i];
    if (scalar->buffer && scalar->bits[0] == wanted.bits[0] && scalar->bits[1] == wanted.bits[1] &&
        scalar->dtype == dtype) {
      scalar->last_call = cache->call;
      *out_buffer = scalar->buffer;
      return NULL;
    }
    if (scalar->last_call < oldest->last_call) oldest = scalar;
  }
  return upload(cache, &wanted, oldest, out_buffer);
}
