// Scalars on the device: numbers that programs take at run time, kept by value so that a learning
// rate or a start is uploaded once. Device locked.
#ifndef TPUTORCH_EAGER_SCALAR_CACHE_H_
#define TPUTORCH_EAGER_SCALAR_CACHE_H_

#include "pjrt/client.h"

typedef struct tpt_scalar_cache tpt_scalar_cache_t;

TPT_MUST_USE tpt_status_t tpt_scalar_cache_create(tpt_client_t* client, int device,
                                                  tpt_scalar_cache_t** out_cache);
void tpt_scalar_cache_release(tpt_scalar_cache_t* take_cache);  // NULL is legal
// A 0-d buffer that holds `element` (bytes of `dtype`); borrowed until the next tpt_scalar_cache_begin.
TPT_MUST_USE tpt_status_t tpt_scalar_cache_get(tpt_scalar_cache_t* cache, tpt_dtype_t dtype,
                                               const void* element, tpt_buffer_t** out_buffer);
// Starts a call: what the last one borrowed may be dropped.
void tpt_scalar_cache_begin(tpt_scalar_cache_t* cache);
// Drops all; false when there was nothing.
bool tpt_scalar_cache_clear(tpt_scalar_cache_t* cache);
uint64_t tpt_scalar_cache_upload_count(const tpt_scalar_cache_t* cache);

#endif  // TPUTORCH_EAGER_SCALAR_CACHE_H_
