// A loop under construction: what loop.c, loop_emit.c and loop_register.c share. Private to these.
#ifndef TPUTORCH_VTPU_LOOP_BUILD_H_
#define TPUTORCH_VTPU_LOOP_BUILD_H_

#include "vtpu/loop.h"

// A place is a virtual register or, with the stream bit, a stream.
enum { VTPU_PLACE_NONE = 0xFFFF, VTPU_PLACE_STREAM = 0x8000 };

// What lanes a value needs: one for each element, one for each row of the tile, or any one of them.
typedef enum vtpu_lanes { VTPU_LANES_SAME, VTPU_LANES_ROW, VTPU_LANES_ALL } vtpu_lanes_t;

enum { VTPU_VREG_ROW = 0x80 };  // in vreg_size: a lane per row

typedef struct vtpu_build {
  vtpu_loop_spec_t* spec;
  tpt_arena_t* arena;
  vtpu_loop_t* loop;
  const vtpu_tile_t* tile;
  // virtual registers: element size (and VTPU_VREG_ROW); written once, in the prologue
  int vreg_count;
  uint8_t* vreg_size;
  bool* vreg_fixed;
  vtpu_instr_t* instrs;  // operands are places
  bool* hoisted;         // per instruction: belongs to the prologue
  int instr_count;
  uint16_t* member_place;   // per member
  bool* member_fixed;       // the same for every tile
  uint8_t* member_lanes;    // vtpu_lanes_t
  uint16_t* member_spread;  // its place once spread over all lanes, else VTPU_PLACE_NONE
  bool by_row;              // what is emitted now has a lane per row
  uint16_t* member_uses;    // by members and reductions
  int32_t* member_instr;    // the one instruction that computes an op's value; -1: none or several
  bool* member_shared;      // used by a member or a reduction, not only by a dense output
  int32_t* store_at;        // per output: the instruction that writes it
  int32_t* last_read;       // per member: the last instruction that reads its memory
  int64_t cost;             // picoseconds per element
  tpt_status_t status;      // the first error, owned
} vtpu_build_t;

// Emits instructions for all members, dense outputs and reductions; errors go to `status` and the arena.
void vtpu_build_emit(vtpu_build_t* build);
// Orders instructions (the prologue first), gives registers, and sets slots, strides and last reads.
TPT_MUST_USE tpt_status_t vtpu_build_finish(vtpu_build_t* build);

static inline size_t vtpu_align64(size_t size) {
  return (size + 63) & ~(size_t)63;
}

#endif  // TPUTORCH_VTPU_LOOP_BUILD_H_
