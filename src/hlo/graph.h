// Graph: a StableHLO function as an arena of nodes. Values are 32-bit indexes; every node's type is
// inferred and checked as it is appended, so an ill-typed graph cannot exist. Regions (reduce,
// scatter, sort, while, case) are blocks; block 0 is the function `main`.
//
// Builder errors are sticky: a builder call that fails remembers the first error in the graph and
// returns TPT_VALUE_NONE; calls on such a value return it again and tpt_graph_type of it is a static
// f32 scalar. So lowerings are written as expressions and tpt_graph_status is read once at the end.
// Thread-compatible. Typed doors: builder.h; printer: print.h; reader: read.h.
#ifndef TPUTORCH_HLO_GRAPH_H_
#define TPUTORCH_HLO_GRAPH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tputorch/status.h"
#include "tputorch/type.h"

#include "base/arena.h"

typedef struct tpt_graph tpt_graph_t;

typedef struct tpt_value {
  uint32_t index;
} tpt_value_t;
#define TPT_VALUE_NONE ((tpt_value_t){UINT32_MAX})
static inline bool tpt_value_is_none(tpt_value_t value) {
  return value.index == UINT32_MAX;
}

typedef enum tpt_hlo {
#define HLO(id, mnemonic, operands, regions, rule, ...) TPT_HLO_##id,
#include "hlo/hlo.def"
#undef HLO
  TPT_HLO_COUNT,
} tpt_hlo_t;

typedef enum tpt_attr_kind {
  TPT_ATTR_I64,
  TPT_ATTR_I64S,
  TPT_ATTR_I64PAIRS,  // ints = lo0 hi0 lo1 hi1 ...
  TPT_ATTR_BOOL,
  TPT_ATTR_BOOLS,
  TPT_ATTR_ENUM,
  TPT_ATTR_ENUMS,
  TPT_ATTR_BYTES,
  TPT_ATTR_STRING,
  TPT_ATTR_I32,  // as I64; spelled i32
} tpt_attr_kind_t;

typedef enum tpt_attr_group {
  TPT_GROUP_NONE,
  TPT_GROUP_DOT,
  TPT_GROUP_CONV,
  TPT_GROUP_GATHER,
  TPT_GROUP_SCATTER,
} tpt_attr_group_t;

// One attribute of a node, at the slot of its row in hlo.def. Arrays live in the graph's arena.
// A node's attributes are always complete: what the caller left out has its default filled in
// (only tputorch.check may be unset).
typedef struct tpt_attr {
  bool is_set;
  int64_t i;            // I64, BOOL, ENUM
  const int64_t* ints;  // I64S, I64PAIRS, BOOLS, ENUMS
  const void* bytes;    // BYTES (row-major elements, or one element if count == 1: a splat), STRING
  size_t count;         // ints; elements stored (BYTES); characters (STRING)
} tpt_attr_t;

struct tpt_enum;  // enum.h

typedef struct tpt_attr_row {
  const char* name;
  tpt_attr_kind_t kind;
  tpt_attr_group_t group;
  const struct tpt_enum* values;  // spellings of ENUM and ENUMS
} tpt_attr_row_t;

typedef struct tpt_hlo_row {
  const char* mnemonic;  // without "stablehlo."
  int operand_count;     // -1: any
  int region_count;      // -1: any
  int attr_count;
  const tpt_attr_row_t* attrs;
} tpt_hlo_row_t;
// Static row of an op; NULL for numbers outside the table.
const tpt_hlo_row_t* tpt_hlo_row(tpt_hlo_t op);

typedef struct tpt_node {
  tpt_hlo_t op;
  uint32_t operand_count;
  uint32_t result_count;
  uint32_t region_count;
  uint32_t block;         // the block it stands in
  uint32_t first_result;  // results are consecutive values
  const tpt_value_t* operands;
  const tpt_attr_t* attrs;  // tpt_hlo_row(op)->attr_count of them
  const uint32_t* regions;  // block indexes
} tpt_node_t;

typedef struct tpt_block {
  uint32_t arg_count;
  uint32_t first_arg;  // arguments are consecutive values; UINT32_MAX in main when a parameter
                       // was added late: args is always right
  const tpt_value_t* args;
  uint32_t node_count;
  const uint32_t* nodes;  // node indexes in program order
  uint32_t result_count;
  const tpt_value_t* results;  // operands of the block's return
} tpt_block_t;

// Where a value comes from.
typedef struct tpt_origin {
  uint32_t node;  // UINT32_MAX: an argument of `block`
  uint32_t block;
  uint32_t number;  // result or argument number
} tpt_origin_t;

