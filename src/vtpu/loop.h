// Fused loops: an expression over an iteration space, evaluated tile by tile on the vector machine,
// whose results are stored densely or reduced. A spec says what to compute; a loop is the compiled
// form, immutable and shared by all runs. Knows nothing of graphs' order or of how buffers are laid out.
//
// A tile is a block of lanes: rows x columns of some loop dimensions. In a reduction either the rows
// are kept and the columns reduced ("across") or the other way round ("down").
#ifndef TPUTORCH_VTPU_LOOP_H_
#define TPUTORCH_VTPU_LOOP_H_

#include "base/arena.h"
#include "hlo/graph.h"
#include "vtpu/program.h"
#include "vtpu/vm.h"

enum {
  VTPU_LOOP_RANK_MAX = 24,
  VTPU_LOOP_MEMBERS_MAX = 120,
  VTPU_LOOP_OUTPUTS_MAX = 16,
  VTPU_LOOP_SLOTS_MAX = 512,
  VTPU_LOOP_STACK = 128 * 1024,  // registers and accumulators of one thread
};

// A buffer number with this bit is an array of one block of rows (rows.h): the rest is its place in
// the lane's local memory, in units of 64 bytes.
#define VTPU_BUFFER_LOCAL 0x80000000u
static inline bool vtpu_buffer_is_local(uint32_t buffer) {
  return (buffer & VTPU_BUFFER_LOCAL) != 0 && buffer != UINT32_MAX;
}

// --- what to compute ---------------------------------------------------------------------------------

// Where an element of a dense array lies, as a function of the loop's indexes.
typedef struct vtpu_map {
  int64_t offset;                      // elements
  int64_t stride[VTPU_LOOP_RANK_MAX];  // elements per step of a loop dimension
} vtpu_map_t;

typedef enum vtpu_member_kind {
  VTPU_MEMBER_LOAD,    // an element of buffer `buffer` at `map`
  VTPU_MEMBER_IOTA,    // offset + sum of stride * index, of `map`
  VTPU_MEMBER_NUMBER,  // `number`, one element of dtype
  VTPU_MEMBER_OP,      // `op` of other members
} vtpu_member_kind_t;

typedef struct vtpu_member {
  vtpu_member_kind_t kind;
  tpt_dtype_t dtype;
  tpt_hlo_t op;
  const tpt_attr_t* attrs;  // of the op's node
  int16_t operands[3];      // members with higher numbers; -1: none
  uint16_t map;
  uint32_t buffer;
  const void* number;  // borrowed
} vtpu_member_t;

typedef struct vtpu_body vtpu_body_t;

// An output is dense (monoid == TPT_HLO_COUNT and no body) or a reduction over the reduced dimensions.
typedef struct vtpu_output {
  int16_t member;  // its value
  uint16_t map;    // dense: where it goes
  uint32_t buffer;
  tpt_hlo_t monoid;      // reduction by a monoid, else TPT_HLO_COUNT
  uint32_t init_buffer;  // reduction: 0-d buffer, UINT32_MAX: `init`
  const void* init;      // one element of the member's dtype, borrowed
  const vtpu_body_t*
      body;  // reduction by a body: outputs first .. first + body_count - 1 belong to it
  int16_t body_first, body_count;
} vtpu_output_t;

typedef struct vtpu_loop_spec {
  int rank;
  int64_t dims[VTPU_LOOP_RANK_MAX];
  bool reduced[VTPU_LOOP_RANK_MAX];
  vtpu_map_t* maps;
  int map_count;
  vtpu_member_t* members;  // users before their operands
  int member_count;
  vtpu_output_t outputs[VTPU_LOOP_OUTPUTS_MAX];
  int output_count;
  // Outputs may lie on loads in any way: everything is read before anything is written.
  bool stores_last;
  // A part of a row step (rows.h): the first row_rank dimensions are rows, kept and never merged; a
  // tile has row_block of the innermost of them (with all columns, if more than one). 0: a plain loop.
  int row_rank;
  int64_t row_block;
  bool row_spans;  // a local array holds several such tiles, along the innermost row dimension
  // An epilogue (epilogue.h): rows merge among each other, and so do columns; a tile has row_block rows
  // of col_block columns. 0: another loop.
  int64_t col_block;
} vtpu_loop_spec_t;

// --- the compiled form ---------------------------------------------------------------------------------

// Lanes of a tile as nested runs: extent = count * (partial < 0 ? 1 : the tile's extent[partial]).
typedef struct vtpu_span {
  int64_t count;
  int64_t stride;  // bytes
  int8_t partial;
} vtpu_span_t;
typedef struct vtpu_pattern {
  int rank;  // 0: one element for all lanes
  vtpu_span_t runs[VTPU_LOOP_RANK_MAX];
} vtpu_pattern_t;

