// Tiles of a fused loop: merges dimensions that every access walks as one, chooses which dimensions
// become lanes, and turns index maps into lane patterns and steps. Knows no operation.
#include <stdlib.h>

#include "vtpu/loop.h"

static bool dims_merge(const vtpu_loop_spec_t* spec, int outer, int inner) {
  if (spec->reduced[outer] != spec->reduced[inner]) return false;
  for (int i = 0; i < spec->map_count; i++) {
    const vtpu_map_t* map = &spec->maps[i];
    if (map->stride[outer] != map->stride[inner] * spec->dims[inner]) return false;
  }
  return true;
}

// Places before this one merge with nothing that comes now, at dimension d. `row_rank`: merged so far.
static int merge_floor(const vtpu_loop_spec_t* spec, int d, int row_rank) {
  if (spec->col_block) return d < spec->row_rank ? 0 : row_rank;
  return spec->row_rank;
}

void vtpu_spec_merge(vtpu_loop_spec_t* spec) {
  int rank = 0, row_rank = 0;
  for (int d = 0; d < spec->rank; d++) {
    if (spec->dims[d] == 1 && d >= spec->row_rank) continue;
    for (int i = 0; i < spec->map_count; i++)
      spec->maps[i].stride[rank] = spec->maps[i].stride[d];
    spec->dims[rank] = spec->dims[d];
    spec->reduced[rank] = spec->reduced[d];
    if (rank > merge_floor(spec, d, row_rank) && dims_merge(spec, rank - 1, rank)) {
      spec->dims[rank - 1] *= spec->dims[rank];
      for (int i = 0; i < spec->map_count; i++)
        spec->maps[i].stride[rank - 1] = spec->maps[i].stride[rank];
    } else {
      rank++;
    }
    if (d < spec->row_rank) row_rank = rank;
  }
  spec->rank = rank;
  spec->row_rank = row_rank;
}

// Extent of a tile in a dimension of which at most `most` fit: even shares, whole cache lines.
static int64_t box_of(int64_t dim, int64_t most, bool innermost) {
  if (most < 1) most = 1;
  if (dim <= most) return dim > 0 ? dim : 1;
  int64_t tiles = (dim + most - 1) / most;
  int64_t box = (dim + tiles - 1) / tiles;
  if (innermost && box > 64) box = (box + 63) / 64 * 64;
  return box < most ? box : most;
}

// Takes dimensions from `last` down to `first` as lanes while they fit into `most`; the dimension that
// does not fit whole is split. Returns the lanes taken; *out_whole: all dimensions were taken whole.
static int64_t lanes_take(const vtpu_loop_spec_t* spec, int first, int last, int64_t most,
                          vtpu_tile_t* tile, bool* out_whole) {
  int64_t lanes = 1;
  *out_whole = true;
  int d = last;
  for (; d >= first && *out_whole; d--) {
    int64_t box = box_of(spec->dims[d], most / lanes, d == spec->rank - 1);
    if (box < spec->dims[d]) *out_whole = false;
    if (box == 1 && spec->dims[d] != 1) break;
    tile->box[d] = box;
    lanes *= box;
    for (int i = tile->lane_count; i > 0; i--)
      tile->lane_dims[i] = tile->lane_dims[i - 1];
    tile->lane_dims[0] = d;
    tile->lane_count++;
  }
  return lanes;
}

// A dimension that some access walks contiguously while the innermost one jumps; -1: none.
static int transposed_dim(const vtpu_loop_spec_t* spec) {
  int last = spec->rank - 1;
  if (last < 1 || spec->dims[last] < 8) return -1;
  for (int i = 0; i < spec->map_count; i++) {
    int64_t jump = llabs(spec->maps[i].stride[last]);
    if (jump < 8) continue;
    for (int d = 0; d < last; d++)
      if (llabs(spec->maps[i].stride[d]) == 1 && spec->dims[d] >= 8) return d;
  }
  return -1;
}

static void tile_choose_reduction(const vtpu_loop_spec_t* spec, int64_t lanes_wanted,
                                  vtpu_tile_t* out) {
  int last = spec->rank - 1;
  int first = last;
  while (first > 0 && spec->reduced[first - 1] == spec->reduced[last])
    first--;
  bool whole;
  int64_t columns = lanes_take(spec, first, last, lanes_wanted, out, &whole);
  int column_count = out->lane_count;
  if (whole && first > 0 && columns <= lanes_wanted / 2) {
    int row_last = first - 1, row_first = row_last;
    while (row_first > 0 && spec->reduced[row_first - 1] == spec->reduced[row_last])
      row_first--;
    lanes_take(spec, row_first, row_last, lanes_wanted / columns, out, &whole);
  }
  out->row_count = out->lane_count - column_count;
}

