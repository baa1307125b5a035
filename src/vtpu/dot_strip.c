// dot_general on the CPU's own units: products of f32, bf16 and f16 operands, summed in f32. Operands are
// converted and rounded (DEFAULT one pass, HIGH three) while they are packed into strips: whole, before the tiles, when
// several tiles read them, else a panel at a time by the tile that does. Tiles of the result are the
// unit of parallel work; the order of a sum depends on k only.
#include "vtpu/dot_tile.h"
#include "vtpu/keep.h"
#include "vtpu/lane.h"
#include "vtpu/strip.h"

enum {
  TILE = 256,     // rows and columns of an output tile
  TILE_MIN = 64,  // not cut below this for the sake of parallelism
  TILES_WANTED = 8,
  CUT_COST = 40000,       // nanoseconds of work that are worth cutting up
  K_PANEL = 512,          // contracting extent of a panel; a multiple of a tile's
  PACK_ITEM = 1 << 17,    // elements packed by one item
  PACK_FREE = 256,        // free positions of such an item
  WHOLE_MAX = 128 << 20,  // bytes of a whole packed operand
  ELEMENTS_PER_NS = 4,    // packed by one core, roughly
};

typedef struct side {
  vtpu_dot_side_t at;
  int part_count;  // 2 (high and low) for a three-pass product
  vtpu_strip_source_t parts[2];
  int64_t block;         // free positions of a tile
  bool is_whole;         // packed before the tiles; else so are copies that are kept
  int64_t strips;        // whole: of one batch element
  int64_t panel_stride;  // bytes from a strip of a panel to the next
  int64_t whole_stride;  // the same of the whole operand
  size_t whole_size;     // bytes of a part
  size_t offset[2];      // of the parts, in scratch if whole, else in a lane's scratch
  vtpu_dot_form_t form;  // of a copy that is kept
  int64_t k_step, k_steps, free_steps;  // cut into items of packing; free in steps of PACK_FREE
  int64_t pack_items;
} side_t;

typedef struct dot {
  vtpu_dot_state_t state;
  vtpu_dot_shape_t shape;
  const vtpu_strip_unit_t* unit;
  side_t sides[2];
  vtpu_dot_target_t target;
  int64_t k_block, m_tiles, n_tiles;
  int lane_count;
  size_t lanes_offset, lane_size;
  size_t temp_offset;  // in a lane's scratch
} dot_t;

typedef struct run {
  const dot_t* dot;
  vtpu_dot_call_t call;
  char* kept[2];          // (optional) copies of the sides, all parts
  int64_t pack_items[2];  // what is left to do before the tiles
} run_t;

// True if strips of the whole operand lie ready while tiles are multiplied.
static bool is_whole(const run_t* run, int s) {
  return run->dot->sides[s].is_whole || run->kept[s];
}

static int64_t stride_of(const run_t* run, int s) {
  const side_t* side = &run->dot->sides[s];
  return is_whole(run, s) ? side->whole_stride : side->panel_stride;
}

static bool has_low(const dot_t* dot) {
  return dot->sides[0].part_count + dot->sides[1].part_count > 2;
}

// --- prepare ----------------------------------------------------------------------------------------

static bool sides_make(const vtpu_dot_shape_t* shape, dot_t* dot) {
  tpt_dtype_t dtypes[2] = {shape->sides[0].dtype, shape->sides[1].dtype};
  vtpu_strip_source_t sources[2][2];
  int part_counts[2];
  dot->unit = vtpu_strip_choose(dtypes, shape->precision, sources, part_counts);
  for (int s = 0; s < 2 && dot->unit; s++) {
    side_t* side = &dot->sides[s];
    side->at = shape->sides[s];
    side->part_count = part_counts[s];
    for (int p = 0; p < side->part_count; p++)
      side->parts[p] = sources[s][p];
  }
  return dot->unit != NULL;
}

static double work_of(const dot_t* dot) {
  const vtpu_dot_shape_t* s = &dot->shape;
  int passes = dot->sides[0].part_count + dot->sides[1].part_count - 1;
  double packed = (double)s->batch_count * (double)s->k * (double)(s->m + s->n);
  return vtpu_dot_flops(s) * passes / dot->unit->flops_per_ns + packed / ELEMENTS_PER_NS;
}

