// The vector machine: one function per operation and element type, each a loop over a tile of
// elements in registers (arrays in L1) or straight in memory. Tables are compiled once per vector
// level and looked up when a program is planned. Knows nothing of graphs, shapes or buffers.
//
// Register types: an element type's own, except that bf16 and f16 are held as f32; `round` brings
// such a register back to the values that the narrow type has. PRED is one byte, 0 or 1.
#ifndef TPUTORCH_VTPU_VM_H_
#define TPUTORCH_VTPU_VM_H_

#include "tputorch/type.h"

#include "hlo/graph.h"

// dst = f(a, b, c) for n elements. dst may equal an operand when their element sizes are equal;
// partial overlap is not allowed. Unused operands are ignored. Thread-safe.
typedef void (*vtpu_vm_fn_t)(void* dst, const void* a, const void* b, const void* c, int64_t n);

// n elements from src to dst; strides in bytes, multiples of the element size.
typedef void (*vtpu_vm_move_fn_t)(void* dst, int64_t dst_stride, const void* src,
                                  int64_t src_stride, int64_t n);

// dst[i] = src[offsets[i]], offsets in elements.
typedef void (*vtpu_vm_gather_fn_t)(void* dst, const void* src, const int32_t* offsets, int64_t n);

// lanes[row][column] = the element at memory + row * size + column * stride.
typedef void (*vtpu_vm_transpose_fn_t)(void* lanes, const void* memory, int64_t stride,
                                       int64_t rows, int64_t columns);

// Accumulation of tiles by a monoid. An accumulator holds `lanes` partial results.
typedef struct vtpu_vm_reduce {
  // Sets the neutral element.
  void (*start)(void* acc, int64_t lanes);
  // x is a [rows][columns] block. across: acc[row] takes all columns of the row; down: acc[column]
  // takes all rows of the column. One accumulator is used with one of the two only.
  void (*across)(void* acc, const void* x, int64_t rows, int64_t columns);
  void (*down)(void* acc, const void* x, int64_t rows, int64_t columns);
  // (optional) Moves what `down` gathered into the wide part; due every 64 rows, before merge and finish.
  void (*settle)(void* acc, int64_t lanes);
  // acc takes the lanes of another accumulator.
  void (*merge)(void* acc, const void* other, int64_t lanes);
  // out[lane] = *init with acc[lane], in the register type.
  void (*finish)(void* out, const void* acc, const void* init, int64_t lanes);
  size_t lane_size;  // bytes of accumulator per lane
} vtpu_vm_reduce_t;

// A product and a sum in one pass, rounded twice: a b + c, a b - c, c - a b.
typedef enum vtpu_chain {
  VTPU_CHAIN_MUL_ADD,
  VTPU_CHAIN_MUL_SUB,
  VTPU_CHAIN_SUB_MUL,
  VTPU_CHAIN_COUNT,
} vtpu_chain_t;

// Operands as bits.
enum { VTPU_OPERAND_A = 1, VTPU_OPERAND_B = 2, VTPU_OPERAND_C = 4 };

// Ops with forms for an operand that is one element for all lanes.
typedef enum vtpu_spread {
  VTPU_SPREAD_ADD,
  VTPU_SPREAD_SUBTRACT,
  VTPU_SPREAD_MULTIPLY,
  VTPU_SPREAD_DIVIDE,
  VTPU_SPREAD_MAXIMUM,
  VTPU_SPREAD_MINIMUM,
  VTPU_SPREAD_COUNT,
} vtpu_spread_t;

enum { VTPU_VM_SETTLE_ROWS = 64, VTPU_MONOID_COUNT = 7 };

