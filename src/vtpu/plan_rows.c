// Finds loops that can share a row step (rows.h): a reduction of the minor dimensions and the loops that
// feed it or use its results row by row, by their index maps alone; and batched products whose results
// or left operands are these rows (attention). A product poses as a loop over its result. Runs when all loops of a block are
// known and before buffers exist; moves loops later, to the place of the group's last one. Invariant:
// no step outside a group reads what the group writes before that place.
#include <stdlib.h>
#include <string.h>

#include "vtpu/plan_fuse.h"

enum {
  GROUP_MAX = 12,         // loops
  READERS_MAX = 64,       // looked at per value
  ROWS_MIN = 8,           // fewer rows are not worth losing the threads of a long reduction
  SMALL_COUNT = 16384,    // elements; here threads do not matter
  BLOCK_LANES_MIN = 128,  // elements of a block, unless one is all
  LOCAL_MAX = 768 << 10,  // bytes of local arrays: they should stay in the second cache
  PRODUCT_LOCAL_MAX = 1536 << 10,  // the same when products save much more
  PRODUCT_ROW_BYTES = 512 << 10,   // of a block's widest array
  PRODUCT_ROWS_MAX = 256,
  PRODUCT_ROWS_MIN = 8,
  PRODUCT_RHS_MAX = 1 << 21,  // elements of the right operand, which every block reads
  PRODUCT_BLOCKS = 8,         // blocks worth having for the sake of threads
  CUTS_MAX = 24,
};

typedef struct row_group {
  int64_t rows, inner, block, span;  // as in rows.h: rows of a tile, tiles of a block
  size_t local_size;
  int count;
  fuse_loop_t* loops[GROUP_MAX];  // by position
} row_group_t;

// --- row spaces ------------------------------------------------------------------------------------------

static void units_drop(fuse_loop_t* loop) {
  int rank = 0;
  for (int d = 0; d < loop->rank; d++) {
    if (loop->dims[d] == 1) continue;
    loop->dims[rank] = loop->dims[d];
    loop->reduced[rank] = loop->reduced[d];
    for (int m = 0; m < loop->map_count; m++)
      loop->maps[m].stride[rank] = loop->maps[m].stride[d];
    rank++;
  }
  loop->rank = rank;
}

// Rows of a reduction whose kept dimensions come first, 0 for another kind. *out_seed: it reduces
// something, so that its rows may make others follow.
static int64_t rows_of(const fuse_loop_t* loop, bool* out_seed) {
  int64_t rows = 1;
  *out_seed = false;
  if (!loop->reduces || loop->count == 0) return 0;
  for (int d = 0; d < loop->rank; d++) {
    if (loop->dims[d] == 1) continue;
    if (loop->reduced[d])
      *out_seed = true;
    else if (*out_seed)
      return 0;
    else
      rows *= loop->dims[d];
  }
  return rows > 1 ? rows : 0;
}

static int64_t seed_rows(const fuse_loop_t* loop) {
  bool is_seed;
  int64_t rows = rows_of(loop, &is_seed);
  return is_seed ? rows : 0;
}

bool plan_rows_cut(fuse_loop_t* loop, int64_t rows) {
  if (loop->count == 0) return false;
  units_drop(loop);
  int64_t had = 1;
  int k = 0;
  while (had < rows) {
    if (k == loop->rank || loop->reduced[k] || rows % had) return false;
    int64_t need = rows / had;
    if (loop->dims[k] > need &&
        (loop->dims[k] % need || !fuse_dim_split(loop, k, loop->dims[k] / need)))
      return false;
    had *= loop->dims[k++];
  }
  for (int d = k; loop->reduces && d < loop->rank; d++)
    if (!loop->reduced[d]) return false;
  loop->row_rank = k;
  return had == rows;
}

// True if row r of the loop touches row r of an array of `count` elements and no other.
static bool map_is_aligned(const fuse_loop_t* loop, const vtpu_map_t* map, int64_t rows,
                           int64_t count) {
  if (count % rows) return false;
  int64_t size = count / rows, stride = size, low = map->offset, high = map->offset;
  for (int d = loop->row_rank - 1; d >= 0; d--) {
    if (map->stride[d] != stride) return false;
    stride *= loop->dims[d];
  }
  for (int d = loop->row_rank; d < loop->rank; d++) {
    int64_t reach = map->stride[d] * (loop->dims[d] - 1);
    *(reach < 0 ? &low : &high) += reach;
  }
  return low >= 0 && high < size;
}

