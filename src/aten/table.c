// The op table: every row of every family, their parsed schemas and the index by name. Owns static
// memory only; parsed once, at first use, from any thread. Knows no lowering beyond its address.
#include <pthread.h>
#include <string.h>

#include "aten/lower.h"
#include "aten/rows.h"
#include "aten/schema.h"
#include "base/hash.h"

static const tpt_op_t kRows[] = {
#define ATEN(id, schema, lowering, rule, ...)                                                      \
  {#id, schema, ATEN_FAMILY, lower_##lowering, TPT_STRIDES_##rule, {__VA_ARGS__}},
#include "aten/family.def"
#undef ATEN
};

enum {
  ROW_COUNT = (int)(sizeof(kRows) / sizeof(*kRows)),
#define ATEN(id, schema, lowering, rule, ...) +(int)sizeof(schema)
  SCHEMA_SIZE = 0
#include "aten/family.def"
#undef ATEN
  ,
  // Names are copied up to twice and each gains a NUL; an argument takes at least five characters.
  TEXT_SIZE = 3 * SCHEMA_SIZE,
  ARG_COUNT = SCHEMA_SIZE / 5,
  SLOT_COUNT = 4096,
};
_Static_assert(2 * ROW_COUNT <= SLOT_COUNT, "raise SLOT_COUNT: the name index must stay sparse");

static struct {
  pthread_once_t once;
  tpt_schema_t schemas[ROW_COUNT];
  tpt_schema_arg_t args[ARG_COUNT];
  tpt_arg_kind_t returns[ARG_COUNT];
  char text[TEXT_SIZE];
  uint16_t slots[SLOT_COUNT];  // row + 1, 0: free
} table = {.once = PTHREAD_ONCE_INIT};

static uint32_t slot_of(const char* name) {
  return (uint32_t)(tpt_hash_bytes(name, strlen(name), 0) % SLOT_COUNT);
}

static void build_table(void) {
  tpt_schema_pool_t pool = {table.text,    0, sizeof(table.text), table.args, 0, ARG_COUNT,
                            table.returns, 0, ARG_COUNT};
  for (int i = 0; i < ROW_COUNT; i++) {
    tpt_status_t status = tpt_schema_parse(kRows[i].schema_text, &pool, &table.schemas[i]);
    if (status) {  // a bad row cannot be found by name; table_test names it
      tpt_status_release(status);
      memset(&table.schemas[i], 0, sizeof(table.schemas[i]));
      table.schemas[i].name = table.schemas[i].base = table.schemas[i].overload = "";
      continue;
    }
    uint32_t slot = slot_of(table.schemas[i].name);
    while (table.slots[slot])
      slot = (slot + 1) % SLOT_COUNT;
    table.slots[slot] = (uint16_t)(i + 1);
  }
}

int tpt_op_count(void) {
  return ROW_COUNT;
}

const tpt_op_t* tpt_op_row(int index) {
  return index >= 0 && index < ROW_COUNT ? &kRows[index] : NULL;
}

int tpt_op_index(const tpt_op_t* op) {
  return (int)(op - kRows);
}

const tpt_op_t* tpt_op_find(const char* name) {
  pthread_once(&table.once, build_table);
  if (!strncmp(name, "aten::", 6)) name += 6;
  for (uint32_t slot = slot_of(name); table.slots[slot]; slot = (slot + 1) % SLOT_COUNT) {
    int row = table.slots[slot] - 1;
    if (!strcmp(table.schemas[row].name, name)) return &kRows[row];
  }
  return NULL;
}

const tpt_schema_t* tpt_op_schema(const tpt_op_t* op) {
  pthread_once(&table.once, build_table);
  return &table.schemas[tpt_op_index(op)];
}

const char* tpt_op_schema_text(const tpt_op_t* op) {
  return op->schema_text;
}
const char* tpt_op_family(const tpt_op_t* op) {
  return op->family;
}
bool tpt_op_is_functional_only(const tpt_op_t* op) {
  return op->params.functional_only;
}
bool tpt_op_is_step(const tpt_op_t* op) {
  return op->params.is_step;
}
bool tpt_op_fills(const tpt_op_t* op) {
  return op->params.fills;
}
bool tpt_op_is_composite_implicit(const tpt_op_t* op) {
  return op->params.composite_implicit;
}
