// Hash table of borrowed pointers, open addressing, no removal of single items. Thread-compatible.
#ifndef TPUTORCH_EAGER_TABLE_H_
#define TPUTORCH_EAGER_TABLE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"

typedef struct tpt_table {
  void** items;  // NULL: a free slot
  uint64_t* hashes;
  size_t capacity;  // zero or a power of two
  size_t count;
} tpt_table_t;

typedef bool (*tpt_table_equal_fn_t)(const void* item, const void* key);

// The item with this hash that `equal` confirms, or NULL.
void* tpt_table_find(const tpt_table_t* table, uint64_t hash, tpt_table_equal_fn_t equal,
                     const void* key);
// Adds an item that is not there yet.
TPT_MUST_USE tpt_status_t tpt_table_add(tpt_table_t* table, uint64_t hash, void* item);
// Takes out the items that do not stay: `take` gets each, when nothing can fail any more. Without memory
// nothing changes.
typedef struct tpt_table_filter {
  bool (*stays)(const void* item, const void* arg);
  void (*take)(void* item, void* arg);
  void* arg;
} tpt_table_filter_t;
TPT_MUST_USE tpt_status_t tpt_table_filter(tpt_table_t* table, const tpt_table_filter_t* filter);
void tpt_table_deinit(tpt_table_t* table);
// Releases every item, then the table.
void tpt_table_deinit_items(tpt_table_t* table, void (*release)(void* take_item));

#endif  // TPUTORCH_EAGER_TABLE_H_
