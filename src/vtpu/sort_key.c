// Keys and their sort: least significant byte first, bytes in which all keys agree are skipped; short
// rows by insertion. Positions travel with the keys, equal keys keep their order.
#include <string.h>

#include "vtpu/sort.h"

enum { INSERTION_MAX = 40, BUCKETS = 256 };

bool vtpu_sort_key_find(const vtpu_comparator_t* c, tpt_dtype_t dtype, vtpu_sort_key_t* out) {
  if (c->a / 2 != c->b / 2 || c->a == c->b) return false;
  if (c->direction != TPT_LT && c->direction != TPT_GT) return false;
  if (tpt_dtype_is_complex(dtype)) return false;
  *out = (vtpu_sort_key_t){.dtype = dtype, .is_total = c->kind == TPT_COMPARE_TOTALORDER};
  // compare(GT, second, first) is compare(LT, first, second).
  out->descends = (c->direction == TPT_GT) != (c->a % 2 == 1);
  return true;
}

// --- making keys ------------------------------------------------------------------------------------

// Keys of at most 32 bits go into one word with the position; 64-bit keys have a word of their own.
typedef struct entry {
  uint64_t key;
  uint64_t position;
} entry_t;

static bool is_short(const vtpu_sort_key_t* key) {
  return tpt_dtype_size(key->dtype) <= 4;
}

size_t vtpu_sort_key_scratch(const vtpu_sort_key_t* key, int64_t count) {
  return 2 * (size_t)count * (is_short(key) ? sizeof(uint64_t) : sizeof(entry_t));
}

static uint64_t element_bits(const char* element, size_t size) {
  uint64_t bits = 0;
  memcpy(&bits, element, size);  // little-endian, as is every machine that PJRT data comes from
  return bits;
}

// Mantissa bits of the float types; 0 for others.
static int mantissa_bits(tpt_dtype_t dtype) {
  return dtype == TPT_F16 ? 10 : dtype == TPT_BF16 ? 7 : dtype == TPT_F32 ? 23 : 52;
}

// False on a NaN that has no place in the order.
static bool key_make(const vtpu_sort_key_t* key, const char* element, uint64_t* out) {
  tpt_dtype_class_t kind = tpt_dtype_row(key->dtype)->kind;
  size_t size = tpt_dtype_size(key->dtype);
  uint64_t sign = 1ull << (8 * size - 1), mask = sign | (sign - 1);
  uint64_t bits = element_bits(element, size);
  if (kind == TPT_CLASS_BOOL) bits = bits != 0;
  if (kind == TPT_CLASS_SINT) bits ^= sign;
  if (kind == TPT_CLASS_FLOAT) {
    uint64_t magnitude = bits & (sign - 1);
    uint64_t infinity = (sign - 1) & ~((1ull << mantissa_bits(key->dtype)) - 1);
    if (!key->is_total && magnitude > infinity) return false;
    if (!key->is_total && magnitude == 0) bits = 0;
    bits = bits & sign ? ~bits & mask : bits | sign;
  }
  *out = key->descends ? ~bits & mask : bits;
  return true;
}

// --- sorting ----------------------------------------------------------------------------------------

#define KEY_SHORT(entry) ((entry) >> 32)
#define KEY_LONG(entry)  ((entry).key)

#define SORT(name, type, KEY, key_size)                                                            \
  static void name##_insert(type* entries, int64_t count) {                                        \
    for (int64_t i = 1; i < count; i++) {                                                          \
      type entry = entries[i];                                                                     \
      int64_t j = i;                                                                               \
      for (; j > 0 && KEY(entries[j - 1]) > KEY(entry); j--)                                       \
        entries[j] = entries[j - 1];                                                               \
      entries[j] = entry;                                                                          \
    }                                                                                              \
  }                                                                                                \
  /* Returns which of the two arrays holds the result. */                                          \
  static type* name(type* entries, type* other, int64_t count) {                                   \
    if (count <= INSERTION_MAX) {                                                                  \
      name##_insert(entries, count);                                                               \
      return entries;                                                                              \
    }                                                                                              \
    uint32_t counts[key_size][BUCKETS] = {{0}};                                                    \
    for (int64_t i = 0; i < count; i++)                                                            \
      for (int b = 0; b < key_size; b++)                                                           \
        counts[b][(KEY(entries[i]) >> (8 * b)) & 255]++;                                           \
    for (int b = 0; b < key_size; b++) {                                                           \
      if (counts[b][(KEY(entries[0]) >> (8 * b)) & 255] == (uint32_t)count) continue;              \
      uint32_t at[BUCKETS], sum = 0;                                                               \
      for (int v = 0; v < BUCKETS; v++)                                                            \
        at[v] = sum, sum += counts[b][v];                                                          \
      for (int64_t i = 0; i < count; i++)                                                          \
        other[at[(KEY(entries[i]) >> (8 * b)) & 255]++] = entries[i];                              \
      type* swap = entries;                                                                        \
      entries = other, other = swap;                                                               \
    }                                                                                              \
    return entries;                                                                                \
  }

SORT(sort_short, uint64_t, KEY_SHORT, 4)
SORT(sort_long, entry_t, KEY_LONG, 8)

bool vtpu_sort_by_key(const vtpu_sort_key_t* key, const vtpu_sort_row_t* row, void* scratch,
                      uint32_t* order) {
  int64_t count = row->count;
  uint64_t bits;
  if (is_short(key)) {
    uint64_t* entries = scratch;
    for (int64_t i = 0; i < count; i++) {
      if (!key_make(key, row->data + i * row->stride, &bits)) return false;
      entries[i] = bits << 32 | (uint64_t)i;
    }
    const uint64_t* sorted = sort_short(entries, entries + count, count);
    for (int64_t i = 0; i < count; i++)
      order[i] = (uint32_t)sorted[i];
    return true;
  }
  entry_t* entries = scratch;
  for (int64_t i = 0; i < count; i++) {
    if (!key_make(key, row->data + i * row->stride, &bits)) return false;
    entries[i] = (entry_t){bits, (uint64_t)i};
  }
  const entry_t* sorted = sort_long(entries, entries + count, count);
  for (int64_t i = 0; i < count; i++)
    order[i] = (uint32_t)sorted[i].position;
  return true;
}
