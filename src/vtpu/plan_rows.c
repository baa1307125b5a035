// Finds loops that can share a row step (rows.h): a reduction of the minor dimensions and the loops that
// feed it or use its results row by row, by their index maps alone. Runs when all loops of a block are
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
  CUTS_MAX = 24,
};

typedef struct row_group {
  int64_t rows, block, blocks;  // rows of a block; blocks, the last of each radix may be shorter
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

// Makes the leading dimensions hold `rows` indexes exactly, splitting one if need be.
static bool rows_cut(fuse_loop_t* loop, int64_t rows) {
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

// True if nobody outside reads the value before the group's place. *out_inside: nobody outside at all.
static bool readers_come_later(const plan_t* plan, const row_group_t* group, uint32_t root,
                               bool* out_inside) {
  const plan_value_t* value = &plan->values[root];
  uint32_t place = group->loops[group->count - 1]->position;
  int seen = 0;
  *out_inside = value->hard_q == VTPU_NONE;
  if (value->hard_q <= place) return false;
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
    if ((loop->reduces && own != group->rows) || !rows_cut(loop, group->rows)) return false;
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

typedef struct places {  // of local arrays
  size_t offsets[GROUP_MAX * VTPU_LOOP_OUTPUTS_MAX], sizes[GROUP_MAX * VTPU_LOOP_OUTPUTS_MAX];
  int last[GROUP_MAX * VTPU_LOOP_OUTPUTS_MAX];  // loop that last uses the place
  int count;
  size_t top;
} places_t;

static int last_reader(const plan_t* plan, const row_group_t* group, uint32_t value, int at) {
  for (int i = group->count - 1; i > at; i--)
    for (const fuse_demand_t* d = plan->values[value].demands; d; d = d->next)
      if (d->loop == group->loops[i] && d->loop->members[d->member].kind == FUSE_LOAD) return i;
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
      places->last[at] = last_reader(plan, group, root, i);
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
  int64_t inner = first->dims[first->row_rank - 1], block = block_rows(group, inner), longest = 0;
  for (int i = 0; i < group->count; i++)
    if (group->loops[i]->count > longest) longest = group->loops[i]->count;
  places_t* places = tpt_arena_calloc(plan->temp, 1, sizeof(*places));
  if (!places) return tpt_arena_status(plan->temp);
  locals_place(plan, group, block, places);
  bool is_tiny = block * (longest / group->rows) < BLOCK_LANES_MIN && block < group->rows;
  if (is_tiny || places->top > LOCAL_MAX) {
    group_drop(plan, group);
    return NULL;
  }
  group->block = block;
  group->blocks = group->rows / inner * ((inner + block - 1) / block);
  group->local_size = places->top;
  return NULL;
}

// --- the pass --------------------------------------------------------------------------------------------

static int loop_compare(const void* a, const void* b) {
  const fuse_loop_t *x = *(fuse_loop_t* const*)a, *y = *(fuse_loop_t* const*)b;
  return x->position < y->position ? -1 : x->position > y->position;
}

tpt_status_t plan_rows(fuse_t* f) {
  plan_t* plan = f->plan;
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

tpt_status_t plan_rows_step(plan_t* plan, const fuse_loop_t* last, vtpu_step_t* out_step) {
  const row_group_t* group = last->group;
  size_t members = 1, outputs = 1;
  for (int i = 0; i < group->count; i++) {
    members += (size_t)(group->loops[i]->member_count + group->loops[i]->output_count);
    outputs += (size_t)group->loops[i]->output_count;
  }
  vtpu_rows_t* rows = tpt_arena_calloc(plan->arena, 1, sizeof(*rows));
  vtpu_loop_t** loops = tpt_arena_alloc(plan->arena, sizeof(*loops) * (size_t)group->count);
  uint32_t* reads = tpt_arena_alloc(plan->arena, sizeof(*reads) * members);
  vtpu_loop_spec_t* spec = tpt_arena_alloc(plan->temp, sizeof(*spec));
  memset(out_step, 0, sizeof(*out_step));
  out_step->writes = tpt_arena_alloc(plan->arena, sizeof(*reads) * outputs);
  if (!rows || !loops || !reads || !spec || !out_step->writes)
    TPT_FAIL(TPT_RESOURCE_EXHAUSTED, "no memory for a plan");
  for (int i = 0; i < group->count; i++) {
    memset(spec, 0, sizeof(*spec));
    TPT_TRY(fuse_loop_spec(plan, group->loops[i], spec));
    spec->row_rank = group->loops[i]->row_rank;
    spec->row_block = group->block;
    TPT_TRY(vtpu_loop_compile(spec, plan->arena, &loops[i]));
    spec_note(spec, out_step, reads);
  }
  *rows = (vtpu_rows_t){.loop_count = group->count,
                        .loops = loops,
                        .blocks = group->blocks,
                        .local_size = group->local_size};
  vtpu_rows_finish(rows);
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
