// Owns the names in scope: a stack of bindings with hash chains, so that leaving a region is popping.
// Must not know operations. Invariant: chains run from the newest binding to the oldest.
#include "base/allocator.h"
#include "hlo/reader.h"

enum { NO_NAME = UINT32_MAX };

static uint32_t hash_text(tpt_text_t text) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < text.size; i++)
    hash = (hash ^ (unsigned char)text.data[i]) * 16777619u;
  return hash ^ hash >> 15;
}

static bool same_text(tpt_text_t a, tpt_text_t b) {
  return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

// Chains at most as long as the table is wide.
static tpt_status_t widen(tpt_reader_t* r) {
  if (r->name_count < r->head_count) return NULL;
  size_t count = r->head_count ? r->head_count * 4 : 256;
  if (!tpt_grow((void**)&r->heads, &r->head_capacity, count, sizeof(*r->heads)))
    return tpt__read_no_memory();
  r->head_count = count;
  for (size_t i = 0; i < count; i++)
    r->heads[i] = NO_NAME;
  for (size_t i = 0; i < r->name_count; i++) {
    uint32_t* head = &r->heads[r->names[i].hash & (count - 1)];
    r->names[i].next = *head;
    *head = (uint32_t)i;
  }
  return NULL;
}

static tpt_read_name_t* find(const tpt_reader_t* r, tpt_text_t text, uint32_t hash) {
  if (r->head_count == 0) return NULL;
  // Newest first: once a chain falls below the barrier, only the caller's names follow.
  for (uint32_t i = r->heads[hash & (r->head_count - 1)]; i != NO_NAME && i >= r->barrier;
       i = r->names[i].next) {
    if (r->names[i].hash == hash && same_text(r->names[i].text, text)) return &r->names[i];
  }
  return NULL;
}

tpt_status_t tpt__read_bind(tpt_reader_t* r, tpt_text_t name, tpt_value_t first,
                            const tpt_value_t* values, uint32_t count) {
  uint32_t hash = hash_text(name);
  if (find(r, name, hash))
    return tpt__read_fail(r, name.data, "%%%.*s is defined twice", (int)name.size, name.data);
  TPT_TRY(widen(r));
  if (r->name_count >= NO_NAME ||
      !tpt_grow((void**)&r->names, &r->name_capacity, r->name_count + 1, sizeof(*r->names)))
    return tpt__read_no_memory();
  uint32_t* head = &r->heads[hash & (r->head_count - 1)];
  r->names[r->name_count] = (tpt_read_name_t){
      .text = name, .hash = hash, .next = *head, .count = count, .first = first, .values = values};
  *head = (uint32_t)r->name_count++;
  return NULL;
}

void tpt__read_unbind(tpt_reader_t* r, size_t mark) {
  while (r->name_count > mark) {
    const tpt_read_name_t* name = &r->names[--r->name_count];
    r->heads[name->hash & (r->head_count - 1)] = name->next;
  }
}

tpt_status_t tpt__read_value_name(tpt_reader_t* r, tpt_text_t* out) {
  TPT_TRY(tpt__read_expect(r, '%'));
  const char* begin = r->p;
  while (r->p < r->end) {
    char c = *r->p;
    bool is_part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '.' || c == '$' || c == '-';
    if (!is_part) break;
    r->p++;
  }
  *out = (tpt_text_t){begin, (size_t)(r->p - begin)};
  if (out->size == 0) return tpt__read_fail(r, begin, "expected a name behind '%%'");
  return NULL;
}

tpt_status_t tpt__read_value(tpt_reader_t* r, tpt_value_t* out) {
  tpt_text_t text;
  TPT_TRY(tpt__read_value_name(r, &text));
  const tpt_read_name_t* name = find(r, text, hash_text(text));
  if (!name)
    return tpt__read_fail(r, text.data, "%%%.*s is not defined here", (int)text.size, text.data);
  int64_t number = 0;
  if (r->p < r->end && *r->p == '#') {
    r->p++;
    TPT_TRY(tpt__read_i64(r, &number));
  }
  if (number < 0 || number >= (int64_t)name->count)
    return tpt__read_fail(r, text.data, "%%%.*s has %u results, there is no number %lld",
                          (int)text.size, text.data, name->count, (long long)number);
  *out = name->values ? name->values[number] : (tpt_value_t){name->first.index + (uint32_t)number};
  return NULL;
}