// --- life -------------------------------------------------------------------------------------------
TPT_MUST_USE tpt_status_t tpt_graph_create(tpt_graph_t** out_graph);
void tpt_graph_release(tpt_graph_t* take_graph);  // NULL is legal
// Empties the graph for reuse, keeping its memory.
void tpt_graph_reset(tpt_graph_t* graph);
// The first builder error, owned by the graph (clone to keep); NULL when all is well.
tpt_status_t tpt_graph_error(const tpt_graph_t* graph);
// The same as an independent status to return.
TPT_MUST_USE tpt_status_t tpt_graph_status(const tpt_graph_t* graph);
// Makes the graph fail with a status (consumed) unless it has failed already.
void tpt_graph_fail(tpt_graph_t* graph, tpt_status_t take_status);
// The graph's arena: memory that lives as long as the graph's present contents.
tpt_arena_t* tpt_graph_arena(tpt_graph_t* graph);

// --- the function main --------------------------------------------------------------------------------
// Appends a parameter to block 0. Parameters may be added at any time.
tpt_value_t tpt_graph_parameter(tpt_graph_t* graph, const tpt_type_t* type);
// Parameter `parameter`'s buffer may be reused for result `result` (tf.aliasing_output); types must be equal.
void tpt_graph_alias(tpt_graph_t* graph, uint32_t parameter, uint32_t result);
// Result number that a parameter is aliased to, or -1.
int32_t tpt_graph_alias_of(const tpt_graph_t* graph, uint32_t parameter);
// Sets the results of main (copied).
void tpt_graph_return(tpt_graph_t* graph, const tpt_value_t* values, uint32_t count);

// --- reading --------------------------------------------------------------------------------------------
const tpt_type_t* tpt_graph_type(const tpt_graph_t* graph,
                                 tpt_value_t value);  // borrowed from the graph
tpt_origin_t tpt_graph_origin(const tpt_graph_t* graph, tpt_value_t value);
uint32_t tpt_graph_value_count(const tpt_graph_t* graph);
uint32_t tpt_graph_node_count(const tpt_graph_t* graph);
uint32_t tpt_graph_block_count(const tpt_graph_t* graph);
const tpt_node_t* tpt_graph_node(const tpt_graph_t* graph,
                                 uint32_t node);  // borrowed from the graph
tpt_block_t tpt_graph_block(const tpt_graph_t* graph, uint32_t block);
// The node that makes a value, or NULL for a block argument.
const tpt_node_t* tpt_graph_producer(const tpt_graph_t* graph, tpt_value_t value);
static inline tpt_value_t tpt_node_result(const tpt_node_t* node, uint32_t number) {
  return (tpt_value_t){node->first_result + number};
}
// True if the value is a constant all of whose elements equal one number, which is stored in *out.
bool tpt_graph_splat(const tpt_graph_t* graph, tpt_value_t value, tpt_number_t* out);

// --- identity -------------------------------------------------------------------------------------------
// Structural: ops, types, attributes, wiring, aliases; not names. Equal graphs hash alike.
uint64_t tpt_graph_hash(const tpt_graph_t* graph);
bool tpt_graph_equal(const tpt_graph_t* a, const tpt_graph_t* b);

// --- regions ---------------------------------------------------------------------------------------------
// Opens a block; nodes go there until the matching end. Blocks nest; values of outer blocks may be used.
// out_args receives `count` values.
void tpt_region_begin(tpt_graph_t* graph, const tpt_type_t* arg_types, uint32_t count,
                      tpt_value_t* out_args);
// Closes the innermost block with its results; returns its index for the op that owns it.
uint32_t tpt_region_end(tpt_graph_t* graph, const tpt_value_t* results, uint32_t count);
// Appends any op from its parts: the reader's door; typed doors are in builder.h. `result_types` is
// read only for ops of rule "given" and "convert"-like ops whose result is not implied by operands
// (convert, bitcast_convert, broadcast_in_dim, reshape, iota, constant, dot_general, convolution:
// given and checked; for the last two a rank of -1 names the dtype only); may be NULL else. attrs: attr_count slots in table order (copied).
typedef struct tpt_node_params {
  tpt_hlo_t op;
  const tpt_value_t* operands;
  uint32_t operand_count;
  const tpt_attr_t* attrs;
  const uint32_t* regions;
  uint32_t region_count;
  const tpt_type_t* result_types;
  uint32_t result_type_count;
} tpt_node_params_t;
// First result (the others follow); TPT_VALUE_NONE on error.
tpt_value_t tpt_graph_append(tpt_graph_t* graph, const tpt_node_params_t* params);

#endif  // TPUTORCH_HLO_GRAPH_H_