// --- groups ----------------------------------------------------------------------------------------------

static bool group_has(const row_group_t* group, const fuse_loop_t* loop) {
  for (int i = 0; i < group->count; i++)
    if (group->loops[i] == loop) return true;
  return false;
}

static bool reads_are_aligned(const plan_t* plan, const row_group_t* group,
                              const fuse_loop_t* loop) {
  for (int m = 0; m < loop->member_count; m++) {
    const fuse_member_t* member = &loop->members[m];
    if (member->kind != FUSE_LOAD) continue;
    const fuse_loop_t* maker = plan->values[member->value].maker;
    if (!maker || !group_has(group, maker)) continue;
    if (!map_is_aligned(loop, &loop->maps[member->map], group->rows,
                        tpt_type_count(plan_type(plan, member->value))))
      return false;
  }
  for (int o = 0; o < loop->output_count; o++) {
    const fuse_output_t* output = &loop->outputs[o];
    if (!output->reduce &&
        !map_is_aligned(loop, &loop->maps[loop->members[output->member].map], group->rows,
                        tpt_type_count(plan_type(plan, output->value))))
      return false;
  }
  return true;
}

static bool has_product_at(const row_group_t* group, uint32_t position) {
  for (int i = 0; i < group->count; i++)
    if (group->loops[i]->product && group->loops[i]->position == position) return true;
  return false;
}

// True if nobody outside reads the value before the group's place. *out_inside: nobody outside at all.
static bool readers_come_later(const plan_t* plan, const row_group_t* group, uint32_t root,
                               bool* out_inside) {
  const plan_value_t* value = &plan->values[root];
  uint32_t place = group->loops[group->count - 1]->position;
  int seen = 0;
  *out_inside = true;
  for (const plan_reader_t* r = value->readers; r; r = r->next) {
    if (seen++ == READERS_MAX) return false;
    if (has_product_at(group, r->position)) continue;
    if (r->position <= place) return false;
    *out_inside = false;
  }
  for (const fuse_demand_t* d = value->demands; d; d = d->next) {
    if (seen++ == READERS_MAX) return false;
    if (d->loop->members[d->member].kind != FUSE_LOAD || group_has(group, d->loop)) continue;
    if (d->loop->position <= place) return false;
    *out_inside = false;
    // A reader of another group will be moved, but only later.
  }
  return true;
}

static bool group_is_sound(const plan_t* plan, const row_group_t* group) {
  bool inside, is_seed;
  for (int i = 0; i < group->count; i++) {
    fuse_loop_t* loop = group->loops[i];
    int64_t own = rows_of(loop, &is_seed);
    if ((loop->reduces && own != group->rows) || !plan_rows_cut(loop, group->rows)) return false;
    if (group->rows < ROWS_MIN && loop->count > SMALL_COUNT) return false;
  }
  for (int i = 0; i < group->count; i++) {
    if (!reads_are_aligned(plan, group, group->loops[i])) return false;
    for (int o = 0; o < group->loops[i]->output_count; o++)
      if (!readers_come_later(plan, group, group->loops[i]->outputs[o].value, &inside))
        return false;
  }
  return true;
}

static bool group_add(row_group_t* group, fuse_loop_t* loop) {
  if (group_has(group, loop)) return true;
  if (group->count == GROUP_MAX) return false;
  int at = group->count++;
  for (; at > 0 && group->loops[at - 1]->position > loop->position; at--)
    group->loops[at] = group->loops[at - 1];
  group->loops[at] = loop;
  return true;
}

static bool group_add_all(row_group_t* group, fuse_loop_t* loop) {
  if (!loop->group) return group_add(group, loop);
  for (int i = 0; i < loop->group->count; i++)
    if (!group_add(group, loop->group->loops[i])) return false;
  return true;
}