typedef enum vtpu_instr_kind {
  VTPU_INSTR_NONE,       // dropped while the loop is made
  VTPU_INSTR_OP,         // dst = fn(a, b, c)
  VTPU_INSTR_LOAD,       // dst = elements at a by pattern
  VTPU_INSTR_TRANSPOSE,  // the same for a pattern of two runs of which the outer one is contiguous
  VTPU_INSTR_GATHER,     // the same with `extra` = the lanes' offsets
  VTPU_INSTR_ROWS,       // OP row by row: operands in `spread` are one element for a row's lanes
  VTPU_INSTR_SPREAD,     // dst = each row's element of a, in all lanes of the row
  VTPU_INSTR_STORE,      // elements at dst by pattern = a
  VTPU_INSTR_IOTA,       // dst = s64 numbers from a by pattern
  VTPU_INSTR_FILL,       // dst = the element at `extra`
} vtpu_instr_kind_t;

typedef struct vtpu_instr {
  union {
    vtpu_vm_fn_t fn;                   // OP, ROWS (of 4-byte elements)
    vtpu_vm_move_fn_t move;            // LOAD, STORE, FILL, SPREAD
    vtpu_vm_transpose_fn_t transpose;  // TRANSPOSE
    vtpu_vm_gather_fn_t gather;        // GATHER
  };
  const void* extra;  // pattern, element, or operand b of reduce_precision
  uint8_t kind;
  uint8_t size;           // bytes of an element
  bool is_slow;           // OP, ROWS: of f32, many times the cost of reading
  bool by_row;            // OP: one lane per row of the tile instead of all
  uint8_t spread, step;   // ROWS: operands (VTPU_OPERAND_A ...); those of them that differ by row
  uint16_t dst, a, b, c;  // slots
} vtpu_instr_t;

// An array that the loop walks; its slot holds the address of the present tile.
typedef struct vtpu_stream {
  uint32_t buffer;  // UINT32_MAX: the address itself counts (iota)
  uint16_t slot;
  int64_t offset;        // bytes
  const int64_t* step;   // bytes per tile of each level
  const int64_t* delta;  // bytes to the next tile when a level steps and all inner ones return to 0
} vtpu_stream_t;

typedef struct vtpu_reduction {
  const vtpu_vm_reduce_t* fns;  // NULL: by body
  const vtpu_body_t* body;
  int count;                                // operands (1 for a monoid)
  uint16_t slots[VTPU_LOOP_OUTPUTS_MAX];    // elements
  uint16_t streams[VTPU_LOOP_OUTPUTS_MAX];  // result streams (numbers, not slots)
  tpt_dtype_t dtypes[VTPU_LOOP_OUTPUTS_MAX];
  uint32_t init_buffers[VTPU_LOOP_OUTPUTS_MAX];
  const void* inits[VTPU_LOOP_OUTPUTS_MAX];
  size_t acc_offsets[VTPU_LOOP_OUTPUTS_MAX];  // into the accumulators of a unit
} vtpu_reduction_t;

typedef struct vtpu_loop {
  int level_count;  // tiled dimensions: kept ones first
  int kept_level_count;
  int64_t tiles[VTPU_LOOP_RANK_MAX];
  int64_t kept_tiles, reduced_tiles;
  int64_t chunks;                   // parts into which the reduced tiles of one kept tile are cut
  bool across;                      // columns are reduced
  int64_t row_lanes, column_lanes;  // without the partial dimensions
  // partial[0]: of the rows, partial[1]: of the columns. Extent of a tile: box, or last at the end.
  struct {
    int level;  // -1: not tiled
    int64_t box, last;
  } partial[2];
  int64_t lanes_max;
  int stream_count;
  vtpu_stream_t* streams;
  int prologue_count, instr_count;
  vtpu_instr_t* instrs;  // the prologue's first
  int register_count;
  const uint32_t* register_offsets;
  size_t register_size;  // bytes of all registers
  int reduction_count;
  vtpu_reduction_t* reductions;
  size_t acc_size;        // bytes of a unit's accumulators
  size_t work_size;       // bytes that reductions use within a call
  size_t scratch_size;    // for chunks > 1
  size_t frame_size;      // bytes of registers, accumulators and work of one thread
  int64_t element_count;  // of the iteration space
  int64_t cost;           // nanoseconds on one thread
  int row_level;          // of the innermost row dimension if local arrays span tiles, else -1
  int block_level;        // of the innermost row dimension of a part of a row step, -1: not tiled
  int rank;               // of the iteration space, merged
  const int64_t* dims;
  int op_count;  // distinct ops, in the order of evaluation
  const uint8_t* ops;
  double flops, bytes;
  // per output and per load member: places in instrs, for in-place decisions
  const int32_t* store_at;   // [output_count]
  const int32_t* last_read;  // [member_count], -1 for others and for hoisted loads
  bool one_to_one;           // every lane is visited once and loads precede stores within a tile
} vtpu_loop_t;

