// Keeping a folder of cache entries within a size. Touches only files that are named like entries and
// their unfinished forerunners; whatever else lies there stays.
#ifndef TPUTORCH_EAGER_DISK_EVICT_H_
#define TPUTORCH_EAGER_DISK_EVICT_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"

// An entry's name: a digest in hexadecimal. Unfinished: this prefix, then what mkostemp put.
enum { TPT_DISK_NAME_SIZE = 2 * TPT_DIGEST_SIZE };
#define TPT_DISK_UNFINISHED "unfinished-"

// Bytes of all entries. When they are more than size_max, removes those that were used longest ago (by
// modification time) until at most three quarters of it are left, and returns what is left. Unfinished
// files of an hour ago belong to nobody and go, too. -1: the folder cannot be read. Other processes may
// add and remove meanwhile.
int64_t tpt_disk_evict(const char* folder, int64_t size_max);

#endif  // TPUTORCH_EAGER_DISK_EVICT_H_