// Puts a loop and a maker of what it reads, with their groups, into one if that is sound.
static tpt_status_t loops_join(plan_t* plan, fuse_loop_t* loop, fuse_loop_t* maker) {
  int64_t a = maker->group ? maker->group->rows : seed_rows(maker);
  int64_t b = loop->group ? loop->group->rows : seed_rows(loop);
  if ((a == 0 && b == 0) || (a && b && a != b)) return NULL;
  row_group_t group = {.rows = a ? a : b};
  if (!group_add_all(&group, maker) || !group_add_all(&group, loop)) return NULL;
  if (!group_is_sound(plan, &group)) return NULL;
  row_group_t* kept = tpt_arena_copy(plan->temp, &group, sizeof(group));
  if (!kept) return tpt_arena_status(plan->temp);
  for (int i = 0; i < kept->count; i++)
    kept->loops[i]->group = kept;
  return NULL;
}

// --- radixes -----------------------------------------------------------------------------------------------

// Splits all row dimensions at the union of their boundaries; false when these do not nest.
static bool radixes_align(row_group_t* group) {
  int64_t cuts[CUTS_MAX];
  int cut_count = 0;
  for (int i = 0; i < group->count; i++) {
    const fuse_loop_t* loop = group->loops[i];
    int64_t size = 1;
    for (int d = loop->row_rank - 1; d > 0; d--) {
      size *= loop->dims[d];
      int at = 0;
      while (at < cut_count && cuts[at] < size)
        at++;
      if (at < cut_count && cuts[at] == size) continue;
      if (cut_count == CUTS_MAX) return false;
      memmove(&cuts[at + 1], &cuts[at], sizeof(*cuts) * (size_t)(cut_count - at));
      cuts[at] = size;
      cut_count++;
    }
  }
  for (int c = 0; c + 1 < cut_count; c++)
    if (cuts[c + 1] % cuts[c]) return false;
  if (cut_count && group->rows % cuts[cut_count - 1]) return false;
  for (int i = 0; i < group->count; i++) {
    fuse_loop_t* loop = group->loops[i];
    int64_t size = 1;  // of what lies inside dimension d
    int c = 0;
    for (int d = loop->row_rank - 1; d >= 0; d--) {
      while (c < cut_count && cuts[c] <= size)
        c++;
      if (c < cut_count && cuts[c] < size * loop->dims[d]) {
        if (!fuse_dim_split(loop, d, cuts[c] / size)) return false;
        loop->row_rank++;
        d++;  // the inner part now stands at d + 1
      }
      size *= loop->dims[d];
    }
  }
  return true;
}

static bool radixes_merge(const row_group_t* group, int d) {
  for (int i = 0; i < group->count; i++) {
    const fuse_loop_t* loop = group->loops[i];
    for (int m = 0; m < loop->map_count; m++)
      if (loop->maps[m].stride[d] != loop->maps[m].stride[d + 1] * loop->dims[d + 1]) return false;
  }
  for (int i = 0; i < group->count; i++) {
    fuse_loop_t* loop = group->loops[i];
    loop->dims[d + 1] *= loop->dims[d];
    loop->rank--;
    loop->row_rank--;
    for (int k = d; k < loop->rank; k++) {
      loop->dims[k] = loop->dims[k + 1];
      loop->reduced[k] = loop->reduced[k + 1];
      for (int m = 0; m < loop->map_count; m++)
        loop->maps[m].stride[k] = loop->maps[m].stride[k + 1];
    }
  }
  return true;
}

// --- blocks ------------------------------------------------------------------------------------------------

// Rows of a block: one, or as many short ones as fill a tile.
static int64_t block_rows(const row_group_t* group, int64_t inner) {
  int64_t row = 1, most = 2048;
  for (int i = 0; i < group->count; i++) {
    int64_t columns = group->loops[i]->count / group->rows;
    int members = group->loops[i]->member_count;
    int64_t lanes = members <= 8 ? 2048 : (members <= 24 ? 1024 : 512);
    if (columns > row) row = columns;
    if (lanes < most) most = lanes;
  }
  int64_t block = most / row;
  if (block >= inner) return inner;
  if (block <= 1) return 1;
  int64_t blocks = (inner + block - 1) / block;
  return (inner + blocks - 1) / blocks;
}

