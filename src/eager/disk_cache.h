// Disk cache: compiled programs that outlive the process, in a folder of the user's. An entry is found
// by a SHA-256 of everything the program depends on and believed only when it repeats all of that, byte
// by byte, and its payload is undamaged. Nothing here is an error to the caller: a folder that is
// missing, read-only, full or full of rubbish costs a compile and is told once (trouble). Thread-safe;
// any number of processes may share a folder.
#ifndef TPUTORCH_EAGER_DISK_CACHE_H_
#define TPUTORCH_EAGER_DISK_CACHE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct tpt_disk_cache tpt_disk_cache_t;

// folder: "" is $XDG_CACHE_HOME/tputorch, else $HOME/.cache/tputorch; made at the first put. identity
// (copied): what entries depend on besides their program's text (tpt_client_identity). size_max: bytes
// of all entries in the folder; the ones used longest ago go first.
TPT_MUST_USE tpt_status_t tpt_disk_cache_create(const char* folder, int64_t size_max,
                                                const void* identity, size_t identity_size,
                                                tpt_disk_cache_t** out_cache);
void tpt_disk_cache_release(tpt_disk_cache_t* take_cache);  // NULL is legal

typedef struct tpt_disk_entry {
  void* data;  // owned: tpt_free
  const void* payload;
  size_t payload_size;
} tpt_disk_entry_t;

// False: no entry, or none that can be believed (those of ours are removed).
bool tpt_disk_cache_get(tpt_disk_cache_t* cache, const char* text, size_t text_size,
                        tpt_disk_entry_t* out_entry);
void tpt_disk_cache_put(tpt_disk_cache_t* cache, const char* text, size_t text_size,
                        const void* payload, size_t payload_size);
// The entry turned out to be of no use.
void tpt_disk_cache_drop(tpt_disk_cache_t* cache, const char* text, size_t text_size);
// No more puts in this process (a plugin that cannot serialize).
void tpt_disk_cache_close(tpt_disk_cache_t* cache, const char* reason);

// How often something went wrong, and the first time's words ("" if never); cut at text_size.
uint64_t tpt_disk_cache_trouble(tpt_disk_cache_t* cache, char* text, int text_size);

#endif  // TPUTORCH_EAGER_DISK_CACHE_H_
