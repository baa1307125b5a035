// Looks functions of the vector machine up: the best level of this CPU, then what any CPU has.
#include "vtpu/vm.h"

#include <string.h>

#include "hlo/builder.h"
#include "vtpu/simd.h"

static const vtpu_vm_table_t* level_table(void) {
  static const vtpu_vm_table_t* const tables[] = {&vtpu_vm_table_base, &vtpu_vm_table_avx2,
                                                  &vtpu_vm_table_avx512};
  return tables[vtpu_simd_level()];
}

// Tables in the order in which they are asked.
enum { TABLE_COUNT = 4 };
static void tables_get(const vtpu_vm_table_t* out[TABLE_COUNT]) {
  out[0] = level_table();
  out[1] = &vtpu_vm_table_base;
  out[2] = &vtpu_vm_table_libm;
  out[3] = &vtpu_vm_table_complex;
}

#define FIND(field)                                                                                \
  const vtpu_vm_table_t* tables[TABLE_COUNT];                                                      \
  tables_get(tables);                                                                              \
  for (int i = 0; i < TABLE_COUNT; i++)                                                            \
    if (tables[i]->field) return tables[i]->field;                                                 \
  return NULL

// What a real number's own real and imaginary part are.
static void copy_f32(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  (void)b, (void)c;
  memmove(dst, a, (size_t)n * sizeof(float));
}
static void copy_f64(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  (void)b, (void)c;
  memmove(dst, a, (size_t)n * sizeof(double));
}
static void zero_f32(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  (void)a, (void)b, (void)c;
  memset(dst, 0, (size_t)n * sizeof(float));
}
static void zero_f64(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  (void)a, (void)b, (void)c;
  memset(dst, 0, (size_t)n * sizeof(double));
}

vtpu_vm_fn_t vtpu_vm_op(tpt_hlo_t op, tpt_dtype_t type) {
  if (op == TPT_HLO_REAL && type == TPT_F32) return copy_f32;
  if (op == TPT_HLO_REAL && type == TPT_F64) return copy_f64;
  if (op == TPT_HLO_IMAG && type == TPT_F32) return zero_f32;
  if (op == TPT_HLO_IMAG && type == TPT_F64) return zero_f64;
  FIND(op[op][type]);
}

vtpu_vm_fn_t vtpu_vm_compare(int64_t direction, tpt_dtype_t type) {
  if (direction < 0 || direction >= 6) return NULL;
  FIND(compare[direction][type]);
}

vtpu_vm_fn_t vtpu_vm_convert(tpt_dtype_t from, tpt_dtype_t to) {
  FIND(convert[from][to]);
}

vtpu_vm_fn_t vtpu_vm_round(tpt_dtype_t narrow) {
  FIND(round[narrow]);
}

vtpu_vm_fn_t vtpu_vm_order_key(tpt_dtype_t type) {
  FIND(order_key[type]);
}

vtpu_vm_fn_t vtpu_vm_chain(vtpu_chain_t chain, tpt_dtype_t type) {
  FIND(chain[chain][type]);
}

vtpu_vm_fn_t vtpu_vm_spread(tpt_hlo_t op, tpt_dtype_t type, int operands) {
  static const tpt_hlo_t ops[VTPU_SPREAD_COUNT] = {
      [VTPU_SPREAD_ADD] = TPT_HLO_ADD,           [VTPU_SPREAD_SUBTRACT] = TPT_HLO_SUBTRACT,
      [VTPU_SPREAD_MULTIPLY] = TPT_HLO_MULTIPLY, [VTPU_SPREAD_DIVIDE] = TPT_HLO_DIVIDE,
      [VTPU_SPREAD_MAXIMUM] = TPT_HLO_MAXIMUM,   [VTPU_SPREAD_MINIMUM] = TPT_HLO_MINIMUM};
  if (type != TPT_F32 || (operands != VTPU_OPERAND_A && operands != VTPU_OPERAND_B)) return NULL;
  for (int i = 0; i < VTPU_SPREAD_COUNT; i++)
    if (ops[i] == op) return level_table()->spread[i][operands == VTPU_OPERAND_B];
  return NULL;
}

vtpu_vm_fn_t vtpu_vm_chain_spread(vtpu_chain_t chain, tpt_dtype_t type, int operands) {
  return type == TPT_F32 ? level_table()->chain_spread[chain][operands & 7] : NULL;
}

vtpu_vm_fn_t vtpu_vm_exp_less(void) {
  return level_table()->exp_less;
}

vtpu_vm_move_fn_t vtpu_vm_move(size_t size) {
  FIND(move[__builtin_ctzll(size)]);
}

vtpu_vm_transpose_fn_t vtpu_vm_transpose(size_t size) {
  FIND(transpose[__builtin_ctzll(size)]);
}

vtpu_vm_gather_fn_t vtpu_vm_gather(size_t size) {
  FIND(gather[__builtin_ctzll(size)]);
}

vtpu_vm_fn_t vtpu_vm_reduce_precision(tpt_dtype_t type) {
  return vtpu_vm_op(TPT_HLO_REDUCE_PRECISION, type);
}

int vtpu_vm_monoid(tpt_hlo_t op) {
  static const tpt_hlo_t monoids[VTPU_MONOID_COUNT] = {
      TPT_HLO_ADD, TPT_HLO_MULTIPLY, TPT_HLO_MAXIMUM, TPT_HLO_MINIMUM,
      TPT_HLO_AND, TPT_HLO_OR,       TPT_HLO_XOR};
  for (int i = 0; i < VTPU_MONOID_COUNT; i++)
    if (monoids[i] == op) return i;
  return -1;
}

const vtpu_vm_reduce_t* vtpu_vm_reduce(tpt_hlo_t monoid, tpt_dtype_t type) {
  int row = vtpu_vm_monoid(monoid);
  if (row < 0) return NULL;
  const vtpu_vm_table_t* tables[TABLE_COUNT];
  tables_get(tables);
  for (int i = 0; i < TABLE_COUNT; i++)
    if (tables[i]->reduce[row][type].start) return &tables[i]->reduce[row][type];
  return NULL;
}

int vtpu_vm_cost(tpt_hlo_t op, tpt_dtype_t type) {
  static const struct {
    uint8_t op;
    uint16_t cost;
  } slow[] = {
      {TPT_HLO_EXP, 350},    {TPT_HLO_EXPM1, 450},   {TPT_HLO_LOG, 550},
      {TPT_HLO_LOG1P, 700},  {TPT_HLO_TANH, 700},    {TPT_HLO_LOGISTIC, 600},
      {TPT_HLO_SINE, 800},   {TPT_HLO_COSINE, 800},  {TPT_HLO_DIVIDE, 150},
      {TPT_HLO_SQRT, 150},   {TPT_HLO_RSQRT, 250},   {TPT_HLO_REMAINDER, 6000},
      {TPT_HLO_POWER, 3000}, {TPT_HLO_ATAN2, 15000}, {TPT_HLO_TAN, 12000},
      {TPT_HLO_CBRT, 10000},
  };
  int width = tpt_dtype_is_complex(type)
                  ? 12
                  : (type == TPT_F64 || type == TPT_S64 || type == TPT_U64 ? 2 : 1);
  for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++)
    if (slow[i].op == op) return slow[i].cost * (type == TPT_F64 ? 8 : width);
  return 40 * width;
}