// Tiles of a block in a group with products: these want many rows at once.
static int64_t block_tiles(const row_group_t* group, int64_t columns) {
  int64_t rows = PRODUCT_ROW_BYTES / (int64_t)sizeof(float) / columns;
  if (rows > PRODUCT_ROWS_MAX) rows = PRODUCT_ROWS_MAX;
  if (rows < PRODUCT_ROWS_MIN) rows = PRODUCT_ROWS_MIN;
  int64_t tiles = (group->inner + group->block - 1) / group->block, span = rows / group->block;
  int64_t outer = group->rows / group->inner;
  while (span > 1 && outer * ((tiles + span - 1) / span) < PRODUCT_BLOCKS)
    span /= 2;
  if (span > tiles) span = tiles;
  return span < 1 ? 1 : span;
}

typedef struct places {  // of local arrays
  size_t offsets[GROUP_MAX * VTPU_LOOP_OUTPUTS_MAX], sizes[GROUP_MAX * VTPU_LOOP_OUTPUTS_MAX];
  int last[GROUP_MAX * VTPU_LOOP_OUTPUTS_MAX];  // loop that last uses the place
  int count;
  size_t top;
} places_t;

static int last_reader(const row_group_t* group, uint32_t value, int at) {
  for (int i = group->count - 1; i > at; i--)
    for (int m = 0; m < group->loops[i]->member_count; m++) {
      const fuse_member_t* member = &group->loops[i]->members[m];
      if (member->value == value && member->kind == FUSE_LOAD) return i;
    }
  return at;
}

// Gives the group's own values local arrays; a place is used again after its value's last reader.
static void locals_place(plan_t* plan, const row_group_t* group, int64_t block, places_t* places) {
  bool inside;
  for (int i = 0; i < group->count; i++)
    for (int o = 0; o < group->loops[i]->output_count; o++) {
      uint32_t root = group->loops[i]->outputs[o].value;
      if (!readers_come_later(plan, group, root, &inside) || !inside) continue;
      const tpt_type_t* type = plan_type(plan, root);
      size_t size =
          (size_t)(tpt_type_count(type) / group->rows * block) * tpt_dtype_size(type->dtype);
      size = (size + 63) & ~(size_t)63;
      int at = 0;
      while (at < places->count && (places->sizes[at] != size || places->last[at] >= i))
        at++;
      if (at == places->count) {
        places->offsets[at] = places->top;
        places->sizes[at] = size;
        places->top += size;
        places->count++;
      }
      places->last[at] = last_reader(group, root, i);
      plan->values[root].local = VTPU_BUFFER_LOCAL | (uint32_t)(places->offsets[at] / 64);
    }
}

static void group_drop(plan_t* plan, row_group_t* group) {
  for (int i = 0; i < group->count; i++) {
    group->loops[i]->group = NULL;
    for (int o = 0; o < group->loops[i]->output_count; o++)
      plan->values[group->loops[i]->outputs[o].value].local = VTPU_NONE;
  }
}

// Blocks of the group's rows and its local arrays; the group dissolves when they do not work out.
static tpt_status_t group_settle(plan_t* plan, row_group_t* group) {
  if (!radixes_align(group)) {
    group_drop(plan, group);
    return NULL;
  }
  for (int d = group->loops[0]->row_rank - 2; d >= 0; d--)
    (void)radixes_merge(group, d);
  const fuse_loop_t* first = group->loops[0];
  int64_t longest = 0;
  bool has_product = false;
  for (int i = 0; i < group->count; i++) {
    if (group->loops[i]->count > longest) longest = group->loops[i]->count;
    has_product |= group->loops[i]->product != NULL;
  }
  group->inner = first->dims[first->row_rank - 1];
  group->block = block_rows(group, group->inner);
  group->span = has_product ? block_tiles(group, longest / group->rows) : 1;
  places_t* places = tpt_arena_calloc(plan->temp, 1, sizeof(*places));
  if (!places) return tpt_arena_status(plan->temp);
  locals_place(plan, group, group->block * group->span, places);
  bool is_tiny =
      group->block * (longest / group->rows) < BLOCK_LANES_MIN && group->block < group->rows;
  if (is_tiny || places->top > (has_product ? PRODUCT_LOCAL_MAX : LOCAL_MAX)) {
    group_drop(plan, group);
    return NULL;
  }
  group->local_size = places->top;
  return NULL;
}

