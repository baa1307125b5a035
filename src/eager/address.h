// Addresses for storages: unique, inside one reserved range that nobody can read or write, so that an
// interior address leads back to its storage in constant time. Thread-safe.
#ifndef TPUTORCH_EAGER_ADDRESS_H_
#define TPUTORCH_EAGER_ADDRESS_H_

#include <stddef.h>

#include "tputorch/status.h"
#include "tputorch/tensor.h"

// An address with at least `size` bytes of its own that belongs to `storage` until released.
TPT_MUST_USE tpt_status_t tpt_address_take(tpt_storage_t* storage, size_t size, void** out_address);
void tpt_address_release(void* address);  // NULL is legal
// Bytes that the address has of its own (the power of two its slot is cut to).
size_t tpt_address_room(const void* address);
// The storage an address (interior too) belongs to, or NULL; *out_offset in bytes from its start.
tpt_storage_t* tpt_address_find(const void* address, size_t* out_offset);

#endif  // TPUTORCH_EAGER_ADDRESS_H_