static void choose_tiles(dot_t* dot) {
  const vtpu_dot_shape_t* s = &dot->shape;
  int64_t block[2] = {s->m < TILE ? s->m : TILE, s->n < TILE ? s->n : TILE};
  bool is_worth_cutting = work_of(dot) > CUT_COST;
  for (int i = 0; i < 2; i++)
    if (block[i] < 1) block[i] = 1;
  while (is_worth_cutting && (block[0] > TILE_MIN || block[1] > TILE_MIN) &&
         s->batch_count * vtpu_ceil_div(s->m, block[0]) * vtpu_ceil_div(s->n, block[1]) <
             TILES_WANTED) {
    int64_t* larger = block[0] > block[1] ? &block[0] : &block[1];
    *larger = vtpu_ceil_div(vtpu_ceil_div(*larger, 2), 32) * 32;
  }
  dot->m_tiles = vtpu_ceil_div(s->m, block[0]);
  dot->n_tiles = vtpu_ceil_div(s->n, block[1]);
  dot->sides[0].block = block[0];
  dot->sides[1].block = block[1];
}

// Decides which sides are packed whole, and how that is cut into items.
static void choose_wholes(dot_t* dot, vtpu_kernel_t* kernel, size_t* inout_offset) {
  const vtpu_dot_shape_t* shape = &dot->shape;
  for (int s = 0; s < 2; s++) {
    side_t* side = &dot->sides[s];
    side->strips = vtpu_strip_count(side->at.free.count);
    side->whole_stride = vtpu_strip_stride(dot->unit, shape->k);
    double size = (double)(shape->batch_count * side->strips) * (double)side->whole_stride;
    int64_t readers = s == 0 ? dot->n_tiles : dot->m_tiles;
    bool has_room = size * side->part_count <= WHOLE_MAX;
    side->is_whole = readers > 1 && has_room;
    side->whole_size = (size_t)size;
    for (int p = 0; p < side->part_count && side->is_whole; p++)
      side->offset[p] = vtpu_scratch_take(inout_offset, side->whole_size);
    int64_t rows = side->at.free.count < PACK_FREE ? side->at.free.count : PACK_FREE;
    if (rows < 1) rows = 1;
    side->k_step = vtpu_ceil_div(PACK_ITEM / rows, VTPU_STRIP_DEPTH_MAX) * VTPU_STRIP_DEPTH_MAX;
    side->k_steps = vtpu_ceil_div(shape->k, side->k_step);
    side->free_steps = vtpu_ceil_div(side->at.free.count, PACK_FREE);
    side->pack_items = shape->batch_count * side->free_steps * side->k_steps * side->part_count;
    int64_t more = (int64_t)(intptr_t)dot->unit + side->parts[0];  // the second part follows
    if (has_room)
      vtpu_dot_form_make(shape, s, VTPU_DOT_WAY_STRIPS, more * 2 + (side->part_count > 1),
                         &side->form);
    kernel->keep_operands[s] = side->form.count > 0;
  }
}

static size_t temp_size(const dot_t* dot, const side_t* side, int64_t free_count, int64_t k_count) {
  vtpu_strip_block_t block = {.element_size = tpt_dtype_size(side->at.dtype),
                              .free = side->at.free,
                              .contract = side->at.contract,
                              .contract_inner = side->at.contract_inner,
                              .free_count = free_count,
                              .k_count = k_count};
  return vtpu_strip_temp_size(dot->unit, &block);
}

static void layout_scratch(dot_t* dot, vtpu_kernel_t* kernel) {
  size_t offset = 0, lane = 0, temp = 0;
  choose_wholes(dot, kernel, &offset);
  bool has_panel = !dot->sides[0].is_whole || !dot->sides[1].is_whole;
  dot->k_block = has_panel && dot->shape.k > K_PANEL ? K_PANEL : dot->shape.k;
  for (int s = 0; s < 2; s++) {
    side_t* side = &dot->sides[s];
    size_t size = temp_size(dot, side, PACK_FREE, side->k_step);
    if (size > temp) temp = size;
    if (side->is_whole) continue;
    size = temp_size(dot, side, side->block, dot->k_block);
    if (size > temp) temp = size;
    side->panel_stride = vtpu_strip_stride(dot->unit, dot->k_block);
    for (int p = 0; p < side->part_count; p++)
      side->offset[p] =
          vtpu_scratch_take(&lane, (size_t)(vtpu_strip_count(side->block) * side->panel_stride));
  }
  dot->temp_offset = vtpu_scratch_take(&lane, temp);
  int64_t block[2] = {dot->sides[0].block, dot->sides[1].block};
  vtpu_dot_target_make(kernel, &dot->shape, block, has_low(dot), &lane, &dot->target);
  dot->lanes_offset = offset;
  dot->lane_size = lane;
  kernel->scratch_size = offset + lane * (size_t)dot->lane_count;
}