// --- products --------------------------------------------------------------------------------------------

static tpt_status_t whole_kernel(const plan_t* plan, const tpt_node_t* node, tpt_arena_t* arena,
                                 vtpu_kernel_t* out) {
  tpt_type_t* types = tpt_arena_alloc(arena, sizeof(*types) * 3);
  if (!types) return tpt_arena_status(arena);
  for (int i = 0; i < 2; i++)
    types[i] = *tpt_graph_type(plan->graph, node->operands[i]);
  types[2] = *plan_type(plan, node->first_result);
  *out = (vtpu_kernel_t){.graph = plan->graph,
                         .node = node,
                         .operand_count = 2,
                         .result_count = 1,
                         .operand_types = types,
                         .result_types = types + 2,
                         .arena = arena};
  return NULL;
}

static bool is_float(tpt_dtype_t dtype) {
  return dtype == TPT_F32 || dtype == TPT_BF16 || dtype == TPT_F16;
}

// A loop [batch][m][n] that stands for a product; NULL: a product that is better left alone.
static tpt_status_t product_pose(fuse_t* f, const vtpu_step_t* step, fuse_loop_t** out) {
  plan_t* plan = f->plan;
  vtpu_kernel_t whole;
  vtpu_dot_part_t part;
  bool ok, is_new;
  *out = NULL;
  if (!is_float(plan_type(plan, step->node->first_result)->dtype)) return NULL;
  TPT_TRY(whole_kernel(plan, step->node, plan->temp, &whole));
  TPT_TRY(vtpu_dot_part_make(&whole, &part, &ok));
  if (!ok || part.batch_count < 2 || part.m < PRODUCT_ROWS_MIN || part.n < 2 || part.k < 2 ||
      part.k > PRODUCT_RHS_MAX / part.n)
    return NULL;
  tpt_type_t space = tpt_type_make(TPT_F32, 3, (int64_t[]){part.batch_count, part.m, part.n});
  fuse_loop_t* loop = fuse_loop_create(plan, step->position, &space);
  if (!loop) return tpt_arena_status(plan->temp);
  loop->product = step->node;
  vtpu_map_t result = fuse_map_identity(loop), rows = {0, {0}};
  vtpu_map_t apart = {0, {1}};  // fits no rows, and keeps the batch apart from m
  rows.stride[0] = part.m * part.k;
  rows.stride[1] = part.k;
  int maps[3] = {fuse_map_add(plan, loop, part.lhs_is_rows ? &rows : &apart),
                 fuse_map_add(plan, loop, &apart), fuse_map_add(plan, loop, &result)};
  for (int i = 0; i < 3; i++) {
    uint32_t value = i < 2 ? plan_root(plan, step->node->operands[i]) : step->node->first_result;
    int member = maps[i] < 0 ? -1 : fuse_member_add(plan, loop, value, maps[i], &is_new);
    if (member < 0) return tpt_arena_status(plan->temp);
    loop->members[member].kind = i < 2 ? FUSE_LOAD : FUSE_OP;
    loop->outputs[0] = (fuse_output_t){.value = value, .member = member};
  }
  loop->output_count = 1;
  *out = loop;
  return NULL;
}

static tpt_status_t products_pose(fuse_t* f, const vtpu_step_t* steps, uint32_t count) {
  if (f->loop_count == 0) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    fuse_loop_t* loop;
    if (!steps[i].node || steps[i].node->op != TPT_HLO_DOT_GENERAL) continue;
    TPT_TRY(product_pose(f, &steps[i], &loop));
    if (!loop) continue;
    loop->next = f->loops;
    f->loops = loop;
    f->loop_count++;
  }
  return NULL;
}

static void products_take(const fuse_t* f, vtpu_step_t* steps, uint32_t count) {
  for (const fuse_loop_t* loop = f->loops; loop; loop = loop->next)
    for (uint32_t i = 0; loop->product && loop->group && i < count; i++)
      if (steps[i].node == loop->product) steps[i].run = NULL;
}