// Columns of one row, or whole columns of a block of rows.
static void tile_choose_rows(const vtpu_loop_spec_t* spec, int64_t lanes_wanted, bool reduces,
                             vtpu_tile_t* out) {
  bool whole;
  int64_t most = spec->row_block > 1 ? INT64_MAX : lanes_wanted;
  lanes_take(spec, spec->row_rank, spec->rank - 1, most, out, &whole);
  if (spec->row_block == 1) return;
  out->box[spec->row_rank - 1] = spec->row_block;
  for (int i = out->lane_count++; i > 0; i--)
    out->lane_dims[i] = out->lane_dims[i - 1];
  out->lane_dims[0] = spec->row_rank - 1;
  // A reduction of nothing has its results in the columns.
  out->row_count = reduces && spec->rank == spec->row_rank ? 0 : 1;
}

// row_block rows of col_block columns.
static void tile_choose_block(const vtpu_loop_spec_t* spec, vtpu_tile_t* out) {
  int last = spec->rank - 1, row = spec->row_rank - 1;
  if (row >= 0 && spec->row_block > 1) {
    out->box[row] = spec->row_block;
    out->lane_dims[out->lane_count++] = row;
    out->row_count = 1;
  }
  out->box[last] = spec->col_block;
  out->lane_dims[out->lane_count++] = last;
}

void vtpu_tile_choose(const vtpu_loop_spec_t* spec, int64_t lanes_wanted, vtpu_tile_t* out) {
  bool reduces = false, whole;
  for (int i = 0; i < spec->output_count; i++)
    reduces |= spec->outputs[i].monoid != TPT_HLO_COUNT || spec->outputs[i].body;
  out->rank = spec->rank;
  out->lane_count = 0;
  out->row_count = 0;
  for (int d = 0; d < spec->rank; d++)
    out->box[d] = 1;
  if (spec->rank == 0) return;
  if (spec->col_block) {
    tile_choose_block(spec, out);
    return;
  }
  if (spec->row_rank > 0) {
    tile_choose_rows(spec, lanes_wanted, reduces, out);
    return;
  }
  int last = spec->rank - 1, other = reduces ? -1 : transposed_dim(spec);
  if (reduces) {
    tile_choose_reduction(spec, lanes_wanted, out);
  } else if (other >= 0) {
    // A cache line across; the arrays that are not transposed move in long pieces.
    int64_t lanes = lanes_wanted == 512 ? 1024 : lanes_wanted;
    out->box[other] = box_of(spec->dims[other], 16, false);
    out->box[last] = box_of(spec->dims[last], lanes / out->box[other], false);
    out->lane_dims[0] = other;
    out->lane_dims[1] = last;
    out->lane_count = 2;
    out->row_count = 1;
  } else {
    lanes_take(spec, 0, last, lanes_wanted, out, &whole);
  }
}

static void levels_set(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile, vtpu_loop_t* loop,
                       bool reduced) {
  for (int d = 0; d < spec->rank; d++) {
    if (spec->reduced[d] != reduced) continue;
    int64_t tiles = (spec->dims[d] + tile->box[d] - 1) / tile->box[d];
    if (reduced)
      loop->reduced_tiles *= tiles;
    else
      loop->kept_tiles *= tiles;
    if (tile->box[d] >= spec->dims[d]) continue;
    loop->tiles[loop->level_count++] = tiles;
  }
  if (!reduced) loop->kept_level_count = loop->level_count;
}

// Level of a dimension: levels are the tiled kept dimensions, then the tiled reduced ones, in order.
static int level_of(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile, int dim) {
  int level = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int d = 0; d < spec->rank; d++) {
      if (spec->reduced[d] != (pass == 1)) continue;
      bool tiled = tile->box[d] < spec->dims[d];
      if (d == dim) return tiled ? level : -1;
      level += tiled;
    }
  return -1;
}