static tpt_status_t run_strips(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                               const void* const* in, void* const* out);

tpt_status_t vtpu_dot_strip_prepare(vtpu_kernel_t* kernel, const vtpu_dot_shape_t* shape,
                                    bool* out_done) {
  *out_done = false;
  if (shape->compute != VTPU_COMPUTE_F32) return NULL;
  dot_t* dot = tpt_arena_calloc(kernel->arena, 1, sizeof(*dot));
  if (!dot) return tpt_arena_status(kernel->arena);
  if (!sides_make(shape, dot) || vtpu_dot_wants_blas(shape)) return NULL;
  dot->state.run = run_strips;
  dot->shape = *shape;
  choose_tiles(dot);
  int64_t items = shape->batch_count * dot->m_tiles * dot->n_tiles;
  kernel->cost = (int64_t)(work_of(dot) + vtpu_dot_bytes(kernel) / 10) + 100 + items * 200;
  dot->lane_count = vtpu_lane_count(items, kernel->cost);
  if (kernel->epilogue) kernel->epilogue->lane_count = dot->lane_count;
  layout_scratch(dot, kernel);
  kernel->state = dot;
  *out_done = true;
  return tpt_arena_status(kernel->arena);
}

// --- packing ----------------------------------------------------------------------------------------

static vtpu_strip_block_t side_block(const run_t* run, int s, int part, int64_t batch) {
  const side_t* side = &run->dot->sides[s];
  size_t size = tpt_dtype_size(side->at.dtype);
  return (vtpu_strip_block_t){
      .data = (const char*)run->call.in[s] +
              vtpu_dot_batch_offset(&run->dot->shape, s, batch) * (int64_t)size,
      .element_size = size,
      .free = side->at.free,
      .contract = side->at.contract,
      .contract_inner = side->at.contract_inner,
      .source = side->parts[part],
      .is_rhs = s == 1,
      .strip_stride = stride_of(run, s),
  };
}

// Where a strip of a whole operand lies.
static char* whole_at(const run_t* run, int s, int part, int64_t batch, int64_t first_free) {
  const side_t* side = &run->dot->sides[s];
  char* base = run->call.scratch + side->offset[part];
  if (run->kept[s]) base = run->kept[s] + side->whole_size * (size_t)part;
  int64_t strip = batch * side->strips + first_free / VTPU_STRIP_FREE;
  return base + strip * side->whole_stride;
}

static char* lane_memory(const run_t* run, int lane) {
  return run->call.scratch + run->dot->lanes_offset + run->dot->lane_size * (size_t)lane;
}

static void pack_item(void* arg, int64_t item, int lane) {
  const run_t* run = arg;
  const dot_t* dot = run->dot;
  int s = item >= run->pack_items[0];
  if (s == 1) item -= run->pack_items[0];
  const side_t* side = &dot->sides[s];
  int64_t k = item % side->k_steps * side->k_step;
  item /= side->k_steps;
  int64_t free = item % side->free_steps * PACK_FREE;
  item /= side->free_steps;
  int64_t batch = item % dot->shape.batch_count;
  int part = (int)(item / dot->shape.batch_count);
  vtpu_strip_block_t block = side_block(run, s, part, batch);
  int64_t k_left = dot->shape.k - k, free_left = side->at.free.count - free;
  block.first_k = k, block.k_count = k_left < side->k_step ? k_left : side->k_step;
  block.first_free = free, block.free_count = free_left < PACK_FREE ? free_left : PACK_FREE;
  block.out = whole_at(run, s, part, batch, free) + vtpu_strip_size(dot->unit, k);
  vtpu_strip_pack(run->dot->unit, &block, lane_memory(run, lane) + dot->temp_offset);
}

// --- tiles ------------------------------------------------------------------------------------------

typedef struct tile {
  vtpu_dot_tile_t at;
  int64_t k, k_count;  // contracting range at hand
} tile_t;