// Compiles a spec (which is changed: dimensions merge). UNIMPLEMENTED names an op that the machine
// lacks for the type. Lives in the arena.
TPT_MUST_USE tpt_status_t vtpu_loop_compile(vtpu_loop_spec_t* spec, tpt_arena_t* arena,
                                            vtpu_loop_t** out_loop);

// Runs it. pointers: by buffer number. scratch: scratch_size bytes.
void vtpu_loop_run(const vtpu_loop_t* loop, const vtpu_exec_t* exec, void* const* pointers,
                   void* scratch);

// Runs a loop of one dimension over `count` elements of arrays given by buffer number, on this thread.
void vtpu_loop_run_vector(const vtpu_loop_t* loop, int64_t count, void* const* pointers);

// True if the op is evaluated elementwise inside loops.
bool vtpu_loop_has_op(tpt_hlo_t op);

// --- parts, for loop*.c ------------------------------------------------------------------------------
// Chooses the tile and merges dimensions; lanes_wanted bounds the lanes.
typedef struct vtpu_tile {
  int rank;                         // of the spec after merging
  int64_t box[VTPU_LOOP_RANK_MAX];  // extent of a tile in each dimension
  int lane_count;                   // dimensions with lanes, outermost first: rows, then columns
  int lane_dims[VTPU_LOOP_RANK_MAX];
  int row_count;  // how many of them are rows
} vtpu_tile_t;
void vtpu_spec_merge(vtpu_loop_spec_t* spec);
void vtpu_tile_choose(const vtpu_loop_spec_t* spec, int64_t lanes_wanted, vtpu_tile_t* out);
void vtpu_tile_apply(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile, vtpu_loop_t* loop);
// Pattern of a map's lanes in a tile.
void vtpu_tile_pattern(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile,
                       const vtpu_loop_t* loop, const vtpu_map_t* map, int64_t element_size,
                       vtpu_pattern_t* out);
// Offsets of the lanes of a full tile, in elements; a ragged tile has the first of them. NULL when a tile
// may be ragged otherwise, or an offset does not fit.
const int32_t* vtpu_tile_offsets(const vtpu_loop_t* loop, const vtpu_pattern_t* pattern,
                                 int64_t element_size, tpt_arena_t* arena);
// Bytes that a map moves per tile of each level.
int64_t* vtpu_tile_steps(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile,
                         const vtpu_map_t* map, int64_t element_size, tpt_arena_t* arena);

// Memory that will be wanted next: a few lines at a time are asked for between passes, so that they come
// while the vector units work.
enum { VTPU_AHEAD_MAX = 8, VTPU_AHEAD_LANES = 256 };  // lanes of a slow op per burst
typedef struct vtpu_ahead {
  int count, burst;  // ranges that are left; lines at a time
  struct {
    const char *next, *end;
  } ranges[VTPU_AHEAD_MAX];
} vtpu_ahead_t;

// One thread's state over a run (loop_run.c), seen by reductions.
typedef struct vtpu_frame {
  const vtpu_loop_t* loop;
  void* const* pointers;
  char* local;          // of row steps
  int64_t row_first;    // tile of the innermost row dimension at which local arrays begin
  vtpu_ahead_t* ahead;  // (optional)
  int64_t extent[2];
  int64_t rows, columns, lanes;
  char* work;                      // work_size bytes for reductions
  char* acc;                       // acc_size bytes
  int64_t at[VTPU_LOOP_RANK_MAX];  // tile numbers per level
  void* slots[VTPU_LOOP_SLOTS_MAX];
} vtpu_frame_t;
// Gives a frame its memory (frame_size bytes, 64-aligned). Then: seek to a tile, run the prologue once,
// run tiles.
void vtpu_frame_begin(vtpu_frame_t* frame, const vtpu_loop_t* loop, void* const* pointers,
                      char* memory);
void vtpu_frame_seek(vtpu_frame_t* frame, int64_t kept_tile, int64_t reduced_tile);
void vtpu_frame_prologue(vtpu_frame_t* frame);
// Runs `count` kept tiles from the present one, reductions included; stands at the next one then.
void vtpu_frame_run(vtpu_frame_t* frame, int64_t count);
// Accumulators of a unit: made empty; take the present tile (number 0 is the unit's first); gather what
// `take` left loose; take another chunk's; write the results. `lanes` is the number of results.
void vtpu_reduce_start(const vtpu_frame_t* frame, char* acc, int64_t lanes);
void vtpu_reduce_take(const vtpu_frame_t* frame, char* acc, int64_t tile_number);
void vtpu_reduce_settle(const vtpu_frame_t* frame, char* acc, int64_t lanes);
void vtpu_reduce_merge(const vtpu_frame_t* frame, char* acc, const char* other, int64_t lanes);
void vtpu_reduce_finish(const vtpu_frame_t* frame, char* acc, bool empty);

#endif  // TPUTORCH_VTPU_LOOP_H_