void vtpu_tile_apply(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile, vtpu_loop_t* loop) {
  loop->level_count = 0;
  loop->kept_tiles = loop->reduced_tiles = 1;
  loop->element_count = 1;
  for (int d = 0; d < spec->rank; d++)
    loop->element_count *= spec->dims[d];
  levels_set(spec, tile, loop, false);
  levels_set(spec, tile, loop, true);
  loop->block_level = spec->row_rank > 0 ? level_of(spec, tile, spec->row_rank - 1) : -1;
  loop->row_level = spec->row_spans ? loop->block_level : -1;
  loop->across = spec->rank > 0 && spec->reduced[spec->rank - 1];
  loop->row_lanes = loop->column_lanes = 1;
  for (int p = 0; p < 2; p++) {
    loop->partial[p].level = -1;
    loop->partial[p].box = loop->partial[p].last = 1;
  }
  loop->lanes_max = 1;
  for (int i = 0; i < tile->lane_count; i++) {
    int d = tile->lane_dims[i], p = i < tile->row_count ? 0 : 1;
    int64_t box = tile->box[d];
    loop->lanes_max *= box;
    int level = level_of(spec, tile, d);
    if (level >= 0) {
      loop->partial[p].level = level;
      loop->partial[p].box = box;
      loop->partial[p].last = spec->dims[d] - (spec->dims[d] - 1) / box * box;
    } else if (p == 0) {
      loop->row_lanes *= box;
    } else {
      loop->column_lanes *= box;
    }
  }
}

void vtpu_tile_pattern(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile,
                       const vtpu_loop_t* loop, const vtpu_map_t* map, int64_t element_size,
                       vtpu_pattern_t* out) {
  vtpu_span_t runs[VTPU_LOOP_RANK_MAX];  // innermost first
  int rank = 0;
  bool moves = false;
  for (int i = tile->lane_count - 1; i >= 0; i--) {
    int d = tile->lane_dims[i], p = i < tile->row_count ? 0 : 1;
    bool partial = loop->partial[p].level >= 0 && tile->box[d] < spec->dims[d];
    vtpu_span_t run = {partial ? 1 : tile->box[d], map->stride[d] * element_size,
                       (int8_t)(partial ? p : -1)};
    moves |= map->stride[d] != 0;
    vtpu_span_t* inner = rank ? &runs[rank - 1] : NULL;
    if (inner && inner->partial < 0 && run.stride == inner->stride * inner->count) {
      inner->count *= run.count;
      inner->partial = run.partial;
    } else {
      runs[rank++] = run;
    }
  }
  out->rank = moves ? rank : 0;
  for (int i = 0; i < out->rank; i++)
    out->runs[i] = runs[rank - 1 - i];
}

const int32_t* vtpu_tile_offsets(const vtpu_loop_t* loop, const vtpu_pattern_t* pattern,
                                 int64_t element_size, tpt_arena_t* arena) {
  int64_t extents[VTPU_LOOP_RANK_MAX], at[VTPU_LOOP_RANK_MAX] = {0}, reach = 0;
  bool is_prefix =
      loop->partial[1].level < 0 || (loop->row_lanes == 1 && loop->partial[0].level < 0);
  for (int d = 0; d < pattern->rank; d++) {
    const vtpu_span_t* run = &pattern->runs[d];
    extents[d] = run->partial < 0 ? run->count : run->count * loop->partial[run->partial].box;
    reach += llabs(run->stride) / element_size * extents[d];
  }
  if (!is_prefix || reach > INT32_MAX) return NULL;
  int32_t* offsets = tpt_arena_alloc(arena, sizeof(*offsets) * (size_t)(loop->lanes_max + 1));
  if (!offsets) return NULL;
  int64_t offset = 0;
  for (int64_t i = 0; i < loop->lanes_max; i++) {
    offsets[i] = (int32_t)(offset / element_size);
    for (int d = pattern->rank - 1; d >= 0; d--) {
      offset += pattern->runs[d].stride;
      if (++at[d] < extents[d]) break;
      offset -= pattern->runs[d].stride * extents[d];
      at[d] = 0;
    }
  }
  return offsets;
}

int64_t* vtpu_tile_steps(const vtpu_loop_spec_t* spec, const vtpu_tile_t* tile,
                         const vtpu_map_t* map, int64_t element_size, tpt_arena_t* arena) {
  int64_t* steps = tpt_arena_alloc(arena, sizeof(*steps) * VTPU_LOOP_RANK_MAX);
  if (!steps) return NULL;
  int level = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int d = 0; d < spec->rank; d++)
      if (spec->reduced[d] == (pass == 1) && tile->box[d] < spec->dims[d])
        steps[level++] = map->stride[d] * tile->box[d] * element_size;
  return steps;
}