static const char* tile_operand(const run_t* run, const tile_t* tile, int s, int part) {
  const side_t* side = &run->dot->sides[s];
  if (is_whole(run, s))
    return whole_at(run, s, part, tile->at.batch, tile->at.first[s]) +
           vtpu_strip_size(run->dot->unit, tile->k);
  vtpu_strip_block_t block = side_block(run, s, part, tile->at.batch);
  block.first_free = tile->at.first[s], block.free_count = tile->at.count[s];
  block.first_k = tile->k, block.k_count = tile->k_count;
  block.out = tile->at.memory + side->offset[part];
  vtpu_strip_pack(run->dot->unit, &block, tile->at.memory + run->dot->temp_offset);
  return block.out;
}

static void tile_sum(const run_t* run, tile_t* tile) {
  const dot_t* dot = run->dot;
  float *c = tile->at.sum, *low = tile->at.low;
  int64_t ldc = tile->at.ld;
  do {  // without terms there still are zeros to write
    int64_t left = dot->shape.k - tile->k;
    tile->k_count = left < dot->k_block ? left : dot->k_block;
    const char* operand[2][2];
    for (int s = 0; s < 2; s++)
      for (int p = 0; p < dot->sides[s].part_count; p++)
        operand[s][p] = tile_operand(run, tile, s, p);
    vtpu_strip_product_t product = {.a = operand[0][0],
                                    .b = operand[1][0],
                                    .a_stride = stride_of(run, 0),
                                    .b_stride = stride_of(run, 1),
                                    .m = (int)tile->at.count[0],
                                    .n = (int)tile->at.count[1],
                                    .k = tile->k_count,
                                    .c = c,
                                    .ldc = ldc,
                                    .accumulate = tile->k > 0};
    dot->unit->product(&product);
    product.c = low, product.ldc = tile->at.count[1];
    for (int s = 0; s < 2; s++) {
      if (dot->sides[s].part_count < 2) continue;
      product.a = operand[0][s == 0], product.b = operand[1][s == 1];
      dot->unit->product(&product);
      product.accumulate = true;
    }
    tile->k += tile->k_count;
  } while (tile->k < dot->shape.k);
  if (has_low(dot)) vtpu_low_add(c, ldc, low, tile->at.count[0], tile->at.count[1]);
}

static void tile_item(void* arg, int64_t item, int lane) {
  const run_t* run = arg;
  const dot_t* dot = run->dot;
  tile_t tile = {.at = {.lane = lane, .memory = lane_memory(run, lane)}};
  int64_t position[2] = {item / dot->n_tiles % dot->m_tiles, item % dot->n_tiles};
  tile.at.batch = item / dot->n_tiles / dot->m_tiles;
  for (int s = 0; s < 2; s++) {
    const side_t* side = &dot->sides[s];
    tile.at.first[s] = position[s] * side->block;
    int64_t left = side->at.free.count - tile.at.first[s];
    tile.at.count[s] = left < side->block ? left : side->block;
  }
  vtpu_dot_tile_begin(&dot->target, &run->call, &tile.at);
  tile_sum(run, &tile);
  vtpu_dot_tile_end(&dot->target, &run->call, &tile.at);
}

static tpt_status_t run_strips(const vtpu_kernel_t* kernel, const vtpu_exec_t* exec, void* scratch,
                               const void* const* in, void* const* out) {
  const dot_t* dot = kernel->state;
  run_t run = {.dot = dot, .call = {exec, in, out, scratch}};
  vtpu_kept_t* kept[2];
  int64_t items = dot->shape.batch_count * dot->m_tiles * dot->n_tiles;
  if (items == 0) return NULL;
  for (int s = 0; s < 2; s++) {
    const side_t* side = &dot->sides[s];
    bool is_fresh = false;
    kept[s] = NULL;
    if (side->form.count > 0)
      kept[s] = vtpu_keep_take(exec->operand_keeps[s], side->form.words, side->form.count,
                               side->whole_size * (size_t)side->part_count, &is_fresh);
    if (kept[s]) run.kept[s] = vtpu_kept_data(kept[s]);
    bool packs = kept[s] ? is_fresh : side->is_whole;
    run.pack_items[s] = packs ? side->pack_items : 0;
  }
  vtpu_lane_for(exec, dot->lane_count, run.pack_items[0] + run.pack_items[1], pack_item, &run);
  vtpu_lane_for(exec, dot->lane_count, items, tile_item, &run);
  for (int s = 0; s < 2; s++)
    vtpu_kept_give(kept[s]);
  return NULL;
}
