// Owns the pointer table behind home types, windows and compiled calls. Must not know what it stores.
// Invariant: at most three quarters of the slots are used, so that every probe ends.
#include "eager/table.h"

#include "base/allocator.h"

void* tpt_table_find(const tpt_table_t* table, uint64_t hash, tpt_table_equal_fn_t equal,
                     const void* key) {
  if (!table->capacity) return NULL;
  size_t mask = table->capacity - 1;
  for (size_t slot = hash & mask; table->items[slot]; slot = (slot + 1) & mask) {
    if (table->hashes[slot] == hash && equal(table->items[slot], key)) return table->items[slot];
  }
  return NULL;
}

static void place(tpt_table_t* table, uint64_t hash, void* item) {
  size_t mask = table->capacity - 1;
  size_t slot = hash & mask;
  while (table->items[slot])
    slot = (slot + 1) & mask;
  table->items[slot] = item;
  table->hashes[slot] = hash;
}

static tpt_status_t grow(tpt_table_t* table) {
  tpt_table_t bigger = {.capacity = table->capacity ? table->capacity * 2 : 64,
                        .count = table->count};
  bigger.items = tpt_calloc(bigger.capacity, sizeof(*bigger.items));
  bigger.hashes = tpt_calloc(bigger.capacity, sizeof(*bigger.hashes));
  if (!bigger.items || !bigger.hashes) {
    tpt_table_deinit(&bigger);
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no host memory for a table of %zu slots",
             table->capacity * 2);
  }
  for (size_t i = 0; i < table->capacity; i++) {
    if (table->items[i]) place(&bigger, table->hashes[i], table->items[i]);
  }
  tpt_table_deinit(table);
  *table = bigger;
  return NULL;
}

tpt_status_t tpt_table_add(tpt_table_t* table, uint64_t hash, void* item) {
  if (4 * (table->count + 1) > 3 * table->capacity) TPT_TRY(grow(table));
  place(table, hash, item);
  table->count++;
  return NULL;
}

tpt_status_t tpt_table_filter(tpt_table_t* table, const tpt_table_filter_t* filter) {
  tpt_table_t kept = {0};
  size_t stay_count = 0;
  for (size_t i = 0; i < table->capacity; i++)
    stay_count += table->items[i] && filter->stays(table->items[i], filter->arg);
  if (stay_count == table->count) return NULL;
  for (size_t i = 0; i < table->capacity; i++) {
    if (!table->items[i] || !filter->stays(table->items[i], filter->arg)) continue;
    tpt_status_t status = tpt_table_add(&kept, table->hashes[i], table->items[i]);
    if (!status) continue;
    tpt_table_deinit(&kept);
    return status;
  }
  tpt_table_t old = *table;
  *table = kept;
  for (size_t i = 0; i < old.capacity; i++) {
    if (old.items[i] && !filter->stays(old.items[i], filter->arg))
      filter->take(old.items[i], filter->arg);
  }
  tpt_table_deinit(&old);
  return NULL;
}

void tpt_table_deinit(tpt_table_t* table) {
  tpt_free(table->items);
  tpt_free(table->hashes);
  *table = (tpt_table_t){0};
}

void tpt_table_deinit_items(tpt_table_t* table, void (*release)(void* take_item)) {
  for (size_t i = 0; i < table->capacity; i++) {
    if (table->items[i]) release(table->items[i]);
  }
  tpt_table_deinit(table);
}
