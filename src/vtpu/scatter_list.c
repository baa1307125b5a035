// Applies batches of single updates. Monoids and replacements run through the list in order, so a
// place may occur several times; a body works on whole vectors, so a batch ends before a repeated
// place.
#include "vtpu/scatter_list.h"

#include <string.h>

enum { SLOT_COUNT = 4 * VTPU_SCATTER_LIST_MAX };

void vtpu_scatter_list_init(vtpu_scatter_list_t* list, const vtpu_scatter_rule_t* rule,
                            void* const* acc, const void* const* updates) {
  list->rule = rule;
  list->acc = acc;
  list->updates = updates;
  list->count = 0;
  memset(list->slots, 0xFF, sizeof(list->slots));
}

// True if `at` is in the list already; else takes a slot for the entry about to be appended.
static bool list_has(vtpu_scatter_list_t* list, int64_t at) {
  uint64_t hash = (uint64_t)at * 0x9E3779B97F4A7C15u;
  unsigned slot = (unsigned)(hash >> 40) % SLOT_COUNT;
  while (list->slots[slot] >= 0) {
    if (list->at[list->slots[slot]] == at) return true;
    slot = (slot + 1) % SLOT_COUNT;
  }
  list->slots[slot] = (int16_t)list->count;
  return false;
}

void vtpu_scatter_list_add(vtpu_scatter_list_t* list, int64_t at, int64_t from) {
  if (list->count == VTPU_SCATTER_LIST_MAX) vtpu_scatter_list_flush(list);
  if (list->rule->body && list_has(list, at)) {
    vtpu_scatter_list_flush(list);
    (void)list_has(list, at);
  }
  list->at[list->count] = at;
  list->from[list->count++] = from;
}

typedef struct wide {
  uint64_t half[2];
} wide_t;

#define MOVES(type)                                                                                \
  static void load_##type(const void* from, const int64_t* at, int count, void* to) {              \
    for (int i = 0; i < count; i++)                                                                \
      ((type*)to)[i] = ((const type*)from)[at[i]];                                                 \
  }                                                                                                \
  static void store_##type(const void* from, const int64_t* at, int count, void* to) {             \
    for (int i = 0; i < count; i++)                                                                \
      ((type*)to)[at[i]] = ((const type*)from)[i];                                                 \
  }

MOVES(uint8_t)
MOVES(uint16_t)
MOVES(uint32_t)
MOVES(uint64_t)
MOVES(wide_t)

typedef void (*move_fn_t)(const void* from, const int64_t* at, int count, void* to);
typedef struct moves {
  move_fn_t load, store;
} moves_t;

static moves_t moves_of(size_t size) {
  switch (size) {
  case 1:
    return (moves_t){load_uint8_t, store_uint8_t};
  case 2:
    return (moves_t){load_uint16_t, store_uint16_t};
  case 4:
    return (moves_t){load_uint32_t, store_uint32_t};
  case 8:
    return (moves_t){load_uint64_t, store_uint64_t};
  default:
    return (moves_t){load_wide_t, store_wide_t};
  }
}

static void apply_single(vtpu_scatter_list_t* list) {
  const vtpu_scatter_rule_t* rule = list->rule;
  wide_t values[VTPU_SCATTER_LIST_MAX];
  float wide[VTPU_SCATTER_LIST_MAX];
  moves_t moves = moves_of(rule->size[0]);
  moves.load(list->updates[0], list->from, list->count, values);
  if (rule->replaces) {
    moves.store(values, list->at, list->count, list->acc[0]);
  } else if (rule->widen) {
    rule->widen(values, wide, list->count);
    rule->monoid->combine_at(list->acc[0], list->at, wide, list->count);
  } else {
    rule->monoid->combine_at(list->acc[0], list->at, values, list->count);
  }
}

static void apply_body(vtpu_scatter_list_t* list) {
  const vtpu_scatter_rule_t* rule = list->rule;
  wide_t acc[VTPU_SCATTER_MAX][VTPU_SCATTER_LIST_MAX];
  wide_t values[VTPU_SCATTER_MAX][VTPU_SCATTER_LIST_MAX];
  const void* in[2 * VTPU_SCATTER_MAX];
  void* out[VTPU_SCATTER_MAX];
  for (int i = 0; i < rule->count; i++) {
    moves_t moves = moves_of(rule->size[i]);
    moves.load(list->acc[i], list->at, list->count, acc[i]);
    moves.load(list->updates[i], list->from, list->count, values[i]);
    in[i] = out[i] = acc[i];
    in[rule->count + i] = values[i];
  }
  vtpu_body_run(rule->body, list->count, in, out);
  for (int i = 0; i < rule->count; i++)
    moves_of(rule->size[i]).store(acc[i], list->at, list->count, list->acc[i]);
}

void vtpu_scatter_list_flush(vtpu_scatter_list_t* list) {
  if (list->count == 0) return;
  if (list->rule->body) {
    apply_body(list);
    memset(list->slots, 0xFF, sizeof(list->slots));
  } else {
    apply_single(list);
  }
  list->count = 0;
}