typedef struct vtpu_vm_table {
  vtpu_vm_fn_t op[TPT_HLO_COUNT]
                 [TPT_DTYPE_COUNT];          // by operand type (of clamp and select: the value's)
  vtpu_vm_fn_t compare[6][TPT_DTYPE_COUNT];  // by tpt_compare_t and operand type; result PRED
  vtpu_vm_fn_t convert[TPT_DTYPE_COUNT]
                      [TPT_DTYPE_COUNT];    // [from][to]; BF16 and F16: from and to F32 only
  vtpu_vm_fn_t round[TPT_DTYPE_COUNT];      // BF16, F16: f32 to the nearest value of the type
  vtpu_vm_fn_t order_key[TPT_DTYPE_COUNT];  // F32 -> S32, F64 -> S64: integers in total order
  vtpu_vm_fn_t chain[VTPU_CHAIN_COUNT][TPT_DTYPE_COUNT];
  vtpu_vm_fn_t spread[VTPU_SPREAD_COUNT][2];       // of f32, by operand
  vtpu_vm_fn_t exp_less;                           // of f32
  vtpu_vm_fn_t chain_spread[VTPU_CHAIN_COUNT][8];  // of f32, by the bits of operands
  vtpu_vm_move_fn_t move[5];                       // by log2 of the element size
  vtpu_vm_transpose_fn_t transpose[5];
  vtpu_vm_gather_fn_t gather[5];
  vtpu_vm_reduce_t reduce[VTPU_MONOID_COUNT][TPT_DTYPE_COUNT];
} vtpu_vm_table_t;

// The register type of a dtype.
static inline tpt_dtype_t vtpu_vm_register(tpt_dtype_t dtype) {
  return dtype == TPT_BF16 || dtype == TPT_F16 ? TPT_F32 : dtype;
}

// Look-ups by register type; NULL where StableHLO has no such operation. Static, thread-safe.
vtpu_vm_fn_t vtpu_vm_op(tpt_hlo_t op, tpt_dtype_t type);
vtpu_vm_fn_t vtpu_vm_compare(int64_t direction, tpt_dtype_t type);
vtpu_vm_fn_t vtpu_vm_convert(tpt_dtype_t from, tpt_dtype_t to);
vtpu_vm_fn_t vtpu_vm_round(tpt_dtype_t narrow);
vtpu_vm_fn_t vtpu_vm_order_key(tpt_dtype_t type);
vtpu_vm_fn_t vtpu_vm_chain(vtpu_chain_t chain, tpt_dtype_t type);
// The same where the operands whose bits are set are one element for all lanes; NULL: no such form. Of a
// chain a is never spread: it changes places with b.
vtpu_vm_fn_t vtpu_vm_spread(tpt_hlo_t op, tpt_dtype_t type, int operands);
vtpu_vm_fn_t vtpu_vm_chain_spread(vtpu_chain_t chain, tpt_dtype_t type, int operands);
// exp(a - b) of f32, b one element for all lanes.
vtpu_vm_fn_t vtpu_vm_exp_less(void);
// size: 1, 2, 4, 8 or 16.
vtpu_vm_move_fn_t vtpu_vm_move(size_t size);
vtpu_vm_transpose_fn_t vtpu_vm_transpose(size_t size);
vtpu_vm_gather_fn_t vtpu_vm_gather(size_t size);
// Rounds f32 or f64 to an exponent and mantissa width; `b` of the call points to int32_t[2]
// {exponent bits, mantissa bits}.
vtpu_vm_fn_t vtpu_vm_reduce_precision(tpt_dtype_t type);
// monoid: ADD MULTIPLY MAXIMUM MINIMUM AND OR XOR.
const vtpu_vm_reduce_t* vtpu_vm_reduce(tpt_hlo_t monoid, tpt_dtype_t type);
// 0..6 for the seven monoids, -1 for other ops.
int vtpu_vm_monoid(tpt_hlo_t op);
// Rough nanoseconds for a thousand elements of an op.
int vtpu_vm_cost(tpt_hlo_t op, tpt_dtype_t type);

// The tables: one per vector level (a level that the compiler does not know stays empty), and what
// is compiled once (libm loops, complex arithmetic).
extern const vtpu_vm_table_t vtpu_vm_table_base, vtpu_vm_table_avx2, vtpu_vm_table_avx512;
extern const vtpu_vm_table_t vtpu_vm_table_libm, vtpu_vm_table_complex;

#endif  // TPUTORCH_VTPU_VM_H_