// --- the pass --------------------------------------------------------------------------------------------

static int loop_compare(const void* a, const void* b) {
  const fuse_loop_t *x = *(fuse_loop_t* const*)a, *y = *(fuse_loop_t* const*)b;
  return x->position < y->position ? -1 : x->position > y->position;
}

tpt_status_t plan_rows(fuse_t* f, vtpu_step_t* steps, uint32_t step_count) {
  plan_t* plan = f->plan;
  TPT_TRY(products_pose(f, steps, step_count));
  fuse_loop_t** loops = tpt_arena_alloc(plan->temp, sizeof(*loops) * (f->loop_count + 1));
  if (!loops) return tpt_arena_status(plan->temp);
  uint32_t count = 0;
  for (fuse_loop_t* loop = f->loops; loop; loop = loop->next) {
    if (loop->output_count == 0) continue;
    loops[count++] = loop;
    for (int o = 0; o < loop->output_count; o++)
      plan->values[loop->outputs[o].value].maker = loop;
  }
  if (count < 2) return NULL;
  qsort(loops, count, sizeof(*loops), loop_compare);
  for (uint32_t i = 0; i < count; i++)
    for (int m = 0; m < loops[i]->member_count; m++) {
      const fuse_member_t* member = &loops[i]->members[m];
      fuse_loop_t* maker = plan->values[member->value].maker;
      if (member->kind != FUSE_LOAD || !maker || maker == loops[i]) continue;
      if (maker->group && maker->group == loops[i]->group) continue;
      TPT_TRY(loops_join(plan, loops[i], maker));
    }
  for (uint32_t i = 0; i < count; i++)
    if (loops[i]->group && plan_rows_is_last(loops[i]))
      TPT_TRY(group_settle(plan, loops[i]->group));
  products_take(f, steps, step_count);
  return tpt_arena_status(plan->temp);
}

bool plan_rows_is_last(const fuse_loop_t* loop) {
  return loop->group->loops[loop->group->count - 1] == loop;
}

// --- the step ----------------------------------------------------------------------------------------------

static void buffer_note(uint32_t* list, uint32_t* count, uint32_t buffer) {
  if (!vtpu_buffer_is_local(buffer)) list[(*count)++] = buffer;
}

static bool is_written(const vtpu_step_t* step, uint32_t buffer) {
  for (uint32_t i = 0; i < step->write_count; i++)
    if (step->writes[i] == buffer) return true;
  return false;
}

// Arrays that a loop reads and writes; what the step has written itself it does not count as reading.
static void spec_note(const vtpu_loop_spec_t* spec, vtpu_step_t* step, uint32_t* reads) {
  for (int m = 0; m < spec->member_count; m++)
    if (spec->members[m].kind == VTPU_MEMBER_LOAD && !is_written(step, spec->members[m].buffer))
      buffer_note(reads, &step->read_count, spec->members[m].buffer);
  for (int o = 0; o < spec->output_count; o++) {
    const vtpu_output_t* output = &spec->outputs[o];
    bool reduces = output->monoid != TPT_HLO_COUNT || output->body;
    if (reduces && output->init_buffer != VTPU_NONE)
      buffer_note(reads, &step->read_count, output->init_buffer);
  }
  for (int o = 0; o < spec->output_count; o++)
    buffer_note(step->writes, &step->write_count, spec->outputs[o].buffer);
}

static uint32_t buffer_of(plan_t* plan, uint32_t root) {
  uint32_t local = plan->values[root].local;
  return local != VTPU_NONE ? local : plan_buffer_of(plan, root);
}

typedef struct product_sums {
  double flops, bytes, cost;
} product_sums_t;

static double outer_bytes(const plan_t* plan, uint32_t buffer, tpt_value_t value) {
  if (vtpu_buffer_is_local(buffer)) return 0;
  return (double)tpt_type_size(tpt_graph_type(plan->graph, value));
}

static tpt_status_t product_part(plan_t* plan, const fuse_loop_t* loop, const vtpu_rows_t* rows,
                                 vtpu_rows_part_t* out, product_sums_t* sums) {
  const tpt_node_t* node = loop->product;
  vtpu_kernel_t* whole = tpt_arena_alloc(plan->arena, sizeof(*whole));
  vtpu_dot_part_t* part = tpt_arena_alloc(plan->arena, sizeof(*part));
  bool ok;
  if (!whole || !part) return tpt_arena_status(plan->arena);
  TPT_TRY(whole_kernel(plan, node, plan->arena, whole));
  TPT_TRY(vtpu_dot_part_make(whole, part, &ok));
  int64_t full = rows->tile_rows * rows->span_tiles;
  int64_t first = full < rows->inner_rows ? full : rows->inner_rows;
  TPT_TRY(vtpu_dot_part_prepare(whole, first, rows->inner_rows % first, part));
  *out = (vtpu_rows_part_t){.product = part, .node = node};
  for (int i = 0; i < 2; i++) {
    out->in[i] = buffer_of(plan, plan_root(plan, node->operands[i]));
    sums->bytes += outer_bytes(plan, out->in[i], node->operands[i]);
  }
  out->out = buffer_of(plan, node->first_result);
  sums->bytes += outer_bytes(plan, out->out, tpt_node_result(node, 0));
  sums->flops += 2.0 * (double)rows->rows * (double)part->n * (double)part->k;
  sums->cost += (double)part->kernels[0]->cost * (double)rows->rows / (double)first;
  return NULL;
}

static void product_note(const vtpu_rows_part_t* part, vtpu_step_t* step, uint32_t* reads) {
  for (int i = 0; i < 2; i++)
    if (!is_written(step, part->in[i])) buffer_note(reads, &step->read_count, part->in[i]);
  buffer_note(step->writes, &step->write_count, part->out);
}

tpt_status_t plan_rows_step(plan_t* plan, const fuse_loop_t* last, vtpu_step_t* out_step) {
  const row_group_t* group = last->group;
  size_t members = 1, outputs = 1;
  for (int i = 0; i < group->count; i++) {
    members += (size_t)(group->loops[i]->member_count + group->loops[i]->output_count);
    outputs += (size_t)group->loops[i]->output_count;
  }
  vtpu_rows_t* rows = tpt_arena_calloc(plan->arena, 1, sizeof(*rows));
  vtpu_rows_part_t* parts = tpt_arena_calloc(plan->arena, (size_t)group->count, sizeof(*parts));
  uint32_t* reads = tpt_arena_alloc(plan->arena, sizeof(*reads) * members);
  vtpu_loop_spec_t* spec = tpt_arena_alloc(plan->temp, sizeof(*spec));
  memset(out_step, 0, sizeof(*out_step));
  out_step->writes = tpt_arena_alloc(plan->arena, sizeof(*reads) * outputs);
  if (!rows || !parts || !reads || !spec || !out_step->writes)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a plan");
  *rows = (vtpu_rows_t){.part_count = group->count,
                        .parts = parts,
                        .rows = group->rows,
                        .inner_rows = group->inner,
                        .tile_rows = group->block,
                        .span_tiles = group->span,
                        .local_size = group->local_size};
  product_sums_t sums = {0, 0, 0};
  for (int i = 0; i < group->count; i++) {
    const fuse_loop_t* loop = group->loops[i];
    if (loop->product) {
      TPT_TRY(product_part(plan, loop, rows, &parts[i], &sums));
      product_note(&parts[i], out_step, reads);
      continue;
    }
    memset(spec, 0, sizeof(*spec));
    TPT_TRY(fuse_loop_spec(plan, loop, spec));
    spec->row_rank = loop->row_rank;
    spec->row_block = group->block;
    spec->row_spans = group->span > 1;
    TPT_TRY(vtpu_loop_compile(spec, plan->arena, &parts[i].loop));
    spec_note(spec, out_step, reads);
  }
  vtpu_rows_finish(rows, (int64_t)sums.cost, sums.flops, sums.bytes);
  out_step->run = vtpu_step_rows;
  out_step->rows = rows;
  out_step->reads = reads;
  out_step->position = last->position;
  out_step->scratch_size = rows->scratch_size;
  out_step->cost = rows->cost;
  out_step->flops = rows->flops;
  out_step->bytes = rows->bytes;
  return tpt_arena_status(plan->arena);
}
